/* ordinal_model.h: the steps of the method ordinal (ordinal_newton.c); ordinal.c has the model. */
#ifndef DIS_LABELS_ORDINAL_MODEL_H
#define DIS_LABELS_ORDINAL_MODEL_H
#include "labels/em/em.h"

typedef struct {
    int64_t iterations, points;
    double tolerance, bias, spread, lapse;
    int intervals;
} dis__ordinal_options;

/* The crowd's part of the objective as a function of a[1 .. K - 1] and u: value, gradient (u last), and an arrowhead
 * Hessian. */
typedef struct {
    double value, slope_u, bend_u;
    double *slope, *bend, *next, *border; /* (K): of a[v]; next: of a[v] with a[v + 1]; border: with u */
} dis__ordinal_sums;

typedef struct {
    const dis__ordinal_options *o;
    dis__em em;
    size_t K, S, G;
    double *place;           /* (S): x */
    double *a, u;            /* (K + 1): thresholds times u, the first and last infinite */
    double *a_used, u_used;  /* those used in the tables */
    double *k, *g, *e;       /* (n_workers) */
    double *rate, *base;     /* (n_workers, K), (K) */
    double *a_try, *solve;   /* (K + 1), (K, K + 1) */
    double *sums;            /* (n_jobs, worker_size): of one worker */
    dis__ordinal_sums *part; /* (n_jobs), numbers in `parts` */
    double *parts;
    double *votes; /* (n_jobs, K, S): votes for a class at a position */
    size_t n_jobs, n_passes;
    bool with_slopes;
    dis_status status;
} dis__ordinal;

/* F(hi) - F(lo), at least 1e-300. */
double dis__ordinal_compute_mass(double lo, double hi);

/* The part of the sums n of worker w (K, row) that is due to attentive votes, by the tables of the pass; it replaces n.
 * lapsed (K), unless NULL: the others by class. */
void dis__ordinal_remove_lapses(const dis__ordinal *m, size_t w, double *n, double *lapsed);

/* Derivatives of the logarithm of F(k hi - g) - F(k lo - g) by k and g; 0 for infinite ends. */
void dis__ordinal_compute_gradient(double k, double g, double lo, double hi, double *by_k, double *by_g);

/* Standard errors (n_workers) of bias and of the logarithm of spread (ordinal_errors.c). */
dis_status dis__ordinal_compute_errors(const dis__ordinal *m, double *bias_se, double *spread_se);

/* P(position
 * votes of item i) into q (S), unnormalised. */
void dis__ordinal_compute_posterior(const dis__ordinal *m, size_t i, double *q);

/* The rules of the loop (em.h): after a pass, the thresholds and the precision of the crowd; then each worker; then the
 * positions. */
bool dis__ordinal_update_crowd(void *arg, dis__em *em);
double dis__ordinal_update_worker(void *arg, size_t w, double *x, double *scratch, bool keep);
double dis__ordinal_update_positions(void *arg, const double *sum, size_t n_items, double *prior, bool keep);

#endif
