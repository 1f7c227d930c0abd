/* Correlations over items of the entropies of q and p, Pearson's and Spearman's. Intervals resample the sums of squares
 * and products; for Spearman's correlation each resample is ranked anew.
 *
 * Cost: a sort of the entropies for Spearman's correlation, and a pass over the items per resample. */
#include "core/memory/memory.h"
#include "evaluate/evaluation_internal.h"
#include "core/parallel/pool.h"
#include "stats/ranks.h"
#include <math.h>

enum { SUMS = 5 /* columns whose sums give a correlation */ };

double dis__correlation(double xy, double xx, double yy)
{
    if (!(xx > 0 && yy > 0)) return NAN;
    const double r = xy / (sqrt(xx) * sqrt(yy));
    return r > 1 ? 1 : r < -1 ? -1 : r;
}

/* An entropy as it is ranked, as a multiple of 2^-40: distributions that are permutations of each other must tie,
 * although their sums are rounded differently. */
static double round_entropy(double entropy)
{
    return (entropy + 0x1p12) - 0x1p12;
}

/* Gives the reason if one of the two does not vary. */
static bool is_constant(dis_evaluation *e, const dis__item_sums *s, dis_evaluation_metric m)
{
    const double slack = 1e-12; /* entropies that differ by rounding only are equal */
    const char *reason = NULL;
    if (e->in.n_items < 2)
        reason = "there is one item";
    else if (s->max[0] - s->min[0] <= slack)
        reason = "the entropy of the predictions is the same for all items";
    else if (s->max[1] - s->min[1] <= slack)
        reason = "the entropy of the human labels is the same for all items";
    if (reason) dis__metric_set_undefined(e, m, reason);
    return reason;
}

/* ---- Pearson ---- */

static dis_status pearson(dis_context *ctx, dis_evaluation *e, const dis__item_sums *s, dis_evaluation_metric m)
{
    (void)ctx;
    const size_t n = e->in.n_items;
    if (is_constant(e, s, m)) return DIS_OK;
    double sums[3] = {0, 0, 0};
    e->model_entropy_mean = s->sum[DIS_ITEM_MODEL_ENTROPY] / (double)n;
    e->human_entropy_mean = s->sum[DIS_ITEM_HUMAN_ENTROPY] / (double)n;
    DIS_KERNEL_SELECT(dis__item_moments)
    (e->column[DIS_ITEM_MODEL_ENTROPY], e->column[DIS_ITEM_HUMAN_ENTROPY], n, e->model_entropy_mean,
     e->human_entropy_mean, sums);
    dis__metric_set(e, m, dis__correlation(sums[0], sums[1], sums[2]), n);
    return DIS_OK;
}

static dis_status add_columns(dis__resampling *r, double **own)
{
    const dis_evaluation *e = r->e;
    const size_t n = e->in.n_items;
    DIS_TRY(dis__alloc_array(own, dis__saturating_size(n, SUMS, 0), sizeof **own));
    for (size_t i = 0; i < n; i++) {
        const double x = e->column[DIS_ITEM_MODEL_ENTROPY][i] - e->model_entropy_mean;
        const double y = e->column[DIS_ITEM_HUMAN_ENTROPY][i] - e->human_entropy_mean;
        const double of[SUMS] = {x, y, x * x, y * y, x * y};
        for (size_t c = 0; c < SUMS; c++) (*own)[c * n + i] = of[c];
    }
    for (size_t c = 0; c < SUMS; c++) r->column[r->n_columns++] = *own + c * n;
    return DIS_OK;
}

static double from_sums(const dis_evaluation *e, const double *x, double n_draws)
{
    (void)e;
    const double xx = x[2] - x[0] * x[0] / n_draws, yy = x[3] - x[1] * x[1] / n_draws;
    const bool varies = xx > 1e-12 * x[2] && yy > 1e-12 * x[3]; /* more than the rounding errors of equal values */
    return varies ? dis__correlation(x[4] - x[0] * x[1] / n_draws, xx, yy) : NAN;
}

#define ENTROPIES (1u << DIS_ITEM_MODEL_ENTROPY | 1u << DIS_ITEM_HUMAN_ENTROPY)

const dis__metric_code dis__entropy_correlation = {.columns = ENTROPIES,
                                                   .compute = pearson,
                                                   .add_columns = add_columns,
                                                   .from_sums = from_sums};

/* ---- Spearman ---- */

/* Of ranks; their means are known. */
static dis_status spearman(dis_context *ctx, dis_evaluation *e, const dis__item_sums *s, dis_evaluation_metric m)
{
    (void)ctx;
    const size_t n = e->in.n_items;
    if (is_constant(e, s, m)) return DIS_OK;
    double *rank;
    DIS_TRY(dis__alloc_array(&rank, dis__saturating_size(n, 3, 0), sizeof *rank));
    double *rounded = rank + 2 * n;
    for (size_t i = 0; i < n; i++) rounded[i] = round_entropy(e->column[DIS_ITEM_MODEL_ENTROPY][i]);
    dis_status status = dis__ranks(rounded, n, rank, NULL);
    for (size_t i = 0; i < n; i++) rounded[i] = round_entropy(e->column[DIS_ITEM_HUMAN_ENTROPY][i]);
    if (status == DIS_OK) status = dis__ranks(rounded, n, rank + n, NULL);
    if (status == DIS_OK) {
        double sums[3] = {0, 0, 0};
        const double mean = ((double)n + 1) / 2;
        DIS_KERNEL_SELECT(dis__item_moments)(rank, rank + n, n, mean, mean, sums);
        dis__metric_set(e, m, dis__correlation(sums[0], sums[1], sums[2]), n);
    }
    dis__free(rank);
    return status;
}

/* Items are numbered by ascending entropy of q, so their ranks by it come from one pass over the counts; those by the
 * entropy of p come from a pass in the order `by_y`. Ranks are doubled, so that they are integers. */
typedef struct {
    size_t n, n_draws;
    uint8_t *x_starts, *y_starts; /* (n) whether the entropy differs from the previous one */
    uint32_t *by_y;               /* (n) */
    double *rank;                 /* per thread: (n) */
} order;

static dis_status spearman_of(void *arg, const uint8_t *count, size_t resample, int thread, double *values)
{
    (void)resample;
    const order *o = arg;
    double *rank = o->rank + (size_t)thread * o->n;
    const double mean = (double)o->n_draws + 1; /* of doubled ranks */
    double below = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0, end; i < o->n; i = end) {
        double many = count[i];
        for (end = i + 1; end < o->n && !o->x_starts[end]; end++) many += count[end];
        const double r = 2 * below + many + 1 - mean;
        xx += many * r * r;
        for (size_t j = i; j < end; j++) rank[j] = r;
        below += many;
    }
    below = 0;
    for (size_t i = 0, end; i < o->n; i = end) {
        double many = 0, with = 0;
        for (end = i; end < o->n && (end == i || !o->y_starts[end]); end++) {
            const uint32_t item = o->by_y[end];
            many += count[item];
            with += count[item] * rank[item];
        }
        const double r = 2 * below + many + 1 - mean;
        yy += many * r * r;
        xy += with * r;
        below += many;
    }
    *values = dis__correlation(xy, xx, yy);
    return DIS_OK;
}

static dis_status sort_items(const dis_evaluation *e, order *o, dis__indexed_value *a)
{
    const size_t n = o->n;
    dis__indexed_value *spare = a + n, *b = a + 2 * n;
    const double *x = e->column[DIS_ITEM_MODEL_ENTROPY], *y = e->column[DIS_ITEM_HUMAN_ENTROPY];
    for (size_t i = 0; i < n; i++) a[i] = (dis__indexed_value){.value = round_entropy(x[i]), .index = i};
    dis__sort_indexed(a, spare, n);
    for (size_t i = 0; i < n; i++) {
        o->x_starts[i] = i == 0 || a[i].value != a[i - 1].value;
        b[i] = (dis__indexed_value){.value = round_entropy(y[a[i].index]), .index = i};
    }
    dis__sort_indexed(b, spare, n);
    for (size_t i = 0; i < n; i++) {
        o->y_starts[i] = i == 0 || b[i].value != b[i - 1].value;
        o->by_y[i] = (uint32_t)b[i].index;
    }
    return DIS_OK;
}

static dis_status resample_ranks(dis_context *ctx, dis_evaluation *e, const dis__bootstrap *b, double *value)
{
    order o = {.n = e->in.n_items, .n_draws = b->n_draws};
    dis__indexed_value *sorting = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&o.x_starts, o.n, 1), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&o.y_starts, o.n, 1), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&o.by_y, o.n, sizeof *o.by_y), end);
    DIS_TRY_GOTO(status,
                 dis__alloc_array(&o.rank, dis__saturating_size(o.n, (size_t)dis_context_n_threads(ctx), 0),
                                  sizeof *o.rank),
                 end);
    DIS_TRY_GOTO(status, dis__alloc_array(&sorting, dis__saturating_size(o.n, 3, 0), sizeof *sorting), end);
    DIS_TRY_GOTO(status, sort_items(e, &o, sorting), end);
    DIS_TRY_GOTO(status, dis__bootstrap_run(ctx, b, spearman_of, &o, 1, value), end);
end:
    dis__free(o.x_starts);
    dis__free(o.y_starts);
    dis__free(o.by_y);
    dis__free(o.rank);
    dis__free(sorting);
    return status;
}

const dis__metric_code dis__entropy_spearman = {.columns = ENTROPIES, .compute = spearman, .resample = resample_ranks};
