/* Resolves names to files. dis__os_real_path() handles existing files. For others, the folder is resolved and the last
 * component followed link by link, as open(2) with O_CREAT does. Two names are the same file if the system says so
 * (which also detects hard links), or if no file exists and the resolved paths are equal. */
#include "tool/files.h"
#include "core/os/os.h"
#include "io/files/resolve_path.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40 }; /* the limit of Linux */

/* folder/name in `out`; false: too long. */
static bool join(char out[PATH_MAX], const char *folder, const char *name)
{
    const int n = snprintf(out, PATH_MAX, "%s%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/", name);
    if (n >= 0 && n < PATH_MAX) return true;
    errno = ENAMETOOLONG;
    return false;
}

/* Splits `path` at its last slash: its folder, resolved, and the name in it, which points into `path`. */
static bool split(char *path, char folder[PATH_MAX], const char **name)
{
    char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (!slash) return dis__os_real_path(".", folder);
    if (slash == path) {
        strcpy(folder, "/");
        return true;
    }
    *slash = 0;
    return dis__os_real_path(path, folder);
}

bool dis__resolve_path(const char *path, char out[PATH_MAX])
{
    char at[PATH_MAX], folder[PATH_MAX], target[PATH_MAX];
    if (dis__os_real_path(path, out)) return true;
    if (errno != ENOENT) return false;
    if ((size_t)snprintf(at, sizeof at, "%s", path) >= sizeof at) {
        errno = ENAMETOOLONG;
        return false;
    }
    dis__os_plain_path(at);
    for (int links = 0; links < MAX_LINKS; links++) {
        const char *name;
        if (!split(at, folder, &name) || !join(out, folder, name)) return false;
        const ssize_t n = dis__os_read_link(out, target, sizeof target - 1);
        if (n < 0) return errno == ENOENT || errno == EINVAL;
        target[n] = 0;
        if (target[0] == '/')
            memcpy(at, target, (size_t)n + 1);
        else if (!join(at, folder, target))
            return false;
    }
    errno = ELOOP;
    return false;
}

bool dis__file_same(const char *a, const char *b)
{
    struct stat x, y;
    const bool is = dis__os_stat(a, &x) == 0;
    if (is != (dis__os_stat(b, &y) == 0)) return false;
    if (is) return dis__os_same_file(a, b) && !S_ISCHR(x.st_mode);
    char at[PATH_MAX], other[PATH_MAX];
    return dis__resolve_path(a, at) && dis__resolve_path(b, other) && strcmp(at, other) == 0;
}

bool dis__file_within(const char *path, const char *folder, char *out, size_t size)
{
    char at[PATH_MAX], top[PATH_MAX];
    if (!dis__resolve_path(path, at) || !dis__resolve_path(folder, top)) return false;
    const size_t n = strlen(top);
    if (strncmp(at, top, n) != 0 || at[n] != '/' || strlen(at + n + 1) >= size) return false;
    memcpy(out, at + n + 1, strlen(at + n + 1) + 1);
    return true;
}
