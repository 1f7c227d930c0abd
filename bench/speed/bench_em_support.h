/* bench_em_support.h: what programs that time EM methods share: a crowd drawn in memory, the clock, times of the reports of
 * progress. */
#ifndef DIS_SPEED_BENCH_EM_SUPPORT_H
#define DIS_SPEED_BENCH_EM_SUPPORT_H
#include <dissent/dissent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static double uniform(void)
{
    return (double)(next_random() >> 11) * 0x1p-53;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fail(void)
{
    fprintf(stderr, "%s\n", dis_last_error());
    exit(1);
}

/* Workers have one accuracy per class between .45 and .95; wrong votes lean towards the next class. */
static dis_votes *make_votes(dis_context *ctx, size_t n_votes, size_t n_workers, size_t n_classes, size_t per_item)
{
    dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                          .n_votes = n_votes / per_item * per_item,
                          .n_items = n_votes / per_item,
                          .n_workers = n_workers,
                          .n_classes = n_classes,
                          .duplicates = DIS_DUPLICATES_ALL};
    uint32_t *task = malloc(a.n_votes * sizeof *task), *worker = malloc(a.n_votes * sizeof *worker);
    uint16_t *label = malloc(a.n_votes * sizeof *label);
    double *right = malloc(n_workers * n_classes * sizeof *right);
    if (!task || !worker || !label || !right) exit(5);
    for (size_t i = 0; i < n_workers * n_classes; i++) right[i] = .45 + .5 * uniform();
    for (size_t i = 0; i < a.n_items; i++) {
        const size_t truth = next_random() % n_classes;
        for (size_t v = i * per_item; v < (i + 1) * per_item; v++) {
            task[v] = (uint32_t)i;
            worker[v] = (uint32_t)(next_random() % n_workers);
            const bool hit = uniform() < right[worker[v] * n_classes + truth];
            const size_t wrong = uniform() < .5 ? (truth + 1) % n_classes : next_random() % n_classes;
            label[v] = (uint16_t)(hit ? truth : wrong);
        }
    }
    a.task = task;
    a.worker = worker;
    a.label = label;
    dis_votes *votes;
    if (dis_votes_create_from_arrays(ctx, &a, &votes) != DIS_OK) fail();
    free(task);
    free(worker);
    free(label);
    free(right);
    return votes;
}

enum { MAX = 1000 };

/* Times of the reports of progress. */
typedef struct {
    size_t n;
    double at[MAX];
} reports;

static void report(void *user, const char *what, double done)
{
    (void)what;
    (void)done;
    reports *r = user;
    if (r->n < MAX) r->at[r->n++] = now();
}

#endif
