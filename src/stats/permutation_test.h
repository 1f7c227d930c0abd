/* permutation_test.h: tests of whether groups matter: the groups are permuted at random, and the statistic is
 * recomputed. */
#ifndef DIS_STATS_PERMUTATION_TEST_H
#define DIS_STATS_PERMUTATION_TEST_H
#include "core/error.h"

/* Permutation number d of a seed: the groups of all members (group[i] >= 0), shuffled, into `to` (n). */
void dis__permute_groups(uint64_t seed, uint64_t d, const int32_t *group, size_t n, int32_t *to);
/* The p-value of statistic `at` of a table (n_deals, n_values) of permuted statistics, with the observed `value`: twice
 * the share of permutations at least as low, or as high, whichever is smaller; one-sided: the share at least as high.
 * One is added on both sides of the share, so it is never 0. NaN without permutations. */
double dis__permutation_p(const double *permuted, size_t n_permutations, size_t n_values, size_t at, double value,
                          bool one_sided);

#endif
