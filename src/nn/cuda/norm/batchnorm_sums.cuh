/* batchnorm_sums.cuh: two sums over rows per channel, computed by blocks with a share of the rows each: of x - x[0] and
 * its square (which avoids cancellation if the mean is large), or of dz and dz z. Each block writes a row of partial
 * sums; they are added in order, so the order of the sum depends on the shape only. */
#ifndef DIS_NN_CUDA_NORM_BATCHNORM_SUMS_CUH
#define DIS_NN_CUDA_NORM_BATCHNORM_SUMS_CUH
#include "nn/cuda/norm/batchnorm.cuh"

enum { SUM_THREADS = 512 };

typedef struct {
    dis__batchnorm_args a;
    cut c;
    float *parts; /* (parts, 2, width) */
    unsigned *counter;
    unsigned long long *exchange; /* batchnorm_fused.cu, in place of parts and counter: batchnorm_exchange.cuh */
    unsigned n_cached, slots;     /* batchnorm_fused.cu: rows of a thread that stay in shared memory, vectors of each */
} sum_args;

template <int V>
__device__ __forceinline__ void add_square(const float (&v)[V], const float (&shift)[V], float (&s)[V], float (&t)[V])
{
#pragma unroll
    for (int i = 0; i < V; i++) {
        s[i] += v[i] - shift[i];
        t[i] += (v[i] - shift[i]) * (v[i] - shift[i]);
    }
}

template <class T, int V>
__device__ __forceinline__ void add_squares(const sum_args &g, const span &p, const float (&shift)[V], float (&s)[V],
                                            float (&t)[V])
{
    const size_t w = g.a.width;
    for (size_t row = p.first; row < p.last; row += BATCH * p.down) {
        raw<T, V> x[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            if (row + b * p.down < p.last) x[b].read(g.a.x, (row + b * p.down) * w + p.col);
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            float v[V];
            if (row + b * p.down >= p.last) break;
            x[b].get(v);
            add_square<V>(v, shift, s, t);
        }
    }
}

/* A row's part of the sums: of dz, and of dz (x - mean). */
template <class T, int V, slope_source S>
__device__ __forceinline__ void add_gradient(const sum_args &g, const channels<V> &c, const float (&mean)[V],
                                             const raw<T, V> &x, const raw<T, V> &d, const raw<T, V> &y, float (&s)[V],
                                             float (&t)[V], float (&dz)[V])
{
    float v[V], yv[V] = {};
    x.get(v);
    d.get(dz);
    get_slope<T, V, S>(y, yv);
#pragma unroll
    for (int i = 0; i < V; i++) {
        dz[i] = c.template slope<S>(i, g.a.act, dz[i], v[i], yv[i]);
        s[i] += dz[i];
        t[i] += dz[i] * (v[i] - mean[i]);
    }
}

/* `early`: also writes dr. */
template <class T, int V, slope_source S>
__device__ __forceinline__ void add_gradients(const sum_args &g, const span &p, const channels<V> &c,
                                              const float (&mean)[V], bool early, float (&s)[V], float (&t)[V])
{
    const size_t w = g.a.width;
    for (size_t row = p.first; row < p.last; row += BATCH * p.down) {
        raw<T, V> x[BATCH], d[BATCH], y[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const size_t at = (row + b * p.down) * w + p.col;
            if (row + b * p.down >= p.last) break;
            x[b].read(g.a.x, at);
            d[b].read(g.a.dy, at);
            read_slope<T, V, S>(g.a, at, y[b]);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            float dz[V];
            if (row + b * p.down >= p.last) break;
            add_gradient<T, V, S>(g, c, mean, x[b], d[b], y[b], s, t, dz);
            if (early) store<V>((T *)g.a.dr + (row + b * p.down) * w + p.col, dz);
        }
    }
}

/* Mean and 1 / sd of a channel from its two sums; first: the value that was subtracted before squaring. */
__device__ __forceinline__ float2 stats_of(const dis__batchnorm_args &a, float first, double2 sum)
{
    const double n = (double)a.n_rows, mean = sum.x / n, squares = fmax(sum.y - sum.x * mean, 0.);
    return make_float2((float)(mean + (double)first), (float)(1 / sqrt(squares / n + a.epsilon)));
}

/* Stores them, and updates the running statistics. */
__device__ __forceinline__ void keep_stats(const dis__batchnorm_args &a, size_t c, float2 stats, double2 sum)
{
    const double n = (double)a.n_rows, squares = fmax(sum.y - sum.x * (sum.x / n), 0.), move = a.momentum;
    float *old_mean = (float *)a.running_mean + c, *old_var = (float *)a.running_var + c;
    ((float *)a.stats)[c] = stats.x;
    ((float *)a.stats)[a.width + c] = stats.y;
    *old_mean = (float)(*old_mean + move * ((double)stats.x - *old_mean));
    *old_var = (float)(*old_var + move * (squares / (n > 1 ? n - 1 : 1) - *old_var));
}

__device__ __forceinline__ void finish_sums(const dis__batchnorm_args &a, size_t c, double s, double t)
{
    ((float *)a.sums)[c] = (float)s;
    ((float *)a.sums)[a.width + c] = (float)t;
    if (a.d_bias) ((float *)a.d_bias)[c] += (float)s;
    if (a.d_gain) ((float *)a.d_gain)[c] += (float)t;
}

/* Reduces the partial results of thread groups for a tile, to the first group. */
__device__ __forceinline__ double2 add_shares(double *room, unsigned groups, unsigned tile, double s, double t,
                                              bool first, bool *is_owner)
{
    room[threadIdx.x] = s;
    room[SUM_THREADS + threadIdx.x] = t;
    __syncthreads();
    *is_owner = first;
    for (unsigned i = 1; first && i < groups; i++) {
        s += room[i * tile + threadIdx.x];
        t += room[SUM_THREADS + i * tile + threadIdx.x];
    }
    return make_double2(s, t);
}

/* The parts of a tile's channels, added up by groups of threads, then the groups in order: the result is in the first
 * `tile` threads, one channel each; `is_owner`: whether this is one of them. `room`: 2 SUM_THREADS values. */
__device__ __forceinline__ double2 add_parts(const sum_args &g, unsigned tile, double *room, bool *is_owner)
{
    const unsigned groups = SUM_THREADS / tile, group = threadIdx.x / tile, e = threadIdx.x % tile;
    const size_t w = g.a.width, c = blockIdx.y * (size_t)tile + e;
    double s = 0, t = 0;
#pragma unroll 17
    for (unsigned p = group; p < gridDim.x && c < w;
         p += groups) { /* 132 parts in 8 groups: all loads in flight at once */
        s += (double)__ldcg(g.parts + (size_t)p * 2 * w + c);
        t += (double)__ldcg(g.parts + ((size_t)p * 2 + 1) * w + c);
    }
    return add_shares(room, groups, tile, s, t, group == 0 && c < w, is_owner);
}

/* Sums over lanes with the same channels, by shuffles: to room (2, groups, tile). */
template <int V>
__device__ __forceinline__ unsigned warp_parts(const sum_args &g, unsigned tile, float *room, float (&s)[V],
                                               float (&t)[V])
{
    const unsigned across = g.c.across, together = across < 32 ? 32 : across, groups = SUM_THREADS / together;
    const unsigned group = threadIdx.x / together, lane = threadIdx.x % together;
    for (unsigned half = 16; half >= across; half /= 2)
#pragma unroll
        for (int i = 0; i < V; i++) {
            s[i] += __shfl_xor_sync(0xffffffffu, s[i], half);
            t[i] += __shfl_xor_sync(0xffffffffu, t[i], half);
        }
    if (lane < across)
#pragma unroll
        for (int i = 0; i < V; i++) {
            room[group * tile + lane * V + i] = s[i];
            room[(groups + group) * tile + lane * V + i] = t[i];
        }
    return groups;
}

/* Adds a block's sums to its row of parts: those of its warps in order. */
template <int V>
__device__ __forceinline__ void put_part(const sum_args &g, unsigned tile, float *room, float (&s)[V], float (&t)[V])
{
    const size_t w = g.a.width, col0 = blockIdx.y * (size_t)tile;
    float *const part = g.parts + blockIdx.x * 2 * w;
    const unsigned groups = warp_parts<V>(g, tile, room, s, t);
    __syncthreads();
    for (unsigned e = threadIdx.x; e < 2 * tile; e += SUM_THREADS) {
        const unsigned which = e / tile, c = e % tile;
        float total = 0;
#pragma unroll 8
        for (unsigned y = 0; y < groups; y++) total += room[(which * groups + y) * tile + c];
        if (col0 + c < w) part[which * w + col0 + c] = total;
    }
}

#endif
