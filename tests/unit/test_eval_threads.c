/* Evaluation does not depend on the number of threads, nor on what else is kept or asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "support/eval_support.h"

static void same_view(const dis_evaluation_view *a, const dis_evaluation_view *b)
{
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        const dis_metric *x = &a->metric[m], *y = &b->metric[m];
        assert_memory_equal(&x->value, &y->value, sizeof x->value);
        assert_memory_equal(&x->ci_low, &y->ci_low, sizeof x->ci_low);
        assert_memory_equal(&x->ci_high, &y->ci_high, sizeof x->ci_high);
    }
    assert_int_equal(a->n_splits, b->n_splits);
    assert_memory_equal(a->temperature, b->temperature, a->n_splits * sizeof *a->temperature);
    assert_memory_equal(a->confusion, b->confusion, a->n_classes * a->n_classes * sizeof *a->confusion);
    assert_memory_equal(dis_evaluation_values(a, DIS_EVALUATION_KL), dis_evaluation_values(b, DIS_EVALUATION_KL),
                        a->n_items * sizeof(double));
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    items x = make(70001, 3, 5); /* enough for the search to start from a sample, and for several jobs */
    const dis_evaluation_input in = input(&x);
    dis_evaluation_options o = dis_evaluation_options_default();
    o.resamples = 40;
    o.keep_items = true;
    dis_evaluation *one = run(&in, &o);
    static const int threads[] = {2, 3, 7, 16};
    for (size_t t = 0; t < 4; t++) {
        dis_context_options c = dis_context_options_default();
        c.threads = threads[t];
        dis_context *ctx;
        assert_int_equal(dis_context_create(&c, &ctx), DIS_OK);
        dis_evaluation *more;
        assert_int_equal(dis_evaluation_run(ctx, &in, &o, &more), DIS_OK);
        const dis_evaluation_view a = dis_evaluation_get_view(one), b = dis_evaluation_get_view(more);
        same_view(&a, &b);
        dis_evaluation_destroy(more);
        dis_context_destroy(ctx);
    }
    /* what is kept does not change what is measured */
    o.keep_items = false;
    o.resamples = 0;
    dis_evaluation *plain = run(&in, &o);
    const dis_evaluation_view selected = dis_evaluation_get_view(one), left = dis_evaluation_get_view(plain);
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        assert_memory_equal(&left.metric[m].value, &selected.metric[m].value, sizeof(double));
    const dis_evaluation_view without = dis_evaluation_get_view(plain);
    assert_null(dis_evaluation_values(&without, DIS_EVALUATION_KL));
    dis_evaluation_destroy(plain);
    dis_evaluation_destroy(one);
    unmake(&x);
}

/* What is asked for decides what is computed, never what comes out. */
static void selections_equal_all_metrics(void **state)
{
    (void)state;
    items x = make(3000, 4, 9);
    const dis_evaluation_input in = input(&x);
    dis_evaluation_options o = dis_evaluation_options_default();
    o.resamples = 60;
    o.ordinal = true;
    dis_evaluation *all = run(&in, &o);
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        bool wanted[DIS_EVALUATION_METRICS] = {false};
        if (dis_evaluation_metric_get(m)->needs & (DIS_NEEDS_WORKERS | DIS_NEEDS_SETS)) continue;
        wanted[m] = true;
        o.n_metrics = DIS_EVALUATION_METRICS;
        o.metrics = wanted;
        dis_evaluation *one = run(&in, &o);
        const dis_metric a = dis_evaluation_get_view(all).metric[m], b = dis_evaluation_get_view(one).metric[m];
        assert_null(b.reason);
        assert_memory_equal(&a.value, &b.value, sizeof a.value);
        assert_true(fabs(a.ci_low - b.ci_low) < 1e-12 && fabs(a.ci_high - b.ci_high) < 1e-12);
        for (size_t other = 0; other < DIS_EVALUATION_METRICS; other++)
            assert_true(other == m || dis_evaluation_get_view(one).metric[other].reason);
        dis_evaluation_destroy(one);
    }
    dis_evaluation_destroy(all);
    unmake(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
                                       cmocka_unit_test(selections_equal_all_metrics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
