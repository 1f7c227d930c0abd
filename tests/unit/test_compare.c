/* What a comparison must do, by itself: p-values that are uniform when there is nothing to find and small when there
 * is, intervals that hold the truth as often as they say, the edges, and every fault. */
#include "stats/significance.h"
#include "support/em_support.h"
#include "support/fault_walk.h"
#include "core/random/random.h"
#include "compare/compare_internal.h"

enum { MAX = 4000, SEEDS = 4 };
static int32_t gold[MAX], label[2][SEEDS][MAX];
static double human[MAX * 5];
static const int32_t *const side_a[] = {label[0][0], label[0][1], label[0][2], label[0][3]};
static const int32_t *const side_b[] = {label[1][0], label[1][1], label[1][2], label[1][3]};

/* Two sides that are right with the given probabilities; `shared` of the items are as hard for both. */
static dis_comparison_input make(size_t n, size_t k, size_t seeds, double right_a, double right_b, uint64_t seed)
{
    const double right[2] = {right_a, right_b};
    for (size_t i = 0; i < n; i++) {
        gold[i] = (int32_t)dis__random_below(seed, 1, i, k);
        for (size_t c = 0; c < k; c++)
            human[i * k + c] = .1 / (double)k + (c == dis__random_below(seed, 2, i, k) ? .9 : 0);
        const bool hard = dis__random_uniform(seed, 3, i) < .2; /* wrong on both sides */
        for (size_t side = 0; side < 2; side++)
            for (size_t s = 0; s < seeds; s++) {
                const uint64_t at = (i * 2 + side) * SEEDS + s;
                const bool good = !hard && dis__random_uniform(seed, 4, at) < right[side] / .8;
                label[side][s][i] =
                    good ? gold[i]
                         : (int32_t)((uint64_t)(gold[i] + 1 + (int32_t)dis__random_below(seed, 5, at, k - 1)) % k);
            }
    }
    return (dis_comparison_input){.size = sizeof(dis_comparison_input),
                                  .n_items = n,
                                  .n_classes = k,
                                  .gold = gold,
                                  .n_a = seeds,
                                  .n_b = seeds,
                                  .a = side_a,
                                  .b = side_b,
                                  .human = human};
}

static dis_comparison_view compare(const dis_comparison_input *in, const dis_comparison_options *o, dis_comparison **c)
{
    if (dis_comparison_run(NULL, in, o, c) != DIS_OK) fail_msg("%s", dis_last_error());
    return dis_comparison_get_view(*c);
}

/* Kolmogorov's distance of n numbers from the uniform law. */
static double from_uniform(double *p, size_t n)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        size_t upto = 0;
        for (size_t j = 0; j < n; j++) upto += p[j] <= p[i];
        worst = fmax(worst, fabs((double)upto / (double)n - p[i]));
    }
    return worst;
}

/* Nothing to find: two-sided p is uniform, p of the direction observed uniform up to 1/2, and the interval of the
 * difference holds 0 in 95 of 100. */
static void null(void **state)
{
    (void)state;
    enum { TIMES = 400 };
    static double two[2][TIMES], one[2][TIMES];
    size_t covered[2] = {0, 0}, starred[2] = {0, 0};
    for (size_t t = 0; t < TIMES; t++) {
        const dis_comparison_input in = make(600, 4, 2, .6, .6, 1000 + t);
        dis_comparison_options o = dis_comparison_options_default();
        o.resamples = 500;
        o.seed = t;
        dis_comparison *c;
        const dis_comparison_view v = compare(&in, &o, &c);
        for (size_t m = 0; m < 2; m++) {
            const dis_significance *s = &v.metric[m];
            two[m][t] = s->p_two_sided;
            one[m][t] = fmin(1, 2 * s->p); /* 1 when there is no difference */
            covered[m] += s->difference.ci_low <= 0 && s->difference.ci_high >= 0;
            starred[m] += s->stars > 0;
            assert_int_equal(s->stars, s->p <= .01 ? 2 : s->p <= .05 ? 1 : 0);
        }
        dis_comparison_destroy(c);
    }
    for (size_t m = 0; m < 2; m++) {
        print_message("%s: distance from uniform %.3f, %.3f; 0 in %zu of %d intervals, stars in %zu\n",
                      dis_comparison_metric_get(m)->name, from_uniform(two[m], TIMES), from_uniform(one[m], TIMES),
                      covered[m], TIMES, starred[m]);
        assert_true(from_uniform(two[m], TIMES) < 1.63 / 20 + .02); /* 1 %, and steps of whole items */
        assert_true(from_uniform(one[m], TIMES) < 1.63 / 20 + .02);
        assert_in_range(covered[m], 365, 394);
        assert_in_range(starred[m], 20, 60); /* one-sided in the direction seen: 10 % */
    }
}

/* Three points of accuracy on 4,000 items are found, in the right direction, by all tests. */
static void planted(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++)
        for (int pool = 0; pool < 2; pool++) {
            const dis_comparison_input in = make(4000, 5, 3, turned ? .6 : .64, turned ? .64 : .6, 5);
            dis_comparison_options o = dis_comparison_options_default();
            o.resamples = 2000;
            o.pool_seeds = pool;
            o.fraction = pool ? .33 : 1;
            dis_comparison *c;
            const dis_comparison_view v = compare(&in, &o, &c);
            assert_int_equal(v.n_resample, pool ? 3960 : 4000);
            for (size_t m = 0; m < 2; m++) {
                const dis_significance *s = &v.metric[m];
                em_assert_close(s->difference.value, turned ? -.04 : .04, .015);
                assert_true(s->p <= .01 && s->p_two_sided <= .02);
                assert_int_equal(s->stars, 2);
                assert_true(s->difference.ci_low < s->difference.value && s->difference.ci_high > s->difference.value);
                assert_true(turned ? s->difference.ci_high < 0 : s->difference.ci_low > 0);
                assert_true(s->a.ci_low < s->a.value && s->a.ci_high > s->a.value);
            }
            assert_int_equal(v.n_pairs, 3);
            for (size_t q = 0; q < 3; q++) {
                assert_false(v.mcnemar[q].exact);
                assert_true(v.mcnemar[q].p < .05);
                assert_true((v.mcnemar[q].only_a > v.mcnemar[q].only_b) == !turned);
            }
            dis_comparison_destroy(c);
        }
}

/* The share of the definition, counted from resamples drawn one by one here, agrees with what comes out. */
static void small_example(void **state)
{
    (void)state;
    const dis_comparison_input in = make(300, 3, 1, .66, .6, 17);
    enum { RESAMPLES = 20000 };
    int observed = 0;
    size_t beyond = 0;
    for (size_t i = 0; i < 300; i++) observed += (label[0][0][i] == gold[i]) - (label[1][0][i] == gold[i]);
    assert_true(observed > 0);
    for (size_t r = 0; r < RESAMPLES; r++) {
        int d = 0;
        for (size_t j = 0; j < 300; j++) {
            const size_t i = dis__random_below(99, r, j, 300);
            d += (label[0][0][i] == gold[i]) - (label[1][0][i] == gold[i]);
        }
        beyond += d > 2 * observed;
    }
    dis_comparison_options o = dis_comparison_options_default();
    o.resamples = RESAMPLES;
    dis_comparison *c;
    const double p = compare(&in, &o, &c).metric[DIS_COMPARE_ACCURACY].p;
    em_assert_close(p, (double)beyond / RESAMPLES, 4 * sqrt(2 * p * (1 - p) / RESAMPLES));
    dis_comparison_destroy(c);
}

/* Sides that never differ: nothing is significant, whatever the definition's letter gives for 0 > 0. */
static void the_same(void **state)
{
    (void)state;
    dis_comparison_input in = make(100, 3, 1, .6, .6, 3);
    in.b = in.a;
    dis_comparison *c;
    const dis_comparison_view v = compare(&in, NULL, &c);
    for (size_t m = 0; m < 2; m++) {
        assert_true(v.metric[m].difference.value == 0);
        assert_true(v.metric[m].p == 1 && v.metric[m].p_two_sided == 1);
        assert_int_equal(v.metric[m].stars, 0);
        assert_true(v.metric[m].difference.ci_low == 0 && v.metric[m].difference.ci_high == 0);
        assert_true(isnan(v.metric[m].sd_a)); /* one seed */
    }
    assert_true(v.mcnemar[0].exact && v.mcnemar[0].p == 1);
    assert_non_null(v.statistic[DIS_CELL_ENTROPY].test.reason);
    assert_non_null(v.statistic[DIS_CELL_ENTROPY].mean[DIS_CELL_ONLY_A].reason);
    dis_comparison_destroy(c);
}

static void few_classes(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 4; k++) {
        const dis_comparison_input in = make(200, k, 1, .6, .5, 8);
        for (size_t c = 0; c < k; c++) human[7 * k + c] = 1 / (double)k; /* uniform: no kurtosis */
        dis_comparison *c;
        const dis_comparison_view v = compare(&in, NULL, &c);
        const dis_cell_statistic *s = &v.statistic[DIS_CELL_KURTOSIS];
        for (size_t cell = 0; cell < DIS_CELLS; cell++) {
            assert_int_equal(s->mean[cell].reason != NULL, k == 2);
            assert_int_equal(s->mean[cell].degenerate, k == 3);
            if (k == 3) assert_true(s->mean[cell].value == -1.5);
        }
        assert_int_equal(s->test.reason != NULL, k < 4);
        assert_int_equal(s->n_excluded, 1);
        assert_null(v.statistic[DIS_CELL_ENTROPY].test.reason);
        assert_null(v.statistic[DIS_CELL_MAX_PROBABILITY].test.reason);
        dis_comparison_destroy(c);
    }
    assert_true(isnan(dis__excess_kurtosis((const double[]){.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}, 10)));
    assert_true(isnan(dis__excess_kurtosis((const double[]){0, 0, 0}, 3)));
    em_assert_close(dis__excess_kurtosis((const double[]){.3, .7}, 2), -2, 1e-12);
    em_assert_close(dis__excess_kurtosis((const double[]){.1, .2, .7}, 3), -1.5, 1e-12);
    em_assert_close(dis__excess_kurtosis((const double[]){1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 12), 7.0909090909, 1e-9);
}

/* Items without gold count nowhere; sides of different sizes pair each with each. */
static void left_out(void **state)
{
    (void)state;
    dis_comparison_input in = make(500, 3, 3, .6, .6, 21);
    dis_comparison *all, *some;
    in.n_items = 400;
    in.n_b = 2;
    const dis_comparison_view first = compare(&in, NULL, &all);
    in.n_items = 500;
    for (size_t i = 400; i < 500; i++) gold[i] = -1;
    label[0][0][450] = -7; /* no one looks */
    const dis_comparison_view second = compare(&in, NULL, &some);
    assert_int_equal(first.n_pairs, 6);
    assert_int_equal(second.n_items, 400);
    assert_memory_equal(first.metric, second.metric, first.n_metrics * sizeof *first.metric);
    assert_memory_equal(first.cell, second.cell, sizeof first.cell);
    assert_int_equal(first.cell[0] + first.cell[1] + first.cell[2] + first.cell[3], 2400);
    dis_comparison_destroy(all);
    dis_comparison_destroy(some);
}

/* Both ways to draw give the same law: the same data, once as few patterns and once with a seed that tells items
 * apart. */
static void two_ways(void **state)
{
    (void)state;
    dis_comparison_input in = make(4000, 3, 4, .62, .6, 31);
    dis__answer_patterns few, many;
    const dis_comparison_input one = {.size = sizeof(dis_comparison_input),
                                      .n_items = in.n_items,
                                      .n_classes = 3,
                                      .gold = gold,
                                      .n_a = 1,
                                      .n_b = 1,
                                      .a = in.a,
                                      .b = in.b};
    assert_int_equal(dis__answer_patterns_init(&one, false, &few), DIS_OK);
    assert_int_equal(dis__answer_patterns_init(&in, false, &many), DIS_OK);
    assert_true(few.n_patterns <= 27 && many.n_patterns > 4000 / 32);
    uint64_t sum = 0;
    for (size_t c = 0; c < many.n_patterns; c++) sum += many.count[c];
    assert_int_equal(sum, 4000);
    for (size_t j = 0; j < 4000; j++) {
        assert_int_equal(many.gold[many.pattern[j]], gold[j]);
        for (size_t s = 0; s < 8; s++) assert_int_equal(many.answer[many.pattern[j] * 8 + s], label[s / 4][s % 4][j]);
    }
    /* the seeds beyond the first as copies of it: same figures, drawn item by item once the pattern limit is passed */
    dis_comparison_options o = dis_comparison_options_default();
    o.resamples = 8000;
    dis_comparison by_cells = {0}, by_items = {0};
    assert_int_equal(dis__paired_bootstrap(NULL, &few, &o, NULL, &by_cells), DIS_OK);
    dis__answer_patterns apart = few; /* every item its own pattern */
    uint64_t *count = calloc(4000, sizeof *count);
    uint32_t *truth = calloc(4000, sizeof *truth), *answer = calloc(8000, sizeof *answer),
             *own = calloc(4000, sizeof *own);
    for (size_t i = 0; i < 4000; i++) {
        count[i] = 1;
        truth[i] = (uint32_t)gold[i];
        answer[2 * i] = (uint32_t)label[0][0][i];
        answer[2 * i + 1] = (uint32_t)label[1][0][i];
        own[i] = (uint32_t)i;
    }
    apart.n_patterns = 4000;
    apart.count = count;
    apart.gold = truth;
    apart.answer = answer;
    apart.pattern = own;
    assert_int_equal(dis__paired_bootstrap(NULL, &apart, &o, NULL, &by_items), DIS_OK);
    for (size_t m = 0; m < 2; m++) {
        const dis_significance *x = &by_cells.metric[m], *y = &by_items.metric[m];
        em_assert_close(x->difference.value, y->difference.value, 1e-15);
        em_assert_close(x->p, y->p, .03);
        em_assert_close(x->difference.ci_low, y->difference.ci_low, .0015);
        em_assert_close(x->difference.ci_high, y->difference.ci_high, .0015);
    }
    free(count);
    free(truth);
    free(answer);
    free(own);
    dis__answer_patterns_free(&few);
    dis__answer_patterns_free(&many);
}

static void refused(void **state)
{
    (void)state;
    const dis_comparison_input good = make(20, 3, 2, .6, .6, 2);
    dis_comparison *c = NULL;
    dis_comparison_options o = dis_comparison_options_default();
    dis_comparison_input in = good;
    in.n_a = 0;
    assert_int_equal(dis_comparison_run(NULL, &in, &o, &c), DIS_EUSAGE);
    in = good;
    in.n_b = DIS_COMPARE_MAX_SEEDS + 1;
    assert_int_equal(dis_comparison_run(NULL, &in, &o, &c), DIS_EUSAGE);
    in = good;
    in.n_classes = 2;
    assert_int_equal(dis_comparison_run(NULL, &in, &o, &c), DIS_EUSAGE);
    in.n_classes = 0;
    assert_int_equal(dis_comparison_run(NULL, &in, &o, &c), DIS_EUSAGE);
    in = good;
    in.n_items = 0;
    assert_int_equal(dis_comparison_run(NULL, &in, &o, &c), DIS_EDATA);
    in = good;
    in.n_b = 1;
    o.pool_seeds = true;
    assert_int_equal(dis_comparison_run(NULL, &in, &o, &c), DIS_EUSAGE);
    o = dis_comparison_options_default();
    static const double fractions[] = {0, -1, 1.01, NAN};
    for (size_t i = 0; i < 4; i++) {
        o.fraction = fractions[i];
        assert_int_equal(dis_comparison_run(NULL, &good, &o, &c), DIS_EUSAGE);
    }
    o = dis_comparison_options_default();
    o.resamples = (uint64_t)1 << 40;
    assert_int_equal(dis_comparison_run(NULL, &good, &o, &c), DIS_EUSAGE);
    label[1][1][3] = 3;
    assert_int_equal(dis_comparison_run(NULL, &good, NULL, &c), DIS_EUSAGE);
    assert_string_equal(dis_last_error(), "side B, seed 2: item 4 has class 3 of 3");
    label[1][1][3] = -1;
    assert_int_equal(dis_comparison_run(NULL, &good, NULL, &c), DIS_EUSAGE);
    assert_null(c);
    dis_rank_test t;
    assert_int_equal(dis__mann_whitney_test((const double[]){NAN}, 1, (const double[]){1}, 1, DIS_TWO_SIDED, &t),
                     DIS_EUSAGE);
}

static int stop_now(void *user)
{
    return ++*(int *)user > 2;
}

/* More memory than allowed is refused before work starts; a caller who wants to stop is heard. */
static void limits(void **state)
{
    (void)state;
    const dis_comparison_input in = make(3000, 4, 2, .6, .5, 2);
    int polls = 0;
    dis_context_options how = dis_context_options_default();
    how.threads = 1;
    how.memory = 100000;
    dis_context *ctx;
    dis_comparison *c = NULL;
    assert_int_equal(dis_context_create(&how, &ctx), DIS_OK);
    assert_int_equal(dis_comparison_run(ctx, &in, NULL, &c), DIS_ELIMIT);
    dis_context_destroy(ctx);
    how.memory = 0;
    how.stop = stop_now;
    how.user = &polls;
    assert_int_equal(dis_context_create(&how, &ctx), DIS_OK);
    assert_int_equal(dis_comparison_run(ctx, &in, NULL, &c), DIS_ECANCELLED);
    dis_context_destroy(ctx);
    assert_null(c);
}

static dis_status one_comparison(void *arg)
{
    dis_comparison *c = NULL;
    dis_comparison_options o = dis_comparison_options_default();
    o.resamples = 20;
    const dis_status status = dis_comparison_run(NULL, arg, &o, &c);
    assert_int_equal(c != NULL, status == DIS_OK);
    dis_comparison_destroy(c);
    return status;
}

static void faults(void **state)
{
    (void)state;
    dis_comparison_input in = make(50, 4, 3, .6, .5, 2);
    walk_faults(one_comparison, NULL, &in);
    in = make(400, 2, 1, .6, .5, 2); /* few patterns */
    walk_faults(one_comparison, NULL, &in);
}

/* ---- true labels from votes ---- */

static void reference_of_votes(void **state)
{
    (void)state;
    enum { N = 60, J = 5 };
    static uint32_t task[N * J], worker[N * J];
    static uint16_t vote_label[N * J];
    static int32_t most[N], from_a[N], from_b[N];
    static size_t item[N];
    static const size_t class[] = {0, 1};
    for (size_t i = 0; i < N; i++) {
        size_t ones = 0;
        for (size_t w = 0; w < J; w++) {
            const size_t v = i * J + w;
            task[v] = (uint32_t)i;
            worker[v] = (uint32_t)w;
            vote_label[v] = (i * 7 + w * w) % 11 < 4 + w;
            ones += vote_label[v];
        }
        most[i] = ones > J / 2;
        from_a[i] = i % 6 ? most[i] : !most[i];
        from_b[i] = i % 3 ? most[i] : !most[i];
        item[i] = i;
    }
    const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                     .n_votes = N * J,
                                     .n_items = N,
                                     .n_workers = J,
                                     .n_classes = 2,
                                     .task = task,
                                     .worker = worker,
                                     .label = vote_label};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &arrays, &votes), DIS_OK);
    const dis_comparison_votes reference = {.size = sizeof(dis_comparison_votes),
                                            .votes = votes,
                                            .item_map = item,
                                            .class_map = class};
    const int32_t *a[] = {from_a}, *b[] = {from_b};
    dis_comparison_input in = {.size = sizeof(dis_comparison_input),
                               .n_items = N,
                               .n_classes = 2,
                               .n_a = 1,
                               .a = a,
                               .n_b = 1,
                               .b = b,
                               .votes = &reference};
    dis_comparison_options o = dis_comparison_options_default();
    dis_comparison *c, *known;
    assert_int_equal(dis_comparison_run(NULL, &in, NULL, &c), DIS_OK);
    in.votes = NULL;
    in.gold = most;
    assert_int_equal(dis_comparison_run(NULL, &in, NULL, &known), DIS_OK);
    const dis_comparison_view v = dis_comparison_get_view(c), w = dis_comparison_get_view(known);
    assert_int_equal(v.interval_scope, DIS_INTERVAL_ANNOTATORS);
    assert_int_equal(w.interval_scope, DIS_INTERVAL_ITEMS);
    assert_int_equal(v.n_annotators, J);
    assert_false(v.few_annotators);
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) {
        const dis_significance *x = &v.metric[m], *y = &w.metric[m];
        assert_true(x->difference.value == y->difference.value && x->a.value == y->a.value); /* the same labels */
        assert_true(x->difference.ci_high - x->difference.ci_low > y->difference.ci_high - y->difference.ci_low);
        assert_true(x->p == x->p_two_sided && x->p > y->p_two_sided);
    }
    dis_comparison_destroy(c);
    dis_comparison_destroy(known);
    in.votes = &reference; /* with gold too */
    assert_int_equal(dis_comparison_run(NULL, &in, &o, &c), DIS_EUSAGE);
    in.gold = NULL;
    o.fraction = .5;
    assert_int_equal(dis_comparison_run(NULL, &in, &o, &c), DIS_EUSAGE);
    o.interval_scope = DIS_INTERVAL_ITEMS;
    assert_int_equal(dis_comparison_run(NULL, &in, &o, &c), DIS_OK);
    dis_comparison_destroy(c);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null),
        cmocka_unit_test(planted),
        cmocka_unit_test(small_example),
        cmocka_unit_test(the_same),
        cmocka_unit_test(few_classes),
        cmocka_unit_test(left_out),
        cmocka_unit_test(two_ways),
        cmocka_unit_test(refused),
        cmocka_unit_test(limits),
        cmocka_unit_test(faults),
        cmocka_unit_test(reference_of_votes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
