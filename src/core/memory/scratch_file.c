/* A temporary file of blocks: see scratch_file.h. */
#include "core/memory/scratch_file.h"
#include "core/memory/spill.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include <unistd.h>

/* A position combines the offset within a file and, above it, the index of the file. */
enum { FILE_SHIFT = 56 };

static int file_of(const dis__scratch_file *file, uint64_t at, off_t *within)
{
    *within = (off_t)(at & (((uint64_t)1 << FILE_SHIFT) - 1));
    return file->fd[at >> FILE_SHIFT];
}

dis_status dis__scratch_open(int n_threads, dis__scratch_file *file)
{
    const int n = n_threads < DIS_SCRATCH_FILES ? n_threads : DIS_SCRATCH_FILES;
    for (file->n = 0; file->n < n; file->n++) {
        const int fd = dis__sys_temporary(dis__spill_folder());
        if (fd < 0) {
            const dis_status status = dis__spill_fail(0);
            dis__scratch_close(file);
            return status;
        }
        file->fd[file->n] = fd;
        atomic_store(&file->end[file->n], 0);
    }
    return DIS_OK;
}

void dis__scratch_close(dis__scratch_file *file)
{
    for (int i = 0; i < file->n; i++) close(file->fd[i]);
    file->n = 0;
}

dis_status dis__scratch_append(dis__scratch_file *file, int thread, const void *block, size_t n, uint64_t *at)
{
    const int which = thread % file->n;
    const char *from = block;
    uint64_t to = atomic_fetch_add(&file->end[which], n);
    *at = (uint64_t)which << FILE_SHIFT | to;
    while (n) {
        const ssize_t done = dis__sys_write_at(file->fd[which], from, n, to);
        if (done < 0) return dis__spill_fail((size_t)to + n);
        from += done;
        to += (uint64_t)done;
        n -= (size_t)done;
    }
    return DIS_OK;
}

dis_status dis__scratch_read(const dis__scratch_file *file, uint64_t at, void *to, size_t n)
{
    off_t from;
    const int fd = file_of(file, at, &from);
    char *next = to;
    while (n) {
        const ssize_t done = dis__sys_read_at(fd, next, n, (uint64_t)from);
        if (done <= 0) return dis__spill_fail(n);
        next += done;
        from += done;
        n -= (size_t)done;
    }
    return DIS_OK;
}

void dis__scratch_prefetch(const dis__scratch_file *file, uint64_t at, size_t n)
{
    off_t from;
    const int fd = file_of(file, at, &from);
    if (n) dis__os_prefetch(fd, (uint64_t)from, n);
}
