/* incremental_em.h: dawid-skene from a stream of votes: expected counts of workers are updated, never recomputed.
 *
 *     dis__incremental_em model = {.smoothing = .5, .diagonal = 2};
 *     DIS_TRY(dis__incremental_em_reserve_classes(&model, 4));
 *     DIS_TRY(dis__incremental_em_add_worker(&model));                               worker 0
 *     dis__incremental_em_compute_posterior(&model, vote, n, n_before, p_before, p);
 *     dis__incremental_em_replace_posterior(&model, vote, n, n_before, p_before, p);          the counts now hold p for
 *     all n votes
 *     dis__incremental_em_destroy(&model); */
#ifndef DIS_LABELS_INCREMENTAL_EM_H
#define DIS_LABELS_INCREMENTAL_EM_H
#include "core/error.h"

typedef struct {
    uint32_t worker;
    uint16_t label;
} dis__incremental_vote;

typedef struct {
    double smoothing, diagonal; /* as the options of dawid-skene */
    bool own;                   /* an item's own share stays in the counts used for its posterior, as in a fit to all
                            * votes */
    size_t n_classes, row;      /* row: capacity in classes */
    size_t n_workers, capacity;
    double *sum;       /* (capacity, row voted, row true) */
    double *total;     /* (capacity, row true): sums over labels */
    double *class_sum; /* (row) posteriors of all items */
    double n_items;    /* number of these items */
} dis__incremental_em;

/* The capacity in classes for this many classes. */
size_t dis__incremental_em_row_size(const dis__incremental_em *m, size_t n_classes);
/* Reserves this many classes, never fewer than before. */
dis_status dis__incremental_em_reserve_classes(dis__incremental_em *m, size_t n_classes);
/* Reserves this many workers. */
dis_status dis__incremental_em_reserve_workers(dis__incremental_em *m, size_t n_workers);
/* Adds a worker without votes. */
dis_status dis__incremental_em_add_worker(dis__incremental_em *m);
/* The posterior p (n_classes) of an item with n votes, of which the counts include the first n_before, with the
 * posterior `before` (n_classes). Workers and classes are estimated from other items only, unless `own`. p may be
 * `before` if n_before is 0. */
void dis__incremental_em_compute_posterior(const dis__incremental_em *m, const dis__incremental_vote *vote, size_t n,
                                           size_t n_before, const double *before, double *p);
/* Replaces the contribution of these votes to the counts by p; n_before = 0: a new item. */
void dis__incremental_em_replace_posterior(dis__incremental_em *m, const dis__incremental_vote *vote, size_t n,
                                           size_t n_before, const double *before, const double *p);
/* Removes one vote, or (weight 1) adds it, with the posterior p. */
void dis__incremental_em_add_vote(dis__incremental_em *m, dis__incremental_vote vote, double weight, const double *p);
/* A vote on an item with a known class. */
void dis__incremental_em_add_gold_vote(dis__incremental_em *m, dis__incremental_vote vote, size_t truth);
void dis__incremental_em_destroy(dis__incremental_em *m);

#endif
