/* Files that change while they are being read: the version of a file, and the check at the end of every reader. */
#include "io/input/input_version.h"
#include "core/memory/file_map.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

dis__file_version dis__file_version_from_stat(const struct stat *st)
{
    const struct timespec modified = dis__os_modified(st);
    return (dis__file_version){.known = S_ISREG(st->st_mode),
                               .device = (uint64_t)st->st_dev,
                               .file = (uint64_t)st->st_ino,
                               .size = (uint64_t)st->st_size,
                               .seconds = modified.tv_sec,
                               .nanoseconds = modified.tv_nsec};
}

static bool same_contents(const dis__file_version *a, const dis__file_version *b)
{
    return a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

static bool same_file(const dis__file_version *a, const dis__file_version *b)
{
    return a->known && b->known && a->device == b->device && a->file == b->file;
}

static dis_status fail_changed(const char *path)
{
    return dis__fail(DIS_EIO,
                     "%s changed while it was being read; run the command again when no other program writes to it",
                     strcmp(path, "-") == 0 ? "standard input" : path);
}

/* The current version of a file: by its name, or of standard input. A deleted file has none. */
static dis_status version_now(const char *path, dis__file_version *now)
{
    struct stat st;
    *now = (dis__file_version){.known = false};
    const bool standard = strcmp(path, "-") == 0;
    if ((standard ? dis__sys_fstat(STDIN_FILENO, &st) : dis__sys_stat(path, &st)) != 0)
        return errno == ENOENT || errno == ENOTDIR ? DIS_OK : dis__fail_io("look at", path);
    *now = dis__file_version_from_stat(&st);
    return DIS_OK;
}

dis_status dis__input_check(const dis__input *in, dis_status so_far)
{
    dis__file_version now;
    if (dis__map_is_damaged(in->map)) return fail_changed(in->path);
    if (!in->version.known) return so_far;
    const dis_status status = version_now(in->path, &now);
    if (status != DIS_OK) return so_far == DIS_OK ? status : so_far;
    return same_file(&in->version, &now) && !same_contents(&in->version, &now) ? fail_changed(in->path) : so_far;
}

dis_status dis__input_finish(dis__input *in, dis_status so_far)
{
    const dis_status status = dis__input_check(in, so_far);
    dis__input_close(in);
    return status;
}

dis_status dis__input_read_all(dis_context *ctx, dis__input *in)
{
    dis__input full_input;
    if (!in->stream) return DIS_OK;
    DIS_TRY(dis__input_open(ctx, in->path, &full_input));
    if (!same_file(&in->version, &full_input.version) || !same_contents(&in->version, &full_input.version)) {
        dis__input_close(&full_input);
        return fail_changed(in->path);
    }
    dis__input_close(in);
    *in = full_input;
    return DIS_OK;
}
