/* evaluation_internal.h: internals of dis_evaluation_run(), for its parts.
 *
 * evaluate.c passes over the items and assembles the results, class_scores.c computes the scores from confusion counts,
 * calibrated_likelihood.c the temperatures, evaluation_intervals.c the bootstrap of everything. */
#ifndef DIS_EVALUATE_EVALUATION_H
#define DIS_EVALUATE_EVALUATION_H
#include "dissent/evaluate.h"
#include "core/error.h"
#include "stats/bootstrap.h"
#include "stats/crossed_intervals.h"
#include "evaluate/calibrated_likelihood.h"
#include "evaluate/item_metrics.h"
#include "evaluate/metrics.h"

/* Items with a gold label, by (gold, predicted): the non-empty cells. */
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
    bool labels_only;                    /* only metrics of predicted classes are requested */

    double *column[DIS_ITEM_COLUMNS]; /* (n_items), NULL if not kept */
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
        *crossed; /* (DIS_EVALUATION_METRICS) variances over annotators; NULL: intervals for new items only */
};

/* An entropy as it is ranked, as a multiple of 2^-40: distributions that are permutations of each other must tie,
 * although their sums are rounded differently. */
static inline double dis__round_entropy(double entropy)
{
    return (entropy + 0x1p12) - 0x1p12;
}

/* Pearson's correlation from sums about the means; NaN if one of the two does not vary. */
double dis__correlation(double xy, double xx, double yy);

/* class_scores.c: cells, class scores, confusion matrix, accuracy and all kinds of F1. */
dis_status dis__class_scores_compute(dis_evaluation *e);
/* Their intervals. */
dis_status dis__class_scores_intervals(dis_context *ctx, dis_evaluation *e, const dis__bootstrap *b);

/* evaluation_intervals.c: the intervals of all metrics. */
dis_status dis__evaluation_intervals_compute(dis_context *ctx, dis_evaluation *e);

/* annotator_variance.c: variances of metrics against people over annotators, into e->crossed. */
dis_status dis__evaluation_annotator_variance(dis_context *ctx, dis_evaluation *e);

/* The bin of n that contains a confidence: above low, up to high. */
size_t dis__reliability_bin_of(double confidence, size_t n_bins);

#endif
