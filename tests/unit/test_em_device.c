/* Fits on a device that is not the CPU, without a GPU: a library in place of libdissent-cuda.so makes the
 * passes in plain loops (tests/devices/em_stand_in.c). What goes there and back, what is refused, and failures
 * half-way. */
#include "devices/em_device_cases.h"
#include "labels/em/em_device.h"
#include "support/sanitized.h"

static void same_as_cpu(void **state)
{
    (void)state;
    cases_run(2);
}

/* Where the fit ran, and its first warning, are left in `ran_on` and `warning`. */
static char ran_on[16], warning[200];

static dis_status try_fit(const dis_votes *votes, const char *spec, const char *device)
{
    dis_fit *fit = NULL;
    dis_context *ctx = cases_context(device, 1);
    const dis_status status = dis_fit_run(ctx, votes, spec, NULL, &fit);
    ran_on[0] = warning[0] = 0;
    if (status != DIS_OK) assert_null(fit);
    if (fit) snprintf(ran_on, sizeof ran_on, "%s", dis_fit_get_view(fit).device);
    if (fit && dis_fit_get_warning(fit, 0)) snprintf(warning, sizeof warning, "%s", dis_fit_get_warning(fit, 0));
    dis_fit_destroy(fit);
    dis_context_destroy(ctx);
    return status;
}

static void check_fit(const dis_votes *votes, const char *spec, const char *device, const char *wanted,
                      const char *warned)
{
    assert_int_equal(try_fit(votes, spec, device), DIS_OK);
    assert_string_equal(ran_on, wanted);
    if (warned)
        assert_non_null(strstr(warning, warned));
    else
        assert_null(strstr(warning, "ran on the CPU"));
}

/* The context chooses the device; what it does not support runs on the CPU, with a warning unless it is `auto`. */
static void choice_of_device(void **state)
{
    (void)state;
    const em_crowd small = {50, 12, 3, 8, false}, wide = {40, 10, 1100, 8, false};
    dis_votes *votes = cases_votes(&small), *many = cases_votes(&wide);
    dis_context_options options = dis_context_options_default();
    dis_context *ctx = NULL;
    options.device = "abacus";
    assert_int_equal(dis_context_create(&options, &ctx), DIS_EUSAGE);
    assert_null(ctx);
    assert_string_equal(dis_last_error(), "no device \"abacus\"; `device` may be cpu, cuda, cuda:N or auto");
    assert_int_equal(try_fit(votes, "dawid-skene", "cuda:7"), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "there is no device cuda:7"));
    check_fit(votes, "glad", "cuda", "cpu", NULL);
    check_fit(votes, "glad", "auto", "cpu", NULL);
    check_fit(many, "one-coin", "cuda", "cpu", "ran on the CPU: device cuda:0 does not support so many classes");
    check_fit(many, "one-coin", "auto", "cpu", NULL);
    check_fit(votes, "ibcc", "cuda:0", "cuda:0", NULL);
    check_fit(votes, "ibcc", "auto", "cuda:0", NULL);
    check_fit(votes, "ibcc", "cpu", "cpu", NULL);
    check_fit(votes, "ibcc", NULL, "cpu", NULL);
    dis_votes_destroy(votes);
    dis_votes_destroy(many);
}

static void failures(void **state)
{
    (void)state;
    const em_crowd small = {50, 12, 3, 8, false};
    dis_votes *votes = cases_votes(&small);
    setenv("STUB_BYTES", "100", 1);
    assert_int_equal(try_fit(votes, "dawid-skene", "cuda"), DIS_ELIMIT);
    unsetenv("STUB_BYTES");
    for (int at = 1; at <= 3; at++) {
        char text[8];
        snprintf(text, sizeof text, "%d", at);
        setenv("STUB_AT", text, 1);
        assert_int_equal(try_fit(votes, "ebcc:groups=2,restarts=2,iterations=3", "cuda"), DIS_EIO);
        assert_non_null(strstr(dis_last_error(), "it is lost"));
    }
    unsetenv("STUB_AT");
    assert_int_equal(try_fit(votes, "dawid-skene", "cuda"), DIS_OK);
    dis_votes_destroy(votes);
}

/* Views without device support run on the CPU beside others. */
static void combinations(void **state)
{
    (void)state;
    const em_crowd small = {200, 12, 3, 8, false};
    dis_votes *votes = cases_votes(&small);
    dis_context *const ctx[2] = {cases_context("cpu", 1), cases_context("cuda", 1)};
    static const struct {
        const char *specs[2];
        size_t n, on_device;
    } cases[] = {{{"papers"}, 1, 2}, {{"default"}, 1, 1}, {{"standard", "softmax"}, 2, 0}};
    for (size_t r = 0; r < sizeof cases / sizeof *cases; r++) {
        dis_label_plan choice = dis_label_plan_default();
        dis_label_result *result[2];
        size_t on_device = 0;
        assert_int_equal(dis_label_plan_parse(cases[r].specs, cases[r].n, cases[r].n > 1 ? "average" : NULL, true,
                                              &choice),
                         DIS_OK);
        for (int k = 0; k < 2; k++)
            assert_int_equal(dis_label_result_run(ctx[k], votes, &choice, NULL, &result[k]), DIS_OK);
        const dis_label_result_view a = dis_label_result_get_view(result[0]), b = dis_label_result_get_view(result[1]);
        for (size_t e = 0; e < 200 * 3; e++) em_assert_close(a.p[e], b.p[e], 1e-10);
        for (size_t m = 0; m < b.n_views; m++)
            on_device += strcmp(dis_fit_get_view(b.parts[m].fit).device, "cuda:0") == 0;
        assert_int_equal(on_device, cases[r].on_device);
        dis_label_result_destroy(result[0]);
        dis_label_result_destroy(result[1]);
    }
    for (int k = 0; k < 2; k++) dis_context_destroy(ctx[k]);
    dis_votes_destroy(votes);
}

static void labels_are_packed(void **state)
{
    (void)state;
    assert_int_equal(dis__em_label_bits(1), 0);
    assert_int_equal(dis__em_label_bits(2), 1);
    assert_int_equal(dis__em_label_bits(4), 2);
    assert_int_equal(dis__em_label_bits(5), 3);
    assert_int_equal(dis__em_label_bits(65535), 16);
    assert_true(dis__em_fits(65536, 65535));
    assert_false(dis__em_fits(65537, 65535));
    assert_true(dis__em_fits((size_t)1 << 30, 4));
    assert_false(dis__em_fits(((size_t)1 << 30) + 1, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_cpu), cmocka_unit_test(choice_of_device),
                                       cmocka_unit_test(failures), cmocka_unit_test(combinations),
                                       cmocka_unit_test(labels_are_packed)};
    setenv("DISSENT_CUDA", DIS_STAND_IN, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
