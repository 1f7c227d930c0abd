/* metric.h: a measured value with its interval, as returned by all commands that measure.
 *
 * A metric either has a value or a reason why it has none; it is never NaN without a reason. It has an interval when
 * one was asked for and could be drawn. In JSON it is {"value", "ci_low", "ci_high", "n"}, with "reason",
 * "degenerate" or "no_interval" where they apply; infinite values are the string "inf". */
#ifndef DIS_METRIC_H
#define DIS_METRIC_H
#include "dissent/status.h"

typedef struct {
    double value;           /* NaN when there is a reason */
    double ci_low, ci_high; /* 95 %; meaningful with has_interval */
    size_t n;               /* items (votes, pairs) that it was measured on */
    const char *reason;     /* static text: why there is no value; NULL when there is one */
    bool has_interval;
    bool degenerate;     /* the value is a convention, such as agreement 1 when all labels are the same */
    uint8_t no_interval; /* dis_no_interval: why an interval that was asked for could not be computed */
} dis_metric;

/* What an interval holds for. */
typedef enum {
    DIS_INTERVAL_ANNOTATORS, /* other items and other annotators of the same kind */
    DIS_INTERVAL_ITEMS,      /* other items and the same annotators */
} dis_interval_scope;
/* "annotators", "items". */
DIS_ENUM_API(dis_interval_scope);

typedef enum {
    DIS_NO_INTERVAL_UNSPECIFIED,
    DIS_NO_INTERVAL_ONE_ANNOTATOR,
    DIS_NO_INTERVAL_ONE_ITEM,
    DIS_NO_INTERVAL_SAME_LABELS,
    DIS_NO_INTERVAL_NO_SPREAD,
    DIS_NO_INTERVAL_RESAMPLES_UNDEFINED,
} dis_no_interval;
/* Why a metric with a value has no interval, static text; NULL when it has one or none was asked for. */
DIS_API const char *dis_metric_no_interval_reason(const dis_metric *metric);

#endif
