/* metric.h: one measured number with its interval, as every command that measures gives it.
 *
 * A metric either has a value or a reason why it has none; it is never NaN without a reason. An interval is there when
 * one was asked for and could be drawn. In JSON it is {"value", "ci_low", "ci_high", "n"}, with "reason" or
 * "degenerate" where they apply; infinite values are the string "inf".
 *
 *     dis_json *json;
 *     if (dis_json_open("metric.json", &json) == DIS_OK) {
 *         const dis_metric m = {.value = .91, .ci_low = .88, .ci_high = .93, .n = 800, .has_interval = true};
 *         dis_json_metric(json, &m);
 *         if (dis_json_finish(json, DIS_OK) != DIS_OK) fprintf(stderr, "%s\n", dis_last_error());
 *     } */
#ifndef DIS_METRIC_H
#define DIS_METRIC_H
#include "dissent/json.h"

typedef struct {
    double value;           /* NaN when there is a reason */
    double ci_low, ci_high; /* percentile bootstrap, 95 %; meaningful with has_interval */
    size_t n;               /* items (votes, pairs) that it was measured on */
    const char *reason;     /* static text: why there is no value; NULL when there is one */
    bool has_interval;
    bool degenerate; /* the value is a convention, such as agreement 1 when all labels are the same */
} dis_metric;

/* A metric that could not be measured. `reason` must be static. */
DIS_API dis_metric dis_metric_undefined(const char *reason);
DIS_API void dis_json_metric(dis_json *json, const dis_metric *metric);

#endif
