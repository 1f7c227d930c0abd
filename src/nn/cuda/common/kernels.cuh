/* kernels.cuh: shared by kernels: values of both types as float, sums over warps and blocks in a fixed order,
 * activations, Philox words, sizes of grids. */
#ifndef DIS_NN_CUDA_COMMON_KERNELS_CUH
#define DIS_NN_CUDA_COMMON_KERNELS_CUH
#include "core/random/philox.h"
#include "core/random/random.h"
#include "nn/cuda/common/cuda_operations.h"
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdio.h>

typedef __nv_bfloat16 bf16;

__device__ __forceinline__ float as_float(float x)
{
    return x;
}
__device__ __forceinline__ float as_float(bf16 x)
{
    return __bfloat162float(x);
}
template <class T> __device__ __forceinline__ T from_float(float x);
template <> __device__ __forceinline__ float from_float<float>(float x)
{
    return x;
}
template <> __device__ __forceinline__ bf16 from_float<bf16>(float x)
{
    return __float2bfloat16_rn(x);
}

/* 16 bytes of values: 4 floats or 8 bf16. */
template <class T> struct pack;
template <> struct pack<float> {
    enum { N = 4 };
    float4 v;
    __device__ __forceinline__ void get(float *x) const
    {
        x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
    }
    __device__ __forceinline__ void set(const float *x)
    {
        v = make_float4(x[0], x[1], x[2], x[3]);
    }
};
template <> struct pack<bf16> {
    enum { N = 8 };
    uint4 v;
    __device__ __forceinline__ void get(float *x) const
    {
        const uint32_t w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            x[2 * i] = __uint_as_float(w[i] << 16);
            x[2 * i + 1] = __uint_as_float(w[i] & 0xffff0000u);
        }
    }
    __device__ __forceinline__ void set(const float *x)
    {
        uint32_t w[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const __nv_bfloat162 two = __floats2bfloat162_rn(x[2 * i], x[2 * i + 1]);
            w[i] = *reinterpret_cast<const uint32_t *>(&two);
        }
        v = make_uint4(w[0], w[1], w[2], w[3]);
    }
};

/* N consecutive float32, aligned to 16 bytes if N > 1. */
template <int N> __device__ __forceinline__ void load_floats(const float *p, float *x)
{
    if (N == 1) {
        x[0] = *p;
    } else {
#pragma unroll
        for (int i = 0; i < N; i += 4) {
            const float4 v = *(const float4 *)(p + i);
            x[i] = v.x, x[i + 1] = v.y, x[i + 2] = v.z, x[i + 3] = v.w;
        }
    }
}

/* The dot product of two rows, by one thread. */
template <class T> __device__ __forceinline__ float dot_of(const T *x, const T *y, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++) sum += as_float(x[i]) * as_float(y[i]);
    return sum;
}

static inline bool aligned16(const void *p)
{
    return ((size_t)p & 15) == 0;
}

__device__ __forceinline__ float warp_sum(float x)
{
#pragma unroll
    for (int half = 16; half; half /= 2) x += __shfl_xor_sync(0xffffffffu, x, half);
    return x;
}
__device__ __forceinline__ double warp_sum(double x)
{
#pragma unroll
    for (int half = 16; half; half /= 2) x += __shfl_xor_sync(0xffffffffu, x, half);
    return x;
}
__device__ __forceinline__ float warp_max(float x)
{
#pragma unroll
    for (int half = 16; half; half /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, half));
    return x;
}

/* Sum over a block of up to 1,024 threads; every thread receives it. `room` (32) may be reused after the next
 * barrier. */
template <class R> __device__ __forceinline__ R block_sum(R x, R *room)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, n = (blockDim.x + 31) >> 5;
    x = warp_sum(x);
    __syncthreads();
    if (lane == 0) room[warp] = x;
    __syncthreads();
    x = lane < n ? room[lane] : 0;
    return warp_sum(x);
}

__device__ __forceinline__ float act_of(dis__activation act, float x)
{
    switch (act) {
    case DIS_ACT_RELU: return x > 0 ? x : 0;
    case DIS_ACT_TANH: return tanhf(x);
    case DIS_ACT_SIGMOID: return 1 / (1 + expf(-x));
    case DIS_ACT_GELU: return x * .5f * (1 + erff(x * 0.70710678118654752440f));
    default: return x;
    }
}

/* act'; x is the argument for GELU and the value for the others. */
__device__ __forceinline__ float slope_of(dis__activation act, float x)
{
    switch (act) {
    case DIS_ACT_RELU: return x > 0 ? 1 : 0;
    case DIS_ACT_TANH: return 1 - x * x;
    case DIS_ACT_SIGMOID: return x * (1 - x);
    case DIS_ACT_GELU:
        return .5f * (1 + erff(x * 0.70710678118654752440f)) + x * 0.39894228040143267794f * expf(x * x * -.5f);
    default: return 1;
    }
}

/* 2^x, with underflow to 0. */
__device__ __forceinline__ float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* The derivative of GELU for values that are rounded to bfloat16 afterwards: the error function by Abramowitz & Stegun
 * 7.1.26 (6e-7), whose exponential is also part of the derivative. */
__device__ __forceinline__ float normal_below(float x, float *density)
{
    const float z = fabsf(x) * 0.70710678118654752440f, t = __fdividef(1, 1 + 0.3275911f * z), e = __expf(-z * z);
    const float p =
        t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    *density = e * 0.39894228040143267794f;
    return x < 0 ? .5f * p * e : 1 - .5f * p * e;
}
/* Only the value: the normal distribution function as 1 / (1 + 2^-(x p(x^2))), with a fitted p (error 5e-6, and .12 %
 * for |x| < 4). */
__device__ __forceinline__ float gelu_fast(float x)
{
    const float t = fminf(x * x, 25.f);
    float p = -8.674448741e-08f;
    p = p * t + 5.295165575e-06f;
    p = p * t - 1.0299628693e-04f;
    p = p * t - 3.236114003e-04f;
    p = p * t + 1.0518862300e-01f;
    p = p * t + 2.302077213f;
    return __fdividef(x, 1 + exp2_fast(-x * p));
}
__device__ __forceinline__ float gelu_slope_fast(float x)
{
    float density;
    const float below = normal_below(x, &density);
    return below + x * density;
}

/* The keys of the rounds of dis__philox (core/random/random.h): as kernel arguments they are in constant memory, and
 * need no instructions. */
typedef struct {
    uint32_t k[2 * DIS_PHILOX_ROUNDS];
} philox_keys;

__host__ __device__ __forceinline__ philox_keys philox_keys_of(uint64_t key)
{
    philox_keys keys;
    for (uint32_t round = 0; round < DIS_PHILOX_ROUNDS; round++) {
        keys.k[2 * round] = (uint32_t)key + round * DIS_PHILOX_WEYL0;
        keys.k[2 * round + 1] = (uint32_t)(key >> 32) + round * DIS_PHILOX_WEYL1;
    }
    return keys;
}

__device__ __forceinline__ uint4 philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, const philox_keys &keys)
{
#pragma unroll
    for (int round = 0; round < DIS_PHILOX_ROUNDS; round++)
        dis__philox_round(&c0, &c1, &c2, &c3, keys.k[2 * round], keys.k[2 * round + 1]);
    return make_uint4(c0, c1, c2, c3);
}

/* Dropout of element e of a layer (nn/loops/norm_loops.h): word e % 1024 / 256 of counter e / 1024 * 256 + e % 256.
 * A word below the threshold drops it. */

__device__ __forceinline__ uint4 dropout_words(const philox_keys &keys, uint32_t pass, uint32_t layer, uint64_t block,
                                               uint32_t lane)
{
    return philox((uint32_t)block * 256 + lane, pass, DIS_STREAM_DROPOUT, layer, keys);
}
__device__ __forceinline__ bool drops(uint64_t seed, uint32_t pass, uint32_t layer, uint32_t threshold, uint64_t e)
{
    const uint4 w = dropout_words(philox_keys_of(seed), pass, layer, e / 1024, (uint32_t)(e % 256));
    const uint32_t which = (uint32_t)(e % 1024) / 256;
    return (which == 0 ? w.x : which == 1 ? w.y : which == 2 ? w.z : w.w) < threshold;
}
static inline uint32_t drop_threshold(double rate)
{
    return (uint32_t)(rate * 4294967296.0);
}

/* Called by all threads of a block after each of `parts` blocks has written its part of a sum: whether this block is
 * the last one, which sees the parts of all. The counter is 0 before and after. */
__device__ __forceinline__ bool last_of_parts(unsigned *counter, size_t parts)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(counter, 1) == parts - 1;
        if (last) *counter = 0;
    }
    __syncthreads();
    __threadfence();
    return last;
}
/* Adds the parts of all blocks, in order. */
__device__ __forceinline__ float sum_of_parts(const float *part, size_t parts, size_t apart)
{
    float sum = 0;
#pragma unroll 16
    for (size_t p = 0; p < parts; p++) sum += __ldcg(part + p * apart);
    return sum;
}

static inline unsigned grid_of(size_t n, size_t per)
{
    const size_t blocks = (n + per - 1) / per;
    return (unsigned)(blocks < 1 ? 1 : blocks > 0x7fffffff ? 0x7fffffff : blocks);
}

/* The same, but at most a few times the number of blocks that fill the device: for kernels with grid-stride loops. */
static inline unsigned grid_some(const dis__cuda_session *s, size_t n, size_t per)
{
    const unsigned max_blocks = (unsigned)s->n_processors * 16, blocks = grid_of(n, per);
    return blocks < max_blocks ? blocks : max_blocks;
}

/* Call it before a launch with this much dynamic shared memory. The limit is per kernel for the whole process, and
 * other threads use other sizes, so it is never reduced. */
static inline cudaError_t allow_shared(const dis__cuda_session *s, const void *kernel, size_t bytes)
{
    cudaFuncAttributes about;
    const cudaError_t error = cudaFuncGetAttributes(&about, kernel);
    if (error != cudaSuccess || (size_t)about.maxDynamicSharedSizeBytes >= bytes) return error;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)(s->shared - about.sharedSizeBytes));
}

/* f(T()) with T float or bf16, as the session's values are. */
#define DIS_CUDA_BY_VALUE(s, ...)        \
    do {                                 \
        if ((s)->value == DIS_FLOAT32) { \
            using T = float;             \
            __VA_ARGS__;                 \
        } else {                         \
            using T = bf16;              \
            __VA_ARGS__;                 \
        }                                \
    } while (0)

#endif
