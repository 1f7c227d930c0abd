/* item_metrics.h: metrics of single items (item_metrics_kernel.c). */
#ifndef DIS_EVALUATE_ITEM_METRICS_H
#define DIS_EVALUATE_ITEM_METRICS_H
#include "dissent/evaluate.h"
#include "core/kernel.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lower bound of a probability before its logarithm is taken. */
#define DIS_PROBABILITY_FLOOR 1e-12

/* What is computed for each item: the function NAME in item_metrics_kernel.c computes the column NAME.
 * Enum value, name, required inputs, whether tables of items list it. Their columns have this order. */
#define DIS__ITEM_COLUMN_LIST(X)                                                 \
    X(CONFIDENCE, confidence, 0, true)                                           \
    X(MODEL_ENTROPY, model_entropy, 0, true)                                     \
    X(LOG_LOSS, log_loss, DIS_NEEDS_GOLD, true)                                  \
    X(BRIER, brier, DIS_NEEDS_GOLD, true)                                        \
    X(ABSOLUTE_ERROR, absolute_error, DIS_NEEDS_GOLD, false)                     \
    X(RANKED_PROBABILITY_SCORE, ranked_probability_score, DIS_NEEDS_GOLD, false) \
    X(CORRECT, correct, DIS_NEEDS_GOLD, false)                                   \
    X(IN_TOP_K, in_top_k, DIS_NEEDS_GOLD, false)                                 \
    X(HUMAN_ENTROPY, human_entropy, DIS_NEEDS_HUMAN, true)                       \
    X(CROSS_ENTROPY, cross_entropy, DIS_NEEDS_HUMAN, true)                       \
    X(KL, kl, DIS_NEEDS_HUMAN, true)                                             \
    X(INVERSE_KL, inverse_kl, DIS_NEEDS_HUMAN, true)                             \
    X(JSD, jsd, DIS_NEEDS_HUMAN, true)                                           \
    X(TOTAL_VARIATION, total_variation, DIS_NEEDS_HUMAN, true)                   \
    X(WASSERSTEIN, wasserstein, DIS_NEEDS_HUMAN | DIS_NEEDS_ORDER, true)         \
    X(HUMAN_BRIER, human_brier, DIS_NEEDS_HUMAN, true)                           \
    X(ENTROPY_GAP, entropy_gap, DIS_NEEDS_HUMAN, false)                          \
    X(ENTROPY_EXCESS, entropy_excess, DIS_NEEDS_HUMAN, false)                    \
    X(SOFT_JACCARD, soft_jaccard, DIS_NEEDS_HUMAN, false)

typedef enum {
#define DIS__ITEM_COLUMN_ENUM(id, name, needs, listed) DIS_ITEM_##id,
    DIS__ITEM_COLUMN_LIST(DIS__ITEM_COLUMN_ENUM)
#undef DIS__ITEM_COLUMN_ENUM
        DIS_ITEM_COLUMNS
} dis__item_column;

typedef struct {
    unsigned needs; /* DIS_NEEDS_... */
    bool listed;
} dis__item_column_row;

extern const dis__item_column_row dis__item_columns[DIS_ITEM_COLUMNS]; /* metrics.c */

typedef struct {
    size_t n_classes, top_k;
    bool labels_only;        /* only the most probable class */
    const double *q, *human; /* human may be NULL */
    const int32_t *gold;     /* may be NULL */
} dis__item_args;

/* Counted during the pass. */
typedef struct {
    uint64_t floored, human_floored;
} dis__item_count_votes;

/* Items first .. first + n - 1: column[c][i] for i < n, and the most probable class. Columns against gold are 0 for
 * items without a gold label; columns are not written without gold or people, or if only labels are requested. */
DIS_KERNEL_DECLARE(void, dis__item_metrics,
                   (const dis__item_args *args, size_t first, size_t n, double *const column[DIS_ITEM_COLUMNS],
                    int32_t *predicted, dis__item_count_votes *counts));
/* Adds the sums over n of (x - x_mean)(y - y_mean), (x - x_mean)^2 and (y - y_mean)^2. */
DIS_KERNEL_DECLARE(void, dis__item_moments,
                   (const double *x, const double *y, size_t n, double x_mean, double y_mean, double sums[3]));
DIS_KERNEL_DECLARE(double, dis__item_sum, (const double *x, size_t n));

#endif
