/* Times Krippendorff's alpha on a crowd made up in memory: bench_agreement items classes votes_per_item repeats
 * [counts.i64]. Prints one line of JSON: seconds of each repeat with the votes given vote by vote, and with the counts
 * given (both tables are in memory before the clock starts; all coefficients that votes alone decide are computed, not
 * only alpha), of the votes with intervals for other items and for other annotators (1,000 resamples), and alpha
 * itself. With a last argument the counts (items x classes, 64-bit integers) are written there for the peer. One
 * thread. */
#include "dissent/dissent.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_REPEATS = 64 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* xorshift64*: the library's own generator is not public. */
static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint64_t)(((unsigned __int128)(*state * 2685821657736338717u) * below) >> 64);
}

static int failed(void)
{
    fprintf(stderr, "%s\n", dis_last_error());
    return 1;
}

static int measure(const dis_votes *votes, size_t repeats, size_t resamples, dis_interval_scope over, double *seconds,
                   double *alpha)
{
    dis_agreement_options o = dis_agreement_options_default();
    o.parts = 0;
    o.resamples = resamples;
    o.interval_scope = over;
    for (size_t r = 0; r < repeats; r++) {
        dis_agreement *a;
        const double start = now();
        if (dis_agreement_run(NULL, votes, &o, &a) != DIS_OK) return failed();
        seconds[r] = now() - start;
        *alpha = dis_agreement_find(a, "alpha_nominal")->value;
        dis_agreement_destroy(a);
    }
    return 0;
}

static void print_list(const char *name, const double *x, size_t n)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < n; i++) printf("%s%.9f", i ? ", " : "", x[i]);
    printf("], ");
}

static int write_counts(const char *path, const double *counts, size_t n)
{
    FILE *f = fopen(path, "wbe");
    bool fine = f != NULL;
    for (size_t i = 0; i < n && fine; i++) {
        const int64_t c = (int64_t)counts[i];
        fine = fwrite(&c, sizeof c, 1, f) == 1;
    }
    if (f && fclose(f) != 0) fine = false;
    if (!fine) fprintf(stderr, "cannot write %s\n", path);
    return fine ? 0 : 4;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: bench_agreement items classes votes_per_item repeats [counts.i64]\n");
        return 2;
    }
    const size_t items = (size_t)atof(argv[1]), k = (size_t)atoi(argv[2]), r = (size_t)atoi(argv[3]);
    const size_t repeats = (size_t)atoi(argv[4]) < MAX_REPEATS ? (size_t)atoi(argv[4]) : MAX_REPEATS, n = items * r;
    uint32_t *task = malloc(n * sizeof *task), *worker = malloc(n * sizeof *worker);
    uint16_t *label = malloc(n * sizeof *label);
    double *counts = calloc(items * k, sizeof *counts);
    if (!task || !worker || !label || !counts || k < 2 || r < 2) return 5;
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < items; i++) {
        const uint64_t truth = draw(&state, k);
        for (size_t v = i * r; v < (i + 1) * r; v++) {
            task[v] = (uint32_t)i;
            worker[v] = (uint32_t)(v % 1000);
            label[v] = (uint16_t)(draw(&state, 10) < 7 ? truth : draw(&state, k));
            counts[i * k + label[v]]++;
        }
    }
    const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                     .n_votes = n,
                                     .n_items = items,
                                     .n_workers = 1000,
                                     .n_classes = k,
                                     .task = task,
                                     .worker = worker,
                                     .label = label,
                                     .duplicates = DIS_DUPLICATES_ALL};
    dis_votes *votes, *counted;
    if (dis_votes_create_from_arrays(NULL, &arrays, &votes) != DIS_OK) return failed();
    free(task);
    free(worker);
    free(label);
    if (dis_votes_create_from_counts(NULL, counts, items, k, NULL, NULL, &counted) != DIS_OK) return failed();
    double by_vote[MAX_REPEATS], by_count[MAX_REPEATS], items_only[MAX_REPEATS], annotators[MAX_REPEATS], alpha, again;
    int code = measure(votes, repeats, 0, DIS_INTERVAL_ITEMS, by_vote, &alpha);
    if (code == 0) code = measure(votes, repeats, 1000, DIS_INTERVAL_ITEMS, items_only, &again);
    if (code == 0) code = measure(votes, repeats, 1000, DIS_INTERVAL_ANNOTATORS, annotators, &again);
    if (code == 0) code = measure(counted, repeats, 0, DIS_INTERVAL_ITEMS, by_count, &again);
    if (code == 0 && argc > 5) code = write_counts(argv[5], counts, items * k);
    if (code == 0) {
        printf("{");
        print_list("seconds", by_vote, repeats);
        print_list("seconds_counts", by_count, repeats);
        print_list("seconds_intervals_items", items_only, repeats);
        print_list("seconds_intervals_annotators", annotators, repeats);
        printf("\"alpha\": %.17g, \"alpha_counts\": %.17g}\n", alpha, again);
    }
    dis_votes_destroy(votes);
    dis_votes_destroy(counted);
    free(counts);
    return code;
}
