/* Every layer and head, from one list of cases: any number of threads gives the same bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>
#include "operations/nn_results.h"

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
                double *got = nn_results(&nn_cases[c], &dis__device_cpu, ctx, nn_sizes[s], &n);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
