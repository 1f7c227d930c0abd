/* Convolutions. cuDNN (cudnn_conv.c) computes those in bfloat16; the kernel below computes the others: float32, rows
 * with lengths, channels that are not a multiple of 8, and everything if cuDNN is not installed. It multiplies tiles
 * of 64 x 64 x 16 in float32 and reads patches from the image instead of building them:
 *
 *     FORWARD   y (places, out) = patches (places, kernel channels) weight'
 *     BY_INPUT  dx (pixels, channels) = dy of the places that read a pixel (pixels, kernel out) weight
 *     BY_WEIGHT d_weight (out, kernel channels) = dy' patches, summed over places in parts
 *
 * The weight's gradient is summed in parts of the positions. The parts are added in order, and their number is a
 * function of the shape. Cost: 2 positions out kernel channels operations for each of the three GEMMs. */
#include "nn/cuda/common/vectors.cuh"
#include "nn/cuda/conv/cudnn_conv.h"
#include <limits.h>

enum { THREADS = 256, TILE = 64, DEEP = 16, EACH = 4, BLOCKS = 264, MIN_PLACES = 256 };

enum conv_product { FORWARD, BY_INPUT, BY_WEIGHT };

typedef struct {
    int n, height, width, channels, out_h, out_w, out, kernel_h, kernel_w, stride, pad_top, pad_left;
    int m, cols, k,
        k_per_part; /* of the GEMM; k_per_part: of BY_WEIGHT, whose parts are the grid's z dimension */
    const int32_t *length;
    dis__activation act;
    const void *x, *weight, *dy;
    const float *bias;
    void *to; /* y, dx or parts of d_weight (float32) */
    bool add;
} conv_call;

/* A position of the output: its image, and the input's row and column at the kernel's first position. */
typedef struct {
    int image, row, col, limit; /* limit: number of valid columns of the image */
} conv_place;

__device__ __forceinline__ conv_place place_of(const conv_call &g, int place)
{
    conv_place p;
    const int row = place / g.out_w;
    p.image = row / g.out_h;
    p.row = row % g.out_h * g.stride - g.pad_top;
    p.col = place % g.out_w * g.stride - g.pad_left;
    p.limit = g.length && p.image < g.n ? g.length[p.image] : g.width;
    return p;
}

/* Offset in x of an element of a patch; -1: padding. */
__device__ __forceinline__ int64_t patch_at(const conv_call &g, const conv_place &p, int ki, int kj, int channel)
{
    const int row = p.row + ki, col = p.col + kj;
    if (row < 0 || row >= g.height || col < 0 || col >= p.limit) return -1;
    return (((int64_t)p.image * g.height + row) * g.width + col) * g.channels + channel;
}

/* A pixel of the input, and the output positions of its image that use it at a position of the kernel. */
__device__ __forceinline__ conv_place pixel_of(const conv_call &g, int pixel)
{
    conv_place p;
    const int row = pixel / g.width;
    p.image = row / g.height;
    p.row = row % g.height + g.pad_top;
    p.col = pixel % g.width + g.pad_left;
    p.limit = g.length && p.image < g.n ? g.length[p.image] + g.pad_left : g.width + g.pad_left;
    return p;
}

__device__ __forceinline__ int64_t gradient_at(const conv_call &g, const conv_place &p, int ki, int kj, int out)
{
    const int row = p.row - ki, col = p.col - kj;
    if (row < 0 || col < 0 || row % g.stride || col % g.stride) return -1;
    if (row / g.stride >= g.out_h || col / g.stride >= g.out_w) return -1;
    return (((int64_t)p.image * g.out_h + row / g.stride) * g.out_w + col / g.stride) * g.out + out;
}

/* Stores an element of the result. */
template <class T>
__device__ __forceinline__ void conv_store(const conv_call &g, conv_product product, int row, int col, float x)
{
    const size_t at = (size_t)row * (size_t)g.cols + (size_t)col;
    if (product == BY_WEIGHT) {
        ((float *)g.to)[blockIdx.z * (size_t)g.m * (size_t)g.cols + at] = x;
    } else if (product == FORWARD) {
        ((T *)g.to)[at] = from_float<T>(act_of(g.act, g.bias ? x + g.bias[col] : x));
    } else {
        const conv_place p = pixel_of(g, row);
        store_or_add((T *)g.to + at, p.col < p.limit ? x : 0, g.add);
    }
}

template <class T, conv_product P> __device__ __forceinline__ float left_number(const conv_call &g, int row, int k)
{
    if (P == BY_WEIGHT) return as_float(((const T *)g.dy)[(size_t)k * (size_t)g.out + (size_t)row]);
    const int per = P == FORWARD ? g.channels : g.out, spot = k / per;
    const int64_t at = P == FORWARD ? patch_at(g, place_of(g, row), spot / g.kernel_w, spot % g.kernel_w, k % per)
                                    : gradient_at(g, pixel_of(g, row), spot / g.kernel_w, spot % g.kernel_w, k % per);
    return at < 0 ? 0 : as_float(((const T *)(P == FORWARD ? g.x : g.dy))[at]);
}

template <class T, conv_product P> __device__ __forceinline__ float right_number(const conv_call &g, int k, int col)
{
    if (P == FORWARD) return as_float(((const T *)g.weight)[(size_t)col * (size_t)g.k + (size_t)k]);
    if (P == BY_WEIGHT) {
        const int spot = col / g.channels;
        const int64_t at = patch_at(g, place_of(g, k), spot / g.kernel_w, spot % g.kernel_w, col % g.channels);
        return at < 0 ? 0 : as_float(((const T *)g.x)[at]);
    }
    const int spot = k / g.out, spots = g.kernel_h * g.kernel_w;
    return as_float(
        ((const T *)g.weight)[((size_t)(k % g.out) * (size_t)spots + (size_t)spot) * (size_t)g.channels + (size_t)col]);
}

template <class T, conv_product P> __global__ void __launch_bounds__(THREADS) plain_kernel(conv_call g)
{
    __shared__ float left[DEEP][TILE + 1], right[DEEP][TILE + 1];
    const int row0 = (int)blockIdx.x * TILE, col0 = (int)blockIdx.y * TILE;
    const int ty = (int)threadIdx.x / (TILE / EACH), tx = (int)threadIdx.x % (TILE / EACH);
    const int first = P == BY_WEIGHT ? (int)blockIdx.z * g.k_per_part : 0;
    const int last = P == BY_WEIGHT ? min(first + g.k_per_part, g.k) : g.k;
    float sum[EACH][EACH] = {};
    for (int k0 = first; k0 < last; k0 += DEEP) {
        for (int e = (int)threadIdx.x; e < TILE * DEEP; e += THREADS) {
            const bool by_row = P == BY_WEIGHT; /* consecutive addresses for consecutive threads */
            const int i = by_row ? e % TILE : e / DEEP, k = by_row ? e / TILE : e % DEEP;
            left[k][i] = row0 + i < g.m && k0 + k < last ? left_number<T, P>(g, row0 + i, k0 + k) : 0;
        }
        for (int e = (int)threadIdx.x; e < TILE * DEEP; e += THREADS) {
            const bool by_col = P != FORWARD;
            const int i = by_col ? e % TILE : e / DEEP, k = by_col ? e / TILE : e % DEEP;
            right[k][i] = col0 + i < g.cols && k0 + k < last ? right_number<T, P>(g, k0 + k, col0 + i) : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEEP; k++)
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += left[k][ty + i * (TILE / EACH)] * right[k][tx + j * (TILE / EACH)];
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const int row = row0 + ty + i * (TILE / EACH), col = col0 + tx + j * (TILE / EACH);
            if (row < g.m && col < g.cols) conv_store<T>(g, P, row, col, sum[i][j]);
        }
}

/* to (rows, width) += from (rows, wide). */
__global__ void add_weight_kernel(const bf16 *from, size_t n, unsigned wide, unsigned width, float *to)
{
    const size_t e = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (e < n && e % wide < width) to[e / wide * width + e % wide] += as_float(from[e]);
}

__global__ void __launch_bounds__(THREADS) add_weight_vectors_kernel(const pack<bf16> *from, size_t n, pack<float> *to)
{
    const size_t e = blockIdx.x * (size_t)THREADS + threadIdx.x;
    float x[8], y[8];
    if (e >= n) return;
    from[e].get(x);
    to[2 * e].get(y);
    to[2 * e + 1].get(y + 4);
#pragma unroll
    for (int i = 0; i < 8; i++) y[i] += x[i];
    to[2 * e].set(y);
    to[2 * e + 1].set(y + 4);
}

extern "C" cudaError_t dis__cuda_add_weight(dis__cuda_session *s, float *d_weight, const void *from, size_t rows,
                                            size_t wide, size_t width)
{
    const size_t n = rows * wide;
    if (wide == width && n % 8 == 0 && aligned16(from) && aligned16(d_weight))
        add_weight_vectors_kernel<<<grid_of(n / 8, THREADS), THREADS, 0, s->stream>>>((const pack<bf16> *)from, n / 8,
                                                                                      (pack<float> *)d_weight);
    else
        add_weight_kernel<<<grid_of(n, THREADS), THREADS, 0, s->stream>>>((const bf16 *)from, n, (unsigned)wide,
                                                                          (unsigned)width, d_weight);
    return cudaGetLastError();
}

/* d_weight (rows, width) += the sum of parts (rows, wide), in order. */
__global__ void add_parts_kernel(const float *parts, size_t n, unsigned n_parts, unsigned wide, unsigned width,
                                 float *to)
{
    const size_t e = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (e >= n || e % wide >= width) return;
    float sum = 0;
    for (unsigned p = 0; p < n_parts; p++) sum += parts[p * n + e];
    to[e / wide * width + e % wide] += sum;
}

/* Pads the channels of images with few channels (colours), and of their kernels, to full vectors. */
enum { VECTOR = 8 };

static bool thin(const dis__cuda_session *s, const dis__conv_args *a)
{
    return s->value == DIS_BFLOAT16 && a->channels < VECTOR && a->out % VECTOR == 0;
}

static size_t thin_bytes(const dis__conv_args *a)
{
    const size_t pixels = a->n * a->height * a->width, spots = a->out * a->kernel_h * a->kernel_w;
    return (pixels + spots) * VECTOR * sizeof(bf16);
}

__global__ void widen_kernel(const bf16 *from, size_t rows, unsigned width, uint4 *to)
{
    const size_t row = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (row >= rows) return;
    union {
        uint4 w;
        bf16 x[VECTOR];
    } u;
#pragma unroll
    for (unsigned c = 0; c < VECTOR; c++) u.x[c] = c < width ? from[row * width + c] : from_float<bf16>(0);
    to[row] = u.w;
}

static cudaError_t widen(dis__cuda_session *s, const void *from, size_t rows, size_t width, void *to)
{
    widen_kernel<<<grid_of(rows, THREADS), THREADS, 0, s->stream>>>((const bf16 *)from, rows, (unsigned)width,
                                                                    (uint4 *)to);
    return cudaGetLastError();
}

/* The same convolution of padded images, in scratch memory. */
static cudaError_t widened(dis__cuda_session *s, const dis__conv_args *a, bool with_weight, dis__conv_args *out)
{
    const size_t pixels = a->n * a->height * a->width, spots = a->out * a->kernel_h * a->kernel_w;
    char *const weight = s->scratch + pixels * VECTOR * sizeof(bf16);
    if (thin_bytes(a) > s->scratch_bytes) return cudaErrorInvalidValue;
    *out = *a;
    out->channels = VECTOR;
    out->x = s->scratch;
    cudaError_t error = widen(s, a->x, pixels, a->channels, s->scratch);
    if (error != cudaSuccess || !with_weight) return error;
    out->weight = weight;
    return widen(s, dis__cuda_weight(s, a->weight), spots, a->channels, weight);
}

static conv_call call_of(dis__cuda_session *s, const dis__conv_args *a, conv_product product, size_t parts)
{
    const int places = (int)(a->n * a->out_h * a->out_w), spots = (int)(a->kernel_h * a->kernel_w);
    conv_call g = {};
    g.n = (int)a->n, g.height = (int)a->height, g.width = (int)a->width, g.channels = (int)a->channels;
    g.out_h = (int)a->out_h, g.out_w = (int)a->out_w, g.out = (int)a->out;
    g.kernel_h = (int)a->kernel_h, g.kernel_w = (int)a->kernel_w, g.stride = (int)a->stride;
    g.pad_top = (int)a->pad_top, g.pad_left = (int)a->pad_left;
    g.length = a->length;
    g.act = a->act;
    g.x = a->x, g.dy = a->dy, g.bias = (const float *)a->bias;
    g.weight = dis__cuda_weight(s, a->weight);
    g.m = product == FORWARD ? places : product == BY_INPUT ? g.n * g.height * g.width : g.out;
    g.cols = product == FORWARD ? g.out : product == BY_INPUT ? g.channels : spots * g.channels;
    g.k = product == FORWARD ? spots * g.channels : product == BY_INPUT ? spots * g.out : places;
    g.k_per_part = product == BY_WEIGHT ? (int)((places / parts + 32) / 32 * 32) : g.k;
    g.to = product == FORWARD ? a->y : product == BY_INPUT ? a->dx : a->work;
    g.add = product == BY_INPUT && a->add;
    return g;
}

template <class T, conv_product P>
static cudaError_t product_of(dis__cuda_session *s, const dis__conv_args *a, size_t parts)
{
    const conv_call g = call_of(s, a, P, parts);
    const dim3 grid(grid_of((size_t)g.m, TILE), grid_of((size_t)g.cols, TILE), (unsigned)parts);
    plain_kernel<T, P><<<grid, THREADS, 0, s->stream>>>(g);
    return cudaGetLastError();
}

/* Number of parts of the positions whose GEMMs fill the device; nondecreasing in the positions. */
static size_t parts_for(const dis__conv_args *a)
{
    const size_t places = a->n * a->out_h * a->out_w, cols = a->kernel_h * a->kernel_w * a->channels;
    const size_t tiles = (a->out + 127) / 128 * ((cols + 127) / 128);
    const size_t enough = (places + MIN_PLACES - 1) / MIN_PLACES, some = (BLOCKS + tiles - 1) / tiles;
    const size_t parts = enough < some ? enough : some;
    return parts ? parts : 1;
}

template <class T> static cudaError_t conv_of(dis__cuda_session *s, const dis__conv_args *a)
{
    dis__conv_args wide;
    cudaError_t error = cudaSuccess;
    if (a->n == 0 || a->out_h == 0 || a->out_w == 0) return cudaSuccess;
    if (!thin(s, a))
        return dis__cudnn_conv(s, a, DIS_CUDNN_FORWARD, 0, &error) ? error : product_of<T, FORWARD>(s, a, 1);
    error = widened(s, a, true, &wide);
    if (error != cudaSuccess || dis__cudnn_conv(s, &wide, DIS_CUDNN_FORWARD, 0, &error)) return error;
    return product_of<T, FORWARD>(s, &wide, 1);
}

template <class T> static cudaError_t by_weight(dis__cuda_session *s, const dis__conv_args *a)
{
    dis__conv_args wide = *a;
    cudaError_t error = cudaSuccess;
    if (thin(s, a)) error = widened(s, a, false, &wide);
    if (error != cudaSuccess || dis__cudnn_conv(s, &wide, DIS_CUDNN_BY_WEIGHT, a->channels, &error)) return error;
    const size_t n = a->out * a->kernel_h * a->kernel_w * wide.channels, parts = parts_for(&wide);
    if (error == cudaSuccess) error = product_of<T, BY_WEIGHT>(s, &wide, parts);
    if (error != cudaSuccess) return error;
    add_parts_kernel<<<grid_of(n, THREADS), THREADS, 0, s->stream>>>((const float *)a->work, n, (unsigned)parts,
                                                                     (unsigned)wide.channels, (unsigned)a->channels,
                                                                     (float *)a->d_weight);
    return cudaGetLastError();
}

template <class T> static cudaError_t conv_grad_of(dis__cuda_session *s, const dis__conv_args *a)
{
    cudaError_t error = cudaSuccess;
    if (a->n == 0 || a->height == 0 || a->width == 0) return cudaSuccess;
    if (a->d_weight && a->out_h && a->out_w) {
        if (a->later) error = dis__cuda_enter_side_stream(s);
        if (error == cudaSuccess) error = by_weight<T>(s, a);
        dis__cuda_leave_side_stream(s);
    }
    if (error != cudaSuccess || !a->dx) return error;
    if (dis__cudnn_conv(s, a, DIS_CUDNN_BY_INPUT, 0, &error)) return error;
    return product_of<T, BY_INPUT>(s, a, 1);
}

DIS_CUDA_OP(conv, dis__conv_args)
DIS_CUDA_OP(conv_grad, dis__conv_args)

/* Places and pixels are counted by int. */
static bool too_many(const dis__conv_args *a)
{
    return a->n * a->out_h * a->out_w > INT_MAX || a->n * a->height * a->width > INT_MAX;
}

extern "C" size_t dis__cuda_conv_work(dis__cuda_session *s, const void *args)
{
    const dis__conv_args *a = (const dis__conv_args *)args;
    if (too_many(a)) return SIZE_MAX;
    if (thin(s, a)) dis__cuda_reserve_scratch(s, thin_bytes(a));
    return 0;
}

extern "C" size_t dis__cuda_conv_grad_work(dis__cuda_session *s, const void *args)
{
    dis__conv_args a = *(const dis__conv_args *)args;
    if (s->value == DIS_BFLOAT16) s->keeps_bf16_gradients = true;
    if (thin(s, &a)) a.channels = VECTOR;
    return parts_for(&a) * a.out * a.kernel_h * a.kernel_w * a.channels * sizeof(float);
}
