/* Blocks of memory that are kept between sessions. Of a GPU at most MAX_KEPT bytes: other programs want some too. */
#include "core/cuda/cuda_memory.h"
#include "core/cuda/cuda_find.h"

enum { GPUS = DIS_CUDA_GPUS };
#define MAX_KEPT ((size_t)24 << 30)

/* By kind and GPU; host memory is kept with the first. Guarded by dis__cuda_lock(). */
static dis__cuda_block kept[DIS_CUDA_KINDS][GPUS];

static dis__cuda_block *place_of(dis__cuda_kind kind, int ordinal)
{
    return ordinal < GPUS ? &kept[kind][kind == DIS_CUDA_PINNED ? 0 : ordinal] : NULL;
}

static void drop(dis__cuda_block *block)
{
    if (block->at && block->kind == DIS_CUDA_PINNED) cudaFreeHost(block->at);
    if (block->at && block->kind == DIS_CUDA_THERE) cudaFree(block->at);
    *block = (dis__cuda_block){0};
}

cudaError_t dis__cuda_take(dis__cuda_kind kind, int ordinal, size_t bytes, dis__cuda_block *block)
{
    dis__cuda_block *place = place_of(kind, ordinal);
    if (place && place->at && place->bytes >= bytes) {
        *block = *place;
        *place = (dis__cuda_block){0};
        return cudaSuccess;
    }
    if (place) drop(place); /* too small: it will never be used again */
    void *at = NULL;
    const cudaError_t error =
        kind == DIS_CUDA_PINNED ? cudaHostAlloc(&at, bytes, cudaHostAllocPortable) : cudaMalloc(&at, bytes);
    if (error == cudaSuccess) *block = (dis__cuda_block){.at = at, .bytes = bytes, .kind = kind, .ordinal = ordinal};
    return error;
}

void dis__cuda_give(dis__cuda_block *block)
{
    if (!block->at) return;
    dis__cuda_block *place = place_of(block->kind, block->ordinal);
    if (place && block->bytes <= MAX_KEPT && block->bytes > place->bytes) {
        drop(place);
        *place = *block;
        *block = (dis__cuda_block){0};
    } else
        drop(block);
}

size_t dis__cuda_kept(int ordinal)
{
    const dis__cuda_block *place = place_of(DIS_CUDA_THERE, ordinal);
    return place ? place->bytes : 0;
}

void dis__cuda_trim(void)
{
    for (int kind = 0; kind < DIS_CUDA_KINDS; kind++)
        for (int i = 0; i < GPUS; i++) drop(&kept[kind][i]);
}
