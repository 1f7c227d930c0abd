/* Runs of experiments: what they give is what the library's calls give by hand, the same from any thread, in any order,
 * from a cache that is whole, damaged or absent; and every failure leaves nothing behind. */
#include "experiment/run/execute_run.h"
#include "dissent/dissent.h"
#include "experiment/run/dataset.h"
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "support/plan_cases.h"

static dis__plan *plan_of(const char *text)
{
    dis__plan *plan = NULL;
    if (dis__plan_read(NULL, put_text("e.yaml", text), NULL, &plan) != DIS_OK) fail_msg("%s", dis_last_error());
    return plan;
}

static dis__result execute(dis__cache *cache, size_t run)
{
    dis__result result;
    if (dis__execute(NULL, cache, run, &result) != DIS_OK) fail_msg("run %zu: %s", run, dis_last_error());
    return result;
}

static dis__cache *open_cache(const dis__plan *plan, const char *cache_folder)
{
    dis__cache *cache = NULL;
    if (dis__cache_open(plan, cache_folder, &cache) != DIS_OK) fail_msg("%s", dis_last_error());
    return cache;
}

static void assert_same(const dis__plan *plan, const dis__result *a, const dis__result *b)
{
    assert_memory_equal(a->value, b->value, plan->n_measures * sizeof *a->value);
    assert_true(a->n_sets == b->n_sets && a->n_epochs == b->n_epochs && a->best_epoch == b->best_epoch &&
                a->n_examples == b->n_examples && a->n_parameters == b->n_parameters);
    if (a->n_epochs) assert_memory_equal(a->epoch, b->epoch, a->n_epochs * sizeof *a->epoch);
    for (size_t s = 0; s < a->n_sets; s++) {
        const dis_labels_view p = dis_labels_get_view(a->set[s].predicted),
                              q = dis_labels_get_view(b->set[s].predicted);
        assert_true(p.n_items == q.n_items && p.n_classes == q.n_classes);
        assert_memory_equal(p.p, q.p, p.n_items * p.n_classes * sizeof *p.p);
        assert_int_equal(!a->set[s].gold, !b->set[s].gold);
        if (a->set[s].gold) assert_memory_equal(a->set[s].gold, b->set[s].gold, p.n_items * sizeof *a->set[s].gold);
    }
}

#define TINY_ENCODER DIS_SOURCE_DIR "/tests/parity/fixtures/encoders/bert_vocabulary"
#define ALL_KINDS                                                                                                      \
    "name: t\n"                                                                                                        \
    "data:\n"                                                                                                          \
    "  texts: {items: items.csv, votes: votes.csv, gold: gold.csv, human: standard, split: {by: hold-out, size: .2}, " \
    "dev: s, sets: {s: {items: dev.csv, gold: dev_gold.csv}}}\n"                                                       \
    "  numbers: {items: {file: x.csv, kind: features}, votes: {file: counts.csv, input: counts, columns: {n_x: x, "    \
    "n_y: y, n_z: z}}, gold: {method: majority:ties=split}, human: softmax, split: {by: folds, folds: 3}}\n"           \
    "  tokens: {items: {file: tokens.csv, kind: tokens}, votes: votes.csv, gold: gold.csv, human: standard, split: "   \
    "{by: folds, column: fold}}\n"                                                                                     \
    "labels: {both: {methods: [dawid-skene, standard], combine: \"average:weights=auto\"}}\n"                          \
    "defaults: {epochs: 2, batch: 16}\n"                                                                               \
    "seeds: 2\n"                                                                                                       \
    "measure: {test: [accuracy, kl, calibrated_log_likelihood], s: macro_f1}\n"                                        \
    "cells:\n"                                                                                                         \
    "  - {data: texts, model: \"text:width=4,hidden=4,buckets=64\", objective: [gold, kl, gold+ce, silver, "           \
    "\"crowd:mw\"], labels: both}\n"                                                                                   \
    "  - {data: texts, model: \"text:width=4,hidden=4,buckets=64\", objective: soft-ce, labels: standard, "            \
    "votes_per_item: [1, 3], name: \"{votes_per_item} votes\"}\n"                                                      \
    "  - {data: numbers, model: \"mlp:hidden=4\", objective: soft-ce, labels: softmax, votes_per_item: 2, judge: "     \
    "labels}\n"                                                                                                        \
    "  - {data: tokens, model: \"tagger:word=4,hidden=4,character=4,layers=1,feed=8\", objective: "                    \
    "[gold, \"crowd:mw\"]}\n"                                                                                          \
    "  - {data: texts, model: encoder, encoder: " TINY_ENCODER ", objective: [gold+kl, \"crowd:mw\"], labels: both}\n" \
    "  - {data: tokens, model: encoder-tagger, encoder: " TINY_ENCODER ", objective: \"crowd:vwb\"}\n"                 \
    "  - {data: texts, labels: [both, majority], epochs: 0, name: \"labels {labels}\"}\n"

static void test_everything(void **state)
{
    (void)state;
    dis__plan *plan = plan_of(ALL_KINDS);
    dis__cache *cache = open_cache(plan, NULL);
    for (size_t r = 0; r < plan->n_runs; r++) {
        const dis_experiment_cell *cell = &plan->cell[plan->run[r].cell];
        dis__result result = execute(cache, r);
        const bool texts = strcmp(cell->data, "texts") == 0, labels = strncmp(cell->name, "labels", 6) == 0;
        for (size_t m = 0; m < 3; m++)
            if (!isfinite(result.value[m]))
                fail_msg("%s: no %s", cell->name, dis_evaluation_metric_get(plan->measure[m].metric)->name);
        assert_int_equal(isfinite(result.value[3]), texts && !labels);
        assert_int_equal(result.n_sets, texts && !labels ? 2 : 1);
        assert_int_equal(result.n_epochs, labels ? 0 : 2);
        assert_string_equal(result.set[0].set, "test");
        const dis_labels_view v = dis_labels_get_view(result.set[0].predicted);
        assert_int_equal(v.n_classes, CROWD_CLASSES);
        if (texts) assert_int_equal(v.n_items, 12);
        if (strcmp(cell->data, "numbers") == 0) assert_int_equal(v.n_items, 20);
        if (strcmp(cell->data, "tokens") == 0) assert_true(v.n_items == 15 && result.n_examples == 30);
        dis__result_free(&result);
    }
    dis__cache_close(cache);
    dis__plan_destroy(plan);
}

/* ---- threads ---- */

typedef struct {
    const dis__plan *plan;
    dis__cache *cache;
    dis__result *result;
    pthread_mutex_t mutex;
    size_t next;
} team;

static void *work(void *arg)
{
    team *t = arg;
    for (;;) {
        pthread_mutex_lock(&t->mutex);
        const size_t n = t->next++;
        pthread_mutex_unlock(&t->mutex);
        if (n >= t->plan->n_runs) return NULL;
        const size_t run = (n * 7 + 3) % t->plan->n_runs; /* another order; 7 does not divide the number of runs */
        if (dis__execute(NULL, t->cache, run, &t->result[run]) != DIS_OK) fail_msg("%s", dis_last_error());
    }
}

static void test_threads(void **state)
{
    (void)state;
    dis__plan *plan = plan_of(ALL_KINDS);
    dis__cache *alone = open_cache(plan, NULL);
    char cache_folder[512];
    strcpy(cache_folder, in_folder("cache-threads"));
    assert_true(plan->n_runs % 7 != 0);
    for (int round = 0; round < 2; round++) { /* the second one finds the labels in the cache */
        team t = {.plan = plan,
                  .cache = open_cache(plan, cache_folder),
                  .result = calloc(plan->n_runs, sizeof *t.result)};
        pthread_t thread[4];
        pthread_mutex_init(&t.mutex, NULL);
        for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, work, &t), 0);
        for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
        for (size_t r = 0; r < plan->n_runs; r++) {
            dis__result result = execute(alone, r);
            assert_same(plan, &result, &t.result[r]);
            dis__result_free(&result);
            dis__result_free(&t.result[r]);
        }
        pthread_mutex_destroy(&t.mutex);
        dis__cache_close(t.cache);
        free(t.result);
    }
    dis__cache_close(alone);
    dis__plan_destroy(plan);
}

/* ---- the cache ---- */

#define SMALL                                                                                                      \
    "name: t\ndata: {d: {items: items.csv, votes: votes.csv, gold: gold.csv, human: softmax, split: {by: column, " \
    "column: part, train: train, dev: dev, test: test}}}\nmeasure: {test: [accuracy, kl]}\ncells: [{model: "       \
    "\"text:width=2,hidden=2,buckets=8\", epochs: 1, objective: gold+kl, labels: softmax}]\n"

/* The only file in a folder. */
static const char *only_file(const char *where)
{
    static char path[1024];
    char command[600];
    snprintf(command, sizeof command, "ls -d '%s'/*", where);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    assert_non_null(fgets(path, sizeof path, f));
    path[strcspn(path, "\n")] = 0;
    char more[16];
    assert_null(fgets(more, sizeof more, f));
    pclose(f);
    return path;
}

static void test_cache(void **state)
{
    (void)state;
    dis__plan *plan = plan_of(SMALL);
    char cache_folder[512];
    strcpy(cache_folder, in_folder("cache"));
    dis__cache *cache = open_cache(plan, cache_folder);
    dis__result first = execute(cache, 0);
    dis__cache_close(cache);
    const char *path = only_file(cache_folder);
    size_t n, again;
    char *expected = contents(path, &n);
    for (int damage = 0; damage < 6; damage++) {
        char *bytes = malloc(n + 1);
        memcpy(bytes, expected, n);
        size_t length = n;
        if (damage == 1) bytes[n - 5] ^= 1;          /* a number */
        if (damage == 2) bytes[20] ^= 1;             /* the key */
        if (damage == 3) length = n / 2;             /* cut */
        if (damage == 4) length = 0;                 /* empty */
        if (damage == 5) memcpy(bytes, "PK\3\4", 4); /* another kind of file */
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, length, f), length);
        fclose(f);
        free(bytes);
        cache = open_cache(plan, cache_folder);
        dis__result result = execute(cache, 0);
        assert_same(plan, &first, &result);
        dis__result_free(&result);
        dis__cache_close(cache);
        char *now = contents(only_file(cache_folder), &again);
        assert_int_equal(again, n);
        assert_memory_equal(now, expected, n);
        free(now);
    }
    free(expected);
    dis__result_free(&first);
    dis__plan_destroy(plan);
}

/* ---- faults ---- */

typedef struct {
    const dis__plan *plan;
    char cache_folder[512];
    bool keep_cache;
} fault_case;

static void empty_folder(const char *where)
{
    DIR *d = opendir(where);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", where, e->d_name);
        if (e->d_name[0] != '.') unlink(path);
    }
    if (d) closedir(d);
}

static dis_status run_once(void *arg)
{
    fault_case *c = arg;
    dis__cache *cache = NULL;
    dis__result result = {0};
    if (!c->keep_cache) empty_folder(c->cache_folder);
    dis_status status = dis__cache_open(c->plan, c->cache_folder, &cache);
    if (status != DIS_OK) {
        assert_null(cache);
        return status;
    }
    status = dis__execute(NULL, cache, 0, &result);
    if (status == DIS_OK)
        dis__result_free(&result);
    else
        assert_null(result.value);
    dis__cache_close(cache);
    return status;
}

static void test_faults(void **state)
{
    static const char *const plans[] = {
        SMALL,
        "name: t\ndata: {d: {votes: {file: counts.csv, input: counts, columns: {n_x: x, n_y: y, n_z: z}}, gold: "
        "{file: gold.csv, map: {x: x, y: y, z: z}}, human: softmax}}\nmeasure: {test: [accuracy, kl]}\nlabels: {b: "
        "{methods: "
        "[standard, softmax]}}\ncells: [{labels: b, votes_per_item: 2}]\n",
        "name: t\ndata: {d: {items: [{file: items.csv, prefix: a}, {file: dev.csv, prefix: b}], gold: [{file: "
        "gold.csv, prefix: "
        "a}, {file: dev_gold.csv, prefix: b}], split: {by: hold-out, size: 9}, dev: .2}}\nmeasure: "
        "{test: accuracy}\ncells: [{model: \"text:width=2,hidden=2,buckets=8\", epochs: 1, objective: gold}]\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        fault_case c = {.plan = plan_of(plans[i])};
        strcpy(c.cache_folder, in_folder("cache-faults"));
        walk_faults(run_once, NULL, &c);
        c.keep_cache = true; /* and now with what is left in the cache */
        assert_int_equal(run_once(&c), DIS_OK);
        walk_faults(run_once, NULL, &c);
        dis__plan_destroy((dis__plan *)c.plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, make_crowd, remove_folder);
}
