/* conv.cuh: a convolution and its two gradients as products, and where their numbers lie.
 *
 *     FORWARD  y (places, out)           = patches (places, kernel channels) weight'
 *     BY_INPUT dx (pixels, channels)     = dy of the places a pixel went to (pixels, kernel out) weight, by kernel
 *     place BY_WEIGHT d_weight (out, kernel channels) = dy' patches, summed over places in parts
 *
 * Patches are never laid out: a product reads its numbers from where they are. */
#ifndef DIS_NN_CUDA_CONV_CUH
#define DIS_NN_CUDA_CONV_CUH
#include "nn/cuda/value.cuh"

enum conv_product { FORWARD, BY_INPUT, BY_WEIGHT };

typedef struct {
    int n, height, width, channels, out_h, out_w, out, kernel_h, kernel_w, stride, pad_top, pad_left;
    int m, cols, k,
        k_per_part; /* of the product; k_per_part: of BY_WEIGHT, whose parts are side by side in blockIdx.z */
    const int32_t *length;
    dis__activation act;
    const void *x, *weight, *dy;
    const float *bias;
    void *to; /* y, dx or parts of d_weight (float32) */
    bool add;
} conv_call;

conv_call dis__cuda_conv_call(dis__cuda_session *s, const dis__conv_args *a, conv_product product, size_t parts);
/* In bfloat16 on the tensor cores; false: channels that are not whole vectors. */
bool dis__cuda_conv_mma(dis__cuda_session *s, const conv_call *c, conv_product product, unsigned parts,
                        cudaError_t *error);

/* 3 x 3, 64 channels to 64, on compute capability 9.0: y, or (back) dx; false: not for these arguments or this device,
 * and nothing is done. */
bool dis__cuda_conv_64(dis__cuda_session *s, const dis__conv_args *a, bool back, cudaError_t *error);

/* 3 x 3 to multiples of 128 channels from multiples of 64, there: y, or (back) dx; false: the same. */
bool dis__cuda_conv_box(dis__cuda_session *s, const dis__conv_args *a, bool back, cudaError_t *error);

/* 3 x 3, 8 channels to 64, there: y; or d_weight += its gradient, of the first `width` channels; false: the same. */
bool dis__cuda_conv_thin(dis__cuda_session *s, const dis__conv_args *a, cudaError_t *error);
bool dis__cuda_conv_thin_weight(dis__cuda_session *s, const dis__conv_args *a, size_t width, cudaError_t *error);

/* d_weight += its gradient, of 3 x 3 with channels that are multiples of 64, there; false: the same. */
bool dis__cuda_conv_weight(dis__cuda_session *s, const dis__conv_args *a, cudaError_t *error);

/* Of these: 3 x 3 with a border on all sides, in bfloat16. */
static inline bool is_3x3(const dis__cuda_session *s, const dis__conv_args *a)
{
    return s->value == DIS_BFLOAT16 && a->kernel_h == 3 && a->kernel_w == 3 && a->stride == 1 && a->pad_top == 1 &&
           a->pad_left == 1 && a->height == a->out_h && a->width == a->out_w && !a->length;
}

/* Whether there is machine code of a kernel for this device, which then may have that much shared memory. */
template <class F> static inline bool is_ready(F *kernel, int shared, cudaError_t *error)
{
    cudaFuncAttributes about;
    *error = cudaFuncGetAttributes(&about, kernel);
    if (*error == cudaSuccess && about.ptxVersion < 90) return false;
    if (*error == cudaSuccess)
        *error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    return true;
}

/* A place of the output: its image, and the input's row and column that the kernel's first place looks at. */
typedef struct {
    int image, row, col, limit; /* limit: columns of the image that count */
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

/* Where the number of a patch lies in x; -1: it is 0. */
__device__ __forceinline__ int64_t patch_at(const conv_call &g, const conv_place &p, int ki, int kj, int channel)
{
    const int row = p.row + ki, col = p.col + kj;
    if (row < 0 || row >= g.height || col < 0 || col >= p.limit) return -1;
    return (((int64_t)p.image * g.height + row) * g.width + col) * g.channels + channel;
}

/* A pixel of the input, and of its image the places that it went to by a place of the kernel. */
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

/* A number of the result to where it belongs. */
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

/* Two neighbours of the result at once, where the row has both; col is even. */
template <conv_product P>
__device__ __forceinline__ void conv_store_pair(const conv_call &g, int row, int col, float x, float y)
{
    const size_t at = (size_t)row * (size_t)g.cols + (size_t)col;
    if (row >= g.m || col >= g.cols) return;
    if (col + 1 == g.cols || g.cols % 2) {
        conv_store<bf16>(g, P, row, col, x);
        if (col + 1 < g.cols) conv_store<bf16>(g, P, row, col + 1, y);
        return;
    }
    if (P == BY_WEIGHT) {
        float *const part = (float *)g.to + blockIdx.z * (size_t)g.m * (size_t)g.cols;
        *reinterpret_cast<float2 *>(part + at) = make_float2(x, y);
        return;
    }
    float two[2] = {x, y};
    bf16 *const to = (bf16 *)g.to + at;
    if (P == FORWARD) {
        if (g.bias) two[0] += g.bias[col], two[1] += g.bias[col + 1];
        if (g.act != DIS_ACT_NONE) two[0] = act_of(g.act, two[0]), two[1] = act_of(g.act, two[1]);
    } else {
        if (g.length) {
            const conv_place p = pixel_of(g, row);
            if (p.col >= p.limit) two[0] = two[1] = 0;
        }
        float old[2] = {0, 0};
        if (g.add) load<2>(to, old);
        two[0] += old[0], two[1] += old[1];
    }
    store<2>(to, two);
}

#endif
