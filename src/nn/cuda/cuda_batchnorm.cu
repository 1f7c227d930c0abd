/* Batch normalisation (Ioffe & Szegedy 2015) over rows of channels, with the residual and the activation that follow.
 *
 * Statistics and sums over rows: each block adds up a share of the rows, a few channels per thread, to a row of partial
 * sums; the block that is done last adds these up in order, so the sum depends on the shape alone. Squares are summed
 * of x - x[0], which keeps their digits where the mean is large.
 *
 * Bound by memory: a thread keeps its channels, goes down the rows and has four of them on their way at a time. Forward
 * reads x twice; backward reads x and dy twice, and y (for the slope of the activation) only where it does not follow
 * from x: behind ReLU without a residual it does. */
#include "nn/cuda/value.cuh"

enum { THREADS = 512, MAX_PARTS = 132, MIN_ROWS = 32, TILE = 64, BATCH = 4 }; /* of sums over rows */
enum { ROW_THREADS = 256, ROW_PARTS = 1056 };                                 /* of rows */

/* Where the slope of the activation comes from; whether a ReLU's y is above 0 follows from x, or is read. What is asked
 * per number must be a constant: these kernels have no time for a switch. */
enum slope_source { NO_SLOPE, RELU_OF_X, RELU_OF_Y, SLOPE_OF_Y };

static slope_source slope_of_args(const dis__batchnorm_args *a)
{
    if (a->act == DIS_ACT_NONE) return NO_SLOPE;
    return a->act != DIS_ACT_RELU ? SLOPE_OF_Y : a->r ? RELU_OF_Y : RELU_OF_X;
}

#define BY_SLOPE(call)               \
    switch (slope_of_args(a)) {      \
    case NO_SLOPE: call(NO_SLOPE);   \
    case RELU_OF_X: call(RELU_OF_X); \
    case RELU_OF_Y: call(RELU_OF_Y); \
    default: call(SLOPE_OF_Y);       \
    }

/* How a matrix of rows is cut: `across` threads side by side with V channels each, TILE together, and as
 * many rows at a time as there are threads left. */
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

/* Whether rows can be read 16 bytes at a time. */
template <class T> static bool vectors(const dis__batchnorm_args *a)
{
    const void *const p[] = {a->x, a->r, a->y, a->dy, a->dx, a->dr, a->gain, a->bias, a->stats, a->sums};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (!aligned16(p[i])) return false;
    return a->width % (16 / sizeof(T)) == 0;
}

/* V numbers of a row as they lie in memory. */
template <class T, int V> struct raw {
    typename word_of<V * sizeof(T)>::type w;
    __device__ __forceinline__ void read(const void *base, size_t at)
    {
        w = *reinterpret_cast<const decltype(w) *>((const T *)base + at);
    }
    __device__ __forceinline__ void get(float (&x)[V]) const
    {
        union {
            decltype(w) word;
            T t[V];
        } u;
        u.word = w;
#pragma unroll
        for (int i = 0; i < V; i++) x[i] = as_float(u.t[i]);
    }
};

template <int V> __device__ __forceinline__ void load_floats(const void *base, size_t at, float (&x)[V])
{
    const float *from = (const float *)base + at;
#pragma unroll
    for (int i = 0; i < V; i += V < 4 ? 1 : 4) {
        if (V < 4) {
            x[i] = from[i];
            continue;
        }
        const float4 f = *reinterpret_cast<const float4 *>(from + i);
        x[i] = f.x, x[(i + 1) % V] = f.y, x[(i + 2) % V] = f.z, x[(i + 3) % V] = f.w;
    }
}

/* What a thread keeps of its channels. */
template <int V> struct channels {
    float mean[V], inverse[V], gain[V], bias[V];
    __device__ __forceinline__ void read(const dis__batchnorm_args &a, size_t col)
    {
        load_floats<V>(a.stats, col, mean);
        load_floats<V>(a.stats, a.width + col, inverse);
        load_floats<V>(a.gain, col, gain);
        load_floats<V>(a.bias, col, bias);
    }
    __device__ __forceinline__ float normal(int i, float x) const
    {
        return (x - mean[i]) * inverse[i];
    }
    /* dy act' */
    template <slope_source S>
    __device__ __forceinline__ float slope(int i, dis__activation act, float dy, float z, float y) const
    {
        if (S == NO_SLOPE) return dy;
        if (S == SLOPE_OF_Y) return dy * slope_of(act, y);
        return (S == RELU_OF_X ? gain[i] * z + bias[i] : y) > 0 ? dy : 0;
    }
};

/* The rows of a thread. */
typedef struct {
    size_t first, last, down, col;
} span;

__device__ __forceinline__ span span_of(const cut &c, size_t n_rows, int v)
{
    span s;
    s.down = blockDim.x / c.across;
    s.first = blockIdx.x * c.rows_per_part;
    s.last = min(s.first + c.rows_per_part, n_rows);
    s.first += threadIdx.x / c.across;
    s.col = (blockIdx.y * (size_t)c.across + threadIdx.x % c.across) * (size_t)v;
    return s;
}

/* ---- sums over rows ---- */

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
    channels<V> c;
    c.read(g.a, p.col);
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
                const float z = c.normal(i, v[i]), dz = c.template slope<S>(i, g.a.act, dv[i], z, yv[i]);
                s[i] += dz;
                t[i] += dz * z;
            }
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
__device__ __forceinline__ void add_parts(const sum_args &g, unsigned tile, double *room_s, double *room_t)
{
    const unsigned groups = THREADS / tile, group = threadIdx.x / tile, e = threadIdx.x % tile;
    const size_t w = g.a.width, c = blockIdx.y * (size_t)tile + e;
    double s = 0, t = 0;
#pragma unroll 8
    for (unsigned p = group; p < gridDim.x && c < w; p += groups) {
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

/* A block's sums to its row of parts. */
template <int V>
__device__ __forceinline__ void put_part(const sum_args &g, unsigned tile, float *room, const float (&s)[V],
                                         const float (&t)[V])
{
    const size_t w = g.a.width, col0 = blockIdx.y * (size_t)tile;
    float *const part = g.parts + blockIdx.x * 2 * w;
#pragma unroll
    for (int i = 0; i < V; i++) {
        room[threadIdx.x * V + i] = s[i];
        room[THREADS * V + threadIdx.x * V + i] = t[i];
    }
    __syncthreads();
    for (unsigned e = threadIdx.x; e < 2 * tile; e += THREADS) {
        const unsigned which = e / tile, c = e % tile;
        float total = 0;
        for (unsigned y = 0; y < THREADS / g.c.across; y++) total += room[which * THREADS * V + y * tile + c];
        if (col0 + c < w) part[which * w + col0 + c] = total;
    }
}

template <class T, int V, bool BACKWARD, slope_source S>
__global__ void __launch_bounds__(THREADS) sums_kernel(sum_args g)
{
    enum { ROOM = 2 * THREADS * V > 4 * THREADS ? 2 * THREADS * V : 4 * THREADS }; /* floats, later doubles */
    __shared__ __align__(16) float room[ROOM];
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

/* Only vectors of bfloat16 have an instance for each kind of slope; the others one for all. */
template <class T, int V> constexpr bool one_for_all = sizeof(T) > 2 || V == 1;

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

/* ---- rows ---- */

/* ACT: an activation, or DIS_N_ACTS: the one of the arguments. */
template <class T, int V, int ACT>
__global__ void __launch_bounds__(ROW_THREADS) forward_kernel(dis__batchnorm_args a, cut g)
{
    const span p = span_of(g, a.n_rows, V);
    const size_t w = a.width;
    if (p.col >= w) return;
    channels<V> c;
    c.read(a, p.col);
    for (size_t row = p.first; row < p.last; row += BATCH * p.down) {
        raw<T, V> x[BATCH], r[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const size_t at = (row + b * p.down) * w + p.col;
            if (row + b * p.down >= p.last) break;
            x[b].read(a.x, at);
            if (a.r) r[b].read(a.r, at);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            float v[V], rv[V] = {};
            if (row + b * p.down >= p.last) break;
            x[b].get(v);
            if (a.r) r[b].get(rv);
#pragma unroll
            for (int i = 0; i < V; i++) {
                const float z = c.gain[i] * c.normal(i, v[i]) + c.bias[i] + rv[i];
                v[i] = act_of(ACT == DIS_N_ACTS ? a.act : (dis__activation)ACT, z);
            }
            store<V>((T *)a.y + (row + b * p.down) * w + p.col, v);
        }
    }
}

/* dx = gain / sd (dz - mean(dz) - z mean(dz z)); dr = dz. */
template <class T, int V, slope_source S>
__global__ void __launch_bounds__(ROW_THREADS) backward_kernel(dis__batchnorm_args a, cut g)
{
    enum { SOME = 2 }; /* rows on their way: they are of three tensors here */
    const span p = span_of(g, a.n_rows, V);
    const size_t w = a.width;
    if (p.col >= w) return;
    const float share = 1 / (float)a.n_rows;
    channels<V> c;
    float plain[V], scaled[V];
    c.read(a, p.col);
    load_floats<V>(a.sums, p.col, plain);
    load_floats<V>(a.sums, w + p.col, scaled);
    for (size_t row = p.first; row < p.last; row += SOME * p.down) {
        raw<T, V> x[SOME], d[SOME], y[SOME];
#pragma unroll
        for (int b = 0; b < SOME; b++) {
            const size_t at = (row + b * p.down) * w + p.col;
            if (row + b * p.down >= p.last) break;
            x[b].read(a.x, at);
            d[b].read(a.dy, at);
            if (S >= RELU_OF_Y) y[b].read(a.y, at);
        }
#pragma unroll
        for (int b = 0; b < SOME; b++) {
            const size_t at = (row + b * p.down) * w + p.col;
            float v[V], dz[V], yv[V] = {}, old[V] = {};
            if (row + b * p.down >= p.last) break;
            x[b].get(v);
            d[b].get(dz);
            if (S >= RELU_OF_Y) y[b].get(yv);
            if (a.dx && a.add) load<V>((const T *)a.dx + at, old);
#pragma unroll
            for (int i = 0; i < V; i++) {
                const float z = c.normal(i, v[i]);
                dz[i] = c.template slope<S>(i, a.act, dz[i], z, yv[i]);
                v[i] = old[i] + c.gain[i] * c.inverse[i] * (dz[i] - plain[i] * share - z * scaled[i] * share);
            }
            if (a.dx) store<V>((T *)a.dx + at, v);
            if (!a.dr) continue;
            if (a.add_r) {
                load<V>((const T *)a.dr + at, old); /* behind dx, which may be the same */
#pragma unroll
                for (int i = 0; i < V; i++) dz[i] += old[i];
            }
            store<V>((T *)a.dr + at, dz);
        }
    }
}

template <class T, int V> static cudaError_t forward_by(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    const cut c = cut_rows(a->n_rows, a->width, V, ROW_PARTS);
    const dim3 grid(c.parts, c.tiles);
    if (a->act == DIS_ACT_RELU)
        forward_kernel<T, V, DIS_ACT_RELU><<<grid, ROW_THREADS, 0, s->stream>>>(*a, c);
    else if (a->act == DIS_ACT_NONE)
        forward_kernel<T, V, DIS_ACT_NONE><<<grid, ROW_THREADS, 0, s->stream>>>(*a, c);
    else
        forward_kernel<T, V, DIS_N_ACTS><<<grid, ROW_THREADS, 0, s->stream>>>(*a, c);
    return cudaGetLastError();
}

template <class T, int V> static cudaError_t backward_by(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    const cut c = cut_rows(a->n_rows, a->width, V, ROW_PARTS);
    const dim3 grid(c.parts, c.tiles);
#define ROWS(S)                                                           \
    backward_kernel<T, V, S><<<grid, ROW_THREADS, 0, s->stream>>>(*a, c); \
    break
    if constexpr (one_for_all<T, V>)
        do {
            ROWS(SLOPE_OF_Y);
        } while (0);
    else
        BY_SLOPE(ROWS)
#undef ROWS
    return cudaGetLastError();
}

template <class T> static cudaError_t batchnorm_of(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    if (a->n_rows == 0 || a->width == 0) return cudaSuccess;
    return vectors<T>(a) ? forward_by<T, 16 / sizeof(T)>(s, a) : forward_by<T, 1>(s, a);
}

template <class T> static cudaError_t batchnorm_grad_of(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    if (a->n_rows == 0 || a->width == 0) return cudaSuccess;
    return vectors<T>(a) ? backward_by<T, 16 / sizeof(T)>(s, a) : backward_by<T, 1>(s, a);
}

DIS_CUDA_OP(batchnorm, dis__batchnorm_args)
DIS_CUDA_OP(batchnorm_grad, dis__batchnorm_args)
