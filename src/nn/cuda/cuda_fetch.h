/* cuda_fetch.h: small arrays from pinned memory of the host to where they belong on the device, by one kernel. */
#ifndef DIS_NN_CUDA_CUDA_FETCH_H
#define DIS_NN_CUDA_CUDA_FETCH_H
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DIS_CUDA_FETCHES = 48 };

/* None of them writes where another does. */
typedef struct {
    unsigned n;
    unsigned bytes[DIS_CUDA_FETCHES];
    char *to[DIS_CUDA_FETCHES];
    const char *from[DIS_CUDA_FETCHES]; /* pinned, at multiples of 16 bytes */
} dis__cuda_fetches;

cudaError_t dis__cuda_fetch(const dis__cuda_fetches *f, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
