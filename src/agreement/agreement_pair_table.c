/* Counts of pairs of workers: see agreement_pair_table.h.
 *
 * Items are divided into one range per table. Each table is filled by one thread, and the tables are added up. Pairs
 * that do not fit into memory are counted in another pass.
 *
 * Cost: a pass reads every vote once, and updates a row for each two votes of selected workers on one item. Memory: 8
 * (4 + 2 classes) bytes per pair and thread, at most an eighth of the limit, or 256 MiB. On ranks all pairs are counted
 * at once; a row crosses the network twice. */
#include "agreement/agreement_pair_table.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/memory/spill.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the votes of an item ---- */

dis_status dis__ranked_votes_gather(const dis__pair_table *t, size_t item, dis__ranked_votes *out)
{
    const dis_votes_view *v = t->votes;
    const uint64_t start = v->start[item], end = v->start[item + 1];
    out->n = 0;
    if (end - start > out->capacity)
        DIS_TRY(dis__reserve(&out->vote, &out->capacity, 0, (size_t)(end - start), sizeof *out->vote));
    for (uint64_t y = start; y < end; y++) {
        const uint32_t rank = t->rank[v->worker[y]];
        if (rank == UINT32_MAX) continue;
        size_t at = out->n++;
        for (; at > 0 && out->vote[at - 1].rank > rank; at--) out->vote[at] = out->vote[at - 1];
        out->vote[at].rank = rank;
        out->vote[at].place = t->place[v->label8 ? v->label8[y] : v->label16[y]];
    }
    return DIS_OK;
}

/* ---- counting ---- */

static void add_votes(const dis__pair_table *t, uint64_t *row, size_t mine, size_t theirs)
{
    const uint64_t apart = mine > theirs ? mine - theirs : theirs - mine;
    row[0]++;
    row[1] += apart == 0;
    row[2] += apart;
    row[3] += apart * apart;
    row[4 + mine]++;
    row[4 + t->votes->n_classes + theirs]++;
}

static void add_item(const dis__pair_table *t, const dis__ranked_votes *found, uint64_t *facts)
{
    const size_t n_pairs = t->last - t->first;
    for (size_t x = 0; x + 1 < found->n; x++)
        for (size_t y = x + 1; y < found->n; y++) {
            if (found->vote[x].rank == found->vote[y].rank) continue;
            const size_t pair = dis__pair_table_index(t, found->vote[x].rank, found->vote[y].rank) - t->first;
            if (pair < n_pairs) add_votes(t, facts + pair * t->width, found->vote[x].place, found->vote[y].place);
        }
}

static dis_status count_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__pair_table *t = arg;
    uint64_t *facts = t->facts + j * t->room * t->width;
    const size_t last = dis__job_first(t->votes->n_items, t->n_copies, j + 1);
    dis__ranked_votes found = {0};
    dis_status status = DIS_OK;
    memset(facts, 0, (t->last - t->first) * t->width * sizeof *facts);
    for (size_t i = dis__job_first(t->votes->n_items, t->n_copies, j); i < last && status == DIS_OK; i++) {
        status = dis__ranked_votes_gather(t, i, &found);
        if (found.n > 1) add_item(t, &found, facts);
    }
    dis__free(found.vote);
    return status;
}

enum { MERGE_JOBS = 64 };

static dis_status merge_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__pair_table *t = arg;
    const size_t n = (t->last - t->first) * t->width, last = dis__job_first(n, MERGE_JOBS, j + 1);
    for (size_t c = 1; c < t->n_copies; c++) {
        const uint64_t *from = t->facts + c * t->room * t->width;
        for (size_t x = dis__job_first(n, MERGE_JOBS, j); x < last; x++) t->facts[x] += from[x];
    }
    return DIS_OK;
}

dis_status dis__pair_table_count(dis_context *ctx, dis__pair_table *t, size_t first)
{
    if (t->first == first && t->last > first) return DIS_OK;
    const dis__comm *comm = dis__context_comm(ctx);
    t->first = first;
    t->last = t->n_pairs - first < t->room ? t->n_pairs : first + t->room;
    dis_status status = dis__run_jobs(ctx, t->n_copies, count_job, t);
    if (status == DIS_OK && t->n_copies > 1) status = dis__run_jobs(ctx, MERGE_JOBS, merge_job, t);
    DIS_TRY(dis__comm_first_failure(comm, status));
    return dis__comm_is_parallel(comm) ? dis__comm_sum_counts(comm, t->facts, (t->last - first) * t->width) : DIS_OK;
}

/* ---- selected workers ---- */

typedef struct {
    uint64_t votes;
    uint32_t worker;
} busy;

static int by_votes(const void *a, const void *b)
{
    const busy *x = a, *y = b;
    if (x->votes != y->votes) return x->votes > y->votes ? -1 : 1;
    return (x->worker > y->worker) - (x->worker < y->worker);
}

static int by_index(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The largest number of workers with at most this many pairs. */
static size_t workers_of(size_t max_pairs, size_t n_workers)
{
    size_t n = (size_t)((1 + sqrt(1 + 8 * (double)max_pairs)) / 2);
    while (n > 1 && (n - 1) > 2 * max_pairs / n) n--;
    return n < n_workers ? n : n_workers;
}

/* The workers with most votes, over all ranks. */
static dis_status choose(const dis__comm *comm, dis__pair_table *t)
{
    const dis_votes_view *v = t->votes;
    const size_t n = v->n_workers;
    uint64_t *votes = NULL;
    busy *all = NULL;
    dis_status status = dis__alloc_zeroed(&votes, n, sizeof *votes);
    if (status == DIS_OK) status = dis__alloc_array(&all, n, sizeof *all);
    for (size_t x = 0; x < v->n_votes && status == DIS_OK; x++) votes[v->worker[x]]++;
    if (status == DIS_OK) status = dis__comm_sum_counts(comm, votes, n);
    if (status == DIS_OK) {
        for (size_t i = 0; i < n; i++) all[i] = (busy){.votes = votes[i], .worker = (uint32_t)i};
        qsort(all, n, sizeof *all, by_votes);
        for (size_t i = 0; i < t->n; i++) t->worker[i] = all[i].worker;
        qsort(t->worker, t->n, sizeof *t->worker, by_index);
    }
    dis__free(votes);
    dis__free(all);
    return status;
}

static dis_status rank_workers(const dis__comm *comm, dis__pair_table *t)
{
    const size_t n = t->votes->n_workers;
    DIS_TRY(dis__alloc_array(&t->worker, t->n, sizeof *t->worker));
    DIS_TRY(dis__alloc_array(&t->rank, n, sizeof *t->rank));
    for (size_t i = 0; i < t->n; i++) t->worker[i] = (uint32_t)i;
    if (t->n < n) DIS_TRY(choose(comm, t));
    for (size_t i = 0; i < n; i++) t->rank[i] = UINT32_MAX;
    for (size_t i = 0; i < t->n; i++) t->rank[t->worker[i]] = (uint32_t)i;
    return DIS_OK;
}

/* ---- memory ---- */

static size_t at_least_one(size_t n)
{
    return n ? n : 1;
}

/* Number of tables, and of pairs per table. Ranks must divide pairs in the same way: they process all at once. */
static dis_status make_room(dis_context *ctx, dis__pair_table *t, size_t spare)
{
    enum { SHARE = 8, UNLIMITED = 256 << 20 };
    const uint64_t limit = dis__memory_limit();
    const bool limited = limit && limit != DIS_MEMORY_AVAILABLE;
    const size_t numbers = (size_t)(limited ? limit / SHARE : UNLIMITED) / sizeof *t->facts;
    const size_t threads = (size_t)dis_context_n_threads(ctx);
    const bool shared = dis__comm_is_parallel(dis__context_comm(ctx));
    t->room = t->n_pairs;
    t->n_copies = at_least_one(numbers / dis__saturating_size(t->n_pairs, t->width + spare, 1));
    if (t->n_copies > threads) t->n_copies = threads;
    const size_t fits = at_least_one(numbers / dis__saturating_size(t->n_copies, t->width, spare));
    if (fits < t->room && !shared) t->room = fits;
    const size_t n = dis__saturating_size(t->n_copies, dis__saturating_size(t->room, t->width, 0), 0);
    DIS_TRY(dis__check_resident(ctx, dis__saturating_size(n, sizeof *t->facts, 0), "a table of pairs of workers"));
    return dis__alloc_resident(&t->facts, n, sizeof *t->facts);
}

dis_status dis__pair_table_create(dis_context *ctx, const dis_votes_view *votes, size_t max_pairs,
                                  const uint32_t *order, size_t spare, dis__pair_table *t)
{
    const dis__comm *comm = dis__context_comm(ctx);
    *t = (dis__pair_table){.votes = votes,
                           .n = workers_of(max_pairs, votes->n_workers),
                           .width = dis__saturating_size(2, votes->n_classes, 4)};
    t->n_pairs = t->n ? t->n * (t->n - 1) / 2 : 0;
    dis_status status = rank_workers(comm, t);
    if (status == DIS_OK) status = dis__alloc_array(&t->place, votes->n_classes, sizeof *t->place);
    for (size_t k = 0; k < votes->n_classes && status == DIS_OK; k++) t->place[order ? order[k] : k] = (uint16_t)k;
    if (status == DIS_OK) status = make_room(ctx, t, spare);
    status = dis__comm_first_failure(comm, status);
    if (status != DIS_OK) dis__pair_table_destroy(t);
    return status;
}

void dis__pair_table_destroy(dis__pair_table *t)
{
    dis__free(t->worker);
    dis__free(t->rank);
    dis__free(t->place);
    dis__free(t->facts);
    *t = (dis__pair_table){0};
}
