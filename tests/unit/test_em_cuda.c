/* Fits on a CUDA device: within 1e-10 of the CPU, and the same bytes twice. Without one: a sentence, and the
 * rest is skipped with the reason. */
#include "devices/em_device_cases.h"

/* Whether there is a device; the reason is printed. */
static bool has_device(void)
{
    const em_crowd one = {3, 1, 3, 2, false};
    dis_votes *votes = cases_votes(&one);
    dis_fit *fit = NULL;
    dis_context *ctx = cases_context("cuda", 1);
    const dis_status status = dis_fit_run(ctx, votes, "dawid-skene", NULL, &fit);
    dis_fit_destroy(fit);
    dis_context_destroy(ctx);
    dis_votes_destroy(votes);
    if (status == DIS_OK) return true;
    assert_int_equal(status, DIS_EIO);
    assert_non_null(strstr(dis_last_error(), "no CUDA device: "));
    print_message("skipped: %s\n", dis_last_error());
    return false;
}

static void same_as_cpu(void **state)
{
    (void)state;
    if (!has_device()) skip();
    cases_run(0);
}

/* More items than a pass has groups of threads, more votes than go in one piece. */
static void many_items(void **state)
{
    (void)state;
    if (!has_device()) skip();
    static const em_crowd crowd = {700000, 3000, 4, 40, false};
    static const char *const specs[] = {"dawid-skene:iterations=8", "mace:iterations=5,restarts=1",
                                        "one-coin:iterations=5"};
    if (getenv("DISSENT_SMALL")) skip(); /* under compute-sanitizer it would take minutes */
    dis_votes *votes = cases_votes(&crowd);
    dis_context *const ctx[2] = {cases_context(NULL, 0), cases_context("cuda", 0)};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        print_message("%s: %.3g\n", specs[s], cases_compare(ctx, votes, &crowd, specs[s], NULL));
    for (int k = 0; k < 2; k++) dis_context_destroy(ctx[k]);
    dis_votes_destroy(votes);
}

/* Argument: I/N, every N-th crowd from I on. */
int main(int argc, char **argv)
{
    if (argc > 1 && (sscanf(argv[1], "%zu/%zu", &cases_first, &cases_apart) != 2 || cases_apart < 1)) return 2;
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_cpu), cmocka_unit_test(many_items)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
