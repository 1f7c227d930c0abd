/* Two camps of annotators: found where they exist, and not in one camp, whatever the number of threads and the order of
 * rows. Level and power are measured by bench/truth/annotator_camps.py. */
#include "support/review_support.h"
#include "support/fault_walk.h"

enum { ITEMS = 240, WORKERS = 10, FIRST = 6, CLASSES = 3, VOTES = 8 };

static double draw(uint64_t seed, uint64_t at)
{
    return dis__random_uniform(seed, 1, at);
}

/* The first six annotators read a share `contested` of the items as one class, the other four as the next one. All are
 * correct in 85 of 100 votes. `reversed`: rows in reverse order. */
static dis_votes *crowd(size_t n_items, double contested, bool reversed)
{
    static uint32_t task[ITEMS * VOTES], worker[ITEMS * VOTES];
    static uint16_t label[ITEMS * VOTES];
    size_t n = 0;
    for (uint32_t i = 0; i < n_items; i++) {
        const bool is_contested = draw(1, i) < contested;
        const uint32_t start = (uint32_t)(draw(2, i) * WORKERS);
        for (uint32_t v = 0; v < VOTES; v++, n++) {
            const uint32_t w = (start + v * 3) % WORKERS;
            const uint64_t at = (uint64_t)i * VOTES + v;
            uint32_t class = i % CLASSES + (is_contested && w >= FIRST ? 1u : 0u);
            if (draw(3, at) > .85) class += draw(4, at) < .5 ? 2u : 1u;
            task[n] = i;
            worker[n] = w;
            label[n] = (uint16_t)(class % CLASSES);
        }
    }
    for (size_t a = 0; reversed && a < n / 2; a++) {
        const size_t b = n - 1 - a;
        const uint32_t t = task[a], w = worker[a];
        const uint16_t l = label[a];
        task[a] = task[b], worker[a] = worker[b], label[a] = label[b];
        task[b] = t, worker[b] = w, label[b] = l;
    }
    dis_votes_arrays arrays = dis_votes_arrays_default();
    arrays.n_votes = n;
    arrays.n_items = n_items;
    arrays.n_workers = WORKERS;
    arrays.n_classes = CLASSES;
    arrays.task = task;
    arrays.worker = worker;
    arrays.label = label;
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &arrays, &votes), DIS_OK);
    return votes;
}

static dis_review *run(const dis_votes *votes, int threads)
{
    dis_context_options o = dis_context_options_default();
    dis_review_options how = dis_review_options_default();
    dis_context *ctx;
    o.threads = threads;
    how.camps = true;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    dis_review *review = review_of(ctx, votes, &how);
    dis_context_destroy(ctx);
    return review;
}

static void two_camps_are_found(void **state)
{
    (void)state;
    dis_votes *votes = crowd(ITEMS, .4, false);
    dis_review *review = run(votes, 1);
    const dis_review_camps *camps = dis_review_get_view(review).camps;
    assert_non_null(camps);
    assert_true(camps->has_two && camps->p < .01);
    assert_int_equal(camps->n[0], FIRST);
    assert_int_equal(camps->n[1], WORKERS - FIRST);
    for (size_t w = 0; w < WORKERS; w++) assert_int_equal(camps->camp[w], w < FIRST ? 1 : 2);
    assert_true(camps->agreement_within > camps->agreement_across + .1);
    /* the same for other threads and the reverse order of rows */
    dis_votes *reversed = crowd(ITEMS, .4, true);
    for (int k = 0; k < 2; k++) {
        dis_review *again = run(k ? reversed : votes, 4);
        const dis_review_camps *other = dis_review_get_view(again).camps;
        assert_true(k ? fabs(other->p - camps->p) < 1e-12 * camps->p + 1e-15 : other->p == camps->p);
        assert_memory_equal(other->camp, camps->camp, WORKERS);
        dis_review_destroy(again);
    }
    dis_review_destroy(review);
    dis_votes_destroy(votes);
    dis_votes_destroy(reversed);
}

static void one_camp_is_not_divided(void **state)
{
    (void)state;
    dis_votes *votes = crowd(ITEMS, 0, false);
    dis_review *review = run(votes, 2);
    const dis_review_camps *camps = dis_review_get_view(review).camps;
    assert_non_null(camps);
    assert_false(camps->has_two);
    assert_true(camps->p > .05);
    dis_review_destroy(review);
    review = review_of(NULL, votes, NULL);
    assert_null(dis_review_get_view(review).camps); /* not requested */
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

static void few_votes_show_no_camps(void **state)
{
    (void)state;
    dis_votes *votes = crowd(15, .4, false);
    dis_review *review = run(votes, 1);
    const dis_review_camps *camps = dis_review_get_view(review).camps;
    if (camps) assert_true(!(camps->p <= .05) && !camps->has_two);
    dis_review_destroy(review);
    dis_votes_destroy(votes);
}

static dis_status one_review(void *arg)
{
    dis_review_options o = dis_review_options_default();
    o.camps = true;
    dis_review *review = NULL;
    const dis_status status = dis_review_run(NULL, arg, &o, &review);
    assert_true((status == DIS_OK) == (review != NULL));
    dis_review_destroy(review);
    return status;
}

static void faults(void **state)
{
    (void)state;
    dis_votes *votes = crowd(120, .5, false);
    walk_faults(one_review, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_camps_are_found),
        cmocka_unit_test(one_camp_is_not_divided),
        cmocka_unit_test(few_votes_show_no_camps),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
