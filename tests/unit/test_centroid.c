/* What the centroid and the average promise: the minimum itself, whatever the views look like. */
#include "dissent/combine.h"
#include "tool/method_checks.h"
#include "labels/combine/centroid.h"
#include "core/random/random.h"
#include "support/golden_csv.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/fault_walk.h"
#include "support/sanitized.h"

enum { N_RANDOM = SANITIZED ? 100 : 3000 };
enum { MAX_CLASSES = 9, MAX_VIEWS = 9 };

static double js(const double *p, const double *q, size_t n)
{
    double d = 0;
    for (size_t k = 0; k < n; k++) {
        const double m = p[k] / 2 + q[k] / 2;
        if (p[k] > 0) d += p[k] * log(p[k] / m) / 2;
        if (q[k] > 0) d += q[k] * log(q[k] / m) / 2;
    }
    return d;
}

static double objective(const double *const *p, const double *w, size_t n_views, size_t n_classes, const double *q)
{
    double d = 0;
    for (size_t m = 0; m < n_views; m++) d += w[m] * js(p[m], q, n_classes);
    return d;
}

/* The reference: CCCP in long double until nothing moves. */
static void cccp(const double *const *p, const double *w, size_t n_views, size_t n_classes, double *out)
{
    long double q[64], next[64];
    for (size_t k = 0; k < n_classes; k++) {
        q[k] = 0;
        for (size_t m = 0; m < n_views; m++) q[k] += (long double)w[m] * p[m][k];
    }
    for (int step = 0; step < 20000; step++) {
        long double sum = 0, change = 0;
        for (size_t k = 0; k < n_classes; k++) {
            long double mean = 0;
            for (size_t m = 0; m < n_views && q[k] > 0; m++) mean += w[m] * logl((p[m][k] + q[k]) / 2);
            sum += next[k] = q[k] > 0 ? expl(mean) : 0;
        }
        for (size_t k = 0; k < n_classes; k++) {
            next[k] /= sum;
            change += fabsl(next[k] - q[k]);
            q[k] = next[k];
        }
        if (change < 1e-18L) break;
    }
    for (size_t k = 0; k < n_classes; k++) out[k] = (double)q[k];
}

static uint64_t counter;
static double uniform(void)
{
    return dis__random_uniform(99, 1000, counter++);
}

/* A random distribution of one of several tempers: flat, peaked, with exact zeros, one-hot, with minute entries. */
static void random_row(double *p, size_t n, int temper)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        const double u = uniform();
        switch (temper) {
        case 0: p[k] = u + 1e-3; break;
        case 1: p[k] = pow(u, 20); break;
        case 2: p[k] = u < .5 ? 0 : u; break;
        case 3: p[k] = 0; break;
        default: p[k] = pow(10, -300 * u); break;
        }
        sum += p[k];
    }
    if (sum == 0) {
        p[(size_t)(uniform() * (double)n)] = 1;
        return;
    }
    for (size_t k = 0; k < n; k++) p[k] /= sum;
}

static void random_problems_reach_the_minimum(void **state)
{
    (void)state;
    double worst = 0;
    int slowest = 0;
    for (int t = 0; t < N_RANDOM; t++) {
        const size_t n_classes = 1 + (size_t)(uniform() * MAX_CLASSES), n_views = 1 + (size_t)(uniform() * MAX_VIEWS);
        double p[MAX_VIEWS][MAX_CLASSES], w[MAX_VIEWS], q[MAX_CLASSES], best[MAX_CLASSES], sum = 0;
        const double *views[MAX_VIEWS];
        const int temper = (int)(uniform() * 6);
        for (size_t m = 0; m < n_views; m++) {
            random_row(p[m], n_classes, temper < 5 ? temper : (int)(uniform() * 5));
            views[m] = p[m];
            sum += w[m] = t % 2 ? 1 : .1 + uniform();
        }
        for (size_t m = 0; m < n_views; m++) w[m] /= sum;
        const dis_views v = {.size = sizeof(dis_views),
                             .n_items = 1,
                             .n_classes = n_classes,
                             .n_views = n_views,
                             .p = views,
                             .weight = w};
        dis_combination did = dis_combination_default();
        assert_int_equal(dis_views_combine(NULL, &v, "centroid", q, &did), DIS_OK);
        slowest = did.max_steps > slowest ? did.max_steps : slowest;
        cccp(views, w, n_views, n_classes, best);
        double total = 0;
        for (size_t k = 0; k < n_classes; k++) {
            double support = 0;
            for (size_t m = 0; m < n_views; m++) support += p[m][k];
            assert_true(q[k] >= 0 && q[k] <= 1 + 1e-12);
            if (support == 0)
                assert_true(q[k] == 0);
            else
                assert_true(q[k] > 0);
            total += q[k];
            const double error = fabs(q[k] - best[k]);
            worst = error > worst ? error : worst;
            assert_true(error < 1e-12);
        }
        assert_true(fabs(total - 1) < 1e-12);
        /* the way that is taken when Newton's steps do not settle arrives at the same position */
        const dis__centroid_problem problem = dis__centroid_problem_init(views, w, n_views, n_classes, 1e-12, 100);
        double certain[MAX_CLASSES], scratch[MAX_CLASSES * MAX_VIEWS];
        dis__centroid_compute_robust(&problem, 0, scratch, certain);
        for (size_t k = 0; k < n_classes; k++) assert_true(fabs(certain[k] - best[k]) < 1e-12);
        const double here = objective(views, w, n_views, n_classes, q);
        assert_true(here <= objective(views, w, n_views, n_classes, best) + 1e-14);
        for (size_t a = 0; a < n_classes; a++)
            for (size_t b = 0; b < n_classes; b++) { /* no neighbour is better */
                double near[MAX_CLASSES];
                memcpy(near, q, sizeof near);
                const double e = .01 * q[a];
                near[a] -= e;
                near[b] += q[b] > 0 ? e : 0;
                if (q[b] > 0) assert_true(here <= objective(views, w, n_views, n_classes, near) + 1e-14);
            }
    }
    print_message("largest distance from the minimiser %.2g, slowest item %d steps\n", worst, slowest);
}

static void hard_cases(void **state)
{
    (void)state;
    const double sharp[] = {1, 0, 0}, flat[] = {1. / 3, 1. / 3, 1. / 3}, other[] = {0, 1, 0}, tiny[] = {1, 1e-300, 0},
                 nearly[] = {1, 5e-324, 0};
    const double *const pairs[][3] = {{sharp, flat, flat},    {sharp, other, other},  {sharp, tiny, tiny},
                                      {nearly, nearly, tiny}, {sharp, nearly, sharp}, {sharp, other, tiny}};
    const double weights[][3] = {{1. / 3, 1. / 3, 1. / 3}, {.999998, 1e-6, 1e-6}, {1e-12, 1, 1}, {1e-100, 1, 1}};
    for (size_t c = 0; c < sizeof pairs / sizeof *pairs; c++)
        for (size_t s = 0; s < sizeof weights / sizeof *weights; s++) {
            double q[3], best[3], w[3], sum = weights[s][0] + weights[s][1] + weights[s][2];
            for (int m = 0; m < 3; m++) w[m] = weights[s][m] / sum;
            const dis_views v = {.size = sizeof(dis_views),
                                 .n_items = 1,
                                 .n_classes = 3,
                                 .n_views = 3,
                                 .p = pairs[c],
                                 .weight = weights[s]};
            assert_int_equal(dis_views_combine(NULL, &v, "centroid", q, NULL), DIS_OK);
            cccp(pairs[c], w, 3, 3, best);
            for (int k = 0; k < 3; k++) assert_true(isfinite(q[k]) && fabs(q[k] - best[k]) < 1e-12);
            assert_true(fabs(q[0] + q[1] + q[2] - 1) < 1e-12);
        }
}

static void equal_views_come_back_as_they_are(void **state)
{
    (void)state;
    const double p[] = {.1, .2, .7, 0, 1e-310, 1};
    const double *const views[] = {p, p, p, p, p};
    const dis_views v = {.size = sizeof(dis_views), .n_items = 2, .n_classes = 3, .n_views = 5, .p = views};
    double q[6];
    assert_int_equal(dis_views_combine(NULL, &v, "centroid", q, NULL), DIS_OK);
    assert_memory_equal(q, p, sizeof q);
}

static void one_view_or_one_weight(void **state)
{
    (void)state;
    const double a[] = {.25, .75}, b[] = {.5, .5};
    const double *const views[] = {a, b};
    const dis_views v = {.size = sizeof(dis_views), .n_items = 1, .n_classes = 2, .n_views = 2, .p = views};
    double q[2];
    dis_combination did = dis_combination_default();
    for (int c = 0; dis_combiner_get((size_t)c) && c < 2; c++) {
        char spec[64];
        snprintf(spec, sizeof spec, "%s:weights=1/0", dis_combiner_get((size_t)c)->name);
        assert_int_equal(dis_views_combine(NULL, &v, spec, q, &did), DIS_OK);
        assert_true(q[0] == .25 && q[1] == .75);
        assert_true(did.weight[0] == 1 && did.weight[1] == 0);
    }
}

static void many_classes(void **state)
{
    (void)state;
    enum { K = 5000 };
    double *p = calloc(3 * K, sizeof *p), *q = malloc(K * sizeof *q);
    const double *const views[] = {p, p + K, p + 2 * K};
    for (int m = 0; m < 3; m++) random_row(p + m * K, K, m % 3);
    const dis_views v = {.size = sizeof(dis_views), .n_items = 1, .n_classes = K, .n_views = 3, .p = views};
    assert_int_equal(dis_views_combine(NULL, &v, "centroid", q, NULL), DIS_OK);
    double sum = 0, mu = 0; /* the condition for the minimum */
    for (int k = 0; k < K; k++) {
        sum += q[k];
        const double phi = (log1p(p[k] / q[k]) + log1p(p[K + k] / q[k]) + log1p(p[2 * K + k] / q[k])) / 3;
        if (k == 0) mu = phi;
        assert_true(fabs(phi - mu) < 1e-12);
    }
    assert_true(fabs(sum - 1) < 1e-12);
    free(p);
    free(q);
}

/* The same bytes for any number of threads, and in place. */
static void threads_and_place_do_not_matter(void **state)
{
    (void)state;
    enum { N = 30011, K = 3, M = 4 };
    double *p = malloc(sizeof(double) * N * K * (M + 1)), *out = malloc(sizeof(double) * N * K);
    const double *views[M];
    for (int m = 0; m < M; m++) {
        views[m] = p + m * N * K;
        for (int i = 0; i < N; i++) random_row(p + (m * N + i) * K, K, i % 5);
    }
    double *counts = calloc(N * K, sizeof *counts);
    for (int i = 0; i < N; i++) counts[i * K] = 1 + i % 20;
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, N, K, NULL, NULL, &votes), DIS_OK);
    const dis_views v = {
        .size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = M, .p = views, .votes = votes};
    for (int c = 0; dis_combiner_get((size_t)c); c++) {
        const char *spec = dis_combiner_get((size_t)c)->name;
        assert_int_equal(dis_views_combine(NULL, &v, spec, out, NULL), DIS_OK);
        double *again = p + M * N * K;
        for (int threads = 2; threads < 8; threads += 5) {
            dis_context_options o = dis_context_options_default();
            o.threads = threads;
            dis_context *ctx;
            assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
            assert_int_equal(dis_views_combine(ctx, &v, spec, again, NULL), DIS_OK);
            assert_memory_equal(out, again, sizeof(double) * N * K);
            dis_context_destroy(ctx);
        }
        memcpy(again, p, sizeof(double) * N * K); /* view 0 as the output */
        const double *in_place[M] = {again, views[1], views[2], views[3]};
        const dis_views w = {
            .size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = M, .p = in_place, .votes = votes};
        assert_int_equal(dis_views_combine(NULL, &w, spec, again, NULL), DIS_OK);
        assert_memory_equal(out, again, sizeof(double) * N * K);
    }
    dis_votes_destroy(votes);
    free(counts);
    free(p);
    free(out);
}

static void wrong_use_is_reported(void **state)
{
    (void)state;
    const double a[] = {.25, .75};
    const double *const views[] = {a, a};
    dis_views v = {.size = sizeof(dis_views), .n_items = 1, .n_classes = 2, .n_views = 2, .p = views};
    double q[2] = {7, 7};
    const char *const wrong[] = {"no-such",
                                 "average:weights=1/2/3",
                                 "centroid:weights=auto",
                                 "centroid:weights=0/0",
                                 "centroid:tolerance=-1",
                                 "average:x=1",
                                 "centroid:weights=-1/2",
                                 "centroid:weights=nan/1",
                                 ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(dis_views_combine(NULL, &v, wrong[i], q, NULL), DIS_EUSAGE);
        assert_true(strlen(dis_last_error()) > 10);
    }
    v.n_views = 0;
    assert_int_equal(dis_views_combine(NULL, &v, "average", q, NULL), DIS_EUSAGE);
    v.n_views = DIS_MAX_VIEWS + 1;
    assert_int_equal(dis_views_combine(NULL, &v, "average", q, NULL), DIS_EUSAGE);
    assert_true(q[0] == 7 && q[1] == 7);

    assert_true(dis__combiner_wants_auto_weights("centroid:weights=auto"));
    assert_false(dis__combiner_wants_auto_weights("centroid"));
    assert_false(dis__combiner_wants_auto_weights("centroid:weights=.5/.5"));
    assert_int_equal(dis_combiner_check("centroid:weights=1/2,tolerance=1e-9"), DIS_OK);
    assert_int_equal(dis_combiner_check("centroid:tolerance=x"), DIS_EUSAGE);
    assert_int_equal(dis_combiner_check("no-such"), DIS_EUSAGE);
}

/* The seven views of the reference, in its order. */
static void golden_files(void **state)
{
    (void)state;
    static const char *const names[] = {"softmax", "standard", "ds", "glad", "mace", "wawa", "zbs"};
    golden_csv view[7], expected;
    if (!golden_read("golden/rte/view_softmax.csv", &view[0])) {
        print_message("skipped: no golden files beside the source tree\n");
        skip();
    }
    const size_t n = view[0].n_rows;
    double *p[7], *q = malloc(2 * n * sizeof *q);
    for (int m = 0; m < 7; m++) {
        char file[128];
        snprintf(file, sizeof file, "golden/rte/view_%s.csv", names[m]);
        if (m) assert_true(golden_read(file, &view[m]));
        p[m] = malloc(2 * n * sizeof *p[m]);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < 2; k++)
                p[m][2 * i + k] =
                    view[m].value[golden_row(&view[m], view[0].name[i]) * 2 + golden_column(&view[m], k ? "1" : "0")];
    }
    const dis_views v = {
        .size = sizeof(dis_views), .n_items = n, .n_classes = 2, .n_views = 7, .p = (const double *const *)p};
    static const struct {
        const char *spec, *file;
        double tolerance;
    } cases[] = {{"average", "golden/rte/views7_average.csv", 1e-9},
                 {"centroid", "golden/rte/views7_centroid.csv", 1e-7}};
    for (int c = 0; c < 2; c++) {
        assert_int_equal(dis_views_combine(NULL, &v, cases[c].spec, q, NULL), DIS_OK);
        assert_true(golden_read(cases[c].file, &expected));
        double worst = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < 2; k++) {
                const double x =
                    expected
                        .value[golden_row(&expected, view[0].name[i]) * 2 + golden_column(&expected, k ? "1" : "0")];
                worst = fmax(worst, fabs(x - q[2 * i + k]));
            }
        print_message("%s of seven views: largest difference %.2g\n", cases[c].spec, worst);
        assert_true(worst < cases[c].tolerance);
        golden_free(&expected);
    }
    for (int m = 0; m < 7; m++) {
        golden_free(&view[m]);
        free(p[m]);
    }
    free(q);
}

static dis_status combine_all(void *arg)
{
    const double a[] = {.25, .75}, b[] = {.5, .5};
    const double *const views[] = {a, b};
    dis_votes *votes;
    DIS_TRY(dis_votes_create_from_counts(NULL, a, 1, 2, NULL, NULL, &votes));
    const dis_views v = {
        .size = sizeof(dis_views), .n_items = 1, .n_classes = 2, .n_views = 2, .p = views, .votes = votes};
    double *q = arg;
    q[0] = q[1] = 7;
    dis_status status = DIS_OK;
    for (size_t c = 0; dis_combiner_get(c) && status == DIS_OK; c++)
        status = dis_views_combine(NULL, &v, dis_combiner_get(c)->name, q, NULL);
    dis_votes_destroy(votes);
    return status;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    double q[2];
    walk_faults(combine_all, NULL, q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems_reach_the_minimum),
        cmocka_unit_test(hard_cases),
        cmocka_unit_test(equal_views_come_back_as_they_are),
        cmocka_unit_test(one_view_or_one_weight),
        cmocka_unit_test(many_classes),
        cmocka_unit_test(threads_and_place_do_not_matter),
        cmocka_unit_test(wrong_use_is_reported),
        cmocka_unit_test(golden_files),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
