/* Soft labels calibrated to people, from the votes of judges and of people; and which items gain most from one more
 * vote of a person.
 *
 * On items answered by people, C_j(k, z) is the probability that judge j answers z if people answer k (each vote of a
 * person counts with its share; smoothing by one vote), pi_k the share of k among people's answers. The judges'
 * prediction for an item is
 *
 *   g_ik ~ pi_k prod_j C_j(k, z_ij)^t
 *
 * with one exponent t for all: the votes of judges with dependent errors are not independent evidence, and t below 1
 * corrects for that. t maximizes the likelihood of people's votes, with matrices estimated without the fold (one of
 * five) of the item. The label combines people's votes with the judges' prediction as `a` prior votes:
 *
 *   p_ik = (a g_ik + c_ik) / (a + n_i),   c_ik votes of people for k, n_i of all
 *
 * where `a` maximizes the likelihood of each vote of a person given the other votes on its item. With p_i a Dirichlet
 * mean of weight A_i = a + n_i the variance of the shares is (1 - sum_k p_k^2) / (A_i + 1), and one more vote reduces
 * it by (1 - sum_k p_k^2) / (A_i + 1)^2: votes are planned one by one where that is largest.
 *
 * Cost: O(items x judges x classes) for each of some 60 values of t; planning O((items + budget) log items). */
#include "core/numbers/elementary.h"
#include "tool/arrays.h"
#include "review/panel_internal.h"
#include "core/memory/memory.h"
#include "core/random/random.h"
#include "stats/golden_section.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 5, STEPS = 60 };
#define FLOOR         1e-12
#define MAX_EXPONENT  3.
#define MIN_STRENGTH  .01
#define MAX_STRENGTH  1e4
#define MOST_STRENGTH 100. /* larger values cannot be identified from a few votes per item */

typedef struct {
    const dis__panel_data *d;
    size_t n_classes, n_items;
    uint8_t *fold;     /* (n_items) */
    double *log_c;     /* (FOLDS + 1, n_judges, n_classes, n_classes) log C; the last uses all items */
    double *log_prior; /* (FOLDS + 1, n_classes) */
    double *evidence;  /* (n_items, n_classes) sum over judges of log C */
    double *g;         /* (n_items, n_classes) the judges' prediction */
    double exponent, strength;
} work;

/* ---- answers of judges given answers of people ---- */

static void learn(work *w, size_t fold)
{
    const dis__panel_data *d = w->d;
    const size_t n = w->n_classes;
    double *c = w->log_c + fold * d->n_judges * n * n, *prior = w->log_prior + fold * n, total = 0;
    for (size_t x = 0; x < d->n_judges * n * n; x++) c[x] = 1 / (double)n;
    for (size_t k = 0; k < n; k++) prior[k] = 1 / (double)n;
    for (size_t i = 0; i < w->n_items; i++) {
        if (d->n_votes[i] == 0 || (fold < FOLDS && w->fold[i] == fold)) continue;
        for (size_t k = 0; k < n; k++) {
            const double share = (double)d->people[i * n + k] / d->n_votes[i];
            if (share == 0) continue;
            prior[k] += share;
            for (size_t j = 0; j < d->n_judges; j++) {
                const int32_t z = d->answer[j * w->n_items + i];
                if (z >= 0) c[(j * n + k) * n + (size_t)z] += share;
            }
        }
    }
    for (size_t r = 0; r < d->n_judges * n; r++) {
        double sum = 0;
        for (size_t z = 0; z < n; z++) sum += c[r * n + z];
        for (size_t z = 0; z < n; z++) c[r * n + z] = dis__log(c[r * n + z] / sum);
    }
    for (size_t k = 0; k < n; k++) total += prior[k];
    for (size_t k = 0; k < n; k++) prior[k] = dis__log(prior[k] / total);
}

static void weigh_evidence(work *w)
{
    const dis__panel_data *d = w->d;
    const size_t n = w->n_classes;
    for (size_t i = 0; i < w->n_items; i++) {
        const size_t fold = d->n_votes[i] ? w->fold[i] : FOLDS;
        const double *c = w->log_c + fold * d->n_judges * n * n;
        for (size_t k = 0; k < n; k++) {
            double sum = 0;
            for (size_t j = 0; j < d->n_judges; j++) {
                const int32_t z = d->answer[j * w->n_items + i];
                if (z >= 0) sum += c[(j * n + k) * n + (size_t)z];
            }
            w->evidence[i * n + k] = sum;
        }
    }
}

/* The judges' prediction for an item at exponent t. */
static void word_of(const work *w, size_t i, double t, double *g)
{
    const size_t n = w->n_classes, fold = w->d->n_votes[i] ? w->fold[i] : FOLDS;
    double top = -INFINITY, sum = 0;
    for (size_t k = 0; k < n; k++) {
        g[k] = w->log_prior[fold * n + k] + t * w->evidence[i * n + k];
        top = fmax(top, g[k]);
    }
    for (size_t k = 0; k < n; k++) sum += g[k] = dis__exp(g[k] - top);
    for (size_t k = 0; k < n; k++) g[k] /= sum;
}

/* ---- fitting ---- */

/* Negative log-likelihood of people's votes under the judges' prediction. */
static double loss_at_exponent(void *arg, double t)
{
    work *w = arg;
    const size_t n = w->n_classes;
    double loss = 0;
    for (size_t i = 0; i < w->n_items; i++) {
        if (w->d->n_votes[i] == 0) continue;
        word_of(w, i, t, w->g + i * n);
        for (size_t k = 0; k < n; k++) {
            const uint32_t c = w->d->people[i * n + k];
            if (c) loss -= c * dis__log(fmax(w->g[i * n + k], FLOOR));
        }
    }
    return loss;
}

/* Negative log-likelihood of each vote given the others on its item, with the judges' prediction worth `a` votes. */
static double loss_at_strength(void *arg, double log_a)
{
    work *w = arg;
    const size_t n = w->n_classes;
    const double a = dis__exp(log_a);
    double loss = 0;
    for (size_t i = 0; i < w->n_items; i++) {
        const double votes = w->d->n_votes[i];
        for (size_t k = 0; votes > 0 && k < n; k++) {
            const double c = w->d->people[i * n + k];
            if (c > 0) loss -= c * dis__log(fmax((a * w->g[i * n + k] + c - 1) / (a + votes - 1), FLOOR));
        }
    }
    return loss;
}

/* ---- held out ---- */

static double loss_by_shares(const work *w, size_t i, size_t k)
{
    const dis__panel_data *d = w->d;
    double answer = 1 / (double)w->n_classes, all = 1;
    for (size_t j = 0; j < d->n_judges; j++) {
        const int32_t z = d->answer[j * w->n_items + i];
        all += z >= 0;
        answer += z == (int32_t)k;
    }
    return -dis__log(answer / all);
}

static void judge_labels(work *w, dis_panel_view *view)
{
    const size_t n = w->n_classes;
    double rates = 0, shares = 0, word = 0, votes = 0;
    for (size_t i = 0; i < w->n_items; i++)
        for (size_t k = 0; k < n && w->d->n_votes[i]; k++) {
            const double c = w->d->people[i * n + k];
            if (c == 0) continue;
            votes += c;
            rates -= c * w->log_prior[w->fold[i] * n + k];
            shares += c * loss_by_shares(w, i, k);
            word -= c * dis__log(fmax(w->g[i * n + k], FLOOR));
        }
    const double sum[3] = {rates, shares, word};
    dis_metric *const to[3] = {&view->loss_rates, &view->loss_shares, &view->loss_calibrated};
    for (int m = 0; m < 3; m++)
        *to[m] = (dis_metric){.value = sum[m] / votes, .ci_low = NAN, .ci_high = NAN, .n = (size_t)votes};
}

static bool has_second_votes(const work *w)
{
    for (size_t i = 0; i < w->n_items; i++)
        if (w->d->n_votes[i] > 1) return true;
    return false;
}

static dis_status calibrate(work *w, double *p, dis_panel_view *view)
{
    const dis__panel_data *d = w->d;
    const size_t n = w->n_classes, cells = dis__saturating_size(w->n_items, n, 0);
    DIS_TRY(dis__alloc_array(&w->fold, w->n_items, sizeof *w->fold));
    DIS_TRY(dis__alloc_array(&w->log_c, dis__saturating_size(dis__saturating_size(FOLDS + 1, d->n_judges, 0), n * n, 0),
                             sizeof *w->log_c));
    DIS_TRY(dis__alloc_array(&w->log_prior, (FOLDS + 1) * n, sizeof *w->log_prior));
    DIS_TRY(dis__alloc_array(&w->evidence, cells, sizeof *w->evidence));
    DIS_TRY(dis__alloc_array(&w->g, cells, sizeof *w->g));
    for (size_t i = 0; i < w->n_items; i++)
        w->fold[i] = (uint8_t)dis__random_below(d->o->seed, DIS_STREAM_PANEL, i, FOLDS);
    for (size_t fold = 0; fold <= FOLDS; fold++) learn(w, fold);
    weigh_evidence(w);
    w->exponent = dis__golden_section(loss_at_exponent, w, 0, MAX_EXPONENT, STEPS);
    for (size_t i = 0; i < w->n_items; i++) word_of(w, i, w->exponent, w->g + i * n);
    w->strength = 2; /* items with one vote have no information on disagreement between people */
    if (has_second_votes(w))
        w->strength = fmin(MOST_STRENGTH, dis__exp(dis__golden_section(loss_at_strength, w, dis__log(MIN_STRENGTH),
                                                                       dis__log(MAX_STRENGTH), STEPS)));
    judge_labels(w, view);
    for (size_t i = 0; i < w->n_items; i++)
        for (size_t k = 0; k < n; k++)
            p[i * n + k] = (w->strength * w->g[i * n + k] + d->people[i * n + k]) / (w->strength + d->n_votes[i]);
    view->exponent = w->exponent;
    view->judge_strength = w->strength;
    return DIS_OK;
}

/* Every item gets people's class shares: the votes do not distinguish items. */
static void label_alike(const dis__panel_data *d, double *p, dis_panel_view *view)
{
    static const char *const reason = "nothing is predicted from the judges";
    const size_t n = d->votes->n_classes, n_items = d->votes->n_items;
    double total = 0;
    for (size_t k = 0; k < n; k++) p[k] = 1 / (double)n;
    for (size_t i = 0; i < n_items; i++)
        for (size_t k = 0; k < n && d->n_votes[i]; k++) p[k] += (double)d->people[i * n + k] / d->n_votes[i];
    for (size_t k = 0; k < n; k++) total += p[k];
    for (size_t k = 0; k < n; k++) p[k] /= total;
    for (size_t i = 1; i < n_items; i++) memcpy(p + i * n, p, n * sizeof *p);
    view->exponent = view->judge_strength = NAN;
    view->loss_rates = view->loss_shares = view->loss_calibrated = dis__metric_undefined(reason);
}

dis_status dis__panel_compute_labels(const dis__panel_data *d, double *p, dis_panel_view *view)
{
    if (d->unknown) {
        label_alike(d, p, view);
        return DIS_OK;
    }
    work w = {.d = d, .n_classes = d->votes->n_classes, .n_items = d->votes->n_items};
    const dis_status status = calibrate(&w, p, view);
    dis__free(w.fold);
    dis__free(w.log_c);
    dis__free(w.log_prior);
    dis__free(w.evidence);
    dis__free(w.g);
    return status;
}

/* ---- planning votes ---- */

typedef struct {
    double spread, weight; /* 1 - sum p^2, A */
    dis_panel_item *item;
} offer;

static double gain_of(const offer *o)
{
    return o->spread / ((o->weight + 1) * (o->weight + 1));
}

static bool before(const offer *a, const offer *b)
{
    const double x = gain_of(a), y = gain_of(b);
    return x != y ? x > y : a->item->item < b->item->item;
}

static void sink(offer *heap, size_t n, size_t at)
{
    for (;;) {
        size_t best = at;
        for (size_t child = 2 * at + 1; child < 2 * at + 3 && child < n; child++)
            if (before(&heap[child], &heap[best])) best = child;
        if (best == at) return;
        const offer keep = heap[at];
        heap[at] = heap[best];
        heap[best] = keep;
        at = best;
    }
}

static int by_gain(const void *x, const void *y)
{
    const dis_panel_item *a = x, *b = y;
    if (a->votes_to_buy != b->votes_to_buy) return a->votes_to_buy > b->votes_to_buy ? -1 : 1;
    if (a->gain != b->gain) return a->gain > b->gain ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

dis_status dis__panel_select_items(const dis__panel_data *d, const double *p, double strength, dis_panel_item *items,
                                   uint64_t *spent)
{
    const size_t n_items = d->votes->n_items, n = d->votes->n_classes;
    offer *heap;
    *spent = 0;
    for (size_t i = 0; i < n_items; i++) items[i] = (dis_panel_item){.item = i, .people = d->n_votes[i], .gain = NAN};
    if (d->unknown) return DIS_OK;
    DIS_TRY(dis__alloc_array(&heap, n_items, sizeof *heap));
    for (size_t i = 0; i < n_items; i++) {
        double squares = 0;
        for (size_t k = 0; k < n; k++) squares += p[i * n + k] * p[i * n + k];
        heap[i] = (offer){.spread = fmax(0, 1 - squares), .weight = strength + d->n_votes[i], .item = &items[i]};
        items[i].gain = gain_of(&heap[i]);
    }
    for (size_t i = n_items / 2; i-- > 0;) sink(heap, n_items, i);
    for (; n_items && *spent < d->o->budget && gain_of(&heap[0]) > 0; ++*spent) {
        heap[0].item->votes_to_buy++;
        heap[0].weight++;
        sink(heap, n_items, 0);
    }
    dis__free(heap);
    if (n_items) qsort(items, n_items, sizeof *items, by_gain);
    return DIS_OK;
}
