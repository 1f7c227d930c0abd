/* The public calls of experiments, from a file to a report: each once, and each with everything that can fail
 * failing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include "tool/experiments.h"
#include "experiment/experiment_internal.h"
#include "support/fault_walk.h"
#include "support/scratch.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool built_in(void)
{
    for (size_t i = 0; dis_version_part(i); i++)
        if (strcmp(dis_version_part(i), "SQLite: absent (no results of experiments)") == 0 ||
            strstr(dis_version_part(i), "libyaml: absent"))
            return false;
    return true;
}

static dis_status read_experiment(dis_experiment **out)
{
    dis_experiment_options o = dis_experiment_options_default();
    o.store = in_folder("store");
    return dis_experiment_read(NULL, in_folder("e.yaml"), &o, out);
}

static void from_file_to_table(void **state)
{
    (void)state;
    dis_experiment *e;
    assert_int_equal(read_experiment(&e), DIS_OK);
    const dis_experiment_view v = dis_experiment_get_view(e);
    assert_int_equal(v.n_cells, 3);
    assert_int_equal(v.n_measures, 2);
    assert_int_equal(v.n_selected, v.n_runs);
    dis_run_state states[64];
    assert_int_equal(dis_experiment_get_states(NULL, e, states, NULL), DIS_OK);
    assert_int_equal(states[0], DIS_RUN_MISSING);
    dis_run_record *record;
    assert_int_equal(dis__run_record_read(NULL, e, v.run[0].key, &record), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "not been done"));
    dis_experiment_counts counts;
    assert_int_equal(dis_experiment_run(NULL, e, NULL, &counts), DIS_OK);
    assert_int_equal(counts.done, v.n_runs);
    assert_int_equal(dis_experiment_get_states(NULL, e, states, NULL), DIS_OK);
    assert_int_equal(states[0], DIS_RUN_DONE);
    assert_int_equal(dis__run_record_read(NULL, e, v.run[0].key, &record), DIS_OK);
    assert_string_equal(record->cell, "votes");
    dis__run_record_destroy(record);

    dis_experiment_table *table;
    assert_int_equal(dis_experiment_table_create(NULL, e, &table), DIS_OK);
    const dis_experiment_table_view t = dis_experiment_table_get_view(table);
    assert_int_equal(t.n_rows, 3);
    assert_false(t.row[0].values[0].has_comparison);
    assert_true(t.row[1].values[0].has_comparison);
    assert_true(fabs(t.row[0].values[0].mean - 4. / 6) < 1e-12);
    assert_int_equal(dis_experiment_table_write(e, table, in_folder("t"), "word"), DIS_EUSAGE);
    dis_experiment_table_destroy(table);
    dis_experiment_destroy(e);
}

static void filters_choose_runs(void **state)
{
    (void)state;
    static const struct {
        const char *filter[2];
        size_t n, runs;
    } known[] = {{{"soft"}, 1, 1},
                 {{"o"}, 1, 2},
                 {{"labels=dawid-skene"}, 1, 1},
                 {{"seed=0"}, 1, 3},
                 {{"seed=1"}, 1, 0},
                 {{"data=d", "o"}, 2, 2},
                 {{"cell=so"}, 1, 0},
                 {{"fold=0", "cell=ds"}, 2, 1},
                 {{"cell=ds", "cell=soft"}, 2, 2},
                 {{"cell=ds", "cell=none"}, 2, 1},
                 {{"seed=0..3", "soft"}, 2, 1},
                 {{"seed=1..3"}, 1, 0},
                 {{"seed=0.."}, 1, 0},
                 {{"seed=0...3"}, 1, 0},
                 {{"seed=00000000000000000000"}, 1, 0},
                 {{"nothing=here"}, 1, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        dis_experiment_options o = dis_experiment_options_default();
        dis_experiment *e;
        o.filter = known[i].filter;
        o.n_filters = known[i].n;
        const dis_status status = dis_experiment_read(NULL, in_folder("e.yaml"), &o, &e);
        assert_int_equal(status, known[i].runs ? DIS_OK : DIS_EUSAGE);
        if (status != DIS_OK) continue;
        assert_int_equal(dis_experiment_get_view(e).n_selected, known[i].runs);
        assert_string_equal(dis_experiment_get_view(e).store, "e.results");
        dis_experiment_destroy(e);
    }
}

/* Seeds whose test sets differ are compared as pairs of item and seed; a cell without chance against all of them. */
static void seeds_of_all_kinds(void **state)
{
    (void)state;
    put_text("e2.yaml",
             "name: two\n"
             "data: {d: {items: i.csv, votes: v.csv, gold: g.csv, split: {by: hold-out, size: 3}, dev: none}}\n"
             "human: standard\n"
             "defaults: {epochs: 1, model: 'text:width=4,hidden=0,buckets=16', baseline: soft}\n"
             "cells: [{name: soft, labels: standard, objective: kl}, {name: hard, labels: majority, objective: kl},"
             " {name: labels, labels: majority}]\n"
             "seeds: 3\n"
             "measure: {test: [accuracy]}\n");
    dis_experiment_options o = dis_experiment_options_default();
    dis_experiment *e;
    dis_experiment_counts counts;
    dis_experiment_table *table;
    o.store = in_folder("store2");
    const dis_status status = dis_experiment_read(NULL, in_folder("e2.yaml"), &o, &e);
    if (status != DIS_OK) fail_msg("%s", dis_last_error());
    assert_int_equal(dis_experiment_run(NULL, e, NULL, &counts), DIS_OK);
    assert_int_equal(dis_experiment_table_create(NULL, e, &table), DIS_OK);
    const dis_experiment_table_view t = dis_experiment_table_get_view(table);
    for (size_t r = 1; r < t.n_rows; r++) {
        const dis_experiment_value *f = &t.row[r].values[0];
        assert_true(f->has_comparison);
        assert_true(fabs(f->difference - (f->mean - t.row[0].values[0].mean)) < 1e-12);
    }
    dis_experiment_table_destroy(table);
    dis_experiment_destroy(e);
}

/* Intervals end where their metric does, and are Student's everywhere else. */
static void intervals_stay_in_range(void **state)
{
    (void)state;
    enum { SEEDS = 3, MEASURES = 4 };
    const dis_experiment_cell cell = {.name = "c", .data = "d", .baseline = SIZE_MAX};
    const dis_experiment_measure measure[MEASURES] = {{"test", DIS_EVALUATION_ACCURACY},
                                                      {"test", DIS_EVALUATION_LOG_LOSS},
                                                      {"test", DIS_EVALUATION_ENTROPY_CORRELATION},
                                                      {"test", DIS_EVALUATION_ACCURACY}};
    double value[SEEDS * MEASURES] = {.97, .1, -.99, .5, 1, 3, -1, .51, .99, .2, -.9, .52};
    dis__run run[SEEDS] = {{.seed = 0}, {.seed = 1}, {.seed = 2}};
    bool selected[SEEDS] = {true, true, true};
    dis_run_state states[SEEDS] = {DIS_RUN_DONE, DIS_RUN_DONE, DIS_RUN_DONE};
    dis__plan plan = {
        .n_cells = 1, .n_measures = MEASURES, .n_runs = SEEDS, .cell = &cell, .measure = measure, .run = run};
    const dis_experiment e = {.plan = &plan, .selected = selected, .n_selected = SEEDS};
    const dis__known known = {.state = states, .value = value};
    static const double low[] = {0, 0, -1, 0}, high[] = {1, (double)INFINITY, 1, 1};
    dis_experiment_table *table;
    assert_int_equal(dis__table_make(NULL, &e, NULL, &known, &table), DIS_OK);
    size_t cut = 0;
    for (size_t m = 0; m < MEASURES; m++) {
        const dis_experiment_value *f = &dis_experiment_table_get_view(table).row[0].values[m];
        const double reach = dis__student_quantile(.95, SEEDS - 1) * f->sd / sqrt(SEEDS);
        assert_true(f->ci_low == fmax(f->mean - reach, low[m]) && f->ci_high == fmin(f->mean + reach, high[m]));
        cut += f->mean + reach > high[m] || f->mean - reach < low[m];
    }
    assert_int_equal(cut, 3);
    dis_experiment_table_destroy(table);
}

static dis_status run_all(void *arg)
{
    (void)arg;
    dis_experiment *e = NULL;
    dis_experiment_counts counts;
    remove_in_folder("store");
    dis_status status = read_experiment(&e);
    if (status == DIS_OK) status = dis_experiment_run(NULL, e, NULL, &counts);
    dis_experiment_destroy(e);
    return status;
}

static dis_status show_all(void *arg)
{
    (void)arg;
    dis_experiment *e = NULL;
    dis_experiment_table *table = NULL;
    dis_run_record *record = NULL;
    dis_run_state states[64];
    dis_status status = read_experiment(&e);
    if (status == DIS_OK) status = dis_experiment_get_states(NULL, e, states, NULL);
    if (status == DIS_OK) status = dis__run_record_read(NULL, e, dis_experiment_get_view(e).run[1].key, &record);
    if (status == DIS_OK) status = dis_experiment_table_create(NULL, e, &table);
    static const char *const formats[] = {"text", "markdown", "latex", "csv"};
    for (size_t i = 0; i < 4 && status == DIS_OK; i++)
        status = dis_experiment_table_write(e, table, in_folder("table"), formats[i]);
    if (status == DIS_OK) status = dis_experiment_write_report(NULL, e, in_folder("report.html"));
    dis__run_record_destroy(record);
    dis_experiment_table_destroy(table);
    dis_experiment_destroy(e);
    return status;
}

static void every_fault_is_reported(void **state)
{
    (void)state;
    walk_faults(run_all, NULL, NULL);
    assert_int_equal(run_all(NULL), DIS_OK);
    walk_faults(show_all, NULL, NULL);
}

static int begin(void **state)
{
    (void)state;
    if (make_folder_in_memory(state) != 0) return -1;
    put_text("v.csv", "task,worker,label\na,w1,x\na,w2,x\na,w3,y\nb,w1,y\nb,w2,y\nb,w3,y\nc,w1,x\nc,w2,y\nc,w3,z\n"
                      "d,w1,z\nd,w2,z\nd,w3,x\ne,w1,z\ne,w2,y\ne,w3,y\nf,w1,x\nf,w2,z\nf,w3,z\n");
    put_text("g.csv", "task,label\na,x\nb,y\nc,y\nd,z\ne,y\nf,x\n");
    put_text("i.csv", "task,text\na,one two\nb,two\nc,three\nd,four one\ne,five\nf,six\n");
    put_text("e.yaml", "name: e\ndata: {d: {votes: v.csv, gold: g.csv}}\nsplit: {by: none}\nhuman: standard\n"
                       "defaults: {baseline: votes}\n"
                       "cells: [{name: votes, labels: standard}, {name: soft, labels: softmax},"
                       " {name: ds, labels: dawid-skene, published: {accuracy: .5}}]\n"
                       "measure: {test: [accuracy, kl]}\n");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_file_to_table),      cmocka_unit_test(filters_choose_runs),
        cmocka_unit_test(seeds_of_all_kinds),      cmocka_unit_test(intervals_stay_in_range),
        cmocka_unit_test(every_fault_is_reported),
    };
    if (!built_in()) {
        puts("skipped: no SQLite or libyaml in this build");
        return 77;
    }
    return cmocka_run_group_tests(tests, begin, remove_folder);
}
