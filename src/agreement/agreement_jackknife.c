/* Coefficients without one annotator, computed from the changes that an annotator's votes make to the totals.
 *
 * With c_k of r votes for class k and S = sum_kl c_k c_l d_kl, an item without one vote for k has S - 2 sum_l c_l d_kl.
 * So no item is counted again, except items on which an annotator voted several times. Ordinal alpha uses the mean
 * ranks of all votes.
 *
 * Changes are accumulated as integers, each column in a unit that depends on its total over all votes (2^-57 of it), so
 * the order of items, threads and ranks cannot change a sum. If memory does not suffice for all annotators, the rest
 * are processed in further passes over the votes.
 *
 * Cost: O(votes x (classes on an item + distances)) and O(classes) per annotator. Memory: 8 (5 + 4 classes) bytes per
 * annotator and thread (15 + 4 classes where classes have an order), at most an eighth of the limit, or 256 MiB. */
#include "agreement/agreement_jackknife.h"
#include "agreement/agreement_vote_cells.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/memory/spill.h"
#include <math.h>
#include <string.h>

enum { ITEMS, SHARED, VOTES, FIRST_DISTANCE };
enum { OF_CLASS = 4, UNIT_BITS = 57, WORKER_GRAIN = 64, MAX_JOBS = 64 };

typedef struct {
    const dis__agreement_base *base;
    const dis_votes_view *votes;
    size_t width, first_class; /* values per annotator, and the first index of those per class */
    double *unit;              /* (width) */
    size_t first, last, room;  /* annotators of this pass */
    size_t n_copies;
    int64_t *sums;   /* (n_copies, room, width) */
    size_t n_jobs;   /* over annotators */
    double *moments; /* (n_jobs, 2, n_values) sums of differences and of their squares */
    double *weight;  /* (n_workers) votes compared */
    dis__vote_cells cells;
    int64_t *change; /* (cells, width) */
} jackknife;

/* ---- one item ---- */

typedef struct {
    dis__tally *tally; /* (n) */
    uint32_t *count;   /* (n_classes) zeros, then the same as counts */
    uint32_t *after;   /* (n) */
    uint32_t *at;      /* (n_classes) position of a class among the tallies */
    double *near;      /* (n, DIS_DISTANCES) */
    dis__item_totals all, rest;
    int64_t *change; /* (first_class + OF_CLASS n) */
    uint32_t *seen;  /* (n_workers) the last item that the annotator voted on, + 1 */
    uint32_t *last;  /* (n_workers) the same, for annotators already processed */
} item_room;

static void item_room_free(item_room *m)
{
    dis__free(m->tally);
    dis__free(m->count);
    dis__free(m->after);
    dis__free(m->at);
    dis__free(m->near);
    dis__free(m->all.classes);
    dis__free(m->rest.classes);
    dis__free(m->change);
    dis__free(m->seen);
    dis__free(m->last);
}

static dis_status item_room_create(const jackknife *j, item_room *m)
{
    const size_t n = j->base->n_classes, n_workers = j->votes->n_workers;
    DIS_TRY(dis__alloc_array(&m->tally, n, sizeof *m->tally));
    DIS_TRY(dis__alloc_zeroed(&m->count, n, sizeof *m->count));
    DIS_TRY(dis__alloc_array(&m->after, n, sizeof *m->after));
    DIS_TRY(dis__alloc_array(&m->at, n, sizeof *m->at));
    DIS_TRY(dis__alloc_array(&m->near, dis__saturating_size(n, DIS_DISTANCES, 0), sizeof *m->near));
    DIS_TRY(dis__alloc_array(&m->all.classes, n, sizeof *m->all.classes));
    DIS_TRY(dis__alloc_array(&m->rest.classes, n, sizeof *m->rest.classes));
    DIS_TRY(dis__alloc_array(&m->change, j->width, sizeof *m->change));
    DIS_TRY(dis__alloc_zeroed(&m->seen, n_workers, sizeof *m->seen));
    return dis__alloc_zeroed(&m->last, n_workers, sizeof *m->last);
}

static uint32_t label_of(const dis_votes_view *votes, uint64_t v)
{
    return votes->label8 ? votes->label8[v] : votes->label16[v];
}

/* rest - all in units, the classes of the item in sequence. */
static void find_change(const jackknife *j, size_t n, item_room *m)
{
    const size_t d = j->base->n_distances;
    const dis__agreement_totals *x = &m->rest.totals, *y = &m->all.totals;
    const double *unit = j->unit;
    int64_t *out = m->change;
    out[ITEMS] = llrint((x->items - y->items) * unit[ITEMS]);
    out[SHARED] = llrint((x->shared - y->shared) * unit[SHARED]);
    out[VOTES] = llrint((x->votes - y->votes) * unit[VOTES]);
    for (size_t i = 0; i < d; i++) {
        const size_t mean = FIRST_DISTANCE + i, paired = mean + d;
        out[mean] = llrint((x->mean[i] - y->mean[i]) * unit[mean]);
        out[paired] = llrint((x->paired[i] - y->paired[i]) * unit[paired]);
    }
    unit += j->first_class;
    out += j->first_class;
    for (size_t t = 0; t < n; t++, out += OF_CLASS) {
        const dis__class_sums *a = &m->rest.classes[t], *b = &m->all.classes[t];
        out[0] = llrint((a->votes - b->votes) * unit[0]);
        out[1] = llrint((a->share - b->share) * unit[1]);
        out[2] = llrint((a->both - b->both) * unit[2]);
        out[3] = llrint((a->parted - b->parted) * unit[3]);
    }
}

static void add_change(const jackknife *j, const item_room *m, size_t n, int64_t *to)
{
    const int64_t *from = m->change;
    for (size_t i = 0; i < j->first_class; i++) to[i] += from[i];
    from += j->first_class;
    for (size_t t = 0; t < n; t++, from += OF_CLASS) {
        int64_t *class = to + j->first_class + OF_CLASS * (size_t)m->tally[t].class;
        for (int q = 0; q < OF_CLASS; q++) class[q] += from[q];
    }
}

/* The change of an item of r votes by leaving out one for its class at position t. */
static void leave_one(const jackknife *j, size_t n, uint64_t r, size_t t, const double *apart, item_room *m)
{
    double rest[DIS_DISTANCES];
    for (size_t d = 0; d < j->base->n_distances; d++) rest[d] = apart[d] - 2 * m->near[t * DIS_DISTANCES + d];
    m->after[t]--;
    dis__item_totals_compute(j->base, m->after, n, r - 1, rest, &m->rest);
    m->after[t]++;
    find_change(j, n, m);
}

/* An item with one vote per annotator: votes for the same class change it in the same way. */
static void single_votes(const jackknife *j, size_t i, size_t n, const double *apart, item_room *m, int64_t *sums)
{
    const uint64_t start = j->votes->start[i], end = j->votes->start[i + 1];
    for (size_t t = 0; t < n; t++) {
        leave_one(j, n, end - start, t, apart, m);
        for (uint64_t v = start; v < end; v++) {
            const size_t w = j->votes->worker[v] - j->first;
            if (label_of(j->votes, v) == m->tally[t].class && w < j->last - j->first)
                add_change(j, m, n, sums + w * j->width);
        }
    }
}

/* An item with several votes of one annotator. */
static void repeated_votes(const jackknife *j, size_t i, size_t n, item_room *m, int64_t *sums)
{
    const uint64_t start = j->votes->start[i], end = j->votes->start[i + 1];
    for (uint64_t v = start; v < end; v++) {
        const uint32_t worker = j->votes->worker[v];
        if (m->last[worker] == i + 1 || worker - j->first >= j->last - j->first) continue;
        m->last[worker] = (uint32_t)i + 1;
        uint64_t left = end - start;
        for (uint64_t y = v; y < end; y++)
            if (j->votes->worker[y] == worker) {
                m->after[m->at[label_of(j->votes, y)]]--;
                left--;
            }
        double apart[DIS_DISTANCES] = {0}, d[DIS_DISTANCES];
        for (size_t s = 0; s < n; s++)
            for (size_t t = 0; t < n; t++) {
                dis__coefficients_compute_distances(j->base->coefficients, j->base->rank, m->tally[s].class,
                                                    m->tally[t].class, d);
                for (size_t x = 0; x < j->base->n_distances; x++)
                    apart[x] += (double)m->after[s] * (double)m->after[t] * d[x];
            }
        dis__item_totals_compute(j->base, m->after, n, left, apart, &m->rest);
        find_change(j, n, m);
        add_change(j, m, n, sums + (worker - j->first) * j->width);
        for (size_t t = 0; t < n; t++) m->after[t] = m->tally[t].count;
    }
}

/* The tallies of an item and its contribution to the totals. */
static void prepare_item(const jackknife *j, size_t n, uint64_t r, double *apart, item_room *m)
{
    for (size_t t = 0; t < n; t++) {
        m->after[t] = m->tally[t].count;
        m->at[m->tally[t].class] = (uint32_t)t;
    }
    dis__item_compute_distances(j->base, m->tally, n, m->near, apart);
    dis__item_totals_compute(j->base, m->after, n, r, apart, &m->all);
}

/* Whether an annotator voted twice on item i. */
static bool is_repeated(const jackknife *j, size_t i, uint32_t *seen)
{
    bool repeated = false;
    for (uint64_t v = j->votes->start[i]; v < j->votes->start[i + 1]; v++) {
        uint32_t *last = &seen[j->votes->worker[v]];
        repeated |= *last == i + 1;
        *last = (uint32_t)i + 1;
    }
    return repeated;
}

static void one_item(const jackknife *j, size_t i, bool repeated, item_room *m, int64_t *sums)
{
    double apart[DIS_DISTANCES];
    const size_t n = dis__item_count_tallies(j->votes, i, m->count, m->tally);
    prepare_item(j, n, j->votes->start[i + 1] - j->votes->start[i], apart, m);
    if (repeated)
        repeated_votes(j, i, n, m, sums);
    else
        single_votes(j, i, n, apart, m, sums);
}

/* ---- items whose votes are counted in cells ---- */

typedef struct {
    uint32_t *pattern; /* of a code, + 1; 0: not looked up */
    uint32_t *count;   /* (room, cells) */
} cell_room;

static bool count_cells(const jackknife *j, size_t i, cell_room *c)
{
    const dis__vote_cells *cells = &j->cells;
    const uint64_t start = j->votes->start[i], n = j->votes->start[i + 1] - start;
    if (n > cells->max_votes) return false;
    const uint8_t *label = j->votes->label8 + start;
    const uint32_t *worker = j->votes->worker + start;
    uint32_t code = 1;
    for (uint64_t v = n; v-- > 0;) code = code << cells->bits | label[v];
    if (!c->pattern[code]) c->pattern[code] = dis__vote_cells_pattern(cells, code) + 1;
    const uint32_t *cell = cells->cell + (size_t)(c->pattern[code] - 1) * j->base->n_classes;
    for (uint64_t v = 0; v < n; v++) {
        const size_t w = worker[v] - j->first;
        if (w < j->last - j->first) c->count[w * cells->n + cell[label[v]]]++;
    }
    return true;
}

static void add_cells(const jackknife *j, const cell_room *c, int64_t *sums)
{
    for (size_t w = 0; w < j->last - j->first; w++)
        for (size_t x = 0; x < j->cells.n; x++) {
            const int64_t times = c->count[w * j->cells.n + x], *change = j->change + x * j->width;
            for (size_t i = 0; times && i < j->width; i++) sums[w * j->width + i] += times * change[i];
        }
}

/* The change from leaving out a vote of each cell. */
static dis_status find_changes(jackknife *j)
{
    item_room m = {0};
    dis_status status = dis__alloc_zeroed(&j->change, dis__saturating_size(j->cells.n, j->width, 0), sizeof *j->change);
    if (status == DIS_OK) status = item_room_create(j, &m);
    for (size_t x = 0; x < j->cells.n && status == DIS_OK; x++) {
        const dis__vote_pattern *p = &j->base->patterns->pattern[j->cells.pattern[x]];
        const size_t t = j->cells.tally[x];
        double apart[DIS_DISTANCES];
        for (size_t k = 0; k < p->n; k++) m.tally[k] = p->tally[k];
        prepare_item(j, p->n, p->votes, apart, &m);
        leave_one(j, p->n, p->votes, t, apart, &m);
        add_change(j, &m, p->n, j->change + x * j->width);
    }
    item_room_free(&m);
    return status;
}

static dis_status item_job(void *arg, size_t copy, int thread)
{
    (void)thread;
    const jackknife *j = arg;
    int64_t *sums = j->sums + copy * j->room * j->width;
    const size_t n_cells = j->cells.n, last = dis__job_first(j->votes->n_items, j->n_copies, copy + 1);
    const uint64_t least = j->base->singles ? 1 : 2;
    item_room m = {0};
    cell_room c = {0};
    memset(sums, 0, (j->last - j->first) * j->width * sizeof *sums);
    dis_status status = item_room_create(j, &m);
    if (status == DIS_OK && n_cells) status = dis__alloc_zeroed(&c.pattern, 1 << DIS_CELL_CODE_BITS, sizeof *c.pattern);
    if (status == DIS_OK && n_cells)
        status = dis__alloc_zeroed(&c.count, dis__saturating_size(j->room, n_cells, 0), sizeof *c.count);
    for (size_t i = dis__job_first(j->votes->n_items, j->n_copies, copy); i < last && status == DIS_OK; i++) {
        if (j->votes->start[i + 1] - j->votes->start[i] < least) continue;
        const bool repeated = is_repeated(j, i, m.seen);
        if (repeated || !n_cells || !count_cells(j, i, &c)) one_item(j, i, repeated, &m, sums);
    }
    if (status == DIS_OK && n_cells) add_cells(j, &c, sums);
    item_room_free(&m);
    dis__free(c.pattern);
    dis__free(c.count);
    return status;
}

/* ---- annotators ---- */

typedef struct {
    dis__agreement_totals totals;
    dis__class_sums *classes;
    double *value;
} rest_room;

static void rest_of(const jackknife *j, const int64_t *sums, rest_room *rest)
{
    const size_t d = j->base->n_distances;
    const double *unit = j->unit;
    dis__agreement_totals *t = &rest->totals;
    *t = j->base->totals;
    t->items += (double)sums[ITEMS] / unit[ITEMS];
    t->shared += (double)sums[SHARED] / unit[SHARED];
    t->votes += (double)sums[VOTES] / unit[VOTES];
    for (size_t i = 0; i < d; i++) {
        const size_t mean = FIRST_DISTANCE + i, paired = mean + d;
        t->mean[i] += (double)sums[mean] / unit[mean];
        t->paired[i] += (double)sums[paired] / unit[paired];
    }
    unit += j->first_class;
    sums += j->first_class;
    for (size_t k = 0; k < j->base->n_classes; k++, sums += OF_CLASS) {
        dis__class_sums *to = &rest->classes[k];
        *to = j->base->classes[k];
        to->votes += (double)sums[0] / unit[0];
        to->share += (double)sums[1] / unit[1];
        to->both += (double)sums[2] / unit[2];
        to->parted += (double)sums[3] / unit[3];
    }
    dis__agreement_base_compute_values(j->base, t, rest->classes, rest->value);
}

static dis_status worker_job(void *arg, size_t job, int thread)
{
    (void)thread;
    const jackknife *j = arg;
    const size_t n = j->last - j->first, n_values = j->base->n_values;
    double *moments = j->moments + job * 2 * n_values;
    rest_room rest = {0};
    dis_status status = dis__alloc_array(&rest.classes, j->base->n_classes, sizeof *rest.classes);
    if (status == DIS_OK) status = dis__alloc_array(&rest.value, n_values, sizeof *rest.value);
    for (size_t v = 0; v < 2 * n_values; v++) moments[v] = 0;
    const size_t last = dis__job_first(n, j->n_jobs, job + 1);
    for (size_t w = dis__job_first(n, j->n_jobs, job); w < last && status == DIS_OK; w++) {
        const int64_t *sums = j->sums + w * j->width;
        if (sums[VOTES] == 0) continue;
        j->weight[j->first + w] = -(double)sums[VOTES] / j->unit[VOTES];
        rest_of(j, sums, &rest);
        for (size_t v = 0; v < n_values; v++) {
            const double change = rest.value[v] - j->base->value[v];
            moments[v] += change;
            moments[n_values + v] += change * change;
        }
    }
    dis__free(rest.classes);
    dis__free(rest.value);
    return status;
}

static void add_copies(const jackknife *j)
{
    const size_t n = (j->last - j->first) * j->width;
    for (size_t c = 1; c < j->n_copies; c++) {
        const int64_t *from = j->sums + c * j->room * j->width;
        for (size_t i = 0; i < n; i++) j->sums[i] += from[i];
    }
}

static dis_status pass(dis_context *ctx, jackknife *j, double *moments)
{
    const dis__comm *comm = dis__context_comm(ctx);
    const size_t n_values = 2 * j->base->n_values;
    DIS_TRY(dis__comm_first_failure(comm, dis__run_jobs(ctx, j->n_copies, item_job, j)));
    add_copies(j);
    if (dis__comm_is_parallel(comm)) /* two's complement: sums of negative values are correct too */
        DIS_TRY(dis__comm_sum_counts(comm, (uint64_t *)(void *)j->sums, (j->last - j->first) * j->width));
    DIS_TRY(dis__run_jobs(ctx, j->n_jobs, worker_job, j));
    for (size_t job = 0; job < j->n_jobs; job++)
        for (size_t v = 0; v < n_values; v++) moments[v] += j->moments[job * n_values + v];
    return DIS_OK;
}

/* ---- memory ---- */

/* A power of two, so that integers stay exact: the changes of an annotator are a small multiple of the total at
 * most. */
static double unit_of(double total)
{
    return total > 0 ? ldexp(1, UNIT_BITS - ilogb(total)) : 1;
}

static dis_status choose_units(jackknife *j)
{
    const dis__agreement_totals *t = &j->base->totals;
    const size_t d = j->base->n_distances;
    DIS_TRY(dis__alloc_array(&j->unit, j->first_class + OF_CLASS, sizeof *j->unit));
    j->unit[ITEMS] = unit_of(t->items);
    j->unit[SHARED] = unit_of(t->shared);
    j->unit[VOTES] = unit_of(t->votes);
    for (size_t i = 0; i < d; i++) {
        j->unit[FIRST_DISTANCE + i] = unit_of(t->mean[i]);
        j->unit[FIRST_DISTANCE + d + i] = unit_of(t->paired[i]);
    }
    for (size_t q = 0; q < OF_CLASS; q++) j->unit[j->first_class + q] = unit_of(2 * t->votes);
    return DIS_OK;
}

static dis_status make_room(dis_context *ctx, jackknife *j)
{
    enum { SHARE = 8, UNLIMITED = 256 << 20 };
    const uint64_t limit = dis__memory_limit();
    const bool limited = limit && limit != DIS_MEMORY_AVAILABLE, shared = dis__comm_is_parallel(dis__context_comm(ctx));
    const size_t numbers = (size_t)(limited ? limit / SHARE : UNLIMITED) / sizeof *j->sums;
    const size_t n = j->votes->n_workers, fits = numbers / j->width, threads = (size_t)dis_context_n_threads(ctx);
    j->room = fits < n && !shared ? fits + !fits : n; /* all ranks must divide the annotators in the same way: all at
                                                       * once */
    j->n_copies = j->room ? fits / j->room : 1;
    if (j->n_copies > threads) j->n_copies = threads;
    if (j->n_copies == 0) j->n_copies = 1;
    const size_t size = dis__saturating_size(j->n_copies, dis__saturating_size(j->room, j->width, 0), 0);
    DIS_TRY(dis__check_resident(ctx, dis__saturating_size(size, sizeof *j->sums, 0), "sums per annotator"));
    return dis__alloc_resident(&j->sums, size, sizeof *j->sums);
}

static dis_status run(dis_context *ctx, jackknife *j, dis__agreement_jackknife *out)
{
    const size_t n_values = j->base->n_values, n_workers = j->votes->n_workers;
    double *moments;
    DIS_TRY(dis__alloc_zeroed(&moments, 2 * n_values, sizeof *moments));
    dis_status status = DIS_OK;
    for (j->first = 0; j->first < n_workers && status == DIS_OK; j->first = j->last) {
        j->last = n_workers - j->first < j->room ? n_workers : j->first + j->room;
        status = pass(ctx, j, moments);
    }
    if (status == DIS_OK) {
        double sum = 0, squares = 0;
        for (size_t w = 0; w < n_workers; w++) {
            out->n += j->weight[w] > 0;
            sum += j->weight[w];
            squares += j->weight[w] * j->weight[w];
        }
        const double n = (double)out->n;
        out->effective = squares > 0 ? sum * sum / squares : 0;
        for (size_t v = 0; v < n_values; v++)
            out->annotators[v] =
                out->n > 1 ? fmax(moments[n_values + v] - moments[v] * moments[v] / n, 0) * (n - 1) / n : (double)NAN;
        for (size_t v = 0; v < n_values; v++) /* fmax drops NaN */
            if (isnan(moments[v])) out->annotators[v] = NAN;
    }
    dis__free(moments);
    return status;
}

dis_status dis__agreement_jackknife_annotators(dis_context *ctx, const dis__agreement_base *base,
                                               const dis_votes_view *votes, dis__agreement_jackknife *out)
{
    jackknife j = {.base = base,
                   .votes = votes,
                   .first_class = FIRST_DISTANCE + 2 * base->n_distances,
                   .n_jobs = dis__n_jobs(votes->n_workers, WORKER_GRAIN, MAX_JOBS)};
    j.width = dis__saturating_size(OF_CLASS, base->n_classes, j.first_class);
    dis_status status = dis__alloc_array(&out->annotators, base->n_values, sizeof *out->annotators);
    if (status == DIS_OK) status = choose_units(&j);
    if (status == DIS_OK) status = dis__alloc_zeroed(&j.weight, votes->n_workers, sizeof *j.weight);
    if (status == DIS_OK)
        status = dis__alloc_array(&j.moments, dis__saturating_size(j.n_jobs, 2 * base->n_values, 0), sizeof *j.moments);
    if (status == DIS_OK) status = dis__vote_cells_create(base, votes, votes->n_workers, &j.cells);
    if (status == DIS_OK && j.cells.n) status = find_changes(&j);
    if (status == DIS_OK) status = make_room(ctx, &j);
    status = dis__comm_first_failure(dis__context_comm(ctx), status);
    if (status == DIS_OK) status = run(ctx, &j, out);
    dis__free(j.unit);
    dis__free(j.weight);
    dis__free(j.moments);
    dis__free(j.sums);
    dis__free(j.change);
    dis__vote_cells_destroy(&j.cells);
    return status;
}
