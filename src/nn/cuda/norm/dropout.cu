/* Kernels of dropout (nn/loops/norm_loops.h); dropout_words() has the assignment of random words. */
#include "nn/cuda/common/kernels.cuh"

/* A block of 1,024 elements at a time: a thread draws four words twice, of pairs of elements 256 apart. */
template <class T>
__global__ void __launch_bounds__(128)
    dropout_pairs_kernel(dis__dropout_args a, const __grid_constant__ philox_keys keys, uint32_t threshold, float scale)
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
        const uint4 w = dropout_words(keys, pass, a.layer, b, 2 * threadIdx.x);
        const uint4 z = dropout_words(keys, pass, a.layer, b, 2 * threadIdx.x + 1);
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

/* The same for incomplete blocks: a thread draws four words, of elements 256 apart. */
template <class T>
__global__ void __launch_bounds__(256)
    dropout_kernel(dis__dropout_args a, const __grid_constant__ philox_keys keys, uint32_t threshold, float scale)
{
    const T *x = (const T *)a.x;
    T *y = (T *)a.y;
    const uint32_t pass = (uint32_t)(uint64_t)*a.pass;
    const size_t blocks = (a.n + DIS_DROPOUT_BLOCK - 1) / DIS_DROPOUT_BLOCK;
    for (size_t b = blockIdx.x; b < blocks; b += gridDim.x) {
        const uint4 w = dropout_words(keys, pass, a.layer, b, threadIdx.x);
        const uint32_t word[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const size_t e = b * DIS_DROPOUT_BLOCK + i * 256 + threadIdx.x;
            if (e >= a.n) continue;
            const float masked = word[i] < threshold ? 0 : as_float(x[e]) * scale;
            y[e] = from_float<T>(a.add ? as_float(y[e]) + masked : masked);
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
        DIS_CUDA_BY_VALUE(s, dropout_pairs_kernel<T><<<blocks, 128, 0, s->stream>>>(*a, philox_keys_of(a->seed),
                                                                                    drop_threshold(a->rate),
                                                                                    (float)(1 / (1 - a->rate))));
        return cudaGetLastError();
    }
    DIS_CUDA_BY_VALUE(s, (dropout_kernel<T><<<blocks, 256, 0, s->stream>>>(*a, philox_keys_of(a->seed),
                                                                           drop_threshold(a->rate),
                                                                           (float)(1 / (1 - a->rate)))));
    return cudaGetLastError();
}
