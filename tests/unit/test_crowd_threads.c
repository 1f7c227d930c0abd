/* The label method crowd: the review's own labels, the same to the last bit with any number of threads, found again
 * from a saved state, gold pinned. */
#include "support/review_support.h"
#include "support/scratch.h"

enum { N = 3000, W = 40, K = 3 };

static dis_fit *fit_with(int threads, const dis_votes *votes, const char *spec, const dis_fit_options *how)
{
    dis_context_options o = dis_context_options_default();
    o.threads = threads;
    dis_context *ctx;
    dis_fit *fit;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    if (dis_fit_run(ctx, votes, spec, how, &fit) != DIS_OK) fail_msg("%s", dis_last_error());
    dis_context_destroy(ctx);
    return fit;
}

static size_t best(const double *p)
{
    size_t b = 0;
    for (size_t k = 1; k < K; k++) b = p[k] > p[b] ? k : b;
    return b;
}

static void threads_and_review(void **state)
{
    (void)state;
    review_crowd c = review_good_crowd(8, N, W, K);
    for (size_t w = 0; w < 8; w++) c.habit[w] = (int)(w % K);
    dis_votes *votes = review_even_votes(&c, 5);
    dis_fit *one = fit_with(1, votes, "crowd", NULL), *many = fit_with(3, votes, "crowd", NULL);
    assert_memory_equal(dis_fit_p(one), dis_fit_p(many), N * K * sizeof(double));
    assert_int_equal(dis_fit_get_view(one).iterations, 5);
    assert_int_equal(dis_fit_get_view(one).iterations, 5);
    assert_int_equal(dis_fit_get_view(one).n_trace, 0);
    assert_true(dis_fit_get_view(one).converged);
    dis_review *review = review_of(NULL, votes, NULL);
    const dis_review_view v = dis_review_get_view(review);
    size_t right = 0, same = 0; /* a review's items have one more step of the class prior after them */
    for (size_t r = 0; r < v.n_items; r++) {
        same += v.items[r].label == best(dis_fit_p(one) + v.items[r].item * K);
        right += v.items[r].label == review_truth(&c, v.items[r].item);
    }
    assert_true((double)same > .99 * N);
    assert_true((double)right > .85 * N);
    dis_review_destroy(review);
    dis_fit_destroy(one);
    dis_fit_destroy(many);
    dis_votes_destroy(votes);
}

/* From the parameters of a fit, without a round, the labels of that fit up to the zeros that are softened. */
static void warm_start(void **state)
{
    (void)state;
    review_crowd c = review_good_crowd(9, N, W, K);
    dis_votes *votes = review_even_votes(&c, 5);
    dis_fit *cold = fit_with(2, votes, "crowd:iterations=200,tolerance=1e-9", NULL);
    assert_true(dis_fit_get_view(cold).converged);
    const dis_fit *fits[] = {cold};
    char path[128];
    strcpy(path, in_folder("state.safetensors"));
    dis_state *saved;
    assert_int_equal(dis_state_write(NULL, votes, fits, 1, path), DIS_OK);
    assert_int_equal(dis_state_read(NULL, path, &saved), DIS_OK);
    dis_fit_options how = dis_fit_options_default();
    how.initial_state = saved;
    dis_fit *warm = fit_with(2, votes, "crowd:iterations=0", &how);
    size_t same = 0;
    for (size_t i = 0; i < N; i++) same += best(dis_fit_p(warm) + i * K) == best(dis_fit_p(cold) + i * K);
    assert_true((double)same > .99 * N);
    dis_state_destroy(saved);
    dis_fit_destroy(warm);
    dis_fit_destroy(cold);
    dis_votes_destroy(votes);
}

static void gold_is_pinned(void **state)
{
    (void)state;
    review_crowd c = review_good_crowd(10, N, W, K);
    dis_votes *votes = review_even_votes(&c, 3);
    static int32_t gold[N];
    for (size_t i = 0; i < N; i++) gold[i] = i % 3 ? -1 : (int32_t)((review_truth(&c, i) + 1) % K);
    dis_fit_options how = dis_fit_options_default();
    how.gold = gold;
    dis_fit *fit = fit_with(1, votes, "crowd", &how);
    for (size_t i = 0; i < N; i += 3) assert_true(dis_fit_p(fit)[i * K + (size_t)gold[i]] == 1);
    dis_fit_destroy(fit);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_and_review), cmocka_unit_test(warm_start),
                                       cmocka_unit_test(gold_is_pinned)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
