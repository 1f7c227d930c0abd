/* philox.h: Philox 4x32-10 (Salmon et al. 2011), in C and on GPUs: a block, and a round for callers that compute many
 * blocks in parallel. A round is two 32 x 32 -> 64 multiplications; the Weyl constants are added to the key between
 * rounds. */
#ifndef DIS_CORE_RANDOM_PHILOX_H
#define DIS_CORE_RANDOM_PHILOX_H
#include <stdint.h>

#ifdef __CUDACC__
#define DIS_PHILOX_INLINE __host__ __device__ __forceinline__
#else
#define DIS_PHILOX_INLINE static inline __attribute__((always_inline))
#endif

enum { DIS_PHILOX_ROUNDS = 10 };
#define DIS_PHILOX_WEYL0 0x9E3779B9u
#define DIS_PHILOX_WEYL1 0xBB67AE85u

DIS_PHILOX_INLINE void dis__philox_round(uint32_t *c0, uint32_t *c1, uint32_t *c2, uint32_t *c3, uint32_t k0,
                                         uint32_t k1)
{
    const uint64_t a = (uint64_t)0xD2511F53u * *c0, b = (uint64_t)0xCD9E8D57u * *c2;
    *c0 = (uint32_t)(b >> 32) ^ *c1 ^ k0;
    *c2 = (uint32_t)(a >> 32) ^ *c3 ^ k1;
    *c1 = (uint32_t)b;
    *c3 = (uint32_t)a;
}

DIS_PHILOX_INLINE void dis__philox_block(uint64_t counter_low, uint64_t counter_high, uint64_t key, uint32_t word[4])
{
    word[0] = (uint32_t)counter_low;
    word[1] = (uint32_t)(counter_low >> 32);
    word[2] = (uint32_t)counter_high;
    word[3] = (uint32_t)(counter_high >> 32);
    for (uint32_t round = 0; round < DIS_PHILOX_ROUNDS; round++)
        dis__philox_round(&word[0], &word[1], &word[2], &word[3], (uint32_t)key + round * DIS_PHILOX_WEYL0,
                          (uint32_t)(key >> 32) + round * DIS_PHILOX_WEYL1);
}

#endif
