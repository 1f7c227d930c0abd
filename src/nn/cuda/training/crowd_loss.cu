/* The crowd layer (Rodrigues & Pereira 2018; the formulas are in nn/loops/head_loops.h) and rows weighted by the
 * softmax of their scores.
 *
 * crowd_loss: a warp per row iterates over its votes in order, classes over lanes. crowd_param_grad: a block per worker
 * that voted, a thread per parameter, the worker's votes in order. weigh: a warp per row. All sums in a fixed order. */
#include "nn/cuda/common/vectors.cuh"

enum { WARPS = 8, ROOM = 96 << 10, ROWS = 5 }; /* ROWS: arrays of K values that a warp of crowd_loss keeps */

/* Warps per block whose arrays of n floats fit into shared memory; 0: none. */
static unsigned warps_for(size_t n)
{
    const size_t fit = ROOM / (n * sizeof(float) + 1);
    return fit < WARPS ? (unsigned)fit : (unsigned)WARPS;
}

/* q = softmax(z) of n values in shared memory or registers; returns log sum exp. z and q may be the same. */
__device__ __forceinline__ float warp_softmax(const float *z, float *q, int n)
{
    const int lane = threadIdx.x % 32;
    float max = -INFINITY, total = 0;
    for (int k = lane; k < n; k += 32) max = fmaxf(max, z[k]);
    max = warp_max(max);
    for (int k = lane; k < n; k += 32) {
        q[k] = expf(z[k] - max);
        total += q[k];
    }
    total = warp_sum(total);
    const float scale = 1 / total;
    for (int k = lane; k < n; k += 32) q[k] *= scale;
    __syncwarp();
    return max + logf(total);
}

/* ---- crowd layer ---- */

/* Worker w's map of x, a row of logits or of q: the logit of class k. */
__device__ __forceinline__ float vote_logit(const dis__crowd_args &a, size_t w, int k, const float *x)
{
    const float *matrix = (const float *)a.matrix, *bias = (const float *)a.bias;
    const size_t n = a.n_classes, at = w * n + (size_t)k;
    float z = 0;
    switch (a.kind) {
    case DIS_CROWD_MW:
        for (size_t j = 0; j < n; j++) z += matrix[at * n + j] * x[j];
        return z;
    case DIS_CROWD_VW: return matrix[at] * x[k];
    case DIS_CROWD_VB: return x[k] + bias[at];
    case DIS_CROWD_VWB: return matrix[at] * x[k] + bias[at];
    default: return matrix[w] * x[k];
    }
}

/* The gradient of x[j], given d, the gradient of the vote's logits. */
__device__ __forceinline__ float vote_to_x(const dis__crowd_args &a, size_t w, int j, const float *d)
{
    const float *matrix = (const float *)a.matrix;
    const size_t n = a.n_classes;
    float sum = 0;
    switch (a.kind) {
    case DIS_CROWD_MW:
        for (size_t k = 0; k < n; k++) sum += d[k] * matrix[(w * n + k) * n + (size_t)j];
        return sum;
    case DIS_CROWD_VB: return d[j];
    case DIS_CROWD_SW: return d[j] * matrix[w];
    default: return d[j] * matrix[w * n + (size_t)j];
    }
}

template <class T> __global__ void crowd_loss_kernel(dis__crowd_args a)
{
    extern __shared__ float room[];
    const int n = (int)a.n_classes, lane = threadIdx.x % 32;
    const size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32, at = row * a.n_classes;
    float *logits = room + threadIdx.x / 32 * ROWS * n, *q = logits + n, *z = q + n, *s = z + n, *dx = s + n;
    if (row >= a.n_rows) return;
    for (int k = lane; k < n; k += 32) {
        logits[k] = as_float(((const T *)a.logits)[at + (size_t)k]);
        dx[k] = 0;
    }
    __syncwarp();
    warp_softmax(logits, q, n);
    for (int k = lane; k < n; k += 32) ((float *)a.q)[at + (size_t)k] = q[k];
    if (!a.row_start) return;
    float loss = 0;
    for (size_t v = (size_t)a.row_start[row]; v < (size_t)a.row_start[row + 1]; v++) {
        const size_t w = (size_t)a.worker[v];
        const int label = a.label[v];
        __syncwarp();
        for (int k = lane; k < n; k += 32) z[k] = vote_logit(a, w, k, a.on_logits ? logits : q);
        __syncwarp();
        loss += warp_softmax(z, s, n) - z[label];
        if (!a.d_logits) continue;
        const float scale = (float)*a.scale;
        for (int k = lane; k < n; k += 32) {
            s[k] = (s[k] - (k == label ? 1.f : 0.f)) * scale;
            ((float *)a.d_vote)[v * a.n_classes + (size_t)k] = s[k];
        }
        __syncwarp();
        for (int k = lane; k < n; k += 32) dx[k] += vote_to_x(a, w, k, s);
    }
    if (lane == 0) ((float *)a.loss)[row] = loss;
    if (!a.d_logits) return;
    float mean = 0;
    for (int k = lane; k < n; k += 32) mean += q[k] * dx[k];
    mean = warp_sum(mean);
    for (int k = lane; k < n; k += 32)
        store_or_add((T *)a.d_logits + at + (size_t)k, a.on_logits ? dx[k] : q[k] * (dx[k] - mean), a.add);
}

/* An element of the input of the workers' maps. */
template <class T> __device__ __forceinline__ float number(const dis__crowd_args &a, size_t at)
{
    return a.on_logits ? as_float(((const T *)a.logits)[at]) : ((const float *)a.q)[at];
}

/* Parameters of one worker: d_matrix has `per` of them, then d_bias K. */
template <class T> __global__ void crowd_param_kernel(dis__crowd_args a, size_t per)
{
    const size_t n = a.n_classes, first = (size_t)a.group_start[blockIdx.x];
    const size_t last = (size_t)a.group_start[blockIdx.x + 1];
    if (first == last) return; /* there are fewer workers */
    const size_t w = (size_t)a.worker[a.order[first]];
    const float *d_vote = (const float *)a.d_vote;
    const size_t all = (a.d_matrix ? per : 0) + (a.d_bias ? n : 0);
    for (size_t e = threadIdx.x; e < all; e += blockDim.x) {
        const bool matrix = a.d_matrix && e < per;
        const size_t at = matrix ? e : e - (a.d_matrix ? per : 0);
        const size_t k = matrix && a.kind == DIS_CROWD_MW ? at / n : at, j = a.kind == DIS_CROWD_MW ? at % n : at;
        float *const to = matrix ? (float *)a.d_matrix + w * per + at : (float *)a.d_bias + w * n + at;
        float sum = *to;
        for (size_t i = first; i < last; i++) {
            const size_t v = (size_t)a.order[i];
            const float *d = d_vote + v * n;
            const size_t from = (size_t)a.row[v] * n;
            if (!matrix) {
                sum += d[k];
            } else if (a.kind == DIS_CROWD_SW) {
                float dot = 0;
                for (size_t c = 0; c < n; c++) dot += d[c] * number<T>(a, from + c);
                sum += dot;
            } else {
                sum += d[k] * number<T>(a, from + j);
            }
        }
        *to = sum;
    }
}

template <class T> static cudaError_t crowd_loss_of(dis__cuda_session *s, const dis__crowd_args *a)
{
    const unsigned warps = warps_for(ROWS * a->n_classes);
    const size_t bytes = warps * ROWS * a->n_classes * sizeof(float);
    if (a->n_rows == 0) return cudaSuccess;
    if (warps == 0) return dis__cuda_unsupported(s, "a crowd layer", (ROOM - 1) / (ROWS * sizeof(float)), "classes");
    const cudaError_t error = allow_shared(s, (const void *)crowd_loss_kernel<T>, bytes);
    if (error != cudaSuccess) return error;
    crowd_loss_kernel<T><<<grid_of(a->n_rows, warps), 32 * warps, bytes, s->stream>>>(*a);
    return cudaGetLastError();
}

template <class T> static cudaError_t crowd_param_grad_of(dis__cuda_session *s, const dis__crowd_args *a)
{
    const size_t n = a->n_classes, per = a->kind == DIS_CROWD_MW ? n * n : a->kind == DIS_CROWD_SW ? 1 : n;
    if (a->n_groups) crowd_param_kernel<T><<<(unsigned)a->n_groups, 128, 0, s->stream>>>(*a, per);
    return cudaGetLastError();
}

DIS_CUDA_OP(crowd_loss, dis__crowd_args)
DIS_CUDA_OP(crowd_param_grad, dis__crowd_args)

/* ---- rows weighted by the softmax of their scores ---- */

template <class T> __global__ void softmax_pool_kernel(dis__softmax_pool_args a)
{
    extern __shared__ float room[];
    const int lane = threadIdx.x % 32;
    const size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32, w = a.width;
    float *const share = room + threadIdx.x / 32 * a.per;
    if (row >= a.n_rows) return;
    const int n = a.length ? a.length[row] : (int)a.per;
    const T *x = (const T *)a.x + row * a.per * w, *scores = (const T *)a.scores + row * a.per;
    for (int t = lane; t < n; t += 32) share[t] = as_float(scores[t]);
    __syncwarp();
    if (n) warp_softmax(share, share, n);
    for (int t = lane; t < n; t += 32) ((T *)a.share)[row * a.per + (size_t)t] = from_float<T>(share[t]);
    for (size_t c = (size_t)lane; c < w; c += 32) {
        float y = 0;
        for (int t = 0; t < n; t++) y += share[t] * as_float(x[(size_t)t * w + c]);
        ((T *)a.y)[row * w + c] = from_float<T>(y);
    }
}

template <class T> __global__ void softmax_pool_grad_kernel(dis__softmax_pool_args a)
{
    const size_t lane = threadIdx.x % 32, row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32, w = a.width;
    if (row >= a.n_rows) return;
    const size_t n = a.length ? (size_t)a.length[row] : a.per;
    const T *x = (const T *)a.x + row * a.per * w, *y = (const T *)a.y + row * w, *dy = (const T *)a.dy + row * w;
    T *dx = a.dx ? (T *)a.dx + row * a.per * w : NULL, *ds = a.d_scores ? (T *)a.d_scores + row * a.per : NULL;
    float mean = 0; /* sum over rows of share dy x */
    for (size_t c = lane; c < w; c += 32) mean += as_float(dy[c]) * as_float(y[c]);
    mean = warp_sum(mean);
    for (size_t t = 0; t < a.per; t++) {
        const float share = t < n ? as_float(((const T *)a.share)[row * a.per + t]) : 0;
        float dot = 0;
        for (size_t c = lane; c < w; c += 32) {
            const float d = as_float(dy[c]);
            if (t < n) dot += d * as_float(x[t * w + c]);
            if (dx) store_or_add(dx + t * w + c, share * d, a.add_x);
        }
        dot = warp_sum(dot);
        if (ds && lane == 0) store_or_add(ds + t, t < n ? share * (dot - mean) : 0, a.add_scores);
    }
}

template <class T> static cudaError_t softmax_pool_of(dis__cuda_session *s, const dis__softmax_pool_args *a)
{
    const unsigned warps = warps_for(a->per);
    const size_t bytes = warps * a->per * sizeof(float);
    if (a->n_rows == 0) return cudaSuccess;
    if (warps == 0) return dis__cuda_unsupported(s, "additive attention", (ROOM - 1) / sizeof(float), "places");
    const cudaError_t error = allow_shared(s, (const void *)softmax_pool_kernel<T>, bytes);
    if (error != cudaSuccess) return error;
    softmax_pool_kernel<T><<<grid_of(a->n_rows, warps), 32 * warps, bytes, s->stream>>>(*a);
    return cudaGetLastError();
}

template <class T> static cudaError_t softmax_pool_grad_of(dis__cuda_session *s, const dis__softmax_pool_args *a)
{
    if (a->n_rows) softmax_pool_grad_kernel<T><<<grid_of(a->n_rows, WARPS), 32 * WARPS, 0, s->stream>>>(*a);
    return cudaGetLastError();
}

DIS_CUDA_OP(softmax_pool, dis__softmax_pool_args)
DIS_CUDA_OP(softmax_pool_grad, dis__softmax_pool_args)
