/* Kernels of dense layers: epilogues of GEMMs, activations, sums of values, copies of columns. All are bound by
 * memory: 16 bytes per thread and access where rows allow it. Sums of columns: column_sums.cu. */
#include "nn/cuda/common/kernels.cuh"

/* ---- elements ---- */

/* y[i] = f(elements i), in reverse order, because the previous operation has left the last ones in the cache; all packs
 * of a thread are loaded together. */
template <class T, int IN, class F>
__global__ void __launch_bounds__(256) each_kernel(size_t n, const T *a, const T *b, T *y, bool vectors, F f)
{
    enum { N = pack<T>::N, BATCH = IN > 1 ? 2 : 4 };
    const size_t step = (size_t)gridDim.x * blockDim.x, first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t n_vectors = vectors ? n / N : 0;
    for (size_t v = first; v < n_vectors; v += BATCH * step) {
        pack<T> one[BATCH], two[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++)
            if (v + k * step < n_vectors) {
                one[k] = ((const pack<T> *)a)[n_vectors - 1 - v - k * step];
                if (IN > 1) two[k] = ((const pack<T> *)b)[n_vectors - 1 - v - k * step];
            }
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            float x[N], z[N];
            if (v + k * step >= n_vectors) break;
            one[k].get(x);
            if (IN > 1) two[k].get(z);
#pragma unroll
            for (int i = 0; i < N; i++) x[i] = f(x[i], IN > 1 ? z[i] : 0);
            one[k].set(x);
            ((pack<T> *)y)[n_vectors - 1 - v - k * step] = one[k];
        }
    }
    for (size_t i = n_vectors * N + first; i < n; i += step)
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
__global__ void shift_kernel(size_t n, size_t width, float scale, float odd, const T *x, T *y, bool add)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
        const float z = scale * as_float(x[e]) + (e % width % 2 ? odd : 0);
        y[e] = from_float<T>(add ? as_float(y[e]) + z : z);
    }
}

cudaError_t dis__cuda_shift(dis__cuda_session *s, const void *args)
{
    const dis__shift_args *a = (const dis__shift_args *)args;
    const size_t n = a->n_rows * a->width;
    if (n == 0) return cudaSuccess;
    const unsigned blocks = grid_some(s, n, 256);
    DIS_CUDA_BY_VALUE(s, (shift_kernel<T><<<blocks, 256, 0, s->stream>>>(n, a->width, (float)a->scale, (float)a->odd,
                                                                         (const T *)a->x, (T *)a->y, a->add)));
    return cudaGetLastError();
}

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

/* The same for rows of full packs: block (128 packs, rows); in reverse order, because the GEMM has left the last rows
 * in the cache. */
template <class T, dis__activation ACT>
__global__ void __launch_bounds__(128)
    finish_packs_kernel(size_t m, unsigned n, pack<T> *c, const pack<T> *bias, const pack<T> *bias2)
{
    enum { N = pack<T>::N, BATCH = 4 };
    const unsigned j = blockIdx.x * 128 + threadIdx.x;
    if (j >= n) return;
    float b[N] = {}, more[N] = {};
    if (bias) bias[j].get(b);
    if (bias2) bias2[j].get(more);
    for (size_t row = blockIdx.y; row < m; row += (size_t)gridDim.y * BATCH) {
        pack<T> in[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++)
            if (row + (size_t)k * gridDim.y < m) in[k] = c[(m - 1 - row - (size_t)k * gridDim.y) * n + j];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            float x[N];
            if (row + (size_t)k * gridDim.y >= m) break;
            in[k].get(x);
#pragma unroll
            for (int i = 0; i < N; i++) {
                x[i] += b[i] + more[i];
                x[i] = ACT == DIS_ACT_GELU && N == 8 ? gelu_fast(x[i]) : act_of(ACT, x[i]);
            }
            in[k].set(x);
            c[(m - 1 - row - (size_t)k * gridDim.y) * n + j] = in[k];
        }
    }
}

template <class T, dis__activation ACT> static cudaError_t finish(dis__cuda_session *s, const dis__product_args *a)
{
    const T *bias = (const T *)dis__cuda_weight(s, a->bias), *bias2 = (const T *)dis__cuda_weight(s, a->bias2);
    enum { N = pack<T>::N };
    if (a->n % N == 0 && a->ldc == a->n && aligned16(a->c) && aligned16(bias) && aligned16(bias2)) {
        const unsigned across = grid_of(a->n / N, 128), limit = (unsigned)s->n_processors * 16 / across + 1;
        const dim3 grid(across, grid_of(a->m, 1) < limit ? grid_of(a->m, 1) : limit);
        finish_packs_kernel<T, ACT><<<grid, 128, 0, s->stream>>>(a->m, (unsigned)(a->n / N), (pack<T> *)a->c,
                                                                 (const pack<T> *)bias, (const pack<T> *)bias2);
    } else {
        const unsigned blocks = grid_some(s, a->m * a->n, 256);
        finish_kernel<T, ACT><<<blocks, 256, 0, s->stream>>>(a->m, a->n, (T *)a->c, a->ldc, bias, bias2);
    }
    return cudaGetLastError();
}

cudaError_t dis__cuda_bias_activate(dis__cuda_session *s, void *y, size_t n_rows, size_t width, const void *bias,
                                    dis__activation act)
{
    dis__product_args a = {};
    if (!bias && act == DIS_ACT_NONE) return cudaSuccess;
    a.m = n_rows, a.n = a.ldc = width, a.c = y, a.bias = bias, a.act = act;
    DIS_CUDA_BY_VALUE(s, BY_ACT(act, return (finish<T, ACT>(s, &a))));
    return cudaSuccess;
}

/* Whether a GEMM applies GELU in the library: for networks that only predict, where it saves writing, reading and
 * writing the values again. The library uses the tanh form, which differs by less than 5e-4: in bfloat16, by less than
 * rounding if |GELU| > .13. It is also used for few rows, so that the form does not depend on the batch size. */
static bool gelu_within(const dis__cuda_session *s, const dis__product_args *a, dis__number type_c)
{
    return a->act == DIS_ACT_GELU && s->value == DIS_BFLOAT16 && type_c == DIS_BFLOAT16 && !a->bias2;
}

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
    p.batch = 1;
    cudaError_t error = dis__cuda_mark_output(s, a->c);
    if (error == cudaSuccess && gelu_within(s, a, type_c)) {
        p.gelu = true, p.bias = dis__cuda_weight(s, a->bias);
        error = dis__cuda_gemm(s, &p);
        if (error != cudaErrorNotSupported) return error;
        p.gelu = false, error = cudaSuccess;
    }
    p.bias = ends ? NULL : dis__cuda_weight(s, a->bias);
    if (error == cudaSuccess) error = dis__cuda_gemm(s, &p);
    if (error != cudaSuccess || !ends) return error;
    DIS_CUDA_BY_VALUE(s, BY_ACT(a->act, return (finish<T, ACT>(s, a))));
    return cudaSuccess;
}

enum { TILE = 16 };

template <class T, class C> __global__ void plain_kernel(dis__cuda_product_args p)
{
    __shared__ float left[TILE][TILE + 1], right[TILE][TILE + 1];
    const size_t row = (size_t)blockIdx.x * TILE + threadIdx.y, col = (size_t)blockIdx.y * TILE + threadIdx.x;
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
    const dim3 block(TILE, TILE), grid(grid_of(p.m, TILE), grid_of(p.n, TILE), (unsigned)p.batch); /* for many rows */
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
