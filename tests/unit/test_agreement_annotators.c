/* Intervals of agreement for other annotators: the variances against crowds from which annotators and votes were
 * really taken out, the way they are put together, and cases in which there is no interval. */
#include "support/em_support.h"
#include "agreement/agreement_jackknife.h"
#include "core/random/random.h"
#include "stats/crossed_intervals.h"
#include "stats/distributions.h"

enum { ITEMS = 40, WORKERS = 9, CLASSES = 4, ROOM = 2 * ITEMS * WORKERS };

typedef struct {
    size_t n;
    uint32_t task[ROOM], worker[ROOM];
    uint16_t label[ROOM];
} crowd;

/* 1 to 6 votes per item; with `twice` some annotators vote twice on an item. */
static crowd make_crowd(uint64_t seed, size_t n_classes, bool twice)
{
    crowd c = {0};
    uint64_t at = 0;
    for (uint32_t i = 0; i < ITEMS; i++) {
        const size_t truth = dis__random_below(seed, 1, at++, n_classes),
                     votes = 1 + dis__random_below(seed, 1, at++, 6);
        const size_t first = dis__random_below(seed, 1, at++, WORKERS);
        for (size_t v = 0; v < votes; v++) {
            const size_t label =
                dis__random_uniform(seed, 1, at++) < .5 ? truth : dis__random_below(seed, 1, at++, n_classes);
            c.task[c.n] = i;
            c.worker[c.n] = (uint32_t)((first + (twice ? v / 2 : v)) % WORKERS);
            c.label[c.n++] = (uint16_t)label;
        }
    }
    return c;
}

static dis_votes *table_of(const crowd *c, size_t n_classes)
{
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = c->n,
                                .n_items = ITEMS,
                                .n_workers = WORKERS,
                                .n_classes = n_classes,
                                .task = c->task,
                                .worker = c->worker,
                                .label = c->label,
                                .duplicates = DIS_DUPLICATES_ALL};
    dis_votes *votes;
    if (dis_votes_create_from_arrays(NULL, &a, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    return votes;
}

/* Coefficients, then the three figures of each class, of a crowd without the votes of a worker (vote: without that
 * one). */
static void measure_without(const crowd *c, size_t n_classes, bool singles, size_t worker, size_t vote, double *values)
{
    crowd rest = {0};
    for (size_t v = 0; v < c->n; v++) {
        if (c->worker[v] == worker || v == vote) continue;
        rest.task[rest.n] = c->task[v];
        rest.worker[rest.n] = c->worker[v];
        rest.label[rest.n++] = c->label[v];
    }
    dis_votes *votes = table_of(&rest, n_classes);
    dis_agreement_options o = dis_agreement_options_default();
    dis_agreement *a;
    o.resamples = 0;
    o.parts = 0;
    o.include_single_votes = singles;
    if (dis_agreement_run(NULL, votes, &o, &a) != DIS_OK) fail_msg("%s", dis_last_error());
    const dis_agreement_view x = dis_agreement_get_view(a);
    for (size_t m = 0; m < DIS_MEASURES_OF_PATTERNS; m++) *values++ = x.metric[m].reason ? NAN : x.metric[m].value;
    for (size_t k = 0; k < n_classes; k++) {
        *values++ = x.classes[k].agreement.value;
        *values++ = x.classes[k].fleiss.value;
        *values++ = x.classes[k].alpha.value;
    }
    dis_agreement_destroy(a);
    dis_votes_destroy(votes);
}

enum { MAX_VALUES = DIS_MEASURES_OF_PATTERNS + DIS_CLASS_MEASURES * CLASSES };

static void check_variances(uint64_t seed, size_t n_classes, bool twice, bool singles)
{
    const crowd c = make_crowd(seed, n_classes, twice);
    const size_t n = DIS_MEASURES_OF_PATTERNS + DIS_CLASS_MEASURES * n_classes;
    dis_votes *votes = table_of(&c, n_classes);
    const dis_votes_view v = dis_votes_get_view(votes);
    dis__vote_patterns patterns;
    dis__coefficients *coefficients;
    dis__agreement_base base;
    dis__agreement_jackknife rest = {0};
    assert_int_equal(dis__vote_patterns_create(NULL, &v, singles, &patterns), DIS_OK);
    assert_int_equal(dis__coefficients_create(&v, &patterns, false, &coefficients), DIS_OK);
    assert_int_equal(dis__agreement_base_create(&patterns, coefficients, n_classes, n, singles, &base), DIS_OK);
    assert_int_equal(dis__agreement_jackknife_annotators(NULL, &base, &v, &rest), DIS_OK);
    assert_int_equal(dis__agreement_jackknife_votes(NULL, &base, &rest), DIS_OK);
    assert_int_equal(rest.n, WORKERS);
    double all[MAX_VALUES], without[WORKERS][MAX_VALUES], by_vote[MAX_VALUES] = {0}, one[MAX_VALUES];
    measure_without(&c, n_classes, singles, SIZE_MAX, SIZE_MAX, all);
    for (size_t w = 0; w < WORKERS; w++) measure_without(&c, n_classes, singles, w, SIZE_MAX, without[w]);
    for (size_t y = 0; y < c.n; y++) {
        measure_without(&c, n_classes, singles, SIZE_MAX, y, one);
        for (size_t i = 0; i < n; i++) by_vote[i] += (one[i] - all[i]) * (one[i] - all[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (isnan(all[i]) || (i == DIS_MEASURE_ALPHA_ORDINAL && n_classes > 2)) continue; /* ranks of all votes */
        em_assert_close(rest.annotators[i], dis__jackknife(&without[0][i], WORKERS, MAX_VALUES), 1e-9);
        em_assert_close(rest.votes[i], by_vote[i], 1e-9);
    }
    dis__agreement_jackknife_destroy(&rest);
    dis__agreement_base_destroy(&base);
    dis__coefficients_destroy(coefficients);
    dis__vote_patterns_destroy(&patterns);
    dis_votes_destroy(votes);
}

static void variances(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        check_variances(seed, CLASSES, false, false); /* classes 0 to 3 are numbers */
        check_variances(seed, 2, false, false);
        check_variances(seed, CLASSES, true, false);
        check_variances(seed, CLASSES, false, true);
    }
}

/* t sqrt(V) to either side in log(1 - value). */
static void put_together(void **state)
{
    (void)state;
    dis__crossed_variances v = {.annotators = .04, .items = .03, .votes = .02, .df_annotators = 8, .df_items = 99};
    double df;
    em_assert_close(dis__crossed_variance_sum(&v, &df), .05, 1e-12);
    em_assert_close(df, .07 * .07 / (.04 * .04 / 8 + .03 * .03 / 99), 1e-12);
    dis_metric m = {.value = .5};
    dis__crossed_interval(&v, -1, 1, &m);
    assert_true(m.has_interval);
    const double reach = log((1 - m.ci_low) / .5);
    em_assert_close(reach, log(.5 / (1 - m.ci_high)), 1e-12);
    em_assert_close(dis__student_tail(reach * .5 / sqrt(.05), df), .025, 1e-9);
    v.votes = .07; /* never below the items, nor half of the annotators */
    em_assert_close(dis__crossed_variance_sum(&v, &df), .03, 1e-12);
    v.items = .001;
    em_assert_close(dis__crossed_variance_sum(&v, &df), .02, 1e-12);
    v.annotators = NAN;
    m = (dis_metric){.value = .5};
    dis__crossed_interval(&v, -1, 1, &m);
    assert_false(m.has_interval);
    assert_string_equal(dis_metric_no_interval_reason(&m), "the value is undefined without one of the annotators");
    em_assert_close(dis__student_critical(.025, 4), 2.7764451051977987, 1e-9);
    em_assert_close(dis__student_critical(.025, 1e9), 1.959963984540054, 1e-6);
}

static const dis_metric *interval_of(const crowd *c, const char *name, dis_agreement **a)
{
    dis_votes *votes = table_of(c, 2);
    if (dis_agreement_run(NULL, votes, NULL, a) != DIS_OK) fail_msg("%s", dis_last_error());
    dis_votes_destroy(votes);
    return dis_agreement_find(*a, name);
}

/* One item, one annotator, votes that never differ: no interval of width 0. */
static void no_interval(void **state)
{
    (void)state;
    dis_agreement *a;
    crowd c = {.n = 2, .worker = {0, 1}, .label = {0, 1}};
    const dis_metric *x = interval_of(&c, "alpha_nominal", &a);
    assert_false(x->has_interval);
    assert_string_equal(dis_metric_no_interval_reason(x), "fewer than two items were compared");
    dis_agreement_destroy(a);
    c = (crowd){.n = 4, .task = {0, 0, 1, 1}, .label = {0, 1, 0, 0}};
    x = interval_of(&c, "percent", &a);
    assert_string_equal(dis_metric_no_interval_reason(x), "fewer than two annotators were compared");
    dis_agreement_destroy(a);
    c = (crowd){.n = 8,
                .task = {0, 0, 1, 1, 2, 2, 3, 3},
                .worker = {0, 1, 1, 2, 0, 2, 0, 1},
                .label = {0, 0, 1, 1, 0, 0, 1, 1}};
    x = interval_of(&c, "alpha_nominal", &a);
    assert_true(x->value == 1 && !x->degenerate && !x->has_interval);
    assert_non_null(dis_metric_no_interval_reason(x));
    dis_agreement_destroy(a);
    c.n = 1;
    x = interval_of(&c, "alpha_nominal", &a);
    assert_string_equal(x->reason, "no item has two votes");
    dis_agreement_destroy(a);
}

/* Pairs that chose nothing but one and the same class have no kappa, and do not enter the mean. */
static void pairs_without_kappa(void **state)
{
    (void)state;
    crowd c = {0};
    for (uint32_t i = 0; i < ITEMS; i++)
        for (uint32_t w = 0; w < 4; w++) { /* 0 and 1 always choose class 0; 2 and 3 differ on every fourth item */
            c.task[c.n] = i;
            c.worker[c.n] = w;
            c.label[c.n++] = w >= 2 && (i + w) % 4 == 0;
        }
    dis_agreement *a;
    const dis_metric *x = interval_of(&c, "cohen", &a);
    const dis_agreement_view v = dis_agreement_get_view(a);
    double sum = 0, n = 0;
    for (size_t p = 0; p < v.n_pairs; p++) {
        if (v.pairs[p].degenerate) continue;
        sum += (double)v.pairs[p].n * v.pairs[p].cohen;
        n += (double)v.pairs[p].n;
    }
    assert_int_equal(v.n_pairs_degenerate, 1);
    assert_int_equal(x->n, 5);
    em_assert_close(x->value, sum / n, 1e-12);
    assert_true(x->value < 0);
    dis_agreement_destroy(a);
}

/* ---- slow: known truth ---- */

static double normal(uint64_t seed, uint64_t stream, uint64_t at)
{
    return dis__normal_quantile((dis__random_uniform(seed, stream, at) + 0x1p-54));
}

/* Items with a score, annotators with thresholds of their own; `noise`: votes for class 1 with this chance. */
static dis_votes *simulate(uint64_t seed, size_t n_items, size_t n_workers, double noise)
{
    const size_t n = n_items * n_workers;
    uint32_t *task = malloc(n * sizeof *task), *worker = malloc(n * sizeof *worker);
    uint16_t *label = malloc(n * sizeof *label);
    assert_true(task && worker && label);
    for (size_t i = 0, v = 0; i < n_items; i++)
        for (size_t w = 0; w < n_workers; w++, v++) {
            const double score = normal(seed, 1, i) + .6 * normal(seed, 2, v), threshold = .5 * normal(seed, 3, w);
            task[v] = (uint32_t)i;
            worker[v] = (uint32_t)w;
            label[v] = noise > 0 ? dis__random_uniform(seed, 4, v) < noise : score > threshold;
        }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = n_items,
                                .n_workers = n_workers,
                                .n_classes = 2,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_votes *votes;
    if (dis_votes_create_from_arrays(NULL, &a, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    free(task);
    free(worker);
    free(label);
    return votes;
}

enum { CROWDS = 300, NAMES = 5 };
static const char *const names[NAMES] = {"percent", "fleiss", "alpha_nominal", "gwet_ac1", "cohen"};

/* How many of the intervals hold the mean of all values (truth NULL), or the truth. */
static void count_held(size_t n_items, size_t n_workers, double noise, const double *truth, size_t held[NAMES])
{
    static dis_metric metric[CROWDS][NAMES];
    double mean[NAMES] = {0};
    for (uint64_t c = 0; c < CROWDS; c++) {
        dis_votes *votes = simulate(c + 1, n_items, n_workers, noise);
        dis_agreement *a;
        if (dis_agreement_run(NULL, votes, NULL, &a) != DIS_OK) fail_msg("%s", dis_last_error());
        for (size_t m = 0; m < NAMES; m++) {
            metric[c][m] = *dis_agreement_find(a, names[m]);
            mean[m] += metric[c][m].value / CROWDS;
        }
        dis_agreement_destroy(a);
        dis_votes_destroy(votes);
    }
    for (size_t m = 0; m < NAMES; m++) {
        const double value = truth ? truth[m] : mean[m];
        held[m] = 0;
        for (size_t c = 0; c < CROWDS; c++) {
            assert_true(metric[c][m].has_interval);
            held[m] += metric[c][m].ci_low <= value && value <= metric[c][m].ci_high;
        }
        print_message("%2zu annotators, %3zu items, noise %.2f: %-14s held %.3f\n", n_workers, n_items, noise, names[m],
                      (double)held[m] / CROWDS);
    }
}

static void coverage(void **state)
{
    (void)state;
    if (!getenv("DISSENT_SLOW")) {
        print_message("skipped: DISSENT_SLOW is not set\n");
        skip();
    }
    static const size_t workers[] = {5, 10, 20, 50};
    /* .95^2 + .05^2 agree by chance; AC1 expects 2 * .05 * .95 */
    static const double chance[NAMES] = {.905, 0, 0, (.905 - .095) / (1 - .095), 0};
    size_t held[NAMES];
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        count_held(200, workers[i], 0, NULL, held);
        for (size_t m = 0; m < NAMES; m++) assert_in_range(held[m], CROWDS * .88, CROWDS * .985);
    }
    count_held(300, 10, .05, chance, held); /* votes that carry nothing, with a rare class */
    for (size_t m = 0; m < NAMES; m++) assert_in_range(held[m], CROWDS * .92, CROWDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(variances), cmocka_unit_test(put_together),
                                       cmocka_unit_test(no_interval), cmocka_unit_test(pairs_without_kappa),
                                       cmocka_unit_test(coverage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
