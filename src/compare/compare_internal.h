/* compare_internal.h: the inside of a comparison: patterns of answers, their bootstrap, the four cells. */
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
};

/* Items that the known label and all predictions agree on are one pattern: a resample needs only how often each pattern
 * was drawn. A series is the predictions of one seed; those of A come first. */
typedef struct {
    size_t n_patterns, n_series, n_a, n_classes;
    size_t n;          /* what is drawn from: items, or (item, pair of seeds) when seeds are pooled */
    uint64_t *count;   /* (n_patterns) */
    uint32_t *gold;    /* (n_patterns) */
    uint32_t *answer;  /* (n_patterns, n_series) */
    uint32_t *pattern; /* (n): of each drawn-from one */
} dis__answer_patterns;

/* Items without gold are left out. The caller frees, also after a failure. DIS_ELIMIT: 2^32 or more to draw from. */
dis_status dis__answer_patterns_init(const dis_comparison_input *input, bool pool_seeds, dis__answer_patterns *out);
void dis__answer_patterns_free(dis__answer_patterns *patterns);

/* What one resample gives: for each metric A, B and the difference; that of accuracy as the integer
 * n_b * (right answers of A) - n_a * (right answers of B). */
enum {
    DIS_COMPARE_SIDE_A,
    DIS_COMPARE_SIDE_B,
    DIS_COMPARE_DIFFERENCE,
    DIS_COMPARE_SIDES,
    DIS_COMPARE_VALUES = DIS_COMPARE_SIDES * DIS_COMPARE_METRICS
};
/* tally: (n_series, n_classes) answers, those that are right in the upper half of the word; then (n_classes) gold; of n
 * items. */
void dis__answer_counts_measure(const dis__answer_patterns *patterns, const uint64_t *counts, double n, double *values);

/* vote_reference.c: labels of items from votes. */
typedef struct {
    const dis_comparison_votes *from;
    dis_votes_view votes;
    uint64_t seed;
    size_t n_rows, n_classes;
    size_t n_workers; /* who voted on some row */
    int32_t *gold;    /* (n_rows) the class with most votes, -1: none */
    uint32_t *worker; /* (n_workers) who they are */
    double *n_votes;  /* (workers of the votes) their votes on rows */
} dis__vote_reference;
dis_status dis__vote_reference_init(const dis_comparison_input *input, uint64_t seed, dis__vote_reference *out);
void dis__vote_reference_free(dis__vote_reference *reference);
/* Variances of each value over annotators; those over items are left to the caller. */
dis_status dis__vote_reference_variances(dis_context *ctx, const dis__vote_reference *reference,
                                         const dis_comparison_input *input, const dis__answer_patterns *patterns,
                                         dis__crossed_variances out[DIS_COMPARE_VALUES]);

/* Metrics of both sides as observed, intervals and p-values. crossed: (DIS_COMPARE_VALUES) variances over annotators,
 * or NULL: for other items alone. */
dis_status dis__paired_bootstrap(dis_context *ctx, const dis__answer_patterns *patterns,
                                 const dis_comparison_options *options, dis__crossed_variances *crossed,
                                 dis_comparison *out);

/* Means of the soft-label statistics in the four cells and the tests between the mixed ones. `pairs`: (n_pairs, 2),
 * seeds of A and B. */
dis_status dis__correctness_cells_compute(const dis_comparison_input *input, const size_t (*pairs)[2], size_t n_pairs,
                                          dis_alternative alternative, dis_comparison *out);

#endif
