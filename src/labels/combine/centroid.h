/* centroid.h: the pieces of the Jensen-Shannon centroid. */
#ifndef DIS_LABELS_COMBINE_CENTROID_H
#define DIS_LABELS_COMBINE_CENTROID_H
#include "labels/combiner.h"
#include "core/kernel.h"

typedef struct {
    const double *const *p; /* n_views tables of (n_items, n_classes) */
    const double *weight;   /* (n_views), positive, summing to 1 */
    size_t n_views, n_classes;
    bool equal;            /* all weights are the same */
    double converged_step; /* largest relative step after which an item is done */
    int max_steps;
} dis__centroid_problem;

/* The problem of those views. */
dis__centroid_problem dis__centroid_problem_init(const double *const *p, const double *weight, size_t n_views,
                                                 size_t n_classes, double tolerance, int64_t steps);

/* Numbers of scratch memory that dis__centroid_compute needs. */
static inline size_t dis__centroid_scratch(size_t n_views, size_t n_classes)
{
    return dis__saturating_size(n_classes, (n_views + 3) * 8, 8);
}

/* The centroids of items first .. last - 1 to out, 8 or fewer at a time, by Newton's method (centroid_kernel.c). Items
 * on which it does not settle go to dis__centroid_compute_robust. Returns the steps of the slowest item. */
DIS_KERNEL_DECLARE(int, dis__centroid_compute,
                   (const dis__centroid_problem *c, size_t first, size_t last, double *scratch, double *out));

/* The centroid of item i into q (n_classes), by a way that always arrives. scratch: (n_classes, n_views). Returns the
 * steps. */
int dis__centroid_compute_robust(const dis__centroid_problem *c, size_t i, double *scratch, double *q);

#endif
