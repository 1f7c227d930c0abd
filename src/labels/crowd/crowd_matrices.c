/* The workers' half of a round of crowd_model.c: votes by worker, expected counts of each worker's answers, and the
 * matrices estimated from these. With n[v][t] the sum of p(t | item) over the worker's votes for v:
 *
 *     skill           = (right + 4 usual) / (votes + 4), usual: expected under the crowd's matrix for the same true
 *                     classes
 *     base            = the crowd's matrix with the odds on its diagonal moved by logit(skill) - logit(usual)
 *     confusion[v][t] = (n[v][t] + STRENGTH base[v][t]) / (n[t] + STRENGTH)
 *
 * Cost: O(votes K), O(n_workers K^2) exponentials. */
#include "core/numbers/elementary.h"
#include "labels/crowd/crowd_model.h"
#include "core/parallel/comm.h"
#include "core/memory/spill.h"
#include "labels/passes/item_passes.h"
#include <math.h>
#include <string.h>

#define STRENGTH    10.0
#define DIAGONAL    4.0 /* pseudo-votes in each column of the crowd's matrix, and 2 spread over all labels */
#define SKILL_DOUBT 4.0
#define WARM_DOUBT  .01 /* share of every answer in an initial matrix: zeros would stay zeros */
enum { MAX_JOBS = 64, GRAIN = 4096 };

static double logit(double x)
{
    const double min = 1e-6;
    x = x < min ? min : x > 1 - min ? 1 - min : x;
    return dis__log(x / (1 - x));
}

void dis__crowd_matrix_normalize(const double *counts, size_t K, double *out)
{
    const double even = 2 / (double)K;
    for (size_t t = 0; t < K; t++) {
        double total = 0;
        for (size_t v = 0; v < K; v++) total += out[v * K + t] = counts[v * K + t] + even + (v == t ? DIAGONAL : 0);
        for (size_t v = 0; v < K; v++) out[v * K + t] /= total;
    }
}

/* ---- votes by worker ---- */

/* Jobs are ranges of items; each counts its votes by worker, which determines their destinations. */
typedef struct {
    dis__crowd_model *m;
    size_t n_jobs;
    uint64_t *place; /* (n_jobs, n_workers) votes of a worker in a job, then the offset of the next one */
} indexing;

static dis_status tally_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const indexing *x = arg;
    const dis_votes_view *v = &x->m->votes;
    uint64_t *place = x->place + j * x->m->n_workers;
    const uint64_t last = v->start[dis__job_first(v->n_items, x->n_jobs, j + 1)];
    for (uint64_t a = v->start[dis__job_first(v->n_items, x->n_jobs, j)]; a < last; a++) place[v->worker[a]]++;
    return DIS_OK;
}

static dis_status place_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const indexing *x = arg;
    const dis_votes_view *v = &x->m->votes;
    uint64_t *place = x->place + j * x->m->n_workers;
    const size_t last = dis__job_first(v->n_items, x->n_jobs, j + 1);
    for (size_t i = dis__job_first(v->n_items, x->n_jobs, j); i < last; i++)
        for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
            const uint64_t to = place[v->worker[a]]++;
            x->m->item_of[to] = (uint32_t)i;
            x->m->label_of[to] = (uint16_t)dis__vote_label(v, a);
        }
    return DIS_OK;
}

dis_status dis__crowd_model_index_votes(dis__crowd_model *m)
{
    enum { MAX_INDEX_JOBS = 16 };
    const dis_votes_view *v = &m->votes;
    indexing x = {.m = m, .n_jobs = dis__n_jobs(v->n_votes / 64, m->n_workers, MAX_INDEX_JOBS)};
    DIS_TRY(dis__alloc_zeroed(&m->worker_start, m->n_workers + 2, sizeof *m->worker_start));
    DIS_TRY(dis__alloc_array(&m->item_of, v->n_votes, sizeof *m->item_of));
    DIS_TRY(dis__alloc_array(&m->label_of, v->n_votes, sizeof *m->label_of));
    DIS_TRY(dis__alloc_zeroed(&x.place, dis__saturating_size(x.n_jobs, m->n_workers, 0), sizeof *x.place));
    dis_status status = dis__run_jobs(m->ctx, x.n_jobs, tally_job, &x);
    uint64_t at = 0;
    for (size_t w = 0; w < m->n_workers; w++) {
        m->worker_start[w] = at;
        for (size_t j = 0; j < x.n_jobs; j++) {
            uint64_t *place = &x.place[j * m->n_workers + w];
            const uint64_t n = *place;
            *place = at;
            at += n;
        }
    }
    m->worker_start[m->n_workers] = at;
    if (status == DIS_OK) status = dis__run_jobs(m->ctx, x.n_jobs, place_job, &x);
    dis__free(x.place);
    return status;
}

/* ---- workers ---- */

typedef struct {
    dis__crowd_model *m;
    size_t n_jobs;
    double *sums;    /* (n_jobs, K K) */
    double *scratch; /* (threads, n_scratch) */
    size_t n_scratch;
    size_t tile;        /* items whose posteriors are used together */
    uint64_t *next;     /* (n_workers) start of the votes on the next tile */
    size_t first, last; /* workers per piece on ranks */
    bool goes_on;       /* starting from the counts of the previous rank */
} pass;

/* A worker's first vote from `at` on (the votes end at `end`) on item `item` or a later one. */
static uint64_t first_on(const dis__crowd_model *m, uint64_t at, uint64_t end, size_t item)
{
    if (item >= m->votes.n_items) return end;
    while (at < end) {
        const uint64_t middle = at + (end - at) / 2;
        if (m->item_of[middle] < item)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

/* Posteriors of items at random positions of the table: prefetched some votes ahead. */
static void count_votes(const dis__crowd_model *m, uint64_t first, uint64_t end, double *count)
{
    enum { AHEAD = 16 };
    const size_t K = m->n_classes;
    for (uint64_t a = first; a < end; a++) {
        const double *p = m->p + m->item_of[a] * K;
        double *row = count + m->label_of[a] * K;
        if (end - a > AHEAD) __builtin_prefetch(m->p + m->item_of[a + AHEAD] * K);
        for (size_t t = 0; t < K; t++) row[t] += p[t];
    }
}

/* Expected counts of workers [first, last), into log_confusion. A worker's votes are in the order of items, so adding
 * them tile by tile keeps that order, and only one tile of the posteriors is in use. */
static void count_workers(const pass *c, size_t first, size_t last)
{
    const dis__crowd_model *m = c->m;
    const size_t K = m->n_classes;
    for (size_t from = 0; from == 0 || from < m->votes.n_items; from += c->tile)
        for (size_t w = first; w < last; w++) {
            double *count = dis__crowd_matrix_at(m, w);
            if (from == 0 && !c->goes_on) memset(count, 0, K * K * sizeof *count);
            const uint64_t at = from ? c->next[w] : m->worker_start[w],
                           end = first_on(m, at, m->worker_start[w + 1], from + c->tile);
            count_votes(m, at, end, count);
            if (c->next) c->next[w] = end;
        }
}

static dis_status count_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const pass *c = arg;
    const size_t n = c->m->n_workers;
    count_workers(c, dis__job_first(n, c->n_jobs, j), dis__job_first(n, c->n_jobs, j + 1));
    return DIS_OK;
}

/* The sum of the expected counts of a range of workers. */
static dis_status total_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const pass *c = arg;
    const dis__crowd_model *m = c->m;
    const size_t K = m->n_classes, last = dis__job_first(m->n_workers, c->n_jobs, j + 1);
    double *total = c->sums + j * K * K;
    memset(total, 0, K * K * sizeof *total);
    for (size_t w = dis__job_first(m->n_workers, c->n_jobs, j); w < last; w++) {
        const double *count = dis__crowd_matrix_at(m, w);
        for (size_t x = 0; x < K * K; x++) total[x] += count[x];
    }
    return DIS_OK;
}

/* If posteriors take more than a share of the memory, tiles of that size. */
static dis_status cut_tiles(const dis__crowd_model *m, pass *c)
{
    enum { SHARE = 16 };
    const uint64_t limit = dis__memory_limit();
    const size_t row = m->n_classes * sizeof(double), n = m->votes.n_items;
    c->tile = n + 1;
    if (limit == 0 || limit == DIS_MEMORY_AVAILABLE || n * row <= limit / SHARE) return DIS_OK;
    c->tile = (size_t)(limit / SHARE / row) + 1;
    return dis__alloc_array(&c->next, m->n_workers, sizeof *c->next);
}

static dis_status count_rank_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const pass *c = arg;
    const size_t n = c->last - c->first;
    count_workers(c, c->first + dis__job_first(n, c->n_jobs, j), c->first + dis__job_first(n, c->n_jobs, j + 1));
    return DIS_OK;
}

/* Expected counts over all ranks, in the order of items: each owner continues the sums of the previous one, a few
 * workers at a time, so that all ranks are busy. */
static dis_status count_over_ranks(const pass *total_pass)
{
    enum { PIECES = 8 }; /* for each owner */
    const dis__crowd_model *m = total_pass->m;
    const dis__comm *comm = dis__context_comm(m->ctx);
    const size_t row = m->n_classes * m->n_classes * sizeof(double), W = m->n_workers;
    const size_t n_pieces = dis__n_jobs(W, 1, PIECES * m->part.n_owners);
    const int last = (int)m->part.n_owners - 1;
    pass c = *total_pass;
    for (size_t i = 0; i < n_pieces && comm->rank <= last; i++) {
        c.first = dis__job_first(W, n_pieces, i);
        c.last = dis__job_first(W, n_pieces, i + 1);
        c.n_jobs = dis__n_jobs(m->worker_start[c.last] - m->worker_start[c.first], GRAIN, MAX_JOBS);
        c.goes_on = comm->rank > 0;
        double *x = dis__crowd_matrix_at(m, c.first);
        const size_t n = (c.last - c.first) * row;
        if (c.goes_on) DIS_TRY(dis__comm_receive(comm, x, n, comm->rank - 1));
        DIS_TRY(dis__run_jobs(m->ctx, c.n_jobs, count_rank_job, &c));
        if (comm->rank < last) DIS_TRY(dis__comm_send(comm, x, n, comm->rank + 1));
    }
    return dis__comm_broadcast(comm, m->log_confusion, W * row, last);
}

/* Whether votes are counted item by item, without a list of votes by worker. With many threads, cache lines would move
 * between cores all the time, and a list is faster if there is memory for it. */
static bool goes_by_item(const dis__crowd_model *m)
{
    enum { FEW_THREADS = 4 };
    if (dis_context_n_threads(m->ctx) <= FEW_THREADS) return true;
    return !m->worker_start && dis__spill_needed(dis__saturating_size(m->votes.n_votes, sizeof *m->item_of, 0));
}

/* Expected counts of all workers, if the workers are known. */
static dis_status count(pass *c)
{
    dis__crowd_model *m = c->m;
    if (!m->votes.start) return DIS_OK;
    const bool shared = dis__comm_is_parallel(dis__context_comm(m->ctx));
    if (!shared && goes_by_item(m)) return dis__crowd_model_count_votes(m);
    if (!m->worker_start) DIS_TRY(dis__crowd_model_index_votes(m));
    DIS_TRY(cut_tiles(m, c));
    return shared ? count_over_ranks(c) : dis__run_jobs(m->ctx, c->n_jobs, count_job, c);
}

/* The same for counts: one worker, a range of items. */
static dis_status count_anonymous_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const pass *c = arg;
    const dis__crowd_model *m = c->m;
    const size_t K = m->n_classes, last = dis__job_first(m->votes.n_items, c->n_jobs, j + 1);
    double *total = c->sums + j * K * K;
    memset(total, 0, K * K * sizeof *total);
    for (size_t i = dis__job_first(m->votes.n_items, c->n_jobs, j); i < last; i++)
        for (size_t v = 0; v < K; v++) {
            const double n = m->votes.counts[i * K + v];
            for (size_t t = 0; n > 0 && t < K; t++) total[v * K + t] += n * m->p[i * K + t];
        }
    return DIS_OK;
}

/* The crowd's matrix with the odds on its diagonal moved by `shift`. */
static void move_diagonal(const double *crowd, size_t K, double shift, double *out)
{
    for (size_t t = 0; t < K; t++) {
        const double right = crowd[t * K + t], moved = K > 1 ? 1 / (1 + dis__exp(-logit(right) - shift)) : 1;
        for (size_t v = 0; v < K; v++) out[v * K + t] = v == t ? moved : crowd[v * K + t] * (1 - moved) / (1 - right);
    }
}

/* Expected counts of one worker to log-probabilities. base: (K, K), column: (K). */
static void update_worker(const dis__crowd_model *m, size_t w, double *base, double *column)
{
    const size_t K = m->n_classes;
    const double *crowd = m->crowd + DIS_CROWD_NORMAL * K * K;
    double *x = dis__crowd_matrix_at(m, w), n = 0, right = 0, usual = 0;
    memset(column, 0, K * sizeof *column);
    for (size_t v = 0; v < K; v++)
        for (size_t t = 0; t < K; t++) column[t] += x[v * K + t];
    for (size_t t = 0; t < K; t++) {
        n += column[t];
        right += x[t * K + t];
        usual += column[t] * crowd[t * K + t];
    }
    double shift = 0;
    if (n > 0) shift = logit((right + SKILL_DOUBT * usual / n) / (n + SKILL_DOUBT)) - logit(usual / n);
    move_diagonal(crowd, K, shift, base);
    for (size_t v = 0; v < K; v++)
        for (size_t t = 0; t < K; t++)
            x[v * K + t] = (x[v * K + t] + STRENGTH * base[v * K + t]) / (column[t] + STRENGTH);
    m->special.log(x, K * K);
}

/* log of the sum over v of exp(ease * x[v][t]), for one worker and level. power: (K, K). */
static void norm_of(const dis__crowd_model *m, const double *x, double ease, double *power, double *out)
{
    const size_t K = m->n_classes;
    memset(out, 0, K * sizeof *out);
    for (size_t a = 0; a < K * K; a++) power[a] = ease * x[a];
    m->special.exp(power, K * K);
    for (size_t v = 0; v < K; v++)
        for (size_t t = 0; t < K; t++) out[t] += power[v * K + t];
    m->special.log(out, K);
}

static void norms_of_worker(const dis__crowd_model *m, size_t w, double *power)
{
    const size_t K = m->n_classes;
    for (size_t e = 0; e < DIS_CROWD_LEVELS; e++)
        norm_of(m, dis__crowd_matrix_at(m, w), dis__crowd_ease[e], power, m->log_norm + (w * DIS_CROWD_LEVELS + e) * K);
}

static dis_status update_job(void *arg, size_t j, int thread)
{
    const pass *c = arg;
    const dis__crowd_model *m = c->m;
    const size_t K = m->n_classes, W = m->n_workers, last = dis__job_first(W, c->n_jobs, j + 1);
    double *scratch = c->scratch + (size_t)thread * c->n_scratch;
    for (size_t w = dis__job_first(W, c->n_jobs, j); w < last; w++) {
        update_worker(m, w, scratch, scratch + K * K);
        norms_of_worker(m, w, scratch);
    }
    return DIS_OK;
}

/* The crowd's matrix at each level from the sum of all expected counts. */
static void update_crowd(dis__crowd_model *m, const double *total)
{
    const size_t K = m->n_classes;
    double *usual = m->crowd + DIS_CROWD_NORMAL * K * K;
    dis__crowd_matrix_normalize(total, K, usual);
    for (size_t e = 0; e < DIS_CROWD_LEVELS; e++) {
        if (e == DIS_CROWD_NORMAL) continue;
        double *x = m->crowd + e * K * K;
        for (size_t t = 0; t < K; t++) {
            double sum = 0;
            for (size_t v = 0; v < K; v++) sum += x[v * K + t] = dis__pow(usual[v * K + t], dis__crowd_ease[e]);
            for (size_t v = 0; v < K; v++) x[v * K + t] /= sum;
        }
    }
}

dis_status dis__crowd_model_update_matrices(dis__crowd_model *m)
{
    const size_t K = m->n_classes, n = m->votes.start ? m->n_workers : m->votes.n_items;
    const size_t threads = (size_t)dis_context_n_threads(m->ctx);
    pass c = {.m = m, .n_jobs = dis__n_jobs(m->part.n_votes, GRAIN + 16 * K * K, MAX_JOBS)};
    c.n_jobs = c.n_jobs < n ? c.n_jobs : n ? n : 1;
    c.n_scratch = K * K + K;
    dis_status status;
    DIS_TRY_GOTO(status, count(&c), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&c.sums, dis__saturating_size(c.n_jobs, K * K, 0), sizeof *c.sums), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&c.scratch, dis__saturating_size(threads, c.n_scratch, 0), sizeof *c.scratch),
                 end);
    DIS_TRY_GOTO(status, dis__run_jobs(m->ctx, c.n_jobs, m->votes.start ? total_job : count_anonymous_job, &c), end);
    for (size_t j = 1; j < c.n_jobs; j++)
        for (size_t x = 0; x < K * K; x++) c.sums[x] += c.sums[j * K * K + x];
    update_crowd(m, c.sums);
    if (!m->votes.start) {
        memcpy(m->log_confusion, c.sums, K * K * sizeof *c.sums);
        c.n_jobs = 1;
    }
    status = dis__run_jobs(m->ctx, c.n_jobs, update_job, &c);
end:
    dis__free(c.next);
    dis__free(c.sums);
    dis__free(c.scratch);
    return status;
}

dis_status dis__crowd_model_set_parameters(dis__crowd_model *m, const double *confusion, const double *prior)
{
    const size_t K = m->n_classes, n = m->n_workers * K * K;
    const double even = WARM_DOUBT / (double)K;
    double *power;
    DIS_TRY(dis__alloc_array(&power, K * K, sizeof *power));
    for (size_t x = 0; x < n; x++) m->log_confusion[x] = dis__log((1 - WARM_DOUBT) * confusion[x] + even);
    for (size_t t = 0; t < K; t++) m->log_prior[t] = dis__log((1 - WARM_DOUBT) * prior[t] + even);
    for (size_t w = 0; w < m->n_workers; w++) norms_of_worker(m, w, power);
    dis__free(power);
    return dis__crowd_model_update_posteriors(m);
}
