/* Files of a store that may come from someone else. The database and the folder are untrusted: a name could be
 * "../../.ssh/id_rsa", and any file could be a symbolic link to it, or a FIFO, whose open blocks. So names must have
 * the form that dissent writes, and files are opened folder by folder with O_NOFOLLOW and must be regular ones. The
 * links next to predictions (PREDICTIONS.tasks.txt to ../../truth/HASH.tasks.txt) are the only ones, and their targets
 * are compared. */
#include "experiment/store/store_internal.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include "io/files/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool dis__store_is_hash(const char *text)
{
    return text && strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

bool dis__store_is_prediction(const char *path, const char *key)
{
    char folder[96];
    const size_t n = (size_t)snprintf(folder, sizeof folder, "predictions/%.64s/", key);
    if (!path || strlen(path) > DIS__STORE_PATH || strncmp(path, folder, n) != 0) return false;
    const char *name = path + n;
    const size_t length = strlen(name);
    return length > 4 && name[0] != '.' && !strchr(name, '/') && strcmp(name + length - 4, ".npy") == 0;
}

static dis_status irregular(const dis__store *s, const char *path, const char *what)
{
    return dis__fail(DIS_EDATA, "%s/%s is %s; a store may contain regular files only: copy the file into the store",
                     s->folder, path, what);
}

/* Opens the next part of `path` in *folder, which is closed. */
static dis_status step(const dis__store *s, const char *path, char *part, bool last, int *folder)
{
    const int flags = O_RDONLY | DIS__OS_NO_LINK | DIS__OS_NO_WAIT | (last ? 0 : DIS__OS_FOLDER);
    const int next = dis__sys_open_at(*folder, part, flags), why = errno;
    close(*folder);
    *folder = next;
    errno = why;
    if (next >= 0 || why == ENOENT) return DIS_OK;
    if (why == ELOOP || (why == ENOTDIR && !last))
        return irregular(s, path, "reached through a symbolic link, or is one");
    if (why == ENXIO) return irregular(s, path, "a socket or a FIFO");
    return dis__fail_io("open", path);
}

dis_status dis__store_open_file(const dis__store *store, const char *path, int *out)
{
    char parts[DIS__STORE_PATH + 32], *rest = parts;
    if ((size_t)snprintf(parts, sizeof parts, "%s", path) >= sizeof parts)
        return dis__fail(DIS_EDATA, "%s: a name has %zu bytes; the store is damaged", store->folder, strlen(path));
    int fd = dis__sys_open(store->folder, O_RDONLY | DIS__OS_FOLDER, 0);
    if (fd < 0) return dis__fail_io("open", store->folder);
    while (fd >= 0 && rest) {
        char *part = rest;
        rest = strchr(part, '/');
        if (rest) *rest++ = 0;
        DIS_TRY(step(store, path, part, !rest, &fd));
    }
    struct stat st;
    if (fd >= 0 && dis__sys_fstat(fd, &st) != 0) {
        close(fd);
        return dis__fail_io("look at", path);
    }
    if (fd >= 0 && !S_ISREG(st.st_mode)) {
        close(fd);
        return irregular(store, path, dis__file_kind(st.st_mode));
    }
    *out = fd;
    return DIS_OK;
}

dis_status dis__store_check_file(const dis__store *store, const char *path, bool *exists)
{
    int fd;
    DIS_TRY(dis__store_open_file(store, path, &fd));
    *exists = fd >= 0;
    if (fd >= 0) close(fd);
    return DIS_OK;
}

/* The list next to predictions: a regular file, or the link that dis__link_lists() makes. */
static dis_status check_list(const dis__store *s, const char *base, const char *truth, const char *kind)
{
    char list[DIS__STORE_PATH + 32], link[128], target[160], expected[160], *path;
    bool exists;
    snprintf(list, sizeof list, "%s%s", base, kind);
    snprintf(link, sizeof link, "truth/%s%s", truth, kind);
    snprintf(expected, sizeof expected, "../../%s", link);
    DIS_TRY(dis__store_path(s, list, NULL, "", &path));
    const ssize_t n = dis__os_read_link(path, target, sizeof target - 1);
    dis__free(path);
    if (n < 0) return dis__store_check_file(s, list, &exists);
    target[n] = 0;
    if (strcmp(target, expected) != 0) return irregular(s, list, "a symbolic link to another file");
    return dis__store_check_file(s, link, &exists);
}

dis_status dis__store_check_set(const dis__store *store, const char *key, const char *path, const char *truth)
{
    static const char *const kinds[] = {".gold.csv", ".npy"};
    char base[DIS__STORE_PATH + 1];
    bool exists;
    if (!dis__store_is_hash(truth) || !dis__store_is_prediction(path, key))
        return dis__fail(DIS_EDATA, "%s: the run %.16s names files that no run has; the store is damaged",
                         store->folder, key);
    snprintf(base, sizeof base, "%.*s", (int)(strlen(path) - 4), path);
    DIS_TRY(dis__store_check_file(store, path, &exists));
    DIS_TRY(check_list(store, base, truth, ".tasks.txt"));
    DIS_TRY(check_list(store, base, truth, ".classes.txt"));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char link[128];
        snprintf(link, sizeof link, "truth/%s%s", truth, kinds[i]);
        DIS_TRY(dis__store_check_file(store, link, &exists));
    }
    return DIS_OK;
}
