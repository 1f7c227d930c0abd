/* The split of a budget between people and a judge, for the share of a class.
 *
 * With n items that people and the judge labelled and N more items of the judge alone, the prediction-powered share
 * (PPI++: Angelopoulos, Duchi and Zrnic 2023; src/review/panel_rates.c) has the variance
 *
 *     (a - 2 l c + l^2 f + e / m) / n + b / A + l^2 f / N,    l = c / (f (1 + n / N))
 *
 * with a, b, e the variances of items, annotators and votes, f the variance of the judge's answers and c their covariance
 * with people's votes. For a budget, N follows from n; n is searched over a grid in steps of 1 %. The labels of people
 * alone have the variance (a + e / m) / n + b / A. */
#include "study/study_internal.h"
#include <math.h>

#define Z 1.959963984540054

typedef struct {
    double items, annotators, votes, judge, covariance;
    double n_annotators, item_cost, judge_cost, budget;
} question;

/* f and c of the pilot, over items with votes of both. */
static bool measure(const dis__study_pilot *pilot, question *q)
{
    const dis__judge_votes *v = &pilot->people;
    double n = 0, y_sum = 0, f_sum = 0, yf_sum = 0, all = 0, f_all = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        if (v->answer[i] < 0) continue;
        const double f = (uint32_t)v->answer[i] == pilot->class_index;
        all++;
        f_all += f;
        if (dis__judge_n_votes(v, i) == 0) continue;
        const double y = dis__judge_people_share(v, i, pilot->class_index);
        n++;
        y_sum += y;
        f_sum += f;
        yf_sum += y * f;
    }
    if (n < DIS_JUDGE_MIN_ITEMS) return false;
    const double share = f_all / all;
    q->judge = share * (1 - share);
    q->covariance = (yf_sum - y_sum * f_sum / n) / (n - 1);
    return q->judge > 0;
}

static double variance_with(const question *q, double m, double n, double n_judge)
{
    const double l = fmin(fmax(q->covariance / (q->judge * (1 + n / n_judge)), 0), 1);
    const double of_items = fmax(q->items - 2 * l * q->covariance + l * l * q->judge, 0) + q->votes / m;
    return of_items / n + q->annotators / q->n_annotators + l * l * q->judge / n_judge;
}

static void search(const question *q, size_t m, double vote_cost, dis_study_split *best)
{
    const double person = q->item_cost + (double)m * vote_cost, both = person + q->judge_cost;
    const double alone = floor(q->budget / person);
    if (alone < DIS_JUDGE_MIN_ITEMS) return;
    const double variance_alone = (q->items + q->votes / (double)m) / alone + q->annotators / q->n_annotators;
    const double half_alone = Z * sqrt(variance_alone);
    if (isnan(best->half_width_people) || half_alone < best->half_width_people) {
        best->half_width_people = half_alone;
        best->n_people_only = (size_t)alone;
    }
    for (double x = DIS_JUDGE_MIN_ITEMS; x * both < q->budget; x = fmax(x * 1.01, x + 1)) {
        const double n = floor(x), n_judge = floor((q->budget - n * both) / q->judge_cost);
        if (n_judge < 1) return;
        const double half = Z * sqrt(variance_with(q, (double)m, n, n_judge));
        if (!isnan(best->half_width) && half >= best->half_width) continue;
        best->half_width = half;
        best->n_people = (size_t)n;
        best->n_judge = (size_t)fmin(n_judge, 1e15);
        best->votes_per_item = m;
        best->cost = n * both + (double)best->n_judge * q->judge_cost;
    }
}

void dis__study_compute_split(const dis_study_options *o, const dis__study_pilot *pilot, dis_study_plan *out)
{
    const double p = out->value;
    question q = {.items = out->variances.items,
                  .annotators = out->variances.annotators,
                  .votes = out->variances.votes,
                  .judge = p * (1 - p),
                  .covariance = o->figures.judge_kappa * p * (1 - p),
                  .item_cost = o->item_cost,
                  .judge_cost = o->judge_cost,
                  .budget = isnan(o->budget) ? out->best.cost : o->budget};
    size_t annotators = out->best.annotators;
    if (!out->has_best)
        for (size_t a = 0; a < o->n_annotators; a++)
            if (o->annotators[a] > annotators) annotators = o->annotators[a];
    q.n_annotators = (double)annotators;
    q.budget -= o->annotator_cost * q.n_annotators;
    if (pilot ? !measure(pilot, &q) : isnan(o->figures.judge_kappa)) return;
    out->split = (dis_study_split){.half_width = NAN, .half_width_people = NAN};
    for (size_t m = 0; m < o->n_votes_per_item; m++)
        if (o->votes_per_item[m] <= annotators) search(&q, o->votes_per_item[m], o->vote_cost, &out->split);
    out->split.cost += o->annotator_cost * q.n_annotators;
    out->has_split = !isnan(out->split.half_width);
}
