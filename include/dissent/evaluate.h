/* evaluate.h: evaluates predicted distributions against gold labels and human labels.
 *
 * Predictions q, one distribution per item, are measured against gold labels (accuracy, F1, calibration), against human
 * distributions p (cross-entropy, divergences, whether the model is unsure where people are), or both. Every metric
 * comes with n and, if asked for, a 95 % bootstrap interval over items. docs/reference/metric-details.md defines each.
 *
 *     static const double q[] = {.9, .1, .4, .6}, p[] = {.8, .2, .5, .5}; // two items, two classes
 *     static const int32_t gold[] = {0, 1};
 *     const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input), .n_items = 2, .n_classes = 2, .q = q, .gold = gold, .human = p};
 *     dis_evaluation *e;
 *     if (dis_evaluation_run(ctx, &in, NULL, &e) == DIS_OK) {
 *         const dis_evaluation_view v = dis_evaluation_get_view(e);
 *         printf("accuracy %g\n", v.metric[DIS_EVALUATION_ACCURACY].value);
 *         dis_evaluation_destroy(e);
 *     }
 *
 * Threads: no call keeps state; the same seed gives the same numbers for any number of threads. A result may be read by
 * any number of threads. */
#ifndef DIS_EVALUATE_H
#define DIS_EVALUATE_H
#include "dissent/context.h"
#include "dissent/metric.h"
#include "dissent/votes.h"

/* What a metric cannot do without. */
/* DIS_NEEDS_WORKERS: predictions for single workers, as experiments make them (perspectives.h has their figures). */
/* DIS_NEEDS_SETS: predictions of sets of classes. */
enum { DIS_NEEDS_GOLD = 1, DIS_NEEDS_HUMAN = 2, DIS_NEEDS_ORDER = 4, DIS_NEEDS_WORKERS = 8, DIS_NEEDS_SETS = 16 };

/* What can be measured. A row of the table in src/evaluate/metrics.c describes each: dis_evaluation_metric_get(). */
typedef enum {
    DIS_EVALUATION_ACCURACY,
    DIS_EVALUATION_MAJORITY_ACCURACY,
    DIS_EVALUATION_TOP_K_ACCURACY,
    DIS_EVALUATION_MACRO_F1,
    DIS_EVALUATION_MAJORITY_MACRO_F1,
    DIS_EVALUATION_MICRO_F1,
    DIS_EVALUATION_WEIGHTED_F1,
    DIS_EVALUATION_LOG_LOSS,
    DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD,
    DIS_EVALUATION_BRIER,
    DIS_EVALUATION_ECE,
    DIS_EVALUATION_ABSOLUTE_ERROR,
    DIS_EVALUATION_RANKED_PROBABILITY_SCORE,
    DIS_EVALUATION_CROSS_ENTROPY,
    DIS_EVALUATION_HUMAN_ENTROPY,
    DIS_EVALUATION_KL,
    DIS_EVALUATION_INVERSE_KL,
    DIS_EVALUATION_JSD,
    DIS_EVALUATION_TOTAL_VARIATION,
    DIS_EVALUATION_MANHATTAN,
    DIS_EVALUATION_WASSERSTEIN,
    DIS_EVALUATION_HUMAN_BRIER,
    DIS_EVALUATION_ENTROPY_CORRELATION,
    DIS_EVALUATION_ENTROPY_SPEARMAN,
    DIS_EVALUATION_ENTROPY_SIMILARITY,
    DIS_EVALUATION_MODEL_ENTROPY,
    DIS_EVALUATION_CONFIDENCE,
    DIS_EVALUATION_PERSPECTIVE_ERROR,
    DIS_EVALUATION_PERSPECTIVE_DISTANCE,
    DIS_EVALUATION_SOFT_MICRO_F1,
    DIS_EVALUATION_PO_JSD,
    DIS_EVALUATION_ENTROPY_EXCESS,
    DIS_EVALUATION_SOFT_MACRO_F1,
    DIS_EVALUATION_HUMAN_CALIBRATION_ERROR,
    DIS_EVALUATION_ENTROPY_CALIBRATION_ERROR,
    DIS_EVALUATION_SOFT_PRECISION,
    DIS_EVALUATION_SOFT_RECALL,
    DIS_EVALUATION_SOFT_JACCARD,
    DIS_EVALUATION_METRICS
} dis_evaluation_metric;

/* A row of the table of metrics; static. */
typedef struct {
    const char *name;    /* "macro_f1" */
    const char *title;   /* the name in texts: "macro-F1" */
    const char *summary; /* one line */
    const char *better;  /* "higher", "lower"; "baseline", "floor" and "none" are not to be improved */
    const char *unit;    /* "nats", "steps" of ordered classes; "": a share, a correlation or a square */
    unsigned needs;      /* DIS_NEEDS_... */
    double low, high;    /* the range of its values; high may be infinite */
} dis_evaluation_metric_row;
/* Row i, NULL past the end. */
DIS_API const dis_evaluation_metric_row *dis_evaluation_metric_get(size_t i);
/* The index of a name, DIS_EVALUATION_METRICS if it is unknown. */
DIS_API dis_evaluation_metric dis_evaluation_metric_find(const char *name);

/* The votes that `human` was made of, for intervals that hold for other annotators. */
typedef struct {
    size_t size;             /* of this struct */
    const dis_votes *votes;  /* with annotators; else intervals hold for other items alone */
    const char *labels;      /* the label method that made `human` of them, as in fit.h */
    const size_t *item_map;  /* (n_items) the item of `votes`; SIZE_MAX: none */
    const size_t *class_map; /* (classes of `votes`) the class; SIZE_MAX: none */
} dis_evaluation_votes;
DIS_OPTIONS_API(dis_evaluation_votes);

/* The arrays stay the caller's. */
typedef struct {
    size_t size; /* of this struct */
    size_t n_items, n_classes;
    const double *q;     /* (n_items, n_classes): predictions, rows sum to 1 */
    const int32_t *gold; /* (n_items): class, -1: not known; NULL: no gold labels */
    const double *human; /* (n_items, n_classes): rows sum to 1; NULL: none */
    const uint32_t
        *group;      /* (n_items): items of one group (tokens of a sentence) stay in one half of a split; NULL: each
                              item for itself */
    size_t n_groups; /* numbers in group are below it */
    const dis_evaluation_votes *votes; /* NULL: unknown; intervals hold for other items alone */
    /* q and human are the probabilities that each class belongs to the item, and need not sum to 1. Metrics are means over
     * the classes, each as a question with two answers. No gold labels; intervals hold for other items alone */
    bool multi_label;
} dis_evaluation_input;
DIS_OPTIONS_API(dis_evaluation_input);

typedef struct {
    size_t size; /* of this struct */
    uint64_t seed;
    uint64_t resamples;  /* of the bootstrap: 0, no intervals */
    double fraction;     /* of the items drawn for a resample: 1 */
    bool ordinal;        /* the order of the classes means something */
    bool keep_items;     /* the values of single items are wanted */
    size_t top_k;        /* 3 */
    size_t n_splits;     /* of calibrated log-likelihood: 5, at most DIS_EVALUATION_MAX_SPLITS */
    size_t n_bins;       /* of ECE: 15, at most DIS_EVALUATION_MAX_BINS */
    const bool *metrics; /* (n_metrics): which metrics to compute, by dis_evaluation_metric; NULL: all */
    size_t n_metrics;    /* of `metrics`; metrics from this index on are not computed */
    dis_interval_scope
        interval_scope; /* what intervals of metrics against people hold for, with `votes` and a fraction of 1 */
} dis_evaluation_options;
DIS_OPTIONS_API(dis_evaluation_options);

#define DIS_EVALUATION_MAX_SPLITS 16
#define DIS_EVALUATION_MAX_BINS   200

typedef struct {
    dis_metric precision, recall, f1;
    uint64_t n_gold, n_predicted, n_correct;
} dis_class_scores;

/* Predictions against human labels as shares of a class. Intervals as those of metrics against people. */
typedef struct {
    dis_metric precision, recall, f1; /* sum min(p, q) / sum q, / sum p, and 2 sum min(p, q) / sum (p + q) */
    dis_metric brier;                 /* mean (q - p)^2 */
    dis_metric cross_entropy;         /* of the question whether it is this class, nats */
    double human, predicted;          /* means of p and q over the items */
} dis_soft_class_scores;

/* Items whose predicted value is above low, up to high. */
typedef struct {
    size_t class_index; /* whose probability is predicted; SIZE_MAX: the entropy is */
    double low, high;
    uint64_t n;
    double predicted, human; /* means; NaN in an empty bin */
} dis_human_bin;

typedef struct {
    double low, high; /* confidence above low, up to high */
    uint64_t n;
    double confidence, accuracy; /* means; NaN in an empty bin */
} dis_reliability_bin;

/* The values of one metric for single items. Against gold: NaN for items without gold. */
typedef struct {
    dis_evaluation_metric metric;
    const double *values; /* (n_items); NULL: not measured */
} dis_evaluation_column;

/* Values of single items; without keep_items, all are NULL. */
typedef struct {
    const int32_t *predicted; /* (n_items) most probable class, the first one on a tie */
    size_t n_columns;
    const dis_evaluation_column *column; /* (n_columns) in the order of tables */
} dis_evaluation_items;

typedef struct {
    size_t n_items, n_classes;
    size_t n_gold; /* items with a gold label */
    uint64_t resamples;
    const dis_metric *metric; /* (n_metrics): one for each row of dis_evaluation_metric_get() */
    size_t n_metrics;
    uint64_t n_floored, n_human_floored; /* probabilities raised to 1e-12 in q, and in p for inverse KL */
    size_t majority_class;               /* most frequent gold label, the first one on a tie; SIZE_MAX without gold */
    const dis_class_scores *classes;     /* (n_classes); NULL without gold */
    const uint64_t *confusion; /* (gold, predicted); NULL without gold or above DIS_EVALUATION_MAX_CONFUSED classes */
    size_t n_bins;
    const dis_reliability_bin *bin;    /* (n_bins); NULL without gold, or when only accuracy and F1 were wanted */
    size_t n_splits;                   /* 0: not measured */
    const double *temperature;         /* (n_splits) */
    const bool *at_bound;              /* (n_splits) the temperature is at the bound of the search */
    dis_evaluation_items items;        /* with keep_items */
    dis_interval_scope interval_scope; /* what intervals of metrics against people hold for */
    size_t n_annotators;               /* whose votes `human` is made of; 0: unknown */
    bool few_annotators;               /* fewer than DIS_EVALUATION_FEW_ANNOTATORS: others might reverse results */
    const dis_soft_class_scores *soft_classes; /* (n_classes); NULL without human labels */
    size_t n_human_bins;
    const dis_human_bin *human_bin; /* (n_human_bins) of each class, then of the entropy; NULL: not measured */
} dis_evaluation_view;

#define DIS_EVALUATION_FEW_ANNOTATORS 5

#define DIS_EVALUATION_MAX_CONFUSED 4096

typedef struct dis_evaluation dis_evaluation;

/* options NULL: the defaults. DIS_EUSAGE: no items or classes, a gold label or group out of range, options out of
 * range. DIS_ELIMIT, DIS_ECANCELLED. The caller destroys the result. */
DIS_API dis_status dis_evaluation_run(dis_context *ctx, const dis_evaluation_input *input,
                                      const dis_evaluation_options *options, dis_evaluation **out);
DIS_VIEW_API(dis_evaluation);
/* The value of the metric of that name, and its interval; NaN: unknown name, or not measured. False: no interval. */
DIS_API double dis_evaluation_value(const dis_evaluation *evaluation, const char *name);
DIS_API bool dis_evaluation_interval(const dis_evaluation *evaluation, const char *name, double *low, double *high);
/* The values of a metric for single items, (n_items), with keep_items; NULL: not measured. */
DIS_API const double *dis_evaluation_values(const dis_evaluation_view *view, dis_evaluation_metric metric);
DIS_API void dis_evaluation_destroy(dis_evaluation *evaluation);

#endif
