/* Intervals of agreement. For new items: the percentile bootstrap. For new items and new annotators: the variance of
 * the bootstrap and jackknife variances over annotators and votes (agreement_jackknife.h), combined by
 * crossed_intervals.h.
 *
 * A coefficient depends only on how many items have each pattern of votes, so a resample is a draw of these counts.
 * With few patterns (at most an eighth of the items) the counts are drawn from a multinomial distribution over
 * patterns, which is equivalent to drawing items. Otherwise items are drawn.
 *
 * Cost: O(tallies + classes) per resample, and about a cycle per item with many patterns. Intervals of classes are
 * computed for at most 1,000 classes: with more, the table of resamples would be larger than the votes. */
#include "agreement/agreement_jackknife.h"
#include "stats/bootstrap.h"
#include "stats/crossed_intervals.h"
#include "core/memory/memory.h"
#include <math.h>

enum { MAX_CLASSES = 1000, ITEMS_A_PATTERN = 8 };

typedef struct {
    const dis__vote_patterns *patterns;
    const dis__coefficients *coefficients;
    size_t n_classes, n_values;
    bool classes;
    /* per thread: */
    double *times; /* (patterns) */
    dis__class_sums *sums;
    double *rank;
} resampling;

static void measure(const resampling *s, int thread, double *values)
{
    dis__coefficient_values v;
    dis__class_sums *sums = s->sums + (size_t)thread * s->n_classes;
    const double *times = s->times + (size_t)thread * s->patterns->n;
    bool pairs = false;
    for (size_t i = 0; i < s->n_values; i++) values[i] = NAN;
    for (size_t p = 0; p < s->patterns->n && !pairs; p++) pairs = times[p] > 0 && s->patterns->pattern[p].votes > 1;
    if (!pairs) return; /* the resample has only items with one vote */
    dis__coefficients_compute(s->coefficients, times, sums, s->rank + (size_t)thread * s->n_classes, &v);
    for (size_t m = 0; m < DIS_MEASURES_OF_PATTERNS; m++) /* values set by convention are not counted */
        if (m == DIS_MEASURE_PERCENT || !v.degenerate[m]) values[m] = v.value[m];
    values += DIS_MEASURES_OF_PATTERNS;
    for (size_t k = 0; s->classes && k < s->n_classes; k++) {
        bool degenerate = false;
        double *of_class = values + k * DIS_CLASS_MEASURES;
        dis__class_compute_measures(&sums[k], &v, of_class, &degenerate);
        if (degenerate) of_class[1] = of_class[2] = NAN;
    }
}

static dis_status of_patterns(void *arg, const uint64_t *drawn, size_t resample, int thread, double *values)
{
    (void)resample;
    const resampling *s = arg;
    double *times = s->times + (size_t)thread * s->patterns->n;
    for (size_t p = 0; p < s->patterns->n; p++) times[p] = (double)drawn[p];
    measure(s, thread, values);
    return DIS_OK;
}

static dis_status of_items(void *arg, const uint8_t *count, size_t resample, int thread, double *values)
{
    (void)resample;
    const resampling *s = arg;
    double *times = s->times + (size_t)thread * s->patterns->n;
    for (size_t p = 0; p < s->patterns->n; p++) {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < s->patterns->pattern[p].items; i++) sum += *count++;
        times[p] = (double)sum;
    }
    measure(s, thread, values);
    return DIS_OK;
}

static dis_status resample(dis_context *ctx, resampling *s, const dis__bootstrap *b, uint64_t *cells, double *values)
{
    if (b->n_items < ITEMS_A_PATTERN * s->patterns->n)
        return dis__bootstrap_run(ctx, b, of_items, s, s->n_values, values);
    for (size_t p = 0; p < s->patterns->n; p++) cells[p] = s->patterns->pattern[p].items;
    return dis__bootstrap_cells(ctx, b, cells, s->patterns->n, of_patterns, s, s->n_values, values);
}

/* Inputs of the intervals. */
typedef struct {
    const double *values; /* (n_resamples, n_values) */
    size_t n_resamples, n_values, n_items;
    double *scratch;                      /* (n_resamples) */
    const dis__agreement_jackknife *rest; /* NULL: for new items only */
} evidence;

static void set_interval(const evidence *e, size_t at, double min, dis_metric *metric)
{
    if (metric->reason) return;
    if (e->rest) {
        const dis__crossed_variances v = {.annotators = e->rest->annotators[at],
                                          .items = dis__resampled_variance(e->values + at, e->n_resamples, e->n_values),
                                          .votes = e->rest->votes[at],
                                          .df_annotators =
                                              e->rest->n > 1 ? fmax(dis__annotator_df(e->rest->effective), 1) : 0,
                                          .df_items = (double)e->n_items - 1};
        dis__crossed_interval(&v, min, 1, metric);
        return;
    }
    metric->has_interval = !metric->degenerate &&
                           dis__bootstrap_interval_of(e->values, e->n_resamples, e->n_values, at, e->scratch,
                                                      &metric->ci_low, &metric->ci_high) &&
                           metric->ci_low < metric->ci_high;
    if (!metric->has_interval)
        metric->no_interval = metric->degenerate ? DIS_NO_INTERVAL_SAME_LABELS
                              : e->n_items < 2   ? DIS_NO_INTERVAL_ONE_ITEM
                                                 : DIS_NO_INTERVAL_NO_SPREAD;
}

static void set_intervals(const evidence *e, dis_metric *metric, dis_agreement_class *classes, size_t n_classes)
{
    for (size_t m = 0; m < DIS_MEASURES_OF_PATTERNS; m++)
        set_interval(e, m, m == DIS_MEASURE_PERCENT ? 0 : -1, &metric[m]);
    for (size_t k = 0; e->n_values > DIS_MEASURES_OF_PATTERNS && k < n_classes; k++) {
        dis_metric *const of_class[DIS_CLASS_MEASURES] = {&classes[k].agreement, &classes[k].fleiss, &classes[k].alpha};
        for (size_t m = 0; m < DIS_CLASS_MEASURES; m++)
            set_interval(e, DIS_MEASURES_OF_PATTERNS + k * DIS_CLASS_MEASURES + m, m == 0 ? 0 : -1, of_class[m]);
    }
}

static dis_status leave_out(dis_context *ctx, const dis_votes_view *votes, const resampling *s, bool singles,
                            dis__agreement_jackknife *out)
{
    dis__agreement_base base;
    dis_status status =
        dis__agreement_base_create(s->patterns, s->coefficients, s->n_classes, s->n_values, singles, &base);
    if (status == DIS_OK) status = dis__agreement_jackknife_annotators(ctx, &base, votes, out);
    if (status == DIS_OK) status = dis__agreement_jackknife_votes(ctx, &base, out);
    dis__agreement_base_destroy(&base);
    return status;
}

static dis_status draw(dis_context *ctx, resampling *s, const dis__bootstrap *b, double *values)
{
    const size_t threads = (size_t)dis_context_n_threads(ctx);
    uint64_t *cells = NULL;
    dis_status status = dis__alloc_array(&s->times, dis__saturating_size(threads, s->patterns->n, 0), sizeof *s->times);
    if (status == DIS_OK)
        status = dis__alloc_array(&s->sums, dis__saturating_size(threads, s->n_classes, 0), sizeof *s->sums);
    if (status == DIS_OK)
        status = dis__alloc_array(&s->rank, dis__saturating_size(threads, s->n_classes, 0), sizeof *s->rank);
    if (status == DIS_OK) status = dis__alloc_array(&cells, s->patterns->n, sizeof *cells);
    if (status == DIS_OK) status = resample(ctx, s, b, cells, values);
    dis__free(s->times);
    dis__free(s->sums);
    dis__free(s->rank);
    dis__free(cells);
    return status;
}

dis_status dis__agreement_compute_intervals(dis_context *ctx, const dis_votes_view *votes,
                                            const dis__vote_patterns *patterns, const dis__coefficients *coefficients,
                                            const dis_agreement_options *o, dis_metric *metric,
                                            dis_agreement_class *classes)
{
    dis__bootstrap b = {.n_resamples = o->resamples, .seed = o->seed};
    for (size_t p = 0; p < patterns->n; p++) b.n_items += patterns->pattern[p].items;
    b.n_draws = b.n_items;
    const size_t n_classes = votes->n_classes;
    const bool crossed = o->interval_scope == DIS_INTERVAL_ANNOTATORS && votes->start;
    resampling s = {.patterns = patterns,
                    .coefficients = coefficients,
                    .n_classes = n_classes,
                    .classes = n_classes <= MAX_CLASSES};
    s.n_values = DIS_MEASURES_OF_PATTERNS + (s.classes ? DIS_CLASS_MEASURES * n_classes : 0);
    double *values = NULL, *scratch = NULL;
    dis__agreement_jackknife rest = {0};
    dis_status status = dis__alloc_array(&values, dis__saturating_size(b.n_resamples, s.n_values, 0), sizeof *values);
    if (status == DIS_OK) status = dis__alloc_array(&scratch, b.n_resamples, sizeof *scratch);
    if (status == DIS_OK) status = draw(ctx, &s, &b, values);
    if (status == DIS_OK && crossed) status = leave_out(ctx, votes, &s, o->include_single_votes, &rest);
    if (status == DIS_OK) {
        const evidence e = {.values = values,
                            .n_resamples = b.n_resamples,
                            .n_values = s.n_values,
                            .n_items = patterns->compared,
                            .scratch = scratch,
                            .rest = crossed ? &rest : NULL};
        set_intervals(&e, metric, classes, n_classes);
    }
    dis__agreement_jackknife_destroy(&rest);
    dis__free(values);
    dis__free(scratch);
    return status;
}
