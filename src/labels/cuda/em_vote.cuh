/* em_vote.cuh: packed votes, and products of probabilities beyond the range of a double. */
#ifndef DIS_LABELS_CUDA_EM_VOTE_CUH
#define DIS_LABELS_CUDA_EM_VOTE_CUH
#include "labels/cuda/cuda_em.h"

#define NEVER (-144269504LL) /* DIS_EM_LOG2_ZERO */

static __device__ __forceinline__ uint32_t label_of(const dis__cuda_em_pass &g, uint32_t vote)
{
    return vote & ((1u << g.shape.label_bits) - 1);
}

/* x = mantissa 2^exponent, 1 <= mantissa < 2; the exponent is added to e. 0: 2^NEVER. */
static __device__ __forceinline__ double split(double x, long long *e)
{
    const long long bits = __double_as_longlong(x);
    const bool zero = x < 0x1p-1022;
    *e += zero ? NEVER : (bits >> 52) - 1023;
    return zero ? 1. : __longlong_as_double((bits & 0x000fffffffffffffLL) | 0x3ff0000000000000LL);
}

/* The last of n values that is at most x; they are ascending, and the first is at most x. */
static __device__ __forceinline__ size_t last_at_most(const uint32_t *numbers, size_t n, size_t x)
{
    size_t low = 0;
    while (low + 1 < n) {
        const size_t middle = (low + n) / 2;
        if (numbers[middle] <= x)
            low = middle;
        else
            n = middle;
    }
    return low;
}

#endif
