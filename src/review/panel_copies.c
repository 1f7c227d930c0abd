/* Judges that copy a person, or the majority of people.
 *
 * Given the answer of most people, votes are independent. With q_i the posterior of this answer given people's votes on
 * item i (one confusion matrix per person, shrunk to the pooled one by SHRINK votes per class), and C the confusion
 * matrix of the judge (EM), an independent judge repeats a person's answer x with probability p_i = sum_k q_ik C(k, x).
 * Observed equal votes are compared with the sum of p_i (variance sum p_i (1 - p_i)). The estimated share of copied
 * votes is (observed - expected) / (items - expected). A judge is named when this share is at least MIN_COPIED and the
 * one-sided p-value, corrected over all comparisons (Holm 1979), is below LEVEL.
 *
 * Cost: O(judges x (items x classes x STEPS + votes of people x classes)). */
#include "review/panel_internal.h"
#include "core/memory/memory.h"
#include "core/numbers/elementary.h"
#include "core/numbers/erfc.h"
#include <math.h>
#include <stdlib.h>

enum { MIN_SHARED = 30, ROUNDS = 3, STEPS = 50 };
#define MIN_COPIED .5
#define LEVEL      .01
#define SHRINK     10.

typedef struct {
    const dis__panel_data *d;
    const dis__panel_truth *t;
    size_t n;       /* classes */
    double *q;      /* (n_items, n) */
    double *person; /* (n_workers, n, n) log confusion matrices of people */
    double *judge;  /* (n, n) */
    double *sum;    /* (n, n) */
    dis_panel_copied_votes *found;
    size_t n_found, room, tests;
} work;

/* ---- posterior with one matrix per person ---- */

static void fit_people(work *w)
{
    const dis_votes_view *v = w->d->votes;
    const size_t n = w->n, cells = n * n;
    for (size_t x = 0; x < v->n_workers * cells; x++) w->person[x] = SHRINK * w->t->matrix[x % cells];
    for (size_t t = 0; t < v->n_votes; t++) {
        if (!w->d->person[v->worker[t]]) continue;
        double *c = w->person + v->worker[t] * cells + dis__panel_label(v, t);
        for (size_t k = 0; k < n; k++) c[k * n] += w->q[w->d->item[t] * n + k];
    }
    for (size_t r = 0; r < v->n_workers * n; r++) {
        double sum = 0;
        for (size_t c = 0; c < n; c++) sum += w->person[r * n + c];
        for (size_t c = 0; c < n; c++) w->person[r * n + c] = dis__log(w->person[r * n + c] / sum);
    }
}

static void infer_item(work *w, size_t i)
{
    const dis_votes_view *v = w->d->votes;
    const size_t n = w->n;
    double *q = w->q + i * n, top = -INFINITY, sum = 0;
    for (size_t k = 0; k < n; k++) q[k] = dis__log(w->t->prior[k]);
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
        if (!w->d->person[v->worker[t]]) continue;
        const double *c = w->person + v->worker[t] * n * n + dis__panel_label(v, t);
        for (size_t k = 0; k < n; k++) q[k] += c[k * n];
    }
    for (size_t k = 0; k < n; k++) top = fmax(top, q[k]);
    for (size_t k = 0; k < n; k++) sum += q[k] = dis__exp(q[k] - top);
    for (size_t k = 0; k < n; k++) q[k] /= sum;
}

static void infer(work *w)
{
    const size_t n_items = w->d->votes->n_items, n = w->n;
    for (size_t i = 0; i < n_items; i++)
        for (size_t k = 0; k < n && w->d->n_votes[i]; k++) w->q[i * n + k] = w->t->posterior[w->t->pattern[i] * n + k];
    for (int round = 0; round < ROUNDS; round++) {
        fit_people(w);
        for (size_t i = 0; i < n_items; i++)
            if (w->d->n_votes[i]) infer_item(w, i);
    }
}

/* The judge's matrix from r_i ~ q_ik C(k, z), one EM step: weights by q alone would count errors of people as errors of
 * the judge. `sum` (n, n). */
static void improve_judge(work *w, size_t j, double *sum)
{
    const size_t n_items = w->d->votes->n_items, n = w->n;
    for (size_t x = 0; x < n * n; x++) sum[x] = 1 / (double)(n * n);
    for (size_t i = 0; i < n_items; i++) {
        const int32_t answer = w->d->answer[j * n_items + i];
        double total = 0;
        if (answer < 0 || w->d->n_votes[i] == 0) continue;
        for (size_t k = 0; k < n; k++) total += w->q[i * n + k] * w->judge[k * n + (size_t)answer];
        for (size_t k = 0; k < n && total > 0; k++)
            sum[k * n + (size_t)answer] += w->q[i * n + k] * w->judge[k * n + (size_t)answer] / total;
    }
    for (size_t k = 0; k < n; k++) {
        double row = 0;
        for (size_t c = 0; c < n; c++) row += sum[k * n + c];
        for (size_t c = 0; c < n; c++) w->judge[k * n + c] = sum[k * n + c] / row;
    }
}

static void fit_judge(work *w, size_t j)
{
    const size_t n = w->n;
    for (size_t x = 0; x < n * n; x++) w->judge[x] = x / n == x % n ? .7 : .3 / (double)(n - 1);
    for (int step = 0; step < STEPS; step++) improve_judge(w, j, w->sum);
}

/* ---- comparisons ---- */

typedef struct {
    double n, same, expected, variance;
} matches;

static void add_item(const work *w, size_t j, size_t i, size_t answer, matches *m)
{
    const int32_t judge = w->d->answer[j * w->d->votes->n_items + i];
    double p = 0;
    if (judge < 0 || w->d->n_votes[i] < 2) return;
    for (size_t k = 0; k < w->n; k++) p += w->q[i * w->n + k] * w->judge[k * w->n + answer];
    m->n++;
    m->same += (size_t)judge == answer;
    m->expected += p;
    m->variance += p * (1 - p);
}

static dis_status judge_matches(work *w, size_t j, uint32_t worker, const matches *m)
{
    if (m->n < MIN_SHARED || !(m->variance > 0)) return DIS_OK;
    const double p = .5 * dis__erfc((m->same - m->expected - .5) / sqrt(2 * m->variance));
    const double copied = (m->same - m->expected) / (m->n - m->expected);
    w->tests++;
    if (copied < MIN_COPIED || p > LEVEL) return DIS_OK;
    DIS_TRY(dis__reserve(&w->found, &w->room, w->n_found, w->n_found + 1, sizeof *w->found));
    w->found[w->n_found++] = (dis_panel_copied_votes){.judge = (uint32_t)j,
                                                      .worker = worker,
                                                      .n = (uint64_t)m->n,
                                                      .observed = m->same / m->n,
                                                      .expected = m->expected / m->n,
                                                      .copied_share = copied,
                                                      .p = p};
    return DIS_OK;
}

static dis_status compare_judge(work *w, size_t j)
{
    const dis__panel_data *d = w->d;
    matches majority = {0};
    fit_judge(w, j);
    for (size_t h = 0; h < d->votes->n_workers; h++) {
        matches m = {0};
        for (uint64_t x = d->first[h]; d->person[h] && x < d->first[h + 1]; x++)
            add_item(w, j, d->item[d->vote[x]], dis__panel_label(d->votes, d->vote[x]), &m);
        DIS_TRY(judge_matches(w, j, (uint32_t)h, &m));
    }
    for (size_t i = 0; i < d->votes->n_items; i++)
        if (d->majority[i] >= 0) add_item(w, j, i, (size_t)d->majority[i], &majority);
    return judge_matches(w, j, UINT32_MAX, &majority);
}

static int by_p(const void *x, const void *y)
{
    const dis_panel_copied_votes *a = x, *b = y;
    if (a->p != b->p) return a->p < b->p ? -1 : 1;
    if (a->copied_share != b->copied_share) return a->copied_share > b->copied_share ? -1 : 1;
    if (a->judge != b->judge) return a->judge < b->judge ? -1 : 1;
    return a->worker < b->worker ? -1 : a->worker > b->worker;
}

/* Holm's correction; of what remains, for each judge the source that it copies most. */
static void keep_significant(work *w)
{
    double least = 0;
    size_t n_left = 0;
    if (w->n_found) qsort(w->found, w->n_found, sizeof *w->found, by_p);
    for (size_t x = 0; x < w->n_found; x++) {
        dis_panel_copied_votes c = w->found[x];
        c.p = least = fmin(1, fmax(least, c.p * (double)(w->tests - x)));
        if (c.p > LEVEL) break;
        size_t at = 0;
        while (at < n_left && w->found[at].judge != c.judge) at++;
        if (at == n_left || c.copied_share > w->found[at].copied_share) w->found[at] = c;
        n_left += at == n_left;
    }
    w->n_found = n_left;
}

static dis_status run(work *w, const dis_panel_judge *judges)
{
    const dis_votes_view *v = w->d->votes;
    DIS_TRY(dis__alloc_array(&w->q, dis__saturating_size(v->n_items, w->n, 0), sizeof *w->q));
    DIS_TRY(dis__alloc_array(&w->person, dis__saturating_size(v->n_workers, w->n * w->n, 0), sizeof *w->person));
    DIS_TRY(dis__alloc_array(&w->judge, w->n * w->n, sizeof *w->judge));
    DIS_TRY(dis__alloc_array(&w->sum, w->n * w->n, sizeof *w->sum));
    infer(w);
    for (size_t j = 0; j < w->d->n_judges; j++)
        if (judges[j].above_chance) DIS_TRY(compare_judge(w, j));
    keep_significant(w);
    return DIS_OK;
}

dis_status dis__panel_find_copies(const dis__panel_data *d, const dis__panel_truth *t, const dis_panel_judge *judges,
                                  dis_panel_copied_votes **copies, size_t *n)
{
    work w = {.d = d, .t = t, .n = d->votes->n_classes};
    const dis_status status = run(&w, judges);
    dis__free(w.q);
    dis__free(w.person);
    dis__free(w.judge);
    dis__free(w.sum);
    *copies = w.found;
    *n = w.n_found;
    return status;
}
