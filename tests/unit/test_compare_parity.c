/* Tests and figures of a comparison against scipy and scikit-learn, on the fixtures that
 * tests/parity/make_compare_fixtures.py makes: within 1e-9. */
#include "stats/significance.h"
#include "tool/value_names.h"
#include "support/em_support.h"
#include "stats/ranks.h"

static em_table fixture(const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/parity/fixtures/%s.csv", DIS_SOURCE_DIR, file);
    em_table t;
    if (!em_table_read(path, &t)) fail_msg("no %s", path);
    return t;
}

static const char *cell(const em_table *t, size_t row, const char *column)
{
    for (size_t k = 0; k < t->n_columns; k++)
        if (strcmp(t->header[k], column) == 0) return t->cell[row * t->n_columns + k];
    fail_msg("no column %s", column);
    return NULL;
}

static double number(const em_table *t, size_t row, const char *column)
{
    return strtod(cell(t, row, column), NULL);
}

/* scalar("%s_%d", ...): the value of a key. */
static double scalar(const em_table *t, const char *format, ...)
{
    char key[128];
    va_list args;
    va_start(args, format);
    vsnprintf(key, sizeof key, format, args);
    va_end(args);
    for (size_t r = 0; r < t->n_rows; r++)
        if (strcmp(t->cell[2 * r], key) == 0) return strtod(t->cell[2 * r + 1], NULL);
    fail_msg("no %s", key);
    return NAN;
}

static const char *const alternatives[] = {
    [DIS_TWO_SIDED] = "two-sided", [DIS_LESS] = "less", [DIS_GREATER] = "greater"};

static dis_alternative alternative_of(const char *name)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(alternatives[i], name) == 0) return (dis_alternative)i;
    fail_msg("no alternative %s", name);
    return DIS_TWO_SIDED;
}

static void rank_tests(void **state)
{
    (void)state;
    em_table groups = fixture("compare.groups"), tests = fixture("compare.rank_tests");
    for (size_t r = 0; r < tests.n_rows; r++) {
        double x[512], y[512];
        size_t n_x = 0, n_y = 0;
        for (size_t g = 0; g < groups.n_rows; g++) {
            if (strcmp(cell(&groups, g, "case"), cell(&tests, r, "case")) != 0) continue;
            const bool first = *cell(&groups, g, "group") == 'x';
            if (first)
                x[n_x++] = number(&groups, g, "value");
            else
                y[n_y++] = number(&groups, g, "value");
        }
        dis_rank_test t;
        assert_int_equal(dis__mann_whitney_test(x, n_x, y, n_y, alternative_of(cell(&tests, r, "alternative")), &t),
                         DIS_OK);
        em_assert_close(t.u, number(&tests, r, "u"), 1e-9);
        em_assert_close(t.p, number(&tests, r, "p"), 1e-9);
        assert_int_equal(t.exact, number(&tests, r, "exact") == 1);
        assert_null(t.reason);
    }
    assert_true(tests.n_rows >= 36);
    em_table_free(&groups);
    em_table_free(&tests);
}

static void mcnemar(void **state)
{
    (void)state;
    em_table t = fixture("compare.mcnemar");
    for (size_t r = 0; r < t.n_rows; r++) {
        const dis_mcnemar m = dis__mcnemar_test((uint64_t)number(&t, r, "only_a"), (uint64_t)number(&t, r, "only_b"));
        em_assert_close(m.statistic, number(&t, r, "statistic"), 1e-9);
        em_assert_close(m.p, number(&t, r, "p"), 1e-9);
        assert_int_equal(m.exact, number(&t, r, "exact") == 1);
    }
    em_table_free(&t);
}

static void kurtosis(void **state)
{
    (void)state;
    em_table rows = fixture("compare.rows"), t = fixture("compare.kurtosis");
    for (size_t r = 0; r < rows.n_rows; r++) {
        double x[12];
        for (size_t k = 0; k < 12; k++) x[k] = strtod(rows.cell[r * rows.n_columns + k + 1], NULL);
        em_assert_close(dis__excess_kurtosis(x, 12), number(&t, r, "kurtosis"), 1e-9);
    }
    em_table_free(&rows);
    em_table_free(&t);
}

enum { N = 150, K = 5, SEEDS = 3 };

static void check_metric(const em_table *scalars, const char *before, const dis_comparison_view *v, size_t m)
{
    const dis_significance *s = &v->metric[m];
    const char *name = dis_comparison_metric_get(m)->name;
    const double a = scalar(scalars, "%s%s_a", before, name), b = scalar(scalars, "%s%s_b", before, name);
    em_assert_close(s->a.value, a, 1e-9);
    em_assert_close(s->b.value, b, 1e-9);
    em_assert_close(s->difference.value, a - b, 1e-9);
    em_assert_close(s->sd_a, scalar(scalars, "%s_sd_a", name), 1e-9);
    em_assert_close(s->sd_b, scalar(scalars, "%s_sd_b", name), 1e-9);
}

static void check_cells(const em_table *scalars, const dis_comparison_view *v, dis_alternative alternative)
{
    for (size_t s = 0; s < DIS_CELL_STATISTICS; s++) {
        const char *name = dis__comparison_statistic_name(s);
        for (size_t c = 0; c < DIS_CELLS; c++) {
            em_assert_close(v->statistic[s].mean[c].value, scalar(scalars, "%s_%s", name, dis__comparison_cell_name(c)),
                            1e-9);
            assert_int_equal(v->statistic[s].mean[c].n, (size_t)scalar(scalars, "n_%s", dis__comparison_cell_name(c)));
            assert_int_equal(v->cell[c], v->statistic[s].mean[c].n);
        }
        em_assert_close(v->statistic[s].test.u, scalar(scalars, "%s_u", name), 1e-9);
        em_assert_close(v->statistic[s].test.p, scalar(scalars, "%s_p_%s", name, alternatives[alternative]), 1e-9);
        assert_int_equal(v->statistic[s].n_excluded, 0);
    }
}

static void sides(void **state)
{
    (void)state;
    em_table items = fixture("compare.items"), scalars = fixture("compare.scalars");
    static int32_t gold[N], label[2][SEEDS][N];
    static double p[N * K];
    assert_int_equal(items.n_rows, N);
    for (size_t i = 0; i < N; i++) {
        gold[i] = (int32_t)number(&items, i, "gold");
        for (size_t c = 0; c < (size_t)(2 * SEEDS); c++)
            label[c / SEEDS][c % SEEDS][i] = (int32_t)strtol(items.cell[i * items.n_columns + 2 + c], NULL, 10);
        for (size_t k = 0; k < K; k++) p[i * K + k] = strtod(items.cell[i * items.n_columns + 2 + 2 * SEEDS + k], NULL);
    }
    const int32_t *a[] = {label[0][0], label[0][1], label[0][2]}, *b[] = {label[1][0], label[1][1], label[1][2]};
    const dis_comparison_input in = {.size = sizeof(dis_comparison_input),
                                     .n_items = N,
                                     .n_classes = K,
                                     .gold = gold,
                                     .n_a = SEEDS,
                                     .n_b = SEEDS,
                                     .a = a,
                                     .b = b,
                                     .human = p};
    for (int pool = 0; pool < 2; pool++)
        for (int alternative = 0; alternative < 3; alternative++) {
            dis_comparison_options o = dis_comparison_options_default();
            o.resamples = 0;
            o.pool_seeds = pool;
            o.alternative = (dis_alternative)alternative;
            dis_comparison *c;
            assert_int_equal(dis_comparison_run(NULL, &in, &o, &c), DIS_OK);
            const dis_comparison_view v = dis_comparison_get_view(c);
            for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) check_metric(&scalars, pool ? "pooled_" : "", &v, m);
            check_cells(&scalars, &v, o.alternative);
            dis_comparison_destroy(c);
        }
    em_table_free(&items);
    em_table_free(&scalars);
}

/* ---- views ---- */

static double *read_view(const char *file, size_t *n)
{
    em_table t = fixture(file);
    double *p = calloc(t.n_rows * K, sizeof *p);
    assert_non_null(p);
    for (size_t r = 0; r < t.n_rows; r++)
        for (size_t k = 0; k < K; k++) p[r * K + k] = strtod(t.cell[r * t.n_columns + k + 1], NULL);
    *n = t.n_rows;
    em_table_free(&t);
    return p;
}

static void views(void **state)
{
    (void)state;
    em_table scalars = fixture("views.scalars");
    double *p[4];
    size_t n = 0;
    for (int m = 0; m < 4; m++) {
        char file[16];
        snprintf(file, sizeof file, "k5.view%d", m);
        p[m] = read_view(file, &n);
    }
    const dis_views in = {
        .size = sizeof(dis_views), .n_items = n, .n_classes = K, .n_views = 4, .p = (const double *const *)p};
    dis_views_distances *d;
    assert_int_equal(dis_views_distances_run(NULL, &in, NULL, &d), DIS_OK);
    const dis_views_distances_view v = dis_views_distances_get_view(d);
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 4; b++) em_assert_close(v.jsd[a * 4 + b].value, scalar(&scalars, "jsd_%d_%d", a, b), 1e-9);
        em_assert_close(v.entropy[a].value, scalar(&scalars, "entropy_%d", a), 1e-9);
        em_assert_close(v.to_others[a].value, scalar(&scalars, "to_others_%d", a), 1e-9);
        em_assert_close(v.to_centroid[a].value, scalar(&scalars, "to_centroid_%d", a), 1e-9);
    }
    em_assert_close(v.hubness_over_items.value, scalar(&scalars, "hub_over_items"), 1e-9);
    em_assert_close(v.hubness_over_views.value, scalar(&scalars, "hub_over_views"), 1e-9);
    dis_views_distances_destroy(d);
    for (int m = 0; m < 4; m++) free(p[m]);
    em_table_free(&scalars);
}

/* Many numbers go the radix way: ranks must be those of a sort by comparison. */
static void ranks(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    static double x[MANY], rank[MANY];
    static const double odd[] = {-0.0, 0.0, INFINITY, -INFINITY, 5e-324, -5e-324, 1.7976931348623157e308};
    uint64_t bits = 7;
    for (size_t i = 0; i < MANY; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        x[i] = i < 7 ? odd[i] : i % 3 ? (double)(int64_t)bits * 1e-10 : (double)(int64_t)(bits >> 60) - 8;
    }
    for (size_t n = 1; n <= MANY; n = n * 3 + 5) {
        double ties, expected_ties = 0;
        assert_int_equal(dis__ranks(x, n, rank, &ties), DIS_OK);
        for (size_t i = 0; i < n; i++) {
            size_t below = 0, same = 0;
            for (size_t j = 0; j < n; j++) {
                below += x[j] < x[i];
                same += x[j] == x[i];
            }
            em_assert_close(rank[i], (double)below + ((double)same + 1) / 2, 0);
            expected_ties += (double)(same * same) - 1;
        }
        em_assert_close(ties, expected_ties, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_tests), cmocka_unit_test(mcnemar), cmocka_unit_test(kurtosis),
        cmocka_unit_test(sides),      cmocka_unit_test(views),   cmocka_unit_test(ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
