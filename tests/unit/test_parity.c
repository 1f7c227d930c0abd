/* Every method and combination against other programs, on the small crowds of tests/parity/fixtures (made by
 * tests/parity/make_fixtures.py, which says where each number comes from): posteriors and parameters within 1e-9. */
#include "support/em_support.h"

/* cmocka's own comparison is in single precision. */
static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g and %.17g differ by more than %g", a, b, tolerance);
}

enum { N_VIEWS = 4 };

static const char *const crowds[] = {"k2", "k5"};
static em_set crowd[2];

static const char *fixture(size_t c, const char *file)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/tests/parity/fixtures/%s.%s.csv", DIS_SOURCE_DIR, crowds[c], file);
    return path;
}

static int setup(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++)
        if (!em_set_read(fixture(c, "votes"), &crowd[c])) return -1;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) em_set_free(&crowd[c]);
    return 0;
}

/* The value of a key in the crowd's scalars. */
static double scalar(size_t c, const char *key)
{
    em_table t;
    assert_true(em_table_read(fixture(c, "scalars"), &t));
    double x = NAN;
    for (size_t r = 0; r < t.n_rows; r++)
        if (strcmp(t.cell[2 * r], key) == 0) x = strtod(t.cell[2 * r + 1], NULL);
    em_table_free(&t);
    if (isnan(x)) fail_msg("no %s", key);
    return x;
}

/* Largest difference between a parameter of one number per worker and a column of a file. */
static double worker_difference(size_t c, const char *file, const char *column, const double *values, size_t stride)
{
    em_table t;
    assert_true(em_table_read(fixture(c, file), &t));
    size_t k = 0;
    while (k < t.n_columns && strcmp(t.header[k], column) != 0) k++;
    assert_true(k < t.n_columns);
    double worst = 0;
    for (size_t r = 0; r < t.n_rows; r++) {
        const size_t w = em_index_get(&crowd[c].workers, t.cell[r * t.n_columns], false);
        assert_true(w != SIZE_MAX);
        worst = fmax(worst, fabs(values[w * stride] - strtod(t.cell[r * t.n_columns + k], NULL)));
    }
    em_table_free(&t);
    return worst;
}

static const double *parameter(const dis_fit *fit, const char *name)
{
    const dis_parameter *p = dis_fit_find_parameter(fit, name);
    if (!p) fail_msg("no parameter %s", name);
    return p->values;
}

/* Posteriors. `floor`: the reference raises small numbers to this. */
static const struct {
    const char *spec, *file;
    double floor;
} fits[] = {
    {"standard", "view0", 0},
    {"softmax", "view1", 0},
    {"dawid-skene:smoothing=0,floor=1e-10,tolerance=0,iterations=1", "dawid_skene_1", 1e-10},
    {"dawid-skene:smoothing=0,floor=1e-10,tolerance=0,iterations=10", "dawid_skene_10", 1e-10},
    {"dawid-skene:smoothing=0,floor=1e-10,tolerance=0,iterations=50", "dawid_skene_50", 1e-10},
    {"dawid-skene:smoothing=0,tolerance=0,iterations=30", "dawid_skene_30_no_floor", 0},
    {"one-coin:floor=1e-10,smoothing=0,prior=estimate,tolerance=0,iterations=20", "one_coin_20", 1e-10},
    {"wawa", "wawa", 0},
    {"zero-based-skill", "zero_based_skill", 0},
    {"mace:method=vb,start=uniform,restarts=1,tolerance=0,iterations=25", "mace_vb_25", 0},
    {"mace:method=em,start=uniform,restarts=1,tolerance=0,iterations=25", "mace_em_25", 0},
    {"ibcc:tolerance=0,iterations=20", "ibcc_20", 0},
    /* the authors' own programs: tests/parity/make_truth_inference_fixtures.py */
    {"ebcc:groups=1,tolerance=0,iterations=15", "ebcc_1_15", 0},
    {"ebcc:groups=3,restarts=1,tolerance=0,iterations=12", "ebcc_3_12", 0},
    {"ebcc:groups=10,restarts=1,tolerance=0,iterations=20", "ebcc_10_20", 0},
    {"bwa:tolerance=0,iterations=1", "bwa_1", 0},
    {"bwa:tolerance=0,iterations=10", "bwa_10", 0},
};

static void posteriors(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
            dis_fit *fit = em_fit(NULL, crowd[c].votes, fits[i].spec, NULL);
            const double worst =
                em_compare_posteriors(&crowd[c], dis_fit_p(fit), fixture(c, fits[i].file), fits[i].floor);
            if (!(worst < 1e-9)) fail_msg("%s on %s: off by %g", fits[i].spec, crowds[c], worst);
            dis_fit_destroy(fit);
        }
}

/* Known labels are pinned in every iteration, as crowd-kit's true_labels are. */
static void pinned(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        em_set *s = &crowd[c];
        int32_t gold[100];
        for (size_t i = 0; i < 100; i++) gold[i] = -1;
        em_table t;
        assert_true(em_table_read(fixture(c, "gold"), &t));
        for (size_t r = 0; r < t.n_rows; r++)
            gold[em_index_get(&s->tasks, t.cell[2 * r], false)] =
                (int32_t)em_index_get(&s->classes, t.cell[2 * r + 1], false);
        em_table_free(&t);
        dis_fit_options o = dis_fit_options_default();
        o.gold = gold;
        dis_fit *fit = em_fit(NULL, s->votes, "dawid-skene:smoothing=0,floor=1e-10,tolerance=0,iterations=10", &o);
        assert_true(em_compare_posteriors(s, dis_fit_p(fit), fixture(c, "dawid_skene_10_gold"), 1e-10) < 1e-9);
        dis_fit_destroy(fit);
    }
}

static void worker_parameters(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        dis_fit *fit = em_fit(NULL, crowd[c].votes, "wawa", NULL);
        assert_true(worker_difference(c, "workers", "wawa", parameter(fit, "skill"), 1) < 1e-9);
        dis_fit_destroy(fit);
        fit = em_fit(NULL, crowd[c].votes, "zero-based-skill", NULL);
        assert_true(worker_difference(c, "workers", "zero_based_skill", parameter(fit, "skill"), 1) < 1e-9);
        dis_fit_destroy(fit);
        fit = em_fit(NULL, crowd[c].votes, "one-coin:floor=1e-10,smoothing=0,prior=estimate,tolerance=0,iterations=20",
                     NULL);
        assert_true(worker_difference(c, "workers", "one_coin_20", parameter(fit, "skill"), 1) < 1e-9);
        dis_fit_destroy(fit);
        for (int em = 0; em < 2; em++) {
            const char *const file = em ? "mace_em_25.workers" : "mace_vb_25.workers";
            fit = em_fit(NULL, crowd[c].votes,
                         em ? "mace:method=em,start=uniform,restarts=1,tolerance=0,iterations=25"
                            : "mace:method=vb,start=uniform,restarts=1,tolerance=0,iterations=25",
                         NULL);
            assert_true(worker_difference(c, file, "know", parameter(fit, "know"), 1) < 1e-9);
            const size_t n_classes = crowd[c].classes.n;
            for (size_t k = 0; k < n_classes; k++)
                assert_true(worker_difference(c, file, crowd[c].classes.text[k], parameter(fit, "strategy") + k,
                                              n_classes) < 1e-9);
            dis_fit_destroy(fit);
        }
    }
}

/* Objectives are the true ones: the log likelihood of the votes, the class summed out. */
static void objectives(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        dis_fit *fit = em_fit(NULL, crowd[c].votes, "dawid-skene:smoothing=0,tolerance=0,iterations=30", NULL);
        near(dis_fit_get_view(fit).objective, scalar(c, "dawid_skene_30_log_likelihood"), 1e-8);
        dis_fit_destroy(fit);
        fit = em_fit(NULL, crowd[c].votes, "glad", NULL);
        /* at least as high as where crowd-kit stops */
        const double ours = dis_fit_get_view(fit).objective,
                     peer = scalar(c, "glad_marginal") + scalar(c, "glad_log_prior");
        print_message("glad on %s: objective %.6f, crowd-kit's %.6f\n", crowds[c], ours, peer);
        assert_true(ours >= peer - 1e-6);
        dis_fit_destroy(fit);
    }
}

/* The views of a crowd as files say, rows and columns as in the votes. */
static void read_table(size_t c, const char *file, double *p)
{
    em_set *s = &crowd[c];
    em_table t;
    assert_true(em_table_read(fixture(c, file), &t));
    for (size_t r = 0; r < t.n_rows; r++)
        for (size_t k = 1; k < t.n_columns; k++)
            p[em_index_get(&s->tasks, t.cell[r * t.n_columns], false) * s->classes.n +
              em_index_get(&s->classes, t.header[k], false)] = strtod(t.cell[r * t.n_columns + k], NULL);
    em_table_free(&t);
}

static const struct {
    const char *spec, *file;
} combinations[] = {
    {"average", "average"},
    {"average:weights=.1/.2/.3/.4", "average_weighted"},
    {"centroid", "centroid"},
    {"centroid:weights=1/2/3/4", "centroid_weighted"},
    {"temperature:fixed=1.5", "temperature_fixed"},
    {"hybrid:fixed=1.5", "hybrid_fixed"},
};

static void combined(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        static double view[N_VIEWS][64 * 5], out[64 * 5];
        const double *p[N_VIEWS];
        for (size_t m = 0; m < N_VIEWS; m++) {
            char file[16];
            snprintf(file, sizeof file, "view%zu", m);
            read_table(c, file, view[m]);
            p[m] = view[m];
        }
        const dis_views views = {.size = sizeof(dis_views),
                                 .n_items = crowd[c].tasks.n,
                                 .n_classes = crowd[c].classes.n,
                                 .n_views = N_VIEWS,
                                 .p = p};
        for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++) {
            assert_int_equal(dis_views_combine(NULL, &views, combinations[i].spec, out, NULL), DIS_OK);
            const double worst = em_compare_posteriors(&crowd[c], out, fixture(c, combinations[i].file), 0);
            if (!(worst < 1e-9)) fail_msg("%s on %s: off by %g", combinations[i].spec, crowds[c], worst);
        }
        /* the search for temperatures ends no worse than scipy's from the same start, and in the same position */
        for (int from = 0; from < 2; from++) {
            const char *const stem = from ? "temperature_from_3" : "temperature";
            char key[64];
            snprintf(key, sizeof key, "%s_objective", stem);
            dis_combination did = dis_combination_default();
            assert_int_equal(dis_views_combine(NULL, &views, from ? "temperature:start=3" : "temperature", out, &did),
                             DIS_OK);
            assert_true(did.objective <= scalar(c, key) + 1e-9);
            for (size_t m = 0; m < N_VIEWS; m++) {
                snprintf(key, sizeof key, "%s_%zu", stem, m);
                near(did.temperature[m], scalar(c, key), 1e-3);
                assert_true(did.at_bound[m] == (scalar(c, key) == 1));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(posteriors), cmocka_unit_test(pinned),
                                       cmocka_unit_test(worker_parameters), cmocka_unit_test(objectives),
                                       cmocka_unit_test(combined)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
