/* Reading votes: bench_read FILE [THREADS [REPEATS]] prints seconds (best and median), rows and rows per second. */
#include "dissent/dissent.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX = 100 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_read FILE [THREADS [REPEATS]]\n");
        return 2;
    }
    const char *path = argv[1];
    dis_context_options o = dis_context_options_default();
    o.threads = argc > 2 ? atoi(argv[2]) : 1;
    const int requested = argc > 3 ? atoi(argv[3]) : 3, repeats = requested < 1 ? 1 : requested > MAX ? MAX : requested;
    dis_votes_options how = dis_votes_options_default();
    how.duplicates = DIS_DUPLICATES_ALL;
    dis_context *ctx;
    if (dis_context_create(&o, &ctx) != DIS_OK) {
        fprintf(stderr, "%s\n", dis_last_error());
        return 1;
    }
    double seconds[MAX];
    uint64_t rows = 0;
    for (int i = 0; i < repeats; i++) {
        dis_votes *votes;
        const double begin = now();
        if (dis_votes_read(ctx, &path, 1, &how, &votes) != DIS_OK) {
            fprintf(stderr, "%s\n", dis_last_error());
            dis_context_destroy(ctx);
            return 1;
        }
        seconds[i] = now() - begin;
        rows = dis_votes_get_notes(votes).rows;
        dis_votes_destroy(votes);
    }
    dis_context_destroy(ctx);
    qsort(seconds, (size_t)repeats, sizeof *seconds, ascending);
    const double median = seconds[repeats / 2];
    printf("read best %.6f median %.6f rows %llu rows/s %.4g threads %d\n", seconds[0], median,
           (unsigned long long)rows, (double)rows / median, o.threads);
    return 0;
}
