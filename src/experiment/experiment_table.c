/* The table: per cell and measure mean, standard deviation and interval over seeds, and a test against the baseline.
 *
 * The value of a seed is the mean over its folds that are done. The interval is mean -+ t sd / sqrt(n) with Student's t
 * of n - 1 degrees of freedom, cut at the ends of the metric's range: the true mean lies within it, so what is cut off
 * holds it never and the interval covers it as often as before. (Intervals on the logit scale stay inside as well, but
 * with a handful of seeds near 1 they are many times too wide.) For whole degrees of freedom the law of t is a finite
 * sum (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4), so its quantile is found by bisection. */
#include "experiment/experiment_internal.h"
#include "experiment/compare_cells.h"
#include "core/memory/memory.h"
#include "core/options/sized_structs.h"
#include <math.h>
#include <string.h>

struct dis_experiment_table {
    dis_experiment_row *row;
    size_t n_rows, n_measures;
    dis_experiment_value *figure; /* (n_cells, n_measures) */
    double *seed;                 /* values of seeds, (n_cells, n_measures, most seeds) */
};

/* ---- Student's t ---- */

/* Share of the law within -t .. t, t = tan(angle) sqrt(n). */
static double within(double angle, size_t n)
{
    const double c = cos(angle), s = sin(angle), half_turn = 1.57079632679489661923;
    double term = n % 2 ? c : 1, sum = n == 1 ? 0 : term;
    for (size_t i = n % 2 ? 3 : 2; i + 1 < n; i += 2) {
        term *= c * c * (double)(i - 1) / (double)i;
        sum += term;
    }
    return n % 2 ? (angle + s * sum) / half_turn : s * sum;
}

double dis__student_quantile(double share, size_t n)
{
    double low = 0, high = 1.57079632679489661923;
    for (int i = 0; i < 200 && low < high; i++) {
        const double middle = low + (high - low) / 2;
        if (middle == low || middle == high) break;
        if (within(middle, n) < share)
            low = middle;
        else
            high = middle;
    }
    return tan(low) * sqrt((double)n);
}

/* ---- figures ---- */

static void summarise(dis_experiment_value *f, dis_evaluation_metric metric)
{
    f->mean = f->sd = f->ci_low = f->ci_high = f->difference = f->p = (double)NAN;
    if (f->n == 0) return;
    double sum = 0, squares = 0; /* relative to the first seed: equal values have that value as mean, and no spread */
    for (size_t i = 1; i < f->n; i++) sum += f->seed[i] - f->seed[0];
    f->mean = f->seed[0] + sum / (double)f->n;
    if (f->n == 1) return;
    for (size_t i = 0; i < f->n; i++) squares += (f->seed[i] - f->mean) * (f->seed[i] - f->mean);
    f->sd = sqrt(squares / (double)(f->n - 1));
    const double reach = dis__student_quantile(.95, f->n - 1) * f->sd / sqrt((double)f->n);
    const dis_evaluation_metric_row *row = dis_evaluation_metric_get(metric);
    f->ci_low = fmax(f->mean - reach, fmin(row->low, f->mean));
    f->ci_high = fmin(f->mean + reach, fmax(row->high, f->mean)); /* a mean may have a rounding error */
}

/* Runs of a cell are consecutive, fold by fold; a seed is identified by its first run. */
typedef struct {
    size_t first, end;
} span;

static span runs_of(const dis__plan *plan, size_t cell)
{
    span s = {0};
    while (s.first < plan->n_runs && plan->run[s.first].cell != cell) s.first++;
    for (s.end = s.first; s.end < plan->n_runs && plan->run[s.end].cell == cell; s.end++) {}
    return s;
}

static bool first_of_seed(const dis__plan *plan, span s, size_t r)
{
    for (size_t q = s.first; q < r; q++)
        if (plan->run[q].seed == plan->run[r].seed) return false;
    return true;
}

/* Over the folds of the seed of run r: the pooled value if there is one, otherwise the mean; NaN: no value. */
static double seed_value(const dis_experiment *e, const dis__known *known, span s, size_t r, size_t m,
                         const double *pooled)
{
    const dis__plan *plan = e->plan;
    double sum = 0;
    size_t n = 0;
    if (!isnan(pooled[m])) return pooled[m];
    for (size_t q = s.first; q < s.end; q++) {
        const double x = known->value[q * plan->n_measures + m];
        if (plan->run[q].seed != plan->run[r].seed || !e->selected[q] || isnan(x)) continue;
        sum += x;
        n++;
    }
    return n ? sum / (double)n : (double)NAN;
}

static void fill_row(const dis_experiment *e, const dis__known *known, const double *pooled, dis_experiment_table *t,
                     size_t cell, dis_experiment_row *row, double **room)
{
    const dis__plan *plan = e->plan;
    const span s = runs_of(plan, cell);
    dis_experiment_value *figure = t->figure + cell * plan->n_measures;
    *row = (dis_experiment_row){.cell = cell, .values = figure};
    for (size_t r = s.first; r < s.end; r++) {
        if (!e->selected[r]) continue;
        row->n_runs++;
        row->n_done += known->state[r] == DIS_RUN_DONE;
        row->n_failed += known->state[r] == DIS_RUN_FAILED;
        row->n_seeds += first_of_seed(plan, s, r);
        if (plan->run[r].fold + 1 > row->n_folds) row->n_folds = plan->run[r].fold + 1;
    }
    for (size_t m = 0; m < plan->n_measures; m++) {
        dis_experiment_value *f = &figure[m];
        f->published = plan->cell[cell].published ? plan->cell[cell].published[m] : (double)NAN;
        f->seed = *room;
        for (size_t r = s.first; r < s.end; r++) {
            if (!first_of_seed(plan, s, r)) continue;
            const double x = seed_value(e, known, s, r, m, pooled + r * plan->n_measures);
            if (!isnan(x)) (*room)[f->n++] = x;
        }
        *room += f->n;
        summarise(f, plan->measure[m].metric);
    }
}

/* Number of test items of a cell's seed in a set, over all folds; 0: no stored predictions. */
static dis_status count_items(dis_context *ctx, const dis_experiment *e, dis__store *store, const dis__known *known,
                              size_t cell, const char *set, size_t *n_items)
{
    const dis__plan *plan = e->plan;
    const span s = runs_of(plan, cell);
    size_t first = SIZE_MAX;
    *n_items = 0;
    for (size_t r = s.first; r < s.end; r++) {
        if (known->state[r] != DIS_RUN_DONE || !e->selected[r]) continue;
        if (first == SIZE_MAX) first = r;
        if (plan->run[r].seed != plan->run[first].seed) continue;
        dis__stored_set stored;
        bool found;
        const dis_status status = dis__store_predictions(store, ctx, plan->run[r].key, set, &stored, &found);
        if (status == DIS_EDATA || (status == DIS_OK && !found)) continue; /* damaged: reported when it is needed */
        DIS_TRY(status);
        *n_items += dis_labels_get_view(stored.predicted).n_items;
        dis__stored_set_free(&stored);
    }
    return DIS_OK;
}

/* n_items of every metric; cells of one data set share those of the first one with a value. */
static dis_status count_all_items(dis_context *ctx, const dis_experiment *e, dis__store *store, const dis__known *known,
                                  dis_experiment_table *t)
{
    const dis__plan *plan = e->plan;
    for (size_t i = 0; i < t->n_rows && store; i++)
        for (size_t m = 0; m < plan->n_measures; m++) {
            const char *data = plan->cell[t->row[i].cell].data, *set = plan->measure[m].set;
            size_t n = 0;
            for (size_t k = 0; k <= i && n == 0; k++)
                for (size_t q = 0; q < plan->n_measures && n == 0; q++)
                    if (strcmp(plan->cell[t->row[k].cell].data, data) == 0 && strcmp(plan->measure[q].set, set) == 0)
                        n = t->row[k].values[q].n_items;
            if (n == 0) DIS_TRY(count_items(ctx, e, store, known, t->row[i].cell, set, &n));
            t->figure[t->row[i].cell * plan->n_measures + m].n_items = n;
        }
    return DIS_OK;
}

/* The best mean of each measure among the cells of one data set, if there are several. */
static void mark_best(const dis_experiment *e, dis_experiment_table *t)
{
    const dis__plan *plan = e->plan;
    for (size_t m = 0; m < plan->n_measures; m++) {
        const char *better = dis_evaluation_metric_get(plan->measure[m].metric)->better;
        const double sign = strcmp(better, "higher") == 0 ? 1 : strcmp(better, "lower") == 0 ? -1 : 0;
        for (size_t i = 0; i < t->n_rows && sign != 0; i++) {
            dis_experiment_value *f = t->figure + t->row[i].cell * plan->n_measures + m;
            size_t rivals = 0, beaten = 0;
            for (size_t k = 0; k < t->n_rows; k++) {
                const double other = t->row[k].values[m].mean;
                if (k == i || isnan(other) ||
                    strcmp(plan->cell[t->row[k].cell].data, plan->cell[t->row[i].cell].data) != 0)
                    continue;
                rivals++;
                beaten += sign * f->mean >= sign * other;
            }
            f->best = rivals && rivals == beaten;
        }
    }
}

/* Which metric of a comparison a measure is; DIS_COMPARE_METRICS: none. */
static size_t compared_metric(dis_evaluation_metric metric)
{
    size_t i = 0;
    while (i < DIS_COMPARE_METRICS && dis_comparison_metric_get(i) != dis_evaluation_metric_get(metric)) i++;
    return i;
}

static dis_status test_cell(dis_context *ctx, const dis_experiment *e, dis__store *store, const dis__known *known,
                            dis_experiment_table *t, size_t cell)
{
    const dis__plan *plan = e->plan;
    const size_t against = plan->cell[cell].baseline;
    if (against == SIZE_MAX || against == cell) return DIS_OK;
    dis_experiment_value *figure = t->figure + cell * plan->n_measures;
    for (size_t m = 0; m < plan->n_measures; m++) {
        if (compared_metric(plan->measure[m].metric) == DIS_COMPARE_METRICS || figure[m].has_comparison || !figure[m].n)
            continue;
        dis_comparison *c = NULL;
        DIS_TRY(dis__pairwise(ctx, store, plan, known->state, cell, against, plan->measure[m].set, &c));
        /* one comparison serves all measures of the set */
        for (size_t k = m; c && k < plan->n_measures; k++) {
            const size_t metric = compared_metric(plan->measure[k].metric);
            if (metric == DIS_COMPARE_METRICS || strcmp(plan->measure[k].set, plan->measure[m].set) != 0) continue;
            const dis_significance s = dis_comparison_get_view(c).metric[metric];
            figure[k].has_comparison = !s.difference.reason;
            figure[k].difference = s.difference.value;
            figure[k].p = s.p_two_sided; /* `p` is one-sided in a direction that the data choose: 10 % at level .05 */
            figure[k].stars = s.p_two_sided <= .01 ? 2 : s.p_two_sided <= .05 ? 1 : 0;
        }
        dis_comparison_destroy(c);
    }
    return DIS_OK;
}

/* One of the permutation tests of compare_cells.h. */
typedef struct {
    bool (*is_testable)(dis_evaluation_metric metric);
    dis_status (*run)(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                      size_t cell, size_t against, const char *set, dis__item_test *tests);
} permutation;

/* One pass over the predictions serves all measures of a set. */
static dis_status run_permutation(dis_context *ctx, const dis_experiment *e, dis__store *store, const dis__known *known,
                                  const permutation *test, size_t cell, const dis_experiment_value *figure,
                                  dis__item_test *tests)
{
    const dis__plan *plan = e->plan;
    for (size_t m = 0; m < plan->n_measures; m++) {
        bool is_done = !test->is_testable(plan->measure[m].metric) || !figure[m].n;
        for (size_t k = 0; k < m && !is_done; k++)
            is_done = test->is_testable(plan->measure[k].metric) && figure[k].n &&
                      strcmp(plan->measure[k].set, plan->measure[m].set) == 0;
        if (!is_done)
            DIS_TRY(test->run(ctx, store, plan, known->state, cell, plan->cell[cell].baseline, plan->measure[m].set,
                              tests));
    }
    return DIS_OK;
}

/* Means over items, such as KL and Brier, and metrics of all items at once, such as ECE. */
static dis_status run_permutations(dis_context *ctx, const dis_experiment *e, dis__store *store,
                                   const dis__known *known, dis_experiment_table *t, size_t cell)
{
    static const permutation kinds[] = {{dis__item_mean_is_testable, dis__item_means_test},
                                        {dis__swap_is_testable, dis__swap_test}};
    const dis__plan *plan = e->plan;
    const size_t against = plan->cell[cell].baseline;
    dis_experiment_value *figure = t->figure + cell * plan->n_measures;
    dis__item_test *tests;
    if (against == SIZE_MAX || against == cell) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&tests, plan->n_measures, sizeof *tests));
    dis_status status = DIS_OK;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && status == DIS_OK; k++)
        status = run_permutation(ctx, e, store, known, &kinds[k], cell, figure, tests);
    for (size_t m = 0; m < plan->n_measures && status == DIS_OK; m++) {
        if (!tests[m].is_tested || !figure[m].n || figure[m].has_comparison) continue;
        figure[m].has_comparison = true;
        figure[m].difference = tests[m].difference;
        figure[m].p = tests[m].p;
        figure[m].stars = tests[m].stars;
    }
    dis__free(tests);
    return status;
}

static bool first_of_data(const dis__plan *plan, size_t cell)
{
    size_t c = 0;
    while (strcmp(plan->cell[c].data, plan->cell[cell].data) != 0) c++;
    return c == cell;
}

/* (n_runs, n_measures): pooled over all folds, at the first run of each seed; NaN: not pooled. */
static dis_status pool_all(dis_context *ctx, const dis_experiment *e, dis__store *store, const dis__known *known,
                           double *pooled)
{
    const dis__plan *plan = e->plan;
    for (size_t i = 0; i < plan->n_runs * plan->n_measures; i++) pooled[i] = (double)NAN;
    for (size_t r = 0; plan->pool_folds && r < plan->n_runs; r++)
        if (first_of_seed(plan, runs_of(plan, plan->run[r].cell), r))
            DIS_TRY(dis__pooled_values(ctx, plan, store, known, r, pooled + r * plan->n_measures));
    return DIS_OK;
}

static dis_status fill(dis_context *ctx, const dis_experiment *e, dis__store *store, const dis__known *known,
                       const double *pooled, dis_experiment_table *t)
{
    const dis__plan *plan = e->plan;
    double *room = t->seed;
    for (size_t c = 0; c < plan->n_cells; c++) {
        if (!first_of_data(plan, c)) continue;
        for (size_t d = c; d < plan->n_cells; d++) { /* cells of a data set lie together */
            if (strcmp(plan->cell[d].data, plan->cell[c].data) != 0) continue;
            fill_row(e, known, pooled, t, d, &t->row[t->n_rows], &room);
            t->n_rows += t->row[t->n_rows].n_runs > 0;
        }
    }
    mark_best(e, t);
    for (size_t i = 0; i < t->n_rows && store; i++) DIS_TRY(test_cell(ctx, e, store, known, t, t->row[i].cell));
    for (size_t i = 0; i < t->n_rows && store; i++) DIS_TRY(run_permutations(ctx, e, store, known, t, t->row[i].cell));
    return DIS_OK;
}

dis_status dis__table_make(dis_context *ctx, const dis_experiment *e, dis__store *store, const dis__known *known,
                           dis_experiment_table **out)
{
    const dis__plan *plan = e->plan;
    dis_experiment_table *t;
    DIS_TRY(dis__alloc_zeroed(&t, 1, sizeof *t));
    t->n_measures = plan->n_measures;
    dis_status status = dis__alloc_zeroed(&t->row, plan->n_cells, sizeof *t->row);
    if (status == DIS_OK)
        status =
            dis__alloc_zeroed(&t->figure, dis__saturating_size(plan->n_cells, plan->n_measures, 0), sizeof *t->figure);
    if (status == DIS_OK)
        status = dis__alloc_zeroed(&t->seed, dis__saturating_size(plan->n_runs, plan->n_measures, 0), sizeof *t->seed);
    double *pooled = NULL;
    if (status == DIS_OK)
        status = dis__alloc_array(&pooled, dis__saturating_size(plan->n_runs, plan->n_measures, 0), sizeof *pooled);
    if (status == DIS_OK) status = pool_all(ctx, e, store, known, pooled);
    if (status == DIS_OK) status = fill(ctx, e, store, known, pooled, t);
    dis__free(pooled);
    if (status == DIS_OK) status = count_all_items(ctx, e, store, known, t);
    if (status == DIS_OK)
        *out = t;
    else
        dis_experiment_table_destroy(t);
    return status;
}

static dis_experiment_table_view view_of(const dis_experiment_table *t)
{
    return (dis_experiment_table_view){.n_rows = t->n_rows, .n_measures = t->n_measures, .row = t->row};
}
DIS_VIEW_DEFINE(dis_experiment_table, t, view_of(t))

void dis_experiment_table_destroy(dis_experiment_table *t)
{
    if (!t) return;
    dis__free(t->row);
    dis__free(t->figure);
    dis__free(t->seed);
    dis__free(t);
}
