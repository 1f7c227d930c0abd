/* Runs: every cell on every fold with every seed, each with its key, the SHA-256 of a text of all that determines its
 * result: what the files hold, not what they are called; settings, not their order, nor the names of cells. */
#include "experiment/plan/plan_internal.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "dissent/version.h"
#include "train/objectives/objective.h"
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <string.h>

#define FAIL(p, at, ...) dis__yaml_fail(&(p)->yaml, at, __VA_ARGS__)

enum { MAX_RUNS = 10000000, FORMAT = 1 }; /* FORMAT: version of the key text and of the execution of runs */

static bool parse_integer(const dis__yaml_node *node, uint64_t *out)
{
    char *end;
    if (node->kind != DIS_YAML_TEXT || node->text[0] < '0' || node->text[0] > '9') return false;
    errno = 0;
    *out = strtoull(node->text, &end, 10);
    return !*end && !errno;
}

static dis_status parse_seeds(dis__plan_internal *p)
{
    const dis__yaml_node *node = p->file.seeds;
    uint64_t n = 1;
    const bool list = node && node->kind == DIS_YAML_LIST;
    if (node && !list && (!parse_integer(node, &n) || n < 1 || n > 100000))
        return FAIL(p, node, "seeds must be a number from 1 to 100000, or a list of seeds");
    if (list) n = node->n;
    if (n == 0) return FAIL(p, node, "seeds: an empty list");
    DIS_TRY(dis__plan_alloc(&p->memory, &p->seed, (size_t)n, sizeof *p->seed));
    p->n_seeds = (size_t)n;
    for (size_t i = 0; i < n; i++) p->seed[i] = i;
    const dis__yaml_node *at = list ? node + 1 : NULL;
    for (size_t i = 0; list && i < n; i++, at++) {
        if (!parse_integer(at, &p->seed[i]))
            return FAIL(p, at, "seeds: \"%.60s\" must be an integer", at->text ? at->text : "");
        for (size_t j = 0; j < i; j++)
            if (p->seed[j] == p->seed[i]) return FAIL(p, at, "seeds: %s is repeated", at->text);
    }
    return DIS_OK;
}

/* ---- keys ---- */

static dis_status put_field(dis__run_key *key_text, const dis__schema *schema, const char *key, const void *record)
{
    return dis__run_key_field(key_text, dis__schema_find(schema, key), record);
}

static dis_status put_number(dis__run_key *key_text, const char *key, uint64_t x)
{
    char text[32];
    return dis__run_key_put(key_text, key, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)x));
}

/* The beginning of every key. */
static dis_status put_head(dis__run_key *key_text)
{
    key_text->n = 0;
    DIS_TRY(put_number(key_text, "format", FORMAT));
    return dis__run_key_put(key_text, "version", DIS_VERSION, strlen(DIS_VERSION));
}

static dis_status put_data(dis__run_key *key_text, const dis__data_part *part)
{
    static const char *const keys[] = {"items", "votes", "gold", "classes", "ordinal"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        DIS_TRY(put_field(key_text, &dis__data_schema, keys[i], part));
    return DIS_OK;
}

static dis_status put_labels(dis__run_key *key_text, const char *key, const dis__labels_part *labels)
{
    DIS_TRY(dis__run_key_put(key_text, key, "", 0));
    return labels ? dis__run_key_record(key_text, &dis__labels_schema, labels) : DIS_OK;
}

/* A split defined outside of the items is represented by its file. */
static dis_status put_split(dis__run_key *key_text, const dis__data *d)
{
    DIS_TRY(dis__run_key_record(key_text, &dis__split_schema, d->split));
    DIS_TRY(put_number(key_text, "dev", d->dev));
    if (d->dev == DIS_DEV_SHARE) {
        char share[DIS_REAL_TEXT];
        return dis__run_key_put(key_text, "share", share, dis__format_real(d->dev_share, share));
    }
    if (d->dev == DIS_DEV_SET)
        return dis__run_key_record(key_text, &dis__set_schema, dis__part(&d->part->sets, d->dev_set));
    return DIS_OK;
}

static dis_status put_measures(dis__run_key *key_text, const dis__plan_internal *p, const dis__data *d)
{
    for (size_t m = 0; m < p->plan.n_measures; m++) {
        const dis_experiment_measure *measure = &p->measures[m];
        const size_t s = dis__set_find(d->part, measure->set);
        const char *metric = dis_evaluation_metric_get(measure->metric)->name;
        DIS_TRY(dis__run_key_put(key_text, "set", measure->set, strlen(measure->set)));
        DIS_TRY(dis__run_key_put(key_text, "metric", metric, strlen(metric)));
        if (s != SIZE_MAX) DIS_TRY(dis__run_key_record(key_text, &dis__set_schema, dis__part(&d->part->sets, s)));
    }
    return DIS_OK;
}

/* With every setting written out: a default equals the same value set explicitly. */
static dis_status put_objective(dis__run_key *key_text, const char *spec)
{
    char text[DIS__OBJECTIVE_TEXT_SIZE];
    DIS_TRY(dis__objective_format(spec, text));
    return dis__run_key_put(key_text, "objective", text, strlen(text));
}

static dis_status put_cell(dis__run_key *key_text, const dis__plan_internal *p, const dis__cell_internal *c)
{
    static const char *const names[] = {"name", "data", "labels", "baseline", "published"};
    static const char *const without_training[] = {"votes_per_item", "random_workers"};
    DIS_TRY(put_head(key_text));
    if (c->missing) /* not in any store */
        return dis__run_key_put(key_text, "missing", c->missing->message, strlen(c->missing->message));
    for (size_t i = 0; i < dis__cell_schema.n_fields; i++) {
        const dis__field *field = &dis__cell_schema.field[i];
        bool counts = c->part.objective;
        for (size_t n = 0; n < sizeof without_training / sizeof *without_training; n++)
            counts |= strcmp(field->key, without_training[n]) == 0;
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) counts &= strcmp(field->key, names[n]) != 0;
        if (counts && strcmp(field->key, "objective") == 0)
            DIS_TRY(put_objective(key_text, c->part.objective));
        else if (counts)
            DIS_TRY(dis__run_key_field(key_text, field, &c->part));
    }
    if (c->part.objective && p->device) DIS_TRY(dis__run_key_put(key_text, "device", p->device, strlen(p->device)));
    const dis__data *d = &p->data[c->data];
    DIS_TRY(put_data(key_text, d->part));
    DIS_TRY(put_split(key_text, d));
    DIS_TRY(put_labels(key_text, "labels", c->labels));
    DIS_TRY(put_labels(key_text, "human", d->human));
    return put_measures(key_text, p, d);
}

bool dis__cell_draws(const dis__cell_part *cell, uint64_t seed, dis__vote_draw *out)
{
    *out = (dis__vote_draw){cell->votes_per_item, cell->random_workers, seed};
    return cell->votes_per_item > 0 || cell->random_workers > 0;
}

dis_status dis__labels_key(dis__run_key *key_text, const dis__data_part *data, const dis__votes_part *votes,
                           const dis__labels_part *labels, const dis__vote_draw *draw, char hex[65])
{
    char chance[32];
    DIS_TRY(put_head(key_text));
    if (votes) DIS_TRY(dis__run_key_record(key_text, &dis__votes_schema, votes));
    DIS_TRY(put_field(key_text, &dis__data_schema, "classes", data));
    DIS_TRY(put_field(key_text, &dis__data_schema, "gold", data)); /* its classes may be more than those of the votes */
    DIS_TRY(put_labels(key_text, "labels", labels));
    DIS_TRY(put_number(key_text, "votes_per_item", draw ? draw->per_item : 0));
    DIS_TRY(put_number(key_text, "seed", draw ? draw->seed : 0));
    if (draw && draw->random_workers > 0) {
        const int n = snprintf(chance, sizeof chance, "%.17g", draw->random_workers);
        DIS_TRY(dis__run_key_put(key_text, "random_workers", chance, (size_t)n));
    }
    dis__run_key_digest(key_text, hex);
    return DIS_OK;
}

/* ---- runs ---- */

/* A cell without training and random draws is the same for every seed. */
static size_t n_seeds_of(const dis__plan_internal *p, const dis__cell_internal *c)
{
    const dis__data *d = &p->data[c->data];
    const bool drawn = d->seed_of_run && d->split->by == DIS_SPLIT_HOLD_OUT;
    const bool folds = d->seed_of_run && d->split->by == DIS_SPLIT_FOLDS && !d->fold;
    dis__vote_draw draw;
    return c->part.objective || dis__cell_draws(&c->part, 0, &draw) || drawn || folds ? p->n_seeds : 1;
}

static dis_status add_runs(dis__plan_internal *p, size_t cell, dis__run *runs, size_t *n)
{
    const dis__cell_internal *c = &p->cell[cell];
    dis__sha256 all;
    DIS_TRY(put_cell(&p->key_text, p, c));
    dis__sha256_init(&all);
    dis__sha256_update(&all, p->key_text.text, p->key_text.n);
    for (size_t fold = 0; fold < p->data[c->data].n_folds; fold++)
        for (size_t s = 0; s < n_seeds_of(p, c); s++) {
            dis__run *run = &runs[(*n)++];
            dis__sha256 its = all;
            char end[80];
            *run = (dis__run){.cell = cell, .fold = fold, .seed = p->seed[s]};
            dis__sha256_update(&its, end,
                               (size_t)snprintf(end, sizeof end, "run %zu %llu\n", fold,
                                                (unsigned long long)run->seed));
            dis__sha256_hex(&its, run->key);
        }
    return DIS_OK;
}

/* Seed by seed: if the work is interrupted, all conditions have the same seeds, which comparisons pair. */
static void put_in_order(const dis__plan_internal *p, size_t *order)
{
    for (size_t s = 0, n = 0; s < p->n_seeds; s++)
        for (size_t c = 0, first = 0; c < p->plan.n_cells; c++) {
            const size_t n_folds = p->data[p->cell[c].data].n_folds, n_seeds = n_seeds_of(p, &p->cell[c]);
            for (size_t fold = 0; s < n_seeds && fold < n_folds; fold++) order[n++] = first + fold * n_seeds + s;
            first += n_folds * n_seeds;
        }
}

dis_status dis__plan_add_runs(dis__plan_internal *p)
{
    DIS_TRY(parse_seeds(p));
    size_t n = 0;
    for (size_t c = 0; c < p->plan.n_cells; c++)
        n = dis__saturating_size(p->data[p->cell[c].data].n_folds, n_seeds_of(p, &p->cell[c]), n);
    if (n > MAX_RUNS) return FAIL(p, p->file.cells, "cells: %zu runs; at most %d are possible", n, MAX_RUNS);
    dis__run *runs;
    size_t *order;
    DIS_TRY(dis__plan_alloc(&p->memory, &runs, n, sizeof *runs));
    DIS_TRY(dis__plan_alloc(&p->memory, &order, n, sizeof *order));
    for (size_t c = 0; c < p->plan.n_cells; c++) DIS_TRY(add_runs(p, c, runs, &p->plan.n_runs));
    put_in_order(p, order);
    p->plan.run = runs;
    p->plan.order = order;
    return DIS_OK;
}
