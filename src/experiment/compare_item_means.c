/* Metrics that are means over items, such as KL and Brier: one cell against another by a paired permutation test,
 * in which the difference of an item changes its sign at random (Fisher's randomization test). It is exact for few items,
 * where the bootstrap is not.
 *
 * Every seed that is done counts; the value of an item is its mean over the seeds of a side, and items change their signs.
 * Where seeds have different items (a test set drawn by seed), pairs of item and seed change them instead, of the
 * seeds that both sides have. Cost: every file of predictions of both sides is read
 * once.
 *
 * Calibrated log-likelihood: temperatures are fitted for each side and seed, on the same halves of the items. The value of
 * an item is its loss in the splits that hold it out, scaled so that the mean over items is the metric. The
 * temperatures count as given. */
#include "experiment/compare_cells.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "evaluate/calibrated_likelihood.h"
#include "evaluate/metrics.h"
#include "core/random/random.h"
#include "stats/distributions.h"
#include <math.h>
#include <string.h>

enum { CALIBRATED = DIS_ITEM_COLUMNS, N_COLUMNS }; /* an additional column: calibrated losses */

/* Sums over the seeds of a side, in the order of the tasks of the first seed of the first side. */
typedef struct {
    dis_names *tasks, *classes;
    size_t n_items, n_classes;
    bool is_comparable, has_gold, has_human, is_calibrated; /* is_calibrated: CALIBRATED is filled */
    double *sum[2];                                         /* (N_COLUMNS, n_items) per side */
    size_t n_seeds[2];
    bool *is_gold; /* (n_items) */
} item_sums;

static void item_sums_free(item_sums *s)
{
    dis_names_destroy(s->tasks);
    dis_names_destroy(s->classes);
    dis__free(s->sum[0]);
    dis__free(s->sum[1]);
    dis__free(s->is_gold);
}

static dis_status begin(item_sums *s, dis__pooled *p)
{
    s->n_items = p->n_items;
    s->n_classes = p->n_classes;
    s->has_human = true;
    DIS_TRY(dis__names_copy(p->tasks, &s->tasks));
    DIS_TRY(dis__names_copy(p->classes, &s->classes));
    DIS_TRY(dis__alloc_zeroed(&s->is_gold, p->n_items, sizeof *s->is_gold));
    for (int side = 0; side < 2; side++)
        DIS_TRY(dis__alloc_zeroed(&s->sum[side], dis__saturating_size(p->n_items, N_COLUMNS, 0), sizeof(double)));
    for (size_t i = 0; i < p->n_items; i++) {
        s->is_gold[i] = p->gold[i] >= 0;
        s->has_gold |= s->is_gold[i];
    }
    return DIS_OK;
}

static dis_status add_columns(item_sums *s, int side, const dis__pooled *p, const size_t *row)
{
    double *values, *column[DIS_ITEM_COLUMNS];
    int32_t *predicted = NULL;
    dis__item_count_votes counts = {0};
    const size_t n = p->n_items;
    const dis__item_args args = {.n_classes = p->n_classes,
                                 .top_k = dis_evaluation_options_default().top_k,
                                 .q = p->p,
                                 .human = p->human,
                                 .gold = p->gold};
    DIS_TRY(dis__alloc_zeroed(&values, dis__saturating_size(n, DIS_ITEM_COLUMNS, 0), sizeof *values));
    const dis_status status = dis__alloc_array(&predicted, n, sizeof *predicted);
    for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++) column[c] = values + c * n;
    if (status == DIS_OK) {
        DIS_KERNEL_SELECT(dis__item_metrics)(&args, 0, n, column, predicted, &counts);
        for (size_t c = 0; c < DIS_ITEM_COLUMNS; c++)
            for (size_t i = 0; i < n; i++) s->sum[side][c * n + i] += column[c][row[i]];
    }
    dis__free(values);
    dis__free(predicted);
    return status;
}

/* Adds the loss of each item at the temperatures of the splits that hold it out. c: items in the order of the sums. */
static dis_status add_losses(dis_context *ctx, item_sums *s, int side, const dis__calibration *c,
                             const dis__fitted_temperatures *at)
{
    double *loss[DIS_EVALUATION_MAX_SPLITS], *values, n_held[DIS_EVALUATION_MAX_SPLITS] = {0};
    const size_t n = c->n;
    DIS_TRY(dis__alloc_zeroed(&values, dis__saturating_size(n, c->n_splits, 0), sizeof *values));
    for (size_t k = 0; k < c->n_splits; k++) {
        loss[k] = values + k * n;
        for (size_t i = 0; i < n; i++) n_held[k] += !(at->fitted[i] >> k & 1);
    }
    const dis_status status = dis__calibrated_losses_compute(ctx, c, at, loss);
    double *sum = s->sum[side] + CALIBRATED * s->n_items;
    for (size_t i = 0, g = 0; status == DIS_OK && i < s->n_items; i++) {
        if (!s->is_gold[i]) continue;
        for (size_t k = 0; k < c->n_splits; k++) sum[i] += loss[k][g] * (double)n / (n_held[k] * (double)c->n_splits);
        g++;
    }
    dis__free(values);
    return status;
}

static dis_status add_calibrated(dis_context *ctx, item_sums *s, int side, const dis__pooled *p, const size_t *row)
{
    const dis_evaluation_options o = dis_evaluation_options_default();
    dis__calibration c = {
        .n_classes = p->n_classes, .q = p->p, .gold = p->gold, .n_splits = o.n_splits, .seed = o.seed};
    dis__fitted_temperatures at = {0};
    const char *reason = NULL;
    size_t *item;
    DIS_TRY(dis__alloc_array(&item, s->n_items, sizeof *item));
    for (size_t i = 0; i < s->n_items; i++)
        if (s->is_gold[i]) item[c.n++] = row[i];
    c.item = item;
    dis_status status = dis__temperatures_fit(ctx, &c, &at, &reason);
    if (status == DIS_OK && reason) s->is_calibrated = false;
    if (status == DIS_OK && !reason) status = add_losses(ctx, s, side, &c, &at);
    dis__free(at.fitted);
    dis__free(item);
    return status;
}

static dis_status add_seed(dis_context *ctx, item_sums *s, int side, dis__pooled *p)
{
    size_t *row, found;
    if (!s->tasks) DIS_TRY(begin(s, p));
    s->is_comparable = s->is_comparable && p->n_items == s->n_items && dis__names_equal(p->classes, s->classes);
    if (!s->is_comparable) return DIS_OK;
    s->has_human = s->has_human && p->human;
    DIS_TRY(dis__names_match_alloc(p->tasks, s->tasks, &row, &found));
    s->is_comparable = found == s->n_items;
    dis_status status = s->is_comparable ? add_columns(s, side, p, row) : DIS_OK;
    if (status == DIS_OK && s->is_comparable && s->is_calibrated) status = add_calibrated(ctx, s, side, p, row);
    s->n_seeds[side]++;
    dis__free(row);
    return status;
}

static dis_status add_side(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                           size_t cell, const char *set, const uint64_t *only, item_sums *s, int side)
{
    for (size_t r = 0; r < plan->n_runs && s->is_comparable; r++) {
        dis__pooled pooled = {0};
        bool seen = plan->run[r].cell != cell || (only && plan->run[r].seed != *only), found;
        for (size_t q = 0; q < r && !seen; q++)
            seen = plan->run[q].cell == cell && plan->run[q].seed == plan->run[r].seed;
        if (seen) continue;
        DIS_TRY(dis__pool_folds(ctx, store, plan, state, cell, plan->run[r].seed, set, true, &pooled, &found));
        const dis_status status = found ? add_seed(ctx, s, side, &pooled) : DIS_OK;
        dis__pooled_free(&pooled);
        DIS_TRY(status);
    }
    s->is_comparable = s->is_comparable && s->n_seeds[side] > 0;
    return DIS_OK;
}

/* Differences of one measure, for all items or all pairs of item and seed. */
typedef struct {
    double *d;
    size_t n, capacity;
} differences;

static bool is_calibrated_loss(const dis__metric *metric)
{
    return metric == &dis__metrics[DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD];
}

static dis_status add_differences(const item_sums *s, const dis__metric *metric, differences *out)
{
    const bool is_calibrated = is_calibrated_loss(metric);
    const size_t at = (is_calibrated ? CALIBRATED : (size_t)metric->column) * s->n_items;
    if (is_calibrated && !s->is_calibrated) return DIS_OK;
    if (((metric->row.needs & DIS_NEEDS_GOLD) && !s->has_gold) ||
        ((metric->row.needs & DIS_NEEDS_HUMAN) && !s->has_human))
        return DIS_OK;
    DIS_TRY(dis__reserve(&out->d, &out->capacity, out->n, out->n + s->n_items, sizeof *out->d));
    for (size_t i = 0; i < s->n_items; i++) {
        if ((metric->row.needs & DIS_NEEDS_GOLD) && !s->is_gold[i]) continue;
        out->d[out->n++] = s->sum[0][at + i] / (double)s->n_seeds[0] - s->sum[1][at + i] / (double)s->n_seeds[1];
    }
    return DIS_OK;
}

/* Two-sided p-value: with many items from the normal limit over all signs, otherwise from random signs. */
static double permutation_p(const differences *x, size_t n_permutations)
{
    enum { MANY = 1000, SEED = 0, PURPOSE = 0x51674e };
    double sum = 0, squares = 0;
    size_t extreme = 1; /* the observed signs are one of the permutations */
    for (size_t i = 0; i < x->n; i++) {
        sum += x->d[i];
        squares += x->d[i] * x->d[i];
    }
    if (sum == 0) return 1;
    if (x->n > MANY) return dis__chi_square_tail(sum * sum / squares, 1);
    for (size_t r = 0; r < n_permutations; r++) {
        double flipped = 0;
        for (size_t i = 0; i < x->n; i++)
            flipped += dis__random_below(SEED, PURPOSE, r * MANY + i, 2) ? x->d[i] : -x->d[i];
        extreme += fabs(flipped) >= fabs(sum) * (1 - 1e-12);
    }
    return (double)extreme / (double)(n_permutations + 1);
}

static void test(const dis__plan *plan, const dis__metric *metric, size_t n_classes, const differences *x,
                 dis__item_test *out)
{
    double sum = 0;
    if (x->n == 0 || plan->resamples == 0) return;
    for (size_t i = 0; i < x->n; i++) sum += x->d[i];
    out->is_tested = true;
    sum /= (double)x->n;
    out->difference = is_calibrated_loss(metric) ? sum : dis__metric_from_mean(metric, sum, n_classes) - metric->shift;
    out->p = permutation_p(x, plan->resamples);
    out->stars = out->p <= .01 ? 2 : out->p <= .05 ? 1 : 0;
}

bool dis__item_mean_is_testable(dis_evaluation_metric metric)
{
    const dis__metric *m = &dis__metrics[metric];
    return is_calibrated_loss(m) || (m->aggregate == DIS_MEAN_OF_ITEMS &&
                                     (strcmp(m->row.better, "higher") == 0 || strcmp(m->row.better, "lower") == 0));
}

/* The predictions of both sides, for all seeds or for one. */
typedef struct {
    dis_context *ctx;
    dis__store *store;
    const dis__plan *plan;
    const dis_run_state *state;
    size_t cell, against;
    const char *set;
    differences *d; /* (n_measures of the plan) */
    size_t n_classes;
} comparison;

static bool measures_calibrated(const dis__plan *plan, const char *set)
{
    for (size_t m = 0; m < plan->n_measures; m++)
        if (is_calibrated_loss(&dis__metrics[plan->measure[m].metric]) && strcmp(plan->measure[m].set, set) == 0)
            return true;
    return false;
}

static dis_status compare_seeds(comparison *c, const uint64_t *only, bool *is_comparable)
{
    item_sums s = {.is_comparable = true, .is_calibrated = measures_calibrated(c->plan, c->set)};
    dis_status status = add_side(c->ctx, c->store, c->plan, c->state, c->cell, c->set, only, &s, 0);
    if (status == DIS_OK && s.is_comparable)
        status = add_side(c->ctx, c->store, c->plan, c->state, c->against, c->set, only, &s, 1);
    *is_comparable = s.is_comparable;
    for (size_t m = 0; m < c->plan->n_measures && status == DIS_OK && s.is_comparable; m++) {
        const dis_experiment_measure *measure = &c->plan->measure[m];
        if (dis__item_mean_is_testable(measure->metric) && strcmp(measure->set, c->set) == 0)
            status = add_differences(&s, &dis__metrics[measure->metric], &c->d[m]);
    }
    c->n_classes = s.n_classes ? s.n_classes : c->n_classes;
    item_sums_free(&s);
    return status;
}

static dis_status compare_each_seed(comparison *c)
{
    const dis__plan *plan = c->plan;
    for (size_t r = 0; r < plan->n_runs; r++) {
        bool seen = plan->run[r].cell != c->cell, is_comparable;
        for (size_t q = 0; q < r && !seen; q++)
            seen = plan->run[q].cell == c->cell && plan->run[q].seed == plan->run[r].seed;
        if (!seen) DIS_TRY(compare_seeds(c, &plan->run[r].seed, &is_comparable));
    }
    return DIS_OK;
}

dis_status dis__item_means_test(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                                size_t cell, size_t against, const char *set, dis__item_test *tests)
{
    comparison c = {
        .ctx = ctx, .store = store, .plan = plan, .state = state, .cell = cell, .against = against, .set = set};
    bool is_comparable = false;
    dis_status status = dis__alloc_zeroed(&c.d, plan->n_measures, sizeof *c.d);
    if (status == DIS_OK) status = compare_seeds(&c, NULL, &is_comparable);
    if (status == DIS_OK && !is_comparable) status = compare_each_seed(&c);
    for (size_t m = 0; m < plan->n_measures && status == DIS_OK; m++)
        test(plan, &dis__metrics[plan->measure[m].metric], c.n_classes, &c.d[m], &tests[m]);
    for (size_t m = 0; c.d && m < plan->n_measures; m++) dis__free(c.d[m].d);
    dis__free(c.d);
    return status;
}
