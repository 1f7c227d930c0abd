/* Comparisons of sides and of views give the same bytes with any number of threads. */
#include "support/em_support.h"
#include "core/random/random.h"

enum { N = 3000, K = 5, SEEDS = 3, VIEWS = 5 };
static int32_t gold[N], label[2 * SEEDS][N];
static double p[VIEWS][N * K];

static void make(void)
{
    for (size_t i = 0; i < N; i++) {
        gold[i] = (int32_t)dis__random_below(1, 1, i, K);
        for (size_t s = 0; s < 2 * SEEDS; s++)
            label[s][i] = dis__random_uniform(1, 2, i * 2 * SEEDS + s) < .6
                              ? gold[i]
                              : (int32_t)dis__random_below(1, 3, i * 2 * SEEDS + s, K);
        for (size_t m = 0; m < VIEWS; m++) {
            double sum = 0;
            for (size_t k = 0; k < K; k++) sum += p[m][i * K + k] = dis__random_uniform(2, m, i * K + k);
            for (size_t k = 0; k < K; k++) p[m][i * K + k] /= sum;
        }
    }
}

static dis_context *context(int threads)
{
    dis_context_options o = dis_context_options_default();
    o.threads = threads;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    return ctx;
}

static dis_comparison *sides(int threads, size_t seeds, bool pool, uint64_t seed)
{
    const int32_t *a[] = {label[0], label[1], label[2]}, *b[] = {label[3], label[4], label[5]};
    const dis_comparison_input in = {.size = sizeof(dis_comparison_input),
                                     .n_items = N,
                                     .n_classes = K,
                                     .gold = gold,
                                     .n_a = seeds,
                                     .n_b = seeds,
                                     .a = a,
                                     .b = b,
                                     .human = p[0]};
    dis_comparison_options o = dis_comparison_options_default();
    o.resamples = 500;
    o.pool_seeds = pool;
    o.seed = seed;
    dis_context *ctx = context(threads);
    dis_comparison *c;
    assert_int_equal(dis_comparison_run(ctx, &in, &o, &c), DIS_OK);
    dis_context_destroy(ctx);
    return c;
}

/* Field by field to the last bit: what lies between fields is no one's. */
#define ASSERT_SAME(x, y, field) assert_memory_equal(&(x)->field, &(y)->field, sizeof(x)->field)

static void assert_same_metric(const dis_metric *x, const dis_metric *y)
{
    ASSERT_SAME(x, y, value);
    ASSERT_SAME(x, y, ci_low);
    ASSERT_SAME(x, y, ci_high);
    ASSERT_SAME(x, y, n);
    ASSERT_SAME(x, y, reason);
    ASSERT_SAME(x, y, has_interval);
    ASSERT_SAME(x, y, degenerate);
}

static void assert_same_significance(const dis_significance *x, const dis_significance *y)
{
    assert_same_metric(&x->a, &y->a);
    assert_same_metric(&x->b, &y->b);
    assert_same_metric(&x->difference, &y->difference);
    ASSERT_SAME(x, y, sd_a);
    ASSERT_SAME(x, y, sd_b);
    ASSERT_SAME(x, y, p);
    ASSERT_SAME(x, y, p_two_sided);
    ASSERT_SAME(x, y, stars);
}

static void assert_same_cells(const dis_cell_statistic *x, const dis_cell_statistic *y)
{
    for (int c = 0; c < DIS_CELLS; c++) assert_same_metric(&x->mean[c], &y->mean[c]);
    ASSERT_SAME(x, y, test.u);
    ASSERT_SAME(x, y, test.p);
    ASSERT_SAME(x, y, test.n_x);
    ASSERT_SAME(x, y, test.n_y);
    ASSERT_SAME(x, y, test.exact);
    ASSERT_SAME(x, y, test.reason);
    ASSERT_SAME(x, y, n_excluded);
}

static void same_sides(void **state)
{
    (void)state;
    make();
    for (size_t seeds = 1; seeds <= SEEDS; seeds += 2)
        for (int pool = 0; pool < 2; pool++) {
            dis_comparison *one = sides(1, seeds, pool, 4);
            for (int threads = 2; threads <= 7; threads += 5) {
                dis_comparison *many = sides(threads, seeds, pool, 4);
                const dis_comparison_view x = dis_comparison_get_view(one), y = dis_comparison_get_view(many);
                for (int i = 0; i < DIS_COMPARE_METRICS; i++) assert_same_significance(&x.metric[i], &y.metric[i]);
                for (int i = 0; i < DIS_CELL_STATISTICS; i++) assert_same_cells(&x.statistic[i], &y.statistic[i]);
                dis_comparison_destroy(many);
            }
            dis_comparison *other = sides(1, seeds, pool, 5); /* the seed does something */
            assert_memory_not_equal(dis_comparison_get_view(one).metric, dis_comparison_get_view(other).metric,
                                    DIS_COMPARE_METRICS * sizeof(dis_significance));
            dis_comparison_destroy(other);
            dis_comparison_destroy(one);
        }
}

static dis_views_distances *distances(int threads)
{
    const double *tables[VIEWS];
    for (size_t m = 0; m < VIEWS; m++) tables[m] = p[m];
    const dis_views in = {.size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = VIEWS, .p = tables};
    dis_views_distances_options o = dis_views_distances_options_default();
    o.resamples = 300;
    dis_context *ctx = context(threads);
    dis_views_distances *d;
    assert_int_equal(dis_views_distances_run(ctx, &in, &o, &d), DIS_OK);
    dis_context_destroy(ctx);
    return d;
}

static void same_views(void **state)
{
    (void)state;
    make();
    dis_views_distances *one = distances(1);
    for (int threads = 2; threads <= 7; threads += 5) {
        dis_views_distances *many = distances(threads);
        const dis_views_distances_view x = dis_views_distances_get_view(one), y = dis_views_distances_get_view(many);
        assert_memory_equal(x.jsd, y.jsd, VIEWS * VIEWS * sizeof *x.jsd);
        assert_memory_equal(x.entropy, y.entropy, VIEWS * sizeof *x.entropy);
        assert_memory_equal(x.to_others, y.to_others, VIEWS * sizeof *x.to_others);
        assert_memory_equal(x.to_centroid, y.to_centroid, VIEWS * sizeof *x.to_centroid);
        assert_memory_equal(&x.hubness_over_items, &y.hubness_over_items, sizeof x.hubness_over_items);
        assert_memory_equal(&x.hubness_over_views, &y.hubness_over_views, sizeof x.hubness_over_views);
        dis_views_distances_destroy(many);
    }
    dis_views_distances_destroy(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_sides), cmocka_unit_test(same_views)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
