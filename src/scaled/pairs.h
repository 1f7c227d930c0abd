/* pairs.h: the parts of the scale pairwise: reading (pairs_read.c), the model (bradley_terry.c), tables and agreement
 * (pairs_tables.c). */
#ifndef DIS_SCALED_PAIRS_H
#define DIS_SCALED_PAIRS_H
#include "scaled/scaled_internal.h"

enum { DIS_PAIR_FIRST, DIS_PAIR_SECOND, DIS_PAIR_TIE };

typedef struct {
    int64_t iterations;
    double tolerance, penalty, spread;
    int reliability;
} dis__pairs_options;

typedef struct {
    uint32_t task, a, b, worker; /* task: number of the text before the parts */
    uint32_t verdict;            /* DIS_PAIR_FIRST, DIS_PAIR_SECOND, DIS_PAIR_TIE */
} dis__comparison;

typedef struct {
    const dis__scaled_args *args;
    const dis__pairs_options *o;
    const dis_names *things;
    size_t n_things, n;
    dis__comparison *c;         /* (n) */
    double *score, *trial, *se; /* (n_things) */
    double *reliability;        /* (n_workers) */
    double *hessian, *slope;    /* (n_things, n_things), (n_things) */
    double *spread;             /* (n_things, n_things): rows whose differences have the length of the standard error of
                                   the difference of two scores */
    uint32_t *group;            /* (n_things): things that comparisons connect; scores mean nothing between groups */
    size_t n_groups;
} dis__pairs;

/* How much of a comparison the first of two has won. */
static inline double dis__comparison_outcome(const dis__comparison *c)
{
    return c->verdict == DIS_PAIR_FIRST ? 1 : c->verdict == DIS_PAIR_SECOND ? 0 : .5;
}

dis_status dis__pairs_read(dis__pairs *m, dis_scaled *out);
/* All tables and measures of a fitted model; `plain`: the same without reliabilities, for intervals of ranks. */
dis_status dis__pairs_add_results(dis__pairs *m, const dis__pairs *plain, dis_scaled *out);

#endif
