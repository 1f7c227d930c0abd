/* Variances of a mean over items of the mean over votes of a value of a vote: shares, the agreement of a judge with people,
 * the difference of two judges.
 *
 * The value of vote (i, j) is mu + a_i + b_j + e_ij with independent effects of the item, the annotator and the vote. Their
 * variances come from moments of unbalanced crossed data (Gao and Owen 2017), here with weight 1 / m_i for a vote on an
 * item with m_i votes, so that items count the same:
 *
 *     S1 = sum over items of the sums of squares within them         expects  (b + e) (N - sum 1 / m_i)
 *     S2 = the same within annotators                                expects  (a + e) sum_j (W_j - sum w^2 / W_j)
 *     S3 = total                                                     expects  a (N - 1) + b (N - sum W_j^2 / N) + e (N - sum w^2 / N)
 *
 * A small pilot estimates the parts of items and annotators badly, and a negative estimate is no variance. Real crowds are
 * the prior (the row of the metric), for each part as a fraction of the whole. The part of items is the mean of estimate and prior,
 * weighted by the inverse squares of the standard error and of the standard deviation over crowds. The part b of annotators
 * differs by powers of ten between crowds: b / (b + median) has a uniform prior.
 *
 * Cost: O(votes). */
#include "study/study_internal.h"
#include "core/memory/memory.h"
#include "core/numbers/elementary.h"
#include <math.h>

enum { POSTERIOR_POINTS = 400 };

static double at_least(double x, double least)
{
    return x > least ? x : least;
}

/* The mean of an estimate and of the prior; *error: its standard error. */
static double combine(double estimate, double variance, double prior, double sd, double *error)
{
    if (isnan(estimate) || isnan(variance)) {
        *error = sd;
        return prior;
    }
    const double weight = sd * sd / (sd * sd + variance);
    *error = sqrt(weight * variance);
    return at_least(weight * estimate + (1 - weight) * prior, 0);
}

/* The part b of annotators, from its estimate x: x + r is the mean square of annotators, (b + r) chi^2 / df, where r is
 * the rest of the variance of their means. The prior of b / (b + prior) is uniform. Returns the square of the mean of sqrt(b),
 * since widths depend on the root. */
static double annotator_part(double x, double rest, double df, double prior, double *error)
{
    const double square = at_least(x + rest, .02 * rest);
    double weights = 0, roots = 0, sum = 0, top = -INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (int q = 0; q < POSTERIOR_POINTS; q++) {
            const double u = (q + .5) / POSTERIOR_POINTS, b = prior * u / (1 - u); /* equal prior weights */
            const double log_likelihood = -.5 * df * (dis__log(b + rest) + square / (b + rest));
            if (pass == 0) {
                top = fmax(top, log_likelihood);
                continue;
            }
            const double w = dis__exp(log_likelihood - top);
            weights += w;
            roots += w * sqrt(b);
            sum += w * b;
        }
    const double root = roots / weights;
    *error = 2 * root * sqrt(at_least(sum / weights - root * root, 0)); /* of b, by the delta method */
    return root * root;
}

void dis__study_shrink(const dis__study_prior *prior, const dis__study_estimate *e, dis_study_variances *out)
{
    const double total = at_least(e->total, 1e-12), share = e->per_item / total;
    /* The variance of a variance with n - 1 degrees of freedom. */
    const double of_items = e->n_items > 1.5 ? 2 / (e->n_items - 1) * share * share : (double)NAN;
    out->items = total * combine(e->items / total, of_items, prior->items, prior->items_sd, &out->items_error);
    out->items_error *= total;
    if (isnan(e->annotators) || e->n_annotators < 1.5) {
        out->annotators = out->annotators_error = total * prior->annotators;
        return;
    }
    out->annotators = total * annotator_part(e->annotators / total, e->per_annotator / total, e->n_annotators - 1,
                                             prior->annotators, &out->annotators_error);
    out->annotators_error *= total;
}

/* ---- values ---- */

static bool is_used(const dis__study_metric_row *metric, const dis__study_pilot *pilot, size_t i)
{
    if (dis__judge_n_votes(&pilot->people, i) == 0) return false;
    if (metric->metric == DIS_STUDY_LABELS) return pilot->gold[i] >= 0;
    if (metric->judges > 1 && pilot->other[i] < 0) return false;
    return metric->judges == 0 || pilot->people.answer[i] >= 0;
}

static double value_of(const dis__study_metric_row *metric, const dis__study_pilot *pilot, size_t i, uint32_t label)
{
    const int32_t vote = (int32_t)label;
    switch (metric->metric) {
    case DIS_STUDY_LABELS: return vote == pilot->gold[i];
    case DIS_STUDY_JUDGE: return vote == pilot->people.answer[i];
    case DIS_STUDY_DIFFERENCE: return (double)(vote == pilot->people.answer[i]) - (vote == pilot->other[i]);
    default: return label == pilot->class_index;
    }
}

/* ---- moments ---- */

typedef struct {
    double n_items, n_votes, mean;
    double within, within_weight;                       /* items: S1 and its factor */
    double total, sum_w2;                               /* S3 */
    double *weight, *weight2, *sum, *squares, *n_voted; /* (n_people) */
} moments;

static void add_item(moments *m, const dis__study_metric_row *metric, const dis__study_pilot *pilot, size_t i)
{
    const dis__judge_votes *v = &pilot->people;
    const double n = (double)dis__judge_n_votes(v, i), w = 1 / n;
    double mean = 0, squares = 0;
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
        const double z = value_of(metric, pilot, i, v->label[t]);
        const uint32_t j = v->person[t];
        mean += w * z;
        squares += w * z * z;
        m->weight[j] += w;
        m->weight2[j] += w * w;
        m->sum[j] += w * z;
        m->squares[j] += w * z * z;
        m->n_voted[j]++;
    }
    m->n_items++;
    m->n_votes += n;
    m->mean += mean;
    m->within += squares - mean * mean;
    m->within_weight += 1 - w;
    m->total += squares;
    m->sum_w2 += w;
}

/* Solves the three equations; a part that cannot be told from another one is NaN. */
static dis__study_estimate solve(moments *m, size_t n_people)
{
    double inside = 0, inside_weight = 0, people2 = 0;
    for (size_t j = 0; j < n_people; j++) {
        if (m->weight[j] <= 0) continue;
        inside += m->squares[j] - m->sum[j] * m->sum[j] / m->weight[j];
        inside_weight += m->weight[j] - m->weight2[j] / m->weight[j];
        people2 += m->weight[j] * m->weight[j];
    }
    const double n = m->n_items, mean = m->mean / n, s3 = at_least(m->total - n * mean * mean, 0);
    const double a = n - 1, b = n - people2 / n, c = n - m->sum_w2 / n;
    const bool repeated = m->within_weight > 1e-9, crossed = inside_weight > 1e-9 && b > 1e-9;
    const double b_and_e = repeated ? m->within / m->within_weight : (double)NAN;
    const double a_and_e = crossed ? inside / inside_weight : (double)NAN;
    dis__study_estimate out = {.items = NAN, .annotators = NAN, .n_items = n};
    if (repeated && crossed && a + b - c > 1e-9) {
        const double e = (a * a_and_e + b * b_and_e - s3) / (a + b - c);
        out.items = a_and_e - e;
        out.annotators = b_and_e - e;
        out.total = out.items + out.annotators + e;
    } else {
        if (repeated) out.items = (s3 - c * b_and_e) / a;
        out.total = repeated ? out.items + b_and_e : s3 / c;
    }
    out.n_annotators = dis__effective_number(m->n_voted, n_people);
    const double item_part = isnan(out.items) ? out.total / 2 : at_least(out.items, 0);
    out.per_item = item_part + (out.total - item_part) * n / m->n_votes;
    out.per_annotator = out.total / at_least(m->n_votes / at_least(out.n_annotators, 1), 1);
    return out;
}

static dis_status allocate(moments *m, size_t n)
{
    double **all[] = {&m->weight, &m->weight2, &m->sum, &m->squares, &m->n_voted};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) DIS_TRY(dis__alloc_zeroed(all[i], n, sizeof **all[i]));
    return DIS_OK;
}

dis_status dis__study_compute_means(const dis__study_metric_row *metric, const dis__study_pilot *pilot,
                                    dis_study_plan *out)
{
    const dis__judge_votes *v = &pilot->people;
    moments m = {0};
    dis_status status = allocate(&m, v->n_people);
    for (size_t i = 0; i < v->n_items && status == DIS_OK; i++)
        if (is_used(metric, pilot, i)) add_item(&m, metric, pilot, i);
    if (status == DIS_OK && m.n_items < DIS_JUDGE_MIN_ITEMS)
        status =
            dis__fail(DIS_EDATA, "%.0f items of the pilot can be used for the metric \"%s\"; at least %d are needed",
                      m.n_items, metric->name, DIS_JUDGE_MIN_ITEMS);
    if (status == DIS_OK) {
        const dis__study_estimate e = solve(&m, v->n_people);
        dis_study_variances *to = &out->variances;
        dis__study_shrink(&metric->prior, &e, to);
        to->votes = at_least(e.total - to->items - to->annotators, .05 * e.total);
        out->value = m.mean / m.n_items;
        out->n_items = (uint64_t)m.n_items;
        out->n_votes = (uint64_t)m.n_votes;
        for (size_t j = 0; j < v->n_people; j++) out->n_annotators += m.n_voted[j] > 0;
        out->effective_annotators = e.n_annotators;
    }
    double *all[] = {m.weight, m.weight2, m.sum, m.squares, m.n_voted};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) dis__free(all[i]);
    return status;
}
