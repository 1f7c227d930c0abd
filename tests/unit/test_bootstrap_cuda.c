/* Resamples on a CUDA device: the CPU's sums but for rounding, and the same bytes twice. Without one: skipped,
 * with the reason. */
#include "devices/bootstrap_device_cases.h"

static void as_on_the_processor(void **state)
{
    (void)state;
    dis_context *ctx = resample_context("cuda");
    const bool has_device = resample_device(ctx) != NULL;
    if (has_device)
        resample_run(ctx);
    else {
        assert_non_null(strstr(dis_last_error(), "no CUDA device: "));
        print_message("skipped: %s\n", dis_last_error());
    }
    dis_context_destroy(ctx);
    if (!has_device) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_on_the_processor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
