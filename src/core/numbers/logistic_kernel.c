/* Sigmoids of arrays and their logarithms, from one exponential and one logarithm each:
 *
 *     e = exp(-|x|),    sigma = (x >= 0 ? 1 : e) / (1 + e),    tail = log(1 + e),
 *
 * with an absolute error of about 1e-16, which sums of them require. */
#include "core/numbers/logistic.h"
#include "core/numbers/vector_math.h"

void DIS_KERNEL(dis__logistic)(const double *x, size_t n, double *sigma, double *tail)
{
    for (size_t i = 0; i < n; i += DIS_LANES) {
        const dis__vec v = dis__vload(x + i), zero = {0};
        const dis__ivec positive = (dis__ivec)(v >= zero);
        const dis__vec e = dis__vexp(dis__vselect(positive, -v, v)), sum = 1 + e;
        dis__vstore(sigma + i, dis__vselect(positive, dis__vset(1), e) / sum);
        dis__vstore(tail + i, dis__vlog(sum));
    }
}
