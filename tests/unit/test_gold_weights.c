/* Known labels that choose weights, power and class weights: the formula by hand, what they leave alone, and that they
 * help on crowds that mislead the models. */
#include "support/em_support.h"
#include "core/random/random.h"
#include "labels/combiner.h"
#include <stdlib.h>

enum { N = 60, K = 3, M = 2, KNOWN = 24 };

/* Two views with a fifth and a third of the items wrong. */
static void make_views(double table[M][N * K], int32_t *gold)
{
    for (size_t i = 0; i < N; i++) {
        gold[i] = i < KNOWN ? (int32_t)(i % K) : -1;
        for (size_t m = 0; m < M; m++)
            for (size_t k = 0; k < K; k++) {
                const size_t label = (m ? i % 3 : i % 5) ? i % K : (i + 1) % K;
                table[m][i * K + k] = k == label ? .8 : .1;
            }
    }
}

static dis_votes *make_counts(double *counts)
{
    dis_votes *votes;
    for (size_t x = 0; x < N * K; x++) counts[x] = (double)(1 + (x * 5 + x / K) % 3);
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, N, K, NULL, NULL, &votes), DIS_OK);
    return votes;
}

static double total(const double *x)
{
    return x[0] + x[1] + x[2];
}

/* With a fixed power there are three hypotheses: the base and each view. */
static void the_formula(void **state)
{
    (void)state;
    static double table[M][N * K], counts[N * K], out[N * K], again[N * K];
    static int32_t gold[N];
    const double mix = .25, base[M] = {.5, .5};
    double rate[K] = {0}, score[1 + M] = {log(2 / 3.), log(1 / 6.), log(1 / 6.)}, weight[M], all = 0;
    make_views(table, gold);
    dis_votes *votes = make_counts(counts);
    const double *const p[M] = {table[0], table[1]};
    for (size_t x = 0; x < N * K; x++) rate[x % K] += counts[x];
    for (size_t k = 0; k < K; k++) all += rate[k];
    for (size_t i = 0; i < KNOWN; i++) {
        const size_t y = (size_t)gold[i];
        const double n = total(counts + i * K), share = (counts[i * K + y] + 2 * rate[y] / all) / (n + 2);
        double q[1 + M] = {0};
        for (size_t m = 0; m < M; m++) {
            double t[K];
            for (size_t k = 0; k < K; k++) t[k] = pow(p[m][i * K + k], 1 / sqrt(fmin(n, 16)));
            q[1 + m] = (1 - mix) * t[y] / total(t) + mix * share;
            q[0] += base[m] * q[1 + m];
        }
        for (size_t h = 0; h <= M; h++) score[h] += log(q[h]);
    }
    const double norm = exp(score[0]) + exp(score[1]) + exp(score[2]);
    for (size_t m = 0; m < M; m++) weight[m] = (exp(score[1 + m]) + base[m] * exp(score[0])) / norm;

    const dis_views views = {
        .size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = M, .p = p, .votes = votes, .gold = gold};
    dis__gold_weights choice = {0};
    dis_combination did = dis_combination_default();
    const char *spec = "calibrated:gold=choose,power=.5,mix=.25";
    assert_int_equal(dis__views_combine(NULL, &views, spec, &choice, out, &did), DIS_OK);
    assert_int_equal(did.n_gold, KNOWN);
    assert_true(did.power == .5);
    for (size_t m = 0; m < M; m++) em_assert_close(did.weight[m], weight[m], 1e-9);
    assert_true(did.weight[0] > .5 && did.weight[1] > .01);

    /* the gradient of the class weights is 0, by the labels before these weights */
    char plain[160];
    snprintf(plain, sizeof plain, "calibrated:power=.5,mix=.25,weights=%.17g/%.17g", did.weight[0], did.weight[1]);
    const dis_views unknown = {
        .size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = M, .p = p, .votes = votes};
    assert_int_equal(dis_views_combine(NULL, &unknown, plain, again, NULL), DIS_OK);
    double gradient[K];
    for (size_t k = 0; k < K; k++) gradient[k] = -log(choice.class_weight[k]) / (.2 * .2);
    for (size_t i = 0; i < N; i++) {
        double q[K];
        for (size_t k = 0; k < K; k++) q[k] = again[i * K + k] * choice.class_weight[k];
        for (size_t k = 0; k < K && gold[i] >= 0; k++) gradient[k] += ((int32_t)k == gold[i]) - q[k] / total(q);
        for (size_t k = 0; k < K; k++)
            em_assert_close(out[i * K + k], gold[i] >= 0 ? (int32_t)k == gold[i] : q[k] / total(q), 1e-9);
    }
    for (size_t k = 0; k < K; k++) em_assert_close(gradient[k], 0, 1e-6);
    dis__free(choice.class_weight);
    dis_votes_destroy(votes);
}

/* ---- crowds with a known truth ---- */

enum { ITEMS = 800, WORKERS = 30, VOTES = 5 };

typedef struct {
    dis_votes *votes;
    int32_t truth[ITEMS];
} crowd;

static double normal(uint64_t seed, uint64_t i)
{
    const double u = dis__random_uniform(seed, 900, i), v = dis__random_uniform(seed, 901, i);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

/* Two classes, the second rare. Items differ by `spread` in log-odds, and `misled` of those of the first class look like
 * the second one to everybody. */
static void make_crowd(double spread, double misled, uint64_t seed, crowd *c)
{
    static uint32_t task[ITEMS * VOTES], worker[ITEMS * VOTES];
    static uint16_t label[ITEMS * VOTES];
    for (size_t i = 0, n = 0; i < ITEMS; i++) {
        c->truth[i] = dis__random_uniform(seed, 903, i) < .3;
        const bool is_informed = c->truth[i] || dis__random_uniform(seed, 904, i) < misled;
        for (size_t v = 0; v < VOTES; v++, n++) {
            task[n] = (uint32_t)i;
            worker[n] = (uint32_t)((i * 7 + v * 5) % WORKERS);
            const double odds = exp(.6 + 1.4 * worker[n] / (WORKERS - 1) + spread * normal(seed, i));
            label[n] = (uint16_t)(dis__random_uniform(seed, 902, n) < odds / (1 + odds) ? is_informed : !is_informed);
        }
    }
    c->votes = em_make_votes(ITEMS * VOTES, task, worker, label, ITEMS, WORKERS, 2);
}

/* Labels by the default recipe with the first n labels known; the loss of the other items. */
static double label_crowd(const crowd *c, size_t n, const char *combine, dis_combination *did, double *out)
{
    static int32_t gold[ITEMS];
    dis_label_plan choice = dis_label_plan_default();
    dis_label_result *result;
    dis_fit_options fit = dis_fit_options_default();
    dis_label_result_options how = dis_label_result_options_default();
    for (size_t i = 0; i < ITEMS; i++) gold[i] = i < n ? c->truth[i] : -1;
    fit.gold = gold;
    how.fit = &fit;
    assert_int_equal(dis_label_plan_parse(NULL, 0, combine, true, &choice), DIS_OK);
    assert_int_equal(dis_label_result_run(NULL, c->votes, &choice, &how, &result), DIS_OK);
    const dis_label_result_view view = dis_label_result_get_view(result);
    double loss = 0;
    *did = *view.combination;
    for (size_t i = 0; i < ITEMS; i++) {
        const double p = view.p[i * 2 + (size_t)c->truth[i]];
        if (i < n) assert_true(p == 1);
        if (i >= n) loss -= log(p) / (double)(ITEMS - n);
    }
    if (out) memcpy(out, view.p, ITEMS * 2 * sizeof *out);
    dis_label_result_destroy(result);
    return loss;
}

static const char pinned[] = "calibrated:weights=votes";

/* Fewer than ten are pinned only, and so are any number of them with a combination that the caller named. */
static void few_labels_and_named_combinations(void **state)
{
    (void)state;
    static double usual[ITEMS * 2], named[ITEMS * 2];
    crowd c;
    dis_combination did = dis_combination_default(), other = did;
    make_crowd(.5, .1, 3, &c);
    for (size_t n = 0; n < DIS_MIN_GOLD; n += 3) {
        label_crowd(&c, n, NULL, &did, usual);
        label_crowd(&c, n, pinned, &other, named);
        assert_memory_equal(usual, named, sizeof usual);
        assert_true(did.n_gold == 0 && other.n_gold == 0 && isnan(did.gold_loss));
    }
    label_crowd(&c, 50, pinned, &other, NULL);
    assert_int_equal(other.n_gold, 0);
    label_crowd(&c, DIS_MIN_GOLD, NULL, &did, NULL);
    assert_int_equal(did.n_gold, DIS_MIN_GOLD);
    dis_votes_destroy(c.votes);
}

/* Which items come first changes rounding only. */
static void order_of_items(void **state)
{
    (void)state;
    static double counts[N * K], table[M][N * K], one[N * K], two[N * K], turned_counts[N * K], turned[M][N * K];
    static int32_t gold[N], turned_gold[N];
    make_views(table, gold);
    dis_votes *votes = make_counts(counts), *turned_votes;
    for (size_t i = 0; i < N; i++) {
        turned_gold[N - 1 - i] = gold[i];
        for (size_t k = 0; k < K; k++) {
            turned_counts[(N - 1 - i) * K + k] = counts[i * K + k];
            for (size_t m = 0; m < M; m++) turned[m][(N - 1 - i) * K + k] = table[m][i * K + k];
        }
    }
    assert_int_equal(dis_votes_create_from_counts(NULL, turned_counts, N, K, NULL, NULL, &turned_votes), DIS_OK);
    const double *const p[M] = {table[0], table[1]}, *const q[M] = {turned[0], turned[1]};
    dis_views views = {
        .size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = M, .p = p, .votes = votes, .gold = gold};
    dis_combination did = dis_combination_default(), same = did;
    assert_int_equal(dis_views_combine(NULL, &views, "calibrated:gold=choose", one, &did), DIS_OK);
    views.p = q;
    views.votes = turned_votes;
    views.gold = turned_gold;
    assert_int_equal(dis_views_combine(NULL, &views, "calibrated:gold=choose", two, &same), DIS_OK);
    em_assert_close(did.gold_loss, same.gold_loss, 1e-12);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < K; k++) em_assert_close(one[i * K + k], two[(N - 1 - i) * K + k], 1e-12);
    dis_votes_destroy(votes);
    dis_votes_destroy(turned_votes);
}

/* A fifth of the items of the first class mislead everybody: the items without a known label gain by the known ones. */
static void known_labels_help_where_models_are_misled(void **state)
{
    (void)state;
    double gain = 0, expected = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        crowd c;
        dis_combination did = dis_combination_default(), other = did;
        make_crowd(.3, .2, seed, &c);
        const double chosen = label_crowd(&c, 100, NULL, &did, NULL),
                     usual = label_crowd(&c, 100, pinned, &other, NULL);
        gain += (usual - chosen) / 4;
        expected += (did.gold_loss_base - did.gold_loss) / 4;
        dis_votes_destroy(c.votes);
    }
    assert_true(gain > .01);
    assert_true(expected > 0 && fabs(expected - gain) < .05);
}

/* The figure that is told: over 225 crowds the expected loss is that of the other items, and the choice does no harm if
 * errors are independent. */
static void what_is_expected_comes_true(void **state)
{
    (void)state;
    if (!getenv("DISSENT_SLOW")) {
        print_message("skipped: DISSENT_SLOW is not set\n");
        skip();
    }
    const double spread[] = {0, .8, .3}, misled[] = {0, 0, .2};
    for (size_t x = 0; x < 3; x++)
        for (size_t n = 20; n <= 100; n += 40) {
            enum { CROWDS = 25 };
            double apart = 0, gain = 0;
            for (uint64_t seed = 1; seed <= CROWDS; seed++) {
                crowd c;
                dis_combination did = dis_combination_default(), other = did;
                make_crowd(spread[x], misled[x], seed, &c);
                const double chosen = label_crowd(&c, n, NULL, &did, NULL);
                gain += (label_crowd(&c, n, pinned, &other, NULL) - chosen) / CROWDS;
                apart += (did.gold_loss - chosen) / CROWDS;
                dis_votes_destroy(c.votes);
            }
            print_message("spread %.1f, misled %.1f, %zu known: gain %+.4f, expected loss - true loss %+.4f\n",
                          spread[x], misled[x], n, gain, apart);
            assert_true(gain > -.006);
            assert_true(fabs(apart) < .03);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formula),
        cmocka_unit_test(few_labels_and_named_combinations),
        cmocka_unit_test(order_of_items),
        cmocka_unit_test(known_labels_help_where_models_are_misled),
        cmocka_unit_test(what_is_expected_comes_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
