#include "io/folder.h"
#include "core/memory.h"
#include "core/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

dis_status dis__path_in(const char *folder, const char *name, char **out)
{
    const size_t n = strlen(folder) + strlen(name) + 2;
    DIS_TRY(dis__alloc_array(out, n, 1));
    snprintf(*out, n, "%s/%s", folder, name);
    return DIS_OK;
}

dis_status dis__file_is_there(const char *folder, const char *name, bool *out)
{
    char *path;
    DIS_TRY(dis__path_in(folder, name, &path));
    const int fd = dis__sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    const bool absent = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
    dis_status status = fd < 0 && !absent ? dis__fail_io("open", path) : DIS_OK;
    if (fd >= 0 && dis__sys_close(fd) != 0) status = dis__fail_io("close", path);
    dis__free(path);
    if (status == DIS_OK) *out = !absent;
    return status;
}
