/* A report is the same to the byte for any number of threads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "dissent/dissent.h"
#include "support/scratch.h"
#include "support/sanitized.h"

static char votes_path[128], page_path[128];

static int make_crowd(void **state)
{
    if (make_folder(state)) return -1;
    strcpy(votes_path, in_folder("votes.csv"));
    strcpy(page_path, in_folder("report.html"));
    dis_synth_options o = dis_synth_options_default();
    o.n_items = 9000;
    o.n_workers = 70;
    o.n_classes = 3;
    o.votes_per_item = 4;
    return dis_synth_write(NULL, &o, votes_path, NULL) == DIS_OK ? 0 : -1;
}

static char *report(int threads, size_t *n)
{
    static const char *const specs[] = {"standard", "dawid-skene:iterations=10", "mace:iterations=5,restarts=2"};
    dis_context_options o = dis_context_options_default();
    o.threads = threads;
    dis_context *ctx;
    dis_votes *votes;
    dis_fit *fit[3];
    dis_report *r;
    const char *paths[] = {votes_path};
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    assert_int_equal(dis_votes_read(ctx, paths, 1, NULL, &votes), DIS_OK);
    dis_report_options how = dis_report_options_default();
    how.resamples = 50;
    assert_int_equal(dis_report_create(&how, &r), DIS_OK);
    assert_int_equal(dis_report_add_votes(r, votes, "votes.csv"), DIS_OK);
    for (size_t m = 0; m < 3; m++) {
        assert_int_equal(dis_fit_run(ctx, votes, specs[m], NULL, &fit[m]), DIS_OK);
        assert_int_equal(dis_report_add_fit(r, specs[m], fit[m], dis_fit_p(fit[m])), DIS_OK);
    }
    assert_int_equal(dis_report_write(ctx, r, page_path), DIS_OK);
    dis_report_destroy(r);
    for (size_t m = 0; m < 3; m++) dis_fit_destroy(fit[m]);
    dis_votes_destroy(votes);
    dis_context_destroy(ctx);
    return contents(page_path, n);
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    size_t n_one, n;
    char *one = report(1, &n_one);
    static const int threads[] = {2, 3, 7};
    for (size_t i = SANITIZED ? 2 : 0; i < 3; i++) {
        char *other = report(threads[i], &n);
        assert_int_equal(n, n_one);
        assert_memory_equal(other, one, n);
        free(other);
    }
    free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_number_of_threads_gives_the_same_bytes)};
    return cmocka_run_group_tests(tests, make_crowd, remove_folder);
}
