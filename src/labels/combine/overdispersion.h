/* overdispersion.h: how much the difficulty of items varies beyond the effects of annotators. */
#ifndef DIS_LABELS_COMBINE_OVERDISPERSION_H
#define DIS_LABELS_COMBINE_OVERDISPERSION_H
#include "labels/combiner.h"
#include "labels/crowd/crowd_model.h"
#include "core/kernel.h"

/* Standard deviations of the grid besides 0. Each has two quadrature nodes off the centre. */
enum { DIS_OVERDISPERSION_SPREADS = 5, DIS_OVERDISPERSION_SHIFTS = 2 * DIS_OVERDISPERSION_SPREADS };

/* Posterior mean of the standard deviation of the item effect, given the votes (n_owners ranks share the votes).
 * Returns the prior mean if the votes have no annotator ids. */
dis_status dis__overdispersion_fit(const dis__combine_args *args, double *out);

/* Adds the votes of items first .. first + n - 1: sums (n, K) of log-probabilities of the labels, norm (n,
 * DIS_OVERDISPERSION_SHIFTS, K) of the rows of `slip` (n_workers, DIS_OVERDISPERSION_SHIFTS, K). See
 * overdispersion_kernel.c. */
DIS_KERNEL_DECLARE(void, dis__overdispersion_add_votes,
                   (const dis__crowd_model *m, const double *slip, size_t first, size_t n, double *sums, double *norm));

#endif
