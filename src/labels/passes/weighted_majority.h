/* weighted_majority.h: votes weighted by the skills of their annotators, for methods that alternate between the two.
 *
 * Skills are converted to integers before they are added, so that scores, and with them ties, do not depend on the
 * order of rows. */
#ifndef DIS_LABELS_WEIGHTED_MAJORITY_H
#define DIS_LABELS_WEIGHTED_MAJORITY_H
#include "labels/method.h"

typedef struct {
    const dis__fit_args *args;
    size_t n_jobs;
    int shift;         /* a skill of 1 has the weight 2^shift */
    uint64_t *n_voted; /* (n_workers) */
    uint64_t *weight;  /* (n_workers) */
    uint64_t *right;   /* (n_jobs, n_workers) */
    uint64_t *score;   /* (threads, n_classes) */
} dis__weighted_majority;

/* The caller destroys it, also after a failure. */
dis_status dis__weighted_majority_create(const dis__fit_args *args, dis__weighted_majority *out);
void dis__weighted_majority_destroy(dis__weighted_majority *vote);

/* accuracy (n_workers): the share of each worker's votes that agree with the vote weighted by `skill` (n_workers, 0 ..
 * 1.5), or with the gold label if there is one. Ties are resolved to the first class. The values of workers without
 * votes are unchanged. */
dis_status dis__weighted_majority_compute_accuracy(dis__weighted_majority *vote, const double *skill, double *accuracy);

/* p (n_items, n_classes): each class's share of the summed skills of the item's votes; uniform without votes; gold
 * pinned. */
dis_status dis__weighted_majority_compute_shares(dis__weighted_majority *vote, const double *skill, double *p);

/* Bytes required. */
size_t dis__weighted_majority_memory(const dis_votes_view *votes, const void *options);

#endif
