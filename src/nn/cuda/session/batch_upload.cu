/* Copies the arrays of a batch from pinned host memory, by the device: a block per 4 KiB, all in parallel. */
#include "nn/cuda/session/batch_upload.h"
#include "nn/cuda/common/kernels.cuh"

enum { THREADS = 256, PIECE = THREADS * 16 };

template <class U> __device__ __forceinline__ void upload_as(char *to, const char *from, unsigned bytes)
{
#pragma unroll
    for (unsigned i = 0; i < 16 / sizeof(U); i++) {
        const unsigned at = (i * THREADS + threadIdx.x) * sizeof(U);
        if (at < bytes) *(U *)(to + at) = *(const U *)(from + at);
    }
}

__global__ void __launch_bounds__(THREADS) upload_kernel(const __grid_constant__ dis__cuda_upload_list f)
{
    unsigned i = 0, piece = blockIdx.x;
    for (; piece >= (f.bytes[i] + PIECE - 1) / PIECE; i++) piece -= (f.bytes[i] + PIECE - 1) / PIECE;
    char *const to = f.to[i] + (size_t)piece * PIECE;
    const char *const from = f.from[i] + (size_t)piece * PIECE;
    const unsigned left = f.bytes[i] - piece * PIECE, bytes = left < PIECE ? left : PIECE;
    const uintptr_t odd = (uintptr_t)to | bytes;
    if (odd % 16 == 0)
        upload_as<uint4>(to, from, bytes);
    else if (odd % 4 == 0)
        upload_as<uint32_t>(to, from, bytes);
    else
        upload_as<uint8_t>(to, from, bytes);
}

cudaError_t dis__cuda_run_upload(const dis__cuda_upload_list *f, cudaStream_t stream)
{
    unsigned pieces = 0;
    for (unsigned i = 0; i < f->n; i++) pieces += grid_of(f->bytes[i], PIECE);
    if (pieces) upload_kernel<<<pieces, THREADS, 0, stream>>>(*f);
    return cudaGetLastError();
}
