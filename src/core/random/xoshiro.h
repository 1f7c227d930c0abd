/* xoshiro.h: xoshiro256++ (Blackman and Vigna 2021), in C and on GPUs, started at (seed, stream, index). */
#ifndef DIS_CORE_RANDOM_XOSHIRO_H
#define DIS_CORE_RANDOM_XOSHIRO_H
#include "core/random/philox.h"

DIS_PHILOX_INLINE void dis__xoshiro_start(uint64_t s[4], uint64_t seed, uint64_t stream, uint64_t index)
{
    for (uint64_t half = 0; half < 2; half++) {
        uint32_t word[4];
        /* The top bit separates the two halves; no index comes close to it. */
        dis__philox_block(index | half << 63, stream, seed, word);
        s[2 * half] = (uint64_t)word[1] << 32 | word[0];
        s[2 * half + 1] = (uint64_t)word[3] << 32 | word[2];
    }
    s[0] |= 1; /* never all zero */
}

DIS_PHILOX_INLINE uint64_t dis__xoshiro_next(uint64_t s[4])
{
    const uint64_t sum = s[0] + s[3], out = (sum << 23 | sum >> 41) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return out;
}

#endif
