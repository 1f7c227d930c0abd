/* Compares labels with votes, for the warnings of a fit (labels/methods/fit_notes.c): counts items where a class has
 * most votes, where it is the label, all items, and items whose label has no votes. One thread per item; items with
 * many votes use a thread block. Integers, so the order of the sums does not matter.
 *
 * Cost: votes and labels are read once. */
#include "labels/cuda/cuda_em.h"

enum { K = DIS_CUDA_EM_COUNTED, SUMS = 2 * K + 2, THREADS = 256, LONG = 512 };

typedef unsigned long long number;

static __device__ __forceinline__ void add_votes(const dis__cuda_em_pass &g, uint64_t at, uint64_t last, uint64_t step,
                                                 uint32_t (&n)[K])
{
    const uint32_t mask = (1u << g.shape.label_bits) - 1;
    for (; at < last; at += step) {
        const uint32_t label = __ldg(g.votes + at) & mask;
#pragma unroll
        for (int k = 0; k < K; k++) n[k] += label == (uint32_t)k;
    }
}

/* Of one item: the class by votes and by label, the first on a tie. */
static __device__ __forceinline__ void judge(const dis__cuda_em_pass &g, size_t item, const uint32_t (&n)[K],
                                             uint32_t (&sums)[SUMS])
{
    const int n_classes = (int)g.shape.n_classes;
    const double *p = g.p + item * n_classes;
    int majority = 0, label = 0;
    uint32_t votes = n[0], of_label = n[0];
    double best = p[0];
#pragma unroll
    for (int k = 1; k < K; k++)
        if (k < n_classes) {
            const double x = p[k];
            if (n[k] > votes) {
                votes = n[k];
                majority = k;
            }
            if (x > best) {
                best = x;
                label = k;
                of_label = n[k];
            }
        }
#pragma unroll
    for (int k = 0; k < K; k++) {
        sums[k] += majority == k;
        sums[K + k] += label == k;
    }
    sums[2 * K]++;
    sums[2 * K + 1] += of_label == 0;
}

static __device__ __forceinline__ bool counts(const dis__cuda_em_pass &g, size_t item)
{
    return item < g.shape.n_items && !(g.gold && g.gold[item] >= 0);
}

/* The long items of a block, sequentially, by all its threads. */
static __device__ __forceinline__ void long_items(const dis__cuda_em_pass &g, size_t base, uint32_t (&sums)[SUMS])
{
    __shared__ uint32_t votes[K];
    for (int i = 0; i < THREADS; i++) {
        const size_t item = base + (size_t)i;
        if (!counts(g, item)) continue;
        const uint64_t first = g.start[item], last = g.start[item + 1];
        if (last - first <= LONG) continue;
        uint32_t n[K] = {};
        if (threadIdx.x < K) votes[threadIdx.x] = 0;
        __syncthreads();
        add_votes(g, first + threadIdx.x, last, THREADS, n);
        for (int k = 0; k < K; k++)
            if (n[k]) atomicAdd(votes + k, n[k]);
        __syncthreads();
        for (int k = 0; k < K; k++) n[k] = votes[k];
        if (threadIdx.x == 0) judge(g, item, n, sums);
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(THREADS) count_kernel(const __grid_constant__ dis__cuda_em_pass g, number *out)
{
    __shared__ uint32_t total[SUMS]; /* item indices have 32 bits */
    const int n_classes = (int)g.shape.n_classes;
    uint32_t sums[SUMS] = {};
    if (threadIdx.x < SUMS) total[threadIdx.x] = 0;
    for (size_t base = blockIdx.x * (size_t)THREADS; base < g.shape.n_items; base += gridDim.x * (size_t)THREADS) {
        const size_t item = base + threadIdx.x;
        const bool in_range = counts(g, item);
        const uint64_t first = in_range ? g.start[item] : 0, last = in_range ? g.start[item + 1] : 0;
        uint32_t n[K] = {};
        if (last > first && last - first <= LONG) {
            add_votes(g, first, last, 1, n);
            judge(g, item, n, sums);
        }
        if (__syncthreads_or(last - first > LONG)) long_items(g, base, sums);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < SUMS; i++) {
        const uint32_t warp = __reduce_add_sync(0xffffffffu, sums[i]);
        if (threadIdx.x % 32 == 0 && warp) atomicAdd(total + i, warp);
    }
    __syncthreads();
    const int at = (int)threadIdx.x;
    if (at < 2 * K && at % K < n_classes) atomicAdd(out + at / K * n_classes + at % K, (number)total[at]);
    if (at >= 2 * K && at < SUMS) atomicAdd(out + 2 * n_classes + at - 2 * K, (number)total[at]);
}

cudaError_t dis__cuda_em_count(const dis__cuda_em_pass *pass, uint64_t *counts, cudaStream_t stream)
{
    const size_t blocks = (pass->shape.n_items + THREADS - 1) / THREADS, limit = 2048;
    const cudaError_t error = cudaMemsetAsync(counts, 0, (2 * pass->shape.n_classes + 2) * sizeof *counts, stream);
    if (error != cudaSuccess || blocks == 0) return error;
    count_kernel<<<(unsigned)(blocks < limit ? blocks : limit), THREADS, 0, stream>>>(*pass, (number *)counts);
    return cudaGetLastError();
}
