/* The M-step of the method ordinal: Newton's method for the shared parameters, and for each worker. Every part is
 * concave: the logarithm of F(hi) - F(lo) is jointly concave in both ends (the normal density is log-concave), and the
 * ends are linear in (a, u) and in (k, g). See ordinal.c. */
#include "labels/ordinal/ordinal_model.h"
#include "core/numbers/elementary.h"
#include "core/numbers/erfc.h"
#include <math.h>
#include <string.h>

enum { MAX_HALVINGS = 40, EVERY_PASS = 4 };
#define LEAST_PRECISION .05
#define SLACK           1e-12
#define FARTHEST        37.5 /* beyond this, the normal distribution function is 0 or 1 */
#define PSEUDO          .5   /* pseudo-votes of the crowd for each class within its band */
#define SMOOTHING       5.   /* items added to every position */
#define LAPSE_VOTES     4.   /* prior weight of the expected share of lapses */
#define RATE_VOTES      20.  /* prior weight of the crowd's label rates, for a worker's lapses */

/* ---- one cell ---- */

typedef struct {
    double log_p, hi, lo;       /* and its first derivatives by both ends */
    double hi_hi, lo_lo, hi_lo; /* second ones */
} cell;

static double density(double z)
{
    return fabs(z) < FARTHEST ? .39894228040143267794 * dis__exp(-.5 * z * z) : 0;
}

/* F(hi) - F(lo), computed in the tail in which both are small. */
double dis__ordinal_compute_mass(double lo, double hi)
{
    const double flip = lo > 0 ? -1 : 1, from = flip > 0 ? lo : -hi, to = flip > 0 ? hi : -lo;
    const double upper = to > FARTHEST ? 1 : .5 * dis__erfc(-to * M_SQRT1_2),
                 lower = from < -FARTHEST ? 0 : .5 * dis__erfc(-from * M_SQRT1_2);
    return upper - lower > 1e-300 ? upper - lower : 1e-300;
}

static cell evaluate_cell(double lo, double hi)
{
    const double p = dis__ordinal_compute_mass(lo, hi), at_hi = density(hi) / p, at_lo = density(lo) / p;
    return (cell){.log_p = dis__log(p),
                  .hi = at_hi,
                  .lo = -at_lo,
                  .hi_hi = isfinite(hi) ? -at_hi * (hi + at_hi) : 0,
                  .lo_lo = isfinite(lo) ? at_lo * (lo - at_lo) : 0,
                  .hi_lo = at_hi * at_lo};
}

void dis__ordinal_compute_gradient(double k, double g, double lo, double hi, double *by_k, double *by_g)
{
    const cell d = evaluate_cell(isfinite(lo) ? k * lo - g : lo, isfinite(hi) ? k * hi - g : hi);
    *by_k = (isfinite(hi) ? d.hi * hi : 0) + (isfinite(lo) ? d.lo * lo : 0);
    *by_g = -(d.hi + d.lo);
}

/* ---- attention ---- */

void dis__ordinal_remove_lapses(const dis__ordinal *m, size_t w, double *n, double *lapsed)
{
    const double *table = m->em.tables + w * 2 * m->em.worker_size;
    for (size_t v = 0; v < m->K; v++) {
        const double *p = table + 2 * v * m->em.row, lapse = m->e[w] * m->rate[w * m->K + v];
        double *row = n + v * m->em.row, total = 0;
        for (size_t s = 0; s < m->S; s++) {
            if (!(row[s] > 0)) continue;
            const double away = row[s] * fmin(lapse / p[s], 1);
            total += away;
            row[s] -= away;
        }
        if (lapsed) lapsed[v] = total;
    }
}

/* The share and the label rates of a worker's lapses, of n votes in all. */
static void update_lapses(const dis__ordinal *m, size_t w, const double *lapsed, double n)
{
    double total = 0, *rate = m->rate + w * m->K;
    for (size_t v = 0; v < m->K; v++) total += lapsed[v];
    m->e[w] = (total + LAPSE_VOTES * m->o->lapse) / (n + LAPSE_VOTES);
    for (size_t v = 0; v < m->K; v++) rate[v] = (lapsed[v] + RATE_VOTES * m->base[v]) / (total + RATE_VOTES);
}

/* Logarithm of their priors. */
static double lapse_penalty(const dis__ordinal *m, size_t w)
{
    const double e = m->e[w], share = m->o->lapse;
    double sum = 0;
    if (share == 0) return 0;
    for (size_t v = 0; v < m->K; v++) sum += RATE_VOTES * m->base[v] * dis__log(m->rate[w * m->K + v]);
    return sum + LAPSE_VOTES * (share * dis__log(e) + (1 - share) * dis__log1p(-e));
}

/* ---- the crowd: a and u ---- */

static void add_cell(const dis__ordinal *m, dis__ordinal_sums *c, size_t v, double x, double n, double k, double g)
{
    const double lo = v == 0 ? -INFINITY : k * (m->a_try[v] - m->a_try[0] * x) - g;
    const double hi = v + 1 == m->K ? INFINITY : k * (m->a_try[v + 1] - m->a_try[0] * x) - g;
    if (!m->with_slopes) {
        c->value += n * dis__log(dis__ordinal_compute_mass(lo, hi));
        return;
    }
    const cell d = evaluate_cell(lo, hi);
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

static void clear(const dis__ordinal *m, dis__ordinal_sums *c)
{
    c->value = c->slope_u = c->bend_u = 0;
    memset(c->slope, 0, 4 * m->K * sizeof *c->slope);
}

static dis_status crowd_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__ordinal *m = arg;
    const size_t n_workers = m->em.args->votes.n_workers, last = dis__job_first(n_workers, m->n_jobs, j + 1);
    double *sums = m->sums + j * m->em.worker_size;
    dis__ordinal_sums *c = &m->part[j];
    clear(m, c);
    for (size_t w = dis__job_first(n_workers, m->n_jobs, j); w < last; w++) {
        dis__em_get_worker_sums(&m->em, w, sums);
        dis__ordinal_remove_lapses(m, w, sums, NULL);
        for (size_t v = 0; v < m->K; v++)
            for (size_t s = 0; s < m->S; s++)
                if (sums[v * m->em.row + s] > 0)
                    add_cell(m, c, v, m->place[s], sums[v * m->em.row + s], m->k[w], m->g[w]);
    }
    return DIS_OK;
}

/* The pseudo-votes. */
static double pseudo_votes(const dis__ordinal *m, dis__ordinal_sums *c)
{
    const double before = c->value;
    for (size_t s = 0; s < m->S; s++) add_cell(m, c, s / m->G, m->place[s], PSEUDO / (double)m->G, 1, 0);
    return c->value - before;
}

/* All sums at a_try, with u in a_try[0], into part[0]; returns the value. */
static dis_status sum_crowd(dis__ordinal *m, bool with_slopes, double *value)
{
    m->with_slopes = with_slopes;
    DIS_TRY(dis__run_jobs(m->em.args->ctx, m->n_jobs, crowd_job, m));
    dis__ordinal_sums *all = &m->part[0];
    for (size_t j = 1; j < m->n_jobs; j++) {
        const dis__ordinal_sums *c = &m->part[j];
        all->value += c->value;
        all->slope_u += c->slope_u;
        all->bend_u += c->bend_u;
        for (size_t i = 0; i < 4 * m->K; i++) all->slope[i] += c->slope[i];
    }
    pseudo_votes(m, all);
    *value = all->value;
    return DIS_OK;
}

/* Solves H d = slope, where -H is the Hessian of the sums (K x K, u first), by Cholesky; d is returned in the last
 * column. */
static void newton_direction(const dis__ordinal *m)
{
    const size_t n = m->K, stride = n + 1;
    const dis__ordinal_sums *c = &m->part[0];
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

static bool try_step(const dis__ordinal *m, double length)
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

static dis_status step_crowd(dis__ordinal *m)
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

bool dis__ordinal_update_crowd(void *arg, dis__em *em)
{
    dis__ordinal *m = arg;
    const size_t n = m->n_passes++;
    if (n < EVERY_PASS || n % EVERY_PASS == 0) m->status = dis__em_gather_sums(em);
    if (m->status == DIS_OK && (n < EVERY_PASS || n % EVERY_PASS == 0)) m->status = step_crowd(m);
    return m->status != DIS_OK;
}

/* ---- a worker: k and g ---- */

typedef struct {
    double value, slope_k, slope_g, bend_k, bend_g, bend_kg;
} worker_sums;

/* The worker's part of the objective at (k, g), including its prior. */
static worker_sums sum_worker(const dis__ordinal *m, const double *n, double k, double g)
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
            const cell d = evaluate_cell(v ? k * lo - g : -INFINITY, v + 1 < m->K ? k * hi - g : INFINITY);
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

/* F of attentive votes at (k, g) into `out` for the classes with votes in n or lapsed (all of them for NULL): other
 * rows are never read. Returns the worker's part of the objective. */
static double fill(const dis__ordinal *m, const double *n, const double *lapsed, double k, double g, double *out)
{
    const double b = g / m->o->bias, c = (k - 1) / m->o->spread;
    double value = -.5 * (b * b + c * c);
    for (size_t v = 0; v < m->K; v++) {
        const double *sums = n ? n + v * m->em.row : NULL;
        double *row = out + v * m->em.row;
        memset(row, 0, m->em.row * sizeof *row);
        for (size_t s = 0; (!sums || lapsed[v] > 0 || any(sums, m->S)) && s < m->S; s++) {
            const double lo = v ? k * (m->a[v] - m->u * m->place[s]) - g : -INFINITY;
            const double hi = v + 1 < m->K ? k * (m->a[v + 1] - m->u * m->place[s]) - g : INFINITY;
            row[s] = dis__ordinal_compute_mass(lo, hi);
            if (sums && sums[s] > 0) value += sums[s] * dis__log(row[s]);
        }
    }
    return value;
}

/* Replaces F by the probability of a vote, attentive or not. */
static void add_lapses(const dis__ordinal *m, size_t w, double *out)
{
    for (size_t v = 0; v < m->K; v++) {
        double *row = out + v * m->em.row;
        const double lapse = m->e[w] * m->rate[w * m->K + v];
        for (size_t s = 0; s < m->S; s++)
            if (row[s] > 0) row[s] = (1 - m->e[w]) * row[s] + lapse;
    }
}

static double sum_of(const double *x, size_t n)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) total += x[i];
    return total;
}

double dis__ordinal_update_worker(void *arg, size_t w, double *x, double *scratch, bool keep)
{
    (void)keep;
    const dis__ordinal *m = arg;
    const bool first = m->em.n_summed == 0;
    double *lapsed = scratch + m->em.worker_size;
    const double n = sum_of(x, m->em.worker_size);
    if (!first) {
        dis__ordinal_remove_lapses(m, w, x, lapsed);
        update_lapses(m, w, lapsed, n);
    }
    const worker_sums t = sum_worker(m, x, m->k[w], m->g[w]);
    const double det = t.bend_k * t.bend_g - t.bend_kg * t.bend_kg;
    double dk = -(t.bend_g * t.slope_k - t.bend_kg * t.slope_g) / det;
    double dg = -(t.bend_k * t.slope_g - t.bend_kg * t.slope_k) / det;
    if (first || !(det > 0)) dk = dg = 0;
    for (int halving = 0;; halving++, dk /= 2, dg /= 2) {
        if (halving == MAX_HALVINGS) dk = dg = 0;
        if (m->k[w] + dk < LEAST_PRECISION) continue;
        const double value = fill(m, first ? NULL : x, lapsed, m->k[w] + dk, m->g[w] + dg, scratch);
        if (halving == MAX_HALVINGS || value >= t.value - SLACK * fabs(t.value)) break;
    }
    m->k[w] += dk;
    m->g[w] += dg;
    add_lapses(m, w, scratch);
    memcpy(x, scratch, m->em.worker_size * sizeof *x);
    const double b = m->g[w] / m->o->bias, c = (m->k[w] - 1) / m->o->spread;
    return lapse_penalty(m, w) - .5 * (b * b + c * c);
}

double dis__ordinal_update_positions(void *arg, const double *sum, size_t n_items, double *prior, bool keep)
{
    (void)keep;
    dis__ordinal *m = arg;
    double total = 0, penalty;
    if (n_items)
        for (size_t s = 0; s < m->S; s++) prior[s] = sum[s] + SMOOTHING;
    for (size_t s = 0; s < m->S; s++) total += prior[s];
    dis__ordinal_sums *c = &m->part[0];
    c->value = 0;
    m->with_slopes = false;
    memcpy(m->a_try, m->a, m->K * sizeof *m->a);
    memcpy(m->a_used, m->a, m->K * sizeof *m->a);
    m->a_try[0] = m->u_used = m->u;
    penalty = pseudo_votes(m, c);
    for (size_t s = 0; s < m->S; s++) {
        prior[s] /= total;
        penalty += SMOOTHING * dis__log(prior[s]);
    }
    return penalty;
}
