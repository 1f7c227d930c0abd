/* The gradients of gain and bias of layer normalisation: sums over rows in parts, computed in parallel, which the last
 * block adds in order. */
#include "nn/cuda/norm/layernorm.cuh"

enum { COLUMNS = 64, DOWN = 8 };

/* As column_sums (column_sums.cu), for two sums at once. */
template <class T>
__global__ void __launch_bounds__(DOWN * 32) param_grad_kernel(dis__layernorm_args a, float *part, unsigned *counter)
{
    __shared__ float room[2][DOWN][COLUMNS];
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
    if (last_of_parts(counter + blockIdx.x, parts) && sums)
        out[mine] += sum_of_parts(part + which * width + mine, parts, 2 * width);
}

/* The same for rows of whole packs: a lane has a pack of columns, a block 32 packs. */
template <class T>
__global__ void __launch_bounds__(DOWN * 32)
    param_grad_packs_kernel(dis__layernorm_args a, float *part, unsigned *counter)
{
    enum { N = pack<T>::N, WIDE = 32 * N };
    __shared__ float room[DOWN][2 * WIDE];
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
    if (!last_of_parts(counter + blockIdx.x, parts)) return;
    for (int which = 0; which < 2; which++) {
        float *out = (float *)(which ? a.d_bias : a.d_gain);
        for (int column = threadIdx.x; out && column < WIDE && c0 + column < width; column += DOWN * 32)
            out[c0 + column] += sum_of_parts(part + which * width + c0 + column, parts, 2 * width);
    }
}

template <class T> static bool param_grad_packs(dis__cuda_session *s, const dis__layernorm_args *a, cudaError_t *error)
{
    enum { WIDE = 32 * pack<T>::N };
    const size_t across = (a->width + WIDE - 1) / WIDE, limit = (a->n_rows + 15) / 16;
    size_t parts = (size_t)s->n_processors * 3 / across + 1;
    if (parts > limit) parts = limit;
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
    const size_t across = (a->width + COLUMNS - 1) / COLUMNS, limit = (a->n_rows + 15) / 16;
    size_t parts = (size_t)s->n_processors * 4 / across + 1;
    if (parts > limit) parts = limit;
    if (across > DIS_CUDA_COUNTERS || parts * 2 * a->width * sizeof(float) > s->scratch_bytes) parts = 1;
    const dim3 grid((unsigned)across, (unsigned)parts);
    DIS_CUDA_BY_VALUE(s,
                      (param_grad_kernel<T><<<grid, DOWN * 32, 0, s->stream>>>(*a, (float *)s->scratch, s->counters)));
    return cudaGetLastError();
}
