/* Excess kurtosis of a few numbers as scipy's default gives it (Fisher's, with the bias of small samples): the fourth
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
    /* what is left of equal numbers after rounding is no spread */
    if (!(sqrt(second) > 8 * DBL_EPSILON * max)) return NAN;
    return fourth / (second * second) - 3;
}
