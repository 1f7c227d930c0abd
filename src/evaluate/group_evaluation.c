/* Which groups do predictions represent? Compares the votes of each group with the predictions for their items.
 *
 * The loss of a vote is -log q of its class. The mean over a group's votes is an unbiased estimate of the cross-entropy
 * between the group and the prediction, however few votes the group has on each item; so are means over resamples of
 * items, and over permutations of the groups among the workers, which test the difference to all other groups.
 * Intervals hold for new items and new annotators of the groups (stats/crossed.h).
 *
 * Cost: (1 + resamples + permutations) passes over the votes. */
#include "core/numbers/elementary.h"
#include "dissent/groups.h"
#include "tool/arrays.h"
#include "core/memory/memory.h"
#include "core/parallel/rank_jobs.h"
#include "core/names/name_index.h"
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include "stats/bootstrap.h"
#include "stats/crossed_intervals.h"
#include "stats/permutation_test.h"
#include "stats/distributions.h"
#include <math.h>

enum { LOSS, AGREEMENT, APART, VALUES, PERMUTATIONS_PER_JOB = 16, MAX_REPEATS = 1000000 };
#define FLOOR 1e-12

struct dis_group_evaluation {
    dis_group_evaluation_view view;
    dis_group_evaluation_row *groups;
};

static dis_group_evaluation_view view_of(const dis_group_evaluation *e)
{
    return e->view;
}
DIS_VIEW_DEFINE(dis_group_evaluation, e, view_of(e))

void dis_group_evaluation_destroy(dis_group_evaluation *e)
{
    if (!e) return;
    dis__free(e->groups);
    dis__free(e);
}

typedef struct {
    dis_context *ctx;
    const dis_votes_view *votes;
    const dis_worker_groups_view *groups;
    const dis_group_evaluation_input *in;
    const dis_group_agreement_options *o;
    double *loss; /* (n_votes) NaN: left out */
    bool *right;  /* (n_votes) */
    size_t n_values;
    int32_t *permuted;                          /* (threads, n_workers) */
    double *value, *resample, *permuted_values; /* (1, resamples, permutations; n_values) */
    dis__crossed_variances *crossed; /* (n_values) variances over annotators and votes; NULL: for new items only */
    double *scratch;
} work;

static void work_free(work *w)
{
    dis__free(w->loss);
    dis__free(w->right);
    dis__free(w->permuted);
    dis__free(w->value);
    dis__free(w->resample);
    dis__free(w->permuted_values);
    dis__free(w->crossed);
    dis__free(w->scratch);
}

/* ---- single votes ---- */

static size_t predicted(const double *q, size_t n)
{
    size_t top = 0;
    for (size_t k = 1; k < n; k++)
        if (q[k] > q[top]) top = k;
    return top;
}

static void compute_losses(work *w, const size_t *row, const size_t *class)
{
    const dis_votes_view *v = w->votes;
    const size_t n = w->in->n_classes;
    for (size_t i = 0; i < v->n_items; i++) {
        const double *q = row[i] == SIZE_MAX ? NULL : w->in->q + row[i] * n;
        const size_t top = q ? predicted(q, n) : 0;
        double sum = 0;
        for (size_t k = 0; q && k < n; k++) sum += fmax(q[k], FLOOR);
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            const size_t k = class[v->label8 ? v->label8[t] : v->label16[t]];
            const bool known = q && k != SIZE_MAX;
            w->loss[t] = known ? dis__log(sum) - dis__log(fmax(q[k], FLOOR)) : (double)NAN;
            w->right[t] = known && k == top;
        }
    }
}

static dis_status prepare(work *w)
{
    const dis_votes_view *v = w->votes;
    const size_t threads = (size_t)dis_context_n_threads(w->ctx), n = w->n_values;
    size_t *row = NULL, *class = NULL;
    dis_status status = dis__names_match_alloc(w->in->tasks, v->tasks, &row, NULL);
    if (status == DIS_OK) status = dis__names_match_alloc(w->in->classes, v->classes, &class, NULL);
    if (status == DIS_OK) status = dis__alloc_array(&w->loss, v->n_votes, sizeof *w->loss);
    if (status == DIS_OK) status = dis__alloc_array(&w->right, v->n_votes, sizeof *w->right);
    if (status == DIS_OK) compute_losses(w, row, class);
    dis__free(row);
    dis__free(class);
    if (status != DIS_OK) return status;
    const size_t repeats = w->o->resamples > w->o->permutations ? w->o->resamples : w->o->permutations;
    DIS_TRY(dis__alloc_array(&w->permuted, dis__saturating_size(threads, v->n_workers, 0), sizeof *w->permuted));
    DIS_TRY(dis__alloc_array(&w->value, n, sizeof *w->value));
    DIS_TRY(dis__alloc_array(&w->resample, dis__saturating_size(w->o->resamples, n, 0), sizeof *w->resample));
    DIS_TRY(dis__alloc_array(&w->permuted_values, dis__saturating_size(w->o->permutations, n, 0),
                             sizeof *w->permuted_values));
    return dis__alloc_array(&w->scratch, repeats, sizeof *w->scratch);
}

/* ---- passes ---- */

/* Sums over votes, of each group and, last, of all groups. */
typedef struct {
    double n, loss, right;
} vote_sums;

static void add_vote(const work *w, uint64_t t, double times, vote_sums *to)
{
    to->n += times;
    to->loss += times * w->loss[t];
    to->right += times * w->right[t];
}

static void values_of(const vote_sums *of, size_t n_groups, double *values)
{
    const vote_sums *all = &of[n_groups];
    for (size_t g = 0; g < n_groups; g++) {
        double *to = values + g * VALUES;
        const double others = all->n - of[g].n;
        to[LOSS] = of[g].n > 0 ? of[g].loss / of[g].n : (double)NAN;
        to[AGREEMENT] = of[g].n > 0 ? of[g].right / of[g].n : (double)NAN;
        to[APART] = of[g].n > 0 && others > 0 ? to[LOSS] - (all->loss - of[g].loss) / others : (double)NAN;
    }
}

static void sum_votes(const work *w, const int32_t *group, const uint8_t *times, vote_sums *of)
{
    const dis_votes_view *v = w->votes;
    const size_t n_groups = w->groups->n_groups;
    for (size_t g = 0; g <= n_groups; g++) of[g] = (vote_sums){0};
    for (size_t i = 0; i < v->n_items; i++) {
        const double m = times ? times[i] : 1;
        for (uint64_t t = v->start[i]; m > 0 && t < v->start[i + 1]; t++) {
            const int32_t g = group[v->worker[t]];
            if (g >= 0 && !isnan(w->loss[t])) add_vote(w, t, m, &of[g]);
        }
    }
    for (size_t g = 0; g < n_groups; g++) {
        of[n_groups].n += of[g].n;
        of[n_groups].loss += of[g].loss;
        of[n_groups].right += of[g].right;
    }
}

static void measure(const work *w, const int32_t *group, const uint8_t *times, double *values)
{
    vote_sums of[DIS_MAX_GROUPS + 1];
    sum_votes(w, group, times, of);
    values_of(of, w->groups->n_groups, values);
}

/* ---- other annotators ---- */

typedef struct {
    vote_sums of[DIS_MAX_GROUPS + 1];
    double rest[DIS_MAX_GROUPS * VALUES];
    vote_sums *by_worker;         /* (n_workers) */
    dis__left_out_group *moments; /* (n_values, n_groups) */
} jackknife;

/* The values without some votes of a group. */
static void leave_out(const work *w, jackknife *l, size_t g, const vote_sums *x)
{
    const size_t n_groups = w->groups->n_groups;
    const vote_sums group = l->of[g], all = l->of[n_groups];
    vote_sums *const from[2] = {&l->of[g], &l->of[n_groups]};
    for (int i = 0; i < 2; i++) {
        from[i]->n -= x->n;
        from[i]->loss -= x->loss;
        from[i]->right -= x->right;
    }
    values_of(l->of, n_groups, l->rest);
    l->of[g] = group;
    l->of[n_groups] = all;
}

static void leave_annotators(work *w, jackknife *l)
{
    const size_t n_groups = w->groups->n_groups;
    double sum[DIS_MAX_GROUPS] = {0}, squares[DIS_MAX_GROUPS] = {0}, effective[DIS_MAX_GROUPS];
    for (size_t x = 0; x < w->votes->n_workers; x++) {
        const int32_t g = w->groups->group[x];
        const double n = l->by_worker[x].n;
        if (g < 0 || n == 0) continue;
        sum[g] += n;
        squares[g] += n * n;
        leave_out(w, l, (size_t)g, &l->by_worker[x]);
        for (size_t v = 0; v < w->n_values; v++) {
            const double change = l->rest[v] - w->value[v];
            dis__left_out_group *m = &l->moments[v * n_groups + (size_t)g];
            m->n++;
            m->sum += change;
            m->squares += change * change;
        }
    }
    for (size_t g = 0; g < n_groups; g++) effective[g] = squares[g] > 0 ? sum[g] * sum[g] / squares[g] : 0;
    for (size_t v = 0; v < w->n_values; v++)
        w->crossed[v].annotators =
            dis__grouped_jackknife(l->moments + v * n_groups, effective, n_groups, 1, &w->crossed[v].df_annotators);
}

static void leave_votes(work *w, jackknife *l)
{
    const dis_votes_view *v = w->votes;
    for (uint64_t t = 0; t < v->n_votes; t++) {
        const int32_t g = w->groups->group[v->worker[t]];
        vote_sums one = {0};
        if (g < 0 || isnan(w->loss[t])) continue;
        add_vote(w, t, 1, &one);
        leave_out(w, l, (size_t)g, &one);
        for (size_t k = 0; k < w->n_values; k++) {
            const double change = l->rest[k] - w->value[k];
            w->crossed[k].votes += isnan(change) ? 0 : change * change;
        }
    }
}

static dis_status leave_out_all(work *w)
{
    const dis_votes_view *v = w->votes;
    jackknife *l;
    DIS_TRY(dis__alloc_zeroed(&l, 1, sizeof *l));
    dis_status status = dis__alloc_zeroed(&w->crossed, w->n_values, sizeof *w->crossed);
    if (status == DIS_OK) status = dis__alloc_zeroed(&l->by_worker, v->n_workers, sizeof *l->by_worker);
    if (status == DIS_OK)
        status = dis__alloc_zeroed(&l->moments, dis__saturating_size(w->n_values, w->groups->n_groups, 0),
                                   sizeof *l->moments);
    if (status == DIS_OK) {
        sum_votes(w, w->groups->group, NULL, l->of);
        for (uint64_t t = 0; t < v->n_votes; t++)
            if (!isnan(w->loss[t])) add_vote(w, t, 1, &l->by_worker[v->worker[t]]);
        leave_annotators(w, l);
        leave_votes(w, l);
    }
    dis__free(l->by_worker);
    dis__free(l->moments);
    dis__free(l);
    return status;
}

static dis_status one_resample(void *arg, const uint8_t *count, size_t resample, int thread, double *values)
{
    (void)resample;
    (void)thread;
    const work *w = arg;
    measure(w, w->groups->group, count, values);
    return DIS_OK;
}

static dis_status permutation_job(void *arg, size_t j, int thread)
{
    const work *w = arg;
    int32_t *permuted = w->permuted + (size_t)thread * w->votes->n_workers;
    const size_t first = j * PERMUTATIONS_PER_JOB, last = first + PERMUTATIONS_PER_JOB;
    for (size_t d = first; d < last && d < w->o->permutations; d++) {
        dis__permute_groups(w->o->seed, d, w->groups->group, w->votes->n_workers, permuted);
        measure(w, permuted, NULL, w->permuted_values + d * w->n_values);
    }
    return DIS_OK;
}

static dis_status measure_all(work *w)
{
    const dis__rank_rows rows = {.table = w->permuted_values,
                                 .row_size = w->n_values * sizeof *w->permuted_values,
                                 .n = w->o->permutations,
                                 .per_job = PERMUTATIONS_PER_JOB};
    const size_t n = w->votes->n_items, jobs = (w->o->permutations + PERMUTATIONS_PER_JOB - 1) / PERMUTATIONS_PER_JOB;
    const dis__bootstrap b = {.n_items = n, .n_draws = n, .n_resamples = w->o->resamples, .seed = w->o->seed};
    measure(w, w->groups->group, NULL, w->value);
    if (w->o->resamples) DIS_TRY(dis__bootstrap_run(w->ctx, &b, one_resample, w, w->n_values, w->resample));
    if (w->o->resamples && w->o->interval_scope == DIS_INTERVAL_ANNOTATORS) DIS_TRY(leave_out_all(w));
    return jobs ? dis__run_rank_jobs(w->ctx, jobs, permutation_job, w, &rows, 1) : DIS_OK;
}

/* ---- results ---- */

static void crossed_interval(const work *w, size_t at, uint64_t items, dis_metric *m)
{
    static const double low[VALUES] = {[APART] = -INFINITY}, high[VALUES] = {INFINITY, 1, INFINITY};
    dis__crossed_variances v = w->crossed[at];
    v.items = dis__resampled_variance(w->resample + at, w->o->resamples, w->n_values);
    v.df_items = (double)items - 1;
    dis__crossed_interval_linear(&v, low[at % VALUES], high[at % VALUES], m);
}

static dis_metric metric_at(const work *w, size_t at, const dis_group_evaluation_row *row, const char *reason)
{
    if (isnan(w->value[at])) return dis__metric_undefined(reason);
    dis_metric m = {.value = w->value[at], .ci_low = NAN, .ci_high = NAN, .n = (size_t)row->votes};
    if (w->crossed)
        crossed_interval(w, at, row->items, &m);
    else if (w->o->resamples)
        m.has_interval = dis__bootstrap_interval_of(w->resample, w->o->resamples, w->n_values, at, w->scratch,
                                                    &m.ci_low, &m.ci_high);
    return m;
}

/* Votes and items of each group that count. */
static void count_votes(const work *w, dis_group_evaluation *e)
{
    const dis_votes_view *v = w->votes;
    size_t last[DIS_MAX_GROUPS];
    for (size_t g = 0; g < DIS_MAX_GROUPS; g++) last[g] = SIZE_MAX;
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            const int32_t g = w->groups->group[v->worker[t]];
            e->view.n_votes_excluded += g >= 0 && isnan(w->loss[t]);
            if (g < 0 || isnan(w->loss[t])) continue;
            e->groups[g].votes++;
            e->groups[g].items += last[g] != i;
            last[g] = i;
        }
}

static dis_status fill(work *w, dis_group_evaluation *e)
{
    static const char none[] = "no vote of this group is on a predicted item";
    const size_t n = w->groups->n_groups;
    double p[DIS_MAX_GROUPS];
    w->n_values = n * VALUES;
    DIS_TRY(prepare(w));
    DIS_TRY(dis__alloc_zeroed(&e->groups, n, sizeof *e->groups));
    e->view.interval_scope = w->o->interval_scope;
    e->view.n_groups = n;
    e->view.groups = e->groups;
    count_votes(w, e);
    uint64_t votes = 0;
    for (size_t g = 0; g < n; g++) votes += e->groups[g].votes;
    if (votes == 0)
        return dis__fail(DIS_EDATA, "no vote of these groups is on an item and for a class of the predictions");
    DIS_TRY(measure_all(w));
    for (size_t g = 0; g < n; g++) {
        dis_group_evaluation_row *to = &e->groups[g];
        to->workers = w->groups->workers[g];
        to->log_loss = metric_at(w, g * VALUES + LOSS, to, none);
        to->agreement = metric_at(w, g * VALUES + AGREEMENT, to, none);
        to->excess_log_loss = metric_at(w, g * VALUES + APART, to, "there is no other group to compare with");
        p[g] = to->p = dis__permutation_p(w->permuted_values, w->o->permutations, w->n_values, g * VALUES + APART,
                                          w->value[g * VALUES + APART], false);
    }
    DIS_TRY(dis__false_discovery(p, n, false, p));
    for (size_t g = 0; g < n; g++) e->groups[g].q = p[g];
    return DIS_OK;
}

static dis_status check(const dis_votes_view *v, const dis_worker_groups_view *g, const dis_group_evaluation_input *in,
                        const dis_group_agreement_options *o)
{
    if (!v->start)
        return dis__fail(DIS_EDATA, "the votes have no annotator ids; give one row per vote with a worker column");
    if (g->n_workers != v->n_workers)
        return dis__fail(DIS_EUSAGE, "the groups have %zu workers, but the votes have %zu", g->n_workers, v->n_workers);
    if (in->n_classes == 0 || dis_names_count(in->tasks) != in->n_items ||
        dis_names_count(in->classes) != in->n_classes)
        return dis__fail(DIS_EUSAGE, "names of tasks and classes must be as many as rows and columns of q");
    if (o->permutations > MAX_REPEATS || o->resamples > MAX_REPEATS)
        return dis__fail(DIS_EUSAGE, "at most %d `permutations` and `resamples` are possible", MAX_REPEATS);
    return DIS_OK;
}

dis_status dis_group_evaluation_run(dis_context *ctx, const dis_votes *votes, const dis_worker_groups *groups,
                                    const dis_group_evaluation_input *input, const dis_group_agreement_options *options,
                                    dis_group_evaluation **out)
{
    dis_group_agreement_options o = dis_group_agreement_options_default();
    const dis_votes_view v = dis_votes_get_view(votes);
    const dis_worker_groups_view g = dis_worker_groups_get_view(groups);
    dis_group_evaluation *e;
    DIS_TRY(DIS_OPTIONS_COPY(dis_group_agreement_options, &o, options));
    DIS_TRY(check(&v, &g, input, &o));
    DIS_TRY(dis__alloc_zeroed(&e, 1, sizeof *e));
    work w = {.ctx = ctx, .votes = &v, .groups = &g, .in = input, .o = &o};
    const dis_status status = fill(&w, e);
    work_free(&w);
    if (status != DIS_OK) {
        dis_group_evaluation_destroy(e);
        return status;
    }
    *out = e;
    return DIS_OK;
}
