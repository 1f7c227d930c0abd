/* cuda_memory.h: memory of GPUs, and of the host where devices fetch from it (pinned), that is kept when it is given
 * back. To take some from the system costs milliseconds, and to give it back waits for all that the whole process has
 * asked of the device: runs in parallel would wait for each other.
 *
 *     dis__cuda_lock();
 *     error = dis__cuda_memory_take(DIS_CUDA_DEVICE_MEMORY, ordinal, bytes, &block);
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

/* Pinned bytes that are taken when a device is started: four pieces of 16 MiB, and tables of some 10,000 workers. */
#define DIS_CUDA_PINNED_START ((size_t)80 << 20)

typedef struct {
    void *at;
    size_t bytes;
    dis__cuda_kind kind;
    int ordinal;
} dis__cuda_block;

/* At least so many bytes, what they hold is undefined. */
cudaError_t dis__cuda_memory_take(dis__cuda_kind kind, int ordinal, size_t bytes, dis__cuda_block *block);
/* n bytes of a block, of which `used` are given out; memory NULL: it is only being measured. */
static inline void *dis__cuda_carve(char *memory, size_t *used, size_t n)
{
    enum { ALIGN = 256 };
    char *at = memory ? memory + *used : 0;
    *used += (n + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}
/* No one uses it any more, no stream either. at NULL: nothing. */
void dis__cuda_memory_return(dis__cuda_block *block);
/* The same by the address alone. */
cudaError_t dis__cuda_allocate(dis__cuda_kind kind, int ordinal, size_t bytes, void **at);
void dis__cuda_release(void *at);
/* Bytes of a GPU that are kept and not used. */
size_t dis__cuda_cached_bytes(int ordinal);
/* Gives all that is kept back to the system. */
void dis__cuda_free_cached(void);

#ifdef __cplusplus
}
#endif
#endif
