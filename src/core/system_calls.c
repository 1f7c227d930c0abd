/* System calls with fault injection. A fault is EIO, ENOSPC if the disk could be full, or a short count. */
#include "core/system_calls.h"
#include "core/fault_injection.h"
#include "core/os/os.h"
#include <errno.h>
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
    do fd = dis__os_open(path, flags, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int dis__sys_open_at(int folder, const char *name, int flags)
{
    if (fault(EIO)) return -1;
    int fd;
    do fd = dis__os_open_at(folder, name, flags);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int dis__sys_duplicate(int fd)
{
    return fault(EIO) ? -1 : dis__os_duplicate(fd);
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
    do got = dis__os_read_at(fd, buffer, n, at);
    while (got < 0 && errno == EINTR);
    return got;
}

ssize_t dis__sys_write_at(int fd, const void *buffer, size_t n, uint64_t at)
{
    if (fault(ENOSPC)) return -1;
    if (n > 1 && dis__fault_inject(DIS_FAULT_SHORT)) n = 1;
    ssize_t put;
    do put = dis__os_write_at(fd, buffer, n, at);
    while (put < 0 && errno == EINTR);
    return put;
}

int dis__sys_poll_input(int fd, int milliseconds)
{
    if (fault(EIO)) return -1;
    const int n = dis__os_poll_input(fd, milliseconds);
    return n < 0 && errno == EINTR ? 0 : n;
}

int dis__sys_fstat(int fd, struct stat *st)
{
    return fault(EIO) ? -1 : dis__os_file_stat(fd, st);
}

int dis__sys_stat(const char *path, struct stat *st)
{
    return fault(EIO) ? -1 : dis__os_stat(path, st);
}

void *dis__sys_map(int fd, size_t n)
{
    return fault(ENOMEM) ? NULL : dis__os_map_file(fd, n);
}

int dis__sys_temporary(const char *folder)
{
    return fault(EIO) ? -1 : dis__os_open_temporary(folder);
}

int dis__sys_extend(int fd, size_t n)
{
    return fault(ENOSPC) ? -1 : dis__os_extend(fd, n);
}

void *dis__sys_map_writable(int fd, size_t n)
{
    return fault(ENOMEM) ? NULL : dis__os_map_writable(fd, 0, n);
}

void *dis__sys_reserve(size_t n)
{
    return fault(ENOMEM) ? NULL : dis__os_reserve(n);
}

int dis__sys_truncate(int fd, uint64_t n)
{
    if (fault(ENOSPC)) return -1;
    int failed;
    do failed = dis__os_truncate(fd, n);
    while (failed && errno == EINTR);
    return failed;
}

void *dis__sys_map_writable_part(int fd, uint64_t from, size_t n)
{
    return fault(ENOMEM) ? NULL : dis__os_map_writable(fd, from, n);
}

int dis__sys_populate(void *map, size_t n)
{
    return fault(ENOSPC) ? -1 : dis__os_populate(map, n);
}

int dis__sys_fsync(int fd)
{
    if (fault(EIO)) return -1;
    int failed;
    do failed = dis__os_flush(fd);
    while (failed && errno == EINTR);
    return failed;
}

int dis__sys_close(int fd)
{
    if (fault(EIO)) {
        close(fd); /* closed in either case, as on Linux after a failed close */
        errno = EIO;
        return -1;
    }
    return close(fd);
}

int dis__sys_rename(const char *from, const char *to)
{
    return fault(EIO) ? -1 : dis__os_rename(from, to);
}

int dis__sys_mkdir(const char *path)
{
    return fault(EIO) ? -1 : dis__os_create_folder(path);
}

int dis__sys_symlink(const char *target, const char *path)
{
    return fault(ENOSPC) ? -1 : dis__os_create_link(target, path);
}

int dis__sys_lock(int fd, bool wait)
{
    if (fault(EIO)) return -1;
    int failed;
    do failed = dis__os_lock(fd, wait);
    while (failed && errno == EINTR);
    return failed;
}

bool dis__sys_exists(const char *path)
{
    return !fault(EIO) && dis__os_access(path, R_OK) == 0;
}
