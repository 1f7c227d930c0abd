/* bench_em: nanoseconds per vote and iteration of an EM method, through the public headers alone.
 *
 *     bench_em [votes] [workers] [classes] [votes-per-item] [threads] [method]
 *
 * Votes are drawn in memory from the Dawid-Skene model. A fit reports its progress once per iteration: the cost of an
 * iteration is the time between two reports, the first and the last one apart, so that start, end and allocation drop
 * out. Printed are the median and the fastest (on a busy machine the undisturbed one), and the same difference taken
 * between whole runs of 2 and of 2 + n iterations. Beside it the bytes of votes that an iteration has to read, and what
 * memcpy achieves in the same minute. */
#include "bench_em_support.h"
#include <string.h>

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
    return x[n / 2];
}

static double fit_seconds(dis_context *ctx, const dis_votes *votes, const char *method, int iterations)
{
    char spec[256];
    snprintf(spec, sizeof spec, "%s%citerations=%d,tolerance=0", method, strchr(method, ':') ? ',' : ':', iterations);
    dis_fit *fit;
    const double begin = now();
    if (dis_fit_run(ctx, votes, spec, NULL, &fit) != DIS_OK) fail();
    const double elapsed = now() - begin;
    dis_fit_destroy(fit);
    return elapsed;
}

/* Bytes per second that memcpy reads and writes, best of 5 over 64 MiB. */
static double copy_speed(void)
{
    const size_t n = (size_t)64 << 20;
    char *from = malloc(n), *to = malloc(n);
    if (!from || !to) exit(5);
    memset(from, 1, n);
    memset(to, 2, n);
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        const double begin = now();
        memcpy(to, from, n);
        from[0] = to[n / 2];
        const double elapsed = now() - begin;
        if (elapsed < best) best = elapsed;
    }
    free(from);
    free(to);
    return 2 * (double)n / best;
}

int main(int argc, char **argv)
{
    const size_t n_votes = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000,
                 n_workers = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    const size_t n_classes = argc > 3 ? strtoull(argv[3], NULL, 10) : 4,
                 per_item = argc > 4 ? strtoull(argv[4], NULL, 10) : 5;
    const char *method = argc > 6 ? argv[6] : "dawid-skene";
    dis_context_options o = dis_context_options_default();
    o.threads = argc > 5 ? atoi(argv[5]) : 1;
    static reports r;
    o.progress = report;
    o.user = &r;
    dis_context *ctx;
    if (dis_context_create(&o, &ctx) != DIS_OK) fail();
    dis_votes *votes = make_votes(ctx, n_votes, n_workers, n_classes, per_item);

    const int more = n_votes > 3000000 ? 12 : n_votes > 300000 ? 100 : 900;
    const double few = fit_seconds(ctx, votes, method, 2);
    r.n = 0;
    const double many = fit_seconds(ctx, votes, method, 2 + more);
    double iteration[MAX];
    size_t n = 0;
    for (size_t i = 2; i + 2 < r.n; i++) iteration[n++] = r.at[i] - r.at[i - 1];
    const double typical = median(iteration, n), best = iteration[0], votes_ = (double)n_votes, copy = copy_speed();
    const double bytes = votes_ * (n_classes <= 256 ? 5 : 6) + votes_ / (double)per_item * 8;
    printf(
        "%s: %zu votes, %zu workers, %zu classes, %zu votes per item, %d thread(s): ns per vote and iteration: median "
        "%.2f, "
        "fastest %.2f, between runs %.2f; %.2f GB/s of votes read, memcpy here moves %.1f GB/s\n",
        method, n_votes, n_workers, n_classes, per_item, dis_context_n_threads(ctx), 1e9 * typical / votes_,
        1e9 * best / votes_, 1e9 * (many - few) / more / votes_, 1e-9 * bytes / typical, 1e-9 * copy);
    dis_votes_destroy(votes);
    dis_context_destroy(ctx);
    return 0;
}
