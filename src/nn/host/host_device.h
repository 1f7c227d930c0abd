/* host_device.h: a session of a device in host memory: shared by `ref` and `cpu`, and the base of test devices. */
#ifndef DIS_NN_HOST_HOST_DEVICE_H
#define DIS_NN_HOST_HOST_DEVICE_H
#include "nn/device.h"

typedef struct {
    dis__op_function *op[DIS_N_OPS];
    size_t real, times;   /* bytes of a value, and of scratch memory for GEMMs */
    bool threads;         /* operations are divided into jobs */
    size_t scratch_bytes; /* of one thread */
    char *scratch;
    int n_threads; /* capacity of scratch memory */
    dis_context *ctx;
} dis__host_session;

size_t dis__host_plan(void *session, dis__op op, const void *args);
size_t dis__host_own_bytes(const void *session, const dis_context *ctx);
dis_status dis__host_fits(void *session, dis_context *ctx, size_t bytes, const char *what);
dis_status dis__host_begin(void *session, dis_context *ctx);
bool dis__host_serve(void *session, dis_context *ctx);
dis_status dis__host_run(void *session, dis__op op, const void *args);
dis_status dis__host_begin_step(void *session, const uint64_t *key, size_t n, bool *replayed);
dis_status dis__host_end_step(void *session, bool *again);

#endif
