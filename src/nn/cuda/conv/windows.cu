/* Windows, strided identities and convolutions over ids of a table: sums and maxima of a few values each, one thread
 * per output element. Backward gathers, which avoids concurrent additions: an input reads the windows that cover it, a
 * row of the table the positions with its id. Bound by memory. */
#include "nn/cuda/common/vectors.cuh"

enum { THREADS = 256 };

/* ---- windows ---- */

template <class T> __global__ void window_kernel(dis__window_args a)
{
    const size_t e = blockIdx.x * (size_t)THREADS + threadIdx.x, places = a.out_h * a.out_w;
    if (e >= a.n * places * a.channels) return;
    const size_t c = e % a.channels, place = e / a.channels, image = place / places;
    const size_t i = place / a.out_w % a.out_h, j = place % a.out_w;
    const size_t bottom = min(i * a.stride + a.kernel, a.height), right = min(j * a.stride + a.kernel, a.width);
    const T *x = (const T *)a.x + image * a.height * a.width * a.channels;
    float y = 0;
    size_t best = 0;
    bool first = true;
    for (size_t row = i * a.stride; row < bottom; row++)
        for (size_t col = j * a.stride; col < right; col++) {
            const size_t at = (row * a.width + col) * a.channels + c;
            const float v = as_float(x[at]);
            if (a.kind != DIS_POOL_MAX) {
                y += v;
            } else if (first || v > y) {
                y = v;
                best = at;
            }
            first = false;
        }
    if (a.kind == DIS_POOL_MAX)
        a.choice[e] = (int32_t)best;
    else
        y *= 1 / (float)((bottom - i * a.stride) * (right - j * a.stride));
    ((T *)a.y)[e] = from_float<T>(y);
}

/* The first window along a dimension that covers `at`, and the one after the last. */
__device__ __forceinline__ void windows_over(size_t at, size_t kernel, size_t stride, size_t n, size_t *from,
                                             size_t *to)
{
    *from = at < kernel ? 0 : (at - kernel) / stride + 1;
    *to = min(at / stride + 1, n);
}

template <class T> __global__ void window_grad_kernel(dis__window_args a)
{
    const size_t e = blockIdx.x * (size_t)THREADS + threadIdx.x, image_size = a.height * a.width * a.channels;
    if (e >= a.n * image_size) return;
    const size_t image = e / image_size, own = e % image_size, c = own % a.channels;
    const size_t row = own / a.channels / a.width, col = own / a.channels % a.width;
    size_t top, bottom, left, right;
    windows_over(row, a.kernel, a.stride, a.out_h, &top, &bottom);
    windows_over(col, a.kernel, a.stride, a.out_w, &left, &right);
    float d = 0;
    for (size_t i = top; i < bottom; i++)
        for (size_t j = left; j < right; j++) {
            const size_t at = ((image * a.out_h + i) * a.out_w + j) * a.channels + c;
            const float dy = as_float(((const T *)a.dy)[at]);
            const size_t high = min(a.kernel, a.height - i * a.stride), wide = min(a.kernel, a.width - j * a.stride);
            if (a.kind == DIS_POOL_MAX)
                d += (size_t)a.choice[at] == own ? dy : 0;
            else
                d += dy * (1 / (float)(high * wide));
        }
    store_or_add((T *)a.dx + e, d, a.add);
}

template <class T> static cudaError_t window_of(dis__cuda_session *s, const dis__window_args *a)
{
    const size_t n = a->n * a->out_h * a->out_w * a->channels;
    if (n) window_kernel<T><<<grid_of(n, THREADS), THREADS, 0, s->stream>>>(*a);
    return cudaGetLastError();
}

template <class T> static cudaError_t window_grad_of(dis__cuda_session *s, const dis__window_args *a)
{
    const size_t n = a->n * a->height * a->width * a->channels;
    if (n && a->dx) window_grad_kernel<T><<<grid_of(n, THREADS), THREADS, 0, s->stream>>>(*a);
    return cudaGetLastError();
}

DIS_CUDA_OP(window, dis__window_args)
DIS_CUDA_OP(window_grad, dis__window_args)

/* ---- strided identities ---- */

template <class T> __global__ void shortcut_kernel(dis__window_args a)
{
    const size_t e = blockIdx.x * (size_t)THREADS + threadIdx.x, places = a.out_h * a.out_w;
    if (e >= a.n * places * a.out) return;
    const size_t c = e % a.out, place = e / a.out, image = place / places;
    const size_t i = place / a.out_w % a.out_h, j = place % a.out_w;
    const size_t at = ((image * a.height + i * a.stride) * a.width + j * a.stride) * a.channels;
    const bool filled = c >= a.before && c - a.before < a.channels;
    ((T *)a.y)[e] = filled ? ((const T *)a.x)[at + c - a.before] : from_float<T>(0);
}

template <class T> __global__ void shortcut_grad_kernel(dis__window_args a)
{
    const size_t e = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (e >= a.n * a.height * a.width * a.channels) return;
    const size_t c = e % a.channels, pixel = e / a.channels, image = pixel / (a.height * a.width);
    const size_t row = pixel / a.width % a.height, col = pixel % a.width;
    float d = 0;
    if (row % a.stride == 0 && col % a.stride == 0)
        d = as_float(
            ((const T *)a.dy)[((image * a.out_h + row / a.stride) * a.out_w + col / a.stride) * a.out + a.before + c]);
    store_or_add((T *)a.dx + e, d, a.add);
}

template <class T> static cudaError_t shortcut_of(dis__cuda_session *s, const dis__window_args *a)
{
    const size_t n = a->n * a->out_h * a->out_w * a->out;
    if (n) shortcut_kernel<T><<<grid_of(n, THREADS), THREADS, 0, s->stream>>>(*a);
    return cudaGetLastError();
}

template <class T> static cudaError_t shortcut_grad_of(dis__cuda_session *s, const dis__window_args *a)
{
    const size_t n = a->n * a->height * a->width * a->channels;
    if (n && a->dx) shortcut_grad_kernel<T><<<grid_of(n, THREADS), THREADS, 0, s->stream>>>(*a);
    return cudaGetLastError();
}

DIS_CUDA_OP(shortcut, dis__window_args)
DIS_CUDA_OP(shortcut_grad, dis__window_args)

/* ---- convolutions over ids ---- */

template <class T> __global__ void lookup_conv_kernel(dis__lookup_conv_args a)
{
    const size_t e = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (e >= a.n * a.places * a.out) return;
    const size_t c = e % a.out, place = e / a.out, j = place % a.places;
    const int32_t *id = a.id + place / a.places * a.width;
    float y = a.bias ? ((const float *)a.bias)[c] : 0;
    for (size_t k = 0; k < a.kernel; k++) {
        if (j + k < a.before || j + k - a.before >= a.width) continue;
        const int32_t row = id[j + k - a.before];
        if (row >= 0) y += as_float(((const T *)a.row_products)[((size_t)row * a.kernel + k) * a.out + c]);
    }
    ((T *)a.y)[e] = from_float<T>(act_of(a.act, y));
}

/* A block per (id, position of the kernel) and 32 columns: each warp scans its share of all positions, 32 at a time,
 * and adds the rows of dy with this id; the warps' sums are added in order. */
enum { LOOKUP_WARPS = 32 };

template <class T> __global__ void __launch_bounds__(32 * LOOKUP_WARPS) lookup_conv_grad_kernel(dis__lookup_conv_args a)
{
    __shared__ float part[LOOKUP_WARPS][32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t id = blockIdx.x / a.kernel, k = blockIdx.x % a.kernel, c = blockIdx.y * (size_t)32 + lane;
    const size_t n = a.n * a.width;
    float sum = 0;
    for (size_t base = warp * (size_t)32; base < n; base += 32 * LOOKUP_WARPS) {
        /* the position of the input; the corresponding output is before - k further */
        const size_t at = base + lane, j = at % a.width;
        const bool in_range = at < n && j + a.before >= k && j + a.before - k < a.places && a.id[at] == (int32_t)id;
        unsigned found = __ballot_sync(~0u, in_range);
        for (; found; found &= found - 1) {
            const size_t from = base + (size_t)(__ffs((int)found) - 1);
            const size_t place = from / a.width * a.places + from % a.width + a.before - k;
            if (c < a.out) sum += as_float(((const T *)a.dy)[place * a.out + c]);
        }
    }
    part[warp][lane] = sum;
    __syncthreads();
    if (warp || c >= a.out) return;
    for (int w = 1; w < LOOKUP_WARPS; w++) sum += part[w][lane];
    store_or_add((T *)a.d_row_products + (id * a.kernel + k) * a.out + c, sum, true);
}

template <class T> static cudaError_t lookup_conv_of(dis__cuda_session *s, const dis__lookup_conv_args *a)
{
    const size_t n = a->n * a->places * a->out;
    if (n) lookup_conv_kernel<T><<<grid_of(n, THREADS), THREADS, 0, s->stream>>>(*a);
    return cudaGetLastError();
}

template <class T> static cudaError_t lookup_conv_grad_of(dis__cuda_session *s, const dis__lookup_conv_args *a)
{
    const dim3 grid((unsigned)(a->n_ids * a->kernel), grid_of(a->out, 32));
    if (a->n && a->width && grid.x) lookup_conv_grad_kernel<T><<<grid, 32 * LOOKUP_WARPS, 0, s->stream>>>(*a);
    return cudaGetLastError();
}

DIS_CUDA_OP(lookup_conv, dis__lookup_conv_args)
DIS_CUDA_OP(lookup_conv_grad, dis__lookup_conv_args)
