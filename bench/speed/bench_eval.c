/* Times dis_evaluation_run on arrays that the peers get as well (peers_metrics.py). One line of JSON.
 *
 *     bench_eval WHAT IN.f64 ITEMS CLASSES THREADS REPEATS     WHAT as in peers_metrics.py
 *
 * Repeats are single measurements; whoever calls this takes the median. Only public headers are used. */
#include "dissent/dissent.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(dis_status status)
{
    if (status == DIS_OK) return;
    fprintf(stderr, "bench_eval: %s\n", dis_last_error());
    exit((int)status);
}

/* What is asked for, and the figure by which the two sides are compared: a value, or the width of its interval. */
static const struct {
    const char *name;
    dis_evaluation_metric only;
    bool all, interval;
} runs[] = {
    {"metrics", DIS_EVALUATION_ACCURACY, true, false},
    {"calibrated", DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD, false, false},
    {"bootstrap_cross_entropy", DIS_EVALUATION_CROSS_ENTROPY, false, true},
    {"bootstrap_accuracy", DIS_EVALUATION_ACCURACY, false, true},
    {"bootstrap_f1", DIS_EVALUATION_MACRO_F1, false, true},
};
enum { N_RUNS = sizeof runs / sizeof *runs };

int main(int argc, char **argv)
{
    size_t r = 0;
    while (argc == 7 && r < N_RUNS && strcmp(runs[r].name, argv[1]) != 0) r++;
    if (argc != 7 || r == N_RUNS) {
        fprintf(stderr, "usage: bench_eval WHAT IN.f64 ITEMS CLASSES THREADS REPEATS (see the head of bench_eval.c)\n");
        return 2;
    }
    const size_t n = (size_t)atoll(argv[3]), k = (size_t)atoll(argv[4]), total = 2 * n * k + n;
    double *x = malloc(total * sizeof *x);
    int32_t *gold = malloc(n * sizeof *gold);
    FILE *f = fopen(argv[2], "rb");
    if (!x || !gold || !f || fread(x, sizeof *x, total, f) != total) {
        fprintf(stderr, "bench_eval: cannot read %s\n", argv[2]);
        return 4;
    }
    fclose(f);
    for (size_t i = 0; i < n; i++) gold[i] = (int32_t)x[2 * n * k + i];

    bool wanted[DIS_EVALUATION_METRICS];
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        wanted[m] = runs[r].all ? m != DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD : m == runs[r].only;
    const bool people = dis_evaluation_metric_get(runs[r].only)->needs & DIS_NEEDS_HUMAN;
    const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                     .n_items = n,
                                     .n_classes = k,
                                     .q = x,
                                     .human = runs[r].all || people ? x + n * k : NULL,
                                     .gold = runs[r].all || !people ? gold : NULL};
    dis_evaluation_options o = dis_evaluation_options_default();
    o.n_metrics = DIS_EVALUATION_METRICS;
    o.metrics = wanted;
    o.ordinal = true;
    o.resamples = runs[r].interval ? 1000 : 0;
    dis_context_options c = dis_context_options_default();
    c.threads = atoi(argv[5]);
    dis_context *ctx;
    must(dis_context_create(&c, &ctx));
    double value = 0;
    printf("{\"seconds\": [");
    for (int i = 0; i < atoi(argv[6]); i++) {
        dis_evaluation *e;
        const double start = now();
        must(dis_evaluation_run(ctx, &in, &o, &e));
        printf("%s%.9f", i ? ", " : "", now() - start);
        const dis_evaluation_view v = dis_evaluation_get_view(e);
        const dis_metric *m = v.metric;
        value = runs[r].interval ? m[runs[r].only].ci_high - m[runs[r].only].ci_low : m[runs[r].only].value;
        if (runs[r].all) value += m[DIS_EVALUATION_CROSS_ENTROPY].value;
        dis_evaluation_destroy(e);
    }
    printf("], \"value\": %.17g}\n", value);
    dis_context_destroy(ctx);
    free(x);
    free(gold);
    return 0;
}
