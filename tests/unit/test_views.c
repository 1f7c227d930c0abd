/* Distances between views: what must hold whatever the views are, the edges, and every fault. Figures against scipy
 * are in test_compare_parity.c. */
#include "support/em_support.h"
#include "support/fault_walk.h"
#include "core/random/random.h"

enum { N = 700, K = 4, VIEWS = 21 };
static double p[VIEWS][N * K];
static const double *tables[VIEWS];

/* Distributions of which some are 0 or one-hot. */
static dis_views make(size_t n, size_t n_views)
{
    for (size_t m = 0; m < n_views; m++) {
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t k = 0; k < K; k++) {
                const double u = dis__random_uniform(6, m, i * K + k);
                sum += p[m][i * K + k] = u < .3 && k ? 0 : u;
            }
            for (size_t k = 0; k < K; k++) p[m][i * K + k] = i % 50 == 0 ? k == m % K : p[m][i * K + k] / sum;
        }
        tables[m] = p[m];
    }
    return (dis_views){.size = sizeof(dis_views), .n_items = n, .n_classes = K, .n_views = n_views, .p = tables};
}

static dis_views_distances_view measure(const dis_views *in, uint64_t resamples, dis_views_distances **d)
{
    dis_views_distances_options o = dis_views_distances_options_default();
    o.resamples = resamples;
    if (dis_views_distances_run(NULL, in, &o, d) != DIS_OK) fail_msg("%s", dis_last_error());
    return dis_views_distances_get_view(*d);
}

static double jsd(const double *a, const double *b)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++) {
        const double m = (a[k] + b[k]) / 2;
        if (a[k] > 0) sum += .5 * a[k] * log(a[k] / m);
        if (b[k] > 0) sum += .5 * b[k] * log(b[k] / m);
    }
    return sum;
}

/* More pairs than are done together; each against the definition. */
static void all_pairs(void **state)
{
    (void)state;
    const dis_views in = make(N, VIEWS);
    dis_views_distances *d;
    const dis_views_distances_view v = measure(&in, 100, &d);
    for (size_t a = 0; a < VIEWS; a++) {
        double others = 0;
        for (size_t b = 0; b < VIEWS; b++) {
            const dis_metric *m = &v.jsd[a * VIEWS + b];
            double sum = 0;
            for (size_t i = 0; i < N; i++) sum += jsd(p[a] + i * K, p[b] + i * K) / N;
            em_assert_close(m->value, sum, 1e-13);
            assert_memory_equal(m, &v.jsd[b * VIEWS + a], sizeof *m);
            assert_int_equal(m->n, N);
            assert_int_equal(m->has_interval, a != b);
            if (a != b) assert_true(m->ci_low < m->value && m->ci_high > m->value);
            others += sum / (VIEWS - 1);
        }
        em_assert_close(v.to_others[a].value, others, 1e-12);
        assert_true(v.to_centroid[a].value > 0 && v.to_centroid[a].value < others);
        assert_true(v.entropy[a].has_interval);
    }
    assert_true(v.hubness_over_items.has_interval && v.hubness_over_views.has_interval);
    assert_int_equal(v.hubness_over_items.n, N * VIEWS);
    assert_int_equal(v.hubness_over_views.n, VIEWS);
    dis_views_distances_destroy(d);
}

static void edges(void **state)
{
    (void)state;
    dis_views in = make(N, 2);
    dis_views_distances *d;
    dis_views_distances_view v = measure(&in, 0, &d);
    assert_false(v.jsd[1].has_interval);
    assert_non_null(v.hubness_over_views.reason); /* two views */
    dis_views_distances_destroy(d);
    tables[1] = p[0]; /* the same twice: exactly 0 apart */
    v = measure(&in, 50, &d);
    assert_true(v.jsd[1].value == 0 && v.jsd[1].ci_high == 0);
    assert_non_null(v.hubness_over_items.reason);
    dis_views_distances_destroy(d);
    in = make(1, 3); /* one item */
    v = measure(&in, 50, &d);
    assert_true(v.jsd[1].value > 0);
    dis_views_distances_destroy(d);
    in = make(N, 3);
    in.n_views = 1;
    d = NULL;
    assert_int_equal(dis_views_distances_run(NULL, &in, NULL, &d), DIS_EUSAGE);
    in.n_views = DIS_MAX_VIEWS + 1;
    assert_int_equal(dis_views_distances_run(NULL, &in, NULL, &d), DIS_EUSAGE);
    in = make(N, 3);
    in.n_items = 0;
    assert_int_equal(dis_views_distances_run(NULL, &in, NULL, &d), DIS_EUSAGE);
    in = make(N, 3);
    dis_views_distances_options o = dis_views_distances_options_default();
    o.fraction = 0;
    assert_int_equal(dis_views_distances_run(NULL, &in, &o, &d), DIS_EUSAGE);
    o = dis_views_distances_options_default();
    o.resamples = (uint64_t)1 << 33;
    assert_int_equal(dis_views_distances_run(NULL, &in, &o, &d), DIS_EUSAGE);
    assert_null(d);
}

static dis_status one_measure(void *arg)
{
    dis_views_distances_options o = dis_views_distances_options_default();
    o.resamples = 10;
    dis_views_distances *d = NULL;
    const dis_status status = dis_views_distances_run(NULL, arg, &o, &d);
    assert_int_equal(d != NULL, status == DIS_OK);
    dis_views_distances_destroy(d);
    return status;
}

static void faults(void **state)
{
    (void)state;
    dis_views in = make(40, 3);
    walk_faults(one_measure, NULL, &in);
}

static int stop_now(void *user)
{
    return ++*(int *)user > 3;
}

static void stopped(void **state)
{
    (void)state;
    const dis_views in = make(N, VIEWS);
    int polls = 0;
    dis_context_options o = dis_context_options_default();
    o.threads = 1;
    o.stop = stop_now;
    o.user = &polls;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    dis_views_distances *d = NULL;
    assert_int_equal(dis_views_distances_run(ctx, &in, NULL, &d), DIS_ECANCELLED);
    assert_null(d);
    dis_context_destroy(ctx);
    o.memory = 1000;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    assert_int_equal(dis_views_distances_run(ctx, &in, NULL, &d), DIS_ELIMIT);
    dis_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_pairs), cmocka_unit_test(edges), cmocka_unit_test(faults),
                                       cmocka_unit_test(stopped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
