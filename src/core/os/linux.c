/* Linux, with any C library. */
#include "core/os/os.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Missing from the headers of some C libraries. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void *dis__os_reserve(size_t n)
{
    void *map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

int dis__os_populate(void *map, size_t n)
{
    int failed;
    do failed = madvise(map, n, MADV_POPULATE_WRITE);
    while (failed && (errno == EINTR || errno == EAGAIN));
    return failed;
}

void *dis__os_grow_map(void *map, size_t old_n, size_t n)
{
    void *moved = mremap(map, old_n, n, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? NULL : moved;
}

bool dis__os_zero_pages(void *block, size_t n)
{
    return madvise(block, n, MADV_DONTNEED) == 0;
}

void dis__os_prefer_huge_pages(void *block, size_t n)
{
    (void)madvise(block, n, MADV_HUGEPAGE); /* errors are harmless */
}

void dis__os_discard_pages(void *part, size_t n)
{
    /* frees the blocks of a file, otherwise the pages; errors are harmless */
    if (madvise(part, n, MADV_REMOVE) != 0) (void)madvise(part, n, MADV_DONTNEED);
}

uint64_t dis__os_available_memory(void)
{
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/meminfo", "re");
    if (!f) return 0;
    char line[128];
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1) break;
    fclose(f);
    return (uint64_t)kib * 1024;
}

uint64_t dis__os_resident_memory(void)
{
    unsigned long long all = 0, here = 0;
    char text[128];
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return 0;
    text[n] = 0;
    if (sscanf(text, "%llu %llu", &all, &here) != 2) return 0;
    return (uint64_t)here * (uint64_t)sysconf(_SC_PAGESIZE);
}

int dis__os_open_temporary(const char *folder)
{
    const int nameless = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return nameless >= 0 ? nameless : dis__os_open_unlinked(folder);
}

int dis__os_extend(int fd, size_t n)
{
    int failed;
    do failed = fallocate(fd, 0, 0, (off_t)n);
    while (failed && errno == EINTR);
    if (!failed || (errno != EOPNOTSUPP && errno != ENOSYS)) return failed;
    failed = posix_fallocate(fd, 0, (off_t)n);
    if (failed) errno = failed;
    return failed ? -1 : 0;
}

void dis__os_prefetch(int fd, uint64_t from, size_t n)
{
    (void)posix_fadvise(fd, (off_t)from, (off_t)n, POSIX_FADV_WILLNEED);
}

struct timespec dis__os_modified(const struct stat *st)
{
    return st->st_mtim;
}

int dis__os_usable_cpus(void)
{
    cpu_set_t set;
    const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : n;
}

bool dis__os_random(void *out, size_t n)
{
    enum { NONBLOCK = 1 };
    return syscall(SYS_getrandom, out, n, NONBLOCK) == (long)n; /* glibc 2.17 has no wrapper for it */
}

/* The system saves tile registers only for processes that have requested them. */
bool dis__os_enable_tile_registers(void)
{
#ifdef SYS_arch_prctl
    enum { REQUEST = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
#else
    return false;
#endif
}

bool dis__os_program(char *path, size_t n)
{
    const ssize_t got = readlink("/proc/self/exe", path, n - 1);
    if (got < 0) return false;
    path[got] = 0;
    return true;
}

void dis__os_init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void dis__os_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double nanoseconds = (double)until.tv_nsec + seconds * 1e9;
    until.tv_sec += (time_t)(nanoseconds / 1e9);
    until.tv_nsec = (long)fmod(nanoseconds, 1e9);
    pthread_cond_timedwait(condition, mutex, &until);
}

const char *dis__os_find_last(const char *text, int byte, size_t n)
{
    return memrchr(text, byte, n);
}
