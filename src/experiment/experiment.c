/* The public face of experiments: a plan, a store, and what is asked of both. The store is opened for each call and
 * closed after it, so that nothing is held while no one works. */
#include "tool/files.h"
#include "tool/experiments.h"
#include "experiment/experiment_internal.h"
#include "experiment/runner.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include "nn/devices.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_experiment_options, .size = sizeof(dis_experiment_options))

DIS_OPTIONS_DEFAULTS(dis_experiment_run_options, .size = sizeof(dis_experiment_run_options))

/* ---- which runs ---- */

/* Digits, to the position after them; NULL: none. */
static const char *parse_number(const char *text, uint64_t *x)
{
    const char *end = text;
    for (*x = 0; *end >= '0' && *end <= '9'; end++) *x = *x * 10 + (uint64_t)(*end - '0');
    return end == text || end - text > 19 ? NULL : end;
}

/* A number, or FIRST..LAST. */
static bool has_number(const char *text, uint64_t x)
{
    uint64_t first, last;
    text = parse_number(text, &first);
    last = first;
    if (text && strncmp(text, "..", 2) == 0) text = parse_number(text + 2, &last);
    return text && !*text && x >= first && x <= last;
}

static bool setting_is(const dis_experiment_cell *cell, const char *key, size_t n, const char *value)
{
    for (size_t i = 0; i < cell->n_settings; i++) {
        const dis__setting *s = &cell->setting[i];
        if (strlen(s->key) == n && memcmp(s->key, key, n) == 0 && strcmp(s->value, value) == 0) return true;
    }
    return false;
}

/* A filter with "=" whose left side is not a known key may still be part of a name. */
static bool fits(const dis__plan *plan, const dis__run *run, const char *filter)
{
    const dis_experiment_cell *cell = &plan->cell[run->cell];
    const char *equals = strchr(filter, '=');
    if (strstr(cell->name, filter)) return true;
    if (!equals) return false;
    const size_t n = (size_t)(equals - filter);
    const char *value = equals + 1;
    if (n == 5 && memcmp(filter, "paper", n) == 0) return strcmp(plan->paper, value) == 0;
    if (n == 4 && memcmp(filter, "size", n) == 0) return strcmp(plan->size, value) == 0;
    if (n == 4 && memcmp(filter, "cell", n) == 0) return strcmp(cell->name, value) == 0;
    if (n == 4 && memcmp(filter, "data", n) == 0) return strcmp(cell->data, value) == 0;
    if (n == 4 && memcmp(filter, "fold", n) == 0) return has_number(value, run->fold);
    if (n == 4 && memcmp(filter, "seed", n) == 0) return has_number(value, run->seed);
    return setting_is(cell, filter, n, value);
}

/* Filters with the same KEY are alternatives. */
static bool fits_any(const dis__plan *plan, const dis__run *run, const dis_experiment_options *o, const char *filter)
{
    const char *equals = strchr(filter, '=');
    const size_t n = equals ? (size_t)(equals - filter) + 1 : strlen(filter) + 1;
    for (size_t i = 0; i < o->n_filters; i++)
        if (strncmp(o->filter[i], filter, n) == 0 && fits(plan, run, o->filter[i])) return true;
    return false;
}

static dis_status select_runs(dis_experiment *e, const dis_experiment_options *o)
{
    const dis__plan *plan = e->plan;
    DIS_TRY(dis__alloc_array(&e->selected, plan->n_runs, sizeof *e->selected));
    for (size_t r = 0; r < plan->n_runs; r++) {
        e->selected[r] = true;
        for (size_t i = 0; i < o->n_filters; i++)
            e->selected[r] = e->selected[r] && fits_any(plan, &plan->run[r], o, o->filter[i]);
        e->n_selected += e->selected[r];
        const char *missing = e->selected[r] ? dis__plan_missing(plan, plan->run[r].cell) : NULL;
        if (missing) return dis__fail(DIS_EIO, "%s", missing);
    }
    if (e->n_selected == 0 && plan->n_runs && !o->allow_no_runs)
        return dis__fail(DIS_EUSAGE,
                         "no run matches the filter%s \"%.100s\"%s; a filter is part of a cell's name, or "
                         "KEY=VALUE of a setting, cell, data, fold, seed, paper or size",
                         o->n_filters > 1 ? "s" : "", o->filter[0], o->n_filters > 1 ? " and the others" : "");
    return DIS_OK;
}

/* NAME.results for FOLDER/NAME.yaml. */
static dis_status default_store(const char *path, char **out)
{
    static const char suffix[] = ".results";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    DIS_TRY(dis__alloc_array(out, n + sizeof suffix, 1));
    memcpy(*out, name, n);
    memcpy(*out + n, suffix, sizeof suffix);
    return DIS_OK;
}

dis_status dis__experiment_make(dis__plan *plan, const dis_experiment_options *options, dis_experiment **out)
{
    dis_experiment_options o = dis_experiment_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_experiment_options, &o, options));
    dis_experiment *e;
    DIS_TRY(dis__alloc_zeroed(&e, 1, sizeof *e));
    e->plan = plan;
    dis_status status =
        o.store ? dis__copy_text(&e->store, o.store, strlen(o.store)) : default_store(plan->path, &e->store);
    if (status == DIS_OK) status = select_runs(e, &o);
    if (status == DIS_OK) {
        *out = e;
        return DIS_OK;
    }
    e->plan = NULL;
    dis_experiment_destroy(e);
    return status;
}

dis_status dis_experiment_read(dis_context *ctx, const char *path, const dis_experiment_options *options,
                               dis_experiment **out)
{
    dis_experiment_options o = dis_experiment_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_experiment_options, &o, options));
    dis__plan *plan;
    DIS_TRY((o.n_filters ? dis__plan_read_some : dis__plan_read)(ctx, path, o.data_folder, &plan));
    const dis_status status = dis__experiment_make(plan, &o, out);
    if (status != DIS_OK) dis__plan_destroy(plan);
    return status;
}

dis_status dis__experiment_check_output(const dis_experiment *experiment, const char *path)
{
    static const char database[] = "results.sqlite";
    const dis__plan *plan = experiment->plan;
    char inside[sizeof database];
    const char *file = dis__file_same(path, plan->path) ? plan->path : NULL;
    for (size_t i = 0; i < plan->n_files && !file; i++)
        if (dis__file_same(path, plan->file[i])) file = plan->file[i];
    if (!file && dis__file_within(path, experiment->store, inside, sizeof inside) && strcmp(inside, database) == 0)
        file = experiment->store;
    if (!file) return DIS_OK;
    return dis__fail(DIS_EUSAGE, "%s would replace %s, which the experiment needs; name another file", path, file);
}

void dis_experiment_destroy(dis_experiment *experiment)
{
    if (!experiment) return;
    dis__plan_destroy(experiment->plan);
    dis__free(experiment->store);
    dis__free(experiment->selected);
    dis__free(experiment);
}

static dis_experiment_view view_of(const dis_experiment *experiment)
{
    const dis__plan *p = experiment->plan;
    return (dis_experiment_view){.name = p->name,
                                 .description = p->about,
                                 .path = p->path,
                                 .store = experiment->store,
                                 .n_cells = p->n_cells,
                                 .n_measures = p->n_measures,
                                 .n_runs = p->n_runs,
                                 .cell = p->cell,
                                 .measure = p->measure,
                                 .run = p->run,
                                 .selected = experiment->selected,
                                 .n_selected = experiment->n_selected,
                                 .paper = p->paper};
}
DIS_VIEW_DEFINE(dis_experiment, experiment, view_of(experiment))

/* ---- running ---- */

static dis_status execute(dis_context *ctx, void *user, size_t run, dis__result *out)
{
    return dis__execute(ctx, user, run, out);
}

dis_status dis_experiment_run(dis_context *ctx, dis_experiment *experiment, const dis_experiment_run_options *options,
                              dis_experiment_counts *counts)
{
    dis_experiment_run_options o = dis_experiment_run_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_experiment_run_options, &o, options));
    const dis__device *device; /* must exist */
    DIS_TRY(dis__device_for(ctx, &dis__device_cpu, true, &device));
    dis__store *store = NULL;
    dis__cache *cache = NULL;
    *counts = (dis_experiment_counts){.total = experiment->n_selected, .seconds_left = (double)NAN};
    dis_status status = dis__store_open(experiment->store, true, DIS__STORE_PATIENCE_MS, &store);
    if (status == DIS_OK) status = dis__cache_open(experiment->plan, dis__store_cache(store), &cache);
    if (status == DIS_OK) {
        const dis__runner runner = {.plan = experiment->plan,
                                    .store = store,
                                    .selected = experiment->selected,
                                    .execute = execute,
                                    .user = cache,
                                    .options = o};
        status = dis__runner_run(ctx, &runner, counts);
    }
    dis__cache_close(cache);
    dis__store_close(store);
    return status;
}

/* ---- looking ---- */

dis_status dis_experiment_get_states(dis_context *ctx, dis_experiment *experiment, dis_run_state *state,
                                     double *seconds)
{
    (void)ctx;
    dis__store *store;
    DIS_TRY(dis__store_open(experiment->store, false, DIS__STORE_PATIENCE_MS, &store));
    const dis_status status =
        dis__store_get_view(store, experiment->plan, &(dis__known){.state = state, .seconds = seconds});
    dis__store_close(store);
    return status;
}

dis_status dis__known_read(const dis_experiment *e, dis__store *store, dis__known *out)
{
    const size_t n = e->plan->n_runs;
    DIS_TRY(dis__alloc_array(&out->state, n, sizeof *out->state));
    DIS_TRY(dis__alloc_array(&out->seconds, n, sizeof *out->seconds));
    DIS_TRY(dis__alloc_array(&out->value, dis__saturating_size(n, e->plan->n_measures, 0), sizeof *out->value));
    return dis__store_get_view(store, e->plan, out);
}

void dis__known_free(dis__known *known)
{
    dis__free(known->state);
    dis__free(known->seconds);
    dis__free(known->value);
    *known = (dis__known){0};
}

dis_status dis_experiment_table_create(dis_context *ctx, dis_experiment *experiment, dis_experiment_table **out)
{
    dis__store *store;
    dis__known known = {0};
    DIS_TRY(dis__store_open(experiment->store, false, DIS__STORE_PATIENCE_MS, &store));
    dis_status status = dis__known_read(experiment, store, &known);
    if (status == DIS_OK) status = dis__table_make(ctx, experiment, store, &known, out);
    dis__known_free(&known);
    dis__store_close(store);
    return status;
}

/* ---- one run ---- */

/* Number of runs of the plan whose key has this prefix; *run: the last of them. */
static size_t count_keys(const dis__plan *plan, const char *prefix, size_t *run)
{
    size_t n = 0;
    for (size_t r = 0; r < plan->n_runs; r++)
        if (strncmp(plan->run[r].key, prefix, strlen(prefix)) == 0) {
            n++;
            *run = r;
        }
    return n;
}

dis_status dis__run_record_read(dis_context *ctx, dis_experiment *experiment, const char *key, dis_run_record **out)
{
    (void)ctx;
    const dis__plan *plan = experiment->plan;
    size_t run = 0, n_stored = 0;
    const size_t n_planned = *key ? count_keys(plan, key, &run) : 0;
    const char *full_key = n_planned == 1 ? plan->run[run].key : key;
    dis__store *store;
    if (n_planned > 1)
        return dis__fail(DIS_EUSAGE, "%zu runs have a key that begins with %s; use a longer prefix", n_planned, key);
    DIS_TRY(dis__store_open(experiment->store, false, DIS__STORE_PATIENCE_MS, &store));
    const dis_status status = store && *key ? dis__store_record(store, full_key, out, &n_stored) : DIS_OK;
    dis__store_close(store);
    if (status != DIS_OK || n_stored == 1) return status;
    if (n_stored > 1)
        return dis__fail(DIS_EUSAGE, "%zu runs have a key that begins with %s; use a longer prefix", n_stored, key);
    if (n_planned == 1)
        return dis__fail(DIS_EUSAGE, "the run %s (%s, fold %zu, seed %llu) has not been done yet", full_key,
                         plan->cell[plan->run[run].cell].name, plan->run[run].fold,
                         (unsigned long long)plan->run[run].seed);
    return dis__fail(DIS_EUSAGE, "no run has a key that begins with \"%s\"; the status of an experiment lists them",
                     key);
}
