/* spill.h: large blocks of memory, placed in temporary files if they exceed the memory limit of a call.
 *
 * A call that supports data larger than memory opens a scope. Within it, dis__alloc_array() and the related functions
 * place a large block in an unnamed file and map it, once all large blocks together would exceed their share of the
 * limit. The system writes such a block out and reads it back as needed. This costs little for arrays with sequential
 * access, such as votes, posteriors and names; tables with random access (of workers) use dis__alloc_resident().
 *
 *     dis_status dis_votes_read(dis_context *ctx, ...)
 *     {
 *         DIS_MEMORY_SCOPE(ctx);
 *         ...
 *
 * Mapped pages count as memory of the process while they are in use. With a limit set, a thread watches the process and
 * releases such pages to the system's file cache before the limit is reached (Linux).
 *
 * The limit is one per thread, the list of large blocks one per process, like the heap: dis__free() accepts any block,
 * in any thread, also after the context was destroyed. */
#ifndef DIS_CORE_MEMORY_SPILL_H
#define DIS_CORE_MEMORY_SPILL_H
#include "dissent/context.h"
#include "core/error.h"

/* Smaller limits are too small for work on data larger than memory: allocations above them fail. */
#define DIS_SPILL_MIN ((uint64_t)32 << 20)

/* The limit of this thread's blocks: 0: none; DIS_MEMORY_AVAILABLE: the available memory. */
#define DIS_MEMORY_AVAILABLE UINT64_MAX
uint64_t dis__memory_limit(void);
void dis__memory_set_limit(uint64_t limit);

/* Opens a scope, until the end of the C block: with the limit of the context, at least DIS_SPILL_MIN. */
uint64_t dis__memory_scope_begin(const dis_context *ctx);
void dis__memory_scope_end(const uint64_t *before);
#define DIS_MEMORY_SCOPE(ctx)                                                                  \
    __attribute__((cleanup(dis__memory_scope_end), unused)) const uint64_t dis_memory_before = \
        dis__memory_scope_begin(ctx)

/* Whether a block of this size would be placed in a file. */
bool dis__spill_needed(size_t bytes);
/* The folder of temporary files, and the error for a size that does not fit there. */
const char *dis__spill_folder(void);
dis_status dis__spill_fail(size_t bytes);

/* ---- for memory.c ---- */

/* Places a block of this size in a file if the limit requires it: otherwise *block stays NULL. DIS_EIO. */
dis_status dis__spill_alloc(size_t bytes, void **block);
/* Registers a large, page-aligned block that stays in memory. Failures are ignored. */
void dis__spill_track(void *block, size_t bytes);
/* Blocks up to this size are never looked up in the list. */
size_t dis__spill_threshold(void);
/* Removes a page-aligned block from the list; true: it was in a file and is freed. */
bool dis__spill_free(void *block);
/* Enlarges a block in a file; false: it is not in a file, or cannot be enlarged in place. */
bool dis__spill_grow(void **block, size_t bytes);

/* Pages of a mapped input file: released when memory is short. */
void dis__spill_add_map(void *map, size_t n);
void dis__spill_remove_map(void *map);

#endif
