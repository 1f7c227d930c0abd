/* Paired bootstrap significance (Berg-Kirkpatrick, Burkett and Klein 2012) of accuracy and macro-F1.
 *
 * A resample draws items with replacement, the same for all seeds of both sides, and gives a difference d*. Resamples
 * scatter around the observed difference d as d would around the true one, so under "no difference" a d* beyond 2 d is
 * as rare as d itself: p = share of d* > 2 d (< 2 d when B is ahead). Several seeds: a side's value is the mean over
 * its seeds, so p is about these seeds on new items. With pooled seeds, (item, pair of seeds) are drawn instead, as if
 * they were independent.
 *
 * A tally holds, for each series (seed) and class, the number of answers and of correct answers, in the two halves of
 * one word. Macro-F1 is the mean of 2 tp / (answered + gold) over the classes that occur among gold or answers, as
 * scikit-learn has it. Differences in accuracy are compared as integers. Cost per resample: O(patterns x seeds +
 * classes x seeds) and the draw. */
#include "compare/compare_internal.h"
#include "stats/bootstrap_device.h"
#include "stats/distributions.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include <math.h>
#include <stdio.h>

/* From this many items per pattern on, pattern counts are drawn directly. */
enum { ITEMS_A_PATTERN = 32 };

enum {
    SIDE_A = DIS_COMPARE_SIDE_A,
    SIDE_B = DIS_COMPARE_SIDE_B,
    DIFFERENCE = DIS_COMPARE_DIFFERENCE,
    N_VALUES = DIS_COMPARE_SIDES
};

typedef struct {
    const dis__answer_patterns *p;
    double n_draws;
    size_t counts_stride;
    uint64_t *counts; /* per thread: (n_series, n_classes) answers, followed by (n_classes) gold */
    uint64_t *drawn;  /* per thread: (n_patterns); NULL if pattern counts are drawn directly */
} bootstrap_work;

static double macro_f1(const uint64_t *answers, const uint64_t *gold, size_t n_classes)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < n_classes; k++) {
        const uint64_t total = (answers[k] & UINT32_MAX) + gold[k];
        if (!total) continue;
        sum += 2 * (double)(answers[k] >> 32) / (double)total;
        n++;
    }
    return sum / (double)n;
}

/* Fills a tally from the pattern counts. */
static void count(const dis__answer_patterns *p, const uint64_t *drawn, uint64_t *counts)
{
    uint64_t *gold = counts + p->n_series * p->n_classes;
    for (size_t i = 0; i < (p->n_series + 1) * p->n_classes; i++) counts[i] = 0;
    for (size_t c = 0; c < p->n_patterns; c++) {
        if (!drawn[c]) continue;
        const uint32_t *answer = p->answer + c * p->n_series, truth = p->gold[c];
        gold[truth] += drawn[c];
        for (size_t s = 0; s < p->n_series; s++)
            counts[s * p->n_classes + answer[s]] += drawn[c] << (answer[s] == truth ? 32 : 0) | drawn[c];
    }
}

/* Metrics of one series. */
static void measure_series(const dis__answer_patterns *p, const uint64_t *counts, size_t s, uint64_t *right, double *f1)
{
    const uint64_t *answers = counts + s * p->n_classes;
    *right = 0;
    for (size_t k = 0; k < p->n_classes; k++) *right += answers[k] >> 32;
    *f1 = macro_f1(answers, counts + p->n_series * p->n_classes, p->n_classes);
}

void dis__answer_counts_measure(const dis__answer_patterns *p, const uint64_t *counts, double n, double *values)
{
    const size_t n_seeds[2] = {p->n_a, p->n_series - p->n_a};
    uint64_t right[2] = {0, 0};
    double f1[2] = {0, 0};
    for (size_t s = 0; s < p->n_series; s++) {
        uint64_t r;
        double f;
        measure_series(p, counts, s, &r, &f);
        right[s >= p->n_a] += r;
        f1[s >= p->n_a] += f / (double)n_seeds[s >= p->n_a];
    }
    double *accuracy = values + DIS_COMPARE_ACCURACY * N_VALUES, *macro = values + DIS_COMPARE_MACRO_F1 * N_VALUES;
    accuracy[SIDE_A] = (double)right[0] / ((double)n_seeds[0] * n);
    accuracy[SIDE_B] = (double)right[1] / ((double)n_seeds[1] * n);
    accuracy[DIFFERENCE] = (double)((int64_t)(right[0] * n_seeds[1]) - (int64_t)(right[1] * n_seeds[0]));
    macro[SIDE_A] = f1[0];
    macro[SIDE_B] = f1[1];
    macro[DIFFERENCE] = f1[0] - f1[1];
}

static void measure(const bootstrap_work *w, const uint64_t *drawn, int thread, double *values)
{
    uint64_t *counts = w->counts + (size_t)thread * w->counts_stride;
    count(w->p, drawn, counts);
    dis__answer_counts_measure(w->p, counts, w->n_draws, values);
}

static dis_status measure_cells(void *arg, const uint64_t *drawn, size_t resample, int thread, double *values)
{
    (void)resample;
    measure(arg, drawn, thread, values);
    return DIS_OK;
}

static dis_status measure_items(void *arg, const uint8_t *times, size_t resample, int thread, double *values)
{
    const bootstrap_work *w = arg;
    const dis__answer_patterns *p = w->p;
    uint64_t *drawn = w->drawn + (size_t)thread * p->n_patterns;
    for (size_t c = 0; c < p->n_patterns; c++) drawn[c] = 0;
    for (size_t i = 0; i < p->n; i++) drawn[p->pattern[i]] += times[i];
    return measure_cells(arg, drawn, resample, thread, values);
}

/* ---- on a device ---- */

/* The answers of each series, correct and wrong, are bins of the drawn items; so are the classes of gold. All are
 * integers, so the tallies equal those of the CPU. series n_series: gold. */
static void fill_bins(const dis__answer_patterns *p, size_t series, uint8_t *bin)
{
    for (size_t i = 0; i < p->n; i++) {
        const size_t c = p->pattern[i];
        const uint32_t truth = p->gold[c], answer = series < p->n_series ? p->answer[c * p->n_series + series] : truth;
        bin[i] = (uint8_t)(series < p->n_series ? 2 * answer + (answer == truth) : truth);
    }
}

static void gather_bins(const dis__answer_patterns *p, size_t series, const double *sums, uint64_t *counts)
{
    for (size_t k = 0; k < p->n_classes; k++) {
        const uint64_t wrong = (uint64_t)sums[2 * k], right = (uint64_t)sums[2 * k + 1];
        counts[series * p->n_classes + k] = series < p->n_series ? right << 32 | (right + wrong) : (uint64_t)sums[k];
    }
}

static dis_status run_on_device(dis_context *ctx, const dis__bootstrap *b, const bootstrap_work *w, double *values)
{
    const dis__answer_patterns *p = w->p;
    const size_t n_bins = 2 * p->n_classes;
    double *one = NULL, *sums = NULL;
    uint64_t *counts = NULL;
    uint8_t *bin = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&one, p->n, sizeof *one), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&bin, p->n, sizeof *bin), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&sums, dis__saturating_size(b->n_resamples, n_bins, 0), sizeof *sums), end);
    DIS_TRY_GOTO(status,
                 dis__alloc_array(&counts, dis__saturating_size(b->n_resamples, w->counts_stride, 0), sizeof *counts),
                 end);
    for (size_t i = 0; i < p->n; i++) one[i] = 1;
    for (size_t series = 0; series <= p->n_series; series++) {
        fill_bins(p, series, bin);
        DIS_TRY_GOTO(status, dis__bootstrap_bins(ctx, b, one, bin, n_bins, sums), end);
        for (size_t r = 0; r < b->n_resamples; r++)
            gather_bins(p, series, sums + r * n_bins, counts + r * w->counts_stride);
    }
    for (size_t r = 0; r < b->n_resamples; r++)
        dis__answer_counts_measure(w->p, counts + r * w->counts_stride, w->n_draws,
                                   values + r * N_VALUES * DIS_COMPARE_METRICS);
end:
    dis__free(one);
    dis__free(bin);
    dis__free(sums);
    dis__free(counts);
    return status;
}

/* Counts of all items; on a device if one is used and its bins have room for the classes. */
static dis_status run_items(dis_context *ctx, const dis__bootstrap *b, bootstrap_work *w, double *values)
{
    const size_t threads = (size_t)dis_context_n_threads(ctx), n_values = N_VALUES * DIS_COMPARE_METRICS;
    const dis__bootstrap_device *device;
    DIS_TRY(dis__bootstrap_device_for(ctx, b, &device));
    if (device && 2 * w->p->n_classes <= DIS_BOOTSTRAP_MAX_BINS) return run_on_device(ctx, b, w, values);
    DIS_TRY(dis__alloc_array(&w->drawn, dis__saturating_size(threads, w->p->n_patterns, 0), sizeof *w->drawn));
    return dis__bootstrap_run(ctx, b, measure_items, w, n_values, values);
}

/* ---- from resamples to p-values ---- */

/* Shares of n_resamples differences (every N_VALUES * DIS_COMPARE_METRICS-th value) by their position relative to the
 * observed one. Differences times `scale` and `observed` have the same scale; both are integers for accuracy, exact
 * below 2^53. */
static void count_beyond(const double *difference, size_t n_resamples, double scale, double observed,
                         dis_significance *out)
{
    const double direction = observed > 0 ? 1 : -1, size = fabs(observed);
    size_t beyond = 0, away = 0;
    for (size_t r = 0; r < n_resamples; r++) {
        const double d = difference[r * N_VALUES * DIS_COMPARE_METRICS] * scale;
        beyond += d * direction > 2 * size;
        away += fabs(d - observed) >= size;
    }
    out->p = size > 0 ? (double)beyond / (double)n_resamples : 1;
    out->p_two_sided = (double)away / (double)n_resamples;
}

static void interval(const double *values, size_t n_resamples, size_t v, double scale, double *scratch, dis_metric *m)
{
    m->has_interval = dis__bootstrap_interval_of(values, n_resamples, N_VALUES * DIS_COMPARE_METRICS, v, scratch,
                                                 &m->ci_low, &m->ci_high);
    m->ci_low *= scale;
    m->ci_high *= scale;
}

static void set_results(const dis__answer_patterns *p, const double *values, size_t n_resamples, size_t n_draws,
                        double *scratch, const double *observed, dis_comparison *out)
{
    const double seeds = (double)p->n_a * (double)(p->n_series - p->n_a);
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) {
        dis_significance *s = &out->metric[m];
        const bool is_integer = m == DIS_COMPARE_ACCURACY;
        interval(values, n_resamples, m * N_VALUES + SIDE_A, 1, scratch, &s->a);
        interval(values, n_resamples, m * N_VALUES + SIDE_B, 1, scratch, &s->b);
        interval(values, n_resamples, m * N_VALUES + DIFFERENCE, is_integer ? 1 / (seeds * (double)n_draws) : 1,
                 scratch, &s->difference);
        count_beyond(values + m * N_VALUES + DIFFERENCE, n_resamples, is_integer ? (double)p->n : 1,
                     observed[m * N_VALUES + DIFFERENCE] * (is_integer ? (double)n_draws : 1), s);
        s->stars = s->p <= .01 ? 2 : s->p <= .05;
    }
}

/* The same for new items and new annotators. */
static void set_crossed_results(const dis__answer_patterns *p, const double *values, size_t n_resamples,
                                dis__crossed_variances *crossed, dis_comparison *out)
{
    const double seeds = (double)p->n_a * (double)(p->n_series - p->n_a);
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) {
        dis_significance *s = &out->metric[m];
        dis_metric *const metric[N_VALUES] = {&s->a, &s->b, &s->difference};
        for (size_t v = 0; v < N_VALUES; v++) {
            dis__crossed_variances *x = &crossed[m * N_VALUES + v];
            const double scale = m == DIS_COMPARE_ACCURACY && v == DIFFERENCE ? 1 / (seeds * (double)p->n) : 1;
            x->items = scale * scale *
                       dis__resampled_variance(values + m * N_VALUES + v, n_resamples, N_VALUES * DIS_COMPARE_METRICS);
            dis__crossed_interval_linear(x, v == DIFFERENCE ? -1 : 0, 1, metric[v]);
        }
        double df;
        const double variance = dis__crossed_variance_sum(&crossed[m * N_VALUES + DIFFERENCE], &df);
        const double t = fabs(s->difference.value) / sqrt(variance);
        s->p = s->p_two_sided = s->difference.value == 0 ? 1 : fmin(1, 2 * dis__student_tail(t, df));
        s->stars = s->p <= .01 ? 2 : s->p <= .05;
    }
}

/* ---- observed values ---- */

static double deviation(double sum, double squares, size_t n)
{
    const double mean = sum / (double)n;
    return n > 1 ? sqrt(fmax(squares - sum * mean, 0) / (double)(n - 1)) : NAN;
}

static void observe(const bootstrap_work *w, double *observed, dis_comparison *out)
{
    const dis__answer_patterns *p = w->p;
    const bootstrap_work all = {.p = p,
                                .n_draws = (double)p->n,
                                .counts = w->counts,
                                .counts_stride = w->counts_stride};
    measure(&all, p->count, 0, observed);
    double sum[2][DIS_COMPARE_METRICS] = {{0}}, squares[2][DIS_COMPARE_METRICS] = {{0}};
    for (size_t s = 0; s < p->n_series; s++) {
        uint64_t right;
        double x[DIS_COMPARE_METRICS];
        measure_series(p, w->counts, s, &right, &x[DIS_COMPARE_MACRO_F1]);
        x[DIS_COMPARE_ACCURACY] = (double)right / (double)p->n;
        for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) {
            sum[s >= p->n_a][m] += x[m];
            squares[s >= p->n_a][m] += x[m] * x[m];
        }
    }
    const size_t n_b = p->n_series - p->n_a;
    for (size_t m = 0; m < DIS_COMPARE_METRICS; m++) {
        dis_significance *s = &out->metric[m];
        const double *v = observed + m * N_VALUES, scale = (double)p->n_a * (double)n_b * (double)p->n;
        *s = (dis_significance){.a = {.value = v[SIDE_A], .n = p->n},
                                .b = {.value = v[SIDE_B], .n = p->n},
                                .difference = {.value = v[DIFFERENCE], .n = p->n},
                                .sd_a = deviation(sum[0][m], squares[0][m], p->n_a),
                                .sd_b = deviation(sum[1][m], squares[1][m], n_b),
                                .p = NAN,
                                .p_two_sided = NAN};
        if (m == DIS_COMPARE_ACCURACY) s->difference.value /= scale;
    }
}

dis_status dis__paired_bootstrap(dis_context *ctx, const dis__answer_patterns *p, const dis_comparison_options *o,
                                 dis__crossed_variances *crossed, dis_comparison *out)
{
    const size_t threads = (size_t)dis_context_n_threads(ctx), n_values = N_VALUES * DIS_COMPARE_METRICS;
    const bool by_pattern = p->n / ITEMS_A_PATTERN >= p->n_patterns;
    const dis__bootstrap b = {.n_items = p->n,
                              .n_draws = dis__bootstrap_draws(p->n, o->fraction),
                              .n_resamples = (size_t)o->resamples,
                              .seed = o->seed};
    bootstrap_work w = {.p = p,
                        .n_draws = (double)b.n_draws,
                        .counts_stride = dis__saturating_size(p->n_series + 1, p->n_classes, 0)};
    double *values = NULL, *scratch = NULL, observed[N_VALUES * DIS_COMPARE_METRICS];
    const size_t a_thread = dis__saturating_size(w.counts_stride + (by_pattern ? 0 : p->n_patterns), threads, 0);
    char what[96];
    snprintf(what, sizeof what, "%zu resamples of %zu answers per side", b.n_resamples, p->n);
    DIS_TRY(dis__check_memory(ctx,
                              dis__saturating_size(dis__saturating_size(b.n_resamples, n_values + 1, a_thread),
                                                   sizeof(double), 0),
                              what));
    dis_status status;
    DIS_TRY_GOTO(status,
                 dis__alloc_array(&w.counts, dis__saturating_size(threads, w.counts_stride, 0), sizeof *w.counts), end);
    observe(&w, observed, out);
    out->view.n_resample = b.n_draws;
    if (b.n_resamples == 0) goto end;
    DIS_TRY_GOTO(status, dis__alloc_array(&values, dis__saturating_size(b.n_resamples, n_values, 0), sizeof *values),
                 end);
    DIS_TRY_GOTO(status, dis__alloc_array(&scratch, b.n_resamples, sizeof *scratch), end);
    if (by_pattern)
        status = dis__bootstrap_cells(ctx, &b, p->count, p->n_patterns, measure_cells, &w, n_values, values);
    else
        status = run_items(ctx, &b, &w, values);
    if (status == DIS_OK && crossed)
        set_crossed_results(p, values, b.n_resamples, crossed, out);
    else if (status == DIS_OK)
        set_results(p, values, b.n_resamples, b.n_draws, scratch, observed, out);
end:
    dis__free(w.counts);
    dis__free(w.drawn);
    dis__free(values);
    dis__free(scratch);
    return status;
}
