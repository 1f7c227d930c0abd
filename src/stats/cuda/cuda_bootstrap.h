/* cuda_bootstrap.h: shared by the host code and the kernels of resamples on CUDA devices. */
#ifndef DIS_STATS_CUDA_CUDA_BOOTSTRAP_H
#define DIS_STATS_CUDA_CUDA_BOOTSTRAP_H
#include "stats/bootstrap_device.h"
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of sums per launch; resamples per thread block. */
enum { DIS_CUDA_BOOTSTRAP_SUMS = 8, DIS_CUDA_BOOTSTRAP_GROUPS = 32 };

/* Arguments of a launch; pointers are device pointers. */
typedef struct {
    uint64_t seed;
    size_t n_items, n_blocks;
    size_t first, n;       /* resamples */
    const uint32_t *total; /* (n, n_blocks) */
    const double *mass;    /* (n, n_blocks) */
    const double *column;  /* (n_columns, stride), zeros after n_items */
    size_t stride;
    const uint8_t *bin; /* (stride); NULL: columns first_sum + 0, 1, ... are summed */
    size_t first_sum, n_sums, n_all_sums;
    double *part; /* (n, n_blocks, DIS_CUDA_BOOTSTRAP_SUMS at most) */
    double *sums; /* (n_resamples, n_all_sums) */
} dis__cuda_bootstrap;

cudaError_t dis__cuda_bootstrap_draw(const dis__cuda_bootstrap *b, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
