/* The maximum of a model of comparisons.
 *
 * Newton's method for scores, tie parameter and coefficients together, halved until the objective does not fall; the
 * objective is concave in them. Reliabilities and side preferences of annotators are updated in turn: one Newton step
 * each, which is concave given the rest. Cost of an iteration: a pass over the cells and a linear system. */
#include "scaled/pairs/pairs.h"
#include <math.h>
#include <string.h>

enum { MAX_HALVINGS = 40 };

dis_status dis__pair_space_allocate(const dis__pair_model *m, size_t n_cells, dis_scaled *out, dis__pair_space *to)
{
    const size_t n = dis__pair_n_parameters(m);
    double *vectors;
    *to = (dis__pair_space){.n = n};
    DIS_TRY(dis__scaled_allocate(out, &vectors, 8 * n, sizeof *vectors));
    DIS_TRY(dis__scaled_allocate(out, &to->bend, 3 * n_cells, sizeof *to->bend));
    if (n <= DIS_PAIRS_DENSE) DIS_TRY(dis__scaled_allocate(out, &to->hessian, n * n, sizeof *to->hessian));
    double **rows[] = {&to->slope,    &to->step,    &to->trial,          &to->diagonal,
                       &to->residual, &to->product, &to->preconditioned, &to->direction};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = vectors + i * n;
    return DIS_OK;
}

static double penalties(const dis__pair_model *m, const double *parameter)
{
    double sum = 0;
    for (size_t k = 0; k < dis__pair_n_parameters(m); k++) sum += parameter[k] * parameter[k];
    return m->penalty * sum;
}

double dis__pair_objective(const dis__pair_model *m, const double *parameter)
{
    double sum = 0;
    const double t = dis__pair_tie(m, parameter);
    if (m->has_tie && !(t > m->ties->low)) return -INFINITY;
    for (size_t i = 0; i < m->cells->n; i++) {
        const dis__pair_cell *c = &m->cells->cell[i];
        const double weight = m->weight ? m->weight[c->worker] : 1;
        sum += weight * m->ties->value(dis__pair_predictor(m, i, parameter), t, c->n);
    }
    return sum - penalties(m, parameter);
}

/* Adds the second derivatives of cell i to the lower half of the Hessian. */
static void add_bend(const dis__pair_model *m, size_t i, const double bend[3], double *hessian, size_t n)
{
    const dis__pair_cell *c = &m->cells->cell[i];
    const size_t high = c->a > c->b ? c->a : c->b, low = c->a > c->b ? c->b : c->a, t = m->n_things;
    const size_t first = t + m->has_tie;
    const double r = m->reliability ? m->reliability[c->worker] : 1, *x = m->cells->x + i * m->n_x;
    hessian[high * n + high] += r * r * bend[0];
    hessian[low * n + low] += r * r * bend[0];
    hessian[high * n + low] -= r * r * bend[0];
    if (m->has_tie) {
        hessian[t * n + c->a] += r * bend[1];
        hessian[t * n + c->b] -= r * bend[1];
        hessian[t * n + t] += bend[2];
    }
    for (size_t j = 0; j < m->n_x; j++) {
        double *row = hessian + (first + j) * n;
        row[c->a] += r * bend[0] * x[j];
        row[c->b] -= r * bend[0] * x[j];
        if (m->has_tie) row[t] += bend[1] * x[j];
        for (size_t l = 0; l <= j; l++) row[first + l] += bend[0] * x[j] * x[l];
    }
}

double dis__pair_derive(const dis__pair_model *m, const double *parameter, dis__pair_space *space)
{
    const size_t n = space->n;
    const double t = dis__pair_tie(m, parameter);
    double sum = 0, tie_slope = 0;
    if (space->hessian) memset(space->hessian, 0, n * n * sizeof *space->hessian);
    for (size_t k = 0; k < n; k++) {
        space->slope[k] = -2 * m->penalty * parameter[k];
        if (space->hessian) space->hessian[k * n + k] = 2 * m->penalty;
    }
    for (size_t i = 0; i < m->cells->n; i++) {
        const dis__pair_cell *c = &m->cells->cell[i];
        const double weight = m->weight ? m->weight[c->worker] : 1;
        const dis__pair_likelihood d = m->ties->evaluate(dis__pair_predictor(m, i, parameter), t, c->n);
        double *bend = space->bend + 3 * i;
        bend[0] = weight * d.xx;
        bend[1] = weight * d.xt;
        bend[2] = weight * d.tt;
        sum += weight * d.value;
        tie_slope += weight * d.t;
        dis__pair_scatter(m, i, weight * d.x, space->slope);
        if (space->hessian) add_bend(m, i, bend, space->hessian, n);
    }
    if (m->has_tie) space->slope[m->n_things] += tie_slope;
    return sum - penalties(m, parameter);
}

/* Conjugate gradients solve more exactly as slopes become small: steps then converge faster than linearly. */
static double step_tolerance(const dis__pair_space *space)
{
    double most = 0;
    for (size_t k = 0; k < space->n; k++) most = fmax(most, fabs(space->slope[k]));
    return fmin(.05, fmax(1e-10, .1 * most));
}

/* One Newton step; the objective before it. */
static double step_parameters(const dis__pair_model *m, double *parameter, dis__pair_space *space)
{
    const double before = dis__pair_derive(m, parameter, space);
    double length = 1;
    const double tolerance = step_tolerance(space);
    dis__pair_factor(m, space);
    dis__pair_solve(m, space, space->slope, space->step, tolerance);
    for (int halving = 0; halving < MAX_HALVINGS; halving++, length /= 2) {
        for (size_t k = 0; k < space->n; k++) space->trial[k] = parameter[k] + length * space->step[k];
        if (!(dis__pair_objective(m, space->trial) >= before - 1e-12 * fabs(before))) continue;
        memcpy(parameter, space->trial, space->n * sizeof *parameter);
        break;
    }
    return before;
}

dis_status dis__pair_maximise(dis_context *ctx, const dis__pair_model *m, double *parameter, double tolerance,
                              int64_t max_iterations, dis__pair_space *space, int *iterations, bool *converged)
{
    double before = -INFINITY;
    *converged = false;
    for (int64_t n = 1; n <= max_iterations && !*converged; n++) {
        DIS_TRY(dis__check_stop(ctx));
        const double now = step_parameters(m, parameter, space);
        *converged = tolerance > 0 && fabs(now - before) <= tolerance * fabs(now);
        *iterations = (int)n;
        before = now;
    }
    return DIS_OK;
}

/* ---- parameters of annotators ---- */

/* One parameter of every annotator, with a prior N(mean, spread^2): the reliability or the side preference. */
typedef struct {
    double *value; /* (n_workers) */
    double mean, spread;
    bool scales_scores; /* a reliability: the predictor is value * (difference of scores) + rest */
} rater_parameter;

static double rater_prior(const rater_parameter *p, double value)
{
    const double z = (value - p->mean) / p->spread;
    return -.5 * z * z;
}

static double rater_value(const dis__pair_model *m, const uint64_t *start, size_t w, const double *parameter)
{
    double sum = 0;
    for (uint64_t i = start[w]; i < start[w + 1]; i++)
        sum += m->ties->value(dis__pair_predictor(m, i, parameter), dis__pair_tie(m, parameter), m->cells->cell[i].n);
    return sum;
}

static void step_rater(const dis__pair_model *m, const uint64_t *start, size_t w, const double *parameter,
                       rater_parameter *p)
{
    const double value = p->value[w], tau = 1 / (p->spread * p->spread);
    double before = rater_prior(p, value), slope = -tau * (value - p->mean), bend = tau;
    for (uint64_t i = start[w]; i < start[w + 1]; i++) {
        const dis__pair_cell *c = &m->cells->cell[i];
        const dis__pair_likelihood d =
            m->ties->evaluate(dis__pair_predictor(m, i, parameter), dis__pair_tie(m, parameter), c->n);
        const double by = p->scales_scores ? parameter[c->a] - parameter[c->b] : 1;
        before += d.value;
        slope += by * d.x;
        bend += by * by * d.xx;
    }
    double step = slope / bend;
    for (int halving = 0; halving < MAX_HALVINGS; halving++, step /= 2) {
        p->value[w] = value + step;
        if (rater_prior(p, p->value[w]) + rater_value(m, start, w, parameter) >= before - 1e-12 * fabs(before)) return;
    }
    p->value[w] = value;
}

static double rater_priors(const rater_parameter *p, size_t n_workers)
{
    double sum = 0;
    for (size_t w = 0; w < n_workers; w++) sum += rater_prior(p, p->value[w]);
    return sum;
}

dis_status dis__pairs_fit(dis__pairs *m, dis_scaled *out)
{
    const size_t n_workers = m->n_workers;
    dis__pair_space space;
    double before = -INFINITY;
    DIS_TRY(dis__pair_space_allocate(&m->model, m->model.cells->n, out, &space));
    if (!m->reliability && !m->side)
        return dis__pair_maximise(m->args->ctx, &m->model, m->parameter, m->o->tolerance, m->o->iterations, &space,
                                  &out->iterations, &out->converged);
    rater_parameter row[2];
    size_t n_rows = 0;
    if (m->reliability)
        row[n_rows++] =
            (rater_parameter){.value = m->reliability, .mean = 1, .spread = m->o->spread, .scales_scores = true};
    if (m->side) row[n_rows++] = (rater_parameter){.value = m->side, .spread = m->o->side_spread};
    for (size_t w = 0; w < n_workers && m->reliability; w++)
        m->reliability[w] = m->start && !isnan(m->start->reliability[w]) ? m->start->reliability[w] : 1;
    for (size_t w = 0; w < n_workers && m->side; w++)
        m->side[w] = m->start && !isnan(m->start->side[w]) ? m->start->side[w] : 0;
    out->converged = false;
    for (int64_t n = 1; n <= m->o->iterations && !out->converged; n++) {
        DIS_TRY(dis__check_stop(m->args->ctx));
        step_parameters(&m->model, m->parameter, &space);
        for (size_t r = 0; r < n_rows; r++)
            for (size_t w = 0; w < n_workers; w++) step_rater(&m->model, m->worker_start, w, m->parameter, &row[r]);
        double now = dis__pair_objective(&m->model, m->parameter);
        for (size_t r = 0; r < n_rows; r++) now += rater_priors(&row[r], n_workers);
        out->converged = m->o->tolerance > 0 && fabs(now - before) <= m->o->tolerance * fabs(now);
        out->iterations = (int)n;
        before = now;
    }
    return DIS_OK;
}
