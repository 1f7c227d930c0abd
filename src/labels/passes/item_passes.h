/* item_passes.h: passes over items. dis__item_formula_fit() is for methods that treat each item independently,
 * dis__item_sums for sums over items, divided into jobs with equal numbers of items.
 *
 * The number of jobs over all items depends on the problem only; each adds its items in order, and jobs are added in
 * order. A job may be on two or more ranks: the rank with its first items begins the sums, and the next one continues
 * them. So any number of threads and ranks gives the same bytes.
 *
 *     dis__item_sums s = {.args = args, .n_jobs = 16, .n_sums = n, .job = job, .arg = &x};
 *     DIS_TRY(dis__item_sums_create(&s));
 *     DIS_TRY(dis__item_sums_run(&s, total));      any number of times
 *     dis__item_sums_destroy(&s); */
#ifndef DIS_LABELS_PASSES_ITEM_PASSES_H
#define DIS_LABELS_PASSES_ITEM_PASSES_H
#include "labels/method.h"

typedef struct {
    const dis__fit_args *args;
    size_t n_jobs, n_sums;
    /* Adds items [first, last) of this rank to sums (n_sums). */
    void (*job)(void *arg, size_t first, size_t last, double *sums, int thread);
    void *arg;
    const double *start; /* (n_sums) initial sums of the first job; NULL: zeros */

    /* set by dis__item_sums_create() */
    size_t begin, stop;        /* jobs with items here */
    bool from_before, to_next; /* the first of them began on the previous rank, the last one continues on the next */
    double *sums;              /* (stop - begin, n_sums) */
} dis__item_sums;

dis_status dis__item_sums_create(dis__item_sums *s);
void dis__item_sums_destroy(dis__item_sums *s);
/* total (n_sums): the sums over all items, on every rank. Collective: all ranks call it. */
dis_status dis__item_sums_run(dis__item_sums *s, double *total);
/* The same in a single job, so that items are added one by one; start and total may be the same. For cheap sums. */
dis_status dis__item_sums_run_in_order(const dis__fit_args *args, size_t n_sums,
                                       void (*job)(void *arg, size_t first, size_t last, double *sums, int thread),
                                       void *arg, const double *start, double *total);

/* Computes the soft label of an item. `item` receives the counts of each class in p and replaces them by the label
 * (n_classes); it is not called for items without votes or with gold labels. */
typedef struct {
    void (*item)(const dis__fit_args *args, const void *arg, size_t i, double *p);
    const void *arg;
    const double *unvoted; /* (n_classes) the label of items without votes; NULL: the uniform distribution */
} dis__item_formula;

dis_status dis__item_formula_fit(const dis__fit_args *args, dis_fit *fit, const dis__item_formula *rule);

#endif
