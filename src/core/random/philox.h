/* philox.h: a round of Philox 4x32-10 (Salmon et al. 2011): two 32 x 32 -> 64 multiplications. Callers (one block at a
 * time, many in parallel, on a GPU) implement the loop over rounds, and add the Weyl constants to the key between
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

#endif
