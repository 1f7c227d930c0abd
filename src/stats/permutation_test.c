/* Permutation tests: permutations by Fisher and Yates, p-values with one permutation added to both sides of the share
 * (Phipson and Smyth 2010). */
#include "stats/permutation_test.h"
#include "core/random/rng.h"
#include "core/random/random.h"
#include <math.h>

void dis__permute_groups(uint64_t seed, uint64_t d, const int32_t *group, size_t n, int32_t *to)
{
    dis__rng source = dis__rng_at(seed, DIS_STREAM_GROUPS, d);
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (group[i] >= 0) to[m++] = group[i];
    for (size_t i = m; i > 1; i--) {
        const size_t j = (size_t)dis__rng_below(&source, i);
        const int32_t keep = to[i - 1];
        to[i - 1] = to[j];
        to[j] = keep;
    }
    for (size_t i = n; i-- > 0;) to[i] = group[i] >= 0 ? to[--m] : -1; /* from the end: positions only move upwards */
}

double dis__permutation_p(const double *permuted, size_t n_permutations, size_t n_values, size_t at, double value,
                          bool one_sided)
{
    const double slack = 1e-12 * (1 + fabs(value)); /* equal up to the order of addition */
    double n = 0, low = 0, high = 0;
    for (size_t d = 0; d < n_permutations && !isnan(value); d++) {
        const double y = permuted[d * n_values + at];
        if (isnan(y)) continue;
        n++;
        low += y <= value + slack;
        high += y >= value - slack;
    }
    if (n == 0) return NAN;
    return one_sided ? (high + 1) / (n + 1) : fmin(1, 2 * (fmin(low, high) + 1) / (n + 1));
}
