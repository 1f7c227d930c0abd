/* Statistics of batch normalisation (Ioffe & Szegedy 2015), and the sums over rows that its gradients need. Each block
 * adds up a share of the rows, a few channels per thread, to a row of partial sums; the block that is done last adds
 * these up in order, so the sum depends on the shape alone. Squares are summed of x - x[0], which keeps their digits
 * where the mean is large. */
#include "nn/cuda/batchnorm.cuh"

enum { THREADS = 512 };

/* Two sums per channel: of x - x[0] and its square; or of dz and dz z. */
typedef struct {
    dis__batchnorm_args a;
    cut c;
    float *parts; /* (parts, 2, width) */
    unsigned *counter;
} sum_args;

template <class T, int V>
__device__ __forceinline__ void add_squares(const sum_args &g, const span &p, float (&s)[V], float (&t)[V])
{
    const size_t w = g.a.width;
    float shift[V];
    load<V>((const T *)g.a.x + p.col, shift);
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
#pragma unroll
            for (int i = 0; i < V; i++) {
                s[i] += v[i] - shift[i];
                t[i] += (v[i] - shift[i]) * (v[i] - shift[i]);
            }
        }
    }
}

template <class T, int V, slope_source S>
__device__ __forceinline__ void add_gradients(const sum_args &g, const span &p, float (&s)[V], float (&t)[V])
{
    const size_t w = g.a.width;
    float mean[V], inverse[V];
    channels<V> c;
    c.read(g.a, p.col);
    load_floats<V>(g.a.stats, p.col, mean);
    for (size_t row = p.first; row < p.last; row += BATCH * p.down) {
        raw<T, V> x[BATCH], d[BATCH], y[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const size_t at = (row + b * p.down) * w + p.col;
            if (row + b * p.down >= p.last) break;
            x[b].read(g.a.x, at);
            d[b].read(g.a.dy, at);
            if (S >= RELU_OF_Y) y[b].read(g.a.y, at);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            float v[V], dv[V], yv[V] = {};
            if (row + b * p.down >= p.last) break;
            x[b].get(v);
            d[b].get(dv);
            if (S >= RELU_OF_Y) y[b].get(yv);
#pragma unroll
            for (int i = 0; i < V; i++) {
                const float dz = c.template slope<S>(i, g.a.act, dv[i], v[i], yv[i]);
                s[i] += dz;
                t[i] += dz * (v[i] - mean[i]);
            }
        }
    }
    load_floats<V>(g.a.stats, w + p.col, inverse);
#pragma unroll
    for (int i = 0; i < V; i++) t[i] *= inverse[i];
}

/* The statistics of a channel from its two sums. */
template <class T>
__device__ __forceinline__ void finish_stats(const dis__batchnorm_args &a, size_t c, double s, double t)
{
    const double n = (double)a.n_rows, mean = s / n, squares = fmax(t - s * mean, 0.), move = a.momentum;
    const float at = (float)(mean + (double)as_float(((const T *)a.x)[c]));
    float *old_mean = (float *)a.running_mean + c, *old_var = (float *)a.running_var + c;
    ((float *)a.stats)[c] = at;
    ((float *)a.stats)[a.width + c] = (float)(1 / sqrt(squares / n + a.epsilon));
    *old_mean = (float)(*old_mean + move * ((double)at - *old_mean));
    *old_var = (float)(*old_var + move * (squares / (n > 1 ? n - 1 : 1) - *old_var));
}

__device__ __forceinline__ void finish_sums(const dis__batchnorm_args &a, size_t c, double s, double t)
{
    ((float *)a.sums)[c] = (float)s;
    ((float *)a.sums)[a.width + c] = (float)t;
    if (a.d_bias) ((float *)a.d_bias)[c] += (float)s;
    if (a.d_gain) ((float *)a.d_gain)[c] += (float)t;
}

/* The parts of a tile's channels, added up by groups of threads, then the groups in order. */
template <class T, bool BACKWARD>
__device__ __forceinline__ void add_parts(const sum_args &g, unsigned tile, double *room_s, double *room_t)
{
    const unsigned groups = THREADS / tile, group = threadIdx.x / tile, e = threadIdx.x % tile;
    const size_t w = g.a.width, c = blockIdx.y * (size_t)tile + e;
    double s = 0, t = 0;
#pragma unroll 17
    for (unsigned p = group; p < gridDim.x && c < w;
         p += groups) { /* 132 parts of 8 groups: all on their way at once */
        s += (double)__ldcg(g.parts + (size_t)p * 2 * w + c);
        t += (double)__ldcg(g.parts + ((size_t)p * 2 + 1) * w + c);
    }
    room_s[threadIdx.x] = s;
    room_t[threadIdx.x] = t;
    __syncthreads();
    if (group || c >= w) return;
    for (unsigned i = 1; i < groups; i++) {
        s += room_s[i * tile + e];
        t += room_t[i * tile + e];
    }
    if (BACKWARD)
        finish_sums(g.a, c, s, t);
    else
        finish_stats<T>(g.a, c, s, t);
}

/* A block's sums to its row of parts: lanes of the same channels by exchange, then the warps in order. */
template <int V>
__device__ __forceinline__ void put_part(const sum_args &g, unsigned tile, float *room, float (&s)[V], float (&t)[V])
{
    const unsigned across = g.c.across, together = across < 32 ? 32 : across, groups = THREADS / together;
    const unsigned group = threadIdx.x / together, lane = threadIdx.x % together;
    const size_t w = g.a.width, col0 = blockIdx.y * (size_t)tile;
    float *const part = g.parts + blockIdx.x * 2 * w;
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
    __syncthreads();
    for (unsigned e = threadIdx.x; e < 2 * tile; e += THREADS) {
        const unsigned which = e / tile, c = e % tile;
        float total = 0;
        for (unsigned y = 0; y < groups; y++) total += room[(which * groups + y) * tile + c];
        if (col0 + c < w) part[which * w + col0 + c] = total;
    }
}

template <class T, int V, bool BACKWARD, slope_source S>
__global__ void __launch_bounds__(THREADS) sums_kernel(sum_args g)
{
    __shared__ __align__(16) float room[4 * THREADS]; /* sums of warps and channels, two of each; later doubles */
    __shared__ bool last;
    const unsigned tile = g.c.across * V;
    const span p = span_of(g.c, g.a.n_rows, V);
    float s[V] = {}, t[V] = {};
    if (p.col < g.a.width) {
        if (BACKWARD)
            add_gradients<T, V, S>(g, p, s, t);
        else
            add_squares<T, V>(g, p, s, t);
    }
    put_part<V>(g, tile, room, s, t);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(g.counter + blockIdx.y, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    if (threadIdx.x == 0) g.counter[blockIdx.y] = 0; /* as the next kernel wants it */
    __threadfence();
    add_parts<T, BACKWARD>(g, tile, (double *)room, (double *)room + THREADS);
}

template <class T, int V, bool BACKWARD, slope_source S>
static cudaError_t sums_by(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    sum_args g;
    g.a = *a;
    g.parts = (float *)s->scratch;
    g.counter = s->counters;
    g.c = cut_rows(a->n_rows, a->width, V, MAX_PARTS);
    if (g.c.tiles > DIS_CUDA_COUNTERS || g.c.parts * 2 * a->width * sizeof(float) > s->scratch_bytes)
        return cudaErrorInvalidValue;
    sums_kernel<T, V, BACKWARD, S><<<dim3(g.c.parts, g.c.tiles), THREADS, 0, s->stream>>>(g);
    return cudaGetLastError();
}

/* Outside of training, or of no rows: what was kept. */
__global__ void fixed_stats_kernel(dis__batchnorm_args a)
{
    const size_t c = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (c >= a.width) return;
    ((float *)a.stats)[c] = ((const float *)a.running_mean)[c];
    ((float *)a.stats)[a.width + c] = 1 / sqrtf(((const float *)a.running_var)[c] + (float)a.epsilon);
}

template <class T> static cudaError_t batch_stats_of(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    if (a->width == 0) return cudaSuccess;
    if (a->fixed || a->n_rows == 0) {
        fixed_stats_kernel<<<grid_of(a->width, THREADS), THREADS, 0, s->stream>>>(*a);
        return cudaGetLastError();
    }
    return vectors<T>(a) ? sums_by<T, 16 / sizeof(T), false, NO_SLOPE>(s, a) : sums_by<T, 1, false, NO_SLOPE>(s, a);
}

template <class T, int V> static cudaError_t gradient_sums(dis__cuda_session *s, const dis__batchnorm_args *a)
{
#define SUMS(S) return sums_by<T, V, true, S>(s, a)
    if constexpr (one_for_all<T, V>)
        SUMS(SLOPE_OF_Y);
    else
        BY_SLOPE(SUMS)
#undef SUMS
}

template <class T> static cudaError_t batchnorm_sums_of(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    if (a->width == 0) return cudaSuccess;
    if (a->n_rows == 0) return cudaMemsetAsync(a->sums, 0, 2 * a->width * sizeof(float), s->stream);
    return vectors<T>(a) ? gradient_sums<T, 16 / sizeof(T)>(s, a) : gradient_sums<T, 1>(s, a);
}

DIS_CUDA_OP(batch_stats, dis__batchnorm_args)
DIS_CUDA_OP(batchnorm_sums, dis__batchnorm_args)
