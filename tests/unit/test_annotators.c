/* What a review reports about annotators: accuracy against gold to the last digit, the difference to the others by hand,
 * equally good annotators of whom none may be called weak, and one bad annotator who must be. */
#include "support/review_support.h"
#include "review/review_parts.h"
#include "stats/distributions.h"

enum { EQUALS = 20 };

static const dis_review_worker *row_of(const dis_review_view *v, size_t worker)
{
    for (size_t r = 0; r < v->n_workers; r++)
        if (v->workers[r].worker == worker) return &v->workers[r];
    fail_msg("no row of worker %zu", worker);
    return NULL;
}

static dis_votes *votes_of(const char *rows, size_t n_items, size_t n_workers, size_t n_classes)
{
    uint32_t task[256], worker[256];
    uint16_t label[256];
    size_t n = 0;
    for (const char *x = rows; *x; x += 3, n++) {
        task[n] = (uint32_t)(x[0] - 'a');
        worker[n] = (uint32_t)(x[1] - 'A');
        label[n] = (uint16_t)(x[2] - '0');
    }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = n_items,
                                .n_workers = n_workers,
                                .n_classes = n_classes,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    return votes;
}

static void wilson_bounds(void **state)
{
    (void)state;
    /* 8 of 10, and the ends; figures by scipy.stats.binomtest(...).proportion_ci(method="wilson") */
    em_assert_close(dis__wilson_bound(.8, 10, 1.959963984540054, -1), .49016247153664174, 1e-12);
    em_assert_close(dis__wilson_bound(.8, 10, 1.959963984540054, 1), .9433178485456247, 1e-12);
    em_assert_close(dis__wilson_bound(0, 5, 1.959963984540054, -1), 0, 1e-15);
    em_assert_close(dis__wilson_bound(1, 5, 1.959963984540054, 1), 1, 1e-15);
}

/* Three annotators on four items; A against the others on b (two classes apart) and on d, whose class is known. */
static void differences_equal_the_definition(void **state)
{
    (void)state;
    dis_votes *votes = votes_of("aA0aB0aC0bA1bB0bC0cA1cB1cC1dA0dB1dC1", 4, 3, 2);
    int32_t gold[] = {-1, -1, -1, 1};
    dis_review_options o = dis_review_options_default();
    o.gold = gold;
    dis_review *review = review_of(NULL, votes, &o);
    const dis_review_view v = dis_review_get_view(review);
    const dis_review_worker *a = row_of(&v, 0), *b = row_of(&v, 1);
    assert_true(v.beyond_chance && a->shared == 4 && a->gold_votes == 1 && b->gold_votes == 1);
    assert_true(a->gold_accuracy == 0 && a->gold_low == 0 && b->gold_accuracy == 1 && b->gold_high == 1);
    /* item b: A agrees with none, B and C with half of the others; item d: A is wrong, B and C are correct */
    em_assert_close(a->difference, (0 - .5 + 0 - 1) / 4, 1e-12);
    em_assert_close(b->difference, (0 + .5 - .25 + 0 + 1 - .5) / 4, 1e-12);
    assert_true(a->p_adjusted < b->p_adjusted && a->accuracy < b->accuracy && b->accuracy <= 1);
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* Two who vote on the same items with no one else: neither is better, whatever they say. */
static void partners_cannot_be_distinguished(void **state)
{
    (void)state;
    review_crowd c = review_good_crowd(3, 300, 2, 3);
    c.accuracy[0] = .95;
    c.accuracy[1] = .5;
    dis_votes *votes = review_even_votes(&c, 2);
    dis_review *review = review_of(NULL, votes, NULL);
    const dis_review_view v = dis_review_get_view(review);
    for (size_t w = 0; w < 2; w++) {
        assert_true(v.workers[w].verdict != DIS_REVIEW_WEAK && fabs(v.workers[w].difference) < .01);
        assert_true(v.workers[w].difference_low < 0 && v.workers[w].difference_high > 0);
    }
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

/* Share of equally good annotators who are called weak, and of crowds that have any of these, over 40 crowds. */
static void count_weak(size_t each, double accuracy, bool with_gold, double *weak, double *any)
{
    enum { CROWDS = 40, N = 300 };
    for (uint64_t seed = 0; seed < CROWDS; seed++) {
        review_crowd c = review_good_crowd(100 + seed, N, EQUALS, 2 + 2 * (seed % 2));
        int32_t gold[N];
        for (size_t w = 0; w < EQUALS; w++) c.accuracy[w] = accuracy;
        for (size_t i = 0; i < N; i++) gold[i] = (int32_t)review_truth(&c, i);
        dis_votes *votes = review_even_votes(&c, each);
        dis_review_options o = dis_review_options_default();
        o.gold = with_gold ? gold : NULL;
        dis_review *review = review_of(NULL, votes, &o);
        const size_t n = dis_review_get_view(review).n_weak;
        *weak += (double)n / EQUALS / CROWDS;
        *any += (double)(n > 0) / CROWDS;
        dis_review_destroy(review);
        dis_votes_destroy(votes);
    }
}

/* With many annotators a fixed bound of the evidence would call some doubtful by chance. */
static void equals_are_not_doubtful(void **state)
{
    (void)state;
    enum { CROWDS = 20, MANY = 60 };
    size_t doubtful = 0;
    for (uint64_t seed = 0; seed < CROWDS; seed++) {
        review_crowd c = review_good_crowd(500 + seed, 300, MANY, 3);
        for (size_t w = 0; w < MANY; w++) c.accuracy[w] = .7;
        dis_votes *votes = review_even_votes(&c, 3);
        dis_review *review = review_of(NULL, votes, NULL);
        doubtful += dis_review_get_view(review).n_unreliable;
        dis_review_destroy(review);
        dis_votes_destroy(votes);
    }
    if (doubtful > 2) fail_msg("%zu of 1,200 doubtful", doubtful);
}

static void equals_are_not_called_weak(void **state)
{
    (void)state;
    static const size_t votes[] = {2, 3, 5, 10};
    double any = 0;
    for (size_t v = 0; v < 4; v++)
        for (int gold = 0; gold < 2; gold++)
            for (int low = 0; low < 2; low++) {
                double weak = 0, here = 0;
                count_weak(votes[v], low ? .7 : .9, gold, &weak, &here);
                assert_true(weak <= .02);
                any += here / 16;
            }
    assert_true(any <= .07); /* .05 nominal; 640 crowds */
}

/* 100 votes or more of one annotator of accuracy .6 among others of .9. */
static void bad_annotator_is_found(void **state)
{
    (void)state;
    enum { CROWDS = 10 };
    size_t found = 0;
    for (uint64_t seed = 0; seed < CROWDS; seed++)
        for (size_t each = 2; each <= 10; each += 4) {
            review_crowd c = review_good_crowd(seed, 1000, EQUALS, 3);
            for (size_t w = 0; w < EQUALS; w++) c.accuracy[w] = w == 7 ? .6 : .9;
            dis_votes *votes = review_even_votes(&c, each);
            dis_review *review = review_of(NULL, votes, NULL);
            const dis_review_view v = dis_review_get_view(review);
            const dis_review_worker *w = row_of(&v, 7);
            char reason[DIS_REVIEW_REASON_SIZE];
            assert_true(w->accuracy < w->peer_accuracy && w->difference < 0);
            if (w->verdict == DIS_REVIEW_WEAK) {
                assert_true(w->p_adjusted <= .05 && w->difference_low < w->difference_high);
                dis_review_format_worker_reason(review, votes, 0, reason, sizeof reason);
                assert_non_null(strstr(reason, "points lower than theirs"));
                assert_int_equal(v.workers[0].worker, 7);
            }
            found += w->verdict == DIS_REVIEW_WEAK || dis__review_verdict_is_unreliable(w->verdict);
            dis_review_destroy(review);
            dis_votes_destroy(votes);
        }
    assert_true(found >= 3 * CROWDS - 2);
}

static void no_verdict_on_noise(void **state)
{
    (void)state;
    review_crowd c = review_good_crowd(1, 600, EQUALS, 3);
    for (size_t w = 0; w < EQUALS; w++) c.accuracy[w] = 1. / 3;
    dis_votes *votes = review_even_votes(&c, 4);
    dis_review *review = review_of(NULL, votes, NULL);
    const dis_review_view v = dis_review_get_view(review);
    assert_false(v.beyond_chance);
    for (size_t r = 0; r < EQUALS; r++) {
        const dis_review_worker *w = &v.workers[r];
        assert_true(w->verdict == DIS_REVIEW_NO_VERDICT && isnan(w->accuracy) && isnan(w->accuracy_low) &&
                    isnan(w->accuracy_high));
        assert_true(isnan(w->peer_accuracy) && isnan(w->difference) && isnan(w->p_adjusted));
    }
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wilson_bounds),
        cmocka_unit_test(differences_equal_the_definition),
        cmocka_unit_test(partners_cannot_be_distinguished),
        cmocka_unit_test(equals_are_not_called_weak),
        cmocka_unit_test(equals_are_not_doubtful),
        cmocka_unit_test(bad_annotator_is_found),
        cmocka_unit_test(no_verdict_on_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
