/* Predictions of a model as the prior of each item: with q the prediction for item i and c the class prior,
 *
 *     P(t | item i)  =  c[t] q[i][t]^w / Z_i,       Z_i = sum_t c[t] q[i][t]^w.
 *
 * w, the weight of the predictions, and c are estimated with everything else: a logistic regression of the true class
 * on log q with one slope and a term per class, in the M-step of the EM (Raykar et al. 2010 with the classifier held
 * fixed). w = 0 is the model without predictions. Overconfident predictions get a weight below 1, useless ones 0. Those
 * of a model that was trained on soft labels from few votes are underconfident, and get a weight above 1. It is at most
 * 2: a model that was trained on the same votes shares their errors, which increases the likelihood
 * (docs/guides/labels-and-model.md has the measurements).
 *
 * Each M-step raises the expected log-likelihood sum_i sum_t p[i][t] log P(t | item i) - cost w, so the objective never
 * decreases: one step of generalised iterative scaling (Darroch & Ratcliff 1972) for c, c[t] <- c[t] * sum_i p[i][t] /
 * sum_i P(t | item i), and one Newton step for w, halved until it does not decrease.
 *
 * The cost sets the weight of useless predictions to 0 rather than slightly above: for uninformative predictions the
 * derivative at w = 0 has a standard deviation of at most sqrt(sum_i variance of log q[i]), and twice that is the cost.
 *
 * Predictions are floored at 1e-6 of the largest of their item, so that a probability of 1 counts as odds of a million.
 *
 * Cost: n_items * K exponentials per Newton step, usually one or two per iteration. Items are divided into jobs by
 * their number, and sums are added in the order of jobs: any number of threads gives the same bytes. */
#include "labels/em/item_prior.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 64, GRAIN = 20000, MAX_JOBS = 64, MAX_HALVINGS = 40 };
#define FLOOR      1e-6
#define MAX_WEIGHT 2.0
#define SURELY     2.0 /* standard deviations */
#define SLACK      1e-13

static size_t scratch_of(size_t n_classes)
{
    return BLOCK * (n_classes + 1);
}

static size_t jobs_of(size_t n_items, size_t n_classes)
{
    return dis__n_jobs(dis__saturating_size(n_items, n_classes, 0), GRAIN, MAX_JOBS);
}

size_t dis__item_prior_memory(size_t n_items, size_t n_classes)
{
    const size_t jobs = jobs_of(n_items, n_classes);
    return dis__saturating_size(dis__saturating_size(n_items, n_classes, 0), 2 * sizeof(double),
                                jobs * (scratch_of(n_classes) + n_classes + 8) * sizeof(double));
}

/* log q minus the maximum of each row, and the variance of log q under equal classes, summed over items. */
static void log_job(void *arg, size_t first, size_t last, double *sum, int thread)
{
    (void)thread;
    const dis__item_prior *prior = arg;
    const size_t K = prior->n_classes;
    for (size_t i = first; i < last; i++) {
        const double *q = prior->pass.args->predictions + i * K;
        double *x = prior->log_q + i * K, max = 0, mean = 0, squares = 0;
        for (size_t k = 0; k < K; k++) max = q[k] > max ? q[k] : max;
        for (size_t k = 0; k < K; k++) x[k] = max > 0 ? fmax(q[k] / max, FLOOR) : 1;
        prior->special.log(x, K);
        for (size_t k = 0; k < K; k++) mean += x[k] / (double)K;
        for (size_t k = 0; k < K; k++) squares += (x[k] - mean) * (x[k] - mean);
        *sum += squares / (double)K;
    }
}

/* Factors of n items from `first` on at the current weight and class prior, and their part of the sums. */
static void measure_block(const dis__item_prior *prior, size_t first, size_t n, double *z, double *expected)
{
    const size_t K = prior->n_classes;
    const double *log_q = prior->log_q + first * K, *c = prior->classes;
    double *factor = prior->factor + first * K, *sums = expected + K;
    for (size_t j = 0; j < n * K; j++) factor[j] = prior->weight * log_q[j];
    prior->special.exp(factor, n * K);
    for (size_t i = 0; i < n; i++) {
        double *f = factor + i * K, total = 0, mean = 0, squares = 0;
        const double *x = log_q + i * K;
        for (size_t k = 0; k < K; k++) total += c[k] * f[k];
        for (size_t k = 0; k < K; k++) {
            f[k] /= total;
            const double share = c[k] * f[k];
            expected[k] += share;
            mean += share * x[k];
            squares += share * x[k] * x[k];
        }
        sums[DIS_PRIOR_MEAN] += mean;
        sums[DIS_PRIOR_VARIANCE] += squares - mean * mean;
        z[i] = total;
    }
    prior->special.log(z, n);
    for (size_t i = 0; i < n; i++) sums[DIS_PRIOR_LOG_Z] += z[i];
}

static void measure_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const dis__item_prior *prior = arg;
    double *z = prior->scratch + (size_t)thread * scratch_of(prior->n_classes);
    for (size_t i = first, n; i < last; i += n) {
        n = last - i < BLOCK ? last - i : BLOCK;
        measure_block(prior, i, n, z, sums);
    }
}

static dis_status allocate(dis__item_prior *prior)
{
    const size_t K = prior->n_classes, cells = dis__saturating_size(prior->n_items, K, 0);
    DIS_TRY(dis__alloc_array(&prior->log_q, cells, sizeof *prior->log_q));
    DIS_TRY(dis__alloc_array(&prior->factor, cells, sizeof *prior->factor));
    DIS_TRY(dis__alloc_array(&prior->scratch, (size_t)dis_context_n_threads(prior->pass.args->ctx) * scratch_of(K),
                             sizeof *prior->scratch));
    DIS_TRY(dis__alloc_zeroed(&prior->expected, 2 * K + DIS_PRIOR_SUMS, sizeof *prior->expected));
    return dis__item_sums_create(&prior->pass);
}

dis_status dis__item_prior_create(const dis__fit_args *args, double weight, dis__item_prior *out)
{
    const size_t K = args->votes.n_classes;
    *out = (dis__item_prior){.n_items = args->votes.n_items,
                             .n_all = (double)args->part.n_items,
                             .n_classes = K,
                             .pass = {.args = args,
                                      .n_jobs = jobs_of(args->part.n_items, K),
                                      .n_sums = K + DIS_PRIOR_SUMS,
                                      .job = measure_job,
                                      .arg = out},
                             .fixed = weight >= 0,
                             .start = weight >= 0 ? weight : 0,
                             .special = dis__special_functions_select()};
    double variance;
    dis_status status = allocate(out);
    if (status == DIS_OK) status = dis__item_sums_run_in_order(args, 1, log_job, out, NULL, &variance);
    if (status != DIS_OK) {
        dis__item_prior_destroy(out);
        return status;
    }
    out->total = out->expected + K;
    out->scaled = out->total + DIS_PRIOR_SUMS;
    out->cost = SURELY * sqrt(variance);
    dis__item_prior_reset(out);
    return DIS_OK;
}

void dis__item_prior_destroy(dis__item_prior *prior)
{
    dis__item_sums_destroy(&prior->pass);
    dis__free(prior->log_q);
    dis__free(prior->factor);
    dis__free(prior->scratch);
    dis__free(prior->expected);
}

void dis__item_prior_reset(dis__item_prior *prior)
{
    prior->weight = prior->start;
    memset(prior->expected, 0, prior->n_classes * sizeof *prior->expected);
}

const double *dis__item_prior_class_sums(dis__item_prior *prior, const double *class_sum)
{
    double sum = 0;
    for (size_t k = 0; k < prior->n_classes; k++) {
        const double expected = prior->expected[k];
        prior->scaled[k] = expected > 0 ? class_sum[k] * prior->classes[k] / expected : class_sum[k];
        sum += prior->scaled[k];
    }
    for (size_t k = 0; k < prior->n_classes && sum > 0; k++) prior->scaled[k] *= prior->n_all / sum;
    return prior->scaled;
}

static dis_status measure(dis__item_prior *prior, double weight)
{
    prior->weight = weight;
    return dis__item_sums_run(&prior->pass, prior->expected);
}

dis_status dis__item_prior_update(dis__item_prior *prior, const double *classes, double evidence)
{
    prior->classes = classes;
    DIS_TRY(measure(prior, prior->weight));
    if (prior->fixed || isnan(evidence) || !(prior->total[DIS_PRIOR_VARIANCE] > 0)) return DIS_OK;
    const double before = prior->weight, gain = evidence - prior->cost;
    const double value = before * gain - prior->total[DIS_PRIOR_LOG_Z];
    double step = (gain - prior->total[DIS_PRIOR_MEAN]) / prior->total[DIS_PRIOR_VARIANCE];
    for (int n = 0; n < MAX_HALVINGS; n++, step /= 2) {
        const double weight = fmin(fmax(before + step, 0), MAX_WEIGHT);
        if (weight == before) return prior->weight == before ? DIS_OK : measure(prior, before);
        DIS_TRY(measure(prior, weight));
        if (weight * gain - prior->total[DIS_PRIOR_LOG_Z] >= value - SLACK * fabs(value)) return DIS_OK;
    }
    return measure(prior, before);
}
