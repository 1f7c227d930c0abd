/* How often the bootstrap intervals of agreement hold the truth: 2,000 crowds of 500 items. Takes minutes, so it runs
 * only when DISSENT_SLOW is set; docs/evidence/agreement.md has what it said.
 *
 * A crowd has items of four classes 0..3 with shares .4 .3 .2 .1, an item difficulty uniform on 0 .. 1, two to seven
 * votes per item by as many of ten workers, each right with chance 1 - difficulty / 2 and else a neighbouring class.
 * The truth is the value on 4,000,000 items of the same kind. */
#include "support/em_support.h"
#include "core/random/random.h"

enum { CROWDS = 2000, ITEMS = 500, CLASSES = 4, WORKERS = 10, MAX_VOTES = 7, MANY = 4000000 };

static const char *const names[] = {
    "percent",          "fleiss",      "scott",        "alpha_nominal",   "alpha_ordinal",
    "alpha_interval",   "alpha_ratio", "gwet_ac1",     "gwet_ac2_linear", "gwet_ac2_quadratic",
    "gwet_ac2_ordinal", "cohen",       "cohen_linear", "cohen_quadratic"};
enum { N_NAMES = sizeof names / sizeof *names };

static dis_votes *crowd(uint64_t seed, size_t n_items)
{
    uint32_t *task = malloc(n_items * MAX_VOTES * sizeof *task), *worker = malloc(n_items * MAX_VOTES * sizeof *worker);
    uint16_t *label = malloc(n_items * MAX_VOTES * sizeof *label);
    assert_non_null(task);
    assert_non_null(worker);
    assert_non_null(label);
    size_t n = 0;
    for (size_t i = 0; i < n_items; i++) {
        const uint64_t at = (uint64_t)i * 64;
        const double u = dis__random_uniform(seed, 1, at), difficulty = dis__random_uniform(seed, 1, at + 1);
        const size_t truth = u < .4 ? 0 : u < .7 ? 1 : u < .9 ? 2 : 3;
        const size_t votes = 2 + dis__random_below(seed, 1, at + 2, MAX_VOTES - 1),
                     first = dis__random_below(seed, 2, at, WORKERS);
        for (size_t v = 0; v < votes; v++, n++) {
            task[n] = (uint32_t)i;
            worker[n] = (uint32_t)((first + v) % WORKERS);
            label[n] = (uint16_t)truth;
            if (dis__random_uniform(seed, 1, at + 3 + 2 * v) >= difficulty / 2) continue;
            const bool up = dis__random_below(seed, 1, at + 4 + 2 * v, 2) == 1;
            label[n] = (uint16_t)(truth == 0 ? 1 : truth == CLASSES - 1 || !up ? truth - 1 : truth + 1);
        }
    }
    const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                     .n_votes = n,
                                     .n_items = n_items,
                                     .n_workers = WORKERS,
                                     .n_classes = CLASSES,
                                     .task = task,
                                     .worker = worker,
                                     .label = label};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &arrays, &votes), DIS_OK);
    free(task);
    free(worker);
    free(label);
    return votes;
}

static dis_agreement *measure(const dis_votes *votes, size_t bootstrap, uint64_t seed)
{
    dis_agreement_options o = dis_agreement_options_default();
    dis_agreement *a;
    o.parts = DIS_AGREEMENT_PAIRS;
    o.resamples = bootstrap;
    o.seed = seed;
    o.interval_scope = DIS_INTERVAL_ITEMS; /* the annotators are the same in all crowds */
    if (dis_agreement_run(NULL, votes, &o, &a) != DIS_OK) fail_msg("%s", dis_last_error());
    return a;
}

static void coverage(void **state)
{
    (void)state;
    if (!getenv("DISSENT_SLOW")) {
        print_message("skipped: DISSENT_SLOW is not set\n");
        skip();
    }
    dis_votes *votes = crowd(0, MANY);
    dis_agreement *a = measure(votes, 0, 0);
    double truth[N_NAMES];
    size_t held[N_NAMES] = {0}, below[N_NAMES] = {0};
    for (size_t m = 0; m < N_NAMES; m++) truth[m] = dis_agreement_find(a, names[m])->value;
    dis_agreement_destroy(a);
    dis_votes_destroy(votes);
    for (uint64_t c = 1; c <= CROWDS; c++) {
        votes = crowd(c, ITEMS);
        a = measure(votes, 1000, c);
        for (size_t m = 0; m < N_NAMES; m++) {
            const dis_metric *x = dis_agreement_find(a, names[m]);
            assert_true(x->has_interval);
            held[m] += x->ci_low <= truth[m] && truth[m] <= x->ci_high;
            below[m] += x->ci_high < truth[m];
        }
        dis_agreement_destroy(a);
        dis_votes_destroy(votes);
    }
    for (size_t m = 0; m < N_NAMES; m++) {
        print_message("%-20s truth %.4f, held %.2f %%, below it %.2f %%\n", names[m], truth[m],
                      100. * (double)held[m] / CROWDS, 100. * (double)below[m] / CROWDS);
        assert_in_range(held[m], 1870, 1930); /* 93.5 to 96.5 % */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(coverage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
