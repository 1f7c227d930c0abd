/* The ordinal method: an objective that never falls, parameters that give its scores back by their definition, a crowd
 * drawn from the model found again (positions, thresholds, biases, spreads, lapses, with intervals that hold what they
 * say); workers who do not look do not spoil labels; finite on anything; threads do not count; a reversed order gives
 * reversed labels. */
#include "dissent/dissent.h"
#include "core/random/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/fault_walk.h"

enum { ITEMS = 400, WORKERS = 20, CLASSES = 5, EACH = 8 };

static double uniform(uint64_t n)
{
    return (double)(dis__random(7, 99, n) >> 11) * 0x1p-53;
}

static double normal(uint64_t n)
{
    return sqrt(-2 * log(uniform(2 * n) + 1e-300)) * cos(6.283185307179586 * uniform(2 * n + 1));
}

static double bias_of(size_t w)
{
    return ((double)(w % 5) - 2) * .4;
}

/* Items between 0 and 4, thresholds at .5, 1.5, ...; the last worker is three times as noisy as the others. */
static dis_votes *crowd(bool reversed, bool shuffled)
{
    static uint32_t task[ITEMS * EACH], worker[ITEMS * EACH];
    static uint16_t label[ITEMS * EACH];
    for (size_t n = 0; n < ITEMS * EACH; n++) {
        const size_t i = n / EACH, w = (i * 7 + n % EACH * 3) % WORKERS;
        const double x = 4 * uniform(1000000 + i);
        const double z = floor(x + bias_of(w) + (w == WORKERS - 1 ? 1.8 : .6) * normal(n) + .5);
        const double v = z < 0 ? 0 : z > CLASSES - 1 ? CLASSES - 1 : z;
        const size_t at = shuffled ? (n * 7919) % (ITEMS * EACH) : n;
        task[at] = (uint32_t)i;
        worker[at] = (uint32_t)w;
        label[at] = (uint16_t)(reversed ? CLASSES - 1 - v : v);
    }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = ITEMS * EACH,
                                .n_items = ITEMS,
                                .n_workers = WORKERS,
                                .n_classes = CLASSES,
                                .task = task,
                                .worker = worker,
                                .label = label,
                                .duplicates = DIS_DUPLICATES_ALL,
                                .scale = DIS_SCALE_ORDINAL};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    return votes;
}

static dis_fit *fit(dis_context *ctx, const dis_votes *votes, const char *spec)
{
    dis_fit *f = NULL;
    if (dis_fit_run(ctx, votes, spec, NULL, &f) != DIS_OK) fail_msg("%s: %s", spec, dis_last_error());
    return f;
}

static const double *parameter(const dis_fit *f, const char *name)
{
    const dis_parameter *p = dis_fit_find_parameter(f, name);
    assert_non_null(p);
    return p->values;
}

static void test_objective_rises(void **state)
{
    (void)state;
    dis_votes *votes = crowd(false, false);
    dis_fit *f = fit(NULL, votes, "ordinal:tolerance=0,iterations=60");
    const dis_fit_view v = dis_fit_get_view(f);
    assert_int_equal(v.n_trace, 60);
    for (size_t n = 1; n < v.n_trace; n++) assert_true(v.trace[n] >= v.trace[n - 1] - 1e-10 * fabs(v.trace[n - 1]));
    dis_fit_destroy(f);
    dis_votes_destroy(votes);
}

static double cumulated(double z)
{
    return .5 * erfc(-z / sqrt(2));
}

/* With one position per class the parameters say all there is to know of the posteriors. */
static void test_scores_by_definition(void **state)
{
    (void)state;
    dis_votes *votes = crowd(false, false);
    dis_fit *f = fit(NULL, votes, "ordinal:points=1,tolerance=0,iterations=25");
    const dis_votes_view v = dis_votes_get_view(votes);
    const double *bias = parameter(f, "bias"), *spread = parameter(f, "spread"), *prior = parameter(f, "prior"),
                 *threshold = parameter(f, "threshold"), *score = parameter(f, "score"), *lapse = parameter(f, "lapse"),
                 *rate = parameter(f, "rate");
    for (size_t i = 0; i < v.n_items; i++) {
        double q[CLASSES], total = 0, mean = 0;
        for (size_t x = 0; x < CLASSES; x++) {
            q[x] = prior[x];
            for (uint64_t n = v.start[i]; n < v.start[i + 1]; n++) {
                const size_t w = v.worker[n], l = v.label8[n];
                const double hi = l + 1 < CLASSES ? cumulated((threshold[l] - (double)x - bias[w]) / spread[w]) : 1;
                const double lo = l ? cumulated((threshold[l - 1] - (double)x - bias[w]) / spread[w]) : 0;
                q[x] *= (1 - lapse[w]) * (hi - lo) + lapse[w] * rate[w * CLASSES + l];
            }
            total += q[x];
        }
        for (size_t x = 0; x < CLASSES; x++) mean += (double)x * q[x] / total;
        assert_true(fabs(mean - score[i]) < 1e-9);
    }
    dis_fit_destroy(f);
    dis_votes_destroy(votes);
}

/* Biases within .2 of a class up to a common shift, the noisy worker found, scores near the truth. */
static void test_finds_the_model(void **state)
{
    (void)state;
    dis_votes *votes = crowd(false, false);
    dis_fit *f = fit(NULL, votes, "ordinal:tolerance=1e-7,spread=.5");
    const double *bias = parameter(f, "bias"), *spread = parameter(f, "spread"), *score = parameter(f, "score");
    double x = 0, y = 0, xy = 0, xx = 0, yy = 0, from = 0, to = 0, ft = 0, ff = 0;
    for (size_t w = 0; w < WORKERS; w++) {
        x += bias[w] / WORKERS;
        y += bias_of(w) / WORKERS;
    }
    for (size_t w = 0; w + 1 < WORKERS; w++) {
        xy += (bias[w] - x) * (bias_of(w) - y);
        xx += (bias[w] - x) * (bias[w] - x);
        yy += (bias_of(w) - y) * (bias_of(w) - y);
        assert_true(spread[w] < spread[WORKERS - 1]);
    }
    assert_true(xy / sqrt(xx * yy) > .97);
    for (size_t i = 0; i < ITEMS; i++) {
        from += score[i] / ITEMS;
        to += 4 * uniform(1000000 + i) / ITEMS;
    }
    for (size_t i = 0; i < ITEMS; i++) {
        const double a = score[i] - from, b = 4 * uniform(1000000 + i) - to;
        ft += a * b;
        ff += a * a;
    }
    assert_true(ft / ff > .7 && ft / ff < 1.4);
    dis_fit_destroy(f);
    dis_votes_destroy(votes);
}

/* ---- a crowd drawn from the model, uneven thresholds and lapses with it ---- */

enum { MANY = 1500, CROWD = 60, VOTES = 12 };
static const double cuts[] = {.2, 1.4, 2.1, 3.7};

static double true_spread(size_t w)
{
    return .5 * exp(.15 * normal(5000000 + w));
}

static double true_bias(size_t w)
{
    return .3 * normal(6000000 + w);
}

/* Every sixth worker looks at a fifth of the items, the others at nearly all. */
static double true_lapse(size_t w)
{
    return w % 6 == 0 ? .8 : .03;
}

static double true_place(size_t i)
{
    return 4.4 * uniform(30000000 + i) - .2;
}

static size_t class_at(double z)
{
    size_t v = 0;
    while (v < CLASSES - 1 && z > cuts[v]) v++;
    return v;
}

static dis_votes *drawn_crowd(void)
{
    static uint32_t task[MANY * VOTES], worker[MANY * VOTES];
    static uint16_t label[MANY * VOTES];
    static const size_t step[] = {1, 7, 11, 13};
    for (size_t n = 0; n < MANY * VOTES; n++) {
        const size_t i = n / VOTES, w = (i * 7 + n % VOTES * step[i % 4]) % CROWD;
        const bool lapses = uniform(40000000 + n) < true_lapse(w);
        const double z = true_place(i) + true_bias(w) + true_spread(w) * normal(7000000 + n);
        task[n] = (uint32_t)i;
        worker[n] = (uint32_t)w;
        label[n] = (uint16_t)(lapses ? (size_t)(CLASSES * uniform(50000000 + n)) : class_at(z));
    }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = MANY * VOTES,
                                .n_items = MANY,
                                .n_workers = CROWD,
                                .n_classes = CLASSES,
                                .task = task,
                                .worker = worker,
                                .label = label,
                                .scale = DIS_SCALE_ORDINAL};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    return votes;
}

typedef struct {
    double slope, shift;
} line;

/* Least squares: from what was found to what is true. The line of positions has no origin and no unit of its own. */
static line line_between(const double *found, size_t n)
{
    double x = 0, y = 0, xy = 0, xx = 0;
    for (size_t i = 0; i < n; i++) {
        x += found[i] / (double)n;
        y += true_place(i) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xy += (found[i] - x) * (true_place(i) - y);
        xx += (found[i] - x) * (found[i] - x);
    }
    return (line){.slope = xy / xx, .shift = y - xy / xx * x};
}

static void test_recovers(void **state)
{
    (void)state;
    dis_votes *votes = drawn_crowd();
    dis_fit *f = fit(NULL, votes, "ordinal:tolerance=1e-8,intervals=yes");
    const double *bias = parameter(f, "bias"), *spread = parameter(f, "spread"), *lapse = parameter(f, "lapse"),
                 *threshold = parameter(f, "threshold"), *bias_se = parameter(f, "bias_se"),
                 *spread_se = parameter(f, "spread_se");
    const line t = line_between(parameter(f, "score"), MANY);
    double mean = 0;
    size_t within = 0, judged = 0, bias_held = 0, spread_held = 0;
    for (size_t w = 0; w < CROWD; w++)
        mean += w % 6 == 0 ? 0 : (true_bias(w) - t.slope * bias[w]) / (CROWD - CROWD / 6);
    for (size_t v = 0; v < CLASSES - 1; v++) assert_true(fabs(t.shift + t.slope * threshold[v] - cuts[v] - mean) < .12);
    for (size_t w = 0; w < CROWD; w++) {
        assert_true(fabs(lapse[w] - true_lapse(w)) < .12);
        if (w % 6 == 0) continue;
        judged++;
        within += fabs(t.slope * bias[w] + mean - true_bias(w)) < .1;
        bias_held += fabs(t.slope * bias[w] + mean - true_bias(w)) < 1.96 * t.slope * bias_se[w];
        spread_held += fabs(log(t.slope * spread[w] / true_spread(w))) < 1.96 * spread_se[w];
    }
    assert_true(within >= judged * 9 / 10);
    assert_true(bias_held >= judged * 17 / 20);
    assert_true(spread_held >= judged * 17 / 20);
    dis_fit_destroy(f);
    dis_votes_destroy(votes);
}

static double right(const dis_votes *votes, const char *spec)
{
    dis_fit *f = fit(NULL, votes, spec);
    const double *p = dis_fit_p(f);
    size_t n = 0;
    for (size_t i = 0; i < MANY; i++) {
        size_t best = 0;
        for (size_t v = 1; v < CLASSES; v++)
            if (p[i * CLASSES + v] > p[i * CLASSES + best]) best = v;
        n += best == class_at(true_place(i));
    }
    dis_fit_destroy(f);
    return (double)n / MANY;
}

static void test_right(void **state)
{
    (void)state;
    dis_votes *votes = drawn_crowd();
    const double found = right(votes, "ordinal");
    assert_true(found > right(votes, "majority"));
    assert_true(found > right(votes, "dawid-skene"));
    dis_votes_destroy(votes);
}

/* A review of it: the share of right labels is what is expected, of those said to be sure too; who is biased is found;
 * items come in the order of what a vote tells of their position. */
static void test_review(void **state)
{
    (void)state;
    dis_votes *votes = drawn_crowd();
    dis_review *review;
    dis_review_options o = dis_review_options_default();
    o.order = DIS_REVIEW_BY_GAIN;
    assert_int_equal(dis_review_run(NULL, votes, &o, &review), DIS_OK);
    const dis_review_view v = dis_review_get_view(review);
    double n_right = 0, sure = 0, n_sure = 0, n_biased = 0;
    for (size_t r = 0; r < v.n_items; r++) {
        const dis_review_item *x = &v.items[r];
        const bool is_right = x->label == class_at(true_place(x->item));
        n_right += is_right;
        sure += x->p_correct > .9 ? x->p_correct - is_right : 0;
        n_sure += x->p_correct > .9;
        assert_true(x->gain == v.ordinal_items[x->item].gain);
        assert_true(r == 0 || x->gain <= v.items[r - 1].gain + 1e-9);
    }
    assert_true(fabs(n_right / MANY - v.expected_accuracy) < .05);
    assert_true(n_sure > MANY / 4 && fabs(sure / n_sure) < .03);
    for (size_t w = 0; w < CROWD; w++) {
        const dis_review_ordinal_worker *x = &v.ordinal_workers[w];
        assert_true(x->bias_low < x->bias && x->bias < x->bias_high && x->spread_low < x->spread);
        if (x->biased) assert_true(true_bias(w) * x->bias > 0);
        n_biased += x->biased;
    }
    assert_true(n_biased == (double)v.n_biased && n_biased >= 5);
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

static void test_reversed(void **state)
{
    (void)state;
    dis_votes *up = crowd(false, false), *down = crowd(true, false);
    dis_fit *a = fit(NULL, up, "ordinal:tolerance=0,iterations=30"),
            *b = fit(NULL, down, "ordinal:tolerance=0,iterations=30");
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t k = 0; k < CLASSES; k++)
            assert_true(fabs(dis_fit_p(a)[i * CLASSES + k] - dis_fit_p(b)[i * CLASSES + CLASSES - 1 - k]) < 1e-9);
    dis_fit_destroy(a);
    dis_fit_destroy(b);
    dis_votes_destroy(up);
    dis_votes_destroy(down);
}

static void test_threads_and_order(void **state)
{
    (void)state;
    dis_votes *votes = crowd(false, false), *shuffled = crowd(false, true);
    dis_context *ctx;
    dis_context_options o = dis_context_options_default();
    o.threads = 3;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    dis_fit *a = fit(NULL, votes, "ordinal:tolerance=0,iterations=12"),
            *b = fit(ctx, votes, "ordinal:tolerance=0,iterations=12"),
            *c = fit(ctx, shuffled, "ordinal:tolerance=0,iterations=12");
    assert_memory_equal(dis_fit_p(a), dis_fit_p(b), ITEMS * CLASSES * sizeof(double));
    for (size_t k = 0; k < ITEMS * CLASSES; k++) assert_true(fabs(dis_fit_p(a)[k] - dis_fit_p(c)[k]) < 1e-12);
    dis_fit_destroy(a);
    dis_fit_destroy(b);
    dis_fit_destroy(c);
    dis_context_destroy(ctx);
    dis_votes_destroy(votes);
    dis_votes_destroy(shuffled);
}

/* One class, classes that no one chose, one vote, unanimous items: rows are distributions. */
static void test_edges(void **state)
{
    (void)state;
    for (size_t n_classes = 1; n_classes < 5; n_classes++)
        for (size_t n_votes = 1; n_votes < 9; n_votes++) {
            const uint32_t task[] = {0, 0, 1, 1, 2, 2, 3, 3}, worker[] = {0, 1, 0, 1, 0, 2, 2, 0};
            const uint16_t label[] = {0, 0, 0, 0, 0, (uint16_t)(n_classes / 2), 0, (uint16_t)(n_classes - 1)};
            const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                        .n_votes = n_votes,
                                        .n_items = 4,
                                        .n_workers = 3,
                                        .n_classes = n_classes,
                                        .task = task,
                                        .worker = worker,
                                        .label = label};
            dis_votes *votes;
            assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
            dis_fit *f = fit(NULL, votes, "ordinal");
            for (size_t i = 0; i < 4; i++) {
                double sum = 0;
                for (size_t k = 0; k < n_classes; k++) sum += dis_fit_p(f)[i * n_classes + k];
                assert_true(fabs(sum - 1) < 1e-12);
            }
            dis_fit_destroy(f);
            dis_votes_destroy(votes);
        }
}

static void test_gold_pins(void **state)
{
    (void)state;
    dis_votes *votes = crowd(false, false);
    int32_t gold[ITEMS];
    for (size_t i = 0; i < ITEMS; i++) gold[i] = i % 10 == 0 ? (int32_t)(4 * uniform(1000000 + i) + .5) : -1;
    dis_fit_options o = dis_fit_options_default();
    o.gold = gold;
    dis_fit *f;
    assert_int_equal(dis_fit_run(NULL, votes, "ordinal", &o, &f), DIS_OK);
    for (size_t i = 0; i < ITEMS; i += 10) assert_true(dis_fit_p(f)[i * CLASSES + (size_t)gold[i]] == 1);
    dis_fit_destroy(f);
    dis_votes_destroy(votes);
}

static dis_status walk_fit(void *arg)
{
    dis_fit *f;
    const dis_status status = dis_fit_run(NULL, arg, "ordinal:iterations=3", NULL, &f);
    if (status == DIS_OK) dis_fit_destroy(f);
    return status;
}

static void test_faults(void **state)
{
    (void)state;
    dis_votes *votes = crowd(false, false);
    walk_faults(walk_fit, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objective_rises),
        cmocka_unit_test(test_scores_by_definition),
        cmocka_unit_test(test_recovers),
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_review),

        cmocka_unit_test(test_finds_the_model),
        cmocka_unit_test(test_reversed),
        cmocka_unit_test(test_threads_and_order),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_gold_pins),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
