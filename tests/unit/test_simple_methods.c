/* majority, standard, softmax, smoothed, wawa and zero-based-skill: reference values, edge cases, and that neither order nor
 * threads count. */
#include "dissent/dissent.h"
#include "core/random/random.h"
#include "support/golden_csv.h"
#include "support/golden_votes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/fault_walk.h"

static const char *const simple[] = {
    "majority", "majority:ties=random", "majority:ties=split",      "standard", "softmax",
    "wawa",     "zero-based-skill",     "zero-based-skill:rate=.3", "smoothed", "smoothed:strength=2"};
enum { N_SIMPLE = sizeof simple / sizeof *simple };

/* Votes as text "0a1 0b0 1a2": item, worker, class. */
static dis_votes *make(size_t n_items, size_t n_workers, size_t n_classes, const char *text)
{
    uint32_t task[64], worker[64];
    uint16_t label[64];
    size_t n = 0;
    for (const char *c = text; *c; c += c[3] ? 4 : 3, n++) {
        task[n] = (uint32_t)(c[0] - '0');
        worker[n] = (uint32_t)(c[1] - 'a');
        label[n] = (uint16_t)(c[2] - '0');
    }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = n_items,
                                .n_workers = n_workers,
                                .n_classes = n_classes,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_votes *votes = NULL;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    return votes;
}

static dis_fit *fit(const dis_votes *votes, const char *spec, const dis_fit_options *options)
{
    dis_fit *f = NULL;
    if (dis_fit_run(NULL, votes, spec, options, &f) != DIS_OK) fail_msg("%s: %s", spec, dis_last_error());
    return f;
}

static void check_rows(const dis_fit *f, size_t n_items, size_t n_classes)
{
    for (size_t i = 0; i < n_items; i++) {
        double sum = 0;
        for (size_t k = 0; k < n_classes; k++) {
            const double p = dis_fit_p(f)[i * n_classes + k];
            assert_true(p >= 0 && p <= 1 + 1e-12);
            sum += p;
        }
        assert_true(fabs(sum - 1) < 1e-12);
    }
}

static void expect(const dis_votes *votes, const char *spec, const dis_fit_options *options, const double *p, size_t n)
{
    dis_fit *f = fit(votes, spec, options);
    for (size_t i = 0; i < n; i++)
        if (fabs(dis_fit_p(f)[i] - p[i]) > 1e-15) fail_msg("%s: %zu: %.17g, not %.17g", spec, i, dis_fit_p(f)[i], p[i]);
    dis_fit_destroy(f);
}

static void small_example(void **state)
{
    (void)state;
    dis_votes *votes = make(3, 3, 3, "0a1 0b1 0c0 1a2 1b0");
    const double u = 1. / 3, e = exp(1), z0 = e + e * e + 1, z1 = 2 * e + 1;
    expect(votes, "majority", NULL, (double[]){0, 1, 0, 1, 0, 0, u, u, u}, 9);
    expect(votes, "majority:ties=split", NULL, (double[]){0, 1, 0, .5, 0, .5, u, u, u}, 9);
    expect(votes, "standard", NULL, (double[]){1 / 3., 2 / 3., 0, .5, 0, .5, u, u, u}, 9);
    expect(votes, "softmax", NULL, (double[]){e / z0, e * e / z0, 1 / z0, e / z1, 1 / z1, e / z1, u, u, u}, 9);
    /* class rates: mean shares over items, one item of equal shares added */
    expect(votes, "smoothed:strength=2", NULL,
           (double[]){16 / 45., 24 / 45., 5 / 45., 16 / 36., 6 / 36., 14 / 36., 7 / 18., 6 / 18., 5 / 18.}, 9);
    expect(votes, "smoothed:strength=0", NULL, (double[]){1 / 3., 2 / 3., 0, .5, 0, .5, 7 / 18., 6 / 18., 5 / 18.}, 9);
    /* a agrees with the majority on item 0 only, b on both, c on none */
    expect(votes, "wawa", NULL, (double[]){0, 1, 0, 2 / 3., 0, 1 / 3., u, u, u}, 9);
    expect(votes, "zero-based-skill", NULL, (double[]){0, 1, 0, 2 / 3., 0, 1 / 3., u, u, u}, 9);
    dis_fit *f = fit(votes, "wawa", NULL);
    const dis_parameter *skill = dis_fit_find_parameter(f, "skill");
    assert_non_null(skill);
    assert_string_equal(skill->axes, "w");
    assert_true(skill->values[0] == .5 && skill->values[1] == 1 && skill->values[2] == 0);
    dis_fit_destroy(f);
    dis_votes_destroy(votes);
}

static void gold_is_pinned(void **state)
{
    (void)state;
    dis_votes *votes = make(3, 3, 3, "0a1 0b1 0c0 1a2 1b0");
    const int32_t gold[] = {0, -1, 2};
    dis_fit_options o = dis_fit_options_default();
    o.gold = gold;
    for (int m = 0; m < N_SIMPLE; m++) {
        dis_fit *f = fit(votes, simple[m], &o);
        const double *p = dis_fit_p(f);
        assert_true(p[0] == 1 && p[1] == 0 && p[2] == 0 && p[6] == 0 && p[7] == 0 && p[8] == 1);
        dis_fit_destroy(f);
    }
    /* only c is right on item 0; on item 1 the tie goes to class 0, so b gains and a has nothing */
    dis_fit *f = fit(votes, "wawa", &o);
    const double *skill = dis_fit_find_parameter(f, "skill")->values;
    assert_true(skill[0] == 0 && skill[1] == .5 && skill[2] == 1);
    assert_true(dis_fit_p(f)[3] == 1);
    dis_fit_destroy(f);
    dis_votes_destroy(votes);
}

static void edge_cases(void **state)
{
    (void)state;
    static const struct {
        size_t n_items, n_workers, n_classes;
        const char *votes;
    } cases[] = {
        {1, 1, 1, "0a0"},     {1, 1, 4, "0a3"},         {3, 2, 2, ""}, {2, 3, 2, "0a0 0b1 1a1 1b0"} /* all ties */,
        {4, 5, 3, "0a0 1b0"}, {1, 3, 3, "0a0 0b1 0c2"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        dis_votes *votes = make(cases[c].n_items, cases[c].n_workers, cases[c].n_classes, cases[c].votes);
        for (int m = 0; m < N_SIMPLE; m++) {
            dis_fit *f = fit(votes, simple[m], NULL);
            check_rows(f, cases[c].n_items, cases[c].n_classes);
            dis_fit_destroy(f);
        }
        dis_votes_destroy(votes);
    }
}

/* 100,000 votes on one item. */
static void many_votes_on_one_item(void **state)
{
    (void)state;
    enum { N = 100000 };
    uint32_t *task = calloc(N, sizeof *task), *worker = calloc(N, sizeof *worker);
    uint16_t *label = calloc(N, sizeof *label);
    for (uint32_t v = 0; v < N; v++) {
        worker[v] = v;
        label[v] = v % 3 == 0;
    }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = N,
                                .n_items = 1,
                                .n_workers = N,
                                .n_classes = 2,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    for (int m = 0; m < N_SIMPLE; m++) {
        dis_fit *f = fit(votes, simple[m], NULL);
        check_rows(f, 1, 2);
        assert_true(dis_fit_p(f)[0] > .6);
        dis_fit_destroy(f);
    }
    dis_votes_destroy(votes);
    free(task);
    free(worker);
    free(label);
}

static void counts_are_enough_or_refused(void **state)
{
    (void)state;
    const double counts[] = {3, 1, 0, 0, .25, .75, 1e308, 1e308};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, 4, 2, NULL, NULL, &votes), DIS_OK);
    expect(votes, "standard", NULL, (double[]){.75, .25, .5, .5, .25, .75, .5, .5}, 8);
    expect(votes, "majority", NULL, (double[]){1, 0, .5, .5, 0, 1, 1, 0}, 8);
    for (int m = 0; m < N_SIMPLE; m++) {
        dis_fit *f = NULL;
        const bool needs_workers = strncmp(simple[m], "wawa", 4) == 0 || strncmp(simple[m], "zero", 4) == 0;
        const dis_status status = dis_fit_run(NULL, votes, simple[m], NULL, &f);
        assert_int_equal(status, needs_workers ? DIS_EDATA : DIS_OK);
        if (f) check_rows(f, 4, 2);
        dis_fit_destroy(f);
    }
    dis_votes_destroy(votes);
}

static void random_ties_follow_the_seed_and_the_task(void **state)
{
    (void)state;
    enum { N = 400 };
    uint32_t task[2 * N], worker[2 * N];
    uint16_t label[2 * N];
    char text[N][16];
    const char *forward[N], *backward[N];
    for (uint32_t v = 0; v < 2 * N; v++) {
        task[v] = v / 2;
        worker[v] = v % 2;
        label[v] = v % 2;
        if (v < N) {
            snprintf(text[v], sizeof text[v], "task %u", v);
            forward[v] = backward[N - 1 - v] = text[v];
        }
    }
    dis_names *names[2];
    assert_int_equal(dis_names_create(forward, N, &names[0]), DIS_OK);
    assert_int_equal(dis_names_create(backward, N, &names[1]), DIS_OK);
    double *p[3];
    for (int r = 0; r < 3; r++) {
        const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                    .n_votes = 2 * N,
                                    .n_items = N,
                                    .n_workers = 2,
                                    .n_classes = 2,
                                    .task = task,
                                    .worker = worker,
                                    .label = label,
                                    .tasks = names[r % 2]};
        dis_votes *votes;
        assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
        dis_fit *f = fit(votes, r < 2 ? "majority:ties=random" : "majority:ties=random,seed=8", NULL);
        p[r] = dis_fit_move_p(f);
        dis_fit_destroy(f);
        dis_votes_destroy(votes);
    }
    double share = 0;
    int differ = 0;
    for (int i = 0; i < N; i++) {
        share += p[0][2 * i] / N;
        assert_true(p[0][2 * i] == p[1][2 * (N - 1 - i)]);
        differ += p[0][2 * i] != p[2][2 * i];
    }
    assert_true(share > .4 && share < .6);
    assert_true(differ > N / 4);
    for (int r = 0; r < 3; r++) dis_free(p[r]);
    for (int r = 0; r < 2; r++) dis_names_destroy(names[r]);
}

/* Shuffled rows, renumbered workers and items, and threads: bytes for threads, 1e-12 else. */
static void order_and_threads_do_not_matter(void **state)
{
    (void)state;
    enum { N = 60000, ITEMS = 12000, WORKERS = 300, K = 4 };
    uint32_t *task = malloc(N * sizeof *task), *worker = malloc(N * sizeof *worker),
             *other = malloc(2 * N * sizeof *other);
    uint16_t *label = malloc(2 * N * sizeof *label);
    for (uint32_t v = 0; v < N; v++) {
        task[v] = v / 5;
        worker[v] = (v * 7919u + v / 5) % WORKERS;
        label[v] = dis__random_uniform(1, 1000, v) < .55 ? task[v] % K : (uint16_t)dis__random_below(2, 1000, v, K);
    }
    for (uint32_t v = 0; v < N;
         v++) { /* row v of the second table is row (v * 7) % N of the first, items and workers renumbered */
        const uint32_t from = (uint32_t)((uint64_t)v * 7 % N);
        other[v] = ITEMS - 1 - task[from];
        other[N + v] = WORKERS - 1 - worker[from];
        label[N + v] = label[from];
    }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = N,
                                .n_items = ITEMS,
                                .n_workers = WORKERS,
                                .n_classes = K,
                                .task = task,
                                .worker = worker,
                                .label = label,
                                .duplicates = DIS_DUPLICATES_ALL};
    dis_votes_arrays b = a;
    b.task = other;
    b.worker = other + N;
    b.label = label + N;
    dis_votes *first, *second;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &first), DIS_OK);
    assert_int_equal(dis_votes_create_from_arrays(NULL, &b, &second), DIS_OK);
    for (int m = 0; m < N_SIMPLE; m++) {
        dis_fit *f = fit(first, simple[m], NULL);
        check_rows(f, ITEMS, K);
        if (!strstr(simple[m], "random")) {
            dis_fit *g = fit(second, simple[m], NULL);
            for (size_t i = 0; i < ITEMS; i++)
                for (size_t k = 0; k < K; k++)
                    assert_true(fabs(dis_fit_p(f)[i * K + k] - dis_fit_p(g)[(ITEMS - 1 - i) * K + k]) < 1e-12);
            dis_fit_destroy(g);
        }
        for (int threads = 2; threads <= 7; threads += 5) {
            dis_context_options o = dis_context_options_default();
            o.threads = threads;
            dis_context *ctx;
            dis_fit *g;
            assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
            assert_int_equal(dis_fit_run(ctx, first, simple[m], NULL, &g), DIS_OK);
            assert_memory_equal(dis_fit_p(f), dis_fit_p(g), ITEMS * K * sizeof(double));
            dis_fit_destroy(g);
            dis_context_destroy(ctx);
        }
        dis_fit_destroy(f);
    }
    dis_votes_destroy(first);
    dis_votes_destroy(second);
    free(task);
    free(worker);
    free(other);
    free(label);
}

static void golden_files(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *file;
    } cases[] = {{"standard", "golden/rte/crowdkit_majority.csv"},
                 {"standard", "golden/rte/view_standard.csv"},
                 {"softmax", "golden/rte/view_softmax.csv"},
                 {"wawa", "golden/rte/crowdkit_wawa.csv"},
                 {"zero-based-skill", "golden/rte/crowdkit_zero_based_skill.csv"}};
    dis_votes *votes = golden_votes("golden/rte/votes.csv", NULL);
    if (!votes) {
        print_message("skipped: no golden files beside the source tree\n");
        skip();
    }
    const dis_votes_view v = dis_votes_get_view(votes);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        golden_csv expected;
        assert_true(golden_read(cases[c].file, &expected));
        dis_fit *f = fit(votes, cases[c].spec, NULL);
        const double worst = golden_difference(&expected, &v, dis_fit_p(f), NULL);
        print_message("%s: largest difference %.2g, %d iterations\n", cases[c].file, worst,
                      dis_fit_get_view(f).iterations);
        assert_true(worst < 1e-9);
        dis_fit_destroy(f);
        golden_free(&expected);
    }
    dis_votes_destroy(votes);
}

static dis_status run_all(void *votes)
{
    for (int m = 0; m < N_SIMPLE; m++) {
        dis_fit *f;
        const dis_status status = dis_fit_run(NULL, votes, simple[m], NULL, &f);
        if (status != DIS_OK) return status;
        dis_fit_destroy(f);
    }
    return DIS_OK;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    dis_votes *votes = make(3, 3, 3, "0a1 0b1 0c0 1a2 1b0");
    walk_faults(run_all, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_example),
        cmocka_unit_test(gold_is_pinned),
        cmocka_unit_test(edge_cases),
        cmocka_unit_test(many_votes_on_one_item),
        cmocka_unit_test(counts_are_enough_or_refused),
        cmocka_unit_test(random_ties_follow_the_seed_and_the_task),
        cmocka_unit_test(order_and_threads_do_not_matter),
        cmocka_unit_test(golden_files),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
