/* Incremental EM (Neal & Hinton 1998) for the model of dawid_skene.c: the E-step of one item at a time, after which the
 * counts of its workers change by the difference of its posteriors, which immediately updates the M-step:
 *
 *     P(label l | worker w, truth t) = (sum[w][l][t] + smoothing + diagonal [l = t]) / (total[w][t] + K smoothing +
 *     diagonal) P(t) = (class_sum[t] + 1) / (items + K)
 *
 * An item's posterior is computed from the counts without its own share. A fit to all votes includes that share, which
 * matters little if workers have many votes; here the first votes of a worker would confirm themselves, and early items
 * would be overconfident.
 *
 * Retired items keep their posteriors in the counts. Counts are added to and subtracted from in the order of votes: the
 * same stream gives the same bits. A difference may give -1e-16 instead of 0; smoothing compensates for that.
 *
 * Cost: O(n K) for an item with n votes; 8 K (K + 1) bytes per worker. */
#include "labels/online/incremental_em.h"
#include "core/memory/memory.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* `to` (n, row, row) from `from` (n, old, old). */
static void spread(const double *from, size_t n, size_t old, double *to, size_t row)
{
    for (size_t w = 0; w < n; w++)
        for (size_t l = 0; l < old; l++) memcpy(to + (w * row + l) * row, from + (w * old + l) * old, old * sizeof *to);
}

static dis_status widen(dis__incremental_em *m, size_t row)
{
    double *sum = NULL, *total = NULL, *class_sum = NULL;
    const size_t old = m->row, n = m->capacity ? m->capacity : 1;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&sum, dis__saturating_size(n, row * row, 0), sizeof *sum), fail);
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&total, dis__saturating_size(n, row, 0), sizeof *total), fail);
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&class_sum, row, sizeof *class_sum), fail);
    if (old) {
        spread(m->sum, m->n_workers, old, sum, row);
        for (size_t w = 0; w < m->n_workers; w++) memcpy(total + w * row, m->total + w * old, old * sizeof *total);
        memcpy(class_sum, m->class_sum, old * sizeof *class_sum);
    }
    dis__incremental_em_destroy(m);
    m->sum = sum;
    m->total = total;
    m->class_sum = class_sum;
    m->row = row;
    m->capacity = n;
    return DIS_OK;
fail:
    dis__free(sum);
    dis__free(total);
    dis__free(class_sum);
    return status;
}

size_t dis__incremental_em_row_size(const dis__incremental_em *m, size_t n_classes)
{
    enum { FIRST = 4 };
    if (n_classes <= m->row) return m->row;
    return n_classes <= FIRST ? FIRST : n_classes < 2 * m->row ? 2 * m->row : n_classes;
}

dis_status dis__incremental_em_reserve_classes(dis__incremental_em *m, size_t n_classes)
{
    const size_t row = dis__incremental_em_row_size(m, n_classes);
    if (row > m->row) DIS_TRY(widen(m, row));
    m->n_classes = n_classes > m->n_classes ? n_classes : m->n_classes;
    return DIS_OK;
}

dis_status dis__incremental_em_reserve_workers(dis__incremental_em *m, size_t n_workers)
{
    const size_t n = m->n_workers, row = m->row;
    if (n_workers <= m->capacity) return DIS_OK;
    DIS_TRY(dis__resize_array(&m->sum, n * row * row, dis__saturating_size(n_workers, row * row, 0), sizeof *m->sum));
    DIS_TRY(dis__resize_array(&m->total, n * row, dis__saturating_size(n_workers, row, 0), sizeof *m->total));
    m->capacity = n_workers;
    return DIS_OK;
}

dis_status dis__incremental_em_add_worker(dis__incremental_em *m)
{
    const size_t n = m->n_workers, row = m->row;
    if (n == m->capacity) DIS_TRY(dis__incremental_em_reserve_workers(m, n + n / 2 + 16));
    memset(m->sum + n * row * row, 0, row * row * sizeof *m->sum);
    memset(m->total + n * row, 0, row * sizeof *m->total);
    m->n_workers = n + 1;
    return DIS_OK;
}

INLINE void normalise(double *p, size_t K)
{
    double sum = 0;
    for (size_t t = 0; t < K; t++) sum += p[t];
    for (size_t t = 0; t < K; t++) p[t] /= sum;
}

/* Called with constants for few classes, so that the inner loops are unrolled. */
INLINE void estimate(const dis__incremental_em *m, size_t K, size_t row, const dis__incremental_vote *vote, size_t n,
                     size_t n_before, const double *before, double *p)
{
    enum { BLOCK = 16 }; /* this many factors, each above 1e-18, do not underflow */
    const double s = m->smoothing, d = m->diagonal, added = (double)K * s + d;
    if (m->own) n_before = 0;
    const double seen = n_before ? 1 : 0;
    const double even = m->own ? 0 : 1;
    for (size_t t = 0; t < K; t++) p[t] = m->class_sum[t] - (n_before ? before[t] : 0) + even;
    for (size_t t = 0; t < K; t++) p[t] /= m->n_items - seen + even * (double)K;
    for (size_t a = 0; a < n; a++) {
        const size_t l = vote[a].label;
        const double *x = m->sum + (vote[a].worker * row + l) * row, *total = m->total + vote[a].worker * row;
        const double right = p[l] * (x[l] - (a < n_before ? before[l] : 0) + s + d);
        if (a < n_before)
            for (size_t t = 0; t < K; t++) p[t] *= (x[t] - before[t] + s) / (total[t] - before[t] + added);
        else
            for (size_t t = 0; t < K; t++) p[t] *= (x[t] + s) / (total[t] + added);
        p[l] = right / (total[l] - (a < n_before ? before[l] : 0) + added);
        if (a % BLOCK == BLOCK - 1) normalise(p, K);
    }
    normalise(p, K);
}

void dis__incremental_em_compute_posterior(const dis__incremental_em *m, const dis__incremental_vote *vote, size_t n,
                                           size_t n_before, const double *before, double *p)
{
    enum { FEW = 4 };
    switch (m->row == FEW ? m->n_classes : 0) {
    case 2: estimate(m, 2, FEW, vote, n, n_before, before, p); break;
    case 3: estimate(m, 3, FEW, vote, n, n_before, before, p); break;
    case 4: estimate(m, 4, FEW, vote, n, n_before, before, p); break;
    default: estimate(m, m->n_classes, m->row, vote, n, n_before, before, p);
    }
}

void dis__incremental_em_add_vote(dis__incremental_em *m, dis__incremental_vote vote, double weight, const double *p)
{
    const size_t K = m->n_classes, row = m->row;
    double *x = m->sum + (vote.worker * row + vote.label) * row, *total = m->total + vote.worker * row;
    for (size_t t = 0; t < K; t++) {
        x[t] += weight * p[t];
        total[t] += weight * p[t];
    }
}

void dis__incremental_em_replace_posterior(dis__incremental_em *m, const dis__incremental_vote *vote, size_t n,
                                           size_t n_before, const double *before, const double *p)
{
    const size_t K = m->n_classes, row = m->row;
    for (size_t a = 0; a < n_before; a++) {
        double *x = m->sum + (vote[a].worker * row + vote[a].label) * row, *total = m->total + vote[a].worker * row;
        for (size_t t = 0; t < K; t++) {
            x[t] += p[t] - before[t];
            total[t] += p[t] - before[t];
        }
    }
    for (size_t a = n_before; a < n; a++) dis__incremental_em_add_vote(m, vote[a], 1, p);
    for (size_t t = 0; t < K; t++) m->class_sum[t] += p[t] - (n_before ? before[t] : 0);
    m->n_items += n_before ? 0 : 1;
}

void dis__incremental_em_add_gold_vote(dis__incremental_em *m, dis__incremental_vote vote, size_t truth)
{
    m->sum[(vote.worker * m->row + vote.label) * m->row + truth]++;
    m->total[vote.worker * m->row + truth]++;
}

void dis__incremental_em_destroy(dis__incremental_em *m)
{
    dis__free(m->sum);
    dis__free(m->total);
    dis__free(m->class_sum);
    m->sum = m->total = m->class_sum = NULL;
}
