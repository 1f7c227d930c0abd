/* Bootstrap intervals of an evaluation.
 *
 * Means are resampled as sums of columns; accuracy and F1 as cells (class_scores.c). Metrics with code of their own
 * (dis__metric_code) add columns to these sums, or resample items by themselves. */
#include "evaluate/evaluation_internal.h"
#include "core/context_internal.h"
#include "core/memory/memory.h"
#include <string.h>

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
static dis_status draw_sums(dis__resampling *r, const dis__bootstrap *b)
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
                                      dis__n_answers(e));
        set_interval(e, (dis_evaluation_metric)m, r->figure, b->n_resamples);
    }
    return DIS_OK;
}

/* The columns whose means are requested metrics: those against gold, or the others. */
static void add_items(dis__resampling *r, bool resample_gold)
{
    for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++) r->place[c] = SIZE_MAX;
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        const dis__metric *row = &dis__metrics[m];
        if (!r->e->wanted[m] || row->aggregate != DIS_MEAN_OF_ITEMS) continue;
        if ((row->row.needs & DIS_NEEDS_GOLD) != (resample_gold ? DIS_NEEDS_GOLD : 0)) continue;
        if (r->place[row->column] != SIZE_MAX) continue;
        r->place[row->column] = r->n_columns;
        r->column[r->n_columns++] = r->e->column[row->column];
    }
}

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

/* Whether the metric is wanted, has code of its own, and is measured on items with gold or on all. */
static bool has_code(const dis_evaluation *e, size_t m, bool on_gold)
{
    const dis__metric *row = &dis__metrics[m];
    return e->wanted[m] && row->code && !(row->row.needs & DIS_NEEDS_GOLD) == !on_gold;
}

/* Columns of metrics with code of their own: at[m] is the index of the first one. */
static dis_status add_code(dis__resampling *r, bool on_gold, size_t at[DIS_EVALUATION_METRICS],
                           double *own[DIS_EVALUATION_METRICS])
{
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        at[m] = r->n_columns;
        if (has_code(r->e, m, on_gold) && dis__metrics[m].code->add_columns)
            DIS_TRY(dis__metrics[m].code->add_columns(r, &own[m]));
    }
    return DIS_OK;
}

/* What depends on sums of columns, over all items or over those with gold. */
static dis_status resample_sums(dis__resampling *r, const dis__bootstrap *b, bool on_gold)
{
    dis_evaluation *e = r->e;
    size_t at[DIS_EVALUATION_METRICS];
    double *copy[DIS_ITEM_COLUMNS] = {NULL}, *own[DIS_EVALUATION_METRICS] = {NULL};
    dis_status status = dis__alloc_array(&r->figure, b->n_resamples, sizeof *r->figure);
    add_items(r, on_gold);
    for (size_t c = 0; on_gold && c < r->n_columns && status == DIS_OK; c++)
        status = gather_gold(e, r->column[c], &copy[c], &r->column[c]);
    if (status == DIS_OK) status = add_code(r, on_gold, at, own);
    if (status == DIS_OK && r->n_columns) status = draw_sums(r, b);
    for (size_t m = 0; status == DIS_OK && m < DIS_EVALUATION_METRICS; m++) {
        if (!has_code(e, m, on_gold) || !dis__metrics[m].code->from_sums) continue;
        for (size_t s = 0; s < b->n_resamples; s++)
            r->figure[s] = dis__metrics[m].code->from_sums(e, r->sums + s * r->n_columns + at[m], (double)b->n_draws);
        set_interval(e, (dis_evaluation_metric)m, r->figure, b->n_resamples);
    }
    for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++) dis__free(copy[c]);
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) dis__free(own[m]);
    dis__free(r->sums);
    dis__free(r->figure);
    return status;
}

/* What resamples items by itself. */
static dis_status resample_others(dis_context *ctx, dis_evaluation *e, const dis__bootstrap *b, bool on_gold)
{
    double *value = NULL;
    dis_status status = DIS_OK;
    for (size_t m = 0; status == DIS_OK && m < DIS_EVALUATION_METRICS; m++) {
        if (!has_code(e, m, on_gold) || !dis__metrics[m].code->resample) continue;
        if (!value) status = dis__alloc_array(&value, b->n_resamples, sizeof *value);
        if (status == DIS_OK) status = dis__metrics[m].code->resample(ctx, e, b, value);
        if (status == DIS_OK) set_interval(e, (dis_evaluation_metric)m, value, b->n_resamples);
    }
    dis__free(value);
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
    dis__resampling over_all = {.ctx = ctx, .e = e}, over_gold = over_all;
    dis__progress(ctx, "bootstrap", 0);
    DIS_TRY(resample_sums(&over_all, &all, false));
    DIS_TRY(resample_others(ctx, e, &all, false));
    dis__soft_scores_intervals(e);
    dis__progress(ctx, "bootstrap", .5);
    if (e->in.gold) {
        DIS_TRY(resample_sums(&over_gold, &gold, true));
        DIS_TRY(dis__class_scores_intervals(ctx, e, &gold));
        DIS_TRY(resample_others(ctx, e, &gold, true));
    }
    dis__progress(ctx, "bootstrap", 1);
    return DIS_OK;
}
