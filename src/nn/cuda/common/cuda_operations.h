/* cuda_operations.h: shared by the files of the CUDA column: a session, one function per operation, matrix
 * multiplication.
 *
 * An operation only enqueues work on the session's stream. It does not read back, allocate or wait, so that a step can
 * be captured as a graph; values that change from step to step are in device memory. The order of all sums depends on
 * the arguments only (no atomic sums of floats), so results are the same bytes in every run.
 *
 * Types: values and their gradients are s->value (float or bfloat16), parameters, their gradients and statistics
 * float32. Where an operation's pointer may be either (a table that is a parameter or a value), dis__cuda_number tells.
 * Matrix multiplications read a copy of each parameter in the type s->value (dis__cuda_weight). */
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

typedef struct dis__cuda_plans dis__cuda_plans;   /* GEMMs by shape: cublas_gemm.c */
typedef struct dis__cuda_steps dis__cuda_steps;   /* captured steps: step_graph.c */
typedef struct dis__cuda_copies dis__cuda_copies; /* pending copies: host_copies.c */
typedef struct dis__cuda_layernorm_queue
    dis__cuda_layernorm_queue;                      /* pending operations around a normalisation: layernorm_fusion.cu */
typedef struct dis__cuda_side dis__cuda_side;       /* streams in addition to the session's: side_streams.c */
typedef struct dis__cuda_updates dis__cuda_updates; /* pending updates: optimizer.cu */

enum {
    DIS_CUDA_COUNTERS = 4096,      /* of finished blocks; each is 0 between operations */
    DIS_CUDA_EXCHANGE = 320 << 10, /* bytes of sums exchanged by the blocks of a launch: batchnorm_exchange.cuh */
    DIS_CUDA_SCRATCH = 64 << 20,   /* minimum bytes */
    DIS_CUDA_PRODUCT = 32 << 20,   /* bytes of work memory of GEMMs */
    DIS_CUDA_CHAIN = 40 << 20,     /* maximum bytes of sums around normalisations: layernorm_fusion.cu */
    DIS_CUDA_LAG = 8,              /* layers */
    DIS_CUDA_ROUND = 128,          /* dis__device.round */
    DIS_CUDA_AT_ONCE = 65536,      /* dis__device.at_once */
};

typedef struct dis__cuda_session {
    const dis__device_host *host;
    int ordinal, n_processors;
    size_t shared;     /* bytes of shared memory per block */
    dis__number value; /* DIS_FLOAT32 or DIS_BFLOAT16 */
    cudaStream_t stream;
    dis__cuda_region region[DIS_N_MEMORIES]; /* the last one of each kind */
    void *copy;                              /* of parameters, in bfloat16; NULL: values are float32 */
    bool stale;                              /* parameters were written without updating the copy */
    void *gradients; /* gradients of weights in bfloat16, as computed by libraries (dis__cuda_bf16_gradient); NULL: not
                      * requested */
    bool keeps_bf16_gradients;
    char *scratch; /* for one operation; scratch_bytes, as planned */
    size_t scratch_bytes;
    char *product_work, *product_twin; /* two buffers used in turn; NULL: only one */
    unsigned *counters;
    void *exchange;
    dis__cuda_plans *plans;
    dis__cuda_steps *steps;
    dis__cuda_copies *copies;
    dis__cuda_updates *update;
    dis__cuda_side *side;
    dis__cuda_layernorm_queue *chain;
    struct dis__cudnn *cudnn;  /* cudnn_conv.c; NULL: not requested yet */
    const void *marked_output; /* of the previous operation (dis__cuda_mark_output); NULL: it was not marked */
    dis__op waiting;           /* pending, because it may be fused with the next operation; DIS_N_OPS: none */
    union {
        dis__activate_args activate;
        dis__dropout_args dropout;
        dis__layernorm_args layernorm;
        dis__batchnorm_args batchnorm;
    } held_args;
    char why[200];          /* of a failure without a cudaError_t; "": none */
    struct dis__nccl *nccl; /* nccl_sums.c; NULL: no other ranks */
} dis__cuda_session;

/* One per row of DIS_OPS; `args` are the dis__NAME_args of nn/ops.h. */
#define DIS_CUDA_DECLARE(name) cudaError_t dis__cuda_##name(dis__cuda_session *s, const void *args);
DIS_OPS(DIS_CUDA_DECLARE)
#undef DIS_CUDA_DECLARE

/* Records the message for something that the device lacks, `what` of more than `highest` `of`; returns its error. */
cudaError_t dis__cuda_unsupported(dis__cuda_session *s, const char *what, size_t highest, const char *of);
/* While a network is planned: scratch bytes of an operation. */
void dis__cuda_reserve_scratch(dis__cuda_session *s, size_t bytes);
/* Bytes of args->work, for operations that have it (rows of the table in operation_memory.c). */
size_t dis__cuda_packed_attention_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_packed_attention_grad_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_batchnorm_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_conv_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_conv_grad_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_recurrent_work(dis__cuda_session *s, const void *args);
size_t dis__cuda_recurrent_grad_work(dis__cuda_session *s, const void *args);

/* Float32 for parameters and their gradients, otherwise s->value. */
dis__number dis__cuda_number(const dis__cuda_session *s, const void *pointer);
/* Operand of a GEMM for a parameter: its copy in s->value; other pointers are returned unchanged. */
const void *dis__cuda_weight(const dis__cuda_session *s, const void *param);
/* Updates the copies of all parameters, if they are stale. */
cudaError_t dis__cuda_refresh(dis__cuda_session *s);

/* C (m x n, row by row) = alpha op(A) op(B) + beta C, + bias (n, of C's type; NULL: none). A and B have the same type,
 * float32 or bfloat16; C that or float32. `batch` multiplications with strides `step_*` (batch 1: not read). gelu:
 * applies GELU in the library, if C is bfloat16; cudaErrorNotSupported: not available, and nothing is done. */
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
/* y (n_rows, width) = act(y + bias), all in the type of values except the bias, a parameter or NULL. */
cudaError_t dis__cuda_bias_activate(dis__cuda_session *s, void *y, size_t n_rows, size_t width, const void *bias,
                                    dis__activation act);
/* Work memory of GEMMs (DIS_CUDA_PRODUCT bytes) for another operation, until the next GEMM. */
char *dis__cuda_gemm_workspace(dis__cuda_session *s);

/* out[c] += the sum of column c of x (n_rows x n_cols), both float32. */
cudaError_t dis__cuda_sum_rows(dis__cuda_session *s, const float *x, size_t n_rows, size_t n_cols, float *out);

/* Memory for this many float32 summed on a side stream, in networks that train; 0: none. Returns the next buffer: the
 * session's stream waits until its previous sums are complete. */
size_t dis__cuda_partial_sums_room(const dis__cuda_session *s);
cudaError_t dis__cuda_next_partial_sums(dis__cuda_session *s, float **parts);

/* The same for few rows. */
cudaError_t dis__cuda_sum_parts(dis__cuda_session *s, const float *part, size_t n_parts, size_t n, float *out);

/* Runs two consecutive operations as one kernel; false: unsupported arguments, and nothing is done. */
bool dis__cuda_gelu_sums(dis__cuda_session *s, const void *act, const void *sums, cudaError_t *error);
bool dis__cuda_dropout_layernorm(dis__cuda_session *s, const void *dropout, const void *norm, cudaError_t *error);
bool dis__cuda_layernorm_grad_dropout(dis__cuda_session *s, const void *norm, const void *dropout, cudaError_t *error);
bool dis__cuda_batchnorm_once(dis__cuda_session *s, const void *stats, const void *rows, cudaError_t *error);
bool dis__cuda_batchnorm_grad_once(dis__cuda_session *s, const void *sums, const void *rows, cudaError_t *error);
/* For many rows. */
bool dis__cuda_dropout_norm(dis__cuda_session *s, const dis__dropout_args *d, const dis__layernorm_args *a,
                            cudaError_t *error);
bool dis__cuda_norm_rows(dis__cuda_session *s, const dis__layernorm_args *a, cudaError_t *error);
/* The same for more operations: whether an operation is added to the pending ones, or was run with them. */
bool dis__cuda_layernorm_fuse(dis__cuda_session *s, dis__op op, const void *args, cudaError_t *error);
cudaError_t dis__cuda_layernorm_flush(dis__cuda_session *s);

/* Operations between the two calls run on the side stream, after all work of the session's stream; only
 * dis__cuda_join_side_stream() waits for them. */
cudaError_t dis__cuda_enter_side_stream(dis__cuda_session *s);
void dis__cuda_leave_side_stream(dis__cuda_session *s);
size_t dis__cuda_layers_done(const dis__cuda_session *s); /* completed backward layers since the session was opened */
/* Makes the session's stream wait for the side stream. */
cudaError_t dis__cuda_join_side_stream(dis__cuda_session *s);
/* A stream for one of two independent kernels; done: the session's stream waits for it. */
cudaError_t dis__cuda_fork_twin(dis__cuda_session *s, cudaStream_t *twin);
cudaError_t dis__cuda_join_twin(dis__cuda_session *s);
/* Call it before an operation that computes `output`: kernels of the next operation that do not need all of it may start
 * on a second stream. marked: whether the previous operation was that one; work enqueued on the second stream then
 * waits only for earlier work. */
cudaError_t dis__cuda_mark_output(dis__cuda_session *s, const void *output);
bool dis__cuda_fork_at_mark(dis__cuda_session *s, const void *output, cudaStream_t *twin, cudaError_t *error);

/* A training step is enqueued between these two calls. */
void dis__cuda_set_in_step(dis__cuda_session *s, bool begins);
/* Within a step: work that depends only on the batch may start on the side stream after `output` of the first such
 * operation (dis__cuda_mark_output); done: the session's stream waits for it. false: not possible. */
bool dis__cuda_fork_at_step_start(dis__cuda_session *s, const void *output, cudaStream_t *side, cudaError_t *error);
cudaError_t dis__cuda_join_step_start(dis__cuda_session *s);

cudaError_t dis__cuda_to_bfloat16(dis__cuda_session *s, void *to, const float *from, size_t n);
/* Where the gradient of n weights may be written in bfloat16 instead of being added to d_weight: the next update reads
 * it there. NULL: nowhere. */
void *dis__cuda_bf16_gradient(dis__cuda_session *s, const void *d_weight, size_t n);
void dis__cuda_drop_bf16_gradients(dis__cuda_session *s); /* a step begins */
/* Runs pending updates. */
cudaError_t dis__cuda_update_flush(dis__cuda_session *s);
/* Runs all other pending operations, and completes pending copies to the device. */
cudaError_t dis__cuda_run_deferred(dis__cuda_session *s);
cudaError_t dis__cuda_upload_batch(dis__cuda_session *s);
cudaError_t dis__cuda_flush(dis__cuda_session *s); /* both */

#ifdef __cplusplus
}
#endif
#endif
