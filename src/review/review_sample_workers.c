/* The half of a sweep that draws workers and the crowd, given the truths (review_sample.c has the model).
 *
 * x[w][t] has no conjugate prior: a normal proposal at the mode of its conditional (Newton's method from the prior
 * mean, so that it does not depend on where the chain is), accepted or not by Metropolis and Hastings's rule. Columns
 * in which a worker has no votes are drawn from the prior last and inform nobody.
 *
 * Cost: O(votes) and some 20 exponentials for each worker and class. */
#include "core/draw.h"
#include "core/random.h"
#include "core/rank_jobs.h"
#include "review/review_sampler.h"
#include <math.h>
#include <string.h>

enum { LEVELS = DIS_SAMPLER_LEVELS, NEWTON_STEPS = 5 };
#define LONGEST_STEP  2.0
#define PROPOSAL_SD   1.15 /* of the normal at the mode: a little wide, so that tails are reached */
#define MISTAKE_PRIOR 3.0  /* votes at the crowd's shares that each column of a worker's mistakes starts with */

/* Scaled inverse chi-squared priors of variances (degrees of freedom, value), and the normal prior of `all`. */
static const struct {
    double n, value;
} prior_tau = {4, .25}, prior_sigma = {4, 1}, prior_rho = {10, .02};
#define ALL_MEAN     1.5
#define ALL_VARIANCE 2.25

/* Votes of one worker by the truths drawn. */
typedef struct {
    double *count;         /* (K voted, K true) */
    double *right, *votes; /* (K true, levels) */
} tally;

dis__sampler_sums dis__sampler_sums_of(double *sums, size_t K)
{
    return (dis__sampler_sums){sums, sums + K, sums + 2 * K, sums + 3 * K, sums + 3 * K + 2};
}

static double log1p_exp(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* The mode of x's conditional; *h gets the curvature there. */
static double find_mode(const dis__sampler *s, double mean, const double *right, const double *votes, double *h)
{
    double mode = mean;
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double g = (mean - mode) / s->tau2;
        *h = 1 / s->tau2;
        for (size_t e = 0; e < LEVELS; e++) {
            if (votes[e] == 0) continue;
            const double ease = dis__crowd_ease[e], d = 1 / (1 + exp(s->chance - ease * mode));
            g += ease * (right[e] - votes[e] * d);
            *h += ease * ease * votes[e] * d * (1 - d);
        }
        mode += fmin(fmax(g / *h, -LONGEST_STEP), LONGEST_STEP);
    }
    return mode;
}

static double draw_skill(const dis__sampler *s, dis__source *source, double x, double mean, const double *right,
                         const double *votes)
{
    double h;
    const double mode = find_mode(s, mean, right, votes, &h), sd = PROPOSAL_SD / sqrt(h);
    const double y = mode + sd * dis__draw_normal(source);
    double ratio = ((x - mean) * (x - mean) - (y - mean) * (y - mean)) / (2 * s->tau2) +
                   ((y - mode) * (y - mode) - (x - mode) * (x - mode)) / (2 * sd * sd);
    for (size_t e = 0; e < LEVELS; e++) {
        if (votes[e] == 0) continue;
        const double a = dis__crowd_ease[e] * y - s->chance, b = dis__crowd_ease[e] * x - s->chance;
        ratio += right[e] * (a - b) - votes[e] * (log1p_exp(a) - log1p_exp(b));
    }
    return log(1 - dis__draw_uniform(source)) < ratio ? y : x;
}

void dis__sampler_fill(dis__sampler *s, size_t w, const double *counts)
{
    const size_t K = s->K, n = LEVELS * K;
    for (size_t t = 0; t < K; t++) {
        double wrong = 0;
        for (size_t v = 0; v < K; v++) wrong += v == t ? 0 : counts[v * K + t];
        for (size_t e = 0; e < LEVELS; e++) {
            const double odds = exp(dis__crowd_ease[e] * s->skill[w * K + t] - s->chance);
            s->wrong[w * n + e * K + t] = 1 / (1 + odds);
            s->odds[w * n + e * K + t] = odds;
        }
        for (size_t v = 0; v < K; v++)
            s->mistake[(w * K + v) * K + t] =
                v == t ? 1 : (counts[v * K + t] + MISTAKE_PRIOR * s->common[v * K + t]) / (wrong + MISTAKE_PRIOR);
    }
}

static uint32_t count_votes(const dis__sampler *s, size_t w, const tally *y)
{
    enum { AHEAD = 16 };
    const dis__crowd_model *m = s->m;
    const uint64_t end = m->worker_start[w + 1];
    uint32_t n_right = 0;
    for (uint64_t a = m->worker_start[w]; a < end; a++) {
        const size_t i = m->item_of[a], l = m->label_of[a], t = s->truth[i], e = s->level[i];
        if (end - a > AHEAD) {
            __builtin_prefetch(&s->truth[m->item_of[a + AHEAD]]);
            __builtin_prefetch(&s->level[m->item_of[a + AHEAD]]);
        }
        if (e & DIS_SAMPLER_ALONE) continue;
        y->count[l * s->K + t] += 1;
        y->votes[t * LEVELS + e] += 1;
        if (l == t) {
            y->right[t * LEVELS + e] += 1;
            n_right++;
        }
    }
    return n_right;
}

static bool has_votes(const tally *y, size_t t)
{
    double n = 0;
    for (size_t e = 0; e < LEVELS; e++) n += y->votes[t * LEVELS + e];
    return n > 0;
}

/* New x and theta of worker w; what the crowd learns from them into `sums`. */
static void draw_worker(dis__sampler *s, size_t w, const tally *y, const dis__sampler_sums *sums)
{
    const size_t K = s->K;
    dis__source source = dis__source_at(s->seed ^ s->worker_key[w], DIS_STREAM_REVIEW_WORKER, s->sweep);
    double *x = s->skill + w * K, sum = 0, used = 0;
    for (size_t t = 0; t < K; t++) {
        if (!has_votes(y, t)) continue;
        x[t] = draw_skill(s, &source, x[t], s->mean[t] + s->talent[w], y->right + t * LEVELS, y->votes + t * LEVELS);
        sum += x[t] - s->mean[t];
        used++;
    }
    const double precision = used / s->tau2 + 1 / s->sigma2;
    const double talent = sum / s->tau2 / precision + dis__draw_normal(&source) / sqrt(precision);
    s->talent[w] = talent;
    sums->talent[0] += used > 0 ? talent * talent : 0;
    sums->talent[1] += used > 0;
    for (size_t t = 0; t < K; t++) {
        if (!has_votes(y, t)) {
            x[t] = s->mean[t] + talent + sqrt(s->tau2) * dis__draw_normal(&source);
            continue;
        }
        const double own = x[t] - talent;
        sums->skill[t] += own;
        sums->square[t] += (own - s->mean[t]) * (own - s->mean[t]);
        sums->number[t] += 1;
    }
}

static dis_status worker_job(void *arg, size_t j, int thread)
{
    dis__sampler *s = arg;
    const size_t K = s->K, last = dis__job_first(s->W, s->n_worker_jobs, j + 1), n = K * K + 2 * LEVELS * K;
    double *scratch = s->scratch + (size_t)thread * s->n_scratch, *at = s->worker_sums + j * s->n_worker_sums;
    const tally y = {scratch, scratch + K * K, scratch + K * K + LEVELS * K};
    const dis__sampler_sums sums = dis__sampler_sums_of(at, K);
    memset(at, 0, s->n_worker_sums * sizeof *at);
    for (size_t w = dis__job_first(s->W, s->n_worker_jobs, j); w < last; w++) {
        memset(scratch, 0, n * sizeof *scratch);
        const uint32_t right = count_votes(s, w, &y);
        if (s->keep) s->right[w * s->n_kept + s->kept] = right;
        draw_worker(s, w, &y, &sums);
        for (size_t x = 0; x < K * K; x++) sums.mistake[x] += y.count[x];
        dis__sampler_fill(s, w, y.count);
    }
    return DIS_OK;
}

/* ---- the crowd ---- */

static double draw_variance(dis__source *source, double sum, double n, double prior_n, double prior_value)
{
    return (sum + prior_n * prior_value) / (2 * dis__draw_gamma(source, (n + prior_n) / 2));
}

static void settle_mistakes(dis__sampler *s, const double *total)
{
    const size_t K = s->K;
    for (size_t t = 0; t < K; t++) {
        double n = 0;
        for (size_t v = 0; v < K; v++) n += v == t ? 0 : total[v * K + t] + 1;
        for (size_t v = 0; v < K; v++) s->common[v * K + t] = v == t ? 1 : (total[v * K + t] + 1) / n;
    }
}

static void draw_means(dis__sampler *s, dis__source *source, const dis__sampler_sums *sums)
{
    const size_t K = s->K;
    double total = 0, about = 0;
    for (size_t t = 0; t < K; t++) {
        const double precision = sums->number[t] / s->tau2 + 1 / s->rho2;
        s->mean[t] =
            (sums->skill[t] / s->tau2 + s->all / s->rho2) / precision + dis__draw_normal(source) / sqrt(precision);
        total += s->mean[t];
    }
    const double precision = (double)K / s->rho2 + 1 / ALL_VARIANCE;
    s->all = (total / s->rho2 + ALL_MEAN / ALL_VARIANCE) / precision + dis__draw_normal(source) / sqrt(precision);
    for (size_t t = 0; t < K; t++) about += (s->mean[t] - s->all) * (s->mean[t] - s->all);
    s->rho2 = draw_variance(source, about, (double)K, prior_rho.n, prior_rho.value);
}

dis_status dis__sampler_workers(dis__sampler *s)
{
    const size_t K = s->K, n = LEVELS * K;
    const dis__rank_rows tables[] = {
        {.table = s->wrong, .row_size = n * sizeof *s->wrong, .n = s->W},
        {.table = s->odds, .row_size = n * sizeof *s->odds, .n = s->W},
        {.table = s->mistake, .row_size = K * K * sizeof *s->mistake, .n = s->W},
        {.table = s->worker_sums, .row_size = s->n_worker_sums * sizeof(double), .n = s->n_worker_jobs, .per_job = 1}};
    DIS_TRY(dis__run_rank_jobs(s->m->ctx, s->n_worker_jobs, worker_job, s, tables, sizeof tables / sizeof *tables));
    for (size_t j = 1; j < s->n_worker_jobs; j++)
        for (size_t x = 0; x < s->n_worker_sums; x++) s->worker_sums[x] += s->worker_sums[j * s->n_worker_sums + x];
    const dis__sampler_sums sums = dis__sampler_sums_of(s->worker_sums, s->K);
    dis__source source = dis__source_at(s->seed, DIS_STREAM_REVIEW_CROWD, 2 * s->sweep + 1);
    double square = 0, number = 0;
    for (size_t t = 0; t < s->K; t++) {
        square += sums.square[t];
        number += sums.number[t];
    }
    s->tau2 = draw_variance(&source, square, number, prior_tau.n, prior_tau.value);
    s->sigma2 = draw_variance(&source, sums.talent[0], sums.talent[1], prior_sigma.n, prior_sigma.value);
    draw_means(s, &source, &sums);
    settle_mistakes(s, sums.mistake);
    if (s->keep) s->spread += sqrt(s->sigma2);
    return DIS_OK;
}
