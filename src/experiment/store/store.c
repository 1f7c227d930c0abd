/* The database of a store, and claims on runs.
 *
 * SQLite in WAL mode: readers and one writer at a time, of any number of processes; a commit survives the death of the
 * process. Every change is one transaction that begins as a writer, so that what it reads cannot change under it. */
#include "experiment/store/store_internal.h"
#include "core/memory.h"
#include "core/sys.h"
#include "dissent/version.h"
#include "io/text_write.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { APPLICATION = 0x44695373, SCHEMA = 1 };

static const char tables[] =
    "CREATE TABLE runs(key TEXT PRIMARY KEY, experiment TEXT, cell TEXT, data TEXT, settings TEXT, fold INTEGER,"
    " seed INTEGER, state TEXT NOT NULL, owner TEXT, message TEXT, version TEXT, finished TEXT, seconds REAL,"
    " best_epoch INTEGER, parameters INTEGER, examples INTEGER) WITHOUT ROWID;"
    "CREATE TABLE measures(key TEXT, set_name TEXT, metric TEXT, value REAL,"
    " PRIMARY KEY(key, set_name, metric)) WITHOUT ROWID;"
    "CREATE TABLE epochs(key TEXT, epoch INTEGER, loss REAL, rate REAL, dev REAL, dev_cross_entropy REAL,"
    " PRIMARY KEY(key, epoch)) WITHOUT ROWID;"
    "CREATE TABLE sets(key TEXT, set_name TEXT, path TEXT, truth TEXT, PRIMARY KEY(key, set_name)) WITHOUT ROWID;";

/* ---- opening ---- */

dis_status dis__store_path(const dis__store *store, const char *part, const char *name, const char *suffix, char **out)
{
    const size_t n = strlen(store->folder) + strlen(part) + (name ? strlen(name) : 0) + strlen(suffix) + 3;
    DIS_TRY(dis__alloc_array(out, n, 1));
    snprintf(*out, n, "%s/%s%s%s%s", store->folder, part, name ? "/" : "", name ? name : "", suffix);
    return DIS_OK;
}

dis_status dis__make_folder(const char *path)
{
    return dis__sys_mkdir(path) != 0 && errno != EEXIST ? dis__fail_io("make the folder", path) : DIS_OK;
}

static dis_status pragma(dis__sql *db, const char *text, uint64_t *out)
{
    dis__query q = dis__sql_query(db, text);
    if (dis__sql_next(&q)) *out = dis__sql_count(&q, 0);
    return dis__sql_end(&q);
}

static dis_status make_tables(dis__sql *db)
{
    DIS_TRY(dis__sql_run(db, tables));
    char text[96];
    snprintf(text, sizeof text, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION, SCHEMA);
    return dis__sql_run(db, text);
}

/* Whose database it is; *empty: nobody has made tables in it yet. */
static dis_status check_tables(dis__sql *db, const char *path, bool *empty)
{
    uint64_t application = 0, schema = 0, n_tables = 0;
    DIS_TRY(pragma(db, "PRAGMA application_id", &application));
    DIS_TRY(pragma(db, "PRAGMA user_version", &schema));
    DIS_TRY(pragma(db, "SELECT count(*) FROM sqlite_master", &n_tables));
    *empty = n_tables == 0 && application == 0;
    if (*empty) return DIS_OK;
    if (application != APPLICATION)
        return dis__fail(DIS_EDATA, "%s: a database of another program; use another store", path);
    if (schema != SCHEMA)
        return dis__fail(DIS_EDATA,
                         "%s: version %llu of the store, and this dissent knows version %d; use the "
                         "dissent that made it, or another store",
                         path, (unsigned long long)schema, SCHEMA);
    return DIS_OK;
}

/* Within a transaction: two processes may open a new store at once. */
static dis_status settle_tables(dis__sql *db, const char *path)
{
    bool empty;
    DIS_TRY(check_tables(db, path, &empty));
    return empty ? make_tables(db) : DIS_OK;
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

/* *there false: a database without tables, whose maker died early. */
static dis_status open_database(dis__store *s, bool create, int wait_ms, bool *there)
{
    char *path;
    bool empty = false;
    DIS_TRY(dis__store_path(s, "results.sqlite", NULL, "", &path));
    dis_status status = dis__sql_open(path, create, wait_ms, &s->db);
    if (create) {
        /* synchronous=NORMAL: a commit is safe from the death of the process; power loss may take the last ones back */
        if (status == DIS_OK) status = choose_journal(s->db, wait_ms);
        if (status == DIS_OK) status = dis__sql_begin(s->db);
        if (status == DIS_OK) status = dis__sql_commit(s->db, settle_tables(s->db, path));
    } else if (status == DIS_OK) {
        status = check_tables(s->db, path, &empty);
    }
    dis__free(path);
    *there = !empty;
    return status;
}

static dis_status make_folders(dis__store *s)
{
    static const char *const parts[] = {"predictions", "truth", "cache"};
    DIS_TRY(dis__make_folder(s->folder));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == DIS_OK; i++) {
        char *path;
        DIS_TRY(dis__store_path(s, parts[i], NULL, "", &path));
        status = dis__make_folder(path);
        dis__free(path);
    }
    return status;
}

/* Temporary files of the dead; called when nobody else is at work. */
static dis_status sweep(const dis__store *s, const char *part)
{
    char *path;
    DIS_TRY(dis__store_path(s, part, NULL, "", &path));
    DIR *d = opendir(path);
    if (d) {
        for (const struct dirent *e; (e = readdir(d));) {
            const size_t n = strlen(e->d_name);
            if (n > 4 && strcmp(e->d_name + n - 4, ".tmp") == 0) unlinkat(dirfd(d), e->d_name, 0);
        }
        closedir(d);
    }
    dis__free(path);
    return DIS_OK;
}

/* Becoming an owner is a transaction: who finds itself alone in it may sweep, since nobody can begin meanwhile. */
static dis_status become_owner(dis__store *s)
{
    bool alone = false;
    DIS_TRY(dis__sql_begin(s->db));
    dis_status status = dis__owner_begin(s->owners, &s->owner, &alone);
    if (status == DIS_OK && alone) status = sweep(s, "truth");
    if (status == DIS_OK && alone) status = sweep(s, "cache");
    return dis__sql_commit(s->db, status);
}

static dis_status fill_store(dis__store *s, const char *folder, bool create, int wait_ms, bool *there)
{
    DIS_TRY(dis__copy_text(&s->folder, folder, strlen(folder)));
    DIS_TRY(dis__store_path(s, "cache", NULL, "", &s->cache));
    DIS_TRY(dis__store_path(s, "owners", NULL, "", &s->owners));
    if (create) DIS_TRY(make_folders(s));
    DIS_TRY(open_database(s, create, wait_ms, there));
    return create ? become_owner(s) : DIS_OK;
}

dis_status dis__store_open(const char *folder, bool create, int wait_ms, dis__store **out)
{
    dis__store *s;
    DIS_TRY(dis__sql_there());
    DIS_TRY(dis__alloc_zeroed(&s, 1, sizeof *s));
    s->owner.fd = -1;
    pthread_mutex_init(&s->mutex, NULL);
    dis_status status = dis__copy_text(&s->folder, folder, strlen(folder));
    bool there = true;
    if (status == DIS_OK && !create) {
        char *path = NULL;
        status = dis__store_path(s, "results.sqlite", NULL, "", &path);
        there = status == DIS_OK && access(path, F_OK) == 0;
        dis__free(path);
    }
    dis__free(s->folder);
    s->folder = NULL;
    if (status == DIS_OK && there) status = fill_store(s, folder, create, wait_ms, &there);
    if (status == DIS_OK && there) {
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

/* ---- claims ---- */

/* Whether each measure of the plan has a row (its value may be undefined). */
static dis_status has_measures(dis__store *s, const dis__plan *plan, const char *key, bool *out)
{
    dis__query q = dis__sql_query(s->db, "SELECT 1 FROM measures WHERE key = ? AND set_name = ? AND metric = ?");
    *out = true;
    for (size_t m = 0; m < plan->n_measures && *out && q.status == DIS_OK; m++) {
        dis__bind_text(&q, key);
        dis__bind_text(&q, plan->measure[m].set);
        dis__bind_text(&q, dis_eval_metric_at(plan->measure[m].metric)->name);
        *out = dis__sql_next(&q);
        dis__sql_again(&q);
    }
    return dis__sql_end(&q);
}

static const char *const state_names[DIS_RUN_STATES] = {"missing", "running", "done", "failed"};

const char *dis_run_state_name(dis_run_state state)
{
    return state < DIS_RUN_STATES ? state_names[state] : "unknown";
}

static dis_run_state state_of(const char *name)
{
    for (size_t i = 0; name && i < DIS_RUN_STATES; i++)
        if (strcmp(name, state_names[i]) == 0) return (dis_run_state)i;
    return DIS_RUN_MISSING;
}

/* The state as users mean it: a claim of a dead owner, and a result that lacks a measure, are missing. */
static dis_status judge(dis__store *s, const dis__plan *plan, const char *key, dis_run_state state, const char *owner,
                        dis_run_state *out)
{
    bool fine = state != DIS_RUN_RUNNING;
    if (state == DIS_RUN_RUNNING && owner) DIS_TRY(dis__owner_lives(s->owners, owner, &fine));
    if (state == DIS_RUN_DONE) DIS_TRY(has_measures(s, plan, key, &fine));
    *out = fine ? state : DIS_RUN_MISSING;
    return DIS_OK;
}

/* {"key":"value",...} */
static dis_status settings_text(const dis_experiment_cell *cell, char **out)
{
    size_t n = 3;
    for (size_t i = 0; i < cell->n_settings; i++)
        n += DIS_STRING_BYTES(strlen(cell->setting[i].key)) + DIS_STRING_BYTES(strlen(cell->setting[i].value)) + 2;
    DIS_TRY(dis__alloc_array(out, n, 1));
    char *at = *out;
    *at++ = '{';
    for (size_t i = 0; i < cell->n_settings; i++) {
        if (i) *at++ = ',';
        at = dis__put_string(at, cell->setting[i].key, strlen(cell->setting[i].key));
        *at++ = ':';
        at = dis__put_string(at, cell->setting[i].value, strlen(cell->setting[i].value));
    }
    *at++ = '}';
    *at = 0;
    return DIS_OK;
}

static dis_status insert_claim(dis__store *s, const dis__plan *plan, const dis__run *run)
{
    const dis_experiment_cell *cell = &plan->cell[run->cell];
    char *settings;
    DIS_TRY(settings_text(cell, &settings));
    dis__query q =
        dis__sql_query(s->db, "INSERT OR REPLACE INTO runs(key, experiment, cell, data, settings, fold, seed,"
                              " state, owner, version) VALUES(?, ?, ?, ?, ?, ?, ?, 'running', ?, ?)");
    dis__bind_text(&q, run->key);
    dis__bind_text(&q, plan->name);
    dis__bind_text(&q, cell->name);
    dis__bind_text(&q, cell->data);
    dis__bind_text(&q, settings);
    dis__bind_count(&q, run->fold);
    dis__bind_count(&q, run->seed);
    dis__bind_text(&q, s->owner.name);
    dis__bind_text(&q, dis_version());
    dis__free(settings);
    return dis__sql_do(&q);
}

static dis_status claim(dis__store *s, const dis__plan *plan, const dis__run *run, bool retry, dis__claim *out)
{
    static const dis__claim answer[DIS_RUN_STATES] = {DIS__CLAIMED, DIS__IS_ELSEWHERE, DIS__IS_DONE, DIS__HAS_FAILED};
    dis_run_state state = DIS_RUN_MISSING;
    dis__query q = dis__sql_query(s->db, "SELECT state, owner FROM runs WHERE key = ?");
    dis__bind_text(&q, run->key);
    if (dis__sql_next(&q)) {
        const dis_status status =
            judge(s, plan, run->key, state_of(dis__sql_text(&q, 0)), dis__sql_text(&q, 1), &state);
        if (status != DIS_OK) q.status = status;
    }
    DIS_TRY(dis__sql_end(&q));
    *out = state == DIS_RUN_FAILED && retry ? DIS__CLAIMED : answer[state];
    return *out == DIS__CLAIMED ? insert_claim(s, plan, run) : DIS_OK;
}

/* Begins a change of the database; the mutex is held until the end. */
static dis_status begin(dis__store *s)
{
    pthread_mutex_lock(&s->mutex);
    const dis_status status = dis__sql_begin(s->db);
    if (status != DIS_OK) pthread_mutex_unlock(&s->mutex);
    return status;
}

static dis_status end(dis__store *s, dis_status so_far)
{
    const dis_status status = dis__sql_commit(s->db, so_far);
    pthread_mutex_unlock(&s->mutex);
    return status;
}

dis_status dis__store_claim(dis__store *store, const dis__plan *plan, size_t run, bool retry, dis__claim *out)
{
    dis__claim answer = DIS__IS_ELSEWHERE;
    DIS_TRY(begin(store));
    DIS_TRY(end(store, claim(store, plan, &plan->run[run], retry, &answer)));
    const dis_status status = answer == DIS__CLAIMED ? dis__remove_predictions(store, plan->run[run].key) : DIS_OK;
    *out = answer; /* also on failure: a claim is to be given back */
    return status;
}

/* ---- results ---- */

static dis_status forget_rows(dis__store *s, const char *key)
{
    static const char *const statements[] = {"DELETE FROM measures WHERE key = ?", "DELETE FROM epochs WHERE key = ?",
                                             "DELETE FROM sets WHERE key = ?"};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        dis__query q = dis__sql_query(s->db, statements[i]);
        dis__bind_text(&q, key);
        DIS_TRY(dis__sql_do(&q));
    }
    return DIS_OK;
}

typedef struct {
    const char *name;
    char *file;
    char truth[65];
} set_row;

static dis_status put_measures(dis__store *s, const dis__plan *plan, const char *key, const dis__result *r)
{
    dis__query q = dis__sql_query(s->db, "INSERT OR REPLACE INTO measures VALUES(?, ?, ?, ?)");
    for (size_t m = 0; m < plan->n_measures; m++) {
        dis__bind_text(&q, key);
        dis__bind_text(&q, plan->measure[m].set);
        dis__bind_text(&q, dis_eval_metric_at(plan->measure[m].metric)->name);
        dis__bind_real(&q, r->value[m]);
        (void)dis__sql_next(&q);
        dis__sql_again(&q);
    }
    return dis__sql_end(&q);
}

static dis_status put_curve(dis__store *s, const char *key, const dis__result *r)
{
    dis__query q = dis__sql_query(s->db, "INSERT INTO epochs VALUES(?, ?, ?, ?, ?, ?)");
    for (size_t e = 0; e < r->n_epochs; e++) {
        dis__bind_text(&q, key);
        dis__bind_count(&q, e);
        dis__bind_real(&q, r->epoch[e].loss);
        dis__bind_real(&q, r->epoch[e].rate);
        dis__bind_real(&q, r->epoch[e].dev);
        dis__bind_real(&q, r->epoch[e].dev_cross_entropy);
        (void)dis__sql_next(&q);
        dis__sql_again(&q);
    }
    return dis__sql_end(&q);
}

static dis_status put_sets(dis__store *s, const char *key, const set_row *set, size_t n)
{
    dis__query q = dis__sql_query(s->db, "INSERT INTO sets VALUES(?, ?, ?, ?)");
    for (size_t i = 0; i < n; i++) {
        dis__bind_text(&q, key);
        dis__bind_text(&q, set[i].name);
        dis__bind_text(&q, set[i].file);
        dis__bind_text(&q, set[i].truth);
        (void)dis__sql_next(&q);
        dis__sql_again(&q);
    }
    return dis__sql_end(&q);
}

static void now_text(char out[32])
{
    const time_t now = time(NULL);
    struct tm t;
    gmtime_r(&now, &t);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &t);
}

static dis_status end_run(dis__store *s, const char *key, dis_run_state state, const char *message, double seconds)
{
    char now[32];
    now_text(now);
    dis__query q =
        dis__sql_query(s->db,
                       "UPDATE runs SET state = ?, owner = NULL, message = ?, finished = ?, seconds = ? WHERE key = ?");
    dis__bind_text(&q, state_names[state]);
    dis__bind_text(&q, message);
    dis__bind_text(&q, now);
    dis__bind_real(&q, seconds);
    dis__bind_text(&q, key);
    return dis__sql_do(&q);
}

static dis_status put_result(dis__store *s, const dis__plan *plan, const char *key, const dis__result *r,
                             const set_row *set, size_t n_sets, double seconds)
{
    DIS_TRY(forget_rows(s, key));
    DIS_TRY(put_measures(s, plan, key, r));
    DIS_TRY(put_curve(s, key, r));
    DIS_TRY(put_sets(s, key, set, n_sets));
    dis__query q = dis__sql_query(s->db, "UPDATE runs SET best_epoch = ?, parameters = ?, examples = ? WHERE key = ?");
    dis__bind_count(&q, r->best_epoch);
    dis__bind_count(&q, r->n_parameters);
    dis__bind_count(&q, r->n_examples);
    dis__bind_text(&q, key);
    DIS_TRY(dis__sql_do(&q));
    return end_run(s, key, DIS_RUN_DONE, NULL, seconds);
}

dis_status dis__store_keep(dis__store *store, const dis__plan *plan, size_t run, const dis__result *result,
                           double seconds)
{
    const char *key = plan->run[run].key;
    const size_t n_sets = plan->keep_predictions ? result->n_sets : 0;
    set_row *set;
    DIS_TRY(dis__alloc_zeroed(&set, n_sets, sizeof *set));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n_sets && status == DIS_OK; i++) {
        set[i].name = result->set[i].set;
        status = dis__write_set(store, key, &result->set[i], &set[i].file, set[i].truth);
    }
    if (status == DIS_OK) status = begin(store);
    if (status == DIS_OK) status = end(store, put_result(store, plan, key, result, set, n_sets, seconds));
    for (size_t i = 0; i < n_sets; i++) dis__free(set[i].file);
    dis__free(set);
    return status;
}

dis_status dis__store_fail(dis__store *store, const dis__plan *plan, size_t run, const char *message, double seconds)
{
    const char *key = plan->run[run].key;
    DIS_TRY(begin(store));
    dis_status status = forget_rows(store, key);
    if (status == DIS_OK) status = end_run(store, key, DIS_RUN_FAILED, message, seconds);
    return end(store, status);
}

dis_status dis__store_release(dis__store *store, const dis__plan *plan, size_t run)
{
    DIS_TRY(begin(store));
    dis__query q = dis__sql_query(store->db, "DELETE FROM runs WHERE key = ? AND state = 'running' AND owner = ?");
    dis__bind_text(&q, plan->run[run].key);
    dis__bind_text(&q, store->owner.name);
    return end(store, dis__sql_do(&q));
}

/* ---- looking ---- */

static dis_status look_at_values(dis__store *s, const dis__plan *plan, const char *key, double *value)
{
    dis__query q = dis__sql_query(s->db, "SELECT value FROM measures WHERE key = ? AND set_name = ? AND metric = ?");
    for (size_t m = 0; m < plan->n_measures && q.status == DIS_OK; m++) {
        dis__bind_text(&q, key);
        dis__bind_text(&q, plan->measure[m].set);
        dis__bind_text(&q, dis_eval_metric_at(plan->measure[m].metric)->name);
        if (dis__sql_next(&q)) value[m] = dis__sql_real(&q, 0);
        dis__sql_again(&q);
    }
    return dis__sql_end(&q);
}

static dis_status look_at_runs(dis__store *s, const dis__plan *plan, const dis__known *out)
{
    dis__query q = dis__sql_query(s->db, "SELECT state, owner, seconds FROM runs WHERE key = ?");
    for (size_t r = 0; r < plan->n_runs && q.status == DIS_OK; r++) {
        const char *key = plan->run[r].key;
        dis__bind_text(&q, key);
        dis_run_state state = DIS_RUN_MISSING;
        dis_status status = DIS_OK;
        if (dis__sql_next(&q)) {
            status = judge(s, plan, key, state_of(dis__sql_text(&q, 0)), dis__sql_text(&q, 1), &state);
            if (out->seconds && (state == DIS_RUN_DONE || state == DIS_RUN_FAILED))
                out->seconds[r] = dis__sql_real(&q, 2);
        }
        dis__sql_again(&q);
        if (out->state) out->state[r] = state;
        if (status == DIS_OK && out->value && state == DIS_RUN_DONE)
            status = look_at_values(s, plan, key, out->value + r * plan->n_measures);
        if (q.status == DIS_OK) q.status = status;
    }
    return dis__sql_end(&q);
}

dis_status dis__store_look(dis__store *store, const dis__plan *plan, const dis__known *out)
{
    for (size_t r = 0; r < plan->n_runs; r++) {
        if (out->state) out->state[r] = DIS_RUN_MISSING;
        if (out->seconds) out->seconds[r] = (double)NAN;
        for (size_t m = 0; out->value && m < plan->n_measures; m++) out->value[r * plan->n_measures + m] = (double)NAN;
    }
    if (!store) return DIS_OK;
    pthread_mutex_lock(&store->mutex);
    const dis_status status = look_at_runs(store, plan, out);
    pthread_mutex_unlock(&store->mutex);
    return status;
}

dis_status dis__store_curve(dis__store *store, const char *key, dis_epoch **out, size_t *n, size_t *best)
{
    dis_epoch *epoch = NULL;
    size_t capacity = 0, used = 0, kept = 0;
    pthread_mutex_lock(&store->mutex);
    dis__query q =
        dis__sql_query(store->db,
                       "SELECT loss, rate, dev, dev_cross_entropy, best_epoch FROM epochs JOIN runs USING(key)"
                       " WHERE key = ? ORDER BY epoch");
    dis__bind_text(&q, key);
    while (dis__sql_next(&q)) {
        const dis_status status = dis__reserve(&epoch, &capacity, used, used + 1, sizeof *epoch);
        if (status != DIS_OK) {
            q.status = status;
            break;
        }
        kept = (size_t)dis__sql_count(&q, 4);
        epoch[used++] = (dis_epoch){.loss = dis__sql_real(&q, 0),
                                    .rate = dis__sql_real(&q, 1),
                                    .dev = dis__sql_real(&q, 2),
                                    .dev_cross_entropy = dis__sql_real(&q, 3)};
    }
    const dis_status status = dis__sql_end(&q);
    pthread_mutex_unlock(&store->mutex);
    if (status != DIS_OK) {
        dis__free(epoch);
        return status;
    }
    *out = epoch;
    *n = used;
    *best = kept;
    return DIS_OK;
}
