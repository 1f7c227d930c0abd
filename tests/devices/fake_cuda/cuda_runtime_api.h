/* cuda_runtime_api.h: what src/core/cuda/cuda_memory.c asks of the runtime, for a test that brings its own. */
#ifndef DIS_DEVICES_FAKE_CUDA_CUDA_RUNTIME_API_H
#define DIS_DEVICES_FAKE_CUDA_CUDA_RUNTIME_API_H
#include <stddef.h>

typedef enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 } cudaError_t;
enum { cudaHostAllocPortable = 1 };

cudaError_t cudaMalloc(void **at, size_t bytes);
cudaError_t cudaHostAlloc(void **at, size_t bytes, unsigned flags);
cudaError_t cudaFree(void *at);
cudaError_t cudaFreeHost(void *at);
cudaError_t cudaMemGetInfo(size_t *left, size_t *all);
cudaError_t cudaGetLastError(void);

#endif
