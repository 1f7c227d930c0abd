/* experiment_support.h: a small plan made by hand and runs that compute nothing heavy, for tests of the store and the
 * runner.
 *
 * Results are a function of cell, fold and seed alone. */
#ifndef DIS_SUPPORT_EXPERIMENT_SUPPORT_H
#define DIS_SUPPORT_EXPERIMENT_SUPPORT_H
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/random/random.h"
#include "core/text/sha256.h"
#include "experiment/experiment_internal.h"
#include "experiment/runner.h"
#include "experiment/store/sql.h"
#include "tables/labels/label_table.h"
#include <dirent.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FAKE_CELLS = 3,
    FAKE_FOLDS = 2,
    FAKE_SEEDS = 4,
    FAKE_RUNS = FAKE_CELLS * FAKE_FOLDS * FAKE_SEEDS,
    FAKE_ITEMS = 40
};

/* A plan in static memory: nothing of it is to be freed. */
static inline dis__plan fake_plan(dis__run run[FAKE_RUNS])
{
    static const double published[] = {.75, (double)NAN, 1.2};
    static const dis__setting setting[] = {{"labels", "standard"}, {"objective", "kl, with \"quotes\" and \n\x1b[31m"}};
    static const dis_experiment_cell cell[FAKE_CELLS] = {
        {.name = "gold", .data = "d", .n_settings = 0, .baseline = SIZE_MAX},
        {.name = "soft <b>&amp;../../x", .data = "d", .n_settings = 2, .setting = setting, .published = published},
        {.name = "other", .data = "d2", .n_settings = 1, .setting = setting},
    };
    static const dis_experiment_measure measure[] = {{"test", DIS_EVALUATION_ACCURACY},
                                                     {"../held out", DIS_EVALUATION_MACRO_F1},
                                                     {"test", DIS_EVALUATION_CROSS_ENTROPY}};
    static size_t order[FAKE_RUNS]; /* seed by seed */
    for (size_t r = 0; r < FAKE_RUNS; r++) {
        order[r] = r % (FAKE_CELLS * FAKE_FOLDS) * FAKE_SEEDS + r / (FAKE_CELLS * FAKE_FOLDS);
        run[r] = (dis__run){.cell = r / (FAKE_FOLDS * FAKE_SEEDS),
                            .fold = r / FAKE_SEEDS % FAKE_FOLDS,
                            .seed = r % FAKE_SEEDS};
        dis__sha256 h;
        dis__sha256_init(&h);
        dis__sha256_update(&h, &r, sizeof r);
        dis__sha256_hex(&h, run[r].key);
    }
    return (dis__plan){.name = "made",
                       .about = "",
                       .path = "made.yaml",
                       .n_cells = FAKE_CELLS,
                       .n_measures = 3,
                       .n_runs = FAKE_RUNS,
                       .cell = cell,
                       .measure = measure,
                       .run = run,
                       .order = order,
                       .keep_predictions = true,
                       .resamples = 200,
                       .fraction = 1,
                       .data_folder = "."};
}

typedef struct {
    const dis__plan *plan;
    _Atomic size_t calls[FAKE_RUNS];
    size_t bad;        /* this run fails; SIZE_MAX: none */
    unsigned sleep_ms; /* a run takes so long */
} fake_work;

static inline dis_status fake_labels(size_t run, const dis__run *at, dis_labels **out)
{
    enum { K = 3 };
    const char *const classes[K] = {"a", "b", "c"};
    dis_labels *labels;
    dis__name_list list = {0};
    DIS_TRY(dis__alloc_zeroed(&labels, 1, sizeof *labels));
    labels->n_items = FAKE_ITEMS;
    labels->n_classes = K;
    dis_status status = dis__alloc_array(&labels->p, (size_t)FAKE_ITEMS * K, sizeof *labels->p);
    for (size_t i = 0; i < FAKE_ITEMS && status == DIS_OK; i++) {
        char task[32];
        const int n = snprintf(task, sizeof task, "item %zu of %zu", i, at->fold);
        status = dis__name_list_add(&list, task, (size_t)n);
        double *p = labels->p + i * K, sum = 0;
        for (size_t k = 0; k < K; k++)
            sum += p[k] = .05 + dis__random_uniform(run, 99, i * K + k) + (i % K == k) * .2 * (double)at->cell;
        for (size_t k = 0; k < K; k++) p[k] /= sum;
    }
    if (status == DIS_OK) status = dis__name_list_move(&list, &labels->tasks);
    if (status == DIS_OK) status = dis_names_create(classes, K, &labels->classes);
    dis__name_list_free(&list);
    if (status == DIS_OK)
        *out = labels;
    else
        dis_labels_destroy(labels);
    return status;
}

static inline dis_status fake_result(const fake_work *w, size_t run, dis__result *r)
{
    const dis__run *at = &w->plan->run[run];
    DIS_TRY(dis__alloc_array(&r->value, w->plan->n_measures, sizeof *r->value));
    for (size_t m = 0; m < w->plan->n_measures; m++)
        r->value[m] =
            m == 2 && at->seed == 1 ? (double)NAN : .5 + .1 * (double)at->cell + .1 * dis__random_uniform(run, 98, m);
    DIS_TRY(dis__alloc_zeroed(&r->set, 2, sizeof *r->set));
    for (; r->n_sets < 2; r->n_sets++) {
        dis__predicted_set *s = &r->set[r->n_sets];
        s->set = w->plan->measure[r->n_sets].set;
        DIS_TRY(fake_labels(run, at, &s->predicted));
        dis_status status = dis__alloc_array(&s->gold, FAKE_ITEMS, sizeof *s->gold);
        if (status == DIS_OK) status = dis__alloc_array(&s->human, (size_t)FAKE_ITEMS * 3, sizeof *s->human);
        if (status != DIS_OK) {
            r->n_sets++; /* what it has is freed with the result */
            return status;
        }
        for (size_t i = 0; i < FAKE_ITEMS; i++) {
            s->gold[i] = i == 7 ? -1 : (int32_t)(i % 3);
            for (size_t k = 0; k < 3; k++) s->human[i * 3 + k] = i % 3 == k ? .6 : .2;
        }
    }
    DIS_TRY(dis__alloc_array(&r->epoch, 3, sizeof *r->epoch));
    for (; r->n_epochs < 3; r->n_epochs++)
        r->epoch[r->n_epochs] = (dis_epoch){1. / (double)(1 + r->n_epochs), .001, (double)NAN, .5};
    r->best_epoch = 2;
    r->n_parameters = 1234;
    r->n_examples = 56;
    return DIS_OK;
}

static inline dis_status fake_execute(dis_context *ctx, void *user, size_t run, dis__result *out)
{
    fake_work *w = user;
    (void)ctx;
    atomic_fetch_add(&w->calls[run], 1);
    if (w->sleep_ms) {
        const struct timespec t = {.tv_sec = w->sleep_ms / 1000, .tv_nsec = (long)(w->sleep_ms % 1000) * 1000000};
        nanosleep(&t, NULL);
    }
    if (run == w->bad) return dis__fail(DIS_EDATA, "run %zu is bad on purpose", run);
    dis__result result = {0};
    const dis_status status = fake_result(w, run, &result);
    if (status == DIS_OK)
        *out = result;
    else
        dis__result_free(&result);
    return status;
}

/* The table as one text: all that is in it, to the bit. */
static inline char *fake_table(const dis_experiment *e, dis__store *store)
{
    dis__known known = {0};
    dis_experiment_table *table;
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (dis__known_read(e, store, &known) != DIS_OK || dis__table_make(NULL, e, store, &known, &table) != DIS_OK)
        fprintf(f, "%s\n", dis_last_error());
    else {
        const dis_experiment_table_view t = dis_experiment_table_get_view(table);
        for (size_t r = 0; r < t.n_rows; r++)
            for (size_t m = 0; m < t.n_measures; m++) {
                const dis_experiment_value *g = &t.row[r].values[m];
                fprintf(f, "%zu %zu %zu %zu %a %a %a %a %a %a %d %d %d\n", t.row[r].cell, t.row[r].n_runs,
                        t.row[r].n_done, g->n, g->mean, g->sd, g->ci_low, g->ci_high, g->has_comparison ? g->p : -1,
                        g->published, g->stars, g->best, g->has_comparison);
            }
        dis_experiment_table_destroy(table);
    }
    dis__known_free(&known);
    fclose(f);
    return text;
}

#endif
