/* Overdispersion of the votes, estimated from the votes alone.
 *
 * Models of annotators treat the votes on an item as independent given its class. Real items differ: some are
 * misleading for all annotators. Give each item an effect d on the log-odds of a correct vote:
 *
 *     P(vote v | annotator w, class t, d) = c[v][t] exp(d [v = t]) / (1 - c[t][t] + c[t][t] exp(d)),    d ~ N(0, s^2)
 *
 * with c the confusion matrix of w, estimated from the first view as the method `crowd` does. d is integrated out by
 * Gauss-Hermite quadrature with three nodes (0 and +-sqrt(3) s, weights 2/3 and 1/6), the class by summing. The result
 * is the posterior mean of s over a grid, with a normal prior centred at PRIOR_MEAN, so that a small crowd gets the
 * typical value.
 *
 * s is 0 on crowds with independent errors and .3 to 1.3 on most real ones; docs/concepts/default-labels.md has the
 * measurements.
 *
 * Cost: one update of the matrices, then one pass over the votes with 11 K additions per vote and 11 K exponentials per
 * item; memory for 10 K values per annotator. */
#include "core/numbers/elementary.h"
#include "labels/combine/overdispersion.h"
#include "labels/passes/item_passes.h"
#include <math.h>
#include <string.h>

enum { GRAIN = 4096, MAX_JOBS = 64 };
#define PRIOR_MEAN .7
#define PRIOR_SD   .7
#define CENTRE     (2 / 3.)
#define OUTER      (1 / 6.)

static const double spreads[DIS_OVERDISPERSION_SPREADS] = {.3, .6, .9, 1.3, 1.8};

typedef struct {
    const dis__crowd_model *m;
    double
        shift[DIS_OVERDISPERSION_SHIFTS]; /* effects at the nodes: one below and one above the centre for each standard
                                      * deviation */
    double *slip;    /* (n_workers, DIS_OVERDISPERSION_SHIFTS, K): log(1 - c[t][t] + c[t][t] exp(shift)) */
    double *scratch; /* (threads, n_scratch) */
    size_t n_scratch, n_jobs;
} spread_work;

static dis_status slip_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const spread_work *s = arg;
    const dis__crowd_model *m = s->m;
    const size_t K = m->n_classes, last = dis__job_first(m->n_workers, s->n_jobs, j + 1);
    double factor[DIS_OVERDISPERSION_SHIFTS];
    for (size_t x = 0; x < DIS_OVERDISPERSION_SHIFTS; x++) factor[x] = dis__expm1(s->shift[x]);
    for (size_t w = dis__job_first(m->n_workers, s->n_jobs, j); w < last; w++) {
        const double *matrix = dis__crowd_matrix_at(m, w);
        double *slip = s->slip + w * DIS_OVERDISPERSION_SHIFTS * K;
        for (size_t x = 0; x < DIS_OVERDISPERSION_SHIFTS; x++)
            for (size_t t = 0; t < K; t++) slip[x * K + t] = 1 + dis__exp(matrix[t * K + t]) * factor[x];
        m->special.log(slip, DIS_OVERDISPERSION_SHIFTS * K);
    }
    return DIS_OK;
}

/* Log-probabilities of one item, (1 + DIS_OVERDISPERSION_SHIFTS, K) with the centre first, minus their maximum. */
static void put_together(const spread_work *s, size_t i, const double *sums, const double *norm, double *counts,
                         double *out)
{
    const dis__crowd_model *m = s->m;
    const size_t K = m->n_classes, n = (1 + DIS_OVERDISPERSION_SHIFTS) * K;
    double max = -INFINITY;
    dis__item_count_votes(&m->votes, i, counts);
    for (size_t t = 0; t < K; t++) out[t] = m->log_prior[t] + sums[t];
    for (size_t x = 0; x < DIS_OVERDISPERSION_SHIFTS; x++)
        for (size_t t = 0; t < K; t++) out[(1 + x) * K + t] = out[t] + s->shift[x] * counts[t] - norm[x * K + t];
    for (size_t x = 0; x < n; x++) max = out[x] > max ? out[x] : max;
    for (size_t x = 0; x < n; x++) out[x] -= max;
}

/* Adds log(likelihood at spread s / likelihood at 0) of items [first, last) to sums (DIS_OVERDISPERSION_SPREADS). */
static void likelihood_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const spread_work *s = arg;
    const dis__crowd_model *m = s->m;
    const size_t K = m->n_classes, block = dis__crowd_block_size(K), width = (1 + DIS_OVERDISPERSION_SHIFTS) * K;
    double *of_votes = s->scratch + (size_t)thread * s->n_scratch, *norm = of_votes + block * K,
           *joint = norm + block * DIS_OVERDISPERSION_SHIFTS * K, *counts = joint + block * width;
    double ratio[DIS_CROWD_BLOCK * DIS_OVERDISPERSION_SPREADS];
    for (size_t i = first, n; i < last; i += n) {
        n = block < last - i ? block : last - i;
        DIS_KERNEL_SELECT(dis__overdispersion_add_votes)(m, s->slip, i, n, of_votes, norm);
        for (size_t b = 0; b < n; b++)
            put_together(s, i + b, of_votes + b * K, norm + b * DIS_OVERDISPERSION_SHIFTS * K, counts,
                         joint + b * width);
        m->special.exp(joint, n * width);
        for (size_t b = 0; b < n; b++) {
            double total[1 + DIS_OVERDISPERSION_SHIFTS];
            for (size_t x = 0; x <= DIS_OVERDISPERSION_SHIFTS; x++) {
                total[x] = 0;
                for (size_t t = 0; t < K; t++) total[x] += joint[b * width + x * K + t];
            }
            const double centre = fmax(total[0], 1e-300);
            for (size_t g = 0; g < DIS_OVERDISPERSION_SPREADS; g++)
                ratio[b * DIS_OVERDISPERSION_SPREADS + g] =
                    CENTRE + OUTER * (total[1 + 2 * g] + total[2 + 2 * g]) / centre;
        }
        m->special.log(ratio, n * DIS_OVERDISPERSION_SPREADS);
        for (size_t b = 0; b < n; b++)
            for (size_t g = 0; g < DIS_OVERDISPERSION_SPREADS; g++)
                sums[g] += ratio[b * DIS_OVERDISPERSION_SPREADS + g];
    }
}

static double log_prior(double spread)
{
    const double z = (spread - PRIOR_MEAN) / PRIOR_SD;
    return -.5 * z * z;
}

static double posterior_mean(const double *log_ratio)
{
    double weight[1 + DIS_OVERDISPERSION_SPREADS] = {log_prior(0)}, max = weight[0], total = 0, mean = 0;
    for (size_t g = 0; g < DIS_OVERDISPERSION_SPREADS; g++) {
        weight[1 + g] = log_ratio[g] + log_prior(spreads[g]);
        max = fmax(max, weight[1 + g]);
    }
    for (size_t g = 0; g <= DIS_OVERDISPERSION_SPREADS; g++) {
        const double w = dis__exp(weight[g] - max);
        total += w;
        mean += g ? w * spreads[g - 1] : 0;
    }
    return mean / total;
}

static dis_status estimate(const dis__combine_args *args, dis__crowd_model *m, spread_work *s, double *out)
{
    const size_t K = m->n_classes, threads = (size_t)dis_context_n_threads(args->ctx);
    const dis__fit_args items = {.ctx = args->ctx, .votes = m->votes, .part = m->part};
    dis__item_sums sums = {.args = &items,
                           .n_jobs = dis__n_jobs(m->part.n_items, GRAIN, MAX_JOBS),
                           .n_sums = DIS_OVERDISPERSION_SPREADS,
                           .job = likelihood_job,
                           .arg = s};
    double log_ratio[DIS_OVERDISPERSION_SPREADS];
    for (size_t x = 0; x < DIS_OVERDISPERSION_SHIFTS; x++) s->shift[x] = (x % 2 ? 1 : -1) * sqrt(3) * spreads[x / 2];
    DIS_TRY(dis__crowd_model_init_priors(m));
    DIS_TRY(dis__crowd_model_update_matrices(m));
    s->n_jobs = dis__n_jobs(m->n_workers, 64, MAX_JOBS);
    s->n_scratch = dis__saturating_size(dis__crowd_block_size(K), 2 * (1 + DIS_OVERDISPERSION_SHIFTS) * K, K);
    DIS_TRY(dis__alloc_array(&s->slip, dis__saturating_size(m->n_workers, DIS_OVERDISPERSION_SHIFTS * K, 0),
                             sizeof *s->slip));
    DIS_TRY(dis__alloc_array(&s->scratch, dis__saturating_size(threads, s->n_scratch, 0), sizeof *s->scratch));
    DIS_TRY(dis__run_jobs(args->ctx, s->n_jobs, slip_job, s));
    DIS_TRY(dis__item_sums_create(&sums));
    const dis_status status = dis__item_sums_run(&sums, log_ratio);
    dis__item_sums_destroy(&sums);
    if (status == DIS_OK) *out = posterior_mean(log_ratio);
    return status;
}

dis_status dis__overdispersion_fit(const dis__combine_args *args, double *out)
{
    const dis_votes_view votes = dis_votes_get_view(args->votes);
    *out = PRIOR_MEAN;
    if (!votes.start) return DIS_OK;
    dis__crowd_model m;
    const dis__votes_part part = dis__votes_part_of(args->votes);
    DIS_TRY(dis__crowd_model_create(args->ctx, &votes, &part, NULL, NULL, &m));
    m.p = (double *)(uintptr_t)args->p[0]; /* only read */
    spread_work s = {.m = &m};
    const dis_status status = estimate(args, &m, &s, out);
    m.p = NULL;
    dis__crowd_model_destroy(&m);
    dis__free(s.slip);
    dis__free(s.scratch);
    return status;
}
