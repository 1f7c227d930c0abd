/* Sums of rows in order, for sums over ranks: the host adds in the same order, and gets the same bytes. */
#include "nn/cuda/session/nccl_sums.h"
#include "nn/cuda/common/kernels.cuh"

__global__ void __launch_bounds__(256) add_rows_kernel(float *to, const float *from, size_t rows, size_t step, size_t n)
{
    const size_t apart = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += apart) {
        float sum = from[i];
        for (size_t r = 1; r < rows; r++) sum += from[r * step + i];
        to[i] = sum;
    }
}

cudaError_t dis__cuda_add_rows(dis__cuda_session *s, float *to, const float *from, size_t rows, size_t step, size_t n)
{
    if (n == 0) return cudaSuccess;
    add_rows_kernel<<<grid_some(s, n, 256), 256, 0, s->stream>>>(to, from, rows, step, n);
    return cudaGetLastError();
}
