/* WebAssembly by Emscripten: one process, files in memory, no signals, no libraries at run time. */
#include "core/os/os.h"
#include <errno.h>
#include <math.h>
#include <unistd.h>

/* All addresses are backed by memory. */
void *dis__os_reserve(size_t n)
{
    (void)n;
    errno = ENOMEM;
    return NULL;
}

uint64_t dis__os_available_memory(void)
{
    return 0;
}

uint64_t dis__os_resident_memory(void)
{
    return 0;
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

bool dis__os_program(char *path, size_t n)
{
    (void)path, (void)n;
    return false;
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
