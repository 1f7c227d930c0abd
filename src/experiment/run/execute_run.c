/* One run: the split of its fold and seed, what the part to train on learns from, training, and measures on each set.
 * A cell without an objective has its labels measured in place of a model's predictions. */
#include "tool/arrays.h"
#include "experiment/run/execute_run.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "experiment/run/run_examples.h"
#include "experiment/run/run_cache.h"
#include "tables/labels/label_table.h"
#include "train/loop/train_internal.h"
#include <math.h>
#include <string.h>

typedef struct {
    dis_context *ctx;
    dis__cache *cache;
    const dis__plan_internal *plan;
    const dis__run *run;
    const dis__cell_internal *cell;
    const dis__data *data;
    const dis__dataset *m;
    uint8_t *part; /* (m->n) */
    bool *wanted;  /* (m->n) room */
    dis__cache_entry *labels, *human;
    dis__vote_draw draw;
    const dis__vote_draw *drawn; /* that, or NULL: all votes as they are */
    dis_model *model;
    size_t fold;          /* being trained */
    dis__moments moments; /* of the previous fold */
    dis__result *out;
    double *last;            /* predictions of the last further set, and its items: sets may share them */
    const dis__parts *items; /* NULL: there are none yet */
    size_t n_last;           /* numbers in `last` */
} running;

static void mark(const running *r, uint8_t part)
{
    for (size_t i = 0; i < r->m->n; i++) r->wanted[i] = r->part[i] == part;
}

/* ---- training ---- */

static dis_status training_part(running *r, dis__examples *train)
{
    const dis_objective *o = dis_objective_find(r->cell->part.objective);
    mark(r, DIS_PART_TRAIN);
    DIS_TRY(dis__examples_of(r->ctx, r->m, r->wanted, train));
    if (train->n == 0) return dis__fail(DIS_EDATA, "%s: the split leaves nothing to train on", r->data->name);
    if (o->needs_gold) DIS_TRY(dis__examples_add_gold(r->m, train));
    if (o->needs_labels) DIS_TRY(dis__examples_add_labels(r->m, dis__cache_entry_labels(r->labels), train));
    if (o->needs_votes) DIS_TRY(dis__examples_add_votes(r->ctx, r->m, r->wanted, r->drawn, train));
    return DIS_OK;
}

/* The epoch is chosen by gold labels, and its curve shows the distance to people: to the human labels, where there are
 * some, else to the cell's own. Objectives that learn from votes also get the votes on these items. */
static dis_status judging_part(running *r, dis__examples *dev)
{
    const dis__dataset *m = r->m;
    const bool own = r->cell->part.judge == DIS_JUDGE_LABELS;
    const bool votes = dis_objective_find(r->cell->part.objective)->needs_votes;
    dis__cache_entry *human = NULL;
    if (r->data->dev == DIS_DEV_NONE) return DIS_OK;
    if (r->data->dev != DIS_DEV_SET) {
        mark(r, DIS_PART_DEV);
        DIS_TRY(dis__examples_of(r->ctx, m, r->wanted, dev));
        if (dev->n == 0)
            return dis__fail(DIS_EDATA, "%s: the split leaves no items to choose the epoch", r->data->name);
        const dis__label_set *labels = dis__cache_entry_labels(own || !r->human ? r->labels : r->human);
        if (!own) DIS_TRY(dis__examples_add_gold(m, dev));
        if (votes) DIS_TRY(dis__examples_add_votes(r->ctx, m, r->wanted, NULL, dev));
        return dis__examples_add_labels(m, labels, dev);
    }
    const size_t set = r->data->dev_set;
    const dis__set_part *part = dis__part(&r->data->part->sets, set);
    bool *all;
    DIS_TRY(dis__cache_dataset(r->ctx, r->cache, r->cell->data, set, &m));
    DIS_TRY(dis__alloc_array(&all, m->n, sizeof *all));
    memset(all, 1, m->n * sizeof *all);
    dis_status status = dis__examples_of(r->ctx, m, all, dev);
    if (status == DIS_OK && votes && part->votes) status = dis__examples_add_votes(r->ctx, m, all, NULL, dev);
    dis__free(all);
    DIS_TRY(status);
    DIS_TRY(dis__examples_add_gold(m, dev));
    if (!part->votes || !r->data->human || r->data->human->file) return DIS_OK;
    DIS_TRY(dis__cache_labels(r->ctx, r->cache, r->cell->data, set, r->data->human, NULL, &human));
    status = dis__examples_add_labels(m, dis__cache_entry_labels(human), dev);
    dis__cache_release(r->cache, human);
    return status;
}

static dis_status train_on(running *r, const dis__examples *train, const dis__examples *dev)
{
    const dis__cell_part *c = &r->cell->part;
    dis_model_train_options o = c->train;
    o.size = sizeof o;
    o.model = c->model;
    o.objective = c->objective;
    o.seed = r->run->seed + (c->draw << 32) + (c->draw_per_fold ? (uint64_t)r->fold << 52 : 0);
    o.lenient = true;
    o.classes = r->m->classes;
    dis_worker_table *table = NULL;
    if (c->worker_table) DIS_TRY(dis_worker_table_read(r->ctx, c->worker_table, NULL, &table));
    o.worker_table = table;
    o.worker_features = c->worker_features;
    const dis_examples t = {.size = sizeof(dis_examples),
                            .items = train->items,
                            .labels = train->labels,
                            .gold = train->gold,
                            .votes = train->votes};
    const dis_examples d = {.size = sizeof(dis_examples),
                            .items = dev->items,
                            .labels = dev->labels,
                            .gold = dev->gold,
                            .votes = dev->votes};
    const dis_examples *judge = dev->items ? &d : NULL;
    const dis_status status = c->carry_moments ? dis__train_with_moments(r->ctx, &t, judge, &o, &r->moments, &r->model)
                                               : dis_model_train(r->ctx, &t, judge, &o, &r->model);
    dis_worker_table_destroy(table);
    return status;
}

static dis_status copy_curve(running *r)
{
    const dis_model_view v = dis_model_get_view(r->model);
    dis__result *out = r->out;
    DIS_TRY(dis__alloc_array(&out->epoch, v.n_epochs, sizeof *out->epoch));
    memcpy(out->epoch, v.epoch, v.n_epochs * sizeof *out->epoch);
    out->n_epochs = v.n_epochs;
    out->best_epoch = v.best_epoch;
    out->n_parameters = v.n_parameters;
    out->n_examples = v.n_examples;
    return DIS_OK;
}

static dis_status train_fold(running *r, bool last)
{
    dis__examples train = {0}, dev = {0};
    dis_status status = training_part(r, &train);
    if (status == DIS_OK) status = judging_part(r, &dev);
    if (status == DIS_OK) status = train_on(r, &train, &dev);
    if (status == DIS_OK && last) status = copy_curve(r);
    dis__examples_free(&train);
    dis__examples_free(&dev);
    return status;
}

/* If moments are carried over, earlier folds are trained first: a run does not depend on other runs. */
static dis_status train(running *r)
{
    const size_t folds = r->cell->part.carry_moments ? r->run->fold : 0;
    for (size_t f = r->fold = 0; f < folds; r->fold = ++f) {
        DIS_TRY(dis__split_make(r->data, r->m, f, r->run->seed, r->part));
        DIS_TRY(train_fold(r, false));
        dis_model_destroy(r->model);
        r->model = NULL;
    }
    r->fold = r->run->fold;
    if (folds) DIS_TRY(dis__split_make(r->data, r->m, r->fold, r->run->seed, r->part));
    return train_fold(r, true);
}

/* ---- predictions ---- */

/* Predictions of the model for the tasks of a part: p (m->n, n_classes), rows of other tasks unchanged. */
static dis_status predict(running *r, const dis__dataset *m, const dis__examples *e, double *p)
{
    const size_t k = dis_names_count(m->classes);
    dis_labels *labels;
    DIS_TRY(dis_model_predict(r->ctx, r->model, e->items, NULL, &labels));
    const dis_labels_view v = dis_labels_get_view(labels);
    for (size_t i = 0; i < e->n_read; i++) memcpy(p + e->read[i] * k, v.p + i * k, k * sizeof *p);
    dis_labels_destroy(labels);
    return DIS_OK;
}

/* What a set is measured by. */
typedef struct {
    const dis__dataset *m;
    const dis__label_set *human, *own; /* own: replaces gold labels; NULL: gold labels are used */
    dis__examples part;
    double *p;                    /* (m->n, n_classes) */
    const dis__parts *items;      /* of a further set; NULL: the tested part of the split */
    dis__perspective perspective; /* predictions for its annotators, by annotator models */
} measuring;

/* The most probable class; -1: there are several, or no label. */
static int32_t majority_of(const dis__label_set *labels, size_t task, size_t k)
{
    const double *p = labels->p + task * k;
    if (!labels->has[task]) return -1;
    const size_t best = dis__argmax(p, k);
    for (size_t c = best + 1; c < k; c++)
        if (p[c] == p[best]) return -1;
    return (int32_t)best;
}

static dis_status fill_set(running *r, const measuring *w, const char *name, dis__predicted_set *set)
{
    const dis__examples *e = &w->part;
    const size_t k = dis_names_count(w->m->classes);
    (void)r;
    set->set = name;
    DIS_TRY(dis__labels_of_rows(w->m, w->p, e->task, e->n, &set->predicted));
    if (w->m->label || w->own) {
        DIS_TRY(dis__alloc_array(&set->gold, e->n, sizeof *set->gold));
        for (size_t i = 0; i < e->n; i++)
            set->gold[i] = w->own ? majority_of(w->own, e->task[i], k) : w->m->label[e->task[i]];
    }
    if (w->human) {
        DIS_TRY(dis__alloc_array(&set->human, dis__saturating_size(e->n, k, 0), sizeof *set->human));
        for (size_t i = 0; i < e->n; i++)
            memcpy(set->human + i * k, w->human->p + e->task[i] * k, k * sizeof *set->human);
    }
    return DIS_OK;
}

/* ---- measures ---- */

/* The metrics of one set, of all its rows or of those that people said something of. */
static dis_status measure_rows(running *r, const measuring *w, const dis__predicted_set *set, bool human_rows,
                               const bool *wanted, dis_metric *metric)
{
    const dis__examples *e = &w->part;
    const size_t k = dis_names_count(w->m->classes);
    double *q = NULL, *human = NULL;
    int32_t *gold = NULL;
    uint32_t *group = NULL;
    size_t n = 0;
    dis_status status = dis__alloc_array(&q, dis__saturating_size(e->n, k, 0), sizeof *q);
    if (status == DIS_OK && set->gold) status = dis__alloc_array(&gold, e->n, sizeof *gold);
    if (status == DIS_OK && human_rows)
        status = dis__alloc_array(&human, dis__saturating_size(e->n, k, 0), sizeof *human);
    if (status == DIS_OK && w->m->group) status = dis__alloc_array(&group, e->n, sizeof *group);
    for (size_t i = 0; status == DIS_OK && i < e->n; i++) {
        if (human_rows && !w->human->has[e->task[i]]) continue;
        memcpy(q + n * k, w->p + e->task[i] * k, k * sizeof *q);
        if (gold) gold[n] = set->gold[i];
        if (group) group[n] = w->m->group[e->task[i]];
        if (human) memcpy(human + n * k, set->human + i * k, k * sizeof *human);
        n++;
    }
    if (status == DIS_OK && n) {
        const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                         .n_items = n,
                                         .n_classes = k,
                                         .q = q,
                                         .gold = gold,
                                         .human = human,
                                         .group = group,
                                         .n_groups = w->m->n_groups};
        dis_evaluation_options o = dis_evaluation_options_default();
        dis_evaluation *evaluation;
        o.ordinal = r->data->part->ordinal;
        o.n_metrics = DIS_EVALUATION_METRICS;
        o.metrics = wanted;
        status = dis_evaluation_run(r->ctx, &in, &o, &evaluation);
        if (status == DIS_OK) {
            memcpy(metric, dis_evaluation_get_view(evaluation).metric, DIS_EVALUATION_METRICS * sizeof *metric);
            dis_evaluation_destroy(evaluation);
        }
    }
    dis__free(q);
    dis__free(gold);
    dis__free(human);
    dis__free(group);
    return status;
}

static dis_status measure(running *r, const measuring *w, const dis__predicted_set *set)
{
    const dis__plan *plan = &r->plan->plan;
    for (int human = 0; human < 2; human++) {
        bool wanted[DIS_EVALUATION_METRICS] = {false}, any = false;
        dis_metric metric[DIS_EVALUATION_METRICS];
        for (size_t m = 0; m < plan->n_measures; m++) {
            const unsigned needs = dis_evaluation_metric_get(plan->measure[m].metric)->needs;
            if (strcmp(plan->measure[m].set, set->set) != 0 || !!(needs & DIS_NEEDS_HUMAN) != human) continue;
            any = wanted[plan->measure[m].metric] = true;
        }
        if (!any || (human && !w->human)) continue;
        for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) metric[m] = dis__metric_undefined("not measured");
        DIS_TRY(measure_rows(r, w, set, human, wanted, metric));
        for (size_t m = 0; m < plan->n_measures; m++)
            if (strcmp(plan->measure[m].set, set->set) == 0 && wanted[plan->measure[m].metric]) {
                const dis_metric *got = &metric[plan->measure[m].metric];
                r->out->value[m] = got->reason ? NAN : got->value;
            }
    }
    return DIS_OK;
}

/* Whether two sets are read from the same rows of the same files. */
static dis_status same_items(const dis__parts *a, const dis__parts *b, bool *same)
{
    dis__run_key one = {0}, other = {0};
    dis_status status = DIS_OK;
    *same = a->n == b->n;
    for (size_t i = 0; *same && i < a->n && status == DIS_OK; i++) {
        one.n = other.n = 0;
        status = dis__run_key_record(&one, &dis__items_schema, dis__part(a, i));
        if (status == DIS_OK) status = dis__run_key_record(&other, &dis__items_schema, dis__part(b, i));
        *same = status == DIS_OK && one.n == other.n && memcmp(one.text, other.text, one.n) == 0;
    }
    dis__run_key_free(&one);
    dis__run_key_free(&other);
    return status;
}

/* Predictions of a set; those of the previous one if it had the same items and only its gold labels differ. */
static dis_status predict_set(running *r, measuring *w)
{
    const size_t n = w->m->n * dis_names_count(w->m->classes);
    bool same = false;
    if (w->items && r->items && r->n_last == n) DIS_TRY(same_items(w->items, r->items, &same));
    if (same) {
        memcpy(w->p, r->last, n * sizeof *w->p);
        return DIS_OK;
    }
    DIS_TRY(predict(r, w->m, &w->part, w->p));
    if (!w->items) return DIS_OK;
    dis__free(r->last);
    r->last = NULL;
    r->items = NULL;
    DIS_TRY(dis__alloc_array(&r->last, n, sizeof *r->last));
    memcpy(r->last, w->p, n * sizeof *r->last);
    r->items = w->items;
    r->n_last = n;
    return DIS_OK;
}

/* Whether the model predicts each annotator of the set. */
static bool asks_voters(const running *r, const char *set)
{
    const dis__plan *plan = &r->plan->plan;
    bool any = false;
    for (size_t m = 0; m < plan->n_measures; m++)
        any |= strcmp(plan->measure[m].set, set) == 0 &&
               dis_evaluation_metric_get(plan->measure[m].metric)->needs & DIS_NEEDS_WORKERS;
    return any && r->model && dis_model_get_view(r->model).workers;
}

static void copy_perspectives(running *r, const measuring *w, const char *set)
{
    const dis__plan *plan = &r->plan->plan;
    for (size_t m = 0; m < plan->n_measures; m++) {
        if (strcmp(plan->measure[m].set, set) != 0) continue;
        if (plan->measure[m].metric == DIS_EVALUATION_PERSPECTIVE_ERROR) r->out->value[m] = w->perspective.error;
        if (plan->measure[m].metric == DIS_EVALUATION_PERSPECTIVE_DISTANCE && r->data->part->ordinal)
            r->out->value[m] = w->perspective.distance;
    }
}

/* The set itself: predictions of its tasks, then its measures. Nothing to measure leaves its measures undefined. */
static dis_status one_set(running *r, measuring *w, const char *name, const bool *wanted)
{
    const size_t k = dis_names_count(w->m->classes);
    DIS_TRY(dis__examples_of(r->ctx, w->m, wanted, &w->part));
    if (w->part.n == 0) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&w->p, dis__saturating_size(w->m->n, k, 0), sizeof *w->p));
    if (r->model)
        DIS_TRY(predict_set(r, w));
    else
        memcpy(w->p, dis__cache_entry_labels(r->labels)->p, w->m->n * k * sizeof *w->p);
    const bool asks = asks_voters(r, name);
    if (asks) DIS_TRY(dis__ask_voters(r->ctx, r->model, w->m, &w->part, w->p, &w->perspective));
    dis__predicted_set *set = &r->out->set[r->out->n_sets++];
    DIS_TRY(fill_set(r, w, name, set));
    DIS_TRY(measure(r, w, set));
    if (asks) copy_perspectives(r, w, name);
    return DIS_OK;
}

/* Tasks to test: those of the split, or all of them without a split and without training. */
static dis_status tested(running *r)
{
    const bool all = !r->model && r->data->split->by == DIS_SPLIT_NONE;
    measuring w = {.m = r->m, .human = dis__cache_entry_labels(r->human)};
    if (r->cell->part.test_by == DIS_JUDGE_LABELS) w.own = dis__cache_entry_labels(r->labels);
    for (size_t i = 0; i < r->m->n; i++) {
        r->wanted[i] = all ? r->part[i] != DIS_PART_NONE : r->part[i] == DIS_PART_TEST;
        if (!r->model) r->wanted[i] &= dis__cache_entry_labels(r->labels)->has[i];
    }
    const dis_status status = one_set(r, &w, "test", r->wanted);
    dis__examples_free(&w.part);
    dis__free(w.p);
    return status;
}

static dis_status further(running *r, const char *name, size_t set)
{
    measuring w = {0};
    dis__cache_entry *human = NULL;
    bool *all = NULL;
    const dis__set_part *part = dis__part(&r->data->part->sets, set);
    const bool people = part->votes && r->data->human && !r->data->human->file;
    if (!r->model) return DIS_OK; /* labels are made of votes on the data set itself */
    DIS_TRY(dis__cache_dataset(r->ctx, r->cache, r->cell->data, set, &w.m));
    w.items = &part->items;
    if (people) DIS_TRY(dis__cache_labels(r->ctx, r->cache, r->cell->data, set, r->data->human, NULL, &human));
    w.human = dis__cache_entry_labels(human);
    dis_status status = dis__alloc_array(&all, w.m->n, sizeof *all);
    if (status == DIS_OK) {
        memset(all, 1, w.m->n * sizeof *all);
        status = one_set(r, &w, name, all);
    }
    dis__free(all);
    dis__examples_free(&w.part);
    dis__free(w.p);
    dis__cache_release(r->cache, human);
    return status;
}

static dis_status measure_all(running *r)
{
    const dis__plan *plan = &r->plan->plan;
    for (size_t m = 0; m < plan->n_measures; m++) {
        const char *name = plan->measure[m].set;
        bool before = false;
        for (size_t i = 0; i < m; i++) before |= strcmp(plan->measure[i].set, name) == 0;
        if (before) continue;
        const size_t set = dis__set_find(r->data->part, name);
        if (strcmp(name, "test") == 0)
            DIS_TRY(tested(r));
        else if (set != SIZE_MAX)
            DIS_TRY(further(r, name, set));
    }
    return DIS_OK;
}

/* ---- the run ---- */

static dis_status carry_out(running *r)
{
    const dis__plan *plan = &r->plan->plan;
    DIS_TRY(dis__cache_dataset(r->ctx, r->cache, r->cell->data, SIZE_MAX, &r->m));
    DIS_TRY(dis__alloc_array(&r->part, r->m->n, sizeof *r->part));
    DIS_TRY(dis__alloc_array(&r->wanted, r->m->n, sizeof *r->wanted));
    DIS_TRY(dis__split_make(r->data, r->m, r->run->fold, r->run->seed, r->part));
    r->drawn = dis__cell_draws(&r->cell->part, r->run->seed, &r->draw) ? &r->draw : NULL;
    if (r->cell->labels)
        DIS_TRY(dis__cache_labels(r->ctx, r->cache, r->cell->data, SIZE_MAX, r->cell->labels, r->drawn, &r->labels));
    if (r->data->human)
        DIS_TRY(dis__cache_labels(r->ctx, r->cache, r->cell->data, SIZE_MAX, r->data->human, NULL, &r->human));
    DIS_TRY(dis__alloc_array(&r->out->value, plan->n_measures, sizeof *r->out->value));
    for (size_t m = 0; m < plan->n_measures; m++) r->out->value[m] = NAN;
    DIS_TRY(dis__alloc_zeroed(&r->out->set, plan->n_measures, sizeof *r->out->set));
    if (r->cell->part.objective) DIS_TRY(train(r));
    return measure_all(r);
}

dis_status dis__execute(dis_context *ctx, dis__cache *cache, size_t run, dis__result *out)
{
    dis__result result = {0};
    const dis__plan_internal *plan = dis__cache_plan(cache);
    const dis__run *its = &plan->plan.run[run];
    const dis__cell_internal *cell = &plan->cell[its->cell];
    running r = {.ctx = ctx,
                 .cache = cache,
                 .plan = plan,
                 .run = its,
                 .cell = cell,
                 .data = &plan->data[cell->data],
                 .out = &result};
    const dis_status status = carry_out(&r);
    dis_model_destroy(r.model);
    dis__moments_free(&r.moments);
    dis__free(r.last);
    dis__cache_release(cache, r.labels);
    dis__cache_release(cache, r.human);
    dis__free(r.part);
    dis__free(r.wanted);
    if (status == DIS_OK)
        *out = result;
    else
        dis__result_free(&result);
    return status;
}

void dis__result_free(dis__result *result)
{
    for (size_t i = 0; i < result->n_sets; i++) {
        dis_labels_destroy(result->set[i].predicted);
        dis__free(result->set[i].gold);
        dis__free(result->set[i].human);
    }
    dis__free(result->set);
    dis__free(result->value);
    dis__free(result->epoch);
    *result = (dis__result){0};
}
