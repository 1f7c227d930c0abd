/* incremental_em.h: dawid-skene from votes that come one by one: soft counts of workers that are moved, never made anew.
 *
 *     dis__incremental_em model = {.smoothing = .5, .diagonal = 2};
 *     DIS_TRY(dis__incremental_em_reserve_classes(&model, 4));
 *     DIS_TRY(dis__incremental_em_add_worker(&model));                               worker 0
 *     dis__incremental_em_compute_posterior(&model, vote, n, n_before, p_before, p);
 *     dis__incremental_em_replace_posterior(&model, vote, n, n_before, p_before, p);          the counts now hold p for all n votes
 *     dis__incremental_em_destroy(&model); */
#ifndef DIS_LABELS_ONLINE_H
#define DIS_LABELS_ONLINE_H
#include "core/error.h"

typedef struct {
    uint32_t worker;
    uint16_t label;
} dis__incremental_vote;

typedef struct {
    double smoothing, diagonal; /* as the options of dawid-skene */
    bool own;              /* an item's own share stays in the counts by which it is judged, as in a fit to all votes */
    size_t n_classes, row; /* row: classes that there is room for */
    size_t n_workers, capacity;
    double *sum;       /* (capacity, row voted, row true) */
    double *total;     /* (capacity, row true): sums over labels */
    double *class_sum; /* (row) posteriors of all items */
    double n_items;    /* that these are of */
} dis__incremental_em;

/* How many classes there will be room for, given so many. */
size_t dis__incremental_em_row_size(const dis__incremental_em *m, size_t n_classes);
/* Room for so many classes, never fewer than before. */
dis_status dis__incremental_em_reserve_classes(dis__incremental_em *m, size_t n_classes);
/* Room for so many workers. */
dis_status dis__incremental_em_reserve_workers(dis__incremental_em *m, size_t n_workers);
/* One more worker, of whom nothing is known. */
dis_status dis__incremental_em_add_worker(dis__incremental_em *m);
/* The posterior p (n_classes) of an item with n votes, of which the counts hold the first n_before, with the posterior
 * `before` (n_classes). Workers and classes are judged by other items alone, unless
 * `own`. p may be `before` where n_before is 0. */
void dis__incremental_em_compute_posterior(const dis__incremental_em *m, const dis__incremental_vote *vote, size_t n,
                                           size_t n_before, const double *before, double *p);
/* What the counts hold of these votes becomes p; n_before = 0: an item that is new to them. */
void dis__incremental_em_replace_posterior(dis__incremental_em *m, const dis__incremental_vote *vote, size_t n,
                                           size_t n_before, const double *before, const double *p);
/* One vote taken back, or (weight 1) put in, with the posterior p. */
void dis__incremental_em_add_vote(dis__incremental_em *m, dis__incremental_vote vote, double weight, const double *p);
/* A vote on an item whose class is settled. */
void dis__incremental_em_add_gold_vote(dis__incremental_em *m, dis__incremental_vote vote, size_t truth);
void dis__incremental_em_destroy(dis__incremental_em *m);

#endif
