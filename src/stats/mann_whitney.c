/* The Mann-Whitney U test (Mann and Whitney 1947), as scipy's mannwhitneyu computes it.
 *
 * U of x is the number of pairs (x_i, y_j) with x_i > y_j, ties counting half; from the ranks of both together it is
 * R_x - n_x (n_x + 1) / 2. With at most 8 values on one side and no ties the p-value is exact: the number of ways to
 * get U is the coefficient of q^U in the Gaussian binomial, the product over i = 1 .. m of (1 - q^(n + i)) / (1 - q^i),
 * in integers modulo 2^128, which is exact while the total number of ways is smaller. Otherwise the normal
 * approximation is used, with the variance corrected for ties and a continuity correction of 1/2. Cost: O(n) for the
 * ranks, O(m U) for the exact distribution. */
#include "dissent/compare.h"
#include "core/numbers/erfc.h"
#include "stats/significance.h"
#include "stats/ranks.h"
#include "core/memory/memory.h"
#include <math.h>

enum { FEW = 8 };

__extension__ typedef unsigned __int128 wide;

/* The binomial coefficient (m + n over m), 0 if it is 2^127 or more. */
static double count_arrangements(size_t m, size_t n)
{
    double ways = 1;
    for (size_t i = 1; i <= m; i++) ways = ways * (double)(n + i) / (double)i;
    return ways < 0x1p127 ? ways : 0;
}

/* P(U <= u) for m <= n values without ties, u <= m n / 2. */
static dis_status exact_tail(size_t m, size_t n, size_t u, double *p)
{
    wide *ways;
    DIS_TRY(dis__alloc_zeroed(&ways, dis__saturating_size(u, 1, 1), sizeof *ways));
    ways[0] = 1;
    for (size_t i = 1; i <= m; i++) {
        for (size_t q = u; q >= n + i; q--) ways[q] -= ways[q - n - i];
        for (size_t q = i; q <= u; q++) ways[q] += ways[q - i];
    }
    double sum = 0;
    for (size_t q = 0; q <= u; q++) sum += (double)ways[q];
    dis__free(ways);
    *p = sum / count_arrangements(m, n);
    return DIS_OK;
}

/* P(U >= u) for the U of one side: scipy includes u itself in both tails. */
static dis_status exact_sf(size_t n_x, size_t n_y, size_t u, double *p)
{
    const size_t m = n_x < n_y ? n_x : n_y, n = n_x < n_y ? n_y : n_x, other = m * n - u;
    if (other <= u) return exact_tail(m, n, other, p);
    if (u == 0) {
        *p = 1;
        return DIS_OK;
    }
    DIS_TRY(exact_tail(m, n, u - 1, p));
    *p = 1 - *p;
    return DIS_OK;
}

static double normal_sf(double u, size_t n_x, size_t n_y, double ties)
{
    const double x = (double)n_x, y = (double)n_y, n = x + y;
    const double variance = x * y / 12 * ((n + 1) - ties / (n * (n - 1)));
    const double z = (u - x * y / 2 - .5) / sqrt(variance > 0 ? variance : 0);
    return .5 * dis__erfc(z / sqrt(2));
}

dis_status dis__mann_whitney_test(const double *x, size_t n_x, const double *y, size_t n_y, dis_alternative alternative,
                                  dis_rank_test *out)
{
    dis_rank_test t = {.u = NAN, .p = NAN, .n_x = n_x, .n_y = n_y};
    if (n_x == 0 || n_y == 0) {
        t.reason = n_x == n_y ? "both groups are empty" : "one of the groups is empty";
        *out = t;
        return DIS_OK;
    }
    const size_t n = n_x + n_y;
    double *rank, ties;
    DIS_TRY(dis__alloc_array(&rank, dis__saturating_size(n, 2, 0), sizeof *rank));
    for (size_t i = 0; i < n; i++) {
        rank[n + i] = i < n_x ? x[i] : y[i - n_x];
        if (isnan(rank[n + i])) {
            dis__free(rank);
            return dis__fail(DIS_EUSAGE, "a value to be ranked is NaN; remove it");
        }
    }
    dis_status status = dis__ranks(rank + n, n, rank, &ties);
    double sum = 0;
    for (size_t i = 0; i < n_x && status == DIS_OK; i++) sum += rank[i];
    dis__free(rank);
    DIS_TRY(status);
    t.u = sum - (double)n_x * (double)(n_x + 1) / 2;
    const double all = (double)n_x * (double)n_y, other = all - t.u;
    const double tail = alternative == DIS_GREATER ? t.u : alternative == DIS_LESS ? other : fmax(t.u, other);
    const size_t min = n_x < n_y ? n_x : n_y;
    t.exact = min <= FEW && ties == 0 && count_arrangements(min, n - min) > 0;
    if (t.exact)
        DIS_TRY(exact_sf(n_x, n_y, (size_t)tail, &t.p));
    else
        t.p = normal_sf(tail, n_x, n_y, ties);
    t.p = fmin(1, alternative == DIS_TWO_SIDED ? 2 * t.p : t.p);
    *out = t;
    return DIS_OK;
}
