/* WebAssembly by Emscripten: one process, files in memory, no signals, no libraries at run time. */
#include "core/os/os.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All addresses are backed by memory. */
void *dis__os_reserve(size_t n)
{
    (void)n;
    errno = ENOMEM;
    return NULL;
}

int dis__os_populate(void *map, size_t n)
{
    (void)map, (void)n;
    errno = ENOSYS;
    return -1;
}

void *dis__os_grow_map(void *map, size_t old_n, size_t n)
{
    (void)map, (void)old_n, (void)n;
    return NULL;
}

bool dis__os_zero_pages(void *block, size_t n)
{
    (void)block, (void)n;
    return false;
}

void dis__os_prefer_huge_pages(void *block, size_t n)
{
    (void)block, (void)n;
}

void dis__os_discard_pages(void *part, size_t n)
{
    (void)part, (void)n;
}

uint64_t dis__os_available_memory(void)
{
    return 0;
}

uint64_t dis__os_resident_memory(void)
{
    return 0;
}

int dis__os_open_temporary(const char *folder)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/dissent-XXXXXX", folder) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkstemp(path);
    if (fd >= 0) unlink(path);
    return fd;
}

int dis__os_extend(int fd, size_t n)
{
    return ftruncate(fd, (off_t)n);
}

void dis__os_prefetch(int fd, uint64_t from, size_t n)
{
    (void)fd, (void)from, (void)n;
}

struct timespec dis__os_modified(const struct stat *st)
{
    return st->st_mtim;
}

int dis__os_usable_cpus(void)
{
    return 1;
}

bool dis__os_random(void *out, size_t n)
{
    return getentropy(out, n) == 0;
}

bool dis__os_enable_tile_registers(void)
{
    return false;
}

bool dis__os_program(char *path, size_t n)
{
    (void)path, (void)n;
    return false;
}

void dis__os_init_condition(pthread_cond_t *condition)
{
    pthread_cond_init(condition, NULL);
}

void dis__os_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    const double nanoseconds = (double)until.tv_nsec + seconds * 1e9;
    until.tv_sec += (time_t)(nanoseconds / 1e9);
    until.tv_nsec = (long)fmod(nanoseconds, 1e9);
    pthread_cond_timedwait(condition, mutex, &until);
}

const char *dis__os_error_text(int code, char *text, size_t n)
{
    return strerror_r(code, text, n) == 0 ? text : "unknown error";
}

const char *dis__os_find_last(const char *text, int byte, size_t n)
{
    while (n--)
        if (text[n] == (char)byte) return text + n;
    return NULL;
}
