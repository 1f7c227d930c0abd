/* compare_internal.h: the inside of a comparison: patterns of answers, their bootstrap, the four cells. */
#ifndef DIS_COMPARE_COMPARE_INTERNAL_H
#define DIS_COMPARE_COMPARE_INTERNAL_H
#include "dissent/compare.h"
#include "core/error.h"

/* Items that the known label and all predictions agree on are one pattern: a resample needs only how often each pattern
 * was drawn. A series is the predictions of one seed; those of A come first. */
typedef struct {
    size_t n_patterns, n_series, n_a, n_classes;
    size_t n;          /* what is drawn from: items, or (item, pair of seeds) when seeds are pooled */
    uint64_t *count;   /* (n_patterns) */
    uint32_t *gold;    /* (n_patterns) */
    uint32_t *answer;  /* (n_patterns, n_series) */
    uint32_t *pattern; /* (n): of each drawn-from one */
} dis__patterns;

/* Items without gold are left out. The caller frees, also after a failure. DIS_ELIMIT: 2^32 or more to draw from. */
dis_status dis__patterns_find(const dis_comparison_input *input, bool pool_seeds, dis__patterns *out);
void dis__patterns_free(dis__patterns *patterns);

/* Metrics of both sides as observed, intervals and p-values. */
dis_status dis__paired_bootstrap(dis_context *ctx, const dis__patterns *patterns, const dis_comparison_options *options,
                                 dis_comparison_view *out);

/* Means of the soft-label statistics in the four cells and the tests between the mixed ones. `pairs`: (n_pairs, 2),
 * seeds of A and B. */
dis_status dis__cell_statistics(const dis_comparison_input *input, const size_t (*pairs)[2], size_t n_pairs,
                                dis_alternative alternative, dis_comparison_view *out);

#endif
