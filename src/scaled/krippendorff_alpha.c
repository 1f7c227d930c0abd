/* Krippendorff's alpha of votes whose kinds (values, sets of classes) have any distance, and means over items, with
 * percentile intervals over items.
 *
 *     alpha = 1 - D_o / D_e,  D_o = sum_i sum_kl c_k c_l d_kl / (r - 1),  D_e = sum_kl n_k n_l d_kl / (n - 1)
 *
 * over items with r >= 2 votes; n the votes on them. D_e needs distances between all kinds: O(kinds^2), once for the
 * value and once per resample; where that would be more than MAX_WORK distances there is no interval, and above
 * MAX_KINDS no value. Cost beside that: one pass over the votes, one per resample. */
#include "tool/arrays.h"
#include "scaled/scaled_internal.h"
#include "stats/bootstrap.h"
#include <math.h>
#include <string.h>

enum { MAX_KINDS = 4000 };
#define MAX_WORK 2e9

typedef struct {
    const dis__alpha_input *in;
    const double *observed; /* (n_items): share of D_o */
    const double *distance; /* (n_kinds, n_kinds) */
    double *counts;         /* (threads, n_kinds) */
} alpha_work;

static double expected(const alpha_work *w, const double *n)
{
    const size_t k = w->in->n_kinds;
    double sum = 0;
    for (size_t a = 0; a < k; a++) {
        if (n[a] == 0) continue;
        double row = 0;
        for (size_t b = 0; b < k; b++) row += n[b] * w->distance[a * k + b];
        sum += n[a] * row;
    }
    return sum;
}

static double alpha_of(const alpha_work *w, const uint8_t *times, double *n)
{
    const dis__alpha_input *in = w->in;
    double observed = 0, total = 0;
    memset(n, 0, in->n_kinds * sizeof *n);
    for (size_t i = 0; i < in->n_items; i++) {
        const uint64_t first = in->start[i], last = in->start[i + 1];
        const double t = times ? times[i] : 1;
        if (last - first < 2 || t == 0) continue;
        observed += t * w->observed[i];
        total += t * (double)(last - first);
        for (uint64_t v = first; v < last; v++) n[in->kind[v]] += t;
    }
    const double e = expected(w, n) / (total - 1);
    return total < 2 ? NAN : e > 0 ? 1 - observed / e : 1;
}

static dis_status resample(void *arg, const uint8_t *count, size_t r, int thread, double *values)
{
    (void)r;
    const alpha_work *w = arg;
    values[0] = alpha_of(w, count, w->counts + (size_t)thread * w->in->n_kinds);
    return DIS_OK;
}

static void item_distances(const dis__alpha_input *in, const double *distance, double *observed)
{
    for (size_t i = 0; i < in->n_items; i++) {
        const uint64_t first = in->start[i], last = in->start[i + 1];
        double sum = 0;
        for (uint64_t a = first; a < last; a++)
            for (uint64_t b = first; b < a; b++) sum += 2 * distance[in->kind[a] * in->n_kinds + in->kind[b]];
        observed[i] = last - first > 1 ? sum / (double)(last - first - 1) : 0;
    }
}

static dis_status interval(dis_context *ctx, alpha_work *w, size_t resamples, uint64_t seed, dis_metric *m)
{
    const dis__alpha_input *in = w->in;
    if (resamples == 0 || (double)in->n_kinds * (double)in->n_kinds * (double)resamples > MAX_WORK) return DIS_OK;
    const dis__bootstrap b = {.n_items = in->n_items, .n_draws = in->n_items, .n_resamples = resamples, .seed = seed};
    double *values;
    DIS_TRY(dis__alloc_array(&values, resamples, sizeof *values));
    const dis_status status = dis__bootstrap_run(ctx, &b, resample, w, 1, values);
    if (status == DIS_OK) m->has_interval = dis__bootstrap_interval(values, resamples, &m->ci_low, &m->ci_high);
    dis__free(values);
    return status;
}

static dis_status measure(dis_context *ctx, const dis__alpha_input *in, size_t resamples, uint64_t seed, dis_metric *m)
{
    const size_t k = in->n_kinds, n_threads = (size_t)dis_context_n_threads(ctx);
    double *distance = NULL, *observed = NULL;
    alpha_work w = {.in = in};
    DIS_TRY(dis__alloc_array(&distance, dis__saturating_size(k, k, 0), sizeof *distance));
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++) distance[a * k + b] = in->distance(in->arg, a, b);
    dis_status status = dis__alloc_array(&observed, in->n_items, sizeof *observed);
    if (status == DIS_OK) status = dis__alloc_array(&w.counts, dis__saturating_size(n_threads, k, 0), sizeof *w.counts);
    if (status == DIS_OK) {
        item_distances(in, distance, observed);
        w.observed = observed;
        w.distance = distance;
        const double alpha = alpha_of(&w, NULL, w.counts), e = expected(&w, w.counts);
        *m = isnan(alpha) ? dis__metric_undefined("no item has two votes")
                          : (dis_metric){.value = alpha, .degenerate = !(e > 0)};
        for (size_t i = 0; i < in->n_items; i++) m->n += in->start[i + 1] - in->start[i] > 1;
        if (!m->reason && !m->degenerate) status = interval(ctx, &w, resamples, seed, m);
    }
    dis__free(distance);
    dis__free(observed);
    dis__free(w.counts);
    return status;
}

dis_metric dis__alpha_compute(dis_context *ctx, const dis__alpha_input *in, size_t resamples, uint64_t seed,
                              dis_status *status)
{
    dis_metric m = dis__metric_undefined("too many different values for all pairs");
    if (*status != DIS_OK || in->n_kinds > MAX_KINDS) return m;
    *status = measure(ctx, in, resamples, seed, &m);
    return m;
}

dis_metric dis__mean_metric_compute(dis_context *ctx, const double *x, size_t n, size_t resamples, uint64_t seed,
                                    dis_status *status)
{
    dis_metric m = dis__metric_undefined("no votes to compare");
    double sum = 0, *known, *sums;
    size_t n_known = 0;
    if (*status != DIS_OK) return m;
    *status = dis__alloc_array(&known, n, sizeof *known);
    if (*status != DIS_OK) return m;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i])) sum += known[n_known++] = x[i];
    if (n_known) m = (dis_metric){.value = sum / (double)n_known, .n = n_known};
    if (n_known > 1 && resamples) {
        const dis__bootstrap b = {.n_items = n_known, .n_draws = n_known, .n_resamples = resamples, .seed = seed};
        const double *column = known;
        *status = dis__alloc_array(&sums, resamples, sizeof *sums);
        if (*status == DIS_OK) {
            *status = dis__bootstrap_sums(ctx, &b, &column, 1, sums);
            m.has_interval = *status == DIS_OK && dis__bootstrap_interval(sums, resamples, &m.ci_low, &m.ci_high);
            m.ci_low /= (double)n_known;
            m.ci_high /= (double)n_known;
            dis__free(sums);
        }
    }
    dis__free(known);
    return m;
}
