/* How often sets contain votes: of all items, by class of the vote, by size of the set, by entropy of the prediction.
 *
 * Each is a ratio of sums over items, sum a / sum b: b is the share of the item's votes that the row is about, a the part
 * of it that the set contains. Its variance is that of a - (coverage) b over items, since votes on an item depend on each
 * other; so the interval is Wilson's for as many votes as would have this variance. */
#include "core/memory/memory.h"
#include "core/numbers/elementary.h"
#include "evaluate/conformal/conformal.h"
#include "stats/crossed_intervals.h"
#include "stats/ranks.h"
#include <math.h>

enum { QUARTERS = 4 };

dis_status dis__coverage_row_add(dis_prediction_sets *sets, const dis_coverage_row *row)
{
    DIS_TRY(
        dis__reserve(&sets->rows, &sets->rows_capacity, sets->view.n_rows, sets->view.n_rows + 1, sizeof *sets->rows));
    sets->rows[sets->view.n_rows++] = *row;
    return DIS_OK;
}

typedef struct {
    const dis__conformal *x;
    bool tested;     /* rows with test votes, otherwise calibration rows */
    double *entropy; /* (n_items) */
    size_t *quarter; /* (n_items) */
} diagnosis;

static bool is_checked(const diagnosis *d, size_t r)
{
    return d->x->n_votes[r] > 0 && d->x->calibrates[r] == !d->tested;
}

/* Whether the row is among those that `of` is about. */
static bool is_of_row(const diagnosis *d, const dis_coverage_row *of, size_t r)
{
    return of->kind == DIS_COVERAGE_SIZE      ? d->x->out->set_size[r] == of->index
           : of->kind == DIS_COVERAGE_ENTROPY ? d->quarter[r] == of->index
                                              : true;
}

/* The share of the votes on row r that `of` is about, and of those within the set. */
static void shares(const diagnosis *d, const dis_coverage_row *of, size_t r, double *inside, double *all)
{
    const dis__conformal *x = d->x;
    const size_t K = x->in.n_classes;
    *inside = *all = 0;
    for (size_t k = 0; k < K; k++) {
        if (of->kind == DIS_COVERAGE_CLASS && k != of->index) continue;
        *all += x->count[r * K + k];
        if (x->out->in_set[r * K + k]) *inside += x->count[r * K + k];
    }
    if (of->kind != DIS_COVERAGE_CLASS) *all += x->unmatched[r];
    *inside /= x->n_votes[r];
    *all /= x->n_votes[r];
}

static dis_status add_row(const diagnosis *d, dis_coverage_row of)
{
    const size_t n = d->x->in.n_items;
    double inside = 0, all = 0, squares = 0, sizes = 0, variance = 0, a, b;
    for (size_t r = 0; r < n; r++) {
        if (!is_checked(d, r) || !is_of_row(d, &of, r)) continue;
        shares(d, &of, r, &a, &b);
        if (b <= 0) continue;
        of.n_items++;
        of.n_votes += b * d->x->n_votes[r];
        inside += a;
        all += b;
        squares += b * b;
        sizes += b * d->x->out->set_size[r];
    }
    if (of.n_items == 0) return DIS_OK;
    of.mean_size = sizes / all;
    of.coverage = (dis_metric){.value = inside / all, .ci_low = NAN, .ci_high = NAN, .n = of.n_items};
    for (size_t r = 0; r < n; r++) {
        if (!is_checked(d, r) || !is_of_row(d, &of, r)) continue;
        shares(d, &of, r, &a, &b);
        variance += (a - of.coverage.value * b) * (a - of.coverage.value * b);
    }
    const double df = (double)of.n_items - 1;
    dis__share_interval(variance / (all * all) * (df > 0 ? 1 + 1 / df : 1), df, all * all / squares, &of.coverage);
    return dis__coverage_row_add(d->x->out, &of);
}

/* Quarters of the checked rows by the entropy of their prediction; equal entropies are in the same one. */
static dis_status divide(diagnosis *d)
{
    const dis__conformal *x = d->x;
    const size_t K = x->in.n_classes;
    dis__indexed_value *sorted;
    size_t n = 0;
    DIS_TRY(dis__alloc_array(&sorted, dis__saturating_size(x->in.n_items, 2, 0), sizeof *sorted));
    for (size_t r = 0; r < x->in.n_items; r++) {
        d->entropy[r] = 0;
        d->quarter[r] = QUARTERS;
        for (size_t k = 0; k < K; k++) {
            const double q = x->in.q[r * K + k];
            if (q > 0) d->entropy[r] -= q * dis__log(q);
        }
        if (is_checked(d, r)) sorted[n++] = (dis__indexed_value){.value = d->entropy[r], .index = r};
    }
    dis__sort_indexed(sorted, sorted + n, n);
    for (size_t i = 0, many; i < n; i += many) {
        many = dis__tie_length(sorted + i, n - i);
        for (size_t j = i; j < i + many; j++) d->quarter[sorted[j].index] = i * QUARTERS / n;
    }
    dis__free(sorted);
    return DIS_OK;
}

static dis_coverage_row row_of(dis_coverage_kind kind, size_t index)
{
    return (dis_coverage_row){.kind = kind, .index = index, .low = NAN, .high = NAN};
}

static dis_status add_quarters(const diagnosis *d)
{
    for (size_t i = 0; i < QUARTERS; i++) {
        dis_coverage_row row = row_of(DIS_COVERAGE_ENTROPY, i);
        for (size_t r = 0; r < d->x->in.n_items; r++) {
            if (d->quarter[r] != i) continue;
            row.low = fmin(row.low, d->entropy[r]); /* fmin ignores NaN */
            row.high = fmax(row.high, d->entropy[r]);
        }
        DIS_TRY(add_row(d, row));
    }
    return DIS_OK;
}

static dis_status add_rows(diagnosis *d)
{
    const size_t K = d->x->in.n_classes;
    DIS_TRY(divide(d));
    DIS_TRY(add_row(d, row_of(DIS_COVERAGE_ALL, 0)));
    for (size_t k = 0; k < K; k++) DIS_TRY(add_row(d, row_of(DIS_COVERAGE_CLASS, k)));
    for (size_t size = 0; size <= K; size++) DIS_TRY(add_row(d, row_of(DIS_COVERAGE_SIZE, size)));
    return add_quarters(d);
}

dis_status dis__set_coverage_add(const dis__conformal *x)
{
    diagnosis d = {.x = x, .tested = x->out->view.n_tested > 0};
    dis_status status = dis__alloc_array(&d.entropy, x->in.n_items, sizeof *d.entropy);
    if (status == DIS_OK) status = dis__alloc_array(&d.quarter, x->in.n_items, sizeof *d.quarter);
    if (status == DIS_OK) status = add_rows(&d);
    dis__free(d.entropy);
    dis__free(d.quarter);
    return status;
}
