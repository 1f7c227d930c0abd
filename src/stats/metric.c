/* A metric as JSON. */
#include "dissent/metric.h"
#include "core/options/enum_names.h"
#include "tool/json_writer.h"
#include "tool/arrays.h"
#include <math.h>

dis_metric dis__metric_undefined(const char *reason)
{
    return (dis_metric){.value = NAN, .ci_low = NAN, .ci_high = NAN, .reason = reason};
}

DIS_ENUM_NAMES(dis_interval_scope, "annotators", "items")

const char *dis_metric_no_interval_reason(const dis_metric *metric)
{
    static const char *const reasons[] = {
        [DIS_NO_INTERVAL_UNSPECIFIED] = NULL,
        [DIS_NO_INTERVAL_ONE_ANNOTATOR] = "fewer than two annotators were compared",
        [DIS_NO_INTERVAL_ONE_ITEM] = "fewer than two items were compared",
        [DIS_NO_INTERVAL_SAME_LABELS] = "all labels are the same",
        [DIS_NO_INTERVAL_NO_SPREAD] = "the value is the same for every subset of items and annotators",
        [DIS_NO_INTERVAL_RESAMPLES_UNDEFINED] = "the value is undefined without one of the annotators",
    };
    const bool known = metric->no_interval < sizeof reasons / sizeof *reasons;
    return metric->reason || metric->has_interval || !known ? NULL : reasons[metric->no_interval];
}

void dis__json_writer_metric(dis__json_writer *json, const dis_metric *metric)
{
    const double none = NAN; /* written as null */
    dis__json_writer_begin_object(json);
    dis__json_writer_key(json, "value");
    dis__json_writer_real(json, metric->reason ? none : metric->value);
    dis__json_writer_key(json, "ci_low");
    dis__json_writer_real(json, metric->has_interval ? metric->ci_low : none);
    dis__json_writer_key(json, "ci_high");
    dis__json_writer_real(json, metric->has_interval ? metric->ci_high : none);
    dis__json_writer_key(json, "n");
    dis__json_writer_count(json, metric->n);
    if (metric->reason) {
        dis__json_writer_key(json, "reason");
        dis__json_writer_text(json, metric->reason);
    }
    if (metric->degenerate) {
        dis__json_writer_key(json, "degenerate");
        dis__json_writer_bool(json, true);
    }
    if (dis_metric_no_interval_reason(metric)) {
        dis__json_writer_key(json, "no_interval");
        dis__json_writer_text(json, dis_metric_no_interval_reason(metric));
    }
    dis__json_writer_end_object(json);
}
