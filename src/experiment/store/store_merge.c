/* Stores of several machines into one.
 *
 * Keys say all that determines a result, so runs of several stores go together without renaming. Run by run: a claim in
 * the target, files (truth first, predictions after it), then all rows in one transaction, so that a merge that dies
 * leaves whole runs and void claims alone. Links are made anew: a store that was packed without them is read as well.
 * The other store is not trusted: store_schema.c checks its tables, store_paths.c its names and links. Cost: a read and
 * a write per file that the target lacks. */
#include "tool/files.h"
#include "experiment/store/store_internal.h"
#include "core/memory/memory.h"
#include "core/system_calls.h"
#include "io/files/folder.h"
#include "io/output/output_file.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000 };

typedef struct {
    dis__store *into;
    const dis__store *from;
    dis_merge_counts *counts;
} merging;

/* ---- files ---- */

static dis_status copy_bytes(int fd, const char *from, dis__out *out)
{
    char block[1 << 16];
    for (;;) {
        const ssize_t n = dis__sys_read(fd, block, sizeof block);
        if (n < 0) return dis__fail_io("read", from);
        if (n == 0) return DIS_OK;
        DIS_TRY(dis__out_write(out, block, (size_t)n));
    }
}

static dis_status copy_to(int fd, const char *from, const char *to)
{
    dis__out *out;
    dis_status status = dis__remove_irregular(to);
    if (status == DIS_OK) status = dis__out_open(to, &out);
    if (status == DIS_OK) status = dis__out_finish(out, copy_bytes(fd, from, out));
    if (dis__sys_close(fd) != 0 && status == DIS_OK) status = dis__fail_io("close", from);
    return status;
}

/* `path` is relative to both stores. `optional`: a file that the other store does not have is none here. */
static dis_status copy_part(const merging *m, const char *path, bool optional)
{
    char *to;
    int fd;
    DIS_TRY(dis__store_open_file(m->from, path, &fd));
    if (fd < 0 && optional) return DIS_OK;
    if (fd < 0) return dis__fail(DIS_EDATA, "%s/%s is missing; the store is not complete", m->from->folder, path);
    dis_status status = dis__store_path(m->into, path, NULL, "", &to);
    if (status != DIS_OK) {
        close(fd);
        return status;
    }
    status = copy_to(fd, path, to);
    dis__free(to);
    return status;
}

/* The list of tasks is copied last: its existence implies the others. */
static dis_status copy_truth(const merging *m, const char *hash)
{
    static const struct {
        const char *suffix;
        bool optional;
    } kinds[] = {{".npy", true}, {".gold.csv", true}, {".classes.txt", false}, {".tasks.txt", false}};
    char *last;
    DIS_TRY(dis__store_path(m->into, "truth", hash, ".tasks.txt", &last));
    const bool exists = dis__is_regular_file(last);
    dis__free(last);
    for (size_t i = 0; !exists && i < sizeof kinds / sizeof *kinds; i++) {
        char path[128];
        snprintf(path, sizeof path, "truth/%s%s", hash, kinds[i].suffix);
        DIS_TRY(copy_part(m, path, kinds[i].optional));
    }
    return DIS_OK;
}

static dis_status copy_set(const merging *m, const char *key, const char *path, const char *truth)
{
    DIS_TRY(dis__store_check_set(m->from, key, path, truth));
    DIS_TRY(copy_truth(m, truth));
    char *folder, base[256];
    DIS_TRY(dis__store_path(m->into, "predictions", key, "", &folder));
    const dis_status status = dis__create_folder(folder);
    dis__free(folder);
    DIS_TRY(status);
    snprintf(base, sizeof base, "%.*s", (int)(strlen(path) - 4), path);
    DIS_TRY(dis__link_lists(m->into, base, truth));
    return copy_part(m, path, false);
}

static dis_status copy_files(const merging *m, const char *key)
{
    dis__query q = dis__sql_query(m->into->db, "SELECT path, truth FROM other.sets WHERE key = ?");
    dis__bind_text(&q, key);
    while (dis__sql_next(&q)) {
        const dis_status status = copy_set(m, key, dis__sql_text(&q, 0), dis__sql_text(&q, 1));
        if (status == DIS_OK) continue;
        q.status = status;
        break;
    }
    return dis__sql_end(&q);
}

/* ---- rows ---- */

static dis_status with_key(dis__sql *db, const char *text, const char *key)
{
    dis__query q = dis__sql_query(db, text);
    dis__bind_text(&q, key);
    return dis__sql_do(&q);
}

static dis_status replace_rows(dis__sql *db, const char *key)
{
    static const char *const statements[] = {
        "DELETE FROM main.measures WHERE key = ?",
        "DELETE FROM main.epochs WHERE key = ?",
        "DELETE FROM main.sets WHERE key = ?",
        "INSERT INTO main.measures SELECT * FROM other.measures WHERE key = ?",
        "INSERT INTO main.epochs SELECT * FROM other.epochs WHERE key = ?",
        "INSERT INTO main.sets SELECT * FROM other.sets WHERE key = ?",
        "INSERT OR REPLACE INTO main.runs SELECT * FROM other.runs WHERE key = ?",
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) DIS_TRY(with_key(db, statements[i], key));
    return DIS_OK;
}

static dis_status compare_measures(const merging *m, const char *key)
{
    dis__query q =
        dis__sql_query(m->into->db, "SELECT count(*) FROM main.measures AS a JOIN other.measures AS b"
                                    " USING(key, set_name, metric) WHERE a.key = ? AND a.value IS NOT b.value");
    dis__bind_text(&q, key);
    const bool differ = dis__sql_next(&q) && dis__sql_count(&q, 0) > 0;
    DIS_TRY(dis__sql_end(&q));
    if (differ)
        m->counts->conflicting++;
    else
        m->counts->present++;
    return DIS_OK;
}

/* *mine: the run is claimed, and to be copied. */
static dis_status claim(const merging *m, const char *key, bool other_done, bool *mine)
{
    dis__sql *db = m->into->db;
    bool done = false, failed = false, lives = false;
    dis__query q = dis__sql_query(db, "SELECT state, owner FROM main.runs WHERE key = ?");
    dis__bind_text(&q, key);
    if (dis__sql_next(&q)) {
        const char *state = dis__sql_text(&q, 0), *owner = dis__sql_text(&q, 1);
        done = state && strcmp(state, "done") == 0;
        failed = state && strcmp(state, "failed") == 0;
        if (state && strcmp(state, "running") == 0 && owner) {
            const dis_status status = dis__owner_lives(m->into->owners, owner, &lives);
            if (status != DIS_OK) q.status = status;
        }
    }
    DIS_TRY(dis__sql_end(&q));
    *mine = false;
    if (done && other_done) return compare_measures(m, key);
    m->counts->unfinished += lives;
    m->counts->present += !lives && (done || (failed && !other_done));
    if (lives || done || (failed && !other_done)) return DIS_OK;
    *mine = true;
    DIS_TRY(with_key(db, "INSERT OR REPLACE INTO main.runs SELECT * FROM other.runs WHERE key = ?", key));
    q = dis__sql_query(db, "UPDATE main.runs SET state = 'running', owner = ? WHERE key = ?");
    dis__bind_text(&q, m->into->owner.name);
    dis__bind_text(&q, key);
    return dis__sql_do(&q);
}

static dis_status merge_run(const merging *m, const char *key, bool done)
{
    dis__sql *db = m->into->db;
    bool mine = false;
    DIS_TRY(dis__sql_begin(db));
    DIS_TRY(dis__sql_commit(db, claim(m, key, done, &mine)));
    if (!mine) return DIS_OK;
    dis_status status = dis__remove_predictions(m->into, key);
    if (status == DIS_OK) status = copy_files(m, key);
    if (status == DIS_OK) status = dis__sql_begin(db);
    if (status == DIS_OK) status = dis__sql_commit(db, replace_rows(db, key));
    m->counts->added += status == DIS_OK;
    return status; /* on failure the claim is void when this store is closed */
}

/* ---- all runs ---- */

typedef struct {
    char key[65];
    bool done;
} other_run;

static dis_status list_runs(dis__sql *db, dis_merge_counts *counts, other_run **out, size_t *n)
{
    size_t capacity = 0;
    dis__query q = dis__sql_query(db, "SELECT key, state FROM other.runs ORDER BY key");
    while (dis__sql_next(&q)) {
        const char *key = dis__sql_text(&q, 0), *state = dis__sql_text(&q, 1);
        const bool done = state && strcmp(state, "done") == 0;
        if (!dis__store_is_hash(key) || (!done && strcmp(state ? state : "", "failed") != 0)) {
            counts->unfinished++;
            continue;
        }
        const dis_status status = dis__reserve(out, &capacity, *n, *n + 1, sizeof **out);
        if (status != DIS_OK) {
            q.status = status;
            break;
        }
        memcpy((*out)[*n].key, key, sizeof(*out)->key);
        (*out)[(*n)++].done = done;
    }
    return dis__sql_end(&q);
}

static dis_status attach(dis__sql *db, const dis__store *from)
{
    char *path;
    DIS_TRY(dis__store_path(from, "results.sqlite", NULL, "", &path));
    dis__query q = dis__sql_query(db, "ATTACH ? AS other");
    dis__bind_text(&q, path);
    dis__free(path);
    return dis__sql_do(&q);
}

dis_status dis__store_merge(dis__store *into, const char *from, dis_merge_counts *counts)
{
    dis__store *other; /* opened to check that it is a store of this version */
    if (dis__file_same(into->folder, from))
        return dis__fail(DIS_EUSAGE, "%s is the target store; name other stores to merge", from);
    DIS_TRY(dis__store_open(from, false, PATIENCE_MS, &other));
    if (!other) return dis__fail(DIS_EIO, "%s: not a store; a store is a folder that contains results.sqlite", from);
    const merging m = {.into = into, .from = other, .counts = counts};
    other_run *run = NULL;
    size_t n = 0;
    dis_status status = attach(into->db, other);
    if (status == DIS_OK) {
        status = dis__schema_check_other(into->db, other->folder);
        if (status == DIS_OK) status = list_runs(into->db, counts, &run, &n);
        for (size_t i = 0; i < n && status == DIS_OK; i++) status = merge_run(&m, run[i].key, run[i].done);
        const dis_status detached = dis__sql_run(into->db, "DETACH other");
        if (status == DIS_OK) status = detached;
    }
    dis__free(run);
    dis__store_close(other);
    return status;
}
