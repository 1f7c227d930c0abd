/* cuda_operations.h: what the files of the CUDA column share: a session, one function per operation, products.
 *
 * An operation only enqueues work on the session's stream. It reads nothing back, takes no memory and waits for
 * nothing, so that a step can be recorded as a graph; what changes from step to step is in device memory. All sums
 * are in an order that the arguments alone decide (no atomic sums of floats), so the same bytes come out every time.
 *
 * Types: values and their gradients are s->value (float or bfloat16), parameters, their gradients and statistics
 * float32. Where an operation's pointer may be either (a table that is a parameter or a value), dis__cuda_number tells.
 * Products take the copy in s->value that is kept alongside each parameter (dis__cuda_weight). */
#ifndef DIS_NN_CUDA_COMMON_CUDA_OPERATIONS_H
#define DIS_NN_CUDA_COMMON_CUDA_OPERATIONS_H
#include "core/device/device_plugin.h"
#include "nn/device.h"
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    char *at;
    size_t bytes;
} dis__cuda_region;

typedef struct dis__cuda_plans dis__cuda_plans;   /* products by shape: cublas_gemm.c */
typedef struct dis__cuda_steps dis__cuda_steps;   /* recorded steps: step_graph.c */
typedef struct dis__cuda_copies dis__cuda_copies; /* numbers on their way: host_copies.c */
typedef struct dis__cuda_layernorm_queue
    dis__cuda_layernorm_queue;                      /* operations around a normalisation: layernorm_fusion.cu */
typedef struct dis__cuda_side dis__cuda_side;       /* streams alongside the session's own: side_streams.c */
typedef struct dis__cuda_updates dis__cuda_updates; /* updates that wait to be run together: optimizer.cu */

enum {
    DIS_CUDA_COUNTERS = 4096,      /* of blocks that are done; each is 0 between operations */
    DIS_CUDA_EXCHANGE = 320 << 10, /* bytes of sums that blocks of a launch tell each other: batchnorm_exchange.cuh */
    DIS_CUDA_SCRATCH = 64 << 20,   /* bytes, at least */
    DIS_CUDA_PRODUCT = 32 << 20,   /* bytes of work memory of products */
    DIS_CUDA_CHAIN = 40 << 20,     /* bytes, at most, of sums around normalisations: layernorm_fusion.cu */
    DIS_CUDA_LAG = 8,              /* layers */
    DIS_CUDA_ROUND = 128,          /* dis__device.round */
    DIS_CUDA_AT_ONCE = 65536,      /* dis__device.at_once */
};

typedef struct dis__cuda_session {
    const dis__device_host *host;
    int ordinal, n_processors;
    size_t shared;     /* bytes of shared memory that a block may have */
    dis__number value; /* DIS_FLOAT32 or DIS_BFLOAT16 */
    cudaStream_t stream;
    dis__cuda_region region[DIS_N_MEMORIES]; /* the last one of each kind */
    void *copy;                              /* of parameters, in bfloat16; NULL: values are float32 */
    bool stale;                              /* parameters were written without their copy */
    void *gradients; /* of weights, in bfloat16, as libraries give them (dis__cuda_bf16_gradient); NULL: not wanted */
    bool keeps_bf16_gradients;
    char *scratch; /* within one operation; scratch_bytes, as plans asked for */
    size_t scratch_bytes;
    char *product_work, *product_twin; /* products take turns; NULL: there is one */
    unsigned *counters;
    void *told;
    dis__cuda_plans *plans;
    dis__cuda_steps *steps;
    dis__cuda_copies *copies;
    dis__cuda_updates *update;
    dis__cuda_side *side;
    dis__cuda_layernorm_queue *chain;
    struct dis__cudnn *cudnn; /* cudnn_conv.c; NULL: not asked for yet */
    const void *made;         /* by the operation before, which was marked (dis__cuda_mark_output); NULL: it was not */
    dis__op waiting;          /* for the operation after it, which it may be one kernel with; DIS_N_OPS: none */
    union {
        dis__activate_args activate;
        dis__dropout_args dropout;
        dis__layernorm_args layernorm;
        dis__batchnorm_args batchnorm;
    } held_args;
    char why[200];          /* of a failure that cudaError_t has no word for; "": none */
    struct dis__nccl *nccl; /* nccl_sums.c; NULL: no other ranks */
} dis__cuda_session;

/* One per row of DIS_OPS; `args` are the dis__NAME_args of nn/ops.h. */
#define DIS_CUDA_DECLARE(name) cudaError_t dis__cuda_##name(dis__cuda_session *s, const void *args);
DIS_OPS(DIS_CUDA_DECLARE)
#undef DIS_CUDA_DECLARE

/* What the device does not have, `what` of more than `most` `of`, is kept for the message; the error for it. */
cudaError_t dis__cuda_unsupported(dis__cuda_session *s, const char *what, size_t most, const char *of);
/* While a network is planned: bytes of scratch memory that an operation will need. */
void dis__cuda_reserve_scratch(dis__cuda_session *s, size_t bytes);
/* Bytes of args->work, for the operations that have it (rows of the table in operation_memory.c). */
size_t dis__cuda_packed_attention_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_packed_attention_grad_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_batchnorm_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_conv_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_conv_grad_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_recurrent_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_recurrent_grad_work(dis__cuda_session *s, const void *args);

/* Float32 within parameters and their gradients, else s->value. */
dis__number dis__cuda_number(const dis__cuda_session *s, const void *pointer);
/* What a product reads for a parameter: its copy in s->value; any other pointer as it is. */
const void *dis__cuda_weight(const dis__cuda_session *s, const void *param);
/* Copies of all parameters, if they are not up to date. */
cudaError_t dis__cuda_refresh(dis__cuda_session *s);

/* C (m x n, row by row) = alpha op(A) op(B) + beta C, + bias (n, of C's type; NULL: none). A and B have the same type,
 * float32 or bfloat16; C that or float32. `batch` products, `step_*` numbers apart (batch 1: not read). gelu: GELU of
 * that, by the library, where C is bfloat16; cudaErrorNotSupported: it has none, and nothing is done. */
typedef struct {
    bool ta, tb, gelu;
    size_t m, n, k, lda, ldb, ldc;
    float alpha, beta;
    dis__number type_ab, type_c;
    const void *a, *b, *bias;
    void *c;
    size_t batch, step_a, step_b, step_c;
} dis__cuda_product_args;
cudaError_t dis__cuda_gemm(dis__cuda_session *s, const dis__cuda_product_args *p);
/* The same for any shape, without a library. */
cudaError_t dis__cuda_plain_gemm(dis__cuda_session *s, const dis__cuda_product_args *p);
/* y (n_rows, width) = act(y + bias), all of the values' type but the bias, a parameter or NULL. */
cudaError_t dis__cuda_bias_activate(dis__cuda_session *s, void *y, size_t n_rows, size_t width, const void *bias,
                                    dis__activation act);
/* Work memory of products (DIS_CUDA_PRODUCT bytes) for another operation, until the next product. */
char *dis__cuda_gemm_workspace(dis__cuda_session *s);

/* out[c] += the sum of column c of x (n_rows x n_cols), both float32. */
cudaError_t dis__cuda_sum_rows(dis__cuda_session *s, const float *x, size_t n_rows, size_t n_cols, float *out);

/* Room for so many float32 that are summed on the side, in networks that train; 0: none. The next one: the session's
 * stream waits where those in it may not be summed yet. */
size_t dis__cuda_partial_sums_room(const dis__cuda_session *s);
cudaError_t dis__cuda_next_partial_sums(dis__cuda_session *s, float **parts);

/* The same for few rows. */
cudaError_t dis__cuda_sum_parts(dis__cuda_session *s, const float *part, size_t n_parts, size_t n, float *out);

/* Two operations that follow each other as one kernel; false: not for these arguments, and nothing is done. */
bool dis__cuda_gelu_sums(dis__cuda_session *s, const void *act, const void *sums, cudaError_t *error);
bool dis__cuda_dropout_layernorm(dis__cuda_session *s, const void *dropout, const void *norm, cudaError_t *error);
bool dis__cuda_layernorm_grad_dropout(dis__cuda_session *s, const void *norm, const void *dropout, cudaError_t *error);
bool dis__cuda_batchnorm_once(dis__cuda_session *s, const void *stats, const void *rows, cudaError_t *error);
bool dis__cuda_batchnorm_grad_once(dis__cuda_session *s, const void *sums, const void *rows, cudaError_t *error);
/* Where rows are many. */
bool dis__cuda_dropout_norm(dis__cuda_session *s, const dis__dropout_args *d, const dis__layernorm_args *a,
                            cudaError_t *error);
bool dis__cuda_norm_rows(dis__cuda_session *s, const dis__layernorm_args *a, cudaError_t *error);
/* The same for several: whether an operation waits from now on with those before it, or was run with them. */
bool dis__cuda_layernorm_fuse(dis__cuda_session *s, dis__op op, const void *args, cudaError_t *error);
cudaError_t dis__cuda_layernorm_flush(dis__cuda_session *s);

/* What is run between the two goes to the side stream, after all that is on the session's; no one waits for it but
 * dis__cuda_join_side_stream(). */
cudaError_t dis__cuda_enter_side_stream(dis__cuda_session *s);
void dis__cuda_leave_side_stream(dis__cuda_session *s);
size_t dis__cuda_layers_done(const dis__cuda_session *s); /* that have gone backward, since the session was opened */
/* The session's stream waits for what is on the side. */
cudaError_t dis__cuda_join_side_stream(dis__cuda_session *s);
/* A stream for one of two kernels that do not depend on each other; done: the session's stream waits for it. */
cudaError_t dis__cuda_fork_twin(dis__cuda_session *s, cudaStream_t *twin);
cudaError_t dis__cuda_join_twin(dis__cuda_session *s);
/* Before an operation that makes `made`: what the next one does not need of it may begin alongside it. marked:
 * whether the operation before was that one; what is enqueued on the twin then comes after what was available before
 * it. */
cudaError_t dis__cuda_mark_output(dis__cuda_session *s, const void *made);
bool dis__cuda_fork_at_mark(dis__cuda_session *s, const void *made, cudaStream_t *twin, cudaError_t *error);

/* Between the two a step of training is enqueued. */
void dis__cuda_set_in_step(dis__cuda_session *s, bool begins);
/* Within one: what needs nothing of it but what came with the batch may begin as soon as `made` did of the first such
 * operation (dis__cuda_mark_output), on the side; done: the session's stream waits for it. false: not now. */
bool dis__cuda_fork_at_step_start(dis__cuda_session *s, const void *made, cudaStream_t *side, cudaError_t *error);
cudaError_t dis__cuda_join_step_start(dis__cuda_session *s);

cudaError_t dis__cuda_to_bfloat16(dis__cuda_session *s, void *to, const float *from, size_t n);
/* Where the gradient of n weights may be put in bfloat16 instead of being added to d_weight: the next update takes it
 * from there. NULL: nowhere. */
void *dis__cuda_bf16_gradient(dis__cuda_session *s, const void *d_weight, size_t n);
void dis__cuda_drop_bf16_gradients(dis__cuda_session *s); /* a step begins */
/* Updates that wait are run. */
cudaError_t dis__cuda_update_flush(dis__cuda_session *s);
/* So is everything else that waits for what follows it; and what was copied in since is fetched. */
cudaError_t dis__cuda_run_deferred(dis__cuda_session *s);
cudaError_t dis__cuda_upload_batch(dis__cuda_session *s);
cudaError_t dis__cuda_flush(dis__cuda_session *s); /* both */

#ifdef __cplusplus
}
#endif
#endif
