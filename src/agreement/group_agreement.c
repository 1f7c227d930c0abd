/* Agreement of groups: values, intervals, permutation tests over workers.
 *
 * A test asks whether groups matter to a value. The groups are randomly reassigned to the workers, each group keeping
 * its size. The p-value is twice the smaller share of permutations in which the value is at least as low, or as high
 * (adding one to both sides of the share, so that it is never 0). p-values of one kind are corrected together for the
 * false discovery rate (Benjamini and Hochberg 1995).
 *
 * Intervals hold for new items and new annotators of the same groups: the bootstrap over items, combined with a
 * jackknife over the annotators of each group (stats/crossed.h).
 *
 * Cost: (1 + resamples + permutations) passes over the votes, and that of group_jackknife.c. */
#include "tool/arrays.h"
#include "agreement/group_sums.h"
#include "core/memory/memory.h"
#include "core/parallel/rank_jobs.h"
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include "stats/bootstrap.h"
#include "stats/crossed_intervals.h"
#include "stats/permutation_test.h"
#include "stats/distributions.h"
#include <math.h>
#include <string.h>

enum { MAX_PERMUTATIONS = 1000000, PERMUTATIONS_PER_JOB = 16 };

struct dis_group_agreement {
    dis_group_agreement_view view;
    dis_group_row *groups;
    dis_group_pair *pairs;
    dis_group_item *items;
};

DIS_OPTIONS_DEFAULTS(dis_group_agreement_options, .size = sizeof(dis_group_agreement_options), .resamples = 1000,
                     .permutations = 1000, .min_side = 2)

static dis_group_agreement_view view_of(const dis_group_agreement *a)
{
    return a->view;
}
DIS_VIEW_DEFINE(dis_group_agreement, a, view_of(a))

void dis_group_agreement_destroy(dis_group_agreement *a)
{
    if (!a) return;
    dis__free(a->groups);
    dis__free(a->pairs);
    dis__free(a->items);
    dis__free(a);
}

/* State shared by all passes. */
typedef struct {
    dis_context *ctx;
    const dis_votes_view *votes;
    const dis_worker_groups_view *groups;
    const dis_group_agreement_options *o;
    double *rank;          /* (n_classes) of ordered classes */
    dis__group_sums *sums; /* (n_sums) one per thread */
    size_t n_sums, n_values;
    int32_t *permuted;       /* (threads, n_workers) */
    double *value;           /* (n_values) */
    double *resample;        /* (resamples, n_values) */
    double *permuted_values; /* (permutations, n_values) */
    dis__group_jackknife left_out;
    double *scratch;
} work;

static void work_free(work *w)
{
    for (size_t t = 0; t < w->n_sums; t++) dis__group_sums_destroy(&w->sums[t]);
    dis__free(w->sums);
    dis__free(w->rank);
    dis__free(w->permuted);
    dis__free(w->value);
    dis__free(w->resample);
    dis__free(w->permuted_values);
    dis__free(w->scratch);
    dis__group_jackknife_destroy(&w->left_out);
}

/* Mean ranks of the classes among all votes of annotators in groups: Krippendorff's ordinal distance. */
static dis_status rank_classes(work *w)
{
    const dis_votes_view *v = w->votes;
    if (!w->o->ordinal) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&w->rank, v->n_classes, sizeof *w->rank));
    for (size_t t = 0; t < v->n_votes; t++)
        if (w->groups->group[v->worker[t]] >= 0) w->rank[v->label8 ? v->label8[t] : v->label16[t]]++;
    double before = 0;
    for (size_t k = 0; k < v->n_classes; k++) {
        const double n = w->rank[k];
        w->rank[k] = before + n / 2;
        before += n;
    }
    return DIS_OK;
}

static dis_status prepare(work *w)
{
    const size_t threads = (size_t)dis_context_n_threads(w->ctx), n_workers = w->votes->n_workers;
    DIS_TRY(rank_classes(w));
    DIS_TRY(dis__alloc_zeroed(&w->sums, threads, sizeof *w->sums));
    for (; w->n_sums < threads; w->n_sums++)
        DIS_TRY(dis__group_sums_create(w->votes, w->rank, w->groups->n_groups, &w->sums[w->n_sums]));
    w->n_values = w->sums[0].n_values;
    const size_t repeats = w->o->resamples > w->o->permutations ? w->o->resamples : w->o->permutations;
    DIS_TRY(dis__alloc_array(&w->permuted, dis__saturating_size(threads, n_workers, 0), sizeof *w->permuted));
    DIS_TRY(dis__alloc_array(&w->value, w->n_values, sizeof *w->value));
    DIS_TRY(dis__alloc_array(&w->resample, dis__saturating_size(w->o->resamples, w->n_values, 0), sizeof *w->resample));
    DIS_TRY(dis__alloc_array(&w->permuted_values, dis__saturating_size(w->o->permutations, w->n_values, 0),
                             sizeof *w->permuted_values));
    return dis__alloc_array(&w->scratch, repeats, sizeof *w->scratch);
}

/* ---- passes ---- */

static dis_status one_resample(void *arg, const uint8_t *count, size_t resample, int thread, double *values)
{
    (void)resample;
    const work *w = arg;
    dis__group_sums *s = &w->sums[thread];
    dis__group_sums_compute(s, w->groups->group, count);
    dis__group_sums_compute_values(s, values);
    return DIS_OK;
}

static dis_status permute_job(void *arg, size_t j, int thread)
{
    const work *w = arg;
    int32_t *permuted = w->permuted + (size_t)thread * w->votes->n_workers;
    const size_t first = j * PERMUTATIONS_PER_JOB, last = first + PERMUTATIONS_PER_JOB;
    for (size_t d = first; d < last && d < w->o->permutations; d++) {
        dis__permute_groups(w->o->seed, d, w->groups->group, w->votes->n_workers, permuted);
        dis__group_sums_compute(&w->sums[thread], permuted, NULL);
        dis__group_sums_compute_values(&w->sums[thread], w->permuted_values + d * w->n_values);
    }
    return DIS_OK;
}

static dis_status leave_out(work *w)
{
    dis__group_sums_compute(&w->sums[0], w->groups->group, NULL);
    dis__group_sums_compute_values(&w->sums[0], w->value);
    return dis__group_jackknife_run(w->ctx, w->sums, w->groups->group, w->value, &w->left_out);
}

static dis_status pass_all(work *w)
{
    const dis__rank_rows rows = {.table = w->permuted_values,
                                 .row_size = w->n_values * sizeof *w->permuted_values,
                                 .n = w->o->permutations,
                                 .per_job = PERMUTATIONS_PER_JOB};
    const size_t n = w->votes->n_items;
    const dis__bootstrap b = {.n_items = n, .n_draws = n, .n_resamples = w->o->resamples, .seed = w->o->seed};
    if (n && w->o->resamples) DIS_TRY(dis__bootstrap_run(w->ctx, &b, one_resample, w, w->n_values, w->resample));
    const size_t jobs = (w->o->permutations + PERMUTATIONS_PER_JOB - 1) / PERMUTATIONS_PER_JOB;
    if (jobs) DIS_TRY(dis__run_rank_jobs(w->ctx, jobs, permute_job, w, &rows, 1));
    if (w->o->resamples && w->o->interval_scope == DIS_INTERVAL_ANNOTATORS) DIS_TRY(leave_out(w));
    dis__group_sums_compute(&w->sums[0], w->groups->group, NULL); /* last: the counts are needed */
    dis__group_sums_compute_values(&w->sums[0], w->value);
    return DIS_OK;
}

/* ---- results ---- */

/* For new items and new annotators of the groups. Values above -1 are at most 1; others are between min and -min. */
static void crossed_interval(const work *w, size_t at, double min, dis_metric *m)
{
    const bool of_groups = at == dis__group_difference_value_index(&w->sums[0]); /* n counts these, not items */
    const dis__crossed_variances v = {.annotators = w->left_out.annotators[at],
                                      .items = dis__resampled_variance(w->resample + at, w->o->resamples, w->n_values),
                                      .votes = w->left_out.votes[at],
                                      .df_annotators = w->left_out.df[at],
                                      .df_items = (double)(of_groups ? w->votes->n_items : m->n) - 1};
    if (min >= -1)
        dis__crossed_interval(&v, min, 1, m);
    else
        dis__crossed_interval_linear(&v, min, -min, m);
}

static dis_metric metric_at(const work *w, size_t at, double n, double min, const char *reason)
{
    if (isnan(w->value[at])) return dis__metric_undefined(reason);
    dis_metric m = {.value = w->value[at], .ci_low = NAN, .ci_high = NAN, .n = (size_t)n};
    if (w->o->resamples && w->o->interval_scope == DIS_INTERVAL_ANNOTATORS)
        crossed_interval(w, at, min, &m);
    else if (w->o->resamples)
        m.has_interval = dis__bootstrap_interval_of(w->resample, w->o->resamples, w->n_values, at, w->scratch,
                                                    &m.ci_low, &m.ci_high);
    return m;
}

static double p_at(const work *w, size_t at, bool one_sided)
{
    return dis__permutation_p(w->permuted_values, w->o->permutations, w->n_values, at, w->value[at], one_sided);
}

static const char no_pairs[] = "no item has two votes of this group", no_others[] = "no item has votes of both";

static void fill_groups(const work *w, dis_group_agreement *a)
{
    const dis__group_sums *s = &w->sums[0];
    for (size_t g = 0; g < a->view.n_groups; g++) {
        const size_t at = g * DIS_GROUP_VALUES;
        const double within = s->within[g].items, across = s->others[g].items;
        a->groups[g] = (dis_group_row){.workers = w->groups->workers[g],
                                       .votes = w->groups->votes[g],
                                       .percent = metric_at(w, at + DIS_GROUP_PERCENT, within, 0, no_pairs),
                                       .within = metric_at(w, at + DIS_GROUP_WITHIN, within, -1, no_pairs),
                                       .across = metric_at(w, at + DIS_GROUP_ACROSS, across, -1, no_others),
                                       .association_index = metric_at(w, at + DIS_GROUP_INDEX, across, -INFINITY,
                                                                      "agreement with the others is not above chance"),
                                       .p_within = p_at(w, at + DIS_GROUP_WITHIN, false),
                                       .p_across = p_at(w, at + DIS_GROUP_ACROSS, false),
                                       .p_association_index = p_at(w, at + DIS_GROUP_INDEX, false)};
    }
    for (size_t g = 0; g < a->view.n_groups; g++)
        for (size_t h = g + 1; h < a->view.n_groups; h++) {
            const size_t p = dis__group_pair_index(a->view.n_groups, g, h), at = dis__group_pair_value_index(s, p);
            a->pairs[p] =
                (dis_group_pair){.a = (uint32_t)g,
                                 .b = (uint32_t)h,
                                 .percent = metric_at(w, at + DIS_PAIR_PERCENT, s->pair[p].items, 0, no_others),
                                 .across = metric_at(w, at + DIS_PAIR_ACROSS, s->pair[p].items, -1, no_others),
                                 .p = p_at(w, at + DIS_PAIR_ACROSS, false),
                                 .difference = metric_at(w, at + DIS_PAIR_DIFFERENCE, s->pair[p].items, -2,
                                                         "one of the groups has no two votes on an item"),
                                 .p_difference = p_at(w, at + DIS_PAIR_DIFFERENCE, false)};
        }
    const size_t at = dis__group_difference_value_index(s);
    a->view.separation = metric_at(w, at, (double)a->view.n_groups, -2, "no two groups can be compared");
    a->view.p_separation = p_at(w, at, true);
}

/* q-values of a field of the rows, together. */
static dis_status correct(void *rows, size_t n, size_t stride, size_t p_offset, size_t q_offset)
{
    double *p;
    DIS_TRY(dis__alloc_array(&p, n, sizeof *p));
    for (size_t i = 0; i < n; i++) memcpy(&p[i], (char *)rows + i * stride + p_offset, sizeof *p);
    const dis_status status = dis__false_discovery(p, n, false, p);
    for (size_t i = 0; status == DIS_OK && i < n; i++) memcpy((char *)rows + i * stride + q_offset, &p[i], sizeof *p);
    dis__free(p);
    return status;
}

static dis_status correct_all(dis_group_agreement *a)
{
    static const size_t fields[][2] = {{offsetof(dis_group_row, p_within), offsetof(dis_group_row, q_within)},
                                       {offsetof(dis_group_row, p_across), offsetof(dis_group_row, q_across)},
                                       {offsetof(dis_group_row, p_association_index),
                                        offsetof(dis_group_row, q_association_index)}};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        DIS_TRY(correct(a->groups, a->view.n_groups, sizeof *a->groups, fields[f][0], fields[f][1]));
    DIS_TRY(
        correct(a->pairs, a->view.n_pairs, sizeof *a->pairs, offsetof(dis_group_pair, p), offsetof(dis_group_pair, q)));
    return correct(a->pairs, a->view.n_pairs, sizeof *a->pairs, offsetof(dis_group_pair, p_difference),
                   offsetof(dis_group_pair, q_difference));
}

static dis_status fill(work *w, dis_group_agreement *a)
{
    const size_t n = w->groups->n_groups;
    DIS_TRY(prepare(w));
    a->view.interval_scope = w->o->interval_scope;
    a->view.n_groups = n;
    a->view.n_pairs = n * (n - 1) / 2;
    DIS_TRY(dis__alloc_array(&a->groups, n, sizeof *a->groups));
    DIS_TRY(dis__alloc_array(&a->pairs, a->view.n_pairs, sizeof *a->pairs));
    DIS_TRY(pass_all(w));
    fill_groups(w, a);
    DIS_TRY(correct_all(a));
    if (w->o->items)
        DIS_TRY(dis__group_find_divided_items(w->ctx, w->votes, w->groups->group, n, w->o->min_side, &a->items,
                                              &a->view.n_items));
    a->view.groups = a->groups;
    a->view.pairs = a->pairs;
    a->view.items = a->items;
    return DIS_OK;
}

static dis_status check(const dis_votes_view *v, const dis_worker_groups_view *g, const dis_group_agreement_options *o)
{
    if (!v->start)
        return dis__fail(DIS_EDATA, "the votes have no annotator ids; give one row per vote with a worker column");
    if (g->n_workers != v->n_workers)
        return dis__fail(DIS_EUSAGE, "the groups have %zu workers, but the votes have %zu", g->n_workers, v->n_workers);
    if (o->permutations > MAX_PERMUTATIONS || o->resamples > MAX_PERMUTATIONS)
        return dis__fail(DIS_EUSAGE, "at most %d `permutations` and `resamples` are possible", MAX_PERMUTATIONS);
    if (o->min_side == 0) return dis__fail(DIS_EUSAGE, "min_side must be 1 or more");
    return DIS_OK;
}

dis_status dis_group_agreement_run(dis_context *ctx, const dis_votes *votes, const dis_worker_groups *groups,
                                   const dis_group_agreement_options *options, dis_group_agreement **out)
{
    dis_group_agreement_options o = dis_group_agreement_options_default();
    const dis_votes_view v = dis_votes_get_view(votes);
    const dis_worker_groups_view g = dis_worker_groups_get_view(groups);
    dis_group_agreement *a;
    DIS_TRY(DIS_OPTIONS_COPY(dis_group_agreement_options, &o, options));
    DIS_TRY(check(&v, &g, &o));
    DIS_TRY(dis__alloc_zeroed(&a, 1, sizeof *a));
    work w = {.ctx = ctx, .votes = &v, .groups = &g, .o = &o};
    const dis_status status = fill(&w, a);
    work_free(&w);
    if (status != DIS_OK) {
        dis_group_agreement_destroy(a);
        return status;
    }
    *out = a;
    return DIS_OK;
}
