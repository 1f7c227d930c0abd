/* Standard errors of a worker's bias and spread in the method ordinal.
 *
 * The information on (k, g, e) of a worker is the sum of outer products of the gradients of the marginal likelihood at
 * each vote (Berndt, Hall, Hall and Hausman 1974), plus that of the priors, with all other parameters fixed. A gradient
 * of the marginal is the posterior mean of the gradients at the positions of the item, so the uncertainty of positions
 * is included, as is the influence of the worker's own votes on them.
 *
 *     bias = g / (k u)        se by the delta method
 *     log spread = -log (k u) se = se(k) / k
 *
 * Cost: one pass over the votes, two normal densities for each position; six values per worker and job. */
#include "labels/passes/item_passes.h"
#include "labels/ordinal/ordinal_model.h"
#include <math.h>
#include <string.h>

enum { JOBS = 8, SUMS = 6 /* kk, kg, gg, ke, ge, ee */ };
#define LAPSE_VOTES 4. /* as in ordinal_newton.c */

typedef struct {
    const dis__ordinal *m;
    double *posterior; /* (threads, S) */
} work;

/* Gradients of the logarithm of a vote's probability by k, g and e. */
static void slopes_of(const dis__ordinal *m, size_t w, size_t v, const double *q, double *slope)
{
    const double e = m->e[w], lapse = m->rate[w * m->K + v];
    double by_k, by_g;
    memset(slope, 0, 3 * sizeof *slope);
    for (size_t s = 0; s < m->S; s++) {
        const double lo = v ? m->a[v] - m->u * m->place[s] : -INFINITY,
                     hi = v + 1 < m->K ? m->a[v + 1] - m->u * m->place[s] : INFINITY;
        if (q[s] < 1e-9) continue;
        const double seen =
            dis__ordinal_compute_mass(v ? m->k[w] * lo - m->g[w] : lo, v + 1 < m->K ? m->k[w] * hi - m->g[w] : hi);
        const double p = (1 - e) * seen + e * lapse;
        dis__ordinal_compute_gradient(m->k[w], m->g[w], lo, hi, &by_k, &by_g);
        slope[0] += q[s] * (1 - e) * seen / p * by_k;
        slope[1] += q[s] * (1 - e) * seen / p * by_g;
        slope[2] += q[s] * (lapse - seen) / p;
    }
}

/* sums: (n_workers, SUMS). */
static void information_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const work *t = arg;
    const dis__ordinal *m = t->m;
    const dis_votes_view *v = &m->em.args->votes;
    double *q = t->posterior + (size_t)thread * m->S, slope[3];
    for (size_t i = first; i < last; i++) {
        double total = 0;
        dis__ordinal_compute_posterior(m, i, q);
        for (size_t s = 0; s < m->S; s++) total += q[s];
        for (size_t s = 0; s < m->S; s++) q[s] /= total;
        for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++) {
            double *sum = sums + v->worker[n] * SUMS;
            slopes_of(m, v->worker[n], dis__vote_label(v, n), q, slope);
            for (size_t a = 0, at = 0; a < 3; a++)
                for (size_t b = 0; b <= a; b++) sum[at++] += slope[a] * slope[b];
        }
    }
}

/* Standard errors from the information of (k, g, e), with e marginalised. */
static void errors_of(const dis__ordinal *m, size_t w, const double *sum, double *bias_se, double *spread_se)
{
    const double e = m->e[w], k = m->k[w], g = m->g[w];
    double kk = sum[0] + 1 / (m->o->spread * m->o->spread), kg = sum[1], gg = sum[2] + 1 / (m->o->bias * m->o->bias);
    if (m->o->lapse > 0) {
        const double own = LAPSE_VOTES * (m->o->lapse / (e * e) + (1 - m->o->lapse) / ((1 - e) * (1 - e)));
        const double ee = sum[5] + own;
        kk -= sum[3] * sum[3] / ee;
        kg -= sum[3] * sum[4] / ee;
        gg -= sum[4] * sum[4] / ee;
    }
    const double det = kk * gg - kg * kg, var_k = gg / det, var_g = kk / det, cov = -kg / det;
    const double by_g = 1 / (k * m->u), by_k = -g / (k * k * m->u);
    *bias_se = sqrt(by_g * by_g * var_g + by_k * by_k * var_k + 2 * by_g * by_k * cov);
    *spread_se = sqrt(var_k) / k;
}

dis_status dis__ordinal_compute_errors(const dis__ordinal *m, double *bias_se, double *spread_se)
{
    const dis__fit_args *args = m->em.args;
    const size_t n_workers = args->votes.n_workers, threads = (size_t)dis_context_n_threads(args->ctx);
    work t = {.m = m};
    dis__item_sums pass = {.args = args,
                           .n_jobs = dis__n_jobs(args->part.n_items, 4096, JOBS),
                           .n_sums = dis__saturating_size(n_workers, SUMS, 0),
                           .job = information_job,
                           .arg = &t};
    double *sums = NULL;
    dis_status status = dis__alloc_array(&sums, pass.n_sums, sizeof *sums);
    if (status == DIS_OK)
        status = dis__alloc_array(&t.posterior, dis__saturating_size(threads, m->S, 0), sizeof *t.posterior);
    if (status == DIS_OK) status = dis__item_sums_create(&pass);
    if (status == DIS_OK) status = dis__item_sums_run(&pass, sums);
    for (size_t w = 0; status == DIS_OK && w < n_workers; w++)
        errors_of(m, w, sums + w * SUMS, bias_se + w, spread_se + w);
    dis__item_sums_destroy(&pass);
    dis__free(t.posterior);
    dis__free(sums);
    return status;
}
