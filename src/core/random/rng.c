/* Binomial and multinomial variables, exact in distribution.
 *
 * Binomial: for means below 10 by inversion from 0 upwards, otherwise by transformed rejection (BTRS, Hoermann 1993),
 * which takes about 1.2 rounds and rarely a logarithm. Multinomial: cell by cell, each a binomial of the remaining
 * draws. Cost: constant per variable; proportional to the mean for means below 10. */
#include "core/random/rng.h"
#include <math.h>

dis__rng dis__rng_at(uint64_t seed, uint64_t stream, uint64_t index)
{
    dis__rng source;
    dis__xoshiro_start(source.s, seed, stream, index);
    return source;
}

/* log k! minus Stirling's approximation of it. */
static double stirling_tail(double k)
{
    static const double small[] = {
        0.08106146679532726, 0.04134069595540929, 0.02767792568499834, 0.02079067210376509,  0.01664469118982119,
        0.01387612882307075, 0.01189670994589177, 0.01041126526197209, 0.009255462182712733, 0.008330563433362871,
    };
    if (k < 10) return small[(size_t)k];
    const double r = 1 / (k + 1), r2 = r * r;
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 * r2) * r2) * r;
}

/* P(k + 1) = P(k) (n - k) / (k + 1) p / (1 - p). */
static uint64_t by_inversion(dis__rng *source, uint64_t n, double p)
{
    const double odds = p / (1 - p), none = exp((double)n * log1p(-p));
    for (;;) {
        double u = dis__rng_uniform(source), mass = none;
        for (uint64_t k = 0; k <= n; k++) {
            if (u < mass) return k;
            u -= mass;
            mass *= (double)(n - k) / (double)(k + 1) * odds;
            if (mass < 0x1p-80 && k > 20) break; /* u was 1 up to rounding: draw again */
        }
    }
}

/* Rounds down a number that is not huge. A call of floor() would cost a third of a draw. */
static double round_down(double x)
{
    const double near = (double)(int64_t)x;
    return near > x ? near - 1 : near;
}

/* Whether log v is at most the logarithm of the density at k over that at the mode. A normal density with a margin for
 * its error usually decides (Kachitvichyanukul and Schmeiser 1988). */
static bool accept(double n, double p, double deviation, double b, double v, double k)
{
    const double alpha = (2.83 + 5.1 / b) * deviation, odds = p / (1 - p), mode = round_down((n + 1) * p);
    const double apart = fabs(k - mode), inverse = 1 / (deviation * deviation), height = log(v * alpha);
    if (apart > 20 && apart < .5 / inverse - 1) {
        const double slack = apart * inverse * (((apart / 3 + .625) * apart + 1.0 / 6) * inverse + .5);
        const double normal = -apart * apart * .5 * inverse;
        if (height < normal - slack) return true;
        if (height > normal + slack) return false;
    }
    return height <= (mode + .5) * log((mode + 1) / (odds * (n - mode + 1))) +
                         (n + 1) * log((n - mode + 1) / (n - k + 1)) + (k + .5) * log(odds * (n - k + 1) / (k + 1)) +
                         stirling_tail(mode) + stirling_tail(n - mode) - stirling_tail(k) - stirling_tail(n - k);
}

static uint64_t by_rejection(dis__rng *source, uint64_t trials, double p)
{
    const double n = (double)trials, deviation = sqrt(n * p * (1 - p));
    const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + .5;
    for (;;) {
        const double u = dis__rng_uniform(source) - .5, us = .5 - fabs(u), v = dis__rng_uniform(source);
        const double k = us > 0 ? round_down((2 * a / us + b) * u + c) : -1; /* 0: u was -1/2 exactly */
        if (us >= 0.07 && v * b <= 0.92 * b - 4.2) return (uint64_t)k;       /* 70 % of draws return here */
        if (k >= 0 && k <= n && accept(n, p, deviation, b, v / (a / (us * us) + b), k)) return (uint64_t)k;
    }
}

uint64_t dis__rng_binomial(dis__rng *source, uint64_t n, double p)
{
    if (n == 0 || !(p > 0)) return 0;
    if (p >= 1) return n;
    const double rare = p > .5 ? 1 - p : p;
    const uint64_t k = (double)n * rare < 10 ? by_inversion(source, n, rare) : by_rejection(source, n, rare);
    return p > .5 ? n - k : k;
}

void dis__rng_multinomial(dis__rng *sources, size_t n_sources, uint64_t n, const uint64_t *weight, size_t n_cells,
                          uint64_t *drawn)
{
    uint64_t left = 0, balls[DIS_RNG_BATCH];
    for (size_t c = 0; c < n_cells; c++) left += weight[c];
    for (size_t s = 0; s < n_sources; s++) balls[s] = n;
    for (size_t c = 0; c < n_cells; c++) {
        const bool last = weight[c] == left; /* of the non-empty cells */
        const double p = last ? 1 : (double)weight[c] / (double)left;
        for (size_t s = 0; s < n_sources; s++) {
            const uint64_t k = last ? balls[s] : dis__rng_binomial(&sources[s], balls[s], p);
            drawn[s * n_cells + c] = k;
            balls[s] -= k;
        }
        left -= weight[c];
    }
}
