/* Attention within packed rows (nn/loops/packed_attention_loops.h): computes the spans of rows and the bits of dropout
 * beforehand, and launches the operations; kernels are in packed_attention_mma.cu and packed_attention_plain.cu. */
#include "nn/cuda/attention/packed_attention.cuh"

enum {
    MANY_BLOCKS = 8192
}; /* elements of dropout: from this number on they are drawn concurrently with the GEMM that
                              * computes qkv; fewer are drawn long before */

/* ---- spans and dropout ---- */

/* The row of a token: the last one that begins at or before it. Empty rows begin where the next one does. */
__device__ int2 span_of(const dis__packed_attention_args &a, size_t token)
{
    size_t low = 0, high = a.n_rows;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if ((size_t)a.start[middle] <= token)
            low = middle;
        else
            high = middle;
    }
    const int start = a.start[low], end = start + a.length[low];
    return (int)token < end && (int)token >= start ? make_int2(start, end) : make_int2(0, 0);
}

/* The row of a token, searched by all lanes of a warp, 32 rows at a time. */
__device__ size_t warp_row_of(const dis__packed_attention_args &a, size_t token)
{
    const unsigned lane = threadIdx.x & 31;
    size_t low = 0, n = a.n_rows;
    while (n > 1) {
        const size_t step = (n + 31) / 32, at = lane * step;
        const unsigned before = __popc(__ballot_sync(0xffffffffu, at < n && (size_t)a.start[low + at] <= token));
        const size_t skipped = before > 1 ? (before - 1) * step : 0;
        low += skipped;
        n = n - skipped < step ? n - skipped : step;
    }
    return low;
}

/* Start and end of the elements of a row, and of the next row. */
typedef struct {
    size_t row;
    uint64_t end, next;
} row_elements;

__device__ __forceinline__ void enter_row(const dis__packed_attention_args &a, size_t row, row_elements *r)
{
    const uint64_t of_token = a.n_heads * a.longest, m = (uint64_t)a.length[row];
    r->row = row;
    r->end = (uint64_t)a.start[row] * of_token + a.n_heads * m * m;
    r->next = row + 1 < a.n_rows ? (uint64_t)a.start[row + 1] * of_token : UINT64_MAX;
}

/* Bits of 1,024 elements, drawn by a warp. */
__device__ __forceinline__ void draw_block(const dis__packed_attention_args &a, const philox_keys &keys, uint32_t pass,
                                           uint32_t threshold, uint64_t block, uint32_t *bits)
{
    const uint32_t lane = threadIdx.x & 31;
#pragma unroll 4
    for (uint32_t k = 0; k < 8; k++) {
        const uint4 w = dropout_words(keys, pass, a.layer, block, k * 32 + lane);
        const uint32_t b0 = __ballot_sync(0xffffffffu, w.x < threshold),
                       b1 = __ballot_sync(0xffffffffu, w.y < threshold);
        const uint32_t b2 = __ballot_sync(0xffffffffu, w.z < threshold),
                       b3 = __ballot_sync(0xffffffffu, w.w < threshold);
        if (lane < 4) bits[block * 32 + lane * 8 + k] = lane == 0 ? b0 : lane == 1 ? b1 : lane == 2 ? b2 : b3;
    }
}

typedef struct {
    dis__packed_attention_args a;
    philox_keys keys;
    int2 *span;
    uint32_t *bits, threshold;
    unsigned n_spans, run; /* thread blocks that compute spans; blocks of 1,024 elements per warp */
    uint64_t n_blocks;     /* of elements */
} prelude_call;

/* Blocks [0, n_spans): spans. The others: a warp draws the bits of `run` times 1,024 elements, except elements outside
 * of rows: rows have positions for as many keys as the longest. */
__global__ void __launch_bounds__(256) prelude_kernel(const __grid_constant__ prelude_call c)
{
    const dis__packed_attention_args &a = c.a;
    if (blockIdx.x < c.n_spans) {
        const size_t token = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
        if (token < a.n_tokens) c.span[token] = span_of(a, token);
        return;
    }
    const uint64_t first = ((uint64_t)(blockIdx.x - c.n_spans) * 8 + (threadIdx.x >> 5)) * c.run;
    const uint64_t last = first + c.run < c.n_blocks ? first + c.run : c.n_blocks;
    const uint32_t pass = (uint32_t)(uint64_t)*a.pass;
    if (first >= last) return;
    const uint64_t e = first * 1024, of_token = a.n_heads * a.longest;
    row_elements r;
    enter_row(a, warp_row_of(a, e >> 32 ? e / of_token : (uint32_t)e / (uint32_t)of_token), &r);
    for (uint64_t block = first; block < last;) {
        while (r.next <= block * 1024) enter_row(a, r.row + 1, &r);
        if (block * 1024 < r.end || r.next < (block + 1) * 1024)
            draw_block(a, c.keys, pass, c.threshold, block++, c.bits);
        else
            block = r.next / 1024; /* the block in which the next row begins: it has no elements of this one */
    }
}

static size_t span_bytes(const dis__packed_attention_args *a)
{
    return (a->n_tokens * sizeof(int2) + 255) / 256 * 256;
}

/* Words of dropout: full blocks of 1,024 bits plus the read-ahead. */
static uint64_t n_words(const dis__packed_attention_args *a)
{
    return ((uint64_t)a->n_tokens * a->n_heads * a->longest + 1023) / 1024 * 32;
}

size_t dis__cuda_packed_attention_work(dis__cuda_session *s, const void *args)
{
    const dis__packed_attention_args *a = (const dis__packed_attention_args *)args;
    dis__cuda_reserve_scratch(s, a->n_tokens * a->n_heads * sizeof(float));
    return span_bytes(a) + (a->rate > 0 ? (n_words(a) + 64) * sizeof(uint32_t) : 0);
}

size_t dis__cuda_packed_attention_grad_work(dis__cuda_session *s, const void *args)
{
    (void)s;
    const dis__packed_attention_args *a = (const dis__packed_attention_args *)args;
    return a->bias || a->n_buckets ? packed_attention_tiles(a) * a->n_buckets * a->n_heads * sizeof(float) : 0;
}

static packed_attention_call call_of(const dis__packed_attention_args *a)
{
    packed_attention_call c = {};
    c.a = *a;
    c.span = (const int2 *)a->saved;
    c.bits = a->rate > 0 ? (const uint32_t *)((char *)a->saved + span_bytes(a)) : NULL;
    c.keep = (float)(1 / (1 - a->rate));
    return c;
}

/* ---- sums of dy y ---- */

/* The sums of dy y of each token and head, which softmax's gradient subtracts. Eight lanes share DELTAS of them. */
enum { DELTAS = 4 };

template <class T> __device__ __forceinline__ float delta_part(const T *y, const T *dy, size_t d, bool packs)
{
    enum { N = pack<T>::N };
    const int lane = threadIdx.x & 7;
    float sum = 0;
    for (size_t c = lane * N; packs && c < d; c += 8 * N) {
        float v[N], g[N];
        ((const pack<T> *)(y + c))->get(v);
        ((const pack<T> *)(dy + c))->get(g);
#pragma unroll
        for (int i = 0; i < N; i++) sum += v[i] * g[i];
    }
    for (size_t c = lane; !packs && c < d; c += 8) sum += as_float(y[c]) * as_float(dy[c]);
    return sum;
}

template <class T>
__global__ void __launch_bounds__(256)
    delta_kernel(const T *y, const T *dy, size_t n, size_t d, bool packs, float *delta)
{
    const size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 8 * DELTAS;
    float sum[DELTAS];
#pragma unroll
    for (int i = 0; i < DELTAS; i++)
        sum[i] = first + i < n ? delta_part(y + (first + i) * d, dy + (first + i) * d, d, packs) : 0;
#pragma unroll
    for (int i = 0; i < DELTAS; i++) {
#pragma unroll
        for (int half = 4; half; half /= 2) sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], half);
        if (threadIdx.x % 8 == 0 && first + i < n) delta[first + i] = sum[i];
    }
}

/* ---- operations ---- */

static prelude_call prelude_of(const dis__cuda_session *s, const packed_attention_call *c)
{
    prelude_call p = {};
    p.a = c->a;
    p.keys = philox_keys_of(c->a.seed);
    p.span = (int2 *)c->a.saved;
    p.bits = (uint32_t *)c->bits;
    p.threshold = drop_threshold(c->a.rate);
    p.n_spans = grid_of(c->a.n_tokens, 256);
    p.n_blocks = c->a.rate > 0 ? n_words(&c->a) / 32 : 0;
    p.run = grid_of(p.n_blocks, (size_t)s->n_processors * 36); /* as many warps as fit on the device, and spans */
    return p;
}

cudaError_t dis__cuda_packed_attention(dis__cuda_session *s, const void *args)
{
    const dis__packed_attention_args *a = (const dis__packed_attention_args *)args;
    if (a->n_tokens == 0 || a->n_rows == 0) return cudaSuccess;
    const packed_attention_call c = call_of(a);
    const prelude_call p = prelude_of(s, &c);
    const uint64_t warps = (p.n_blocks + p.run - 1) / p.run;
    cudaStream_t twin = s->stream;
    cudaError_t error = cudaSuccess;
    const bool on_side = p.n_blocks >= MANY_BLOCKS && dis__cuda_fork_at_mark(s, a->qkv, &twin, &error);
    const bool ahead = p.n_blocks && p.n_blocks < MANY_BLOCKS && dis__cuda_fork_at_step_start(s, a->qkv, &twin, &error);
    if (error != cudaSuccess) return error;
    if (!a->known) prelude_kernel<<<p.n_spans + (warps ? grid_of(warps, 8) : 0), 256, 0, twin>>>(p);
    error = cudaGetLastError();
    if (error == cudaSuccess && on_side) error = dis__cuda_join_twin(s);
    if (error == cudaSuccess && ahead) error = dis__cuda_join_step_start(s);
    if (error != cudaSuccess || dis__cuda_packed_attention_mma(s, &c, &error)) return error;
    return dis__cuda_packed_attention_plain(s, &c);
}

cudaError_t dis__cuda_packed_attention_grad(dis__cuda_session *s, const void *args)
{
    const dis__packed_attention_args *a = (const dis__packed_attention_args *)args;
    if (a->n_tokens == 0 || a->n_rows == 0) return cudaSuccess;
    packed_attention_call c = call_of(a);
    c.delta = (const float *)s->scratch;
    c.parts = a->d_bias ? (float *)a->work : NULL;
    const size_t n = a->n_tokens * a->n_heads, d = a->channels / a->n_heads;
    const bool packs = aligned16(a->y) && aligned16(a->dy) && d % 8 == 0;
    DIS_CUDA_BY_VALUE(s, (delta_kernel<T><<<grid_of(n, 32 * DELTAS), 256, 0, s->stream>>>((const T *)a->y,
                                                                                          (const T *)a->dy, n, d, packs,
                                                                                          (float *)s->scratch)));
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess && !dis__cuda_packed_attention_grad_mma(s, &c, &error))
        error = dis__cuda_packed_attention_grad_plain(s, &c);
    if (error != cudaSuccess || !a->d_bias) return error;
    return dis__cuda_sum_rows(s, c.parts, packed_attention_tiles(a), a->n_buckets * a->n_heads, (float *)a->d_bias);
}
