/* Rows of arrays that are on the device, by index (nn/loops/batch_rows_loops.h): a thread per 16 bytes if rows are
 * multiples of 16 bytes, otherwise per element. */
#include "nn/cuda/common/kernels.cuh"

enum { THREADS = 256 };

template <class U> __global__ void __launch_bounds__(THREADS) batch_rows_kernel(dis__batch_rows_args a, size_t per)
{
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x, i = e / per, k = e % per;
    if (i >= a.n_rows) return;
    const int row = a.row[i];
    U x;
    if (row < 0)
        memset(&x, a.fill, sizeof x);
    else
        x = ((const U *)a.x)[(size_t)row * per + k];
    ((U *)a.y)[e] = x;
}

/* Images, shifted and optionally mirrored. */
template <class U> __global__ void __launch_bounds__(THREADS) moved_images_kernel(dis__batch_rows_args a, size_t per)
{
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x, i = e / per, k = e % per;
    if (i >= a.n_rows) return;
    const int4 row = ((const int4 *)a.row)[i];
    const int width = (int)a.width, pixel = (int)(k / a.channels), x = pixel % width;
    const int fy = pixel / width + row.y, fx = (row.w ? width - 1 - x : x) + row.z;
    const bool inside = row.x >= 0 && fy >= 0 && fy < (int)a.height && fx >= 0 && fx < width;
    const size_t from = (size_t)(fy * width + fx) * a.channels + k % a.channels;
    ((U *)a.y)[e] = inside ? ((const U *)a.x)[(size_t)row.x * per + from] : 0;
}

template <class U> static cudaError_t batch_rows_of(dis__cuda_session *s, const dis__batch_rows_args *a, size_t per)
{
    batch_rows_kernel<U><<<grid_of(a->n_rows * per, THREADS), THREADS, 0, s->stream>>>(*a, per);
    return cudaGetLastError();
}

cudaError_t dis__cuda_batch_rows(dis__cuda_session *s, const void *args)
{
    const dis__batch_rows_args *a = (const dis__batch_rows_args *)args;
    const size_t per = a->height * a->width * a->channels, bytes = per * a->size;
    if (a->n_rows == 0 || per == 0) return cudaSuccess;
    const unsigned blocks = grid_of(a->n_rows * per, THREADS);
    if (a->moved && a->size == 2)
        moved_images_kernel<uint16_t><<<blocks, THREADS, 0, s->stream>>>(*a, per);
    else if (a->moved)
        moved_images_kernel<uint32_t><<<blocks, THREADS, 0, s->stream>>>(*a, per);
    else if (bytes % 16 == 0 && aligned16(a->x) && aligned16(a->y))
        return batch_rows_of<uint4>(s, a, bytes / 16);
    else
        return a->size == 2 ? batch_rows_of<uint16_t>(s, a, per) : batch_rows_of<uint32_t>(s, a, per);
    return cudaGetLastError();
}

/* A warp per span. */
__global__ void __launch_bounds__(THREADS) batch_spans_kernel(dis__batch_spans_args a)
{
    const size_t i = ((size_t)blockIdx.x * THREADS + threadIdx.x) / 32;
    if (i >= a.n_spans) return;
    const int4 span = ((const int4 *)a.span)[i];
    for (int j = threadIdx.x % 32; j < span.w; j += 32) a.y[span.y + j] = j < span.z ? a.x[span.x + j] : -1;
}

cudaError_t dis__cuda_batch_spans(dis__cuda_session *s, const void *args)
{
    const dis__batch_spans_args *a = (const dis__batch_spans_args *)args;
    if (a->n_spans == 0) return cudaSuccess;
    batch_spans_kernel<<<grid_of(a->n_spans * 32, THREADS), THREADS, 0, s->stream>>>(*a);
    return cudaGetLastError();
}
