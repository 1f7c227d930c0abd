/* System calls with a place for faults. A fault is EIO, ENOSPC where the disk could be full, or a short count. */
#include "core/system_calls.h"
#include "core/fault_injection.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

static bool fault(int code)
{
    if (!dis__fault_inject(DIS_FAULT_IO)) return false;
    errno = code;
    return true;
}

int dis__sys_open(const char *path, int flags, mode_t mode)
{
    if (fault(EIO)) return -1;
    int fd;
    do fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int dis__sys_open_at(int folder, const char *name, int flags)
{
    if (fault(EIO)) return -1;
    int fd;
    do fd = openat(folder, name, flags | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int dis__sys_duplicate(int fd)
{
    return fault(EIO) ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

ssize_t dis__sys_read(int fd, void *buffer, size_t n)
{
    if (fault(EIO)) return -1;
    if (n > 1 && dis__fault_inject(DIS_FAULT_SHORT)) n = 1;
    ssize_t got;
    do got = read(fd, buffer, n);
    while (got < 0 && errno == EINTR);
    return got;
}

ssize_t dis__sys_write(int fd, const void *buffer, size_t n)
{
    if (fault(ENOSPC)) return -1;
    if (n > 1 && dis__fault_inject(DIS_FAULT_SHORT)) n = 1;
    ssize_t put;
    do put = write(fd, buffer, n);
    while (put < 0 && errno == EINTR);
    return put;
}

ssize_t dis__sys_read_at(int fd, void *buffer, size_t n, uint64_t at)
{
    if (fault(EIO)) return -1;
    if (n > 1 && dis__fault_inject(DIS_FAULT_SHORT)) n = 1;
    ssize_t got;
    do got = pread(fd, buffer, n, (off_t)at);
    while (got < 0 && errno == EINTR);
    return got;
}

ssize_t dis__sys_write_at(int fd, const void *buffer, size_t n, uint64_t at)
{
    if (fault(ENOSPC)) return -1;
    if (n > 1 && dis__fault_inject(DIS_FAULT_SHORT)) n = 1;
    ssize_t put;
    do put = pwrite(fd, buffer, n, (off_t)at);
    while (put < 0 && errno == EINTR);
    return put;
}

int dis__sys_poll_input(int fd, int milliseconds)
{
    if (fault(EIO)) return -1;
    struct pollfd waits = {.fd = fd, .events = POLLIN};
    const int n = poll(&waits, 1, milliseconds);
    return n < 0 && errno == EINTR ? 0 : n;
}

int dis__sys_fstat(int fd, struct stat *st)
{
    return fault(EIO) ? -1 : fstat(fd, st);
}

int dis__sys_stat(const char *path, struct stat *st)
{
    return fault(EIO) ? -1 : stat(path, st);
}

void *dis__sys_map(int fd, size_t n)
{
    if (fault(ENOMEM)) return NULL;
    void *map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

int dis__sys_temporary(const char *folder)
{
    if (fault(EIO)) return -1;
#ifdef O_TMPFILE
    const int nameless = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (nameless >= 0) return nameless;
#endif
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/dissent-XXXXXX", folder) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkstemp(path);
    if (fd >= 0) unlink(path);
    return fd;
}

int dis__sys_extend(int fd, size_t n)
{
    if (fault(ENOSPC)) return -1;
    int failed;
#ifdef __linux__
    do failed = fallocate(fd, 0, 0, (off_t)n);
    while (failed && errno == EINTR);
    if (!failed || (errno != EOPNOTSUPP && errno != ENOSYS)) return failed;
#endif
    failed = posix_fallocate(fd, 0, (off_t)n);
    if (failed) errno = failed;
    return failed ? -1 : 0;
}

void *dis__sys_map_writable(int fd, size_t n)
{
    if (fault(ENOMEM)) return NULL;
    void *map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

void *dis__sys_reserve(size_t n)
{
    if (fault(ENOMEM)) return NULL;
    void *map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

int dis__sys_truncate(int fd, uint64_t n)
{
    if (fault(ENOSPC)) return -1;
    int failed;
    do failed = ftruncate(fd, (off_t)n);
    while (failed && errno == EINTR);
    return failed;
}

void *dis__sys_map_writable_part(int fd, uint64_t from, size_t n)
{
    if (fault(ENOMEM)) return NULL;
    void *map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
    return map == MAP_FAILED ? NULL : map;
}

int dis__sys_populate(void *map, size_t n)
{
    if (fault(ENOSPC)) return -1;
#ifdef MADV_POPULATE_WRITE
    int failed;
    do failed = madvise(map, n, MADV_POPULATE_WRITE);
    while (failed && (errno == EINTR || errno == EAGAIN));
    return failed;
#else
    (void)map, (void)n;
    errno = ENOSYS;
    return -1;
#endif
}

int dis__sys_fsync(int fd)
{
    if (fault(EIO)) return -1;
    int failed;
    do failed = fsync(fd);
    while (failed && errno == EINTR);
    return failed;
}

int dis__sys_close(int fd)
{
    if (fault(EIO)) {
        close(fd); /* gone either way, as on Linux after a failed close */
        errno = EIO;
        return -1;
    }
    return close(fd);
}

int dis__sys_rename(const char *from, const char *to)
{
    return fault(EIO) ? -1 : rename(from, to);
}

int dis__sys_mkdir(const char *path)
{
    return fault(EIO) ? -1 : mkdir(path, 0777);
}

int dis__sys_symlink(const char *target, const char *path)
{
    return fault(ENOSPC) ? -1 : symlink(target, path);
}

int dis__sys_flock(int fd, int operation)
{
    if (fault(EIO)) return -1;
    int failed;
    do failed = flock(fd, operation);
    while (failed && errno == EINTR);
    return failed;
}

bool dis__sys_exists(const char *path)
{
    return !fault(EIO) && access(path, R_OK) == 0;
}

void *dis__sys_library(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void *dis__sys_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

const char *dis__sys_library_error(void)
{
    const char *error = dlerror();
    return error ? error : "the library could not be loaded";
}

bool dis__sys_program(char *path, size_t n)
{
    const ssize_t got = readlink("/proc/self/exe", path, n - 1);
    if (got < 0) return false;
    path[got] = 0;
    return true;
}

bool dis__sys_library_file(void (*function)(void), char *path, size_t n)
{
    Dl_info info;
    void *address;
    memcpy(&address, &function, sizeof address);
    if (!dladdr(address, &info) || !info.dli_fname) return false;
    return (size_t)snprintf(path, n, "%s", info.dli_fname) < n;
}
