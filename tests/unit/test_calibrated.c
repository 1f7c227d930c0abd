/* The combination calibrated: the formula item by item, votes and counts, what must not change. */
#include "em_support.h"

enum { N = 301, K = 3, M = 2 };

/* Item i has 1 + i % 40 votes, so that some lie beyond the limit. */
static dis_votes *make_counts(void)
{
    static double counts[N * K];
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < K; k++) counts[i * K + k] = k == 0 ? (double)(1 + i % 40) : 0;
    dis_votes *votes;
    assert_int_equal(dis_votes_from_counts(NULL, counts, N, K, NULL, NULL, &votes), DIS_OK);
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
    const dis_views views = {.n_items = N, .n_classes = K, .n_views = M, .p = p, .weight = weight, .votes = votes};
    assert_int_equal(dis_views_combine(NULL, &views, "calibrated:power=.5,limit=25", out, NULL), DIS_OK);
    for (size_t i = 0; i < N; i++) {
        double q[M][K];
        const double t = sqrt(fmin((double)(1 + i % 40), 25));
        for (size_t m = 0; m < M; m++) tempered(table[m] + i * K, t, q[m]);
        for (size_t k = 0; k < K; k++) em_assert_close(out[i * K + k], .25 * q[0][k] + .75 * q[1][k], 1e-14);
    }
    /* independent votes: the plain mean */
    assert_int_equal(dis_views_combine(NULL, &views, "calibrated:power=0", out, NULL), DIS_OK);
    for (size_t x = 0; x < N * K; x++) em_assert_close(out[x], .25 * table[0][x] + .75 * table[1][x], 1e-14);
    dis_votes_destroy(votes);
}

/* What gold pins stays pinned, to the last digit, and 100,000 votes on one item are fine. */
static void pinned_items_and_many_votes(void **state)
{
    (void)state;
    const double counts[] = {3, 1, 0, 100000, 1, 1}, one[] = {0, 1, 0, 1, 0, 0}, two[] = {0, 1, 0, .5, .5, 0};
    dis_votes *votes;
    assert_int_equal(dis_votes_from_counts(NULL, counts, 2, K, NULL, NULL, &votes), DIS_OK);
    const double *const p[M] = {one, two};
    double out[2 * K];
    const dis_views views = {.n_items = 2, .n_classes = K, .n_views = M, .p = p, .votes = votes};
    assert_int_equal(dis_views_combine(NULL, &views, "calibrated", out, NULL), DIS_OK);
    const double expected[] = {0, 1, 0, .75, .25, 0};
    assert_memory_equal(out, expected, sizeof out);
    dis_votes_destroy(votes);
}

static void without_votes(void **state)
{
    (void)state;
    const double one[] = {.5, .5, 0}, *const p[] = {one};
    double out[K] = {7, 7, 7};
    const dis_views views = {.n_items = 1, .n_classes = K, .n_views = 1, .p = p};
    assert_int_equal(dis_views_combine(NULL, &views, "calibrated", out, NULL), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "needs the votes"));
    assert_true(out[0] == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formula),
        cmocka_unit_test(pinned_items_and_many_votes),
        cmocka_unit_test(without_votes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
