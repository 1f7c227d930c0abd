/* Sums over the votes of items under the crowd model: log-probabilities of the labels, and the logarithms of their
 * normalisers at each level. Only additions, in the order of the votes, so every instruction set gives the same bits.
 *
 * Sums of an item stay in registers: add() is expanded for each small number of classes. */
#include "labels/crowd/crowd_model.h"
#include "labels/method.h"
#include "core/kernel.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

void DIS_KERNEL(dis__crowd_add_votes)(const dis__crowd_model *m, size_t first, size_t n, double *sums, double *norm);

enum { IN_REGISTERS = 8 };

/* K is a constant, at most IN_REGISTERS. */
INLINE void add(const dis__crowd_model *m, size_t first, size_t n, size_t K, double *sums, double *norm)
{
    const dis_votes_view *v = &m->votes;
    const double *confusion = m->log_confusion, *norms = m->log_norm;
    for (size_t b = 0; b < n; b++) {
        double s[IN_REGISTERS] = {0}, q[DIS_CROWD_LEVELS * IN_REGISTERS] = {0};
        const uint64_t end = v->start[first + b + 1];
        for (uint64_t a = v->start[first + b]; a < end; a++) {
            const double *row = confusion + (v->worker[a] * K + dis__vote_label(v, a)) * K;
            const double *of = norms + v->worker[a] * DIS_CROWD_LEVELS * K;
            for (size_t t = 0; t < K; t++) s[t] += row[t];
            for (size_t x = 0; x < DIS_CROWD_LEVELS * K; x++) q[x] += of[x];
        }
        memcpy(sums + b * K, s, K * sizeof *s);
        memcpy(norm + b * DIS_CROWD_LEVELS * K, q, DIS_CROWD_LEVELS * K * sizeof *q);
    }
}

static void add_many(const dis__crowd_model *m, size_t first, size_t n, size_t K, double *sums, double *norm)
{
    const dis_votes_view *v = &m->votes;
    memset(sums, 0, n * K * sizeof *sums);
    memset(norm, 0, n * DIS_CROWD_LEVELS * K * sizeof *norm);
    for (size_t b = 0; b < n; b++, sums += K, norm += DIS_CROWD_LEVELS * K)
        for (uint64_t a = v->start[first + b]; a < v->start[first + b + 1]; a++) {
            const double *row = m->log_confusion + (v->worker[a] * K + dis__vote_label(v, a)) * K;
            const double *of = m->log_norm + v->worker[a] * DIS_CROWD_LEVELS * K;
            for (size_t t = 0; t < K; t++) sums[t] += row[t];
            for (size_t x = 0; x < DIS_CROWD_LEVELS * K; x++) norm[x] += of[x];
        }
}

void DIS_KERNEL(dis__crowd_add_votes)(const dis__crowd_model *m, size_t first, size_t n, double *sums, double *norm)
{
    switch (m->n_classes) {
    case 2: add(m, first, n, 2, sums, norm); break;
    case 3: add(m, first, n, 3, sums, norm); break;
    case 4: add(m, first, n, 4, sums, norm); break;
    case 5: add(m, first, n, 5, sums, norm); break;
    case 6: add(m, first, n, 6, sums, norm); break;
    case 7: add(m, first, n, 7, sums, norm); break;
    case 8: add(m, first, n, 8, sums, norm); break;
    default: add_many(m, first, n, m->n_classes, sums, norm);
    }
}
