/* batch_upload.h: copies small arrays from pinned host memory to the device, with one kernel. */
#ifndef DIS_NN_CUDA_SESSION_BATCH_UPLOAD_H
#define DIS_NN_CUDA_SESSION_BATCH_UPLOAD_H
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DIS_CUDA_UPLOADS = 48 };

/* Destinations do not overlap. */
typedef struct {
    unsigned n;
    unsigned bytes[DIS_CUDA_UPLOADS];
    char *to[DIS_CUDA_UPLOADS];
    const char *from[DIS_CUDA_UPLOADS]; /* pinned, at multiples of 16 bytes */
} dis__cuda_upload_list;

cudaError_t dis__cuda_run_upload(const dis__cuda_upload_list *f, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
