/* How metrics against people vary with the annotators: the human labels are recomputed without some of them.
 *
 * Annotators are left out one by one, or in 20 random blocks if there are more. Items without other votes are left
 * out too. The variance of single votes is that of the changes of single items, which the bootstrap over items contains
 * as well; it is known for metrics that are means over items (stats/crossed.h).
 *
 * Cost: at most 21 runs of the label method, and as many evaluations without intervals. */
#include "evaluate/evaluation_internal.h"
#include "evaluate/annotator_blocks.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "dissent/fit.h"
#include <math.h>
#include <string.h>

/* Whether the metric is a function of changes of single items: its value is the mean of a column, up to a factor. */
static bool is_plain_mean(size_t metric)
{
    const dis__metric *row = &dis__metrics[metric];
    return row->aggregate == DIS_MEAN_OF_ITEMS && row->row.needs & DIS_NEEDS_HUMAN && !row->in_log_k;
}

typedef struct {
    dis_context *ctx;
    dis_evaluation *e;
    const dis_evaluation_votes *from;
    dis_votes_view votes;
    bool wanted[DIS_EVALUATION_METRICS];
    dis__annotator_blocks blocks;
    uint32_t *task, *worker;
    uint16_t *label;
    size_t *row;       /* (n_items) current rows */
    double *q, *human; /* (n_items, n_classes) of these */
    dis_evaluation *all;
    double *value;                          /* (n_blocks, DIS_EVALUATION_METRICS) */
    double squares[DIS_EVALUATION_METRICS]; /* of changes of single items */
} jackknife;

static size_t class_of(const jackknife *l, uint64_t v)
{
    return l->from->class_map[l->votes.label8 ? l->votes.label8[v] : l->votes.label16[v]];
}

/* ---- blocks ---- */

static void count_votes(const jackknife *l, double *n_votes)
{
    for (size_t r = 0; r < l->e->in.n_items; r++) {
        const size_t item = l->from->item_map[r];
        if (item >= l->votes.n_items) continue;
        for (uint64_t v = l->votes.start[item]; v < l->votes.start[item + 1]; v++)
            n_votes[l->votes.worker[v]] += class_of(l, v) < l->e->in.n_classes;
    }
}

static dis_status make_blocks(jackknife *l)
{
    double *n_votes;
    DIS_TRY(dis__alloc_zeroed(&n_votes, l->votes.n_workers, sizeof *n_votes));
    count_votes(l, n_votes);
    const dis_status status = dis__annotator_blocks_init(n_votes, l->votes.n_workers, l->e->o.seed, &l->blocks);
    dis__free(n_votes);
    return status;
}

/* ---- an evaluation without a block ---- */

/* The votes of the remaining annotators. */
static dis_status gather_votes(jackknife *l, uint32_t block, dis_votes **out)
{
    const dis_votes_view *v = &l->votes;
    size_t n = 0;
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            if (l->blocks.block[v->worker[t]] == block) continue;
            l->task[n] = (uint32_t)i;
            l->worker[n] = v->worker[t];
            l->label[n++] = v->label8 ? v->label8[t] : v->label16[t];
        }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = v->n_items,
                                .n_workers = v->n_workers,
                                .n_classes = v->n_classes,
                                .task = l->task,
                                .worker = l->worker,
                                .label = l->label,
                                .duplicates = DIS_DUPLICATES_ALL};
    return dis_votes_create_from_arrays(l->ctx, &a, out);
}

/* Rows whose items still have votes, with their labels. Returns their number. */
static size_t gather_rows(const jackknife *l, const dis_votes *votes, const double *p)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    const size_t K = l->e->in.n_classes;
    size_t n = 0;
    for (size_t r = 0; r < l->e->in.n_items; r++) {
        const size_t item = l->from->item_map[r];
        if (item >= v.n_items || v.start[item] == v.start[item + 1]) continue;
        double *human = l->human + n * K, sum = 0;
        memcpy(l->q + n * K, l->e->in.q + r * K, K * sizeof *l->q);
        for (size_t k = 0; k < K; k++) human[k] = 0;
        for (size_t k = 0; k < v.n_classes; k++) {
            if (l->from->class_map[k] >= K) continue;
            human[l->from->class_map[k]] += p[item * v.n_classes + k];
            sum += p[item * v.n_classes + k];
        }
        for (size_t k = 0; k < K && sum > 0; k++) human[k] /= sum;
        if (sum > 0) l->row[n++] = r;
    }
    return n;
}

static dis_status evaluate_rows(const jackknife *l, size_t n, dis_evaluation **out)
{
    const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                     .n_items = n,
                                     .n_classes = l->e->in.n_classes,
                                     .q = l->q,
                                     .human = l->human};
    dis_evaluation_options o = dis_evaluation_options_default();
    o.ordinal = l->e->o.ordinal;
    o.keep_items = true;
    o.n_metrics = DIS_EVALUATION_METRICS;
    o.metrics = l->wanted;
    return dis_evaluation_run(l->ctx, &in, &o, out);
}

static dis_status evaluate_without(jackknife *l, uint32_t block, dis_evaluation **out, size_t *n)
{
    dis_votes *votes = NULL;
    dis_fit *fit = NULL;
    dis_fit_options fit_options = dis_fit_options_default();
    fit_options.seed = l->e->o.seed;
    dis_status status = gather_votes(l, block, &votes);
    if (status == DIS_OK) status = dis_fit_run(l->ctx, votes, l->from->labels, &fit_options, &fit);
    *n = status == DIS_OK ? gather_rows(l, votes, dis_fit_p(fit)) : 0;
    dis_fit_destroy(fit);
    dis_votes_destroy(votes);
    return status == DIS_OK && *n ? evaluate_rows(l, *n, out) : status;
}

/* Squared changes of single items; dropped items count with their distance from the mean. */
static void add_squares(jackknife *l, const dis_evaluation *without, size_t n)
{
    const size_t n_all = l->all->view.n_items;
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) {
        if (!l->wanted[m] || !is_plain_mean(m)) continue;
        const double *was = l->all->column[dis__metrics[m].column], *is = without->column[dis__metrics[m].column];
        const double scale = dis__metrics[m].scale;
        const double mean = (l->all->metric[m].value - dis__metrics[m].shift) / scale;
        double sum = 0;
        for (size_t r = 0, at = 0; r < n_all; r++) {
            const bool gone = at >= n || l->row[at] != r;
            const double change = gone ? was[r] - mean : is[at] - was[r];
            at += !gone;
            sum += change * change;
        }
        l->squares[m] += scale * scale * sum / ((double)n_all * (double)n_all);
    }
}

static dis_status leave_block(jackknife *l, size_t b)
{
    dis_evaluation *without = NULL;
    size_t n;
    DIS_TRY(evaluate_without(l, (uint32_t)b, &without, &n));
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        l->value[b * DIS_EVALUATION_METRICS + m] =
            without && !without->metric[m].reason
                ? dis__metrics[m].root ? without->squared[m] : without->metric[m].value
                : (double)NAN;
    if (without) add_squares(l, without, n);
    dis__soft_variances_add(l->e, b, l->human, l->row, without ? n : 0);
    dis_evaluation_destroy(without);
    return DIS_OK;
}

/* ---- all of it ---- */

static dis_status prepare(jackknife *l)
{
    const size_t n = l->e->in.n_items, K = l->e->in.n_classes;
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        l->wanted[m] = l->e->wanted[m] && dis__metrics[m].row.needs & DIS_NEEDS_HUMAN &&
                       !(dis__metrics[m].soft && dis__metrics[m].aggregate == DIS_OWN_CODE);
    DIS_TRY(make_blocks(l));
    l->e->df_annotators = dis__annotator_df(l->blocks.effective);
    DIS_TRY(dis__soft_variances_create(l->e, l->blocks.n_blocks ? l->blocks.n_blocks : 1));
    DIS_TRY(dis__alloc_array(&l->task, l->votes.n_votes, sizeof *l->task));
    DIS_TRY(dis__alloc_array(&l->worker, l->votes.n_votes, sizeof *l->worker));
    DIS_TRY(dis__alloc_array(&l->label, l->votes.n_votes, sizeof *l->label));
    DIS_TRY(dis__alloc_array(&l->row, n, sizeof *l->row));
    DIS_TRY(dis__alloc_array(&l->q, dis__saturating_size(n, K, 0), sizeof *l->q));
    DIS_TRY(dis__alloc_array(&l->human, dis__saturating_size(n, K, 0), sizeof *l->human));
    return dis__alloc_array(&l->value, (size_t)DIS_ANNOTATOR_BLOCKS * DIS_EVALUATION_METRICS, sizeof *l->value);
}

static dis_status run(jackknife *l, dis__crossed_variances *out)
{
    DIS_TRY(prepare(l));
    if (l->blocks.n_workers > 1) {
        const size_t n = l->e->in.n_items * l->e->in.n_classes;
        memcpy(l->q, l->e->in.q, n * sizeof *l->q);
        memcpy(l->human, l->e->in.human, n * sizeof *l->human);
        DIS_TRY(evaluate_rows(l, l->e->in.n_items, &l->all));
        for (size_t b = 0; b < l->blocks.n_blocks; b++) {
            dis__progress(l->ctx, "annotators", (double)b / (double)l->blocks.n_blocks);
            DIS_TRY(leave_block(l, b));
        }
    }
    const double scale = ((double)l->blocks.n_blocks - 1) / (double)l->blocks.n_blocks;
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++) out[m] = (dis__crossed_variances){.votes = NAN};
    for (size_t m = 0; m < DIS_EVALUATION_METRICS && l->blocks.n_workers > 1; m++) {
        out[m].annotators = dis__jackknife(l->value + m, l->blocks.n_blocks, DIS_EVALUATION_METRICS);
        out[m].df_annotators = l->e->df_annotators;
        out[m].df_items = (double)l->e->in.n_items - 1;
    }
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        if (is_plain_mean(m)) out[m].votes = scale * l->squares[m];
    return DIS_OK;
}

dis_status dis__evaluation_annotator_variance(dis_context *ctx, dis_evaluation *e)
{
    jackknife l = {.ctx = ctx, .e = e, .from = e->in.votes, .votes = dis_votes_get_view(e->in.votes->votes)};
    dis_context *local = NULL;
    DIS_TRY(dis__alloc_zeroed(&e->crossed, DIS_EVALUATION_METRICS, sizeof *e->crossed));
    if (dis__comm_is_parallel(dis__context_comm(ctx))) { /* each rank has all votes */
        dis_context_options o = dis_context_options_default();
        o.threads = dis_context_n_threads(ctx);
        DIS_TRY(dis_context_create(&o, &local));
        l.ctx = local;
    }
    const dis_status status = run(&l, e->crossed);
    e->view.n_annotators = l.blocks.n_workers;
    e->view.few_annotators = l.blocks.n_workers < DIS_EVALUATION_FEW_ANNOTATORS;
    dis_evaluation_destroy(l.all);
    dis__free(l.blocks.block);
    dis__free(l.task);
    dis__free(l.worker);
    dis__free(l.label);
    dis__free(l.row);
    dis__free(l.q);
    dis__free(l.human);
    dis__free(l.value);
    dis_context_destroy(local);
    return status;
}
