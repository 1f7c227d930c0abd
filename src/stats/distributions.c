/* Tails by series and continued fractions (Lentz's method), as in Abramowitz and Stegun 6.5.29, 6.5.31 and 26.5.8; the
 * normal quantile by Wichura's AS 241 (1988), with an error of 1e-15; corrections for many tests. */
#include "stats/distributions.h"
#include "core/memory/memory.h"
#include "core/numbers/elementary.h"
#include "stats/ranks.h"
#include <math.h>

enum { MAX_TERMS = 10000 };
#define TINY 1e-300
#define NEAR 1e-16

/* ---- chi-square ---- */

/* Q(a, x) = 1 - P(a, x), by the series of P. */
static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < MAX_TERMS && term > sum * NEAR; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return 1 - sum * dis__exp(-x + a * dis__log(x) - lgamma(a));
}

static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / TINY, d = 1 / b, h = d;
    for (int n = 1; n < MAX_TERMS; n++) {
        const double an = -n * (n - a);
        b += 2;
        d = an * d + b;
        d = 1 / (fabs(d) < TINY ? TINY : d);
        c = b + an / c;
        if (fabs(c) < TINY) c = TINY;
        h *= d * c;
        if (fabs(d * c - 1) < NEAR) break;
    }
    return dis__exp(-x + a * dis__log(x) - lgamma(a)) * h;
}

double dis__chi_square_tail(double x, double df)
{
    if (!(x > 0) || !(df > 0)) return 1;
    const double a = df / 2, y = x / 2;
    return y < a + 1 ? gamma_series(a, y) : gamma_fraction(a, y);
}

/* ---- Student ---- */

static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < TINY ? TINY : d);
    double h = d;
    for (int m = 1; m < MAX_TERMS; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        const double steps[2] = {even, odd};
        double change = 1;
        for (int s = 0; s < 2; s++) {
            d = 1 + steps[s] * d;
            d = 1 / (fabs(d) < TINY ? TINY : d);
            c = 1 + steps[s] / c;
            if (fabs(c) < TINY) c = TINY;
            change = d * c;
            h *= change;
        }
        if (fabs(change - 1) < NEAR) break;
    }
    return h;
}

/* I_x(a, b). */
static double beta_share(double a, double b, double x)
{
    if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
    const double front = dis__exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * dis__log(x) + b * dis__log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double dis__student_tail(double t, double df)
{
    if (isnan(t)) return NAN;
    if (isinf(t)) return t > 0 ? 0 : 1;
    const double half = .5 * beta_share(df / 2, .5, df / (df + t * t));
    return t > 0 ? half : 1 - half;
}

double dis__student_critical(double tail, double df)
{
    double low = 0, high = 1;
    while (dis__student_tail(high, df) > tail && high < 1e12) high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-13 * high; i++) {
        const double middle = (low + high) / 2;
        *(dis__student_tail(middle, df) > tail ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

/* ---- normal ---- */

static double rational(const double *above, const double *below, double x)
{
    double n = 0, d = 0;
    for (int i = 7; i >= 0; i--) n = n * x + above[i];
    for (int i = 7; i >= 0; i--) d = d * x + below[i];
    return n / d;
}

double dis__normal_quantile(double p)
{
    static const double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3},
                        b[8] = {1.0,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3},
                        c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4},
                        d[8] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9},
                        e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7},
                        f[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    const double q = p - .5;
    if (fabs(q) <= .425) return q * rational(a, b, .180625 - q * q);
    const double r = sqrt(-dis__log(q < 0 ? p : 1 - p));
    const double x = r <= 5 ? rational(c, d, r - 1.6) : rational(e, f, r - 5);
    return q < 0 ? -x : x;
}

double dis__wilson_bound(double share, double n, double quantile, int side)
{
    const double z2 = quantile * quantile / n;
    const double reach = quantile * sqrt(fmax(share * (1 - share), 0) / n + z2 / (4 * n));
    return fmin(fmax((share + z2 / 2 + side * reach) / (1 + z2), 0), 1);
}

/* ---- many tests ---- */

/* The p-values that are not NaN in rising order, *m of them; the caller frees them. q becomes a copy of p. */
static dis_status sort_tests(const double *p, size_t n, double *q, dis__indexed_value **out, size_t *m)
{
    dis__indexed_value *x = NULL, *spare = NULL;
    *m = 0;
    dis_status status = dis__alloc_array(&x, n, sizeof *x);
    if (status == DIS_OK) status = dis__alloc_array(&spare, n, sizeof *spare);
    for (size_t i = 0; status == DIS_OK && i < n; i++) {
        q[i] = p[i];
        if (!isnan(p[i])) x[(*m)++] = (dis__indexed_value){.value = p[i], .index = i};
    }
    if (status == DIS_OK) dis__sort_indexed(x, spare, *m);
    dis__free(spare);
    if (status != DIS_OK) {
        dis__free(x);
        return status;
    }
    *out = x;
    return DIS_OK;
}

dis_status dis__false_discovery(const double *p, size_t n, bool any_dependence, double *q)
{
    dis__indexed_value *x;
    size_t m;
    DIS_TRY(sort_tests(p, n, q, &x, &m));
    double harmonic = 0, least = 1;
    for (size_t i = 1; i <= m; i++) harmonic += 1 / (double)i;
    for (size_t i = m; i-- > 0;) {
        const double rate = x[i].value * (double)m / (double)(i + 1) * (any_dependence ? harmonic : 1);
        least = fmin(least, rate);
        q[x[i].index] = least;
    }
    dis__free(x);
    return DIS_OK;
}

dis_status dis__holm_correction(const double *p, size_t n, double *q)
{
    dis__indexed_value *x;
    size_t m;
    DIS_TRY(sort_tests(p, n, q, &x, &m));
    double largest = 0;
    for (size_t i = 0; i < m; i++) {
        largest = fmin(1, fmax(largest, x[i].value * (double)(m - i)));
        q[x[i].index] = largest;
    }
    dis__free(x);
    return DIS_OK;
}
