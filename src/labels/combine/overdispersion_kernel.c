/* Sums over the votes of items, for overdispersion.c. Additions only, in the order of the votes, so every instruction
 * set gives the same bits. */
#include "labels/combine/overdispersion.h"
#include "labels/method.h"
#include <string.h>

void DIS_KERNEL(dis__overdispersion_add_votes)(const dis__crowd_model *m, const double *slip, size_t first, size_t n,
                                               double *sums, double *norm)
{
    const dis_votes_view *v = &m->votes;
    const size_t K = m->n_classes, width = DIS_OVERDISPERSION_SHIFTS * K;
    memset(sums, 0, n * K * sizeof *sums);
    memset(norm, 0, n * width * sizeof *norm);
    for (size_t b = 0; b < n; b++, sums += K, norm += width)
        for (uint64_t a = v->start[first + b]; a < v->start[first + b + 1]; a++) {
            const double *row = m->log_confusion + (v->worker[a] * K + dis__vote_label(v, a)) * K;
            const double *of = slip + v->worker[a] * width;
            for (size_t t = 0; t < K; t++) sums[t] += row[t];
            for (size_t x = 0; x < width; x++) norm[x] += of[x];
        }
}
