/* Batch normalisation (Ioffe & Szegedy 2015) over rows of channels, with the residual and the activation that follow:
 * rows, forward and backward, in the cases that batchnorm_fused.cu does not support: without training, or for channels
 * that are not full vectors. Sums: batchnorm_sums.cu. */
#include "nn/cuda/norm/batchnorm.cuh"

enum { ROW_THREADS = 256, ROW_PARTS = 1056 };

/* The sums were just computed from these rows: the last ones are still in the cache, so they are processed first. */
static cut cut_again(size_t n_rows, size_t width, size_t v)
{
    cut c = cut_rows(n_rows, width, v, ROW_PARTS);
    const cut before = cut_rows(n_rows, width, v, MAX_PARTS);
    if (c.parts % before.parts == 0) c.turns = c.parts / before.parts;
    return c;
}

/* ACT: an activation, or DIS_N_ACTS: the activation of the arguments. */
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
                const float z = v[i] * c.scale[i] + c.shift[i] + rv[i];
                v[i] = act_of(ACT == DIS_N_ACTS ? a.act : (dis__activation)ACT, z);
            }
            store<V>((T *)a.y + (row + b * p.down) * w + p.col, v);
        }
    }
}

/* The parts of the gradient that are equal for all rows. */
template <int V>
__device__ __forceinline__ void read_rest(const dis__batchnorm_args &a, size_t col, const channels<V> &c,
                                          float (&slope)[V], float (&rest)[V])
{
    const float share = 1 / (float)a.n_rows;
    float mean[V], inverse[V], plain[V], scaled[V];
    load_floats<V>((const float *)a.stats + col, mean);
    load_floats<V>((const float *)a.stats + a.width + col, inverse);
    load_floats<V>((const float *)a.sums + col, plain);
    load_floats<V>((const float *)a.sums + a.width + col, scaled);
#pragma unroll
    for (int i = 0; i < V; i++) {
        slope[i] = -c.scale[i] * inverse[i] * (scaled[i] * share);
        rest[i] = -c.scale[i] * (plain[i] * share) - slope[i] * mean[i];
    }
}

/* dx = gain / sd (dz - mean(dz) - z mean(dz z)); dr = dz. */
template <class T, int V>
__global__ void __launch_bounds__(ROW_THREADS, 3) backward_kernel(dis__batchnorm_args a, cut g)
{
    enum { SOME = 2 }; /* rows in flight: of three tensors */
    const span p = span_of(g, a.n_rows, V);
    const size_t w = a.width;
    if (p.col >= w) return;
    channels<V> c;
    float slope[V], rest[V]; /* dx = scale dz + slope x + rest */
    c.read(a, p.col);
    read_rest<V>(a, p.col, c, slope, rest);
    for (size_t row = p.first; row < p.last; row += SOME * p.down) {
        raw<T, V> x[SOME], d[SOME], y[SOME];
#pragma unroll
        for (int b = 0; b < SOME; b++) {
            const size_t at = (row + b * p.down) * w + p.col;
            if (row + b * p.down >= p.last) break;
            x[b].read(a.x, at);
            d[b].read(a.dy, at);
            y[b].read(a.y, at);
        }
#pragma unroll
        for (int b = 0; b < SOME; b++) {
            const size_t at = (row + b * p.down) * w + p.col;
            float v[V], dz[V], yv[V], old[V] = {};
            if (row + b * p.down >= p.last) break;
            x[b].get(v);
            d[b].get(dz);
            y[b].get(yv);
            if (a.dx && a.add) load<V>((const T *)a.dx + at, old);
#pragma unroll
            for (int i = 0; i < V; i++) {
                dz[i] = c.template slope<SLOPE_OF_Y>(i, a.act, dz[i], v[i], yv[i]);
                v[i] = old[i] + (c.scale[i] * dz[i] + (slope[i] * v[i] + rest[i]));
            }
            if (a.dx) store<V>((T *)a.dx + at, v);
            if (!a.dr) continue;
            if (a.add_r) {
                load<V>((const T *)a.dr + at, old); /* after dx, which may be the same */
#pragma unroll
                for (int i = 0; i < V; i++) dz[i] += old[i];
            }
            store<V>((T *)a.dr + at, dz);
        }
    }
}

template <class T, int V> static cudaError_t forward_by(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    const cut c = cut_again(a->n_rows, a->width, V);
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
    const cut c = cut_again(a->n_rows, a->width, V);
    const dim3 grid(c.parts, c.tiles);
    backward_kernel<T, V><<<grid, ROW_THREADS, 0, s->stream>>>(*a, c);
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
