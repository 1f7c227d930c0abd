/* Sums over the items of all ranks: see item_passes.h.
 *
 * Cost on ranks: the sums of a job shared by two ranks are sent from one to the other; the total is passed from rank to
 * rank, each adding its jobs, in pieces so that all work concurrently, and broadcast by the last one. */
#include "labels/passes/item_passes.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include <string.h>

/* The first item of job j among those of this rank. */
static size_t own_item(const dis__item_sums *s, size_t j)
{
    const dis__votes_part *part = &s->args->part;
    const size_t n = s->args->votes.n_items, all = dis__job_first(part->n_items, s->n_jobs, j);
    return all < part->first_item ? 0 : all - part->first_item < n ? all - part->first_item : n;
}

dis_status dis__item_sums_create(dis__item_sums *s)
{
    const dis__votes_part *part = &s->args->part;
    const size_t n = part->n_items, first = part->first_item, end = first + s->args->votes.n_items;
    s->begin = s->stop = 0;
    s->from_before = s->to_next = false;
    s->sums = NULL;
    if ((size_t)dis__context_comm(s->args->ctx)->rank >= part->n_owners) return DIS_OK;
    while (s->begin < s->n_jobs && dis__job_first(n, s->n_jobs, s->begin + 1) <= first) s->begin++;
    for (s->stop = s->begin; s->stop < s->n_jobs && dis__job_first(n, s->n_jobs, s->stop) < end;) s->stop++;
    if (s->begin == s->stop) return DIS_OK;
    s->from_before = dis__job_first(n, s->n_jobs, s->begin) < first;
    s->to_next = dis__job_first(n, s->n_jobs, s->stop) > end;
    return dis__alloc_array(&s->sums, dis__saturating_size(s->stop - s->begin, s->n_sums, 0), sizeof *s->sums);
}

void dis__item_sums_destroy(dis__item_sums *s)
{
    dis__free(s->sums);
    s->sums = NULL;
}

static void add_items(const dis__item_sums *s, size_t job, int thread)
{
    s->job(s->arg, own_item(s, job), own_item(s, job + 1), s->sums + (job - s->begin) * s->n_sums, thread);
}

static dis_status sums_job(void *arg, size_t j, int thread)
{
    const dis__item_sums *s = arg;
    const size_t job = s->begin + s->from_before + j;
    double *sums = s->sums + (job - s->begin) * s->n_sums;
    if (job == 0 && s->start)
        memcpy(sums, s->start, s->n_sums * sizeof *sums);
    else
        memset(sums, 0, s->n_sums * sizeof *sums);
    add_items(s, job, thread);
    return DIS_OK;
}

/* The jobs of this rank, first those that begin here; then the one that the previous rank has begun. */
static dis_status run_jobs(dis__item_sums *s)
{
    const dis__comm *comm = dis__context_comm(s->args->ctx);
    const size_t n = s->stop - s->begin, n_bytes = s->n_sums * sizeof *s->sums;
    if (n == 0) return DIS_OK;
    const bool same = s->from_before && n == 1;
    DIS_TRY(dis__run_jobs(s->args->ctx, n - s->from_before, sums_job, s));
    if (s->to_next && !same) DIS_TRY(dis__comm_send(comm, s->sums + (n - 1) * s->n_sums, n_bytes, comm->rank + 1));
    if (!s->from_before) return DIS_OK;
    DIS_TRY(dis__comm_receive(comm, s->sums, n_bytes, comm->rank - 1));
    add_items(s, s->begin, 0);
    return s->to_next && same ? dis__comm_send(comm, s->sums, n_bytes, comm->rank + 1) : DIS_OK;
}

/* Adds columns [first, first + n) of the jobs that end here to x. */
static void add_jobs(const dis__item_sums *s, size_t first, size_t n, double *x)
{
    for (size_t j = 0; j + s->to_next < s->stop - s->begin; j++)
        for (size_t i = 0; i < n; i++) x[i] += s->sums[j * s->n_sums + first + i];
}

static dis_status add_ranks(const dis__item_sums *s, double *total)
{
    enum { PIECE = 1 << 15 };
    const dis__comm *comm = dis__context_comm(s->args->ctx);
    const int last = (int)s->args->part.n_owners - 1;
    for (size_t first = 0; first < s->n_sums && comm->rank <= last; first += PIECE) {
        const size_t n = s->n_sums - first < PIECE ? s->n_sums - first : PIECE;
        double *x = total + first;
        memset(x, 0, n * sizeof *x);
        if (comm->rank > 0) DIS_TRY(dis__comm_receive(comm, x, n * sizeof *x, comm->rank - 1));
        add_jobs(s, first, n, x);
        if (comm->rank < last) DIS_TRY(dis__comm_send(comm, x, n * sizeof *x, comm->rank + 1));
    }
    return dis__comm_is_parallel(comm) ? dis__comm_broadcast(comm, total, s->n_sums * sizeof *total, last) : DIS_OK;
}

dis_status dis__item_sums_run(dis__item_sums *s, double *total)
{
    DIS_TRY(run_jobs(s));
    return add_ranks(s, total);
}

dis_status dis__item_sums_run_in_order(const dis__fit_args *args, size_t n_sums,
                                       void (*job)(void *arg, size_t first, size_t last, double *sums, int thread),
                                       void *arg, const double *start, double *total)
{
    dis__item_sums s = {.args = args, .n_jobs = 1, .n_sums = n_sums, .job = job, .arg = arg, .start = start};
    DIS_TRY(dis__item_sums_create(&s));
    const dis_status status = dis__item_sums_run(&s, total);
    dis__item_sums_destroy(&s);
    return status;
}

/* ---- methods that look at one item at a time ---- */

/* The loop shared by majority, standard, softmax and smoothed: counts of an item in, soft label out, gold pinned.
 *
 * Cost: one pass over the votes; items are divided into jobs by their number only. */
typedef struct {
    const dis__fit_args *args;
    dis_fit *fit;
    const dis__item_formula *rule;
    size_t n_jobs;
} item_work;

static dis_status item_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const item_work *w = arg;
    const size_t n_classes = w->fit->n_classes, last = dis__job_first(w->fit->n_items, w->n_jobs, j + 1);
    for (size_t i = dis__job_first(w->fit->n_items, w->n_jobs, j); i < last; i++) {
        double *p = w->fit->p + i * n_classes, max = 0;
        const int32_t gold = dis__item_gold(w->args, i);
        if (gold >= 0) {
            for (size_t k = 0; k < n_classes; k++) p[k] = (int32_t)k == gold;
            continue;
        }
        dis__item_count_votes(&w->args->votes, i, p);
        for (size_t k = 0; k < n_classes; k++) max = p[k] > max ? p[k] : max;
        if (max > 0)
            w->rule->item(w->args, w->rule->arg, i, p);
        else
            for (size_t k = 0; k < n_classes; k++)
                p[k] = w->rule->unvoted ? w->rule->unvoted[k] : 1 / (double)n_classes;
    }
    return DIS_OK;
}

dis_status dis__item_formula_fit(const dis__fit_args *args, dis_fit *fit, const dis__item_formula *rule)
{
    item_work w = {.args = args, .fit = fit, .rule = rule, .n_jobs = dis__n_jobs(fit->n_items, 4096, 256)};
    return dis__run_jobs(args->ctx, w.n_jobs, item_job, &w);
}
