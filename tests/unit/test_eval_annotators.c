/* Figures against people for other annotators: variances against evaluations without each annotator, what is reported,
 * threads, faults. */
#include "support/em_support.h"
#include "support/fault_walk.h"
#include "core/random/random.h"
#include "evaluate/evaluation_internal.h"

enum { ITEMS = 40, MAX_WORKERS = 60, CLASSES = 3 };

static uint32_t task_of[ITEMS * MAX_WORKERS], worker_of[ITEMS * MAX_WORKERS];
static uint16_t label_of[ITEMS * MAX_WORKERS];
static double q_of[ITEMS * CLASSES], human_of[ITEMS * CLASSES];
static size_t items[ITEMS], classes[CLASSES] = {0, 1, 2};

/* Votes of the workers but one; item 0 has the vote of worker 0 alone. */
static dis_votes *crowd(size_t n_workers, double share, size_t without)
{
    size_t n = 0;
    for (uint32_t i = 0; i < ITEMS; i++)
        for (uint32_t w = 0; w < n_workers; w++) {
            const uint64_t at = (uint64_t)i * MAX_WORKERS + w;
            if (w == without || (i == 0 ? w > 0 : dis__random_uniform(1, 2, at) > share)) continue;
            const bool biased = dis__random_uniform(1, 3, at) < .1 + .4 * dis__random_uniform(1, 4, w);
            task_of[n] = i;
            worker_of[n] = w;
            label_of[n++] = (uint16_t)(biased ? 0 : dis__random_uniform(1, 5, at) < .7 ? i % CLASSES : 1 + at % 2);
        }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = ITEMS,
                                .n_workers = n_workers,
                                .n_classes = CLASSES,
                                .task = task_of,
                                .worker = worker_of,
                                .label = label_of};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    return votes;
}

static void predict(void)
{
    for (size_t i = 0; i < ITEMS; i++) {
        items[i] = i;
        for (size_t k = 0; k < CLASSES; k++) q_of[i * CLASSES + k] = k == i % CLASSES ? .4 + .01 * (double)(i % 20) : 0;
        for (size_t k = 0; k < CLASSES; k++)
            if (k != i % CLASSES) q_of[i * CLASSES + k] = (1 - q_of[i * CLASSES + i % CLASSES]) / 2;
    }
}

/* Shares of the votes of each item; returns how many items have some, their numbers in `rows`. */
static size_t shares(const dis_votes *votes, double *p, size_t *rows)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    size_t n = 0;
    for (size_t i = 0; i < ITEMS; i++) {
        const double all = (double)(v.start[i + 1] - v.start[i]);
        for (size_t k = 0; k < CLASSES; k++) p[i * CLASSES + k] = all > 0 ? 0 : 1. / CLASSES;
        for (uint64_t t = v.start[i]; t < v.start[i + 1]; t++) p[i * CLASSES + v.label8[t]] += 1 / all;
        if (all > 0) rows[n++] = i;
    }
    return n;
}

static double cross_entropy(const double *p, size_t i)
{
    double sum = 0;
    for (size_t k = 0; k < CLASSES; k++) sum -= p[i * CLASSES + k] * log(q_of[i * CLASSES + k]);
    return sum;
}

static dis_evaluation *evaluate(dis_context *ctx, const dis_votes *votes, dis_interval_scope over, dis_status *status)
{
    size_t rows[ITEMS];
    const dis_evaluation_votes from = {.size = sizeof(dis_evaluation_votes),
                                       .votes = votes,
                                       .labels = "standard",
                                       .item_map = items,
                                       .class_map = classes};
    const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                     .n_items = ITEMS,
                                     .n_classes = CLASSES,
                                     .q = q_of,
                                     .human = human_of,
                                     .votes = &from};
    dis_evaluation_options o = dis_evaluation_options_default();
    dis_evaluation *e = NULL;
    predict();
    if (dis_votes_get_view(votes).start) shares(votes, human_of, rows);
    o.resamples = 100;
    o.interval_scope = over;
    *status = dis_evaluation_run(ctx, &in, &o, &e);
    return e;
}

static void test_variances(void **state)
{
    (void)state;
    enum { WORKERS = 7 };
    dis_votes *votes = crowd(WORKERS, .6, SIZE_MAX);
    dis_status status;
    dis_evaluation *e = evaluate(NULL, votes, DIS_INTERVAL_ANNOTATORS, &status);
    assert_int_equal(status, DIS_OK);
    const dis_evaluation_view v = dis_evaluation_get_view(e);
    double mean = 0, sum = 0, each = 0, value[WORKERS], full[ITEMS];
    for (size_t i = 0; i < ITEMS; i++) full[i] = cross_entropy(human_of, i);
    for (size_t w = 0; w < WORKERS; w++) {
        double p[ITEMS * CLASSES], total = 0;
        size_t rows[ITEMS];
        dis_votes *rest = crowd(WORKERS, .6, w);
        const size_t n = shares(rest, p, rows);
        assert_int_equal(n, w == 0 ? ITEMS - 1 : ITEMS);
        for (size_t r = 0; r < n; r++) total += cross_entropy(p, rows[r]);
        for (size_t i = 0, r = 0; i < ITEMS; i++) {
            const bool is_left = r < n && rows[r] == i;
            const double change =
                is_left ? cross_entropy(p, i) - full[i] : full[i] - v.metric[DIS_EVALUATION_CROSS_ENTROPY].value;
            r += is_left;
            each += change * change / (ITEMS * ITEMS);
        }
        value[w] = total / (double)n;
        mean += value[w] / WORKERS;
        dis_votes_destroy(rest);
    }
    for (size_t w = 0; w < WORKERS; w++) sum += (value[w] - mean) * (value[w] - mean) * (WORKERS - 1) / WORKERS;
    em_assert_close(e->crossed[DIS_EVALUATION_CROSS_ENTROPY].annotators, sum, 1e-12 * sum);
    em_assert_close(e->crossed[DIS_EVALUATION_CROSS_ENTROPY].votes, each * (WORKERS - 1) / WORKERS, 1e-12 * each);
    em_assert_close(e->crossed[DIS_EVALUATION_MANHATTAN].votes, 4 * e->crossed[DIS_EVALUATION_TOTAL_VARIATION].votes,
                    1e-15);
    assert_int_equal(v.interval_scope, DIS_INTERVAL_ANNOTATORS);
    assert_int_equal(v.n_annotators, WORKERS);
    assert_false(v.few_annotators);
    dis_evaluation_destroy(e);
    dis_votes_destroy(votes);
}

static void test_reported(void **state)
{
    (void)state;
    dis_status status;
    dis_votes *votes = crowd(4, .8, SIZE_MAX);
    dis_evaluation *e[2] = {evaluate(NULL, votes, DIS_INTERVAL_ANNOTATORS, &status),
                            evaluate(NULL, votes, DIS_INTERVAL_ITEMS, &status)};
    const dis_evaluation_view a = dis_evaluation_get_view(e[0]), b = dis_evaluation_get_view(e[1]);
    assert_true(a.few_annotators && a.n_annotators == 4);
    assert_int_equal(b.interval_scope, DIS_INTERVAL_ITEMS);
    assert_int_equal(b.n_annotators, 0);
    const dis_metric *x = &a.metric[DIS_EVALUATION_CROSS_ENTROPY], *y = &b.metric[DIS_EVALUATION_CROSS_ENTROPY];
    assert_true(x->value == y->value && x->has_interval && y->has_interval);
    assert_true(x->ci_high - x->ci_low > y->ci_high - y->ci_low);
    const dis_metric *of_model = &a.metric[DIS_EVALUATION_CONFIDENCE];
    assert_true(of_model->ci_low == b.metric[DIS_EVALUATION_CONFIDENCE].ci_low); /* no matter of people */
    dis_evaluation_destroy(e[0]);
    dis_evaluation_destroy(e[1]);
    dis_votes_destroy(votes);
    votes = crowd(1, .8, SIZE_MAX); /* nothing is known of others */
    dis_evaluation *one = evaluate(NULL, votes, DIS_INTERVAL_ANNOTATORS, &status);
    const dis_metric *alone = &dis_evaluation_get_view(one).metric[DIS_EVALUATION_CROSS_ENTROPY];
    assert_false(alone->has_interval);
    assert_int_equal(alone->no_interval, DIS_NO_INTERVAL_ONE_ANNOTATOR);
    dis_evaluation_destroy(one);
    dis_votes_destroy(votes);
    double counts[ITEMS * CLASSES];
    for (size_t i = 0; i < ITEMS * CLASSES; i++) counts[i] = (double)(1 + i % 4);
    assert_int_equal(dis_votes_create_from_counts(NULL, counts, ITEMS, CLASSES, NULL, NULL, &votes), DIS_OK);
    e[0] = evaluate(NULL, votes, DIS_INTERVAL_ANNOTATORS, &status);
    assert_int_equal(dis_evaluation_get_view(e[0]).interval_scope, DIS_INTERVAL_ITEMS);
    dis_evaluation_destroy(e[0]);
    dis_votes_destroy(votes);
}

/* More annotators than blocks; any number of threads. */
static void test_threads(void **state)
{
    (void)state;
    dis_votes *votes = crowd(MAX_WORKERS, .3, SIZE_MAX);
    dis_evaluation *e[2];
    for (int t = 0; t < 2; t++) {
        dis_context_options o = dis_context_options_default();
        dis_context *ctx;
        dis_status status;
        o.threads = t ? 3 : 1;
        assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
        e[t] = evaluate(ctx, votes, DIS_INTERVAL_ANNOTATORS, &status);
        assert_int_equal(status, DIS_OK);
        dis_context_destroy(ctx);
    }
    const dis_evaluation_view a = dis_evaluation_get_view(e[0]), b = dis_evaluation_get_view(e[1]);
    assert_int_equal(a.n_annotators, MAX_WORKERS);
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        if (a.metric[m].has_interval)
            assert_true(a.metric[m].ci_low == b.metric[m].ci_low && a.metric[m].ci_high == b.metric[m].ci_high);
    dis_evaluation_destroy(e[0]);
    dis_evaluation_destroy(e[1]);
    dis_votes_destroy(votes);
}

static dis_status run_all(void *votes)
{
    dis_status status;
    dis_evaluation_destroy(evaluate(NULL, votes, DIS_INTERVAL_ANNOTATORS, &status));
    return status;
}

static void test_faults(void **state)
{
    (void)state;
    dis_votes *votes = crowd(3, .8, SIZE_MAX);
    walk_faults(run_all, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variances),
        cmocka_unit_test(test_reported),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
