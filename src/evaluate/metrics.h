/* metrics.h: the description and computation of each metric; one row per metric. */
#ifndef DIS_EVALUATE_METRICS_H
#define DIS_EVALUATE_METRICS_H
#include "dissent/evaluate.h"
#include "evaluate/item_metrics.h"

/* How item values are aggregated. */
typedef enum {
    DIS_MEAN_OF_ITEMS, /* shift + scale * mean of a column of item_metrics.h */
    DIS_CLASS_SCORE,   /* from the confusion matrix: class_scores.c */
    DIS_OWN_CODE,      /* `code` of the row; NULL: experiments compute it */
} dis__metric_aggregate;

/* What class_scores.c computes from a confusion matrix. */
typedef enum {
    DIS_SCORE_ACCURACY,
    DIS_SCORE_MACRO_F1,
    DIS_SCORE_WEIGHTED_F1,
    DIS_SCORE_MAJORITY_ACCURACY,
    DIS_SCORE_MAJORITY_MACRO_F1,
    DIS_SCORES
} dis__class_score;

/* What soft_scores.c computes from the shares of classes. */
typedef enum {
    DIS_SOFT_NONE,
    DIS_SOFT_MACRO_F1,
    DIS_SOFT_F1, /* the following pool all classes, and are for sets of classes */
    DIS_SOFT_PRECISION,
    DIS_SOFT_RECALL,
    DIS_SOFT_SCORES
} dis__soft_score;

/* calibrated_metric.c, calibration_error.c, entropy_correlations.c, human_calibration.c */
typedef struct dis__metric_code dis__metric_code; /* evaluation_internal.h */
extern const dis__metric_code dis__calibrated_log_likelihood, dis__calibration_error, dis__entropy_correlation,
    dis__entropy_spearman, dis__distribution_calibration, dis__entropy_calibration;

typedef struct {
    dis_evaluation_metric_row row;
    dis__metric_aggregate aggregate;
    dis__item_column column; /* the remaining fields belong to DIS_MEAN_OF_ITEMS */
    double scale, shift;
    bool in_log_k;                /* the mean is divided by log K */
    dis__class_score score;       /* of DIS_CLASS_SCORE */
    const dis__metric_code *code; /* of DIS_OWN_CODE */
    dis__soft_score soft;         /* computed there: of DIS_OWN_CODE, or if labels are sets */
    bool root;                    /* estimated and resampled as its square */
    /* Why the metric has no value for so many classes and this k; NULL: it has one. NULL: it always has one. */
    const char *(*undefined)(size_t n_classes, size_t top_k);
} dis__metric;

extern const dis__metric dis__metrics[DIS_EVALUATION_METRICS];

/* The metric that is the mean of a column; DIS_EVALUATION_METRICS: none. */
dis_evaluation_metric dis__metric_of_column(dis__item_column column);

/* The value of a metric that is a mean over items. */
double dis__metric_from_mean(const dis__metric *metric, double mean, size_t n_classes);

#endif
