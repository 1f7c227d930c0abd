/* elementary.h: exp, log and powers, with the same bytes on all systems. The C libraries differ in the last digit, and
 * some of them use fused multiply-add on CPUs that have it. For arrays, see special_functions.h.
 *
 *     dis__exp      1.01 ulp; below -708 it gives 0
 *     dis__log      1 ulp, subnormal numbers too
 *     dis__log1p    3 ulp
 *     dis__expm1    3 ulp; below -708 it gives -1
 *     dis__pow      (2 + 2 |y log x|) ulp, for x >= 0
 *
 * Results for infinities, zeros and NaN are those of C11. */
#ifndef DIS_CORE_NUMBERS_ELEMENTARY_H
#define DIS_CORE_NUMBERS_ELEMENTARY_H

double dis__exp(double x);
double dis__log(double x);
double dis__log1p(double x);
double dis__expm1(double x);
double dis__pow(double x, double y);

#endif
