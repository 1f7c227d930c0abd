/* vector_math.h: exp, log, digamma and log-gamma on GCC vector types, for use inside kernels (core/kernel.h).
 *
 * A dis__vec holds DIS_LANES doubles. Every lane is computed by the same operations for any values of the other lanes,
 * so the position of a value in an array never changes its result. Measured against 200-bit arithmetic
 * (tests/unit/test_special.c has the bounds):
 *
 *     dis__vexp       1 ulp        x <= 709; below -708 and for -inf it gives 0
 *     dis__vlog       1 ulp        x >= 0, subnormal numbers too; 0 gives -inf, inf gives inf
 *     dis__vdigamma   1e-15 max(1, |psi|)     0 < x < 1e28
 *     dis__vlgamma    2e-14 max(1, |result|)  0 < x < 1e28
 *
 * exp: x = k ln 2 + r, polynomial of degree 11 in r (Chebyshev nodes, 1.7e-17), k added to the exponent. log: x = 2^k m
 * with m in [sqrt 1/2, sqrt 2), atanh series in s = (m - 1)/(m + 1) (4.6e-18), summed as fdlibm does so that the small
 * terms come last. digamma, log-gamma: recurrence up to x + 10, then the asymptotic series (Abramowitz &
 * Stegun 6.3.18, 6.1.40). */
#ifndef DIS_CORE_NUMBERS_VECTOR_MATH_H
#define DIS_CORE_NUMBERS_VECTOR_MATH_H
#include "core/kernel.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Results and operands below 2^-1022 become 0 in this thread until dis__restore_subnormals() receives the value that
 * dis__flush_subnormals() returned. Operations on such numbers take a hundred times longer. On other architectures,
 * nothing happens. */
static inline unsigned dis__flush_subnormals(void)
{
#if defined(__x86_64__)
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    return before;
#else
    return 0;
#endif
}

static inline void dis__restore_subnormals(unsigned before)
{
#if defined(__x86_64__)
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

typedef double dis__vec __attribute__((vector_size(8 * DIS_LANES)));
typedef int64_t dis__ivec __attribute__((vector_size(8 * DIS_LANES)));
typedef uint64_t dis__uvec __attribute__((vector_size(8 * DIS_LANES)));

static inline dis__vec dis__vset(double x)
{
    return x - (dis__vec){0}; /* all lanes x, the sign of zero included */
}

static inline dis__vec dis__vload(const double *x)
{
    dis__vec v;
    memcpy(&v, x, sizeof v);
    return v;
}

static inline void dis__vstore(double *x, dis__vec v)
{
    memcpy(x, &v, sizeof v);
}

/* a where the mask is all ones, b where it is zero. */
static inline dis__vec dis__vselect(dis__ivec mask, dis__vec a, dis__vec b)
{
    return (dis__vec)((mask & (dis__ivec)a) | (~mask & (dis__ivec)b));
}

/* Not for NaN. */
static inline dis__vec dis__vmax(dis__vec a, dis__vec b)
{
#if defined(DIS_ISA_avx512)
    return (dis__vec)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(DIS_ISA_avx2)
    return (dis__vec)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
    return dis__vselect((dis__ivec)(a > b), a, b);
#endif
}

#define DIS__SHIFTER 0x1.8p52 /* added to a small number, leaves its nearest integer in the low bits */
#define DIS__LN2_HI  0x1.62e42feep-1
#define DIS__LN2_LO  0x1.a39ef35793c76p-33

static inline dis__vec dis__vexp(dis__vec x)
{
    const dis__vec t = x * 0x1.71547652b82fep+0 + DIS__SHIFTER;
    const dis__vec k = t - DIS__SHIFTER;
    const dis__vec r = (x - k * DIS__LN2_HI) - k * DIS__LN2_LO;
    const dis__vec r2 = r * r, r4 = r2 * r2;
    const dis__vec a = 0x1.0000000000001p-1 + r * 0x1.5555555555556p-3;
    const dis__vec b = 0x1.5555555553d63p-5 + r * 0x1.11111111109b3p-7;
    const dis__vec c = 0x1.6c16c1788bd90p-10 + r * 0x1.a01a01a7c41d5p-13;
    const dis__vec d = 0x1.a019b90d2ae7ap-16 + r * 0x1.71de0dae63bb3p-19;
    const dis__vec e = 0x1.289185613a3d6p-22 + r * 0x1.af38a9b0ec855p-26;
    const dis__vec p = r + r2 * ((a + r2 * b) + r4 * ((c + r2 * d) + r4 * e)) + 1.0;
    const dis__ivec scaled = (dis__ivec)((dis__uvec)p + ((dis__uvec)t << 52));
    return (dis__vec)(scaled & (dis__ivec)(x >= -708.0));
}

/* log x + (1023 - bias) log 2, for normal numbers. */
static inline dis__vec dis__vlog_normal(dis__vec x, dis__vec bias)
{
    const dis__uvec bits = (dis__uvec)x + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    const dis__vec k = (dis__vec)((bits >> 52) + 0x4338000000000000u) - DIS__SHIFTER - bias;
    const dis__vec m = (dis__vec)((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
    const dis__vec f = m - 1.0, s = f / (f + 2.0), z = s * s, z2 = z * z, half = f * f * 0.5;
    const dis__vec even =
        0x1.5555555555558p-1 + z2 * (0x1.2492492dfd86cp-2 + z2 * (0x1.7462b91b8df65p-3 + z2 * 0x1.2b5f68a50d903p-3));
    const dis__vec odd = 0x1.9999999995273p-2 + z2 * (0x1.c71c62d5e53e0p-3 + z2 * 0x1.39fdcceb4bb45p-3);
    const dis__vec tail = z * (even + z * odd);
    return k * DIS__LN2_HI - ((half - (s * (half + tail) + k * DIS__LN2_LO)) - f);
}

static inline dis__vec dis__vlog(dis__vec x)
{
    const dis__ivec tiny = (dis__ivec)(x < 0x1p-1022), infinite = (dis__ivec)(x == __builtin_inf()),
                    zero = (dis__ivec)(x == 0);
    const dis__vec y =
        dis__vlog_normal(dis__vselect(tiny, x * 0x1p54, x), dis__vselect(tiny, dis__vset(1077), dis__vset(1023)));
    return dis__vselect(zero, dis__vset(-__builtin_inf()), dis__vselect(infinite, x, y));
}

/* The sum of 1 / (x + i) and the product of (x + i), i = 0 .. 9, with one division. */
static inline void dis__vshift10(dis__vec x, dis__vec *sum, dis__vec *product)
{
    dis__vec top = dis__vset(1), bottom = x;
    for (int i = 1; i < 10; i++) {
        const dis__vec next = x + (double)i;
        top = top * next + bottom;
        bottom = bottom * next;
    }
    *sum = top / bottom;
    *product = bottom;
}

static inline dis__vec dis__vdigamma(dis__vec x)
{
    dis__vec sum, product;
    dis__vshift10(x, &sum, &product);
    const dis__vec y = x + 10.0, r = 1.0 / y, z = r * r;
    const dis__vec series =
        z *
        (1.0 / 12 -
         z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z * (1.0 / 12)))))));
    return dis__vlog(y) - (r * 0.5 + series + sum);
}

static inline dis__vec dis__vlgamma(dis__vec x)
{
    dis__vec sum, product;
    dis__vshift10(x, &sum, &product);
    const dis__vec y = x + 10.0, r = 1.0 / y, z = r * r;
    const dis__vec series =
        r * (1.0 / 12 -
             z * (1.0 / 360 -
                  z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * (691.0 / 360360 - z * (1.0 / 156)))))));
    return (y - 0.5) * dis__vlog(y) - y + (0.91893853320467274178 + series) - dis__vlog(product);
}

#endif
