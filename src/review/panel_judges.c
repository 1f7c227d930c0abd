/* Judges one by one and together: agreement with people, errors, how far errors go together, what the panel is worth.
 *
 * An error is a vote other than the majority of people (items where people tie are left out). Two judges that err on
 * the same items bring the evidence of less than two. With r the mean over pairs of the correlation of their errors, n
 * judges are worth n / (1 + (n - 1) r) independent ones (the design effect of Kish 1965); by the spectrum of the matrix
 * of correlations they are worth (sum of eigenvalues)^2 / sum of their squares = n^2 / sum_ij r_ij^2. Clusters: the two
 * groups of judges whose errors correlate most on average are joined, until no two reach the threshold.
 *
 * Intervals resample items. Cost: (1 + resamples) x items x judges^2 / 2. */
#include "review/panel_internal.h"
#include "core/memory.h"
#include "stats/bootstrap.h"
#include <math.h>

enum { MIN_SHARED = 10 }; /* items that two judges must share */

typedef struct {
    const dis__panel_data *d;
    dis__stands stands[DIS_MAX_JUDGES];
    int8_t *error; /* (n_judges, n_items) 1, 0, -1: not known */
    size_t n_values;
    double *value, *resample, *scratch;
} work;

/* ---- correlations ---- */

static double correlation(const work *w, size_t a, size_t b, const uint8_t *times, uint64_t *shared)
{
    const size_t n_items = w->d->votes->n_items;
    const int8_t *x = w->error + a * n_items, *y = w->error + b * n_items;
    uint64_t n = 0, sx = 0, sy = 0, both = 0;
    for (size_t i = 0; i < n_items; i++) {
        if (x[i] < 0 || y[i] < 0) continue;
        const unsigned m = times ? times[i] : 1u;
        n += m;
        sx += m * (unsigned)x[i];
        sy += m * (unsigned)y[i];
        both += m * (unsigned)(x[i] & y[i]);
    }
    if (shared) *shared = n;
    if (n < MIN_SHARED) return NAN;
    const double mx = (double)sx / (double)n, my = (double)sy / (double)n;
    const double spread = sqrt(mx * (1 - mx) * my * (1 - my));
    return spread > 0 ? ((double)both / (double)n - mx * my) / spread : (double)NAN;
}

static void value_together(const work *w, const uint8_t *times, double *to)
{
    const size_t n = w->d->n_judges;
    double sum = 0, squares = 0, pairs = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            const double r = correlation(w, a, b, times, NULL);
            if (isnan(r)) continue;
            sum += r;
            squares += r * r;
            pairs++;
        }
    to[DIS_PANEL_CORRELATION] = to[DIS_PANEL_EFFECTIVE] = to[DIS_PANEL_SPECTRUM] = NAN;
    if (pairs == 0) return;
    const double m = (double)n, all = m * (m - 1) / 2;
    to[DIS_PANEL_CORRELATION] = sum / pairs;
    to[DIS_PANEL_EFFECTIVE] = fmin(m, m / fmax(1 / m, 1 + (m - 1) * sum / pairs));
    to[DIS_PANEL_SPECTRUM] = m * m / (m + 2 * squares * all / pairs);
}

/* ---- single judges ---- */

static void value_judge(const work *w, size_t j, const uint8_t *times, double *to)
{
    const dis__panel_data *d = w->d;
    const size_t n_items = d->votes->n_items, n = d->votes->n_classes;
    double items = 0, agreement = 0, known = 0, errors = 0;
    for (size_t i = 0; i < n_items; i++) {
        const int32_t said = d->said[j * n_items + i];
        const double m = times ? times[i] : 1;
        if (said < 0 || d->n_votes[i] == 0 || m == 0) continue;
        items += m;
        agreement += m * d->people[i * n + (size_t)said] / d->n_votes[i];
        if (w->error[j * n_items + i] < 0) continue;
        known += m;
        errors += m * w->error[j * n_items + i];
    }
    to[DIS_PANEL_AGREEMENT] = items > 0 ? agreement / items : (double)NAN;
    to[DIS_PANEL_ERROR] = known > 0 ? errors / known : (double)NAN;
    to[DIS_PANEL_ADVANTAGE] = dis__panel_advantage(&w->stands[j], times);
}

static void measure(const work *w, const uint8_t *times, double *values)
{
    const size_t n = w->d->n_judges;
    for (size_t j = 0; j < n; j++) value_judge(w, j, times, values + j * DIS_PANEL_JUDGE_VALUES);
    value_together(w, times, values + n * DIS_PANEL_JUDGE_VALUES);
}

static dis_status one_resample(void *arg, const uint8_t *count, size_t resample, int thread, double *values)
{
    (void)resample;
    (void)thread;
    measure(arg, count, values);
    return DIS_OK;
}

/* ---- clusters ---- */

/* Mean correlation between the judges of two clusters; unknown ones count as 0. */
static double between(const double *r, size_t n, const uint32_t *cluster, uint32_t a, uint32_t b)
{
    double sum = 0, pairs = 0;
    for (size_t x = 0; x < n; x++)
        for (size_t y = 0; y < n; y++) {
            if (cluster[x] != a || cluster[y] != b) continue;
            sum += isnan(r[x * n + y]) ? 0 : r[x * n + y];
            pairs++;
        }
    return pairs > 0 ? sum / pairs : -INFINITY;
}

static bool join_nearest(const double *r, size_t n, double threshold, uint32_t *cluster)
{
    double best = threshold;
    uint32_t into = 0, from = 0;
    bool found = false;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++) {
            const double x = between(r, n, cluster, a, b);
            if (x < best || (found && x == best)) continue;
            best = x;
            into = a;
            from = b;
            found = true;
        }
    for (size_t j = 0; found && j < n; j++)
        if (cluster[j] == from) cluster[j] = into;
    return found;
}

static size_t find_clusters(const double *r, size_t n, double threshold, dis_panel_judge *judges)
{
    uint32_t cluster[DIS_MAX_JUDGES], number[DIS_MAX_JUDGES], next = 0;
    for (size_t j = 0; j < n; j++) {
        cluster[j] = (uint32_t)j;
        number[j] = UINT32_MAX;
    }
    while (join_nearest(r, n, threshold, cluster)) continue;
    for (size_t j = 0; j < n; j++) {
        if (number[cluster[j]] == UINT32_MAX) number[cluster[j]] = next++;
        judges[j].cluster = number[cluster[j]];
    }
    return next;
}

static dis_status compare_pairs(const work *w, dis_panel_judge *judges, dis_panel_pair *pairs, dis_panel_view *view)
{
    const size_t n = w->d->n_judges;
    double *r;
    DIS_TRY(dis__alloc_array(&r, n * n, sizeof *r));
    size_t p = 0;
    for (size_t a = 0; a < n; a++) {
        r[a * n + a] = 1;
        for (size_t b = a + 1; b < n; b++, p++) {
            pairs[p] = (dis_panel_pair){.a = (uint32_t)a, .b = (uint32_t)b};
            pairs[p].correlation = r[a * n + b] = r[b * n + a] = correlation(w, a, b, NULL, &pairs[p].n);
        }
    }
    view->n_pairs = p;
    view->n_clusters = find_clusters(r, n, w->d->o->cluster, judges);
    dis__free(r);
    return DIS_OK;
}

/* ---- results ---- */

static dis_metric metric_at(const work *w, size_t at, size_t n, const char *reason)
{
    if (isnan(w->value[at])) return dis_metric_undefined(reason);
    dis_metric m = {.value = w->value[at], .ci_low = NAN, .ci_high = NAN, .n = n};
    if (w->d->o->resamples)
        m.has_interval = dis__bootstrap_interval_of(w->resample, w->d->o->resamples, w->n_values, at, w->scratch,
                                                    &m.ci_low, &m.ci_high);
    return m;
}

static void find_errors(work *w)
{
    const dis__panel_data *d = w->d;
    const size_t n_items = d->votes->n_items;
    for (size_t j = 0; j < d->n_judges; j++)
        for (size_t i = 0; i < n_items; i++) {
            const int32_t said = d->said[j * n_items + i];
            w->error[j * n_items + i] = said < 0 || d->majority[i] < 0 ? (int8_t)-1 : (int8_t)(said != d->majority[i]);
        }
}

static void count_judge(const dis__panel_data *d, size_t j, dis_panel_judge *to)
{
    to->worker = d->worker[j];
    for (size_t i = 0; i < d->votes->n_items; i++) {
        const bool voted = d->said[j * d->votes->n_items + i] >= 0;
        to->votes += voted;
        to->shared += voted && d->n_votes[i] > 0;
    }
}

static void fill(const work *w, dis_panel_judge *judges, dis_panel_view *view)
{
    static const char alone[] = "no two judges can be compared";
    const size_t n = w->d->n_judges, at = n * DIS_PANEL_JUDGE_VALUES;
    for (size_t j = 0; j < n; j++) {
        const size_t first = j * DIS_PANEL_JUDGE_VALUES;
        dis_panel_judge *to = &judges[j];
        to->agreement = metric_at(w, first + DIS_PANEL_AGREEMENT, to->shared, "no item has votes of people too");
        to->error = metric_at(w, first + DIS_PANEL_ERROR, to->shared, "no item has a majority of people");
        if (to->people) to->advantage = metric_at(w, first + DIS_PANEL_ADVANTAGE, to->people, to->advantage.reason);
    }
    view->correlation = metric_at(w, at + DIS_PANEL_CORRELATION, view->n_pairs, alone);
    view->effective = metric_at(w, at + DIS_PANEL_EFFECTIVE, view->n_pairs, alone);
    view->spectrum = metric_at(w, at + DIS_PANEL_SPECTRUM, view->n_pairs, alone);
}

static dis_status run(work *w, dis_panel_judge *judges, dis_panel_pair *pairs, dis_panel_view *view)
{
    const dis__panel_data *d = w->d;
    const size_t n = d->votes->n_items, resamples = d->o->resamples;
    w->n_values = d->n_judges * DIS_PANEL_JUDGE_VALUES + DIS_PANEL_VALUES;
    DIS_TRY(dis__alloc_array(&w->error, dis__size(d->n_judges, n, 0), sizeof *w->error));
    DIS_TRY(dis__alloc_array(&w->value, w->n_values, sizeof *w->value));
    DIS_TRY(dis__alloc_array(&w->resample, dis__size(resamples, w->n_values, 0), sizeof *w->resample));
    DIS_TRY(dis__alloc_array(&w->scratch, resamples, sizeof *w->scratch));
    find_errors(w);
    for (size_t j = 0; j < d->n_judges; j++) {
        count_judge(d, j, &judges[j]);
        DIS_TRY(dis__panel_alternative(d, j, &judges[j], &w->stands[j]));
    }
    DIS_TRY(compare_pairs(w, judges, pairs, view));
    const dis__bootstrap b = {.n_items = n, .n_draws = n, .n_resamples = resamples, .seed = d->o->seed};
    measure(w, NULL, w->value);
    if (resamples) DIS_TRY(dis__bootstrap_run(d->ctx, &b, one_resample, w, w->n_values, w->resample));
    fill(w, judges, view);
    return DIS_OK;
}

dis_status dis__panel_judges(const dis__panel_data *d, dis_panel_judge *judges, dis_panel_pair *pairs,
                             dis_panel_view *view)
{
    work w = {.d = d};
    const dis_status status = run(&w, judges, pairs, view);
    for (size_t j = 0; j < DIS_MAX_JUDGES; j++) {
        dis__free(w.stands[j].row);
        dis__free(w.stands[j].first);
    }
    dis__free(w.error);
    dis__free(w.value);
    dis__free(w.resample);
    dis__free(w.scratch);
    return status;
}
