/* Camps of annotators with scores of their own: latent ones, and groups that the caller names.
 *
 * Latent camps: a mixture of C models. Annotator w is of camp c with probability pi_c; all votes of w follow the scores of
 * that camp. EM, the Newton steps of a camp being weighted by responsibilities; the best of `restarts` starts, which are
 * keyed by the votes of each annotator, so that names and the order of rows do not matter. C camps explain any votes better
 * than one, and annotators whose tastes vary without camps even more so. The gain in log-likelihood is therefore
 * compared with that of votes simulated from one camp with normal tastes (pair_errors.c): the p-value.
 *
 * Groups: a model for each group. The gain over one model for all is compared with that of random groups of the same
 * sizes: the p-value is valid however much annotators differ, as long as they do so independently of the groups.
 *
 * Cost: EM iterations x camps x a pass over the cells by annotator, times the replications. */
#include "core/numbers/elementary.h"
#include "scaled/pairs/pairs.h"
#include "dissent/worker_table.h"
#include "core/random/random.h"
#include "tool/arrays.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_RUN = 8, MAX_EM = 500, TEST_RESTARTS = 3, NEWTON_STEPS = 2, MAX_FIT = 50 };

typedef struct {
    const dis__pairs *m;
    dis__pair_model model; /* over cells by annotator */
    dis__pair_space space;
    size_t n_workers, n_camps, n; /* n: parameters of one camp */
    double *parameter, *best;     /* (n_camps, n) */
    double *share, *best_share;   /* (n_camps) */
    double *p, *best_p;           /* (n_camps, n_workers) responsibilities */
    uint64_t *key;                /* (n_workers) of their votes */
} mixture;

static double penalties(const mixture *x)
{
    double sum = 0;
    for (size_t i = 0; i < x->n_camps * x->n; i++) sum += x->parameter[i] * x->parameter[i];
    return x->model.penalty * sum;
}

/* Responsibilities; the objective. */
static double expect(mixture *x)
{
    double sum = 0;
    for (size_t w = 0; w < x->n_workers; w++) {
        double most = -INFINITY, total = 0, value[DIS_PAIRS_MAX_CAMPS];
        for (size_t c = 0; c < x->n_camps; c++) {
            const double *parameter = x->parameter + c * x->n;
            value[c] = dis__log(x->share[c]);
            for (uint64_t i = x->m->worker_start[w]; i < x->m->worker_start[w + 1]; i++)
                value[c] += x->model.ties->value(dis__pair_predictor(&x->model, i, parameter),
                                                 dis__pair_tie(&x->model, parameter), x->model.cells->cell[i].n);
            most = fmax(most, value[c]);
        }
        for (size_t c = 0; c < x->n_camps; c++) total += dis__exp(value[c] - most);
        for (size_t c = 0; c < x->n_camps; c++) x->p[c * x->n_workers + w] = dis__exp(value[c] - most) / total;
        sum += most + dis__log(total);
    }
    return sum - penalties(x);
}

static dis_status maximise(mixture *x)
{
    int iterations;
    bool converged;
    for (size_t c = 0; c < x->n_camps; c++) {
        double sum = 0;
        x->model.weight = x->p + c * x->n_workers;
        for (size_t w = 0; w < x->n_workers; w++) sum += x->model.weight[w];
        x->share[c] = fmax(sum / (double)x->n_workers, 1e-12);
        DIS_TRY(dis__pair_maximise(x->m->args->ctx, &x->model, x->parameter + c * x->n, 1e-12, NEWTON_STEPS, &x->space,
                                   &iterations, &converged));
    }
    x->model.weight = NULL;
    return DIS_OK;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
    x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
    return x ^ x >> 33;
}

/* Depends on the votes of an annotator, in whatever order. */
static void find_keys(mixture *x)
{
    for (size_t w = 0; w < x->n_workers; w++) {
        x->key[w] = 0;
        for (uint64_t i = x->m->worker_start[w]; i < x->m->worker_start[w + 1]; i++) {
            const dis__pair_cell *c = &x->model.cells->cell[i];
            for (int k = 0; k < 3; k++)
                x->key[w] += (uint64_t)c->n[k] * mix(((uint64_t)c->a << 32 | c->b) * 3 + (uint64_t)k + 1);
        }
    }
}

/* Nine tenths of each annotator in a random camp. */
static void start_at_random(mixture *x, uint64_t use)
{
    const uint64_t stream = (uint64_t)DIS_STREAM_PAIR_CAMPS | use << 32;
    for (size_t w = 0; w < x->n_workers; w++) {
        const size_t camp = (size_t)dis__random_below(x->m->args->o->seed, stream, x->key[w], x->n_camps);
        for (size_t c = 0; c < x->n_camps; c++)
            x->p[c * x->n_workers + w] = c == camp ? .9 : .1 / (double)(x->n_camps - 1);
    }
}

static dis_status run_em(mixture *x, int max_iterations, double *objective)
{
    double before = -INFINITY;
    for (int i = 0; i < max_iterations; i++) {
        DIS_TRY(maximise(x));
        *objective = expect(x);
        if (fabs(*objective - before) <= 1e-10 * fabs(*objective)) break;
        before = *objective;
    }
    return DIS_OK;
}

static void copy_fit(const mixture *x, double *parameter, const double *from, double *share, const double *from_share,
                     double *p, const double *from_p)
{
    memcpy(parameter, from, x->n_camps * x->n * sizeof *parameter);
    memcpy(share, from_share, x->n_camps * sizeof *share);
    memcpy(p, from_p, x->n_camps * x->n_workers * sizeof *p);
}

/* The best of several starts from the parameters of one camp; *objective of it. */
static dis_status fit_camps(mixture *x, const double *one, size_t restarts, uint64_t use, double *objective)
{
    double most = -INFINITY, value;
    find_keys(x);
    for (size_t r = 0; r < restarts; r++) {
        for (size_t c = 0; c < x->n_camps; c++) memcpy(x->parameter + c * x->n, one, x->n * sizeof *one);
        start_at_random(x, use * 1000 + r);
        DIS_TRY(run_em(x, SHORT_RUN, &value));
        if (!(value > most)) continue;
        most = value;
        copy_fit(x, x->best, x->parameter, x->best_share, x->share, x->best_p, x->p);
    }
    copy_fit(x, x->parameter, x->best, x->share, x->best_share, x->p, x->best_p);
    return run_em(x, MAX_EM, objective);
}

static dis_status fit_one(mixture *x, double *one, double *objective)
{
    int iterations;
    bool converged;
    x->model.weight = NULL;
    DIS_TRY(dis__pair_maximise(x->m->args->ctx, &x->model, one, 1e-10, MAX_FIT, &x->space, &iterations, &converged));
    *objective = dis__pair_objective(&x->model, one);
    return DIS_OK;
}

/* ---- the test ---- */

/* Votes of one camp with normal tastes, in the cells of `to`. */
static void simulate(const dis__pairs *m, uint64_t number, double taste_sd, dis__pair_cell *to)
{
    const uint64_t seed = m->args->o->seed, stream = (uint64_t)DIS_STREAM_PAIR_CAMPS | (1u + number) << 32;
    const dis__pair_cells *cells = &m->by_worker;
    dis__pair_model model = m->plain;
    model.cells = cells;
    const uint64_t tastes = 1u << 30;
    for (size_t i = 0; i < cells->n; i++) {
        const dis__pair_cell *c = &cells->cell[i];
        const uint64_t of_worker = tastes + (uint64_t)c->worker * m->n_things;
        const double taste = taste_sd > 0 ? taste_sd * (dis__random_normal(seed, stream, of_worker + c->a) -
                                                        dis__random_normal(seed, stream, of_worker + c->b))
                                          : 0;
        double p[3];
        model.ties->predict(dis__pair_predictor(&model, i, m->plain_parameter) + taste,
                            dis__pair_tie(&model, m->plain_parameter), p);
        const double ties = model.ties->has_parameter ? 0 : c->n[2]; /* halves: ties stay */
        const size_t n = (size_t)(c->n[0] + c->n[1] + c->n[2] - ties);
        to[i] = *c;
        to[i].n[0] = to[i].n[1] = 0;
        to[i].n[2] = ties;
        for (size_t k = 0; k < n; k++) {
            const double u = dis__random_uniform(seed, stream ^ 1u << 31, (uint64_t)i << 20 | k);
            to[i].n[u < p[0] ? 0 : u < p[0] + p[1] ? 1 : 2]++;
        }
    }
}

static dis_status test_camps(dis__pairs *m, const mixture *found, double gain, dis_scaled *out, double *p)
{
    mixture x = *found;
    dis__pair_cells cells = {.n = m->by_worker.n, .x = m->by_worker.x};
    double *one, objective, camps;
    size_t more = 0;
    DIS_TRY(dis__scaled_allocate(out, &cells.cell, cells.n, sizeof *cells.cell));
    DIS_TRY(dis__scaled_allocate(out, &one, x.n, sizeof *one));
    DIS_TRY(dis__scaled_allocate(out, &x.parameter, x.n_camps * x.n, sizeof *x.parameter));
    DIS_TRY(dis__scaled_allocate(out, &x.share, x.n_camps, sizeof *x.share));
    DIS_TRY(dis__scaled_allocate(out, &x.p, x.n_camps * x.n_workers, sizeof *x.p));
    x.model.cells = &cells;
    const double taste = isnan(m->plain_errors.taste_sd) ? 0 : m->plain_errors.taste_sd;
    const size_t n = (size_t)m->o->permutations;
    for (size_t r = 0; r < n; r++) {
        simulate(m, r, taste, cells.cell);
        memcpy(one, m->plain_parameter, x.n * sizeof *one);
        DIS_TRY(fit_one(&x, one, &objective));
        DIS_TRY(fit_camps(&x, one, TEST_RESTARTS, 2 + r, &camps));
        more += camps - objective >= gain;
    }
    *p = (double)(1 + more) / (double)(n + 1);
    return DIS_OK;
}

/* ---- tables ---- */

/* Camps by their share, the largest first. */
static void order_camps(const mixture *x, size_t *order)
{
    for (size_t c = 0; c < x->n_camps; c++) {
        size_t at = c;
        for (; at > 0 && x->share[order[at - 1]] < x->share[c]; at--) order[at] = order[at - 1];
        order[at] = c;
    }
}

static dis_status add_table(dis__pairs *m, const mixture *x, const size_t *order, dis_scaled *out)
{
    const size_t n = m->n_things, n_rows = n * x->n_camps;
    dis_scaled_column *c;
    uint32_t *thing;
    double *camp, *share, *score, *rank, *key;
    DIS_TRY(dis__scaled_add_table(out, "camps", "scores of each camp of annotators, the largest camp first", n_rows, 5,
                                  &c));
    DIS_TRY(dis__scaled_allocate(out, &thing, n_rows, sizeof *thing));
    DIS_TRY(dis__scaled_allocate(out, &key, n_rows, sizeof *key));
    DIS_TRY(dis__scaled_init_column(out, &c[1], "camp", n_rows, &camp));
    DIS_TRY(dis__scaled_init_column(out, &c[2], "share", n_rows, &share));
    DIS_TRY(dis__scaled_init_column(out, &c[3], "score", n_rows, &score));
    DIS_TRY(dis__scaled_init_column(out, &c[4], "rank", n_rows, &rank));
    c[0] = (dis_scaled_column){.name = "thing", .names = m->things, .index = thing};
    for (size_t i = 0; i < x->n_camps; i++) {
        const size_t from = i * n;
        DIS_TRY(dis__pairs_center(m, x->parameter + order[i] * x->n, out, score + from, rank + from));
        for (size_t k = 0; k < n; k++) {
            thing[from + k] = (uint32_t)k;
            camp[from + k] = (double)i + 1;
            share[from + k] = x->share[order[i]];
            key[from + k] =
                -(((double)i * (double)m->n_components + (double)m->component[k]) * (double)(n + 1) + rank[from + k]);
        }
    }
    return dis__scaled_sort_table(out, &out->table[out->n_tables - 1], key);
}

static dis_status allocate(mixture *x, dis_scaled *out)
{
    const size_t n = x->n_camps * x->n, n_p = x->n_camps * x->n_workers;
    DIS_TRY(dis__pair_space_allocate(&x->model, x->model.cells->n, out, &x->space));
    DIS_TRY(dis__scaled_allocate(out, &x->parameter, n, sizeof *x->parameter));
    DIS_TRY(dis__scaled_allocate(out, &x->best, n, sizeof *x->best));
    DIS_TRY(dis__scaled_allocate(out, &x->share, x->n_camps, sizeof *x->share));
    DIS_TRY(dis__scaled_allocate(out, &x->best_share, x->n_camps, sizeof *x->best_share));
    DIS_TRY(dis__scaled_allocate(out, &x->p, n_p, sizeof *x->p));
    DIS_TRY(dis__scaled_allocate(out, &x->best_p, n_p, sizeof *x->best_p));
    return dis__scaled_allocate(out, &x->key, x->n_workers, sizeof *x->key);
}

dis_status dis__pairs_add_camps(dis__pairs *m, dis_scaled *out)
{
    mixture x = {.m = m, .model = m->plain, .n_camps = (size_t)m->o->camps, .n_workers = m->n_workers};
    size_t order[DIS_PAIRS_MAX_CAMPS];
    double *one, objective, camps, p = (double)NAN;
    if (x.n_camps < 2) return DIS_OK;
    if (x.n_workers < 2 * x.n_camps)
        return dis__fail(DIS_EDATA, "%zu camps need at least %zu annotators, and there are %zu", x.n_camps,
                         2 * x.n_camps, x.n_workers);
    x.model.cells = &m->by_worker;
    x.n = dis__pair_n_parameters(&x.model);
    DIS_TRY(allocate(&x, out));
    DIS_TRY(dis__scaled_allocate(out, &one, x.n, sizeof *one));
    memcpy(one, m->plain_parameter, x.n * sizeof *one);
    DIS_TRY(fit_one(&x, one, &objective));
    DIS_TRY(fit_camps(&x, one, (size_t)m->o->restarts, 0, &camps));
    order_camps(&x, order);
    DIS_TRY(add_table(m, &x, order, out));
    DIS_TRY(dis__scaled_allocate(out, &m->camp_parameter, x.n_camps * x.n, sizeof *m->camp_parameter));
    for (size_t c = 0; c < x.n_camps; c++)
        memcpy(m->camp_parameter + c * x.n, x.parameter + order[c] * x.n, x.n * sizeof *x.parameter);
    DIS_TRY(dis__scaled_allocate(out, &m->camp, 2 * x.n_workers, sizeof *m->camp));
    m->p_camp = m->camp + x.n_workers;
    for (size_t w = 0; w < x.n_workers; w++)
        for (size_t i = 0; i < x.n_camps; i++) {
            const double own = x.p[order[i] * x.n_workers + w];
            if (!(own > m->p_camp[w])) continue;
            m->p_camp[w] = own;
            m->camp[w] = (double)i + 1;
        }
    if (m->o->permutations > 0) DIS_TRY(test_camps(m, &x, camps - objective, out, &p));
    dis__scaled_add_measure(out, "camps_gain", "Gain in log-likelihood by camps",
                            (dis_metric){.value = camps - objective, .n = x.n_workers});
    dis__scaled_add_measure(out, "camps_p", "p-value: one camp with tastes explains the votes",
                            isnan(p) ? dis__metric_undefined("permutations=0")
                                     : (dis_metric){.value = p, .n = x.n_workers});
    if (!isnan(p) && p > .05)
        dis__scaled_add_note(out, "the votes are no evidence of %zu camps (p = %.2g): do not interpret the table camps",
                             x.n_camps, p);
    return DIS_OK;
}

/* ---- groups ---- */

typedef struct {
    dis__pairs *m;
    dis__pair_model model;
    dis__pair_space space;
    size_t n_groups, n_workers, n;
    double *weight, *parameter; /* (n_workers), (n_groups, n) */
} group_fits;

/* A model for each group; the sum of their objectives. */
static dis_status fit_groups(group_fits *x, const int32_t *group, double *objective)
{
    int iterations;
    bool converged;
    *objective = 0;
    for (size_t g = 0; g < x->n_groups; g++) {
        double *parameter = x->parameter + g * x->n;
        for (size_t w = 0; w < x->n_workers; w++) x->weight[w] = group[w] == (int32_t)g;
        memcpy(parameter, x->m->plain_parameter, x->n * sizeof *parameter);
        x->model.weight = x->weight;
        DIS_TRY(dis__pair_maximise(x->m->args->ctx, &x->model, parameter, 1e-10, MAX_FIT, &x->space, &iterations,
                                   &converged));
        *objective += dis__pair_objective(&x->model, parameter);
    }
    return DIS_OK;
}

static dis_status test_groups(group_fits *x, const int32_t *group, double found, dis_scaled *out, double *p)
{
    const uint64_t seed = x->m->args->o->seed;
    int32_t *shuffled;
    uint32_t *member;
    size_t n_members = 0, more = 0;
    const size_t n = (size_t)x->m->o->permutations;
    double value;
    DIS_TRY(dis__scaled_allocate(out, &shuffled, x->n_workers, sizeof *shuffled));
    DIS_TRY(dis__scaled_allocate(out, &member, x->n_workers, sizeof *member));
    for (size_t w = 0; w < x->n_workers; w++) {
        shuffled[w] = group[w];
        if (group[w] >= 0) member[n_members++] = (uint32_t)w;
    }
    for (size_t r = 0; r < n; r++) {
        for (size_t i = n_members; i > 1; i--) {
            const size_t j =
                (size_t)dis__random_below(seed, (uint64_t)DIS_STREAM_PAIR_GROUPS | (uint64_t)r << 32, i, i);
            const int32_t one = shuffled[member[i - 1]];
            shuffled[member[i - 1]] = shuffled[member[j]];
            shuffled[member[j]] = one;
        }
        DIS_TRY(fit_groups(x, shuffled, &value));
        more += value >= found - 1e-9 * fabs(found);
    }
    *p = (double)(1 + more) / (double)(n + 1);
    return DIS_OK;
}

static dis_status add_group_table(group_fits *x, const dis_worker_groups_view *groups, dis_scaled *out)
{
    const size_t n = x->m->n_things, n_rows = n * x->n_groups;
    dis_scaled_column *c;
    uint32_t *thing, *group;
    double *score, *se, *rank, *key;
    const char **names;
    DIS_TRY(dis__scaled_add_table(out, "groups", "scores of each group of annotators", n_rows, 5, &c));
    DIS_TRY(dis__scaled_allocate(out, &thing, 2 * n_rows, sizeof *thing));
    DIS_TRY(dis__scaled_allocate(out, &key, n_rows, sizeof *key));
    DIS_TRY(dis__scaled_allocate(out, &names, x->n_groups, sizeof *names));
    group = thing + n_rows;
    c[0] = (dis_scaled_column){.name = "thing", .names = x->m->things, .index = thing};
    c[1] = (dis_scaled_column){.name = "group", .index = group};
    DIS_TRY(dis__scaled_init_column(out, &c[2], "score", n_rows, &score));
    DIS_TRY(dis__scaled_init_column(out, &c[3], "se", n_rows, &se));
    DIS_TRY(dis__scaled_init_column(out, &c[4], "rank", n_rows, &rank));
    for (size_t g = 0; g < x->n_groups; g++) names[g] = dis_names_get(groups->names, g, NULL);
    DIS_TRY(dis__scaled_add_names(out, names, x->n_groups, &c[1].names));
    for (size_t g = 0; g < x->n_groups; g++) {
        const size_t from = g * n;
        dis__pair_errors errors;
        for (size_t w = 0; w < x->n_workers; w++) x->weight[w] = groups->group[w] == (int32_t)g;
        x->model.weight = x->weight;
        DIS_TRY(dis__pair_errors_compute(x->m, &x->model, x->parameter + g * x->n, NULL, out, &errors));
        DIS_TRY(dis__pairs_center(x->m, x->parameter + g * x->n, out, score + from, rank + from));
        for (size_t k = 0; k < n; k++) {
            thing[from + k] = (uint32_t)k;
            group[from + k] = (uint32_t)g;
            se[from + k] = sqrt(errors.variance[k]);
            key[from + k] = -(((double)g * (double)x->m->n_components + (double)x->m->component[k]) * (double)(n + 1) +
                              rank[from + k]);
        }
    }
    return dis__scaled_sort_table(out, &out->table[out->n_tables - 1], key);
}

dis_status dis__pairs_add_groups(dis__pairs *m, dis_scaled *out)
{
    if (!m->args->o->groups) return DIS_OK;
    const dis_worker_groups_view groups = dis_worker_groups_get_view(m->args->o->groups);
    group_fits x = {.m = m, .model = m->plain, .n_groups = groups.n_groups, .n_workers = m->n_workers};
    double *found, objective, p = (double)NAN;
    if (groups.n_workers != x.n_workers)
        return dis__fail(DIS_EUSAGE, "the groups are of %zu annotators, and the votes of %zu", groups.n_workers,
                         x.n_workers);
    x.model.cells = &m->by_worker;
    x.n = dis__pair_n_parameters(&x.model);
    DIS_TRY(dis__pair_space_allocate(&x.model, x.model.cells->n, out, &x.space));
    DIS_TRY(dis__scaled_allocate(out, &x.weight, x.n_workers, sizeof *x.weight));
    DIS_TRY(dis__scaled_allocate(out, &found, x.n_groups * x.n, sizeof *found));
    x.parameter = found;
    DIS_TRY(fit_groups(&x, groups.group, &objective));
    DIS_TRY(add_group_table(&x, &groups, out));
    if (m->o->permutations > 0 && x.n_groups > 1) DIS_TRY(test_groups(&x, groups.group, objective, out, &p));
    dis__scaled_add_measure(out, "groups_p", "p-value: groups of annotators have the same scores",
                            isnan(p) ? dis__metric_undefined(x.n_groups > 1 ? "permutations=0" : "only one group")
                                     : (dis_metric){.value = p, .n = x.n_workers});
    return DIS_OK;
}
