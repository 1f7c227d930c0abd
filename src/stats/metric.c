/* A metric as JSON. */
#include "dissent/metric.h"
#include <math.h>

dis_metric dis_metric_undefined(const char *reason)
{
    return (dis_metric){.value = NAN, .ci_low = NAN, .ci_high = NAN, .reason = reason};
}

const char *dis_interval_over_name(dis_interval_over over)
{
    return over == DIS_INTERVAL_ITEMS ? "items" : "annotators";
}

const char *dis_metric_no_interval(const dis_metric *metric)
{
    static const char *const reasons[] = {
        [DIS_NO_INTERVAL_UNSAID] = NULL,
        [DIS_NO_INTERVAL_ONE_ANNOTATOR] = "fewer than two annotators were compared",
        [DIS_NO_INTERVAL_ONE_ITEM] = "fewer than two items were compared",
        [DIS_NO_INTERVAL_SAME_LABELS] = "all labels are the same",
        [DIS_NO_INTERVAL_NO_SPREAD] = "the value is the same for every subset of items and annotators",
        [DIS_NO_INTERVAL_REST_UNDEFINED] = "the value is undefined without one of the annotators",
    };
    const bool known = metric->no_interval < sizeof reasons / sizeof *reasons;
    return metric->reason || metric->has_interval || !known ? NULL : reasons[metric->no_interval];
}

void dis_json_metric(dis_json *json, const dis_metric *metric)
{
    const double none = NAN; /* written as null */
    dis_json_begin_object(json);
    dis_json_key(json, "value");
    dis_json_real(json, metric->reason ? none : metric->value);
    dis_json_key(json, "ci_low");
    dis_json_real(json, metric->has_interval ? metric->ci_low : none);
    dis_json_key(json, "ci_high");
    dis_json_real(json, metric->has_interval ? metric->ci_high : none);
    dis_json_key(json, "n");
    dis_json_count(json, metric->n);
    if (metric->reason) {
        dis_json_key(json, "reason");
        dis_json_text(json, metric->reason);
    }
    if (metric->degenerate) {
        dis_json_key(json, "degenerate");
        dis_json_bool(json, true);
    }
    if (dis_metric_no_interval(metric)) {
        dis_json_key(json, "no_interval");
        dis_json_text(json, dis_metric_no_interval(metric));
    }
    dis_json_end_object(json);
}
