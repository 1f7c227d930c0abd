/* Mappings of files and the handler of SIGBUS that guards them: see file_map.h.
 *
 * The handler may interrupt any thread at any point, so the list is a fixed array of atomics: a slot is claimed by its
 * `used` flag, and valid while `begin` is not 0. Cost: a system call per mapping; a search of the list per SIGBUS. */
#include "core/memory/file_map.h"
#include "core/system_calls.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    atomic_bool used, damaged;
    atomic_uintptr_t begin, end; /* addresses; begin 0: no mapping yet, or no longer */
} guarded;

static guarded maps[DIS_FILE_MAPS];
static atomic_size_t n_maps; /* slots beyond were never used */
static struct sigaction before;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- the handler: async-signal-safe calls alone ---- */

static void pass_on(int signal, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(signal, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(signal);
    } else if (before.sa_handler == SIG_DFL || info->si_code > 0) { /* a fault cannot be ignored */
        const struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(SIGBUS, &standard, NULL); /* on return, the access faults again and ends the process */
        if (info->si_code <= 0) raise(SIGBUS);
    }
}

static void on_bus_error(int signal, siginfo_t *info, void *context)
{
    const uintptr_t at = (uintptr_t)info->si_addr;
    const size_t n = info->si_code == BUS_ADRERR ? atomic_load(&n_maps) : 0;
    const int error = errno;
    for (size_t i = 0; i < n; i++) {
        const uintptr_t begin = atomic_load(&maps[i].begin), end = atomic_load(&maps[i].end);
        if (!begin || at < begin || at >= end) continue;
        const uintptr_t page = at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
        atomic_store(&maps[i].damaged, true);
        if (mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
            errno = error;
            return;
        }
    }
    errno = error;
    pass_on(signal, info, context);
}

static void install(void)
{
    struct sigaction guard = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&guard.sa_mask);
    (void)sigaction(SIGBUS, &guard, &before);
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
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), whole = (n + page - 1) / page * page;
    atomic_store(&slot->damaged, false);
    atomic_store(&slot->end, (uintptr_t)map + whole);
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
    if (map) munmap(map, n);
}
