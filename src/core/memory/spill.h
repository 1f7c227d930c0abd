/* spill.h: large blocks of memory that are in temporary files when they are more than a call may take.
 *
 * A call that can work on more than its memory opens a scope; within it, dis__alloc_array() and its kin put a large
 * block into a file (made without a name, so that nothing of it is left behind however the process ends) and map it,
 * once all large blocks together would be more than their share of the limit. The system writes such a block out and
 * reads it back as it is used. Arrays that are gone through from start to end, as votes, posteriors and names are, lose
 * little by that; what is used at random (tables of workers) is asked for with dis__alloc_resident().
 *
 *     dis_status dis_votes_read(dis_context *ctx, ...)
 *     {
 *         DIS_MEMORY_SCOPE(ctx);
 *         ...
 *
 * What is mapped counts as memory of the process as long as its pages are in use. With a limit set, a thread watches
 * the process and gives such pages back to the system's file cache before the limit is reached (Linux).
 *
 * The limit is one per thread, the list of large blocks one per process, as the heap is: dis__free() takes any block,
 * in any thread, after the context is gone. */
#ifndef DIS_CORE_MEMORY_SPILL_H
#define DIS_CORE_MEMORY_SPILL_H
#include "dissent/context.h"
#include "core/error.h"

/* Smaller limits are too small for any work on more data than memory: what needs more is refused. */
#define DIS_SPILL_MIN ((uint64_t)32 << 20)

/* What the blocks of this thread may take: 0: as much as they want; DIS_MEMORY_AVAILABLE: what there is. */
#define DIS_MEMORY_AVAILABLE UINT64_MAX
uint64_t dis__memory_limit(void);
void dis__memory_set_limit(uint64_t limit);

/* Opens a scope, until the end of the block: with the limit of the context, none below DIS_SPILL_MIN. */
uint64_t dis__memory_scope_begin(const dis_context *ctx);
void dis__memory_scope_end(const uint64_t *before);
#define DIS_MEMORY_SCOPE(ctx)                                                                  \
    __attribute__((cleanup(dis__memory_scope_end), unused)) const uint64_t dis_memory_before = \
        dis__memory_scope_begin(ctx)

/* Whether a block of so many bytes would go to a file. */
bool dis__spill_needed(size_t bytes);
/* Where temporary files are made, and the failure to keep so many bytes there. */
const char *dis__spill_folder(void);
dis_status dis__spill_fail(size_t bytes);

/* ---- for memory.c ---- */

/* Takes a block of so many bytes to a file if it should be there: *block stays NULL if not. DIS_EIO. */
dis_status dis__spill_alloc(size_t bytes, void **block);
/* Counts a block that stays in memory, when it is large; it begins with a page. A failure is not worth telling. */
void dis__spill_track(void *block, size_t bytes);
/* How much a block may be without anybody asking where it lies. */
size_t dis__spill_threshold(void);
/* Forgets a block that begins with a page; true: it was in a file and is gone. */
bool dis__spill_free(void *block);
/* Grows a block in a file; false: it is not in one, or cannot grow there. */
bool dis__spill_grow(void **block, size_t bytes);

/* Pages of a mapped input file: given back when memory is short. */
void dis__spill_add_map(void *map, size_t n);
void dis__spill_remove_map(void *map);

#endif
