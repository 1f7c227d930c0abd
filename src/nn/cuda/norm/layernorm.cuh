/* layernorm.cuh: rows of layer normalisation: the elements of a row that one lane has, 16 bytes at a time if rows allow
 * it. */
#ifndef DIS_NN_CUDA_NORM_LAYERNORM_CUH
#define DIS_NN_CUDA_NORM_LAYERNORM_CUH
#include "nn/cuda/common/kernels.cuh"

/* Elements of a row that one lane has, N at a time: group g is at (g * 32 + lane) * N. */
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

/* As norm_loops.h has them. */
__device__ __forceinline__ float norm_inverse(const dis__layernorm_args &a, float squares)
{
    if (a.sample) return 1 / (sqrtf(squares / (float)(a.width - 1)) + (float)a.epsilon);
    return 1 / sqrtf(squares / (float)a.width + (float)a.epsilon);
}
__device__ __forceinline__ float norm_slope(const dis__layernorm_args &a, float gz_sum, float inverse)
{
    if (!a.sample) return gz_sum / (float)a.width;
    const float share = 1 - (float)a.epsilon * inverse;
    return share > 0 ? gz_sum / ((float)(a.width - 1) * share) : 0;
}

static inline bool packs(const dis__layernorm_args *a, size_t n)
{
    return a->width % n == 0 && aligned16(a->x) && aligned16(a->r) && aligned16(a->y) && aligned16(a->gain) &&
           aligned16(a->bias) && aligned16(a->dy) && aligned16(a->dx) && aligned16(a->dr);
}

#endif
