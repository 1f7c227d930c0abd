/* Bootstrap intervals hold the true value as often as they say. Slow: runs with DISSENT_SLOW=1 alone; the result is in
 * docs/evidence/evaluation.md.
 *
 * A pool of 200,000 items stands for the world, so true values are known. 2,000 times 500 items are drawn from it, and
 * the 95 % intervals (1,000 resamples) of accuracy, cross-entropy, macro-F1 and some others are asked whether they hold
 * the value of the pool. With 2,000 simulations the standard error of a coverage of 95 % is half a percent. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "dissent/dissent.h"
#include "core/random/rng.h"
#include "core/random/random.h"

enum { POOL = 200000, ITEMS = 500, SIMULATIONS = 2000, CLASSES = 4 };

typedef struct {
    double *q, *p;
    int32_t *gold;
} world;

static void softmax(const double *z, double *out)
{
    double sum = 0;
    for (size_t k = 0; k < CLASSES; k++) sum += out[k] = exp(z[k]);
    for (size_t k = 0; k < CLASSES; k++) out[k] /= sum;
}

static world make_world(size_t n)
{
    world w = {malloc(n * CLASSES * sizeof(double)), malloc(n * CLASSES * sizeof(double)), malloc(n * sizeof(int32_t))};
    for (size_t i = 0; i < n; i++) {
        double z[CLASSES], noisy[CLASSES];
        for (size_t k = 0; k < CLASSES; k++) { /* classes are not equally frequent, people and model err together */
            z[k] = 1.5 * dis__random_normal(1, 4000, i * CLASSES + k) - .4 * (double)k;
            noisy[k] = 1.4 * z[k] + .8 * dis__random_normal(2, 4000, i * CLASSES + k);
        }
        softmax(z, w.p + i * CLASSES);
        softmax(noisy, w.q + i * CLASSES);
        double u = dis__random_uniform(3, 4000, i);
        w.gold[i] = 0;
        while (w.gold[i] + 1 < CLASSES && (u -= w.p[i * CLASSES + (size_t)w.gold[i]]) > 0) w.gold[i]++;
    }
    return w;
}

static void free_world(world *w)
{
    free(w->q);
    free(w->p);
    free(w->gold);
}

static const struct {
    dis_evaluation_metric metric;
    bool promised; /* 93.5 to 96.5 % */
} metrics[] = {
    {DIS_EVALUATION_ACCURACY, true},
    {DIS_EVALUATION_CROSS_ENTROPY, true},
    {DIS_EVALUATION_MACRO_F1, true},
    {DIS_EVALUATION_KL, false},
    {DIS_EVALUATION_JSD, false},
    {DIS_EVALUATION_BRIER, false},
    {DIS_EVALUATION_LOG_LOSS, false},
    {DIS_EVALUATION_ENTROPY_CORRELATION, false},
    {DIS_EVALUATION_ENTROPY_SPEARMAN, false},
    {DIS_EVALUATION_ENTROPY_SIMILARITY, false},
};
enum { N_METRICS = sizeof metrics / sizeof *metrics };

static dis_evaluation *evaluate(dis_context *ctx, const world *w, size_t n, const bool *wanted, uint64_t seed,
                                uint64_t resamples)
{
    const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                     .n_items = n,
                                     .n_classes = CLASSES,
                                     .q = w->q,
                                     .human = w->p,
                                     .gold = w->gold};
    dis_evaluation_options o = dis_evaluation_options_default();
    o.n_metrics = DIS_EVALUATION_METRICS;
    o.metrics = wanted;
    o.seed = seed;
    o.resamples = resamples;
    dis_evaluation *e;
    assert_int_equal(dis_evaluation_run(ctx, &in, &o, &e), DIS_OK);
    return e;
}

static void intervals_cover(void **state)
{
    (void)state;
    const char *slow = getenv("DISSENT_SLOW");
    if (!slow || strcmp(slow, "1") != 0) {
        puts("skipped: 2,000 simulations take half a minute; DISSENT_SLOW=1 runs them");
        skip();
    }
    dis_context *ctx;
    assert_int_equal(dis_context_create(NULL, &ctx), DIS_OK);
    bool wanted[DIS_EVALUATION_METRICS] = {false};
    for (size_t a = 0; a < N_METRICS; a++) wanted[metrics[a].metric] = true;
    world all = make_world(POOL);
    dis_evaluation *truth = evaluate(ctx, &all, POOL, wanted, 0, 0);
    world sample = make_world(ITEMS);
    size_t held[N_METRICS] = {0};
    for (uint64_t s = 0; s < SIMULATIONS; s++) {
        dis__rng source = dis__rng_at(77, 4001, s);
        for (size_t i = 0; i < ITEMS; i++) {
            const size_t from = (size_t)dis__rng_below(&source, POOL);
            memcpy(sample.q + i * CLASSES, all.q + from * CLASSES, CLASSES * sizeof *sample.q);
            memcpy(sample.p + i * CLASSES, all.p + from * CLASSES, CLASSES * sizeof *sample.p);
            sample.gold[i] = all.gold[from];
        }
        dis_evaluation *e = evaluate(ctx, &sample, ITEMS, wanted, s, 1000);
        for (size_t a = 0; a < N_METRICS; a++) {
            const dis_metric m = dis_evaluation_get_view(e).metric[metrics[a].metric];
            const double value = dis_evaluation_get_view(truth).metric[metrics[a].metric].value;
            held[a] += m.has_interval && m.ci_low <= value && value <= m.ci_high;
        }
        dis_evaluation_destroy(e);
    }
    for (size_t a = 0; a < N_METRICS; a++) {
        const double coverage = (double)held[a] / SIMULATIONS;
        printf("%-22s true %.4f   covered %.4f\n", dis_evaluation_metric_get(metrics[a].metric)->name,
               dis_evaluation_get_view(truth).metric[metrics[a].metric].value, coverage);
        if (metrics[a].promised) assert_true(coverage >= .935 && coverage <= .965);
    }
    dis_evaluation_destroy(truth);
    free_world(&all);
    free_world(&sample);
    dis_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_cover)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
