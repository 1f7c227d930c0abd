/* Large blocks in temporary files: see spill.h.
 *
 * The list of blocks is short (one entry for each array of a few megabytes) and searched linearly, under a mutex; a
 * process without large blocks never locks it. Files are allocated in full when they are created: a full disk is an
 * error at that point, not a signal later. The watching thread polls every few milliseconds; a pass over mapped arrays
 * moves some gigabytes per second, so it reacts within some tens of megabytes. */
#include "core/memory/spill.h"
#include "core/context_internal.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { IN_MEMORY = -1, MAPPED_INPUT = -2, CHECK_EVERY = 4000000 /* ns */, PAGE = 4096 };
enum { LARGE = 8 << 20, LARGE_OF_MACHINE = 64 << 20, SMALLEST = 1 << 18, PART = 64 };

typedef struct {
    char *at;
    size_t bytes;
    int fd; /* or IN_MEMORY, MAPPED_INPUT */
} block;

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t change;
    block *list;
    size_t n, capacity;
    size_t n_mapped;      /* number of those in files */
    uint64_t in_memory;   /* bytes of those in memory */
    uint64_t limit;       /* the last limit set; 0: none to watch */
    bool watched;         /* watched by a thread */
    _Atomic size_t count; /* n, readable without the mutex */
} blocks = {.mutex = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

static _Thread_local uint64_t thread_limit;

uint64_t dis__memory_limit(void)
{
    return thread_limit;
}

void dis__memory_set_limit(uint64_t limit)
{
    thread_limit = limit;
}

uint64_t dis__memory_scope_begin(const dis_context *ctx)
{
    const uint64_t before = thread_limit, limit = dis__context_memory(ctx);
    thread_limit = limit == 0 ? DIS_MEMORY_AVAILABLE : limit < DIS_SPILL_MIN ? 0 : limit;
    return before;
}

void dis__memory_scope_end(const uint64_t *before)
{
    thread_limit = *before;
}

size_t dis__spill_threshold(void)
{
    if (thread_limit == 0) return SIZE_MAX;
    if (thread_limit == DIS_MEMORY_AVAILABLE) return LARGE_OF_MACHINE;
    const uint64_t part = thread_limit / PART;
    return part > LARGE ? LARGE : part < SMALLEST ? SMALLEST : (size_t)part;
}

/* Share of the memory limit for large blocks: the rest is for file pages and small blocks. */
static uint64_t share(void)
{
    if (thread_limit != DIS_MEMORY_AVAILABLE) return thread_limit / 10 * 4;
    const uint64_t free_now = dis__memory_available();
    return free_now == 0 ? UINT64_MAX : (free_now + dis__os_resident_memory()) / 10 * 8;
}

/* ---- the thread that watches ---- */

static void give_back(void)
{
    for (size_t i = 0; i < blocks.n; i++)
        if (blocks.list[i].fd != IN_MEMORY) dis__os_drop_pages(blocks.list[i].at, blocks.list[i].bytes);
}

/* Until nothing is left to release. */
static void *watch(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&blocks.mutex);
    while (blocks.n_mapped) {
        if (dis__os_resident_memory() > blocks.limit / 10 * 7) give_back();
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += CHECK_EVERY;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&blocks.change, &blocks.mutex, &until);
    }
    blocks.watched = false;
    pthread_mutex_unlock(&blocks.mutex);
    return NULL;
}

/* Starts the thread if there is a limit. If no thread can be created, only the system enforces the limit. */
static void start_watching(void)
{
    if (thread_limit == 0 || thread_limit == DIS_MEMORY_AVAILABLE) return;
    blocks.limit = thread_limit;
    if (blocks.watched || blocks.n_mapped == 0) return;
    pthread_t id;
    if (dis__os_start_thread(&id, watch, NULL) != 0) return;
    pthread_detach(id);
    blocks.watched = true;
}

/* ---- the list ---- */

static bool add(void *at, size_t bytes, int fd)
{
    if (blocks.n == blocks.capacity) {
        const size_t capacity = blocks.capacity ? 2 * blocks.capacity : 64;
        block *list = realloc(blocks.list, capacity * sizeof *list);
        if (!list) return false;
        blocks.list = list;
        blocks.capacity = capacity;
    }
    blocks.list[blocks.n++] = (block){.at = at, .bytes = bytes, .fd = fd};
    atomic_store(&blocks.count, blocks.n);
    if (fd == IN_MEMORY)
        blocks.in_memory += bytes;
    else
        blocks.n_mapped++;
    start_watching();
    return true;
}

static block *find(const void *at)
{
    for (size_t i = 0; i < blocks.n; i++)
        if (blocks.list[i].at == at) return &blocks.list[i];
    return NULL;
}

static void forget(block *b)
{
    if (b->fd == IN_MEMORY)
        blocks.in_memory -= b->bytes;
    else
        blocks.n_mapped--;
    *b = blocks.list[--blocks.n];
    atomic_store(&blocks.count, blocks.n);
    if (blocks.n == 0) {
        free(blocks.list);
        blocks.list = NULL;
        blocks.capacity = 0;
    }
    if (blocks.n_mapped == 0) pthread_cond_signal(&blocks.change);
}

/* ---- files ---- */

const char *dis__spill_folder(void)
{
    return dis__os_temporary_folder();
}

dis_status dis__spill_fail(size_t bytes)
{
    return dis__fail(DIS_EIO,
                     "cannot keep %.1f GiB in a temporary file in %s: %s; set TMPDIR to a folder with more space, or "
                     "allow more memory",
                     (double)bytes / 0x1p30, dis__spill_folder(), strerror(errno));
}

static dis_status make_file(size_t bytes, int *fd, void **at)
{
    *fd = dis__sys_temporary(dis__spill_folder());
    if (*fd < 0) return dis__spill_fail(bytes);
    *at = dis__sys_extend(*fd, bytes) == 0 ? dis__sys_map_writable(*fd, bytes) : NULL;
    if (*at) return DIS_OK;
    const dis_status status = dis__spill_fail(bytes);
    close(*fd);
    return status;
}

static size_t round_to_pages(size_t bytes)
{
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

bool dis__spill_needed(size_t bytes)
{
    if (bytes < dis__spill_threshold()) return false;
    const uint64_t most = share();
    pthread_mutex_lock(&blocks.mutex);
    const bool fits = blocks.in_memory <= most && bytes <= most - blocks.in_memory;
    pthread_mutex_unlock(&blocks.mutex);
    return !fits;
}

dis_status dis__spill_alloc(size_t bytes, void **out)
{
    if (!dis__spill_needed(bytes)) return DIS_OK;
    void *at;
    int fd;
    bytes = round_to_pages(bytes);
    DIS_TRY(make_file(bytes, &fd, &at));
    pthread_mutex_lock(&blocks.mutex);
    const bool added = add(at, bytes, fd);
    pthread_mutex_unlock(&blocks.mutex);
    if (!added) {
        dis__os_unmap(at, bytes);
        close(fd);
        return dis__fail(DIS_ELIMIT, "no memory for a list of blocks");
    }
    *out = at;
    return DIS_OK;
}

void dis__spill_track(void *at, size_t bytes)
{
    if (bytes < dis__spill_threshold()) return;
    pthread_mutex_lock(&blocks.mutex);
    (void)add(at, bytes, IN_MEMORY);
    pthread_mutex_unlock(&blocks.mutex);
}

bool dis__spill_free(void *at)
{
    if (atomic_load(&blocks.count) == 0) return false;
    pthread_mutex_lock(&blocks.mutex);
    block *found = find(at), gone = {.fd = IN_MEMORY};
    if (found) {
        gone = *found;
        forget(found);
    }
    pthread_mutex_unlock(&blocks.mutex);
    if (gone.fd == IN_MEMORY) return false;
    dis__os_unmap(gone.at, gone.bytes);
    close(gone.fd);
    return true;
}

bool dis__spill_grow(void **at, size_t bytes)
{
    if (atomic_load(&blocks.count) == 0) return false;
    bytes = round_to_pages(bytes);
    pthread_mutex_lock(&blocks.mutex);
    block *b = find(*at);
    bool grown = b && b->fd >= 0 && bytes > b->bytes && dis__sys_extend(b->fd, bytes) == 0;
    if (grown) {
        void *moved = dis__os_grow_map(b->at, b->bytes, bytes);
        grown = moved != NULL;
        if (grown) {
            b->at = *at = moved;
            b->bytes = bytes;
        }
    }
    pthread_mutex_unlock(&blocks.mutex);
    return grown;
}

void dis__spill_add_map(void *map, size_t n)
{
    if (n < dis__spill_threshold() || thread_limit == DIS_MEMORY_AVAILABLE) return;
    pthread_mutex_lock(&blocks.mutex);
    (void)add(map, n, MAPPED_INPUT);
    pthread_mutex_unlock(&blocks.mutex);
}

void dis__spill_remove_map(void *map)
{
    if (atomic_load(&blocks.count) == 0) return;
    pthread_mutex_lock(&blocks.mutex);
    block *found = find(map);
    if (found) forget(found);
    pthread_mutex_unlock(&blocks.mutex);
}
