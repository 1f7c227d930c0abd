/* Claims on runs and their results, in the database of a store (store_open.c). Every change is one transaction that
 * begins as a writer, so that what it reads cannot change under it. */
#include "experiment/store/store_internal.h"
#include "core/options/enum_names.h"
#include "core/memory/memory.h"
#include "dissent/version.h"
#include "io/output/format_fields.h"
#include <math.h>
#include <string.h>
#include <time.h>

/* ---- claims ---- */

/* Whether each measure of the plan has a row (its value may be undefined). */
static dis_status has_measures(dis__store *s, const dis__plan *plan, const char *key, bool *out)
{
    dis__query q = dis__sql_query(s->db, "SELECT 1 FROM measures WHERE key = ? AND set_name = ? AND metric = ?");
    *out = true;
    for (size_t m = 0; m < plan->n_measures && *out && q.status == DIS_OK; m++) {
        dis__bind_text(&q, key);
        dis__bind_text(&q, plan->measure[m].set);
        dis__bind_text(&q, dis_evaluation_metric_get(plan->measure[m].metric)->name);
        *out = dis__sql_next(&q);
        dis__sql_again(&q);
    }
    return dis__sql_end(&q);
}

DIS_ENUM_NAMES(dis_run_state, "missing", "running", "done", "failed")

static dis_run_state state_of(const char *name)
{
    for (size_t i = 0; name && i < DIS_RUN_STATES; i++)
        if (strcmp(name, dis_run_state_name((dis_run_state)i)) == 0) return (dis_run_state)i;
    return DIS_RUN_MISSING;
}

/* The status shown to users: a claim of a dead owner, and a result that lacks a measure, count as missing. */
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
        at = dis__format_json_string(at, cell->setting[i].key, strlen(cell->setting[i].key));
        *at++ = ':';
        at = dis__format_json_string(at, cell->setting[i].value, strlen(cell->setting[i].value));
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
    static const dis__claim answer[DIS_RUN_STATES] = {DIS__CLAIMED, DIS__RUNS_REMOTELY, DIS__IS_DONE, DIS__HAS_FAILED};
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
    dis__claim answer = DIS__RUNS_REMOTELY;
    DIS_TRY(begin(store));
    DIS_TRY(end(store, claim(store, plan, &plan->run[run], retry, &answer)));
    const dis_status status = answer == DIS__CLAIMED ? dis__remove_predictions(store, plan->run[run].key) : DIS_OK;
    *out = answer; /* also on failure: the claim must be released */
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
        dis__bind_text(&q, dis_evaluation_metric_get(plan->measure[m].metric)->name);
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
    dis__bind_text(&q, dis_run_state_name(state));
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

dis_status dis__store_put_result(dis__store *store, const dis__plan *plan, size_t run, const dis__result *result,
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

static dis_status read_values(dis__store *s, const dis__plan *plan, const char *key, double *value)
{
    dis__query q = dis__sql_query(s->db, "SELECT value FROM measures WHERE key = ? AND set_name = ? AND metric = ?");
    for (size_t m = 0; m < plan->n_measures && q.status == DIS_OK; m++) {
        dis__bind_text(&q, key);
        dis__bind_text(&q, plan->measure[m].set);
        dis__bind_text(&q, dis_evaluation_metric_get(plan->measure[m].metric)->name);
        if (dis__sql_next(&q)) value[m] = dis__sql_real(&q, 0);
        dis__sql_again(&q);
    }
    return dis__sql_end(&q);
}

static dis_status read_runs(dis__store *s, const dis__plan *plan, const dis__known *out)
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
            status = read_values(s, plan, key, out->value + r * plan->n_measures);
        if (q.status == DIS_OK) q.status = status;
    }
    return dis__sql_end(&q);
}

dis_status dis__store_get_view(dis__store *store, const dis__plan *plan, const dis__known *out)
{
    for (size_t r = 0; r < plan->n_runs; r++) {
        if (out->state) out->state[r] = DIS_RUN_MISSING;
        if (out->seconds) out->seconds[r] = (double)NAN;
        for (size_t m = 0; out->value && m < plan->n_measures; m++) out->value[r * plan->n_measures + m] = (double)NAN;
    }
    if (!store) return DIS_OK;
    pthread_mutex_lock(&store->mutex);
    const dis_status status = read_runs(store, plan, out);
    pthread_mutex_unlock(&store->mutex);
    return status;
}

dis_status dis__store_curve(dis__store *store, const char *key, dis_epoch **out, size_t *n, size_t *best)
{
    dis_epoch *epoch = NULL;
    size_t capacity = 0, used = 0, stored_best = 0;
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
        stored_best = (size_t)dis__sql_count(&q, 4);
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
    *best = stored_best;
    return DIS_OK;
}
