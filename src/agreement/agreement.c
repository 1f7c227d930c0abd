/* Agreement: computes everything that the options request. The formulas are in agreement_coefficients.c (all from
 * patterns of votes), agreement_workers.c and agreement_pairs.c.
 *
 * Cost: one pass over the votes for the patterns, one each for items and gold, two for workers; see those files. */
#include "tool/arrays.h"
#include "tool/rank_calls.h"
#include "agreement/agreement_internal.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include <math.h>
#include <string.h>

enum { ITEM_GRAIN = 1 << 14, MAX_JOBS = 64 };
#define MAX_PAIRS     100000000u
#define MAX_RESAMPLES 10000000u
#define GOOD_WORKER   .75

struct dis_agreement {
    dis_agreement_view view;
    dis_metric metric[DIS_MEASURES];
    dis_agreement_class *classes;
    dis_agreement_item *items;
    dis_agreement_worker *workers;
    dis_agreement_pair *pairs;
};

DIS_OPTIONS_DEFAULTS(dis_agreement_options, .size = sizeof(dis_agreement_options), .parts = DIS_AGREEMENT_ALL,
                     .resamples = 1000, .max_pairs = 100000, .min_common = 5)

void dis_agreement_destroy(dis_agreement *a)
{
    if (!a) return;
    dis__free(a->classes);
    dis__free(a->items);
    dis__free(a->workers);
    dis__free(a->pairs);
    dis__free(a);
}

static dis_agreement_view view_of(const dis_agreement *a)
{
    return a->view;
}
DIS_VIEW_DEFINE(dis_agreement, a, view_of(a))

const dis_metric *dis_agreement_find(const dis_agreement *a, const char *name)
{
    for (size_t m = 0; m < DIS_MEASURES; m++)
        if (strcmp(dis_agreement_measure_get(m)->name, name) == 0) return &a->metric[m];
    return NULL;
}

double dis_agreement_value(const dis_agreement *agreement, const char *name)
{
    const dis_metric *m = dis_agreement_find(agreement, name);
    return m && !m->reason ? m->value : NAN;
}

bool dis_agreement_interval(const dis_agreement *agreement, const char *name, double *low, double *high)
{
    const dis_metric *m = dis_agreement_find(agreement, name);
    const bool has_interval = m && !m->reason && m->has_interval;
    *low = has_interval ? m->ci_low : NAN;
    *high = has_interval ? m->ci_high : NAN;
    return has_interval;
}

/* ---- items and gold ---- */

typedef struct {
    uint64_t items, votes, right, never; /* items with votes and a gold label, the votes on them, ... */
} gold_sums;

typedef struct {
    const dis_votes_view *votes;
    const int32_t *gold;
    dis_agreement_item *items; /* (n_items) or NULL */
    size_t n_jobs;
    gold_sums *sums; /* (n_jobs) */
} item_work;

static void one_item(const item_work *w, size_t i, uint32_t *count, dis__tally *tally, gold_sums *sums)
{
    const size_t n = dis__item_count_tallies(w->votes, i, count, tally);
    const int64_t gold = w->gold ? w->gold[i] : -1;
    uint64_t votes = 0, max = 0, right = 0;
    double same = 0;
    uint32_t top = 0;
    for (size_t t = 0; t < n; t++) {
        const uint64_t c = tally[t].count;
        votes += c;
        same += (double)c * (double)(c - 1);
        if (c > max || (c == max && tally[t].class < top)) {
            max = c;
            top = tally[t].class;
        }
        if ((int64_t)tally[t].class == gold) right = c;
    }
    if (gold >= 0 && votes) {
        sums->items++;
        sums->votes += votes;
        sums->right += right;
        sums->never += right == 0;
    }
    if (w->items)
        w->items[i] =
            (dis_agreement_item){.votes = votes,
                                 .n_chosen_classes = (uint32_t)n,
                                 .majority_class = top,
                                 .agreement = votes > 1 ? same / ((double)votes * ((double)votes - 1)) : (double)NAN};
}

static dis_status item_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const item_work *w = arg;
    uint32_t *count = NULL;
    dis__tally *tally = NULL;
    dis_status status = dis__alloc_zeroed(&count, w->votes->n_classes, sizeof *count);
    if (status == DIS_OK) status = dis__alloc_array(&tally, w->votes->n_classes, sizeof *tally);
    const size_t last = dis__job_first(w->votes->n_items, w->n_jobs, j + 1);
    for (size_t i = dis__job_first(w->votes->n_items, w->n_jobs, j); status == DIS_OK && i < last; i++)
        one_item(w, i, count, tally, &w->sums[j]);
    dis__free(count);
    dis__free(tally);
    return status;
}

static dis_status measure_items(dis_context *ctx, const dis_votes_view *votes, const int32_t *gold,
                                dis_agreement_item *items, gold_sums *all)
{
    item_work w = {.votes = votes,
                   .gold = gold,
                   .items = items,
                   .n_jobs = dis__n_jobs(votes->n_items, ITEM_GRAIN, MAX_JOBS)};
    DIS_TRY(dis__alloc_zeroed(&w.sums, w.n_jobs, sizeof *w.sums));
    const dis_status status = dis__run_jobs(ctx, w.n_jobs, item_job, &w);
    for (size_t j = 0; j < w.n_jobs; j++) {
        all->items += w.sums[j].items;
        all->votes += w.sums[j].votes;
        all->right += w.sums[j].right;
        all->never += w.sums[j].never;
    }
    dis__free(w.sums);
    return status;
}

/* ---- coefficients ---- */

static dis_metric measured(double value, uint64_t n)
{
    return (dis_metric){.value = value, .ci_low = NAN, .ci_high = NAN, .n = (size_t)n};
}

static void fill_classes(const dis__class_sums *sums, const dis__coefficient_values *all, dis_agreement *a)
{
    for (size_t k = 0; k < a->view.n_classes; k++) {
        dis_agreement_class *to = &a->classes[k];
        double value[DIS_CLASS_MEASURES];
        bool degenerate = false;
        const uint64_t votes = (uint64_t)sums[k].votes;
        const bool chosen = dis__class_compute_measures(&sums[k], all, value, &degenerate);
        *to = (dis_agreement_class){.votes = votes, .share = sums[k].votes / all->votes};
        dis_metric *const metrics[DIS_CLASS_MEASURES] = {&to->agreement, &to->fleiss, &to->alpha};
        for (int m = 0; m < DIS_CLASS_MEASURES; m++) {
            *metrics[m] = chosen ? measured(value[m], votes) : dis__metric_undefined("no vote for this class");
            metrics[m]->degenerate = degenerate;
        }
    }
}

static void nothing_to_compare(dis_agreement *a, const char *reason)
{
    for (size_t m = 0; m < DIS_MEASURES_OF_PATTERNS; m++) a->metric[m] = dis__metric_undefined(reason);
    for (size_t k = 0; k < a->view.n_classes; k++) {
        const dis_metric none = dis__metric_undefined(reason);
        a->classes[k] = (dis_agreement_class){.share = NAN, .agreement = none, .fleiss = none, .alpha = none};
    }
}

static dis_status measure_patterns(const dis__vote_patterns *patterns, const dis__coefficients *coefficients,
                                   dis_agreement *a)
{
    const size_t n = a->view.n_classes;
    double *times = NULL, *rank = NULL;
    dis__class_sums *sums = NULL;
    dis__coefficient_values v;
    dis_status status = dis__alloc_array(&times, patterns->n, sizeof *times);
    if (status == DIS_OK) status = dis__alloc_array(&rank, n, sizeof *rank);
    if (status == DIS_OK) status = dis__alloc_array(&sums, n, sizeof *sums);
    if (status == DIS_OK) {
        for (size_t p = 0; p < patterns->n; p++) times[p] = (double)patterns->pattern[p].items;
        dis__coefficients_compute(coefficients, times, sums, rank, &v);
        for (size_t m = 0; m < DIS_MEASURES_OF_PATTERNS; m++) {
            const char *reason = dis__coefficient_reason(coefficients, (dis__coefficient_id)m);
            a->metric[m] = reason ? dis__metric_undefined(reason) : measured(v.value[m], patterns->compared);
            a->metric[m].degenerate = !reason && v.degenerate[m];
        }
        fill_classes(sums, &v, a);
    }
    dis__free(times);
    dis__free(rank);
    dis__free(sums);
    return status;
}

static void count_crowd(const dis__vote_patterns *p, dis_agreement *a)
{
    dis_agreement_view *v = &a->view;
    v->n_compared = p->compared;
    v->n_single_votes = p->singles;
    v->n_empty = p->empty;
    v->votes = p->votes;
    v->votes_compared = p->votes_compared;
    const uint64_t items = p->compared + p->singles;
    dis_metric *per_item = &a->metric[DIS_MEASURE_VOTES_PER_ITEM], *ratio = &a->metric[DIS_MEASURE_CODER_TO_LABEL];
    *per_item = *ratio = a->metric[DIS_MEASURE_AGREEMENT_WITH_SINGLES] = dis__metric_undefined("there are no votes");
    if (!items) return;
    *per_item = measured((double)p->votes / (double)items, items);
    *ratio = measured((double)p->votes / ((double)items * (double)v->n_classes), items);
    const dis_metric *percent = &a->metric[DIS_MEASURE_PERCENT];
    const double agreed = percent->reason ? 0 : percent->value * (double)p->compared;
    a->metric[DIS_MEASURE_AGREEMENT_WITH_SINGLES] = measured((agreed + (double)p->singles) / (double)items, items);
}

static dis_status measure_coefficients(dis_context *ctx, const dis_votes_view *votes,
                                       const dis__vote_patterns *patterns, const dis__coefficients *c,
                                       const dis_agreement_options *o, dis_agreement *a)
{
    dis_status status = DIS_OK;
    if (patterns->compared == 0)
        nothing_to_compare(a, dis__coefficient_reason(c, DIS_MEASURE_PERCENT));
    else {
        status = measure_patterns(patterns, c, a);
        if (status == DIS_OK && o->resamples)
            status = dis__agreement_compute_intervals(ctx, votes, patterns, c, o, a->metric, a->classes);
    }
    for (dis__coefficient_id m = DIS_MEASURE_COHEN; m <= DIS_MEASURE_COHEN_QUADRATIC; m++) {
        const char *reason = dis__coefficient_reason(c, m);
        if (!a->view.n_workers && patterns->compared) reason = "the input has no annotator ids";
        a->metric[m] = dis__metric_undefined(reason ? reason : "pairs of workers were not examined");
    }
    return status;
}

/* ---- workers and pairs ---- */

static void judge_crowd(const dis_agreement_options *o, const gold_sums *gold, bool workers, dis_agreement *a)
{
    dis_metric *to = a->metric;
    const char *none = o->gold ? "no item with votes has a known truth" : "no gold labels were given";
    to[DIS_MEASURE_WORKER_ACCURACY] = to[DIS_MEASURE_WORKERS_AT_75] = to[DIS_MEASURE_WORKERS_ABOVE_75] =
        dis__metric_undefined(o->gold && !workers ? "the input has no annotator ids" : none);
    to[DIS_MEASURE_VOTE_ACCURACY] = to[DIS_MEASURE_GOLD_NEVER_VOTED] = dis__metric_undefined(none);
    if (!gold->items) return;
    to[DIS_MEASURE_VOTE_ACCURACY] = measured((double)gold->right / (double)gold->votes, gold->votes);
    to[DIS_MEASURE_GOLD_NEVER_VOTED] = measured((double)gold->never / (double)gold->items, gold->items);
    if (!workers) return;
    double sum = 0;
    uint64_t n = 0, good = 0, better = 0;
    for (size_t w = 0; w < a->view.n_workers; w++) {
        if (!a->workers[w].gold_votes) continue;
        n++;
        sum += a->workers[w].accuracy;
        good += a->workers[w].accuracy >= GOOD_WORKER;
        better += a->workers[w].accuracy > GOOD_WORKER;
    }
    to[DIS_MEASURE_WORKER_ACCURACY] = measured(sum / (double)n, n);
    to[DIS_MEASURE_WORKERS_AT_75] = measured((double)good / (double)n, n);
    to[DIS_MEASURE_WORKERS_ABOVE_75] = measured((double)better / (double)n, n);
}

/* Means over the pairs with enough shared items and a defined kappa, weighted by the number of shared items. */
static void mean_of_pairs(const dis_agreement_options *o, bool ordered, dis_agreement *a)
{
    double sum[DIS_KAPPAS] = {0}, weight = 0;
    uint64_t n = 0;
    for (size_t p = 0; p < a->view.n_pairs; p++) {
        const dis_agreement_pair *x = &a->pairs[p];
        if (x->n < o->min_common) {
            a->view.n_pairs_too_small++;
            continue;
        }
        a->view.n_pairs_degenerate += x->degenerate;
        if (x->degenerate) continue; /* 0/0 is not an agreement beyond chance */
        n++;
        weight += (double)x->n;
        sum[0] += (double)x->n * x->cohen;
        sum[1] += (double)x->n * x->cohen_linear;
        sum[2] += (double)x->n * x->cohen_quadratic;
    }
    const char *no_pairs = a->view.n_pairs_degenerate ? "every pair of workers chose nothing but one and the same class"
                                                      : "no two workers share enough items";
    for (int m = 0; m < DIS_KAPPAS; m++) {
        dis_metric *to = &a->metric[DIS_MEASURE_COHEN + m];
        if (m && !ordered) continue; /* its reason is set already */
        *to = n ? measured(sum[m] / weight, n) : dis__metric_undefined(no_pairs);
    }
}

static dis_status measure_workers(dis_context *ctx, const dis_votes_view *votes, const dis__vote_patterns *patterns,
                                  const dis_agreement_options *o, dis_agreement *a)
{
    dis__worker_votes by;
    DIS_TRY(dis__worker_votes_create(ctx, votes, &by));
    dis_status status = dis__alloc_array(&a->workers, votes->n_workers, sizeof *a->workers);
    if (status == DIS_OK) status = dis__agreement_compute_workers(ctx, votes, &by, patterns, o->gold, a->workers);
    dis__worker_votes_destroy(&by);
    return status;
}

static dis_status measure_pairs(dis_context *ctx, const dis_votes_view *votes, bool compared, const uint32_t *order,
                                const dis_agreement_options *o, dis_agreement *a)
{
    dis__pair_table table;
    dis__worker_pairs pairs;
    const bool ordered = order != NULL;
    const size_t spare = o->resamples ? dis__pair_intervals_size(votes->n_classes, ordered) : 0;
    DIS_TRY(dis__pair_table_create(ctx, votes, o->max_pairs, order, spare, &table));
    dis_status status = dis__agreement_compute_pairs(ctx, &table, ordered, &pairs);
    if (status == DIS_OK) {
        a->pairs = pairs.pair;
        a->view.n_pairs = pairs.n;
        a->view.n_pair_workers = pairs.workers;
        if (compared) mean_of_pairs(o, ordered, a);
        if (o->resamples && !a->metric[DIS_MEASURE_COHEN].reason)
            status = dis__pair_intervals_compute(ctx, &table, &pairs, ordered, o, &a->metric[DIS_MEASURE_COHEN]);
    }
    dis__pair_table_destroy(&table);
    return status;
}

static dis_status measure_all(dis_context *ctx, const dis_votes_view *votes, const dis__vote_patterns *patterns,
                              const dis__coefficients *coefficients, const dis_agreement_options *o, dis_agreement *a)
{
    gold_sums gold = {0};
    DIS_TRY(measure_coefficients(ctx, votes, patterns, coefficients, o, a));
    count_crowd(patterns, a);
    if (o->parts & DIS_AGREEMENT_ITEMS) DIS_TRY(dis__alloc_array(&a->items, votes->n_items, sizeof *a->items));
    if (a->items || o->gold) DIS_TRY(measure_items(ctx, votes, o->gold, a->items, &gold));
    const bool workers = votes->start != NULL;
    if (workers && ((o->parts & DIS_AGREEMENT_WORKERS) || o->gold))
        DIS_TRY(measure_workers(ctx, votes, patterns, o, a));
    if (workers && (o->parts & DIS_AGREEMENT_PAIRS))
        DIS_TRY(measure_pairs(ctx, votes, patterns->compared > 0, dis__coefficients_class_order(coefficients), o, a));
    judge_crowd(o, &gold, workers, a);
    return DIS_OK;
}

static dis_status fill(dis_context *ctx, const dis_votes_view *votes, const dis_agreement_options *o, dis_agreement *a)
{
    dis__vote_patterns patterns;
    dis__coefficients *coefficients = NULL;
    a->view = (dis_agreement_view){.n_items = votes->n_items,
                                   .n_workers = votes->n_workers,
                                   .n_classes = votes->n_classes,
                                   .metric = a->metric,
                                   .n_metrics = DIS_MEASURES,
                                   .interval_scope = votes->start ? o->interval_scope : DIS_INTERVAL_ITEMS};
    DIS_TRY(dis__alloc_array(&a->classes, votes->n_classes, sizeof *a->classes));
    DIS_TRY(dis__vote_patterns_create(ctx, votes, o->include_single_votes, &patterns));
    dis_status status = dis__coefficients_create(votes, &patterns, o->ordinal, &coefficients);
    if (status == DIS_OK) status = measure_all(ctx, votes, &patterns, coefficients, o, a);
    dis__coefficients_destroy(coefficients);
    dis__vote_patterns_destroy(&patterns);
    a->view.classes = a->classes;
    a->view.items = a->items;
    a->view.workers = a->workers;
    a->view.pairs = a->pairs;
    return status;
}

static dis_status check_options(const dis_votes_view *votes, const dis_agreement_options *o)
{
    if (o->max_pairs > MAX_PAIRS)
        return dis__fail(DIS_EUSAGE, "at most %u pairs of workers are possible, not %zu", MAX_PAIRS, o->max_pairs);
    if (o->resamples > MAX_RESAMPLES)
        return dis__fail(DIS_EUSAGE, "at most %u resamples are possible, not %zu", MAX_RESAMPLES, o->resamples);
    for (size_t i = 0; o->gold && i < votes->n_items; i++)
        if (o->gold[i] < -1 || (o->gold[i] >= 0 && (size_t)o->gold[i] >= votes->n_classes))
            return dis__fail(DIS_EUSAGE, "the gold class %d of item %zu is outside of %zu classes", o->gold[i], i,
                             votes->n_classes);
    return DIS_OK;
}

dis_status dis_agreement_run(dis_context *ctx, const dis_votes *votes, const dis_agreement_options *options,
                             dis_agreement **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_agreement_options o = dis_agreement_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_agreement_options, &o, options));
    const dis_votes_view v = dis_votes_get_view(votes);
    o.ordinal |= dis_scale_get(dis_votes_scale(votes))->ordered;
    DIS_TRY(check_options(&v, &o));
    if (dis__comm_is_parallel(dis__context_comm(ctx)) && (o.gold || (o.parts & ~(unsigned)DIS_AGREEMENT_PAIRS)))
        return dis__fail(DIS_EUSAGE, "gold labels, items and workers cannot be split across ranks; give each rank all "
                                     "votes (dis_context_options), or run without mpirun");
    dis_agreement *a;
    DIS_TRY(dis__alloc_zeroed(&a, 1, sizeof *a));
    dis_status status = fill(ctx, &v, &o, a);
    if (status == DIS_OK) status = dis_votes_chance_test(ctx, votes, &a->view.chance);
    if (status != DIS_OK) {
        dis_agreement_destroy(a);
        return status;
    }
    dis__votes_get_totals(votes, &a->view.n_items, &(size_t){0});
    *out = a;
    return DIS_OK;
}
