/* Excess kurtosis of a few values, as scipy's default (Fisher's definition, biased in small samples): the fourth
 * central moment over the square of the second, minus 3. Two passes. */
#include "dissent/compare.h"
#include "stats/significance.h"
#include <float.h>
#include <math.h>

double dis__excess_kurtosis(const double *x, size_t n)
{
    double mean = 0, second = 0, fourth = 0, max = 0;
    for (size_t i = 0; i < n; i++) {
        mean += x[i];
        max = fmax(max, fabs(x[i]));
    }
    mean /= (double)n;
    for (size_t i = 0; i < n; i++) {
        const double d = x[i] - mean, d2 = d * d;
        second += d2;
        fourth += d2 * d2;
    }
    second /= (double)n;
    fourth /= (double)n;
    /* a spread this small is the rounding error of equal values */
    if (!(sqrt(second) > 8 * DBL_EPSILON * max)) return NAN;
    return fourth / (second * second) - 3;
}
