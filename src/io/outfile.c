/* Atomic output. The temporary file lies in the target's folder (rename does not cross file systems) under a name that
 * no other process uses; O_EXCL makes sure. A target that is not a regular file (a pipe, /dev/null) is written
 * directly. */
#include "io/outfile.h"
#include "core/memory.h"
#include "core/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 4 * DIS_OUT_ROOM, TRIES = 100 };

struct dis__out {
    int fd;
    char *path;      /* the target */
    char *temporary; /* NULL: written directly */
    size_t used;
    char *buffer; /* BUFFER bytes */
};

static void release(dis__out *out)
{
    dis__free(out->path);
    dis__free(out->temporary);
    dis__free(out->buffer);
    dis__free(out);
}

static dis_status open_temporary(dis__out *out)
{
    const size_t n = strlen(out->path) + 40;
    DIS_TRY(dis__alloc_array(&out->temporary, n, 1));
    for (int i = 0; i < TRIES; i++) {
        snprintf(out->temporary, n, "%s.%ld.%d.tmp", out->path, (long)getpid(), i);
        out->fd = dis__sys_open(out->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (out->fd >= 0) return DIS_OK;
        if (errno != EEXIST) break;
    }
    const dis_status status = dis__fail_io("create", out->path);
    dis__free(out->temporary); /* not ours */
    out->temporary = NULL;
    return status;
}

static dis_status open_target(dis__out *out, const char *path)
{
    DIS_TRY(dis__alloc_array(&out->buffer, BUFFER, 1));
    DIS_TRY(dis__copy_text(&out->path, path, strlen(path)));
    if (strcmp(path, "-") == 0) {
        out->fd = STDOUT_FILENO;
        return DIS_OK;
    }
    /* Through a symbolic link the file it points to is replaced, not the link. */
    char *real = realpath(path, NULL);
    struct stat st;
    const bool exists = real && stat(real, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) {
        free(real);
        return dis__fail(DIS_EIO, "cannot write %s: it is a folder; name a file in it", path);
    }
    if (exists && !S_ISREG(st.st_mode)) {
        free(real);
        out->fd = dis__sys_open(path, O_WRONLY, 0);
        return out->fd < 0 ? dis__fail_io("open", path) : DIS_OK;
    }
    dis_status status = DIS_OK;
    if (real) {
        dis__free(out->path);
        out->path = NULL;
        status = dis__copy_text(&out->path, real, strlen(real));
        free(real);
    }
    return status != DIS_OK ? status : open_temporary(out);
}

dis_status dis__out_open(const char *path, dis__out **result)
{
    dis__out *out;
    DIS_TRY(dis__alloc_zeroed(&out, 1, sizeof *out));
    out->fd = -1;
    const dis_status status = open_target(out, path);
    if (status != DIS_OK) {
        release(out);
        return status;
    }
    *result = out;
    return DIS_OK;
}

static dis_status put(dis__out *out, const char *bytes, size_t n)
{
    while (n) {
        const ssize_t done = dis__sys_write(out->fd, bytes, n);
        if (done < 0) return dis__fail_io("write", out->path);
        bytes += done;
        n -= (size_t)done;
    }
    return DIS_OK;
}

static dis_status flush(dis__out *out)
{
    const size_t n = out->used;
    out->used = 0;
    return put(out, out->buffer, n);
}

dis_status dis__out_write(dis__out *out, const void *bytes, size_t n)
{
    if (n > BUFFER - out->used) DIS_TRY(flush(out));
    if (n >= BUFFER) return put(out, bytes, n);
    if (n) memcpy(out->buffer + out->used, bytes, n);
    out->used += n;
    return DIS_OK;
}

dis_status dis__out_room(dis__out *out, size_t n, char **room)
{
    if (n > DIS_OUT_ROOM) return dis__fail(DIS_EBUG, "%zu bytes of room asked for", n);
    if (n > BUFFER - out->used) DIS_TRY(flush(out));
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
    DIS_TRY(dis__out_room(out, DIS_OUT_ROOM, &room));
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(room, DIS_OUT_ROOM, format, args);
    va_end(args);
    if (n < 0 || n >= DIS_OUT_ROOM) return dis__fail(DIS_EBUG, "a line too long to format");
    dis__out_advance(out, (size_t)n);
    return DIS_OK;
}

/* The rename lasts only once the folder is on the disk. */
static dis_status flush_folder(const dis__out *out)
{
    char *folder;
    const char *slash = strrchr(out->path, '/');
    DIS_TRY(slash ? dis__copy_text(&folder, out->path, slash == out->path ? 1 : (size_t)(slash - out->path))
                  : dis__copy_text(&folder, ".", 1));
    const int fd = dis__sys_open(folder, O_RDONLY | O_DIRECTORY, 0);
    dis_status status = fd < 0 ? dis__fail_io("open", folder) : DIS_OK;
    /* EINVAL: a file system that has nothing to flush here */
    if (fd >= 0 && dis__sys_fsync(fd) != 0 && errno != EINVAL) status = dis__fail_io("flush", folder);
    if (fd >= 0) close(fd);
    dis__free(folder);
    return status;
}

static dis_status commit(dis__out *out)
{
    DIS_TRY(flush(out));
    if (!out->temporary) return DIS_OK;
    if (dis__sys_fsync(out->fd) != 0) return dis__fail_io("flush", out->path);
    const int fd = out->fd;
    out->fd = -1;
    if (dis__sys_close(fd) != 0) return dis__fail_io("close", out->path);
    if (dis__sys_rename(out->temporary, out->path) != 0) return dis__fail_io("put in place", out->path);
    dis__free(out->temporary); /* in place: no longer ours to remove */
    out->temporary = NULL;
    return flush_folder(out);
}

dis_status dis__out_finish(dis__out *out, dis_status so_far)
{
    const dis_status status = so_far == DIS_OK ? commit(out) : so_far;
    if (out->fd >= 0 && out->fd != STDOUT_FILENO) close(out->fd);
    if (out->temporary) unlink(out->temporary);
    release(out);
    return status;
}
