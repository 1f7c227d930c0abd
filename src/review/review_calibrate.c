/* How far a review's probabilities can be believed.
 *
 * Agreement beyond chance. If nobody looks at the items, two votes on one agree as often as the two workers' habits
 * make them: sum over k of rate[a][k] rate[b][k]. With D the excess of agreeing pairs of an item over that,
 *
 *     z = sum D / sqrt(sum D^2),     coefficient = sum D / sum (pairs - expected agreeing pairs)
 *
 * over items; z is about standard normal if they do not look. The votes are called random where z is below Z_CHANCE and
 * the coefficient, with two standard errors added, stays below LITTLE (so that a handful of votes is not called
 * anything). A label is then right as often as chance would have it: sum of squared shares of the labels.
 *
 * Temperature. The model takes votes on one item as independent given its truth and difficulty. Real ones are not:
 * people err alike on the same items, and every model that ignores it is too sure. So log-probabilities are divided by
 *
 *     T = 1 + STEEP v / s
 *
 * v: variance of the items' surprise, 1 if votes vary as the model expects, more if some items divide workers who agree
 * elsewhere; s: how much workers differ (standard deviation of their log-odds). Where workers differ a lot, bad ones
 * explain most disagreement; where they do not, the items are to blame. No item's votes are made to count for less than
 * one: T is at most their number. STEEP is the value that brings the expected share
 * of right labels closest to the true one on 13 public crowds; docs/review.md has the error on crowds left out.
 *
 * Cost: O(K) per vote once, O(K) per item. */
#include "labels/method.h"
#include "review/review_parts.h"
#include <math.h>
#include <string.h>

enum { GRAIN = 1024, MAX_JOBS = 64, SUMS = 3 };
#define Z_CHANCE     2.575829303548901
#define LITTLE       .25
#define STEEP        1.2
#define USUAL_SPREAD .7  /* s where workers are not known: the middle of the public crowds */
#define MIN_SPREAD   .25 /* bounds against crowds of few votes */
#define MAX_T        12.0

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

/* ---- probabilities ---- */

double dis__review_temperature(const dis__crowd_model *m, const dis_review_item *rows, double spread)
{
    double n = 0, sum = 0, square = 0;
    for (size_t i = 0; i < m->votes.n_items; i++) {
        if (rows[i].votes < 2) continue;
        n += 1;
        sum += rows[i].surprise;
        square += rows[i].surprise * rows[i].surprise;
    }
    const double variance = n > 1 ? fmax(square / n - sum / n * (sum / n), 0) : 1;
    return fmin(1 + STEEP * variance / fmax(m->votes.start ? spread : USUAL_SPREAD, MIN_SPREAD), MAX_T);
}

/* How often a label is right that has nothing to do with its item. */
static double chance_level(const dis__crowd_model *m)
{
    const size_t K = m->n_classes;
    double sum = 0;
    for (size_t t = 0; t < K; t++) {
        double votes = 0;
        for (size_t v = 0; v < m->votes.n_votes; v++) votes += dis__vote_label(&m->votes, v) == t;
        sum += votes / (double)m->votes.n_votes * (votes / (double)m->votes.n_votes);
    }
    return sum;
}

/* p (K) to the power of 1 / T, normalised, into out (K). */
static void temper(const double *p, size_t K, double T, double *out)
{
    double max = 0, total = 0;
    for (size_t t = 0; t < K; t++) max = p[t] > max ? p[t] : max;
    for (size_t t = 0; t < K; t++) total += out[t] = pow(p[t] / max, 1 / T);
    for (size_t t = 0; t < K; t++) out[t] /= total;
}

/* What an item's tempered posterior says of the votes on it. */
static void add_cautious(const dis__crowd_model *m, size_t i, const double *p, double *cautious)
{
    const dis_votes_view *v = &m->votes;
    if (!v->start || !dis__review_shared(m, i)) return;
    for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) cautious[v->worker[a]] += p[dis__vote_label(v, a)];
}

dis_status dis__review_calibrate(const dis__crowd_model *m, dis__review_sample *sample, dis_review_view *view,
                                 dis_review_item *rows)
{
    const size_t K = m->n_classes;
    const double *p = sample->p ? sample->p : m->p, chance = view->beyond_chance ? 0 : chance_level(m);
    double as_is = 0, *row_p;
    DIS_TRY(dis__alloc_array(&row_p, K, sizeof *row_p));
    for (size_t i = 0; i < m->votes.n_items; i++) {
        dis_review_item *row = rows + i;
        temper(p + i * K, K, fmax(fmin(view->temperature, row->votes), 1), row_p);
        if (row->known)
            row->right = (int32_t)row->label == m->gold[i];
        else
            row->right = view->beyond_chance ? fmin(row_p[row->label], 1) : chance;
        as_is += row->known || !view->beyond_chance ? row->right : p[i * K + row->label];
        if (sample->cautious) add_cautious(m, i, row_p, sample->cautious);
    }
    dis__free(row_p);
    view->right_independent = m->votes.n_items ? as_is / (double)m->votes.n_items : 0;
    return DIS_OK;
}
