/* Atomic output. The temporary file is in the target's folder (rename does not cross file systems) under a unique name,
 * ensured by O_EXCL. A target that is not a regular file (a pipe, /dev/null), or that names an open descriptor
 * (/dev/stdout, /dev/fd/3), is written directly. A symbolic link stays, and its target is replaced, or created if it
 * does not exist.
 *
 * All steps that can fail come before the rename: after an error the old file is unchanged. The only exception is the
 * flush of the folder after the rename: if it fails, the new file is complete and in place, and the error states that
 * it may not be on the disk yet. */
#include "io/output/output_file.h"
#include "core/os/os.h"
#include "io/files/file_lock.h"
#include "core/memory/memory.h"
#include "core/system_calls.h"
#include "io/compression/compress.h"
#include "io/files/resolve_path.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 4 * DIS_OUT_BUFFER, TRIES = 100 };

struct dis__out {
    int fd;
    char *path;      /* the target */
    char *temporary; /* NULL: written directly */
    int folder;      /* of the target, open for flushing; -1: none */
    size_t used;
    char *buffer;            /* BUFFER bytes */
    dis__compressor *packer; /* NULL: uncompressed */
    uint64_t written;        /* bytes written, except those in the buffer */
    char *map;               /* of the file, from a whole page on; NULL: none */
    size_t n_map;
    char *old_map; /* filled and still mapped */
    size_t n_old_map;
    uint64_t mapped_to; /* bytes of the file when the mapping is full */
};

static void release(dis__out *out)
{
    if (out->map) dis__os_unmap(out->map, out->n_map);
    dis__out_release_map(out);
    if (out->fd >= 0 && out->fd != STDOUT_FILENO) close(out->fd);
    if (out->folder >= 0) close(out->folder);
    if (out->temporary) dis__os_remove_file(out->temporary);
    dis__compressor_free(out->packer);
    dis__free(out->path);
    dis__free(out->temporary);
    dis__free(out->buffer);
    dis__free(out);
}

static dis_status open_folder(dis__out *out)
{
    char *folder;
    const char *slash = strrchr(out->path, '/');
    DIS_TRY(slash ? dis__copy_text(&folder, out->path, slash == out->path ? 1 : (size_t)(slash - out->path))
                  : dis__copy_text(&folder, ".", 1));
    out->folder = dis__sys_open(folder, O_RDONLY | DIS__OS_FOLDER, 0);
    /* EACCES: a folder that may be written but not listed; the system flushes it later */
    dis_status status = DIS_OK;
    if (out->folder < 0 && errno == ENOENT)
        status =
            dis__fail(DIS_EIO, "cannot create %s: the folder %s does not exist; create it first", out->path, folder);
    else if (out->folder < 0 && errno != EACCES)
        status = dis__fail_io("create", out->path);
    dis__free(folder);
    return status;
}

/* `mode` is that of the file to be replaced, 0 if it does not exist. */
static dis_status open_temporary(dis__out *out, mode_t mode)
{
    enum { SUFFIX = 40, LONGEST = 255 - SUFFIX }; /* of a file name; longer ones are truncated */
    const char *slash = strrchr(out->path, '/');
    const size_t folder = slash ? (size_t)(slash - out->path) + 1 : 0, name = strlen(out->path + folder);
    const int n_prefix = (int)(folder + (name < LONGEST ? name : LONGEST));
    const size_t n = (size_t)n_prefix + SUFFIX;
    DIS_TRY(open_folder(out));
    DIS_TRY(dis__alloc_array(&out->temporary, n, 1));
    for (int i = 0; i < TRIES; i++) {
        snprintf(out->temporary, n, "%.*s.%ld.%d.tmp", n_prefix, out->path, (long)getpid(), i);
        out->fd = dis__sys_open(out->temporary, O_RDWR | O_CREAT | O_EXCL, 0666);
        if (out->fd >= 0) {
            if (mode)
                (void)dis__os_set_mode(out->fd, mode & 07777); /* a private file stays private; errors are ignored */
            return DIS_OK;
        }
        if (errno != EEXIST) break;
    }
    const dis_status status = dis__fail_io("create", out->path);
    dis__free(out->temporary); /* exists already */
    out->temporary = NULL;
    return status;
}

/* The number N of an open descriptor that `path` names as /dev/stdout, /dev/fd/N or /proc/self/fd/N; -1: none. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t n = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], n) != 0 || path[n] < '0' || path[n] > '9') continue;
        const long fd = strtol(path + n, &end, 10);
        if (!*end && fd <= INT_MAX) return (int)fd;
    }
    return -1;
}

bool dis__out_is_stream(const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0 || descriptor_of(path) >= 0) return true;
    return dis__os_stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* A stream is not renamed. A descriptor is written from its current offset, so that `>>` and earlier output of the
 * caller are kept. */
static dis_status open_stream(dis__out *out, const char *path)
{
    const int fd = descriptor_of(path);
    if (strcmp(path, "-") == 0)
        out->fd = STDOUT_FILENO;
    else
        out->fd = fd >= 0 ? dis__sys_duplicate(fd) : dis__sys_open(path, O_WRONLY, 0);
    return out->fd < 0 ? dis__fail_io("open", path) : DIS_OK;
}

static dis_status open_target(dis__out *out, const char *path)
{
    DIS_TRY(dis__alloc_array(&out->buffer, BUFFER, 1));
    DIS_TRY(dis__copy_text(&out->path, path, strlen(path)));
    DIS_TRY(dis__compressor_open(path, &out->packer));
    if (!*path) return dis__fail(DIS_EUSAGE, "a file name is empty; - is standard output");
    if (dis__out_is_stream(path)) return open_stream(out, path);
    /* Through a symbolic link, its target is replaced or created, not the link. */
    char real[PATH_MAX];
    struct stat st;
    const bool followed = dis__resolve_path(path, real);
    const int why = errno;
    if (!followed && dis__os_link_stat(path, &st) == 0 && dis__os_is_link(st.st_mode)) {
        errno = why;
        return dis__fail_io("write where this link leads:", path);
    }
    const bool exists = followed && dis__os_stat(real, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return dis__fail(DIS_EIO, "cannot write %s: it is a folder; name a file in it", path);
    if (exists && dis__os_access(real, W_OK) != 0)
        return dis__fail_io("write", path); /* rename() does not check this */
    if (followed) {
        dis__free(out->path);
        out->path = NULL;
        DIS_TRY(dis__copy_text(&out->path, real, strlen(real)));
    }
    return open_temporary(out, exists ? st.st_mode : 0);
}

dis_status dis__out_open(const char *path, dis__out **result)
{
    dis__out *out;
    DIS_TRY(dis__alloc_zeroed(&out, 1, sizeof *out));
    out->fd = out->folder = -1;
    const dis_status status = open_target(out, path);
    if (status != DIS_OK) {
        release(out);
        return status;
    }
    *result = out;
    return DIS_OK;
}

static dis_status put_plain(void *user, const char *bytes, size_t n)
{
    dis__out *out = user;
    while (n) {
        const ssize_t done = dis__sys_write(out->fd, bytes, n);
        if (done < 0) return dis__fail_io("write", out->path);
        bytes += done;
        n -= (size_t)done;
        out->written += (uint64_t)done;
    }
    return DIS_OK;
}

static dis_status put(dis__out *out, const char *bytes, size_t n)
{
    return out->packer ? dis__compressor_write(out->packer, bytes, n, put_plain, out) : put_plain(out, bytes, n);
}

dis_status dis__out_flush(dis__out *out)
{
    const size_t n = out->used;
    out->used = 0;
    return put(out, out->buffer, n);
}

dis_status dis__out_write(dis__out *out, const void *bytes, size_t n)
{
    if (n > BUFFER - out->used) DIS_TRY(dis__out_flush(out));
    if (n >= BUFFER) return put(out, bytes, n);
    if (n) memcpy(out->buffer + out->used, bytes, n);
    out->used += n;
    return DIS_OK;
}

dis_status dis__out_reserve(dis__out *out, size_t n, char **room)
{
    if (n > DIS_OUT_BUFFER) return dis__fail(DIS_EBUG, "a buffer of %zu bytes was requested", n);
    if (n > BUFFER - out->used) DIS_TRY(dis__out_flush(out));
    *room = out->buffer + out->used;
    return DIS_OK;
}

void dis__out_advance(dis__out *out, size_t n)
{
    out->used += n;
}

dis_status dis__out_printf(dis__out *out, const char *format, ...)
{
    char *room;
    DIS_TRY(dis__out_reserve(out, DIS_OUT_BUFFER, &room));
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(room, DIS_OUT_BUFFER, format, args);
    va_end(args);
    if (n < 0 || n >= DIS_OUT_BUFFER) return dis__fail(DIS_EBUG, "a line too long to format");
    dis__out_advance(out, (size_t)n);
    return DIS_OK;
}

const char *dis__out_temporary(const dis__out *out)
{
    return out->packer ? NULL : out->temporary;
}

dis_status dis__out_map(dis__out *out, size_t n, char **room)
{
    *room = NULL;
    if (!out->temporary || out->packer || n == 0) return DIS_OK;
    DIS_TRY(dis__out_flush(out));
    const uint64_t page = dis__os_page_size(), from = out->written / page * page;
    out->mapped_to = out->written + n;
    if (dis__sys_truncate(out->fd, out->mapped_to) != 0) return dis__fail_io("write", out->path);
    char *map = dis__sys_map_writable_part(out->fd, from, (size_t)(out->mapped_to - from));
    if (!map || dis__sys_populate(map, 1) != 0) { /* an old system, or a file system without this feature */
        if (map) dis__os_unmap(map, (size_t)(out->mapped_to - from));
        return dis__sys_truncate(out->fd, out->written) != 0 ? dis__fail_io("write", out->path) : DIS_OK;
    }
    out->map = map;
    out->n_map = (size_t)(out->mapped_to - from);
    *room = map + (out->written - from);
    return DIS_OK;
}

dis_status dis__out_populate(const dis__out *out, char *room, size_t n)
{
    const size_t page = dis__os_page_size(), before = (size_t)(room - out->map) % page;
    if (n == 0 || dis__sys_populate(room - before, n + before) == 0) return DIS_OK;
    errno = ENOSPC; /* the system reports no further reason */
    return dis__fail_io("write", out->path);
}

void dis__out_release_map(dis__out *out)
{
    if (out->old_map) dis__os_unmap(out->old_map, out->n_old_map);
    out->old_map = NULL;
}

dis_status dis__out_unmap(dis__out *out)
{
    dis__out_release_map(out);
    out->old_map = out->map;
    out->n_old_map = out->n_map;
    out->map = NULL;
    out->written = out->mapped_to;
    return lseek(out->fd, (off_t)out->written, SEEK_SET) < 0 ? dis__fail_io("write", out->path) : DIS_OK;
}

/* All steps that a full disk can make fail. */
static dis_status finalize_output(dis__out *out)
{
    DIS_TRY(dis__out_flush(out));
    if (out->packer) DIS_TRY(dis__compressor_end(out->packer, put_plain, out));
    if (out->fd == STDOUT_FILENO) return DIS_OK;
    if (out->temporary && dis__sys_fsync(out->fd) != 0) return dis__fail_io("flush", out->path);
    const int fd = out->fd;
    out->fd = -1;
    return dis__sys_close(fd) != 0 ? dis__fail_io("close", out->path) : DIS_OK;
}

static dis_status put_in_place(dis__out *out)
{
    if (!out->temporary) return DIS_OK;
    if (dis__sys_rename(out->temporary, out->path) != 0) return dis__fail_io("put in place", out->path);
    dis__free(out->temporary); /* in place: must not be removed any more */
    out->temporary = NULL;
    /* EINVAL: a file system without flush */
    if (out->folder >= 0 && dis__sys_fsync(out->folder) != 0 && errno != EINVAL)
        return dis__fail_io("flush the folder of", out->path);
    return DIS_OK;
}

/* No other process renames its files at the same time: the two sets would be mixed. */
static dis_status lock_folder(dis__out *const *outs, size_t n)
{
    size_t n_renamed = 0;
    for (size_t i = 0; i < n; i++) n_renamed += outs[i] && outs[i]->temporary && outs[i]->folder >= 0;
    for (size_t i = 0; i < n && n_renamed > 1; i++)
        if (outs[i] && outs[i]->folder >= 0) return dis__folder_lock(NULL, outs[i]->folder, outs[i]->path);
    return DIS_OK;
}

dis_status dis__out_finish_all(dis__out *const *outs, size_t n, dis_status so_far)
{
    dis_status status = so_far;
    for (size_t i = 0; i < n && status == DIS_OK; i++)
        if (outs[i]) status = finalize_output(outs[i]);
    if (status == DIS_OK) status = lock_folder(outs, n);
    for (size_t i = 0; i < n && status == DIS_OK; i++)
        if (outs[i]) status = put_in_place(outs[i]);
    for (size_t i = 0; i < n; i++)
        if (outs[i]) release(outs[i]);
    return status;
}

dis_status dis__out_finish(dis__out *out, dis_status so_far)
{
    return dis__out_finish_all(&out, 1, so_far);
}
