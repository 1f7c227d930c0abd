/* Bootstrap intervals of an evaluation.
 *
 * Means, and correlations by their five sums, are resampled as sums of columns; accuracy and F1 as cells
 * (class_scores.c); calibration error by sums in each bin; Spearman's correlation by ranks within each resample. The
 * temperatures of calibrated log-likelihood are fixed: only the loss of the held-out halves is resampled. */
#include "evaluate/evaluation_internal.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "stats/ranks.h"
#include <math.h>
#include <string.h>

enum { CORRELATION = 5, MAX_COLUMNS = DIS_ITEM_COLUMNS + CORRELATION + 2 * DIS_EVALUATION_MAX_SPLITS };

typedef struct {
    dis_context *ctx;
    dis_evaluation *e;
    const double *column[MAX_COLUMNS];
    size_t n_columns, place[DIS_ITEM_COLUMNS]; /* index of a column of items */
    double *own;                               /* columns allocated here */
    double *sums, *figure;                     /* (n_resamples, n_columns), (n_resamples) */
} resampling;

/* For new annotators too: metrics with best value 1 may be skewed towards lower values. */
static void crossed_interval(dis_evaluation *e, dis_evaluation_metric m, const double *figure, size_t n)
{
    dis__crossed_variances v = e->crossed[m];
    const dis_evaluation_metric_row *row = &dis__metrics[m].row;
    v.items = dis__resampled_variance(figure, n, 1);
    if (row->high == 1 && strcmp(row->better, "higher") == 0)
        dis__crossed_interval(&v, row->low, row->high, &e->metric[m]);
    else
        dis__crossed_interval_linear(&v, row->low, row->high, &e->metric[m]);
}

static void set_interval(dis_evaluation *e, dis_evaluation_metric which, double *figure, size_t n)
{
    dis_metric *m = &e->metric[which];
    if (e->crossed && dis__metrics[which].row.needs & DIS_NEEDS_HUMAN)
        crossed_interval(e, which, figure, n);
    else if (!m->reason)
        m->has_interval = dis__bootstrap_interval(figure, n, &m->ci_low, &m->ci_high);
}

/* Draws the sums of all columns, then computes the intervals of the metrics that are means of columns. */
static dis_status draw_sums(resampling *r, const dis__bootstrap *b)
{
    dis_evaluation *e = r->e;
    DIS_TRY(dis__alloc_array(&r->sums, dis__saturating_size(b->n_resamples, r->n_columns, 0), sizeof *r->sums));
    DIS_TRY(dis__bootstrap_sums(r->ctx, b, r->column, r->n_columns, r->sums));
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        const dis__metric *row = &dis__metrics[m];
        if (!e->wanted[m] || row->aggregate != DIS_MEAN_OF_ITEMS || r->place[row->column] == SIZE_MAX) continue;
        for (size_t s = 0; s < b->n_resamples; s++)
            r->figure[s] =
                dis__metric_from_mean(row, r->sums[s * r->n_columns + r->place[row->column]] / (double)b->n_draws,
                                      e->in.n_classes);
        set_interval(e, (dis_evaluation_metric)m, r->figure, b->n_resamples);
    }
    return DIS_OK;
}

static void add_column(resampling *r, const double *column)
{
    r->column[r->n_columns++] = column;
}

/* The columns whose means are requested metrics: those against gold, or the others. */
static void add_items(resampling *r, bool resample_gold)
{
    for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++) r->place[c] = SIZE_MAX;
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        const dis__metric *row = &dis__metrics[m];
        if (!r->e->wanted[m] || row->aggregate != DIS_MEAN_OF_ITEMS) continue;
        if ((row->row.needs & DIS_NEEDS_GOLD) != (resample_gold ? DIS_NEEDS_GOLD : 0)) continue;
        if (r->place[row->column] != SIZE_MAX) continue;
        r->place[row->column] = r->n_columns;
        add_column(r, r->e->column[row->column]);
    }
}

static void finish(resampling *r)
{
    dis__free(r->own);
    dis__free(r->sums);
    dis__free(r->figure);
}

/* ---- over all items ---- */

static dis_status resample_all(resampling *r, const dis__bootstrap *b)
{
    dis_evaluation *e = r->e;
    const size_t n = e->in.n_items;
    const bool correlated = e->wanted[DIS_EVALUATION_ENTROPY_CORRELATION];
    DIS_TRY(dis__alloc_array(&r->figure, b->n_resamples, sizeof *r->figure));
    add_items(r, false);
    const size_t at = r->n_columns;
    if (correlated) {
        DIS_TRY(dis__alloc_array(&r->own, dis__saturating_size(n, CORRELATION, 0), sizeof *r->own));
        for (size_t i = 0; i < n; i++) {
            const double x = e->column[DIS_ITEM_MODEL_ENTROPY][i] - e->model_entropy_mean;
            const double y = e->column[DIS_ITEM_HUMAN_ENTROPY][i] - e->human_entropy_mean;
            const double of[CORRELATION] = {x, y, x * x, y * y, x * y};
            for (size_t c = 0; c < CORRELATION; c++) r->own[c * n + i] = of[c];
        }
        for (size_t c = 0; c < CORRELATION; c++) add_column(r, r->own + c * n);
    }
    if (r->n_columns == 0) return DIS_OK;
    DIS_TRY(draw_sums(r, b));
    if (!correlated) return DIS_OK;
    const double draws = (double)b->n_draws;
    for (size_t s = 0; s < b->n_resamples; s++) {
        const double *x = r->sums + s * r->n_columns + at;
        const double xx = x[2] - x[0] * x[0] / draws, yy = x[3] - x[1] * x[1] / draws;
        const bool varies = xx > 1e-12 * x[2] && yy > 1e-12 * x[3]; /* more than the rounding errors of equal values */
        r->figure[s] = varies ? dis__correlation(x[4] - x[0] * x[1] / draws, xx, yy) : NAN;
    }
    set_interval(e, DIS_EVALUATION_ENTROPY_CORRELATION, r->figure, b->n_resamples);
    return DIS_OK;
}

/* ---- over items with gold ---- */

/* Removes the items without gold from gold columns, in place: they are not needed any more, unless the caller requested
 * them and receives a copy. */
static dis_status gather_gold(dis_evaluation *e, const double *from, double **copy, const double **out)
{
    *out = from;
    if (!e->gold_item) return DIS_OK;
    DIS_TRY(dis__alloc_array(copy, e->view.n_gold, sizeof **copy));
    for (size_t i = 0; i < e->view.n_gold; i++) (*copy)[i] = from[e->gold_item[i]];
    *out = *copy;
    return DIS_OK;
}

/* Each split is a sum of losses over a sum of ones: items of the held-out half. */
static dis_status add_calibrated(resampling *r)
{
    dis_evaluation *e = r->e;
    const size_t n = e->view.n_gold, n_splits = e->o.n_splits;
    DIS_TRY(dis__alloc_array(&r->own, dis__saturating_size(n, 2 * n_splits, 0), sizeof *r->own));
    double *loss[DIS_EVALUATION_MAX_SPLITS];
    for (size_t s = 0; s < n_splits; s++) {
        loss[s] = r->own + 2 * s * n;
        double *held = loss[s] + n;
        for (size_t i = 0; i < n; i++) held[i] = !(e->calibrated.fitted[i] >> s & 1);
        add_column(r, loss[s]);
        add_column(r, held);
    }
    return dis__calibrated_losses_compute(r->ctx, &e->calibration, &e->calibrated, loss);
}

static dis_status resample_gold(resampling *r, const dis__bootstrap *b)
{
    dis_evaluation *e = r->e;
    const bool calibrated = e->wanted[DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD];
    DIS_TRY(dis__alloc_array(&r->figure, b->n_resamples, sizeof *r->figure));
    add_items(r, true);
    double *copy[DIS_ITEM_COLUMNS] = {NULL};
    dis_status status = DIS_OK;
    for (size_t c = 0; c < r->n_columns && status == DIS_OK; c++)
        status = gather_gold(e, r->column[c], &copy[c], &r->column[c]);
    const size_t at = r->n_columns;
    if (status == DIS_OK && calibrated) status = add_calibrated(r);
    if (status == DIS_OK && r->n_columns) status = draw_sums(r, b);
    if (status == DIS_OK && calibrated) {
        for (size_t s = 0; s < b->n_resamples; s++) {
            const double *x = r->sums + s * r->n_columns + at;
            r->figure[s] = 0; /* NaN if no item of a held-out half was drawn */
            for (size_t k = 0; k < e->o.n_splits; k++) r->figure[s] += x[2 * k] / x[2 * k + 1] / (double)e->o.n_splits;
        }
        set_interval(e, DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD, r->figure, b->n_resamples);
    }
    for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++) dis__free(copy[c]);
    return status;
}

/* ---- calibration error ---- */

/* Of one resample, from the sums of its bins. */
static double ece_of(const double *sum, size_t n_bins, size_t n_draws)
{
    double error = 0;
    for (size_t b = 0; b < n_bins; b++) error += fabs(sum[b]);
    return error / (double)n_draws;
}

static dis_status resample_bins(dis_context *ctx, dis_evaluation *e, const dis__bootstrap *b)
{
    const size_t n = e->view.n_gold, n_bins = e->o.n_bins;
    uint8_t *bin = NULL;
    double *excess = NULL /* confidence minus whether the prediction was correct */, *sums = NULL, *figure = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&bin, n, sizeof *bin), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&excess, n, sizeof *excess), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&sums, dis__saturating_size(b->n_resamples, n_bins, 0), sizeof *sums), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&figure, b->n_resamples, sizeof *figure), end);
    for (size_t i = 0; i < n; i++) {
        const size_t item = e->gold_item ? e->gold_item[i] : i;
        const double confidence = e->column[DIS_ITEM_CONFIDENCE][item];
        bin[i] = (uint8_t)dis__reliability_bin_of(confidence, n_bins);
        excess[i] = confidence - e->column[DIS_ITEM_CORRECT][item];
    }
    DIS_TRY_GOTO(status, dis__bootstrap_bins(ctx, b, excess, bin, n_bins, sums), end);
    for (size_t r = 0; r < b->n_resamples; r++) figure[r] = ece_of(sums + r * n_bins, n_bins, b->n_draws);
    set_interval(e, DIS_EVALUATION_ECE, figure, b->n_resamples);
end:
    dis__free(bin);
    dis__free(excess);
    dis__free(sums);
    dis__free(figure);
    return status;
}

/* ---- Spearman ---- */

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
    for (size_t i = 0; i < n; i++) a[i] = (dis__indexed_value){.value = dis__round_entropy(x[i]), .index = i};
    dis__sort_indexed(a, spare, n);
    for (size_t i = 0; i < n; i++) {
        o->x_starts[i] = i == 0 || a[i].value != a[i - 1].value;
        b[i] = (dis__indexed_value){.value = dis__round_entropy(y[a[i].index]), .index = i};
    }
    dis__sort_indexed(b, spare, n);
    for (size_t i = 0; i < n; i++) {
        o->y_starts[i] = i == 0 || b[i].value != b[i - 1].value;
        o->by_y[i] = (uint32_t)b[i].index;
    }
    return DIS_OK;
}

static dis_status resample_ranks(dis_context *ctx, dis_evaluation *e, const dis__bootstrap *b)
{
    order o = {.n = e->in.n_items, .n_draws = b->n_draws};
    dis__indexed_value *sorting = NULL;
    double *figure = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&o.x_starts, o.n, 1), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&o.y_starts, o.n, 1), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&o.by_y, o.n, sizeof *o.by_y), end);
    DIS_TRY_GOTO(status,
                 dis__alloc_array(&o.rank, dis__saturating_size(o.n, (size_t)dis_context_n_threads(ctx), 0),
                                  sizeof *o.rank),
                 end);
    DIS_TRY_GOTO(status, dis__alloc_array(&sorting, dis__saturating_size(o.n, 3, 0), sizeof *sorting), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&figure, b->n_resamples, sizeof *figure), end);
    DIS_TRY_GOTO(status, sort_items(e, &o, sorting), end);
    DIS_TRY_GOTO(status, dis__bootstrap_run(ctx, b, spearman_of, &o, 1, figure), end);
    set_interval(e, DIS_EVALUATION_ENTROPY_SPEARMAN, figure, b->n_resamples);
end:
    dis__free(o.x_starts);
    dis__free(o.y_starts);
    dis__free(o.by_y);
    dis__free(o.rank);
    dis__free(sorting);
    dis__free(figure);
    return status;
}

dis_status dis__evaluation_intervals_compute(dis_context *ctx, dis_evaluation *e)
{
    const size_t n_gold = e->view.n_gold;
    const dis__bootstrap all = {.n_items = e->in.n_items,
                                .n_draws = dis__bootstrap_draws(e->in.n_items, e->o.fraction),
                                .n_resamples = (size_t)e->o.resamples,
                                .seed = e->o.seed};
    dis__bootstrap gold = all;
    gold.n_items = n_gold;
    gold.n_draws = n_gold ? dis__bootstrap_draws(n_gold, e->o.fraction) : 0;
    dis_status status;
    dis__progress(ctx, "bootstrap", 0);
    resampling r = {.ctx = ctx, .e = e};
    status = resample_all(&r, &all);
    finish(&r);
    DIS_TRY(status);
    if (e->wanted[DIS_EVALUATION_ENTROPY_SPEARMAN]) DIS_TRY(resample_ranks(ctx, e, &all));
    dis__progress(ctx, "bootstrap", .5);
    if (e->in.gold) {
        resampling g = {.ctx = ctx, .e = e};
        status = resample_gold(&g, &gold);
        finish(&g);
        DIS_TRY(status);
        DIS_TRY(dis__class_scores_intervals(ctx, e, &gold));
        if (e->wanted[DIS_EVALUATION_ECE]) DIS_TRY(resample_bins(ctx, e, &gold));
    }
    dis__progress(ctx, "bootstrap", 1);
    return DIS_OK;
}
