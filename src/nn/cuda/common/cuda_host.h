/* cuda_host.h: the host side of the CUDA column, in C: declarations shared by its files. */
#ifndef DIS_NN_CUDA_COMMON_CUDA_HOST_H
#define DIS_NN_CUDA_COMMON_CUDA_HOST_H
#include "nn/cuda/common/cuda_operations.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "core/cuda/cuda_devices.h"

/* A status with a message: what failed, on which device, and the remedy. cudaSuccess: DIS_OK. */
dis_status dis__cuda_status(dis__cuda_session *s, cudaError_t error, const char *doing);

size_t dis__cuda_plan(void *session, dis__op op, const void *args);
dis_status dis__cuda_run(void *session, dis__op op, const void *args);

static inline bool dis__cuda_within(const dis__cuda_region *r, const void *p)
{
    const char *at = (const char *)p;
    return r->at && at >= r->at && at < r->at + r->bytes;
}

/* Copies through pinned memory, so that the host continues during the copy. */
dis_status dis__cuda_copies_open(dis__cuda_session *s);
void dis__cuda_copies_close(dis__cuda_session *s);
dis_status dis__cuda_copy_in(void *session, void *to, const void *from, size_t bytes);
dis_status dis__cuda_copy_out(void *session, void *to, const void *from, size_t bytes);

dis_status dis__cuda_steps_open(dis__cuda_session *s);
void dis__cuda_steps_close(dis__cuda_session *s);
dis_status dis__cuda_begin_step(void *session, const uint64_t *key, size_t n, bool *replayed);
dis_status dis__cuda_end_step(void *session, bool *again);
bool dis__cuda_recording(const dis__cuda_session *s); /* and so has the lock */

dis_status dis__cuda_plans_open(dis__cuda_session *s);
void dis__cuda_plans_close(dis__cuda_session *s);

dis_status dis__cuda_update_open(dis__cuda_session *s);
void dis__cuda_update_close(dis__cuda_session *s);

dis_status dis__cuda_layernorm_open(dis__cuda_session *s);
cudaError_t dis__cuda_layernorm_begin(dis__cuda_session *s); /* of networks that train: allocates its memory */
void dis__cuda_layernorm_close(dis__cuda_session *s);

dis_status dis__cuda_side_open(dis__cuda_session *s);
cudaError_t dis__cuda_side_begin(dis__cuda_session *s); /* of networks that train: allocates its memory */
void dis__cuda_side_close(dis__cuda_session *s);
dis_status dis__cuda_layer_done(void *session);

#define CUDA_TRY(s, call, doing)                                                              \
    do {                                                                                      \
        const cudaError_t cuda_try_error = (call);                                            \
        if (cuda_try_error != cudaSuccess) return dis__cuda_status(s, cuda_try_error, doing); \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
