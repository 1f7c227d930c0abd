/* Times the combinations on random views: bench_combine [items [classes [views [spec ...]]]], default 1e6 4 4 and all
 * of them. One line of CSV each: combination, items, classes, views, seconds (median of 3), nanoseconds per item, steps
 * of the slowest. The views are drawn from a flat Dirichlet distribution. */
#include "dissent/dissent.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* xorshift64*: the library's own generator is not public. */
static double uniform(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * 2685821657736338717u) >> 11) * 0x1p-53;
}

static int by_value(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? (size_t)atof(argv[1]) : 1000000, k = argc > 2 ? (size_t)atoi(argv[2]) : 4,
                 m = argc > 3 ? (size_t)atoi(argv[3]) : 4;
    if (n < 1 || k < 1 || m < 1 || m > DIS_MAX_VIEWS) {
        fprintf(stderr, "usage: bench_combine [items [classes [views [spec ...]]]]\n");
        return 2;
    }
    double *p = malloc(n * k * (m + 1) * sizeof *p);
    const double *views[DIS_MAX_VIEWS];
    if (!p) return 5;
    uint64_t state = 88172645463325252u;
    for (size_t v = 0; v < m; v++) {
        views[v] = p + v * n * k;
        for (size_t i = 0; i < n; i++) { /* Dirichlet(1): normalised exponentials */
            double *row = p + (v * n + i) * k, sum = 0;
            for (size_t c = 0; c < k; c++) sum += row[c] = -log(1 - uniform(&state));
            for (size_t c = 0; c < k; c++) row[c] /= sum;
        }
    }
    const dis_views all = {.size = sizeof(dis_views), .n_items = n, .n_classes = k, .n_views = m, .p = views};
    puts("combination,items,classes,views,seconds,ns_per_item,max_steps");
    for (size_t c = 0; argc > 4 ? c + 4 < (size_t)argc : dis_combiner_get(c) != NULL; c++) {
        const char *spec = argc > 4 ? argv[c + 4] : dis_combiner_get(c)->name;
        double seconds[3];
        dis_combination did = dis_combination_default();
        for (int r = 0; r < 3; r++) {
            const double start = now();
            if (dis_views_combine(NULL, &all, spec, p + m * n * k, &did) != DIS_OK) {
                fprintf(stderr, "%s\n", dis_last_error());
                return 1;
            }
            seconds[r] = now() - start;
        }
        qsort(seconds, 3, sizeof *seconds, by_value);
        printf("%s,%zu,%zu,%zu,%.4f,%.1f,%d\n", spec, n, k, m, seconds[1], seconds[1] / (double)n * 1e9, did.max_steps);
        fflush(stdout);
    }
    free(p);
    return 0;
}
