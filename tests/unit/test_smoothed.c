/* smoothed: the estimate maximises its objective, finds the strength of simulated crowds, and what it does where votes
 * do not determine it. */
#include "dissent/dissent.h"
#include "core/random/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_CLASSES = 5 };

static dis_fit *fit_counts(const double *counts, size_t n, size_t n_classes, const char *spec)
{
    dis_votes *votes;
    dis_fit *fit;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, n, n_classes, NULL, NULL, &votes), DIS_OK);
    if (dis_fit_run(NULL, votes, spec, NULL, &fit) != DIS_OK) fail_msg("%s: %s", spec, dis_last_error());
    dis_votes_destroy(votes);
    return fit;
}

static const double *prior_of(const dis_fit *fit)
{
    const dis_parameter *prior = dis_fit_find_parameter(fit, "prior");
    assert_non_null(prior);
    return prior->values;
}

static double gauss(uint64_t stream, uint64_t i)
{
    return sqrt(-2 * log(1 - dis__random_uniform(stream, 7, 2 * i))) *
           cos(2 * acos(-1) * dis__random_uniform(stream, 7, 2 * i + 1));
}

/* By Marsaglia and Tsang, from shape 1 on; below, of shape + 1 times a power of a uniform number. */
static double gamma_draw(double shape, uint64_t stream, uint64_t *i)
{
    if (shape < 1) {
        const double x = gamma_draw(shape + 1, stream, i);
        return x * pow(1 - dis__random_uniform(stream, 8, (*i)++), 1 / shape);
    }
    const double d = shape - 1. / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = gauss(stream, (*i)++), v = 1 + c * x, u = 1 - dis__random_uniform(stream, 8, (*i)++);
        if (v > 0 && log(u) < x * x / 2 + d - d * v * v * v + d * log(v * v * v)) return d * v * v * v;
    }
}

/* Votes on n items from a Dirichlet-multinomial; item i gets 2 + i % 4 of them. */
static double *draw_counts(size_t n, size_t K, double strength, const double *rates, uint64_t stream)
{
    double *counts = calloc(n * K, sizeof *counts);
    uint64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        double p[MAX_CLASSES], sum = 0;
        for (size_t k = 0; k < K; k++) sum += p[k] = gamma_draw(strength * rates[k], stream, &at);
        for (size_t v = 0; v < 2 + i % 4; v++) {
            double u = dis__random_uniform(stream, 9, at++) * sum;
            size_t k = 0;
            while (k + 1 < K && u >= p[k]) u -= p[k++];
            counts[i * K + k]++;
        }
    }
    return counts;
}

/* The objective as the documentation has it. */
static double objective(const double *counts, size_t n, size_t K, const double *alpha)
{
    double a = 0, sum = 0, share[MAX_CLASSES] = {0};
    for (size_t k = 0; k < K; k++) a += alpha[k];
    for (size_t i = 0; i < n; i++) {
        double votes = 0;
        for (size_t k = 0; k < K; k++) votes += counts[i * K + k];
        for (size_t k = 0; k < K; k++) share[k] += counts[i * K + k] / votes;
        for (size_t k = 0; k < K && votes > 1; k++)
            if (counts[i * K + k] > 0)
                sum += counts[i * K + k] / votes * log((counts[i * K + k] - 1 + alpha[k]) / (votes - 1 + a));
    }
    for (size_t k = 0; k < K; k++) sum += 10 * (share[k] + 1 / (double)K) / ((double)n + 1) * log(alpha[k] / a);
    return sum - log(a / 2) * log(a / 2) / (2 * 1.5 * 1.5);
}

static void the_estimate_is_the_maximum(void **state)
{
    (void)state;
    enum { N = 500, K = 4 };
    const double rates[K] = {.55, .3, .1, .05}, strengths[] = {.2, 1, 5, 40};
    for (size_t s = 0; s < sizeof strengths / sizeof *strengths; s++) {
        double *counts = draw_counts(N, K, strengths[s], rates, 100 + s), alpha[K];
        dis_fit *fit = fit_counts(counts, N, K, "smoothed");
        const dis_fit_view v = dis_fit_get_view(fit);
        for (size_t k = 0; k < K; k++) alpha[k] = v.prior_strength * prior_of(fit)[k];
        const double best = objective(counts, N, K, alpha);
        assert_true(v.converged && v.iterations < 20);
        assert_true(fabs(v.objective - best) < 1e-9 * fabs(best));
        for (size_t t = 1; t < v.n_trace; t++) assert_true(v.trace[t] >= v.trace[t - 1] - 1e-10 * fabs(v.trace[t]));
        for (size_t k = 0; k < K; k++) { /* flat here: what a step of 1e-3 loses is of second order */
            double up[K], down[K];
            memcpy(up, alpha, sizeof up);
            memcpy(down, alpha, sizeof down);
            up[k] *= exp(1e-3);
            down[k] *= exp(-1e-3);
            const double above = objective(counts, N, K, up), below = objective(counts, N, K, down);
            assert_true(above < best && below < best);
            assert_true(fabs(above - below) < 1e-2 * (2 * best - above - below));
        }
        dis_fit_destroy(fit);
        free(counts);
    }
}

/* 3,000 items: the mean over 20 crowds is within 5 % of the true strength, the rates within .01. */
static void the_strength_of_simulated_crowds_is_found(void **state)
{
    (void)state;
    enum { N = 3000, K = 3, CROWDS = 20 };
    const double rates[K] = {.6, .3, .1}, strengths[] = {.5, 2, 8};
    for (size_t s = 0; s < sizeof strengths / sizeof *strengths; s++) {
        double mean = 0, prior[K] = {0};
        for (size_t c = 0; c < CROWDS; c++) {
            double *counts = draw_counts(N, K, strengths[s], rates, 1000 + 100 * s + c);
            dis_fit *fit = fit_counts(counts, N, K, "smoothed");
            mean += log(dis_fit_get_view(fit).prior_strength) / CROWDS;
            for (size_t k = 0; k < K; k++) prior[k] += prior_of(fit)[k] / CROWDS;
            dis_fit_destroy(fit);
            free(counts);
        }
        print_message("strength %g: %.4f, rates %.4f %.4f %.4f\n", strengths[s], exp(mean), prior[0], prior[1],
                      prior[2]);
        assert_true(fabs(mean - log(strengths[s])) < .05);
        for (size_t k = 0; k < K; k++) assert_true(fabs(prior[k] - rates[k]) < .01);
    }
}

static void unanimous_votes_leave_something_for_other_classes(void **state)
{
    (void)state;
    enum { N = 200 };
    double counts[2 * N];
    for (size_t i = 0; i < N; i++) {
        counts[2 * i] = i % 2 ? 5 : 0;
        counts[2 * i + 1] = 5 - counts[2 * i];
    }
    dis_fit *fit = fit_counts(counts, N, 2, "smoothed");
    const double strength = dis_fit_get_view(fit).prior_strength, rare = dis_fit_p(fit)[0];
    assert_true(strength > .001 && strength < .2);
    assert_true(rare > 0 && rare < .02);
    assert_true(fabs(rare - strength / 2 / (5 + strength)) < 1e-12);
    dis_fit_destroy(fit);
}

static void random_votes_get_the_class_rates(void **state)
{
    (void)state;
    enum { N = 2000 };
    double *counts = calloc(2 * N, sizeof *counts);
    for (size_t i = 0; i < N; i++)
        for (uint64_t v = 0; v < 5; v++) counts[2 * i + (dis__random_uniform(3, 4, 5 * i + v) < .3)]++;
    dis_fit *fit = fit_counts(counts, N, 2, "smoothed");
    assert_true(dis_fit_get_view(fit).prior_strength > 20);
    double largest = 0;
    for (size_t i = 0; i < N; i++) largest = fmax(largest, fabs(dis_fit_p(fit)[2 * i] - .7));
    assert_true(largest < .12);
    dis_fit_destroy(fit);
    free(counts);
}

static void a_strength_that_votes_do_not_determine_is_assumed(void **state)
{
    (void)state;
    static const double single[] = {1, 0, 0, 1, 1, 0}, fractions[] = {1.5, .5, 2, 1, 1, 3}, one_class[] = {3, 2};
    static const struct {
        const double *counts;
        size_t n, K;
        bool warned;
    } cases[] = {{single, 3, 2, true}, {fractions, 3, 2, true}, {one_class, 2, 1, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        dis_fit *fit = fit_counts(cases[c].counts, cases[c].n, cases[c].K, "smoothed");
        assert_true(dis_fit_get_view(fit).prior_strength == 2);
        const char *warning = dis_fit_get_warning(fit, 0);
        assert_true(cases[c].warned == (warning != NULL));
        if (warning) assert_non_null(strstr(warning, "strength 2 was assumed"));
        dis_fit_destroy(fit);
        fit = fit_counts(cases[c].counts, cases[c].n, cases[c].K, "smoothed:strength=3");
        assert_true(fabs(dis_fit_get_view(fit).prior_strength - 3) < 1e-12 && !dis_fit_get_warning(fit, 0));
        dis_fit_destroy(fit);
    }
    dis_fit *fit = fit_counts(single, 3, 2, "standard");
    assert_true(isnan(dis_fit_get_view(fit).prior_strength));
    dis_fit_destroy(fit);
}

/* A few items that agree: the prior keeps the estimate away from both ends. */
static void few_items_are_held_by_the_prior(void **state)
{
    (void)state;
    static const double agree[] = {3, 0, 0, 3}, differ[] = {1, 1, 1, 1}, one[] = {2, 0};
    const double *const cases[] = {agree, differ, one};
    for (size_t c = 0; c < 3; c++) {
        dis_fit *fit = fit_counts(cases[c], c < 2 ? 2 : 1, 2, "smoothed");
        const double strength = dis_fit_get_view(fit).prior_strength;
        assert_true(strength > .2 && strength < 20);
        assert_true(c == 1 ? strength > 2 : strength < 2);
        dis_fit_destroy(fit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_estimate_is_the_maximum),
        cmocka_unit_test(the_strength_of_simulated_crowds_is_found),
        cmocka_unit_test(unanimous_votes_leave_something_for_other_classes),
        cmocka_unit_test(random_votes_get_the_class_rates),
        cmocka_unit_test(a_strength_that_votes_do_not_determine_is_assumed),
        cmocka_unit_test(few_items_are_held_by_the_prior),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
