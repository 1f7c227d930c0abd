/* batchnorm_exchange.cuh: exchange of sums between the blocks of one launch, without a barrier.
 *
 * Each block writes the two sums of a channel as one word of 64 bits; a block that needs it polls until it is no longer
 * all ones, which takes two memory latencies (write and read) where a barrier takes four. There are two tables: a
 * launch uses one of them and fills the other with ones for the next launch. The index of the current table is in
 * device memory, and the last block to finish advances it. All blocks must be resident at the same time. */
#ifndef DIS_NN_CUDA_NORM_BATCHNORM_EXCHANGE_CUH
#define DIS_NN_CUDA_NORM_BATCHNORM_EXCHANGE_CUH
#include "nn/cuda/norm/batchnorm_sums.cuh"

typedef unsigned long long exchange_word;

enum { EXCHANGE_HEAD = 2, EXCHANGE_WORDS = (DIS_CUDA_EXCHANGE / 8 - EXCHANGE_HEAD) / 2, EXCHANGE_AHEAD = 9 };

/* In memory initialized with bytes 255, as the words are. */
typedef struct {
    exchange_word *own, *other; /* (parts, width); the next launch's */
    unsigned turn;
} exchange_table;

__device__ __forceinline__ exchange_table exchange_of(exchange_word *memory)
{
    exchange_table t;
    t.turn = *(volatile unsigned *)memory;
    t.own = memory + EXCHANGE_HEAD + t.turn % 2 * EXCHANGE_WORDS;
    t.other = memory + EXCHANGE_HEAD + (t.turn + 1) % 2 * EXCHANGE_WORDS;
    return t;
}

/* Publishes a block's part. */
__device__ __forceinline__ void exchange_clear(const exchange_table &t)
{
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x, step = gridDim.x * gridDim.y * blockDim.x;
    for (unsigned i = block * blockDim.x + threadIdx.x; i < EXCHANGE_WORDS; i += step) t.other[i] = ~0ull;
}

__device__ __forceinline__ void exchange_leave(exchange_word *memory, const exchange_table &t)
{
    unsigned *const left = (unsigned *)memory + 1; /* counts from 2^32 - 1 on */
    if (threadIdx.x == 0 && atomicAdd(left, 1) == gridDim.x * gridDim.y - 2) {
        *left = ~0u;
        *(unsigned *)memory = t.turn + 1;
    }
}

/* Arithmetic never produces this NaN; NaN results are replaced by another one. */
__device__ __forceinline__ void tell(exchange_word *to, float s, float t)
{
    const exchange_word x = (exchange_word)__float_as_uint(s) << 32 | __float_as_uint(t);
    const exchange_word sane = x == ~0ull ? 0x7fffffff7fffffffull : x;
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(sane) : "memory");
}

__device__ __forceinline__ exchange_word read_word(const exchange_word *from)
{
    exchange_word x;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(x) : "l"(from) : "memory");
    return x;
}

/* A block's sums: lanes with the same channels by shuffles, then the warps in order; a lane has one of a channel's. */
template <int V>
__device__ __forceinline__ void publish_part(const sum_args &g, const exchange_table &to, unsigned tile, float *room,
                                             float (&s)[V], float (&t)[V])
{
    const unsigned groups = warp_parts<V>(g, tile, room, s, t);
    __syncthreads();
    if (threadIdx.x >= (2 * tile + 31) / 32 * 32)
        return; /* full warps participate; there are at least 2 tile
                                                           * threads */
    const unsigned which = threadIdx.x % 2, c = min(threadIdx.x / 2, tile - 1);
    const size_t channel = blockIdx.y * (size_t)tile + c;
    float total = 0;
#pragma unroll 8
    for (unsigned y = 0; y < groups; y++) total += room[(which * groups + y) * tile + c];
    const float next = __shfl_down_sync(0xffffffffu, total, 1);
    if (which == 0 && threadIdx.x < 2 * tile && channel < g.a.width)
        tell(to.own + blockIdx.x * g.a.width + channel, total, next);
}

/* As add_parts(), from the exchanged parts. */
__device__ __forceinline__ double2 read_parts(const sum_args &g, const exchange_table &from, unsigned tile,
                                              double *room, bool *is_owner)
{
    const unsigned groups = SUM_THREADS / tile, group = threadIdx.x / tile, e = threadIdx.x % tile;
    const size_t w = g.a.width, c = blockIdx.y * (size_t)tile + e;
    double s = 0, t = 0;
    for (unsigned p = group; p < gridDim.x && c < w; p += groups * EXCHANGE_AHEAD) {
        exchange_word x[EXCHANGE_AHEAD];
        bool all;
#pragma unroll
        for (unsigned i = 0; i < EXCHANGE_AHEAD; i++) x[i] = p + i * groups < gridDim.x ? ~0ull : 0;
        do {
            all = true;
#pragma unroll
            for (unsigned i = 0; i < EXCHANGE_AHEAD; i++)
                if (x[i] == ~0ull) x[i] = read_word(from.own + (p + i * groups) * w + c);
#pragma unroll
            for (unsigned i = 0; i < EXCHANGE_AHEAD; i++) all &= x[i] != ~0ull;
        } while (!all);
#pragma unroll
        for (unsigned i = 0; i < EXCHANGE_AHEAD; i++) {
            s += (double)__uint_as_float((unsigned)(x[i] >> 32));
            t += (double)__uint_as_float((unsigned)x[i]);
        }
    }
    __syncthreads(); /* what room had before has been read */
    return add_shares(room, groups, tile, s, t, group == 0 && c < w, is_owner);
}

#endif
