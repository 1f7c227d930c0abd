/* Batch normalisation (Ioffe & Szegedy 2015) as one kernel each way, with the residual and the activation that follow:
 * a block per multiprocessor sums its share of the rows, waits for the others, and writes the results. Inputs stay in
 * shared memory as far as they fit (27 vectors of 16 bytes per thread on an H200: all of a tensor of 28 MB); the rest
 * is read again in reverse order, since the last part is still in the cache.
 *
 * Memory: forward x (and the residual) in and y out; backward x, dy (and y, if the derivative does not follow from x;
 * one bit of it for a ReLU after a residual) in, dx (and the residual's gradient) out; data that does not fit is read
 * twice. Blocks of the same channels wait for each other, so all must be resident: a cooperative launch, which
 * otherwise fails. */
#include "nn/cuda/norm/batchnorm_cache.cuh"

enum { THREADS = SUM_THREADS, RESERVE = 12 << 10 }; /* RESERVE: shared memory for other purposes */

/* ---- forward ---- */

template <class T, int V, int ACT>
__device__ __forceinline__ void write_row(const dis__batchnorm_args &a, const channels<V> &c, const raw<T, V> &x,
                                          const raw<T, V> &r, size_t at)
{
    float v[V], rv[V] = {};
    x.get(v);
    if (a.r) r.get(rv);
#pragma unroll
    for (int i = 0; i < V; i++) {
        const float z = v[i] * c.scale[i] + c.shift[i] + rv[i];
        v[i] = act_of(ACT == DIS_N_ACTS ? a.act : (dis__activation)ACT, z);
    }
    store<V>((T *)a.y + at, v);
    if (V == 8 && ACT == DIS_ACT_RELU && a.work) {
        unsigned above = 0;
#pragma unroll
        for (int i = 0; i < V; i++) above |= (unsigned)(v[i] > 0) << i;
        ((uint8_t *)a.work)[at / 8] = (uint8_t)above;
    }
}

template <class T, int V, int ACT>
__device__ __forceinline__ void write_rows(const sum_args &g, const share &m, const channels<V> &c, const uint4 *cache)
{
    const bool has_r = g.slots > 1; /* in shared memory, after x */
    const dis__batchnorm_args &a = g.a;
    for (size_t end = m.n; end > m.n_cached; end -= min(end - m.n_cached, (size_t)BATCH)) {
        raw<T, V> x[BATCH], r[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            if (end - m.n_cached <= (size_t)b) break;
            x[b].read(a.x, place(m, end - 1 - (size_t)b, a.width));
            if (a.r) r[b].read(a.r, place(m, end - 1 - (size_t)b, a.width));
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            if (end - m.n_cached <= (size_t)b) break;
            write_row<T, V, ACT>(a, c, x[b], r[b], place(m, end - 1 - (size_t)b, a.width));
        }
    }
    for (size_t i = 0; i < m.n_cached; i += BATCH) {
        raw<T, V> r[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            if (a.r && i + b < m.n_cached) {
                if (has_r)
                    r[b] = from_cache<T, V>(cache, g.n_cached + (unsigned)i + b);
                else
                    r[b].read(a.r, place(m, i + b, a.width));
            }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            if (i + b >= m.n_cached) break;
            write_row<T, V, ACT>(a, c, from_cache<T, V>(cache, (unsigned)i + b), r[b], place(m, i + b, a.width));
        }
    }
}

template <class T, int V, int ACT>
__global__ void __launch_bounds__(THREADS, 1) forward_once_kernel(const __grid_constant__ sum_args g)
{
    extern __shared__ uint4 cache[];
    __shared__ double room[2 * THREADS];
    __shared__ float2 found[TILE];
    const dis__batchnorm_args &a = g.a;
    const exchange_table table = exchange_of(g.exchange);
    const share m = share_of(g, V);
    const size_t own = blockIdx.y * (size_t)(g.c.across * V) + threadIdx.x; /* the channel whose sums it may find */
    float s[V] = {}, t[V] = {}, shift[V] = {}, gain[V] = {}, bias[V] = {};
    cache_tensor<T, V>(a.x, a.width, m, cache);
    if (g.slots > 1) cache_tensor<T, V>(a.r, a.width, m, cache + (size_t)g.n_cached * THREADS);
    exchange_clear(table);
    const float first = threadIdx.x < g.c.across * V && own < a.width ? as_float(((const T *)a.x)[own]) : 0;
    if (m.n) {
        load<V>((const T *)a.x + m.p.col, shift);
        load_floats<V>((const float *)a.gain + m.p.col, gain);
        load_floats<V>((const float *)a.bias + m.p.col, bias);
    }
    add_squares<T, V>(g, m.rest, shift, s, t);
    if (g.slots > 1)
        copies_wait<1>();
    else
        copies_wait<0>();
    for (size_t i = 0; i < m.n_cached; i++) {
        float v[V];
        from_cache<T, V>(cache, (unsigned)i).get(v);
        add_square<V>(v, shift, s, t);
    }
    const totals f = find_sums<V>(g, table, room, s, t);
    if (f.is_owner) found[threadIdx.x] = stats_of(a, first, f.sum);
    copies_wait<0>();
    __syncthreads();
    if (m.n) {
        channels<V> c;
#pragma unroll
        for (int i = 0; i < V; i++) {
            const float2 at = found[threadIdx.x % g.c.across * V + i];
            c.scale[i] = gain[i] * at.y;
            c.shift[i] = bias[i] - at.x * c.scale[i];
        }
        write_rows<T, V, ACT>(g, m, c, cache);
    }
    if (f.is_owner && blockIdx.x == 0) keep_stats(a, f.channel, found[threadIdx.x], f.sum);
    exchange_leave(g.exchange, table);
}

/* ---- backward ---- */

/* dx = scale dz + slope x + rest; dr = dz. */
template <int V> struct gradient {
    float slope[V], rest[V];
    __device__ __forceinline__ void set(const dis__batchnorm_args &a, const channels<V> &c, const float (&mean)[V],
                                        const float (&inverse)[V], const float2 *found)
    {
        const float part = 1 / (float)a.n_rows;
#pragma unroll
        for (int i = 0; i < V; i++) {
            slope[i] = -c.scale[i] * inverse[i] * (found[i].y * part);
            rest[i] = -c.scale[i] * (found[i].x * part) - slope[i] * mean[i];
        }
    }
};

/* WRITTEN: d is dz, and is stored in dr. */
template <class T, int V, slope_source S, bool WRITTEN>
__device__ __forceinline__ void write_gradient(const dis__batchnorm_args &a, const channels<V> &c,
                                               const gradient<V> &gr, const raw<T, V> &x, const raw<T, V> &d,
                                               const raw<T, V> &y, size_t at)
{
    float v[V], dz[V], yv[V] = {}, old[V] = {};
    x.get(v);
    d.get(dz);
    if (!WRITTEN) get_slope<T, V, S>(y, yv);
    if (a.dx && a.add) load<V>((const T *)a.dx + at, old);
#pragma unroll
    for (int i = 0; i < V; i++) {
        if (!WRITTEN) dz[i] = c.template slope<S>(i, a.act, dz[i], v[i], yv[i]);
        v[i] = old[i] + (c.scale[i] * dz[i] + (gr.slope[i] * v[i] + gr.rest[i]));
    }
    if (a.dx) store<V>((T *)a.dx + at, v);
    if (WRITTEN || !a.dr) return;
    if (a.add_r) {
        load<V>((const T *)a.dr + at, old); /* after dx, which may be the same */
#pragma unroll
        for (int i = 0; i < V; i++) dz[i] += old[i];
    }
    store<V>((T *)a.dr + at, dz);
}

template <class T, int V, slope_source S, bool WRITTEN>
__device__ __forceinline__ void write_rest(const dis__batchnorm_args &a, const share &m, const channels<V> &c,
                                           const gradient<V> &gr)
{
    enum { SOME = 2 }; /* rows in flight: of three tensors */
    for (size_t end = m.n; end > m.n_cached; end -= min(end - m.n_cached, (size_t)SOME)) {
        raw<T, V> x[SOME], d[SOME], y[SOME];
#pragma unroll
        for (int b = 0; b < SOME; b++) {
            if (end - m.n_cached <= (size_t)b) break;
            const size_t at = place(m, end - 1 - (size_t)b, a.width);
            x[b].read(a.x, at);
            d[b].read(WRITTEN ? a.dr : a.dy, at);
            if (!WRITTEN) read_slope<T, V, S>(a, at, y[b]);
        }
#pragma unroll
        for (int b = 0; b < SOME; b++) {
            if (end - m.n_cached <= (size_t)b) break;
            write_gradient<T, V, S, WRITTEN>(a, c, gr, x[b], d[b], y[b], place(m, end - 1 - (size_t)b, a.width));
        }
    }
}

/* Vectors of a row in shared memory: x, dy, and y if it is read, followed by bits. */
constexpr unsigned slots_of(slope_source s)
{
    return s == RELU_OF_Y || s == SLOPE_OF_Y ? 3 : 2;
}

__device__ __forceinline__ uint8_t *cached_bits(const sum_args &g, uint4 *cache)
{
    return (uint8_t *)(cache + (size_t)g.n_cached * 2 * THREADS) + threadIdx.x;
}

/* Bits: the first of eight adjacent threads copies those of all. */
template <class T, int V, slope_source S>
__device__ __forceinline__ void cache_rows(const sum_args &g, const share &m, uint4 *cache)
{
    const dis__batchnorm_args &a = g.a;
    for (size_t i = 0; i < m.n_cached; i++) {
        uint4 *const to = cache + i * slots_of(S) * THREADS + threadIdx.x;
        const size_t at = place(m, i, a.width);
        copy_16(to, (const T *)a.x + at, true);
        copy_16(to + THREADS, (const T *)a.dy + at, true);
        if (slots_of(S) > 2) copy_16(to + 2 * THREADS, (const T *)a.y + at, true);
        if (S == RELU_OF_BITS && threadIdx.x % 8 == 0)
            copy_8(cached_bits(g, cache) + i * THREADS, (const uint8_t *)a.work + at / 8);
    }
    copies_commit();
}

template <class T, int V, slope_source S>
__global__ void __launch_bounds__(THREADS, 1) backward_once_kernel(const __grid_constant__ sum_args g)
{
    extern __shared__ uint4 cache[];
    __shared__ double room[2 * THREADS];
    __shared__ float2 found[TILE];
    enum { X, D, Y, SLOTS = slots_of(S) };
    const dis__batchnorm_args &a = g.a;
    const exchange_table table = exchange_of(g.exchange);
    const share m = share_of(g, V);
    constexpr bool bits = S == RELU_OF_BITS;
    const bool early = (bits || S == RELU_OF_Y) && a.dr && !a.add_r; /* dz equals a stored value, and can be read
                                                                      * again */
    channels<V> c;
    float s[V] = {}, t[V] = {}, mean[V] = {}, inverse[V] = {};
    cache_rows<T, V, S>(g, m, cache);
    exchange_clear(table);
    if (m.n) {
        c.read(a, m.p.col);
        load_floats<V>((const float *)a.stats + m.p.col, mean);
        load_floats<V>((const float *)a.stats + a.width + m.p.col, inverse);
        add_gradients<T, V, S>(g, m.rest, c, mean, early, s, t);
    }
    copies_wait<0>();
    if (bits) __syncwarp(); /* copied by another thread of the group */
    for (size_t i = 0; i < m.n_cached; i++) {
        const unsigned slot = (unsigned)i * SLOTS;
        float dz[V];
        raw<T, V> y = from_cache<T, V>(cache, slot + Y % SLOTS);
        if constexpr (S == RELU_OF_BITS) y.w.x = cached_bits(g, cache)[i * THREADS];
        add_gradient<T, V, S>(g, c, mean, from_cache<T, V>(cache, slot + X), from_cache<T, V>(cache, slot + D), y, s, t,
                              dz);
        if (bits) store<V>((T *)(cache + (slot + D) * THREADS + threadIdx.x), dz); /* overwrites dy */
        if (early) store<V>((T *)a.dr + place(m, i, a.width), dz);
    }
#pragma unroll
    for (int i = 0; i < V; i++) t[i] *= inverse[i];
    const totals f = find_sums<V>(g, table, room, s, t);
    if (f.is_owner) found[threadIdx.x] = make_float2((float)f.sum.x, (float)f.sum.y);
    __syncthreads();
    if (m.n) {
        gradient<V> gr;
        gr.set(a, c, mean, inverse, found + threadIdx.x % g.c.across * V);
        if (early)
            write_rest<T, V, S, true>(a, m, c, gr);
        else
            write_rest<T, V, S, false>(a, m, c, gr);
        dis__batchnorm_args b = a;
        if (early) b.dr = NULL;
        for (size_t i = 0; i < m.n_cached; i++) {
            const unsigned slot = (unsigned)i * SLOTS;
            write_gradient<T, V, bits ? NO_SLOPE : S, false>(b, c, gr, from_cache<T, V>(cache, slot + X),
                                                             from_cache<T, V>(cache, slot + D),
                                                             from_cache<T, V>(cache, slot + Y % SLOTS),
                                                             place(m, i, a.width));
        }
    }
    if (f.is_owner && blockIdx.x == 0) finish_sums(a, f.channel, f.sum.x, f.sum.y);
    exchange_leave(g.exchange, table);
}

/* ---- launching ---- */

template <int V> static bool cut_once(dis__cuda_session *s, const dis__batchnorm_args *a, sum_args *g)
{
    int together = 0;
    g->a = *a;
    g->exchange = (unsigned long long *)s->exchange;
    g->c = cut_rows(a->n_rows, a->width, V, (size_t)s->n_processors);
    return cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, s->ordinal) == cudaSuccess && together &&
           g->c.tiles <= (unsigned)s->n_processors && g->c.parts * a->width <= EXCHANGE_WORDS;
}

/* slots: vectors of a row that are cached, and `alongside` bytes; more: one more if all rows have room. */
static cudaError_t launch(dis__cuda_session *s, void (*kernel)(sum_args), sum_args *g, unsigned slots,
                          size_t extra_bytes, bool more)
{
    const size_t down = THREADS / g->c.across, rows = (g->c.rows_per_part + down - 1) / down, slot = THREADS * 16;
    const size_t all = s->shared - RESERVE;
    g->slots = more && rows * (slots + 1) * slot <= all ? slots + 1 : slots;
    const size_t row = g->slots * slot + THREADS * extra_bytes;
    g->n_cached = (unsigned)(rows < all / row ? rows : all / row);
    const size_t bytes = g->n_cached * row;
    const cudaError_t error = allow_shared(s, (const void *)kernel, bytes);
    if (error != cudaSuccess) return error;
    cudaLaunchAttribute together = {};
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(g->c.parts, g->c.tiles);
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = bytes;
    config.stream = s->stream;
    config.attrs = &together;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, *g);
}

template <class T> static bool forward_of(dis__cuda_session *s, const dis__batchnorm_args *a, cudaError_t *error)
{
    enum { V = 16 / sizeof(T) };
    sum_args g;
    if (!vectors<T>(a) || !cut_once<V>(s, a, &g)) return false;
    if constexpr (one_for_all<T, V>)
        *error = launch(s, forward_once_kernel<T, V, DIS_N_ACTS>, &g, 1, 0, a->r);
    else if (a->act == DIS_ACT_RELU)
        *error = launch(s, forward_once_kernel<T, V, DIS_ACT_RELU>, &g, 1, 0, a->r);
    else if (a->act == DIS_ACT_NONE)
        *error = launch(s, forward_once_kernel<T, V, DIS_ACT_NONE>, &g, 1, 0, a->r);
    else
        *error = launch(s, forward_once_kernel<T, V, DIS_N_ACTS>, &g, 1, 0, a->r);
    return true;
}

template <class T> static bool backward_of(dis__cuda_session *s, const dis__batchnorm_args *a, cudaError_t *error)
{
    enum { V = 16 / sizeof(T) };
    sum_args g;
    if (!vectors<T>(a) || !cut_once<V>(s, a, &g)) return false;
#define ONCE(S)                                                                                       \
    do {                                                                                              \
        *error = launch(s, backward_once_kernel<T, V, S>, &g, slots_of(S), S == RELU_OF_BITS, false); \
        return true;                                                                                  \
    } while (0)
    if constexpr (one_for_all<T, V>)
        ONCE(SLOPE_OF_Y);
    else
        BY_SLOPE(ONCE)
#undef ONCE
}

/* batch_stats and batchnorm. */
extern "C" bool dis__cuda_batchnorm_once(dis__cuda_session *s, const void *stats, const void *rows, cudaError_t *error)
{
    const dis__batchnorm_args *first = (const dis__batchnorm_args *)stats, *a = (const dis__batchnorm_args *)rows;
    if (first->x != a->x || first->stats != a->stats || a->fixed || a->n_rows == 0 || a->width == 0) return false;
    return s->value == DIS_BFLOAT16 ? forward_of<bf16>(s, a, error) : forward_of<float>(s, a, error);
}

/* batchnorm_sums and batchnorm_grad. */
extern "C" bool dis__cuda_batchnorm_grad_once(dis__cuda_session *s, const void *sums, const void *rows,
                                              cudaError_t *error)
{
    const dis__batchnorm_args *first = (const dis__batchnorm_args *)sums, *a = (const dis__batchnorm_args *)rows;
    if (first->dy != a->dy || first->sums != a->sums || a->n_rows == 0 || a->width == 0) return false;
    return s->value == DIS_BFLOAT16 ? backward_of<bf16>(s, a, error) : backward_of<float>(s, a, error);
}

/* If the derivative follows from the value, backward reads one bit of it: only full tiles, because bits are copied in
 * groups of eight. */
extern "C" size_t dis__cuda_batchnorm_work(dis__cuda_session *s, const void *args)
{
    const dis__batchnorm_args *a = (const dis__batchnorm_args *)args;
    const bool bits = s->value == DIS_BFLOAT16 && a->act == DIS_ACT_RELU && a->r && a->width % TILE == 0;
    return bits ? a->n_rows * a->width / 8 : 0;
}
