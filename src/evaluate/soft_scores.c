/* Precision, recall and F1 of class shares (Kurniawan, Mistica, Baldwin and Lau 2025; Harju and Mesaros 2023): with the
 * share p of people and the prediction q of a class for each item,
 *
 *     precision = sum min(p, q) / sum q     recall = sum min(p, q) / sum p     F1 = 2 sum min(p, q) / sum (p + q)
 *
 * over the items; macro-F1 is the mean over the classes with a share or a prediction. Each equals the usual score if p and
 * q are 0 or 1. For sets of classes, pooled scores sum over the classes too. Further per class: the mean of (q - p)^2, and
 * the cross-entropy of the question whether it is this class.
 *
 * All are ratios of sums over items, R = A / B, or means of such ratios. Their change with item i is (a_i - R b_i) / B, so
 * the variance over items is the sum of its squares, and that over single votes the sum of the squared changes of this
 * value without a block of annotators (annotator_variance.c). Intervals are Wilson's for as many items as have the
 * variance (shares), or symmetric (means).
 *
 * Cost: a pass over p and q, another one for intervals, and one for each block. */
#include "core/memory/memory.h"
#include "core/numbers/elementary.h"
#include "evaluate/evaluation_internal.h"
#include "stats/distributions.h"
#include <math.h>

/* Of each class, and after them of all. */
enum { PRECISION, RECALL, F1, BRIER, CROSS_ENTROPY, OF_CLASS };

struct dis__soft_variances {
    size_t n_values, n_blocks;
    double *a, *b;         /* (n_values) the sums */
    double *items, *votes; /* (n_values) variances over items and votes */
    double *weight;        /* (n_values) sum of b^2 */
    double *left_out;      /* (n_blocks, n_values) values */
    double *change;        /* (2, n_values) of one item */
    double *other_a, *other_b;
};

static size_t values_of(const dis_evaluation *e)
{
    return e->in.n_classes * OF_CLASS + DIS_SOFT_SCORES;
}

static double floored_log(double x)
{
    return dis__log(fmax(x, DIS_PROBABILITY_FLOOR));
}

/* Numerators and denominators of one item, (n_values) each. Those of macro-F1 are 0: it is a mean of ratios. */
static void add_item(const dis_evaluation *e, const double *q, const double *p, double sign, double *a, double *b)
{
    const size_t K = e->in.n_classes;
    double both = 0, predicted = 0, human = 0;
    for (size_t k = 0; k < K; k++) {
        const double min = fmin(p[k], q[k]);
        double *to_a = a + k * OF_CLASS, *to_b = b + k * OF_CLASS;
        to_a[PRECISION] += sign * min;
        to_b[PRECISION] += sign * q[k];
        to_a[RECALL] += sign * min;
        to_b[RECALL] += sign * p[k];
        to_a[F1] += sign * 2 * min;
        to_b[F1] += sign * (p[k] + q[k]);
        to_a[BRIER] += sign * (q[k] - p[k]) * (q[k] - p[k]);
        to_b[BRIER] += sign;
        to_a[CROSS_ENTROPY] -= sign * (p[k] * floored_log(q[k]) + (1 - p[k]) * floored_log(1 - q[k]));
        to_b[CROSS_ENTROPY] += sign;
        both += min;
        predicted += q[k];
        human += p[k];
    }
    a += K * OF_CLASS;
    b += K * OF_CLASS;
    a[DIS_SOFT_F1] += sign * 2 * both;
    b[DIS_SOFT_F1] += sign * (predicted + human);
    a[DIS_SOFT_PRECISION] += sign * both;
    b[DIS_SOFT_PRECISION] += sign * predicted;
    a[DIS_SOFT_RECALL] += sign * both;
    b[DIS_SOFT_RECALL] += sign * human;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* The classes with a share or a prediction. */
static double n_used(const dis_evaluation *e, const double *b)
{
    double n = 0;
    for (size_t k = 0; k < e->in.n_classes; k++) n += b[k * OF_CLASS + F1] > 0;
    return n;
}

static double value_of(const dis_evaluation *e, const double *a, const double *b, size_t v)
{
    const size_t K = e->in.n_classes;
    if (v != K * OF_CLASS + DIS_SOFT_MACRO_F1) return ratio(a[v], b[v]);
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += ratio(a[k * OF_CLASS + F1], b[k * OF_CLASS + F1]);
    return ratio(sum, n_used(e, b));
}

/* The change of each value with one item, whose parts are a and b; in place of a. */
static void linearize(const dis_evaluation *e, const dis__soft_variances *s, double *a, const double *b)
{
    const size_t K = e->in.n_classes, macro = K * OF_CLASS + DIS_SOFT_MACRO_F1;
    const double n = n_used(e, s->b);
    double sum = 0;
    for (size_t v = 0; v < s->n_values; v++)
        if (v != macro) a[v] = s->b[v] > 0 ? (a[v] - s->a[v] / s->b[v] * b[v]) / s->b[v] : 0;
    for (size_t k = 0; k < K; k++) sum += a[k * OF_CLASS + F1];
    a[macro] = n > 0 ? sum / n : 0;
}

static void set_metric(dis_metric *m, double value, size_t n, bool degenerate)
{
    *m = (dis_metric){.value = value, .ci_low = NAN, .ci_high = NAN, .n = n, .degenerate = degenerate};
}

static bool is_soft(const dis_evaluation *e, size_t m)
{
    return dis__metrics[m].soft && e->wanted[m] && (dis__metrics[m].aggregate == DIS_OWN_CODE || e->in.multi_label);
}

dis_status dis__soft_scores_compute(dis_evaluation *e)
{
    const size_t K = e->in.n_classes, n = e->in.n_items, n_values = values_of(e);
    double *sums;
    DIS_TRY(dis__alloc_zeroed(&e->soft_classes, K, sizeof *e->soft_classes));
    DIS_TRY(dis__alloc_zeroed(&sums, dis__saturating_size(n_values, 2, 0), sizeof *sums));
    double *a = sums, *b = sums + n_values;
    for (size_t i = 0; i < n; i++) add_item(e, e->in.q + i * K, e->in.human + i * K, 1, a, b);
    for (size_t k = 0; k < K; k++) {
        dis_soft_class_scores *x = &e->soft_classes[k];
        dis_metric *const of[] = {&x->precision, &x->recall, &x->f1, &x->brier, &x->cross_entropy};
        for (size_t v = 0; v < OF_CLASS; v++)
            set_metric(of[v], value_of(e, a, b, k * OF_CLASS + v), n, b[k * OF_CLASS + v] <= 0);
        x->predicted = b[k * OF_CLASS + PRECISION] / (double)n;
        x->human = b[k * OF_CLASS + RECALL] / (double)n;
    }
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        if (is_soft(e, m)) {
            const size_t v = K * OF_CLASS + dis__metrics[m].soft;
            set_metric(&e->metric[m], value_of(e, a, b, v), n, false);
        }
    e->view.soft_classes = e->soft_classes;
    dis__free(sums);
    return DIS_OK;
}

/* ---- intervals ---- */

void dis__soft_variances_destroy(dis__soft_variances *s)
{
    if (!s) return;
    dis__free(s->a);
    dis__free(s->left_out);
    dis__free(s);
}

dis_status dis__soft_variances_create(dis_evaluation *e, size_t n_blocks)
{
    const size_t K = e->in.n_classes, n_values = values_of(e);
    dis__soft_variances *s;
    if (!e->soft_classes) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&s, 1, sizeof *s));
    e->soft = s; /* of the evaluation from here on */
    s->n_values = n_values;
    s->n_blocks = n_blocks;
    DIS_TRY(dis__alloc_zeroed(&s->a, dis__saturating_size(n_values, 9, 0), sizeof *s->a));
    double **const parts[] = {&s->b, &s->items, &s->votes, &s->weight, &s->change, NULL, &s->other_a, &s->other_b};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        if (parts[p]) *parts[p] = s->a + (p + 1) * n_values;
    if (n_blocks) DIS_TRY(dis__alloc_zeroed(&s->left_out, dis__saturating_size(n_values, n_blocks, 0), sizeof(double)));
    for (size_t i = 0; i < e->in.n_items; i++) add_item(e, e->in.q + i * K, e->in.human + i * K, 1, s->a, s->b);
    for (size_t i = 0; i < e->in.n_items; i++) {
        double *a = s->change, *b = s->change + n_values;
        for (size_t v = 0; v < 2 * n_values; v++) s->change[v] = 0;
        add_item(e, e->in.q + i * K, e->in.human + i * K, 1, a, b);
        for (size_t v = 0; v < n_values; v++) s->weight[v] += b[v] * b[v];
        linearize(e, s, a, b);
        for (size_t v = 0; v < n_values; v++) s->items[v] += a[v] * a[v];
    }
    return DIS_OK;
}

void dis__soft_variances_add(dis_evaluation *e, size_t block, const double *human, const size_t *row, size_t n)
{
    dis__soft_variances *s = e->soft;
    const size_t K = e->in.n_classes;
    if (!s) return;
    for (size_t v = 0; v < s->n_values; v++) s->other_a[v] = s->other_b[v] = 0;
    for (size_t i = 0; i < n; i++) add_item(e, e->in.q + row[i] * K, human + i * K, 1, s->other_a, s->other_b);
    for (size_t v = 0; v < s->n_values; v++)
        s->left_out[block * s->n_values + v] = n ? value_of(e, s->other_a, s->other_b, v) : (double)NAN;
    for (size_t r = 0, at = 0; r < e->in.n_items; r++) {
        double *a = s->change, *b = s->change + s->n_values;
        const bool gone = at >= n || row[at] != r;
        for (size_t v = 0; v < 2 * s->n_values; v++) s->change[v] = 0;
        add_item(e, e->in.q + r * K, e->in.human + r * K, -1, a, b);
        if (!gone) add_item(e, e->in.q + r * K, human + at++ * K, 1, a, b);
        linearize(e, s, a, b);
        for (size_t v = 0; v < s->n_values; v++) s->votes[v] += a[v] * a[v];
    }
}

static void set_interval(const dis_evaluation *e, size_t v, bool share, dis_metric *m)
{
    const dis__soft_variances *s = e->soft;
    const double n = s->weight[v] > 0 ? s->b[v] * s->b[v] / s->weight[v] : (double)e->in.n_items;
    const double draws = e->o.fraction < 1 ? 1 / e->o.fraction : 1;
    double df = n - 1, variance = s->items[v] * draws * (df > 0 ? n / df : 1);
    if (m->reason || m->degenerate) return;
    const double df_annotators = e->df_annotators;
    if (s->n_blocks) {
        const double scale = (double)(s->n_blocks - 1) / (double)s->n_blocks;
        const dis__crossed_variances c = {.annotators = dis__jackknife(s->left_out + v, s->n_blocks, s->n_values),
                                          .items = variance,
                                          .votes = scale * s->votes[v],
                                          .df_annotators = df_annotators,
                                          .df_items = fmax(df, 1)};
        if (!share) {
            dis__crossed_interval_linear(&c, 0, INFINITY, m);
            return;
        }
        variance = df_annotators > 0 ? dis__crossed_variance_sum(&c, &df) : (double)NAN;
    }
    if (isnan(variance)) {
        m->no_interval = DIS_NO_INTERVAL_ONE_ANNOTATOR;
        return;
    }
    if (share) {
        dis__share_interval(variance, df, n, m);
        return;
    }
    if (df <= 0) {
        m->no_interval = DIS_NO_INTERVAL_ONE_ITEM;
        return;
    }
    const double reach = dis__student_critical(.025, df) * sqrt(variance);
    m->has_interval = true;
    m->ci_low = fmax(m->value - reach, 0);
    m->ci_high = m->value + reach;
}

void dis__soft_scores_intervals(dis_evaluation *e)
{
    const size_t K = e->in.n_classes;
    if (!e->soft) return;
    for (size_t k = 0; k < K; k++) {
        dis_soft_class_scores *x = &e->soft_classes[k];
        dis_metric *const of[] = {&x->precision, &x->recall, &x->f1, &x->brier, &x->cross_entropy};
        for (size_t v = 0; v < OF_CLASS; v++) set_interval(e, k * OF_CLASS + v, v < BRIER, of[v]);
    }
    for (size_t m = 0; m < DIS_EVALUATION_METRICS; m++)
        if (is_soft(e, m)) set_interval(e, K * OF_CLASS + dis__metrics[m].soft, true, &e->metric[m]);
}
