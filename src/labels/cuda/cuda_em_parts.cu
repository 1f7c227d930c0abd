/* Items with many votes, part by part: products of their probabilities, as mantissa and power of 2, or, for shares of
 * votes, counts. A group of lanes processes a part, one state per lane; posteriors_kernel() combines the parts.
 *
 * Cost: like a pass over these votes at half the speed; 16 bytes per part and state. */
#include "labels/cuda/em_vote.cuh"

enum { THREADS = 128 };

static __device__ __forceinline__ long long count(const dis__cuda_em_pass &g, uint64_t first, uint64_t last,
                                                  uint32_t label)
{
    long long n = 0;
#pragma unroll 4
    for (uint64_t v = first; v < last; v++) n += label_of(g, __ldg(g.votes + v)) == label;
    return n;
}

/* The factor of a vote for state k. */
static __device__ __forceinline__ double factor(const dis__cuda_em_pass &g, uint32_t vote, uint32_t k)
{
    const uint32_t worker = vote >> g.shape.label_bits, label = label_of(g, vote), n = (uint32_t)g.shape.n_classes;
    if (!g.shape.pairs) return __ldg(g.rates + (uint64_t)(worker * n + label) * (uint32_t)g.shape.row + k);
    if (label != k) return 1;
    return __ldg(g.rates + (g.shape.by_label ? worker * n + label : worker));
}

static __global__ void __launch_bounds__(THREADS) parts_kernel(const __grid_constant__ dis__cuda_em_pass g, int lanes)
{
    const int lane = (int)threadIdx.x % lanes, n_states = (int)g.shape.n_states;
    const size_t part = blockIdx.x * (size_t)(THREADS / lanes) + threadIdx.x / (unsigned)lanes;
    if (part >= g.shape.n_parts) return;
    const size_t which = last_at_most(g.long_part, g.shape.n_long, part), item = g.long_item[which];
    const uint64_t first = g.start[item] + (part - g.long_part[which]) * DIS_CUDA_EM_PART, end = g.start[item + 1],
                   last = end - first < DIS_CUDA_EM_PART ? end : first + DIS_CUDA_EM_PART;
    for (int k = lane; k < n_states; k += lanes) {
        double x = 1;
        long long e = 0;
        if (g.step == DIS_EM_SHARES)
            e = count(g, first, last, (uint32_t)(k / (int)g.shape.n_groups));
        else {
#pragma unroll 4
            for (uint64_t v = first; v < last; v++)
                x = split(x * split(factor(g, __ldg(g.votes + v), (uint32_t)k), &e), &e);
        }
        g.part_x[part * (size_t)n_states + k] = x;
        g.part_e[part * (size_t)n_states + k] = e;
    }
}

cudaError_t dis__cuda_em_parts(const dis__cuda_em_pass *pass, cudaStream_t stream)
{
    int lanes = 1;
    while (lanes < 32 && (size_t)lanes < pass->shape.n_states) lanes *= 2;
    const size_t each = (size_t)(THREADS / lanes);
    parts_kernel<<<(unsigned)((pass->shape.n_parts + each - 1) / each), THREADS, 0, stream>>>(*pass, lanes);
    return cudaGetLastError();
}
