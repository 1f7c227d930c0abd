/* The probability that a thing is preferred to another one in a task: soft targets for reward models.
 *
 * An item is a task and two things. Its preference differs from that of the scores by u:
 *
 *     predictor of a vote by annotator w:   r_w (slope d + u) + g_w + sum_j beta_j x_j,   u ~ N(0, sd^2)
 *
 * d is the difference of the two scores, from a fit without the votes on the item (FOLDS parts, cross-fitting): the
 * item's votes are used once. slope and sd are the same for all items and maximize the marginal likelihood of the
 * votes times weak priors. If every item has one vote, the prior decides. The target is the posterior mean of the
 * probability at slope d + u: no annotator, no position, no covariate. With few votes it is near that of the scores,
 * with many it is near the shares of votes.
 *
 * Integrals over u: adaptive Gauss-Hermite quadrature (Liu & Pierce 1994) around the mode, which Newton's method finds.
 *
 * Cost: FOLDS fits from the scores of all votes; some 50 passes over at most FIT_ITEMS items, one over all. */
#include "scaled/pairs/pairs.h"
#include "core/numbers/elementary.h"
#include "core/random/random.h"
#include "stats/golden_section.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 10, FIT_ITEMS = 20000, ROUNDS = 3, STEPS = 10, MODE_STEPS = 30, NODES = 9 };

/* Priors: slope ~ N(1, .5^2); log sd ~ N(log 1, 1), within these bounds. */
#define SLOPE_SD   .5
#define MAX_SLOPE  2
#define MIN_LOG_SD (-3.)
#define MAX_LOG_SD 1.8

/* Nodes z and weights w exp(z^2) of the Gauss-Hermite rule, from the middle outwards. */
static const double node[] = {0, .7235510187528376, 1.468553289216668, 2.266580584531843, 3.1909932017815277};
static const double weight[] = {.720235215606051, .730302452745092, .7646081250945508, .8417527014786694,
                                1.0470035809766831};

/* Votes of one annotator in one order on an item; the predictor is slope * along + rest + by * u. */
typedef struct {
    uint32_t task, low, high;
    uint32_t cell;
    double along, rest, by;
} item_vote;

typedef struct {
    const dis__pairs *m;
    const dis__pair_model *model;
    item_vote *vote; /* (n_votes) by item */
    uint64_t *start; /* (n_items + 1) */
    size_t n_votes, n_items, every;
    double *d, *u; /* (n_items) */
    double tie, slope, sd;
} items;

static int by_item(const void *a, const void *b)
{
    const item_vote *x = a, *y = b;
    if (x->task != y->task) return x->task < y->task ? -1 : 1;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static bool is_same_item(const item_vote *x, const item_vote *y)
{
    return x->task == y->task && x->low == y->low && x->high == y->high;
}

static dis_status list_items(items *x, dis_scaled *out)
{
    const dis__pair_cells *cells = &x->m->by_worker;
    DIS_TRY(dis__scaled_allocate(out, &x->vote, cells->n, sizeof *x->vote));
    for (size_t i = 0; i < cells->n; i++) {
        const dis__pair_cell *c = &cells->cell[i];
        const bool swap = c->a > c->b;
        const double r = x->m->reliability ? x->m->reliability[c->worker] : 1;
        x->vote[i] = (item_vote){.task = c->task,
                                 .low = swap ? c->b : c->a,
                                 .high = swap ? c->a : c->b,
                                 .cell = (uint32_t)i,
                                 .by = swap ? -r : r};
    }
    x->n_votes = cells->n;
    qsort(x->vote, x->n_votes, sizeof *x->vote, by_item);
    for (size_t i = 0; i < x->n_votes; i++) x->n_items += i == 0 || !is_same_item(&x->vote[i - 1], &x->vote[i]);
    DIS_TRY(dis__scaled_allocate(out, &x->start, x->n_items + 1, sizeof *x->start));
    DIS_TRY(dis__scaled_allocate(out, &x->d, 2 * x->n_items, sizeof *x->d));
    x->u = x->d + x->n_items;
    for (size_t i = 0, at = 0; i < x->n_votes; i++)
        if (i == 0 || !is_same_item(&x->vote[i - 1], &x->vote[i])) x->start[at++] = i;
    x->start[x->n_items] = x->n_votes;
    x->every = 1 + (x->n_items - 1) / FIT_ITEMS;
    return DIS_OK;
}

/* ---- scores without an item ---- */

static size_t fold_of(const items *x, size_t i)
{
    return (size_t)dis__random_below(x->m->args->o->seed, DIS_STREAM_PAIR_FOLDS, i, FOLDS);
}

/* The cells of the items outside a fold. */
static void copy_other_cells(const items *x, size_t fold, dis__pair_cells *to)
{
    const dis__pair_cells *from = &x->m->by_worker;
    const size_t n_x = x->model->n_x;
    to->n = 0;
    for (size_t i = 0; i < x->n_items; i++) {
        if (fold_of(x, i) == fold) continue;
        for (uint64_t v = x->start[i]; v < x->start[i + 1]; v++) {
            const size_t cell = x->vote[v].cell;
            memcpy(to->x + to->n * n_x, from->x + cell * n_x, n_x * sizeof *to->x);
            to->cell[to->n++] = from->cell[cell];
        }
    }
}

static void use_scores(items *x, size_t fold, const double *score)
{
    for (size_t i = 0; i < x->n_items; i++) {
        if (fold_of(x, i) != fold) continue;
        x->d[i] = score[x->vote[x->start[i]].low] - score[x->vote[x->start[i]].high];
        for (uint64_t v = x->start[i]; v < x->start[i + 1]; v++) {
            item_vote *to = &x->vote[v];
            to->along = to->by * x->d[i];
            to->rest = dis__pair_predictor(x->model, to->cell, score) - to->along;
        }
    }
}

static dis_status cross_fit(items *x, dis_scaled *out)
{
    const dis__pairs *m = x->m;
    const size_t n = dis__pair_n_parameters(x->model);
    dis__pair_cells others = {.n = 0};
    dis__pair_model model = *x->model;
    dis__pair_space space;
    double *parameter;
    int iterations;
    bool converged;
    DIS_TRY(dis__scaled_allocate(out, &others.cell, m->by_worker.n, sizeof *others.cell));
    DIS_TRY(dis__scaled_allocate(out, &others.x, dis__saturating_size(m->by_worker.n, model.n_x, 0), sizeof *others.x));
    DIS_TRY(dis__scaled_allocate(out, &parameter, n, sizeof *parameter));
    DIS_TRY(dis__pair_space_allocate(&model, m->by_worker.n, out, &space));
    model.cells = &others;
    for (size_t fold = 0; fold < FOLDS; fold++) {
        copy_other_cells(x, fold, &others);
        memcpy(parameter, m->parameter, n * sizeof *parameter);
        DIS_TRY(dis__pair_maximise(m->args->ctx, &model, parameter, m->o->tolerance, m->o->iterations, &space,
                                   &iterations, &converged));
        use_scores(x, fold, parameter);
    }
    return DIS_OK;
}

/* ---- the effect of an item ---- */

static double log_posterior(const items *x, size_t i, double u)
{
    double sum = -.5 * u * u / (x->sd * x->sd);
    for (uint64_t v = x->start[i]; v < x->start[i + 1]; v++) {
        const item_vote *t = &x->vote[v];
        const dis__pair_cell *c = &x->m->by_worker.cell[t->cell];
        sum += x->model->ties->value(x->slope * t->along + t->rest + t->by * u, x->tie, c->n);
    }
    return sum;
}

/* The mode of u and the standard deviation of a normal approximation there. */
static double find_mode(const items *x, size_t i, double *sd)
{
    double u = x->u[i], bend = 1;
    for (int step = 0; step < MODE_STEPS; step++) {
        double slope = -u / (x->sd * x->sd);
        bend = 1 / (x->sd * x->sd);
        for (uint64_t v = x->start[i]; v < x->start[i + 1]; v++) {
            const item_vote *t = &x->vote[v];
            const dis__pair_likelihood l = x->model->ties->evaluate(x->slope * t->along + t->rest + t->by * u, x->tie,
                                                                    x->m->by_worker.cell[t->cell].n);
            slope += t->by * l.x;
            bend += t->by * t->by * l.xx;
        }
        const double move = fmax(-2 * x->sd, fmin(2 * x->sd, slope / bend));
        u += move;
        if (fabs(move) < 1e-6) break;
    }
    *sd = 1 / sqrt(bend);
    return u;
}

/* The logarithm of the marginal likelihood of the votes on item i; *preference: of the thing with the lower number. */
static double integrate(const items *x, size_t i, double *preference)
{
    double scale, value[NODES], u[NODES], most = -INFINITY, sum = 0, preferred = 0;
    const double mode = x->u[i] = find_mode(x, i, &scale);
    for (int k = 0; k < NODES; k++) {
        const int half = abs(k - NODES / 2);
        u[k] = mode + (k < NODES / 2 ? -1 : 1) * sqrt(2) * scale * node[half];
        value[k] = log_posterior(x, i, u[k]);
        most = fmax(most, value[k]);
    }
    for (int k = 0; k < NODES; k++) {
        const double mass = weight[abs(k - NODES / 2)] * dis__exp(value[k] - most);
        sum += mass;
        if (preference) preferred += mass * dis__pair_preference(x->model->ties, x->slope * x->d[i] + u[k], x->tie);
    }
    if (preference) *preference = preferred / sum;
    return most + dis__log(sum * scale / (x->sd * sqrt(acos(-1))));
}

static double loss(items *x)
{
    const double z = (x->slope - 1) / SLOPE_SD, log_sd = dis__log(x->sd);
    double sum = .5 * z * z + .5 * log_sd * log_sd;
    for (size_t i = 0; i < x->n_items; i += x->every) sum -= integrate(x, i, NULL);
    return sum;
}

static double loss_at_slope(void *arg, double slope)
{
    items *x = arg;
    x->slope = slope;
    return loss(x);
}

static double loss_at_sd(void *arg, double log_sd)
{
    items *x = arg;
    x->sd = dis__exp(log_sd);
    return loss(x);
}

static void fit_effects(items *x)
{
    x->slope = x->sd = 1;
    for (int round = 0; round < ROUNDS; round++) {
        x->sd = dis__exp(dis__golden_section(loss_at_sd, x, MIN_LOG_SD, MAX_LOG_SD, STEPS));
        x->slope = dis__golden_section(loss_at_slope, x, 0, MAX_SLOPE, STEPS);
    }
}

/* ---- the table ---- */

/* Of each camp: by its scores alone. */
static void predict_camps(const items *x, double *const *to)
{
    const dis__pair_model *model = &x->m->plain;
    const size_t n = dis__pair_n_parameters(model);
    for (int64_t c = 0; c < x->m->o->camps; c++) {
        const double *parameter = x->m->camp_parameter + (size_t)c * n;
        for (size_t i = 0; i < x->n_items; i++) {
            const item_vote *v = &x->vote[x->start[i]];
            to[c][i] = dis__pair_preference(model->ties, parameter[v->low] - parameter[v->high],
                                            dis__pair_tie(model, parameter));
        }
    }
}

typedef struct {
    uint32_t *task, *a, *b;
    double *votes[3], *preference, *by_scores, *camp[DIS_PAIRS_MAX_CAMPS];
} columns;

static dis_status add_columns(const items *x, dis_scaled *out, columns *to)
{
    static const char *const camps[DIS_PAIRS_MAX_CAMPS] = {"p_a_camp_1", "p_a_camp_2", "p_a_camp_3", "p_a_camp_4",
                                                           "p_a_camp_5", "p_a_camp_6", "p_a_camp_7", "p_a_camp_8"};
    const size_t n = x->n_items, n_camps = x->m->camp_parameter ? (size_t)x->m->o->camps : 0;
    dis_scaled_column *c;
    DIS_TRY(dis__scaled_add_table(out, "preferences", "probability that a is preferred to b in a task", n, 8 + n_camps,
                                  &c));
    DIS_TRY(dis__scaled_allocate(out, &to->task, 3 * n, sizeof *to->task));
    to->a = to->task + n;
    to->b = to->a + n;
    c[0] = (dis_scaled_column){.name = "task", .names = x->m->tasks, .index = to->task};
    c[1] = (dis_scaled_column){.name = "a", .names = x->m->things, .index = to->a};
    c[2] = (dis_scaled_column){.name = "b", .names = x->m->things, .index = to->b};
    DIS_TRY(dis__scaled_init_column(out, &c[3], "for_a", n, &to->votes[0]));
    DIS_TRY(dis__scaled_init_column(out, &c[4], "for_b", n, &to->votes[1]));
    DIS_TRY(dis__scaled_init_column(out, &c[5], "ties", n, &to->votes[2]));
    DIS_TRY(dis__scaled_init_column(out, &c[6], "p_a", n, &to->preference));
    DIS_TRY(dis__scaled_init_column(out, &c[7], "p_a_scores", n, &to->by_scores));
    for (size_t k = 0; k < n_camps; k++) DIS_TRY(dis__scaled_init_column(out, &c[8 + k], camps[k], n, &to->camp[k]));
    return DIS_OK;
}

dis_status dis__pairs_add_preferences(dis__pairs *m, dis_scaled *out)
{
    if (!m->o->preferences) return DIS_OK;
    items x = {.m = m, .model = &m->model, .tie = dis__pair_tie(&m->model, m->parameter)};
    dis__pair_model by_worker = m->model;
    columns c = {.task = NULL};
    by_worker.cells = &m->by_worker;
    x.model = &by_worker;
    DIS_TRY(list_items(&x, out));
    DIS_TRY(cross_fit(&x, out));
    fit_effects(&x);
    DIS_TRY(add_columns(&x, out, &c));
    for (size_t i = 0; i < x.n_items; i++) {
        const item_vote *v = &x.vote[x.start[i]];
        c.task[i] = v->task;
        c.a[i] = v->low;
        c.b[i] = v->high;
        for (uint64_t k = x.start[i]; k < x.start[i + 1]; k++) {
            const dis__pair_cell *cell = &m->by_worker.cell[x.vote[k].cell];
            const bool swap = cell->a != v->low;
            c.votes[0][i] += cell->n[swap];
            c.votes[1][i] += cell->n[!swap];
            c.votes[2][i] += cell->n[2];
        }
        integrate(&x, i, &c.preference[i]);
        c.by_scores[i] = dis__pair_preference(by_worker.ties, x.slope * x.d[i], x.tie);
    }
    if (m->camp_parameter) predict_camps(&x, c.camp);
    dis__scaled_add_measure(out, "item_sd", "Standard deviation of preferences between items, in log-odds",
                            (dis_metric){.value = x.sd, .n = x.n_items});
    dis__scaled_add_measure(out, "score_slope", "Weight of the scores in a preference",
                            (dis_metric){.value = x.slope, .n = x.n_items});
    return DIS_OK;
}
