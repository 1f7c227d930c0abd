/* Weights without gold: they sum to 1, favour the view that is right, and depend neither on names, nor on order, nor on
 * threads. */
#include "dissent/dissent.h"
#include "core/random/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/fault_walk.h"

static const char *const specs[] = {"standard", "softmax", "dawid-skene:iterations=20,tolerance=0", "wawa"};
enum { M = 4, ITEMS = 600, WORKERS = 40, K = 3, EACH = 7, N = ITEMS * EACH };

/* Votes of a crowd a third of which answers at random. With `other`, the same votes in another order under other
 * numbers. */
static dis_votes *crowd(bool other)
{
    uint32_t *task = malloc(N * sizeof *task), *worker = malloc(N * sizeof *worker);
    uint16_t *label = malloc(N * sizeof *label);
    for (uint32_t r = 0; r < N; r++) {
        const uint32_t v = other ? (uint32_t)((uint64_t)r * 11 % N) : r, t = v / EACH,
                       w = (uint32_t)((dis__random_below(3, 1000, t, WORKERS) + 5 * (v % EACH)) % WORKERS);
        const double right = w % 3 == 0 ? 0 : .8;
        label[r] = (uint16_t)(dis__random_uniform(4, 1000, v) < right ? t % K : dis__random_below(5, 1000, v, K));
        task[r] = other ? ITEMS - 1 - t : t;
        worker[r] = other ? (w * 7 + 3) % WORKERS : w;
    }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = N,
                                .n_items = ITEMS,
                                .n_workers = WORKERS,
                                .n_classes = K,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_votes *votes = NULL;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    free(task);
    free(worker);
    free(label);
    return votes;
}

static void order_names_and_threads_do_not_matter(void **state)
{
    (void)state;
    dis_votes *votes = crowd(false), *again = crowd(true);
    double w[M], x[M], sum = 0;
    assert_int_equal(dis_views_auto_weights(NULL, votes, specs, M, NULL, w), DIS_OK);
    assert_int_equal(dis_views_auto_weights(NULL, again, specs, M, NULL, x), DIS_OK);
    print_message("weights %.4f %.4f %.4f %.4f; shuffled and renumbered %.4f %.4f %.4f %.4f\n", w[0], w[1], w[2], w[3],
                  x[0], x[1], x[2], x[3]);
    for (int m = 0; m < M; m++) {
        assert_true(w[m] > .2 / M && w[m] < 1);
        assert_true(fabs(w[m] - x[m]) < 1e-12);
        sum += w[m];
    }
    assert_true(fabs(sum - 1) < 1e-12);
    assert_true(w[2] > w[0]); /* a crowd as dawid-skene assumes it */
    for (int threads = 2; threads <= 7; threads += 5) {
        dis_context_options o = dis_context_options_default();
        o.threads = threads;
        dis_context *ctx;
        assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
        assert_int_equal(dis_views_auto_weights(ctx, votes, specs, M, NULL, x), DIS_OK);
        assert_memory_equal(w, x, sizeof w);
        dis_context_destroy(ctx);
    }
    dis_votes_destroy(votes);
    dis_votes_destroy(again);
}

static void equal_views_get_equal_weights(void **state)
{
    (void)state;
    dis_votes *votes = crowd(false);
    static const char *const same[] = {"softmax", "softmax", "softmax"};
    double w[3];
    assert_int_equal(dis_views_auto_weights(NULL, votes, same, 3, NULL, w), DIS_OK);
    for (int m = 0; m < 3; m++) assert_true(fabs(w[m] - 1. / 3) < 1e-12);
    assert_int_equal(dis_views_auto_weights(NULL, votes, same, 1, NULL, w), DIS_OK);
    assert_true(w[0] == 1);
    dis_votes_destroy(votes);
}

static void small_and_odd_tables(void **state)
{
    (void)state;
    const uint32_t task[] = {0, 1, 2, 2, 2, 2}, worker[] = {0, 1, 0, 1, 2, 3};
    const uint16_t label[] = {0, 1, 1, 1, 1, 1};
    for (size_t n = 0; n <= 6; n += 2) { /* nothing, single votes only, votes that cannot be distinguished */
        const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                    .n_votes = n,
                                    .n_items = 4,
                                    .n_workers = 4,
                                    .n_classes = 2,
                                    .task = task,
                                    .worker = worker,
                                    .label = label};
        dis_votes *votes;
        double w[M];
        assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
        assert_int_equal(dis_views_auto_weights(NULL, votes, specs, M, NULL, w), DIS_OK);
        assert_true(fabs(w[0] + w[1] + w[2] + w[3] - 1) < 1e-12);
        for (int m = 0; m < M; m++) assert_true(w[m] > 0 && (n > 2 || fabs(w[m] - .25) < 1e-12));
        dis_votes_destroy(votes);
    }
}

static void wrong_use_is_reported(void **state)
{
    (void)state;
    const double counts[] = {1, 2, 3, 4};
    double w[M] = {7, 7, 7, 7};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, 2, 2, NULL, NULL, &votes), DIS_OK);
    assert_int_equal(dis_views_auto_weights(NULL, votes, specs, 2, NULL, w), DIS_EDATA);
    dis_votes_destroy(votes);
    votes = crowd(false);
    const char *const unknown[] = {"standard", "no-such"};
    assert_int_equal(dis_views_auto_weights(NULL, votes, unknown, 2, NULL, w), DIS_EUSAGE);
    assert_int_equal(dis_views_auto_weights(NULL, votes, specs, 0, NULL, w), DIS_EUSAGE);
    assert_true(w[0] == 7);
    dis_votes_destroy(votes);
}

static dis_status run_once(void *votes)
{
    static const char *const two[] = {"standard", "wawa"};
    double w[2];
    return dis_views_auto_weights(NULL, votes, two, 2, NULL, w);
}

static void allocations_may_fail(void **state)
{
    (void)state;
    const uint32_t task[] = {0, 0, 0, 1, 1, 1}, worker[] = {0, 1, 2, 0, 1, 2};
    const uint16_t label[] = {0, 1, 1, 1, 1, 0};
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = 6,
                                .n_items = 2,
                                .n_workers = 3,
                                .n_classes = 2,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    walk_faults(run_once, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_names_and_threads_do_not_matter),
        cmocka_unit_test(equal_views_get_equal_weights),
        cmocka_unit_test(small_and_odd_tables),
        cmocka_unit_test(wrong_use_is_reported),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
