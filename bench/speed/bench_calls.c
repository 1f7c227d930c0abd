/* Times single calls of the library on files that the peers get as well. One line of JSON each.
 *
 *     bench_calls fit VOTES.csv THREADS REPEATS SPEC...          seconds of dis_fit_run (wall and processor),
 *         iterations,
 *                                                                objective
 *     bench_calls read VOTES.csv THREADS REPEATS                 seconds of dis_votes_read
 *     bench_calls combine VIEWS.f64 VIEWS ITEMS CLASSES THREADS REPEATS SPEC [OUT.f64]
 *     bench_calls synth OUT.csv ITEMS WORKERS CLASSES VOTES_PER_ITEM SEED [shuffle]
 *     bench_calls memory                                         bytes per second of a plain sum over 1 GiB, one thread
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

/* Processor time of all threads. */
static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

enum { MAX_REPEATS = 100 };

static void must(dis_status status)
{
    if (status == DIS_OK) return;
    fprintf(stderr, "bench_calls: %s\n", dis_last_error());
    exit((int)status);
}

static dis_context *context(const char *threads)
{
    dis_context_options o = dis_context_options_default();
    o.threads = atoi(threads);
    dis_context *ctx;
    must(dis_context_create(&o, &ctx));
    return ctx;
}

static void fit(int argc, char **argv)
{
    const char *path = argv[0];
    dis_context *ctx = context(argv[1]);
    dis_votes *votes;
    must(dis_votes_read(ctx, &path, 1, NULL, &votes));
    for (int s = 3; s < argc; s++) {
        double wall[MAX_REPEATS], cpu[MAX_REPEATS];
        dis_fit_view view = {0};
        const int repeats = atoi(argv[2]) < MAX_REPEATS ? atoi(argv[2]) : MAX_REPEATS;
        for (int r = 0; r < repeats; r++) {
            dis_fit *one;
            const double start = now(), processor_start = processor();
            must(dis_fit_run(ctx, votes, argv[s], NULL, &one));
            wall[r] = now() - start;
            cpu[r] = processor() - processor_start;
            view = dis_fit_get_view(one);
            dis_fit_destroy(one);
        }
        printf("{\"spec\": \"%s\", \"seconds\": [", argv[s]);
        for (int r = 0; r < repeats; r++) printf("%s%.9f", r ? ", " : "", wall[r]);
        printf("], \"processor_seconds\": [");
        for (int r = 0; r < repeats; r++) printf("%s%.9f", r ? ", " : "", cpu[r]);
        const bool has = view.objective == view.objective; /* not NaN */
        printf("], \"iterations\": %d, \"objective\": ", view.iterations);
        printf(has ? "%.17g}\n" : "null}\n", view.objective);
        fflush(stdout);
    }
    dis_votes_destroy(votes);
    dis_context_destroy(ctx);
}

static void read_votes(char **argv)
{
    const char *path = argv[0];
    dis_context *ctx = context(argv[1]);
    size_t n_votes = 0;
    printf("{\"seconds\": [");
    for (int r = 0; r < atoi(argv[2]); r++) {
        dis_votes *votes;
        const double start = now();
        must(dis_votes_read(ctx, &path, 1, NULL, &votes));
        printf("%s%.9f", r ? ", " : "", now() - start);
        n_votes = dis_votes_get_view(votes).n_votes;
        dis_votes_destroy(votes);
    }
    printf("], \"votes\": %zu}\n", n_votes);
    dis_context_destroy(ctx);
}

static void combine(int argc, char **argv)
{
    const size_t n_views = (size_t)atoll(argv[1]), n_items = (size_t)atoll(argv[2]), n_classes = (size_t)atoll(argv[3]);
    const size_t n = n_items * n_classes;
    double *p = malloc((n_views + 1) * n * sizeof *p);
    FILE *f = fopen(argv[0], "rb");
    if (!p || !f || n_views > DIS_MAX_VIEWS || fread(p, sizeof *p, n_views * n, f) != n_views * n) {
        fprintf(stderr, "bench_calls: cannot read %s\n", argv[0]);
        exit(4);
    }
    fclose(f);
    const double *views[DIS_MAX_VIEWS];
    for (size_t m = 0; m < n_views; m++) views[m] = p + m * n;
    double *out = p + n_views * n;
    memset(out, 0, n * sizeof *out); /* its pages are there before the clock runs */
    const dis_views all = {
        .size = sizeof(dis_views), .n_items = n_items, .n_classes = n_classes, .n_views = n_views, .p = views};
    dis_context *ctx = context(argv[4]);
    dis_combination did = dis_combination_default();
    printf("{\"seconds\": [");
    for (int r = 0; r < atoi(argv[5]); r++) {
        const double start = now();
        must(dis_views_combine(ctx, &all, argv[6], out, &did));
        printf("%s%.9f", r ? ", " : "", now() - start);
    }
    printf("], \"max_steps\": %d}\n", did.max_steps);
    if (argc > 7) {
        f = fopen(argv[7], "wb");
        if (!f || fwrite(out, sizeof *out, n, f) != n || fclose(f) != 0) exit(4);
    }
    dis_context_destroy(ctx);
    free(p);
}

static void synth(int argc, char **argv)
{
    dis_synth_options o = dis_synth_options_default();
    o.model = "dawid-skene";
    o.n_items = strtoull(argv[1], NULL, 10);
    o.n_workers = strtoull(argv[2], NULL, 10);
    o.n_classes = strtoull(argv[3], NULL, 10);
    o.votes_per_item = strtoull(argv[4], NULL, 10);
    o.seed = strtoull(argv[5], NULL, 10);
    o.shuffle = argc > 6;
    dis_context *ctx = context("0");
    must(dis_synth_write(ctx, &o, argv[0], NULL));
    dis_context_destroy(ctx);
}

/* What one thread can read: the roof over everything that passes over the votes once. */
static void memory(void)
{
    enum { N = 1 << 27 };
    uint64_t *x = malloc(N * sizeof *x), sum = 0;
    if (!x) exit(5);
    for (size_t i = 0; i < N; i++) x[i] = i;
    double best = 1e9;
    for (int r = 0; r < 5; r++) {
        const double start = processor();
        for (size_t i = 0; i < N; i++) sum += x[i];
        const double seconds = processor() - start;
        if (seconds < best) best = seconds;
    }
    printf("{\"bytes_per_second\": %.6g, \"sum\": %llu}\n", N * sizeof *x / best, (unsigned long long)sum);
    free(x);
}

int main(int argc, char **argv)
{
    if (argc >= 6 && strcmp(argv[1], "fit") == 0)
        fit(argc - 2, argv + 2);
    else if (argc == 5 && strcmp(argv[1], "read") == 0)
        read_votes(argv + 2);
    else if (argc >= 9 && strcmp(argv[1], "combine") == 0)
        combine(argc - 2, argv + 2);
    else if (argc >= 8 && strcmp(argv[1], "synth") == 0)
        synth(argc - 2, argv + 2);
    else if (argc == 2 && strcmp(argv[1], "memory") == 0)
        memory();
    else {
        fprintf(stderr, "usage: bench_calls fit|read|combine|synth|memory ... (see the head of bench_calls.c)\n");
        return 2;
    }
    return 0;
}
