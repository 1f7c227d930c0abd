/* centroid.h: the parts of the Jensen-Shannon centroid. */
#ifndef DIS_LABELS_COMBINE_CENTROID_H
#define DIS_LABELS_COMBINE_CENTROID_H
#include "labels/combiner.h"
#include "core/kernel.h"

typedef struct {
    const double *const *p; /* n_views tables of (n_items, n_classes) */
    const double *weight;   /* (n_views), positive, summing to 1 */
    size_t n_views, n_classes;
    bool equal;            /* all weights are the same */
    double converged_step; /* converged: largest relative step of an item */
    int max_steps;
} dis__centroid_problem;

/* Initializes the problem for these views. */
dis__centroid_problem dis__centroid_problem_init(const double *const *p, const double *weight, size_t n_views,
                                                 size_t n_classes, double tolerance, int64_t steps);

/* Doubles of scratch memory for dis__centroid_compute. */
static inline size_t dis__centroid_scratch(size_t n_views, size_t n_classes)
{
    return dis__saturating_size(n_classes, (n_views + 3) * 8, 8);
}

/* Computes the centroids of items first .. last - 1 into out, 8 or fewer at a time, by Newton's method
 * (centroid_kernel.c). Items that do not converge are passed to dis__centroid_compute_robust. Returns the maximum
 * number of steps. */
DIS_KERNEL_DECLARE(int, dis__centroid_compute,
                   (const dis__centroid_problem *c, size_t first, size_t last, double *scratch, double *out));

/* Computes the centroid of item i into q (n_classes), by a method that always converges. scratch: (n_classes, n_views).
 * Returns the number of steps. */
int dis__centroid_compute_robust(const dis__centroid_problem *c, size_t i, double *scratch, double *q);

#endif
