/* vectors.cuh: vectors of values, on top of kernels.cuh.
 *
 *     float x[8];
 *     load<8>(row + c, x);      one access of 16 bytes in bfloat16
 *     store<8>(row + c, x);
 *     DIS_CUDA_OP(window, dis__window_args)      dis__cuda_window() from window_of<T>() for both types of values */
#ifndef DIS_NN_CUDA_COMMON_VECTORS_CUH
#define DIS_NN_CUDA_COMMON_VECTORS_CUH
#include "nn/cuda/common/kernels.cuh"

#define DIS_CUDA_OP(name, args_type)                                                      \
    extern "C" cudaError_t dis__cuda_##name(dis__cuda_session *s, const void *args)       \
    {                                                                                     \
        const args_type *a = (const args_type *)args;                                     \
        return s->value == DIS_BFLOAT16 ? name##_of<bf16>(s, a) : name##_of<float>(s, a); \
    }

/* V numbers in one access where they fill up to 16 bytes; the address is a multiple of that. */
template <int BYTES> struct word_of;
template <> struct word_of<2> {
    typedef unsigned short type;
};
template <> struct word_of<4> {
    typedef unsigned type;
};
template <> struct word_of<8> {
    typedef uint2 type;
};
template <> struct word_of<16> {
    typedef uint4 type;
};

template <int V, class T> __device__ __forceinline__ void load(const T *from, float (&x)[V])
{
    typedef typename word_of<V * sizeof(T)>::type word;
    union {
        word w;
        T t[V];
    } u;
    u.w = *reinterpret_cast<const word *>(from);
#pragma unroll
    for (int i = 0; i < V; i++) x[i] = as_float(u.t[i]);
}

template <int V, class T> __device__ __forceinline__ void store(T *to, const float (&x)[V])
{
    typedef typename word_of<V * sizeof(T)>::type word;
    union {
        word w;
        T t[V];
    } u;
#pragma unroll
    for (int i = 0; i < V; i++) u.t[i] = from_float<T>(x[i]);
    *reinterpret_cast<word *>(to) = u.w;
}

template <class T> __device__ __forceinline__ void store_or_add(T *to, float x, bool add)
{
    *to = from_float<T>(add ? as_float(*to) + x : x);
}

#endif
