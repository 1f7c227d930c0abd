/* packed_attention.cuh: shared by the kernels of attention within packed rows.
 *
 * Work is divided by tokens, not by rows: a tile is 64 tokens of one head, from any rows, and it is multiplied with the
 * span of these rows. Each token has its row's span, so pairs of different rows do not count. Short rows share a tile,
 * long ones have several, and no block is idle.
 *
 * kept: for each token its row's span (int2: start, end; empty after the last row), then the bits of dropout, if used:
 * bit e is 1 if element e (see dis__packed_attention_args) is dropped. They are drawn once, four bits from each word,
 * and backward reads them again. */
#ifndef DIS_NN_CUDA_ATTENTION_PACKED_ATTENTION_CUH
#define DIS_NN_CUDA_ATTENTION_PACKED_ATTENTION_CUH
#include "nn/cuda/common/kernels.cuh"

enum { PACKED_ATTENTION_TILE = 64 };

struct packed_attention_call {
    dis__packed_attention_args a;
    const int2 *span;
    const uint32_t *bits; /* NULL: no dropout */
    float keep;           /* 1 / (1 - rate) */
    const float *delta;   /* (tokens, heads): sums of dy y; backward only */
    float *parts;         /* (tiles, buckets, heads) of the gradient of biases; NULL: not wanted */
};

/* The index of (query, key) in dropout is this plus key, both counted over all tokens. */
__device__ __forceinline__ uint64_t drop_base(const dis__packed_attention_args &a, int head, int query, int2 span)
{
    const uint64_t m = (uint64_t)(span.y - span.x);
    return (uint64_t)span.x * a.n_heads * a.longest + head * m * m + (uint64_t)(query - span.x) * m - (uint64_t)span.x;
}

static inline size_t packed_attention_tiles(const dis__packed_attention_args *a)
{
    return (a->n_tokens + PACKED_ATTENTION_TILE - 1) / PACKED_ATTENTION_TILE;
}

/* Tensor-core kernels, for bfloat16 and heads of 32 or 64 channels; false: unsupported arguments. */
bool dis__cuda_packed_attention_mma(dis__cuda_session *s, const packed_attention_call *c, cudaError_t *error);
bool dis__cuda_packed_attention_grad_mma(dis__cuda_session *s, const packed_attention_call *c, cudaError_t *error);
/* For all other arguments. */
cudaError_t dis__cuda_packed_attention_plain(dis__cuda_session *s, const packed_attention_call *c);
cudaError_t dis__cuda_packed_attention_grad_plain(dis__cuda_session *s, const packed_attention_call *c);

#endif
