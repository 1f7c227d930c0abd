/* Defects of other programs that dissent must not have, each with who has it. Through the public calls alone.
 * Elsewhere: shuffled and renamed real files (tests/cli/reliability_order.sh), 100,000 votes on one item
 * (test_em_edges.c), duplicates in real files (test_real_data.c). */
#include "support/em_support.h"

/* Every method that knows workers, with few iterations. */
static const char *const specs[] = {
    "majority",
    "standard",
    "softmax",
    "dawid-skene:smoothing=0,iterations=20,tolerance=0",
    "wawa",
    "dawid-skene:smoothing=0,iterations=20,tolerance=0,floor=1e-10",
    "glad",
    "one-coin:smoothing=0,prior=estimate,iterations=20,tolerance=0",
    "fast-dawid-skene",
    "ibcc:iterations=20,tolerance=0",
    "zero-based-skill",
    "mace:iterations=20,tolerance=0",
    "mace:method=em,iterations=20,tolerance=0",
};
enum { N_SPECS = sizeof specs / sizeof *specs };

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
    return (x ^ x >> 27) * 0x81dadef4bc2dd44du >> 33;
}

/* crowd-kit's MACE indexes worker parameters by first appearance in one position and sorted in another: renaming
 * workers moves its posteriors by up to 0.69 (vb) and 1.00 (em). Ours must not notice other numbers for the same
 * workers, nor another order of rows. */
static void renamed_workers(void **state)
{
    (void)state;
    enum { ITEMS = 80, WORKERS = 15, EACH = 6, VOTES = ITEMS * EACH, CLASSES = 3 };
    uint32_t task[VOTES], worker[VOTES], other_task[VOTES], other_worker[VOTES];
    uint16_t label[VOTES], other_label[VOTES];
    for (size_t v = 0; v < VOTES; v++) {
        const size_t i = v / EACH;
        task[v] = (uint32_t)i;
        worker[v] = (uint32_t)((mix(i) + 4 * (v % EACH)) % WORKERS); /* 4 is prime to 15: all different */
        const bool right = mix(1000 + v) % 100 < (worker[v] % 3 ? 80 : 35);
        label[v] = (uint16_t)(right ? i % CLASSES : mix(9000 + v) % CLASSES);
    }
    for (size_t v = 0; v < VOTES; v++) { /* rows backwards, workers and items under other numbers */
        const size_t from = VOTES - 1 - v;
        other_task[v] = (uint32_t)((task[from] * 7 + 3) % ITEMS);
        other_worker[v] = (uint32_t)((worker[from] * 4 + 11) % WORKERS);
        other_label[v] = label[from];
    }
    dis_votes *a = em_make_votes(VOTES, task, worker, label, ITEMS, WORKERS, CLASSES);
    dis_votes *b = em_make_votes(VOTES, other_task, other_worker, other_label, ITEMS, WORKERS, CLASSES);
    for (size_t s = 0; s < N_SPECS; s++) {
        dis_fit *one = em_fit(NULL, a, specs[s], NULL), *two = em_fit(NULL, b, specs[s], NULL);
        assert_int_equal(dis_fit_get_view(one).iterations, dis_fit_get_view(two).iterations);
        double worst = 0;
        for (size_t i = 0; i < ITEMS; i++)
            for (size_t k = 0; k < CLASSES; k++)
                worst = fmax(worst,
                             fabs(dis_fit_p(one)[i * CLASSES + k] - dis_fit_p(two)[(i * 7 + 3) % ITEMS * CLASSES + k]));
        if (!(worst <= 1e-12)) fail_msg("%s: renaming moves posteriors by %g", specs[s], worst);
        dis_fit_destroy(one);
        dis_fit_destroy(two);
    }
    dis_votes_destroy(a);
    dis_votes_destroy(b);
}

/* MACE (Java, Python and crowd-kit) and spark-crowd multiply raw probabilities: not a number at 3,000 votes on one
 * item. */
static void three_thousand_votes(void **state)
{
    (void)state;
    enum { WORKERS = 3000, ITEMS = 4, VOTES = WORKERS * ITEMS };
    static uint32_t task[VOTES], worker[VOTES];
    static uint16_t label[VOTES];
    for (size_t v = 0; v < VOTES; v++) {
        task[v] = (uint32_t)(v / WORKERS);
        worker[v] = (uint32_t)(v % WORKERS);
        label[v] = (uint16_t)(mix(v) % 10 < 6 ? task[v] % 2 : mix(v + VOTES) % 2);
    }
    dis_votes *votes = em_make_votes(VOTES, task, worker, label, ITEMS, WORKERS, 2);
    for (size_t s = 0; s < N_SPECS; s++) {
        dis_fit *fit = em_fit(NULL, votes, specs[s], NULL);
        for (size_t i = 0; i < ITEMS; i++) {
            const double *p = dis_fit_p(fit) + 2 * i;
            if (!(p[0] >= 0 && p[1] >= 0 && fabs(p[0] + p[1] - 1) <= 1e-12 && p[i % 2] > .5))
                fail_msg("%s: item %zu has %g and %g", specs[s], i, p[0], p[1]);
        }
        const double objective = dis_fit_get_view(fit).objective;
        assert_true(isnan(objective) || isfinite(objective)); /* NaN: the method has none */
        dis_fit_destroy(fit);
    }
    dis_votes_destroy(votes);
}

/* All restarts of crowd-kit's MACE share one seed: ten restarts are one. Ours differ, and more of them are never worse.
 */
static void restarts_differ(void **state)
{
    (void)state;
    enum { ITEMS = 60, WORKERS = 12, EACH = 4, VOTES = ITEMS * EACH };
    uint32_t task[VOTES], worker[VOTES];
    uint16_t label[VOTES];
    for (size_t v = 0; v < VOTES; v++) {
        task[v] = (uint32_t)(v / EACH);
        worker[v] = (uint32_t)((mix(task[v]) + 5 * (v % EACH)) % WORKERS);
        label[v] = (uint16_t)(mix(v) % 3);
    }
    dis_votes *votes = em_make_votes(VOTES, task, worker, label, ITEMS, WORKERS, 3);
    double first = 0;
    bool differ = false;
    for (int seed = 0; seed < 8; seed++) {
        char spec[96];
        snprintf(spec, sizeof spec, "mace:restarts=1,iterations=1,tolerance=0,seed=%d", seed);
        dis_fit *fit = em_fit(NULL, votes, spec, NULL);
        const double objective = dis_fit_get_view(fit).objective;
        if (seed) differ |= objective != first;
        first = objective;
        dis_fit_destroy(fit);
    }
    assert_true(differ);
    dis_fit *one = em_fit(NULL, votes, "mace:restarts=1", NULL), *many = em_fit(NULL, votes, "mace:restarts=20", NULL);
    assert_true(dis_fit_get_view(many).objective >= dis_fit_get_view(one).objective - 1e-9);
    dis_fit_destroy(one);
    dis_fit_destroy(many);
    dis_votes_destroy(votes);
}

/* Most programs count a worker's second vote on an item without a word. */
static void duplicates_are_refused(void **state)
{
    (void)state;
    const uint32_t task[] = {0, 0, 0}, worker[] = {0, 1, 0};
    const uint16_t label[] = {0, 1, 1};
    dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                          .n_votes = 3,
                          .n_items = 1,
                          .n_workers = 2,
                          .n_classes = 2,
                          .task = task,
                          .worker = worker,
                          .label = label};
    dis_votes *votes = NULL;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_EDATA);
    assert_null(votes);
    static const double share[] = {
        [DIS_DUPLICATES_FIRST] = .5, [DIS_DUPLICATES_LAST] = 0, [DIS_DUPLICATES_ALL] = 1. / 3};
    for (int d = DIS_DUPLICATES_FIRST; d <= DIS_DUPLICATES_ALL; d++) {
        a.duplicates = (dis_duplicates)d;
        assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
        assert_int_equal(dis_votes_get_notes(votes).duplicates, 1);
        dis_fit *fit = em_fit(NULL, votes, "standard", NULL);
        assert_true(fabs(dis_fit_p(fit)[0] - share[d]) < 1e-15);
        dis_fit_destroy(fit);
        dis_votes_destroy(votes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(renamed_workers), cmocka_unit_test(three_thousand_votes),
                                       cmocka_unit_test(restarts_differ), cmocka_unit_test(duplicates_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
