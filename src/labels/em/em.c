/* The shared loop of the EM methods: memory, updates, convergence. See em.h for the idea, em_cpu.c for passes on the
 * CPU, em_device.c for other devices.
 *
 * Cost: an iteration is one pass over the votes and one over the tables, n_shards times the parameters. There are few
 * shards if the tables are large compared with the votes, so that the second pass remains a small part. */
#include "labels/em/em.h"
#include "core/parallel/comm.h"
#include "core/kernel.h"
#include "votes/table/votes_table.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

DIS_KERNEL_DECLARE(void, dis__em_kernel, (dis__em_job * job));
DIS_KERNEL_DECLARE(void, dis__em_add_sums, (const dis__em_worker_rows *tables, double *out));
DIS_KERNEL_DECLARE(void, dis__em_set_rows, (const dis__em_worker_rows *tables, const double *values));

enum { UPDATE_GRAIN = 1024 };

typedef struct {
    size_t n_states, line, row, worker_size, table_size, n_shards, block;
} plan;

/* Depends on the problem only. */
static plan make_plan(const dis_votes_view *v, dis__em_layout layout, size_t n_groups)
{
    const size_t n_states = dis__saturating_size(v->n_classes, n_groups, 0);
    plan p = {.n_states = n_states,
              .line = dis__saturating_size(n_states / 8 + (n_states % 8 > 0), 8, 0),
              .row = 1,
              .worker_size = 1,
              .block = n_states <= 16    ? DIS_EM_BLOCK
                       : n_states <= 256 ? 16
                                         : 8};
    if (layout == DIS_EM_ROWS)
        p.row = n_states <= 2 ? 2 : dis__saturating_size(n_states / 4 + (n_states % 4 > 0), 4, 0);
    if (layout != DIS_EM_WORKERS) p.worker_size = dis__saturating_size(v->n_classes, p.row, 0);
    p.table_size = dis__saturating_size(v->n_workers, dis__saturating_size(p.worker_size, 2, 0), 0);
    p.n_shards = dis__votes_shards(v->n_votes, p.table_size, p.row);
    return p;
}

static size_t update_jobs(const dis_votes_view *v, const plan *p)
{
    return dis__n_jobs(dis__saturating_size(v->n_workers, p->worker_size, 0), UPDATE_GRAIN, 64);
}

/* Arrays of doubles, in the order in which they are carved from one block. */
static size_t doubles(const dis_votes_view *v, const plan *p)
{
    size_t n = dis__saturating_size(p->table_size, p->n_shards, 0);
    n = dis__saturating_size(p->n_shards,
                             dis__saturating_size(p->line, p->block + 1, 2 * DIS_EM_BLOCK + DIS_EM_VOTES / 2),
                             n);                           /* per job */
    n = dis__saturating_size(p->line, p->n_shards + 2, n); /* class sums, prior */
    return dis__saturating_size(update_jobs(v, p), dis__saturating_size(p->worker_size, 3, 24),
                                n); /* sums and scratch of an update, penalties */
}

size_t dis__em_memory(const dis_votes_view *votes, dis__em_layout layout, size_t n_groups)
{
    const plan p = make_plan(votes, layout, n_groups);
    return dis__saturating_size(doubles(votes, &p), sizeof(double), p.n_shards * sizeof(dis__em_job));
}

/* The first item of shard j: shards have about the same number of votes and items together. For a part of the votes,
 * its first item; n_shards counts those of all votes. */
static size_t shard_first(const dis_votes_view *v, const dis__votes_part *part, size_t n_shards, size_t j)
{
    const size_t all = dis__job_first(part->n_votes + part->n_items, n_shards, j);
    const size_t before = (size_t)part->first_vote + part->first_item, wanted = all > before ? all - before : 0;
    size_t low = 0, high = v->n_items;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (v->start[middle] + middle < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Additional memory on ranks: the sums of all, and a row of values per shard of all votes. */
static dis_status share_memory(dis__em *em)
{
    const size_t sums = dis__saturating_size(em->args->votes.n_workers, em->worker_size, 0);
    DIS_TRY(dis__alloc_resident(&em->total, sums, sizeof *em->total));
    return dis__alloc_zeroed(&em->lines, dis__saturating_size(em->n_all_shards, em->n_states + 2, 0),
                             sizeof *em->lines);
}

/* Carves the block: tables of shards, further arrays per shard, then shared arrays. */
static void carve(dis__em *em, const plan *p)
{
    const dis_votes_view *v = &em->args->votes;
    const dis__votes_part *part = &em->args->part;
    double *next = em->tables + p->table_size * p->n_shards;
    for (size_t j = 0; j < p->n_shards; j++) {
        em->jobs[j] = (dis__em_job){.first = shard_first(v, part, em->n_all_shards, em->first_shard + j),
                                    .last = shard_first(v, part, em->n_all_shards, em->first_shard + j + 1),
                                    .votes = v,
                                    .gold = em->args->gold,
                                    .layout = em->layout,
                                    .n_states = p->n_states,
                                    .n_groups = em->n_groups,
                                    .table = em->tables + j * p->table_size,
                                    .row = p->row,
                                    .block = p->block,
                                    .normaliser = next,
                                    .index = p->table_size > UINT32_MAX ? NULL : (uint32_t *)(next + 2 * DIS_EM_BLOCK),
                                    .scratch = next + 2 * DIS_EM_BLOCK + DIS_EM_VOTES / 2,
                                    .line = next + 2 * DIS_EM_BLOCK + DIS_EM_VOTES / 2 + p->line * p->block};
        next += 2 * DIS_EM_BLOCK + DIS_EM_VOTES / 2 + p->line * (p->block + 1);
    }
    if (p->n_shards) em->jobs[p->n_shards - 1].last = v->n_items;
    em->class_sums = next;
    em->prior = em->class_sums + p->line * (p->n_shards + 1);
    em->penalties = em->prior + p->line;
    em->update_scratch = em->penalties + em->n_update_jobs * 8;
    for (size_t j = 0; j < p->n_shards; j++) {
        em->jobs[j].class_sum = em->class_sums + p->line * j;
        em->jobs[j].prior = em->prior;
    }
    em->class_sum = em->class_sums + p->line * p->n_shards;
    for (size_t j = 0; em->items && j < p->n_shards; j++) {
        em->jobs[j].item = em->items->factor;
        em->jobs[j].log_q = em->items->log_q;
    }
}

/* The last steps of creation: arrays shared by ranks, and the backend of passes. */
static dis_status open_place(dis__em *em)
{
    if (dis__comm_is_parallel(em->comm)) DIS_TRY(share_memory(em));
    return em->place->open ? em->place->open(em) : DIS_OK;
}

/* Memory of the tables and of the arrays used with them. */
static dis_status reserve(dis__em *e, const plan *p, const dis_votes_view *local_votes)
{
    const dis_votes_view *v = &e->args->votes;
    char what[120];
    snprintf(what, sizeof what, "the tables of %s for %zu workers and %zu classes", e->fit->method->info.name,
             v->n_workers, v->n_classes);
    const size_t bytes = e->device ? dis__saturating_size(doubles(v, p), sizeof(double), 0)
                                   : dis__em_memory(local_votes, e->layout, e->n_groups),
                 twice = dis__context_memory(e->args->ctx) ? 2 : 1;
    DIS_TRY(dis__check_resident(e->args->ctx, dis__saturating_size(bytes, twice, 0), what));
    DIS_TRY(dis__alloc_resident(&e->tables, doubles(v, p), sizeof *e->tables));
    const dis_status status = dis__alloc_zeroed(&e->jobs, p->n_shards, sizeof *e->jobs);
    if (status != DIS_OK) dis__free(e->tables);
    return status;
}

dis_status dis__em_create(const dis__fit_args *args, dis_fit *fit, dis__em_layout layout, size_t n_groups, dis__em *em)
{
    const dis_votes_view *v = &args->votes;
    const dis__comm *comm = dis__context_comm(args->ctx);
    const dis__votes_part *part = &args->part;
    dis_votes_view local_votes = *v;
    local_votes.n_items = part->n_items;
    local_votes.n_votes = part->n_votes;
    plan p = make_plan(&local_votes, layout, n_groups);
    const size_t n_all = p.n_shards;
    if (n_all < part->n_owners)
        return dis__comm_first_failure(
            comm, dis__fail(DIS_EUSAGE, "the tables of %s are too large for so few votes on %zu ranks; use at most %zu",
                            fit->method->info.name, part->n_owners, n_all));
    const bool owner = (size_t)comm->rank < part->n_owners;
    const size_t first = owner ? n_all / part->n_owners * (size_t)comm->rank : 0;
    const dis__em_device *device;
    DIS_TRY(dis__em_device_for(args, fit, p.n_states, &device));
    p.n_shards = owner && !device ? n_all / part->n_owners : 0;
    dis__em e = {.place = device ? &dis__em_device_backend : &dis__em_cpu,
                 .device = device,
                 .args = args,
                 .fit = fit,
                 .layout = layout,
                 .n_groups = n_groups,
                 .step = DIS_EM_SOFT,
                 .n_classes = v->n_classes,
                 .n_states = p.n_states,
                 .row = p.row,
                 .worker_size = p.worker_size,
                 .table_size = p.table_size,
                 .n_shards = p.n_shards,
                 .n_update_jobs = update_jobs(v, &p),
                 .block = p.block,
                 .items = args->items,
                 .evidence = NAN,
                 .comm = comm,
                 .n_all_shards = n_all,
                 .first_shard = first,
                 .special = dis__special_functions_select(),
                 .kernel = DIS_KERNEL_SELECT(dis__em_kernel),
                 .add_sums = DIS_KERNEL_SELECT(dis__em_add_sums),
                 .set_rows = DIS_KERNEL_SELECT(dis__em_set_rows)};
    DIS_TRY(reserve(&e, &p, &local_votes));
    carve(&e, &p);
    const dis_status opened = open_place(&e);
    if (opened != DIS_OK) {
        dis__em_destroy(&e);
        return opened;
    }
    *em = e;
    return DIS_OK;
}

void dis__em_destroy(dis__em *em)
{
    if (em->place->close) em->place->close(em);
    dis__free(em->tables);
    dis__free(em->jobs);
    dis__free(em->total);
    dis__free(em->lines);
}

void dis__em_reset(dis__em *em)
{
    em->evidence = NAN;
    if (em->items) dis__item_prior_reset(em->items);
}

dis_status dis__em_pass(dis__em *em, dis__em_step step, bool sum, bool write)
{
    return em->place->pass(em, step, sum, write);
}

void dis__em_get_worker_sums(const dis__em *em, size_t w, double *out)
{
    em->place->gather(em, w, out);
}

static dis_status update_job(void *arg, size_t j, int thread)
{
    (void)thread;
    dis__em *em = arg;
    const size_t n_workers = em->args->votes.n_workers;
    double *sums = em->update_scratch + j * (3 * em->worker_size + 16), penalty = 0;
    const size_t last = dis__job_first(n_workers, em->n_update_jobs, j + 1);
    for (size_t w = dis__job_first(n_workers, em->n_update_jobs, j); w < last; w++) {
        em->place->gather(em, w, sums);
        penalty += em->rules->worker(em->rules->arg, w, sums, sums + em->worker_size, em->keep);
        em->place->scatter(em, w, sums);
    }
    em->penalties[j * 8] = penalty;
    return DIS_OK;
}

dis_status dis__em_gather_sums(dis__em *em)
{
    return em->place->collect ? em->place->collect(em) : DIS_OK;
}

dis_status dis__em_update(dis__em *em, const dis__em_rules *rules, bool keep)
{
    em->rules = rules;
    em->keep = keep;
    DIS_TRY(dis__em_gather_sums(em));
    DIS_TRY(dis__run_jobs(em->args->ctx, em->n_update_jobs, update_job, em));
    const double *sums = em->items ? dis__item_prior_class_sums(em->items, em->class_sum) : em->class_sum;
    em->penalty = rules->classes(rules->arg, sums, em->n_summed, em->prior, keep);
    if (em->items) {
        DIS_TRY(dis__item_prior_update(em->items, em->prior, em->evidence));
        if (!em->items->fixed) em->penalty -= em->items->cost * em->items->weight;
    }
    for (size_t j = 0; j < em->n_update_jobs; j++) em->penalty += em->penalties[j * 8];
    return DIS_OK;
}

dis_status dis__em_loop(dis__em *em, const dis__em_rules *rules, int64_t n_passes, double tolerance)
{
    dis_fit *fit = em->fit;
    double before = -INFINITY;
    fit->converged = false;
    for (int64_t n = 1; n <= n_passes; n++) {
        DIS_TRY(dis__check_stop(em->args->ctx));
        const dis__em_step step = em->step;
        DIS_TRY(dis__em_pass(em, step, true, n == n_passes));
        const double objective = em->log_z + em->penalty;
        DIS_TRY(dis__fit_add_objective(fit, objective));
        if (tolerance > 0 && fabs(objective - before) <= tolerance * fabs(objective)) fit->converged = true;
        if (rules->after && rules->after(rules->arg, em)) fit->converged = true;
        const bool end = fit->converged || n == n_passes;
        /* The pass that turned out to be the last did not write labels: repeat it without sums. */
        if (end && n < n_passes) {
            const double log_z = em->log_z;
            DIS_TRY(dis__em_pass(em, step, false, true));
            em->log_z = log_z;
        }
        if (!end || rules->update_last) DIS_TRY(dis__em_update(em, rules, end));
        dis__progress(em->args->ctx, rules->name, (double)n / (double)n_passes);
        fit->iterations = (int)n;
        if (end) break;
        before = objective;
        if (em->step != step) { /* another step has another objective: its trace starts again */
            before = -INFINITY;
            fit->n_trace = 0;
        }
    }
    dis__progress(em->args->ctx, rules->name, 1);
    return DIS_OK;
}

dis_status dis__em_run_best_restart(dis__em *em, const dis__em_rules *rules, int64_t n, int64_t n_screen,
                                    int64_t n_passes, double tolerance)
{
    double top = -INFINITY;
    int64_t best = 0;
    if (n_screen > n_passes) n_screen = n_passes;
    for (int64_t r = 0; n > 1 && n_passes > 0 && r < n; r++) {
        DIS_TRY(rules->begin(rules->arg, r, false));
        for (int64_t pass = 1; pass <= n_screen; pass++) {
            DIS_TRY(dis__check_stop(em->args->ctx));
            DIS_TRY(dis__em_pass(em, DIS_EM_SOFT, pass < n_screen, false));
            if (pass < n_screen) DIS_TRY(dis__em_update(em, rules, false));
        }
        if (em->log_z + em->penalty > top) {
            top = em->log_z + em->penalty;
            best = r;
        }
    }
    em->fit->restart = (int)best;
    DIS_TRY(rules->begin(rules->arg, best, n_passes == 0));
    return dis__em_loop(em, rules, n_passes, tolerance);
}

typedef struct {
    const dis_votes_view *votes;
    double *counts; /* (n_jobs, n_workers * n_kinds) */
    size_t n_jobs, n_kinds;
} counting;

static dis_status counting_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const counting *c = arg;
    const dis_votes_view *votes = c->votes;
    double *counts = c->counts + j * votes->n_workers * c->n_kinds;
    const size_t last = dis__job_first(votes->n_votes, c->n_jobs, j + 1);
    for (size_t v = dis__job_first(votes->n_votes, c->n_jobs, j); v < last; v++)
        counts[c->n_kinds > 1 ? votes->worker[v] * c->n_kinds + dis__vote_label(votes, v) : votes->worker[v]] += 1;
    return DIS_OK;
}

/* Integers: the order of their sums does not matter. */
static dis_status count(const dis__fit_args *args, size_t n_kinds, double *counts)
{
    enum { MAX_JOBS = 16 };
    const size_t n = args->votes.n_workers * n_kinds;
    counting c = {.votes = &args->votes,
                  .n_kinds = n_kinds,
                  .n_jobs = dis__n_jobs(args->votes.n_votes / 64, n, MAX_JOBS)};
    DIS_TRY(dis__alloc_zeroed(&c.counts, dis__saturating_size(n, c.n_jobs, 0), sizeof *c.counts));
    dis_status status = dis__run_jobs(args->ctx, c.n_jobs, counting_job, &c);
    for (size_t j = 0; status == DIS_OK && j < c.n_jobs; j++)
        for (size_t i = 0; i < n; i++) counts[i] += c.counts[j * n + i];
    dis__free(c.counts);
    return status == DIS_OK ? dis__comm_sum_reals(dis__context_comm(args->ctx), counts, n) : status;
}

dis_status dis__em_count_labels(const dis__fit_args *args, double *counts)
{
    return count(args, args->votes.n_classes, counts);
}

dis_status dis__em_count_votes(const dis__fit_args *args, double *counts)
{
    return count(args, 1, counts);
}
