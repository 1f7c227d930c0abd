/* Kernels of pooling over rows (nn/loops/norm_loops.h): block (row, columns), a thread iterates over a column. */
#include "nn/cuda/common/kernels.cuh"

__device__ __forceinline__ size_t pool_start(const dis__pool_args &a, size_t i)
{
    return a.start ? (size_t)a.start[i] : i * a.per;
}

__device__ __forceinline__ size_t pool_length(const dis__pool_args &a, size_t i)
{
    return a.length ? (size_t)a.length[i] : a.per;
}

/* Block (row, columns): a thread iterates over one column. */
template <class T> __global__ void __launch_bounds__(128) pool_kernel(dis__pool_args a)
{
    const size_t c = (size_t)blockIdx.y * blockDim.x + threadIdx.x, w = a.width;
    if (c >= w) return;
    for (size_t i = blockIdx.x; i < a.n_rows; i += gridDim.x) {
        const size_t n = pool_length(a, i);
        const T *x = (const T *)a.x + pool_start(a, i) * w + c;
        float y = 0;
        int32_t choice = 0;
        if (n) switch (a.kind) {
            case DIS_POOL_MAX:
                y = as_float(x[0]);
                for (size_t t = 1; t < n; t++)
                    if (as_float(x[t * w]) > y) {
                        y = as_float(x[t * w]);
                        choice = (int32_t)t;
                    }
                a.choice[i * w + c] = choice;
                break;
            case DIS_POOL_MEAN:
#pragma unroll 4
                for (size_t t = 0; t < n; t++) y += as_float(x[t * w]);
                y *= 1 / (float)n;
                break;
            case DIS_POOL_LAST: y = as_float(x[(n - 1) * w]); break;
            case DIS_POOL_ENDS: y = as_float(x[c < w / 2 ? (n - 1) * w : 0]); break;
            default: y = as_float(x[0]);
            }
        ((T *)a.y)[i * w + c] = from_float<T>(y);
    }
}

cudaError_t dis__cuda_pool(dis__cuda_session *s, const void *args)
{
    const dis__pool_args *a = (const dis__pool_args *)args;
    if (a->n_rows == 0) return cudaSuccess;
    const dim3 grid(grid_of(a->n_rows, 1), grid_of(a->width, 128));
    DIS_CUDA_BY_VALUE(s, (pool_kernel<T><<<grid, 128, 0, s->stream>>>(*a)));
    return cudaGetLastError();
}

/* Writes every row of x that belongs to row i: its share of dy, or 0. Block (row, part of its span, columns). */
enum { SPAN = 64 };
template <class T> __global__ void __launch_bounds__(128) pool_grad_kernel(dis__pool_args a)
{
    const size_t c = (size_t)blockIdx.z * blockDim.x + threadIdx.x, w = a.width, i = blockIdx.x;
    if (c >= w) return;
    const size_t n = pool_length(a, i), start = pool_start(a, i);
    const size_t end = !a.start ? a.per : (i + 1 < a.n_rows ? (size_t)a.start[i + 1] : a.n_packed) - start;
    T *dx = (T *)a.dx + start * w + c;
    const float dy = n ? as_float(((const T *)a.dy)[i * w + c]) : 0;
    const bool at_end = a.kind == DIS_POOL_LAST || (a.kind == DIS_POOL_ENDS && c < w / 2);
    const size_t one = !n ? 0 : a.kind == DIS_POOL_MAX ? (size_t)a.choice[i * w + c] : at_end ? n - 1 : 0;
    const float share = n ? dy * (1 / (float)n) : 0;
    for (size_t first = (size_t)blockIdx.y * SPAN; first < end; first += (size_t)gridDim.y * SPAN)
        for (size_t t = first; t < first + SPAN && t < end; t++) {
            const float d = a.kind == DIS_POOL_MEAN ? (t < n ? share : 0) : n && t == one ? dy : 0;
            if (!a.add)
                dx[t * w] = from_float<T>(d);
            else if (d != 0)
                dx[t * w] = from_float<T>(as_float(dx[t * w]) + d);
        }
}

cudaError_t dis__cuda_pool_grad(dis__cuda_session *s, const void *args)
{
    const dis__pool_args *a = (const dis__pool_args *)args;
    if (a->n_rows == 0) return cudaSuccess;
    const dim3 grid(grid_of(a->n_rows, 1), grid_of(a->per < 65536 ? a->per : 65536, SPAN), grid_of(a->width, 128));
    DIS_CUDA_BY_VALUE(s, (pool_grad_kernel<T><<<grid, 128, 0, s->stream>>>(*a)));
    return cudaGetLastError();
}
