/* Fits on a device that is not the processor, without a GPU: a library in place of libdissent-cuda.so makes the
 * passes in plain loops (tests/devices/em_stand_in.c). What goes there and back, what is refused, and failures
 * half-way. */
#include "devices/em_device_cases.h"
#include "labels/em/em_device.h"
#include "support/sanitized.h"

static void as_on_the_processor(void **state)
{
    (void)state;
    cases_run(2);
}

static dis_status try_fit(const dis_votes *votes, const char *spec, const char *device)
{
    dis_fit *fit = NULL;
    dis_fit_options o = dis_fit_options_default();
    o.device = device;
    const dis_status status = dis_fit_run(NULL, votes, spec, &o, &fit);
    if (status != DIS_OK) assert_null(fit);
    dis_fit_destroy(fit);
    return status;
}

static void refusals(void **state)
{
    (void)state;
    const em_crowd small = {50, 12, 3, 8, false}, wide = {40, 10, 1100, 8, false};
    dis_votes *votes = cases_votes(&small), *many = cases_votes(&wide);
    assert_int_equal(try_fit(votes, "dawid-skene", "abacus"), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "no device \"abacus\""));
    assert_int_equal(try_fit(votes, "dawid-skene", "cuda:7"), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "there is no device cuda:7"));
    assert_int_equal(try_fit(votes, "glad", "cuda"), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "glad runs on the processor alone"));
    assert_non_null(strstr(dis_last_error(), "one of dawid-skene, one-coin, fast-dawid-skene, ibcc, ebcc, mace"));
    assert_int_equal(try_fit(votes, "glad", "auto"), DIS_OK);
    assert_int_equal(try_fit(many, "one-coin", "cuda"), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "so many classes"));
    assert_int_equal(try_fit(many, "one-coin", "auto"), DIS_OK);
    assert_int_equal(try_fit(votes, "ibcc", "cuda:0"), DIS_OK);
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

/* Views that know the processor alone are made there beside others. */
static void combinations(void **state)
{
    (void)state;
    const em_crowd small = {200, 12, 3, 8, false};
    dis_votes *votes = cases_votes(&small);
    static const char *const recipes[] = {"papers", "default"}, *const counting[] = {"standard", "softmax"};
    dis_fit_options how = dis_fit_options_default();
    dis_label_result_options making = dis_label_result_options_default();
    making.fit = &how;
    for (size_t r = 0; r < 2; r++) {
        dis_label_plan choice;
        dis_label_result *made[2];
        size_t there = 0;
        assert_int_equal(dis_label_plan_parse(&recipes[r], 1, NULL, true, &choice), DIS_OK);
        for (int k = 0; k < 2; k++) {
            how.device = k ? "cuda" : "cpu";
            assert_int_equal(dis_label_result_run(NULL, votes, &choice, &making, &made[k]), DIS_OK);
        }
        const dis_label_result_view a = dis_label_result_get_view(made[0]), b = dis_label_result_get_view(made[1]);
        for (size_t e = 0; e < 200 * 3; e++) em_assert_close(a.p[e], b.p[e], 1e-10);
        for (size_t m = 0; m < b.n_views; m++) there += strcmp(dis_fit_get_view(b.parts[m].fit).device, "cuda:0") == 0;
        assert_int_equal(there, r == 0 ? 2 : 1);
        dis_label_result_destroy(made[0]);
        dis_label_result_destroy(made[1]);
    }
    dis_label_plan choice;
    dis_label_result *made = NULL;
    assert_int_equal(dis_label_plan_parse(counting, 2, "average", true, &choice), DIS_OK);
    assert_int_equal(dis_label_result_run(NULL, votes, &choice, &making, &made), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "the processor alone makes all of these views"));
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_on_the_processor), cmocka_unit_test(refusals),
                                       cmocka_unit_test(failures), cmocka_unit_test(combinations),
                                       cmocka_unit_test(labels_are_packed)};
    setenv("DISSENT_CUDA", DIS_STAND_IN, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
