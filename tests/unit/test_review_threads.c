/* A review is the same to the last bit with any number of threads. */
#include "support/review_support.h"
#include "support/sanitized.h"

static dis_review *with_threads(const dis_votes *votes, int threads)
{
    dis_context_options o = dis_context_options_default();
    o.threads = threads;
    dis_context *ctx;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    dis_review_options how = dis_review_options_default();
    how.budget = 500;
    dis_review *review = review_of(ctx, votes, &how);
    dis_context_destroy(ctx);
    return review;
}

static void compare(const dis_votes *votes)
{
    dis_review *one = with_threads(votes, 1);
    const dis_review_view a = dis_review_get_view(one);
    for (int threads = SANITIZED ? 7 : 2; threads <= 7; threads += 5) {
        dis_review *many = with_threads(votes, threads);
        const dis_review_view b = dis_review_get_view(many);
        assert_true(a.expected_accuracy == b.expected_accuracy &&
                    a.expected_accuracy_after == b.expected_accuracy_after && a.budget_spent == b.budget_spent);
        for (size_t r = 0; r < a.n_items; r++) {
            const dis_review_item *x = &a.items[r], *y = &b.items[r];
            assert_true(x->item == y->item && x->label == y->label && x->p_correct == y->p_correct &&
                        x->gain == y->gain && x->surprise == y->surprise && x->p_hard == y->p_hard &&
                        x->votes_to_buy == y->votes_to_buy);
        }
        for (size_t r = 0; r < a.n_workers; r++) {
            const dis_review_worker *x = &a.workers[r], *y = &b.workers[r];
            assert_true(x->worker == y->worker && x->accuracy == y->accuracy && x->accuracy_low == y->accuracy_low &&
                        x->accuracy_high == y->accuracy_high && x->peer_accuracy == y->peer_accuracy &&
                        x->evidence == y->evidence && x->verdict == y->verdict && x->difference == y->difference &&
                        x->difference_low == y->difference_low && x->p_adjusted == y->p_adjusted);
        }
        dis_review_destroy(many);
    }
    dis_review_destroy(one);
}

static void votes_and_counts(void **state)
{
    (void)state;
    enum { N = 9000, K = 4 };
    review_crowd c = review_good_crowd(5, N, 60, K);
    for (size_t w = 0; w < 10; w++) c.habit[w] = (int)(w % K);
    dis_votes *votes = review_even_votes(&c, 4);
    compare(votes);
    static double counts[N * K];
    const dis_votes_view v = dis_votes_get_view(votes);
    for (size_t i = 0; i < N; i++)
        for (uint64_t a = v.start[i]; a < v.start[i + 1]; a++) counts[i * K + v.label8[a]]++;
    dis_votes_destroy(votes);
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, N, K, NULL, NULL, &votes), DIS_OK);
    compare(votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(votes_and_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
