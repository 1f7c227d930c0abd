/* Opening a store: its database, its folders, and who is at work in it.
 *
 * SQLite in WAL mode: readers and one writer at a time, of any number of processes; a commit survives the death of the
 * process. Two processes may open a new store at once. */
#include "experiment/store/store_internal.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include "io/files/folder.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

dis_status dis__store_path(const dis__store *store, const char *part, const char *name, const char *suffix, char **out)
{
    const size_t n = strlen(store->folder) + strlen(part) + (name ? strlen(name) : 0) + strlen(suffix) + 3;
    DIS_TRY(dis__alloc_array(out, n, 1));
    snprintf(*out, n, "%s/%s%s%s%s", store->folder, part, name ? "/" : "", name ? name : "", suffix);
    return DIS_OK;
}

/* Within a transaction: two processes may open a new store at once. */
static dis_status create_missing_tables(dis__sql *db, const char *path)
{
    bool empty;
    DIS_TRY(dis__schema_check(db, path, &empty));
    return empty ? dis__schema_create(db) : DIS_OK;
}

/* SQLite does not wait by itself for another process that makes the same change of journal; a moment later it is
 * made. */
static dis_status choose_journal(dis__sql *db, int wait_ms)
{
    enum { STEP_MS = 20, MAX_MS = 2000 };
    for (int waited = 0;; waited += STEP_MS) {
        const dis_status status = dis__sql_run(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
        if (status == DIS_OK || !dis__sql_is_busy(db) || waited >= wait_ms || waited >= MAX_MS) return status;
        nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
    }
}

/* *there false: a database without tables, whose creator died early. */
static dis_status open_database(dis__store *s, bool create, int wait_ms, bool *exists)
{
    char *path;
    bool empty = false;
    DIS_TRY(dis__store_path(s, "results.sqlite", NULL, "", &path));
    dis_status status = dis__sql_open(path, create, wait_ms, &s->db);
    if (create) {
        /* synchronous=NORMAL: a commit is safe from the death of the process; power loss may take the last ones back */
        if (status == DIS_OK) status = choose_journal(s->db, wait_ms);
        if (status == DIS_OK) status = dis__sql_begin(s->db);
        if (status == DIS_OK) status = dis__sql_commit(s->db, create_missing_tables(s->db, path));
    } else if (status == DIS_OK) {
        status = dis__schema_check(s->db, path, &empty);
    }
    dis__free(path);
    *exists = !empty;
    return status;
}

static dis_status make_folders(dis__store *s)
{
    static const char *const parts[] = {"predictions", "truth", "cache"};
    if (dis__sys_mkdir(s->folder) != 0 && errno != EEXIST) return dis__fail_io("make the folder", s->folder);
    dis_status status = DIS_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == DIS_OK; i++) {
        char *path;
        DIS_TRY(dis__store_path(s, parts[i], NULL, "", &path));
        status = dis__create_folder(path);
        dis__free(path);
    }
    return status;
}

/* Removes temporary files of dead processes; called if no other process uses the store. */
static dis_status sweep(const dis__store *s, const char *part)
{
    char *path;
    DIS_TRY(dis__store_path(s, part, NULL, "", &path));
    (void)dis__os_remove_files(path, ".tmp");
    dis__free(path);
    return DIS_OK;
}

/* Becoming an owner is a transaction: a process that is the only owner may clean up, since no other can begin
 * meanwhile. */
static dis_status become_owner(dis__store *s)
{
    bool alone = false;
    DIS_TRY(dis__sql_begin(s->db));
    dis_status status = dis__owner_begin(s->owners, &s->owner, &alone);
    if (status == DIS_OK && alone) status = sweep(s, "truth");
    if (status == DIS_OK && alone) status = sweep(s, "cache");
    return dis__sql_commit(s->db, status);
}

static dis_status fill_store(dis__store *s, const char *folder, bool create, int wait_ms, bool *exists)
{
    DIS_TRY(dis__copy_text(&s->folder, folder, strlen(folder)));
    DIS_TRY(dis__store_path(s, "cache", NULL, "", &s->cache));
    DIS_TRY(dis__store_path(s, "owners", NULL, "", &s->owners));
    if (create) DIS_TRY(make_folders(s));
    DIS_TRY(open_database(s, create, wait_ms, exists));
    return create ? become_owner(s) : DIS_OK;
}

dis_status dis__store_open(const char *folder, bool create, int wait_ms, dis__store **out)
{
    dis__store *s;
    DIS_TRY(dis__sql_require());
    DIS_TRY(dis__alloc_zeroed(&s, 1, sizeof *s));
    s->owner.fd = -1;
    pthread_mutex_init(&s->mutex, NULL);
    dis_status status = dis__copy_text(&s->folder, folder, strlen(folder));
    bool exists = true;
    if (status == DIS_OK && !create) {
        char *path = NULL;
        status = dis__store_path(s, "results.sqlite", NULL, "", &path);
        exists = status == DIS_OK && dis__os_access(path, F_OK) == 0;
        if (status == DIS_OK && !exists && errno != ENOENT) status = dis__fail_io("open", path);
        dis__free(path);
    }
    dis__free(s->folder);
    s->folder = NULL;
    if (status == DIS_OK && exists) status = fill_store(s, folder, create, wait_ms, &exists);
    if (status == DIS_OK && exists) {
        *out = s;
        return DIS_OK;
    }
    dis__store_close(s);
    if (status == DIS_OK) *out = NULL;
    return status;
}

void dis__store_close(dis__store *store)
{
    if (!store) return;
    dis__owner_end(&store->owner);
    dis__sql_close(store->db);
    pthread_mutex_destroy(&store->mutex);
    dis__free(store->folder);
    dis__free(store->cache);
    dis__free(store->owners);
    dis__free(store);
}

const char *dis__store_cache(const dis__store *store)
{
    return store->cache;
}
