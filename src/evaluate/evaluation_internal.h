/* evaluation_internal.h: the inside of dis_evaluation_run(), for its parts.
 *
 * evaluate.c passes over the items and puts the figures together, class_scores.c has what depends on the confusion of
 * classes alone, calibrated_likelihood.c the temperatures, evaluation_intervals.c the bootstrap of everything. */
#ifndef DIS_EVALUATE_EVALUATION_H
#define DIS_EVALUATE_EVALUATION_H
#include "dissent/evaluate.h"
#include "core/error.h"
#include "stats/bootstrap.h"
#include "stats/crossed_intervals.h"
#include "evaluate/calibrated_likelihood.h"
#include "evaluate/item_metrics.h"
#include "evaluate/metrics.h"

/* Items that have a gold label, by (gold, predicted): the cells that are not empty. */
typedef struct {
    size_t n;
    uint64_t *count; /* (n) */
    uint32_t *gold, *predicted;
} dis__confusion_cells;

struct dis_evaluation {
    dis_evaluation_view view;
    dis_metric metric[DIS_EVALUATION_METRICS];
    dis_evaluation_input in;
    dis_evaluation_options o;
    bool wanted[DIS_EVALUATION_METRICS]; /* and possible */
    bool labels_only;                    /* nothing is wanted but what predicted classes tell */

    double *column[DIS_ITEM_COLUMNS]; /* (n_items), NULL where not kept */
    int32_t *predicted;               /* (n_items) */
    dis_evaluation_column item_column[DIS_ITEM_COLUMNS];
    size_t *gold_item; /* (n_gold) items with a gold label; NULL: all */
    dis_class_scores *classes;
    uint64_t *confusion;
    dis_reliability_bin *bin;
    dis__confusion_cells cells;
    dis__calibration calibration;
    dis__fitted_temperatures calibrated;
    double model_entropy_mean, human_entropy_mean;
    dis__crossed_variances
        *crossed; /* (DIS_EVALUATION_METRICS) variances over annotators; NULL: intervals over items */
};

/* An entropy as it is ranked, in whole steps of 2^-40: distributions that differ in the order of their classes alone
 * must tie, although their sums are rounded differently. */
static inline double dis__round_entropy(double entropy)
{
    return (entropy + 0x1p12) - 0x1p12;
}

/* Pearson's correlation from sums about the means; NaN where one of the two does not vary. */
double dis__correlation(double xy, double xx, double yy);

/* class_scores.c: cells, class scores, confusion matrix, accuracy and F1 in all its kinds. */
dis_status dis__class_scores_compute(dis_evaluation *e);
/* Their intervals. */
dis_status dis__class_scores_intervals(dis_context *ctx, dis_evaluation *e, const dis__bootstrap *b);

/* evaluation_intervals.c: the intervals of everything that was measured. */
dis_status dis__evaluation_intervals_compute(dis_context *ctx, dis_evaluation *e);

/* annotator_variance.c: how figures against people vary with the annotators, into e->crossed. */
dis_status dis__evaluation_annotator_variance(dis_context *ctx, dis_evaluation *e);

/* Which bin of n a confidence falls into: above low, up to high. */
size_t dis__reliability_bin_of(double confidence, size_t n_bins);

#endif
