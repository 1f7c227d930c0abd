/* Kernels of dense layers: what follows a product, activations, sums, copies of columns, sums of columns. All are bound
 * by memory: 16 bytes per thread and access where rows allow it. Sums of columns are made in parts of rows, side by
 * side; the block that is last adds the parts up in order. */
#include "nn/cuda/kernels.cuh"

/* ---- elements ---- */

/* y[i] = f(i's numbers): F(float *x): x[0] of the first input, x[1] of the second, result in x[0]. */
template <class T, int IN, class F>
__global__ void __launch_bounds__(256) each_kernel(size_t n, const T *a, const T *b, T *y, bool vectors, F f)
{
    enum { N = pack<T>::N };
    const size_t step = (size_t)gridDim.x * blockDim.x, first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t whole = vectors ? n / N : 0;
    for (size_t v = first; v < whole; v += step) {
        float x[N], z[N];
        ((const pack<T> *)a)[v].get(x);
        if (IN > 1) ((const pack<T> *)b)[v].get(z);
#pragma unroll
        for (int i = 0; i < N; i++) x[i] = f(x[i], IN > 1 ? z[i] : 0);
        pack<T> out;
        out.set(x);
        ((pack<T> *)y)[v] = out;
    }
    for (size_t i = whole * N + first; i < n; i += step)
        y[i] = from_float<T>(f(as_float(a[i]), IN > 1 ? as_float(b[i]) : 0));
}

template <class T, int IN, class F>
static cudaError_t each(dis__cuda_session *s, size_t n, const void *a, const void *b, void *y, F f)
{
    if (n == 0) return cudaSuccess;
    const bool vectors = aligned16(a) && aligned16(y) && (IN < 2 || aligned16(b));
    const unsigned blocks = grid_some(s, n, 256 * (vectors ? pack<T>::N : 1));
    each_kernel<T, IN, F><<<blocks, 256, 0, s->stream>>>(n, (const T *)a, (const T *)b, (T *)y, vectors, f);
    return cudaGetLastError();
}

template <dis__activation ACT, bool FAST> struct forward_act {
    __device__ float operator()(float x, float) const
    {
        return ACT == DIS_ACT_GELU && FAST ? gelu_fast(x) : act_of(ACT, x);
    }
};
template <dis__activation ACT, bool FAST> struct backward_act {
    __device__ float operator()(float x, float dy) const
    {
        return dy * (ACT == DIS_ACT_GELU && FAST ? gelu_slope_fast(x) : slope_of(ACT, x));
    }
};
struct plus {
    __device__ float operator()(float x, float z) const
    {
        return x + z;
    }
};

#define BY_ACT(act, call)                                \
    switch (act) {                                       \
    case DIS_ACT_RELU: {                                 \
        constexpr dis__activation ACT = DIS_ACT_RELU;    \
        call;                                            \
    }                                                    \
    case DIS_ACT_TANH: {                                 \
        constexpr dis__activation ACT = DIS_ACT_TANH;    \
        call;                                            \
    }                                                    \
    case DIS_ACT_SIGMOID: {                              \
        constexpr dis__activation ACT = DIS_ACT_SIGMOID; \
        call;                                            \
    }                                                    \
    case DIS_ACT_GELU: {                                 \
        constexpr dis__activation ACT = DIS_ACT_GELU;    \
        call;                                            \
    }                                                    \
    default: {                                           \
        constexpr dis__activation ACT = DIS_ACT_NONE;    \
        call;                                            \
    }                                                    \
    }

cudaError_t dis__cuda_activate(dis__cuda_session *s, const void *args)
{
    const dis__activate_args *a = (const dis__activate_args *)args;
    DIS_CUDA_BY_VALUE(s, BY_ACT(a->act,
                                return (each<T, 1>(s, a->n, a->x, NULL, a->y, forward_act<ACT, sizeof(T) == 2>()))));
    return cudaSuccess;
}

cudaError_t dis__cuda_activate_grad(dis__cuda_session *s, const void *args)
{
    const dis__activate_args *a = (const dis__activate_args *)args;
    DIS_CUDA_BY_VALUE(s, BY_ACT(a->act,
                                return (each<T, 2>(s, a->n, a->x, a->dy, a->y, backward_act<ACT, sizeof(T) == 2>()))));
    return cudaSuccess;
}

cudaError_t dis__cuda_add(dis__cuda_session *s, const void *args)
{
    const dis__add_args *a = (const dis__add_args *)args;
    DIS_CUDA_BY_VALUE(s, return (each<T, 2>(s, a->n, a->x, a->z ? a->z : a->y, a->y, plus())));
    return cudaSuccess;
}

/* ---- columns ---- */

template <class T>
__global__ void copy_columns_kernel(size_t n_rows, size_t width, const T *from, size_t from_ld, T *to, size_t to_ld,
                                    bool add)
{
    const size_t n = n_rows * width, step = (size_t)gridDim.x * blockDim.x;
    for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
        const size_t row = e / width, c = e % width;
        T *y = to + row * to_ld + c;
        const float x = as_float(from[row * from_ld + c]);
        *y = from_float<T>(add ? as_float(*y) + x : x);
    }
}

cudaError_t dis__cuda_copy_columns(dis__cuda_session *s, const void *args)
{
    const dis__copy_columns_args *a = (const dis__copy_columns_args *)args;
    const size_t n = a->n_rows * a->width, bytes = s->value == DIS_FLOAT32 ? 4 : 2;
    if (n == 0) return cudaSuccess;
    if (!a->add && a->n_rows == 1)
        return cudaMemcpyAsync(a->to, a->from, n * bytes, cudaMemcpyDeviceToDevice, s->stream);
    if (a->n_rows == 1) DIS_CUDA_BY_VALUE(s, return (each<T, 2>(s, n, a->from, a->to, a->to, plus())));
    const unsigned blocks = grid_some(s, n, 256);
    DIS_CUDA_BY_VALUE(s, (copy_columns_kernel<T><<<blocks, 256, 0, s->stream>>>(a->n_rows, a->width, (const T *)a->from,
                                                                                a->from_ld, (T *)a->to, a->to_ld,
                                                                                a->add)));
    return cudaGetLastError();
}

enum { SUM_COLUMNS = 64, SUM_WARPS = 8 };

/* Block (columns / 64, parts): its warps go down the rows of the part, each lane has two columns. */
template <class T>
__global__ void __launch_bounds__(SUM_WARPS * 32)
    column_sums_kernel(const T *x, size_t n_rows, size_t n_cols, size_t ld, float *out, float *part, unsigned *counter)
{
    __shared__ float room[SUM_WARPS][SUM_COLUMNS];
    __shared__ bool last;
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
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(counter + blockIdx.x, 1) == parts - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (sums) {
        total = 0;
        for (size_t p = 0; p < parts; p++) total += __ldcg(part + p * n_cols + mine);
        out[mine] += total;
    }
    if (threadIdx.x == 0) counter[blockIdx.x] = 0;
}

/* Rows of whole packs: a lane has a pack of columns, a block 32 packs. With GELU set, x is what the activation's
 * gradient makes of its argument (of) and dy (x), in place. */
template <class T, bool GELU>
__global__ void __launch_bounds__(SUM_WARPS * 32)
    pack_sums_kernel(T *x, const T *of, size_t n_rows, size_t n_cols, size_t ld, float *out, float *part,
                     unsigned *counter)
{
    enum { N = pack<T>::N, WIDE = 32 * N };
    __shared__ float room[SUM_WARPS][WIDE];
    __shared__ bool last;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const size_t c0 = (size_t)blockIdx.x * WIDE, c = c0 + lane * N, parts = gridDim.y;
    const size_t from = n_rows * blockIdx.y / parts, to = n_rows * (blockIdx.y + 1) / parts;
    float total[N] = {0};
    if (c < n_cols)
#pragma unroll 4
        for (size_t r = from + warp; r < to; r += SUM_WARPS) {
            float v[N];
            pack<T> *at = (pack<T> *)(x + r * ld + c);
            at->get(v);
            if (GELU) {
                float z[N];
                ((const pack<T> *)(of + r * ld + c))->get(z);
                pack<T> d;
#pragma unroll
                for (int i = 0; i < N; i++) v[i] *= gelu_slope_fast(z[i]);
                d.set(v);
                *at = d;
                d.get(v); /* as it is stored */
            }
#pragma unroll
            for (int i = 0; i < N; i++) total[i] += v[i];
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
            part[blockIdx.y * n_cols + c0 + column] = sum;
    }
    if (parts == 1) return;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(counter + blockIdx.x, 1) == parts - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int column = threadIdx.x; column < WIDE && c0 + column < n_cols; column += SUM_WARPS * 32) {
        float sum = 0;
#pragma unroll 16
        for (size_t p = 0; p < parts; p++) sum += __ldcg(part + p * n_cols + c0 + column);
        out[c0 + column] += sum;
    }
    if (threadIdx.x == 0) counter[blockIdx.x] = 0;
}

/* Into how many parts rows are cut: enough to fill the device, few enough to be added up quickly. */
static size_t row_parts(const dis__cuda_session *s, size_t n_rows, size_t n_cols, size_t wide, size_t fill)
{
    const size_t across = (n_cols + wide - 1) / wide, most = (n_rows + 31) / 32;
    size_t parts = (size_t)s->n_processors * fill / across + 1;
    if (parts > most) parts = most;
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

template <class T> static bool in_packs(const dis__column_sums_args *a)
{
    return a->n_cols % pack<T>::N == 0 && a->ld % pack<T>::N == 0 && aligned16(a->x);
}

bool dis__cuda_gelu_sums(dis__cuda_session *s, const void *first, const void *second, cudaError_t *error)
{
    const dis__activate_args *act = (const dis__activate_args *)first;
    const dis__column_sums_args *sums = (const dis__column_sums_args *)second;
    if (s->value != DIS_BFLOAT16 || act->act != DIS_ACT_GELU || act->y != act->dy || sums->x != act->y ||
        sums->ld != sums->n_cols || sums->n_rows * sums->n_cols != act->n || !in_packs<bf16>(sums) ||
        !aligned16(act->x))
        return false;
    *error = pack_sums<bf16, true>(s, sums, act->x);
    return true;
}

template <class T> static cudaError_t column_sums(dis__cuda_session *s, const dis__column_sums_args *a)
{
    if (a->n_cols == 0 || a->n_rows == 0) return cudaSuccess;
    if (in_packs<T>(a)) return pack_sums<T, false>(s, a, NULL);
    const size_t across = (a->n_cols + SUM_COLUMNS - 1) / SUM_COLUMNS;
    size_t parts = (size_t)s->n_processors * 4 / across + 1, most = (a->n_rows + 31) / 32;
    if (parts > most) parts = most;
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

/* ---- products ---- */

/* c = act(c + bias + bias2), rows ld apart; biases of the values' type. */
template <class T, dis__activation ACT>
__global__ void finish_kernel(size_t m, size_t n, T *c, size_t ld, const T *bias, const T *bias2)
{
    const size_t all = m * n, step = (size_t)gridDim.x * blockDim.x;
    for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < all; e += step) {
        const size_t row = e / n, j = e % n;
        float x = as_float(c[row * ld + j]);
        if (bias) x += as_float(bias[j]);
        if (bias2) x += as_float(bias2[j]);
        c[row * ld + j] = from_float<T>(act_of(ACT, x));
    }
}

/* The same for rows of whole packs, one behind the other. */
template <class T, dis__activation ACT>
__global__ void __launch_bounds__(256)
    finish_packs_kernel(size_t m, unsigned n, pack<T> *c, const pack<T> *bias, const pack<T> *bias2)
{
    enum { N = pack<T>::N };
    const size_t all = m * n, step = (size_t)gridDim.x * blockDim.x;
    for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < all; e += step) {
        const unsigned j = (unsigned)(e % n);
        float x[N], b[N];
        c[e].get(x);
        if (bias) {
            bias[j].get(b);
#pragma unroll
            for (int i = 0; i < N; i++) x[i] += b[i];
        }
        if (bias2) {
            bias2[j].get(b);
#pragma unroll
            for (int i = 0; i < N; i++) x[i] += b[i];
        }
#pragma unroll
        for (int i = 0; i < N; i++) x[i] = ACT == DIS_ACT_GELU && N == 8 ? gelu_fast(x[i]) : act_of(ACT, x[i]);
        pack<T> out;
        out.set(x);
        c[e] = out;
    }
}

template <class T, dis__activation ACT> static cudaError_t finish(dis__cuda_session *s, const dis__product_args *a)
{
    const T *bias = (const T *)dis__cuda_weight(s, a->bias), *bias2 = (const T *)dis__cuda_weight(s, a->bias2);
    enum { N = pack<T>::N };
    if (a->n % N == 0 && a->ldc == a->n && aligned16(a->c) && aligned16(bias) && aligned16(bias2)) {
        const unsigned blocks = grid_some(s, a->m * a->n / N, 256);
        finish_packs_kernel<T, ACT><<<blocks, 256, 0, s->stream>>>(a->m, (unsigned)(a->n / N), (pack<T> *)a->c,
                                                                   (const pack<T> *)bias, (const pack<T> *)bias2);
    } else {
        const unsigned blocks = grid_some(s, a->m * a->n, 256);
        finish_kernel<T, ACT><<<blocks, 256, 0, s->stream>>>(a->m, a->n, (T *)a->c, a->ldc, bias, bias2);
    }
    return cudaGetLastError();
}

static cudaError_t end_product(dis__cuda_session *s, const dis__product_args *a)
{
    DIS_CUDA_BY_VALUE(s, BY_ACT(a->act, return (finish<T, ACT>(s, a))));
    return cudaSuccess;
}

enum { CACHED = 24 << 20 }; /* bytes */

cudaError_t dis__cuda_product(dis__cuda_session *s, const void *args)
{
    const dis__product_args *a = (const dis__product_args *)args;
    if (a->m == 0 || a->n == 0) return cudaSuccess;
    const dis__number type_c = dis__cuda_number(s, a->c);
    const bool ends = a->act != DIS_ACT_NONE || a->bias2;
    dis__cuda_product_args p = {};
    p.ta = a->ta, p.tb = a->tb, p.m = a->m, p.n = a->n, p.k = a->k, p.lda = a->lda, p.ldb = a->ldb, p.ldc = a->ldc;
    p.alpha = 1, p.beta = a->add ? 1.f : 0.f;
    p.type_ab = s->value, p.type_c = type_c;
    p.a = dis__cuda_weight(s, a->a), p.b = dis__cuda_weight(s, a->b), p.c = a->c;
    p.bias = ends ? NULL : dis__cuda_weight(s, a->bias);
    p.batch = 1;
    if (!ends) return dis__cuda_gemm(s, &p);
    /* What ends a product reads it again: rows at a time that stay in the device's cache. */
    const size_t size = s->value == DIS_FLOAT32 ? 4 : 2, some = CACHED / (a->n * size) / 256 * 256;
    const size_t step = a->ta || type_c != s->value || some == 0 || a->m < 2 * some ? a->m : some;
    for (size_t row = 0; row < a->m; row += step) {
        dis__product_args part = *a;
        p.m = part.m = a->m - row < step ? a->m - row : step;
        p.c = part.c = (char *)a->c + row * a->ldc * size;
        cudaError_t error = dis__cuda_gemm(s, &p);
        if (error == cudaSuccess) error = end_product(s, &part);
        if (error != cudaSuccess) return error;
        p.a = (const char *)p.a + step * a->lda * size;
    }
    return cudaSuccess;
}

enum { TILE = 16 };

template <class T, class C> __global__ void plain_kernel(dis__cuda_product_args p)
{
    __shared__ float left[TILE][TILE + 1], right[TILE][TILE + 1];
    const size_t row = (size_t)blockIdx.y * TILE + threadIdx.y, col = (size_t)blockIdx.x * TILE + threadIdx.x;
    const T *a = (const T *)p.a + blockIdx.z * p.step_a, *b = (const T *)p.b + blockIdx.z * p.step_b;
    C *c = (C *)p.c + blockIdx.z * p.step_c;
    float sum = 0;
    for (size_t k0 = 0; k0 < p.k; k0 += TILE) {
        const size_t ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
        left[threadIdx.y][threadIdx.x] =
            row < p.m && ka < p.k ? as_float(p.ta ? a[ka * p.lda + row] : a[row * p.lda + ka]) : 0;
        right[threadIdx.y][threadIdx.x] =
            col < p.n && kb < p.k ? as_float(p.tb ? b[col * p.ldb + kb] : b[kb * p.ldb + col]) : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (row >= p.m || col >= p.n) return;
    C *to = c + row * p.ldc + col;
    sum *= p.alpha;
    if (p.beta != 0) sum += p.beta * as_float(*to);
    if (p.bias) sum += as_float(((const C *)p.bias)[col]);
    *to = from_float<C>(sum);
}

cudaError_t dis__cuda_plain_gemm(dis__cuda_session *s, const dis__cuda_product_args *args)
{
    dis__cuda_product_args p = *args;
    if (p.batch <= 1) p.batch = 1, p.step_a = p.step_b = p.step_c = 0;
    const dim3 block(TILE, TILE), grid(grid_of(p.n, TILE), grid_of(p.m, TILE), (unsigned)p.batch);
    if (p.type_ab == DIS_FLOAT32 && p.type_c == DIS_FLOAT32)
        plain_kernel<float, float><<<grid, block, 0, s->stream>>>(p);
    else if (p.type_ab == DIS_FLOAT32)
        plain_kernel<float, bf16><<<grid, block, 0, s->stream>>>(p);
    else if (p.type_c == DIS_FLOAT32)
        plain_kernel<bf16, float><<<grid, block, 0, s->stream>>>(p);
    else
        plain_kernel<bf16, bf16><<<grid, block, 0, s->stream>>>(p);
    return cudaGetLastError();
}
