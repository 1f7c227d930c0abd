/* Intervals of the mean of Cohen's kappa over pairs of workers. For new items: the bootstrap over items. For new items
 * and new annotators: the variance of that bootstrap, the variance of a jackknife over annotators (the mean without the
 * pairs of one annotator), and the variance over single votes (the sum of squares of the contribution of each vote),
 * combined by crossed_intervals.h.
 *
 * Two workers may share five items; a resample of these often has one class only, for which kappa is 1 by convention,
 * so plain resamples of the mean are far too high. Instead, the linearized mean is resampled: its value plus the sum
 * over the drawn items of their influence (Jaeckel's infinitesimal jackknife, 1972). It has the same spread to first
 * order and no such bias. With kappa = 1 - n O / C of a pair (n its pairs of votes, O the sum of their distances, C =
 * sum_kl a_k b_l d_kl), a pair of votes for k and l contributes
 *
 *     -((O + n d_kl) / C - n O C' / C^2),   C' = sum_j b_j d_kj + sum_j a_j d_jl,
 *
 * and M = sum n kappa / sum n over the pairs receives ((kappa - M) + n times that) / sum n. All contributions sum to 0.
 *
 * The contribution of a pair is computed from its counts (agreement_pair_table.h). A pass over the items then sums the
 * pairs of votes of each item in the order of pairs. Each rank processes its items, and the contributions of all items
 * are gathered on all ranks.
 *
 * Cost: one pass over the votes, or as many as counting took, and O(classes) per pair of workers; then about a cycle
 * for each shared item and resample. */
#include "agreement/agreement_internal.h"
#include "stats/bootstrap.h"
#include "stats/crossed_intervals.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include <math.h>
#include <string.h>

enum { GRAIN = 1 << 14, MAX_JOBS = 64 };

/* Contribution of two votes of a pair of workers: `always`, plus factors of the distance and of the share of C. */
typedef struct {
    double n;                                    /* pairs of votes; 0: too few to count */
    double a_first, b_first, a_second, b_second; /* moments of the positions */
    double always[DIS_KAPPAS], by_distance[DIS_KAPPAS], by_chance[DIS_KAPPAS];
    double classes[]; /* (n_classes) each: a, b and, where classes have an order, sum_j a_j |j - k|, and of b */
} pair_adds;

typedef struct {
    const dis__pair_table *table;
    size_t min;
    int n_kappas;                /* 1 for classes without order */
    size_t n_numbers;            /* of a pair_adds */
    double weight;               /* votes of all pairs that count */
    double mean[DIS_KAPPAS];     /* of kappa */
    double *pairs;               /* a pair_adds for each pair counted in the table */
    size_t n_jobs;               /* over items */
    double *adds[DIS_KAPPAS];    /* (n_items) */
    float *by_vote;              /* (n_votes, n_kappas) contribution of a vote with all others; NULL: not requested */
    bool *shared;                /* (n_items) whether a pair shares the item */
    double *squares[DIS_KAPPAS]; /* (n_items) sums of squares of the contributions of its votes */
} influence;

size_t dis__pair_intervals_size(size_t n_classes, bool ordered)
{
    return dis__saturating_size(n_classes, ordered ? 4 : 2, sizeof(pair_adds) / sizeof(double));
}

static pair_adds *pair_at(const influence *f, size_t pair)
{
    return (pair_adds *)(void *)(f->pairs + (pair - f->table->first) * f->n_numbers);
}

/* sum_j x_j |j - k| for all k. */
static void distances_to(const double *x, size_t n, double *out)
{
    double below = 0, sum = 0;
    for (size_t k = 0; k < n; k++) { /* ascending: each step up adds one to the distance from all lower values */
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
    const dis__pair_counts x = dis__pair_table_at(f->table, p);
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
    dis__kappa_compute_chance(a, b, K, n, chance);
    if (chance[0] == 0) { /* both used one and the same class only: excluded from the mean */
        to->n = 0;
        return;
    }
    if (f->n_kappas > 1) {
        distances_to(a, K, b + K);
        distances_to(b, K, b + 2 * K);
    }
    for (int m = 0; m < f->n_kappas; m++) {
        const double o = observed[m], e = chance[m], w = f->weight;
        to->always[m] = (dis__kappa_compute(n * o, e) - f->mean[m] - (e > 0 ? n * o / e : 0)) / w;
        to->by_distance[m] = e > 0 ? -n * n / e / w : 0;
        to->by_chance[m] = e > 0 ? n * n * o / (e * e) / w : 0;
    }
}

/* Two votes of a pair on an item: indices x and y among those of the item. */
static void add_votes(const influence *f, const pair_adds *pair, size_t item, const dis__ranked_votes *votes, size_t i,
                      size_t j)
{
    const size_t mine = votes->vote[i].place, theirs = votes->vote[j].place;
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
    float *by_vote = f->by_vote ? f->by_vote + f->table->votes->start[item] * (size_t)f->n_kappas : NULL;
    for (int m = 0; m < f->n_kappas; m++) {
        const double add = pair->always[m] + pair->by_distance[m] * d[m] + pair->by_chance[m] * more_chance[m];
        f->adds[m][item] += add;
        if (!by_vote) continue;
        by_vote[i * (size_t)f->n_kappas + (size_t)m] += (float)add;
        by_vote[j * (size_t)f->n_kappas + (size_t)m] += (float)add;
    }
}

/* The pairs of votes on an item, grouped by pair of workers. */
static void add_item(const influence *f, size_t item, const dis__ranked_votes *v)
{
    const dis__pair_table *t = f->table;
    for (size_t x = 0, x_end, y_end; x < v->n; x = x_end) {
        for (x_end = x + 1; x_end < v->n && v->vote[x_end].rank == v->vote[x].rank;) x_end++;
        for (size_t y = x_end; y < v->n; y = y_end) {
            for (y_end = y + 1; y_end < v->n && v->vote[y_end].rank == v->vote[y].rank;) y_end++;
            const size_t p = dis__pair_table_index(t, v->vote[x].rank, v->vote[y].rank);
            if (p < t->first || p >= t->last || pair_at(f, p)->n == 0) continue;
            for (size_t i = x; i < x_end; i++)
                for (size_t j = y; j < y_end; j++) add_votes(f, pair_at(f, p), item, v, i, j);
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
        status = dis__ranked_votes_gather(f->table, i, &found);
        if (found.n > 1) add_item(f, i, &found);
    }
    dis__free(found.vote);
    return status;
}

static dis_status prepare(influence *f, const dis__worker_pairs *pairs, bool crossed)
{
    const size_t n_items = f->table->votes->n_items, n_votes = f->table->votes->n_votes;
    if (crossed) {
        DIS_TRY(
            dis__alloc_zeroed(&f->by_vote, dis__saturating_size(n_votes, (size_t)f->n_kappas, 0), sizeof *f->by_vote));
        for (int m = 0; m < f->n_kappas; m++) DIS_TRY(dis__alloc_array(&f->squares[m], n_items, sizeof(double)));
    }
    for (size_t p = 0; p < pairs->n; p++)
        if (pairs->pair[p].n >= f->min && !pairs->pair[p].degenerate) f->weight += (double)pairs->pair[p].n;
    DIS_TRY(dis__alloc_resident(&f->pairs, dis__saturating_size(f->table->room, f->n_numbers, 0), sizeof *f->pairs));
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

/* Sums of squares of the contributions of each item's votes. */
static void square_votes(const influence *f)
{
    const dis_votes_view *v = f->table->votes;
    const size_t n = (size_t)f->n_kappas;
    for (size_t m = 0; f->by_vote && m < n; m++)
        for (size_t i = 0; i < v->n_items; i++) {
            double sum = 0;
            for (uint64_t y = v->start[i]; y < v->start[i + 1]; y++) {
                const double add = (double)f->by_vote[y * n + m];
                sum += add * add;
            }
            f->squares[m][i] = sum;
        }
}

/* Only shared items are drawn: moves them to the front and returns their number. */
static size_t keep_shared(const influence *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->table->votes->n_items; i++) {
        if (!f->shared[i]) continue;
        for (int m = 0; m < f->n_kappas; m++) {
            f->adds[m][n] = f->adds[m][i];
            if (f->by_vote) f->squares[m][n] = f->squares[m][i];
        }
        n++;
    }
    return n;
}

/* A column of all ranks, concatenated in the order of items. */
static dis_status gather_column(const dis__comm *comm, dis__comm_block *from, size_t n, double **column, size_t *n_all)
{
    size_t size = 0;
    char *all = NULL;
    dis_status status = dis__comm_allgather_blocks(comm, *column, n * sizeof **column, from);
    for (int r = 0; r < comm->size && status == DIS_OK; r++) size += from[r].n;
    if (status == DIS_OK) status = dis__alloc_array(&all, size, 1);
    size = 0;
    for (int r = 0; r < comm->size && status == DIS_OK; r++) {
        if (from[r].n) memcpy(all + size, from[r].bytes, from[r].n);
        size += from[r].n;
    }
    for (int r = 0; r < comm->size; r++) {
        dis__free(from[r].bytes);
        from[r] = (dis__comm_block){0};
    }
    if (status != DIS_OK) return status;
    dis__free(*column);
    *column = (double *)(void *)all;
    *n_all = size / sizeof **column;
    return DIS_OK;
}

static dis_status gather_items(const dis__comm *comm, influence *f, size_t *items)
{
    dis__comm_block *from;
    DIS_TRY(dis__alloc_zeroed(&from, (size_t)comm->size, sizeof *from));
    dis_status status = DIS_OK;
    size_t n = *items;
    for (int m = 0; m < f->n_kappas && status == DIS_OK; m++) {
        status = gather_column(comm, from, *items, &f->adds[m], &n);
        if (status == DIS_OK && f->by_vote) status = gather_column(comm, from, *items, &f->squares[m], &n);
    }
    *items = n;
    dis__comm_blocks_free(comm, from);
    return status;
}

/* ---- annotators ---- */

/* Means of kappas without the pairs of one annotator: rest (annotators, n_kappas); returns their number, and the
 * effective number of annotators. */
static size_t leave_out(const influence *f, const dis__worker_pairs *pairs, double *weight, double *sums, double *rest,
                        double *effective)
{
    const size_t n = (size_t)f->n_kappas, n_workers = f->table->votes->n_workers;
    double all[DIS_KAPPAS] = {0};
    size_t found = 0;
    for (size_t p = 0; p < pairs->n; p++) {
        const dis_agreement_pair *x = &pairs->pair[p];
        if (x->n < f->min || x->degenerate) continue;
        const double kappa[DIS_KAPPAS] = {x->cohen, x->cohen_linear, x->cohen_quadratic}, w = (double)x->n;
        weight[x->a] += w;
        weight[x->b] += w;
        for (size_t m = 0; m < n; m++) {
            sums[x->a * n + m] += w * kappa[m];
            sums[x->b * n + m] += w * kappa[m];
            all[m] += w * kappa[m];
        }
    }
    *effective = dis__effective_number(weight, n_workers);
    for (size_t w = 0; w < n_workers; w++) {
        const double left = f->weight - weight[w];
        if (weight[w] == 0) continue;
        for (size_t m = 0; m < n; m++) rest[found * n + m] = left > 0 ? (all[m] - sums[w * n + m]) / left : (double)NAN;
        found++;
    }
    return found;
}

static dis_status over_annotators(const influence *f, const dis__worker_pairs *pairs, const double *drawn,
                                  size_t n_resamples, size_t items, dis_metric metric[DIS_KAPPAS])
{
    const size_t n = (size_t)f->n_kappas, n_workers = f->table->votes->n_workers;
    double *weight = NULL, *sums = NULL, *rest = NULL, effective = 0;
    dis_status status = dis__alloc_zeroed(&weight, n_workers, sizeof *weight);
    if (status == DIS_OK) status = dis__alloc_zeroed(&sums, dis__saturating_size(n_workers, n, 0), sizeof *sums);
    if (status == DIS_OK) status = dis__alloc_array(&rest, dis__saturating_size(n_workers, n, 0), sizeof *rest);
    const size_t found = status == DIS_OK ? leave_out(f, pairs, weight, sums, rest, &effective) : 0;
    for (size_t m = 0; m < n && status == DIS_OK; m++) {
        dis__crossed_variances v = {.annotators = dis__jackknife(rest + m, found, n),
                                    .items = dis__resampled_variance(drawn + m, n_resamples, n),
                                    .df_annotators = dis__annotator_df(effective),
                                    .df_items = (double)items - 1};
        for (size_t i = 0; i < items; i++) v.votes += f->squares[m][i];
        dis__crossed_interval(&v, -1, 1, &metric[m]);
    }
    dis__free(weight);
    dis__free(sums);
    dis__free(rest);
    return status;
}

static void over_items(const double *drawn, size_t n_resamples, size_t n, size_t items, double *scratch,
                       dis_metric metric[DIS_KAPPAS])
{
    for (size_t m = 0; m < n; m++) {
        double low, high;
        if (metric[m].reason) continue;
        metric[m].has_interval =
            dis__bootstrap_interval_of(drawn, n_resamples, n, m, scratch, &low, &high) && low < high;
        if (!metric[m].has_interval) {
            metric[m].no_interval = items < 2 ? DIS_NO_INTERVAL_ONE_ITEM : DIS_NO_INTERVAL_NO_SPREAD;
            continue;
        }
        metric[m].ci_low = metric[m].value + low;
        metric[m].ci_high = fmin(metric[m].value + high, 1);
    }
}

static dis_status draw(dis_context *ctx, influence *f, const dis__worker_pairs *pairs, const dis_agreement_options *o,
                       dis_metric metric[DIS_KAPPAS])
{
    square_votes(f);
    size_t items = keep_shared(f);
    const dis__comm *comm = dis__context_comm(ctx);
    if (dis__comm_is_parallel(comm)) DIS_TRY(gather_items(comm, f, &items));
    const dis__bootstrap b = {.n_items = items, .n_draws = items, .n_resamples = o->resamples, .seed = o->seed};
    const size_t n = (size_t)f->n_kappas;
    double *sums;
    DIS_TRY(dis__alloc_array(&sums, dis__saturating_size(o->resamples, n + 1, 0), sizeof *sums));
    dis_status status = dis__bootstrap_sums(ctx, &b, (const double *const *)f->adds, n, sums);
    if (status == DIS_OK && f->by_vote)
        status = over_annotators(f, pairs, sums, o->resamples, items, metric);
    else if (status == DIS_OK)
        over_items(sums, o->resamples, n, items, sums + o->resamples * n, metric);
    dis__free(sums);
    return status;
}

dis_status dis__pair_intervals_compute(dis_context *ctx, dis__pair_table *t, const dis__worker_pairs *pairs,
                                       bool ordered, const dis_agreement_options *o, dis_metric metric[DIS_KAPPAS])
{
    influence f = {.table = t,
                   .min = o->min_common,
                   .n_kappas = ordered ? DIS_KAPPAS : 1,
                   .n_numbers = dis__pair_intervals_size(t->votes->n_classes, ordered),
                   .n_jobs = dis__n_jobs(t->votes->n_items, GRAIN, MAX_JOBS)};
    for (int m = 0; m < DIS_KAPPAS; m++) f.mean[m] = metric[m].reason ? 0 : metric[m].value;
    dis_status status = prepare(&f, pairs, o->interval_scope == DIS_INTERVAL_ANNOTATORS);
    if (status == DIS_OK) status = add_all(ctx, t, &f);
    if (status == DIS_OK) status = draw(ctx, &f, pairs, o, metric);
    dis__free(f.pairs);
    dis__free(f.shared);
    dis__free(f.by_vote);
    for (int m = 0; m < DIS_KAPPAS; m++) {
        dis__free(f.adds[m]);
        dis__free(f.squares[m]);
    }
    return status;
}
