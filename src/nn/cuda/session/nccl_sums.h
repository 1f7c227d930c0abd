/* nccl_sums.h: sums over ranks in device memory: team_* of nn/device.h. */
#ifndef DIS_NN_CUDA_SESSION_NCCL_SUMS_H
#define DIS_NN_CUDA_SESSION_NCCL_SUMS_H
#include "nn/cuda/common/cuda_host.h"

#ifdef __cplusplus
extern "C" {
#endif

dis_status dis__nccl_open(void *session, char *name, size_t n);
dis_status dis__nccl_id(void *session, void *id);
dis_status dis__nccl_join(void *session, const void *id, int rank, int size);
dis_status dis__nccl_sum(void *session, void *x, size_t n);
void dis__nccl_close(dis__cuda_session *s);

/* to (n) = the sum of `rows` rows of `from` with stride `step`, added in order: rank_sums.cu. */
cudaError_t dis__cuda_add_rows(dis__cuda_session *s, float *to, const float *from, size_t rows, size_t step, size_t n);

#ifdef __cplusplus
}
#endif
#endif
