/* One lane of the vector functions, and what these leave out. log1p and expm1 (Kahan; Goldberg, "What every computer
 * scientist should know about floating-point arithmetic", ACM Computing Surveys 23, 1991): u = 1 + x loses the low
 * digits of x, and the factor x / (u - 1) restores them; likewise for exp(x). */
#include "core/numbers/elementary.h"
#include "core/numbers/vector_math.h"
#include <math.h>

#define LARGEST_EXPONENT 709.782712893384 /* log of the largest double */

double dis__exp(double x)
{
    if (x >= -708 && x <= LARGEST_EXPONENT) {
        const dis__vec v = dis__vexp(dis__vset(x));
        return v[0];
    }
    return isnan(x) ? x : x < 0 ? 0 : INFINITY;
}

double dis__log(double x)
{
    if (x >= 0x1p-1022 && x < INFINITY) {
        const dis__vec v = dis__vlog_normal(dis__vset(x), dis__vset(1023));
        return v[0];
    }
    if (!(x >= 0)) return NAN;
    const dis__vec v = dis__vlog(dis__vset(x));
    return v[0];
}

double dis__log1p(double x)
{
    const double u = 1 + x;
    if (u == 1 || u == INFINITY) return x;
    return u > 0 ? dis__log(u) * (x / (u - 1)) : dis__log(u);
}

double dis__expm1(double x)
{
    const double u = dis__exp(x);
    if (u == 1) return x;
    return u > 0 && u < INFINITY && fabs(x) < 1 ? (u - 1) * (x / dis__log(u)) : u - 1;
}

double dis__pow(double x, double y)
{
    if (x == 1 || y == 0) return 1;
    return dis__exp(y * dis__log(x));
}
