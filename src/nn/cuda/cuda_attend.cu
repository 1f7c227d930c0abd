/* Attention within packed rows (nn/loops/attend_loops.h): spans, dropout, and kernels for any number of channels and
 * both types. One warp per query (or key), 32 keys (or queries) at a time: each lane has the score of one, then the
 * lanes share out the channels. The fast kernels are in cuda_attend_mma.cu. */
#include "nn/cuda/cuda_attend.cuh"

enum { WARPS = 4, CHANNELS = 8 }; /* lanes have up to 8 channels each */
enum { MANY_BLOCKS = 8192 };      /* of dropout: they are drawn beside the product that makes qkv; fewer: long before */

/* ---- spans and dropout ---- */

/* The row that a token belongs to: the last one that begins at or before it. Rows without tokens begin where the next
 * one does. */
__device__ int2 span_of(const dis__attend_args &a, size_t token)
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

/* The row of a token, by all lanes of a warp, 32 rows at a time. */
__device__ size_t warp_row_of(const dis__attend_args &a, size_t token)
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

/* Where the elements of a row begin and end, and where those of the next row begin. */
typedef struct {
    size_t row;
    uint64_t end, next;
} row_elements;

__device__ __forceinline__ void enter_row(const dis__attend_args &a, size_t row, row_elements *r)
{
    const uint64_t of_token = a.n_heads * a.longest, m = (uint64_t)a.length[row];
    r->row = row;
    r->end = (uint64_t)a.start[row] * of_token + a.n_heads * m * m;
    r->next = row + 1 < a.n_rows ? (uint64_t)a.start[row + 1] * of_token : UINT64_MAX;
}

/* Bits of 1,024 elements, by a warp. */
__device__ __forceinline__ void draw_block(const dis__attend_args &a, const philox_keys &keys, uint32_t pass,
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
    dis__attend_args a;
    philox_keys keys;
    int2 *span;
    uint32_t *bits, threshold;
    unsigned n_spans, run; /* blocks of threads that find spans; blocks of 1,024 elements per warp */
    uint64_t n_blocks;     /* of elements */
} prelude_call;

/* Blocks [0, n_spans): spans. The others: a warp draws the bits of `run` times 1,024 elements, but for those of no row:
 * rows have places for as many keys as the longest. */
__global__ void __launch_bounds__(256) prelude_kernel(const __grid_constant__ prelude_call c)
{
    const dis__attend_args &a = c.a;
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
            block = r.next / 1024; /* the block that the next row begins in: this one has none of it */
    }
}

static size_t span_bytes(const dis__attend_args *a)
{
    return (a->n_tokens * sizeof(int2) + 255) / 256 * 256;
}

/* Words of dropout, whole blocks of 1,024 bits and what a read may go beyond. */
static uint64_t n_words(const dis__attend_args *a)
{
    return ((uint64_t)a->n_tokens * a->n_heads * a->longest + 1023) / 1024 * 32;
}

size_t dis__cuda_attend_work(dis__cuda_session *s, const void *args)
{
    const dis__attend_args *a = (const dis__attend_args *)args;
    dis__cuda_want(s, a->n_tokens * a->n_heads * sizeof(float));
    return span_bytes(a) + (a->rate > 0 ? (n_words(a) + 64) * sizeof(uint32_t) : 0);
}

size_t dis__cuda_attend_grad_work(dis__cuda_session *s, const void *args)
{
    (void)s;
    const dis__attend_args *a = (const dis__attend_args *)args;
    return a->bias || a->n_buckets ? attend_tiles(a) * a->n_buckets * a->n_heads * sizeof(float) : 0;
}

static attend_call call_of(const dis__attend_args *a)
{
    attend_call c = {};
    c.a = *a;
    c.span = (const int2 *)a->kept;
    c.bits = a->rate > 0 ? (const uint32_t *)((char *)a->kept + span_bytes(a)) : NULL;
    c.keep = (float)(1 / (1 - a->rate));
    return c;
}

/* ---- any channels ---- */

/* Whether a pair counts; both are within the query's row. */
__device__ __forceinline__ bool counts(const dis__attend_args &a, int query, int key)
{
    const int apart = query > key ? query - key : key - query;
    return (!a.mask || a.mask[key]) && (!a.window || (size_t)apart <= a.window);
}

__device__ __forceinline__ float bias_of(const dis__attend_args &a, int head, int query, int key)
{
    if (!a.bias) return 0;
    return ((const float *)a.bias)[(size_t)a.bucket[(int)a.longest - 1 + key - query] * a.n_heads + head];
}

__device__ __forceinline__ bool dropped(const attend_call &c, uint64_t base, int key)
{
    const uint64_t e = base + (uint64_t)key;
    return c.bits && (c.bits[e >> 5] >> (e & 31) & 1);
}

template <class T> __global__ void __launch_bounds__(WARPS * 32) attend_kernel(const __grid_constant__ attend_call call)
{
    const dis__attend_args &a = call.a;
    const int lane = threadIdx.x & 31, head = blockIdx.y;
    const size_t query = (size_t)blockIdx.x * WARPS + (threadIdx.x >> 5);
    if (query >= a.n_tokens) return;
    const size_t d = a.channels / a.n_heads, ld = 3 * a.channels;
    const int2 span = call.span[query];
    const T *qkv = (const T *)a.qkv + head * d, *q = qkv + query * ld;
    const uint64_t base = drop_base(a, head, (int)query, span);
    float max = -INFINITY, sum = 0, y[CHANNELS] = {0};
    for (int k0 = span.x; k0 < span.y; k0 += 32) {
        const int key = k0 + lane;
        const bool here = key < span.y && counts(a, (int)query, key);
        float score = -INFINITY;
        if (here)
            score = dot_of(q, qkv + a.channels + key * ld, d) * (float)a.scale + bias_of(a, head, (int)query, key);
        const float top = fmaxf(max, warp_max(score));
        if (top == -INFINITY) continue;
        const float shrink = expf(max - top), p = here ? expf(score - top) : 0;
        const float kept = dropped(call, base, key) ? 0 : p;
        sum = sum * shrink + warp_sum(p);
        max = top;
#pragma unroll
        for (int g = 0; g < CHANNELS; g++) y[g] *= shrink;
        for (int k = 0; k < 32 && k0 + k < span.y; k++) {
            const float share = __shfl_sync(0xffffffffu, kept, k);
            const T *v = qkv + 2 * a.channels + (k0 + k) * ld;
#pragma unroll
            for (int g = 0; g < CHANNELS; g++)
                if (g * 32 + lane < d) y[g] += share * as_float(v[g * 32 + lane]);
        }
    }
    const float scale = sum > 0 ? (call.bits ? call.keep : 1) / sum : 0;
#pragma unroll
    for (int g = 0; g < CHANNELS; g++)
        if (g * 32 + lane < d) ((T *)a.y)[query * a.channels + head * d + g * 32 + lane] = from_float<T>(y[g] * scale);
    if (lane == 0) ((float *)a.log_sum)[query * a.n_heads + head] = sum > 0 ? max + logf(sum) : 0;
}

template <class T> __device__ __forceinline__ void store_grad(const dis__attend_args &a, size_t at, float x)
{
    T *to = (T *)a.d_qkv + at;
    *to = from_float<T>(a.add ? as_float(*to) + x : x);
}

/* The sums of dy y of each token and head: what softmax's gradient subtracts. Eight lanes have DELTAS of them. */
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

/* dq of a tile of queries; with parts, the gradients of scores are summed by distance, each warp for itself, then by
 * bucket. */
template <class T>
__global__ void __launch_bounds__(WARPS * 32) attend_dq_kernel(const __grid_constant__ attend_call call)
{
    extern __shared__ float by_distance[]; /* (warps, 2 longest - 1) */
    const dis__attend_args &a = call.a;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, head = blockIdx.y, n_warps = blockDim.x / 32;
    const size_t d = a.channels / a.n_heads, ld = 3 * a.channels, n_distances = 2 * a.longest - 1;
    float *mine = by_distance + warp * n_distances;
    for (size_t k = lane; call.parts && k < n_distances; k += 32) mine[k] = 0;
    __syncwarp();
    const T *qkv = (const T *)a.qkv + head * d;
    for (int i = warp; i < ATTEND_TILE; i += n_warps) {
        const size_t query = (size_t)blockIdx.x * ATTEND_TILE + i;
        if (query >= a.n_tokens) break;
        const int2 span = call.span[query];
        const T *q = qkv + query * ld, *dy = (const T *)a.dy + query * a.channels + head * d;
        const uint64_t base = drop_base(a, head, (int)query, span);
        const float log_sum = ((const float *)a.log_sum)[query * a.n_heads + head];
        const float delta = call.delta[query * a.n_heads + head];
        float dq[CHANNELS] = {0};
        for (int k0 = span.x; k0 < span.y; k0 += 32) {
            const int key = k0 + lane;
            float ds = 0;
            if (key < span.y && counts(a, (int)query, key)) {
                const T *k = qkv + a.channels + key * ld;
                const float score = dot_of(q, k, d) * (float)a.scale + bias_of(a, head, (int)query, key);
                float dp = dot_of(dy, k + a.channels, d);
                dp = dropped(call, base, key) ? 0 : call.bits ? dp * call.keep : dp;
                ds = expf(score - log_sum) * (dp - delta);
                if (call.parts) mine[a.longest - 1 + key - query] += ds;
            }
            __syncwarp();
            for (int k = 0; k < 32 && k0 + k < span.y; k++) {
                const float g = __shfl_sync(0xffffffffu, ds, k) * (float)a.scale;
                const T *row = qkv + a.channels + (k0 + k) * ld;
#pragma unroll
                for (int c = 0; c < CHANNELS; c++)
                    if (c * 32 + lane < d) dq[c] += g * as_float(row[c * 32 + lane]);
            }
        }
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            if (a.d_qkv && c * 32 + lane < d) store_grad<T>(a, query * ld + head * d + c * 32 + lane, dq[c]);
    }
    if (!call.parts) return;
    __syncthreads();
    for (size_t b = warp; b < a.n_buckets; b += n_warps) {
        float sum = 0;
        for (size_t k = lane; k < n_distances; k += 32)
            if ((size_t)a.bucket[k] == b)
                for (int w = 0; w < n_warps; w++) sum += by_distance[w * n_distances + k];
        sum = warp_sum(sum);
        if (lane == 0) call.parts[((size_t)blockIdx.x * a.n_buckets + b) * a.n_heads + head] = sum;
    }
}

/* dk and dv: one warp per key. */
template <class T>
__global__ void __launch_bounds__(WARPS * 32) attend_dkv_kernel(const __grid_constant__ attend_call call)
{
    const dis__attend_args &a = call.a;
    const int lane = threadIdx.x & 31, head = blockIdx.y;
    const size_t key = (size_t)blockIdx.x * WARPS + (threadIdx.x >> 5);
    if (key >= a.n_tokens) return;
    const size_t d = a.channels / a.n_heads, ld = 3 * a.channels;
    const int2 span = call.span[key];
    const T *qkv = (const T *)a.qkv + head * d, *k = qkv + a.channels + key * ld, *v = k + a.channels;
    const T *dys = (const T *)a.dy + head * d;
    float dk[CHANNELS] = {0}, dv[CHANNELS] = {0};
    for (int q0 = span.x; q0 < span.y; q0 += 32) {
        const int query = q0 + lane;
        float ds = 0, p = 0;
        if (query < span.y && counts(a, query, (int)key)) {
            const T *q = qkv + query * ld, *dy = dys + query * a.channels;
            const float score = dot_of(q, k, d) * (float)a.scale + bias_of(a, head, query, (int)key);
            const bool out = dropped(call, drop_base(a, head, query, span), (int)key);
            const float keep = call.bits ? call.keep : 1, dp = out ? 0 : dot_of(dy, v, d) * keep;
            p = expf(score - ((const float *)a.log_sum)[query * a.n_heads + head]);
            ds = p * (dp - call.delta[query * a.n_heads + head]) * (float)a.scale;
            p = out ? 0 : p * keep;
        }
        for (int i = 0; i < 32 && q0 + i < span.y; i++) {
            const float g = __shfl_sync(0xffffffffu, ds, i), share = __shfl_sync(0xffffffffu, p, i);
            const T *q = qkv + (q0 + i) * ld, *dy = dys + (q0 + i) * a.channels;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                if (c * 32 + lane < d) {
                    dk[c] += g * as_float(q[c * 32 + lane]);
                    dv[c] += share * as_float(dy[c * 32 + lane]);
                }
        }
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        if (c * 32 + lane < d) {
            store_grad<T>(a, key * ld + a.channels + head * d + c * 32 + lane, dk[c]);
            store_grad<T>(a, key * ld + 2 * a.channels + head * d + c * 32 + lane, dv[c]);
        }
}

/* ---- operations ---- */

static cudaError_t too_wide(dis__cuda_session *s)
{
    snprintf(s->why, sizeof s->why, "attention with more than %d channels per head, or biases over too long rows",
             CHANNELS * 32);
    return cudaErrorNotSupported;
}

static prelude_call prelude_of(const dis__cuda_session *s, const attend_call *c)
{
    prelude_call p = {};
    p.a = c->a;
    p.keys = philox_keys_of(c->a.seed);
    p.span = (int2 *)c->a.kept;
    p.bits = (uint32_t *)c->bits;
    p.threshold = drop_threshold(c->a.rate);
    p.n_spans = grid_of(c->a.n_tokens, 256);
    p.n_blocks = c->a.rate > 0 ? n_words(&c->a) / 32 : 0;
    p.run = grid_of(p.n_blocks, (size_t)s->n_processors * 36); /* as many warps as the device has room for, and spans */
    return p;
}

cudaError_t dis__cuda_attend(dis__cuda_session *s, const void *args)
{
    const dis__attend_args *a = (const dis__attend_args *)args;
    if (a->n_tokens == 0 || a->n_rows == 0) return cudaSuccess;
    if (a->channels / a->n_heads > CHANNELS * 32) return too_wide(s);
    const attend_call c = call_of(a);
    const prelude_call p = prelude_of(s, &c);
    const uint64_t warps = (p.n_blocks + p.run - 1) / p.run;
    cudaStream_t twin = s->stream;
    cudaError_t error = cudaSuccess;
    const bool beside = p.n_blocks >= MANY_BLOCKS && dis__cuda_marked(s, a->qkv, &twin, &error);
    const bool ahead = p.n_blocks && p.n_blocks < MANY_BLOCKS && dis__cuda_ahead(s, a->qkv, &twin, &error);
    if (error != cudaSuccess) return error;
    if (!a->known) prelude_kernel<<<p.n_spans + (warps ? grid_of(warps, 8) : 0), 256, 0, twin>>>(p);
    error = cudaGetLastError();
    if (error == cudaSuccess && beside) error = dis__cuda_twin_done(s);
    if (error == cudaSuccess && ahead) error = dis__cuda_ahead_done(s);
    if (error != cudaSuccess || dis__cuda_attend_mma(s, &c, &error)) return error;
    const dim3 grid(grid_of(a->n_tokens, WARPS), (unsigned)a->n_heads);
    DIS_CUDA_BY_VALUE(s, attend_kernel<T><<<grid, WARPS * 32, 0, s->stream>>>(c));
    return cudaGetLastError();
}

template <class T> static cudaError_t plain_grad(dis__cuda_session *s, const attend_call *c)
{
    const dis__attend_args *a = &c->a;
    const size_t of_warp = c->parts ? (2 * a->longest - 1) * sizeof(float) : 0;
    const int warps = of_warp * WARPS <= s->shared / 2 ? WARPS : 1;
    if (of_warp * warps > s->shared) return too_wide(s);
    const cudaError_t error = allow_shared(s, (const void *)attend_dq_kernel<T>, of_warp * warps);
    if (error != cudaSuccess) return error;
    const dim3 tiles((unsigned)attend_tiles(a), (unsigned)a->n_heads);
    const dim3 keys(grid_of(a->n_tokens, WARPS), (unsigned)a->n_heads);
    attend_dq_kernel<T><<<tiles, warps * 32, of_warp * warps, s->stream>>>(*c);
    if (a->d_qkv) attend_dkv_kernel<T><<<keys, WARPS * 32, 0, s->stream>>>(*c);
    return cudaGetLastError();
}

cudaError_t dis__cuda_attend_grad(dis__cuda_session *s, const void *args)
{
    const dis__attend_args *a = (const dis__attend_args *)args;
    if (a->n_tokens == 0 || a->n_rows == 0) return cudaSuccess;
    attend_call c = call_of(a);
    c.delta = (const float *)s->scratch;
    c.parts = a->d_bias ? (float *)a->work : NULL;
    const size_t n = a->n_tokens * a->n_heads, d = a->channels / a->n_heads;
    const bool packs = aligned16(a->y) && aligned16(a->dy) && d % 8 == 0;
    DIS_CUDA_BY_VALUE(s, (delta_kernel<T><<<grid_of(n, 32 * DELTAS), 256, 0, s->stream>>>((const T *)a->y,
                                                                                          (const T *)a->dy, n, d, packs,
                                                                                          (float *)s->scratch)));
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess && !dis__cuda_attend_grad_mma(s, &c, &error))
        DIS_CUDA_BY_VALUE(s, error = plain_grad<T>(s, &c));
    if (error != cudaSuccess || !a->d_bias) return error;
    return dis__cuda_sum_rows(s, c.parts, attend_tiles(a), a->n_buckets * a->n_heads, (float *)a->d_bias);
}
