/* Workers compared with the others, and votes grouped by worker.
 *
 * agreement: the mean over a worker's votes, on items with votes of other workers, of the share of the others' votes
 * for the same class. alpha_without: Krippendorff's nominal alpha of the votes without the worker. With S = sum_k c_k
 * (c_k - 1) and r votes on an item, alpha is computed from A = sum S / (r - 1), n = sum r and n_k. Removing one vote
 * for a class with c votes reduces S by 2 (c - 1) and r by 1, so no item has to be counted again. Only if a single vote
 * remains, the item leaves A and n altogether.
 *
 * Votes are grouped by worker with a counting sort; a worker's items are ascending, so sums have a fixed order. Cost:
 * O(votes + workers + classes) with 12 bytes per vote and 16 per item. */
#include "agreement/agreement_internal.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include <math.h>
#include <string.h>

enum { ITEM_GRAIN = 1 << 14, WORKER_GRAIN = 64, MAX_JOBS = 64 };

static inline uint32_t label_of(const dis_votes_view *votes, uint64_t v)
{
    return votes->label8 ? votes->label8[v] : votes->label16[v];
}

/* ---- grouping ---- */

/* Workers [first, first + n), whose votes are placed in one pass. */
typedef struct {
    size_t first, n;
    uint64_t *at;           /* (n) the index of the next vote of each, */
    dis__worker_vote *cast; /* relative to this */
} worker_range;

typedef struct {
    const dis_votes_view *votes;
    const dis__worker_votes *by;
    size_t *range; /* (n_ranges + 1) the first worker of each */
    size_t n_ranges;
} grouping;

static void put_item(const dis_votes_view *votes, size_t i, const worker_range *r, uint32_t *count)
{
    const uint64_t start = votes->start[i], end = votes->start[i + 1];
    bool any = false;
    for (uint64_t v = start; v < end; v++) any |= votes->worker[v] - r->first < r->n;
    if (!any) return;
    for (uint64_t v = start; v < end; v++) count[label_of(votes, v)]++;
    for (uint64_t v = start; v < end; v++) {
        const size_t w = votes->worker[v] - r->first;
        const uint32_t class = label_of(votes, v);
        if (w >= r->n) continue;
        r->cast[r->at[w]++] = (dis__worker_vote){.item = (uint32_t)i, .same = count[class], .class = (uint16_t) class};
    }
    for (uint64_t v = start; v < end; v++) count[label_of(votes, v)] = 0;
}

static dis_status range_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const grouping *g = arg;
    const uint64_t *first = g->by->first + g->range[j];
    worker_range r = {.first = g->range[j], .n = g->range[j + 1] - g->range[j], .cast = g->by->cast + first[0]};
    const size_t n = (size_t)(first[r.n] - first[0]);
    const bool apart = g->n_ranges > 1 && r.n > 1; /* keeps the order of a worker's votes */
    uint32_t *count = NULL;
    dis_status status = dis__alloc_zeroed(&count, g->votes->n_classes, sizeof *count);
    if (status == DIS_OK) status = dis__alloc_array(&r.at, r.n, sizeof *r.at);
    if (status == DIS_OK && apart) status = dis__alloc_resident(&r.cast, n, sizeof *r.cast);
    if (status == DIS_OK) {
        for (size_t w = 0; w < r.n; w++) r.at[w] = first[w] - first[0];
        for (size_t i = 0; i < g->votes->n_items; i++) put_item(g->votes, i, &r, count);
        if (apart) memcpy(g->by->cast + first[0], r.cast, n * sizeof *r.cast);
    }
    if (apart) dis__free(r.cast);
    dis__free(r.at);
    dis__free(count);
    return status;
}

/* The writes are spread over the whole array, which may be in a file. With a memory limit, the votes of as many workers
 * as fit into an eighth of it are collected in memory first, each time in a pass over all votes. */
static dis_status cut_workers(const dis_context *ctx, grouping *g)
{
    enum { PART = 8 };
    const uint64_t limit = dis__memory_limit(), *first = g->by->first;
    const size_t n_workers = g->votes->n_workers;
    const bool limited = limit && limit != DIS_MEMORY_AVAILABLE;
    const uint64_t room =
        limited ? limit / PART / (uint64_t)dis_context_n_threads(ctx) / sizeof(dis__worker_vote) : UINT64_MAX;
    DIS_TRY(dis__alloc_array(&g->range, n_workers + 1, sizeof *g->range));
    g->range[0] = 0;
    for (size_t w = 0; w < n_workers; w++)
        if (w > g->range[g->n_ranges] && first[w + 1] - first[g->range[g->n_ranges]] > room)
            g->range[++g->n_ranges] = w;
    g->range[++g->n_ranges] = n_workers;
    return DIS_OK;
}

static dis_status group_votes(dis_context *ctx, const dis_votes_view *votes, dis__worker_votes *out)
{
    grouping g = {.votes = votes, .by = out};
    DIS_TRY(dis__check_memory(ctx, dis__saturating_size(votes->n_votes, sizeof *out->cast, 0), "agreement of workers"));
    DIS_TRY(dis__alloc_zeroed(&out->first, votes->n_workers + 1, sizeof *out->first));
    DIS_TRY(dis__alloc_array(&out->cast, votes->n_votes, sizeof *out->cast));
    for (size_t v = 0; v < votes->n_votes; v++) out->first[votes->worker[v] + 1]++;
    for (size_t w = 0; w < votes->n_workers; w++) out->first[w + 1] += out->first[w];
    dis_status status = cut_workers(ctx, &g);
    if (status == DIS_OK) status = dis__run_jobs(ctx, g.n_ranges, range_job, &g);
    dis__free(g.range);
    return status;
}

dis_status dis__worker_votes_create(dis_context *ctx, const dis_votes_view *votes, dis__worker_votes *out)
{
    *out = (dis__worker_votes){.first = NULL};
    const dis_status status = group_votes(ctx, votes, out);
    if (status != DIS_OK) dis__worker_votes_destroy(out);
    return status;
}

void dis__worker_votes_destroy(dis__worker_votes *by)
{
    dis__free(by->first);
    dis__free(by->cast);
    *by = (dis__worker_votes){0};
}

/* ---- items ---- */

/* Everything that a worker's vote needs of its item, in one struct: the items are accessed at random. */
typedef struct {
    double pairs; /* S */
    uint32_t votes;
    int32_t gold;
} item_facts;

typedef struct {
    const dis_votes_view *votes;
    const dis__worker_votes *by;
    const int32_t *gold;
    dis_agreement_worker *out;
    size_t item_jobs, worker_jobs;
    item_facts *items; /* (n_items) */
    double a, n, nn;   /* A, n and sum n_k^2 over items with at least two votes */
    const double *n_k; /* (n_classes) */
} worker_work;

static dis_status item_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const worker_work *w = arg;
    const dis_votes_view *v = w->votes;
    uint32_t *count;
    DIS_TRY(dis__alloc_zeroed(&count, v->n_classes, sizeof *count));
    const size_t last = dis__job_first(v->n_items, w->item_jobs, j + 1);
    for (size_t i = dis__job_first(v->n_items, w->item_jobs, j); i < last; i++) {
        const uint64_t start = v->start[i], end = v->start[i + 1];
        double sum = 0;
        for (uint64_t x = start; x < end; x++) sum += 2. * count[label_of(v, x)]++;
        for (uint64_t x = start; x < end; x++) count[label_of(v, x)] = 0;
        w->items[i] = (item_facts){.pairs = sum, .votes = (uint32_t)(end - start), .gold = w->gold ? w->gold[i] : -1};
    }
    dis__free(count);
    return DIS_OK;
}

/* ---- workers ---- */

typedef struct {
    uint32_t *mine;    /* (n_classes) zeros: the worker's votes on the current item */
    double *removed;   /* (n_classes) zeros: the reduction of n_k */
    uint32_t *touched; /* (n_classes) classes with taken > 0 */
    size_t n_touched;
} worker_room;

static void add_removed(worker_room *room, uint32_t class, double votes)
{
    if (room->removed[class] == 0) room->touched[room->n_touched++] = class;
    room->removed[class] += votes;
}

typedef struct {
    double agreed, a, n; /* a, n: the reductions of A and n */
    uint64_t compared;
} worker_sums;

/* The n votes `cast` of worker `me` on one item. */
static void sum_item(const worker_work *w, uint32_t me, const dis__worker_vote *cast, uint64_t n, worker_room *room,
                     worker_sums *sums)
{
    const item_facts *item = &w->items[cast->item];
    const uint64_t r = item->votes, others = r - n;
    if (r < 2) return;
    double s = item->pairs;
    for (uint64_t x = 0; x < n; x++) {
        s -= 2. * (double)(cast[x].same - room->mine[cast[x].class] - 1);
        room->mine[cast[x].class]++;
        add_removed(room, cast[x].class, 1);
    }
    for (uint64_t x = 0; x < n && others; x++)
        sums->agreed += (double)(cast[x].same - room->mine[cast[x].class]) / (double)others;
    for (uint64_t x = 0; x < n; x++) room->mine[cast[x].class] = 0;
    if (others) sums->compared += n;
    sums->a += item->pairs / (double)(r - 1) - (others >= 2 ? s / (double)(others - 1) : 0);
    sums->n += (double)n;
    if (others != 1) return;
    sums->n += 1; /* the remaining vote has nothing to be compared with */
    uint64_t left = w->votes->start[cast->item];
    while (w->votes->worker[left] == me) left++;
    add_removed(room, label_of(w->votes, left), 1);
}

static double alpha_of_rest(const worker_work *w, const worker_sums *sums, worker_room *room)
{
    double nn = w->nn;
    for (size_t t = 0; t < room->n_touched; t++) {
        const uint32_t k = room->touched[t];
        nn -= room->removed[k] * (2 * w->n_k[k] - room->removed[k]);
        room->removed[k] = 0;
    }
    room->n_touched = 0;
    const double n = w->n - sums->n, expected = n * n - nn; /* integers, exact below 2^53 */
    if (n < 2) return NAN;
    return expected > 0 ? 1 - (n - 1) * (n - (w->a - sums->a)) / expected : 1;
}

static void one_worker(const worker_work *w, size_t who, worker_room *room)
{
    const dis__worker_vote *cast = w->by->cast + w->by->first[who];
    const uint64_t votes = w->by->first[who + 1] - w->by->first[who];
    worker_sums sums = {0};
    uint64_t right = 0;
    dis_agreement_worker *out = &w->out[who];
    *out = (dis_agreement_worker){.votes = votes};
    for (uint64_t x = 0, next; x < votes; x = next) {
        for (next = x + 1; next < votes && cast[next].item == cast[x].item;) next++;
        sum_item(w, (uint32_t)who, cast + x, next - x, room, &sums);
        const int32_t gold = w->items[cast[x].item].gold;
        if (gold < 0) continue;
        out->gold_votes += next - x;
        for (uint64_t y = x; y < next; y++) right += cast[y].class == gold;
    }
    out->compared = sums.compared;
    out->agreement = sums.compared ? sums.agreed / (double)sums.compared : (double)NAN;
    out->alpha_without_worker = alpha_of_rest(w, &sums, room);
    out->accuracy = out->gold_votes ? (double)right / (double)out->gold_votes : (double)NAN;
}

static dis_status worker_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const worker_work *w = arg;
    const size_t n = w->votes->n_classes, last = dis__job_first(w->votes->n_workers, w->worker_jobs, j + 1);
    worker_room room = {0};
    dis_status status = dis__alloc_zeroed(&room.mine, n, sizeof *room.mine);
    if (status == DIS_OK) status = dis__alloc_zeroed(&room.removed, n, sizeof *room.removed);
    if (status == DIS_OK) status = dis__alloc_array(&room.touched, n, sizeof *room.touched);
    for (size_t i = dis__job_first(w->votes->n_workers, w->worker_jobs, j); status == DIS_OK && i < last; i++)
        one_worker(w, i, &room);
    dis__free(room.mine);
    dis__free(room.removed);
    dis__free(room.touched);
    return status;
}

/* A, n, n_k from the patterns. */
static void sum_patterns(const dis__vote_patterns *patterns, size_t n_classes, double *n_k, worker_work *w)
{
    for (size_t p = 0; p < patterns->n; p++) {
        const dis__vote_pattern *x = &patterns->pattern[p];
        const double items = (double)x->items, r = (double)x->votes;
        if (x->votes < 2) continue;
        double s = 0;
        for (size_t t = 0; t < x->n; t++) {
            const double c = (double)x->tally[t].count;
            s += c * (c - 1);
            n_k[x->tally[t].class] += items * c;
        }
        w->a += items * (s / (r - 1));
        w->n += items * r;
    }
    for (size_t k = 0; k < n_classes; k++) w->nn += n_k[k] * n_k[k];
    w->n_k = n_k;
}

dis_status dis__agreement_compute_workers(dis_context *ctx, const dis_votes_view *votes, const dis__worker_votes *by,
                                          const dis__vote_patterns *patterns, const int32_t *gold,
                                          dis_agreement_worker *out)
{
    worker_work w = {.votes = votes,
                     .by = by,
                     .gold = gold,
                     .out = out,
                     .item_jobs = dis__n_jobs(votes->n_items, ITEM_GRAIN, MAX_JOBS),
                     .worker_jobs = dis__n_jobs(votes->n_workers, WORKER_GRAIN, MAX_JOBS)};
    double *n_k = NULL;
    dis_status status = dis__alloc_zeroed(&n_k, votes->n_classes, sizeof *n_k);
    if (status == DIS_OK) status = dis__alloc_array(&w.items, votes->n_items, sizeof *w.items);
    if (status == DIS_OK) sum_patterns(patterns, votes->n_classes, n_k, &w);
    if (status == DIS_OK) status = dis__run_jobs(ctx, w.item_jobs, item_job, &w);
    if (status == DIS_OK) status = dis__run_jobs(ctx, w.worker_jobs, worker_job, &w);
    dis__free(n_k);
    dis__free(w.items);
    return status;
}
