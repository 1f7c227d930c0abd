/* Pairs of workers: agreement, Scott's pi and Cohen's kappa on the items that both voted on.
 *
 * With n pairs of votes, of which e agree, and a_k, b_k votes of either worker for class k:
 *
 *   Scott 1955          1 - n (n - e) / (n^2 - sum ((a_k + b_k) / 2)^2)
 *   Cohen 1960          1 - n (n - e) / (n^2 - sum a_k b_k)
 *   Cohen 1968          1 - n sum d / sum_kl a_k b_l d_kl, d = |k - l| (linear) or (k - l)^2 (quadratic), k and l the
 *                       places of the classes
 *
 * All of them ratios of whole numbers. The sums over k and l come from sums along the classes and from moments. Worker
 * by worker (the jobs), the votes of the others on his items are sorted by who cast them; the workers looked at are
 * those with most votes, as many as make no more pairs than asked for, so that a crowd of 80,000 does not take 3e9.
 *
 * On several ranks each counts the votes on its items: pairs of votes, their distances, and votes for each class of
 * either worker, all whole numbers, which are added up over ranks.
 *
 * Cost: the sum over the workers looked at of the votes on their items, and O(classes) per pair. On ranks the table of
 * counts, 8 (4 + 2 classes) bytes per pair, goes over the network twice. */
#include "agreement/agreement_internal.h"
#include "core/comm.h"
#include "core/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t who; /* rank of the other worker */
    uint16_t mine, theirs;
} co_vote;

typedef struct {
    const dis_votes_view *votes;
    const dis__by_worker *by;
    const uint32_t *order;  /* (n_classes) class at each place; NULL: no order means something */
    uint32_t *place;        /* (n_classes) its inverse, or NULL */
    size_t n;               /* workers looked at */
    const uint32_t *worker; /* (n) who they are, by index */
    uint32_t *rank;         /* (n_workers) place in `worker`, UINT32_MAX: not looked at */
    dis_agreement_pair *to; /* (n (n - 1) / 2): row of a, then b */
    uint64_t *facts;        /* a row per pair (dis__pair_facts), on several ranks */
} pair_work;

typedef struct {
    co_vote *found, *sorted; /* (room) */
    size_t room;
    uint64_t *first; /* (n + 1) */
    double *a, *b;   /* (n_classes) votes for the class at each place; zeros between pairs */
} pair_room;

static inline uint16_t label_of(const dis_votes_view *votes, uint64_t v)
{
    return votes->label8 ? votes->label8[v] : votes->label16[v];
}

static inline uint32_t place_of(const pair_work *w, uint16_t class)
{
    return w->place ? w->place[class] : class;
}

double dis__beyond_chance(double observed, double expected)
{
    return expected > 0 ? 1 - observed / expected : 1;
}

void dis__kappa_chance(const double *a, const double *b, size_t n_classes, double n, double out[DIS_KAPPAS])
{
    double same = 0, parted = 0, a_below = 0, b_below = 0, a_sum = 0, b_sum = 0, squares = 0;
    for (size_t k = 0; k < n_classes; k++) {
        const double place = (double)k;
        same += a[k] * b[k];
        a_below += a[k];
        b_below += b[k];
        parted += a_below * (n - b_below) + b_below * (n - a_below); /* pairs that the step from k to k + 1 parts */
        a_sum += a[k] * place;
        b_sum += b[k] * place;
        squares += (a[k] + b[k]) * place * place;
    }
    out[0] = n * n - same;
    out[1] = parted;
    out[2] = n * squares - 2 * a_sum * b_sum;
}

/* All that the coefficients of a pair are made of; whole numbers and quarters of them. */
typedef struct {
    double equal, same, both; /* same: sum a_k b_k, both: sum ((a_k + b_k) / 2)^2 */
    double linear, quadratic, chance[DIS_KAPPAS];
} pair_sums;

static void conclude(const pair_work *w, const pair_sums *s, dis_agreement_pair *out)
{
    const double n = (double)out->n, apart = n * (n - s->equal);
    out->agreement = s->equal / n;
    out->cohen = dis__beyond_chance(apart, n * n - s->same);
    out->scott = dis__beyond_chance(apart, n * n - s->both);
    out->degenerate = n * n - s->same == 0;
    out->cohen_linear = w->order ? dis__beyond_chance(n * s->linear, s->chance[1]) : (double)NAN;
    out->cohen_quadratic = w->order ? dis__beyond_chance(n * s->quadratic, s->chance[2]) : (double)NAN;
}

static void measure_pair(const pair_work *w, const pair_room *room, const co_vote *c, dis_agreement_pair *out)
{
    pair_sums s = {0};
    for (size_t i = 0; i < out->n; i++) {
        const uint32_t mine = place_of(w, c[i].mine), theirs = place_of(w, c[i].theirs);
        const double d = fabs((double)mine - (double)theirs);
        s.equal += mine == theirs;
        s.linear += d;
        s.quadratic += d * d;
        room->a[mine]++;
        room->b[theirs]++;
    }
    for (size_t i = 0; i < out->n; i++) { /* sums over classes, each class as often as it was chosen, by votes */
        const uint32_t mine = place_of(w, c[i].mine), theirs = place_of(w, c[i].theirs);
        s.same += room->b[mine];
        s.both += (room->a[mine] + room->b[mine] + room->a[theirs] + room->b[theirs]) / 4;
    }
    if (w->order) dis__kappa_chance(room->a, room->b, w->votes->n_classes, (double)out->n, s.chance);
    conclude(w, &s, out);
    for (size_t i = 0; i < out->n; i++) room->a[place_of(w, c[i].mine)] = room->b[place_of(w, c[i].theirs)] = 0;
}

/* ---- on several ranks ---- */

static void count_facts(const pair_work *w, const co_vote *c, size_t n, uint64_t *row)
{
    const dis__pair_facts f = dis__pair_facts_of(row, w->votes->n_classes);
    *f.n = n;
    for (size_t i = 0; i < n; i++) {
        const uint32_t mine = place_of(w, c[i].mine), theirs = place_of(w, c[i].theirs);
        const uint64_t d = mine > theirs ? mine - theirs : theirs - mine;
        *f.equal += d == 0;
        *f.linear += d;
        *f.quadratic += d * d;
        f.a[mine]++;
        f.b[theirs]++;
    }
}

static void measure_facts(const pair_work *w, uint64_t *row, double *a, double *b, dis_agreement_pair *out)
{
    const size_t n_classes = w->votes->n_classes;
    const dis__pair_facts f = dis__pair_facts_of(row, n_classes);
    pair_sums s = {.equal = (double)*f.equal, .linear = (double)*f.linear, .quadratic = (double)*f.quadratic};
    for (size_t k = 0; k < n_classes; k++) {
        a[k] = (double)f.a[k];
        b[k] = (double)f.b[k];
        s.same += a[k] * b[k];
        s.both += (a[k] + b[k]) * (a[k] + b[k]) / 4;
    }
    if (w->order) dis__kappa_chance(a, b, n_classes, (double)out->n, s.chance);
    conclude(w, &s, out);
}

/* Counts of all ranks, then what they say. */
static dis_status measure_shared(const pair_work *w, const dis__comm *comm)
{
    const size_t n_classes = w->votes->n_classes, width = dis__pair_facts_width(n_classes);
    double *a;
    DIS_TRY(dis__comm_sum_counts(comm, w->facts, w->n * (w->n ? w->n - 1 : 0) / 2 * width));
    DIS_TRY(dis__alloc_array(&a, dis__size(2, n_classes, 0), sizeof *a));
    dis_agreement_pair *to = w->to;
    uint64_t *row = w->facts;
    for (size_t x = 0; x < w->n; x++)
        for (size_t y = x + 1; y < w->n; y++, to++, row += width) {
            *to = (dis_agreement_pair){.a = w->worker[x], .b = w->worker[y], .n = *row};
            if (to->n) measure_facts(w, row, a, a + n_classes, to);
        }
    dis__free(a);
    return DIS_OK;
}

/* Votes of later workers on the items of `me`, in room->found; returns how many. */
static size_t find_co_votes(const pair_work *w, size_t me, const pair_room *room)
{
    const dis_votes_view *v = w->votes;
    const uint32_t who = w->worker[me];
    size_t n = 0;
    for (uint64_t x = w->by->first[who]; x < w->by->first[who + 1]; x++) {
        const uint64_t start = v->start[w->by->cast[x].item], end = v->start[w->by->cast[x].item + 1];
        const uint16_t mine = w->by->cast[x].class;
        for (uint64_t y = start; y < end; y++) {
            const uint32_t rank = w->rank[v->worker[y]];
            if (rank != UINT32_MAX && rank > me)
                room->found[n++] = (co_vote){.who = rank, .mine = mine, .theirs = label_of(v, y)};
        }
    }
    return n;
}

static dis_status reserve(const pair_work *w, size_t me, pair_room *room)
{
    const uint32_t who = w->worker[me];
    size_t max = 0;
    for (uint64_t x = w->by->first[who]; x < w->by->first[who + 1]; x++)
        max += (size_t)(w->votes->start[w->by->cast[x].item + 1] - w->votes->start[w->by->cast[x].item]);
    DIS_TRY(dis__alloc_array(&room->found, max, sizeof *room->found));
    DIS_TRY(dis__alloc_array(&room->sorted, max, sizeof *room->sorted));
    DIS_TRY(dis__alloc_zeroed(&room->first, w->n + 2, sizeof *room->first));
    DIS_TRY(dis__alloc_zeroed(&room->a, w->votes->n_classes, sizeof *room->a));
    return dis__alloc_zeroed(&room->b, w->votes->n_classes, sizeof *room->b);
}

static void pairs_of(const pair_work *w, size_t me, const pair_room *room)
{
    const size_t n = find_co_votes(w, me, room);
    uint64_t *at = room->first + 1;
    for (size_t i = 0; i < n; i++) at[room->found[i].who + 1]++;
    for (size_t r = 0; r < w->n; r++) at[r + 1] += at[r];
    for (size_t i = 0; i < n; i++) room->sorted[at[room->found[i].who]++] = room->found[i];
    dis_agreement_pair *to = w->to + (me * (2 * w->n - me - 1)) / 2;
    uint64_t *row = w->facts ? w->facts + (size_t)(to - w->to) * dis__pair_facts_width(w->votes->n_classes) : NULL;
    for (size_t r = me + 1; r < w->n && row; r++, row += dis__pair_facts_width(w->votes->n_classes))
        count_facts(w, room->sorted + room->first[r], (size_t)(room->first[r + 1] - room->first[r]), row);
    for (size_t r = me + 1; r < w->n && !w->facts; r++, to++) {
        *to = (dis_agreement_pair){.a = w->worker[me], .b = w->worker[r], .n = room->first[r + 1] - room->first[r]};
        if (to->n) measure_pair(w, room, room->sorted + room->first[r], to);
    }
}

static dis_status pair_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const pair_work *w = arg;
    pair_room room = {0};
    const dis_status status = reserve(w, j, &room);
    if (status == DIS_OK) pairs_of(w, j, &room);
    dis__free(room.found);
    dis__free(room.sorted);
    dis__free(room.first);
    dis__free(room.a);
    dis__free(room.b);
    return status;
}

/* ---- who is looked at ---- */

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

/* How many workers make at most so many pairs. */
static size_t workers_of(size_t max_pairs, size_t n_workers)
{
    size_t n = (size_t)((1 + sqrt(1 + 8 * (double)max_pairs)) / 2);
    while (n > 1 && (n - 1) > 2 * max_pairs / n) n--;
    return n < n_workers ? n : n_workers;
}

/* Votes of each worker, on all ranks. */
static dis_status count_votes(const pair_work *w, const dis__comm *comm, busy *all)
{
    const size_t n = w->votes->n_workers;
    uint64_t *votes;
    DIS_TRY(dis__alloc_array(&votes, n, sizeof *votes));
    for (size_t i = 0; i < n; i++) votes[i] = w->by->first[i + 1] - w->by->first[i];
    const dis_status status = dis__comm_sum_counts(comm, votes, n);
    for (size_t i = 0; i < n; i++) all[i] = (busy){.votes = votes[i], .worker = (uint32_t)i};
    dis__free(votes);
    return status;
}

static void choose(pair_work *w, busy *all, uint32_t *chosen)
{
    const size_t n_workers = w->votes->n_workers;
    if (w->n < n_workers) qsort(all, n_workers, sizeof *all, by_votes);
    for (size_t i = 0; i < w->n; i++) chosen[i] = all[i].worker;
    if (w->n > 1) qsort(chosen, w->n, sizeof *chosen, by_index);
    w->worker = chosen;
    for (size_t i = 0; i < n_workers; i++) w->rank[i] = UINT32_MAX;
    for (size_t i = 0; i < w->n; i++) w->rank[chosen[i]] = (uint32_t)i;
}

/* Pairs that share something move to the front, with their facts. */
static void keep_met(pair_work *w, size_t n_pairs, dis__worker_pairs *out)
{
    const size_t width = dis__pair_facts_width(w->votes->n_classes);
    *out = (dis__worker_pairs){.pair = w->to, .facts = w->facts, .workers = w->n};
    for (size_t p = 0; p < n_pairs; p++) {
        if (!w->to[p].n) continue;
        if (w->facts) memmove(w->facts + out->n * width, w->facts + p * width, width * sizeof *w->facts);
        w->to[out->n++] = w->to[p];
    }
    w->to = NULL;
    w->facts = NULL;
}

dis_status dis__agreement_pairs(dis_context *ctx, const dis_votes_view *votes, const dis__by_worker *by,
                                size_t max_pairs, const uint32_t *order, dis__worker_pairs *out)
{
    const dis__comm *comm = dis__context_comm(ctx);
    pair_work w = {.votes = votes, .by = by, .order = order, .n = workers_of(max_pairs, votes->n_workers)};
    const size_t n_pairs = w.n ? w.n * (w.n - 1) / 2 : 0;
    const size_t facts = dis__comm_is_shared(comm) ? dis__size(n_pairs, dis__pair_facts_width(votes->n_classes), 0) : 0;
    busy *all = NULL;
    uint32_t *chosen = NULL;
    dis_status status =
        dis__check_memory(ctx, dis__size(n_pairs, sizeof *w.to, dis__size(facts, 8, 0)), "a table of pairs of workers");
    if (status == DIS_OK) status = dis__alloc_array(&all, votes->n_workers, sizeof *all);
    if (status == DIS_OK) status = dis__alloc_array(&chosen, w.n, sizeof *chosen);
    if (status == DIS_OK) status = dis__alloc_array(&w.rank, votes->n_workers, sizeof *w.rank);
    if (status == DIS_OK) status = dis__alloc_zeroed(&w.to, n_pairs, sizeof *w.to);
    if (status == DIS_OK && facts) status = dis__alloc_zeroed(&w.facts, facts, sizeof *w.facts);
    if (status == DIS_OK && order) status = dis__alloc_array(&w.place, votes->n_classes, sizeof *w.place);
    if (status == DIS_OK) status = count_votes(&w, comm, all);
    if (status == DIS_OK) choose(&w, all, chosen);
    for (size_t k = 0; status == DIS_OK && order && k < votes->n_classes; k++) w.place[order[k]] = (uint32_t)k;
    if (status == DIS_OK) status = dis__comm_agree(comm, dis__run_jobs(ctx, w.n, pair_job, &w));
    if (status == DIS_OK && w.facts) status = measure_shared(&w, comm);
    if (status == DIS_OK) keep_met(&w, n_pairs, out);
    dis__free(all);
    dis__free(chosen);
    dis__free(w.rank);
    dis__free(w.place);
    dis__free(w.facts);
    dis__free(w.to);
    return status;
}
