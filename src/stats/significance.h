/* significance.h: tests of significance of two groups of values or of two models, and the kurtosis. */
#ifndef DIS_STATS_SIGNIFICANCE_H
#define DIS_STATS_SIGNIFICANCE_H
#include "dissent/compare.h"

/* Mann-Whitney U test of two groups of values, as scipy.stats.mannwhitneyu. An empty group: a result with a reason.
 * DIS_EUSAGE: a NaN. DIS_ELIMIT. */
dis_status dis__mann_whitney_test(const double *x, size_t n_x, const double *y, size_t n_y, dis_alternative alternative,
                                  dis_rank_test *out);

dis_mcnemar dis__mcnemar_test(uint64_t only_a, uint64_t only_b);

/* Excess kurtosis as scipy.stats.kurtosis computes it by default; NaN if all n values are equal. For two different
 * values it is always -2, for three always -1.5. */
double dis__excess_kurtosis(const double *x, size_t n);

#endif
