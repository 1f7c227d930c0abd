/* Kernels of layer normalisation, dropout and pooling over rows; what they compute is in nn/loops/norm_loops.h.
 *
 * Layer normalisation has one warp per row. Rows of up to 1,024 numbers stay in registers, 16 bytes per lane and load
 * where the width allows it, so that each number is read once; wider rows are read three times. The gradients of gain
 * and bias are sums over rows: in parts, side by side, which the last block adds up in order. */
#include "nn/cuda/kernels.cuh"

enum { WARPS = 4, KEPT = 1024 };

/* Numbers of a row that one lane has, N at a time: group g is at (g * 32 + lane) * N. */
template <class T, int N> __device__ __forceinline__ void load_some(const T *p, float *x)
{
    if (N == 1) {
        x[0] = as_float(*p);
    } else {
        ((const pack<T> *)p)->get(x);
    }
}
template <class T, int N> __device__ __forceinline__ void store_some(T *p, const float *x)
{
    if (N == 1) {
        *p = from_float<T>(x[0]);
    } else {
        pack<T> v;
        v.set(x);
        *(pack<T> *)p = v;
    }
}
template <int N> __device__ __forceinline__ void load_floats(const float *p, float *x)
{
    if (N == 1) {
        x[0] = *p;
    } else {
#pragma unroll
        for (int i = 0; i < N; i += 4) {
            const float4 v = *(const float4 *)(p + i);
            x[i] = v.x, x[i + 1] = v.y, x[i + 2] = v.z, x[i + 3] = v.w;
        }
    }
}

/* Dropout in front of a layer normalisation: of what its x is made of, or what its dx goes to. */
typedef struct {
    dis__dropout_args a;
    uint32_t threshold;
    float scale;
} dropped;

static dropped dropped_of(const dis__dropout_args *a)
{
    return {*a, drop_threshold(a->rate), (float)(1 / (1 - a->rate))};
}

/* Bit 8 g + i: number i of group g of this lane's part of a row is dropped. A row is whole groups of 256 numbers, four
 * of which have their words from one draw (see dropout_words): those of a row from one or two. */
template <int GROUPS> __device__ __forceinline__ uint32_t drop_mask(const dropped &d, size_t row)
{
    const uint32_t lane = threadIdx.x & 31, pass = (uint32_t)(uint64_t)*d.a.pass;
    const size_t group = row * GROUPS;
    const unsigned first = (unsigned)(group & 3);
    uint32_t mask = 0;
#pragma unroll 2
    for (uint32_t i = 0; i < 8; i++) {
        const uint4 w = dropout_words(d.a.seed, pass, d.a.layer, group / 4, lane * 8 + i);
        uint4 v = w;
        if (first + GROUPS > 4) v = dropout_words(d.a.seed, pass, d.a.layer, group / 4 + 1, lane * 8 + i);
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

/* Numbers of group g, dropped and rounded as they are stored. */
template <class T, int N>
__device__ __forceinline__ void drop_some(const dropped &d, uint32_t mask, int g, float *x)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = mask >> (N * g + i) & 1 ? 0 : as_float(from_float<T>(x[i] * d.scale));
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
    const float inverse = 1 / sqrtf(warp_sum(squares) / (float)width + (float)a.epsilon);
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
__global__ void __launch_bounds__(WARPS * 32) dropout_layernorm_kernel(dis__layernorm_args a, dropped d)
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
    const float inverse = 1 / sqrtf(warp_sum(squares) / (float)width + (float)a.epsilon);
    for (size_t c = lane; c < width; c += 32) {
        const float z = as_float(x[c]) + (r ? as_float(r[c]) : 0) - mean;
        ((T *)a.y)[row * width + c] = from_float<T>(gain[c] * (z * inverse) + (bias ? bias[c] : 0));
    }
    if (lane == 0) ((float2 *)a.stats)[row] = make_float2(mean, inverse);
}

static bool packs(const dis__layernorm_args *a, size_t n)
{
    return a->width % n == 0 && aligned16(a->x) && aligned16(a->r) && aligned16(a->y) && aligned16(a->gain) &&
           aligned16(a->bias) && aligned16(a->dy) && aligned16(a->dx) && aligned16(a->dr);
}

#define LAYERNORM(kernel)                                                                                  \
    template <class T> static cudaError_t run_##kernel(dis__cuda_session *s, const dis__layernorm_args *a) \
    {                                                                                                      \
        enum { N = pack<T>::N };                                                                           \
        const unsigned grid = grid_of(a->n_rows, WARPS);                                                   \
        if (a->n_rows == 0) return cudaSuccess;                                                            \
        if (sizeof(T) == 2 && a->width <= KEPT / 2 && packs(a, N))                                         \
            kernel##_kernel<bf16, 8, KEPT / 2 / 32 / 8><<<grid, WARPS * 32, 0, s->stream>>>(*a);           \
        else if (sizeof(T) == 2 && a->width <= KEPT * 3 / 4 && packs(a, N))                                \
            kernel##_kernel<bf16, 8, KEPT * 3 / 4 / 32 / 8><<<grid, WARPS * 32, 0, s->stream>>>(*a);       \
        else if (a->width <= KEPT && packs(a, N))                                                          \
            kernel##_kernel<T, N, KEPT / 32 / N><<<grid, WARPS * 32, 0, s->stream>>>(*a);                  \
        else                                                                                               \
            kernel##_wide_kernel<T><<<grid, WARPS * 32, 0, s->stream>>>(*a);                               \
        return cudaGetLastError();                                                                         \
    }
LAYERNORM(layernorm)

cudaError_t dis__cuda_layernorm(dis__cuda_session *s, const void *args)
{
    DIS_CUDA_BY_VALUE(s, return run_layernorm<T>(s, (const dis__layernorm_args *)args));
    return cudaSuccess;
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
    const float g_mean = warp_sum(g_sum) / (float)width, gz_mean = warp_sum(gz_sum) / (float)width;
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
        const size_t c = (size_t)(k * 32 + lane) * N;
        if (c < width) {
#pragma unroll
            for (int i = 0; i < N; i++) g[k][i] = (g[k][i] - g_mean - z[k][i] * gz_mean) * stats.y;
#pragma unroll
            for (int which = 0; which < 2; which++) {
                T *to = (T *)(which ? a.dr : DROP ? d->a.y : a.dx);
                const bool add = which ? a.add_r : DROP ? d->a.add : a.add_x;
                if (!to) continue;
                float mine[N], old[N];
#pragma unroll
                for (int i = 0; i < N; i++) mine[i] = DROP && !which ? as_float(from_float<T>(g[k][i])) : g[k][i];
                if (DROP && !which) drop_some<T, N>(*d, mask, k, mine);
                if (add) load_some<T, N>(to + row * width + c, old);
#pragma unroll
                for (int i = 0; i < N; i++) mine[i] = add ? old[i] + mine[i] : mine[i];
                store_some<T, N>(to + row * width + c, mine);
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
__global__ void __launch_bounds__(WARPS * 32) layernorm_grad_dropout_kernel(dis__layernorm_args a, dropped d)
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
    const float g_mean = warp_sum(g_sum) / (float)width, gz_mean = warp_sum(gz_sum) / (float)width;
    for (size_t c = lane; c < width; c += 32) {
        const float z = (as_float(x[c]) + (r ? as_float(r[c]) : 0) - stats.x) * stats.y;
        const float d = (gain[c] * as_float(dy[c]) - g_mean - z * gz_mean) * stats.y;
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

/* Rows of 512, 768 or 1,024 numbers in bfloat16, all of them dropped from. */
static bool joins(const dis__cuda_session *s, const dis__layernorm_args *a, const dis__dropout_args *d)
{
    return s->value == DIS_BFLOAT16 && a->n_rows && d->rate > 0 && d->n == a->n_rows * a->width && a->width % 256 == 0 &&
           a->width >= 512 && a->width <= 1024 && packs(a, 8) && aligned16(d->x) && aligned16(d->y);
}

#define BY_GROUPS(kernel)                                                         \
    do {                                                                          \
        const unsigned grid = grid_of(a->n_rows, WARPS);                          \
        const dropped with = dropped_of(d);                                       \
        if (a->width == 512)                                                      \
            kernel<2><<<grid, WARPS * 32, 0, s->stream>>>(*a, with);              \
        else if (a->width == 768)                                                 \
            kernel<3><<<grid, WARPS * 32, 0, s->stream>>>(*a, with);              \
        else                                                                      \
            kernel<4><<<grid, WARPS * 32, 0, s->stream>>>(*a, with);              \
        *error = cudaGetLastError();                                              \
    } while (0)

bool dis__cuda_dropout_layernorm(dis__cuda_session *s, const void *dropout, const void *norm, cudaError_t *error)
{
    const dis__dropout_args *d = (const dis__dropout_args *)dropout;
    const dis__layernorm_args *a = (const dis__layernorm_args *)norm;
    if (a->x != d->y || a->r == d->y || d->add || !joins(s, a, d)) return false;
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

/* ---- sums over rows ---- */

enum { COLUMNS = 64, DOWN = 8 };

/* As column_sums (cuda_dense.cu), of two things at once. */
template <class T>
__global__ void __launch_bounds__(DOWN * 32) param_grad_kernel(dis__layernorm_args a, float *part, unsigned *counter)
{
    __shared__ float room[2][DOWN][COLUMNS];
    __shared__ bool last;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const size_t width = a.width, c0 = (size_t)blockIdx.x * COLUMNS, c = c0 + 2 * lane, parts = gridDim.y;
    const size_t from = a.n_rows * blockIdx.y / parts, to = a.n_rows * (blockIdx.y + 1) / parts;
    const T *x = (const T *)a.x, *r = (const T *)a.r, *dy = (const T *)a.dy;
    const float2 *stats = (const float2 *)a.stats;
    float gain[2] = {0, 0}, bias[2] = {0, 0};
#pragma unroll 2
    for (size_t i = from + warp; i < to; i += DOWN) {
        const float2 t = stats[i];
#pragma unroll
        for (int j = 0; j < 2; j++)
            if (c + j < width) {
                const size_t e = i * width + c + j;
                const float d = as_float(dy[e]), v = as_float(x[e]) + (r ? as_float(r[e]) : 0);
                gain[j] += d * ((v - t.x) * t.y);
                bias[j] += d;
            }
    }
#pragma unroll
    for (int j = 0; j < 2; j++) {
        room[0][warp][2 * lane + j] = gain[j];
        room[1][warp][2 * lane + j] = bias[j];
    }
    __syncthreads();
    const int which = threadIdx.x / COLUMNS, column = threadIdx.x % COLUMNS;
    const size_t mine = c0 + column;
    float *out = (float *)(which ? a.d_bias : a.d_gain);
    const bool sums = which < 2 && mine < width && out;
    float total = 0;
    if (sums)
        for (int w = 0; w < DOWN; w++) total += room[which][w][column];
    if (parts == 1) {
        if (sums) out[mine] += total;
        return;
    }
    if (sums) part[(blockIdx.y * 2 + which) * width + mine] = total;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(counter + blockIdx.x, 1) == parts - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (sums) {
        total = 0;
        for (size_t p = 0; p < parts; p++) total += __ldcg(part + (p * 2 + which) * width + mine);
        out[mine] += total;
    }
    if (threadIdx.x == 0) counter[blockIdx.x] = 0;
}

/* The same for rows of whole packs: a lane has a pack of columns, a block 32 packs. */
template <class T>
__global__ void __launch_bounds__(DOWN * 32)
    param_grad_packs_kernel(dis__layernorm_args a, float *part, unsigned *counter)
{
    enum { N = pack<T>::N, WIDE = 32 * N };
    __shared__ float room[DOWN][2 * WIDE];
    __shared__ bool last;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const size_t width = a.width, c0 = (size_t)blockIdx.x * WIDE, c = c0 + lane * N, parts = gridDim.y;
    const size_t from = a.n_rows * blockIdx.y / parts, to = a.n_rows * (blockIdx.y + 1) / parts;
    float gain[N] = {0}, bias[N] = {0};
    if (c < width)
#pragma unroll 2
        for (size_t i = from + warp; i < to; i += DOWN) {
            const float2 t = ((const float2 *)a.stats)[i];
            float v[N], d[N], r[N];
            load_some<T, N>((const T *)a.x + i * width + c, v);
            load_some<T, N>((const T *)a.dy + i * width + c, d);
            if (a.r) load_some<T, N>((const T *)a.r + i * width + c, r);
#pragma unroll
            for (int k = 0; k < N; k++) {
                gain[k] += d[k] * (((a.r ? v[k] + r[k] : v[k]) - t.x) * t.y);
                bias[k] += d[k];
            }
        }
#pragma unroll
    for (int k = 0; k < N; k++) {
        room[warp][lane * N + k] = gain[k];
        room[warp][WIDE + lane * N + k] = bias[k];
    }
    __syncthreads();
    for (int which = 0; which < 2; which++)
        for (int column = threadIdx.x; column < WIDE && c0 + column < width; column += DOWN * 32) {
            float sum = 0;
            for (int w = 0; w < DOWN; w++) sum += room[w][which * WIDE + column];
            part[(blockIdx.y * 2 + which) * width + c0 + column] = sum;
        }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(counter + blockIdx.x, 1) == parts - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int which = 0; which < 2; which++) {
        float *out = (float *)(which ? a.d_bias : a.d_gain);
        for (int column = threadIdx.x; out && column < WIDE && c0 + column < width; column += DOWN * 32) {
            float sum = 0;
#pragma unroll 16
            for (size_t p = 0; p < parts; p++) sum += __ldcg(part + (p * 2 + which) * width + c0 + column);
            out[c0 + column] += sum;
        }
    }
    if (threadIdx.x == 0) counter[blockIdx.x] = 0;
}

template <class T> static bool param_grad_packs(dis__cuda_session *s, const dis__layernorm_args *a, cudaError_t *error)
{
    enum { WIDE = 32 * pack<T>::N };
    const size_t across = (a->width + WIDE - 1) / WIDE, most = (a->n_rows + 15) / 16;
    size_t parts = (size_t)s->n_processors * 3 / across + 1;
    if (parts > most) parts = most;
    if (parts > 64) parts = 64;
    if (!packs(a, pack<T>::N) || across > DIS_CUDA_COUNTERS || parts * 2 * a->width * sizeof(float) > s->scratch_bytes)
        return false;
    const dim3 grid((unsigned)across, (unsigned)parts);
    param_grad_packs_kernel<T><<<grid, DOWN * 32, 0, s->stream>>>(*a, (float *)s->scratch, s->counters);
    *error = cudaGetLastError();
    return true;
}

cudaError_t dis__cuda_layernorm_param_grad(dis__cuda_session *s, const void *args)
{
    const dis__layernorm_args *a = (const dis__layernorm_args *)args;
    cudaError_t error;
    if (a->n_rows == 0 || a->width == 0) return cudaSuccess;
    DIS_CUDA_BY_VALUE(s, if (param_grad_packs<T>(s, a, &error)) return error);
    const size_t across = (a->width + COLUMNS - 1) / COLUMNS, most = (a->n_rows + 15) / 16;
    size_t parts = (size_t)s->n_processors * 4 / across + 1;
    if (parts > most) parts = most;
    if (across > DIS_CUDA_COUNTERS || parts * 2 * a->width * sizeof(float) > s->scratch_bytes) parts = 1;
    const dim3 grid((unsigned)across, (unsigned)parts);
    DIS_CUDA_BY_VALUE(s,
                      (param_grad_kernel<T><<<grid, DOWN * 32, 0, s->stream>>>(*a, (float *)s->scratch, s->counters)));
    return cudaGetLastError();
}

/* ---- dropout ---- */

/* A block of 1,024 elements at a time: a thread draws four words twice, of pairs of elements 256 apart. */
template <class T>
__global__ void __launch_bounds__(128) dropout_pairs_kernel(dis__dropout_args a, uint32_t threshold, float scale)
{
    struct alignas(2 * sizeof(T)) pair {
        T a, b;
    };
    const pair *x = (const pair *)a.x;
    pair *y = (pair *)a.y;
    const uint32_t pass = (uint32_t)(uint64_t)*a.pass;
    const size_t blocks = a.n / DIS_DROPOUT_BLOCK;
    for (size_t b = blockIdx.x; b < blocks; b += gridDim.x) {
        pair v[4];
        const size_t at = b * (DIS_DROPOUT_BLOCK / 2) + threadIdx.x;
#pragma unroll
        for (int i = 0; i < 4; i++) v[i] = x[at + i * 128];
        const uint4 w = dropout_words(a.seed, pass, a.layer, b, 2 * threadIdx.x);
        const uint4 z = dropout_words(a.seed, pass, a.layer, b, 2 * threadIdx.x + 1);
        const uint32_t word[4] = {w.x, w.y, w.z, w.w}, next[4] = {z.x, z.y, z.z, z.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float p = word[i] < threshold ? 0 : as_float(v[i].a) * scale;
            const float q = next[i] < threshold ? 0 : as_float(v[i].b) * scale;
            pair before = {};
            if (a.add) before = y[at + i * 128];
            y[at + i * 128] = {from_float<T>(a.add ? as_float(before.a) + p : p),
                               from_float<T>(a.add ? as_float(before.b) + q : q)};
        }
    }
}

/* The same for what is not whole blocks: a thread draws four words, of elements 256 apart. */
template <class T>
__global__ void __launch_bounds__(256) dropout_kernel(dis__dropout_args a, uint32_t threshold, float scale)
{
    const T *x = (const T *)a.x;
    T *y = (T *)a.y;
    const uint32_t pass = (uint32_t)(uint64_t)*a.pass;
    const size_t blocks = (a.n + DIS_DROPOUT_BLOCK - 1) / DIS_DROPOUT_BLOCK;
    for (size_t b = blockIdx.x; b < blocks; b += gridDim.x) {
        const uint4 w = dropout_words(a.seed, pass, a.layer, b, threadIdx.x);
        const uint32_t word[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const size_t e = b * DIS_DROPOUT_BLOCK + i * 256 + threadIdx.x;
            if (e >= a.n) continue;
            const float kept = word[i] < threshold ? 0 : as_float(x[e]) * scale;
            y[e] = from_float<T>(a.add ? as_float(y[e]) + kept : kept);
        }
    }
}

cudaError_t dis__cuda_dropout(dis__cuda_session *s, const void *args)
{
    const dis__dropout_args *a = (const dis__dropout_args *)args;
    if (a->n == 0) return cudaSuccess;
    if (a->rate == 0) {
        const dis__add_args add = {a->n, a->x, NULL, a->y};
        const size_t bytes = a->n * (s->value == DIS_FLOAT32 ? 4 : 2);
        if (a->add) return dis__cuda_add(s, &add);
        return a->x == a->y ? cudaSuccess : cudaMemcpyAsync(a->y, a->x, bytes, cudaMemcpyDeviceToDevice, s->stream);
    }
    const unsigned blocks = grid_some(s, a->n, DIS_DROPOUT_BLOCK);
    if (a->n % DIS_DROPOUT_BLOCK == 0 && aligned16(a->x) && aligned16(a->y)) {
        DIS_CUDA_BY_VALUE(s, dropout_pairs_kernel<T>
                          <<<blocks, 128, 0, s->stream>>>(*a, drop_threshold(a->rate), (float)(1 / (1 - a->rate))));
        return cudaGetLastError();
    }
    DIS_CUDA_BY_VALUE(s, (dropout_kernel<T>
                          <<<blocks, 256, 0, s->stream>>>(*a, drop_threshold(a->rate), (float)(1 / (1 - a->rate)))));
    return cudaGetLastError();
}

/* ---- pooling ---- */

__device__ __forceinline__ size_t pool_start(const dis__pool_args &a, size_t i)
{
    return a.start ? (size_t)a.start[i] : i * a.per;
}

__device__ __forceinline__ size_t pool_length(const dis__pool_args &a, size_t i)
{
    return a.length ? (size_t)a.length[i] : a.per;
}

/* Block (row, columns): a thread goes down one column. */
template <class T> __global__ void __launch_bounds__(128) pool_kernel(dis__pool_args a)
{
    const size_t c = (size_t)blockIdx.y * blockDim.x + threadIdx.x, w = a.width;
    if (c >= w) return;
    for (size_t i = blockIdx.x; i < a.n_rows; i += gridDim.x) {
        const size_t n = pool_length(a, i);
        const T *x = (const T *)a.x + pool_start(a, i) * w + c;
        float y = 0;
        int32_t choice = 0;
        if (n) switch (a.kind) {
            case DIS_POOL_MAX:
                y = as_float(x[0]);
                for (size_t t = 1; t < n; t++)
                    if (as_float(x[t * w]) > y) {
                        y = as_float(x[t * w]);
                        choice = (int32_t)t;
                    }
                a.choice[i * w + c] = choice;
                break;
            case DIS_POOL_MEAN:
#pragma unroll 4
                for (size_t t = 0; t < n; t++) y += as_float(x[t * w]);
                y *= 1 / (float)n;
                break;
            case DIS_POOL_LAST: y = as_float(x[(n - 1) * w]); break;
            case DIS_POOL_ENDS: y = as_float(x[c < w / 2 ? (n - 1) * w : 0]); break;
            default: y = as_float(x[0]);
            }
        ((T *)a.y)[i * w + c] = from_float<T>(y);
    }
}

cudaError_t dis__cuda_pool(dis__cuda_session *s, const void *args)
{
    const dis__pool_args *a = (const dis__pool_args *)args;
    if (a->n_rows == 0) return cudaSuccess;
    const dim3 grid(grid_of(a->n_rows, 1), grid_of(a->width, 128));
    DIS_CUDA_BY_VALUE(s, (pool_kernel<T><<<grid, 128, 0, s->stream>>>(*a)));
    return cudaGetLastError();
}

/* Every row of x that belongs to row i is written: the share of dy that falls to it, or 0. Block (row, part of its
 * span, columns). */
enum { SPAN = 64 };
template <class T> __global__ void __launch_bounds__(128) pool_grad_kernel(dis__pool_args a)
{
    const size_t c = (size_t)blockIdx.z * blockDim.x + threadIdx.x, w = a.width, i = blockIdx.x;
    if (c >= w) return;
    const size_t n = pool_length(a, i), start = pool_start(a, i);
    const size_t end = !a.start ? a.per : (i + 1 < a.n_rows ? (size_t)a.start[i + 1] : a.n_packed) - start;
    T *dx = (T *)a.dx + start * w + c;
    const float dy = n ? as_float(((const T *)a.dy)[i * w + c]) : 0;
    const bool at_end = a.kind == DIS_POOL_LAST || (a.kind == DIS_POOL_ENDS && c < w / 2);
    const size_t one = !n ? 0 : a.kind == DIS_POOL_MAX ? (size_t)a.choice[i * w + c] : at_end ? n - 1 : 0;
    const float share = n ? dy * (1 / (float)n) : 0;
    for (size_t first = (size_t)blockIdx.y * SPAN; first < end; first += (size_t)gridDim.y * SPAN)
        for (size_t t = first; t < first + SPAN && t < end; t++) {
            const float d = a.kind == DIS_POOL_MEAN ? (t < n ? share : 0) : n && t == one ? dy : 0;
            if (!a.add)
                dx[t * w] = from_float<T>(d);
            else if (d != 0)
                dx[t * w] = from_float<T>(as_float(dx[t * w]) + d);
        }
}

cudaError_t dis__cuda_pool_grad(dis__cuda_session *s, const void *args)
{
    const dis__pool_args *a = (const dis__pool_args *)args;
    if (a->n_rows == 0) return cudaSuccess;
    const dim3 grid(grid_of(a->n_rows, 1), grid_of(a->per < 65536 ? a->per : 65536, SPAN), grid_of(a->width, 128));
    DIS_CUDA_BY_VALUE(s, (pool_grad_kernel<T><<<grid, 128, 0, s->stream>>>(*a)));
    return cudaGetLastError();
}
