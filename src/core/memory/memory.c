/* Allocation: aligned heap memory, or a temporary file (spill.h). Large blocks come from the system as fresh zero pages
 * either way, so zeroing costs no more than the first access. */
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "dissent/context.h"
#include "core/fault_injection.h"
#include "core/memory/spill.h"
#include <string.h>

enum { ALIGNMENT = 64, PAGE = 4096, HUGE = 2 << 20 };

static dis_status no_memory(size_t n, size_t size)
{
    return dis__fail(DIS_ELIMIT, "no memory for %zu x %zu bytes", n, size);
}

static dis_status allocate(void *out, size_t n, size_t size, bool resident)
{
    const size_t bytes = dis__saturating_size(n, size, ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes > SIZE_MAX / 2 || dis__fault_inject(DIS_FAULT_ALLOC)) return no_memory(n, size);
    const bool large = bytes >= dis__spill_threshold();
    void *block = NULL;
    if (large && !resident) DIS_TRY(dis__spill_alloc(bytes, &block));
    if (block) {
        dis__fault_count_block(1);
        *(void **)out = block;
        return DIS_OK;
    }
    /* Random access to large tables is bound by the TLB: use huge pages if the system supports them. */
    const size_t alignment = bytes >= HUGE ? HUGE : large ? PAGE : ALIGNMENT;
    block = dis__os_alloc_aligned(alignment, bytes ? bytes : ALIGNMENT);
    if (!block) return no_memory(n, size);
    if (bytes >= HUGE) dis__os_prefer_huge_pages(block, bytes);
    if (large) dis__spill_track(block, bytes);
    dis__fault_count_block(1);
    *(void **)out = block;
    return DIS_OK;
}

dis_status dis__alloc_array(void *out, size_t n, size_t size)
{
    return allocate(out, n, size, false);
}

static dis_status allocate_zeroed(void *out, size_t n, size_t size, bool resident)
{
    DIS_TRY(allocate(out, n, size, resident));
    char *block = *(char **)out;
    /* Released pages read as zeros: the system clears each one at its next use. Valgrind does not know this, and reports
     * uninitialised values where such blocks are read. */
    const size_t huge_bytes = n * size & ~(size_t)(HUGE - 1),
                 done = huge_bytes && dis__os_zero_pages(block, huge_bytes) ? huge_bytes : 0;
    memset(block + done, 0, n * size - done);
    return DIS_OK;
}

dis_status dis__alloc_zeroed(void *out, size_t n, size_t size)
{
    return allocate_zeroed(out, n, size, false);
}

dis_status dis__alloc_resident(void *out, size_t n, size_t size)
{
    return allocate_zeroed(out, n, size, true);
}

/* Blocks in files, and counted blocks, are page-aligned. */
static bool is_page(const void *block)
{
    return block && (uintptr_t)block % PAGE == 0;
}

dis_status dis__resize_array(void *inout, size_t old_n, size_t n, size_t size)
{
    void *block = NULL, *old = *(void **)inout;
    if (is_page(old) && n > old_n && dis__saturating_size(n, size, 0) <= SIZE_MAX / 2 &&
        dis__spill_grow(inout, n * size))
        return DIS_OK;
    DIS_TRY(dis__alloc_array(&block, n, size));
    if (old) memcpy(block, old, (old_n < n ? old_n : n) * size);
    dis__free(old);
    *(void **)inout = block;
    return DIS_OK;
}

dis_status dis__reserve(void *inout, size_t *capacity, size_t used, size_t need, size_t size)
{
    if (need <= *capacity) return DIS_OK;
    size_t grown = *capacity ? *capacity : 16;
    while (grown < need) grown = grown > SIZE_MAX / 2 ? need : grown * 2;
    DIS_TRY(dis__resize_array(inout, used, grown, size));
    *capacity = grown;
    return DIS_OK;
}

void dis__free(void *memory)
{
    if (memory) dis__fault_count_block(-1);
    if (is_page(memory) && dis__spill_free(memory)) return;
    dis__os_free_aligned(memory);
}

void dis__release_pages(void *part, size_t bytes)
{
    const uintptr_t first = ((uintptr_t)part + PAGE - 1) & ~(uintptr_t)(PAGE - 1),
                    last = ((uintptr_t)part + bytes) & ~(uintptr_t)(PAGE - 1);
    if (last > first) dis__os_discard_pages((void *)first, last - first);
}

dis_status dis__copy_text(char **out, const char *text, size_t n)
{
    char *copy = NULL;
    DIS_TRY(dis__alloc_array(&copy, dis__saturating_size(n, 1, 1), 1));
    if (n) memcpy(copy, text, n);
    copy[n] = 0;
    *out = copy;
    return DIS_OK;
}

size_t dis__saturating_size(size_t a, size_t b, size_t c)
{
    size_t product, sum;
    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, &sum)) return SIZE_MAX;
    return sum;
}

uint64_t dis__memory_available(void)
{
    return dis__os_available_memory();
}

void dis_free(void *memory)
{
    dis__free(memory);
}
