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
 * What a pair adds is made of its counts (agreement_pair_table.h); then the items are gone through, and each adds up
 * its pairs of votes in the order of pairs. On several ranks each does its items, and all get what every item adds.
 *
 * Cost: one pass over the votes, or as many as counting took, and O(classes) per pair of workers; then about a cycle
 * for each item that some pair shares, and resample. */
#include "agreement/agreement_internal.h"
#include "stats/bootstrap.h"
#include "core/comm.h"
#include "core/memory.h"
#include <math.h>
#include <string.h>

enum { GRAIN = 1 << 14, MAX_JOBS = 64 };

/* What a pair of workers adds for two of their votes: `always`, and so much for the distance and for the share of C. */
typedef struct {
    double n;                                    /* pairs of votes; 0: too few to count */
    double a_first, b_first, a_second, b_second; /* moments of the places */
    double always[DIS_KAPPAS], by_distance[DIS_KAPPAS], by_chance[DIS_KAPPAS];
    double classes[]; /* (n_classes) each: a, b and, where classes have an order, sum_j a_j |j - k|, and of b */
} pair_adds;

typedef struct {
    const dis__pair_table *table;
    size_t min;
    int n_kappas;             /* 1 for classes without order */
    size_t n_numbers;         /* of a pair_adds */
    double weight;            /* votes of all pairs that count */
    double mean[DIS_KAPPAS];  /* of kappa */
    double *pairs;            /* a pair_adds for each that the table has counts of */
    size_t n_jobs;            /* over items */
    double *adds[DIS_KAPPAS]; /* (n_items) */
    bool *shared;             /* (n_items) some pair has both its votes there */
} influence;

size_t dis__pair_interval_numbers(size_t n_classes, bool ordered)
{
    return dis__size(n_classes, ordered ? 4 : 2, sizeof(pair_adds) / sizeof(double));
}

static pair_adds *pair_at(const influence *f, size_t pair)
{
    return (pair_adds *)(void *)(f->pairs + (pair - f->table->first) * f->n_numbers);
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

/* From the counts of a pair. */
static void prepare_pair(const influence *f, size_t p)
{
    const size_t K = f->table->votes->n_classes;
    const dis__pair_facts x = dis__pair_table_row(f->table, p);
    pair_adds *to = pair_at(f, p);
    double *a = to->classes, *b = a + K;
    *to = (pair_adds){.n = *x.n < f->min ? 0 : (double)*x.n};
    if (to->n == 0) return;
    for (size_t k = 0; k < K; k++) {
        const double place = (double)k;
        a[k] = (double)x.a[k];
        b[k] = (double)x.b[k];
        to->a_first += a[k] * place;
        to->a_second += a[k] * place * place;
        to->b_first += b[k] * place;
        to->b_second += b[k] * place * place;
    }
    const double n = to->n;
    const double observed[DIS_KAPPAS] = {(double)(*x.n - *x.equal), (double)*x.linear, (double)*x.quadratic};
    double chance[DIS_KAPPAS];
    dis__kappa_chance(a, b, K, n, chance);
    if (f->n_kappas > 1) {
        distances_to(a, K, b + K);
        distances_to(b, K, b + 2 * K);
    }
    for (int m = 0; m < f->n_kappas; m++) {
        const double o = observed[m], e = chance[m], w = f->weight;
        to->always[m] = (dis__beyond_chance(n * o, e) - f->mean[m] - (e > 0 ? n * o / e : 0)) / w;
        to->by_distance[m] = e > 0 ? -n * n / e / w : 0;
        to->by_chance[m] = e > 0 ? n * n * o / (e * e) / w : 0;
    }
}

/* Two votes of a pair on an item. */
static void add_votes(const influence *f, const pair_adds *pair, size_t item, size_t mine, size_t theirs)
{
    const size_t K = f->table->votes->n_classes;
    const double *a = pair->classes, *b = a + K, *from_a = b + K, *from_b = from_a + K;
    const double x = (double)mine, y = (double)theirs, apart = fabs(x - y), n = pair->n;
    const double d[DIS_KAPPAS] = {apart > 0, apart, apart * apart};
    const bool ordered = f->n_kappas > 1;
    const double more_chance[DIS_KAPPAS] = {
        2 * n - b[mine] - a[theirs],
        ordered ? from_b[mine] + from_a[theirs] : 0,
        n * (x * x + y * y) - 2 * (x * pair->b_first + y * pair->a_first) + pair->a_second + pair->b_second,
    };
    f->shared[item] = true;
    for (int m = 0; m < f->n_kappas; m++)
        f->adds[m][item] += pair->always[m] + pair->by_distance[m] * d[m] + pair->by_chance[m] * more_chance[m];
}

/* The pairs of votes on an item, those of one pair of workers together. */
static void add_item(const influence *f, size_t item, const dis__ranked_votes *v)
{
    const dis__pair_table *t = f->table;
    for (size_t x = 0, x_end, y_end; x < v->n; x = x_end) {
        for (x_end = x + 1; x_end < v->n && v->vote[x_end].rank == v->vote[x].rank;) x_end++;
        for (size_t y = x_end; y < v->n; y = y_end) {
            for (y_end = y + 1; y_end < v->n && v->vote[y_end].rank == v->vote[y].rank;) y_end++;
            const size_t p = dis__pair_of(t, v->vote[x].rank, v->vote[y].rank);
            if (p < t->first || p >= t->last || pair_at(f, p)->n == 0) continue;
            for (size_t i = x; i < x_end; i++)
                for (size_t j = y; j < y_end; j++)
                    add_votes(f, pair_at(f, p), item, v->vote[i].place, v->vote[j].place);
        }
    }
}

static dis_status item_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const influence *f = arg;
    const size_t n_items = f->table->votes->n_items, last = dis__job_first(n_items, f->n_jobs, j + 1);
    dis__ranked_votes found = {0};
    dis_status status = DIS_OK;
    for (size_t i = dis__job_first(n_items, f->n_jobs, j); i < last && status == DIS_OK; i++) {
        status = dis__ranked_votes_of(f->table, i, &found);
        if (found.n > 1) add_item(f, i, &found);
    }
    dis__free(found.vote);
    return status;
}

static dis_status prepare(influence *f, const dis__worker_pairs *pairs)
{
    const size_t n_items = f->table->votes->n_items;
    for (size_t p = 0; p < pairs->n; p++)
        if (pairs->pair[p].n >= f->min) f->weight += (double)pairs->pair[p].n;
    DIS_TRY(dis__alloc_resident(&f->pairs, dis__size(f->table->room, f->n_numbers, 0), sizeof *f->pairs));
    for (int m = 0; m < f->n_kappas; m++) DIS_TRY(dis__alloc_zeroed(&f->adds[m], n_items, sizeof *f->adds[m]));
    return dis__alloc_zeroed(&f->shared, n_items, sizeof *f->shared);
}

static dis_status add_all(dis_context *ctx, dis__pair_table *t, influence *f)
{
    for (size_t first = 0; first < t->n_pairs; first = t->last) {
        DIS_TRY(dis__pair_table_count(ctx, t, first));
        for (size_t p = first; p < t->last; p++) prepare_pair(f, p);
        DIS_TRY(dis__run_jobs(ctx, f->n_jobs, item_job, f));
    }
    return DIS_OK;
}

/* Only items that some pair shares are drawn: moves them to the front; returns how many. */
static size_t keep_shared(const influence *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->table->votes->n_items; i++) {
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
    const dis__comm *comm = dis__context_comm(ctx);
    if (dis__comm_is_shared(comm)) DIS_TRY(gather_items(comm, f, &items));
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

dis_status dis__pair_intervals(dis_context *ctx, dis__pair_table *t, const dis__worker_pairs *pairs, bool ordered,
                               const dis_agreement_options *o, dis_metric metric[DIS_KAPPAS])
{
    influence f = {.table = t,
                   .min = o->min_common,
                   .n_kappas = ordered ? DIS_KAPPAS : 1,
                   .n_numbers = dis__pair_interval_numbers(t->votes->n_classes, ordered),
                   .n_jobs = dis__n_jobs(t->votes->n_items, GRAIN, MAX_JOBS)};
    for (int m = 0; m < DIS_KAPPAS; m++) f.mean[m] = metric[m].reason ? 0 : metric[m].value;
    dis_status status = prepare(&f, pairs);
    if (status == DIS_OK) status = add_all(ctx, t, &f);
    if (status == DIS_OK) status = draw(ctx, &f, o, metric);
    dis__free(f.pairs);
    dis__free(f.shared);
    for (int m = 0; m < DIS_KAPPAS; m++) dis__free(f.adds[m]);
    return status;
}
