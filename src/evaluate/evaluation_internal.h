/* evaluation_internal.h: internals of dis_evaluation_run(), for its parts.
 *
 * evaluate.c passes over the items and assembles the results, class_scores.c computes the scores from confusion counts,
 * evaluation_intervals.c the bootstrap of everything. Metrics with code of their own have a file each. */
#ifndef DIS_EVALUATE_EVALUATION_INTERNAL_H
#define DIS_EVALUATE_EVALUATION_INTERNAL_H
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

typedef struct dis__soft_variances dis__soft_variances; /* soft_scores.c */

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
    dis_soft_class_scores *soft_classes;
    dis__soft_variances *soft;              /* while intervals are computed */
    dis_human_bin *human_bin;               /* (n_human_bins) */
    double squared[DIS_EVALUATION_METRICS]; /* of metrics that are roots */
    double df_annotators;                   /* of `crossed` and `soft` */
    dis__crossed_variances
        *crossed; /* (DIS_EVALUATION_METRICS) variances over annotators; NULL: intervals for new items only */
};

/* What the pass over the items sums up. */
typedef struct {
    uint64_t n;
    double confidence, correct;
} dis__bin_sums;

typedef struct {
    double sum[DIS_ITEM_COLUMNS];
    double min[2], max[2]; /* of the entropies of q and p */
    dis__item_count_votes counts;
    dis__bin_sums bin[DIS_EVALUATION_MAX_BINS];
} dis__item_sums;

/* Columns whose sums are drawn together. */
enum { DIS__SUMMED_COLUMNS = DIS_ITEM_COLUMNS + 5 + 2 * DIS_EVALUATION_MAX_SPLITS };
typedef struct {
    dis_context *ctx;
    dis_evaluation *e;
    const double *column[DIS__SUMMED_COLUMNS];
    size_t n_columns, place[DIS_ITEM_COLUMNS]; /* index of an item column among them */
    double *sums, *figure;                     /* (n_resamples, n_columns), (n_resamples) */
} dis__resampling;

/* A metric that is neither a mean over items nor a class score. Intervals: either add_columns and from_sums, or
 * resample. */
struct dis__metric_code {
    unsigned columns, interval_columns; /* of items that `compute` and the intervals read; bit c: dis__item_column c */
    /* Sets metric m, and its reason if it has no value. */
    dis_status (*compute)(dis_context *ctx, dis_evaluation *e, const dis__item_sums *sums, dis_evaluation_metric m);
    /* Adds columns of all items, or of those with gold if the metric needs it; *own: their memory, to be freed. */
    dis_status (*add_columns)(dis__resampling *r, double **own);
    /* The value of a resample of n_draws items from the sums of these columns. */
    double (*from_sums)(const dis_evaluation *e, const double *sums, double n_draws);
    /* The values of all resamples, (n_resamples). */
    dis_status (*resample)(dis_context *ctx, dis_evaluation *e, const dis__bootstrap *b, double *value);
};

/* Sets a metric that is wanted; the second one gives the reason why it has no value. */
void dis__metric_set(dis_evaluation *e, dis_evaluation_metric m, double value, size_t n);
void dis__metric_set_undefined(dis_evaluation *e, dis_evaluation_metric m, const char *reason);

/* entropy_correlations.c: Pearson's correlation from sums about the means; NaN if one of the two does not vary. */
double dis__correlation(double xy, double xx, double yy);

/* class_scores.c: cells, class scores, confusion matrix, accuracy and all kinds of F1. */
dis_status dis__class_scores_compute(dis_evaluation *e);
/* Their intervals. */
dis_status dis__class_scores_intervals(dis_context *ctx, dis_evaluation *e, const dis__bootstrap *b);

/* The number of answers of a question: classes, or 2 for sets of classes. */
size_t dis__n_answers(const dis_evaluation *e);

/* soft_scores.c: scores of class shares, and the metrics that are computed from them. */
dis_status dis__soft_scores_compute(dis_evaluation *e);
/* Their variances over items, into e->soft; then over annotators: one call per block that is left out, with n rows
 * (row[0 .. n - 1] of the items) and their human labels without it; then the intervals. */
dis_status dis__soft_variances_create(dis_evaluation *e, size_t n_blocks);
void dis__soft_variances_add(dis_evaluation *e, size_t block, const double *human, const size_t *row, size_t n);
void dis__soft_scores_intervals(dis_evaluation *e);
void dis__soft_variances_destroy(dis__soft_variances *soft);

/* sets_metrics.c: dis__item_metrics for sets of classes: means over classes. scratch: dis__set_metrics_scratch() values. */
size_t dis__set_metrics_scratch(size_t n_classes);
void dis__set_metrics(const dis__item_args *args, size_t first, size_t n, double *const column[DIS_ITEM_COLUMNS],
                      int32_t *predicted, dis__item_count_votes *counts, double *scratch);

/* evaluation_intervals.c: the intervals of all metrics. */
dis_status dis__evaluation_intervals_compute(dis_context *ctx, dis_evaluation *e);

/* annotator_variance.c: variances of metrics against people over annotators, into e->crossed. */
dis_status dis__evaluation_annotator_variance(dis_context *ctx, dis_evaluation *e);

/* The bin of n that contains a confidence: above low, up to high. */
size_t dis__reliability_bin_of(double confidence, size_t n_bins);

#endif
