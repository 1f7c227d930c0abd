/* What votes say of items under the crowd model, a block of items at a time: the votes of each are added up by a kernel
 * (crowd_kernel.c), then all exponentials of the block are taken at once.
 *
 * Cost: 4 K additions per vote, 3 K exponentials per item. */
#include "labels/crowd/crowd_model.h"
#include "core/kernel.h"
#include <math.h>
#include <string.h>

DIS_KERNEL_DECLARE(void, dis__crowd_add_votes,
                   (const dis__crowd_model *m, size_t first, size_t n, double *sums, double *norm));

/* Counts: everybody is the same worker. */
static void add_counts(const dis__crowd_model *m, size_t i, double *sums, double *norm)
{
    const size_t K = m->n_classes;
    memset(sums, 0, K * sizeof *sums);
    memset(norm, 0, DIS_CROWD_LEVELS * K * sizeof *norm);
    for (size_t l = 0; l < K; l++) {
        const double n = m->votes.counts[i * K + l];
        if (!(n > 0)) continue;
        for (size_t t = 0; t < K; t++) sums[t] += n * m->log_confusion[l * K + t];
        for (size_t x = 0; x < DIS_CROWD_LEVELS * K; x++) norm[x] += n * m->log_norm[x];
    }
}

static void add_votes(const dis__crowd_model *m, size_t first, size_t n, double *sums, double *norm)
{
    const size_t K = m->n_classes;
    if (m->votes.start)
        DIS_KERNEL_SELECT(dis__crowd_add_votes)(m, first, n, sums, norm);
    else
        for (size_t b = 0; b < n; b++) add_counts(m, first + b, sums + b * K, norm + b * DIS_CROWD_LEVELS * K);
}

/* Sums of one item to the logarithms of its joint posterior, less the largest, which is returned. */
static double put_together(const dis__crowd_model *m, size_t i, const double *sums, double *joint)
{
    const size_t K = m->n_classes;
    const int32_t gold = m->gold ? m->gold[i] : -1;
    double max = -INFINITY;
    for (size_t e = 0; e < DIS_CROWD_LEVELS; e++) {
        double *x = joint + e * K;
        for (size_t t = 0; t < K; t++) x[t] = m->log_level[e] + m->log_prior[t] + dis__crowd_ease[e] * sums[t] - x[t];
        for (size_t t = 0; t < K && gold >= 0; t++) x[t] = (size_t)gold == t ? x[t] : -INFINITY;
        for (size_t t = 0; t < K; t++) max = x[t] > max ? x[t] : max;
    }
    for (size_t x = 0; x < DIS_CROWD_LEVELS * K; x++) joint[x] -= max;
    return max;
}

void dis__crowd_compute_joints(const dis__crowd_model *m, size_t first, size_t n, double *joint, double *sums,
                               double *log_likelihood)
{
    const size_t K = m->n_classes, width = DIS_CROWD_LEVELS * K;
    double max[DIS_CROWD_BLOCK];
    add_votes(m, first, n, sums, joint);
    for (size_t b = 0; b < n; b++) max[b] = put_together(m, first + b, sums + b * K, joint + b * width);
    m->special.exp(joint, n * width);
    for (size_t b = 0; b < n; b++) {
        double *x = joint + b * width, total = 0;
        for (size_t k = 0; k < width; k++) total += x[k];
        for (size_t k = 0; k < width; k++) x[k] /= total;
        log_likelihood[b] = total;
    }
    m->special.log(log_likelihood, n);
    for (size_t b = 0; b < n; b++) log_likelihood[b] += max[b];
}

double dis__crowd_compute_joint(const dis__crowd_model *m, size_t i, double *joint, double *sums)
{
    double log_likelihood;
    dis__crowd_compute_joints(m, i, 1, joint, sums, &log_likelihood);
    return log_likelihood;
}
