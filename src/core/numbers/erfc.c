/* Rational Chebyshev approximations of W. J. Cody, "Rational Chebyshev approximations for the error function",
 * Mathematics of Computation 23 (1969), with |x| = y:
 *
 *     y <= 0.46875       erf(x) = x A(y^2) / B(y^2)
 *     y <= 4             erfc(y) = exp(-y^2) C(y) / D(y)
 *     otherwise          erfc(y) = exp(-y^2) / y (1 / sqrt(pi) - P(1 / y^2) / (y^2 Q(1 / y^2)))
 *
 * exp(-y^2) is computed from the two factors exp(-s^2) exp(-(y - s)(y + s)), where s is y cut to 4 binary places, so that
 * s^2 is exact. */
#include "core/numbers/erfc.h"
#include "core/numbers/elementary.h"
#include <math.h>
#include <stddef.h>

#define TERMS(x) (sizeof(x) / sizeof *(x))

/* From the highest power down. */
static double polynomial(const double *c, size_t n, double x)
{
    double sum = c[0];
    for (size_t i = 1; i < n; i++) sum = sum * x + c[i];
    return sum;
}

static double small(double x)
{
    static const double a[] = {1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2,
                               3.77485237685302021e2, 3.20937758913846947e3},
                        b[] = {1, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
                               2.84423683343917062e3};
    return x * polynomial(a, TERMS(a), x * x) / polynomial(b, TERMS(b), x * x);
}

static double medium(double y)
{
    static const double c[] = {2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594,
                               6.61191906371416295e1,  2.98635138197400131e2,  8.81952221241769090e2,
                               1.71204761263407058e3,  2.05107837782607147e3,  1.23033935479799725e3},
                        d[] = {1,
                               1.57449261107098347e1,
                               1.17693950891312499e2,
                               5.37181101862009858e2,
                               1.62138957456669019e3,
                               3.29079923573345963e3,
                               4.36261909014324716e3,
                               3.43936767414372164e3,
                               1.23033935480374942e3};
    return polynomial(c, TERMS(c), y) / polynomial(d, TERMS(d), y);
}

static double large(double y)
{
    static const double p[] = {1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
                               1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4},
                        q[] = {1,
                               2.56852019228982242,
                               1.87295284992346725,
                               5.27905102951428412e-1,
                               6.05183413124413191e-2,
                               2.33520497626869185e-3};
    const double z = 1 / (y * y);
    return (5.6418958354775628695e-1 - z * polynomial(p, TERMS(p), z) / polynomial(q, TERMS(q), z)) / y;
}

double dis__erfc(double x)
{
    enum { PLACES = 16 };
    const double y = fabs(x);
    if (isnan(x)) return x;
    if (y <= .46875) return 1 - small(x);
    const double s = y < 32 ? trunc(y * PLACES) / PLACES : y;
    const double tail = y > 30 ? 0 : dis__exp(-s * s) * dis__exp(-(y - s) * (y + s)) * (y <= 4 ? medium(y) : large(y));
    return x < 0 ? 2 - tail : tail;
}
