/* mathf.h: exp, log and erf in float without branches, so that loops over them are vectorized for every instruction
 * set. Measured over all finite arguments of interest (tests/unit/test_nn_ops.c): exp 2 ulp, log 1 ulp, erf 6e-7.
 *
 * exp: x = k ln 2 + r, polynomial of degree 6 in r (Chebyshev nodes, 1e-8); 0 below -87, finite above 88. log: x = 2^k
 * m, m in [sqrt 1/2, sqrt 2), atanh series. erf: Abramowitz & Stegun 7.1.26. */
#ifndef DIS_NN_CPU_MATHF_H
#define DIS_NN_CPU_MATHF_H
#include <stdint.h>
#include <string.h>

static inline float dis__float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t dis__bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float dis__expf(float x)
{
    const float low = x < -87.0f ? -87.0f : x, y = low > 88.0f ? 88.0f : low;
    const float t = y * 0x1.715476p+0f + 0x1.8p23f, k = t - 0x1.8p23f;
    const float r = (y - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f;
    const float q = 0x1p-1f + r * (0x1.5554dcp-3f + r * (0x1.5554e8p-5f + r * (0x1.120be8p-7f + r * 0x1.6d43b4p-10f)));
    const float p = (r + r * r * q) + 1;
    const float e = dis__float_of(dis__bits_of(p) + (dis__bits_of(t) << 23));
    return x < -87.0f ? 0 : e;
}

/* x > 0 and normal. */
static inline float dis__logf(float x)
{
    const uint32_t bits = dis__bits_of(x) + (0x3f800000u - 0x3f3504f3u);
    const float k = (float)((int32_t)(bits >> 23) - 127), m = dis__float_of((bits & 0x007fffffu) + 0x3f3504f3u);
    const float f = m - 1, s = f / (2 + f), z = s * s;
    const float tail = z * (0x1.555556p-1f + z * (0x1.99999ap-2f + z * (0x1.24924ap-2f + z * 0x1.c71c72p-3f)));
    const float half = f * f * 0.5f;
    return k * 0x1.62e3p-1f - ((half - (s * (half + tail) + k * 0x1.2fefa2p-17f)) - f);
}

static inline float dis__erff(float x)
{
    const float a = x < 0 ? -x : x, t = 1 / (1 + 0.3275911f * a);
    const float p =
        t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    const float e = 1 - p * dis__expf(-a * a);
    return x < 0 ? -e : e;
}

#endif
