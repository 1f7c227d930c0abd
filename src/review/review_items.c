/* Statistics of each item.
 *
 * Gain: the expected reduction of the entropy of the true class, in nats, by one more vote of a typical worker (the
 * crowd's matrix, at the item's levels):
 *
 *     H(m) = sum over outcomes o of m votes of P(o) H(t
 * o),     gain = H(0) - H(1)
 *
 * H(m) decreases by less with every vote. The probability of a correct label after m votes, R(m) = sum over o of max
 * over t of P(t, o), is reported to users but not used for the ranking: it often does not rise with one vote, and
 * choosing by its steepest rise over several votes was worse in every simulated crowd (docs/evidence/review.md). Both
 * are exact for up to three classes; with more, the classes other than the item's two most probable ones are merged. An
 * outcome is the number of answers for each of three classes: (m + 1)(m + 2) / 2 of them.
 *
 * Surprise: each vote is predicted from the others (posterior of the true class without it, then that worker's matrix),
 * at the usual level. With s = -log of the predicted probability of the observed vote,
 *
 *     z = sum (s - E s) / sqrt(sum Var s)
 *
 * over the item's votes, E and Var under the predictions. If the workers' quality explains a disagreement, z is small.
 *
 * Cost: O(K) per item for the gain, O(K) per vote and probable class for the surprise. */
#include "core/numbers/elementary.h"
#include "review/review_parts.h"
#include "core/parallel/rank_jobs.h"
#include "dissent/labels.h"
#include "tool/arrays.h"
#include "labels/method.h"
#include <math.h>
#include <string.h>

enum { LEVELS = DIS_CROWD_LEVELS, GRAIN = 256, MAX_JOBS = 256, ANSWERS = 3 };
#define NEGLIGIBLE 1e-9 /* posterior probability below which a class is ignored in a prediction */

/* Number of sequences with x, y and m - x - y of three answers. */
static double ways(size_t m, size_t x, size_t y)
{
    double n = 1;
    for (size_t a = 0; a < x; a++) n = n * (double)(m - a) / (double)(a + 1);
    for (size_t a = 0; a < y; a++) n = n * (double)(m - x - a) / (double)(a + 1);
    return n;
}

/* The two most probable classes of a joint posterior; `other` is the most probable of the rest, K if there is none. */
typedef struct {
    size_t first, second, other;
    double p_first, p_second, p_other;
} podium;

static podium find_podium(const double *joint, size_t K)
{
    podium d = {.first = 0, .second = K, .other = K, .p_first = -1, .p_second = -1, .p_other = -1};
    for (size_t t = 0; t < K; t++) {
        double p = 0;
        for (size_t e = 0; e < LEVELS; e++) p += joint[e * K + t];
        if (p > d.p_first)
            d = (podium){t, d.p_first < 0 ? K : d.first, d.second, p, d.p_first, d.p_second};
        else if (p > d.p_second)
            d = (podium){d.first, t, d.second, d.p_first, p, d.p_second};
        else if (p > d.p_other) {
            d.other = t;
            d.p_other = p;
        }
    }
    return d;
}

/* mass[h]: probability of hypothesis h at one level; power[h][o][a]: probability of answer o under h, to the powers a =
 * 0 .. number of votes. */
typedef struct {
    double mass[ANSWERS];
    double power[ANSWERS][ANSWERS][DIS_REVIEW_MAX_VOTES + 1];
} level_table;

static void fill_level(const dis__crowd_model *m, const double *joint, const podium *d, size_t e, size_t n,
                       level_table *out)
{
    const size_t K = m->n_classes;
    const double *crowd = m->crowd + e * K * K, *p = joint + e * K;
    const size_t named[2] = {d->first, d->second};
    double chance[ANSWERS][ANSWERS] = {{0}};
    memset(out->mass, 0, sizeof out->mass);
    for (size_t t = 0; t < K; t++) {
        const size_t h = t == d->first ? 0 : t == d->second ? 1 : 2;
        out->mass[h] += p[t];
        for (size_t o = 0; o < 2 && named[o] < K; o++) chance[h][o] += p[t] * crowd[named[o] * K + t];
    }
    for (size_t h = 0; h < ANSWERS; h++) {
        for (size_t o = 0; o < 2; o++) chance[h][o] = out->mass[h] > 0 ? chance[h][o] / out->mass[h] : 0;
        chance[h][2] = K > 2 ? fmax(1 - chance[h][0] - chance[h][1], 0) : 0;
        for (size_t o = 0; o < ANSWERS; o++) {
            out->power[h][o][0] = 1;
            for (size_t a = 1; a <= n; a++) out->power[h][o][a] = out->power[h][o][a - 1] * chance[h][o];
        }
    }
}

static dis__review_prediction predict_votes(const dis__crowd_model *m, const double *joint, const podium *d, size_t n)
{
    level_table level[LEVELS];
    dis__review_prediction f = {0};
    double rest = 0;
    for (size_t e = 0; e < LEVELS; e++) {
        fill_level(m, joint, d, e, n, &level[e]);
        rest += level[e].mass[2];
    }
    const double best_of_rest = rest > 0 ? d->p_other / rest : 0;
    for (size_t x = 0; x <= n; x++)
        for (size_t y = m->n_classes > 2 ? 0 : n - x; x + y <= n; y++) {
            double p[ANSWERS] = {0}, total = 0;
            for (size_t e = 0; e < LEVELS; e++)
                for (size_t h = 0; h < ANSWERS; h++)
                    p[h] += level[e].mass[h] * level[e].power[h][0][x] * level[e].power[h][1][y] *
                            level[e].power[h][2][n - x - y];
            for (size_t h = 0; h < ANSWERS; h++) total += p[h];
            const double w = ways(n, x, y);
            for (size_t h = 0; h < ANSWERS; h++)
                if (p[h] > 0) f.entropy -= w * p[h] * dis__log(p[h] / total);
            f.right += w * fmax(fmax(p[0], p[1]), p[2] * best_of_rest);
        }
    return f;
}

dis__review_prediction dis__review_predict_item(const dis__crowd_model *m, size_t i, size_t n, double *scratch)
{
    const size_t K = m->n_classes;
    dis__crowd_compute_joint(m, i, scratch, scratch + LEVELS * K);
    const podium d = find_podium(scratch, K);
    return predict_votes(m, scratch, &d, n);
}

/* ---- surprise ---- */

/* Mean and variance of -log q under q, and -log q[cast]; q = sum over t of truth[t] exp(matrix[v][t]). */
typedef struct {
    double cast, mean, variance;
} surprise;

static surprise predict(const dis__crowd_model *m, const double *matrix, const double *truth, size_t cast, double *q)
{
    const size_t K = m->n_classes;
    memset(q, 0, K * sizeof *q);
    for (size_t t = 0; t < K; t++) {
        if (truth[t] < NEGLIGIBLE) continue;
        for (size_t v = 0; v < K; v++) q[v] += truth[t] * dis__exp(matrix[v * K + t]);
    }
    surprise s = {0};
    double square = 0;
    for (size_t v = 0; v < K; v++) {
        if (!(q[v] > 0)) continue;
        const double x = -dis__log(q[v]);
        s.mean += q[v] * x;
        square += q[v] * x * x;
        if (v == cast) s.cast = x;
    }
    s.variance = fmax(square - s.mean * s.mean, 0);
    return s;
}

/* truth[t] ~ prior[t] exp(sums[t] - row[t]): the posterior at the usual level without one vote. */
static void leave_out(const dis__crowd_model *m, size_t i, const double *sums, const double *row, double *truth)
{
    const size_t K = m->n_classes;
    const int32_t gold = m->gold ? m->gold[i] : -1;
    double max = -INFINITY, total = 0;
    for (size_t t = 0; t < K; t++) {
        truth[t] = gold >= 0 && (size_t)gold != t ? -INFINITY : m->log_prior[t] + sums[t] - row[t];
        if (truth[t] > max) max = truth[t];
    }
    for (size_t t = 0; t < K; t++) truth[t] -= max;
    m->special.exp(truth, K);
    for (size_t t = 0; t < K; t++) total += truth[t];
    for (size_t t = 0; t < K; t++) truth[t] /= total;
}

/* scratch: (2 K). */
static double surprise_of(const dis__crowd_model *m, size_t i, const double *sums, double *scratch)
{
    const dis_votes_view *v = &m->votes;
    const size_t K = m->n_classes;
    double *truth = scratch, *q = scratch + K, n = 0, excess = 0, variance = 0;
    const uint64_t first = v->start ? v->start[i] : 0, last = v->start ? v->start[i + 1] : K;
    for (uint64_t a = first; a < last; a++) {
        const size_t label = v->start ? dis__vote_label(v, a) : (size_t)a;
        const double *matrix = dis__crowd_matrix_at(m, v->start ? v->worker[a] : 0);
        const double weight = v->start ? 1 : v->counts[i * K + a];
        if (!(weight > 0)) continue;
        leave_out(m, i, sums, matrix + label * K, truth);
        const surprise s = predict(m, matrix, truth, label, q);
        excess += weight * (s.cast - s.mean);
        variance += weight * s.variance;
        n += weight;
    }
    return n >= 2 && variance > 0 ? excess / sqrt(variance) : 0;
}

/* ---- all items ---- */

typedef struct {
    const dis__crowd_model *m;
    const double *p;
    const int32_t *labels;
    dis_review_item *rows;
    size_t n_jobs, n_scratch;
    double *scratch;
} item_work;

/* counts: (K) scratch. */
static void count_votes(const dis__crowd_model *m, double *counts, dis_review_item *row)
{
    dis__item_count_votes(&m->votes, row->item, counts);
    row->second_class = row->label;
    for (size_t k = 0; k < m->n_classes; k++) {
        row->votes += counts[k];
        if (k == row->label || counts[k] <= row->votes_for_second) continue;
        row->second_class = k;
        row->votes_for_second = counts[k];
    }
    row->votes_for_label = counts[row->label];
}

static void review_item(const item_work *work, size_t i, double *scratch, dis_review_item *row)
{
    const dis__crowd_model *m = work->m;
    const size_t K = m->n_classes, best = dis__argmax(work->p + i * K, K);
    double *joint = scratch, *sums = joint + LEVELS * K;
    dis__crowd_compute_joint(m, i, joint, sums);
    const podium d = find_podium(joint, K);
    *row = (dis_review_item){.item = i,
                             .most_probable = best,
                             .label = work->labels && work->labels[i] >= 0 ? (size_t)work->labels[i] : best,
                             .is_gold = m->gold && m->gold[i] >= 0,
                             .surprise = surprise_of(m, i, sums, sums + K)};
    row->p_correct = row->is_gold ? (int32_t)row->label == m->gold[i] : fmin(work->p[i * K + row->label], 1);
    for (size_t t = 0; t < K; t++) row->p_hard += joint[DIS_CROWD_HARD * K + t];
    count_votes(m, sums, row);
    if (row->is_gold || K < 2) return;
    row->gain = fmax(predict_votes(m, joint, &d, 0).entropy - predict_votes(m, joint, &d, 1).entropy, 0);
}

static dis_status item_job(void *arg, size_t j, int thread)
{
    const item_work *w = arg;
    const size_t n = w->m->votes.n_items, last = dis__job_first(n, w->n_jobs, j + 1);
    for (size_t i = dis__job_first(n, w->n_jobs, j); i < last; i++)
        review_item(w, i, w->scratch + (size_t)thread * w->n_scratch, w->rows + i);
    return DIS_OK;
}

dis_status dis__review_compute_items(const dis__crowd_model *m, const double *p, const int32_t *labels,
                                     dis_review_item *rows)
{
    item_work w = {.m = m,
                   .p = p,
                   .labels = labels,
                   .rows = rows,
                   .n_jobs = dis__n_jobs(m->votes.n_items, GRAIN, MAX_JOBS),
                   .n_scratch = (LEVELS + 3) * m->n_classes};
    DIS_TRY(dis__alloc_array(&w.scratch, dis__saturating_size((size_t)dis_context_n_threads(m->ctx), w.n_scratch, 0),
                             sizeof *w.scratch));
    const dis__rank_rows all = {.table = rows, .row_size = sizeof *rows, .n = m->votes.n_items};
    const dis_status status = dis__run_rank_jobs(m->ctx, w.n_jobs, item_job, &w, &all, 1);
    dis__free(w.scratch);
    return status;
}
