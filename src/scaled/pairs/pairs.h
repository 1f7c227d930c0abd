/* pairs.h: the parts of the scale pairwise.
 *
 * pairs_read.c      comparisons from the votes; pair_state.c: those of a saved state, and writing one
 * pair_cells.c      equal comparisons merged into cells with counts; components of the graph
 * tie_models.c      likelihood of one cell and its derivatives
 * pair_fit.c        Newton's method for scores, tie parameter and coefficients; annotators in turn
 * pair_solver.c     linear systems: Cholesky up to DIS_PAIRS_DENSE parameters, conjugate gradients above
 * pair_errors.c     covariances for new annotators and new tasks
 * pair_ranks.c      intervals of ranks, for each thing and for all at once
 * pair_camps.c      latent camps of annotators; known groups
 * pair_preferences.c probability of each preference: soft targets for reward models
 * pairs_tables.c    tables; pair_agreement.c: agreement of annotators
 * bradley_terry.c   options and the row of the model */
#ifndef DIS_SCALED_PAIRS_H
#define DIS_SCALED_PAIRS_H
#include "scaled/scaled_internal.h"
#include "scaled/pairs/tie_models.h"

enum { DIS_PAIR_FIRST, DIS_PAIR_SECOND, DIS_PAIR_TIE };
enum { DIS_PAIRS_DENSE = 500 }; /* parameters whose covariance matrix is stored */
enum { DIS_PAIRS_MAX_COVARIATES = 16, DIS_PAIRS_MAX_CAMPS = 8 };

typedef struct {
    int64_t iterations, camps, restarts, permutations;
    double tolerance, penalty, spread, side_spread;
    int reliability, ties, position, sides, preferences;
} dis__pairs_options;

typedef struct {
    uint32_t item, task, a, b, worker; /* task: number of the text before the parts */
    uint32_t verdict;                  /* DIS_PAIR_FIRST, DIS_PAIR_SECOND, DIS_PAIR_TIE */
} dis__comparison;

typedef enum { DIS_BY_ITEM, DIS_BY_TASK, DIS_BY_WORKER, DIS_BY_A, DIS_BY_B, DIS_BY_LOW, DIS_BY_HIGH } dis__pair_key;

/* Equal comparisons. */
typedef struct {
    uint32_t a, b;
    uint32_t worker, task;
    double n[3]; /* for a, for b, ties */
} dis__pair_cell;

typedef struct {
    size_t n;
    dis__pair_cell *cell; /* (n) */
    double *x;            /* (n, n_x) covariates in favour of a, divided by their root mean square */
} dis__pair_cells;

/* A likelihood and its data. Parameters: scores (n_things), the tie parameter if it is estimated, coefficients (n_x). */
typedef struct {
    size_t n_things, n_x;
    const dis__tie_model *ties;
    bool has_tie; /* the tie parameter is estimated */
    double penalty;
    const dis__pair_cells *cells;
    const double *reliability, *side; /* (n_workers) or NULL: 1 and 0 */
    const double *weight;             /* (n_workers) of their votes, or NULL */
} dis__pair_model;

static inline size_t dis__pair_n_parameters(const dis__pair_model *m)
{
    return m->n_things + m->has_tie + m->n_x;
}

static inline double dis__pair_tie(const dis__pair_model *m, const double *parameter)
{
    return m->has_tie ? parameter[m->n_things] : 0;
}

/* Probability that the first of two things is preferred; a tie counts half. */
static inline double dis__pair_preference(const dis__tie_model *ties, double predictor, double tie)
{
    double p[3];
    ties->predict(predictor, tie, p);
    return p[0] + .5 * p[2];
}

/* Arrays that a fit needs, for a number of parameters and cells. */
typedef struct {
    size_t n;                              /* parameters */
    double *slope, *step, *trial;          /* (n) */
    double *hessian;                       /* (n, n) lower half, up to DIS_PAIRS_DENSE parameters; else NULL */
    double *bend;                          /* (n_cells, 3) negative second derivatives in predictor and tie parameter */
    double *diagonal, *residual, *product; /* (n) of conjugate gradients */
    double *preconditioned, *direction;    /* (n) */
} dis__pair_space;

/* Covariance of the parameters for new annotators and new tasks. */
typedef struct {
    double *covariance;  /* (n, n); NULL above DIS_PAIRS_DENSE parameters */
    double *variance;    /* (n) of scores less the mean of their component, of the tie parameter, of coefficients */
    double *df;          /* (n) degrees of freedom; INFINITY: normal */
    double *information; /* (n) diagonal of H */
    double score_df;     /* degrees of freedom of differences of scores; INFINITY: normal */
    double taste_sd, task_sd; /* standard deviations of scores between annotators, between tasks; NaN: one alone */
} dis__pair_errors;

/* A saved fit, for the things and annotators of now. NaN: unknown. */
typedef struct {
    const dis__tie_model *ties;
    size_t n_x;
    bool has_tie;
    double *parameter; /* (n_things + has_tie + n_x) */
    double *scaled;    /* the same: variances times information */
} dis__pair_saved;

typedef struct {
    dis__pair_saved plain, model;
    double *reliability, *side; /* (n_workers) */
} dis__pair_start;

typedef struct {
    const dis__scaled_args *args;
    const dis__pairs_options *o;
    const dis_names *things, *tasks, *workers; /* tasks: texts before the parts */
    size_t n_things, n_tasks, n_workers, n_items, n, n_x;
    dis__comparison *c, *spare; /* (n), (n) for sorting */
    const char *name_x[DIS_PAIRS_MAX_COVARIATES + 1];
    double scale_x[DIS_PAIRS_MAX_COVARIATES + 1]; /* root mean squares */
    uint64_t n_unknown;                           /* values of covariates that are missing */
    dis__pair_cells by_worker, merged;            /* cells of one annotator each, by annotator; of all annotators */
    uint64_t *worker_start;                       /* (n_workers + 1) cells of an annotator in by_worker */
    const dis__pair_start *start;                 /* NULL: from scores of 0 */
    dis__pair_model model;                        /* as requested */
    double *parameter;                            /* of it */
    double *reliability, *side;                   /* (n_workers), NULL: not estimated */
    dis__pair_errors errors;                      /* of the model as requested */
    dis__pair_model plain;                        /* without parameters of annotators: for intervals of ranks */
    double *plain_parameter;
    dis__pair_errors plain_errors;
    uint32_t *component; /* (n_things): things that comparisons connect; scores mean nothing between components */
    size_t n_components;
    double *camp_parameter; /* (n_camps, parameters of `plain`), the largest camp first; NULL: none were estimated */
    double *camp, *p_camp;  /* (n_workers) most probable camp, from 1, and its probability; NULL: none were estimated */
    size_t n_strong; /* components of "has won or tied against"; more than n_components: the penalty bounds scores */
} dis__pairs;

/* The share of a comparison won by the first of the two. */
static inline double dis__comparison_outcome(const dis__comparison *c)
{
    return c->verdict == DIS_PAIR_FIRST ? 1 : c->verdict == DIS_PAIR_SECOND ? 0 : .5;
}

dis_status dis__pairs_read(dis__pairs *m, dis_scaled *out);
/* Adds the comparisons of a saved state to those of the votes, and starts from its fit. */
dis_status dis__pair_state_join(dis__pairs *m, const char *path, dis_scaled *out);
dis_status dis__pair_state_write(const dis__pairs *m, const char *path);
/* Sorts the comparisons by the keys (n_keys), the last one first; stable. */
dis_status dis__pairs_sort(dis__pairs *m, const dis__pair_key *keys, size_t n_keys);
dis_status dis__pair_cells_make(dis__pairs *m, dis_scaled *out);
dis_status dis__pairs_find_components(dis__pairs *m, dis_scaled *out);

dis_status dis__pair_space_allocate(const dis__pair_model *m, size_t n_cells, dis_scaled *out, dis__pair_space *to);
/* Log-likelihood minus penalties of the parameters. */
double dis__pair_objective(const dis__pair_model *m, const double *parameter);
/* Objective, slopes, and second derivatives in `space`. */
double dis__pair_derive(const dis__pair_model *m, const double *parameter, dis__pair_space *space);
/* Newton's method until the objective changes by less than `tolerance` relative; the number of iterations. */
dis_status dis__pair_maximise(dis_context *ctx, const dis__pair_model *m, double *parameter, double tolerance,
                              int64_t max_iterations, dis__pair_space *space, int *iterations, bool *converged);
/* The model as requested, with parameters of annotators in turn. */
dis_status dis__pairs_fit(dis__pairs *m, dis_scaled *out);

/* Cholesky factor of the Hessian in place (dense), and solutions of H x = b. x may be b. */
void dis__pair_factor(const dis__pair_model *m, dis__pair_space *space);
void dis__pair_solve(const dis__pair_model *m, dis__pair_space *space, const double *b, double *x, double tolerance);
/* In place: the lower triangle of the Cholesky factor of a (n, n). */
void dis__cholesky(double *a, size_t n);
void dis__cholesky_solve(const double *factor, size_t n, double *x);

static inline double dis__pair_predictor(const dis__pair_model *m, size_t i, const double *parameter)
{
    const dis__pair_cell *c = &m->cells->cell[i];
    const double *beta = parameter + m->n_things + m->has_tie, *x = m->cells->x + i * m->n_x;
    double sum = parameter[c->a] - parameter[c->b];
    if (m->reliability) sum *= m->reliability[c->worker];
    if (m->side) sum += m->side[c->worker];
    for (size_t j = 0; j < m->n_x; j++) sum += beta[j] * x[j];
    return sum;
}

/* The same of a direction: without what is constant. */
static inline double dis__pair_project(const dis__pair_model *m, size_t i, const double *direction)
{
    const dis__pair_cell *c = &m->cells->cell[i];
    const double *beta = direction + m->n_things + m->has_tie, *x = m->cells->x + i * m->n_x;
    double sum = direction[c->a] - direction[c->b];
    if (m->reliability) sum *= m->reliability[c->worker];
    for (size_t j = 0; j < m->n_x; j++) sum += beta[j] * x[j];
    return sum;
}

/* Adds value times the derivative of the predictor of cell i. */
static inline void dis__pair_scatter(const dis__pair_model *m, size_t i, double value, double *to)
{
    const dis__pair_cell *c = &m->cells->cell[i];
    const double r = m->reliability ? m->reliability[c->worker] : 1, *x = m->cells->x + i * m->n_x;
    double *beta = to + m->n_things + m->has_tie;
    to[c->a] += r * value;
    to[c->b] -= r * value;
    for (size_t j = 0; j < m->n_x; j++) beta[j] += x[j] * value;
}

/* `cells`: those of m->by_worker, with the parameters of the model. Above DIS_PAIRS_DENSE parameters, variances are
 * scaled / information, if `scaled` (n) is given. */
dis_status dis__pair_errors_compute(dis__pairs *m, const dis__pair_model *model, const double *parameter,
                                    const double *scaled, dis_scaled *out, dis__pair_errors *to);
/* Standard error of the difference of two scores. */
double dis__pair_difference_error(const dis__pair_errors *e, size_t n, size_t k, size_t l);

dis_status dis__pairs_add_ranks(dis__pairs *m, dis_scaled *out);
dis_status dis__pairs_add_camps(dis__pairs *m, dis_scaled *out);
dis_status dis__pairs_add_groups(dis__pairs *m, dis_scaled *out);
dis_status dis__pairs_add_preferences(dis__pairs *m, dis_scaled *out);
/* Scores less the mean of their component, and ranks within it. */
dis_status dis__pairs_center(const dis__pairs *m, const double *score, dis_scaled *out, double *centered, double *rank);

typedef struct {
    double *votes, *share, *first, *both, *consistent, *agreed, *compared; /* (n_workers) */
} dis__rater_counts;
/* Adds the measures of agreement, and fills columns of annotators. Sorts the comparisons. */
dis_status dis__pairs_measure(dis__pairs *m, const dis__rater_counts *r, dis_scaled *out);
/* All tables and measures of a fitted model. */
dis_status dis__pairs_add_results(dis__pairs *m, dis_scaled *out);
/* DIS_PAIR_FIRST: the thing with the lower number. */
static inline uint32_t dis__pair_opinion(const dis__comparison *c)
{
    return c->verdict == DIS_PAIR_TIE                        ? DIS_PAIR_TIE
           : (c->verdict == DIS_PAIR_FIRST) == (c->a < c->b) ? DIS_PAIR_FIRST
                                                             : DIS_PAIR_SECOND;
}

#endif
