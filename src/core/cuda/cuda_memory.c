/* Memory blocks that are kept between sessions: a list of all blocks, some of which are idle. A request gets the
 * smallest idle block that is large enough but less than twice as large, otherwise a new one. Networks are few and have
 * some twenty blocks each, so the list is searched linearly.
 *
 * Other programs need GPU memory too. When a block is returned, idle blocks are kept only up to an eighth of the memory
 * that would be free without them, and up to 1 GiB in any case; the largest are freed first. n idle processes leave at
 * least (7/8)^n of the free memory, except for 1 GiB each. The driver is queried (a millisecond) only when large blocks
 * are returned. */
#include "core/cuda/cuda_memory.h"
#include <stdbool.h>

enum { BLOCKS = 4096 }; /* of 200 networks at a time */

#ifdef DIS_CUDA_PLAIN
static const size_t always_cached[DIS_CUDA_KINDS]; /* initcheck must detect reads of uninitialized memory */
#define SHARE 0
#else
static const size_t always_cached[DIS_CUDA_KINDS] = {(size_t)1 << 30, (size_t)1 << 30};
#define SHARE 8 /* keep at most 1/KEEP of the free memory; 0: nothing */
#endif
enum { LARGE = 64 << 20 }; /* size of returned blocks after which the driver is queried */

typedef struct {
    dis__cuda_block block;
    bool idle;
} entry;

/* Guarded by dis__cuda_lock(). */
static entry list[BLOCKS];
static size_t n_list;

static cudaError_t from_system(dis__cuda_kind kind, size_t bytes, void **at)
{
    *at = NULL;
    return kind == DIS_CUDA_PINNED_MEMORY ? cudaHostAlloc(at, bytes, cudaHostAllocPortable) : cudaMalloc(at, bytes);
}

static void to_system(const dis__cuda_block *block)
{
    if (block->kind == DIS_CUDA_PINNED_MEMORY)
        cudaFreeHost(block->at);
    else
        cudaFree(block->at);
}

static void drop(size_t i)
{
    to_system(&list[i].block);
    list[i] = list[--n_list];
}

/* Pinned memory is shared by all GPUs. */
static bool serves(const dis__cuda_block *block, dis__cuda_kind kind, int ordinal)
{
    return block->kind == kind && (kind == DIS_CUDA_PINNED_MEMORY || block->ordinal == ordinal);
}

static size_t best_idle(dis__cuda_kind kind, int ordinal, size_t bytes)
{
    size_t best = n_list;
    for (size_t i = 0; i < n_list; i++) {
        const dis__cuda_block *b = &list[i].block;
        if (!list[i].idle || !serves(b, kind, ordinal) || b->bytes < bytes || b->bytes / 2 > bytes) continue;
        if (best == n_list || b->bytes < list[best].block.bytes) best = i;
    }
    return best;
}

static size_t idle_bytes(dis__cuda_kind kind, int ordinal)
{
    size_t sum = 0;
    for (size_t i = 0; i < n_list; i++)
        if (list[i].idle && serves(&list[i].block, kind, ordinal)) sum += list[i].block.bytes;
    return sum;
}

cudaError_t dis__cuda_memory_allocate(dis__cuda_kind kind, int ordinal, size_t bytes, dis__cuda_block *block)
{
    void *at;
    const size_t i = best_idle(kind, ordinal, bytes);
    if (i < n_list) {
        list[i].idle = false;
        *block = list[i].block;
        return cudaSuccess;
    }
    if (n_list == BLOCKS) dis__cuda_free_cached();
    if (n_list == BLOCKS) return cudaErrorMemoryAllocation;
    cudaError_t error = from_system(kind, bytes, &at);
    if (error == cudaErrorMemoryAllocation && idle_bytes(kind, ordinal)) { /* fragmented into blocks that are too
                                                                            * small */
        cudaGetLastError();
        dis__cuda_free_cached();
        error = from_system(kind, bytes, &at);
    }
    if (error != cudaSuccess) return error;
    *block = (dis__cuda_block){.at = at, .bytes = bytes, .kind = kind, .ordinal = ordinal};
    list[n_list++] = (entry){.block = *block};
    return cudaSuccess;
}

/* How much of `idle` bytes may be kept. */
static size_t may_stay(dis__cuda_kind kind, size_t idle)
{
    size_t left = 0, all = 0;
    if (idle <= always_cached[kind]) return idle;
    if (kind == DIS_CUDA_PINNED_MEMORY || !SHARE || cudaMemGetInfo(&left, &all) != cudaSuccess)
        return always_cached[kind];
    const size_t share = (left + idle) / (SHARE ? SHARE : 1);
    return share > always_cached[kind] ? share : always_cached[kind];
}

static size_t largest_idle(dis__cuda_kind kind, int ordinal)
{
    size_t best = n_list;
    for (size_t i = 0; i < n_list; i++) {
        const dis__cuda_block *b = &list[i].block;
        if (!list[i].idle || !serves(b, kind, ordinal)) continue;
        if (best == n_list || b->bytes > list[best].block.bytes) best = i;
    }
    return best;
}

void dis__cuda_release(void *at)
{
    size_t i = 0;
    while (i < n_list && list[i].block.at != at) i++;
    if (i == n_list) return;
    const dis__cuda_block given = list[i].block;
    list[i].idle = true;
    if (SHARE && given.bytes < LARGE) return;
    size_t idle = idle_bytes(given.kind, given.ordinal);
    for (const size_t stays = may_stay(given.kind, idle); idle > stays; idle = idle_bytes(given.kind, given.ordinal))
        drop(largest_idle(given.kind, given.ordinal));
}

void dis__cuda_memory_return(dis__cuda_block *block)
{
    dis__cuda_release(block->at);
    *block = (dis__cuda_block){0};
}

cudaError_t dis__cuda_allocate(dis__cuda_kind kind, int ordinal, size_t bytes, void **at)
{
    dis__cuda_block block;
    const cudaError_t error = dis__cuda_memory_allocate(kind, ordinal, bytes, &block);
    if (error == cudaSuccess) *at = block.at;
    return error;
}

size_t dis__cuda_cached_bytes(int ordinal)
{
    return idle_bytes(DIS_CUDA_DEVICE_MEMORY, ordinal);
}

void dis__cuda_free_cached(void)
{
    for (size_t i = n_list; i-- > 0;)
        if (list[i].idle) drop(i);
}
