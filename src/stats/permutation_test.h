/* permutation_test.h: tests of whether groups matter: the groups are dealt out anew, and what is measured is measured again. */
#ifndef DIS_STATS_DEAL_H
#define DIS_STATS_DEAL_H
#include "core/error.h"

/* Deal number d of a seed: the groups of those who are in one (group[i] >= 0), shuffled, into `to` (n). */
void dis__permute_groups(uint64_t seed, uint64_t d, const int32_t *group, size_t n, int32_t *to);
/* The p-value of figure `at` of a table (n_deals, n_values) of dealt figures, `value` being what was seen: twice the
 * share of deals at least as low, or as high, whichever is smaller; one-sided: the share at least as high. One more on
 * both sides of the share: never 0. NaN without figures. */
double dis__permutation_p(const double *permuted, size_t n_permutations, size_t n_values, size_t at, double value,
                          bool one_sided);

#endif
