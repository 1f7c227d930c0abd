/* Distances between views (Wright and Augenstein 2022, figure 4 and section 5.4).
 *
 * JSD(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2 in nats, so the entropies of the rows of each view are computed once
 * and a pair costs one logarithm per probability. Equal rows give exactly 0. Each item is one row of columns (one per
 * pair, three per view, five for the correlation over items). The results are means of columns, and columns that are
 * resampled together give the intervals (stats/bootstrap.h). Pairs are processed in small batches, so their columns
 * need little memory.
 *
 * Correlation over items: of all (item, view), by sums of products of centred values. An item is
 * resampled with all its views. Cost: O(views^2 x items x classes) logarithms, O(views^2 x items) per resample. */
#include "dissent/views.h"
#include "tool/arrays.h"
#include "stats/bootstrap.h"
#include "evaluate/evaluation_internal.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include "core/numbers/special_functions.h"
#include <math.h>
#include <stdio.h>

enum {
    TOGETHER = 16,  /* columns that are filled and resampled together */
    NUMBERS = 4096, /* logarithms computed in one batch */
    PRODUCTS = 5,   /* columns of the correlation: x, y, xx, yy, xy */
    ENTROPY = 0,    /* columns per view, in this order */
    TO_OTHERS = 1,
    TO_CENTROID = 2,
    A_VIEW = 3,
};

struct dis_views_distances {
    dis_views_distances_view view;
    dis_metric *metrics; /* jsd, then the columns of the views */
};

DIS_OPTIONS_DEFAULTS(dis_views_distances_options, .size = sizeof(dis_views_distances_options), .resamples = 1000,
                     .fraction = 1)

typedef struct {
    dis_context *ctx;
    const dis_views *views;
    dis__bootstrap b;
    double *centroid;         /* (n_items, n_classes) */
    double *column[A_VIEW];   /* (n_views, n_items) each */
    double *centroid_entropy; /* (n_items) */
    double *pair;             /* (TOGETHER, n_items) */
    double *sums, *sorted;    /* (n_resamples, TOGETHER), (n_resamples) */
    double *means;            /* (n_resamples, 2, n_views): to the other views, to the centroid */
    double *scratch;          /* per thread: (2 NUMBERS or more) */
    size_t scratch_size, n_jobs;
    dis__special_functions f;
} measuring;

/* ---- columns ---- */

/* Entropies of rows first .. last - 1 of the mean of two tables, which may be the same. */
static void entropies(const measuring *w, const double *p, const double *q, size_t first, size_t last, double *scratch,
                      double *out)
{
    const size_t k = w->views->n_classes, rows = k < NUMBERS ? NUMBERS / k : 1;
    double *x = scratch, *logs = scratch + w->scratch_size / 2;
    for (size_t i = first; i < last; i += rows) {
        const size_t n = (last - i < rows ? last - i : rows) * k;
        for (size_t j = 0; j < n; j++) logs[j] = x[j] = (p[i * k + j] + q[i * k + j]) / 2;
        w->f.log(logs, n);
        for (size_t j = 0, row = i; j < n; j += k, row++) {
            double sum = 0;
            for (size_t c = j; c < j + k; c++) sum += x[c] > 0 ? x[c] * logs[c] : 0;
            out[row] = sum < 0 ? -sum : 0;
        }
    }
}

/* Distances of two tables whose entropies are known. */
static void distances(const measuring *w, const double *p, const double *h_p, const double *q, const double *h_q,
                      size_t first, size_t last, double *scratch, double *out)
{
    entropies(w, p, q, first, last, scratch, out);
    for (size_t i = first; i < last; i++) out[i] = fmax(out[i] - (h_p[i] + h_q[i]) / 2, 0);
}

static double *column_of(const measuring *w, size_t which, size_t m)
{
    return w->column[which] + m * w->views->n_items;
}

/* Entropies of the views, distances to the centroid. */
static dis_status view_job(void *arg, size_t j, int thread)
{
    const measuring *w = arg;
    const dis_views *v = w->views;
    const size_t first = dis__job_first(v->n_items, w->n_jobs, j), last = dis__job_first(v->n_items, w->n_jobs, j + 1);
    double *scratch = w->scratch + (size_t)thread * w->scratch_size;
    entropies(w, w->centroid, w->centroid, first, last, scratch, w->centroid_entropy);
    for (size_t m = 0; m < v->n_views; m++) {
        double *h = column_of(w, ENTROPY, m), *others = column_of(w, TO_OTHERS, m);
        entropies(w, v->p[m], v->p[m], first, last, scratch, h);
        distances(w, v->p[m], h, w->centroid, w->centroid_entropy, first, last, scratch, column_of(w, TO_CENTROID, m));
        for (size_t i = first; i < last; i++) others[i] = 0;
    }
    return DIS_OK;
}

/* A batch of pairs of views, numbered row by row through the upper half of the matrix. */
typedef struct {
    const measuring *w;
    size_t n, a[TOGETHER], b[TOGETHER];
} pairs;

static dis_status pair_job(void *arg, size_t j, int thread)
{
    const pairs *some = arg;
    const measuring *w = some->w;
    const dis_views *v = w->views;
    const size_t first = dis__job_first(v->n_items, w->n_jobs, j), last = dis__job_first(v->n_items, w->n_jobs, j + 1);
    for (size_t q = 0; q < some->n; q++) {
        const size_t a = some->a[q], b = some->b[q];
        double *out = w->pair + q * v->n_items, *others_a = column_of(w, TO_OTHERS, a),
               *others_b = column_of(w, TO_OTHERS, b);
        distances(w, v->p[a], column_of(w, ENTROPY, a), v->p[b], column_of(w, ENTROPY, b), first, last,
                  w->scratch + (size_t)thread * w->scratch_size, out);
        for (size_t i = first; i < last; i++) {
            others_a[i] += out[i] / (double)(v->n_views - 1);
            others_b[i] += out[i] / (double)(v->n_views - 1);
        }
    }
    return DIS_OK;
}

/* ---- from columns to results ---- */

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

/* Means of n columns (n <= TOGETHER) and their intervals; means (n_resamples, every stride-th) receives those of the
 * resamples, if not NULL. */
static dis_status mean_columns(const measuring *w, const double *const *columns, size_t n, double *means, size_t stride,
                               dis_metric *const *out)
{
    const size_t n_resamples = w->b.n_resamples;
    if (n_resamples) DIS_TRY(dis__bootstrap_sums(w->ctx, &w->b, columns, n, w->sums));
    for (size_t r = 0; r < n_resamples * n; r++) w->sums[r] /= (double)w->b.n_draws;
    for (size_t r = 0; means && r < n_resamples; r++)
        for (size_t c = 0; c < n; c++) means[r * stride + c] = w->sums[r * n + c];
    for (size_t c = 0; c < n; c++) {
        *out[c] = (dis_metric){.value = mean_of(columns[c], w->views->n_items), .n = w->views->n_items};
        if (n_resamples)
            out[c]->has_interval =
                dis__bootstrap_interval_of(w->sums, n_resamples, n, c, w->sorted, &out[c]->ci_low, &out[c]->ci_high);
    }
    return DIS_OK;
}

static dis_status measure_pairs(measuring *w, dis_metric *jsd)
{
    const size_t n = w->views->n_views;
    pairs some = {.w = w};
    for (size_t a = 0; a < n; a++) {
        jsd[a * n + a] = (dis_metric){.n = w->views->n_items};
        for (size_t b = a + 1; b < n; b++) {
            some.a[some.n] = a;
            some.b[some.n++] = b;
            if (some.n < TOGETHER && !(a + 2 == n && b + 1 == n)) continue;
            const double *columns[TOGETHER];
            dis_metric *out[TOGETHER];
            for (size_t q = 0; q < some.n; q++) {
                columns[q] = w->pair + q * w->views->n_items;
                out[q] = &jsd[some.a[q] * n + some.b[q]];
            }
            DIS_TRY(dis__run_jobs(w->ctx, w->n_jobs, pair_job, &some));
            DIS_TRY(mean_columns(w, columns, some.n, NULL, 0, out));
            for (size_t q = 0; q < some.n; q++) jsd[some.b[q] * n + some.a[q]] = *out[q];
            some.n = 0;
        }
        dis__progress(w->ctx, "distances", (double)(a + 1) / (double)n);
    }
    return DIS_OK;
}

/* One column of every view. */
static dis_status measure_views(const measuring *w, size_t which, double *means, dis_metric *out)
{
    const size_t n = w->views->n_views;
    for (size_t m = 0; m < n; m += TOGETHER) {
        const double *columns[TOGETHER];
        dis_metric *to[TOGETHER];
        const size_t some = n - m < TOGETHER ? n - m : TOGETHER;
        for (size_t c = 0; c < some; c++) {
            columns[c] = column_of(w, which, m + c);
            to[c] = &out[m + c];
        }
        DIS_TRY(mean_columns(w, columns, some, means ? means + m : NULL, 2 * n, to));
    }
    return DIS_OK;
}

/* ---- correlations ---- */

/* Pearson's r of n points from centred sums of x, y, xx, yy, xy; NaN if either does not vary. */
static double correlation(const double *sums, double n)
{
    return dis__correlation(sums[4] - sums[0] * sums[1] / n, sums[2] - sums[0] * sums[0] / n,
                            sums[3] - sums[1] * sums[1] / n);
}

static const char not_varying[] = "one of the two is the same for all";

static dis_status hub_over_items(const measuring *w, dis_metric *out)
{
    const dis_views *v = w->views;
    const size_t n = v->n_items, n_points = n * v->n_views;
    const double *x = w->column[TO_CENTROID], *y = w->column[TO_OTHERS];
    const double mean_x = mean_of(x, n_points), mean_y = mean_of(y, n_points);
    double sums[PRODUCTS] = {0}, *columns = w->pair;
    for (size_t i = 0; i < n; i++) {
        double s[PRODUCTS] = {0};
        for (size_t m = 0; m < v->n_views; m++) {
            const double a = x[m * n + i] - mean_x, b = y[m * n + i] - mean_y;
            const double of_one[PRODUCTS] = {a, b, a * a, b * b, a * b};
            for (size_t c = 0; c < PRODUCTS; c++) s[c] += of_one[c];
        }
        for (size_t c = 0; c < PRODUCTS; c++) sums[c] += columns[c * n + i] = s[c];
    }
    *out = (dis_metric){.value = correlation(sums, (double)n_points), .n = n_points};
    if (isnan(out->value)) *out = dis__metric_undefined(not_varying);
    if (out->reason || !w->b.n_resamples) return DIS_OK;
    const double *each[PRODUCTS];
    for (size_t c = 0; c < PRODUCTS; c++) each[c] = columns + c * n;
    DIS_TRY(dis__bootstrap_sums(w->ctx, &w->b, each, PRODUCTS, w->sums));
    for (size_t r = 0; r < w->b.n_resamples; r++)
        w->sorted[r] = correlation(w->sums + r * PRODUCTS, (double)w->b.n_draws * (double)v->n_views);
    out->has_interval = dis__bootstrap_interval(w->sorted, w->b.n_resamples, &out->ci_low, &out->ci_high);
    return DIS_OK;
}

/* Of the mean distances of n views to the others and to the centroid. */
static double correlate_means(const double *others, const double *centroid, size_t n)
{
    double sums[PRODUCTS] = {0};
    const double mean_x = mean_of(centroid, n), mean_y = mean_of(others, n);
    for (size_t m = 0; m < n; m++) {
        const double a = centroid[m] - mean_x, b = others[m] - mean_y;
        const double of_one[PRODUCTS] = {a, b, a * a, b * b, a * b};
        for (size_t c = 0; c < PRODUCTS; c++) sums[c] += of_one[c];
    }
    return correlation(sums, (double)n);
}

static void hub_over_views(const measuring *w, const dis_views_distances_view *view, dis_metric *out)
{
    const size_t n = view->n_views;
    double others[DIS_MAX_VIEWS] = {0}, centroid[DIS_MAX_VIEWS] = {0};
    for (size_t m = 0; m < n; m++) {
        others[m] = view->to_others[m].value;
        centroid[m] = view->to_centroid[m].value;
    }
    *out = (dis_metric){.value = correlate_means(others, centroid, n), .n = n};
    if (n < 3) *out = dis__metric_undefined("two views always have the same distance from each other");
    if (!out->reason && isnan(out->value)) *out = dis__metric_undefined(not_varying);
    if (out->reason || !w->b.n_resamples) return;
    for (size_t r = 0; r < w->b.n_resamples; r++)
        w->sorted[r] = correlate_means(w->means + r * 2 * n, w->means + r * 2 * n + n, n);
    out->has_interval = dis__bootstrap_interval(w->sorted, w->b.n_resamples, &out->ci_low, &out->ci_high);
}

/* ---- entry point ---- */

static dis_status check(const dis_views *v, const dis_views_distances_options *o)
{
    if (v->n_views < 2 || v->n_views > DIS_MAX_VIEWS)
        return dis__fail(DIS_EUSAGE, "%zu views; 2 to %d can be compared", v->n_views, DIS_MAX_VIEWS);
    if (v->n_items == 0 || v->n_classes == 0) return dis__fail(DIS_EUSAGE, "the views have no items");
    if (!(o->fraction > 0 && o->fraction <= 1))
        return dis__fail(DIS_EUSAGE, "the fraction is %g; it must be above 0 and at most 1", o->fraction);
    if (o->resamples > UINT32_MAX)
        return dis__fail(DIS_EUSAGE, "%llu resamples; at most %u are possible", (unsigned long long)o->resamples,
                         UINT32_MAX);
    return DIS_OK;
}

static dis_status allocate(measuring *w)
{
    const dis_views *v = w->views;
    const size_t threads = (size_t)dis_context_n_threads(w->ctx), n_resamples = w->b.n_resamples;
    const size_t an_item = dis__saturating_size(v->n_views, A_VIEW, TOGETHER + 1 + v->n_classes);
    const size_t numbers =
        dis__saturating_size(v->n_items, an_item, dis__saturating_size(n_resamples, TOGETHER + 1 + 2 * v->n_views, 0));
    char what[96];
    snprintf(what, sizeof what, "comparing %zu views of %zu items", v->n_views, v->n_items);
    w->scratch_size = 2 * (v->n_classes > NUMBERS ? v->n_classes : NUMBERS);
    DIS_TRY(dis__check_memory(w->ctx, dis__saturating_size(numbers, sizeof(double), 0), what));
    DIS_TRY(dis__alloc_array(&w->centroid, dis__saturating_size(v->n_items, v->n_classes, 0), sizeof *w->centroid));
    for (size_t c = 0; c < A_VIEW; c++)
        DIS_TRY(dis__alloc_array(&w->column[c], dis__saturating_size(v->n_views, v->n_items, 0), sizeof *w->column[c]));
    DIS_TRY(dis__alloc_array(&w->centroid_entropy, v->n_items, sizeof *w->centroid_entropy));
    DIS_TRY(dis__alloc_array(&w->pair, dis__saturating_size(TOGETHER, v->n_items, 0), sizeof *w->pair));
    DIS_TRY(dis__alloc_array(&w->sums, dis__saturating_size(n_resamples, TOGETHER, 0), sizeof *w->sums));
    DIS_TRY(dis__alloc_array(&w->sorted, n_resamples, sizeof *w->sorted));
    DIS_TRY(dis__alloc_array(&w->means, dis__saturating_size(n_resamples, 2 * v->n_views, 0), sizeof *w->means));
    return dis__alloc_array(&w->scratch, dis__saturating_size(threads, w->scratch_size, 0), sizeof *w->scratch);
}

static dis_status measure(measuring *w, dis_views_distances *d)
{
    const dis_views *v = w->views;
    const size_t n = v->n_views;
    dis_metric *jsd = d->metrics, *entropy = jsd + n * n, *others = entropy + n, *centroid = others + n;
    const dis_views unweighted = {
        .size = sizeof(dis_views), .n_items = v->n_items, .n_classes = v->n_classes, .n_views = n, .p = v->p};
    DIS_TRY(dis_views_combine(w->ctx, &unweighted, "centroid", w->centroid, NULL));
    DIS_TRY(dis__run_jobs(w->ctx, w->n_jobs, view_job, w));
    DIS_TRY(measure_pairs(w, jsd));
    DIS_TRY(measure_views(w, ENTROPY, NULL, entropy));
    DIS_TRY(measure_views(w, TO_OTHERS, w->means, others));
    DIS_TRY(measure_views(w, TO_CENTROID, w->means + n, centroid));
    d->view = (dis_views_distances_view){.n_items = v->n_items,
                                         .n_classes = v->n_classes,
                                         .n_views = n,
                                         .jsd = jsd,
                                         .entropy = entropy,
                                         .to_others = others,
                                         .to_centroid = centroid};
    DIS_TRY(hub_over_items(w, &d->view.hubness_over_items));
    hub_over_views(w, &d->view, &d->view.hubness_over_views);
    return DIS_OK;
}

dis_status dis_views_distances_run(dis_context *ctx, const dis_views *views, const dis_views_distances_options *options,
                                   dis_views_distances **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_views_distances_options o = dis_views_distances_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_views_distances_options, &o, options));
    dis_views own = dis_views_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_views, &own, views));
    DIS_TRY(check(&own, &o));
    dis_views_distances *d;
    DIS_TRY(dis__alloc_zeroed(&d, 1, sizeof *d));
    measuring w = {.ctx = ctx,
                   .views = &own,
                   .b = {.n_items = own.n_items,
                         .n_draws = dis__bootstrap_draws(own.n_items, o.fraction),
                         .n_resamples = (size_t)o.resamples,
                         .seed = o.seed},
                   .n_jobs = dis__n_jobs(own.n_items, 1024, 256),
                   .f = dis__special_functions_select()};
    dis_status status = dis__alloc_zeroed(&d->metrics, own.n_views * (own.n_views + A_VIEW), sizeof *d->metrics);
    if (status == DIS_OK) status = allocate(&w);
    if (status == DIS_OK) status = measure(&w, d);
    dis__free(w.centroid);
    for (size_t c = 0; c < A_VIEW; c++) dis__free(w.column[c]);
    dis__free(w.centroid_entropy);
    dis__free(w.pair);
    dis__free(w.sums);
    dis__free(w.sorted);
    dis__free(w.means);
    dis__free(w.scratch);
    if (status == DIS_OK)
        *out = d;
    else
        dis_views_distances_destroy(d);
    return status;
}

DIS_VIEW_DEFINE(dis_views_distances, distances, distances->view)

void dis_views_distances_destroy(dis_views_distances *distances)
{
    if (!distances) return;
    dis__free(distances->metrics);
    dis__free(distances);
}
