/* memory.h: every allocation of the library goes through here.
 *
 * Sizes are multiplied with a check for overflow, failure is DIS_ELIMIT with the number of bytes, and in test builds
 * the n-th allocation can be made to fail (fault_injection.h). Within a scope (spill.h) large blocks may be in
 * temporary files: a full disk is DIS_EIO. Blocks are aligned to 64 bytes, a cache line and the widest vector. */
#ifndef DIS_CORE_MEMORY_MEMORY_H
#define DIS_CORE_MEMORY_MEMORY_H
#include "core/error.h"

/* Sets *(void **)out to n * size bytes; n * size == 0 gives a block that may be freed. Contents undefined. */
dis_status dis__alloc_array(void *out, size_t n, size_t size);
/* The same, filled with zero bytes. */
dis_status dis__alloc_zeroed(void *out, size_t n, size_t size);
/* The same, never in a temporary file (spill.h): for tables with constant random access. */
dis_status dis__alloc_resident(void *out, size_t n, size_t size);
/* Resizes *(void **)inout, which may be NULL, keeping the first min(old_n, n) elements. On failure it is unchanged. */
dis_status dis__resize_array(void *inout, size_t old_n, size_t n, size_t size);
/* Ensures room for `need` elements, doubling *capacity. */
dis_status dis__reserve(void *inout, size_t *capacity, size_t used, size_t need, size_t size);
void dis__free(void *memory);
/* Releases the memory or disk of whole pages of a large block that are no longer needed, if the system supports it;
 * their contents become undefined. */
void dis__release_pages(void *part, size_t bytes);

/* A copy of n bytes with a terminating NUL. */
dis_status dis__copy_text(char **out, const char *text, size_t n);

/* a * b + c, SIZE_MAX on overflow. For sizes that are compared with a limit. */
size_t dis__saturating_size(size_t a, size_t b, size_t c);

/* Bytes that can be allocated without swapping, as reported by the system; 0: unknown. */
uint64_t dis__memory_available(void);

#endif
