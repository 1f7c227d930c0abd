/* Linear systems with the negative Hessian of a model of comparisons: D' W D + 2 penalty I, D having a row per cell.
 *
 * Up to DIS_PAIRS_DENSE parameters by Cholesky, n^3 / 6. Above, conjugate gradients with the diagonal as preconditioner:
 * a product is a pass over the cells, and a graph that is well connected needs some tens of them. */
#include "scaled/pairs/pairs.h"
#include <math.h>
#include <string.h>

enum { MAX_PRODUCTS = 2000 };

void dis__cholesky(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double x = a[i * n + j];
            for (size_t l = 0; l < j; l++) x -= a[i * n + l] * a[j * n + l];
            a[i * n + j] = i > j ? x / a[j * n + j] : sqrt(x > 1e-300 ? x : 1e-300);
        }
}

void dis__cholesky_solve(const double *factor, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t l = 0; l < i; l++) x[i] -= factor[i * n + l] * x[l];
        x[i] /= factor[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        x[i] /= factor[i * n + i];
        for (size_t l = 0; l < i; l++) x[l] -= factor[i * n + l] * x[i];
    }
}

void dis__pair_factor(const dis__pair_model *m, dis__pair_space *space)
{
    const size_t n = space->n;
    if (space->hessian) {
        dis__cholesky(space->hessian, n);
        return;
    }
    for (size_t k = 0; k < n; k++) space->diagonal[k] = 2 * m->penalty;
    double *beta = space->diagonal + m->n_things + m->has_tie;
    for (size_t i = 0; i < m->cells->n; i++) {
        const dis__pair_cell *c = &m->cells->cell[i];
        const double r = m->reliability ? m->reliability[c->worker] : 1, *x = m->cells->x + i * m->n_x;
        const double *bend = space->bend + 3 * i;
        space->diagonal[c->a] += r * r * bend[0];
        space->diagonal[c->b] += r * r * bend[0];
        if (m->has_tie) space->diagonal[m->n_things] += bend[2];
        for (size_t j = 0; j < m->n_x; j++) beta[j] += x[j] * x[j] * bend[0];
    }
}

static void multiply(const dis__pair_model *m, const dis__pair_space *space, const double *v, double *out)
{
    for (size_t k = 0; k < space->n; k++) out[k] = 2 * m->penalty * v[k];
    const double tie = m->has_tie ? v[m->n_things] : 0;
    double tie_sum = 0;
    for (size_t i = 0; i < m->cells->n; i++) {
        const double *bend = space->bend + 3 * i, along = dis__pair_project(m, i, v);
        dis__pair_scatter(m, i, bend[0] * along + bend[1] * tie, out);
        tie_sum += bend[1] * along + bend[2] * tie;
    }
    if (m->has_tie) out[m->n_things] += tie_sum;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

void dis__pair_solve(const dis__pair_model *m, dis__pair_space *space, const double *b, double *x, double tolerance)
{
    const size_t n = space->n;
    if (space->hessian) {
        if (x != b) memcpy(x, b, n * sizeof *x);
        dis__cholesky_solve(space->hessian, n, x);
        return;
    }
    double *r = space->residual, *z = space->preconditioned, *p = space->direction, *q = space->product;
    memcpy(r, b, n * sizeof *r);
    memset(x, 0, n * sizeof *x);
    for (size_t k = 0; k < n; k++) p[k] = z[k] = r[k] / space->diagonal[k];
    double rz = dot(r, z, n);
    const double stop = tolerance * tolerance * rz;
    for (int i = 0; i < MAX_PRODUCTS && rz > stop && rz > 0; i++) {
        multiply(m, space, p, q);
        const double length = rz / dot(p, q, n);
        for (size_t k = 0; k < n; k++) {
            x[k] += length * p[k];
            r[k] -= length * q[k];
            z[k] = r[k] / space->diagonal[k];
        }
        const double next = dot(r, z, n), keep = next / rz;
        for (size_t k = 0; k < n; k++) p[k] = z[k] + keep * p[k];
        rz = next;
    }
}
