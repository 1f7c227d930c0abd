/* Whether votes on one item agree beyond chance. If nobody looks at the items, two votes on one agree as often as the two workers' habits
 * make them: sum over k of rate[a][k] rate[b][k]. With D the excess of agreeing pairs of an item over that,
 *
 *     z = sum D / sqrt(sum D^2),     coefficient = sum D / sum (pairs - expected agreeing pairs)
 *
 * over items; z is about standard normal if they do not look. The votes are called random where z is below Z_CHANCE and
 * the coefficient, with two standard errors added, stays below LITTLE (so that a handful of votes is not called
 * anything).
 *
 * Cost: O(K) per vote. */
#include "labels/method.h"
#include "review/review_parts.h"
#include <math.h>
#include <string.h>

enum { GRAIN = 1024, MAX_JOBS = 64, SUMS = 3 };
#define Z_CHANCE 2.575829303548901
#define LITTLE   .25

/* ---- agreement ---- */

typedef struct {
    const dis__crowd_model *m;
    const double *rate; /* (n_workers, K) */
    size_t n_jobs;
    double *sums;    /* (n_jobs, SUMS): D, D^2, pairs less those expected to agree */
    double *scratch; /* (threads, 3 K) */
} agreement_work;

/* Rates of labels, as chance would have them, of everybody. */
static dis_status make_rates(const dis__crowd_model *m, double **out)
{
    const size_t K = m->n_classes;
    double *rate;
    DIS_TRY(dis__alloc_zeroed(&rate, dis__size(m->n_workers, K, 0), sizeof *rate));
    for (size_t w = 0; w < m->n_workers; w++) {
        const double n = (double)(m->worker_start[w + 1] - m->worker_start[w]);
        for (uint64_t a = m->worker_start[w]; a < m->worker_start[w + 1]; a++) rate[w * K + m->label_of[a]] += 1 / n;
    }
    *out = rate;
    return DIS_OK;
}

static double excess_of(const agreement_work *work, size_t i, double *count, double *max)
{
    const dis_votes_view *v = &work->m->votes;
    const size_t K = v->n_classes;
    double *sum = count + K, *square = sum + K, agree = 0, expected = 0;
    memset(count, 0, 3 * K * sizeof *count);
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
        const double *rate = work->rate + v->worker[a] * K;
        count[dis__vote_label(v, a)] += 1;
        for (size_t k = 0; k < K; k++) {
            sum[k] += rate[k];
            square[k] += rate[k] * rate[k];
        }
    }
    for (size_t k = 0; k < K; k++) {
        agree += count[k] * (count[k] - 1) / 2;
        expected += (sum[k] * sum[k] - square[k]) / 2;
    }
    const double n = (double)(v->start[i + 1] - v->start[i]);
    *max = n * (n - 1) / 2 - expected;
    return agree - expected;
}

static dis_status agreement_job(void *arg, size_t j, int thread)
{
    const agreement_work *work = arg;
    const dis_votes_view *v = &work->m->votes;
    double *count = work->scratch + (size_t)thread * 3 * v->n_classes, *sums = work->sums + SUMS * j;
    sums[0] = sums[1] = sums[2] = 0;
    const size_t last = dis__job_first(v->n_items, work->n_jobs, j + 1);
    for (size_t i = dis__job_first(v->n_items, work->n_jobs, j); i < last; i++) {
        if (v->start[i + 1] - v->start[i] < 2) continue;
        double max;
        const double d = excess_of(work, i, count, &max);
        sums[0] += d;
        sums[1] += d * d;
        sums[2] += max;
    }
    return DIS_OK;
}

dis_status dis__review_agreement(const dis__crowd_model *m, dis_review_view *out)
{
    double *rate = NULL;
    agreement_work work = {.m = m, .n_jobs = dis__n_jobs(m->votes.n_items, GRAIN, MAX_JOBS)};
    const size_t threads = (size_t)dis_context_threads(m->ctx);
    dis_status status;
    DIS_TRY_GOTO(status, make_rates(m, &rate), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&work.sums, SUMS * work.n_jobs, sizeof *work.sums), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&work.scratch, dis__size(threads, 3 * m->n_classes, 0), sizeof(double)), end);
    work.rate = rate;
    DIS_TRY_GOTO(status, dis__run_jobs(m->ctx, work.n_jobs, agreement_job, &work), end);
    for (size_t j = 1; j < work.n_jobs; j++)
        for (size_t x = 0; x < SUMS; x++) work.sums[x] += work.sums[SUMS * j + x];
    const double d = work.sums[0], error = sqrt(work.sums[1]), max = work.sums[2];
    out->agreement_z = error > 0 ? d / error : 0;
    out->agreement = max > 0 ? d / max : 0;
    out->beyond_chance = !(max > 0 && error > 0 && d / error < Z_CHANCE && (d + 2 * error) / max < LITTLE);
end:
    dis__free(rate);
    dis__free(work.sums);
    dis__free(work.scratch);
    return status;
}
