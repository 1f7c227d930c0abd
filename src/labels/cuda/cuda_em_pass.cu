/* The pass of the EM methods on a CUDA device (labels/methods/em.h has the idea, em_kernel.c the pass on a
 * SM).
 *
 * Posteriors: a group of lanes processes an item, with one state per lane (or up to 32). The group loads the votes
 * together and broadcasts them; for each vote, the lanes read the row of probabilities coalesced. Probabilities are
 * multiplied directly; an item whose normaliser is outside 2^-700 .. 2^700 is recomputed with separate mantissa and
 * exponent. Items with many votes are split into parts, which are multiplied beforehand (cuda_em_parts.cu).
 *
 * Sums over the posteriors are computed afterwards (cuda_em_sums.cu).
 *
 * Cost per vote at K = 4: 8 bytes of votes from memory, 32 of probabilities and 32 of posteriors from the L2 cache; per
 * item 8 bytes and the posteriors written and read once. */
#include "core/random/philox.h"
#include "labels/cuda/em_products.cuh"

#define MIN_TOTAL 0x1p-700
#define MAX_TOTAL 0x1p700
#define LN2       0.693147180559945309417

/* ---- shares ---- */

/* As dis__philox (core/random/random.h): one word of the block. */
__device__ uint32_t random_word(uint64_t low, uint64_t high, uint64_t key, int word)
{
    uint32_t c0 = (uint32_t)low, c1 = (uint32_t)(low >> 32), c2 = (uint32_t)high, c3 = (uint32_t)(high >> 32);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < DIS_PHILOX_ROUNDS; round++) {
        dis__philox_round(&c0, &c1, &c2, &c3, k0, k1);
        k0 += DIS_PHILOX_WEYL0;
        k1 += DIS_PHILOX_WEYL1;
    }
    return word == 0 ? c0 : word == 1 ? c1 : word == 2 ? c2 : c3;
}

/* The vote share of each class, equal shares without votes; with groups, split over the states at random (em_kernel.c),
 * using `line` (n_states) of this group. */
template <class K>
__device__ __noinline__ void shares(const dis__cuda_em_pass &g, size_t item, uint64_t first, uint64_t last, range parts,
                                    uint64_t n_votes, int lane, int gold, double *line, double (&x)[K::PER])
{
    const int n_states = (int)g.shape.n_states, n_groups = (int)g.shape.n_groups;
    uint64_t n[K::PER];
#pragma unroll
    for (int j = 0; j < K::PER; j++) n[j] = 0;
    reader<K> r(g, first, last, lane);
    while (r.next())
        for (int u = 0; u < K::VOTES; u++) {
            const int label = (int)label_of(g, r.vote(u));
#pragma unroll
            for (int j = 0; j < K::PER; j++) n[j] += u < r.n && (lane + j * K::LANES) / n_groups == label;
        }
    for (uint32_t p = parts.first; p < parts.last; p++)
#pragma unroll
        for (int j = 0; j < K::PER; j++)
            if (lane + j * K::LANES < n_states) n[j] += (uint64_t)g.part_e[p * (size_t)n_states + lane + j * K::LANES];
#pragma unroll
    for (int j = 0; j < K::PER; j++) {
        const int k = lane + j * K::LANES, of = k / n_groups;
        x[j] = k >= n_states ? 0
               : gold >= 0   ? (double)(of == gold)
               : n_votes > 0 ? (double)n[j] / (double)n_votes
                             : 1 / (double)g.shape.n_classes;
    }
    if (n_groups == 1) return;
    double part[K::PER];
#pragma unroll
    for (int j = 0; j < K::PER; j++) {
        const int k = lane + j * K::LANES, m = k % n_groups;
        part[j] = 0;
        if (k < n_states) {
            const uint32_t word =
                random_word(g.signature[item], (uint64_t)(k / n_groups) << 32 | (unsigned)(m / 4 * 4), g.key, m % 4);
            line[k] = part[j] = log(((double)word + .5) * 0x1p-32);
        }
    }
    __syncwarp();
#pragma unroll
    for (int j = 0; j < K::PER; j++) {
        const int k = lane + j * K::LANES;
        double sum = 0;
        for (int m = 0; k < n_states && m < n_groups; m++) sum += line[k / n_groups * n_groups + m];
        if (k < n_states) x[j] = x[j] > 0 ? x[j] * part[j] / sum : 0;
    }
    __syncwarp();
}

/* ---- what is made of posteriors ---- */

/* Class posteriors: the sum over the states of each class, using `line`. */
template <class K>
__device__ __noinline__ void write_classes(const dis__cuda_em_pass &g, size_t item, bool in_range, int lane, int gold,
                                           double *line, const double (&x)[K::PER])
{
    const int n_groups = (int)g.shape.n_groups, n_classes = (int)g.shape.n_classes;
#pragma unroll
    for (int j = 0; j < K::PER; j++)
        if (lane + j * K::LANES < (int)g.shape.n_states) line[lane + j * K::LANES] = x[j];
    __syncwarp();
    for (int k = lane; in_range && k < n_classes; k += K::LANES) {
        double sum = 0;
        for (int m = 0; m < n_groups; m++) sum += line[k * n_groups + m];
        g.p[item * n_classes + k] = gold >= 0 ? (double)(k == gold) : sum;
    }
    __syncwarp();
}

/* Sums of a block, groups in their order. */
template <class K>
__device__ __forceinline__ void finish_block(const dis__cuda_em_pass &g, int lane, int group, double *lines,
                                             const double (&sum)[K::PER], double log_z)
{
    const int n = (int)g.shape.n_states;
    double *const out = g.part + blockIdx.x * (size_t)(n + 1);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < K::PER; j++)
        if (lane + j * K::LANES < n) lines[group * (n + 1) + lane + j * K::LANES] = sum[j];
    if (lane == 0) lines[group * (n + 1) + n] = log_z;
    __syncthreads();
    for (int k = (int)threadIdx.x; k <= n; k += K::THREADS) {
        double total = 0;
        for (int i = 0; i < K::GROUPS; i++) total += lines[i * (n + 1) + k];
        out[k] = total;
    }
}

template <class K>
__global__ void __launch_bounds__(K::THREADS) posteriors_kernel(const __grid_constant__ dis__cuda_em_pass g)
{
    extern __shared__ double lines[]; /* (groups, n_states + 1) */
    enum { TOGETHER = ALL / K::LANES };
    const int lane = (int)threadIdx.x % K::LANES, group = (int)threadIdx.x / K::LANES;
    double *const line = lines + group * ((int)g.shape.n_states + 1);
    const size_t stride = gridDim.x * (size_t)K::GROUPS, n_items = g.shape.n_items;
    const bool hard = g.step == DIS_EM_HARD;
    double sum[K::PER] = {};
    logs l = {1, 0};
    for (size_t base = blockIdx.x * (size_t)K::GROUPS + (size_t)(group / TOGETHER * TOGETHER); base < n_items;
         base += stride) {
        const size_t item = base + (size_t)(group % TOGETHER);
        const bool in_range = item < n_items;
        const uint64_t begin = in_range ? g.start[item] : 0, last = in_range ? g.start[item + 1] : 0;
        const bool is_long = last - begin > DIS_CUDA_EM_LONG;
        const uint64_t first = is_long ? last : begin; /* its parts are computed */
        const int gold = in_range && g.gold ? g.gold[item] : -1;
        range parts = {0, 0};
        if (is_long) parts = parts_of(g, item);
        double x[K::PER];
        if (g.step == DIS_EM_SHARES) {
            double y[K::PER]; /* arguments of a call are in local memory */
            shares<K>(g, in_range ? item : 0, first, last, parts, last - begin, lane, gold, line, y);
            copy<K>(x, y);
        } else {
            score<K>(g, first, last, lane, x);
#pragma unroll
            for (int j = 0; j < K::PER; j++)
                if (gold >= 0 && is_out(g, lane + j * K::LANES, gold)) x[j] = 0;
            double total = total_of<K>(hard, x);
            long long top = 0;
            const bool bad = is_long || !(total > MIN_TOTAL && total < MAX_TOTAL);
            if (__any_sync(EVERY, bad)) {
                double y[K::PER];
                const long long power = careful<K>(g, first, last, parts, lane, gold, y);
                const double all = total_of<K>(hard, y);
                if (bad) {
                    copy<K>(x, y);
                    total = all;
                    top = power;
                }
            }
            if (in_range) l.add(total, top);
            if (hard)
                harden<K>(lane, total, x);
            else {
#pragma unroll
                for (int j = 0; j < K::PER; j++) x[j] = flushed(x[j] / total);
            }
        }
#pragma unroll
        for (int j = 0; j < K::PER; j++)
            if (in_range) sum[j] += x[j];
#pragma unroll
        for (int j = 0; j < K::PER; j++)
            if (in_range && lane + j * K::LANES < (int)g.shape.n_states)
                g.x[item * g.shape.n_states + lane + j * K::LANES] = x[j];
        if (g.keep && g.shape.n_groups > 1) {
            double y[K::PER];
            copy<K>(y, x);
            write_classes<K>(g, item, in_range, lane, gold, line, y);
        }
    }
    finish_block<K>(g, lane, group, lines, sum, log(l.product) + (double)l.exponent * LN2);
}

/* ---- launches ---- */

typedef struct {
    size_t max_states;
    int lanes, threads;
    void (*posteriors[2])(dis__cuda_em_pass); /* rows, pairs */
} row_of_kinds;

#define ROW(lanes, per)                \
    {(lanes) * (per),                  \
     lanes,                            \
     kind<lanes, per, false>::THREADS, \
     {posteriors_kernel<kind<lanes, per, false>>, posteriors_kernel<kind<lanes, per, true>>}},
static const row_of_kinds kinds[] = {EM_KINDS(ROW)};

static const row_of_kinds *kind_for(const dis__em_shape *shape)
{
    const row_of_kinds *k = kinds;
    while (k->max_states < shape->n_states) k++;
    return k;
}

static size_t shared_bytes(const row_of_kinds *k, const dis__em_shape *shape)
{
    return (size_t)(k->threads / k->lanes) * (shape->n_states + 1) * sizeof(double);
}

cudaError_t dis__cuda_em_blocks(const dis__em_shape *shape, int ordinal, unsigned *blocks)
{
    const row_of_kinds *k = kind_for(shape);
    int processors = 0, each = 0;
    cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, ordinal);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, k->posteriors[shape->pairs], k->threads,
                                                              shared_bytes(k, shape));
    *blocks = (unsigned)(processors * (each < 1 ? 1 : each));
    return error;
}

cudaError_t dis__cuda_em_run(const dis__cuda_em_pass *pass, unsigned blocks, cudaStream_t stream)
{
    const row_of_kinds *k = kind_for(&pass->shape);
    if (pass->shape.n_parts) {
        const cudaError_t parts = dis__cuda_em_parts(pass, stream);
        if (parts != cudaSuccess) return parts;
    }
    k->posteriors[pass->shape.pairs]<<<blocks, k->threads, shared_bytes(k, &pass->shape), stream>>>(*pass);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? dis__cuda_em_sums(pass, blocks, stream) : error;
}
