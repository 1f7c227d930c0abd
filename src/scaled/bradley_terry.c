/* Comparisons of two things: scores by the model of Bradley and Terry (1952) with the reliability of raters.
 *
 *     P(a is preferred to b by rater w) = 1 / (1 + exp(-r_w (s_a - s_b)))
 *
 * Scores s have a penalty `penalty` s^2 (choix' alpha), reliabilities a prior N(1, spread^2): 0 is a rater who says
 * nothing, below 0 one who says the opposite (Chen et al. 2013 have raters who do). A tie counts as half a comparison
 * each way. reliability=no is the plain model, all r_w = 1.
 *
 * Newton's method for all scores at once (dense, at most MAX_THINGS of them), halved until it does not lose; then one
 * for each r_w, which is concave given the scores; in turn until the objective settles. Standard errors come from the
 * inverse of the negative Hessian, for scores less their mean; scores sum to 0. Comparisons that do not connect all
 * things make groups: scores, their errors and ranks are then those within a group.
 *
 * Agreement: the share of pairs of raters who say the same of the same two things (of one task), in whatever order they
 * saw them, and alpha of that; of raters who saw two things in both orders, the share that kept to their opinion; how
 * often the first of two is preferred.
 *
 * Cost: an iteration is a pass over the comparisons and n^3 / 3 for n things. */
#include "scaled/pairs.h"
#include <math.h>
#include <string.h>

static const dis_option options[] = {
    {.key = "reliability",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(dis__pairs_options, reliability),
     .default_value = "yes",
     .choices = "no|yes",
     .summary = "estimate a reliability per annotator"},
    {.key = "penalty",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__pairs_options, penalty),
     .default_value = ".01",
     .low = 1e-9,
     .high = 1e6,
     .summary = "penalty on squared scores; keeps scores of candidates that always win finite"},
    {.key = "spread",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__pairs_options, spread),
     .default_value = ".5",
     .low = 1e-3,
     .high = 100,
     .summary = "prior standard deviation of reliabilities around 1"},
    {.key = "iterations",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(dis__pairs_options, iterations),
     .default_value = "200",
     .low = 1,
     .high = 1e9,
     .summary = "maximum number of iterations"},
    {.key = "tolerance",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__pairs_options, tolerance),
     .default_value = "1e-10",
     .low = 0,
     .high = 1,
     .summary = "stop when the relative change of the objective is smaller; 0: never"},
};

enum { MAX_THINGS = 2000, MAX_HALVINGS = 40 };

static double log_sigma(double x)
{
    return x >= 0 ? -log1p(exp(-x)) : x - log1p(exp(x));
}

/* Log-likelihood of a comparison at x = r (s_a - s_b). */
static double log_chance(const dis__comparison *c, double x)
{
    return c->verdict == DIS_PAIR_FIRST    ? log_sigma(x)
           : c->verdict == DIS_PAIR_SECOND ? log_sigma(-x)
                                           : .5 * (log_sigma(x) + log_sigma(-x));
}

static double objective(const dis__pairs *m, const double *score)
{
    double sum = 0;
    for (size_t i = 0; i < m->n; i++) {
        const dis__comparison *c = &m->c[i];
        sum += log_chance(c, m->reliability[c->worker] * (score[c->a] - score[c->b]));
    }
    for (size_t k = 0; k < m->n_things; k++) sum -= m->o->penalty * score[k] * score[k];
    for (size_t w = 0; w < m->args->view.n_workers; w++) {
        const double z = (m->reliability[w] - 1) / m->o->spread;
        sum -= .5 * z * z;
    }
    return sum;
}

/* Slopes, and the negative Hessian (lower half), of the scores. */
static void derive(const dis__pairs *m)
{
    const size_t n = m->n_things;
    memset(m->hessian, 0, n * n * sizeof *m->hessian);
    for (size_t k = 0; k < n; k++) {
        m->slope[k] = -2 * m->o->penalty * m->score[k];
        m->hessian[k * n + k] = 2 * m->o->penalty;
    }
    for (size_t i = 0; i < m->n; i++) {
        const dis__comparison *c = &m->c[i];
        const double r = m->reliability[c->worker], p = 1 / (1 + exp(-r * (m->score[c->a] - m->score[c->b])));
        const double won = dis__comparison_outcome(c), bend = r * r * p * (1 - p);
        if (c->a == c->b) continue;
        m->slope[c->a] += r * (won - p);
        m->slope[c->b] -= r * (won - p);
        m->hessian[c->a * n + c->a] += bend;
        m->hessian[c->b * n + c->b] += bend;
        m->hessian[(c->a > c->b ? c->a * n + c->b : c->b * n + c->a)] -= bend;
    }
}

/* Cholesky in place, lower half. */
static void factor(double *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double x = h[i * n + j];
            for (size_t l = 0; l < j; l++) x -= h[i * n + l] * h[j * n + l];
            h[i * n + j] = i > j ? x / h[j * n + j] : sqrt(x > 1e-300 ? x : 1e-300);
        }
}

static void solve(const double *h, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t l = 0; l < i; l++) x[i] -= h[i * n + l] * x[l];
        x[i] /= h[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t l = i + 1; l < n; l++) x[i] -= h[l * n + i] * x[l];
        x[i] /= h[i * n + i];
    }
}

static void step_scores(const dis__pairs *m)
{
    const size_t n = m->n_things;
    const double before = objective(m, m->score);
    double length = 1;
    derive(m);
    factor(m->hessian, n);
    solve(m->hessian, n, m->slope);
    for (int halving = 0; halving < MAX_HALVINGS; halving++, length /= 2) {
        for (size_t k = 0; k < n; k++) m->trial[k] = m->score[k] + length * m->slope[k];
        if (!(objective(m, m->trial) >= before - 1e-12 * fabs(before))) continue;
        memcpy(m->score, m->trial, n * sizeof *m->score);
        return;
    }
}

/* One Newton step of every reliability, halved until the worker's own part does not lose. */
static dis_status step_raters(const dis__pairs *m, const uint64_t *start, const uint32_t *of)
{
    const double tau = 1 / (m->o->spread * m->o->spread);
    for (size_t w = 0; w < m->args->view.n_workers; w++) {
        const double r = m->reliability[w];
        double before = -.5 * tau * (r - 1) * (r - 1), slope = -tau * (r - 1), bend = tau;
        for (uint64_t k = start[w]; k < start[w + 1]; k++) {
            const dis__comparison *c = &m->c[of[k]];
            const double d = m->score[c->a] - m->score[c->b], p = 1 / (1 + exp(-r * d));
            const double won = dis__comparison_outcome(c);
            before += log_chance(c, r * d);
            slope += d * (won - p);
            bend += d * d * p * (1 - p);
        }
        double step = slope / bend;
        for (int halving = 0; halving < MAX_HALVINGS; halving++, step /= 2) {
            double now = -.5 * tau * (r + step - 1) * (r + step - 1);
            for (uint64_t k = start[w]; k < start[w + 1]; k++) {
                const dis__comparison *c = &m->c[of[k]];
                now += log_chance(c, (r + step) * (m->score[c->a] - m->score[c->b]));
            }
            if (!(now >= before - 1e-12 * fabs(before))) continue;
            m->reliability[w] = r + step;
            break;
        }
    }
    return DIS_OK;
}

static dis_status index_raters(const dis__pairs *m, dis_scaled *out, uint64_t **start, uint32_t **of)
{
    const size_t n_workers = m->args->view.n_workers;
    DIS_TRY(dis__scaled_allocate(out, start, n_workers + 2, sizeof **start));
    DIS_TRY(dis__scaled_allocate(out, of, m->n, sizeof **of));
    for (size_t i = 0; i < m->n; i++) (*start)[m->c[i].worker + 2]++;
    for (size_t w = 0; w < n_workers; w++) (*start)[w + 2] += (*start)[w + 1];
    for (size_t i = 0; i < m->n; i++) (*of)[(*start)[m->c[i].worker + 1]++] = (uint32_t)i;
    return DIS_OK;
}

static dis_status fit(dis__pairs *m, dis_scaled *out)
{
    uint64_t *start;
    uint32_t *of;
    double before = -INFINITY;
    DIS_TRY(index_raters(m, out, &start, &of));
    for (size_t w = 0; w < m->args->view.n_workers; w++) m->reliability[w] = 1;
    out->converged = false;
    for (int64_t n = 1; n <= m->o->iterations && !out->converged; n++) {
        DIS_TRY(dis__check_stop(m->args->ctx));
        step_scores(m);
        if (m->o->reliability) DIS_TRY(step_raters(m, start, of));
        const double now = objective(m, m->score);
        out->converged = m->o->tolerance > 0 && fabs(now - before) <= m->o->tolerance * fabs(now);
        out->iterations = (int)n;
        before = now;
    }
    return DIS_OK;
}

static uint32_t root_of(uint32_t *parent, uint32_t k)
{
    while (parent[k] != k) k = parent[k] = parent[parent[k]];
    return k;
}

/* Groups in the order of their first things. */
static dis_status find_groups(dis__pairs *m, dis_scaled *out)
{
    uint32_t *parent;
    DIS_TRY(dis__scaled_allocate(out, &parent, m->n_things, sizeof *parent));
    DIS_TRY(dis__scaled_allocate(out, &m->group, m->n_things, sizeof *m->group));
    for (size_t k = 0; k < m->n_things; k++) parent[k] = (uint32_t)k;
    for (size_t i = 0; i < m->n; i++) {
        const uint32_t a = root_of(parent, m->c[i].a), b = root_of(parent, m->c[i].b);
        parent[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t k = 0; k < m->n_things; k++) {
        const uint32_t root = root_of(parent, (uint32_t)k);
        m->group[k] = root == k ? (uint32_t)m->n_groups++ : m->group[root];
    }
    return DIS_OK;
}

/* Of scores less the mean of their group: the square root of u' H^-1 u, u being 1 at the thing less 1 / n at the n
 * things of its group. */
static void errors(const dis__pairs *m)
{
    const size_t n = m->n_things;
    derive(m);
    factor(m->hessian, n);
    for (size_t k = 0; k < n; k++) {
        double sum = 0, size = 0;
        for (size_t i = 0; i < n; i++) size += m->group[i] == m->group[k];
        for (size_t i = 0; i < n; i++) { /* L y = u, and the sum of y^2 */
            double x = m->group[i] == m->group[k] ? (i == k) - 1 / size : 0;
            for (size_t l = 0; l < i; l++) x -= m->hessian[i * n + l] * m->slope[l];
            m->slope[i] = m->spread[k * n + i] = x / m->hessian[i * n + i];
            sum += m->slope[i] * m->slope[i];
        }
        m->se[k] = sqrt(sum);
    }
}

static dis_status allocate(dis__pairs *m, dis_scaled *out)
{
    const size_t n = m->n_things;
    DIS_TRY(dis__scaled_allocate(out, &m->score, 4 * n, sizeof *m->score));
    DIS_TRY(dis__scaled_allocate(out, &m->hessian, n * n, sizeof *m->hessian));
    DIS_TRY(dis__scaled_allocate(out, &m->spread, n * n, sizeof *m->spread));
    DIS_TRY(dis__scaled_allocate(out, &m->reliability, m->args->view.n_workers, sizeof *m->reliability));
    m->trial = m->score + n;
    m->se = m->trial + n;
    m->slope = m->se + n;
    return DIS_OK;
}

/* Rank intervals come from the plain model: where all things are equal, estimated reliabilities fit the noise, and
 * differences of scores then look more certain than they are (bench/truth/pairwise_ranks.py). */
static dis_status fit_plain(const dis__pairs *m, dis_scaled *out, dis__pairs_options *as_is, dis__pairs *plain)
{
    *plain = *m;
    *as_is = *m->o;
    as_is->reliability = 0;
    plain->o = as_is;
    DIS_TRY(allocate(plain, out));
    DIS_TRY(fit(plain, out));
    errors(plain);
    return DIS_OK;
}

static dis_status run(const dis__scaled_args *args, dis_scaled *out)
{
    dis__pairs m = {.args = args, .o = args->options}, plain;
    dis__pairs_options without;
    DIS_TRY(dis__pairs_read(&m, out));
    if (m.n_things > MAX_THINGS)
        return dis__fail(DIS_ELIMIT,
                         "%zu things are compared, and at most %d are possible; are a and b the right columns?",
                         m.n_things, MAX_THINGS);
    DIS_TRY(find_groups(&m, out));
    DIS_TRY(fit_plain(&m, out, &without, &plain));
    DIS_TRY(allocate(&m, out));
    DIS_TRY(fit(&m, out));
    errors(&m);
    return dis__pairs_add_results(&m, &plain, out);
}

const dis__scaled_row dis__scaled_pairs = {
    .model = {.name = "bradley-terry",
              .summary = "scores of candidates from comparisons, with the reliability of each annotator",
              .source = "Bradley & Terry 1952; Chen et al. 2013",
              .options = options,
              .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(dis__pairs_options),
    .run = run,
};
