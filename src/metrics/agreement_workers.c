/* Workers against the others, and votes grouped by worker.
 *
 * agreement: the mean over a worker's votes, on items where somebody else voted, of the share of the others' votes for
 * the same class. alpha_without: Krippendorff's nominal alpha of what remains without the worker. With S = sum_k c_k
 * (c_k - 1) and r votes on an item, alpha is made of A = sum S / (r - 1), n = sum r and n_k; taking away one vote for a
 * class that c votes chose lowers S by 2 (c - 1) and r by 1, so no item has to be counted anew. Only when a single vote
 * remains the item leaves A and n altogether.
 *
 * Votes are grouped by worker by counting; a worker's items come in rising order, so sums have a fixed order.
 * Cost: O(votes + workers + classes) with 12 bytes a vote. */
#include "metrics/agreement_inside.h"
#include "core/memory.h"
#include <math.h>
#include <string.h>

enum { ITEM_GRAIN = 1 << 14, WORKER_GRAIN = 64, MOST_JOBS = 64 };

static inline uint32_t label_of(const dis_votes_view *votes, uint64_t v)
{
    return votes->label8 ? votes->label8[v] : votes->label16[v];
}

/* ---- grouping ---- */

dis_status dis__by_worker_make(dis_context *ctx, const dis_votes_view *votes, dis__by_worker *out)
{
    *out = (dis__by_worker){0};
    DIS_TRY(dis__check_memory(ctx, dis__size(votes->n_votes, 12, 0), "agreement of workers"));
    dis_status status = dis__alloc_zeroed(&out->first, votes->n_workers + 2, sizeof *out->first);
    if (status == DIS_OK) status = dis__alloc_array(&out->item, votes->n_votes, sizeof *out->item);
    if (status == DIS_OK) status = dis__alloc_array(&out->vote, votes->n_votes, sizeof *out->vote);
    if (status != DIS_OK) {
        dis__by_worker_free(out);
        return status;
    }
    /* first[w + 1] counts, then is where the next vote of w goes, and ends up as where w + 1 begins */
    uint64_t *at = out->first + 1;
    for (size_t v = 0; v < votes->n_votes; v++) at[votes->worker[v] + 1]++;
    for (size_t w = 0; w < votes->n_workers; w++) at[w + 1] += at[w];
    for (size_t i = 0; i < votes->n_items; i++)
        for (uint64_t v = votes->start[i]; v < votes->start[i + 1]; v++) {
            const uint64_t to = at[votes->worker[v]]++;
            out->item[to] = (uint32_t)i;
            out->vote[to] = (uint32_t)(v - votes->start[i]);
        }
    return DIS_OK;
}

void dis__by_worker_free(dis__by_worker *by)
{
    dis__free(by->first);
    dis__free(by->item);
    dis__free(by->vote);
    *by = (dis__by_worker){0};
}

/* ---- items ---- */

typedef struct {
    const dis_votes_view *votes;
    const dis__by_worker *by;
    const int32_t *gold;
    dis_agreement_worker *out;
    size_t item_jobs, worker_jobs;
    uint32_t *same;    /* (n_votes) votes on the item for the class of this one */
    double *pairs;     /* (n_items) S */
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
        double sum = 0;
        for (uint64_t x = v->start[i]; x < v->start[i + 1]; x++) sum += 2. * count[label_of(v, x)]++;
        for (uint64_t x = v->start[i]; x < v->start[i + 1]; x++) w->same[x] = count[label_of(v, x)];
        for (uint64_t x = v->start[i]; x < v->start[i + 1]; x++) count[label_of(v, x)] = 0;
        w->pairs[i] = sum;
    }
    dis__free(count);
    return DIS_OK;
}

/* ---- workers ---- */

typedef struct {
    uint32_t *mine;    /* (n_classes) zeros: the worker's votes on the item at hand */
    double *taken;     /* (n_classes) zeros: what n_k loses */
    uint32_t *touched; /* (n_classes) classes with taken > 0 */
    size_t n_touched;
} worker_room;

static void take_from(worker_room *room, uint32_t class, double votes)
{
    if (room->taken[class] == 0) room->touched[room->n_touched++] = class;
    room->taken[class] += votes;
}

typedef struct {
    double agreed, a, n; /* a, n: what A and n lose */
    uint64_t compared;
} worker_sums;

/* The votes by.vote[first .. last) of one worker on item i. */
static void take_item(const worker_work *w, size_t i, uint64_t first, uint64_t last, worker_room *room,
                      worker_sums *sums)
{
    const dis_votes_view *v = w->votes;
    const uint64_t start = v->start[i], r = v->start[i + 1] - start, m = last - first, others = r - m;
    if (r < 2) return;
    double s = w->pairs[i];
    for (uint64_t x = first; x < last; x++) {
        const uint64_t vote = start + w->by->vote[x];
        const uint32_t class = label_of(v, vote);
        s -= 2. * (double)(w->same[vote] - room->mine[class] - 1);
        room->mine[class]++;
        take_from(room, class, 1);
    }
    for (uint64_t x = first; x < last && others; x++) {
        const uint64_t vote = start + w->by->vote[x];
        sums->agreed += (double)(w->same[vote] - room->mine[label_of(v, vote)]) / (double)others;
    }
    for (uint64_t x = first; x < last; x++) room->mine[label_of(v, start + w->by->vote[x])] = 0;
    if (others) sums->compared += m;
    sums->a += w->pairs[i] / (double)(r - 1) - (others >= 2 ? s / (double)(others - 1) : 0);
    sums->n += (double)m;
    if (others != 1) return;
    sums->n += 1; /* the one that remains has nothing to be compared with */
    const uint32_t me = v->worker[start + w->by->vote[first]];
    uint64_t left = start;
    while (v->worker[left] == me) left++;
    take_from(room, label_of(v, left), 1);
}

static double alpha_of_rest(const worker_work *w, const worker_sums *sums, worker_room *room)
{
    double nn = w->nn;
    for (size_t t = 0; t < room->n_touched; t++) {
        const uint32_t k = room->touched[t];
        nn -= room->taken[k] * (2 * w->n_k[k] - room->taken[k]);
        room->taken[k] = 0;
    }
    room->n_touched = 0;
    const double n = w->n - sums->n, expected = n * n - nn; /* whole numbers, exact below 2^53 */
    if (n < 2) return NAN;
    return expected > 0 ? 1 - (n - 1) * (n - (w->a - sums->a)) / expected : 1;
}

static void one_worker(const worker_work *w, size_t who, worker_room *room)
{
    const dis__by_worker *by = w->by;
    worker_sums sums = {0};
    uint64_t right = 0;
    dis_agreement_worker *out = &w->out[who];
    *out = (dis_agreement_worker){.votes = by->first[who + 1] - by->first[who]};
    for (uint64_t x = by->first[who], next; x < by->first[who + 1]; x = next) {
        const uint32_t i = by->item[x];
        for (next = x + 1; next < by->first[who + 1] && by->item[next] == i;) next++;
        take_item(w, i, x, next, room, &sums);
        if (!w->gold || w->gold[i] < 0) continue;
        out->gold_votes += next - x;
        for (uint64_t y = x; y < next; y++)
            right += label_of(w->votes, w->votes->start[i] + by->vote[y]) == (uint32_t)w->gold[i];
    }
    out->compared = sums.compared;
    out->agreement = sums.compared ? sums.agreed / (double)sums.compared : NAN;
    out->alpha_without = alpha_of_rest(w, &sums, room);
    out->accuracy = out->gold_votes ? (double)right / (double)out->gold_votes : NAN;
}

static dis_status worker_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const worker_work *w = arg;
    const size_t n = w->votes->n_classes, last = dis__job_first(w->votes->n_workers, w->worker_jobs, j + 1);
    worker_room room = {0};
    dis_status status = dis__alloc_zeroed(&room.mine, n, sizeof *room.mine);
    if (status == DIS_OK) status = dis__alloc_zeroed(&room.taken, n, sizeof *room.taken);
    if (status == DIS_OK) status = dis__alloc_array(&room.touched, n, sizeof *room.touched);
    for (size_t i = dis__job_first(w->votes->n_workers, w->worker_jobs, j); status == DIS_OK && i < last; i++)
        one_worker(w, i, &room);
    dis__free(room.mine);
    dis__free(room.taken);
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

dis_status dis__agreement_workers(dis_context *ctx, const dis_votes_view *votes, const dis__by_worker *by,
                                  const dis__vote_patterns *patterns, const int32_t *gold, dis_agreement_worker *out)
{
    worker_work w = {.votes = votes,
                     .by = by,
                     .gold = gold,
                     .out = out,
                     .item_jobs = dis__n_jobs(votes->n_items, ITEM_GRAIN, MOST_JOBS),
                     .worker_jobs = dis__n_jobs(votes->n_workers, WORKER_GRAIN, MOST_JOBS)};
    double *n_k = NULL;
    dis_status status = dis__alloc_zeroed(&n_k, votes->n_classes, sizeof *n_k);
    if (status == DIS_OK) status = dis__alloc_array(&w.same, votes->n_votes, sizeof *w.same);
    if (status == DIS_OK) status = dis__alloc_array(&w.pairs, votes->n_items, sizeof *w.pairs);
    if (status == DIS_OK) sum_patterns(patterns, votes->n_classes, n_k, &w);
    if (status == DIS_OK) status = dis__run_jobs(ctx, w.item_jobs, item_job, &w);
    if (status == DIS_OK) status = dis__run_jobs(ctx, w.worker_jobs, worker_job, &w);
    dis__free(n_k);
    dis__free(w.same);
    dis__free(w.pairs);
    return status;
}
