/* Kernels of heads (nn/loops/head_loops.h): one warp per row, lanes over classes, arithmetic in float32; sums of row
 * losses in double by one block, in a fixed order. */
#include "nn/cuda/common/kernels.cuh"

enum { WARPS = 4 };

__global__ void __launch_bounds__(256) one_hot_kernel(dis__one_hot_args a)
{
    const size_t n = a.n_rows * a.n_classes, step = (size_t)gridDim.x * blockDim.x;
    for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
        const size_t row = e / a.n_classes, k = e % a.n_classes;
        const int32_t label = a.label[row];
        ((float *)a.target)[e] = label >= 0 && (size_t)label == k;
        if (k == 0) ((float *)a.weight)[row] = label >= 0 && (size_t)label < a.n_classes;
    }
}

cudaError_t dis__cuda_one_hot(dis__cuda_session *s, const void *args)
{
    const dis__one_hot_args *a = (const dis__one_hot_args *)args;
    if (a->n_rows == 0) return cudaSuccess;
    const unsigned blocks = grid_some(s, a->n_rows * a->n_classes, 256);
    one_hot_kernel<<<blocks, 256, 0, s->stream>>>(*a);
    return cudaGetLastError();
}

__device__ __forceinline__ float x_log_x(float x)
{
    return x > 0 ? x * logf(x) : 0;
}

/* One class's part of a row's loss. */
__device__ __forceinline__ float loss_part(dis__loss kind, float p, float q, float log_q, float floor, float total)
{
    switch (kind) {
    case DIS_LOSS_CE: return p > 0 ? -p * log_q : 0;
    case DIS_LOSS_KL: return p > 0 ? p * (logf(p) - log_q) : 0;
    case DIS_LOSS_INVERSE_KL: return q * (log_q - logf((p > floor ? p : floor) / total));
    case DIS_LOSS_JS: return (x_log_x(p) + x_log_x(q)) / 2 - x_log_x((p + q) / 2);
    default: return 0;
    }
}

/* The sum over classes of the target, floored for inverse KL. */
__device__ __forceinline__ float target_sum(const dis__soft_loss_args &a, const float *p, int lane)
{
    const float floor = a.kind == DIS_LOSS_INVERSE_KL ? (float)a.floor : 0;
    float total = 0;
    for (size_t k = lane; k < a.n_classes; k += 32) total += p[k] > floor ? p[k] : floor;
    return warp_sum(total);
}

template <class T> __global__ void __launch_bounds__(WARPS * 32) soft_loss_kernel(dis__soft_loss_args a)
{
    const int lane = threadIdx.x & 31;
    const size_t i = (size_t)blockIdx.x * WARPS + (threadIdx.x >> 5), n = a.n_classes;
    if (i >= a.n_rows) return;
    const T *z = (const T *)a.logits + i * n;
    float *q = (float *)a.q + i * n, max = -INFINITY, total = 0;
    for (size_t k = lane; k < n; k += 32) max = fmaxf(max, as_float(z[k]));
    max = warp_max(max);
    for (size_t k = lane; k < n; k += 32) total += expf(as_float(z[k]) - max);
    total = warp_sum(total);
    const float scale = 1 / total, log_sum = max + logf(total);
    for (size_t k = lane; k < n; k += 32) q[k] = expf(as_float(z[k]) - max) * scale;
    if (!a.target) return;
    const float weight = ((const float *)a.weight)[i];
    float loss = 0;
    if (weight > 0) {
        const float *p = (const float *)a.target + i * n, sum = target_sum(a, p, lane);
        for (size_t k = lane; k < n; k += 32) {
            const float log_q = as_float(z[k]) - log_sum;
            loss += loss_part(a.kind, p[k], expf(as_float(z[k]) - max) * scale, log_q, (float)a.floor, sum);
        }
        loss = weight * warp_sum(loss) * (float)a.per_log_base;
    }
    if (lane == 0) ((float *)a.loss)[i] = loss;
}

cudaError_t dis__cuda_soft_loss(dis__cuda_session *s, const void *args)
{
    const dis__soft_loss_args *a = (const dis__soft_loss_args *)args;
    if (a->n_rows == 0) return cudaSuccess;
    DIS_CUDA_BY_VALUE(s, (soft_loss_kernel<T><<<grid_of(a->n_rows, WARPS), WARPS * 32, 0, s->stream>>>(*a)));
    return cudaGetLastError();
}

/* d loss / d z of class k is first(k), or q (first(k) - sum q first) where the loss is not linear in q. */
__device__ __forceinline__ float grad_part(dis__loss kind, float p, float q, float floor, float total)
{
    switch (kind) {
    case DIS_LOSS_INVERSE_KL: return q > 0 ? logf(q * total / (p > floor ? p : floor)) : 0;
    case DIS_LOSS_JS: return q > 0 ? logf(2 * q / (p + q)) / 2 : 0;
    default: return q * total - p;
    }
}

template <class T> __global__ void __launch_bounds__(WARPS * 32) soft_loss_grad_kernel(dis__soft_loss_args a)
{
    const int lane = threadIdx.x & 31;
    const size_t i = (size_t)blockIdx.x * WARPS + (threadIdx.x >> 5), n = a.n_classes;
    if (i >= a.n_rows) return;
    T *dz = (T *)a.d_logits + i * n;
    const float weight = ((const float *)a.weight)[i];
    if (!(weight > 0)) {
        for (size_t k = lane; !a.add && k < n; k += 32) dz[k] = from_float<T>(0);
        return;
    }
    const float *p = (const float *)a.target + i * n, *q = (const float *)a.q + i * n;
    const float scale = weight * (float)(*a.scale * a.per_log_base), total = target_sum(a, p, lane);
    const bool curved = a.kind == DIS_LOSS_INVERSE_KL || a.kind == DIS_LOSS_JS;
    float mean = 0;
    if (curved) {
        for (size_t k = lane; k < n; k += 32) mean += q[k] * grad_part(a.kind, p[k], q[k], (float)a.floor, total);
        mean = warp_sum(mean);
    }
    for (size_t k = lane; k < n; k += 32) {
        float g = grad_part(a.kind, p[k], q[k], (float)a.floor, total);
        if (curved) g = q[k] * (g - mean);
        g *= scale;
        dz[k] = from_float<T>(a.add ? as_float(dz[k]) + g : g);
    }
}

cudaError_t dis__cuda_soft_loss_grad(dis__cuda_session *s, const void *args)
{
    const dis__soft_loss_args *a = (const dis__soft_loss_args *)args;
    if (a->n_rows == 0) return cudaSuccess;
    DIS_CUDA_BY_VALUE(s, (soft_loss_grad_kernel<T><<<grid_of(a->n_rows, WARPS), WARPS * 32, 0, s->stream>>>(*a)));
    return cudaGetLastError();
}

/* ---- losses ---- */

__global__ void __launch_bounds__(1024) head_loss_kernel(dis__head_loss_args a)
{
    __shared__ double room[32];
    double total = 0;
    for (size_t i = threadIdx.x; i < a.n; i += blockDim.x) total += (double)((const float *)a.row_loss)[i];
    total = block_sum(total, room);
    if (threadIdx.x == 0) {
        a.head->loss = total / a.head->norm;
        a.head->weighted = a.head->weight * a.head->loss;
    }
}

cudaError_t dis__cuda_head_loss(dis__cuda_session *s, const void *args)
{
    const dis__head_loss_args *a = (const dis__head_loss_args *)args;
    const unsigned threads = a->n > 256 ? 1024 : 128;
    head_loss_kernel<<<1, threads, 0, s->stream>>>(*a);
    return cudaGetLastError();
}

__global__ void total_loss_kernel(dis__total_loss_args a)
{
    double total = 0;
    for (size_t h = 0; h < a.n_heads; h++)
        if (a.head[h].norm > 0) total += a.head[h].weighted;
    *a.total = total;
    if (a.sum) *a.sum += total;
}

cudaError_t dis__cuda_total_loss(dis__cuda_session *s, const void *args)
{
    total_loss_kernel<<<1, 1, 0, s->stream>>>(*(const dis__total_loss_args *)args);
    return cudaGetLastError();
}
