/* Sums of columns, in parts of rows, computed in parallel; the last block to finish adds the parts in order, so the
 * order of a sum depends on the shape only. All kernels are bound by memory: 16 bytes per thread and access where rows
 * allow it. */
#include "nn/cuda/common/kernels.cuh"

enum { SUM_COLUMNS = 64, SUM_WARPS = 8 };

/* Block (columns / 64, parts): its warps iterate over the rows of the part, each lane has two columns. */
template <class T>
__global__ void __launch_bounds__(SUM_WARPS * 32)
    column_sums_kernel(const T *x, size_t n_rows, size_t n_cols, size_t ld, float *out, float *part, unsigned *counter)
{
    __shared__ float room[SUM_WARPS][SUM_COLUMNS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const size_t c0 = (size_t)blockIdx.x * SUM_COLUMNS, c = c0 + 2 * lane, parts = gridDim.y;
    const size_t from = n_rows * blockIdx.y / parts, to = n_rows * (blockIdx.y + 1) / parts;
    float a = 0, b = 0;
    const bool has_a = c < n_cols, has_b = c + 1 < n_cols;
#pragma unroll 4
    for (size_t r = from + warp; r < to; r += SUM_WARPS) {
        if (has_a) a += as_float(x[r * ld + c]);
        if (has_b) b += as_float(x[r * ld + c + 1]);
    }
    room[warp][2 * lane] = a;
    room[warp][2 * lane + 1] = b;
    __syncthreads();
    const size_t mine = c0 + threadIdx.x;
    const bool sums = threadIdx.x < SUM_COLUMNS && mine < n_cols;
    float total = 0;
    if (sums)
        for (int w = 0; w < SUM_WARPS; w++) total += room[w][threadIdx.x];
    if (parts == 1) {
        if (sums) out[mine] += total;
        return;
    }
    if (sums) part[blockIdx.y * n_cols + mine] = total;
    if (last_of_parts(counter + blockIdx.x, parts) && sums) out[mine] += sum_of_parts(part + mine, parts, n_cols);
}

/* Rows of whole packs: a lane has a pack of columns, a block 32 packs. With GELU set, x is replaced by the activation's
 * gradient, from its argument (of) and dy (x). Without a counter the parts are not added. */
template <class T, bool GELU>
__global__ void __launch_bounds__(SUM_WARPS * 32)
    pack_sums_kernel(T *x, const T *of, size_t n_rows, size_t n_cols, size_t ld, float *out, float *part,
                     unsigned *counter)
{
    enum { N = pack<T>::N, WIDE = 32 * N, BATCH = 4 }; /* rows in flight */
    __shared__ float room[SUM_WARPS][WIDE];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const size_t c0 = (size_t)blockIdx.x * WIDE, c = c0 + lane * N, parts = gridDim.y;
    const size_t mine = parts - 1 - blockIdx.y; /* in reverse order, because the previous GEMM has left the last rows in
                                                 * the cache */
    const size_t from = n_rows * mine / parts, to = n_rows * (mine + 1) / parts;
    float total[N] = {0};
    for (size_t r = from + warp; c < n_cols && r < to; r += BATCH * SUM_WARPS) {
        pack<T> in[BATCH], arg[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const size_t at = (r + k * SUM_WARPS) * ld + c;
            if (r + k * SUM_WARPS >= to) break;
            in[k] = *(const pack<T> *)(x + at);
            if (GELU) arg[k] = *(const pack<T> *)(of + at);
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            if (r + k * SUM_WARPS >= to) break;
            float v[N];
            in[k].get(v);
            if (GELU) {
                float z[N];
                arg[k].get(z);
#pragma unroll
                for (int i = 0; i < N; i++) v[i] *= gelu_slope_fast(z[i]);
                in[k].set(v);
                *(pack<T> *)(x + (r + k * SUM_WARPS) * ld + c) = in[k];
                in[k].get(v); /* as it is stored */
            }
#pragma unroll
            for (int i = 0; i < N; i++) total[i] += v[i];
        }
    }
#pragma unroll
    for (int i = 0; i < N; i++) room[warp][lane * N + i] = total[i];
    __syncthreads();
    for (int column = threadIdx.x; column < WIDE && c0 + column < n_cols; column += SUM_WARPS * 32) {
        float sum = 0;
        for (int w = 0; w < SUM_WARPS; w++) sum += room[w][column];
        if (parts == 1)
            out[c0 + column] += sum;
        else
            part[mine * n_cols + c0 + column] = sum;
    }
    if (parts == 1 || !counter || !last_of_parts(counter + blockIdx.x, parts)) return;
    for (int column = threadIdx.x; column < WIDE && c0 + column < n_cols; column += SUM_WARPS * 32)
        out[c0 + column] += sum_of_parts(part + c0 + column, parts, n_cols);
}

/* Number of parts of the rows: enough to fill the device, few enough to be added quickly. */
static size_t row_parts(const dis__cuda_session *s, size_t n_rows, size_t n_cols, size_t wide, size_t fill)
{
    const size_t across = (n_cols + wide - 1) / wide, limit = (n_rows + 31) / 32;
    size_t parts = (size_t)s->n_processors * fill / across + 1;
    if (parts > limit) parts = limit;
    if (parts > 64) parts = 64;
    return across > DIS_CUDA_COUNTERS || parts * n_cols * sizeof(float) > s->scratch_bytes ? 1 : parts;
}

template <class T, bool GELU>
static cudaError_t pack_sums(dis__cuda_session *s, const dis__column_sums_args *a, const void *of)
{
    enum { WIDE = 32 * pack<T>::N };
    const dim3 grid(grid_of(a->n_cols, WIDE), (unsigned)row_parts(s, a->n_rows, a->n_cols, WIDE, GELU ? 6 : 3));
    pack_sums_kernel<T, GELU><<<grid, SUM_WARPS * 32, 0, s->stream>>>((T *)a->x, (const T *)of, a->n_rows, a->n_cols,
                                                                      a->ld, (float *)a->out, (float *)s->scratch,
                                                                      s->counters);
    return cudaGetLastError();
}

/* The same, with the parts added on the side stream: readers of x need not wait for that. */
static cudaError_t gelu_parts(dis__cuda_session *s, const dis__column_sums_args *a, const void *of, size_t n_parts)
{
    float *parts;
    cudaError_t error = dis__cuda_next_partial_sums(s, &parts);
    if (error != cudaSuccess) return error;
    const dim3 grid(grid_of(a->n_cols, 32 * pack<bf16>::N), (unsigned)n_parts);
    pack_sums_kernel<bf16, true><<<grid, SUM_WARPS * 32, 0, s->stream>>>((bf16 *)a->x, (const bf16 *)of, a->n_rows,
                                                                         a->n_cols, a->ld, NULL, parts, NULL);
    error = cudaGetLastError();
    if (error == cudaSuccess) error = dis__cuda_enter_side_stream(s);
    if (error == cudaSuccess) error = dis__cuda_sum_parts(s, parts, n_parts, a->n_cols, (float *)a->out);
    dis__cuda_leave_side_stream(s);
    return error;
}

template <class T> static bool in_packs(const dis__column_sums_args *a)
{
    return a->n_cols % pack<T>::N == 0 && a->ld % pack<T>::N == 0 && aligned16(a->x);
}

bool dis__cuda_gelu_sums(dis__cuda_session *s, const void *first, const void *second, cudaError_t *error)
{
    const dis__activate_args *act = (const dis__activate_args *)first;
    const dis__column_sums_args *sums = (const dis__column_sums_args *)second;
    if (s->value != DIS_BFLOAT16 || act->n == 0 || act->act != DIS_ACT_GELU || act->y != act->dy || sums->x != act->y ||
        sums->ld != sums->n_cols || sums->n_rows * sums->n_cols != act->n || !in_packs<bf16>(sums) ||
        !aligned16(act->x))
        return false;
    const size_t n_parts = row_parts(s, sums->n_rows, sums->n_cols, 32 * pack<bf16>::N, 6);
    const bool aside = sums->later && n_parts > 1 && n_parts * sums->n_cols <= dis__cuda_partial_sums_room(s);
    *error = aside ? gelu_parts(s, sums, act->x, n_parts) : pack_sums<bf16, true>(s, sums, act->x);
    return true;
}

template <class T> static cudaError_t column_sums(dis__cuda_session *s, const dis__column_sums_args *a)
{
    if (a->n_cols == 0 || a->n_rows == 0) return cudaSuccess;
    if (in_packs<T>(a)) return pack_sums<T, false>(s, a, NULL);
    const size_t across = (a->n_cols + SUM_COLUMNS - 1) / SUM_COLUMNS;
    size_t parts = (size_t)s->n_processors * 4 / across + 1, limit = (a->n_rows + 31) / 32;
    if (parts > limit) parts = limit;
    if (parts > 65535) parts = 65535;
    if (across > DIS_CUDA_COUNTERS || parts * a->n_cols * sizeof(float) > s->scratch_bytes) parts = 1;
    const dim3 grid((unsigned)across, (unsigned)parts);
    column_sums_kernel<T><<<grid, SUM_WARPS * 32, 0, s->stream>>>((const T *)a->x, a->n_rows, a->n_cols, a->ld,
                                                                  (float *)a->out, (float *)s->scratch, s->counters);
    return cudaGetLastError();
}

cudaError_t dis__cuda_column_sums(dis__cuda_session *s, const void *args)
{
    const dis__column_sums_args *a = (const dis__column_sums_args *)args;
    return dis__cuda_number(s, a->x) == DIS_FLOAT32 ? column_sums<float>(s, a) : column_sums<bf16>(s, a);
}

/* As the kernel above with one thread per column: parts are few. */
__global__ void __launch_bounds__(64) sum_parts_kernel(const float *part, size_t n_parts, size_t n, float *out)
{
    const size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (c >= n) return;
#pragma unroll 16
    for (size_t p = 0; p < n_parts; p++) sum += part[p * n + c];
    out[c] += sum;
}

cudaError_t dis__cuda_sum_parts(dis__cuda_session *s, const float *part, size_t n_parts, size_t n, float *out)
{
    sum_parts_kernel<<<grid_of(n, 64), 64, 0, s->stream>>>(part, n_parts, n, out);
    return cudaGetLastError();
}

cudaError_t dis__cuda_sum_rows(dis__cuda_session *s, const float *x, size_t n_rows, size_t n_cols, float *out)
{
    const dis__column_sums_args a = {x, n_rows, n_cols, n_cols, out, false};
    return column_sums<float>(s, &a);
}
