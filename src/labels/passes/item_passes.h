/* item_passes.h: passes over items. dis__item_formula_fit() is for methods that look at one item at a time,
 * dis__item_sums for sums over items, for methods whose passes are cut into jobs of as many items each.
 *
 * Jobs are those of all items, a number that depends on the problem alone; each adds its items up in their order, and
 * jobs are added up in theirs. On several ranks a job may be on two or more of them: who has its first items begins
 * the sums, and the next goes on with them. So any number of threads and ranks gives the same bytes.
 *
 *     dis__item_sums s = {.args = args, .n_jobs = 16, .n_sums = n, .job = job, .arg = &x};
 *     DIS_TRY(dis__item_sums_create(&s));
 *     DIS_TRY(dis__item_sums_run(&s, total));      as often as wanted
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
    const double *start; /* (n_sums) what the first job begins with; NULL: zeros */

    /* set by dis__item_sums_create() */
    size_t begin, stop;        /* jobs with items here */
    bool from_before, to_next; /* the first of them began on the rank before, the last one goes on behind */
    double *sums;              /* (stop - begin, n_sums) */
} dis__item_sums;

dis_status dis__item_sums_create(dis__item_sums *s);
void dis__item_sums_destroy(dis__item_sums *s);
/* total (n_sums): the sums over all items, on every rank. All ranks call it. */
dis_status dis__item_sums_run(dis__item_sums *s, double *total);
/* The same for one job, so that items are added up one by one; start and total may be the same. For what costs
 * little. */
dis_status dis__item_sums_run_in_order(const dis__fit_args *args, size_t n_sums,
                                       void (*job)(void *arg, size_t first, size_t last, double *sums, int thread),
                                       void *arg, const double *start, double *total);

/* Makes the soft label of an item. `item` gets p with how often each class was chosen and turns it (n_classes) into the
 * label; it is not called for items that no one voted on and for pinned ones. */
typedef struct {
    void (*item)(const dis__fit_args *args, const void *arg, size_t i, double *p);
    const void *arg;
    const double *unvoted; /* (n_classes) the label of items that no one voted on; NULL: the uniform distribution */
} dis__item_formula;

dis_status dis__item_formula_fit(const dis__fit_args *args, dis_fit *fit, const dis__item_formula *rule);

#endif
