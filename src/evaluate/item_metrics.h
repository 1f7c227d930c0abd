/* item_metrics.h: what is measured on single items (item_metrics_kernel.c). */
#ifndef DIS_EVALUATE_ITEM_METRICS_H
#define DIS_EVALUATE_ITEM_METRICS_H
#include "core/kernel.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The floor of a probability whose logarithm is taken. */
#define DIS_PROBABILITY_FLOOR 1e-12

typedef enum {
    DIS_ITEM_MODEL_ENTROPY,
    DIS_ITEM_CONFIDENCE,
    /* against gold */
    DIS_ITEM_LOG_LOSS,
    DIS_ITEM_BRIER,
    DIS_ITEM_ABSOLUTE_ERROR,
    DIS_ITEM_RANKED_PROBABILITY_SCORE,
    DIS_ITEM_CORRECT,
    DIS_ITEM_IN_TOP_K,
    /* against people */
    DIS_ITEM_HUMAN_ENTROPY,
    DIS_ITEM_CROSS_ENTROPY,
    DIS_ITEM_KL,
    DIS_ITEM_INVERSE_KL,
    DIS_ITEM_JSD,
    DIS_ITEM_TOTAL_VARIATION,
    DIS_ITEM_WASSERSTEIN,
    DIS_ITEM_HUMAN_BRIER,
    DIS_ITEM_ENTROPY_GAP, /* |H(p) - H(q)| */
    DIS_ITEM_COLUMNS,
} dis__item_column;

typedef struct {
    size_t n_classes, top_k;
    bool labels_only;        /* nothing but the most probable class */
    const double *q, *human; /* human may be NULL */
    const int32_t *gold;     /* may be NULL */
} dis__item_args;

/* Counted on the way. */
typedef struct {
    uint64_t floored, human_floored;
} dis__item_count_votes;

/* Items first .. first + n - 1: column[c][i] for i < n, and the most probable class. Columns against gold are 0 where
 * there is none; without gold or people, or when labels are all that is wanted, columns are not written. */
DIS_KERNEL_DECLARE(void, dis__item_metrics,
                   (const dis__item_args *args, size_t first, size_t n, double *const column[DIS_ITEM_COLUMNS],
                    int32_t *predicted, dis__item_count_votes *counts));
/* Adds the sums over n of (x - x_mean)(y - y_mean), (x - x_mean)^2 and (y - y_mean)^2. */
DIS_KERNEL_DECLARE(void, dis__item_moments,
                   (const double *x, const double *y, size_t n, double x_mean, double y_mean, double sums[3]));
DIS_KERNEL_DECLARE(double, dis__item_sum, (const double *x, size_t n));

#endif
