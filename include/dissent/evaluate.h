/* evaluate.h: how good predicted distributions are, against gold labels and against people.
 *
 * Predictions q, one distribution per item, are measured against gold labels (accuracy, F1, calibration), against human
 * distributions p (cross-entropy, divergences, whether the model is unsure where people are), or both. Every metric
 * comes with n and, if asked for, a 95 % bootstrap interval over items. docs/guides/evaluation.md defines each.
 *
 *     static const double q[] = {.9, .1, .4, .6}, p[] = {.8, .2, .5, .5}; // two items, two classes
 *     static const int32_t gold[] = {0, 1};
 *     const dis_evaluation_input in = {.n_items = 2, .n_classes = 2, .q = q, .gold = gold, .human = p};
 *     dis_evaluation *e;
 *     if (dis_evaluation_run(ctx, &in, NULL, &e) == DIS_OK) {
 *         const dis_evaluation_view v = dis_evaluation_look(e);
 *         printf("accuracy %g\n", v.metric[DIS_EVAL_ACCURACY].value);
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
enum { DIS_NEEDS_GOLD = 1, DIS_NEEDS_HUMAN = 2, DIS_NEEDS_ORDER = 4, DIS_NEEDS_WORKERS = 8 };

/* enum value, name, direction that is better, unit, what it needs, one line */
#define DIS_EVAL_LIST(X)                                                                                              \
    X(ACCURACY, "accuracy", "higher", "", DIS_NEEDS_GOLD,                                                             \
      "share of items whose most probable class is the gold label")                                                   \
    X(MAJORITY_ACCURACY, "majority_accuracy", "baseline", "", DIS_NEEDS_GOLD,                                         \
      "accuracy of always answering the most frequent gold label")                                                    \
    X(TOP_K_ACCURACY, "top_k_accuracy", "higher", "", DIS_NEEDS_GOLD,                                                 \
      "share of items whose gold label is among the k most probable classes")                                         \
    X(MACRO_F1, "macro_f1", "higher", "", DIS_NEEDS_GOLD, "mean F1 of the classes that occur in gold or predictions") \
    X(MAJORITY_MACRO_F1, "majority_macro_f1", "baseline", "", DIS_NEEDS_GOLD,                                         \
      "macro F1 of always answering the most frequent gold label")                                                    \
    X(MICRO_F1, "micro_f1", "higher", "", DIS_NEEDS_GOLD,                                                             \
      "F1 of all decisions pooled; with one label per item, accuracy")                                                \
    X(WEIGHTED_F1, "weighted_f1", "higher", "", DIS_NEEDS_GOLD,                                                       \
      "mean F1 of the classes, weighted by their gold labels")                                                        \
    X(LOG_LOSS, "log_loss", "lower", "nats", DIS_NEEDS_GOLD, "mean -log q at the gold label, nats")                   \
    X(CALIBRATED_LOG_LIKELIHOOD, "calibrated_log_likelihood", "lower", "nats", DIS_NEEDS_GOLD,                        \
      "mean -log q at the gold label of one half after fitting a temperature on the other, mean of the splits, nats") \
    X(BRIER, "brier", "lower", "", DIS_NEEDS_GOLD, "mean squared distance of q from the gold label as a one-hot row") \
    X(ECE, "ece", "lower", "", DIS_NEEDS_GOLD,                                                                        \
      "expected calibration error: mean |accuracy - confidence| over equal bins")                                     \
    X(ABSOLUTE_ERROR, "absolute_error", "lower", "steps", DIS_NEEDS_GOLD | DIS_NEEDS_ORDER,                           \
      "mean number of steps from the median of q to the gold label")                                                  \
    X(RANKED_PROBABILITY_SCORE, "ranked_probability_score", "lower", "", DIS_NEEDS_GOLD | DIS_NEEDS_ORDER,            \
      "mean over items of the sum of squared differences of q and the gold label, both cumulated in class order")     \
    X(CROSS_ENTROPY, "cross_entropy", "lower", "nats", DIS_NEEDS_HUMAN,                                               \
      "mean -sum p log q, nats; never below human_entropy")                                                           \
    X(HUMAN_ENTROPY, "human_entropy", "floor", "nats", DIS_NEEDS_HUMAN,                                               \
      "mean entropy of p, nats: the floor of cross-entropy")                                                          \
    X(KL, "kl", "lower", "nats", DIS_NEEDS_HUMAN, "mean KL(p || q), nats")                                            \
    X(INVERSE_KL, "inverse_kl", "lower", "nats", DIS_NEEDS_HUMAN, "mean KL(q || p), nats, p floored as q is")         \
    X(JSD, "jsd", "lower", "nats", DIS_NEEDS_HUMAN, "mean Jensen-Shannon divergence of p and q, nats")                \
    X(TOTAL_VARIATION, "total_variation", "lower", "", DIS_NEEDS_HUMAN, "mean of half the sum of |p - q|")            \
    X(MANHATTAN, "manhattan", "lower", "", DIS_NEEDS_HUMAN, "mean of the sum of |p - q|")                             \
    X(WASSERSTEIN, "wasserstein", "lower", "steps", DIS_NEEDS_HUMAN | DIS_NEEDS_ORDER,                                \
      "mean earth mover's distance, one step from a class to the next")                                               \
    X(HUMAN_BRIER, "human_brier", "lower", "", DIS_NEEDS_HUMAN, "mean squared distance of q from p")                  \
    X(ENTROPY_CORRELATION, "entropy_correlation", "higher", "", DIS_NEEDS_HUMAN,                                      \
      "Pearson correlation over items of the entropies of q and p")                                                   \
    X(ENTROPY_SPEARMAN, "entropy_spearman", "higher", "", DIS_NEEDS_HUMAN,                                            \
      "Spearman correlation over items of the entropies of q and p")                                                  \
    X(ENTROPY_SIMILARITY, "entropy_similarity", "higher", "", DIS_NEEDS_HUMAN, "1 - mean |H(p) - H(q)| / log K")      \
    X(MODEL_ENTROPY, "model_entropy", "none", "nats", 0, "mean entropy of q, nats")                                   \
    X(CONFIDENCE, "confidence", "none", "", 0, "mean of the largest probability of q")                                \
    X(PERSPECTIVE_ERROR, "perspective_error", "lower", "", DIS_NEEDS_WORKERS,                                         \
      "mean over items of the share of their votes that predictions for the voters have wrong")                       \
    X(PERSPECTIVE_DISTANCE, "perspective_distance", "lower", "steps", DIS_NEEDS_WORKERS | DIS_NEEDS_ORDER,            \
      "mean over items of the steps from votes to the medians of predictions for the voters")

typedef enum {
#define DIS_EVAL_ENUM(id, name, better, unit, needs, summary) DIS_EVAL_##id,
    DIS_EVAL_LIST(DIS_EVAL_ENUM)
#undef DIS_EVAL_ENUM
        DIS_EVAL_METRICS
} dis_eval_metric;

/* A row of the table of metrics; static. */
typedef struct {
    const char *name, *summary;
    const char *better; /* "higher", "lower"; "baseline", "floor" and "none" are not to be improved */
    unsigned needs;     /* DIS_NEEDS_... */
    const char *unit;   /* "nats", "steps" of ordered classes; "": a share, a correlation or a square */
} dis_eval_row;
/* Row i, NULL past the end. */
DIS_API const dis_eval_row *dis_eval_metric_at(size_t i);
/* The index of a name, DIS_EVAL_METRICS when there is none. */
DIS_API dis_eval_metric dis_eval_metric_find(const char *name);
/* An arrow for tables that people read: up where higher is better, down where lower is (UTF-8), "" for the others. */
DIS_API const char *dis_eval_arrow(size_t i);
/* The values that a metric can take: -1 .. 1, 0 .. 1, 0 .. 2, 0 .. log 2 or 0 .. infinity. */
DIS_API void dis_eval_range(size_t i, double *low, double *high);

/* The votes that `human` was made of, for intervals that hold for other annotators. */
typedef struct {
    const dis_votes *votes; /* with annotators; else intervals hold for other items alone */
    const char *labels;     /* the label method that made `human` of them, as in fit.h */
    const size_t *item;     /* (n_items) the item of `votes`; SIZE_MAX: none */
    const size_t *class;    /* (classes of `votes`) the class; SIZE_MAX: none */
} dis_evaluation_votes;

/* The arrays stay the caller's. */
typedef struct {
    size_t n_items, n_classes;
    const double *q;     /* (n_items, n_classes): predictions, rows sum to 1 */
    const int32_t *gold; /* (n_items): class, -1: not known; NULL: no gold labels */
    const double *human; /* (n_items, n_classes): rows sum to 1; NULL: none */
    const uint32_t
        *group;      /* (n_items): items of one group (tokens of a sentence) stay in one half of a split; NULL: each
                              item for itself */
    size_t n_groups; /* numbers in group are below it */
    const dis_evaluation_votes *votes; /* NULL: unknown; intervals hold for other items alone */
} dis_evaluation_input;

typedef struct {
    size_t size; /* of this struct */
    uint64_t seed;
    uint64_t resamples;     /* of the bootstrap: 0, no intervals */
    double fraction;        /* of the items drawn for a resample: 1 */
    bool ordinal;           /* the order of the classes means something */
    bool keep_items;        /* the values of single items are wanted */
    size_t top_k;           /* 3 */
    size_t n_splits;        /* of calibrated log-likelihood: 5, at most DIS_EVAL_MAX_SPLITS */
    size_t n_bins;          /* of ECE: 15, at most DIS_EVAL_MAX_BINS */
    const bool *wanted;     /* (DIS_EVAL_METRICS): which metrics; NULL: all */
    dis_interval_over over; /* what intervals of metrics against people hold for, with `votes` and a fraction of 1 */
} dis_evaluation_options;
DIS_OPTIONS_API(dis_evaluation_options);

#define DIS_EVAL_MAX_SPLITS 16
#define DIS_EVAL_MAX_BINS   200

typedef struct {
    dis_metric precision, recall, f1;
    uint64_t n_gold, n_predicted, n_right;
} dis_class_scores;

typedef struct {
    double low, high; /* confidence above low, up to high */
    uint64_t n;
    double confidence, accuracy; /* means; NaN in an empty bin */
} dis_reliability_bin;

/* Values of single items; those that were not measured are NULL. Against gold: NaN where there is none. */
typedef struct {
    const int32_t *predicted; /* (n_items) most probable class, the first one on a tie */
    const double *model_entropy, *confidence, *log_loss, *brier;
    const double *human_entropy, *cross_entropy, *kl, *inverse_kl, *jsd, *total_variation, *wasserstein, *human_brier;
} dis_eval_items;

typedef struct {
    size_t n_items, n_classes;
    size_t n_gold; /* items with a gold label */
    uint64_t resamples;
    dis_metric metric[DIS_EVAL_METRICS];
    uint64_t floored, human_floored; /* probabilities raised to 1e-12 in q, and in p for inverse KL */
    size_t majority;                 /* most frequent gold label, the first one on a tie; SIZE_MAX without gold */
    const dis_class_scores *classes; /* (n_classes); NULL without gold */
    const uint64_t *confusion;       /* (gold, predicted); NULL without gold or above DIS_EVAL_MAX_CONFUSED classes */
    size_t n_bins;
    const dis_reliability_bin *bin;          /* (n_bins); NULL without gold, or when only accuracy and F1 were wanted */
    size_t n_splits;                         /* 0: not measured */
    double temperature[DIS_EVAL_MAX_SPLITS]; /* of each split */
    bool on_bound[DIS_EVAL_MAX_SPLITS];      /* it sits on the bound of the search */
    dis_eval_items items;                    /* with keep_items */
    dis_interval_over over;                  /* what intervals of metrics against people hold for */
    size_t n_annotators;                     /* whose votes `human` is made of; 0: unknown */
    bool few_annotators;                     /* fewer than DIS_EVAL_FEW_ANNOTATORS: others might reverse results */
} dis_evaluation_view;

#define DIS_EVAL_FEW_ANNOTATORS 5

#define DIS_EVAL_MAX_CONFUSED 4096

typedef struct dis_evaluation dis_evaluation;

/* options NULL: the defaults. DIS_EUSAGE: no items or classes, a gold label or group out of range, options out of
 * range. DIS_ELIMIT, DIS_ECANCELLED. The caller destroys the result. */
DIS_API dis_status dis_evaluation_run(dis_context *ctx, const dis_evaluation_input *input,
                                      const dis_evaluation_options *options, dis_evaluation **out);
DIS_LOOK_API(dis_evaluation);
DIS_API void dis_evaluation_destroy(dis_evaluation *evaluation);

#endif
