/* Locks on folders: see file_lock.h. Waiting polls every 10 ms, so that a call can be cancelled. */
#include "io/files/file_lock.h"
#include "core/os/os.h"
#include "core/parallel/pool.h"
#include "core/system_calls.h"
#include "io/files/resolve_path.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 10, PATIENCE_MS = 60000 };

/* NFS requires a file that is open for writing; some file systems have no locks. */
static bool has_no_locks(int error)
{
    return error == EBADF || error == EINVAL || error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS;
}

dis_status dis__folder_lock(dis_context *ctx, int folder, const char *path)
{
    for (int waited = 0; dis__sys_lock(folder, false) != 0; waited += STEP_MS) {
        if (has_no_locks(errno)) return DIS_OK;
        if (errno != EWOULDBLOCK) return dis__fail_io("lock the folder of", path);
        if (waited >= PATIENCE_MS)
            return dis__fail(DIS_EIO,
                             "another process has been writing to the folder of %s for a minute; wait for it, or name "
                             "a file in another folder",
                             path);
        DIS_TRY(dis__check_stop(ctx));
        nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
    }
    return DIS_OK;
}

dis_status dis__file_lock(dis_context *ctx, const char *path, int *lock)
{
    char at[PATH_MAX];
    if (!dis__resolve_path(path, at)) return dis__fail_io("find the folder of", path);
    char *slash = strrchr(at, '/');
    slash[slash == at] = 0; /* "/" stays */
    const int fd = dis__sys_open(at, O_RDONLY | DIS__OS_FOLDER, 0);
    if (fd < 0) return dis__fail_io("open the folder of", path);
    const dis_status status = dis__folder_lock(ctx, fd, path);
    if (status != DIS_OK)
        close(fd);
    else
        *lock = fd;
    return status;
}

void dis__file_unlock(int lock)
{
    close(lock);
}
