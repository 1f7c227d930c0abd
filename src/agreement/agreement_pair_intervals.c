/* Bootstrap intervals of the mean of Cohen's kappa over pairs of workers, resampling items.
 *
 * Two workers may share five items; a resample of those has often only one class in it, where kappa is 1 by convention,
 * so plain resamples of the mean lie far above it. What is resampled instead is the mean in its linear form: its value
 * plus the sum over the drawn items of how much an item adds to it (Jaeckel's infinitesimal jackknife, 1972), which has
 * the same spread to first order and no such bias. With kappa = 1 - n O / C of a pair (n its pairs of votes, O the sum
 * of their distances, C = sum_kl a_k b_l d_kl), a pair of votes for k and l adds
 *
 *     -((O + n d_kl) / C - n O C' / C^2),   C' = sum_j b_j d_kj + sum_j a_j d_jl,
 *
 * and M = sum n kappa / sum n over the pairs gets ((kappa - M) + n times that) / sum n. All these sum to 0.
 *
 * On several ranks, where the counts of pairs are known (agreement_pairs.c), each does its items, in the order of pairs
 * as one process would, and all get what every item adds.
 *
 * Cost: one pass over the pairs of votes and O(classes) per pair of workers; then about a cycle for each item that some
 * pair shares, and resample. */
#include "agreement/agreement_internal.h"
#include "stats/bootstrap.h"
#include "core/comm.h"
#include "core/memory.h"
#include <math.h>
#include <string.h>

typedef struct {
    uint32_t item;
    uint16_t mine, theirs; /* places */
} co_vote;

typedef struct {
    const dis_votes_view *votes;
    const dis__by_worker *by;
    const dis_agreement_pair *pairs;
    uint64_t *facts; /* of pairs, or NULL */
    size_t n_pairs, min;
    int n_kappas;             /* 1 for classes without order */
    double weight;            /* votes of all pairs that count */
    double mean[DIS_KAPPAS];  /* of kappa */
    uint16_t *place;          /* (n_classes) */
    uint32_t *pair_of;        /* (n_workers) UINT32_MAX but for those who share a pair with the worker at hand */
    uint64_t *next;           /* (n_pairs) where the votes of each pair go */
    co_vote *votes_of;        /* pairs of votes of the worker at hand */
    double *a, *b;            /* (n_classes) */
    double *from_a, *from_b;  /* (n_classes) sum_j a_j |j - k|, and of b */
    double *adds[DIS_KAPPAS]; /* (n_items) */
    bool *shared;             /* (n_items) some pair has both its votes there */
} influence;

static inline uint16_t label_of(const dis_votes_view *votes, uint64_t v)
{
    return votes->label8 ? votes->label8[v] : votes->label16[v];
}

/* sum_j x_j |j - k| for all k. */
static void distances_to(const double *x, size_t n, double *out)
{
    double below = 0, sum = 0;
    for (size_t k = 0; k < n; k++) { /* from below: a step up is one further from all that lie below */
        out[k] = sum;
        below += x[k];
        sum += below;
    }
    double above = 0;
    sum = 0;
    for (size_t k = n; k-- > 0;) {
        out[k] += sum;
        above += x[k];
        sum += above;
    }
}

/* What a pair of workers has chosen: f->a and f->b, and the sums of distances. */
static void count_pair(const influence *f, const co_vote *c, size_t n_votes, double observed[DIS_KAPPAS])
{
    const size_t k = f->votes->n_classes;
    memset(f->a, 0, k * sizeof *f->a);
    memset(f->b, 0, k * sizeof *f->b);
    for (size_t v = 0; v < n_votes; v++) {
        const double apart = fabs((double)c[v].mine - (double)c[v].theirs);
        f->a[c[v].mine]++;
        f->b[c[v].theirs]++;
        observed[0] += apart > 0;
        observed[1] += apart;
        observed[2] += apart * apart;
    }
}

/* The same from the counts of all ranks. */
static void take_facts(const influence *f, size_t p, double observed[DIS_KAPPAS])
{
    const size_t k = f->votes->n_classes;
    const dis__pair_facts x = dis__pair_facts_of(f->facts + p * dis__pair_facts_width(k), k);
    for (size_t i = 0; i < k; i++) {
        f->a[i] = (double)x.a[i];
        f->b[i] = (double)x.b[i];
    }
    observed[0] = (double)(*x.n - *x.equal);
    observed[1] = (double)*x.linear;
    observed[2] = (double)*x.quadratic;
}

/* Pair p; the n_votes pairs of votes are those on the items of this rank. */
static void add_pair(influence *f, size_t p, const co_vote *c, size_t n_votes)
{
    const size_t k = f->votes->n_classes;
    const double n = (double)f->pairs[p].n;
    double observed[DIS_KAPPAS] = {0}, chance[DIS_KAPPAS];
    double a_first = 0, b_first = 0, a_second = 0, b_second = 0; /* moments of the places */
    if (f->facts)
        take_facts(f, p, observed);
    else
        count_pair(f, c, n_votes, observed);
    for (size_t i = 0; i < k; i++) {
        const double place = (double)i;
        a_first += f->a[i] * place;
        a_second += f->a[i] * place * place;
        b_first += f->b[i] * place;
        b_second += f->b[i] * place * place;
    }
    dis__kappa_chance(f->a, f->b, k, n, chance);
    distances_to(f->a, k, f->from_a);
    distances_to(f->b, k, f->from_b);
    /* what a vote adds is `always`, and so much for its distance and for its share of C */
    double always[DIS_KAPPAS], by_distance[DIS_KAPPAS], by_chance[DIS_KAPPAS];
    for (int m = 0; m < f->n_kappas; m++) {
        const double o = observed[m], e = chance[m], w = f->weight;
        always[m] = (dis__beyond_chance(n * o, e) - f->mean[m] - (e > 0 ? n * o / e : 0)) / w;
        by_distance[m] = e > 0 ? -n * n / e / w : 0;
        by_chance[m] = e > 0 ? n * n * o / (e * e) / w : 0;
    }
    for (size_t v = 0; v < n_votes; v++) {
        const double x = c[v].mine, y = c[v].theirs, apart = fabs(x - y);
        const double d[DIS_KAPPAS] = {apart > 0, apart, apart * apart};
        const double more_chance[DIS_KAPPAS] = {
            2 * n - f->b[c[v].mine] - f->a[c[v].theirs],
            f->from_b[c[v].mine] + f->from_a[c[v].theirs],
            n * (x * x + y * y) - 2 * (x * b_first + y * a_first) + a_second + b_second,
        };
        f->shared[c[v].item] = true;
        for (int m = 0; m < f->n_kappas; m++)
            f->adds[m][c[v].item] += always[m] + by_distance[m] * d[m] + by_chance[m] * more_chance[m];
    }
}

/* The pairs [from, to) are those of one worker. */
static void add_worker(influence *f, size_t from, size_t to)
{
    const dis_votes_view *v = f->votes;
    const uint32_t me = f->pairs[from].a;
    uint64_t n = 0;
    for (size_t p = from; p < to; p++) {
        f->next[p] = n;
        if (f->pairs[p].n < f->min) continue;
        f->pair_of[f->pairs[p].b] = (uint32_t)p;
        n += f->pairs[p].n;
    }
    for (uint64_t x = f->by->first[me]; x < f->by->first[me + 1]; x++) {
        const uint32_t i = f->by->cast[x].item;
        const uint16_t mine = f->place[f->by->cast[x].class];
        for (uint64_t y = v->start[i]; y < v->start[i + 1]; y++) {
            const uint32_t p = f->pair_of[v->worker[y]];
            if (p != UINT32_MAX)
                f->votes_of[f->next[p]++] = (co_vote){.item = i, .mine = mine, .theirs = f->place[label_of(v, y)]};
        }
    }
    const co_vote *first = f->votes_of;
    for (size_t p = from; p < to; p++) {
        if (f->pairs[p].n < f->min) continue;
        f->pair_of[f->pairs[p].b] = UINT32_MAX;
        add_pair(f, p, first, (size_t)(f->votes_of + f->next[p] - first));
        first += f->pairs[p].n;
    }
}

static size_t end_of_worker(const influence *f, size_t p)
{
    size_t end = p + 1;
    while (end < f->n_pairs && f->pairs[end].a == f->pairs[p].a) end++;
    return end;
}

static dis_status prepare(influence *f, const uint32_t *order)
{
    const size_t k = f->votes->n_classes;
    uint64_t max = 0;
    for (size_t p = 0, end; p < f->n_pairs; p = end) {
        uint64_t n = 0;
        end = end_of_worker(f, p);
        for (size_t i = p; i < end; i++)
            if (f->pairs[i].n >= f->min) n += f->pairs[i].n;
        f->weight += (double)n;
        max = n > max ? n : max;
    }
    DIS_TRY(dis__alloc_array(&f->votes_of, (size_t)max, sizeof *f->votes_of));
    DIS_TRY(dis__alloc_array(&f->next, f->n_pairs, sizeof *f->next));
    DIS_TRY(dis__alloc_array(&f->pair_of, f->votes->n_workers, sizeof *f->pair_of));
    DIS_TRY(dis__alloc_array(&f->place, k, sizeof *f->place));
    DIS_TRY(dis__alloc_array(&f->a, k, sizeof *f->a));
    DIS_TRY(dis__alloc_array(&f->b, k, sizeof *f->b));
    DIS_TRY(dis__alloc_array(&f->from_a, k, sizeof *f->from_a));
    DIS_TRY(dis__alloc_array(&f->from_b, k, sizeof *f->from_b));
    for (int m = 0; m < DIS_KAPPAS; m++) DIS_TRY(dis__alloc_zeroed(&f->adds[m], f->votes->n_items, sizeof *f->adds[m]));
    DIS_TRY(dis__alloc_zeroed(&f->shared, f->votes->n_items, sizeof *f->shared));
    for (size_t w = 0; w < f->votes->n_workers; w++) f->pair_of[w] = UINT32_MAX;
    for (size_t j = 0; j < k; j++) f->place[order ? order[j] : j] = (uint16_t)j;
    return DIS_OK;
}

/* Only items that some pair shares are drawn: moves them to the front; returns how many. */
static size_t keep_shared(const influence *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->votes->n_items; i++) {
        if (!f->shared[i]) continue;
        for (int m = 0; m < f->n_kappas; m++) f->adds[m][n] = f->adds[m][i];
        n++;
    }
    return n;
}

/* Those of all ranks one behind the other, which is the order of items. */
static dis_status gather_items(const dis__comm *comm, influence *f, size_t *items)
{
    dis__comm_block *from;
    DIS_TRY(dis__alloc_zeroed(&from, (size_t)comm->size, sizeof *from));
    dis_status status = DIS_OK;
    for (int m = 0; m < f->n_kappas && status == DIS_OK; m++) {
        size_t n = 0;
        double *all = NULL;
        status = dis__comm_gather(comm, f->adds[m], *items * sizeof(double), from);
        for (int r = 0; r < comm->size && status == DIS_OK; r++) n += from[r].n;
        if (status == DIS_OK) status = dis__alloc_array(&all, n, 1);
        n = 0;
        for (int r = 0; r < comm->size && status == DIS_OK; r++) {
            if (from[r].n) memcpy((char *)all + n, from[r].bytes, from[r].n);
            n += from[r].n;
        }
        for (int r = 0; r < comm->size; r++) {
            dis__free(from[r].bytes);
            from[r] = (dis__comm_block){0};
        }
        if (status != DIS_OK) break;
        dis__free(f->adds[m]);
        f->adds[m] = all;
        if (m + 1 == f->n_kappas) *items = n / sizeof(double);
    }
    dis__comm_free(comm, from);
    return status;
}

static dis_status draw(dis_context *ctx, influence *f, const dis_agreement_options *o, dis_metric metric[DIS_KAPPAS])
{
    size_t items = keep_shared(f);
    if (f->facts) DIS_TRY(gather_items(dis__context_comm(ctx), f, &items));
    const dis__bootstrap b = {.n_items = items, .n_draws = items, .n_resamples = o->resamples, .seed = o->seed};
    const size_t n = (size_t)f->n_kappas;
    double *sums, *scratch;
    DIS_TRY(dis__alloc_array(&sums, dis__size(o->resamples, n + 1, 0), sizeof *sums));
    scratch = sums + o->resamples * n;
    const dis_status status = dis__bootstrap_sums(ctx, &b, (const double *const *)f->adds, n, sums);
    for (size_t m = 0; m < n && status == DIS_OK; m++) {
        double low, high;
        if (metric[m].reason || !dis__bootstrap_interval_of(sums, o->resamples, n, m, scratch, &low, &high)) continue;
        metric[m].has_interval = true;
        metric[m].ci_low = metric[m].value + low;
        metric[m].ci_high = fmin(metric[m].value + high, 1);
    }
    dis__free(sums);
    return status;
}

dis_status dis__pair_intervals(dis_context *ctx, const dis_votes_view *votes, const dis__by_worker *by,
                               const dis__worker_pairs *pairs, const uint32_t *order, const dis_agreement_options *o,
                               dis_metric metric[DIS_KAPPAS])
{
    const size_t n = pairs->n;
    influence f = {.votes = votes,
                   .by = by,
                   .pairs = pairs->pair,
                   .facts = pairs->facts,
                   .n_pairs = n,
                   .min = o->min_common,
                   .n_kappas = order ? DIS_KAPPAS : 1};
    for (int m = 0; m < DIS_KAPPAS; m++) f.mean[m] = metric[m].reason ? 0 : metric[m].value;
    dis_status status = prepare(&f, order);
    for (size_t p = 0, end; p < n && status == DIS_OK; p = end) {
        end = end_of_worker(&f, p);
        add_worker(&f, p, end);
        status = dis__check_stop(ctx);
    }
    if (status == DIS_OK) status = draw(ctx, &f, o, metric);
    dis__free(f.votes_of);
    dis__free(f.next);
    dis__free(f.pair_of);
    dis__free(f.place);
    dis__free(f.a);
    dis__free(f.b);
    dis__free(f.from_a);
    dis__free(f.from_b);
    dis__free(f.shared);
    for (int m = 0; m < DIS_KAPPAS; m++) dis__free(f.adds[m]);
    return status;
}
