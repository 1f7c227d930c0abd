/* gpu_resamples: sums over resamples on a CUDA device beside all threads of the CPU, in the same run.
 *
 *     gpu_resamples [items] [resamples] [threads]
 *
 * For 1 to 8 columns and for 15 bins: the time of the CPU, of the device with its copies (the second of two runs:
 * the first starts it), how many times that is, and the largest difference of a sum. Then the time that 16 columns take
 * to the device: what a combination of four views of four classes would have to wait for, there and a quarter of it
 * back. */
#include "stats/bootstrap_device.h"
#include "dissent/dissent.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COLUMNS = 16, BINS = 15 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(dis_status status)
{
    if (status == DIS_OK) return;
    fprintf(stderr, "%s\n", dis_last_error());
    exit(1);
}

static dis_context *context(const char *device, int threads)
{
    dis_context_options o = dis_context_options_default();
    dis_context *ctx;
    o.threads = threads;
    o.device = device;
    must(dis_context_create(&o, &ctx));
    return ctx;
}

typedef struct {
    dis_context *ctx[2]; /* CPU, device */
    dis__bootstrap b;
    const double *column[COLUMNS];
    uint8_t *bin;
    double *sums[2];
} problem;

/* n_columns 0: bins. */
static double once(problem *p, int device, size_t n_columns)
{
    const double begin = now();
    must(n_columns ? dis__bootstrap_sums(p->ctx[device], &p->b, p->column, n_columns, p->sums[device])
                   : dis__bootstrap_bins(p->ctx[device], &p->b, p->column[0], p->bin, BINS, p->sums[device]));
    return now() - begin;
}

static void compare(problem *p, size_t n_columns)
{
    const double cpu = once(p, 0, n_columns);
    double gpu = 0, most = 0;
    for (int k = 0; k < 2; k++) gpu = once(p, 1, n_columns);
    for (size_t i = 0; i < p->b.n_resamples * (n_columns ? n_columns : BINS); i++)
        most = fmax(most, fabs(p->sums[0][i] - p->sums[1][i]));
    printf("%zu items, %zu resamples, %zu %s: processor %.1f ms, device %.1f: %.1f times; %.2g apart\n", p->b.n_items,
           p->b.n_resamples, n_columns ? n_columns : BINS, n_columns ? "columns" : "bins", 1e3 * cpu, 1e3 * gpu,
           cpu / gpu, most);
    fflush(stdout);
}

static void copies(problem *p)
{
    const dis__bootstrap_device *device;
    must(dis__bootstrap_device_for(p->ctx[1], &p->b, &device));
    p->b.n_resamples = 1;
    for (int k = 0; k < 3 && device; k++) {
        const double begin = now();
        must(dis__bootstrap_device_run(p->ctx[1], device, &p->b, p->column, COLUMNS, NULL, 0, p->sums[0]));
        printf("%d columns to the device: %.1f ms\n", COLUMNS, 1e3 * (now() - begin));
    }
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000,
                 r = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    const int threads = argc > 3 ? atoi(argv[3]) : 0;
    problem p = {.ctx = {context("cpu", threads), context("cuda", threads)},
                 .b = {.n_items = n, .n_draws = n, .n_resamples = r, .seed = 1},
                 .bin = malloc(n)};
    double *own = malloc(n * COLUMNS / 2 * sizeof *own);
    for (int k = 0; k < 2; k++) p.sums[k] = malloc(r * COLUMNS * sizeof *p.sums[k]);
    if (!own || !p.bin || !p.sums[0] || !p.sums[1]) return 5;
    for (size_t i = 0; i < n * COLUMNS / 2; i++) own[i] = (double)(i * 2654435761u % 100003) / 50000 - 1;
    for (size_t i = 0; i < n; i++) p.bin[i] = (uint8_t)(i * 2654435761u % BINS);
    for (size_t c = 0; c < COLUMNS; c++) p.column[c] = own + c % (COLUMNS / 2) * n;
    for (size_t c = 1; c <= 8; c *= 2) compare(&p, c);
    compare(&p, 0);
    copies(&p);
    for (int k = 0; k < 2; k++) {
        dis_context_destroy(p.ctx[k]);
        free(p.sums[k]);
    }
    free(own);
    free(p.bin);
    return 0;
}
