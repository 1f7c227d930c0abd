/* Every layer and head, from one list of cases: gradients of `ref` against finite differences, `cpu` against `ref`, any
 * number of threads and any instruction set that this machine has. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/kernel.h"
#include "nn_cases.h"

static void make(const nn_case *c, const dis__device *device, dis_context *ctx, nn_net *f)
{
    if (nn_make(c, device, ctx, NULL, f) != DIS_OK) fail_msg("%s: %s", c->name, dis_last_error());
}

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
    for (int c = 0; c < NN_CASES; c++)
        for (int s = 0; s < NN_SIZES; s++) {
            if ((nn_cases[c].large && s > 1) || s == NN_SIZES - 1) continue;
            nn_net f;
            make(&nn_cases[c], &dis__device_ref, NULL, &f);
            assert_int_equal(nn_fill(&f, nn_sizes[s][0], nn_sizes[s][1], nn_sizes[s][2]), DIS_OK);
            assert_int_equal(nn_pass(&f, true), DIS_OK);
            for (size_t p = 0; p < f.net->n_params; p++) {
                const dis__param_info *info = dis__net_param(f.net, p);
                double *x = calloc(info->n, sizeof *x), *g = calloc(info->n, sizeof *g);
                dis__param_get(f.net, p, x);
                dis__param_get_grad(f.net, p, g);
                const size_t stride = info->n > 24 ? info->n / 24 : 1;
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

/* Gradients and loss of a case at a size, all parameters one behind the other. Frees the net. */
static double *results(const nn_case *c, const dis__device *device, dis_context *ctx, const size_t size[3], size_t *n)
{
    nn_net f;
    make(c, device, ctx, &f);
    assert_int_equal(nn_fill(&f, size[0], size[1], size[2]), DIS_OK);
    assert_int_equal(nn_pass(&f, true), DIS_OK);
    size_t total = 1;
    for (size_t p = 0; p < f.net->n_params; p++) total += f.net->params[p].info.n;
    double *out = calloc(total, sizeof *out);
    out[0] = dis__net_loss(f.net);
    *n = 1;
    for (size_t p = 0; p < f.net->n_params; p++) {
        dis__param_get_grad(f.net, p, out + *n);
        *n += f.net->params[p].info.n;
    }
    dis__net_destroy(f.net);
    return out;
}

static void cpu_against_ref(void **state)
{
    (void)state;
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    for (int c = 0; c < NN_CASES; c++)
        for (int s = 0; s < NN_SIZES; s++) {
            size_t n, m;
            if (nn_cases[c].large && s == NN_SIZES - 1) continue;
            double *wanted = results(&nn_cases[c], &dis__device_ref, NULL, nn_sizes[s], &n);
            double most = 0;
            for (size_t i = 0; i < n; i++) most = fabs(wanted[i]) > most ? fabs(wanted[i]) : most;
            for (int set = 0; set < 3; set++) {
                setenv("DISSENT_ISA", sets[set], 1);
                double *got = results(&nn_cases[c], &dis__device_cpu, NULL, nn_sizes[s], &m);
                assert_true(n == m);
                for (size_t i = 0; i < n; i++)
                    if (!(fabs(got[i] - wanted[i]) <= 2e-5 * most + 1e-6 * fabs(wanted[i])))
                        fail_msg("%s, %zu rows, %s: number %zu is %.9g, not %.9g", nn_cases[c].name, nn_sizes[s][0],
                                 sets[set], i, got[i], wanted[i]);
                free(got);
            }
            unsetenv("DISSENT_ISA");
            free(wanted);
        }
}

static void threads(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 3, 7};
    double *first[NN_CASES][NN_SIZES];
    for (int t = 0; t < 4; t++) {
        dis_context_options o = dis_context_options_default();
        o.threads = counts[t];
        dis_context *ctx;
        assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
        for (int c = 0; c < NN_CASES; c++)
            for (int s = 0; s < NN_SIZES; s++) {
                size_t n;
                double *got = results(&nn_cases[c], &dis__device_cpu, ctx, nn_sizes[s], &n);
                if (t == 0) {
                    first[c][s] = got;
                    continue;
                }
                if (memcmp(first[c][s], got, n * sizeof *got) != 0)
                    fail_msg("%s: %d threads give other bytes", nn_cases[c].name, counts[t]);
                free(got);
            }
        dis_context_destroy(ctx);
    }
    for (int c = 0; c < NN_CASES; c++)
        for (int s = 0; s < NN_SIZES; s++) free(first[c][s]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finite_differences),
        cmocka_unit_test(cpu_against_ref),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
