/* Sorts votes by (tile of items, worker, label), items ascending (cuda_em.h): CUB's radix sort, which is stable, once
 * per fit.
 *
 * Cost: some 20 bits of 8 bytes per vote, in three passes at memory bandwidth; 12 bytes per vote of scratch memory,
 * shared with the posteriors. */
#include "labels/cuda/cuda_em.h"
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

enum { THREADS = 256, ALIGN = 256, SHORT = 32, STRETCH = 1024 };
#define CACHED ((size_t)16 << 20) /* bytes of posteriors that stay in the L2 cache together with other data */

void dis__cuda_em_tile(const dis__em_shape *shape, dis__cuda_em_order *order)
{
    const size_t n_pairs = shape->n_workers * shape->n_classes,
                 bytes = shape->n_items * shape->n_states * sizeof(double);
    size_t tiles = (bytes + CACHED - 1) / CACHED;
    const size_t limit = shape->n_votes / (SHORT * n_pairs + 1); /* shorter segments gain nothing */
    if (tiles > limit) tiles = limit;
    if (tiles < 1) tiles = 1;
    order->tile = (shape->n_items + tiles - 1) / tiles;
    if (order->tile < 1) order->tile = 1;
    order->n_tiles = tiles;
    order->n_segments = tiles * n_pairs;
    order->n_units =
        (order->n_segments < shape->n_votes ? order->n_segments : shape->n_votes) + shape->n_votes / DIS_CUDA_EM_UNIT;
}

static unsigned blocks_for(size_t n)
{
    const size_t blocks = (n + THREADS - 1) / THREADS, limit = 1u << 20;
    return (unsigned)(blocks < limit ? blocks > 0 ? blocks : 1 : limit);
}

static __device__ size_t first_of(void)
{
    return blockIdx.x * (size_t)THREADS + threadIdx.x;
}

static __device__ size_t all_of(void)
{
    return gridDim.x * (size_t)THREADS;
}

/* The item of vote v: the last one that begins at or before it. */
static __device__ __forceinline__ size_t item_of(const uint64_t *start, size_t low, size_t high, uint64_t v)
{
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        if (__ldg(start + middle) <= v)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A warp has a range of votes, of any items: the item of the first vote is found among all items, the others among the
 * items up to that of the last vote. */
static __global__ void keys_kernel(dis__cuda_em_pass g, uint32_t *key, uint32_t *item)
{
    const uint32_t n_classes = (uint32_t)g.shape.n_classes, bits = g.shape.label_bits;
    const uint32_t n_pairs = (uint32_t)g.shape.n_workers * n_classes;
    const size_t n = g.shape.n_votes, lane = threadIdx.x % 32;
    for (size_t base = first_of() / 32 * STRETCH; base < n; base += all_of() / 32 * STRETCH) {
        const size_t end = base + STRETCH < n ? base + STRETCH : n;
        size_t low = item_of(g.start, 0, g.shape.n_items, lane < 16 ? base : end - 1);
        const size_t high = __shfl_sync(0xffffffffu, low, 16) + 1;
        low = __shfl_sync(0xffffffffu, low, 0);
        for (uint64_t v = base + lane; v < end; v += 32) {
            low = item_of(g.start, low, high, v);
            const uint32_t vote = g.votes[v];
            key[v] =
                (uint32_t)(low / g.order.tile) * n_pairs + (vote >> bits) * n_classes + (vote & ((1u << bits) - 1));
            item[v] = (uint32_t)low;
        }
    }
}

/* Start of the votes of each segment, from the sorted keys; empty segments begin where the next one does. */
static __global__ void segments_kernel(const uint32_t *key, size_t n, uint64_t *segment, size_t n_segments)
{
    for (size_t v = first_of(); v <= n; v += all_of()) {
        const uint64_t from = v ? (uint64_t)key[v - 1] + 1 : 0, to = v < n ? key[v] : n_segments;
        for (uint64_t s = from; s <= to; s++) segment[s] = v;
    }
}

static __global__ void count_kernel(const uint64_t *segment, size_t n_segments, uint32_t *units)
{
    for (size_t s = first_of(); s <= n_segments; s += all_of())
        units[s] =
            s < n_segments ? (uint32_t)((segment[s + 1] - segment[s] + DIS_CUDA_EM_UNIT - 1) / DIS_CUDA_EM_UNIT) : 0;
}

static __global__ void units_kernel(const uint32_t *unit_start, size_t n_segments, uint32_t *unit)
{
    for (size_t s = first_of(); s < n_segments; s += all_of())
        for (uint32_t u = unit_start[s]; u < unit_start[s + 1]; u++) unit[u] = (uint32_t)s;
}

static int bits_of(size_t n)
{
    int bits = 1;
    while (bits < 32 && (size_t)1 << bits < n) bits++;
    return bits;
}

static size_t rounded(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static cudaError_t sort(void *work, size_t *bytes, cub::DoubleBuffer<uint32_t> *key, cub::DoubleBuffer<uint32_t> *item,
                        size_t n, size_t n_segments, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortPairs(work, *bytes, *key, *item, n, 0, bits_of(n_segments), stream);
}

static cudaError_t scan(void *work, size_t *bytes, uint32_t *units, size_t n, cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveSum(work, *bytes, units, units, n, stream);
}

/* Scratch bytes of the library. */
static cudaError_t library_bytes(const dis__em_shape *shape, const dis__cuda_em_order *order, size_t *bytes)
{
    size_t for_sort = 0, for_scan = 0;
    cub::DoubleBuffer<uint32_t> key, item;
    cudaError_t error = sort(NULL, &for_sort, &key, &item, shape->n_votes, order->n_segments, 0);
    if (error == cudaSuccess) error = scan(NULL, &for_scan, NULL, order->n_segments + 1, 0);
    *bytes = for_sort > for_scan ? for_sort : for_scan;
    return error;
}

cudaError_t dis__cuda_em_order_bytes(const dis__em_shape *shape, const dis__cuda_em_order *order, size_t *bytes)
{
    const cudaError_t error = library_bytes(shape, order, bytes);
    *bytes += 3 * rounded(shape->n_votes * sizeof(uint32_t)) + ALIGN;
    return error;
}

cudaError_t dis__cuda_em_make_order(const dis__cuda_em_pass *pass, void *scratch, size_t bytes, cudaStream_t stream)
{
    const dis__cuda_em_order *o = &pass->order;
    const size_t n = pass->shape.n_votes, array = rounded(n * sizeof(uint32_t));
    cub::DoubleBuffer<uint32_t> key((uint32_t *)scratch, (uint32_t *)((char *)scratch + array)),
        item((uint32_t *)((char *)scratch + 2 * array), o->item);
    void *work = (char *)scratch + 3 * array;
    size_t left = bytes - 3 * array;
    cudaError_t error = cudaSuccess;
    if (n) {
        const unsigned blocks = blocks_for((n + STRETCH - 1) / STRETCH * 32);
        keys_kernel<<<blocks, THREADS, 0, stream>>>(*pass, key.Current(), item.Current());
        error = cudaGetLastError();
        if (error == cudaSuccess) error = sort(work, &left, &key, &item, n, o->n_segments, stream);
        if (error == cudaSuccess && item.Current() != o->item)
            error = cudaMemcpyAsync(o->item, item.Current(), n * sizeof *o->item, cudaMemcpyDeviceToDevice, stream);
        if (error != cudaSuccess) return error;
    }
    segments_kernel<<<blocks_for(n + 1), THREADS, 0, stream>>>(key.Current(), n, o->segment, o->n_segments);
    count_kernel<<<blocks_for(o->n_segments + 1), THREADS, 0, stream>>>(o->segment, o->n_segments, o->unit_start);
    left = bytes - 3 * array;
    error = cudaGetLastError();
    if (error == cudaSuccess) error = scan(work, &left, o->unit_start, o->n_segments + 1, stream);
    if (error != cudaSuccess) return error;
    units_kernel<<<blocks_for(o->n_segments), THREADS, 0, stream>>>(o->unit_start, o->n_segments, o->unit);
    return cudaGetLastError();
}
