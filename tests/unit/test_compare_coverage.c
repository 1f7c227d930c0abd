/* How often the interval of a difference holds the true one, and how often p calls nothing something: 2,000 made-up
 * comparisons of 500 items each. Takes a while, so it runs only when DISSENT_SLOW is set; docs/evidence/comparing.md has what it
 * said. */
#include "support/em_support.h"
#include "core/random/random.h"

enum { TIMES = 2000, N = 500, K = 3, MAX_SEEDS = 3 };
static int32_t gold[N], label[2][MAX_SEEDS][N];

/* Gold and errors are spread evenly over the classes, so that the true macro-F1 is the true accuracy. Errors of the
 * seeds of a side go together on a fifth of the items, which are hard for all. */
static void make(const double right[2], uint64_t seed)
{
    for (size_t i = 0; i < N; i++) {
        gold[i] = (int32_t)dis__random_below(seed, 1, i, K);
        const bool hard = dis__random_uniform(seed, 2, i) < .2;
        for (size_t side = 0; side < 2; side++)
            for (size_t s = 0; s < MAX_SEEDS; s++) {
                const uint64_t at = (i * 2 + side) * MAX_SEEDS + s;
                const bool good = !hard && dis__random_uniform(seed, 3, at) < right[side] / .8;
                const int32_t off = 1 + (int32_t)dis__random_below(seed, 4, at, K - 1);
                label[side][s][i] = good ? gold[i] : (gold[i] + off) % K;
            }
    }
}

static void simulate(size_t seeds, double difference)
{
    const int32_t *a[] = {label[0][0], label[0][1], label[0][2]}, *b[] = {label[1][0], label[1][1], label[1][2]};
    const double right[2] = {.6 + difference, .6};
    size_t holds[2] = {0, 0}, one_star[2] = {0, 0}, two_stars[2] = {0, 0}, two_sided[2] = {0, 0}, mcnemar = 0;
    for (uint64_t t = 0; t < TIMES; t++) {
        make(right, t + 1);
        const dis_comparison_input in = {.size = sizeof(dis_comparison_input),
                                         .n_items = N,
                                         .n_classes = K,
                                         .gold = gold,
                                         .n_a = seeds,
                                         .n_b = seeds,
                                         .a = a,
                                         .b = b};
        dis_comparison_options o = dis_comparison_options_default();
        o.resamples = 2000;
        o.seed = t;
        dis_comparison *c;
        assert_int_equal(dis_comparison_run(NULL, &in, &o, &c), DIS_OK);
        const dis_comparison_view v = dis_comparison_get_view(c);
        for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) {
            const dis_significance *s = &v.metric[m];
            holds[m] += s->difference.ci_low <= difference && s->difference.ci_high >= difference;
            one_star[m] += s->stars > 0;
            two_stars[m] += s->stars > 1;
            two_sided[m] += s->p_two_sided <= .05;
        }
        mcnemar += v.mcnemar[0].p <= .05;
        dis_comparison_destroy(c);
    }
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) {
        print_message("%zu seeds, true difference %.2f, %-8s: interval holds it in %.3f; p <= .05 %.3f, p <= .01 %.3f; "
                      "two-sided p <= .05 %.3f; McNemar %.3f\n",
                      seeds, difference, dis_comparison_metric_get(m)->name, (double)holds[m] / TIMES,
                      (double)one_star[m] / TIMES, (double)two_stars[m] / TIMES, (double)two_sided[m] / TIMES,
                      (double)mcnemar / TIMES);
        assert_in_range(holds[m], (size_t)(.935 * TIMES), (size_t)(.965 * TIMES));
        if (difference > 0) continue;
        assert_in_range(one_star[m], (size_t)(.08 * TIMES), (size_t)(.12 * TIMES));
        assert_in_range(two_sided[m], (size_t)(.035 * TIMES), (size_t)(.065 * TIMES));
    }
}

static void coverage(void **state)
{
    (void)state;
    if (!getenv("DISSENT_SLOW")) {
        print_message("skipped: DISSENT_SLOW is not set\n");
        skip();
    }
    simulate(1, 0);
    simulate(1, .06);
    simulate(MAX_SEEDS, 0);
    simulate(MAX_SEEDS, .06);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(coverage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
