/* A metric as JSON. */
#include "dissent/metric.h"
#include <math.h>

dis_metric dis_metric_undefined(const char *reason)
{
    return (dis_metric){.value = NAN, .ci_low = NAN, .ci_high = NAN, .reason = reason};
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
    dis_json_end_object(json);
}
