/* The EM methods against reference outputs on RTE (shared/golden): posteriors and parameters within 1e-9. */
#include "em_support.h"

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
        const double *confusion = dis_fit_parameter_find(fit, "confusion")->values;
        for (size_t r = 0; r < t.n_rows; r++) {
            const size_t w = em_index_get(&rte.workers, t.cell[4 * r], false),
                         l = em_index_get(&rte.classes, t.cell[4 * r + 1], false);
            for (size_t c = 2; c < 4; c++) {
                const size_t k = em_index_get(&rte.classes, t.header[c], false);
                assert_float_equal(confusion[(w * 2 + l) * 2 + k], strtod(t.cell[4 * r + c], NULL), 1e-9);
            }
        }
        em_table_free(&t);
        snprintf(file, sizeof file, "crowdkit_dawid_skene_%sit.priors.csv", iterations[n]);
        assert_true(em_table_read(golden(file), &t));
        for (size_t r = 0; r < t.n_rows; r++)
            assert_float_equal(
                dis_fit_parameter_find(fit, "prior")->values[em_index_get(&rte.classes, t.cell[2 * r], false)],
                strtod(t.cell[2 * r + 1], NULL), 1e-9);
        em_table_free(&t);
        dis_fit_destroy(fit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dawid_skene),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
