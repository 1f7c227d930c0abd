/* Temperatures: the right derivatives, the minimum under the bound, and what is reported about it. */
#include "labels/combine/tempering.h"
#include "core/random/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { N = 203, K = 4, M = 3 };
static double table[M][N * K];
static const double *const views[M] = {table[0], table[1], table[2]};

/* Three views of the same items, each surer than the one before; some entries are exactly 0. */
static int make_views(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        for (size_t m = 0; m < M; m++) {
            double sum = 0;
            for (size_t k = 0; k < K; k++) {
                const double u =
                    .8 * dis__random_uniform(1, 1000, i * K + k) + .2 * dis__random_uniform(2 + m, 1000, i * K + k);
                sum += table[m][i * K + k] = u < .15 ? 0 : exp(u * (double)(3 * m + 2));
            }
            for (size_t k = 0; k < K; k++) table[m][i * K + k] /= sum;
        }
    return 0;
}

static void soften(const double *p, double t, double *out)
{
    double sum = 0, max = -15;
    for (size_t k = 0; k < K; k++) max = fmax(max, log(p[k]));
    for (size_t k = 0; k < K; k++) sum += out[k] = exp((fmax(log(p[k]), -15) - max) / t);
    for (size_t k = 0; k < K; k++) out[k] /= sum;
}

/* The objective by its definition. */
static double by_definition(const double *weight, const double *t, double lambda)
{
    double jsd = 0, pairs = 0, squares = 0;
    for (size_t a = 0; a < M; a++) {
        squares += t[a] * t[a];
        for (size_t b = a + 1; b < M; b++) {
            pairs += weight[a] * weight[b];
            for (size_t i = 0; i < N; i++) {
                double p[K], q[K];
                soften(table[a] + i * K, t[a], p);
                soften(table[b] + i * K, t[b], q);
                for (size_t k = 0; k < K; k++) {
                    const double middle = (p[k] + q[k]) / 2;
                    if (p[k] > 0) jsd += weight[a] * weight[b] * p[k] * log(p[k] / middle) / 2;
                    if (q[k] > 0) jsd += weight[a] * weight[b] * q[k] * log(q[k] / middle) / 2;
                }
            }
        }
    }
    return jsd / pairs / N + lambda * squares;
}

static double score(const dis__combine_args *args, const double *t, double *scratch, double sums[1 + M])
{
    for (size_t m = 0; m <= M; m++) sums[m] = 0;
    DIS_KERNEL_SELECT(dis__temperatures_evaluate)
    (args, t, 0, N / 3, scratch, sums); /* in two pieces, as jobs on two ranks */
    DIS_KERNEL_SELECT(dis__temperatures_evaluate)(args, t, N / 3, N, scratch, sums);
    return sums[0];
}

static void derivatives_are_right(void **state)
{
    (void)state;
    const double weight[M] = {.2, .3, .5}, t[M] = {1.3, .7, 2.1};
    const dis__combine_args args = {.n_items = N, .n_classes = K, .n_views = M, .p = views, .weight = weight};
    double *scratch = aligned_alloc(64, dis__tempering_scratch(M, K) * sizeof *scratch), sums[1 + M], unused[1 + M],
           at_once[1 + M] = {0};
    const double value = score(&args, t, scratch, sums), *gradient = sums + 1;
    DIS_KERNEL_SELECT(dis__temperatures_evaluate)(&args, t, 0, N, scratch, at_once);
    assert_memory_equal(at_once, sums, sizeof sums);
    const double pairs = .2 * .3 + .2 * .5 + .3 * .5;
    assert_true(fabs(value / pairs / N - by_definition(weight, t, 0)) < 1e-13);
    for (size_t m = 0; m < M; m++) {
        double up[M], down[M];
        memcpy(up, t, sizeof t);
        memcpy(down, t, sizeof t);
        up[m] += 1e-5;
        down[m] -= 1e-5;
        const double slope = (score(&args, up, scratch, unused) - score(&args, down, scratch, unused)) / 2e-5;
        assert_true(fabs(slope - gradient[m]) < 1e-7 * (1 + fabs(slope)));
    }
    free(scratch);
}

/* No neighbour within the bounds is better. */
static void the_minimum_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        double bound, lambda;
    } cases[] = {{"temperature", 1, 1e-3},
                 {"temperature:lambda=1e-4", 1, 1e-4},
                 {"temperature:lambda=1e-5,start=3", 1, 1e-5},
                 {"temperature:bound=2", 2, 1e-3},
                 {"temperature:lambda=1e-2,bound=.5", .5, 1e-2},
                 {"hybrid:lambda=1e-4", 1, 1e-4},
                 {"temperature:weights=.2/.3/.5,lambda=1e-4", 1, 1e-4}};
    double out[N * K];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const dis_views v = {.size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = M, .p = views};
        dis_combination did = dis_combination_default();
        assert_int_equal(dis_views_combine(NULL, &v, cases[c].spec, out, &did), DIS_OK);
        const double here = by_definition(did.weight, did.temperature, cases[c].lambda);
        print_message("%s: %.4f %.4f %.4f, %d steps, objective %.6f\n", cases[c].spec, did.temperature[0],
                      did.temperature[1], did.temperature[2], did.max_steps, did.objective);
        assert_true(fabs(here - did.objective) < 1e-12);
        for (size_t m = 0; m < M; m++) {
            assert_true(did.temperature[m] >= cases[c].bound);
            assert_int_equal(did.at_bound[m], did.temperature[m] == cases[c].bound);
            for (double e = -.1; e <= .1; e += .2) {
                double near[M];
                memcpy(near, did.temperature, sizeof near);
                near[m] = fmax(near[m] + e, cases[c].bound);
                assert_true(by_definition(did.weight, near, cases[c].lambda) >= here - 1e-12);
            }
        }
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t k = 0; k < K; k++) sum += out[i * K + k];
            assert_true(fabs(sum - 1) < 1e-12);
        }
    }
}

static void fixed_temperatures(void **state)
{
    (void)state;
    const dis_views v = {.size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = M, .p = views};
    double out[N * K], expected[K], p[K];
    dis_combination did = dis_combination_default();
    assert_int_equal(dis_views_combine(NULL, &v, "temperature:fixed=1.5,weights=1/2/1", out, &did), DIS_OK);
    for (size_t m = 0; m < M; m++) assert_true(did.temperature[m] == 1.5 && !did.at_bound[m]);
    for (size_t i = 0; i < N; i++) {
        memset(expected, 0, sizeof expected);
        for (size_t m = 0; m < M; m++) {
            soften(table[m] + i * K, 1.5, p);
            for (size_t k = 0; k < K; k++) expected[k] += (m == 1 ? .5 : .25) * p[k];
        }
        for (size_t k = 0; k < K; k++) assert_true(fabs(out[i * K + k] - expected[k]) < 1e-14);
    }
}

/* hybrid is the centroid of the tempered views. */
static void hybrid_is_temperature_then_centroid(void **state)
{
    (void)state;
    static double soft[M][N * K], one[N * K], other[N * K];
    for (size_t m = 0; m < M; m++)
        for (size_t i = 0; i < N; i++) soften(table[m] + i * K, 1.5, soft[m] + i * K);
    const double *const tempered[M] = {soft[0], soft[1], soft[2]};
    const dis_views v = {.size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = M, .p = views},
                    w = {.size = sizeof(dis_views), .n_items = N, .n_classes = K, .n_views = M, .p = tempered};
    assert_int_equal(dis_views_combine(NULL, &v, "hybrid:fixed=1.5", one, NULL), DIS_OK);
    assert_int_equal(dis_views_combine(NULL, &w, "centroid", other, NULL), DIS_OK);
    for (size_t i = 0; i < N * K; i++) assert_true(fabs(one[i] - other[i]) < 1e-12);
}

static void odd_shapes(void **state)
{
    (void)state;
    const double one[] = {1, 1, 1}, sure[] = {1, 0, 0};
    const double *const ones[] = {one, one}, *const sures[] = {sure, sure};
    double out[3];
    static const char *const specs[] = {"temperature", "hybrid", "temperature:bound=.01,lambda=1", "hybrid:lambda=0"};
    for (int s = 0; s < 4; s++) {
        const dis_views single = {.size = sizeof(dis_views), .n_items = 3, .n_classes = 1, .n_views = 2, .p = ones},
                        alone = {.size = sizeof(dis_views), .n_items = 1, .n_classes = 3, .n_views = 1, .p = sures},
                        empty = {.size = sizeof(dis_views), .n_items = 0, .n_classes = 3, .n_views = 2, .p = sures},
                        agree = {.size = sizeof(dis_views), .n_items = 1, .n_classes = 3, .n_views = 2, .p = sures};
        dis_combination did = dis_combination_default();
        assert_int_equal(dis_views_combine(NULL, &single, specs[s], out, &did), DIS_OK);
        assert_true(out[0] == 1 && out[1] == 1 && out[2] == 1);
        assert_int_equal(dis_views_combine(NULL, &alone, specs[s], out, &did), DIS_OK);
        assert_true(fabs(out[0] + out[1] + out[2] - 1) < 1e-12);
        assert_int_equal(dis_views_combine(NULL, &empty, specs[s], out, &did), DIS_OK);
        assert_int_equal(dis_views_combine(NULL, &agree, specs[s], out, &did), DIS_OK);
        assert_true(fabs(out[0] + out[1] + out[2] - 1) < 1e-12 && isfinite(did.objective));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(derivatives_are_right, make_views),
        cmocka_unit_test_setup(the_minimum_is_found, make_views),
        cmocka_unit_test_setup(fixed_temperatures, make_views),
        cmocka_unit_test_setup(hybrid_is_temperature_then_centroid, make_views),
        cmocka_unit_test(odd_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
