/* The bootstrap draws what its law says, whatever is computed from it and however many threads compute. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include "core/random/rng.h"
#include "core/random/random.h"
#include "stats/bootstrap.h"

/* Chi-square of observed counts against probabilities; cells with fewer than five expected are put together. */
static double chi_square(const double *seen, const double *expected, size_t n, size_t *freedom)
{
    double chi = 0, rest_seen = 0, rest_expected = 0;
    *freedom = 0;
    for (size_t k = 0; k < n; k++)
        if (expected[k] < 5) {
            rest_seen += seen[k];
            rest_expected += expected[k];
        } else {
            chi += (seen[k] - expected[k]) * (seen[k] - expected[k]) / expected[k];
            ++*freedom;
        }
    if (rest_expected > 1) {
        chi += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
        ++*freedom;
    }
    --*freedom;
    return chi;
}

/* Six standard deviations above the mean of the chi-square distribution. */
static double far_out(size_t freedom)
{
    return (double)freedom + 6 * sqrt(2 * (double)freedom) + 12;
}

static double binomial_mass(double n, double p, double k)
{
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p));
}

static void binomial_numbers_follow_their_law(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        double p;
    } cases[] = {{1, .3},   {7, .5},    {40, .2},       {40, .26},     {100, .05},
                 {100, .9}, {1000, .4}, {100000, 1e-4}, {100000, .003}};
    enum { DRAWS = 100000, ROOM = 2000 };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const double n = (double)cases[c].n, p = cases[c].p;
        static double seen[ROOM], expected[ROOM];
        memset(seen, 0, sizeof seen);
        dis__rng source = dis__rng_at(3, 99, c);
        const double shift = n > ROOM - 1 ? fmax(0, n * p - ROOM / 2.0) : 0;
        for (int i = 0; i < DRAWS; i++) {
            const double k = (double)dis__rng_binomial(&source, cases[c].n, p) - shift;
            assert_true(k >= 0 && k < ROOM);
            seen[(size_t)k]++;
        }
        for (size_t k = 0; k < ROOM; k++)
            expected[k] = (double)k + shift <= n ? DRAWS * binomial_mass(n, p, (double)k + shift) : 0;
        size_t freedom;
        assert_true(chi_square(seen, expected, ROOM, &freedom) < far_out(freedom));
    }
    dis__rng source = dis__rng_at(3, 99, 0);
    assert_int_equal(dis__rng_binomial(&source, 10, 0), 0);
    assert_int_equal(dis__rng_binomial(&source, 10, 1), 10);
    assert_int_equal(dis__rng_binomial(&source, 0, .5), 0);
}

typedef struct {
    size_t n;
    double *seen;  /* how often an item was drawn k times */
    double *total; /* (n) draws of each item */
    double *same;  /* neighbours' products */
    size_t expected_draws;
} law;

static dis_status watch(void *arg, const uint8_t *count, size_t resample, int thread, double *values)
{
    (void)resample;
    (void)thread;
    law *l = arg;
    size_t sum = 0;
    for (size_t i = 0; i < l->n; i++) {
        sum += count[i];
        l->seen[count[i]]++;
        l->total[i] += count[i];
        if (i) *l->same += (double)count[i] * count[i - 1];
    }
    assert_int_equal(sum, l->expected_draws);
    values[0] = count[0];
    return DIS_OK;
}

static void counts_are_multinomial(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double fraction;
        size_t resamples;
    } cases[] = {{1, 1, 100},      {2, 1, 20000},  {10, 1, 20000}, {63, 1, 5000},   {500, 1, 4000},
                 {500, .33, 4000}, {8192, 1, 400}, {8200, 1, 400}, {20000, 1, 200}, {30000, .33, 200}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const size_t n = cases[c].n, resamples = cases[c].resamples;
        const dis__bootstrap b = {.n_items = n,
                                  .n_draws = dis__bootstrap_draws(n, cases[c].fraction),
                                  .n_resamples = resamples,
                                  .seed = c};
        double seen[256] = {0}, expected[256], same = 0;
        law l = {.n = n, .seen = seen, .same = &same, .expected_draws = b.n_draws};
        l.total = calloc(n, sizeof *l.total);
        double *values = calloc(resamples, sizeof *values), *mean = calloc(n, sizeof *mean);
        assert_int_equal(dis__bootstrap_run(NULL, &b, watch, &l, 1, values), DIS_OK);
        const double draws = (double)b.n_draws, all = (double)(n * resamples);
        for (size_t k = 0; k < 256; k++)
            expected[k] = n == 1 ? (k == 1) * all
                                 : ((double)k <= draws ? all * binomial_mass(draws, 1 / (double)n, (double)k) : 0);
        size_t freedom;
        const double chi = chi_square(seen, expected, 256, &freedom);
        if (n == 1)
            assert_true(chi == 0);
        else
            assert_true(chi < 2 * far_out(freedom)); /* counts of a resample depend on one another a little */
        for (size_t i = 0; i < n; i++) mean[i] = (double)resamples * draws / (double)n;
        assert_true(n == 1 || chi_square(l.total, mean, n, &freedom) < far_out(freedom));
        if (n > 2) { /* E m_i m_j = draws (draws - 1) / n^2 */
            const double pairs = (double)(n - 1) * (double)resamples,
                         product = draws * (draws - 1) / (double)n / (double)n;
            assert_true(fabs(same / pairs - product) < 6 * 1.5 / sqrt(pairs));
        }
        free(l.total);
        free(values);
        free(mean);
    }
}

typedef struct {
    const double *x, *y;
    size_t n;
} columns2;

static dis_status slow_sums(void *arg, const uint8_t *count, size_t resample, int thread, double *values)
{
    (void)resample;
    (void)thread;
    const columns2 *c = arg;
    values[0] = values[1] = 0;
    for (size_t i = 0; i < c->n; i++) {
        values[0] += count[i] * c->x[i];
        values[1] += count[i] * c->y[i];
    }
    return DIS_OK;
}

static void sums_are_those_of_the_counts(void **state)
{
    (void)state;
    enum { N = 17003, R = 50 };
    double *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y);
    for (size_t i = 0; i < N; i++) {
        x[i] = dis__random_normal(1, 77, i);
        y[i] = dis__random_uniform(2, 77, i);
    }
    const double *const columns[] = {x, y, x};
    const dis__bootstrap b = {.n_items = N, .n_draws = N, .n_resamples = R, .seed = 9};
    double fast[3 * R], slow[2 * R], again[3 * R];
    columns2 c = {x, y, N};
    assert_int_equal(dis__bootstrap_sums(NULL, &b, columns, 3, fast), DIS_OK);
    assert_int_equal(dis__bootstrap_run(NULL, &b, slow_sums, &c, 2, slow), DIS_OK);
    for (size_t r = 0; r < R; r++) {
        assert_true(fabs(fast[3 * r] - slow[2 * r]) < 1e-9);
        assert_true(fabs(fast[3 * r + 1] - slow[2 * r + 1]) < 1e-9);
        assert_true(fabs(fast[3 * r + 2] - fast[3 * r]) < 1e-9);
    }
    for (int threads = 2; threads <= 7; threads += 5) {
        dis_context_options o = dis_context_options_default();
        o.threads = threads;
        dis_context *ctx;
        assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
        assert_int_equal(dis__bootstrap_sums(ctx, &b, columns, 3, again), DIS_OK);
        assert_memory_equal(again, fast, sizeof fast);
        dis_context_destroy(ctx);
    }
    free(x);
    free(y);
}

static dis_status first_cells(void *arg, const uint64_t *drawn, size_t resample, int thread, double *values)
{
    (void)arg;
    (void)resample;
    (void)thread;
    values[0] = (double)drawn[0];
    values[1] = (double)drawn[3];
    assert_int_equal(drawn[0] + drawn[1] + drawn[2] + drawn[3], 1000);
    assert_int_equal(drawn[1], 0);
    return DIS_OK;
}

static void cells_are_drawn_in_proportion(void **state)
{
    (void)state;
    enum { R = 20000 };
    static const uint64_t cells[] = {600, 0, 395, 5};
    static double values[2 * R];
    const dis__bootstrap b = {.n_items = 1000, .n_draws = 1000, .n_resamples = R, .seed = 4};
    assert_int_equal(dis__bootstrap_cells(NULL, &b, cells, 4, first_cells, NULL, 2, values), DIS_OK);
    double sum[2] = {0}, squares[2] = {0}, product = 0;
    for (size_t r = 0; r < R; r++) {
        for (size_t v = 0; v < 2; v++) {
            sum[v] += values[2 * r + v];
            squares[v] += values[2 * r + v] * values[2 * r + v];
        }
        product += values[2 * r] * values[2 * r + 1];
    }
    const double a = sum[0] / R, c = sum[1] / R;
    assert_true(fabs(a - 600) < 6 * sqrt(240.0 / R));
    assert_true(fabs(c - 5) < 6 * sqrt(5.0 / R));
    assert_true(fabs(squares[0] / R - a * a - 240) < 15);
    assert_true(fabs(squares[1] / R - c * c - 4.975) < .4);
    assert_true(fabs(product / R - a * c + 3) < 1.5); /* covariance -n p q */
}

static void intervals_follow_the_stated_rule(void **state)
{
    (void)state;
    double x[41], low = 0, high = 0;
    for (int i = 0; i < 41; i++) x[i] = 40 - i;
    assert_true(dis__bootstrap_interval(x, 41, &low, &high));
    assert_true(fabs(low - 1) < 1e-12 && fabs(high - 39) < 1e-12);
    double y[] = {3, NAN, 1, NAN, 2};
    assert_true(dis__bootstrap_interval(y, 5, &low, &high));
    assert_true(fabs(low - 1.05) < 1e-12 && fabs(high - 2.95) < 1e-12);
    double z[] = {NAN, NAN, 1};
    assert_false(dis__bootstrap_interval(z, 3, &low, &high));
    assert_true(fabs(low - 1.05) < 1e-12);
    const double table[] = {1, 10, 2, 20, 3, 30};
    double scratch[3];
    assert_true(dis__bootstrap_interval_of(table, 3, 2, 1, scratch, &low, &high));
    assert_true(fabs(low - 10.5) < 1e-12 && fabs(high - 29.5) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binomial_numbers_follow_their_law), cmocka_unit_test(counts_are_multinomial),
        cmocka_unit_test(sums_are_those_of_the_counts),      cmocka_unit_test(cells_are_drawn_in_proportion),
        cmocka_unit_test(intervals_follow_the_stated_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
