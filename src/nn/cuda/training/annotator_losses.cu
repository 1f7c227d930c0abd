/* Kernels of annotator models (nn/loops/annotator_loops.h), arithmetic in float32. confuse: a thread per row and vote,
 * its gradient a thread per row and class, each of which iterates over the matrix of its row: K is small. pair_terms: a
 * warp per pair; its gradient a thread per column, which iterates over the pairs in order, so that sums have a fixed
 * order. */
#include "nn/cuda/common/kernels.cuh"

enum { THREADS = 128 };

template <class T> __device__ float log_sum_exp(const T *z, size_t n)
{
    float max = as_float(z[0]), total = 0;
    for (size_t k = 1; k < n; k++) max = fmaxf(max, as_float(z[k]));
    for (size_t k = 0; k < n; k++) total += expf(as_float(z[k]) - max);
    return max + logf(total);
}

template <class T> __global__ void __launch_bounds__(THREADS) confusion_kernel(dis__confusion_args a)
{
    const size_t n = a.n_classes, e = (size_t)blockIdx.x * blockDim.x + threadIdx.x, i = e / n, z = e % n;
    if (i >= a.n_rows) return;
    const T *q = (const T *)a.class_logits + i * n, *c = (const T *)a.confusion + i * n * n;
    const float all = log_sum_exp(q, n);
    float max = -INFINITY, total = 0;
    for (size_t k = 0; k < n; k++) {
        const float x = as_float(c[k * n + z]) + as_float(q[k]) - all - log_sum_exp(c + k * n, n);
        if (x > max) {
            total = total * expf(max - x) + 1;
            max = x;
        } else {
            total += expf(x - max);
        }
    }
    ((T *)a.y)[e] = from_float<T>(max + logf(total));
}

/* Of class k: the sum over votes of dy r. */
template <class T> __device__ float class_share(const dis__confusion_args &a, size_t i, size_t k, float shift)
{
    const size_t n = a.n_classes;
    const T *c = (const T *)a.confusion + (i * n + k) * n, *y = (const T *)a.y + i * n, *dy = (const T *)a.dy + i * n;
    float g = 0;
    for (size_t z = 0; z < n; z++) g += as_float(dy[z]) * expf(as_float(c[z]) + shift - as_float(y[z]));
    return g;
}

template <class T> __global__ void __launch_bounds__(THREADS) confusion_grad_kernel(dis__confusion_args a)
{
    const size_t n = a.n_classes, e = (size_t)blockIdx.x * blockDim.x + threadIdx.x, i = e / n, k = e % n;
    if (i >= a.n_rows) return;
    const T *q = (const T *)a.class_logits + i * n, *c = (const T *)a.confusion + (i * n + k) * n;
    const T *y = (const T *)a.y + i * n, *dy = (const T *)a.dy + i * n;
    const float all = log_sum_exp(q, n), own = log_sum_exp(c, n), shift = as_float(q[k]) - all - own;
    const float g = class_share<T>(a, i, k, shift);
    if (a.d_confusion) {
        T *d = (T *)a.d_confusion + (i * n + k) * n;
        for (size_t z = 0; z < n; z++) {
            const float x = as_float(c[z]);
            const float slope = as_float(dy[z]) * expf(x + shift - as_float(y[z])) - expf(x - own) * g;
            d[z] = from_float<T>(a.add_confusion ? as_float(d[z]) + slope : slope);
        }
    }
    if (!a.d_class) return;
    float total = 0;
    for (size_t j = 0; j < n; j++) {
        const T *row = (const T *)a.confusion + (i * n + j) * n;
        total += class_share<T>(a, i, j, as_float(q[j]) - all - log_sum_exp(row, n));
    }
    const float slope = g - expf(as_float(q[k]) - all) * total;
    T *d = (T *)a.d_class + e;
    *d = from_float<T>(a.add_class ? as_float(*d) + slope : slope);
}

cudaError_t dis__cuda_confusion(dis__cuda_session *s, const void *args)
{
    const dis__confusion_args *a = (const dis__confusion_args *)args;
    const size_t n = a->n_rows * a->n_classes;
    if (n) DIS_CUDA_BY_VALUE(s, (confusion_kernel<T><<<grid_of(n, THREADS), THREADS, 0, s->stream>>>(*a)));
    return cudaGetLastError();
}

cudaError_t dis__cuda_confusion_grad(dis__cuda_session *s, const void *args)
{
    const dis__confusion_args *a = (const dis__confusion_args *)args;
    const size_t n = a->n_rows * a->n_classes;
    if (n) DIS_CUDA_BY_VALUE(s, (confusion_grad_kernel<T><<<grid_of(n, THREADS), THREADS, 0, s->stream>>>(*a)));
    return cudaGetLastError();
}

__device__ __forceinline__ float warp_dot(const float *x, const float *y, size_t n, int lane)
{
    float total = 0;
    for (size_t c = lane; c < n; c += 32) total += x[c] * y[c];
    return warp_sum(total);
}

__global__ void __launch_bounds__(THREADS) pair_terms_kernel(dis__pair_terms_args a)
{
    const int lane = threadIdx.x & 31;
    const size_t i = (size_t)blockIdx.x * (THREADS / 32) + (threadIdx.x >> 5), n = a.width;
    if (i >= a.n_pairs) return;
    const int32_t *pair = a.pair + 3 * i;
    const float *x = (const float *)a.table + (size_t)pair[0] * n, *y = (const float *)a.table + (size_t)pair[1] * n;
    const float weight = ((const float *)a.weight)[i];
    const float xx = warp_dot(x, x, n, lane), yy = warp_dot(y, y, n, lane), xy = warp_dot(x, y, n, lane);
    const float length = sqrtf(xx), both = length * sqrtf(yy), cosine = both > 0 ? xy / both : 0;
    const bool apart = pair[2] == DIS_PAIR_APART;
    float slope[3] = {0, 0, 0}, loss;
    if (pair[2] == DIS_PAIR_LENGTH) {
        loss = weight * length;
        if (length > 0) slope[0] = weight / length;
    } else {
        const float sign = apart ? weight : -weight;
        loss = apart ? weight * fmaxf(cosine, 0) : weight * (1 - cosine);
        if (both > 0 && !(apart && cosine <= 0)) {
            slope[0] = -sign * cosine / xx;
            slope[1] = sign / both;
            slope[2] = -sign * cosine / yy;
        }
    }
    if (lane == 0) ((float *)a.loss)[i] = loss;
    if (lane < 3) ((float *)a.slope)[3 * i + lane] = slope[lane];
}

cudaError_t dis__cuda_pair_terms(dis__cuda_session *s, const void *args)
{
    const dis__pair_terms_args *a = (const dis__pair_terms_args *)args;
    if (a->n_pairs) pair_terms_kernel<<<grid_of(a->n_pairs, THREADS / 32), THREADS, 0, s->stream>>>(*a);
    return cudaGetLastError();
}

/* Processes several pairs at a time: their addends are loaded before the first is added. */
__global__ void __launch_bounds__(THREADS) pair_terms_grad_kernel(dis__pair_terms_args a)
{
    enum { SOME = 8 };
    const size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x, n = a.width;
    if (c >= n) return;
    const float *table = (const float *)a.table, *slope = (const float *)a.slope, scale = (float)*a.scale;
    float *d = (float *)a.d_table;
    for (size_t first = 0; first < a.n_pairs; first += SOME) {
        size_t at[SOME], to[SOME];
        float x[SOME], y[SOME];
        bool both[SOME];
#pragma unroll
        for (int k = 0; k < SOME; k++) {
            const size_t i = first + k < a.n_pairs ? first + k : a.n_pairs - 1;
            at[k] = (size_t)a.pair[3 * i] * n + c, to[k] = (size_t)a.pair[3 * i + 1] * n + c;
            both[k] = a.pair[3 * i + 2] != DIS_PAIR_LENGTH;
            const float p = table[at[k]], q = table[to[k]];
            x[k] = scale * (slope[3 * i] * p + slope[3 * i + 1] * q);
            y[k] = scale * (slope[3 * i + 1] * p + slope[3 * i + 2] * q);
        }
#pragma unroll
        for (int k = 0; k < SOME; k++) {
            if (first + k >= a.n_pairs) break;
            if (x[k] != 0) d[at[k]] += x[k];
            if (both[k] && y[k] != 0) d[to[k]] += y[k];
        }
    }
}

cudaError_t dis__cuda_pair_terms_grad(dis__cuda_session *s, const void *args)
{
    const dis__pair_terms_args *a = (const dis__pair_terms_args *)args;
    if (a->n_pairs) pair_terms_grad_kernel<<<grid_of(a->width, THREADS), THREADS, 0, s->stream>>>(*a);
    return cudaGetLastError();
}
