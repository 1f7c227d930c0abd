#include "io/files/folder.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

dis_status dis__path_join(const char *folder, const char *name, char **out)
{
    const size_t n = strlen(folder) + strlen(name) + 2;
    DIS_TRY(dis__alloc_array(out, n, 1));
    snprintf(*out, n, "%s/%s", folder, name);
    return DIS_OK;
}

dis_status dis__file_exists(const char *folder, const char *name, bool *out)
{
    char *path;
    DIS_TRY(dis__path_join(folder, name, &path));
    const int fd = dis__sys_open(path, O_RDONLY | DIS__OS_NO_WAIT, 0); /* opening a FIFO would block */
    const bool absent = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
    dis_status status = fd < 0 && !absent ? dis__fail_io("open", path) : DIS_OK;
    struct stat st;
    if (fd >= 0 && dis__os_file_stat(fd, &st) == 0) status = dis__check_regular_mode(st.st_mode, path);
    if (fd >= 0 && dis__sys_close(fd) != 0) status = dis__fail_io("close", path);
    dis__free(path);
    if (status == DIS_OK) *out = !absent;
    return status;
}

const char *dis__file_kind(mode_t mode)
{
    const char *kind = dis__os_file_kind(mode);
    return kind ? kind : "not a regular file";
}

dis_status dis__check_regular(const char *path)
{
    struct stat st;
    if (dis__os_stat(path, &st) != 0) return dis__fail_io("open", path);
    return dis__check_regular_mode(st.st_mode, path);
}

dis_status dis__check_regular_mode(mode_t mode, const char *path)
{
    if (S_ISREG(mode)) return DIS_OK;
    return dis__fail(DIS_EDATA, "%s is %s; expected a regular file", path, dis__file_kind(mode));
}

dis_status dis__check_not_endless(int fd, const struct stat *st, const char *path)
{
    if (!S_ISCHR(st->st_mode) && !S_ISBLK(st->st_mode)) return DIS_OK;
    if (isatty(fd) || dis__os_is_null_device(st)) return DIS_OK;
    return dis__fail(DIS_EDATA, "%s is a device, which has no end; expected a file or a pipe", path);
}

bool dis__is_regular_file(const char *path)
{
    struct stat st;
    return dis__os_link_stat(path, &st) == 0 && S_ISREG(st.st_mode) && dis__os_access(path, R_OK) == 0;
}

dis_status dis__create_folder(const char *path)
{
    struct stat st;
    if (dis__sys_mkdir(path) == 0) return DIS_OK;
    if (errno != EEXIST || dis__os_link_stat(path, &st) != 0) return dis__fail_io("make the folder", path);
    if (S_ISDIR(st.st_mode)) return DIS_OK;
    return dis__fail(DIS_EDATA, "%s is %s; expected a folder", path,
                     S_ISREG(st.st_mode) ? "a file" : dis__file_kind(st.st_mode));
}

dis_status dis__remove_irregular(const char *path)
{
    struct stat st;
    if (dis__os_link_stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) return DIS_OK;
    return dis__os_remove_file(path) != 0 ? dis__fail_io("remove", path) : DIS_OK;
}

void dis__remove_tree(const char *path)
{
    dis__os_remove_tree(path);
}

dis_status dis__fail_foreign_file(const char *path)
{
    return dis__fail(DIS_EUSAGE,
                     "%s was not written by dissent, or was edited since, and is not replaced; name another folder, or "
                     "remove that file",
                     path);
}
