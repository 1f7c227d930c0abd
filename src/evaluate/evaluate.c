/* Predictions against gold labels and people. One pass over q and p computes all means over items (in tiles of items,
 * so that only values needed later are kept in memory). The metrics that need all items at once follow: confusion,
 * correlations, temperatures; then the bootstrap.
 *
 * Cost: three logarithms for each item and class, a sort of the entropies for Spearman's correlation, about three more
 * passes for calibrated log-likelihood. */
#include "tool/arrays.h"
#include "evaluate/evaluation_internal.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include "stats/ranks.h"
#include <math.h>
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_evaluation_input, .size = sizeof(dis_evaluation_input))
DIS_OPTIONS_DEFAULTS(dis_evaluation_votes, .size = sizeof(dis_evaluation_votes))
DIS_OPTIONS_DEFAULTS(dis_evaluation_options, .size = sizeof(dis_evaluation_options), .fraction = 1, .top_k = 3,
                     .n_splits = 5, .n_bins = 15)

size_t dis__reliability_bin_of(double confidence, size_t n_bins)
{
    const double b = ceil(confidence * (double)n_bins) - 1;
    return b < 0 ? 0 : b >= (double)n_bins ? n_bins - 1 : (size_t)b;
}

/* ---- the pass over items ---- */

enum { TILE = 512 };

typedef struct {
    dis_evaluation *e;
    dis__item_args args;
    bool used[DIS_ITEM_COLUMNS];
    size_t n_jobs;
    double *tile;        /* per thread: (DIS_ITEM_COLUMNS, TILE) for columns that are not kept */
    double *scratch;     /* per thread, for sets of classes */
    dis__item_sums *sum; /* per job */
} item_work;

static void range(const double *x, size_t n, double *min, double *max)
{
    double a = *min, b = *max;
    for (size_t i = 0; i < n; i++) {
        a = x[i] < a ? x[i] : a;
        b = x[i] > b ? x[i] : b;
    }
    *min = a;
    *max = b;
}

static dis_status items_job(void *arg, size_t j, int thread)
{
    const item_work *w = arg;
    dis_evaluation *e = w->e;
    const size_t n = e->in.n_items, last = dis__job_first(n, w->n_jobs, j + 1), n_bins = e->o.n_bins;
    dis__item_sums *s = &w->sum[j];
    *s = (dis__item_sums){.min = {INFINITY, INFINITY}, .max = {-INFINITY, -INFINITY}};
    for (size_t first = dis__job_first(n, w->n_jobs, j); first < last; first += TILE) {
        const size_t many = last - first < TILE ? last - first : TILE;
        double *column[DIS_ITEM_COLUMNS];
        for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++)
            column[c] = e->column[c] ? e->column[c] + first : w->tile + ((size_t)thread * DIS_ITEM_COLUMNS + c) * TILE;
        if (e->in.multi_label && !w->args.labels_only)
            dis__set_metrics(&w->args, first, many, column, e->predicted + first, &s->counts,
                             w->scratch + (size_t)thread * dis__set_metrics_scratch(e->in.n_classes));
        else
            DIS_KERNEL_SELECT(dis__item_metrics)(&w->args, first, many, column, e->predicted + first, &s->counts);
        if (w->args.labels_only) continue;
        for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++)
            if (w->used[c]) s->sum[c] += DIS_KERNEL_SELECT(dis__item_sum)(column[c], many);
        range(column[DIS_ITEM_MODEL_ENTROPY], many, &s->min[0], &s->max[0]);
        if (e->in.human) range(column[DIS_ITEM_HUMAN_ENTROPY], many, &s->min[1], &s->max[1]);
        for (size_t i = 0; e->in.gold && i < many; i++) {
            if (e->in.gold[first + i] < 0) continue;
            dis__bin_sums *b = &s->bin[dis__reliability_bin_of(column[DIS_ITEM_CONFIDENCE][i], n_bins)];
            b->n++;
            b->confidence += column[DIS_ITEM_CONFIDENCE][i];
            b->correct += column[DIS_ITEM_CORRECT][i];
        }
    }
    return DIS_OK;
}

/* Adds jobs in their order. */
static void sum_jobs(const item_work *w, dis__item_sums *out)
{
    *out = w->sum[0];
    for (size_t j = 1; j < w->n_jobs; j++) {
        const dis__item_sums *s = &w->sum[j];
        for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++) out->sum[c] += s->sum[c];
        for (int x = 0; x < 2; x++) {
            out->min[x] = s->min[x] < out->min[x] ? s->min[x] : out->min[x];
            out->max[x] = s->max[x] > out->max[x] ? s->max[x] : out->max[x];
        }
        out->counts.floored += s->counts.floored;
        out->counts.human_floored += s->counts.human_floored;
        for (size_t b = 0; b < w->e->o.n_bins; b++) {
            out->bin[b].n += s->bin[b].n;
            out->bin[b].confidence += s->bin[b].confidence;
            out->bin[b].correct += s->bin[b].correct;
        }
    }
}

/* Which columns are computed, and which are kept for later: for the caller, for the bootstrap, for metrics with code of their own. */
static dis_status select_columns(item_work *w)
{
    dis_evaluation *e = w->e;
    bool keep[DIS_ITEM_COLUMNS] = {false};
    w->args.labels_only = !e->o.keep_items;
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        if (e->wanted[m] && dis__metrics[m].aggregate != DIS_CLASS_SCORE) w->args.labels_only = false;
    e->labels_only = w->args.labels_only;
    if (e->labels_only) return DIS_OK;
    for (size_t m = 0; e->o.resamples && m < DIS_EVALUATION_METRICS; m++)
        if (e->wanted[m] && dis__metrics[m].aggregate == DIS_MEAN_OF_ITEMS) keep[dis__metrics[m].column] = true;
    unsigned read = 0; /* by metrics with code of their own */
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        if (e->wanted[m] && dis__metrics[m].code)
            read |= dis__metrics[m].code->columns | (e->o.resamples ? dis__metrics[m].code->interval_columns : 0);
    for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++) {
        const unsigned needs = dis__item_columns[c].needs;
        w->used[c] = (!(needs & DIS_NEEDS_GOLD) || e->in.gold) && (!(needs & DIS_NEEDS_HUMAN) || e->in.human);
        if (w->used[c] && (keep[c] || read >> c & 1 || e->o.keep_items))
            DIS_TRY(dis__alloc_array(&e->column[c], e->in.n_items, sizeof(double)));
    }
    return DIS_OK;
}

static dis_status pass_over_items(dis_context *ctx, dis_evaluation *e, dis__item_sums *out)
{
    item_work w = {.e = e,
                   .args = {.n_classes = e->in.n_classes,
                            .top_k = e->o.top_k,
                            .q = e->in.q,
                            .human = e->in.human,
                            .gold = e->in.gold},
                   .n_jobs = dis__n_jobs(e->in.n_items, 16384, 64)};
    dis_status status;
    DIS_TRY(select_columns(&w));
    DIS_TRY(dis__alloc_array(&e->predicted, e->in.n_items, sizeof *e->predicted));
    DIS_TRY_GOTO(status,
                 dis__alloc_array(&w.tile, (size_t)dis_context_n_threads(ctx) * DIS_ITEM_COLUMNS,
                                  TILE * sizeof *w.tile),
                 end);
    DIS_TRY_GOTO(status, dis__alloc_array(&w.sum, w.n_jobs, sizeof *w.sum), end);
    if (e->in.multi_label)
        DIS_TRY_GOTO(status,
                     dis__alloc_array(&w.scratch,
                                      dis__saturating_size((size_t)dis_context_n_threads(ctx),
                                                           dis__set_metrics_scratch(e->in.n_classes), 0),
                                      sizeof *w.scratch),
                     end);
    DIS_TRY_GOTO(status, dis__run_jobs(ctx, w.n_jobs, items_job, &w), end);
    sum_jobs(&w, out);
end:
    dis__free(w.tile);
    dis__free(w.sum);
    dis__free(w.scratch);
    return status;
}

/* ---- figures ---- */

void dis__metric_set(dis_evaluation *e, dis_evaluation_metric m, double value, size_t n)
{
    if (e->wanted[m]) e->metric[m] = (dis_metric){.value = value, .ci_low = NAN, .ci_high = NAN, .n = n};
}

void dis__metric_set_undefined(dis_evaluation *e, dis_evaluation_metric m, const char *reason)
{
    if (!e->wanted[m]) return;
    e->metric[m] = dis__metric_undefined(reason);
    e->wanted[m] = false;
}

size_t dis__n_answers(const dis_evaluation *e)
{
    return e->in.multi_label ? 2 : e->in.n_classes;
}

static void set_means(dis_evaluation *e, const dis__item_sums *s)
{
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        const dis__metric *row = &dis__metrics[m];
        const char *reason = row->undefined ? row->undefined(dis__n_answers(e), e->o.top_k) : NULL;
        if (reason) dis__metric_set_undefined(e, (dis_evaluation_metric)m, reason);
        if (row->aggregate != DIS_MEAN_OF_ITEMS) continue;
        const size_t n = row->row.needs & DIS_NEEDS_GOLD ? e->view.n_gold : e->in.n_items;
        dis__metric_set(e, (dis_evaluation_metric)m,
                        dis__metric_from_mean(row, s->sum[row->column] / (double)n, dis__n_answers(e)), n);
    }
}

static dis_status set_bins(dis_evaluation *e, const dis__item_sums *s)
{
    const size_t n_bins = e->o.n_bins;
    DIS_TRY(dis__alloc_array(&e->bin, n_bins, sizeof *e->bin));
    for (size_t b = 0; b < n_bins; b++) {
        const dis__bin_sums *x = &s->bin[b];
        const double n = (double)x->n;
        e->bin[b] = (dis_reliability_bin){.low = (double)b / (double)n_bins,
                                          .high = (double)(b + 1) / (double)n_bins,
                                          .n = x->n,
                                          .confidence = x->n ? x->confidence / n : NAN,
                                          .accuracy = x->n ? x->correct / n : NAN};
    }
    e->view.bin = e->bin;
    e->view.n_bins = n_bins;
    return DIS_OK;
}

/* Metrics with code of their own. What they need is available, or they would not be wanted. */
static dis_status compute_others(dis_context *ctx, dis_evaluation *e, const dis__item_sums *s)
{
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        if (e->wanted[m] && dis__metrics[m].code)
            DIS_TRY(dis__metrics[m].code->compute(ctx, e, s, (dis_evaluation_metric)m));
    return DIS_OK;
}

/* ---- the whole ---- */

/* Maximum memory per item: its columns, and everything else held at the same time. */
static dis_status check_memory(const dis_context *ctx, const dis_evaluation *e)
{
    const size_t resampled = e->o.resamples ? 1 : 0, threads = (size_t)dis_context_n_threads(ctx);
    const size_t an_item = (e->o.keep_items || resampled ? DIS_ITEM_COLUMNS : 2) * sizeof(double) + /* columns */
                           sizeof(int32_t) + sizeof(size_t) + /* class, position */
                           5 * sizeof(dis__indexed_value) +   /* sorting */
                           resampled * ((6 + 2 * e->o.n_splits) * sizeof(double) + threads * (sizeof(double) + 1));
    const size_t k = e->in.n_classes, matrix = k <= DIS_EVALUATION_MAX_CONFUSED ? dis__saturating_size(k, k, 0) : 0;
    return dis__check_memory(ctx,
                             dis__saturating_size(e->in.n_items, an_item,
                                                  dis__saturating_size(matrix, sizeof(uint64_t), 1 << 20)),
                             "an evaluation");
}

static dis_status check(const dis_evaluation_input *in, const dis_evaluation_options *o)
{
    if (in->n_items == 0 || in->n_classes == 0 || !in->q)
        return dis__fail(DIS_EUSAGE, "there are no predictions to evaluate");
    if (o->n_splits < 1 || o->n_splits > DIS_EVALUATION_MAX_SPLITS)
        return dis__fail(DIS_EUSAGE, "the number of splits must be from 1 to %d", DIS_EVALUATION_MAX_SPLITS);
    if (o->n_bins < 1 || o->n_bins > DIS_EVALUATION_MAX_BINS)
        return dis__fail(DIS_EUSAGE, "the number of bins must be from 1 to %d", DIS_EVALUATION_MAX_BINS);
    if (!(o->fraction > 0 && o->fraction <= 1)) return dis__fail(DIS_EUSAGE, "the fraction must be above 0, at most 1");
    if (in->multi_label && in->gold)
        return dis__fail(DIS_EUSAGE, "gold labels of sets of classes are human labels of 0 and 1");
    if (o->top_k < 1) return dis__fail(DIS_EUSAGE, "top_k must be at least 1");
    for (size_t i = 0; in->gold && i < in->n_items; i++)
        if (in->gold[i] < -1 || (in->gold[i] >= 0 && (size_t)in->gold[i] >= in->n_classes))
            return dis__fail(DIS_EUSAGE, "the gold label of item %zu is %d and there are %zu classes", i, in->gold[i],
                             in->n_classes);
    for (size_t i = 0; in->group && i < in->n_items; i++)
        if (in->group[i] >= in->n_groups)
            return dis__fail(DIS_EUSAGE, "the group of item %zu is %u and there are %zu", i, in->group[i],
                             in->n_groups);
    return DIS_OK;
}

static bool is_selected(const dis_evaluation_options *o, size_t metric)
{
    return !o->metrics || (metric < o->n_metrics && o->metrics[metric]);
}

/* Marks the metrics that can be computed; the others receive their reason. */
static void select_metrics(dis_evaluation *e)
{
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        const unsigned needs = dis_evaluation_metric_get(m)->needs;
        const char *reason = !is_selected(&e->o, m)                         ? "not requested"
                             : needs & DIS_NEEDS_WORKERS                    ? "predictions are not of single workers"
                             : needs & DIS_NEEDS_GOLD && !e->in.gold        ? "there are no gold labels"
                             : needs & DIS_NEEDS_HUMAN && !e->in.human      ? "there are no human labels"
                             : needs & DIS_NEEDS_ORDER && !e->o.ordinal     ? "the classes have no order"
                             : needs & DIS_NEEDS_SETS && !e->in.multi_label ? "labels are not sets of classes"
                             : needs & DIS_NEEDS_GOLD && !e->view.n_gold    ? "no item has a gold label"
                                                                            : NULL;
        e->wanted[m] = !reason;
        e->metric[m] = dis__metric_undefined(reason);
    }
}

static dis_status find_gold_items(dis_evaluation *e)
{
    if (!e->in.gold) return DIS_OK;
    for (size_t i = 0; i < e->in.n_items; i++) e->view.n_gold += e->in.gold[i] >= 0;
    if (e->view.n_gold == e->in.n_items || e->view.n_gold == 0) return DIS_OK;
    DIS_TRY(dis__alloc_array(&e->gold_item, e->view.n_gold, sizeof *e->gold_item));
    for (size_t i = 0, j = 0; i < e->in.n_items; i++)
        if (e->in.gold[i] >= 0) e->gold_item[j++] = i;
    return DIS_OK;
}

/* The values of single items for the caller: NaN without a gold label. */
static void set_item_views(dis_evaluation *e)
{
    for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++)
        for (size_t i = 0;
             e->gold_item && e->column[c] && dis__item_columns[c].needs & DIS_NEEDS_GOLD && i < e->in.n_items; i++)
            if (e->in.gold[i] < 0) e->column[c][i] = NAN;
    size_t n = 0;
    for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++) {
        const dis__item_column_row *row = &dis__item_columns[c];
        const bool measured = !(row->needs & DIS_NEEDS_ORDER) || e->o.ordinal;
        if (row->listed)
            e->item_column[n++] = (dis_evaluation_column){.metric = dis__metric_of_column((dis__item_column)c),
                                                          .values = measured ? e->column[c] : NULL};
    }
    e->view.items = (dis_evaluation_items){.predicted = e->predicted, .n_columns = n, .column = e->item_column};
}

static bool has_soft_scores(const dis_evaluation *e)
{
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        if (e->wanted[m] && dis__metrics[m].soft && dis__metrics[m].aggregate == DIS_OWN_CODE) return true;
    return false;
}

/* Metrics that are estimated as squares; negative estimates become 0. */
static void take_roots(dis_evaluation *e)
{
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        dis_metric *x = &e->metric[m];
        if (!dis__metrics[m].root || x->reason) continue;
        e->squared[m] = x->value;
        x->value = sqrt(fmax(x->value, 0));
        x->ci_low = sqrt(fmax(x->ci_low, 0));
        x->ci_high = sqrt(fmax(x->ci_high, 0));
        if (x->has_interval) continue;
        x->ci_low = x->ci_high = NAN;
    }
}

static dis_status evaluate(dis_context *ctx, dis_evaluation *e)
{
    e->view.n_items = e->in.n_items;
    e->view.n_classes = e->in.n_classes;
    e->view.resamples = e->o.resamples;
    e->view.majority_class = SIZE_MAX;
    e->view.metric = e->metric;
    e->view.n_metrics = DIS_EVALUATION_METRICS;
    DIS_TRY(check_memory(ctx, e));
    DIS_TRY(find_gold_items(e));
    select_metrics(e);
    if (e->view.n_gold == 0) e->in.gold = NULL;
    dis__item_sums *sums;
    DIS_TRY(dis__alloc_array(&sums, 1, sizeof *sums));
    dis_status status;
    DIS_TRY_GOTO(status, pass_over_items(ctx, e, sums), end);
    e->view.n_floored = sums->counts.floored;
    e->view.n_human_floored = sums->counts.human_floored;
    set_means(e, sums);
    if (e->in.gold) {
        if (!e->labels_only) DIS_TRY_GOTO(status, set_bins(e, sums), end);
        DIS_TRY_GOTO(status, dis__class_scores_compute(e), end);
    }
    if (e->in.human && has_soft_scores(e)) DIS_TRY_GOTO(status, dis__soft_scores_compute(e), end);
    DIS_TRY_GOTO(status, compute_others(ctx, e, sums), end);
    e->view.interval_scope = DIS_INTERVAL_ITEMS;
    if (e->in.human && e->in.votes && !e->in.multi_label && dis_votes_get_view(e->in.votes->votes).start &&
        e->o.resamples && e->o.fraction >= 1 && e->o.interval_scope == DIS_INTERVAL_ANNOTATORS) {
        e->view.interval_scope = DIS_INTERVAL_ANNOTATORS;
        DIS_TRY_GOTO(status, dis__evaluation_annotator_variance(ctx, e), end);
    }
    if (e->o.resamples) {
        if (!e->soft) DIS_TRY_GOTO(status, dis__soft_variances_create(e, 0), end);
        DIS_TRY_GOTO(status, dis__evaluation_intervals_compute(ctx, e), end);
    }
    take_roots(e);
    if (e->o.keep_items) set_item_views(e);
end:
    dis__soft_variances_destroy(e->soft);
    e->soft = NULL;
    dis__free(sums);
    return status;
}

dis_status dis_evaluation_run(dis_context *ctx, const dis_evaluation_input *input,
                              const dis_evaluation_options *options, dis_evaluation **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_evaluation_options o = dis_evaluation_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_evaluation_options, &o, options));
    dis_evaluation_input in = dis_evaluation_input_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_evaluation_input, &in, input));
    dis_evaluation_votes votes = dis_evaluation_votes_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_evaluation_votes, &votes, in.votes));
    if (in.votes) in.votes = &votes;
    DIS_TRY(check(&in, &o));
    dis_evaluation *e;
    DIS_TRY(dis__alloc_zeroed(&e, 1, sizeof *e));
    e->in = in;
    e->o = o;
    const dis_status status = evaluate(ctx, e);
    e->o.metrics = NULL;
    e->in.votes = NULL;
    if (status == DIS_OK)
        *out = e;
    else
        dis_evaluation_destroy(e);
    return status;
}

DIS_VIEW_DEFINE(dis_evaluation, evaluation, evaluation->view)

static const dis_metric *find_measured(const dis_evaluation *e, const char *name)
{
    const dis_evaluation_metric m = dis_evaluation_metric_find(name);
    return m < DIS_EVALUATION_METRICS && !e->metric[m].reason ? &e->metric[m] : NULL;
}

double dis_evaluation_value(const dis_evaluation *evaluation, const char *name)
{
    const dis_metric *m = find_measured(evaluation, name);
    return m ? m->value : NAN;
}

bool dis_evaluation_interval(const dis_evaluation *evaluation, const char *name, double *low, double *high)
{
    const dis_metric *m = find_measured(evaluation, name);
    const bool has_interval = m && m->has_interval;
    *low = has_interval ? m->ci_low : NAN;
    *high = has_interval ? m->ci_high : NAN;
    return has_interval;
}

const double *dis_evaluation_values(const dis_evaluation_view *view, dis_evaluation_metric metric)
{
    for (size_t c = 0; c < view->items.n_columns; c++)
        if (view->items.column[c].metric == metric) return view->items.column[c].values;
    return NULL;
}

void dis_evaluation_destroy(dis_evaluation *e)
{
    if (!e) return;
    for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++) dis__free(e->column[c]);
    dis__free(e->predicted);
    dis__free(e->gold_item);
    dis__free(e->classes);
    dis__free(e->confusion);
    dis__free(e->bin);
    dis__free(e->human_bin);
    dis__free(e->soft_classes);
    dis__free(e->cells.count);
    dis__free(e->cells.gold);
    dis__free(e->cells.predicted);
    dis__free(e->calibrated.fitted);
    dis__free(e->crossed);
    dis__free(e);
}
