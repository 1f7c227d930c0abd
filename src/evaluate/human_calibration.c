/* Calibration against people: do shares of people match predictions?
 *
 * Items are divided into equal bins of the predicted probability of a class. With d = p - q, the mean of d in a bin is 0
 * for calibrated predictions. Its square, weighted by the items of the bin and summed over bins and classes, is the part
 * of human_brier that a function of each class probability could remove (Murphy 1973; Bröcker 2009). Noise of single votes
 * adds to a squared mean, so the estimate sums the products of different items only:
 *
 *     sum over classes and bins of (S^2 - sum d^2) / (n_b - 1) / n     S = sum d in the bin
 *
 * which has no bias, however few votes p has (Bröcker 2012; Kumar, Liang and Ma 2019). This is the squared kernel
 * calibration error of Widmann, Lindsten and Zachariah (2019) with the kernel "in the same bin". The metric is its root,
 * 0 where the estimate is negative. A bin with one item counts as calibrated. For sets of classes, it is twice the mean over
 * classes, as human_brier is. The entropy is treated as a single class.
 *
 * Intervals resample the jackknife pseudo-values of items: what the sum changes if the item is left out. Cost: two passes. */
#include "core/memory/memory.h"
#include "core/numbers/elementary.h"
#include "evaluate/evaluation_internal.h"
#include <math.h>

typedef struct {
    double n, sum, squares;  /* of d */
    double predicted, human; /* sums */
} bin;

typedef struct {
    const dis_evaluation *e;
    bool entropy;
    size_t n_columns; /* classes, or 1 */
    double range, weight;
    bin *bins; /* (n_columns, n_bins) */
} binned;

static double predicted_of(const binned *x, size_t i, size_t k)
{
    return x->entropy ? x->e->column[DIS_ITEM_MODEL_ENTROPY][i] : x->e->in.q[i * x->n_columns + k];
}

static double human_of(const binned *x, size_t i, size_t k)
{
    return x->entropy ? x->e->column[DIS_ITEM_HUMAN_ENTROPY][i] : x->e->in.human[i * x->n_columns + k];
}

static bin *bin_of(const binned *x, size_t i, size_t k)
{
    const size_t n_bins = x->e->o.n_bins;
    return &x->bins[k * n_bins + dis__reliability_bin_of(predicted_of(x, i, k) / x->range, n_bins)];
}

/* Twice the sum of the products of different items, divided by n - 1. */
static double products(double sum, double squares, double n)
{
    return n > 1 ? (sum * sum - squares) / (n - 1) : 0;
}

static dis_status fill(const dis_evaluation *e, bool entropy, binned *x)
{
    const size_t K = e->in.n_classes;
    *x = (binned){.e = e, .entropy = entropy, .n_columns = entropy ? 1 : K, .range = 1, .weight = 1};
    if (entropy) x->range = dis__log(e->in.multi_label ? 2 : fmax((double)K, 2));
    if (!entropy && e->in.multi_label) x->weight = 2 / (double)K;
    DIS_TRY(dis__alloc_zeroed(&x->bins, dis__saturating_size(x->n_columns, e->o.n_bins, 0), sizeof *x->bins));
    for (size_t i = 0; i < e->in.n_items; i++)
        for (size_t k = 0; k < x->n_columns; k++) {
            bin *b = bin_of(x, i, k);
            const double q = predicted_of(x, i, k), p = human_of(x, i, k);
            b->n++;
            b->sum += p - q;
            b->squares += (p - q) * (p - q);
            b->predicted += q;
            b->human += p;
        }
    return DIS_OK;
}

/* Appends the bins to those of the evaluation. */
static dis_status show(dis_evaluation *e, const binned *x)
{
    const size_t n_bins = e->o.n_bins, had = e->view.n_human_bins, n = x->n_columns * n_bins;
    DIS_TRY(dis__resize_array(&e->human_bin, had, had + n, sizeof *e->human_bin));
    for (size_t j = 0; j < n; j++) {
        const bin *b = &x->bins[j];
        const double at = (double)(j % n_bins) / (double)n_bins;
        e->human_bin[had + j] = (dis_human_bin){.class_index = x->entropy ? SIZE_MAX : j / n_bins,
                                                .low = at * x->range,
                                                .high = (at + 1 / (double)n_bins) * x->range,
                                                .n = (uint64_t)b->n,
                                                .predicted = b->n > 0 ? b->predicted / b->n : (double)NAN,
                                                .human = b->n > 0 ? b->human / b->n : (double)NAN};
    }
    e->view.human_bin = e->human_bin;
    e->view.n_human_bins = had + n;
    return DIS_OK;
}

static dis_status compute_any(dis_evaluation *e, dis_evaluation_metric m, bool entropy)
{
    binned x;
    double sum = 0;
    DIS_TRY(fill(e, entropy, &x));
    for (size_t j = 0; j < x.n_columns * e->o.n_bins; j++)
        sum += products(x.bins[j].sum, x.bins[j].squares, x.bins[j].n);
    dis__metric_set(e, m, x.weight * sum / (double)e->in.n_items, e->in.n_items);
    const dis_status status = show(e, &x);
    dis__free(x.bins);
    return status;
}

/* One column: pseudo-values whose mean is the estimate. */
static dis_status add_any(dis__resampling *r, double **own, dis_evaluation_metric m, bool entropy)
{
    const size_t n = r->e->in.n_items;
    binned x;
    double mean = 0;
    DIS_TRY(dis__alloc_zeroed(own, n, sizeof **own));
    DIS_TRY(fill(r->e, entropy, &x));
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < x.n_columns; k++) {
            const bin *b = bin_of(&x, i, k);
            const double d = human_of(&x, i, k) - predicted_of(&x, i, k);
            (*own)[i] += x.weight * (products(b->sum, b->squares, b->n) -
                                     products(b->sum - d, fmax(b->squares - d * d, 0), b->n - 1));
        }
        mean += (*own)[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) (*own)[i] += r->e->metric[m].value - mean;
    r->column[r->n_columns++] = *own;
    dis__free(x.bins);
    return DIS_OK;
}

static double from_sums(const dis_evaluation *e, const double *sums, double n_draws)
{
    (void)e;
    return sums[0] / n_draws;
}

static dis_status compute_distribution(dis_context *ctx, dis_evaluation *e, const dis__item_sums *s,
                                       dis_evaluation_metric m)
{
    (void)ctx;
    (void)s;
    return compute_any(e, m, false);
}

static dis_status add_distribution(dis__resampling *r, double **own)
{
    return add_any(r, own, DIS_EVALUATION_HUMAN_CALIBRATION_ERROR, false);
}

static dis_status compute_entropy(dis_context *ctx, dis_evaluation *e, const dis__item_sums *s, dis_evaluation_metric m)
{
    (void)ctx;
    (void)s;
    return compute_any(e, m, true);
}

static dis_status add_entropy(dis__resampling *r, double **own)
{
    return add_any(r, own, DIS_EVALUATION_ENTROPY_CALIBRATION_ERROR, true);
}

const dis__metric_code dis__distribution_calibration = {.compute = compute_distribution,
                                                        .add_columns = add_distribution,
                                                        .from_sums = from_sums};
const dis__metric_code dis__entropy_calibration = {.columns =
                                                       1u << DIS_ITEM_MODEL_ENTROPY | 1u << DIS_ITEM_HUMAN_ENTROPY,
                                                   .compute = compute_entropy,
                                                   .add_columns = add_entropy,
                                                   .from_sums = from_sums};
