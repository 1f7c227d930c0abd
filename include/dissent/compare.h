/* compare.h: tests whether one model is better than another, and on which items.
 *
 * Two sides, A and B, each with the predictions of one or more seeds (training runs) for the same items with known
 * labels. The difference in accuracy and macro-F1 has a 95 % interval and a p-value of the paired bootstrap. McNemar's
 * test is computed too. With human soft labels, items are sorted into four cells: both correct, both wrong, only A
 * correct, only B correct. A Mann-Whitney test compares the two mixed cells.
 *
 *     static const int32_t gold[] = {0, 1, 1}, from_a[] = {0, 1, 0}, from_b[] = {1, 1, 0};
 *     const int32_t *side_a[] = {from_a}, *side_b[] = {from_b};
 *     const dis_comparison_input in = {
 *         .size = sizeof(dis_comparison_input), .n_items = 3, .n_classes = 2, .gold = gold, .a = side_a, .n_a = 1, .b = side_b, .n_b = 1};
 *     dis_comparison *c;
 *     if (dis_comparison_run(ctx, &in, NULL, &c) == DIS_OK) {
 *         const dis_comparison_view v = dis_comparison_get_view(c);
 *         printf("A - B: %g, p %g\n", v.metric[DIS_COMPARE_ACCURACY].difference.value,
 *                v.metric[DIS_COMPARE_ACCURACY].p);
 *         dis_comparison_destroy(c);
 *     }
 *
 * Threads: no call keeps state; the same seed gives the same numbers for any number of threads. A result is read by any
 * number of threads. */
#ifndef DIS_COMPARE_H
#define DIS_COMPARE_H
#include "dissent/context.h"
#include "dissent/evaluate.h"
#include "dissent/metric.h"
#include "dissent/votes.h"

/* What a test looks for: another law; smaller numbers in the first group; larger ones. */
typedef enum { DIS_TWO_SIDED, DIS_LESS, DIS_GREATER } dis_alternative;

/* ---- results of tests ---- */

/* Mann-Whitney U test. */
typedef struct {
    double u, p;        /* U of the first group; NaN with a reason */
    size_t n_x, n_y;    /* numbers in the groups */
    bool exact;         /* few numbers, no ties: the exact law; else normal, corrected for ties and continuity */
    const char *reason; /* static text: why there is no p; NULL when there is one */
} dis_rank_test;

#define DIS_MCNEMAR_FEW 25

/* McNemar's test. */
typedef struct {
    uint64_t only_a, only_b; /* items that one side alone has right */
    double statistic;        /* chi-square with continuity correction; when exact, the smaller of the two numbers */
    double p;                /* two-sided */
    bool exact;              /* fewer than DIS_MCNEMAR_FEW such items: binomial law */
} dis_mcnemar;

/* ---- two sides ---- */

/* Votes that the true labels are made of: the class with most votes, ties broken at random by the seed. */
typedef struct {
    size_t size;             /* of this struct */
    const dis_votes *votes;  /* with annotators */
    const size_t *item_map;  /* (n_items) the item of `votes`; SIZE_MAX: none */
    const size_t *class_map; /* (classes of `votes`) the class; SIZE_MAX: none, such votes do not count */
} dis_comparison_votes;
DIS_OPTIONS_API(dis_comparison_votes);

/* The arrays stay the caller's. */
typedef struct {
    size_t size; /* of this struct */
    size_t n_items, n_classes;
    const int32_t *gold;                /* (n_items): class, -1: unknown, the item is left out; not with votes */
    size_t n_a, n_b;                    /* seeds per side, 1 .. DIS_COMPARE_MAX_SEEDS */
    const int32_t *const *a, *const *b; /* n_a and n_b arrays of (n_items): the predicted class */
    const double *human;                /* (n_items, n_classes) soft labels for the four cells; NULL: no cells */
    const dis_comparison_votes *votes;  /* NULL: the true labels are `gold` */
} dis_comparison_input;
DIS_OPTIONS_API(dis_comparison_input);

#define DIS_COMPARE_MAX_SEEDS 64

typedef struct {
    size_t size; /* of this struct */
    uint64_t seed;
    uint64_t resamples;          /* 10,000; 0: no intervals, no p */
    double fraction;             /* of the items drawn for a resample: 1 */
    bool pool_seeds;             /* resample (item, seed) pairs, A's and B's seeds paired in order, instead of items */
    dis_alternative alternative; /* of the Mann-Whitney test, "only A right" being the first group: two-sided */
    dis_interval_scope interval_scope; /* what intervals and p hold for, where the true labels are made of votes */
} dis_comparison_options;
DIS_OPTIONS_API(dis_comparison_options);

enum { DIS_COMPARE_ACCURACY, DIS_COMPARE_MACRO_F1, DIS_COMPARE_METRICS };
enum { DIS_CELL_BOTH_CORRECT, DIS_CELL_BOTH_WRONG, DIS_CELL_ONLY_A, DIS_CELL_ONLY_B, DIS_CELLS };
enum { DIS_CELL_KURTOSIS, DIS_CELL_ENTROPY, DIS_CELL_MAX_PROBABILITY, DIS_CELL_STATISTICS };

typedef struct {
    dis_metric a, b;       /* mean over the seeds of a side; with pool_seeds, of its pooled predictions */
    dis_metric difference; /* A - B */
    double sd_a, sd_b;     /* standard deviation over seeds; NaN for one seed */
    /* Paired bootstrap (Berg-Kirkpatrick et al. 2012): the share of resamples whose difference is more than twice the
     * observed one, in the same direction. 1 if the observed one is 0, NaN without resamples. */
    double p;
    double p_two_sided; /* share of resamples whose difference is at least |observed| away from the observed one */
    int stars;          /* 2: p <= .01, 1: p <= .05, else 0 */
} dis_significance;

typedef struct {
    const dis_metric *mean; /* (DIS_CELLS) over the (item, pair of seeds) in the cell; without intervals */
    dis_rank_test test;     /* only A correct against only B correct */
    size_t n_excluded;      /* items without a value: the kurtosis of a uniform soft label */
} dis_cell_statistic;

typedef struct {
    size_t n_items;                 /* with a gold label */
    size_t n_a, n_b;                /* seeds */
    uint64_t n_resample;            /* drawn for a resample */
    const dis_significance *metric; /* (n_metrics): one for each row of dis_comparison_metric_get() */
    size_t n_metrics;
    /* Pairs of seeds: in order when both sides have the same number, else each with each. */
    size_t n_pairs;
    const dis_mcnemar *mcnemar;          /* (n_pairs), in order of a's seeds, then b's */
    const uint64_t *cell;                /* (DIS_CELLS) number of (item, pair) in each */
    bool has_statistics;                 /* human soft labels were given */
    const dis_cell_statistic *statistic; /* (n_statistics): by dis__comparison_statistic_name() */
    size_t n_statistics;
    dis_interval_scope interval_scope; /* what intervals and p hold for; with DIS_INTERVAL_ANNOTATORS p is two-sided */
    size_t n_annotators;               /* whose votes the true labels are made of; 0: gold labels */
    bool few_annotators;               /* fewer than DIS_COMPARE_FEW_ANNOTATORS: others might reverse the result */
} dis_comparison_view;

#define DIS_COMPARE_FEW_ANNOTATORS 5

typedef struct dis_comparison dis_comparison;

/* options NULL: the defaults. DIS_EDATA: no item with a gold label. DIS_EUSAGE: no or too many seeds, a class out of
 * range, a fraction outside (0, 1], pool_seeds with different numbers of seeds. Also pool_seeds or a fraction below 1
 * with intervals over annotators. DIS_EDATA: votes without annotators. DIS_ELIMIT, DIS_ECANCELLED. */
DIS_API dis_status dis_comparison_run(dis_context *ctx, const dis_comparison_input *input,
                                      const dis_comparison_options *options, dis_comparison **out);
DIS_VIEW_API(dis_comparison);
/* Difference of the metric of that name ("accuracy", "macro_f1"), A - B, and its p-value; NaN: unknown name. */
DIS_API double dis_comparison_difference(const dis_comparison *comparison, const char *name);
DIS_API double dis_comparison_p_value(const dis_comparison *comparison, const char *name);
DIS_API void dis_comparison_destroy(dis_comparison *comparison);

/* The row of the metric that is compared; NULL past the end. */
DIS_API const dis_evaluation_metric_row *dis_comparison_metric_get(size_t i);

#endif
