/* Mappings of files and the handler of SIGBUS that guards them: see file_map.h.
 *
 * The handler may interrupt any thread at any point, so the list is a fixed array of atomics: a slot is claimed by its
 * `used` flag, and valid while `begin` is not 0. Cost: a system call per mapping; a search of the list per SIGBUS. */
#include "core/memory/file_map.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct {
    atomic_bool used, damaged;
    atomic_uintptr_t begin, end; /* addresses; begin 0: no mapping */
} guarded;

static guarded maps[DIS_FILE_MAPS];
static atomic_size_t n_maps; /* slots from here on were never used */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Called by the handler of SIGBUS: marks the mapping of the address as damaged and returns its end; 0: no mapping. */
static uintptr_t find_end(uintptr_t address)
{
    const size_t n = atomic_load(&n_maps);
    for (size_t i = 0; i < n; i++) {
        const uintptr_t begin = atomic_load(&maps[i].begin), end = atomic_load(&maps[i].end);
        if (!begin || address < begin || address >= end) continue;
        atomic_store(&maps[i].damaged, true);
        return end;
    }
    return 0;
}

static void install(void)
{
    dis__os_guard_maps(find_end);
}

/* ---- the list ---- */

static guarded *claim_slot(void)
{
    for (size_t i = 0; i < DIS_FILE_MAPS; i++) {
        bool free = false;
        if (!atomic_compare_exchange_strong(&maps[i].used, &free, true)) continue;
        for (size_t n = atomic_load(&n_maps); n <= i && !atomic_compare_exchange_weak(&n_maps, &n, i + 1);) continue;
        return &maps[i];
    }
    return NULL;
}

static guarded *find(const void *map)
{
    for (size_t i = 0; map && i < atomic_load(&n_maps); i++)
        if (atomic_load(&maps[i].begin) == (uintptr_t)map) return &maps[i];
    return NULL;
}

void *dis__map_file(int fd, size_t n)
{
    pthread_once(&once, install);
    guarded *slot = claim_slot();
    if (!slot) {
        errno = ENODEV;
        return NULL;
    }
    void *map = dis__sys_map(fd, n);
    if (!map) {
        const int error = errno;
        atomic_store(&slot->used, false);
        errno = error;
        return NULL;
    }
    const uintptr_t page = dis__os_page_size(), rounded = (n + page - 1) / page * page;
    atomic_store(&slot->damaged, false);
    atomic_store(&slot->end, (uintptr_t)map + rounded);
    atomic_store(&slot->begin, (uintptr_t)map);
    return map;
}

bool dis__map_is_damaged(const void *map)
{
    const guarded *slot = find(map);
    return slot && atomic_load(&slot->damaged);
}

void dis__unmap_file(void *map, size_t n)
{
    guarded *slot = find(map);
    if (slot) {
        atomic_store(&slot->begin, 0);
        atomic_store(&slot->used, false);
    }
    if (map) dis__os_unmap(map, n);
}
