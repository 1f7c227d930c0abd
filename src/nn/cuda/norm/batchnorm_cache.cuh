/* batchnorm_cache.cuh: rows of batch normalisation that a block keeps in shared memory between the two passes over
 * them, a vector of 16 bytes per thread and row; and the sums of all blocks (batchnorm_exchange.cuh). */
#ifndef DIS_NN_CUDA_NORM_BATCHNORM_CACHE_CUH
#define DIS_NN_CUDA_NORM_BATCHNORM_CACHE_CUH
#include "nn/cuda/norm/batchnorm_exchange.cuh"
#include "nn/cuda/common/mma.cuh"

/* A thread's rows: the first `n_cached` are in shared memory. */
typedef struct {
    span p, rest;
    size_t n, n_cached;
} share;

__device__ __forceinline__ share share_of(const sum_args &g, int v)
{
    share m;
    m.p = m.rest = span_of(g.c, g.a.n_rows, v);
    const bool none = m.p.first >= m.p.last || m.p.col >= g.a.width;
    m.n = none ? 0 : (m.p.last - m.p.first + m.p.down - 1) / m.p.down;
    m.n_cached = min(m.n, (size_t)g.n_cached);
    m.rest.first += m.n_cached * m.p.down;
    if (none) m.rest.last = m.rest.first;
    return m;
}

__device__ __forceinline__ size_t place(const share &m, size_t i, size_t width)
{
    return (m.p.first + i * m.p.down) * width + m.p.col;
}

template <class T, int V> __device__ __forceinline__ raw<T, V> from_cache(const uint4 *cache, unsigned slot)
{
    raw<T, V> x;
    x.w = cache[slot * SUM_THREADS + threadIdx.x];
    return x;
}

/* Two sums of a channel, in the thread that has the final result. */
typedef struct {
    double2 sum;
    size_t channel;
    bool is_owner;
} totals;

template <int V>
__device__ __forceinline__ totals find_sums(const sum_args &g, const exchange_table &table, double *room, float (&s)[V],
                                            float (&t)[V])
{
    const unsigned tile = g.c.across * V;
    totals f;
    f.channel = blockIdx.y * (size_t)tile + threadIdx.x;
    publish_part<V>(g, table, tile, (float *)room, s, t);
    f.sum = read_parts(g, table, tile, room, &f.is_owner);
    return f;
}

/* The first rows of a thread, being loaded. */
template <class T, int V>
__device__ __forceinline__ void cache_tensor(const void *from, size_t width, const share &m, uint4 *cache)
{
    for (size_t i = 0; i < m.n_cached; i++)
        copy_16(cache + i * SUM_THREADS + threadIdx.x, (const T *)from + place(m, i, width), true);
    copies_commit();
}

#endif
