/* The EM methods against reference outputs on RTE (shared/golden): posteriors and parameters within 1e-9. */
#include "support/em_support.h"

static em_set rte;
static bool have;

static const char *golden(const char *file)
{
    static char path[4096], name[256];
    snprintf(name, sizeof name, "rte/%s", file);
    return em_shared("golden", path, sizeof path, name);
}

static int setup(void **state)
{
    (void)state;
    have = em_set_read(golden("votes.csv"), &rte);
    if (!have) printf("skipped: no shared/golden beside the source\n");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (have) em_set_free(&rte);
    return 0;
}

static void dawid_skene(void **state)
{
    (void)state;
    if (!have) skip();
    const char *iterations[] = {"1", "5", "100"};
    for (int n = 0; n < 3; n++) {
        char spec[128], file[128];
        snprintf(spec, sizeof spec, "dawid-skene:smoothing=0,floor=1e-10,tolerance=0,iterations=%s", iterations[n]);
        dis_fit *fit = em_fit(NULL, rte.votes, spec, NULL);
        snprintf(file, sizeof file, "crowdkit_dawid_skene_%sit.csv", iterations[n]);
        const double worst = em_compare_posteriors(&rte, dis_fit_p(fit), golden(file), 1e-10);
        printf("dawid-skene %s iterations: posteriors within %.2g\n", iterations[n], worst);
        assert_true(worst < 1e-9);

        em_table t;
        snprintf(file, sizeof file, "crowdkit_dawid_skene_%sit.errors.csv", iterations[n]);
        assert_true(em_table_read(golden(file), &t));
        const double *confusion = dis_fit_find_parameter(fit, "confusion")->values;
        for (size_t r = 0; r < t.n_rows; r++) {
            const size_t w = em_index_get(&rte.workers, t.cell[4 * r], false),
                         l = em_index_get(&rte.classes, t.cell[4 * r + 1], false);
            for (size_t c = 2; c < 4; c++) {
                const size_t k = em_index_get(&rte.classes, t.header[c], false);
                em_assert_close(confusion[(w * 2 + l) * 2 + k], strtod(t.cell[4 * r + c], NULL), 1e-9);
            }
        }
        em_table_free(&t);
        snprintf(file, sizeof file, "crowdkit_dawid_skene_%sit.priors.csv", iterations[n]);
        assert_true(em_table_read(golden(file), &t));
        for (size_t r = 0; r < t.n_rows; r++)
            em_assert_close(
                dis_fit_find_parameter(fit, "prior")->values[em_index_get(&rte.classes, t.cell[2 * r], false)],
                strtod(t.cell[2 * r + 1], NULL), 1e-9);
        em_table_free(&t);
        dis_fit_destroy(fit);
    }
}

static void one_coin(void **state)
{
    (void)state;
    if (!have) skip();
    dis_fit *fit = em_fit(NULL, rte.votes, "one-coin:smoothing=0,prior=estimate,iterations=50,tolerance=0", NULL);
    const double worst = em_compare_posteriors(&rte, dis_fit_p(fit), golden("crowdkit_one_coin_50it.csv"), 1e-10);
    printf("one-coin: posteriors within %.2g\n", worst);
    assert_true(worst < 1e-9);
    em_table t;
    assert_true(em_table_read(golden("crowdkit_one_coin_50it.skills.csv"), &t));
    const double *skill = dis_fit_find_parameter(fit, "skill")->values;
    for (size_t r = 0; r < t.n_rows; r++)
        em_assert_close(skill[em_index_get(&rte.workers, t.cell[2 * r], false)], strtod(t.cell[2 * r + 1], NULL), 1e-9);
    em_table_free(&t);
    dis_fit_destroy(fit);
}

static void ibcc(void **state)
{
    (void)state;
    if (!have) skip();
    dis_fit *fit = em_fit(NULL, rte.votes, "ibcc:iterations=20,tolerance=0", NULL);
    const double worst = em_compare_posteriors(&rte, dis_fit_p(fit), golden("ibcc_20it.csv"), 0);
    printf("ibcc: posteriors within %.2g\n", worst);
    assert_true(worst < 1e-9);
    dis_fit_destroy(fit);
}

/* What MACE calls log marginal likelihood, from the parameters: sum over items of log (1/K) sum_t prod (...). */
static double log_marginal(const dis_fit *fit)
{
    const dis_votes_view v = dis_votes_get_view(rte.votes);
    const double *know = dis_fit_find_parameter(fit, "know")->values,
                 *guess = dis_fit_find_parameter(fit, "guess")->values;
    const double *strategy = dis_fit_find_parameter(fit, "strategy")->values;
    const size_t K = v.n_classes;
    double sum = 0;
    for (size_t i = 0; i < v.n_items; i++) {
        double z = 0;
        for (size_t t = 0; t < K; t++) {
            double product = 1 / (double)K;
            for (uint64_t n = v.start[i]; n < v.start[i + 1]; n++) {
                const size_t w = v.worker[n], l = v.label8[n];
                product *= guess[w] * strategy[w * K + l] + know[w] * (l == t);
            }
            z += product;
        }
        sum += log(z);
    }
    return sum;
}

static void mace(void **state)
{
    (void)state;
    if (!have) skip();
    const char *methods[] = {"vb", "em"};
    for (int n = 0; n < 2; n++) {
        char spec[128], file[128];
        snprintf(spec, sizeof spec, "mace:method=%s,start=uniform,iterations=50,tolerance=0", methods[n]);
        dis_fit *fit = em_fit(NULL, rte.votes, spec, NULL);
        snprintf(file, sizeof file, "mace_%s_uniform_50it.csv", methods[n]);
        const double worst = em_compare_posteriors(&rte, dis_fit_p(fit), golden(file), 0);
        printf("mace %s: posteriors within %.2g\n", methods[n], worst);
        assert_true(worst < 1e-9);

        em_table t;
        snprintf(file, sizeof file, "mace_%s_uniform_50it.workers.csv", methods[n]);
        assert_true(em_table_read(golden(file), &t));
        for (size_t r = 0; r < t.n_rows; r++) {
            const size_t w = em_index_get(&rte.workers, t.cell[r * t.n_columns], false);
            em_assert_close(dis_fit_find_parameter(fit, "guess")->values[w], strtod(t.cell[r * t.n_columns + 1], NULL),
                            1e-9);
            em_assert_close(dis_fit_find_parameter(fit, "know")->values[w], strtod(t.cell[r * t.n_columns + 2], NULL),
                            1e-9);
            for (size_t c = 3; c < t.n_columns; c++) {
                const size_t k = em_index_get(&rte.classes, t.header[c] + strlen("strategy_"), false);
                em_assert_close(dis_fit_find_parameter(fit, "strategy")->values[w * 2 + k],
                                strtod(t.cell[r * t.n_columns + c], NULL), 1e-9);
            }
        }
        em_table_free(&t);
        dis_fit_destroy(fit);

        snprintf(file, sizeof file, "mace_%s_uniform_50it.loglik.csv", methods[n]);
        assert_true(em_table_read(golden(file), &t));
        assert_int_equal(t.n_rows, 51);
        for (size_t r = 0; r < t.n_rows; r++) {
            snprintf(spec, sizeof spec, "mace:method=%s,start=uniform,iterations=%zu,tolerance=0", methods[n], r);
            fit = em_fit(NULL, rte.votes, spec, NULL);
            const double want = strtod(t.cell[2 * r + 1], NULL);
            em_assert_close(log_marginal(fit), want, 1e-9 * fabs(want));
            dis_fit_destroy(fit);
        }
        em_table_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dawid_skene),
        cmocka_unit_test(one_coin),
        cmocka_unit_test(ibcc),
        cmocka_unit_test(mace),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
