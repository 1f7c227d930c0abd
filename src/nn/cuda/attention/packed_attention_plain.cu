/* Attention within packed rows (nn/loops/packed_attention_loops.h) for any number of channels and both types. One warp
 * per query (or key), 32 keys (or queries) at a time: each lane has the score of one, then the channels are distributed
 * over the lanes. The fast kernels are in packed_attention_mma.cu. */
#include "nn/cuda/attention/packed_attention.cuh"

enum { WARPS = 4, CHANNELS = 8 }; /* lanes have up to 8 channels each */

/* Whether a pair counts; both are within the query's row. */
__device__ __forceinline__ bool counts(const dis__packed_attention_args &a, int query, int key)
{
    const int apart = query > key ? query - key : key - query;
    return (!a.mask || a.mask[key]) && (!a.window || (size_t)apart <= a.window);
}

__device__ __forceinline__ float bias_of(const dis__packed_attention_args &a, int head, int query, int key)
{
    if (!a.bias) return 0;
    return ((const float *)a.bias)[(size_t)a.bucket[(int)a.longest - 1 + key - query] * a.n_heads + head];
}

__device__ __forceinline__ bool dropped(const packed_attention_call &c, uint64_t base, int key)
{
    const uint64_t e = base + (uint64_t)key;
    return c.bits && (c.bits[e >> 5] >> (e & 31) & 1);
}

template <class T>
__global__ void __launch_bounds__(WARPS * 32)
    packed_attention_kernel(const __grid_constant__ packed_attention_call call)
{
    const dis__packed_attention_args &a = call.a;
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
        const bool counted = key < span.y && counts(a, (int)query, key);
        float score = -INFINITY;
        if (counted)
            score = dot_of(q, qkv + a.channels + key * ld, d) * (float)a.scale + bias_of(a, head, (int)query, key);
        const float top = fmaxf(max, warp_max(score));
        if (top == -INFINITY) continue;
        const float shrink = expf(max - top), p = counted ? expf(score - top) : 0;
        const float p_dropped = dropped(call, base, key) ? 0 : p;
        sum = sum * shrink + warp_sum(p);
        max = top;
#pragma unroll
        for (int g = 0; g < CHANNELS; g++) y[g] *= shrink;
        for (int k = 0; k < 32 && k0 + k < span.y; k++) {
            const float share = __shfl_sync(0xffffffffu, p_dropped, k);
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

template <class T> __device__ __forceinline__ void store_grad(const dis__packed_attention_args &a, size_t at, float x)
{
    T *to = (T *)a.d_qkv + at;
    *to = from_float<T>(a.add ? as_float(*to) + x : x);
}

/* dq of a tile of queries; with parts, the gradients of scores are summed by distance, separately per warp, then by
 * bucket. */
template <class T>
__global__ void __launch_bounds__(WARPS * 32)
    packed_attention_dq_kernel(const __grid_constant__ packed_attention_call call)
{
    extern __shared__ float by_distance[]; /* (warps, 2 longest - 1) */
    const dis__packed_attention_args &a = call.a;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, head = blockIdx.y, n_warps = blockDim.x / 32;
    const size_t d = a.channels / a.n_heads, ld = 3 * a.channels, n_distances = 2 * a.longest - 1;
    float *mine = by_distance + warp * n_distances;
    for (size_t k = lane; call.parts && k < n_distances; k += 32) mine[k] = 0;
    __syncwarp();
    const T *qkv = (const T *)a.qkv + head * d;
    for (int i = warp; i < PACKED_ATTENTION_TILE; i += n_warps) {
        const size_t query = (size_t)blockIdx.x * PACKED_ATTENTION_TILE + i;
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
__global__ void __launch_bounds__(WARPS * 32)
    packed_attention_dkv_kernel(const __grid_constant__ packed_attention_call call)
{
    const dis__packed_attention_args &a = call.a;
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
    return dis__cuda_unsupported(s, "attention", CHANNELS * 32,
                                 "channels per head, or with biases over rows as long as these");
}

cudaError_t dis__cuda_packed_attention_plain(dis__cuda_session *s, const packed_attention_call *c)
{
    const dis__packed_attention_args *a = &c->a;
    if (a->channels / a->n_heads > CHANNELS * 32) return too_wide(s);
    const dim3 grid(grid_of(a->n_tokens, WARPS), (unsigned)a->n_heads);
    DIS_CUDA_BY_VALUE(s, packed_attention_kernel<T><<<grid, WARPS * 32, 0, s->stream>>>(*c));
    return cudaGetLastError();
}

template <class T> static cudaError_t plain_grad(dis__cuda_session *s, const packed_attention_call *c)
{
    const dis__packed_attention_args *a = &c->a;
    const size_t of_warp = c->parts ? (2 * a->longest - 1) * sizeof(float) : 0;
    const int warps = of_warp * WARPS <= s->shared / 2 ? WARPS : 1;
    if (of_warp * warps > s->shared) return too_wide(s);
    const cudaError_t error = allow_shared(s, (const void *)packed_attention_dq_kernel<T>, of_warp * warps);
    if (error != cudaSuccess) return error;
    const dim3 tiles((unsigned)packed_attention_tiles(a), (unsigned)a->n_heads);
    const dim3 keys(grid_of(a->n_tokens, WARPS), (unsigned)a->n_heads);
    packed_attention_dq_kernel<T><<<tiles, warps * 32, of_warp * warps, s->stream>>>(*c);
    if (a->d_qkv) packed_attention_dkv_kernel<T><<<keys, WARPS * 32, 0, s->stream>>>(*c);
    return cudaGetLastError();
}

cudaError_t dis__cuda_packed_attention_grad_plain(dis__cuda_session *s, const packed_attention_call *c)
{
    DIS_CUDA_BY_VALUE(s, return plain_grad<T>(s, c));
    return cudaSuccess;
}
