/* rng.h: sequences of random numbers, if a block of random.h for each would cost too much.
 *
 * A generator is started at a position (seed, stream, index) of random.h, so its output depends on that position only;
 * give every unit of work its own generator.
 *
 *     dis__rng source = dis__rng_at(seed, DIS_STREAM_BOOTSTRAP, resample);
 *     const uint64_t heads = dis__rng_binomial(&source, 1000, .5); */
#ifndef DIS_CORE_RANDOM_RNG_H
#define DIS_CORE_RANDOM_RNG_H
#include "core/random/xoshiro.h"
#include "dissent/status.h"

typedef struct {
    uint64_t s[4];
} dis__rng;

dis__rng dis__rng_at(uint64_t seed, uint64_t stream, uint64_t index);

static inline uint64_t dis__rng_next(dis__rng *source)
{
    return dis__xoshiro_next(source->s);
}

/* In [0, 1): 53 random bits. */
static inline double dis__rng_uniform(dis__rng *source)
{
    return (double)(dis__rng_next(source) >> 11) * 0x1p-53;
}

/* In [0, n), n > 0, with negligible bias (2^-64 n). */
static inline uint64_t dis__rng_below(dis__rng *source, uint64_t n)
{
    return (uint64_t)((unsigned __int128)dis__rng_next(source) * n >> 64);
}

/* Number of successes in n trials with success probability p. */
uint64_t dis__rng_binomial(dis__rng *source, uint64_t n, double p);

/* Multinomial: n draws, each of cell c with probability weight[c] / (sum of weights), once from each generator: drawn
 * (n_sources, n_cells). Several generators at once are faster, because their latencies overlap. Not all weights may be
 * 0; at most DIS_RNG_BATCH generators. */
enum { DIS_RNG_BATCH = 4 };
void dis__rng_multinomial(dis__rng *sources, size_t n_sources, uint64_t n, const uint64_t *weight, size_t n_cells,
                          uint64_t *drawn);

#endif
