/* Every layer and head, from one list of cases: gradients of `ref` against finite differences, `cpu` against `ref` with
 * any instruction set that this machine has. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/kernel.h"
#include "operations/nn_results.h"
#include "support/sanitized.h"

static double loss_at(nn_net *f)
{
    assert_int_equal(nn_pass(f, false), DIS_OK);
    return dis__net_loss(f->net);
}

/* Central differences with two steps combined, so that the error is of fourth order. */
static double slope(nn_net *f, size_t p, double *x, size_t i, double h)
{
    const double at = x[i];
    double y[4];
    static const double where[4] = {1, -1, 2, -2};
    for (int s = 0; s < 4; s++) {
        x[i] = at + h * where[s];
        dis__param_put(f->net, p, x);
        y[s] = loss_at(f);
    }
    x[i] = at;
    dis__param_put(f->net, p, x);
    return (8 * (y[0] - y[1]) - (y[2] - y[3])) / (12 * h);
}

static void finite_differences(void **state)
{
    (void)state;
    enum { PLACES = SANITIZED ? 3 : 12 }; /* of each parameter */
    for (int c = 0; c < NN_CASES; c++)
        for (int s = 0; s < NN_SIZES; s++) {
            if ((nn_cases[c].large && s > 1) || s == NN_SIZES - 1 || (SANITIZED && s != 1)) continue;
            nn_net f;
            nn_must_make(&nn_cases[c], &dis__device_ref, NULL, &f);
            assert_int_equal(nn_fill(&f, nn_sizes[s][0], nn_sizes[s][1], nn_sizes[s][2]), DIS_OK);
            assert_int_equal(nn_pass(&f, true), DIS_OK);
            for (size_t p = 0; p < f.net->n_params; p++) {
                const dis__param_info *info = dis__net_param(f.net, p);
                double *x = calloc(info->n, sizeof *x), *g = calloc(info->n, sizeof *g);
                dis__param_get(f.net, p, x);
                dis__param_get_grad(f.net, p, g);
                const size_t stride = info->n > PLACES ? info->n / PLACES : 1;
                for (size_t i = 0; i < info->n; i += stride) {
                    double wanted = info->trained ? slope(&f, p, x, i, 1e-5) : 0;
                    bool good = fabs(g[i] - wanted) <= 1e-6 * fabs(wanted) + 1e-9;
                    if (!good) { /* a ReLU or a maximum may turn within the step: a smaller one sees it straight */
                        wanted = slope(&f, p, x, i, 5e-7);
                        good = fabs(g[i] - wanted) <= 1e-6 * fabs(wanted) + 1e-8;
                    }
                    if (!good)
                        fail_msg("%s, %zu rows: %s[%zu] has gradient %.12g, not %.12g", nn_cases[c].name,
                                 nn_sizes[s][0], info->name, i, g[i], wanted);
                }
                free(x);
                free(g);
            }
            dis__net_destroy(f.net);
        }
}

/* By all instruction sets, or the best alone. */
static void one_against_ref(const nn_case *c, const size_t size[3], int n_sets)
{
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    size_t n, m;
    double *wanted = nn_results(c, &dis__device_ref, NULL, size, &n), max = 0;
    for (size_t i = 0; i < n; i++) max = fabs(wanted[i]) > max ? fabs(wanted[i]) : max;
    for (int set = 3 - n_sets; set < 3; set++) {
        setenv("DISSENT_ISA", sets[set], 1);
        double *got = nn_results(c, &dis__device_cpu, NULL, size, &m);
        assert_true(n == m);
        for (size_t i = 0; i < n; i++)
            if (!(fabs(got[i] - wanted[i]) <= 2e-5 * max + 1e-6 * fabs(wanted[i])))
                fail_msg("%s, %zu rows, %s: number %zu is %.9g, not %.9g", c->name, size[0], sets[set], i, got[i],
                         wanted[i]);
        free(got);
    }
    unsetenv("DISSENT_ISA");
    free(wanted);
}

static void cpu_against_ref(void **state)
{
    (void)state;
    for (int c = 0; c < NN_CASES; c++)
        for (int s = 0; s < NN_SIZES; s++)
            if (!nn_cases[c].large || s < NN_SIZES - 1) one_against_ref(&nn_cases[c], nn_sizes[s], 3);
    for (int c = 0; c < NN_MANY; c++)
        if (nn_many[c].size[1][2] > 1) one_against_ref(&nn_many[c].net, nn_many[c].size[1], 1); /* of tokens */
}

/* The loss outside training, before and after the parameters change. */
static void losses(const nn_case *c, const dis__device *device, bool training, const size_t size[3], double loss[2])
{
    nn_net f;
    dis__plan_options options = dis__plan_options_default();
    options.training = training;
    if (nn_make(c, device, NULL, &options, &f) != DIS_OK) fail_msg("%s: %s", c->name, dis_last_error());
    assert_int_equal(nn_fill(&f, size[0], size[1], size[2]), DIS_OK);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t p = 0; pass && p < f.net->n_params; p++) {
            double *x = calloc(f.net->params[p].info.n, sizeof *x);
            dis__param_get(f.net, p, x);
            for (size_t i = 0; i < f.net->params[p].info.n; i++) x[i] *= 1.25;
            dis__param_put(f.net, p, x);
            free(x);
        }
        assert_int_equal(dis__net_forward(f.net, false), DIS_OK);
        loss[pass] = dis__net_loss(f.net);
        assert_int_equal(dis__net_forward(f.net, false), DIS_OK); /* what was made lasts */
        assert_true(dis__net_loss(f.net) == loss[pass]);
    }
    dis__net_destroy(f.net);
}

/* A network that never trains leaves work out: what it gives is the same. */
static void forward_only(void **state)
{
    (void)state;
    for (int c = 0; c < NN_CASES; c++) {
        double wanted[2], got[2], rough[2];
        losses(&nn_cases[c], &dis__device_ref, true, nn_sizes[1], wanted);
        losses(&nn_cases[c], &dis__device_ref, false, nn_sizes[1], got);
        losses(&nn_cases[c], &dis__device_cpu, false, nn_sizes[1], rough);
        for (int pass = 0; pass < 2; pass++)
            if (!(fabs(got[pass] - wanted[pass]) <= 1e-12 * (1 + fabs(wanted[pass])) &&
                  fabs(rough[pass] - wanted[pass]) <= 1e-6 * (1 + fabs(wanted[pass]))))
                fail_msg("%s, pass %d: the loss is %.15g, on cpu %.9g, not %.15g", nn_cases[c].name, pass, got[pass],
                         rough[pass], wanted[pass]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finite_differences),
        cmocka_unit_test(cpu_against_ref),
        cmocka_unit_test(forward_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
