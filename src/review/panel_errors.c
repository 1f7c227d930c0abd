/* Errors of judges against the answer of most people, corrected for the errors of people, and judges that err together.
 *
 * With s the decoded votes of people (panel_truth.c), 1 - s(z) estimates without bias whether answer z is an error, and
 * 1 - s(z) - s(y) + [z = y] s(z) whether z and y both are. The mean correlation r of the errors of two judges is the
 * sum over pairs of covariances divided by the sum of the products of standard deviations; n judges are worth
 * n / (1 + (n - 1) r) independent ones (design effect, Kish 1965). Intervals: jackknife over groups of items, EM
 * refitted without each. Nothing is reported unless the clarity of people's votes minus two standard errors is at least
 * MIN_CLARITY, and at least MIN_MINORITY items are expected in the second most common class.
 *
 * Error groups: the two groups of judges whose errors correlate most on average are joined, until no two reach the
 * threshold. Cost: O(groups x items x judges^2). */
#include "review/panel_internal.h"
#include "core/memory/memory.h"
#include <math.h>

#define MIN_CLARITY  .4
#define MIN_MINORITY 20.
#define STUDENT      2.093024054408263 /* quantile .975 of Student's t with DIS_PANEL_GROUPS - 1 degrees of freedom */

typedef struct {
    const dis__panel_data *d;
    const dis__panel_truth *t;
    const dis_panel_judge *judges;
    double *posterior, *decoded;
    double *value;       /* (n_judges + 2, 1 + groups) errors, correlation, clarity */
    double *correlation; /* (n_judges, n_judges) with all items */
    dis_panel_pair *pairs;
} work;

enum { COLUMNS = 1 + DIS_PANEL_GROUPS };

/* ---- errors of one and of two ---- */

static bool counts(const work *w, size_t j, size_t i, size_t without)
{
    return w->d->answer[j * w->d->votes->n_items + i] >= 0 && w->t->pattern[i] != UINT32_MAX &&
           w->t->group[i] != without;
}

static double decoded_at(const work *w, size_t i, size_t label)
{
    return w->decoded[w->t->pattern[i] * w->t->n_classes + label];
}

static double error_of(const work *w, size_t j, size_t without)
{
    double n = 0, errors = 0;
    for (size_t i = 0; i < w->d->votes->n_items; i++) {
        if (!counts(w, j, i, without)) continue;
        n++;
        errors += 1 - decoded_at(w, i, (size_t)w->d->answer[j * w->d->votes->n_items + i]);
    }
    return n >= DIS_PANEL_MIN_ITEMS ? errors / n : (double)NAN;
}

typedef struct {
    double n, covariance, spread; /* spread: product of the standard deviations; NaN: one of them never errs */
} together;

static together errors_of_two(const work *w, size_t a, size_t b, size_t without)
{
    const size_t n_items = w->d->votes->n_items;
    double n = 0, ea = 0, eb = 0, both = 0;
    for (size_t i = 0; i < n_items; i++) {
        if (!counts(w, a, i, without) || !counts(w, b, i, without)) continue;
        const size_t x = (size_t)w->d->answer[a * n_items + i], y = (size_t)w->d->answer[b * n_items + i];
        const double sx = decoded_at(w, i, x), sy = decoded_at(w, i, y);
        n++;
        ea += 1 - sx;
        eb += 1 - sy;
        both += 1 - sx - sy + (x == y ? sx : 0);
    }
    if (n < DIS_PANEL_MIN_ITEMS) return (together){.n = n, .covariance = NAN, .spread = NAN};
    const double x = ea / n, y = eb / n, variance = x * (1 - x) * y * (1 - y);
    const bool err = x > 0 && x < 1 && y > 0 && y < 1;
    return (together){.n = n, .covariance = both / n - x * y, .spread = err ? sqrt(variance) : (double)NAN};
}

static double correlate(const work *w, size_t without)
{
    const size_t n = w->d->n_judges;
    double covariance = 0, spread = 0;
    for (size_t a = 0, p = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++, p++) {
            const bool both = w->judges[a].above_chance && w->judges[b].above_chance;
            const together x = both ? errors_of_two(w, a, b, without) : (together){.covariance = NAN, .spread = NAN};
            if (without == DIS_PANEL_GROUPS) {
                w->pairs[p].n = (uint64_t)x.n;
                w->correlation[a * n + b] = w->correlation[b * n + a] = w->pairs[p].correlation =
                    isnan(x.spread) ? (double)NAN : fmax(-1, fmin(1, x.covariance / x.spread));
            }
            if (isnan(x.spread)) continue;
            covariance += x.covariance;
            spread += x.spread;
        }
    return spread > 0 ? covariance / spread : (double)NAN;
}

/* All figures with all items, or without a group. */
static bool measure(const work *w, size_t without)
{
    const size_t n = w->d->n_judges, column = without == DIS_PANEL_GROUPS ? 0 : 1 + without;
    double clarity;
    const bool decodable = dis__panel_truth_decode(w->t, without, w->posterior, w->decoded, &clarity);
    w->value[(n + 1) * COLUMNS + column] = clarity;
    if (!decodable) return false;
    for (size_t j = 0; j < n; j++)
        w->value[j * COLUMNS + column] = w->judges[j].above_chance ? error_of(w, j, without) : (double)NAN;
    w->value[n * COLUMNS + column] = correlate(w, without);
    return true;
}

/* Standard error by the jackknife over groups. */
static double standard_error(const double *row)
{
    double mean = 0, squares = 0;
    for (size_t g = 1; g < COLUMNS; g++) mean += row[g] / DIS_PANEL_GROUPS;
    for (size_t g = 1; g < COLUMNS; g++) squares += (row[g] - mean) * (row[g] - mean);
    return sqrt(squares * (DIS_PANEL_GROUPS - 1) / DIS_PANEL_GROUPS);
}

/* Expected number of items of the second most common class. */
static double second_class(const dis__panel_truth *t)
{
    double first = 0, second = 0;
    for (size_t k = 0; k < t->n_classes; k++) {
        double items = 0;
        for (size_t p = 0; p < t->n_patterns; p++)
            for (size_t g = 0; g < DIS_PANEL_GROUPS; g++)
                items += t->posterior[p * t->n_classes + k] * t->weight[p * DIS_PANEL_GROUPS + g];
        second = fmax(second, fmin(first, items));
        first = fmax(first, items);
    }
    return second;
}

static bool measure_all(const work *w)
{
    const double *clarity = w->value + (w->d->n_judges + 1) * COLUMNS;
    bool decodable = measure(w, DIS_PANEL_GROUPS);
    for (size_t g = 0; g < DIS_PANEL_GROUPS && decodable; g++) decodable = measure(w, g);
    return decodable && second_class(w->t) >= MIN_MINORITY && clarity[0] - 2 * standard_error(clarity) >= MIN_CLARITY;
}

/* ---- error groups ---- */

/* Mean correlation between the judges of two groups; unknown ones count as 0. */
static double between(const double *r, size_t n, const uint32_t *group, uint32_t a, uint32_t b)
{
    double sum = 0, pairs = 0;
    for (size_t x = 0; x < n; x++)
        for (size_t y = 0; y < n; y++) {
            if (group[x] != a || group[y] != b) continue;
            sum += isnan(r[x * n + y]) ? 0 : r[x * n + y];
            pairs++;
        }
    return pairs > 0 ? sum / pairs : -INFINITY;
}

static bool join_nearest(const double *r, size_t n, double threshold, uint32_t *group)
{
    double best = threshold;
    uint32_t into = 0, from = 0;
    bool found = false;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++) {
            const double x = between(r, n, group, a, b);
            if (x < best || (found && x == best)) continue;
            best = x;
            into = a;
            from = b;
            found = true;
        }
    for (size_t j = 0; found && j < n; j++)
        if (group[j] == from) group[j] = into;
    return found;
}

static size_t find_groups(const double *r, size_t n, double threshold, dis_panel_judge *judges)
{
    uint32_t group[DIS_MAX_JUDGES], number[DIS_MAX_JUDGES], next = 0;
    for (size_t j = 0; j < n; j++) {
        group[j] = (uint32_t)j;
        number[j] = UINT32_MAX;
    }
    while (join_nearest(r, n, threshold, group)) continue;
    for (size_t j = 0; j < n; j++) {
        if (number[group[j]] == UINT32_MAX) number[group[j]] = next++;
        judges[j].error_group = number[group[j]];
    }
    return next;
}

/* ---- results ---- */

static void fill(const work *w, dis_panel_judge *judges, dis_panel_view *view)
{
    const size_t n = w->d->n_judges;
    for (size_t j = 0; j < n; j++) {
        const double *row = w->value + j * COLUMNS, se = standard_error(row);
        if (!isnan(row[0]) && !isnan(se))
            judges[j].error = dis__panel_compute_share(row[0], se * se, STUDENT, judges[j].shared);
    }
    const double *row = w->value + n * COLUMNS, se = standard_error(row), m = (double)view->n_above;
    if (view->n_above < 2 || isnan(row[0]) || isnan(se)) return;
    const double low = fmax(-1, row[0] - STUDENT * se), high = fmin(1, row[0] + STUDENT * se);
    const double r[3] = {row[0], fmax(0, row[0]) + STUDENT * se, low};
    double worth[3];
    for (int x = 0; x < 3; x++) worth[x] = m / (1 + (m - 1) * fmin(1, fmax(0, r[x])));
    view->correlation = (dis_metric){.value = fmax(-1, fmin(1, row[0])),
                                     .ci_low = low,
                                     .ci_high = high,
                                     .n = view->n_pairs,
                                     .has_interval = high > low};
    view->effective = (dis_metric){.value = worth[0],
                                   .ci_low = worth[1],
                                   .ci_high = worth[2],
                                   .n = view->n_pairs,
                                   .has_interval = worth[2] > worth[1]};
    view->n_error_groups = find_groups(w->correlation, n, w->d->o->error_correlation, judges);
}

static dis_status run(work *w, dis_panel_judge *judges, dis_panel_view *view, bool *identified)
{
    const size_t n = w->d->n_judges, cells = dis__saturating_size(w->t->n_patterns, w->t->n_classes, 0);
    DIS_TRY(dis__alloc_array(&w->posterior, cells, sizeof *w->posterior));
    DIS_TRY(dis__alloc_array(&w->decoded, cells, sizeof *w->decoded));
    DIS_TRY(dis__alloc_zeroed(&w->value, (n + 2) * COLUMNS, sizeof *w->value));
    DIS_TRY(dis__alloc_zeroed(&w->correlation, n * n, sizeof *w->correlation));
    *identified = measure_all(w);
    if (*identified) fill(w, judges, view);
    for (size_t p = 0; p < view->n_pairs && !*identified; p++) w->pairs[p].correlation = NAN;
    return DIS_OK;
}

dis_status dis__panel_estimate_errors(const dis__panel_data *d, const dis__panel_truth *t, dis_panel_judge *judges,
                                      dis_panel_pair *pairs, dis_panel_view *view, bool *identified)
{
    work w = {.d = d, .t = t, .judges = judges, .pairs = pairs};
    const dis_status status = run(&w, judges, view, identified);
    dis__free(w.posterior);
    dis__free(w.decoded);
    dis__free(w.value);
    dis__free(w.correlation);
    return status;
}
