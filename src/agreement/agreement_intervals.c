/* Bootstrap intervals of agreement, resampling items.
 *
 * What is measured depends on how often each pattern of votes comes, so a resample is a draw of those numbers. With few
 * patterns (at most an eighth of the items) they are drawn as such, multinomial over the patterns, which is the same
 * law as drawing items; otherwise items are drawn, and as items of one pattern are alike it does not matter which is
 * which.
 *
 * Cost: for each resample O(tallies + classes), and for many patterns a cycle or so an item. Intervals of classes are
 * drawn for at most 1,000 classes: beyond, the table of what each resample gave would be larger than the votes. */
#include "agreement/agreement_internal.h"
#include "stats/bootstrap.h"
#include "core/memory.h"
#include <math.h>

enum { MAX_CLASSES = 1000, ITEMS_A_PATTERN = 8 };

typedef struct {
    const dis__vote_patterns *patterns;
    const dis__coefficients *coefficients;
    size_t n_classes, n_values;
    bool classes;
    /* a thread: */
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
    if (!pairs) return; /* only single votes were drawn */
    dis__coefficients_of(s->coefficients, times, sums, s->rank + (size_t)thread * s->n_classes, &v);
    for (size_t m = 0; m < DIS_MEASURES_OF_PATTERNS; m++) values[m] = v.value[m];
    values += DIS_MEASURES_OF_PATTERNS;
    for (size_t k = 0; s->classes && k < s->n_classes; k++) {
        bool degenerate;
        dis__class_measures(&sums[k], &v, values + k * DIS_CLASS_MEASURES, &degenerate);
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

static void take_interval(const double *values, const dis__bootstrap *b, size_t n_values, size_t at, double *scratch,
                          dis_metric *metric)
{
    if (metric->reason) return;
    metric->has_interval =
        dis__bootstrap_interval_of(values, b->n_resamples, n_values, at, scratch, &metric->ci_low, &metric->ci_high);
}

dis_status dis__agreement_intervals(dis_context *ctx, const dis__vote_patterns *patterns,
                                    const dis__coefficients *coefficients, size_t n_resamples, uint64_t seed,
                                    dis_metric *metric, dis_agreement_class *classes, size_t n_classes)
{
    dis__bootstrap b = {.n_resamples = n_resamples, .seed = seed};
    for (size_t p = 0; p < patterns->n; p++) b.n_items += patterns->pattern[p].items;
    b.n_draws = b.n_items;
    const size_t threads = (size_t)dis_context_threads(ctx);
    resampling s = {.patterns = patterns,
                    .coefficients = coefficients,
                    .n_classes = n_classes,
                    .classes = n_classes <= MAX_CLASSES};
    s.n_values = DIS_MEASURES_OF_PATTERNS + (s.classes ? DIS_CLASS_MEASURES * n_classes : 0);
    double *values = NULL, *scratch = NULL;
    uint64_t *cells = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&s.times, dis__size(threads, patterns->n, 0), sizeof *s.times), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&s.sums, dis__size(threads, n_classes, 0), sizeof *s.sums), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&s.rank, dis__size(threads, n_classes, 0), sizeof *s.rank), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&cells, patterns->n, sizeof *cells), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&values, dis__size(n_resamples, s.n_values, 0), sizeof *values), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&scratch, n_resamples, sizeof *scratch), end);
    DIS_TRY_GOTO(status, resample(ctx, &s, &b, cells, values), end);
    for (size_t m = 0; m < DIS_MEASURES_OF_PATTERNS; m++) take_interval(values, &b, s.n_values, m, scratch, &metric[m]);
    for (size_t k = 0; s.classes && k < n_classes; k++) {
        dis_metric *const of_class[DIS_CLASS_MEASURES] = {&classes[k].agreement, &classes[k].fleiss, &classes[k].alpha};
        for (size_t m = 0; m < DIS_CLASS_MEASURES; m++)
            take_interval(values, &b, s.n_values, DIS_MEASURES_OF_PATTERNS + k * DIS_CLASS_MEASURES + m, scratch,
                          of_class[m]);
    }
end:
    dis__free(s.times);
    dis__free(s.sums);
    dis__free(s.rank);
    dis__free(cells);
    dis__free(values);
    dis__free(scratch);
    return status;
}
