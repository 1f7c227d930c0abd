/* The combination calibrated: the formula item by item, votes and counts, the estimate of the overdispersion. */
#include "support/em_support.h"
#include "core/random/random.h"

enum { N = 301, K = 3, M = 2 };

/* Item i has 1 + i % 40 votes, so that some lie beyond the limit. */
static dis_votes *make_counts(void)
{
    static double counts[N * K];
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < K; k++) counts[i * K + k] = k == 0 ? (double)(1 + i % 40) : 0;
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, N, K, NULL, NULL, &votes), DIS_OK);
    return votes;
}

static void make_views(double table[M][N * K])
{
    for (size_t m = 0; m < M; m++)
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t k = 0; k < K; k++)
                sum += table[m][i * K + k] = exp(-(double)((i * 7 + k * (11 + m * 5)) % 29) * (double)(1 + m));
            for (size_t k = 0; k < K; k++) table[m][i * K + k] /= sum;
        }
}

static void tempered(const double *p, double t, double *q)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += q[k] = pow(p[k], 1 / t);
    for (size_t k = 0; k < K; k++) q[k] /= sum;
}

static void the_formula(void **state)
{
    (void)state;
    static double table[M][N * K], out[N * K];
    make_views(table);
    dis_votes *votes = make_counts();
    const double *const p[M] = {table[0], table[1]}, weight[M] = {1, 3};
    const dis_views views = {.size = sizeof(dis_views),
                             .n_items = N,
                             .n_classes = K,
                             .n_views = M,
                             .p = p,
                             .weight = weight,
                             .votes = votes};
    assert_int_equal(dis_views_combine(NULL, &views, "calibrated:power=.5,limit=25,mix=0", out, NULL), DIS_OK);
    for (size_t i = 0; i < N; i++) {
        double q[M][K];
        const double t = sqrt(fmin((double)(1 + i % 40), 25));
        for (size_t m = 0; m < M; m++) tempered(table[m] + i * K, t, q[m]);
        for (size_t k = 0; k < K; k++) em_assert_close(out[i * K + k], .25 * q[0][k] + .75 * q[1][k], 1e-14);
    }
    /* independent votes: the plain mean */
    assert_int_equal(dis_views_combine(NULL, &views, "calibrated:power=0,mix=0", out, NULL), DIS_OK);
    for (size_t x = 0; x < N * K; x++) em_assert_close(out[x], .25 * table[0][x] + .75 * table[1][x], 1e-14);
    dis_votes_destroy(votes);
}

/* What gold pins stays pinned, to the last digit, and 100,000 votes on one item are fine. */
static void pinned_items_and_many_votes(void **state)
{
    (void)state;
    const double counts[] = {3, 1, 0, 100000, 1, 1}, one[] = {0, 1, 0, 1, 0, 0}, two[] = {0, 1, 0, .5, .5, 0};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, 2, K, NULL, NULL, &votes), DIS_OK);
    const double *const p[M] = {one, two};
    double out[2 * K];
    const dis_views views = {
        .size = sizeof(dis_views), .n_items = 2, .n_classes = K, .n_views = M, .p = p, .votes = votes};
    assert_int_equal(dis_views_combine(NULL, &views, "calibrated", out, NULL), DIS_OK);
    const double pinned[] = {0, 1, 0};
    assert_memory_equal(out, pinned, sizeof pinned);
    assert_true(out[K + 2] == 0); /* no view allows it */
    em_assert_close(out[K] + out[K + 1], 1, 1e-15);
    dis_votes_destroy(votes);
}

/* The second term: shares of the votes, smoothed by two votes at the class rates. */
static void vote_shares_are_mixed_in(void **state)
{
    (void)state;
    const double counts[] = {3, 1, 0, 2, 2, 2}, view[] = {.9, .1, 1e-9, .2, .3, .5}, rate[] = {.5, .3, .2};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, 2, K, NULL, NULL, &votes), DIS_OK);
    const double *const p[] = {view};
    double out[2 * K];
    const dis_views views = {
        .size = sizeof(dis_views), .n_items = 2, .n_classes = K, .n_views = 1, .p = p, .votes = votes};
    assert_int_equal(dis_views_combine(NULL, &views, "calibrated:power=0,mix=.25", out, NULL), DIS_OK);
    for (size_t i = 0; i < 2; i++) {
        const double n = i ? 6 : 4;
        for (size_t k = 0; k < K; k++)
            em_assert_close(out[i * K + k], .75 * view[i * K + k] + .25 * (counts[i * K + k] + 2 * rate[k]) / (n + 2),
                            1e-9);
    }
    dis_votes_destroy(votes);
}

/* A crowd of 40 annotators with accuracies from .6 to .95 and 8 votes per item on 2 classes. The effect of an item on
 * the log-odds of a correct vote has the given standard deviation. */
enum { CROWD_ITEMS = 1500, CROWD_WORKERS = 40, CROWD_VOTES = 8 };

static double normal(uint64_t seed, uint64_t i)
{
    const double u = dis__random_uniform(seed, 900, i), v = dis__random_uniform(seed, 901, i);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

static dis_votes *make_crowd(size_t n_items, double spread, uint64_t seed)
{
    static uint32_t task[CROWD_ITEMS * CROWD_VOTES], worker[CROWD_ITEMS * CROWD_VOTES];
    static uint16_t label[CROWD_ITEMS * CROWD_VOTES];
    size_t n = 0;
    for (size_t i = 0; i < n_items; i++)
        for (size_t v = 0; v < CROWD_VOTES; v++, n++) {
            task[n] = (uint32_t)i;
            worker[n] = (uint32_t)((i * 7 + v * 5) % CROWD_WORKERS);
            const double accuracy = .6 + .35 * worker[n] / (CROWD_WORKERS - 1);
            const double odds = exp(log(accuracy / (1 - accuracy)) + spread * normal(seed, i));
            const bool correct = dis__random_uniform(seed, 902, n) < odds / (1 + odds);
            label[n] = (uint16_t)(correct ? i % 2 : 1 - i % 2);
        }
    return em_make_votes(n, task, worker, label, n_items, CROWD_WORKERS, 2);
}

static dis_combination label_crowd(const dis_votes *votes, const char *combine, double *out)
{
    dis_label_plan choice = dis_label_plan_default();
    dis_label_result *result;
    assert_int_equal(dis_label_plan_parse(NULL, 0, combine, true, &choice), DIS_OK);
    assert_int_equal(dis_label_result_run(NULL, votes, &choice, NULL, &result), DIS_OK);
    const dis_label_result_view v = dis_label_result_get_view(result);
    const dis_combination did = *v.combination;
    memcpy(out, v.p, dis_votes_get_view(votes).n_items * 2 * sizeof *out);
    dis_label_result_destroy(result);
    return did;
}

static void overdispersion_is_estimated_from_the_votes(void **state)
{
    (void)state;
    static double out[2 * CROWD_ITEMS], again[2 * CROWD_ITEMS];
    const double spread[] = {0, 1};
    double power[2];
    for (size_t s = 0; s < 2; s++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            dis_votes *votes = make_crowd(CROWD_ITEMS, spread[s], seed);
            const dis_combination did = label_crowd(votes, NULL, out);
            if (spread[s] == 0) assert_true(did.overdispersion < .15);
            if (spread[s] == 1) assert_true(did.overdispersion > .6 && did.overdispersion < 1.4);
            power[s] = did.power;
            dis_votes_destroy(votes);
        }
    assert_true(power[0] < .53 && power[1] > .66);
    /* the power that is reported gives the same bytes */
    dis_votes *votes = make_crowd(CROWD_ITEMS, 1, 3);
    char spec[64];
    snprintf(spec, sizeof spec, "calibrated:weights=votes,power=%.3f", power[1]);
    const dis_combination did = label_crowd(votes, spec, again);
    assert_memory_equal(out, again, sizeof out);
    assert_true(isnan(did.overdispersion) && did.power == power[1]);
    dis_votes_destroy(votes);
    /* a few items say little: near the prior mean, whatever they are */
    votes = make_crowd(6, 0, 1);
    em_assert_close(label_crowd(votes, NULL, out).overdispersion, .7, .35);
    dis_votes_destroy(votes);
}

static void power_is_a_number_or_auto(void **state)
{
    (void)state;
    assert_int_equal(dis_combiner_check("calibrated:power=auto"), DIS_OK);
    assert_int_equal(dis_combiner_check("calibrated:power=many"), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "a number from 0 to 1, or auto"));
}

static void without_votes(void **state)
{
    (void)state;
    const double one[] = {.5, .5, 0}, *const p[] = {one};
    double out[K] = {7, 7, 7};
    const dis_views views = {.size = sizeof(dis_views), .n_items = 1, .n_classes = K, .n_views = 1, .p = p};
    assert_int_equal(dis_views_combine(NULL, &views, "calibrated", out, NULL), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "needs the votes"));
    assert_true(out[0] == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formula),
        cmocka_unit_test(pinned_items_and_many_votes),
        cmocka_unit_test(vote_shares_are_mixed_in),
        cmocka_unit_test(overdispersion_is_estimated_from_the_votes),
        cmocka_unit_test(power_is_a_number_or_auto),
        cmocka_unit_test(without_votes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
