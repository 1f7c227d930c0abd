/* numeric.h: the parts of the scale numeric: the model (random_effects.c), tables and agreement (numeric_tables.c). */
#ifndef DIS_SCALED_NUMERIC_H
#define DIS_SCALED_NUMERIC_H
#include "scaled/scaled_internal.h"
#include <math.h>

typedef struct {
    int64_t iterations;
    double tolerance, shrink;
} dis__numeric_options;

typedef struct {
    const dis__scaled_args *args;
    const dis__numeric_options *o;
    size_t n_items, n_workers, n_votes, n_jobs;
    double *value;          /* (n_votes), as they are in the table */
    uint64_t *worker_start; /* (n_workers + 1) */
    uint32_t *item_of;      /* (n_votes) by worker */
    double *value_of;       /* (n_votes) by worker */
    double *t, *t_var;      /* (n_items) */
    double *b, *b_var;      /* (n_workers) */
    double *noise;          /* (n_workers): variances */
    double *apart;          /* (n_workers): sum of expected squared residuals of their votes */
    double m, var_t, var_b, common;
    int exponent; /* value is the label divided by 2^exponent */
    double *part; /* (n_jobs, 4) */
} dis__numeric;

static inline double dis__numeric_count_votes(const dis__numeric *x, size_t w)
{
    return (double)(x->worker_start[w + 1] - x->worker_start[w]);
}

/* A length on the scale of the labels; NaN if a double cannot hold it. */
static inline double dis__numeric_scale_length(const dis__numeric *x, double length)
{
    const double scaled = ldexp(length, x->exponent);
    return isfinite(scaled) ? scaled : NAN;
}

dis_status dis__numeric_add_results(dis__numeric *x, dis_scaled *out); /* all tables and measures of a fitted model */

#endif
