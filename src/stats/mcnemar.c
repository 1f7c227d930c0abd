/* McNemar's test (1947) of two raters on the same items: only items that exactly one of them answers correctly count.
 *
 * If neither is better, each of the n such items is assigned to either side with probability 1/2. With fewer than 25 of
 * them the p-value is binomial; otherwise (|b - c| - 1)^2 / n is chi-square with one degree of freedom (Edwards'
 * correction for continuity). Two-sided. */
#include "dissent/compare.h"
#include "core/numbers/erfc.h"
#include "stats/significance.h"
#include <math.h>

dis_mcnemar dis__mcnemar_test(uint64_t only_a, uint64_t only_b)
{
    const uint64_t n = only_a + only_b, min = only_a < only_b ? only_a : only_b;
    dis_mcnemar t = {.only_a = only_a, .only_b = only_b, .exact = n < DIS_MCNEMAR_FEW};
    if (t.exact) {
        double ways = 1, sum = 0; /* integers below 2^25 */
        for (uint64_t k = 0; k <= min; k++) {
            sum += ways;
            ways = ways * (double)(n - k) / (double)(k + 1);
        }
        t.statistic = (double)min;
        t.p = fmin(1, ldexp(sum, 1 - (int)n));
        return t;
    }
    const double apart = fmax(fabs((double)only_a - (double)only_b) - 1, 0);
    t.statistic = apart * apart / (double)n;
    t.p = dis__erfc(sqrt(t.statistic / 2));
    return t;
}
