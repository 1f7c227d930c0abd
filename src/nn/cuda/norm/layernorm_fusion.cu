/* Fuses the operations around a layer normalisation's backward: they are collected until one kernel can run them all
 * (layernorm_rows.cu). If the next operation does not belong to the pattern, the pending ones are run separately. For
 * few rows, separate concurrent kernels are faster (layernorm.cu). */
#include "nn/cuda/common/cuda_host.h"
#include "core/cuda/cuda_memory.h"
#include "nn/cuda/norm/layernorm_fusion.cuh"

enum { SLOTS = 4 };

/* Pending operations: of a normalisation's backward, in this order. */
typedef struct {
    bool params, grads, drops, sums;
    dis__layernorm_args norm; /* of both */
    dis__dropout_args dropout;
    dis__column_sums_args below;
} waiting;

struct dis__cuda_layernorm_queue {
    waiting w;
    float *parts[SLOTS]; /* buffers used in turn */
    size_t layer[SLOTS]; /* last use of each: it is free when its work on the side stream is done */
    size_t n;
};

dis_status dis__cuda_layernorm_open(dis__cuda_session *s)
{
    return s->host->alloc_zeroed(&s->chain, 1, sizeof *s->chain);
}

cudaError_t dis__cuda_layernorm_begin(dis__cuda_session *s)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < SLOTS && error == cudaSuccess && s->value == DIS_BFLOAT16; i++)
        error = dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal,
                                   (size_t)NORM_PARTS * NORM_SUMS * NORM_WIDTH * sizeof(float),
                                   (void **)&s->chain->parts[i]);
    return error;
}

void dis__cuda_layernorm_close(dis__cuda_session *s)
{
    if (!s->chain) return;
    for (int i = 0; i < SLOTS; i++) dis__cuda_release(s->chain->parts[i]);
    s->host->free(s->chain);
}

static bool fits(const dis__cuda_session *s, const waiting *w)
{
    return s->chain->parts[0] && dis__cuda_norm_wide(s, &w->norm) && aligned16(w->dropout.y);
}

/* Whether this operation continues the pattern of the pending ones. */
static bool goes_on(dis__cuda_session *s, dis__op op, const void *args)
{
    waiting *w = &s->chain->w;
    const dis__layernorm_args *norm = (const dis__layernorm_args *)args;
    const dis__dropout_args *dropout = (const dis__dropout_args *)args;
    const dis__column_sums_args *sums = (const dis__column_sums_args *)args;
    switch (op) {
    case DIS_OP_layernorm_param_grad: return !w->params && !w->grads && dis__cuda_norm_wide(s, norm);
    case DIS_OP_layernorm_grad:
        return !w->grads && dis__cuda_norm_wide(s, norm) && norm->dx && norm->dx != norm->dr &&
               (!w->params || norm->dy == w->norm.dy);
    case DIS_OP_dropout:
        return w->grads && !w->drops && dropout->x == w->norm.dx && !w->norm.add_x && dropout->y != w->norm.dr &&
               dropout->n == w->norm.n_rows * w->norm.width && aligned16(dropout->y) && drop_threshold(dropout->rate);
    case DIS_OP_column_sums:
        return w->grads && fits(s, w) && sums->x == (w->drops ? w->dropout.y : w->norm.dx) &&
               !(w->drops ? w->dropout.add : w->norm.add_x) && sums->n_rows == w->norm.n_rows &&
               sums->n_cols == w->norm.width && sums->ld == w->norm.width;
    default: return false;
    }
}

/* Runs them separately, in order. */
static cudaError_t run_apart(dis__cuda_session *s, const waiting *w)
{
    cudaError_t error = cudaSuccess;
    if (w->params) {
        error = dis__cuda_enter_side_stream(s);
        if (error == cudaSuccess) error = dis__cuda_layernorm_param_grad(s, &w->norm);
        dis__cuda_leave_side_stream(s);
    }
    if (error == cudaSuccess && w->grads) error = dis__cuda_layernorm_grad(s, &w->norm);
    if (error == cudaSuccess && w->drops) error = dis__cuda_dropout(s, &w->dropout);
    return error;
}

size_t dis__cuda_partial_sums_room(const dis__cuda_session *s)
{
    return s->chain && s->chain->parts[0] ? (size_t)NORM_PARTS * NORM_SUMS * NORM_WIDTH : 0;
}

cudaError_t dis__cuda_next_partial_sums(dis__cuda_session *s, float **parts)
{
    const size_t i = s->chain->n++ % SLOTS, now = dis__cuda_layers_done(s);
    const bool soon = now <= s->chain->layer[i] + DIS_CUDA_LAG;
    s->chain->layer[i] = now;
    *parts = s->chain->parts[i];
    return soon ? dis__cuda_join_side_stream(s) : cudaSuccess;
}

static cudaError_t run_together(dis__cuda_session *s, const waiting *w)
{
    const dis__layernorm_args *a = &w->norm;
    norm_chain n = {a,
                    w->drops ? &w->dropout : NULL,
                    {{w->params ? (float *)a->d_gain : NULL, w->params ? (float *)a->d_bias : NULL,
                      w->sums ? (float *)w->below.out : NULL}},
                    NULL};
    const cudaError_t error = dis__cuda_next_partial_sums(s, &n.parts);
    return error == cudaSuccess ? dis__cuda_norm_chain(s, &n) : error;
}

cudaError_t dis__cuda_layernorm_flush(dis__cuda_session *s)
{
    if (!s->chain || (!s->chain->w.params && !s->chain->w.grads)) return cudaSuccess;
    const waiting w = s->chain->w;
    s->chain->w = {};
    return w.grads && fits(s, &w) ? run_together(s, &w) : run_apart(s, &w);
}

bool dis__cuda_layernorm_fuse(dis__cuda_session *s, dis__op op, const void *args, cudaError_t *error)
{
    waiting *w = &s->chain->w;
    *error = cudaSuccess;
    if (!goes_on(s, op, args)) {
        *error = dis__cuda_layernorm_flush(s);
        if (*error != cudaSuccess || !goes_on(s, op, args)) return false;
    }
    if (op == DIS_OP_dropout) {
        w->dropout = *(const dis__dropout_args *)args;
        w->drops = true;
    } else if (op == DIS_OP_column_sums) {
        w->below = *(const dis__column_sums_args *)args;
        w->sums = true;
        *error = dis__cuda_layernorm_flush(s); /* no further operation can follow */
    } else {
        void *const d_gain = w->norm.d_gain, *const d_bias = w->norm.d_bias;
        w->norm = *(const dis__layernorm_args *)args;
        if (op == DIS_OP_layernorm_grad && w->params) w->norm.d_gain = d_gain, w->norm.d_bias = d_bias;
        *(op == DIS_OP_layernorm_grad ? &w->grads : &w->params) = true;
    }
    return true;
}
