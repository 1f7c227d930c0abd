/* Statistics of batch normalisation (Ioffe & Szegedy 2015), and the sums over rows that its gradients need. Each block
 * adds up a share of the rows, a few channels per thread, to a row of partial sums; the last block to finish adds these
 * in order, so the order of the sum depends on the shape only. Squares of x - x[0] are summed, which avoids
 * cancellation if the mean is large. */
#include "nn/cuda/norm/batchnorm_sums.cuh"

enum { THREADS = SUM_THREADS };

template <class T, int V>
__device__ __forceinline__ void sum_squares(const sum_args &g, const span &p, float (&s)[V], float (&t)[V])
{
    float shift[V];
    load<V>((const T *)g.a.x + p.col, shift);
    add_squares<T, V>(g, p, shift, s, t);
}

template <class T, int V>
__device__ __forceinline__ void sum_gradients(const sum_args &g, const span &p, float (&s)[V], float (&t)[V])
{
    float mean[V], inverse[V];
    channels<V> c;
    c.read(g.a, p.col);
    load_floats<V>((const float *)g.a.stats + p.col, mean);
    add_gradients<T, V, SLOPE_OF_Y>(g, p, c, mean, false, s, t);
    load_floats<V>((const float *)g.a.stats + g.a.width + p.col, inverse);
#pragma unroll
    for (int i = 0; i < V; i++) t[i] *= inverse[i];
}

template <class T, int V, bool BACKWARD> __global__ void __launch_bounds__(THREADS) sums_kernel(sum_args g)
{
    __shared__ __align__(16) float room[4 * THREADS]; /* sums of warps and channels, two of each; later doubles */
    const unsigned tile = g.c.across * V;
    const span p = span_of(g.c, g.a.n_rows, V);
    float s[V] = {}, t[V] = {};
    if (p.col < g.a.width) {
        if (BACKWARD)
            sum_gradients<T, V>(g, p, s, t);
        else
            sum_squares<T, V>(g, p, s, t);
    }
    put_part<V>(g, tile, room, s, t);
    if (!last_of_parts(g.counter + blockIdx.y, gridDim.x)) return;
    bool is_owner;
    const double2 sum = add_parts(g, tile, (double *)room, &is_owner);
    if (!is_owner) return;
    const size_t c = blockIdx.y * (size_t)tile + threadIdx.x;
    if (BACKWARD)
        finish_sums(g.a, c, sum.x, sum.y);
    else
        keep_stats(g.a, c, stats_of(g.a, as_float(((const T *)g.a.x)[c]), sum), sum);
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

/* Outside of training, or without rows: the stored statistics. */
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
    return vectors<T>(a) ? sums_by<T, 16 / sizeof(T), false>(s, a) : sums_by<T, 1, false>(s, a);
}

template <class T> static cudaError_t batchnorm_sums_of(dis__cuda_session *s, const dis__batchnorm_args *a)
{
    if (a->width == 0) return cudaSuccess;
    if (a->n_rows == 0) return cudaMemsetAsync(a->sums, 0, 2 * a->width * sizeof(float), s->stream);
    return vectors<T>(a) ? sums_by<T, 16 / sizeof(T), true>(s, a) : sums_by<T, 1, true>(s, a);
}

DIS_CUDA_OP(batch_stats, dis__batchnorm_args)
DIS_CUDA_OP(batchnorm_sums, dis__batchnorm_args)
