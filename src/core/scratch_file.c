/* A temporary file of blocks: see scratch_file.h. */
#include "core/scratch_file.h"
#include "core/spill.h"
#include "core/sys.h"
#include <fcntl.h>
#include <unistd.h>

dis_status dis__scratch_open(dis__scratch_file *file)
{
    const int fd = dis__sys_temporary(dis__spill_folder());
    if (fd < 0) return dis__spill_fail(0);
    file->fd = fd;
    file->open = true;
    atomic_store(&file->end, 0);
    return DIS_OK;
}

void dis__scratch_close(dis__scratch_file *file)
{
    if (file->open) close(file->fd);
    file->open = false;
}

dis_status dis__scratch_append(dis__scratch_file *file, const void *block, size_t n, uint64_t *at)
{
    const char *from = block;
    uint64_t to = *at = atomic_fetch_add(&file->end, n);
    while (n) {
        const ssize_t done = dis__sys_write_at(file->fd, from, n, to);
        if (done < 0) return dis__spill_fail((size_t)to + n);
        from += done;
        to += (uint64_t)done;
        n -= (size_t)done;
    }
    return DIS_OK;
}

dis_status dis__scratch_read(const dis__scratch_file *file, uint64_t at, void *to, size_t n)
{
    char *next = to;
    while (n) {
        const ssize_t done = dis__sys_read_at(file->fd, next, n, at);
        if (done <= 0) return dis__spill_fail(n);
        next += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return DIS_OK;
}

void dis__scratch_ahead(const dis__scratch_file *file, uint64_t at, size_t n)
{
    if (n) (void)posix_fadvise(file->fd, (off_t)at, (off_t)n, POSIX_FADV_WILLNEED);
}

void dis__scratch_drop(const dis__scratch_file *file, uint64_t at, size_t n)
{
#if defined(__linux__) && defined(FALLOC_FL_PUNCH_HOLE)
    if (n) (void)fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)n);
#else
    (void)file, (void)at, (void)n;
#endif
}
