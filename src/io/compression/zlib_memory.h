/* zlib_memory.h: routes zlib's allocations through core/memory/memory.h, for both directions. */
#ifndef DIS_IO_COMPRESSION_ZLIB_MEMORY_H
#define DIS_IO_COMPRESSION_ZLIB_MEMORY_H
#include "core/memory/memory.h"
#include <zlib.h>

static inline void *dis__zlib_alloc(void *unused, unsigned n, unsigned size)
{
    (void)unused;
    void *memory;
    return dis__alloc_array(&memory, n, size) == DIS_OK ? memory : Z_NULL;
}

static inline void dis__zlib_free(void *unused, void *memory)
{
    (void)unused;
    dis__free(memory);
}

#endif
