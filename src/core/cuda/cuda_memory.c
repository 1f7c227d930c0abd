/* Blocks of memory that are kept between sessions: a list of all that there are, of which some are idle. Who asks gets
 * the smallest idle one that is large enough and not twice as large, else a new one. Of a GPU at most 24 GiB stay
 * idle: other programs want some too. Nets are few and have some twenty blocks each, so the list is searched from
 * end to end. */
#include "core/cuda/cuda_memory.h"
#include <stdbool.h>

enum { BLOCKS = 4096 }; /* of 200 nets at a time */

#ifdef DIS_CUDA_PLAIN
static const size_t max_kept[DIS_CUDA_KINDS]; /* initcheck is to see what nobody has written */
#else
static const size_t max_kept[DIS_CUDA_KINDS] = {(size_t)24 << 30, (size_t)1 << 30};
#endif

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
    return kind == DIS_CUDA_PINNED ? cudaHostAlloc(at, bytes, cudaHostAllocPortable) : cudaMalloc(at, bytes);
}

static void to_system(const dis__cuda_block *block)
{
    if (block->kind == DIS_CUDA_PINNED)
        cudaFreeHost(block->at);
    else
        cudaFree(block->at);
}

static void drop(size_t i)
{
    to_system(&list[i].block);
    list[i] = list[--n_list];
}

/* Pinned memory serves all GPUs. */
static bool serves(const dis__cuda_block *block, dis__cuda_kind kind, int ordinal)
{
    return block->kind == kind && (kind == DIS_CUDA_PINNED || block->ordinal == ordinal);
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

cudaError_t dis__cuda_take(dis__cuda_kind kind, int ordinal, size_t bytes, dis__cuda_block *block)
{
    void *at;
    const size_t i = best_idle(kind, ordinal, bytes);
    if (i < n_list) {
        list[i].idle = false;
        *block = list[i].block;
        return cudaSuccess;
    }
    if (n_list == BLOCKS) dis__cuda_trim();
    if (n_list == BLOCKS) return cudaErrorMemoryAllocation;
    cudaError_t error = from_system(kind, bytes, &at);
    if (error == cudaErrorMemoryAllocation && idle_bytes(kind, ordinal)) { /* in pieces that are too small */
        cudaGetLastError();
        dis__cuda_trim();
        error = from_system(kind, bytes, &at);
    }
    if (error != cudaSuccess) return error;
    *block = (dis__cuda_block){.at = at, .bytes = bytes, .kind = kind, .ordinal = ordinal};
    list[n_list++] = (entry){.block = *block};
    return cudaSuccess;
}

void dis__cuda_put_back(void *at)
{
    size_t i = 0;
    while (i < n_list && list[i].block.at != at) i++;
    if (i == n_list) return;
    const dis__cuda_block *b = &list[i].block;
    list[i].idle = true;
    if (idle_bytes(b->kind, b->ordinal) > max_kept[b->kind]) drop(i);
}

void dis__cuda_give(dis__cuda_block *block)
{
    dis__cuda_put_back(block->at);
    *block = (dis__cuda_block){0};
}

cudaError_t dis__cuda_get(dis__cuda_kind kind, int ordinal, size_t bytes, void **at)
{
    dis__cuda_block block;
    const cudaError_t error = dis__cuda_take(kind, ordinal, bytes, &block);
    if (error == cudaSuccess) *at = block.at;
    return error;
}

size_t dis__cuda_kept(int ordinal)
{
    return idle_bytes(DIS_CUDA_THERE, ordinal);
}

void dis__cuda_trim(void)
{
    for (size_t i = n_list; i-- > 0;)
        if (list[i].idle) drop(i);
}
