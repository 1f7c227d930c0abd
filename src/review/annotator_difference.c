/* Whether an annotator is less accurate than the others on the same items, with control of the false discovery rate.
 *
 * A vote scores the share of the other votes on the item that agree with it, or, on an item with a gold label, whether
 * it is correct. If all annotators are equally good, any of them could have cast any of the votes on an item, for any
 * item and any dependence of errors. So the difference between the score of a vote and the mean score of the other
 * votes has mean 0, with a variance and skewness that follow from the item's votes alone. An annotator's differences
 * are summed; the p-value is the lower tail of the sum, from a gamma distribution with the same three moments (with few
 * votes, a normal tail rejects too often).
 *
 * Two votes on an item always have the same score. For such items the comparison is with the partner: an annotator
 * whose partners agree more often with their other partners is worse than these. The expected agreement is the
 * partner's rate on the other items with two votes, shrunk towards the overall rate by PARTNER_PRIOR votes. Annotators
 * who only vote with one partner cannot be distinguished.
 *
 * p-values are adjusted by Benjamini and Hochberg's rule over all annotators (review_workers.c has the bound). If all
 * annotators are equally good, no annotator is called weak in 95 % of crowds.
 *
 * Cost: two passes over the votes. */
#include "review/review_parts.h"
#include "core/numbers/erfc.h"
#include "labels/method.h"
#include "stats/distributions.h"
#include <math.h>
#include <string.h>

#define Z             1.959963984540054
#define PARTNER_PRIOR 5.0
#define SYMMETRIC     .005 /* skewness below which the normal distribution is used */

/* Sums over the compared votes of an annotator: differences, their squares, and the moments if all are equally good. */
typedef struct {
    double n, difference, square, variance, third;
    double pairs, agreed; /* items with two votes */
} difference_sums;

typedef struct {
    const dis__crowd_model *m;
    double *count; /* (K) votes on the current item; 0 between items */
    double pair_rate;
    difference_sums *of;
} difference_work;

static bool is_pair(const dis__crowd_model *m, size_t i)
{
    return m->votes.start[i + 1] - m->votes.start[i] == 2 && !(m->gold && m->gold[i] >= 0);
}

static bool pair_agrees(const dis_votes_view *v, uint64_t a)
{
    return dis__vote_label(v, a) == dis__vote_label(v, a + 1);
}

static void count_pairs(difference_work *work)
{
    const dis_votes_view *v = &work->m->votes;
    double pairs = 0, agreed = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        if (!is_pair(work->m, i)) continue;
        const bool agree = pair_agrees(v, v->start[i]);
        for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
            work->of[v->worker[a]].pairs++;
            work->of[v->worker[a]].agreed += agree;
        }
        pairs++;
        agreed += agree;
    }
    work->pair_rate = pairs > 0 ? agreed / pairs : 0;
}

static void add(difference_sums *s, double difference, double variance, double third)
{
    s->n++;
    s->difference += difference;
    s->square += difference * difference;
    s->variance += variance;
    s->third += third;
}

static void add_pair(const difference_work *work, size_t i)
{
    const dis_votes_view *v = &work->m->votes;
    const uint64_t a = v->start[i];
    const double agree = pair_agrees(v, a);
    for (uint64_t side = 0; side < 2; side++) {
        const difference_sums *partner = &work->of[v->worker[a + 1 - side]];
        const double rate =
            (partner->agreed - agree + PARTNER_PRIOR * work->pair_rate) / (partner->pairs - 1 + PARTNER_PRIOR);
        add(&work->of[v->worker[a + side]], agree - rate, rate * (1 - rate), rate * (1 - rate) * (1 - 2 * rate));
    }
}

static double score(const difference_work *work, size_t i, size_t label, double n)
{
    const int32_t gold = work->m->gold ? work->m->gold[i] : -1;
    return gold >= 0 ? gold == (int32_t)label : (work->count[label] - 1) / (n - 1);
}

static void add_item(const difference_work *work, size_t i)
{
    const dis_votes_view *v = &work->m->votes;
    const double n = (double)(v->start[i + 1] - v->start[i]), scale = n / (n - 1); /* the other votes, if not all
                                                                                    * agree */
    double mean = 0, variance = 0, third = 0;
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) work->count[dis__vote_label(v, a)]++;
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) mean += score(work, i, dis__vote_label(v, a), n) / n;
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
        const double d = scale * (score(work, i, dis__vote_label(v, a), n) - mean);
        variance += d * d / n;
        third += d * d * d / n;
    }
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++)
        add(&work->of[v->worker[a]], scale * (score(work, i, dis__vote_label(v, a), n) - mean), variance, third);
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) work->count[dis__vote_label(v, a)] = 0;
}

/* ---- one annotator ---- */

/* P(sum <= difference). */
static double lower_tail(const difference_sums *s)
{
    const double z = s->difference / sqrt(s->variance), skewness = s->third / (s->variance * sqrt(s->variance));
    if (fabs(skewness) < SYMMETRIC) return dis__erfc(-z / sqrt(2)) / 2;
    const double shape = 4 / (skewness * skewness), x = shape + (skewness > 0 ? z : -z) * sqrt(shape);
    const double upper = dis__chi_square_tail(2 * x, 2 * shape);
    return skewness > 0 ? 1 - upper : upper;
}

static void put_row(const difference_sums *s, dis_review_worker *row)
{
    const double mean = s->difference / s->n, observed = s->n > 1 ? (s->square - s->n * mean * mean) / (s->n - 1) : 0;
    const double error = sqrt(fmax(observed, s->variance / s->n) / s->n);
    row->difference = mean;
    row->difference_low = fmax(mean - Z * error, -1);
    row->difference_high = fmin(mean + Z * error, 1);
}

static dis_status adjust(const difference_work *work, dis_review_worker *rows)
{
    const size_t W = work->m->n_workers;
    double *p;
    DIS_TRY(dis__alloc_array(&p, W, sizeof *p));
    for (size_t w = 0; w < W; w++) {
        const difference_sums *s = &work->of[w];
        p[w] = s->variance > 1e-9 ? fmin(fmax(lower_tail(s), 0), 1) : s->n > 0 ? 1 : NAN;
        if (s->n > 0) put_row(s, &rows[w]);
    }
    const dis_status status = dis__false_discovery(p, W, false, p);
    for (size_t w = 0; status == DIS_OK && w < W; w++) rows[w].p_adjusted = p[w];
    dis__free(p);
    return status;
}

dis_status dis__review_compute_differences(const dis__crowd_model *m, dis_review_worker *rows)
{
    difference_work work = {.m = m};
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&work.of, m->n_workers, sizeof *work.of), end);
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&work.count, m->n_classes, sizeof *work.count), end);
    count_pairs(&work);
    for (size_t i = 0; i < m->votes.n_items; i++) {
        if (is_pair(m, i))
            add_pair(&work, i);
        else if (m->votes.start[i + 1] - m->votes.start[i] > 1)
            add_item(&work, i);
    }
    status = adjust(&work, rows);
end:
    dis__free(work.of);
    dis__free(work.count);
    return status;
}
