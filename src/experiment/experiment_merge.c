/* Merging stores. A target that does not exist yet appears whole or not at all: the stores are merged into a temporary
 * folder next to it, which is renamed in the end and removed on failure. A target that exists keeps what was added
 * before a failure; the same call goes on from there. */
#include "experiment/experiment_internal.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "core/parallel/pool.h"
#include "core/system_calls.h"
#include "io/files/folder.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static dis_status merge_into(dis_context *ctx, const char *into, const char *const *from, size_t n_from,
                             dis_merge_counts *counts)
{
    dis__store *store;
    DIS_TRY(dis__store_open(into, true, DIS__STORE_PATIENCE_MS, &store));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n_from && status == DIS_OK; i++) {
        status = dis__check_stop(ctx);
        if (status == DIS_OK) status = dis__store_merge(store, from[i], counts);
    }
    dis__store_close(store);
    return status;
}

static bool find_name(void *empty, const char *name)
{
    (void)name;
    *(bool *)empty = false;
    return false;
}

/* Whether `folder` does not exist, or is an empty folder. */
static bool is_new(const char *folder)
{
    bool empty = true;
    return dis__os_list_folder(folder, find_name, &empty) == 0 ? empty : errno == ENOENT;
}

/* "folder.PID.tmp", slashes at the end of `folder` apart. */
static dis_status name_temporary(const char *folder, char **out)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/') n--;
    DIS_TRY(dis__alloc_array(out, n + 32, 1));
    snprintf(*out, n + 32, "%.*s.%ld.tmp", (int)n, folder, (long)getpid());
    return DIS_OK;
}

static dis_status merge_into_new(dis_context *ctx, const char *into, const char *const *from, size_t n_from,
                                 dis_merge_counts *counts)
{
    char *temporary;
    DIS_TRY(name_temporary(into, &temporary));
    dis_status status = merge_into(ctx, temporary, from, n_from, counts);
    if (status == DIS_OK && dis__sys_rename(temporary, into) != 0) status = dis__fail_io("put in place", into);
    if (status != DIS_OK) dis__remove_tree(temporary);
    dis__free(temporary);
    return status;
}

dis_status dis_experiment_merge(dis_context *ctx, const char *into, const char *const *from, size_t n_from,
                                dis_merge_counts *counts)
{
    dis_merge_counts n = {0};
    const dis_status status =
        is_new(into) ? merge_into_new(ctx, into, from, n_from, &n) : merge_into(ctx, into, from, n_from, &n);
    *counts = n;
    return status;
}
