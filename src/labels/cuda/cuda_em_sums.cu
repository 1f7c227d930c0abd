/* The sums of the EM pass on a CUDA device, after its posteriors (cuda_em_pass.cu).
 *
 * The votes are stored a second time by (tile of items, worker, label); a warp sums the posteriors of the items of one
 * unit. A tile fits into the L2 cache, so that posteriors are read from memory once. All sums are doubles in an order
 * that depends on the votes only: the result has the same bytes in every run, and small sums are as accurate as large
 * ones. */
#include "labels/cuda/em_kind.cuh"

enum { UNIT_THREADS = 256, FINISH = 256 };

__device__ __forceinline__ void unit_range(const dis__cuda_em_order &o, uint32_t unit, uint64_t *first, uint64_t *last)
{
    const uint32_t segment = __ldg(o.unit + unit);
    const uint64_t end = __ldg(o.segment + segment + 1);
    *first = __ldg(o.segment + segment) + (uint64_t)(unit - __ldg(o.unit_start + segment)) * DIS_CUDA_EM_UNIT;
    *last = end - *first < DIS_CUDA_EM_UNIT ? end : *first + DIS_CUDA_EM_UNIT;
}

/* One unit per warp: 32 items at a time, groups in parallel, then the sum over the groups. */
template <class K> __device__ __forceinline__ void add_rows(const dis__cuda_em_pass &g, uint32_t unit, int place)
{
    enum { TOGETHER = ALL / K::LANES, AT_ONCE = K::LANES < 4 ? K::LANES : K::PER > 2 ? 1 : 4 };
    const int lane = place % K::LANES, group = place / K::LANES, n_states = (int)g.shape.n_states;
    uint64_t first, last;
    unit_range(g.order, unit, &first, &last);
    double sum[K::PER] = {};
    for (uint64_t v = first; v < last; v += ALL) {
        const int n = last - v < ALL ? (int)(last - v) : ALL;
        const uint32_t mine = place < n ? __ldg(g.order.item + v + place) : 0;
#pragma unroll(K::LANES <= 8 ? 8 : 2)
        for (int u = 0; u < K::LANES; u += AT_ONCE) {
            double f[AT_ONCE][K::PER];
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                const int which = (u + i) * TOGETHER + group;
                const double *x = g.x + (uint64_t)__shfl_sync(EVERY, mine, which) * (uint32_t)n_states;
#pragma unroll
                for (int j = 0; j < K::PER; j++)
                    f[i][j] = which < n && lane + j * K::LANES < n_states ? __ldg(x + lane + j * K::LANES) : 0;
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
                for (int j = 0; j < K::PER; j++) sum[j] += f[i][j];
        }
    }
#pragma unroll
    for (int j = 0; j < K::PER; j++) {
#pragma unroll
        for (int o = K::LANES; o < ALL; o *= 2) sum[j] += __shfl_xor_sync(EVERY, sum[j], o);
        if (group == 0 && lane + j * K::LANES < n_states) g.unit_sum[unit * g.shape.row + lane + j * K::LANES] = sum[j];
    }
}

/* The same if only the posterior of the voted class counts: one item per lane. */
__device__ __forceinline__ void add_pairs(const dis__cuda_em_pass &g, uint32_t unit, int place)
{
    const uint32_t n_classes = (uint32_t)g.shape.n_classes, label = __ldg(g.order.unit + unit) % n_classes;
    uint64_t first, last;
    unit_range(g.order, unit, &first, &last);
    double sum = 0;
#pragma unroll 4
    for (uint64_t v = first + place; v < last; v += ALL)
        sum += __ldg(g.x + (uint64_t)__ldg(g.order.item + v) * n_classes + label);
#pragma unroll
    for (int o = 1; o < ALL; o *= 2) sum += __shfl_xor_sync(EVERY, sum, o);
    if (place == 0) g.unit_sum[unit] = sum;
}

template <class K>
__global__ void __launch_bounds__(UNIT_THREADS) units_kernel(const __grid_constant__ dis__cuda_em_pass g)
{
    const uint32_t unit = blockIdx.x * (UNIT_THREADS / ALL) + threadIdx.x / ALL;
    if (unit >= __ldg(g.order.unit_start + g.order.n_segments)) return;
    if (K::PAIRS)
        add_pairs(g, unit, (int)threadIdx.x % ALL);
    else
        add_rows<K>(g, unit, (int)threadIdx.x % ALL);
}

/* Element i of a table: the units of its row, tile by tile. `step`: rows of (worker, label) per table row. */
__device__ __forceinline__ double add_units(const dis__cuda_em_pass &g, size_t i, size_t step)
{
    const size_t n_pairs = g.order.n_segments / g.order.n_tiles, row = i / g.shape.row, k = i % g.shape.row;
    double sum = 0;
    if (k >= g.shape.n_states) return 0;
    for (size_t t = 0; t < g.order.n_tiles; t++)
        for (size_t r = row * step; r < (row + 1) * step; r++) {
            const uint32_t *at = g.order.unit_start + t * n_pairs + r;
            for (uint32_t u = at[0]; u < at[1]; u++) sum += g.unit_sum[u * g.shape.row + k];
        }
    return sum;
}

/* The last block sums the results of the posterior blocks, one warp per element. */
__global__ void __launch_bounds__(FINISH)
    finish_kernel(const __grid_constant__ dis__cuda_em_pass g, size_t n_sums, unsigned n_parts)
{
    const size_t i = blockIdx.x * (size_t)FINISH + threadIdx.x;
    if (blockIdx.x + 1 < gridDim.x) {
        if (i < n_sums) g.out[i] = add_units(g, i, g.shape.pairs && !g.shape.by_label ? g.shape.n_classes : 1);
        return;
    }
    const unsigned n = (unsigned)g.shape.n_states + 1, lane = threadIdx.x % ALL;
    for (unsigned k = threadIdx.x / ALL; k < n; k += FINISH / ALL) {
        double total = 0;
        for (unsigned b = lane; b < n_parts; b += ALL) total += g.part[b * (size_t)n + k];
        for (int o = 1; o < ALL; o *= 2) total += __shfl_xor_sync(EVERY, total, o);
        if (lane == 0) g.out[g.shape.n_rows * g.shape.row + k] = total;
    }
}

typedef struct {
    size_t max_states;
    void (*units[2])(dis__cuda_em_pass); /* rows, pairs */
} row_of_kinds;

#define ROW(lanes, per) {(lanes) * (per), {units_kernel<kind<lanes, per, false>>, units_kernel<kind<2, 1, true>>}},
static const row_of_kinds kinds[] = {EM_KINDS(ROW)};

cudaError_t dis__cuda_em_sums(const dis__cuda_em_pass *pass, unsigned blocks, cudaStream_t stream)
{
    const size_t n_sums = pass->sum ? pass->shape.n_rows * pass->shape.row : 0, per_block = UNIT_THREADS / ALL;
    if (pass->sum && pass->order.n_units) {
        const row_of_kinds *k = kinds;
        while (k->max_states < pass->shape.n_states) k++;
        k->units[pass->shape.pairs]<<<(unsigned)((pass->order.n_units + per_block - 1) / per_block), UNIT_THREADS, 0,
                                      stream>>>(*pass);
        const cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) return error;
    }
    finish_kernel<<<(unsigned)((n_sums + FINISH - 1) / FINISH + 1), FINISH, 0, stream>>>(*pass, n_sums, blocks);
    return cudaGetLastError();
}
