/* cuda_memory.h: a cache of GPU memory and of pinned host memory. Allocating from the system costs milliseconds, and
 * freeing waits for all work that the process has submitted to the device: concurrent runs would wait for each other.
 *
 *     dis__cuda_lock();
 *     error = dis__cuda_memory_allocate(DIS_CUDA_DEVICE_MEMORY, ordinal, bytes, &block);
 *     ...
 *     dis__cuda_memory_return(&block);
 *     dis__cuda_unlock();
 *
 * Threads: under dis__cuda_lock(). */
#ifndef DIS_CORE_CUDA_CUDA_MEMORY_H
#define DIS_CORE_CUDA_CUDA_MEMORY_H
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { DIS_CUDA_DEVICE_MEMORY, DIS_CUDA_PINNED_MEMORY, DIS_CUDA_KINDS } dis__cuda_kind;

/* Pinned bytes allocated when a device is started: four pieces of 16 MiB, and tables of some 10,000 workers. */
#define DIS_CUDA_PINNED_START ((size_t)80 << 20)

typedef struct {
    void *at;
    size_t bytes;
    dis__cuda_kind kind;
    int ordinal;
} dis__cuda_block;

/* At least `bytes` bytes; their contents are undefined. */
cudaError_t dis__cuda_memory_allocate(dis__cuda_kind kind, int ordinal, size_t bytes, dis__cuda_block *block);
/* n bytes of a block, of which `used` are allocated; memory NULL: only measures the size. */
static inline void *dis__cuda_carve(char *memory, size_t *used, size_t n)
{
    enum { ALIGN = 256 };
    char *at = memory ? memory + *used : 0;
    *used += (n + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}
/* The block is unused from now on, also by streams. at NULL: nothing. */
void dis__cuda_memory_return(dis__cuda_block *block);
/* The same by address. */
cudaError_t dis__cuda_allocate(dis__cuda_kind kind, int ordinal, size_t bytes, void **at);
void dis__cuda_release(void *at);
/* Cached bytes of a GPU that are not in use. */
size_t dis__cuda_cached_bytes(int ordinal);
/* Returns all cached blocks to the system. */
void dis__cuda_free_cached(void);

#ifdef __cplusplus
}
#endif
#endif
