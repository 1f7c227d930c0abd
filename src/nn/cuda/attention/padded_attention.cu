/* Scaled dot-product attention within rows of a fixed number of positions (formulas:
 * nn/loops/padded_attention_loops.h), and attention to a single position, which keeps or drops whole heads.
 *
 * Forward: a warp per query, keys over lanes, then channels over lanes. Backward: a block per row and head; first each
 * query's mean of dP S and its dQ, then dK and dV per key. Only the probabilities are kept between the two. These
 * sequences are short; long ones are packed and use packed_attention. */
#include "nn/cuda/common/vectors.cuh"

enum { THREADS = 256, WARPS = THREADS / 32 };

typedef struct {
    dis__padded_attention_args a;
    uint32_t threshold;
    float keep, scale;
} attention_call;

static attention_call call_of(const dis__padded_attention_args *a)
{
    attention_call c;
    c.a = *a;
    c.threshold = drop_threshold(a->rate);
    c.keep = (float)(1 / (1 - a->rate));
    c.scale = 1 / sqrtf((float)(a->channels / a->n_heads));
    return c;
}

/* x kept and scaled, or 0. */
__device__ __forceinline__ float dropped(const attention_call &g, uint32_t pass, size_t element, float x)
{
    if (!(g.a.rate > 0)) return x;
    return drops(g.a.seed, pass, g.a.layer, g.threshold, element) ? 0 : x * g.keep;
}

__device__ __forceinline__ uint32_t pass_of(const dis__padded_attention_args &a)
{
    return a.rate > 0 ? (uint32_t)(uint64_t)*a.pass : 0;
}

/* ---- one position ---- */

template <class T> __global__ void value_alone_kernel(attention_call g, const T *from, T *to, bool add)
{
    const size_t e = blockIdx.x * (size_t)THREADS + threadIdx.x, d = g.a.channels / g.a.n_heads;
    if (e >= g.a.n_rows * g.a.channels) return;
    store_or_add(to + e, dropped(g, pass_of(g.a), e / d, 1) * as_float(from[e]), add);
}

template <class T>
static cudaError_t value_alone(dis__cuda_session *s, const dis__padded_attention_args *a, const void *from, void *to,
                               bool add)
{
    const size_t n = a->n_rows * a->channels;
    if (n)
        value_alone_kernel<T>
            <<<grid_of(n, THREADS), THREADS, 0, s->stream>>>(call_of(a), (const T *)from, (T *)to, add);
    return cudaGetLastError();
}

/* ---- many ---- */

/* Offsets of one row and head. */
template <class T> struct place {
    const T *q, *k, *v, *share;
    int n, m; /* positions; number of positions within the length */
    size_t index, d, ld, channels;
};

template <class T> __device__ __forceinline__ place<T> place_of(const dis__padded_attention_args &a)
{
    place<T> p;
    const size_t row = blockIdx.x / a.n_heads, head = blockIdx.x % a.n_heads;
    p.index = blockIdx.x;
    p.d = a.channels / a.n_heads;
    p.ld = 3 * a.channels;
    p.channels = a.channels;
    p.n = (int)a.n_times;
    p.m = a.length ? a.length[row] : p.n;
    p.q = (const T *)a.qkv + row * a.n_times * p.ld + head * p.d;
    p.k = p.q + a.channels;
    p.v = p.k + a.channels;
    p.share = (const T *)a.share + p.index * a.n_times * a.n_times;
    return p;
}

template <class T> __global__ void padded_attention_kernel(attention_call g)
{
    extern __shared__ float room[];
    const place<T> p = place_of<T>(g.a);
    const int lane = threadIdx.x % 32;
    float *const s = room + threadIdx.x / 32 * p.n;
    const uint32_t pass = pass_of(g.a);
    T *const y = (T *)g.a.y + p.index / g.a.n_heads * g.a.n_times * p.channels + p.index % g.a.n_heads * p.d;
    for (int t = (int)(blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32); t < p.n;
         t += (int)(gridDim.y * (blockDim.x / 32))) {
        const size_t row = p.index * g.a.n_times * g.a.n_times + (size_t)t * g.a.n_times;
        float max = -INFINITY, total = 0;
        for (int j = lane; t < p.m && j < p.m; j += 32) {
            s[j] = dot_of(p.q + (size_t)t * p.ld, p.k + (size_t)j * p.ld, p.d) * g.scale;
            max = fmaxf(max, s[j]);
        }
        max = warp_max(max);
        for (int j = lane; t < p.m && j < p.m; j += 32) total += s[j] = expf(s[j] - max);
        const float scale = 1 / warp_sum(total);
        for (int j = lane; t < p.m && j < p.n; j += 32) {
            const float share = j < p.m ? s[j] * scale : 0;
            ((T *)g.a.share)[row + (size_t)j] = from_float<T>(share);
            s[j] = dropped(g, pass, row + (size_t)j, share);
        }
        __syncwarp();
        for (size_t c = (size_t)lane; c < p.d; c += 32) {
            float sum = 0;
            for (int j = 0; t < p.m && j < p.m; j++) sum += s[j] * as_float(p.v[(size_t)j * p.ld + c]);
            y[(size_t)t * p.channels + c] = from_float<T>(sum);
        }
        __syncwarp();
    }
}

/* room: (n) means of queries, then 2 n values per warp. */
template <class T> __global__ void padded_attention_grad_kernel(attention_call g)
{
    extern __shared__ float room[];
    const place<T> p = place_of<T>(g.a);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    float *const mean = room, *const ds = room + p.n * (1 + 2 * warp), *const p_dropped = ds + p.n;
    const uint32_t pass = pass_of(g.a);
    const size_t from = p.index / g.a.n_heads * g.a.n_times, head = p.index % g.a.n_heads * p.d;
    const size_t first = p.index * g.a.n_times * g.a.n_times;
    const T *const dy = (const T *)g.a.dy + from * p.channels + head;
    T *const dq = (T *)g.a.d_qkv + from * p.ld + head, *const dk = dq + p.channels, *const dv = dk + p.channels;
    for (int t = warp; t < p.m; t += warps) {
        float sum = 0;
        for (int j = lane; j < p.m; j += 32) {
            const size_t e = (size_t)t * g.a.n_times + (size_t)j;
            const float d = dot_of(dy + (size_t)t * p.channels, p.v + (size_t)j * p.ld, p.d);
            ds[j] = dropped(g, pass, first + e, d);
            sum += ds[j] * as_float(p.share[e]);
        }
        sum = warp_sum(sum);
        if (lane == 0) mean[t] = sum;
        for (int j = lane; j < p.m; j += 32)
            ds[j] = as_float(p.share[(size_t)t * g.a.n_times + (size_t)j]) * (ds[j] - sum) * g.scale;
        __syncwarp();
        for (size_t c = (size_t)lane; c < p.d; c += 32) {
            float d = 0;
            for (int j = 0; j < p.m; j++) d += ds[j] * as_float(p.k[(size_t)j * p.ld + c]);
            store_or_add(dq + (size_t)t * p.ld + c, d, g.a.add);
        }
        __syncwarp();
    }
    __syncthreads();
    for (int j = warp; j < p.m; j += warps) {
        for (int t = lane; t < p.m; t += 32) {
            const size_t e = (size_t)t * g.a.n_times + (size_t)j;
            const float share = as_float(p.share[e]);
            const float d = dot_of(dy + (size_t)t * p.channels, p.v + (size_t)j * p.ld, p.d);
            const float factor = dropped(g, pass, first + e, 1);
            ds[t] = share * (d * factor - mean[t]) * g.scale;
            p_dropped[t] = share * factor;
        }
        __syncwarp();
        for (size_t c = (size_t)lane; c < p.d; c += 32) {
            float d_key = 0, d_value = 0;
            for (int t = 0; t < p.m; t++) {
                d_key += ds[t] * as_float(p.q[(size_t)t * p.ld + c]);
                d_value += p_dropped[t] * as_float(dy[(size_t)t * p.channels + c]);
            }
            store_or_add(dk + (size_t)j * p.ld + c, d_key, g.a.add);
            store_or_add(dv + (size_t)j * p.ld + c, d_value, g.a.add);
        }
        __syncwarp();
    }
    for (int t = g.a.add ? p.n : p.m + warp; t < p.n; t += warps)
        for (size_t c = (size_t)lane; c < p.d; c += 32)
            dq[(size_t)t * p.ld + c] = dk[(size_t)t * p.ld + c] = dv[(size_t)t * p.ld + c] = from_float<T>(0);
}

template <class T> static cudaError_t padded_attention_of(dis__cuda_session *s, const dis__padded_attention_args *a)
{
    if (a->value_only) return value_alone<T>(s, a, a->qkv, a->y, false);
    if (a->n_rows == 0 || a->n_times == 0) return cudaSuccess;
    size_t warps = WARPS;
    while (warps > 1 && warps * a->n_times * sizeof(float) > s->shared) warps /= 2;
    const size_t bytes = warps * a->n_times * sizeof(float);
    if (bytes > s->shared) return dis__cuda_unsupported(s, "attention", s->shared / sizeof(float), "places");
    const cudaError_t error = allow_shared(s, (const void *)padded_attention_kernel<T>, bytes);
    if (error != cudaSuccess) return error;
    const dim3 grid((unsigned)(a->n_rows * a->n_heads), grid_of(a->n_times, 4 * warps));
    padded_attention_kernel<T><<<grid, (unsigned)(32 * warps), bytes, s->stream>>>(call_of(a));
    return cudaGetLastError();
}

template <class T>
static cudaError_t padded_attention_grad_of(dis__cuda_session *s, const dis__padded_attention_args *a)
{
    if (a->value_only) return value_alone<T>(s, a, a->dy, a->d_qkv, a->add);
    if (a->n_rows == 0 || a->n_times == 0) return cudaSuccess;
    size_t warps = WARPS;
    while (warps > 1 && (1 + 2 * warps) * a->n_times * sizeof(float) > s->shared) warps /= 2;
    const size_t bytes = (1 + 2 * warps) * a->n_times * sizeof(float);
    if (bytes > s->shared)
        return dis__cuda_unsupported(s, "attention", s->shared / (3 * sizeof(float)), "places, in training");
    const cudaError_t error = allow_shared(s, (const void *)padded_attention_grad_kernel<T>, bytes);
    if (error != cudaSuccess) return error;
    padded_attention_grad_kernel<T>
        <<<(unsigned)(a->n_rows * a->n_heads), (unsigned)(32 * warps), bytes, s->stream>>>(call_of(a));
    return cudaGetLastError();
}

DIS_CUDA_OP(padded_attention, dis__padded_attention_args)
DIS_CUDA_OP(padded_attention_grad, dis__padded_attention_args)
