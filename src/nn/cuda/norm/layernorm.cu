/* Kernels of layer normalisation; what they compute is in nn/loops/norm_loops.h.
 *
 * Layer normalisation has one warp per row. Rows of up to 1,024 values stay in registers, 16 bytes per lane and load if
 * the width allows it, so that each value is read once; wider rows are read three times. */
#include "nn/cuda/norm/layernorm.cuh"

enum { WARPS = 4, IN_REGISTERS = 1024 };

/* Dropout before a layer normalisation: applied to a part of x (forward), or to a part of dx (backward). */
typedef struct {
    dis__dropout_args a;
    philox_keys keys;
    uint32_t threshold;
    float scale;
} dropped;

static dropped dropped_of(const dis__dropout_args *a)
{
    return {*a, philox_keys_of(a->seed), drop_threshold(a->rate), (float)(1 / (1 - a->rate))};
}

/* Bit 8 g + i: element i of group g of this lane's part of a row is dropped. A row consists of full groups of 256
 * elements, four of which use the words of one draw (see dropout_words): those of a row from one or two. */
template <int GROUPS> __device__ __forceinline__ uint32_t drop_mask(const dropped &d, size_t row)
{
    const uint32_t lane = threadIdx.x & 31, pass = (uint32_t)(uint64_t)*d.a.pass;
    const size_t group = row * GROUPS;
    const unsigned first = (unsigned)(group & 3);
    uint32_t mask = 0;
#pragma unroll 2
    for (uint32_t i = 0; i < 8; i++) {
        const uint4 w = dropout_words(d.keys, pass, d.a.layer, group / 4, lane * 8 + i);
        uint4 v = w;
        if (first + GROUPS > 4) v = dropout_words(d.keys, pass, d.a.layer, group / 4 + 1, lane * 8 + i);
#pragma unroll
        for (unsigned g = 0; g < GROUPS; g++) {
            const unsigned k = first + g;
            const uint32_t x = k < 4 ? w.x : v.x, y = k < 4 ? w.y : v.y, z = k < 4 ? w.z : v.z, u = k < 4 ? w.w : v.w;
            const uint32_t word = k % 4 == 0 ? x : k % 4 == 1 ? y : k % 4 == 2 ? z : u;
            mask |= (uint32_t)(word < d.threshold) << (8 * g + i);
        }
    }
    return mask;
}

/* Elements of group g after dropout, rounded as stored. */
template <class T, int N> __device__ __forceinline__ void drop_some(const dropped &d, uint32_t mask, int g, float *x)
{
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = mask >> (N * g + i) & 1 ? 0 : as_float(from_float<T>(x[i] * d.scale));
}

template <class T, int N, int GROUPS, bool DROP>
__device__ __forceinline__ void layernorm_row(const dis__layernorm_args &a, const dropped *d)
{
    const int lane = threadIdx.x & 31;
    const size_t row = (size_t)blockIdx.x * WARPS + (threadIdx.x >> 5), width = a.width;
    if (row >= a.n_rows) return;
    const T *x = (const T *)(DROP ? d->a.x : a.x) + row * width, *r = a.r ? (const T *)a.r + row * width : NULL;
    float v[GROUPS][N], sum = 0, squares = 0;
    const uint32_t mask = DROP ? drop_mask<GROUPS>(*d, row) : 0;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        const size_t c = (size_t)(g * 32 + lane) * N;
        if (c < width) {
            load_some<T, N>(x + c, v[g]);
            if (DROP) {
                drop_some<T, N>(*d, mask, g, v[g]);
                store_some<T, N>((T *)a.x + row * width + c, v[g]);
            }
            if (r) {
                float z[N];
                load_some<T, N>(r + c, z);
#pragma unroll
                for (int i = 0; i < N; i++) v[g][i] += z[i];
            }
#pragma unroll
            for (int i = 0; i < N; i++) sum += v[g][i];
        }
    }
    const float mean = warp_sum(sum) / (float)width;
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        if ((size_t)(g * 32 + lane) * N < width)
#pragma unroll
            for (int i = 0; i < N; i++) {
                v[g][i] -= mean;
                squares += v[g][i] * v[g][i];
            }
    const float inverse = norm_inverse(a, warp_sum(squares));
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        const size_t c = (size_t)(g * 32 + lane) * N;
        if (c < width) {
            float gain[N], bias[N];
            load_floats<N>((const float *)a.gain + c, gain);
            if (a.bias) load_floats<N>((const float *)a.bias + c, bias);
#pragma unroll
            for (int i = 0; i < N; i++) v[g][i] = gain[i] * (v[g][i] * inverse) + (a.bias ? bias[i] : 0);
            store_some<T, N>((T *)a.y + row * width + c, v[g]);
        }
    }
    if (lane == 0) ((float2 *)a.stats)[row] = make_float2(mean, inverse);
}

template <class T, int N, int GROUPS>
__global__ void __launch_bounds__(WARPS * 32) layernorm_kernel(dis__layernorm_args a)
{
    layernorm_row<T, N, GROUPS, false>(a, NULL);
}

template <int GROUPS>
__global__ void __launch_bounds__(WARPS * 32)
    dropout_layernorm_kernel(dis__layernorm_args a, const __grid_constant__ dropped d)
{
    layernorm_row<bf16, 8, GROUPS, true>(a, &d);
}

/* Rows of any width. */
template <class T> __global__ void __launch_bounds__(WARPS * 32) layernorm_wide_kernel(dis__layernorm_args a)
{
    const int lane = threadIdx.x & 31;
    const size_t row = (size_t)blockIdx.x * WARPS + (threadIdx.x >> 5), width = a.width;
    if (row >= a.n_rows) return;
    const T *x = (const T *)a.x + row * width, *r = a.r ? (const T *)a.r + row * width : NULL;
    const float *gain = (const float *)a.gain, *bias = (const float *)a.bias;
    float sum = 0, squares = 0;
    for (size_t c = lane; c < width; c += 32) sum += as_float(x[c]) + (r ? as_float(r[c]) : 0);
    const float mean = warp_sum(sum) / (float)width;
    for (size_t c = lane; c < width; c += 32) {
        const float z = as_float(x[c]) + (r ? as_float(r[c]) : 0) - mean;
        squares += z * z;
    }
    const float inverse = norm_inverse(a, warp_sum(squares));
    for (size_t c = lane; c < width; c += 32) {
        const float z = as_float(x[c]) + (r ? as_float(r[c]) : 0) - mean;
        ((T *)a.y)[row * width + c] = from_float<T>(gain[c] * (z * inverse) + (bias ? bias[c] : 0));
    }
    if (lane == 0) ((float2 *)a.stats)[row] = make_float2(mean, inverse);
}

#define LAYERNORM(kernel)                                                                                    \
    template <class T> static cudaError_t run_##kernel(dis__cuda_session *s, const dis__layernorm_args *a)   \
    {                                                                                                        \
        enum { N = pack<T>::N };                                                                             \
        const unsigned grid = grid_of(a->n_rows, WARPS);                                                     \
        if (a->n_rows == 0) return cudaSuccess;                                                              \
        if (sizeof(T) == 2 && a->width <= IN_REGISTERS / 2 && packs(a, N))                                   \
            kernel##_kernel<bf16, 8, IN_REGISTERS / 2 / 32 / 8><<<grid, WARPS * 32, 0, s->stream>>>(*a);     \
        else if (sizeof(T) == 2 && a->width <= IN_REGISTERS * 3 / 4 && packs(a, N))                          \
            kernel##_kernel<bf16, 8, IN_REGISTERS * 3 / 4 / 32 / 8><<<grid, WARPS * 32, 0, s->stream>>>(*a); \
        else if (a->width <= IN_REGISTERS && packs(a, N))                                                    \
            kernel##_kernel<T, N, IN_REGISTERS / 32 / N><<<grid, WARPS * 32, 0, s->stream>>>(*a);            \
        else                                                                                                 \
            kernel##_wide_kernel<T><<<grid, WARPS * 32, 0, s->stream>>>(*a);                                 \
        return cudaGetLastError();                                                                           \
    }
LAYERNORM(layernorm)

cudaError_t dis__cuda_layernorm(dis__cuda_session *s, const void *args)
{
    cudaError_t error = cudaSuccess;
    if (dis__cuda_norm_rows(s, (const dis__layernorm_args *)args, &error)) return error;
    DIS_CUDA_BY_VALUE(s, return run_layernorm<T>(s, (const dis__layernorm_args *)args));
    return error;
}

template <class T, int N, int GROUPS, bool DROP>
__device__ __forceinline__ void layernorm_grad_row(const dis__layernorm_args &a, const dropped *d)
{
    const int lane = threadIdx.x & 31;
    const size_t row = (size_t)blockIdx.x * WARPS + (threadIdx.x >> 5), width = a.width;
    if (row >= a.n_rows) return;
    const T *x = (const T *)a.x + row * width, *r = a.r ? (const T *)a.r + row * width : NULL;
    const T *dy = (const T *)a.dy + row * width;
    const float2 stats = ((const float2 *)a.stats)[row];
    float z[GROUPS][N], g[GROUPS][N], g_sum = 0, gz_sum = 0;
    const uint32_t mask = DROP ? drop_mask<GROUPS>(*d, row) : 0;
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
        const size_t c = (size_t)(k * 32 + lane) * N;
        if (c < width) {
            float more[N], gain[N];
            load_some<T, N>(x + c, z[k]);
            load_some<T, N>(dy + c, g[k]);
            load_floats<N>((const float *)a.gain + c, gain);
            if (r) load_some<T, N>(r + c, more);
#pragma unroll
            for (int i = 0; i < N; i++) {
                z[k][i] = ((r ? z[k][i] + more[i] : z[k][i]) - stats.x) * stats.y;
                g[k][i] *= gain[i];
                g_sum += g[k][i];
                gz_sum += g[k][i] * z[k][i];
            }
        }
    }
    const float g_mean = warp_sum(g_sum) / (float)width, slope = norm_slope(a, warp_sum(gz_sum), stats.y);
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
        const size_t c = (size_t)(k * 32 + lane) * N;
        if (c < width) {
#pragma unroll
            for (int i = 0; i < N; i++) g[k][i] = (g[k][i] - g_mean - z[k][i] * slope) * stats.y;
#pragma unroll
            for (int which = 0; which < 2; which++) {
                T *to = (T *)(which ? a.dr : DROP ? d->a.y : a.dx);
                const bool add = which ? a.add_r : DROP ? d->a.add : a.add_x;
                if (!to) continue;
                float value[N], old[N];
#pragma unroll
                for (int i = 0; i < N; i++) value[i] = DROP && !which ? as_float(from_float<T>(g[k][i])) : g[k][i];
                if (DROP && !which) drop_some<T, N>(*d, mask, k, value);
                if (add) load_some<T, N>(to + row * width + c, old);
#pragma unroll
                for (int i = 0; i < N; i++) value[i] = add ? old[i] + value[i] : value[i];
                store_some<T, N>(to + row * width + c, value);
            }
        }
    }
}

template <class T, int N, int GROUPS>
__global__ void __launch_bounds__(WARPS * 32) layernorm_grad_kernel(dis__layernorm_args a)
{
    layernorm_grad_row<T, N, GROUPS, false>(a, NULL);
}

template <int GROUPS>
__global__ void __launch_bounds__(WARPS * 32)
    layernorm_grad_dropout_kernel(dis__layernorm_args a, const __grid_constant__ dropped d)
{
    layernorm_grad_row<bf16, 8, GROUPS, true>(a, &d);
}

template <class T> __global__ void __launch_bounds__(WARPS * 32) layernorm_grad_wide_kernel(dis__layernorm_args a)
{
    const int lane = threadIdx.x & 31;
    const size_t row = (size_t)blockIdx.x * WARPS + (threadIdx.x >> 5), width = a.width;
    if (row >= a.n_rows) return;
    const T *x = (const T *)a.x + row * width, *r = a.r ? (const T *)a.r + row * width : NULL;
    const T *dy = (const T *)a.dy + row * width;
    const float *gain = (const float *)a.gain;
    const float2 stats = ((const float2 *)a.stats)[row];
    T *dx = a.dx ? (T *)a.dx + row * width : NULL, *dr = a.dr ? (T *)a.dr + row * width : NULL;
    float g_sum = 0, gz_sum = 0;
    for (size_t c = lane; c < width; c += 32) {
        const float z = (as_float(x[c]) + (r ? as_float(r[c]) : 0) - stats.x) * stats.y, g = gain[c] * as_float(dy[c]);
        g_sum += g;
        gz_sum += g * z;
    }
    const float g_mean = warp_sum(g_sum) / (float)width, slope = norm_slope(a, warp_sum(gz_sum), stats.y);
    for (size_t c = lane; c < width; c += 32) {
        const float z = (as_float(x[c]) + (r ? as_float(r[c]) : 0) - stats.x) * stats.y;
        const float d = (gain[c] * as_float(dy[c]) - g_mean - z * slope) * stats.y;
        if (dx) dx[c] = from_float<T>(a.add_x ? as_float(dx[c]) + d : d);
        if (dr) dr[c] = from_float<T>(a.add_r ? as_float(dr[c]) + d : d);
    }
}
LAYERNORM(layernorm_grad)

cudaError_t dis__cuda_layernorm_grad(dis__cuda_session *s, const void *args)
{
    DIS_CUDA_BY_VALUE(s, return run_layernorm_grad<T>(s, (const dis__layernorm_args *)args));
    return cudaSuccess;
}

/* ---- with dropout ---- */

/* Rows of 512, 768 or 1,024 elements in bfloat16, with dropout on all of them. */
static bool joins(const dis__cuda_session *s, const dis__layernorm_args *a, const dis__dropout_args *d)
{
    return s->value == DIS_BFLOAT16 && a->n_rows && d->rate > 0 && d->n == a->n_rows * a->width &&
           a->width % 256 == 0 && a->width >= 512 && a->width <= 1024 && packs(a, 8) && aligned16(d->x) &&
           aligned16(d->y);
}

#define BY_GROUPS(kernel)                                            \
    do {                                                             \
        const unsigned grid = grid_of(a->n_rows, WARPS);             \
        const dropped with = dropped_of(d);                          \
        if (a->width == 512)                                         \
            kernel<2><<<grid, WARPS * 32, 0, s->stream>>>(*a, with); \
        else if (a->width == 768)                                    \
            kernel<3><<<grid, WARPS * 32, 0, s->stream>>>(*a, with); \
        else                                                         \
            kernel<4><<<grid, WARPS * 32, 0, s->stream>>>(*a, with); \
        *error = cudaGetLastError();                                 \
    } while (0)

bool dis__cuda_dropout_layernorm(dis__cuda_session *s, const void *dropout, const void *norm, cudaError_t *error)
{
    const dis__dropout_args *d = (const dis__dropout_args *)dropout;
    const dis__layernorm_args *a = (const dis__layernorm_args *)norm;
    if (a->x != d->y || a->r == d->y || d->add) return false;
    if (dis__cuda_dropout_norm(s, d, a, error)) return true;
    if (!joins(s, a, d)) return false;
    BY_GROUPS(dropout_layernorm_kernel);
    return true;
}

bool dis__cuda_layernorm_grad_dropout(dis__cuda_session *s, const void *norm, const void *dropout, cudaError_t *error)
{
    const dis__dropout_args *d = (const dis__dropout_args *)dropout;
    const dis__layernorm_args *a = (const dis__layernorm_args *)norm;
    if (!a->dx || a->dx != d->x || a->add_x || a->dr == a->dx || a->dr == d->y || !joins(s, a, d)) return false;
    BY_GROUPS(layernorm_grad_dropout_kernel);
    return true;
}
