/* compare_internal.h: internals of a comparison: patterns of answers, their bootstrap, the four cells. */
#ifndef DIS_COMPARE_COMPARE_INTERNAL_H
#define DIS_COMPARE_COMPARE_INTERNAL_H
#include "dissent/compare.h"
#include "core/error.h"
#include "stats/crossed_intervals.h"

struct dis_comparison {
    dis_comparison_view view;
    dis_mcnemar *mcnemar;
    dis_significance metric[DIS_COMPARE_METRICS];
    dis_cell_statistic statistic[DIS_CELL_STATISTICS];
    dis_metric mean[DIS_CELL_STATISTICS][DIS_CELLS];
    uint64_t cell[DIS_CELLS];
};

/* Items with the same gold label and the same predictions are one pattern: a resample needs only a count per pattern. A
 * series is the predictions of one seed; those of A come first. */
typedef struct {
    size_t n_patterns, n_series, n_a, n_classes;
    size_t n;          /* what is resampled: items, or (item, pair of seeds) if seeds are pooled */
    uint64_t *count;   /* (n_patterns) */
    uint32_t *gold;    /* (n_patterns) */
    uint32_t *answer;  /* (n_patterns, n_series) */
    uint32_t *pattern; /* (n): the pattern of each unit that is resampled */
} dis__answer_patterns;

/* Items without gold are skipped. The caller frees it, also after a failure. DIS_ELIMIT: 2^32 or more units. */
dis_status dis__answer_patterns_init(const dis_comparison_input *input, bool pool_seeds, dis__answer_patterns *out);
void dis__answer_patterns_free(dis__answer_patterns *patterns);

/* The result of one resample: for each metric A, B and the difference; that of accuracy as the integer n_b * (correct
 * answers of A) - n_a * (correct answers of B). */
enum {
    DIS_COMPARE_SIDE_A,
    DIS_COMPARE_SIDE_B,
    DIS_COMPARE_DIFFERENCE,
    DIS_COMPARE_SIDES,
    DIS_COMPARE_VALUES = DIS_COMPARE_SIDES * DIS_COMPARE_METRICS
};
/* tally: (n_series, n_classes) answers, the correct ones in the upper half of the word; followed by (n_classes) gold;
 * of n items. */
void dis__answer_counts_measure(const dis__answer_patterns *patterns, const uint64_t *counts, double n, double *values);

/* vote_reference.c: labels of items from votes. */
typedef struct {
    const dis_comparison_votes *from;
    dis_votes_view votes;
    uint64_t seed;
    size_t n_rows, n_classes;
    size_t n_workers; /* workers who voted on some row */
    int32_t *gold;    /* (n_rows) the class with most votes, -1: none */
    uint32_t *worker; /* (n_workers) their indices */
    double *n_votes;  /* (workers of the votes) their votes on rows */
} dis__vote_reference;
dis_status dis__vote_reference_init(const dis_comparison_input *input, uint64_t seed, dis__vote_reference *out);
void dis__vote_reference_free(dis__vote_reference *reference);
/* Variances of each value over annotators; those over items are left to the caller. */
dis_status dis__vote_reference_variances(dis_context *ctx, const dis__vote_reference *reference,
                                         const dis_comparison_input *input, const dis__answer_patterns *patterns,
                                         dis__crossed_variances out[DIS_COMPARE_VALUES]);

/* Metrics of both sides as observed, intervals and p-values. crossed: (DIS_COMPARE_VALUES) variances over annotators,
 * or NULL: for new items only. */
dis_status dis__paired_bootstrap(dis_context *ctx, const dis__answer_patterns *patterns,
                                 const dis_comparison_options *options, dis__crossed_variances *crossed,
                                 dis_comparison *out);

/* Means of the soft-label statistics in the four cells and the tests between the mixed ones. `pairs`: (n_pairs, 2),
 * seeds of A and B. */
dis_status dis__correctness_cells_compute(const dis_comparison_input *input, const size_t (*pairs)[2], size_t n_pairs,
                                          dis_alternative alternative, dis_comparison *out);

#endif
