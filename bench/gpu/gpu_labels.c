/* gpu_labels: EM methods on a CUDA device beside all threads of the CPU, in the same run, through the public
 * headers.
 *
 *     gpu_labels [votes] [workers] [classes] [votes-per-item] [threads] [iterations] [method...]
 *
 * Votes are drawn in memory from the Dawid-Skene model. Per method and device: the median time of an iteration
 * (between two reports of progress, the first and the last apart), a whole fit of so many iterations and one with
 * the method's own rule of convergence, votes and labels copied there and back; the largest difference of a label
 * between the two; whether two fits of the device give the same bytes. Beside the iteration the bytes that it has to
 * move through the memory of the device, each array once, and their share of 4.3 TB/s. The first fit of the device,
 * which starts it, is distinguished. */
#include "speed/bench_em_support.h"
#include <math.h>
#include <string.h>

#define LIMIT 4.3e12 /* bytes per second that a copy moves on an H200 (docs/guides/gpu.md) */

static double iteration(const reports *r)
{
    double x[MAX];
    size_t n = 0;
    for (size_t i = 2; i + 2 < r->n; i++) x[n++] = r->at[i] - r->at[i - 1];
    qsort(x, n, sizeof *x, compare);
    return n ? x[n / 2] : 0;
}

typedef struct {
    double iteration, fit, own; /* seconds */
    int iterations;             /* of the fit by the method's own rule */
    dis_fit *labels;            /* of the fit of so many iterations */
} timing;

static dis_fit *run(dis_context *ctx, const dis_votes *votes, const char *spec, double *seconds)
{
    dis_fit *fit;
    const double begin = now();
    if (dis_fit_run(ctx, votes, spec, NULL, &fit) != DIS_OK) fail();
    *seconds = now() - begin;
    return fit;
}

static timing measure(dis_context *ctx, reports *r, const dis_votes *votes, const char *method, int n,
                      const char *device)
{
    timing t;
    char spec[256];
    snprintf(spec, sizeof spec, "%s%citerations=%d,tolerance=0", method, strchr(method, ':') ? ',' : ':', n);
    r->n = 0;
    t.labels = run(ctx, votes, spec, &t.fit);
    t.iteration = iteration(r);
    dis_fit *own = run(ctx, votes, method, &t.own);
    t.iterations = dis_fit_get_view(own).iterations;
    dis_fit_destroy(own);
    printf("%s on %s: %.3f ms per iteration, %d iterations %.3f s, own rule %d iterations %.3f s\n", method, device,
           1e3 * t.iteration, n, t.fit, t.iterations, t.own);
    fflush(stdout);
    return t;
}

static void compare_devices(dis_context *const ctx[2], reports *r, const dis_votes *votes, const char *method, int n)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    const size_t size = v.n_items * v.n_classes;
    double most = 0;
    const timing cpu = measure(ctx[0], r, votes, method, n, "cpu"), gpu = measure(ctx[1], r, votes, method, n, "cuda"),
                 again = measure(ctx[1], r, votes, method, n, "cuda");
    const double *a = dis_fit_p(cpu.labels), *b = dis_fit_p(gpu.labels);
    for (size_t e = 0; e < size; e++) most = fmax(most, fabs(a[e] - b[e]));
    const bool same = memcmp(b, dis_fit_p(again.labels), size * sizeof *b) == 0;
    /* votes twice, starts, posteriors written and read: what no cache saves */
    const double bytes = 8 * (double)v.n_votes + (double)v.n_items * (8 + 16 * (double)v.n_classes);
    printf("%s: %.1f times in an iteration, %.1f in %d iterations, %.1f by its own rule; labels %.2g apart, %s twice; "
           "%.2f GB at least, %.0f %% of the memory's %.1f TB/s\n",
           method, cpu.iteration / gpu.iteration, cpu.fit / gpu.fit, n, cpu.own / gpu.own, most,
           same ? "the same bytes" : "OTHER BYTES", 1e-9 * bytes, 100 * bytes / LIMIT / gpu.iteration, 1e-12 * LIMIT);
    fflush(stdout);
    dis_fit_destroy(cpu.labels);
    dis_fit_destroy(gpu.labels);
    dis_fit_destroy(again.labels);
}

int main(int argc, char **argv)
{
    const size_t n_votes = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000,
                 n_workers = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000,
                 n_classes = argc > 3 ? strtoull(argv[3], NULL, 10) : 4,
                 per_item = argc > 4 ? strtoull(argv[4], NULL, 10) : 10;
    const int iterations = argc > 6 ? atoi(argv[6]) : 20;
    dis_context_options o = dis_context_options_default();
    static reports r;
    o.threads = argc > 5 ? atoi(argv[5]) : 0;
    o.progress = report;
    o.user = &r;
    dis_context *ctx[2]; /* the CPU, the GPU */
    for (int i = 0; i < 2; i++) {
        o.device = i ? "cuda" : "cpu";
        if (dis_context_create(&o, &ctx[i]) != DIS_OK) fail();
    }
    double begin = now(), first_fit_s;
    dis_votes *votes = make_votes(ctx[0], n_votes, n_workers, n_classes, per_item);
    printf("%zu votes on %zu items by %zu workers, %zu classes, %d threads; drawn in %.1f s\n", n_votes,
           n_votes / per_item, n_workers, n_classes, dis_context_n_threads(ctx[0]), now() - begin);
    fflush(stdout);
    dis_fit_destroy(run(ctx[1], votes, "dawid-skene:iterations=1", &first_fit_s));
    printf("first fit of the device, one iteration: %.3f s\n", first_fit_s);
    if (argc <= 7) compare_devices(ctx, &r, votes, "dawid-skene", iterations);
    for (int i = 7; i < argc; i++) compare_devices(ctx, &r, votes, argv[i], iterations);
    dis_votes_destroy(votes);
    for (int i = 0; i < 2; i++) dis_context_destroy(ctx[i]);
    return 0;
}
