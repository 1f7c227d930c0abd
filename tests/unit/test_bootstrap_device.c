/* Resamples on a device that is not the CPU, without a GPU: a library in place of libdissent-cuda.so draws
 * them in plain loops (tests/devices/bootstrap_stand_in.c). What goes there and back, when it is used, and failures
 * half-way. */
#include "devices/bootstrap_device_cases.h"
#include "support/sanitized.h"

static void as_on_the_processor(void **state)
{
    (void)state;
    dis_context *ctx = resample_context("cuda");
    resample_run(ctx);
    dis_context_destroy(ctx);
}

/* Through the calls that everybody uses. */
static void large_problems(void **state)
{
    (void)state;
    if (SANITIZED) skip(); /* 67 million draws in plain loops */
    const resample_case c = {70000, 70000, 960, 1, 0};
    const dis__bootstrap b = {.n_items = c.n_items, .n_draws = c.n_draws, .n_resamples = c.n_resamples, .seed = 3};
    double size, **column = resample_columns(&c, &size), *sums[2];
    for (int k = 0; k < 2; k++) {
        dis_context *ctx = resample_context(k ? "auto" : "cpu");
        sums[k] = malloc(c.n_resamples * sizeof *sums[k]);
        assert_int_equal(dis__bootstrap_sums(ctx, &b, (const double *const *)column, 1, sums[k]), DIS_OK);
        dis_context_destroy(ctx);
    }
    for (size_t r = 0; r < c.n_resamples; r++) assert_true(fabs(sums[0][r] - sums[1][r]) <= 1e-10 * size * 265);
    for (int k = 0; k < 2; k++) free(sums[k]);
    free(column[0]);
    free(column);
}

/* Two sides of a comparison, whose answers have too many patterns to be drawn as such: not a bit differs. */
static void comparisons(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    enum { N = 68000, K = 50 };
    int32_t *answer[3];
    dis_comparison *results[2];
    for (int s = 0; s < 3; s++) {
        answer[s] = malloc(N * sizeof *answer[s]);
        for (size_t i = 0; i < N; i++)
            answer[s][i] = (int32_t)(s && dis__random(8, 1, i) % 3 ? answer[0][i]
                                                                   : (int32_t)dis__random_below((uint64_t)s, 1, i, K));
    }
    const int32_t *const a[] = {answer[1]}, *const b[] = {answer[2]};
    const dis_comparison_input in = {.size = sizeof(dis_comparison_input),
                                     .n_items = N,
                                     .n_classes = K,
                                     .gold = answer[0],
                                     .n_a = 1,
                                     .n_b = 1,
                                     .a = a,
                                     .b = b};
    dis_comparison_options o = dis_comparison_options_default();
    o.resamples = 1000;
    for (int k = 0; k < 2; k++) {
        dis_context *ctx = resample_context(k ? "cuda" : "cpu");
        assert_int_equal(dis_comparison_run(ctx, &in, &o, &results[k]), DIS_OK);
        dis_context_destroy(ctx);
    }
    const dis_comparison_view x = dis_comparison_get_view(results[0]), y = dis_comparison_get_view(results[1]);
    assert_memory_equal(x.metric, y.metric, x.n_metrics * sizeof *x.metric);
    assert_true(x.metric[DIS_COMPARE_MACRO_F1].difference.has_interval);
    for (int k = 0; k < 2; k++) dis_comparison_destroy(results[k]);
    for (int s = 0; s < 3; s++) free(answer[s]);
}

static void where(void **state)
{
    (void)state;
    const struct {
        const char *device;
        size_t n_items;
        dis_status status;
        bool available;
    } rows[] = {{"cuda", 1 << 20, DIS_OK, true},       {"cuda:0", 1 << 20, DIS_OK, true},
                {"auto", 1 << 20, DIS_OK, true},       {"cpu", 1 << 20, DIS_OK, false},
                {NULL, 1 << 20, DIS_OK, false},        {"cuda", 1000, DIS_OK, false},
                {"cuda:7", 1 << 20, DIS_EUSAGE, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const dis__bootstrap b = {.n_items = rows[i].n_items, .n_draws = 1, .n_resamples = 1000};
        const dis__bootstrap_device *device = NULL;
        dis_context *ctx = resample_context(rows[i].device);
        assert_int_equal(dis__bootstrap_device_for(ctx, &b, &device), rows[i].status);
        assert_int_equal(device != NULL, rows[i].available);
        dis_context_destroy(ctx);
    }
}

static void failures(void **state)
{
    (void)state;
    dis_context *ctx = resample_context("cuda");
    const dis__bootstrap b = {.n_items = 20000, .n_draws = 20000, .n_resamples = 20};
    const dis__bootstrap_device *device = resample_device(ctx);
    double *column = calloc(b.n_items, sizeof *column), sums[20];
    const double *const columns[] = {column};
    setenv("STUB_BYTES", "1000", 1);
    assert_int_equal(dis__bootstrap_device_run(ctx, device, &b, columns, 1, NULL, 0, sums), DIS_ELIMIT);
    unsetenv("STUB_BYTES");
    setenv("STUB_AT", "1", 1);
    assert_int_equal(dis__bootstrap_device_run(ctx, device, &b, columns, 1, NULL, 0, sums), DIS_EIO);
    assert_non_null(strstr(dis_last_error(), "it is lost"));
    unsetenv("STUB_AT");
    assert_int_equal(dis__bootstrap_device_run(ctx, device, &b, columns, 1, NULL, 0, sums), DIS_OK);
    free(column);
    dis_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_on_the_processor), cmocka_unit_test(large_problems),
                                       cmocka_unit_test(comparisons), cmocka_unit_test(where),
                                       cmocka_unit_test(failures)};
    setenv("DISSENT_CUDA", DIS_STAND_IN, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
