/* An ordinal model of votes: items lie on a line, thresholds cut it into classes, workers have a bias and a spread.
 *
 *     P(class v | item at x, worker w) = F(hi) - F(lo),  hi = k_w (a[v + 1] - u x) - g_w,  lo the same with a[v]
 *
 * F is the normal distribution function: the graded response model of Samejima (1969) with raters as in Johnson (1996),
 * cumulative probit with a shift g_w and a precision k_w of each worker. Priors: g ~ N(0, bias^2), k ~ N(1, spread^2).
 * Where items lie is left free: x is one of `points` places within the band of each class (class v has the band v - 1/2
 * .. v + 1/2), with estimated probabilities. Thresholds a and the precision of the crowd u are estimated; half a vote
 * for each class within its band keeps those of classes that nobody chose finite.
 *
 * The soft label of an item is how the crowd would vote on it: sum over x of P(x | votes) C[v | x], with C the votes of
 * all workers at x, one vote of a worker without bias added. It says less about what is true than a posterior of a
 * true class, and foretells the next vote better than one (docs/kinds.md).
 *
 * Objective: the marginal likelihood times the priors, by EM. Every part of the M-step is concave: one Newton step for
 * all (a, u) (after the first four passes at every fourth), one for each worker's (k, g), both halved until they do not lose; the places' probabilities in closed
 * form.
 *
 * Parameters, in steps of one class: bias (above 0: votes too high), spread (of a worker's votes), threshold (upper end
 * of each class; the last is the end of the line), score (mean of x); prior (of the bands). With them P(class v | x, w)
 * = F((threshold[v] - x - bias) / spread) - F((threshold[v - 1] - x - bias) / spread).
 *
 * Cost: an iteration is one pass over the votes with rows of K * points numbers, and two normal distribution functions
 * for each place, class and worker who chose it, two or three times. */
#include "labels/methods/em.h"
#include <math.h>
#include <string.h>

typedef struct {
    int64_t iterations, points;
    double tolerance, bias, spread;
} ordinal_options;

static const dis_option options_table[] = {
    DIS_OPTION_ITERATIONS(ordinal_options, "1000"),
    DIS_OPTION_TOLERANCE(ordinal_options, "1e-5"),
    {.key = "points",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(ordinal_options, points),
     .fallback = "0",
     .low = 0,
     .high = 100,
     .summary = "places that an item can have within the band of a class; 0: 3, more for fewer than 5 classes"},
    {.key = "bias",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ordinal_options, bias),
     .fallback = ".5",
     .low = 1e-3,
     .high = 100,
     .summary = "how far workers are expected to vote too high or low, in spreads of a usual vote"},
    {.key = "spread",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ordinal_options, spread),
     .fallback = ".15",
     .low = 1e-3,
     .high = 10,
     .summary = "how far precisions of workers are expected to differ from 1"},
};

enum { MAX_CLASSES = 256, MAX_JOBS = 16, MAX_HALVINGS = 40, USUAL_POINTS = 3, FEWEST_PLACES = 15, EVERY_PASS = 4 };
#define LEAST_PRECISION .05
#define SLACK           1e-12
#define FARTHEST        37.5 /* beyond, the normal distribution function is 0 or 1 */
#define PSEUDO          .5   /* votes of the crowd for each class within its band */
#define SMOOTHING       5.   /* items added to every place */
#define FIRST_UNIT      .7   /* first spread of a usual vote, in classes */

/* What the votes at hand say of a[1 .. K - 1] and u: value, gradient (u last), and a Hessian with an arrow's shape. */
typedef struct {
    double value, slope_u, bend_u;
    double *slope, *bend, *next, *border; /* (K): of a[v]; next: of a[v] with a[v + 1]; border: with u */
} crowd_sums;

typedef struct {
    const ordinal_options *o;
    dis__em em;
    size_t K, S, G;
    double *place;          /* (S): x */
    double *a, u;           /* (K + 1): thresholds times u, the first and last infinite */
    double *a_used, u_used; /* those of the tables */
    double *k, *g;          /* (n_workers) */
    double *a_try, *solve;  /* (K + 1), (K, K + 1) */
    double *sums;           /* (n_jobs, worker_size): of one worker */
    crowd_sums *part;       /* (n_jobs), numbers in `parts` */
    double *parts;
    double *votes; /* (n_jobs, K, S): votes for a class at a place */
    size_t n_jobs, n_passes;
    bool with_slopes;
    dis_status status;
} ordinal;

/* ---- one cell ---- */

typedef struct {
    double log_p, hi, lo;       /* and its first derivatives by both ends */
    double hi_hi, lo_lo, hi_lo; /* second ones */
} cell;

static double density(double z)
{
    return fabs(z) < FARTHEST ? .39894228040143267794 * exp(-.5 * z * z) : 0;
}

/* F(hi) - F(lo), by the tail in which both are small. */
static double mass(double lo, double hi)
{
    const double flip = lo > 0 ? -1 : 1, from = flip > 0 ? lo : -hi, to = flip > 0 ? hi : -lo;
    const double upper = to > FARTHEST ? 1 : .5 * erfc(-to * M_SQRT1_2),
                 lower = from < -FARTHEST ? 0 : .5 * erfc(-from * M_SQRT1_2);
    return upper - lower > 1e-300 ? upper - lower : 1e-300;
}

static cell look_at(double lo, double hi)
{
    const double p = mass(lo, hi), at_hi = density(hi) / p, at_lo = density(lo) / p;
    return (cell){.log_p = log(p),
                  .hi = at_hi,
                  .lo = -at_lo,
                  .hi_hi = isfinite(hi) ? -at_hi * (hi + at_hi) : 0,
                  .lo_lo = isfinite(lo) ? at_lo * (lo - at_lo) : 0,
                  .hi_lo = at_hi * at_lo};
}

/* ---- the crowd: a and u ---- */

static void add_cell(const ordinal *m, crowd_sums *c, size_t v, double x, double n, double k, double g)
{
    const double lo = v == 0 ? -INFINITY : k * (m->a_try[v] - m->a_try[0] * x) - g;
    const double hi = v + 1 == m->K ? INFINITY : k * (m->a_try[v + 1] - m->a_try[0] * x) - g;
    if (!m->with_slopes) {
        c->value += n * log(mass(lo, hi));
        return;
    }
    const cell d = look_at(lo, hi);
    const double by_u = -k * x, both = d.hi + d.lo;
    c->value += n * d.log_p;
    c->slope_u += n * by_u * both;
    c->bend_u += n * by_u * by_u * (d.hi_hi + d.lo_lo + 2 * d.hi_lo);
    c->slope[v] += n * k * d.lo;
    c->bend[v] += n * k * k * d.lo_lo;
    c->border[v] += n * k * by_u * (d.lo_lo + d.hi_lo);
    if (v + 1 == m->K) return;
    c->slope[v + 1] += n * k * d.hi;
    c->bend[v + 1] += n * k * k * d.hi_hi;
    c->border[v + 1] += n * k * by_u * (d.hi_hi + d.hi_lo);
    c->next[v] += n * k * k * d.hi_lo;
}

static void clear(const ordinal *m, crowd_sums *c)
{
    c->value = c->slope_u = c->bend_u = 0;
    memset(c->slope, 0, 4 * m->K * sizeof *c->slope);
}

static dis_status crowd_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const ordinal *m = arg;
    const size_t n_workers = m->em.args->votes.n_workers, last = dis__job_first(n_workers, m->n_jobs, j + 1);
    double *sums = m->sums + j * m->em.worker_size;
    crowd_sums *c = &m->part[j];
    clear(m, c);
    for (size_t w = dis__job_first(n_workers, m->n_jobs, j); w < last; w++) {
        dis__em_worker_sums(&m->em, w, sums);
        for (size_t v = 0; v < m->K; v++)
            for (size_t s = 0; s < m->S; s++)
                if (sums[v * m->em.row + s] > 0)
                    add_cell(m, c, v, m->place[s], sums[v * m->em.row + s], m->k[w], m->g[w]);
    }
    return DIS_OK;
}

/* The votes that no worker gave. */
static double pseudo_votes(const ordinal *m, crowd_sums *c)
{
    const double before = c->value;
    for (size_t s = 0; s < m->S; s++) add_cell(m, c, s / m->G, m->place[s], PSEUDO / (double)m->G, 1, 0);
    return c->value - before;
}

/* All sums at a_try, with u in a_try[0], into part[0]; returns the value. */
static dis_status sum_crowd(ordinal *m, bool with_slopes, double *value)
{
    m->with_slopes = with_slopes;
    DIS_TRY(dis__run_jobs(m->em.args->ctx, m->n_jobs, crowd_job, m));
    crowd_sums *all = &m->part[0];
    for (size_t j = 1; j < m->n_jobs; j++) {
        const crowd_sums *c = &m->part[j];
        all->value += c->value;
        all->slope_u += c->slope_u;
        all->bend_u += c->bend_u;
        for (size_t i = 0; i < 4 * m->K; i++) all->slope[i] += c->slope[i];
    }
    pseudo_votes(m, all);
    *value = all->value;
    return DIS_OK;
}

/* Solves H d = slope, -H the sums' Hessian (K x K, u first), by Cholesky; d lands in the last column. */
static void newton_direction(const ordinal *m)
{
    const size_t n = m->K, stride = n + 1;
    const crowd_sums *c = &m->part[0];
    double *h = m->solve;
    memset(h, 0, n * stride * sizeof *h);
    h[0] = -c->bend_u;
    h[n] = c->slope_u;
    for (size_t v = 1; v < n; v++) {
        h[v * stride] = -c->border[v];
        h[v * stride + v] = -c->bend[v];
        if (v > 1) h[v * stride + v - 1] = -c->next[v - 1];
        h[v * stride + n] = c->slope[v];
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double x = h[i * stride + j];
            for (size_t l = 0; l < j; l++) x -= h[i * stride + l] * h[j * stride + l];
            h[i * stride + j] = i > j ? x / h[j * stride + j] : sqrt(x > 1e-9 ? x : 1e-9);
        }
        for (size_t l = 0; l < i; l++) h[i * stride + n] -= h[i * stride + l] * h[l * stride + n];
        h[i * stride + n] /= h[i * stride + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t l = i + 1; l < n; l++) h[i * stride + n] -= h[l * stride + i] * h[l * stride + n];
        h[i * stride + n] /= h[i * stride + i];
    }
}

static bool try_step(const ordinal *m, double length)
{
    const size_t stride = m->K + 1;
    m->a_try[0] = m->u + length * m->solve[m->K];
    bool ordered = m->a_try[0] > 0;
    for (size_t v = 1; v < m->K; v++) {
        m->a_try[v] = m->a[v] + length * m->solve[v * stride + m->K];
        ordered &= v == 1 || m->a_try[v] > m->a_try[v - 1];
    }
    return ordered;
}

static dis_status step_crowd(ordinal *m)
{
    double before, now = -INFINITY, length = 1;
    memcpy(m->a_try, m->a, m->K * sizeof *m->a);
    m->a_try[0] = m->u;
    DIS_TRY(sum_crowd(m, true, &before));
    newton_direction(m);
    for (int halving = 0; halving < MAX_HALVINGS; halving++, length /= 2) {
        if (!try_step(m, length)) continue;
        DIS_TRY(sum_crowd(m, false, &now));
        if (!(now >= before - SLACK * fabs(before))) continue;
        m->u = m->a_try[0];
        memcpy(m->a + 1, m->a_try + 1, (m->K - 1) * sizeof *m->a);
        return DIS_OK;
    }
    return DIS_OK;
}

static bool after_pass(void *arg, dis__em *em)
{
    (void)em;
    ordinal *m = arg;
    const size_t n = m->n_passes++;
    if (n < EVERY_PASS || n % EVERY_PASS == 0) m->status = step_crowd(m);
    return m->status != DIS_OK;
}

/* ---- a worker: k and g ---- */

typedef struct {
    double value, slope_k, slope_g, bend_k, bend_g, bend_kg;
} worker_sums;

/* The worker's part of the objective at (k, g), its prior with it. */
static worker_sums sum_worker(const ordinal *m, const double *n, double k, double g)
{
    const double tb = 1 / (m->o->bias * m->o->bias), ts = 1 / (m->o->spread * m->o->spread);
    worker_sums t = {.value = -.5 * (tb * g * g + ts * (k - 1) * (k - 1)),
                     .slope_k = -ts * (k - 1),
                     .slope_g = -tb * g,
                     .bend_k = -ts,
                     .bend_g = -tb};
    for (size_t v = 0; v < m->K; v++)
        for (size_t s = 0; s < m->S; s++) {
            const double x = n[v * m->em.row + s];
            if (!(x > 0)) continue;
            const double lo = v ? m->a[v] - m->u * m->place[s] : 0,
                         hi = v + 1 < m->K ? m->a[v + 1] - m->u * m->place[s] : 0;
            const cell d = look_at(v ? k * lo - g : -INFINITY, v + 1 < m->K ? k * hi - g : INFINITY);
            t.value += x * d.log_p;
            t.slope_k += x * (d.hi * hi + d.lo * lo);
            t.slope_g -= x * (d.hi + d.lo);
            t.bend_k += x * (d.hi_hi * hi * hi + d.lo_lo * lo * lo + 2 * d.hi_lo * hi * lo);
            t.bend_g += x * (d.hi_hi + d.lo_lo + 2 * d.hi_lo);
            t.bend_kg -= x * (d.hi_hi * hi + d.lo_lo * lo + d.hi_lo * (hi + lo));
        }
    return t;
}

static bool any(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0) return true;
    return false;
}

/* P(class | place) at (k, g) into `out` for the classes that have votes in n (all of them for NULL): other rows are
 * never read. Returns the worker's part of the objective. */
static double fill(const ordinal *m, const double *n, double k, double g, double *out)
{
    const double b = g / m->o->bias, c = (k - 1) / m->o->spread;
    double value = -.5 * (b * b + c * c);
    for (size_t v = 0; v < m->K; v++) {
        const double *sums = n ? n + v * m->em.row : NULL;
        double *row = out + v * m->em.row;
        memset(row, 0, m->em.row * sizeof *row);
        for (size_t s = 0; (!sums || any(sums, m->S)) && s < m->S; s++) {
            const double lo = v ? k * (m->a[v] - m->u * m->place[s]) - g : -INFINITY;
            const double hi = v + 1 < m->K ? k * (m->a[v + 1] - m->u * m->place[s]) - g : INFINITY;
            row[s] = mass(lo, hi);
            if (sums && sums[s] > 0) value += sums[s] * log(row[s]);
        }
    }
    return value;
}

static double update_worker(void *arg, size_t w, double *x, double *scratch, bool keep)
{
    (void)keep;
    const ordinal *m = arg;
    const bool first = m->em.n_summed == 0;
    const worker_sums t = sum_worker(m, x, m->k[w], m->g[w]);
    const double det = t.bend_k * t.bend_g - t.bend_kg * t.bend_kg;
    double dk = -(t.bend_g * t.slope_k - t.bend_kg * t.slope_g) / det;
    double dg = -(t.bend_k * t.slope_g - t.bend_kg * t.slope_k) / det;
    if (first || !(det > 0)) dk = dg = 0;
    for (int halving = 0;; halving++, dk /= 2, dg /= 2) {
        if (halving == MAX_HALVINGS) dk = dg = 0;
        if (m->k[w] + dk < LEAST_PRECISION) continue;
        const double value = fill(m, first ? NULL : x, m->k[w] + dk, m->g[w] + dg, scratch);
        if (halving == MAX_HALVINGS || value >= t.value - SLACK * fabs(t.value)) break;
    }
    m->k[w] += dk;
    m->g[w] += dg;
    memcpy(x, scratch, m->em.worker_size * sizeof *x);
    const double b = m->g[w] / m->o->bias, c = (m->k[w] - 1) / m->o->spread;
    return -.5 * (b * b + c * c);
}

static double update_places(void *arg, const double *sum, size_t n_items, double *prior, bool keep)
{
    (void)keep;
    ordinal *m = arg;
    double total = 0, penalty;
    if (n_items)
        for (size_t s = 0; s < m->S; s++) prior[s] = sum[s] + SMOOTHING;
    for (size_t s = 0; s < m->S; s++) total += prior[s];
    crowd_sums *c = &m->part[0];
    c->value = 0;
    m->with_slopes = false;
    memcpy(m->a_try, m->a, m->K * sizeof *m->a);
    memcpy(m->a_used, m->a, m->K * sizeof *m->a);
    m->a_try[0] = m->u_used = m->u;
    penalty = pseudo_votes(m, c);
    for (size_t s = 0; s < m->S; s++) {
        prior[s] /= total;
        penalty += SMOOTHING * log(prior[s]);
    }
    return penalty;
}

/* ---- labels ---- */

static dis_status votes_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const ordinal *m = arg;
    const size_t n_workers = m->em.args->votes.n_workers, last = dis__job_first(n_workers, m->n_jobs, j + 1);
    double *sums = m->sums + j * m->em.worker_size, *votes = m->votes + j * m->K * m->S;
    for (size_t w = dis__job_first(n_workers, m->n_jobs, j); w < last; w++) {
        dis__em_worker_sums(&m->em, w, sums);
        for (size_t v = 0; v < m->K; v++)
            for (size_t s = 0; s < m->S; s++) votes[v * m->S + s] += sums[v * m->em.row + s];
    }
    return DIS_OK;
}

/* How the crowd votes at each place, into the first table of m->votes. */
static dis_status crowd_votes(ordinal *m)
{
    DIS_TRY(dis__run_jobs(m->em.args->ctx, m->n_jobs, votes_job, m));
    const size_t n = m->K * m->S;
    for (size_t j = 1; j < m->n_jobs; j++)
        for (size_t i = 0; i < n; i++) m->votes[i] += m->votes[j * n + i];
    for (size_t s = 0; s < m->S; s++) {
        double total = 0, at = m->u * m->place[s];
        for (size_t v = 0; v < m->K; v++) {
            double *x = &m->votes[v * m->S + s];
            *x += mass(v ? m->a[v] - at : -INFINITY, v + 1 < m->K ? m->a[v + 1] - at : INFINITY);
            total += *x;
        }
        for (size_t v = 0; v < m->K; v++) m->votes[v * m->S + s] /= total;
    }
    return DIS_OK;
}

typedef struct {
    const ordinal *m;
    double *score, *posterior; /* (n_items), (n_jobs, S) */
    size_t n_jobs;
} labelling;

/* P(place | votes of item i) into q (S). */
static void place_item(const ordinal *m, size_t i, double *q)
{
    const dis_votes_view *v = &m->em.args->votes;
    const int32_t gold = dis__gold(m->em.args, i);
    for (size_t s = 0; s < m->S; s++) q[s] = gold < 0 || s / m->G == (size_t)gold ? m->em.prior[s] : 0;
    for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++) {
        double total = 0;
        const size_t label = dis__vote_label(v, n);
        const double *row = m->em.tables + v->worker[n] * 2 * m->em.worker_size + 2 * label * m->em.row;
        for (size_t s = 0; s < m->S; s++) total += q[s] *= row[s];
        for (size_t s = 0; total > 0 && s < m->S; s++) q[s] /= total;
    }
}

static dis_status label_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const labelling *t = arg;
    const ordinal *m = t->m;
    const size_t n_items = m->em.args->votes.n_items, last = dis__job_first(n_items, t->n_jobs, j + 1);
    double *q = t->posterior + j * m->S;
    for (size_t i = dis__job_first(n_items, t->n_jobs, j); i < last; i++) {
        double total = 0, *p = m->em.fit->p + i * m->K;
        place_item(m, i, q);
        for (size_t s = 0; s < m->S; s++) total += q[s];
        for (size_t s = 0; s < m->S; s++) q[s] /= total;
        t->score[i] = 0;
        for (size_t s = 0; s < m->S; s++) t->score[i] += q[s] * m->place[s];
        total = 0;
        for (size_t v = 0; v < m->K; v++) {
            p[v] = 0;
            for (size_t s = 0; s < m->S; s++) p[v] += q[s] * m->votes[v * m->S + s];
            total += p[v];
        }
        const int32_t gold = dis__gold(m->em.args, i);
        for (size_t v = 0; v < m->K; v++) p[v] = gold < 0 ? p[v] / total : (int32_t)v == gold;
    }
    return DIS_OK;
}

static dis_status make_labels(const ordinal *m, double *score)
{
    const dis_votes_view *v = &m->em.args->votes;
    labelling t = {.m = m, .score = score, .n_jobs = dis__n_jobs(v->n_items, 4096, MAX_JOBS)};
    DIS_TRY(dis__alloc_array(&t.posterior, dis__size(t.n_jobs, m->S, 0), sizeof *t.posterior));
    const dis_status status = dis__run_jobs(m->em.args->ctx, t.n_jobs, label_job, &t);
    dis__free(t.posterior);
    return status;
}

/* ---- the fit ---- */

/* Bands as wide as each other, everybody alike, items where votes are. */
static dis_status start(ordinal *m)
{
    const dis_votes_view *v = &m->em.args->votes;
    double *count;
    DIS_TRY(dis__alloc_zeroed(&count, m->K, sizeof *count));
    for (size_t n = 0; n < v->n_votes; n++) count[dis__vote_label(v, n)] += 1;
    m->u = 1 / FIRST_UNIT;
    for (size_t i = 1; i < m->K; i++) m->a[i] = ((double)i - .5) * m->u;
    for (size_t s = 0; s < m->S; s++) {
        m->place[s] = ((double)s + .5) / (double)m->G - .5;
        m->em.prior[s] = count[s / m->G] + 1;
    }
    for (size_t w = 0; w < v->n_workers; w++) m->k[w] = 1;
    dis__free(count);
    return DIS_OK;
}

static dis_status run(ordinal *m)
{
    const dis__em_rules rules = {
        .name = "ordinal", .worker = update_worker, .classes = update_places, .after = after_pass, .arg = m};
    DIS_TRY(start(m));
    DIS_TRY(dis__em_update(&m->em, &rules, false));
    if (m->o->iterations == 0) return dis__em_pass(&m->em, DIS_EM_SOFT, true, false);
    const dis_status status = dis__em_loop(&m->em, &rules, m->o->iterations, m->o->tolerance);
    memcpy(m->a, m->a_used, m->K * sizeof *m->a); /* a step after the last pass is in no table */
    m->u = m->u_used;
    return m->status != DIS_OK ? m->status : status;
}

static void note_parameters(const ordinal *m, double *bias, double *spread, double *prior, double *threshold)
{
    for (size_t w = 0; w < m->em.args->votes.n_workers; w++) {
        bias[w] = m->g[w] / (m->k[w] * m->u);
        spread[w] = 1 / (m->k[w] * m->u);
    }
    for (size_t s = 0; s < m->S; s++) prior[s / m->G] += m->em.prior[s];
    for (size_t v = 0; v < m->K; v++) threshold[v] = v + 1 < m->K ? m->a[v + 1] / m->u : (double)m->K - .5;
}

static dis_status allocate(ordinal *m)
{
    const size_t K = m->K, n_workers = m->em.args->votes.n_workers;
    DIS_TRY(dis__alloc_zeroed(&m->place, m->S, sizeof *m->place));
    DIS_TRY(dis__alloc_zeroed(&m->a, 3 * (K + 1), sizeof *m->a));
    DIS_TRY(dis__alloc_zeroed(&m->solve, K * (K + 1), sizeof *m->solve));
    DIS_TRY(dis__alloc_zeroed(&m->k, dis__size(n_workers, 2, 0), sizeof *m->k));
    DIS_TRY(dis__alloc_array(&m->sums, dis__size(m->n_jobs, m->em.worker_size, 0), sizeof *m->sums));
    DIS_TRY(dis__alloc_zeroed(&m->votes, dis__size(m->n_jobs, K * m->S, 0), sizeof *m->votes));
    DIS_TRY(dis__alloc_zeroed(&m->part, m->n_jobs, sizeof *m->part));
    DIS_TRY(dis__alloc_zeroed(&m->parts, dis__size(m->n_jobs, 4 * K, 0), sizeof *m->parts));
    m->a_try = m->a + K + 1;
    m->a_used = m->a_try + K + 1;
    m->g = m->k + n_workers;
    for (size_t j = 0; j < m->n_jobs; j++) {
        double *x = m->parts + j * 4 * K;
        m->part[j] = (crowd_sums){.slope = x, .bend = x + K, .next = x + 2 * K, .border = x + 3 * K};
    }
    return DIS_OK;
}

static void destroy(ordinal *m)
{
    void *const arrays[] = {m->place, m->a, m->solve, m->k, m->sums, m->votes, m->part, m->parts};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) dis__free(arrays[i]);
    dis__em_destroy(&m->em);
}

static size_t points_of(const ordinal_options *o, size_t n_classes)
{
    const size_t few = n_classes ? (FEWEST_PLACES + n_classes - 1) / n_classes : 1;
    if (o->points) return (size_t)o->points;
    return few > USUAL_POINTS ? few : USUAL_POINTS;
}

static dis_status fit_ordinal(const dis__fit_args *args, dis_fit *fit)
{
    const size_t K = args->votes.n_classes;
    double *bias, *spread, *prior, *threshold, *score;
    if (K > MAX_CLASSES)
        return dis__fail(DIS_EDATA,
                         "%zu classes, and the method ordinal takes at most %d; are they numbers on a scale?", K,
                         MAX_CLASSES);
    DIS_TRY(dis__fit_parameter(fit, "bias", "w", &bias));
    DIS_TRY(dis__fit_parameter(fit, "spread", "w", &spread));
    DIS_TRY(dis__fit_parameter(fit, "prior", "t", &prior));
    DIS_TRY(dis__fit_parameter(fit, "threshold", "t", &threshold));
    DIS_TRY(dis__fit_parameter(fit, "score", "i", &score));
    ordinal m = {.o = args->options, .K = K, .G = points_of(args->options, K)};
    m.S = K * m.G;
    DIS_TRY(dis__em_create(args, fit, DIS_EM_ROWS, m.G, &m.em));
    m.n_jobs = dis__n_jobs(dis__size(args->votes.n_workers, m.em.worker_size, 0), 4096, MAX_JOBS);
    dis_status status = allocate(&m);
    if (status == DIS_OK) status = run(&m);
    if (status == DIS_OK) status = crowd_votes(&m);
    if (status == DIS_OK) status = make_labels(&m, score);
    if (status == DIS_OK) note_parameters(&m, bias, spread, prior, threshold);
    destroy(&m);
    return status;
}

static size_t memory(const dis_votes_view *votes, const void *options)
{
    const size_t K = votes->n_classes < MAX_CLASSES ? votes->n_classes : MAX_CLASSES, G = points_of(options, K);
    const size_t tables = dis__em_memory(votes, DIS_EM_ROWS, G);
    return dis__size(votes->n_workers * 5 + votes->n_items, sizeof(double),
                     dis__size(K * K * G, 2 * MAX_JOBS * sizeof(double), tables));
}

const dis__method dis__method_ordinal = {
    .info = {.name = "ordinal",
             .summary = "classes in an order: thresholds on a line, bias and spread of workers",
             .source = "Samejima 1969; Johnson 1996",
             .objective = "marginal likelihood with priors",
             .needs_workers = true,
             .options = options_table,
             .n_options = sizeof options_table / sizeof *options_table},
    .options_size = sizeof(ordinal_options),
    .memory = memory,
    .fit = fit_ordinal,
};
