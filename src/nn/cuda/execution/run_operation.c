/* Dispatches the operations of the CUDA column. Not all run immediately: some are pending until they can be fused with
 * the next one, some run on the second stream (side_streams.c), updates are batched (optimizer.cu), and pending copies
 * to the device are completed first (host_copies.c). */
#include "nn/cuda/common/cuda_host.h"
#include <string.h>

typedef cudaError_t function(dis__cuda_session *s, const void *args);

static const struct {
    const char *name;
    function *run;
} ops[DIS_N_OPS] = {
#define ROW(name) [DIS_OP_##name] = {#name, dis__cuda_##name},
    DIS_OPS(ROW)
#undef ROW
};

static cudaError_t run_held(dis__cuda_session *s)
{
    const dis__op op = s->waiting;
    if (op == DIS_N_OPS) return cudaSuccess;
    s->waiting = DIS_N_OPS;
    return ops[op].run(s, &s->held_args);
}

cudaError_t dis__cuda_run_deferred(dis__cuda_session *s)
{
    cudaError_t error = run_held(s);
    if (error == cudaSuccess) error = dis__cuda_layernorm_flush(s);
    if (error == cudaSuccess) error = dis__cuda_join_side_stream(s);
    return error == cudaSuccess ? dis__cuda_update_flush(s) : error;
}

/* After a copy to the device nothing is pending: it was completed before. */
cudaError_t dis__cuda_flush(dis__cuda_session *s)
{
    const cudaError_t error = dis__cuda_upload_batch(s);
    return error == cudaSuccess ? dis__cuda_run_deferred(s) : error;
}

/* Operations that gain by fusion with the next: the first of the two is kept pending. */
static const struct {
    dis__op first, second;
    size_t size; /* of the first one's arguments */
    bool (*run)(dis__cuda_session *s, const void *first, const void *second, cudaError_t *error);
} pairs[] = {
    {DIS_OP_activate_grad, DIS_OP_column_sums, sizeof(dis__activate_args), dis__cuda_gelu_sums},
    {DIS_OP_dropout, DIS_OP_layernorm, sizeof(dis__dropout_args), dis__cuda_dropout_layernorm},
    {DIS_OP_layernorm_grad, DIS_OP_dropout, sizeof(dis__layernorm_args), dis__cuda_layernorm_grad_dropout},
    {DIS_OP_batch_stats, DIS_OP_batchnorm, sizeof(dis__batchnorm_args), dis__cuda_batchnorm_once},
    {DIS_OP_batchnorm_sums, DIS_OP_batchnorm_grad, sizeof(dis__batchnorm_args), dis__cuda_batchnorm_grad_once},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* Whether the pending operation and this one were run as one kernel. */
static bool run_both(dis__cuda_session *s, dis__op op, const void *args, cudaError_t *error)
{
    for (size_t i = 0; i < PAIRS; i++)
        if (s->waiting == pairs[i].first && op == pairs[i].second && pairs[i].run(s, &s->held_args, args, error)) {
            s->waiting = DIS_N_OPS;
            return true;
        }
    return false;
}

static bool waits(dis__cuda_session *s, dis__op op, const void *args)
{
    for (size_t i = 0; i < PAIRS; i++)
        if (op == pairs[i].first) {
            memcpy(&s->held_args, args, pairs[i].size);
            s->waiting = op;
            return true;
        }
    return false;
}

/* Whether the arguments allow an operation on the side stream; 0: no. Convolutions handle it themselves. */
static const size_t later[DIS_N_OPS] = {
    [DIS_OP_product] = offsetof(dis__product_args, later),
    [DIS_OP_column_sums] = offsetof(dis__column_sums_args, later),
    [DIS_OP_layernorm_param_grad] = offsetof(dis__layernorm_args, later),
    [DIS_OP_square_sums] = offsetof(dis__square_sums_args, later),
};

static cudaError_t run_now(dis__cuda_session *s, dis__op op, const void *args)
{
    cudaError_t error = cudaSuccess;
    if (later[op] && *(const bool *)((const char *)args + later[op])) {
        if ((error = dis__cuda_enter_side_stream(s)) == cudaSuccess) error = ops[op].run(s, args);
        dis__cuda_leave_side_stream(s);
        return error;
    }
    if (op == DIS_OP_square_sums || op == DIS_OP_clip || op == DIS_OP_update) error = dis__cuda_join_side_stream(s);
    return error == cudaSuccess ? ops[op].run(s, args) : error;
}

dis_status dis__cuda_run(void *session, dis__op op, const void *args)
{
    dis__cuda_session *s = session;
    cudaError_t error = cudaSuccess;
    cudaSetDevice(s->ordinal); /* the current device is per thread */
    CUDA_TRY(s, dis__cuda_upload_batch(s), "copying to the device");
    if (op == DIS_OP_start && dis__cuda_within(&s->region[DIS_MEMORY_PARAMS], ((const dis__start_args *)args)->y))
        s->stale = true;
    else if (s->stale)
        CUDA_TRY(s, dis__cuda_refresh(s), "copying parameters");
    if (op != DIS_OP_packed_attention) s->marked_output = NULL;
    if (run_both(s, op, args, &error)) return dis__cuda_status(s, error, ops[op].name);
    CUDA_TRY(s, run_held(s), "an operation");
    if (op != DIS_OP_update) CUDA_TRY(s, dis__cuda_update_flush(s), "update");
    if (dis__cuda_layernorm_fuse(s, op, args, &error)) return dis__cuda_status(s, error, ops[op].name);
    CUDA_TRY(s, error, "an operation");
    if (!waits(s, op, args)) CUDA_TRY(s, run_now(s, op, args), ops[op].name);
    return DIS_OK;
}
