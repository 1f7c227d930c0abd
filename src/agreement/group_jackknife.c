/* Agreement of groups without one annotator, and without one vote.
 *
 * Items on which the annotator voted are subtracted from the sums and added again without that annotator's votes. Only
 * annotators whose group has other members are left out; the variances of the groups add up. Votes of one group for one
 * class of an item have the same effect, so one of them is left out and counts for all.
 *
 * Cost: O(sum over items of the squared number of votes), and a copy of the sums per annotator and per group and class
 * of an item. */
#include "agreement/agreement_internal.h"
#include "agreement/group_sums.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "stats/crossed_intervals.h"
#include <math.h>

enum { GRAIN = 64, MAX_JOBS = 64, MAX_MOMENTS = 1 << 21 };

typedef struct {
    const dis_votes_view *votes;
    const int32_t *group;
    const double *value;
    dis__worker_votes by;
    dis__group_sums all, *sums; /* of all votes; (threads) */
    size_t n_groups, n_values, max_jobs, n_jobs;
    int32_t *without;             /* (threads, n_workers) groups, -1: the annotator left out */
    double *rest;                 /* (threads, n_values) */
    uint32_t *times;              /* (threads, n_groups, n_classes) votes of the current item */
    uint32_t *seen;               /* (threads, n_workers) the last item that the annotator voted on, + 1 */
    dis__left_out_group *moments; /* (max_jobs, n_values, n_groups) */
    double *squares;              /* (max_jobs, n_values) */
    double *effective;            /* (n_groups) */
} leaving;

/* ---- annotators ---- */

/* The values without annotator w. */
static void leave_annotator(const leaving *l, size_t w, int32_t *without, dis__group_sums *s, double *rest)
{
    dis__group_sums_copy(&l->all, s);
    for (uint64_t c = l->by.first[w]; c < l->by.first[w + 1]; c++) {
        const size_t i = l->by.cast[c].item;
        if (c > l->by.first[w] && l->by.cast[c - 1].item == i) continue;
        without[w] = l->group[w];
        dis__group_sums_add_item(s, i, without, -1);
        without[w] = -1;
        dis__group_sums_add_item(s, i, without, 1);
    }
    without[w] = l->group[w];
    dis__group_sums_compute_values(s, rest);
}

static dis_status annotator_job(void *arg, size_t j, int thread)
{
    const leaving *l = arg;
    const size_t n_workers = l->votes->n_workers, last = dis__job_first(n_workers, l->n_jobs, j + 1);
    dis__left_out_group *moments = l->moments + j * l->n_values * l->n_groups;
    double *rest = l->rest + (size_t)thread * l->n_values;
    for (size_t w = dis__job_first(n_workers, l->n_jobs, j); w < last; w++) {
        if (l->group[w] < 0 || l->by.first[w] == l->by.first[w + 1]) continue;
        leave_annotator(l, w, l->without + (size_t)thread * n_workers, &l->sums[thread], rest);
        for (size_t v = 0; v < l->n_values; v++) {
            const double change = rest[v] - l->value[v];
            dis__left_out_group *m = &moments[v * l->n_groups + (size_t)l->group[w]];
            m->n++;
            m->sum += change;
            m->squares += change * change;
        }
    }
    return DIS_OK;
}

/* ---- votes ---- */

static void add_squares(const leaving *l, size_t i, size_t w, double times, int thread, double *squares)
{
    int32_t *without = l->without + (size_t)thread * l->votes->n_workers;
    dis__group_sums *s = &l->sums[thread];
    double *rest = l->rest + (size_t)thread * l->n_values;
    dis__group_sums_copy(&l->all, s);
    dis__group_sums_add_item(s, i, without, -1);
    without[w] = -1;
    dis__group_sums_add_item(s, i, without, 1);
    without[w] = l->group[w];
    dis__group_sums_compute_values(s, rest);
    for (size_t v = 0; v < l->n_values; v++) {
        const double change = rest[v] - l->value[v];
        squares[v] += isnan(change) ? 0 : times * change * change;
    }
}

static size_t key_of(const leaving *l, uint64_t v)
{
    const size_t k = l->votes->label8 ? l->votes->label8[v] : l->votes->label16[v];
    return (size_t)l->group[l->votes->worker[v]] * l->votes->n_classes + k;
}

/* The votes of an annotator on one item are left out together. */
static void leave_votes(const leaving *l, size_t i, int thread, double *squares)
{
    const uint64_t start = l->votes->start[i], end = l->votes->start[i + 1];
    uint32_t *seen = l->seen + (size_t)thread * l->votes->n_workers;
    uint32_t *times = l->times + (size_t)thread * l->n_groups * l->votes->n_classes;
    bool repeated = false;
    for (uint64_t v = start; v < end; v++) {
        const uint32_t w = l->votes->worker[v];
        repeated |= seen[w] == i + 1;
        seen[w] = (uint32_t)i + 1;
        if (l->group[w] >= 0) times[key_of(l, v)]++;
    }
    for (uint64_t v = start; v < end; v++) {
        const uint32_t w = l->votes->worker[v];
        if (l->group[w] < 0) continue;
        uint32_t *n = &times[key_of(l, v)];
        if (repeated && seen[w] != 0)
            add_squares(l, i, w, 1, thread, squares);
        else if (!repeated && *n)
            add_squares(l, i, w, *n, thread, squares);
        *n = 0;
        seen[w] = 0;
    }
}

static dis_status vote_job(void *arg, size_t j, int thread)
{
    const leaving *l = arg;
    const size_t last = dis__job_first(l->votes->n_items, l->n_jobs, j + 1);
    for (size_t i = dis__job_first(l->votes->n_items, l->n_jobs, j); i < last; i++)
        leave_votes(l, i, thread, l->squares + j * l->n_values);
    return DIS_OK;
}

/* ---- annotators and votes ---- */

static dis_status prepare(dis_context *ctx, leaving *l, dis__group_jackknife *out)
{
    const size_t threads = (size_t)dis_context_n_threads(ctx), n_workers = l->votes->n_workers, n = l->n_values;
    const size_t cells = dis__saturating_size(l->n_groups, l->votes->n_classes, 0);
    l->max_jobs = MAX_MOMENTS / dis__saturating_size(n, l->n_groups, 1) + 1;
    if (l->max_jobs > MAX_JOBS) l->max_jobs = MAX_JOBS;
    DIS_TRY(dis__worker_votes_create(ctx, l->votes, &l->by));
    DIS_TRY(dis__group_sums_create(l->votes, l->sums[0].rank, l->n_groups, &l->all));
    DIS_TRY(dis__alloc_array(&l->without, dis__saturating_size(threads, n_workers, 0), sizeof *l->without));
    DIS_TRY(dis__alloc_array(&l->rest, dis__saturating_size(threads, n, 0), sizeof *l->rest));
    DIS_TRY(dis__alloc_zeroed(&l->times, dis__saturating_size(threads, cells, 0), sizeof *l->times));
    DIS_TRY(dis__alloc_zeroed(&l->seen, dis__saturating_size(threads, n_workers, 0), sizeof *l->seen));
    DIS_TRY(dis__alloc_zeroed(&l->moments,
                              dis__saturating_size(l->max_jobs, dis__saturating_size(n, l->n_groups, 0), 0),
                              sizeof *l->moments));
    DIS_TRY(dis__alloc_zeroed(&l->squares, dis__saturating_size(l->max_jobs, n, 0), sizeof *l->squares));
    DIS_TRY(dis__alloc_zeroed(&l->effective, l->n_groups, sizeof *l->effective));
    DIS_TRY(dis__alloc_array(&out->annotators, n, sizeof *out->annotators));
    DIS_TRY(dis__alloc_array(&out->df, n, sizeof *out->df));
    for (size_t w = 0; w < threads * n_workers; w++) l->without[w] = l->group[w % n_workers];
    dis__group_sums_compute(&l->all, l->group, NULL);
    return dis__alloc_zeroed(&out->votes, n, sizeof *out->votes);
}

static void count_annotators(leaving *l)
{
    for (size_t g = 0; g < l->n_groups; g++) {
        double sum = 0, squares = 0;
        for (size_t w = 0; w < l->votes->n_workers; w++) {
            const double n = l->group[w] == (int32_t)g ? (double)(l->by.first[w + 1] - l->by.first[w]) : 0;
            sum += n;
            squares += n * n;
        }
        l->effective[g] = squares > 0 ? sum * sum / squares : 0;
    }
}

static dis_status run(dis_context *ctx, leaving *l, dis__group_jackknife *out)
{
    const size_t n = l->n_values, n_moments = n * l->n_groups;
    DIS_TRY(prepare(ctx, l, out));
    count_annotators(l);
    l->n_jobs = dis__n_jobs(l->votes->n_workers, GRAIN, l->max_jobs);
    DIS_TRY(dis__run_jobs(ctx, l->n_jobs, annotator_job, l));
    for (size_t j = 1; j < l->n_jobs; j++)
        for (size_t m = 0; m < n_moments; m++) {
            l->moments[m].n += l->moments[j * n_moments + m].n;
            l->moments[m].sum += l->moments[j * n_moments + m].sum;
            l->moments[m].squares += l->moments[j * n_moments + m].squares;
        }
    for (size_t v = 0; v < n; v++)
        out->annotators[v] =
            dis__grouped_jackknife(l->moments + v * l->n_groups, l->effective, l->n_groups, 1, &out->df[v]);
    l->n_jobs = dis__n_jobs(l->votes->n_items, GRAIN, l->max_jobs);
    DIS_TRY(dis__run_jobs(ctx, l->n_jobs, vote_job, l));
    for (size_t j = 0; j < l->n_jobs; j++)
        for (size_t v = 0; v < n; v++) out->votes[v] += l->squares[j * n + v];
    return DIS_OK;
}

dis_status dis__group_jackknife_run(dis_context *ctx, dis__group_sums *sums, const int32_t *group, const double *value,
                                    dis__group_jackknife *out)
{
    leaving l = {.votes = sums->votes,
                 .group = group,
                 .value = value,
                 .sums = sums,
                 .n_groups = sums->n_groups,
                 .n_values = sums->n_values};
    const dis_status status = run(ctx, &l, out);
    dis__worker_votes_destroy(&l.by);
    dis__group_sums_destroy(&l.all);
    dis__free(l.without);
    dis__free(l.rest);
    dis__free(l.times);
    dis__free(l.seen);
    dis__free(l.moments);
    dis__free(l.squares);
    dis__free(l.effective);
    return status;
}

void dis__group_jackknife_destroy(dis__group_jackknife *out)
{
    dis__free(out->annotators);
    dis__free(out->df);
    dis__free(out->votes);
    *out = (dis__group_jackknife){0};
}
