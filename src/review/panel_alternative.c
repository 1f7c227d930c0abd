/* Agreement of a judge with people, and the alternative-annotator test (Calderon, Reichart and Dror 2025).
 *
 * One person at a time is left out. On each item that the person and the judge voted on, both are scored by how well
 * they agree with the remaining people: the share of them with the same label, or for numbers minus the root of the
 * mean squared difference. W_m is [the judge scores at least as well], W_p the same for the person. The judge wins
 * against a person when the mean of W_p - W_m is below epsilon by a one-sided t-test, p-values corrected over people by
 * Benjamini and Yekutieli. The winning rate is the share of people it wins against, `as_good` the mean over people of
 * the mean of W_m.
 *
 * With weights of items, means over items are weighted, and items without a weight are left out.
 *
 * Items need min_people votes of people, people min_items of such items. Cost: the votes of people on items with the
 * judge, times the votes of people on the item. */
#include "tool/arrays.h"
#include "review/panel_internal.h"
#include "core/memory/memory.h"
#include "stats/distributions.h"
#include <math.h>

#define Z 1.959963984540054

/* ---- agreement ---- */

dis_status dis__panel_compute_agreement(const dis__panel_data *d, size_t j, dis_panel_judge *judge)
{
    const dis_votes_view *v = d->votes;
    const size_t n = v->n_classes;
    const int32_t *answer = d->answer + j * v->n_items;
    const double items = (double)judge->shared;
    double sum = 0;
    dis__panel_variance variance;
    DIS_TRY(dis__panel_variance_create(d, &variance));
    for (size_t i = 0; i < v->n_items; i++)
        if (answer[i] >= 0 && d->n_votes[i]) sum += (double)d->people[i * n + (size_t)answer[i]] / d->n_votes[i];
    for (size_t i = 0; i < v->n_items; i++) {
        if (answer[i] < 0 || d->n_votes[i] == 0) continue;
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++)
            if (d->person[v->worker[t]])
                dis__panel_variance_add(&variance, v->worker[t],
                                        ((dis__panel_label(v, t) == (size_t)answer[i]) - sum / items) /
                                            (items * d->n_votes[i]));
        dis__panel_variance_end_item(&variance);
    }
    judge->agreement =
        dis__panel_compute_share(sum / items, variance.items + dis__panel_variance_compute_people(&variance), Z,
                                 (size_t)judge->shared);
    dis__panel_variance_destroy(&variance);
    return DIS_OK;
}

/* ---- scores ---- */

/* How well a label agrees with the votes of all people on the item except `without`. */
static double score(const dis__panel_data *d, size_t i, size_t label, size_t without)
{
    const size_t n = d->votes->n_classes;
    const uint32_t *count = d->people + i * n;
    const double others = d->n_votes[i] - 1.;
    if (!d->number) return (count[label] - (label == without)) / others;
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        const double apart = d->number[label] - d->number[k];
        sum += (count[k] - (double)(k == without)) * apart * apart;
    }
    return -sqrt(sum / others);
}

/* Sums over the items of one person, weighted. x: W_p - W_m */
typedef struct {
    double n, weight, weight2; /* items, weights, squares of weights */
    double x, as_good;         /* sums */
    double wx2, w2x, w2x2;     /* sums of w x^2, w^2 x, w^2 x^2 */
} person_sums;

static double weight_of(const dis__panel_data *d, uint64_t t)
{
    return d->weight ? d->weight[d->item[t]] : 1;
}

/* -1: not compared. Otherwise 1 if the person scores at least as well, plus 2 if the judge does. */
static int compare_vote(const dis__panel_data *d, size_t j, uint64_t t)
{
    const size_t i = d->item[t], mine = dis__panel_label(d->votes, t);
    const int32_t answer = d->answer[j * d->votes->n_items + i];
    if (answer < 0 || d->n_votes[i] < d->o->min_people || d->n_votes[i] < 2 || !(weight_of(d, t) > 0)) return -1;
    const double person = score(d, i, mine, mine), judge = score(d, i, (size_t)answer, mine);
    return (person >= judge) + 2 * (judge >= person);
}

static person_sums compare_person(const dis__panel_data *d, size_t j, size_t person)
{
    person_sums s = {0};
    for (uint64_t at = d->first[person]; at < d->first[person + 1]; at++) {
        const int both = compare_vote(d, j, d->vote[at]);
        if (both < 0) continue;
        const double x = (both & 1) - (both >> 1), w = weight_of(d, d->vote[at]);
        s.n++;
        s.weight += w;
        s.weight2 += w * w;
        s.x += w * x;
        s.as_good += w * (both >> 1);
        s.wx2 += w * x * x;
        s.w2x += w * w * x;
        s.w2x2 += w * w * x * x;
    }
    return s;
}

/* P(T <= t) of mean - epsilon, as SciPy's ttest_1samp computes it: equal values give 0 or 1. With weights, the variance of
 * the weighted mean is sum w^2 (x - mean)^2 / (sum w)^2 n / (n - 1), and n is the effective number (sum w)^2 / sum w^2. */
static double test(const person_sums *s, double epsilon, bool weighted)
{
    const double mean = s->x / s->weight, n = weighted ? s->weight * s->weight / s->weight2 : s->n;
    const double spread = weighted ? fmax(0, s->w2x2 - 2 * mean * s->w2x + mean * mean * s->weight2) / s->weight2
                                   : fmax(0, s->wx2 - s->x * mean) / n;
    const double square = spread * n / (n - 1), apart = mean - epsilon;
    if (!(n > 1)) return NAN;
    if (square < 1e-15) return apart == 0 ? (double)NAN : apart < 0 ? 0 : 1;
    return dis__student_tail(-apart / sqrt(square / n), n - 1);
}

/* ---- as good as a person ---- */

/* Variance of the mean over people: the influence of each vote within its person, plus the variance between people. */
static dis_status vary(const dis__panel_data *d, size_t j, const person_sums *sums, const dis_panel_judge *judge,
                       double *variance)
{
    const dis_votes_view *v = d->votes;
    const double people = (double)judge->n_people_compared;
    double between = 0;
    dis__panel_variance within;
    DIS_TRY(dis__panel_variance_create(d, &within));
    for (size_t i = 0; i < v->n_items; i++) {
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            const person_sums *s = &sums[v->worker[t]];
            const int both = s->n > 0 ? compare_vote(d, j, t) : -1;
            if (both >= 0)
                dis__panel_variance_add(&within, v->worker[t],
                                        weight_of(d, t) * ((both >> 1) - s->as_good / s->weight) /
                                            (s->weight * people));
        }
        dis__panel_variance_end_item(&within);
    }
    for (size_t w = 0; w < v->n_workers; w++) {
        const double apart = sums[w].n > 0 ? sums[w].as_good / sums[w].weight - judge->advantage_probability.value : 0;
        between += apart * apart / (people * (people - 1));
    }
    *variance = within.items + (judge->n_people_compared < DIS_PANEL_MIN_PEOPLE ? 0 : fmax(0, between - within.votes));
    dis__panel_variance_destroy(&within);
    return DIS_OK;
}

static dis_status compare_all(const dis__panel_data *d, size_t j, dis_panel_judge *judge, person_sums *sums, double *p)
{
    double total = 0, items = 0;
    for (size_t w = 0; w < d->votes->n_workers; w++) {
        sums[w] = d->person[w] ? compare_person(d, j, w) : (person_sums){0};
        if (sums[w].n < (double)d->o->min_items || sums[w].n < 2) {
            sums[w] = (person_sums){0};
            continue;
        }
        p[judge->n_people_compared++] = test(&sums[w], d->o->epsilon, d->weight != NULL);
        total += sums[w].as_good / sums[w].weight;
        items = fmax(items, sums[w].n);
    }
    if (judge->n_people_compared == 0) {
        judge->advantage_probability = dis__metric_undefined("no person shares enough items with it");
        return DIS_OK;
    }
    DIS_TRY(dis__false_discovery(p, judge->n_people_compared, true, p));
    for (size_t h = 0; h < judge->n_people_compared; h++) judge->n_people_represented += p[h] <= d->o->fdr;
    judge->winning_rate = (double)judge->n_people_represented / (double)judge->n_people_compared;
    judge->passed = judge->winning_rate >= .5;
    judge->advantage_probability.value = total / (double)judge->n_people_compared;
    double variance;
    DIS_TRY(vary(d, j, sums, judge, &variance));
    judge->advantage_probability =
        dis__panel_compute_share(judge->advantage_probability.value, variance, Z, (size_t)items);
    return DIS_OK;
}

dis_status dis__panel_test_alternative(const dis__panel_data *d, size_t j, dis_panel_judge *judge)
{
    person_sums *sums = NULL;
    double *p = NULL;
    dis_status status = dis__alloc_array(&p, d->votes->n_workers, sizeof *p);
    if (status == DIS_OK) status = dis__alloc_array(&sums, d->votes->n_workers, sizeof *sums);
    if (status == DIS_OK) status = compare_all(d, j, judge, sums, p);
    dis__free(p);
    dis__free(sums);
    return status;
}
