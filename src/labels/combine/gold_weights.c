/* Gold labels choose how `calibrated` combines views: the weights of the views, the temperature, and class weights. See
 * gold_weights.h.
 *
 * The views must be fitted without the gold labels, so that a gold label tests them. Let q_h be the prediction
 * under hypothesis h: one of the views, or the mean of all by the weights that apply without gold labels (the base),
 * tempered with one of the powers 0, .1, ... 1 and mixed with the smoothed vote shares. Then
 *
 *     P(h | gold labels)  is proportional to  prior(h) prod_i q_h(label of i),
 *     prior(h) = (2/3 for the base, 1/3 shared by the views) * normal(power; the estimated power, .15).
 *
 * The weight of a view is the posterior probability of the view, including its part of the base, and the power is the
 * posterior mean; views with a weight below .01 are left out. (Averaging over hypotheses would differ by .001 in
 * log-loss.) Finally each class gets a factor exp(b_k), with b the maximum of
 *
 *     sum_i log(q(i, label of i) exp(b_label) / sum_k q(i, k) exp(b_k)) - sum_k b_k^2 / (2 * .2^2),
 *
 * which corrects models that predict rare classes too often. b is found by steps g_k / (2 h_k + 1 / .2^2), where g is
 * the gradient and h_k = sum_i q(1 - q); twice the diagonal bounds the curvature, since a row of the Hessian outside of
 * the diagonal sums to -h_k.
 *
 * The expected gain is estimated on the gold labels, each predicted from the choice of the others: its factor is
 * divided out of the posterior, and b is corrected by one such step. docs/concepts/default-labels.md has the
 * measurements.
 *
 * Cost: per known label two passes over (views x powers x classes), and one over the classes per step of b. Sums are
 * over items in fixed blocks, so threads and ranks do not change them. */
#include "core/numbers/elementary.h"
#include "labels/combine/gold_weights.h"
#include "core/parallel/comm.h"
#include "core/numbers/special_functions.h"
#include "labels/passes/item_passes.h"
#include <math.h>
#include <string.h>

enum { POWERS = 11, GRAIN = 256, MAX_JOBS = 64, MAX_STEPS = 500 };
#define POWER_SD   .15
#define BASE_PRIOR (2 / 3.)
#define CLASS_SD   .2
#define FLOOR      1e-12
#define CONVERGED  1e-10

typedef struct {
    const dis__gold_weights_problem *problem;
    const dis__combine_args *args;
    size_t n_powers, n_hypotheses; /* hypothesis (1 + m) * n_powers + a: view m, power a; the base comes first */
    double power[POWERS];
    double *log_prior, *score; /* (n_hypotheses): score: unnormalised log posterior */
    double *q;                 /* (n_known here, K): predictions of the choice */
    size_t *item;              /* (n_known here): their items */
    size_t n_known;
    double *scratch; /* (threads, n_scratch) */
    size_t n_scratch;
    double *b, *curvature; /* (K) */
    dis__gold_weights *choice;
    dis__special_functions special;
} gold_work;

/* Parts of a thread's scratch memory. */
typedef struct {
    double *log_p;      /* (n_views, K): log p minus its maximum */
    double *tempered;   /* (n_views, K) */
    double *shares, *q; /* (K) */
    double *score;      /* (n_hypotheses) */
} room;

static room room_of(const gold_work *w, int thread)
{
    const size_t K = w->args->n_classes, table = w->args->n_views * K;
    double *at = w->scratch + (size_t)thread * w->n_scratch;
    return (room){at, at + table, at + 2 * table, at + 2 * table + K, at + 2 * table + 2 * K};
}

static void begin_item(const gold_work *w, size_t i, const room *r)
{
    const dis__gold_weights_problem *g = w->problem;
    const size_t K = w->args->n_classes;
    const double total = dis__item_smoothed_counts(g->votes, i, g->rate, r->shares);
    for (size_t k = 0; k < K; k++) r->shares[k] /= total;
    for (size_t m = 0; m < w->args->n_views; m++) memcpy(r->log_p + m * K, w->args->p[m] + i * K, K * sizeof(double));
    w->special.log(r->log_p, w->args->n_views * K);
    for (size_t m = 0; m < w->args->n_views; m++) {
        double *x = r->log_p + m * K, max = -INFINITY;
        for (size_t k = 0; k < K; k++) max = fmax(max, x[k]);
        for (size_t k = 0; k < K; k++) x[k] -= max;
    }
}

/* softmax(log p / T) of every view into r->tempered. */
static void temper_item(const gold_work *w, double temperature, const room *r)
{
    const size_t K = w->args->n_classes, n = w->args->n_views * K;
    for (size_t x = 0; x < n; x++) r->tempered[x] = r->log_p[x] / temperature;
    w->special.exp(r->tempered, n);
    for (size_t m = 0; m < w->args->n_views; m++) {
        double *t = r->tempered + m * K, sum = 0;
        for (size_t k = 0; k < K; k++) sum += t[k];
        for (size_t k = 0; k < K; k++) t[k] /= sum;
    }
}

/* Log-probabilities of the label of item i under every hypothesis, into r->score. */
static void score_item(const gold_work *w, size_t i, const room *r)
{
    const dis__gold_weights_problem *g = w->problem;
    const size_t K = w->args->n_classes, label = (size_t)w->args->gold[i];
    const double n = dis__item_capped_votes(g->votes, i, g->limit);
    begin_item(w, i, r);
    for (size_t a = 0; a < w->n_powers; a++) {
        double base = 0;
        temper_item(w, dis__pow(n, w->power[a]), r);
        for (size_t m = 0; m < w->args->n_views; m++) {
            const double p = r->tempered[m * K + label];
            r->score[(1 + m) * w->n_powers + a] = (1 - g->mix) * p + g->mix * r->shares[label];
            base += w->args->weight[m] * p;
        }
        r->score[a] = (1 - g->mix) * base + g->mix * r->shares[label];
    }
    for (size_t h = 0; h < w->n_hypotheses; h++) r->score[h] = fmax(r->score[h], FLOOR);
    w->special.log(r->score, w->n_hypotheses);
}

/* The prediction with these weights and this power, into r->q; begin_item() has been called. */
static void predict_item(const gold_work *w, size_t i, const double *weight, double power, const room *r)
{
    const dis__gold_weights_problem *g = w->problem;
    const size_t K = w->args->n_classes;
    temper_item(w, dis__pow(dis__item_capped_votes(g->votes, i, g->limit), power), r);
    for (size_t k = 0; k < K; k++) {
        double mean = 0;
        for (size_t m = 0; m < w->args->n_views; m++) mean += weight[m] * r->tempered[m * K + k];
        r->q[k] = (1 - g->mix) * mean + g->mix * r->shares[k];
    }
}

/* Weights and power for log posteriors score - less (less NULL: 0). */
static double summarize(const gold_work *w, const double *less, double *weight)
{
    double max = -INFINITY, total = 0, power = 0, weight_sum = 0;
    for (size_t h = 0; h < w->n_hypotheses; h++) max = fmax(max, w->score[h] - (less ? less[h] : 0));
    for (size_t m = 0; m < w->args->n_views; m++) weight[m] = 0;
    for (size_t h = 0; h < w->n_hypotheses; h++) {
        const double p = dis__exp(w->score[h] - (less ? less[h] : 0) - max);
        const size_t view = h / w->n_powers;
        total += p;
        power += p * w->power[h % w->n_powers];
        if (view) weight[view - 1] += p;
        for (size_t m = 0; !view && m < w->args->n_views; m++) weight[m] += p * w->args->weight[m];
    }
    for (size_t m = 0; m < w->args->n_views; m++) {
        if (weight[m] < DIS_MIN_VIEW_WEIGHT * total) weight[m] = 0;
        weight_sum += weight[m];
    }
    for (size_t m = 0; m < w->args->n_views; m++) weight[m] /= weight_sum;
    return power / total;
}

/* ---- passes over the known items ---- */

static void score_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const gold_work *w = arg;
    const room r = room_of(w, thread);
    for (size_t i = first; i < last; i++) {
        if (w->args->gold[i] < 0) continue;
        score_item(w, i, &r);
        for (size_t h = 0; h < w->n_hypotheses; h++) sums[h] += r.score[h];
    }
}

/* Offsets in w->item of the gold items from `first` on. */
static size_t known_from(const gold_work *w, size_t first)
{
    size_t low = 0, high = w->n_known;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (w->item[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void predict_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    (void)sums;
    const gold_work *w = arg;
    const room r = room_of(w, thread);
    const size_t K = w->args->n_classes;
    for (size_t x = known_from(w, first); x < w->n_known && w->item[x] < last; x++) {
        begin_item(w, w->item[x], &r);
        predict_item(w, w->item[x], w->choice->weight, w->choice->power, &r);
        memcpy(w->q + x * K, r.q, K * sizeof *w->q);
    }
}

/* q exp(b), normalised, into out. */
static void favour(const double *q, const double *factor, size_t K, double *out)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += out[k] = q[k] * factor[k];
    for (size_t k = 0; k < K; k++) out[k] /= sum;
}

/* Gradient and curvature of the gold items: sums (2 K). */
static void class_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const gold_work *w = arg;
    const room r = room_of(w, thread);
    const size_t K = w->args->n_classes;
    for (size_t x = known_from(w, first); x < w->n_known && w->item[x] < last; x++) {
        favour(w->q + x * K, w->choice->class_weight, K, r.q);
        sums[w->args->gold[w->item[x]]] += 1;
        for (size_t k = 0; k < K; k++) {
            sums[k] -= r.q[k];
            sums[K + k] += r.q[k] * (1 - r.q[k]);
        }
    }
}

/* Losses of the gold labels, each predicted from the choice of the others: sums[0]; by the base: sums[1]. */
static void loss_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const gold_work *w = arg;
    const room r = room_of(w, thread);
    const size_t K = w->args->n_classes;
    double weight[DIS_MAX_VIEWS];
    for (size_t x = known_from(w, first); x < w->n_known && w->item[x] < last; x++) {
        const size_t i = w->item[x], label = (size_t)w->args->gold[i];
        double sum = 0;
        score_item(w, i, &r);
        predict_item(w, i, w->args->weight, w->problem->power, &r);
        sums[1] -= dis__log(fmax(r.q[label], FLOOR));
        const double power = summarize(w, r.score, weight);
        favour(w->q + x * K, w->choice->class_weight, K, r.shares); /* the shares are used again below */
        for (size_t k = 0; k < K; k++)
            r.score[k] =
                w->b[k] - ((k == label) - r.shares[k]) /
                              (2 * (w->curvature[k] - r.shares[k] * (1 - r.shares[k])) + 1 / (CLASS_SD * CLASS_SD));
        begin_item(w, i, &r);
        predict_item(w, i, weight, power, &r);
        for (size_t k = 0; k < K; k++) sum += r.q[k] *= dis__exp(r.score[k]);
        sums[0] -= dis__log(fmax(r.q[label] / sum, FLOOR));
    }
}

static dis_status run_pass(gold_work *w, size_t n_sums,
                           void (*job)(void *arg, size_t first, size_t last, double *sums, int thread), double *total)
{
    const dis__combine_args *a = w->args;
    const dis__fit_args items = {.ctx = a->ctx, .votes = *w->problem->votes, .part = dis__votes_part_of(a->votes)};
    dis__item_sums s = {.args = &items,
                        .n_jobs = dis__n_jobs(items.part.n_items, GRAIN, MAX_JOBS),
                        .n_sums = n_sums,
                        .job = job,
                        .arg = w};
    DIS_TRY(dis__item_sums_create(&s));
    const dis_status status = dis__item_sums_run(&s, total);
    dis__item_sums_destroy(&s);
    return status;
}

/* ---- the choice ---- */

static void put_priors(gold_work *w)
{
    const size_t n_views = w->args->n_views;
    for (size_t h = 0; h < w->n_hypotheses; h++) {
        const double z = (w->power[h % w->n_powers] - w->problem->power) / POWER_SD;
        w->log_prior[h] = dis__log(h < w->n_powers ? BASE_PRIOR : (1 - BASE_PRIOR) / (double)n_views) - .5 * z * z;
    }
}

static dis_status choose_weights(gold_work *w)
{
    put_priors(w);
    DIS_TRY(run_pass(w, w->n_hypotheses, score_job, w->score));
    for (size_t h = 0; h < w->n_hypotheses; h++) w->score[h] += w->log_prior[h];
    const double power = summarize(w, NULL, w->choice->weight);
    w->choice->power = w->problem->fixed_power ? w->problem->power : round(1000 * power) / 1000;
    return DIS_OK;
}

static dis_status choose_classes(gold_work *w)
{
    const size_t K = w->args->n_classes;
    double none, *sums = w->log_prior; /* free at this point, and long enough */
    DIS_TRY(run_pass(w, 1, predict_job, &none));
    for (int step = 0; step < MAX_STEPS; step++) {
        double largest = 0;
        for (size_t k = 0; k < K; k++) w->choice->class_weight[k] = dis__exp(w->b[k]);
        DIS_TRY(run_pass(w, 2 * K, class_job, sums));
        for (size_t k = 0; k < K; k++) {
            const double by =
                (sums[k] - w->b[k] / (CLASS_SD * CLASS_SD)) / (2 * sums[K + k] + 1 / (CLASS_SD * CLASS_SD));
            const double bounded = fmin(fmax(by, -1), 1);
            w->curvature[k] = sums[K + k];
            w->b[k] += bounded;
            largest = fmax(largest, fabs(bounded));
        }
        if (largest < CONVERGED) break;
    }
    for (size_t k = 0; k < K; k++) w->choice->class_weight[k] = dis__exp(w->b[k]);
    return DIS_OK;
}

static dis_status allocate(gold_work *w)
{
    const dis__combine_args *a = w->args;
    const size_t K = a->n_classes, n_sums = w->n_hypotheses > 2 * K ? w->n_hypotheses : 2 * K;
    w->n_scratch = dis__saturating_size(a->n_views + 1, 2 * K, n_sums);
    DIS_TRY(dis__alloc_array(&w->item, w->n_known ? w->n_known : 1, sizeof *w->item));
    DIS_TRY(dis__alloc_array(&w->q, dis__saturating_size(w->n_known ? w->n_known : 1, K, 0), sizeof *w->q));
    DIS_TRY(dis__alloc_array(&w->score, w->n_hypotheses, sizeof *w->score));
    DIS_TRY(dis__alloc_array(&w->log_prior, n_sums, sizeof *w->log_prior));
    DIS_TRY(dis__alloc_zeroed(&w->b, K, sizeof *w->b));
    DIS_TRY(dis__alloc_zeroed(&w->curvature, K, sizeof *w->curvature));
    DIS_TRY(dis__alloc_zeroed(&w->choice->class_weight, K, sizeof *w->choice->class_weight));
    return dis__alloc_array(&w->scratch, (size_t)dis_context_n_threads(a->ctx),
                            dis__saturating_size(w->n_scratch, sizeof(double), 0));
}

static dis_status choose(gold_work *w, size_t n_all)
{
    double loss[2];
    size_t n = 0;
    DIS_TRY(allocate(w));
    for (size_t i = 0; i < w->args->n_items; i++)
        if (w->args->gold[i] >= 0) w->item[n++] = i;
    DIS_TRY(choose_weights(w));
    DIS_TRY(choose_classes(w));
    DIS_TRY(run_pass(w, 2, loss_job, loss));
    w->choice->loss = loss[0] / (double)n_all;
    w->choice->base_loss = loss[1] / (double)n_all;
    w->choice->n_gold = n_all;
    return DIS_OK;
}

dis_status dis__gold_weights_fit(const dis__gold_weights_problem *problem)
{
    const dis__combine_args *a = problem->args;
    gold_work w = {.problem = problem, .args = a, .choice = a->choice, .special = dis__special_functions_select()};
    for (size_t i = 0; i < a->n_items; i++) w.n_known += a->gold[i] >= 0;
    uint64_t n_all = w.n_known;
    DIS_TRY(dis__comm_sum_counts(dis__context_comm(a->ctx), &n_all, 1));
    if (n_all < DIS_MIN_GOLD) return DIS_OK;
    w.n_powers = problem->fixed_power ? 1 : POWERS;
    w.n_hypotheses = (1 + a->n_views) * w.n_powers;
    for (size_t x = 0; x < w.n_powers; x++)
        w.power[x] = problem->fixed_power ? problem->power : (double)x / (POWERS - 1);
    const dis_status status = choose(&w, n_all);
    dis__free(w.log_prior);
    dis__free(w.score);
    dis__free(w.q);
    dis__free(w.item);
    dis__free(w.scratch);
    dis__free(w.b);
    dis__free(w.curvature);
    return status;
}
