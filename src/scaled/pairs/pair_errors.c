/* Covariance of scores, tie parameter and coefficients, for new annotators and new tasks.
 *
 * Given the model, the covariance is H^-1, H being the negative Hessian. Votes of one annotator (or on one task) share
 * tastes: annotator w has scores s + u_w, u_w ~ N(0, tau^2) for each thing, and likewise a coefficient for each
 * covariate. With J_w the part of H that comes from the votes of w, the slopes of w then have the covariance
 * J_w + J_w T J_w, T = diag(tau^2), and the parameters
 *
 *     V = H^-1 (H + sum_w J_w T J_w + the same over tasks) H^-1.
 *
 * tau^2 is estimated by moments from the slopes U_w at the maximum, one for all scores and one per coefficient
 * (DerSimonian & Laird 1986 estimate between-study variance so):
 *
 *     tau^2 = sum_wk (U_wk^2 - J_wkk (1 - h_wk)) / sum_wk (1 - h_wk) sum_l J_wkl^2, at least 0,  h_wk = J_wkk / H_kk.
 *
 * 1 - h corrects for parameters that were fitted to the same votes. Intervals of coefficients take the degrees of
 * freedom of the number of annotators (Satterthwaite 1946).
 *
 * Above DIS_PAIRS_DENSE parameters, variances are estimated from DRAWS solutions of H x = z, z ~ N(0, H). For H^-1 the
 * estimate is 1 / H_kk plus the variance of the conditional mean of x_k (Siden et al. 2018), which leaves a few percent
 * of error at DRAWS 16. Cost: DRAWS linear systems; below, n^3 for n parameters. After an update of a saved fit, the
 * variance is that of the state, divided by the growth of H_kk. */
#include "scaled/pairs/pairs.h"
#include "core/random/random.h"
#include <math.h>
#include <string.h>

enum { DRAWS = 16 };

/* Cells by annotator or by task. */
typedef struct {
    size_t n, n_cells;
    uint64_t *start;                               /* (n + 1) */
    uint32_t *order;                               /* (n_cells) cells */
    double tau2[1 + DIS_PAIRS_MAX_COVARIATES + 1]; /* of scores, of coefficients */
    double *part;                                  /* (n_x) of the variances of coefficients */
    double score_part;                             /* of the sum of the variances of scores less their mean */
} clusters;

typedef struct {
    dis__pairs *m;
    dis__pair_model model; /* over cells of one annotator and task */
    const double *parameter;
    dis__pair_space space;
    double *slope_x;  /* (n_cells) first derivatives in the predictor */
    double *diagonal; /* (n) of H */
    uint32_t *local;  /* (n) index of a parameter within a cluster, plus 1 */
    uint32_t *member; /* (n) parameters of a cluster */
    double *part;     /* (size^2) J_w */
    size_t part_room;
    double *slopes, *bends, *squares; /* (n) of a cluster: U, J_kk, sum_l J_kl^2 over scores */
} work;

/* ---- clusters ---- */

static dis_status index_clusters(const dis__pairs *m, bool tasks, dis_scaled *out, clusters *c)
{
    const dis__pair_cells *cells = &m->by_worker;
    *c = (clusters){.n = tasks ? m->n_tasks : m->n_workers, .n_cells = cells->n};
    DIS_TRY(dis__scaled_allocate(out, &c->start, c->n + 2, sizeof *c->start));
    DIS_TRY(dis__scaled_allocate(out, &c->order, cells->n, sizeof *c->order));
    DIS_TRY(dis__scaled_allocate(out, &c->part, m->n_x, sizeof *c->part));
    for (size_t i = 0; i < cells->n; i++) c->start[(tasks ? cells->cell[i].task : cells->cell[i].worker) + 2]++;
    for (size_t g = 0; g < c->n; g++) c->start[g + 2] += c->start[g + 1];
    for (size_t i = 0; i < cells->n; i++)
        c->order[c->start[(tasks ? cells->cell[i].task : cells->cell[i].worker) + 1]++] = (uint32_t)i;
    return DIS_OK;
}

static size_t join(work *w, size_t k, size_t n_members)
{
    if (w->local[k]) return n_members;
    w->member[n_members] = (uint32_t)k;
    w->local[k] = (uint32_t)++n_members;
    return n_members;
}

/* Parameters that the votes of cluster g touch; scores come first in the order of cells. */
static size_t find_members(work *w, const clusters *c, size_t g)
{
    size_t n = 0;
    for (uint64_t i = c->start[g]; i < c->start[g + 1]; i++) {
        const dis__pair_cell *cell = &w->model.cells->cell[c->order[i]];
        n = join(w, cell->a, n);
        n = join(w, cell->b, n);
    }
    for (size_t k = w->model.n_things; k < w->space.n; k++) n = join(w, k, n);
    for (size_t i = 0; i < n; i++) {
        const size_t k = w->member[i];
        w->slopes[k] = w->bends[k] = w->squares[k] = 0;
    }
    return n;
}

static void clear_members(work *w, size_t n)
{
    for (size_t i = 0; i < n; i++) w->local[w->member[i]] = 0;
}

static dis_status reserve_part(work *w, size_t n)
{
    if (n * n > w->part_room) {
        dis__free(w->part);
        w->part = NULL;
        w->part_room = 0;
        DIS_TRY(dis__alloc_array(&w->part, n * n, sizeof *w->part));
        w->part_room = n * n;
    }
    memset(w->part, 0, n * n * sizeof *w->part);
    return DIS_OK;
}

/* The derivative of the predictor of cell i, as indices within the cluster and values; how many. */
static size_t list_design(const work *w, size_t i, size_t *index, double *value)
{
    const dis__pair_cell *c = &w->model.cells->cell[i];
    const double r = w->model.reliability ? w->model.reliability[c->worker] : 1;
    const size_t first = w->model.n_things + w->model.has_tie;
    index[0] = w->local[c->a] - 1;
    index[1] = w->local[c->b] - 1;
    value[0] = r;
    value[1] = -r;
    for (size_t j = 0; j < w->model.n_x; j++) {
        index[2 + j] = w->local[first + j] - 1;
        value[2 + j] = w->model.cells->x[i * w->model.n_x + j];
    }
    return 2 + w->model.n_x;
}

/* J_w of cluster g, (n, n). */
static dis_status make_part(work *w, const clusters *c, size_t g, size_t n)
{
    size_t index[2 + DIS_PAIRS_MAX_COVARIATES + 1];
    double value[2 + DIS_PAIRS_MAX_COVARIATES + 1];
    DIS_TRY(reserve_part(w, n));
    for (uint64_t i = c->start[g]; i < c->start[g + 1]; i++) {
        const double *bend = w->space.bend + 3 * c->order[i];
        const size_t n_design = list_design(w, c->order[i], index, value);
        for (size_t p = 0; p < n_design; p++)
            for (size_t q = 0; q < n_design; q++) w->part[index[p] * n + index[q]] += bend[0] * value[p] * value[q];
        if (!w->model.has_tie) continue;
        const size_t t = w->local[w->model.n_things] - 1;
        for (size_t p = 0; p < n_design; p++) {
            w->part[t * n + index[p]] += bend[1] * value[p];
            w->part[index[p] * n + t] += bend[1] * value[p];
        }
        w->part[t * n + t] += bend[2];
    }
    return DIS_OK;
}

/* U, J_kk and sum_l J_kl^2 of cluster g with n members. */
static dis_status sum_cluster(work *w, const clusters *c, size_t g, size_t n)
{
    size_t index[2 + DIS_PAIRS_MAX_COVARIATES + 1];
    double value[2 + DIS_PAIRS_MAX_COVARIATES + 1];
    const bool dense = n <= DIS_PAIRS_DENSE;
    if (dense) DIS_TRY(make_part(w, c, g, n));
    for (uint64_t i = c->start[g]; i < c->start[g + 1]; i++) {
        const double bend = w->space.bend[3 * c->order[i]];
        const size_t n_design = list_design(w, c->order[i], index, value);
        for (size_t p = 0; p < n_design; p++) {
            const size_t k = w->member[index[p]];
            w->slopes[k] += value[p] * w->slope_x[c->order[i]];
            w->bends[k] += value[p] * value[p] * bend;
            for (size_t q = 0; q < 2 && !dense; q++)
                if (p != q) w->squares[k] += bend * value[p] * value[q] * bend * value[p] * value[q];
        }
    }
    for (size_t p = 0; p < n; p++) {
        const size_t k = w->member[p];
        for (size_t q = 0; q < n && dense; q++)
            if (w->member[q] < w->model.n_things) w->squares[k] += w->part[p * n + q] * w->part[p * n + q];
        if (!dense && k < w->model.n_things) w->squares[k] += w->bends[k] * w->bends[k];
    }
    return DIS_OK;
}

/* Variances of scores and coefficients between clusters. */
static dis_status estimate_tau(work *w, clusters *c)
{
    const size_t first = w->model.n_things + w->model.has_tie, n_x = w->model.n_x;
    double over = 0, under = 0, over_x[DIS_PAIRS_MAX_COVARIATES + 1] = {0}, under_x[DIS_PAIRS_MAX_COVARIATES + 1] = {0},
           scores_x[DIS_PAIRS_MAX_COVARIATES + 1] = {0};
    for (size_t g = 0; g < c->n; g++) {
        const size_t n = find_members(w, c, g);
        const dis_status status = sum_cluster(w, c, g, n);
        for (size_t p = 0; p < n && status == DIS_OK; p++) {
            const size_t k = w->member[p];
            const double free_share = fmax(0, 1 - w->bends[k] / w->diagonal[k]);
            const double excess = w->slopes[k] * w->slopes[k] - w->bends[k] * free_share;
            if (k < w->model.n_things) {
                over += excess;
                under += free_share * w->squares[k];
            } else if (k >= first) {
                over_x[k - first] += excess;
                scores_x[k - first] += free_share * w->squares[k];
                under_x[k - first] += free_share * w->bends[k] * w->bends[k];
            }
        }
        clear_members(w, n);
        DIS_TRY(status);
    }
    c->tau2[0] = under > 0 ? fmax(0, over / under) : 0;
    for (size_t j = 0; j < n_x; j++)
        c->tau2[1 + j] = under_x[j] > 0 ? fmax(0, (over_x[j] - c->tau2[0] * scores_x[j]) / under_x[j]) : 0;
    return DIS_OK;
}

/* ---- dense ---- */

static double tau_of(const work *w, const clusters *c, size_t k)
{
    const size_t first = w->model.n_things + w->model.has_tie;
    return k < w->model.n_things ? c->tau2[0] : k < first ? 0 : c->tau2[1 + k - first];
}

/* Adds sum_w J_w T J_w to `sum` (n, n). */
static dis_status add_between(work *w, const clusters *c, double *sum)
{
    const size_t size = w->space.n;
    for (size_t g = 0; g < c->n; g++) {
        const size_t n = find_members(w, c, g);
        const dis_status status = make_part(w, c, g, n);
        for (size_t column = 0; column < n && status == DIS_OK; column++) {
            const double tau2 = tau_of(w, c, w->member[column]);
            if (!(tau2 > 0)) continue;
            for (size_t p = 0; p < n; p++) {
                const double x = tau2 * w->part[p * n + column];
                if (x == 0) continue;
                double *row = sum + (size_t)w->member[p] * size;
                for (size_t q = 0; q < n; q++) row[w->member[q]] += x * w->part[q * n + column];
            }
        }
        clear_members(w, n);
        DIS_TRY(status);
    }
    return DIS_OK;
}

/* out = a b, all (n, n) and symmetric a. */
static void multiply(const double *a, const double *b, double *out, size_t n)
{
    memset(out, 0, n * n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < n; l++) {
            const double x = a[i * n + l];
            if (x == 0) continue;
            for (size_t j = 0; j < n; j++) out[i * n + j] += x * b[l * n + j];
        }
}

/* The sum of the variances of scores less the mean of their component, from a covariance (n, n). */
static dis_status center_sum(const dis__pairs *m, const double *covariance, size_t n, double *sum)
{
    double *size;
    *sum = 0;
    DIS_TRY(dis__alloc_zeroed(&size, m->n_components, sizeof *size));
    for (size_t k = 0; k < m->n_things; k++) size[m->component[k]]++;
    for (size_t k = 0; k < m->n_things; k++) {
        *sum += covariance[k * n + k];
        for (size_t l = 0; l < m->n_things; l++)
            if (m->component[l] == m->component[k]) *sum -= covariance[k * n + l] / size[m->component[k]];
    }
    dis__free(size);
    return DIS_OK;
}

static dis_status add_clusters(work *w, clusters *c, const double *inverse, double *covariance, double *room)
{
    const size_t n = w->space.n, first = w->model.n_things + w->model.has_tie;
    bool any = false;
    for (size_t j = 0; j <= w->model.n_x; j++) any = any || c->tau2[j] > 0;
    if (!any) return DIS_OK;
    double *sum = room, *half = room + n * n, *product = half + n * n;
    memset(sum, 0, n * n * sizeof *sum);
    DIS_TRY(add_between(w, c, sum));
    multiply(inverse, sum, half, n);
    multiply(half, inverse, product, n);
    for (size_t i = 0; i < n * n; i++) covariance[i] += product[i];
    DIS_TRY(center_sum(w->m, product, n, &c->score_part));
    for (size_t j = 0; j < w->model.n_x; j++) c->part[j] = product[(first + j) * n + first + j];
    return DIS_OK;
}

static void invert(const double *factor, double *inverse, size_t n)
{
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t k = 0; k < n; k++) { /* row k of L^-1, kept in column form: solve for unit vectors */
        inverse[k * n + k] = 1;
        dis__cholesky_solve(factor, n, inverse + k * n);
    }
}

/* Variances of scores less the mean of their component. */
static dis_status center_variances(const dis__pairs *m, dis__pair_errors *e, size_t n)
{
    const size_t n_things = m->n_things;
    double *sum, *size, *total;
    DIS_TRY(dis__alloc_zeroed(&sum, 3 * n_things, sizeof *sum));
    size = sum + n_things;
    total = size + n_things; /* by component */
    for (size_t k = 0; k < n_things; k++) size[m->component[k]]++;
    for (size_t k = 0; k < n_things; k++) {
        for (size_t l = 0; l < n_things; l++)
            if (m->component[l] == m->component[k]) sum[k] += e->covariance[k * n + l];
        total[m->component[k]] += sum[k];
    }
    for (size_t k = 0; k < n; k++) {
        const double own = e->covariance[k * n + k];
        if (k >= n_things) {
            e->variance[k] = own;
            continue;
        }
        const double s = size[m->component[k]];
        e->variance[k] = fmax(0, own - 2 * sum[k] / s + total[m->component[k]] / (s * s));
    }
    dis__free(sum);
    return DIS_OK;
}

static dis_status compute_dense(work *w, clusters *group, size_t n_groups, dis_scaled *out, dis__pair_errors *to)
{
    const size_t n = w->space.n;
    double *inverse, *room;
    DIS_TRY(dis__scaled_allocate(out, &to->covariance, n * n, sizeof *to->covariance));
    dis__cholesky(w->space.hessian, n);
    DIS_TRY(dis__alloc_array(&inverse, 4 * n * n, sizeof *inverse));
    room = inverse + n * n;
    invert(w->space.hessian, inverse, n);
    memcpy(to->covariance, inverse, n * n * sizeof *inverse);
    dis_status status = DIS_OK;
    for (size_t g = 0; g < n_groups && status == DIS_OK; g++)
        status = add_clusters(w, &group[g], inverse, to->covariance, room);
    dis__free(inverse);
    DIS_TRY(status);
    return center_variances(w->m, to, n);
}

/* ---- draws ---- */

static double draw(const work *w, uint64_t use, uint64_t index)
{
    return dis__random_normal(w->m->args->o->seed, (uint64_t)DIS_STREAM_PAIR_ERRORS | use << 32, index);
}

/* z ~ N(0, H). */
static void draw_model(const work *w, uint64_t number, double *z)
{
    const uint64_t n_cells = w->model.cells->n;
    for (size_t k = 0; k < w->space.n; k++) z[k] = sqrt(2 * w->model.penalty) * draw(w, 3 * number, 2 * n_cells + k);
    double tie = 0;
    for (size_t i = 0; i < n_cells; i++) {
        const double *bend = w->space.bend + 3 * i, root = sqrt(bend[0]), first = draw(w, 3 * number, 2 * i);
        dis__pair_scatter(&w->model, i, root * first, z);
        if (!w->model.has_tie || !(root > 0)) continue;
        tie += bend[1] / root * first +
               sqrt(fmax(0, bend[2] - bend[1] * bend[1] / bend[0])) * draw(w, 3 * number, 2 * i + 1);
    }
    if (w->model.has_tie) z[w->model.n_things] += tie;
}

/* z ~ N(0, sum_w J_w T J_w); tastes are keyed by cluster and parameter. */
static void draw_between(const work *w, const clusters *c, uint64_t use, double *z)
{
    memset(z, 0, w->space.n * sizeof *z);
    const size_t n = w->space.n, first = w->model.n_things + w->model.has_tie;
    for (size_t g = 0; g < c->n; g++)
        for (uint64_t i = c->start[g]; i < c->start[g + 1]; i++) {
            const size_t at = c->order[i];
            const dis__pair_cell *cell = &w->model.cells->cell[at];
            const double r = w->model.reliability ? w->model.reliability[cell->worker] : 1;
            double along = 0;
            if (c->tau2[0] > 0)
                along = r * sqrt(c->tau2[0]) * (draw(w, use, g * n + cell->a) - draw(w, use, g * n + cell->b));
            for (size_t j = 0; j < w->model.n_x; j++)
                if (c->tau2[1 + j] > 0)
                    along += sqrt(c->tau2[1 + j]) * w->model.cells->x[at * w->model.n_x + j] *
                             draw(w, use, g * n + first + j);
            dis__pair_scatter(&w->model, at, w->space.bend[3 * at] * along, z);
        }
}

/* Subtracts the mean of each component. */
static void center(const dis__pairs *m, const double *size, double *mean, double *x)
{
    memset(mean, 0, m->n_components * sizeof *mean);
    for (size_t k = 0; k < m->n_things; k++) mean[m->component[k]] += x[k] / size[m->component[k]];
    for (size_t k = 0; k < m->n_things; k++) x[k] -= mean[m->component[k]];
}

/* The conditional mean of each parameter given the others: x less (H x)_k / H_kk. */
static void condition(work *w, const double *x, double *out)
{
    const dis__pair_model *m = &w->model;
    double tie_sum = 0;
    const double tie = m->has_tie ? x[m->n_things] : 0;
    for (size_t k = 0; k < w->space.n; k++) out[k] = 2 * m->penalty * x[k];
    for (size_t i = 0; i < m->cells->n; i++) {
        const double *bend = w->space.bend + 3 * i, along = dis__pair_project(m, i, x);
        dis__pair_scatter(m, i, bend[0] * along + bend[1] * tie, out);
        tie_sum += bend[1] * along + bend[2] * tie;
    }
    if (m->has_tie) out[m->n_things] += tie_sum;
    for (size_t k = 0; k < w->space.n; k++) out[k] = x[k] - out[k] / w->diagonal[k];
}

static dis_status compute_by_draws(work *w, clusters *group, size_t n_groups, dis_scaled *out, dis__pair_errors *to)
{
    const size_t n = w->space.n, first = w->model.n_things + w->model.has_tie;
    double *z, *x, *given, *size, *mean;
    DIS_TRY(dis__scaled_allocate(out, &z, 5 * n, sizeof *z));
    x = z + n, given = x + n, size = given + n, mean = size + n;
    for (size_t k = 0; k < w->m->n_things; k++) size[w->m->component[k]]++;
    for (uint64_t d = 0; d < DRAWS; d++) {
        DIS_TRY(dis__check_stop(w->m->args->ctx));
        draw_model(w, d, z);
        dis__pair_solve(&w->model, &w->space, z, x, 1e-4);
        condition(w, x, given);
        center(w->m, size, mean, x);
        for (size_t k = 0; k < n; k++) {
            const double value = k < w->m->n_things ? given[k] - mean[w->m->component[k]] : given[k];
            to->variance[k] += value * value / DRAWS;
        }
        for (size_t g = 0; g < n_groups; g++) {
            bool any = false;
            for (size_t j = 0; j <= w->model.n_x; j++) any = any || group[g].tau2[j] > 0;
            if (!any) continue;
            draw_between(w, &group[g], 3 * d + 1 + g, z);
            dis__pair_solve(&w->model, &w->space, z, x, 1e-4);
            center(w->m, size, mean, x);
            for (size_t k = 0; k < n; k++) to->variance[k] += x[k] * x[k] / DRAWS;
            for (size_t k = 0; k < w->m->n_things; k++) group[g].score_part += x[k] * x[k] / DRAWS;
            for (size_t j = 0; j < w->model.n_x; j++) group[g].part[j] += x[first + j] * x[first + j] / DRAWS;
        }
    }
    for (size_t k = 0; k < n; k++) to->variance[k] += 1 / w->diagonal[k];
    return DIS_OK;
}

/* ---- the call ---- */

static dis_status prepare(dis__pairs *m, const dis__pair_model *model, const double *parameter, dis_scaled *out,
                          work *w)
{
    *w = (work){.m = m, .model = *model, .parameter = parameter};
    w->model.cells = &m->by_worker;
    DIS_TRY(dis__pair_space_allocate(&w->model, m->by_worker.n, out, &w->space));
    DIS_TRY(dis__scaled_allocate(out, &w->slope_x, m->by_worker.n, sizeof *w->slope_x));
    DIS_TRY(dis__scaled_allocate(out, &w->diagonal, 4 * w->space.n, sizeof *w->diagonal));
    DIS_TRY(dis__scaled_allocate(out, &w->local, 2 * w->space.n, sizeof *w->local));
    w->member = w->local + w->space.n;
    w->slopes = w->diagonal + w->space.n;
    w->bends = w->slopes + w->space.n;
    w->squares = w->bends + w->space.n;
    dis__pair_derive(&w->model, parameter, &w->space);
    if (w->space.hessian) {
        for (size_t k = 0; k < w->space.n; k++) w->diagonal[k] = w->space.hessian[k * w->space.n + k];
    } else {
        dis__pair_factor(&w->model, &w->space);
        memcpy(w->diagonal, w->space.diagonal, w->space.n * sizeof *w->diagonal);
    }
    const double t = model->has_tie ? parameter[m->n_things] : 0;
    for (size_t i = 0; i < m->by_worker.n; i++) {
        const dis__pair_cell *c = &m->by_worker.cell[i];
        const double weight = model->weight ? model->weight[c->worker] : 1;
        w->slope_x[i] = weight * model->ties->evaluate(dis__pair_predictor(&w->model, i, parameter), t, c->n).x;
    }
    return DIS_OK;
}

dis_status dis__pair_errors_compute(dis__pairs *m, const dis__pair_model *model, const double *parameter,
                                    const double *scaled, dis_scaled *out, dis__pair_errors *to)
{
    work w;
    clusters group[2];
    size_t n_groups = 0;
    *to = (dis__pair_errors){.taste_sd = (double)NAN, .task_sd = (double)NAN};
    DIS_TRY(prepare(m, model, parameter, out, &w));
    DIS_TRY(dis__scaled_allocate(out, &to->variance, w.space.n, sizeof *to->variance));
    DIS_TRY(dis__scaled_allocate(out, &to->df, 2 * w.space.n, sizeof *to->df));
    to->information = to->df + w.space.n;
    memcpy(to->information, w.diagonal, w.space.n * sizeof *w.diagonal);
    dis_status status = DIS_OK;
    for (int tasks = 0; tasks < 2 && status == DIS_OK; tasks++) {
        if ((tasks ? m->n_tasks : m->n_workers) < 2) continue;
        status = index_clusters(m, tasks, out, &group[n_groups]);
        if (status == DIS_OK) status = estimate_tau(&w, &group[n_groups]);
        *(tasks ? &to->task_sd : &to->taste_sd) = sqrt(group[n_groups].tau2[0]);
        n_groups++;
    }
    if (status == DIS_OK && w.space.hessian)
        status = compute_dense(&w, group, n_groups, out, to);
    else if (status == DIS_OK && scaled)
        for (size_t k = 0; k < w.space.n; k++) to->variance[k] = scaled[k] / to->information[k];
    else if (status == DIS_OK)
        status = compute_by_draws(&w, group, n_groups, out, to);
    dis__free(w.part);
    DIS_TRY(status);
    const size_t first = w.model.n_things + w.model.has_tie;
    double total = 0, parts = 0;
    for (size_t k = 0; k < m->n_things; k++) total += to->variance[k];
    for (size_t g = 0; g < n_groups; g++)
        parts += group[g].score_part * group[g].score_part / fmax(1, (double)group[g].n - 1);
    to->score_df = parts > 0 ? total * total / parts : (double)INFINITY;
    for (size_t k = 0; k < w.space.n; k++) to->df[k] = INFINITY;
    for (size_t j = 0; j < w.model.n_x; j++) {
        double sum = 0;
        for (size_t g = 0; g < n_groups; g++)
            sum += group[g].part[j] * group[g].part[j] / fmax(1, (double)group[g].n - 1);
        if (sum > 0) to->df[first + j] = to->variance[first + j] * to->variance[first + j] / sum;
    }
    return DIS_OK;
}

double dis__pair_difference_error(const dis__pair_errors *e, size_t n, size_t k, size_t l)
{
    if (!e->covariance) return sqrt(e->variance[k] + e->variance[l]);
    return sqrt(fmax(0, e->covariance[k * n + k] + e->covariance[l * n + l] - 2 * e->covariance[k * n + l]));
}
