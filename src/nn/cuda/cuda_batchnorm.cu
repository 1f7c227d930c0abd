/* Batch normalisation (Ioffe & Szegedy 2015) over rows of channels, with the residual and the activation that follow.
 *
 * Statistics and sums over rows: each block adds up a share of the rows, a few channels per thread, to a row of partial
 * sums; the block that is done last adds these up in order, so the sum depends on the shape alone. Squares are summed
 * of x - x[0], which keeps their digits where the mean is large. Every kernel reads its tensors once: bound by memory. */
#include "nn/cuda/value.cuh"

enum { THREADS = 256, MAX_PARTS = 256, MIN_ROWS = 32, TILE = 64 };

/* How a matrix of rows is cut: `across` threads side by side with V channels each, TILE together, and THREADS / across
 * rows at a time. */
typedef struct {
    unsigned across, tiles, parts;
    size_t rows_per_part;
} cut;

static cut cut_rows(size_t n_rows, size_t width, size_t v, size_t max_parts)
{
    cut c;
    c.across = 1;
    while (c.across * v < TILE && c.across * v < width) c.across *= 2;
    c.tiles = grid_of(width, c.across * v);
    const size_t enough = (n_rows + MIN_ROWS - 1) / MIN_ROWS, some = max_parts / c.tiles ? max_parts / c.tiles : 1;
    c.parts = (unsigned)(enough < some ? enough : some);
    c.rows_per_part = (n_rows + c.parts - 1) / c.parts;
    return c;
}

/* The vectors that all pointers allow. */
template <class T> static bool vectors(size_t width, const void *const *p, int n)
{
    for (int i = 0; i < n; i++)
        if (!aligned16(p[i])) return false;
    return width % (16 / sizeof(T)) == 0;
}

/* ---- sums over rows ---- */

/* Two sums per channel: of x - x[0] and its square; or of dz and dz z. */
typedef struct {
    dis__batchnorm_args a;
    cut c;
    float *parts; /* (parts, 2, width) */
    unsigned *counter;
} sum_args;

template <class T, int V, bool BACKWARD>
__device__ __forceinline__ void add_rows(const sum_args &g, size_t col, float (&s)[V], float (&t)[V])
{
    const dis__batchnorm_args &a = g.a;
    const unsigned ty = threadIdx.x / g.c.across, down = THREADS / g.c.across;
    const size_t first = blockIdx.x * g.c.rows_per_part, last = min(first + g.c.rows_per_part, a.n_rows);
    float shift[V], inverse[V];
    if (BACKWARD) {
#pragma unroll
        for (int i = 0; i < V; i++) shift[i] = ((const float *)a.stats)[col + i];
#pragma unroll
        for (int i = 0; i < V; i++) inverse[i] = ((const float *)a.stats)[a.width + col + i];
    } else {
        load<V>((const T *)a.x + col, shift);
    }
#pragma unroll 4
    for (size_t row = first + ty; row < last; row += down) {
        float x[V], d[V];
        load<V>((const T *)a.x + row * a.width + col, x);
        if (BACKWARD) load<V>((const T *)a.dz + row * a.width + col, d);
#pragma unroll
        for (int i = 0; i < V; i++) {
            const float z = BACKWARD ? (x[i] - shift[i]) * inverse[i] : x[i] - shift[i];
            s[i] += BACKWARD ? d[i] : z;
            t[i] += BACKWARD ? d[i] * z : z * z;
        }
    }
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
__device__ __forceinline__ void add_parts(const sum_args &g, unsigned tile, float *room_s, float *room_t)
{
    const unsigned groups = THREADS / tile, group = threadIdx.x / tile, e = threadIdx.x % tile;
    const size_t w = g.a.width, c = blockIdx.y * (size_t)tile + e;
    double s = 0, t = 0;
#pragma unroll 8
    for (unsigned p = group; p < gridDim.x && c < w; p += groups) {
        s += (double)__ldcg(g.parts + (size_t)p * 2 * w + c);
        t += (double)__ldcg(g.parts + ((size_t)p * 2 + 1) * w + c);
    }
    double *const room[2] = {(double *)room_s, (double *)room_t};
    room[0][threadIdx.x] = s;
    room[1][threadIdx.x] = t;
    __syncthreads();
    if (group || c >= w) return;
    for (unsigned i = 1; i < groups; i++) {
        s += room[0][i * tile + e];
        t += room[1][i * tile + e];
    }
    if (BACKWARD)
        finish_sums(g.a, c, s, t);
    else
        finish_stats<T>(g.a, c, s, t);
}

template <class T, int V, bool BACKWARD> __global__ void __launch_bounds__(THREADS) sums_kernel(sum_args g)
{
    __shared__ __align__(16) float sums[2][THREADS * (V < 2 ? 2 : V)]; /* later of doubles */
    __shared__ bool last;
    const unsigned tx = threadIdx.x % g.c.across, tile = g.c.across * V, down = THREADS / g.c.across;
    const size_t w = g.a.width, col = blockIdx.y * (size_t)tile + tx * V;
    float s[V] = {}, t[V] = {};
    if (col < w) add_rows<T, V, BACKWARD>(g, col, s, t);
#pragma unroll
    for (int i = 0; i < V; i++) {
        sums[0][threadIdx.x * V + i] = s[i];
        sums[1][threadIdx.x * V + i] = t[i];
    }
    __syncthreads();
    float *const part = g.parts + blockIdx.x * 2 * w;
    for (unsigned e = threadIdx.x; e < 2 * tile; e += THREADS) {
        const unsigned which = e / tile, c = e % tile;
        float total = 0;
        for (unsigned y = 0; y < down; y++) total += sums[which][y * tile + c];
        if (blockIdx.y * (size_t)tile + c < w) part[which * w + blockIdx.y * (size_t)tile + c] = total;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(g.counter + blockIdx.y, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    if (threadIdx.x == 0) g.counter[blockIdx.y] = 0; /* as the next kernel wants it */
    __threadfence();
    add_parts<T, BACKWARD>(g, tile, sums[0], sums[1]);
}

template <class T, int V, bool BACKWARD> static cudaError_t sums_by(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    sum_args g;
    g.a = *a;
    g.parts = (float *)s->scratch;
    g.counter = s->counters;
    g.c = cut_rows(a->n_rows, a->width, V, MAX_PARTS);
    if (g.c.tiles > DIS_CUDA_COUNTERS || g.c.parts * 2 * a->width * sizeof(float) > s->scratch_bytes)
        return cudaErrorInvalidValue;
    sums_kernel<T, V, BACKWARD><<<dim3(g.c.parts, g.c.tiles), THREADS, 0, s->stream>>>(g);
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
    const void *const p[] = {a->x};
    return vectors<T>(a->width, p, 1) ? sums_by<T, 16 / sizeof(T), false>(s, a) : sums_by<T, 1, false>(s, a);
}

template <class T> static cudaError_t batchnorm_sums_of(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    if (a->width == 0) return cudaSuccess;
    const void *const p[] = {a->x, a->dz};
    if (a->n_rows == 0) return cudaMemsetAsync(a->sums, 0, 2 * a->width * sizeof(float), s->stream);
    return vectors<T>(a->width, p, 2) ? sums_by<T, 16 / sizeof(T), true>(s, a) : sums_by<T, 1, true>(s, a);
}

DIS_CUDA_OP(batch_stats, dis__batchnorm_args)
DIS_CUDA_OP(batchnorm_sums, dis__batchnorm_args)

/* ---- rows ---- */

/* One thread keeps its channels and goes down the rows. */
template <class T, int V> __global__ void __launch_bounds__(THREADS) forward_kernel(dis__batchnorm_args a, cut g)
{
    const unsigned tx = threadIdx.x % g.across, ty = threadIdx.x / g.across, down = THREADS / g.across;
    const size_t w = a.width, col = (blockIdx.y * (size_t)g.across + tx) * V;
    const size_t first = blockIdx.x * g.rows_per_part, last = min(first + g.rows_per_part, a.n_rows);
    if (col >= w) return;
    float gain[V], bias[V], mean[V], inverse[V];
#pragma unroll
    for (int i = 0; i < V; i++) {
        gain[i] = ((const float *)a.gain)[col + i];
        bias[i] = ((const float *)a.bias)[col + i];
        mean[i] = ((const float *)a.stats)[col + i];
        inverse[i] = ((const float *)a.stats)[w + col + i];
    }
#pragma unroll 4
    for (size_t row = first + ty; row < last; row += down) {
        const size_t at = row * w + col;
        float x[V], r[V] = {};
        load<V>((const T *)a.x + at, x);
        if (a.r) load<V>((const T *)a.r + at, r);
#pragma unroll
        for (int i = 0; i < V; i++) x[i] = act_of(a.act, gain[i] * ((x[i] - mean[i]) * inverse[i]) + bias[i] + r[i]);
        store<V>((T *)a.y + at, x);
    }
}

/* dx = gain / sd (dz - mean(dz) - z mean(dz z)) */
template <class T, int V> __global__ void __launch_bounds__(THREADS) backward_kernel(dis__batchnorm_args a, cut g)
{
    const unsigned tx = threadIdx.x % g.across, ty = threadIdx.x / g.across, down = THREADS / g.across;
    const size_t w = a.width, col = (blockIdx.y * (size_t)g.across + tx) * V;
    const size_t first = blockIdx.x * g.rows_per_part, last = min(first + g.rows_per_part, a.n_rows);
    if (col >= w) return;
    const float share = 1 / (float)a.n_rows;
    float factor[V], mean[V], inverse[V], plain[V], scaled[V];
#pragma unroll
    for (int i = 0; i < V; i++) {
        mean[i] = ((const float *)a.stats)[col + i];
        inverse[i] = ((const float *)a.stats)[w + col + i];
        factor[i] = ((const float *)a.gain)[col + i] * inverse[i];
        plain[i] = ((const float *)a.sums)[col + i] * share;
        scaled[i] = ((const float *)a.sums)[w + col + i] * share;
    }
#pragma unroll 4
    for (size_t row = first + ty; row < last; row += down) {
        const size_t at = row * w + col;
        float x[V], d[V], old[V] = {};
        load<V>((const T *)a.x + at, x);
        load<V>((const T *)a.dz + at, d);
        if (a.add) load<V>((const T *)a.dx + at, old);
#pragma unroll
        for (int i = 0; i < V; i++)
            x[i] = old[i] + factor[i] * (d[i] - plain[i] - (x[i] - mean[i]) * inverse[i] * scaled[i]);
        store<V>((T *)a.dx + at, x);
    }
}

enum { ROW_PARTS = 2048 };

template <class T> static cudaError_t batchnorm_of(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    if (a->n_rows == 0 || a->width == 0) return cudaSuccess;
    const void *const p[] = {a->x, a->y, a->r};
    const bool wide = vectors<T>(a->width, p, 3);
    const cut c = cut_rows(a->n_rows, a->width, wide ? 16 / sizeof(T) : 1, ROW_PARTS);
    const dim3 grid(c.parts, c.tiles);
    if (wide)
        forward_kernel<T, 16 / sizeof(T)><<<grid, THREADS, 0, s->stream>>>(*a, c);
    else
        forward_kernel<T, 1><<<grid, THREADS, 0, s->stream>>>(*a, c);
    return cudaGetLastError();
}

template <class T> static cudaError_t batchnorm_grad_of(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    if (a->n_rows == 0 || a->width == 0) return cudaSuccess;
    const void *const p[] = {a->x, a->dz, a->dx};
    const bool wide = vectors<T>(a->width, p, 3);
    const cut c = cut_rows(a->n_rows, a->width, wide ? 16 / sizeof(T) : 1, ROW_PARTS);
    const dim3 grid(c.parts, c.tiles);
    if (wide)
        backward_kernel<T, 16 / sizeof(T)><<<grid, THREADS, 0, s->stream>>>(*a, c);
    else
        backward_kernel<T, 1><<<grid, THREADS, 0, s->stream>>>(*a, c);
    return cudaGetLastError();
}

DIS_CUDA_OP(batchnorm, dis__batchnorm_args)
DIS_CUDA_OP(batchnorm_grad, dis__batchnorm_args)
