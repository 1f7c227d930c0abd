/* Whether the bias of the judge depends on a property of the items, such as the length of an answer, or whether it was
 * written by a model of the judge's own family.
 *
 * Items with the property above the median are compared with the others (two values: the larger with the smaller). The
 * difference for class k is mean(f_ik - y_ik) of the high items minus that of the low items, with f_ik the judge's
 * answer and y_ik people's share. Its variance is that for new items and new people. p is two-sided with Student's t,
 * corrected over all properties and classes (Holm 1979).
 *
 * Cost: O(votes x classes) for each property. */
#include "tool/arrays.h"
#include "judge/judge_internal.h"
#include "core/memory/memory.h"
#include "stats/distributions.h"
#include <math.h>
#include <stdlib.h>

typedef struct {
    const dis__judge_input *in;
    const double *value;
    double split;
} contrast;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_used(const contrast *c, size_t i)
{
    const dis__judge_votes *v = c->in->votes;
    return v->answer[i] >= 0 && dis__judge_n_votes(v, i) > 0 && c->in->weight[i] > 0 && !isnan(c->value[i]);
}

/* The median; where more than half of the items have the largest value, the next smaller value. */
static dis_status find_split(contrast *c)
{
    const size_t n_items = c->in->votes->n_items;
    double *sorted;
    size_t n = 0;
    DIS_TRY(dis__alloc_array(&sorted, n_items, sizeof *sorted));
    for (size_t i = 0; i < n_items; i++)
        if (is_used(c, i)) sorted[n++] = c->value[i];
    c->split = NAN;
    if (n) {
        qsort(sorted, n, sizeof *sorted, by_value);
        size_t at = (n - 1) / 2;
        while (at > 0 && sorted[at] == sorted[n - 1]) at--;
        c->split = sorted[at];
    }
    dis__free(sorted);
    return DIS_OK;
}

/* Weights of the low and the high items, and their numbers. */
typedef struct {
    double total[2], mean[2], n[2];
} sides;

static double vote_value(const contrast *c, size_t i, size_t k, size_t label)
{
    return ((size_t)c->in->votes->answer[i] == k) - (double)(label == k);
}

static sides compute_means(const contrast *c, size_t k)
{
    const dis__judge_votes *v = c->in->votes;
    sides s = {0};
    for (size_t i = 0; i < v->n_items; i++) {
        if (!is_used(c, i)) continue;
        const size_t side = c->value[i] > c->split;
        const double bias = ((size_t)v->answer[i] == k) - dis__judge_people_share(v, i, k);
        s.total[side] += c->in->weight[i];
        s.mean[side] += c->in->weight[i] * bias;
        s.n[side]++;
    }
    for (size_t side = 0; side < 2; side++) s.mean[side] /= s.total[side];
    return s;
}

static dis__crossed_variances vary(const contrast *c, size_t k, const sides *s, dis__judge_variance *variance)
{
    const dis__judge_votes *v = c->in->votes;
    dis__judge_variance_clear(variance);
    for (size_t i = 0; i < v->n_items; i++) {
        if (!is_used(c, i)) continue;
        const size_t side = c->value[i] > c->split;
        const double scale = (side ? 1 : -1) * c->in->weight[i] / (s->total[side] * (double)dis__judge_n_votes(v, i));
        double item = 0;
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            const double influence = scale * (vote_value(c, i, k, v->label[t]) - s->mean[side]);
            dis__judge_variance_add_vote(variance, v->person[t], influence);
            item += influence;
        }
        dis__judge_variance_add_item(variance, item);
    }
    return dis__judge_variance_compute(variance);
}

static void compute(const contrast *c, size_t k, dis__judge_variance *variance, dis_judge_contrast *to)
{
    const sides s = compute_means(c, k);
    to->split = c->split;
    to->n_low = (uint64_t)s.n[0];
    to->n_high = (uint64_t)s.n[1];
    to->p = NAN;
    if (s.n[0] < DIS_JUDGE_MIN_ITEMS || s.n[1] < DIS_JUDGE_MIN_ITEMS) {
        to->difference = dis__metric_undefined("fewer than 10 items on one side");
        return;
    }
    to->difference = (dis_metric){.value = s.mean[1] - s.mean[0], .n = (size_t)(s.n[0] + s.n[1])};
    const dis__crossed_variances v = vary(c, k, &s, variance);
    dis__crossed_interval_linear(&v, -2, 2, &to->difference);
    if (!to->difference.has_interval) return;
    double df;
    const double error = sqrt(dis__crossed_variance_sum(&v, &df));
    to->p = fmin(1, 2 * dis__student_tail(fabs(to->difference.value) / error, df));
}

static dis_status correct(dis_judge_contrast *rows, size_t n)
{
    double *p;
    DIS_TRY(dis__alloc_array(&p, n, sizeof *p));
    for (size_t r = 0; r < n; r++) p[r] = rows[r].p;
    const dis_status status = dis__holm_correction(p, n, p);
    for (size_t r = 0; r < n && status == DIS_OK; r++) rows[r].p = p[r];
    dis__free(p);
    return status;
}

dis_status dis__judge_compute_contrasts(const dis__judge_input *in, const dis_judge_options *o, dis_judge *judge)
{
    const size_t n_classes = in->votes->n_classes, n = dis__saturating_size(o->n_covariates, n_classes, 0);
    dis__judge_variance variance;
    DIS_TRY(dis__alloc_zeroed(&judge->contrasts, n, sizeof *judge->contrasts));
    DIS_TRY(dis__judge_variance_create(in->votes->n_people, &variance));
    dis_status status = DIS_OK;
    for (size_t x = 0; x < o->n_covariates && status == DIS_OK; x++) {
        contrast c = {.in = in, .value = o->covariates[x].value};
        status = find_split(&c);
        for (size_t k = 0; k < n_classes && status == DIS_OK; k++) {
            dis_judge_contrast *row = &judge->contrasts[x * n_classes + k];
            row->covariate = x;
            row->class_index = k;
            compute(&c, k, &variance, row);
        }
    }
    dis__judge_variance_destroy(&variance);
    if (status == DIS_OK) status = correct(judge->contrasts, n);
    judge->view.contrasts = judge->contrasts;
    judge->view.n_contrasts = n;
    return status;
}
