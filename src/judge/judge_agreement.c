/* Agreement of the judge with a person, and of two people, by four coefficients.
 *
 * Item i has weight w_i (they sum to W), m_i votes of people, the share y_ik of them for class k, and the judge's answer
 * f_ik (0 or 1). Means over items are weighted.
 *
 *   A     judge: mean of sum_k y_ik f_ik; two people: mean share of equal pairs of votes, n_k (n_k - 1) / (m (m - 1))
 *   p, q  mean of y_i, and of f_i (two people: q = p); pi = (p + q) / 2
 *   agreement  A
 *   kappa      (A - P) / (1 - P), P = sum_k p_k q_k                       Cohen 1960, if one person votes
 *   alpha      1 - (1 - A) / D, D = 1 - (n sum_k pi_k^2 - 1) / (n - 1)    Krippendorff, nominal; n = 2 N votes
 *   ac1        (A - P) / (1 - P), P = sum_k pi_k (1 - pi_k) / (K - 1)     Gwet 2008
 *
 * Each is a function g(A, p, q), so that the influence of an item is g_A (A_i - A) + sum_k g_pk (y_ik - p_k) + g_qk (f_ik
 * - q_k), times w_i / W. Shares are means over votes, which splits it among votes of people. Equal pairs involve two
 * people, so that each person's part of A counts twice (first-order projection of a U-statistic).
 *
 * Cost: O(votes + items x classes). */
#include "tool/arrays.h"
#include "judge/judge_internal.h"
#include "core/memory/memory.h"
#include "review/panel_internal.h"
#include <math.h>

#define Z 1.959963984540054

typedef struct {
    double a, total, n; /* A; weights; items */
    double *p, *q;      /* (n_classes) */
} means;

typedef struct {
    double value, a;       /* the coefficient; its derivative by A */
    double *p, *q;         /* (n_classes) by p and q */
    const char *undefined; /* why it has no value */
} derivative;

typedef struct {
    const dis__judge_input *in;
    size_t n_classes;
    uint32_t *count;           /* (n_classes) votes of people on an item */
    means judge, people, both; /* on shared items; two people; the judge on items of two people */
    double *constant;          /* (n_classes) answers of a constant judge */
    derivative d, e;
    dis__judge_variance variance;
} work;

static const char names[DIS_JUDGE_COEFFICIENTS][10] = {"agreement", "kappa", "alpha", "ac1"};
#define ALL_SAME "all answers are the same class"

/* ---- means ---- */

static void count_votes(work *w, size_t i)
{
    const dis__judge_votes *v = w->in->votes;
    for (size_t k = 0; k < w->n_classes; k++) w->count[k] = 0;
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) w->count[v->label[t]]++;
}

static bool is_used(const work *w, size_t i, size_t least)
{
    return w->in->votes->answer[i] >= 0 && dis__judge_n_votes(w->in->votes, i) >= least && w->in->weight[i] > 0;
}

/* A of one item, whose votes are counted. */
static double item_agreement(const work *w, size_t i, bool pairs)
{
    const double m = (double)dis__judge_n_votes(w->in->votes, i);
    if (!pairs) return w->count[w->in->votes->answer[i]] / m;
    double sum = 0;
    for (size_t k = 0; k < w->n_classes; k++) sum += (double)w->count[k] * ((double)w->count[k] - 1);
    return sum / (m * (m - 1));
}

static void add_means(work *w, means *to, size_t least, bool pairs)
{
    for (size_t i = 0; i < w->in->votes->n_items; i++) {
        if (!is_used(w, i, least)) continue;
        const double weight = w->in->weight[i], m = (double)dis__judge_n_votes(w->in->votes, i);
        count_votes(w, i);
        to->n++;
        to->total += weight;
        to->a += weight * item_agreement(w, i, pairs);
        for (size_t k = 0; k < w->n_classes; k++) to->p[k] += weight * w->count[k] / m;
        to->q[w->in->votes->answer[i]] += weight;
    }
    if (to->total <= 0) return;
    to->a /= to->total;
    for (size_t k = 0; k < w->n_classes; k++) {
        to->p[k] /= to->total;
        to->q[k] = pairs ? to->p[k] : to->q[k] / to->total;
    }
}

/* ---- coefficients ---- */

/* (A - P) / (1 - P): its derivatives by A, and by P. */
static double corrected(double a, double chance, derivative *d)
{
    d->undefined = 1 - chance < 1e-12 ? ALL_SAME : NULL;
    d->a = 1 / (1 - chance);
    d->value = (a - chance) / (1 - chance);
    return -(1 - a) / ((1 - chance) * (1 - chance));
}

static void differentiate(const work *w, size_t c, const means *m, derivative *d)
{
    const size_t n = w->n_classes;
    double product = 0, square = 0, spread = 0, by_chance;
    *d = (derivative){.p = d->p, .q = d->q, .value = m->a, .a = 1};
    for (size_t k = 0; k < n; k++) {
        const double pi = (m->p[k] + m->q[k]) / 2;
        product += m->p[k] * m->q[k];
        square += pi * pi;
        spread += pi * (1 - pi);
        d->p[k] = d->q[k] = 0;
    }
    if (c == DIS_JUDGE_KAPPA) {
        by_chance = corrected(m->a, product, d);
        for (size_t k = 0; k < n; k++) {
            d->p[k] = by_chance * m->q[k];
            d->q[k] = by_chance * m->p[k];
        }
    } else if (c == DIS_JUDGE_AC1) {
        by_chance = corrected(m->a, spread / ((double)n - 1), d);
        for (size_t k = 0; k < n; k++) d->p[k] = d->q[k] = by_chance * (1 - m->p[k] - m->q[k]) / (2 * ((double)n - 1));
    } else if (c == DIS_JUDGE_ALPHA) {
        const double votes = 2 * m->n, expected = 1 - (votes * square - 1) / (votes - 1);
        const double by_expected = (1 - m->a) / (expected * expected);
        d->undefined = expected < 1e-12 ? ALL_SAME : NULL;
        d->a = 1 / expected;
        d->value = 1 - (1 - m->a) / expected;
        for (size_t k = 0; k < n; k++)
            d->p[k] = d->q[k] = -by_expected * votes * (m->p[k] + m->q[k]) / (2 * (votes - 1));
    }
}

/* ---- influence ---- */

/* The influence of an item beyond its votes, and of each vote: for items, and for people. */
typedef struct {
    double judge, p_mean, q_mean;
} centre;

static centre centre_of(const work *w, const means *m, const derivative *d)
{
    centre c = {0};
    for (size_t k = 0; k < w->n_classes; k++) {
        c.p_mean += d->p[k] * m->p[k];
        c.q_mean += d->q[k] * m->q[k];
    }
    return c;
}

/* Influence of a vote for class y on an item with counted votes; *person: its part of a person's sum. */
static double vote_influence(const work *w, size_t i, size_t y, const means *m, const derivative *d, centre c,
                             bool pairs, double *person)
{
    const double votes = (double)dis__judge_n_votes(w->in->votes, i);
    const double scale = w->in->weight[i] / (m->total * votes);
    if (!pairs) {
        *person = scale * (d->a * ((y == (size_t)w->in->votes->answer[i]) - m->a) + d->p[y] - c.p_mean);
        return *person;
    }
    const double equal = (w->count[y] - 1.) / (votes - 1) - m->a;
    const double shares = d->p[y] + d->q[y] - c.p_mean - c.q_mean;
    *person = scale * (2 * d->a * equal + shares);
    return scale * (d->a * equal + shares);
}

static double judge_influence(const work *w, size_t i, const means *m, const derivative *d, centre c)
{
    return w->in->weight[i] / m->total * (d->q[w->in->votes->answer[i]] - c.q_mean);
}

/* A person's mean agreement with the other n - 1 people contains all of them, so that people seem to differ less than they
 * do. The jackknife of a mean over pairs (a U-statistic of degree 2) is larger by ((n - 1) / (n - 2))^2. This holds for the
 * part that people add to single votes. */
static void correct_for_pairs(const dis__judge_variance *sums, dis__crossed_variances *v)
{
    const double n = fmax(dis__effective_number(sums->n_votes, sums->n_people), 3);
    const double factor = (n - 1) * (n - 1) / ((n - 2) * (n - 2));
    v->annotators += (factor - 1) * fmax(v->annotators - v->votes, 0);
    v->net = true;
}

/* Variances of the coefficient of judge and person (sign 1 of `judge`) minus that of two people (sign 1 of `people`). */
static dis__crossed_variances vary(work *w, const means *judge, const means *people, size_t least)
{
    const dis__judge_votes *v = w->in->votes;
    const centre at_judge = judge ? centre_of(w, judge, &w->d) : (centre){0};
    const centre at_people = people ? centre_of(w, people, &w->e) : (centre){0};
    const double sign = judge ? -1 : 1;
    dis__judge_variance_clear(&w->variance);
    for (size_t i = 0; i < v->n_items; i++) {
        if (!is_used(w, i, least)) continue;
        double item = judge ? judge_influence(w, i, judge, &w->d, at_judge) : 0;
        count_votes(w, i);
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            double mine = 0, ours = 0;
            if (judge) item += vote_influence(w, i, v->label[t], judge, &w->d, at_judge, false, &mine);
            if (people) item += sign * vote_influence(w, i, v->label[t], people, &w->e, at_people, true, &ours);
            dis__judge_variance_add_vote(&w->variance, v->person[t], mine + sign * ours);
        }
        dis__judge_variance_add_item(&w->variance, item);
    }
    dis__crossed_variances out = dis__judge_variance_compute(&w->variance);
    if (people) correct_for_pairs(&w->variance, &out);
    return out;
}

static dis__judge_spread spread_of(const dis__crossed_variances *v)
{
    double df;
    return (dis__judge_spread){.items = v->items, .people = fmax(0, dis__crossed_variance_sum(v, &df) - v->items)};
}

/* ---- all ---- */

static dis_metric metric_of(const derivative *d, size_t n)
{
    if (d->undefined) return dis__metric_undefined(d->undefined);
    return (dis_metric){.value = d->value, .n = n};
}

/* The coefficient of a judge that always gives the answer that people give most often. */
static double constant_judge(work *w, size_t c)
{
    means m = {.total = w->judge.total, .n = w->judge.n, .p = w->judge.p, .q = w->constant};
    const size_t top = dis__argmax(m.p, w->n_classes);
    for (size_t k = 0; k < w->n_classes; k++) w->constant[k] = k == top;
    m.a = m.p[top];
    differentiate(w, c, &m, &w->d);
    return w->d.undefined ? (double)NAN : w->d.value;
}

static void compute_one(work *w, size_t c, dis_judge *out)
{
    const char *one = "fewer than 10 items have votes of the judge and of two people";
    dis_judge_coefficient *to = &out->coefficient[c];
    const double min = c == DIS_JUDGE_AGREEMENT ? 0 : -1;
    to->name = names[c];
    to->constant = constant_judge(w, c);
    differentiate(w, c, &w->judge, &w->d);
    to->judge = metric_of(&w->d, (size_t)w->judge.n);
    dis__crossed_variances v = vary(w, &w->judge, NULL, 1);
    out->spread[c] = spread_of(&v);
    dis__crossed_interval(&v, min, 1, &to->judge);
    to->people = to->difference = dis__metric_undefined(one);
    if (w->people.n < DIS_JUDGE_MIN_ITEMS) return;
    differentiate(w, c, &w->people, &w->e);
    to->people = metric_of(&w->e, (size_t)w->people.n);
    v = vary(w, NULL, &w->people, 2);
    dis__crossed_interval(&v, min, 1, &to->people);
    differentiate(w, c, &w->both, &w->d);
    const char *undefined = w->d.undefined ? w->d.undefined : w->e.undefined;
    to->difference = undefined ? dis__metric_undefined(undefined)
                               : (dis_metric){.value = w->d.value - w->e.value, .n = (size_t)w->people.n};
    v = vary(w, &w->both, &w->people, 2);
    out->difference_spread[c] = spread_of(&v);
    dis__crossed_interval_linear(&v, -2, 2, &to->difference);
}

static dis_status allocate(work *w)
{
    double **all[] = {&w->judge.p, &w->judge.q, &w->people.p, &w->people.q, &w->both.p,  &w->both.q,
                      &w->d.p,     &w->d.q,     &w->e.p,      &w->e.q,      &w->constant};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        DIS_TRY(dis__alloc_zeroed(all[a], w->n_classes, sizeof **all[a]));
    DIS_TRY(dis__alloc_array(&w->count, w->n_classes, sizeof *w->count));
    return dis__judge_variance_create(w->in->votes->n_people, &w->variance);
}

static void release(work *w)
{
    double *all[] = {w->judge.p, w->judge.q, w->people.p, w->people.q, w->both.p,  w->both.q,
                     w->d.p,     w->d.q,     w->e.p,      w->e.q,      w->constant};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) dis__free(all[a]);
    dis__free(w->count);
    dis__judge_variance_destroy(&w->variance);
}

dis_status dis__judge_compute_coefficients(const dis__judge_input *in, dis_judge *judge)
{
    work w = {.in = in, .n_classes = in->votes->n_classes};
    const dis_status status = allocate(&w);
    if (status == DIS_OK) {
        add_means(&w, &w.judge, 1, false);
        add_means(&w, &w.both, 2, false);
        add_means(&w, &w.people, 2, true);
        for (size_t k = 0; k < w.n_classes; k++) judge->view.chance_agreement += w.judge.p[k] * w.judge.q[k];
        for (size_t c = 0; c < DIS_JUDGE_COEFFICIENTS; c++) compute_one(&w, c, judge);
    }
    release(&w);
    return status;
}

dis_status dis__judge_compute_consistency(const dis__judge_input *in, dis_judge *judge)
{
    const dis__judge_votes *v = in->votes;
    dis_metric *to = &judge->view.consistency;
    double sum = 0, total = 0, n = 0, variance = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        if (isnan(v->repeats[i]) || !(in->weight[i] > 0)) continue;
        sum += in->weight[i] * v->repeats[i];
        total += in->weight[i];
        n++;
    }
    if (n < 2) {
        *to = dis__metric_undefined("the judge did not vote more than once on any two items");
        return DIS_OK;
    }
    *to = (dis_metric){.value = sum / total, .n = (size_t)n};
    for (size_t i = 0; i < v->n_items; i++) {
        if (isnan(v->repeats[i]) || !(in->weight[i] > 0)) continue;
        const double influence = in->weight[i] / total * (v->repeats[i] - to->value);
        variance += influence * influence;
    }
    *to = dis__panel_compute_share(to->value, variance * n / (n - 1), Z, (size_t)n);
    return DIS_OK;
}
