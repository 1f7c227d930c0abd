/* Views tempered by the number of votes on an item, averaged, and mixed with a small share of the smoothed vote shares:
 *
 *     q_i = (1 - mix) sum_m w_m softmax(log p_mi / T_i) + mix (counts_i + 2 rates) / (n_i + 2)
 *     T_i = min(n_i, limit) ^ power,    n_i votes on item i, rates: shares of the classes among all votes
 *
 * Models of annotators multiply the votes on an item as if they were independent given the class. On real crowds they
 * are not: annotators make the same errors, so every further vote adds less information than the model assumes. The
 * best temperature against gold labels grows like a power of the number of votes. The power follows from the
 * overdispersion s of the votes (overdispersion.h): power = BASE + SLOPE min(s, MAX_SPREAD), rounded to 3 digits so
 * that the reported value gives the same labels. The second term keeps the labels of unanimous items, some of which are
 * wrong, from being near-certain. docs/concepts/default-labels.md has the measurements and the choice of the constants.
 *
 * A class with probability 0 in all views (an item pinned by gold) keeps probability 0.
 *
 * With gold=choose, the gold labels choose w, the power and a factor per class (gold_weights.c).
 *
 * Cost: the estimate of the overdispersion, and one pass with a logarithm and an exponential per value. */
#include "core/numbers/elementary.h"
#include "labels/combine/gold_weights.h"
#include "labels/combine/overdispersion.h"
#include "labels/combine/tempering.h"
#include "labels/passes/item_passes.h"
#include <math.h>
#include <string.h>

#define BASE       .48
#define SLOPE      .3
#define MAX_SPREAD 1.5
#define SHARES     2.0 /* votes at the class rates that smooth the shares of an item */
enum { GRAIN = 1 << 14, MAX_JOBS = 64 };

typedef struct {
    dis_reals weights;
    double power, limit, mix;
    int gold;
} calibrated_options;

enum { GOLD_PIN, GOLD_CHOOSE };

static const dis_option options[] = {
    DIS_OPTION_WEIGHTS,
    {.key = "power",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(calibrated_options, power),
     .default_value = "auto",
     .choices = "auto",
     .low = 0,
     .high = 1,
     .summary = "exponent of the number of votes in an item's temperature, 0 if errors are independent; "
                "auto: estimated from the votes"},
    {.key = "limit",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(calibrated_options, limit),
     .default_value = "16",
     .low = 1,
     .high = 1e9,
     .summary = "number of votes above which the temperature stays constant"},
    {.key = "mix",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(calibrated_options, mix),
     .default_value = ".02",
     .low = 0,
     .high = 1,
     .summary = "weight of the smoothed vote shares in the result"},
    {.key = "gold",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(calibrated_options, gold),
     .default_value = "pin",
     .choices = "pin|choose",
     .summary = "pin: keep known labels; choose: also select weights, power and class weights from 10 or more of them"},
};

double dis__item_capped_votes(const dis_votes_view *votes, size_t i, double limit)
{
    double n = 0;
    if (votes->start)
        n = (double)(votes->start[i + 1] - votes->start[i]);
    else
        for (size_t k = 0; k < votes->n_classes; k++) n += votes->counts[i * votes->n_classes + k];
    return fmax(1, fmin(n, limit));
}

double dis__item_smoothed_counts(const dis_votes_view *votes, size_t i, const double *rate, double *shares)
{
    double total = 0;
    dis__item_count_votes(votes, i, shares);
    for (size_t k = 0; k < votes->n_classes; k++) total += shares[k] += SHARES * rate[k];
    return total;
}

typedef struct {
    const dis__combine_args *args;
    const dis_votes_view *votes;
    double power, limit, mix;
    size_t n_jobs;
    double *temperature; /* (n_items) */
    double *rate;        /* (K): shares of the classes among all votes */
    double *counts;      /* (threads, K) */
} calibrated_work;

static dis_status temperatures_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const calibrated_work *w = arg;
    const size_t last = dis__job_first(w->args->n_items, w->n_jobs, j + 1);
    double last_n = 1, last_t = 1; /* consecutive items often have the same number of votes */
    for (size_t i = dis__job_first(w->args->n_items, w->n_jobs, j); i < last; i++) {
        const double n = dis__item_capped_votes(w->votes, i, w->limit);
        if (n != last_n) last_t = dis__pow(n, w->power);
        last_n = n;
        w->temperature[i] = last_t;
    }
    return DIS_OK;
}

/* ---- smoothed vote shares ---- */

static void count_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const calibrated_work *w = arg;
    const size_t K = w->args->n_classes;
    double *counts = w->counts + (size_t)thread * K;
    for (size_t i = first; i < last; i++) {
        dis__item_count_votes(w->votes, i, counts);
        for (size_t k = 0; k < K; k++) sums[k] += counts[k];
    }
}

static dis_status find_rates(const calibrated_work *w)
{
    const dis__combine_args *a = w->args;
    const dis__fit_args items = {.ctx = a->ctx, .votes = *w->votes, .part = dis__votes_part_of(a->votes)};
    dis__item_sums s = {.args = &items,
                        .n_jobs = dis__n_jobs(items.part.n_items, GRAIN, MAX_JOBS),
                        .n_sums = a->n_classes,
                        .job = count_job,
                        .arg = (void *)(uintptr_t)w};
    DIS_TRY(dis__item_sums_create(&s));
    const dis_status status = dis__item_sums_run(&s, w->rate);
    dis__item_sums_destroy(&s);
    double total = 0;
    for (size_t k = 0; status == DIS_OK && k < a->n_classes; k++) total += w->rate[k];
    for (size_t k = 0; status == DIS_OK && k < a->n_classes && total > 0; k++) w->rate[k] /= total;
    return status;
}

/* Mixes the smoothed shares of the classes with positive probability into q. */
static void mix_item(const calibrated_work *w, size_t i, double *shares, double *q)
{
    const size_t K = w->args->n_classes;
    double total = 0;
    size_t n_possible = 0;
    dis__item_smoothed_counts(w->votes, i, w->rate, shares);
    for (size_t k = 0; k < K; k++) {
        if (!(q[k] > 0)) shares[k] = 0;
        total += shares[k];
        n_possible += q[k] > 0;
    }
    if (n_possible < 2 || !(total > 0)) return;
    for (size_t k = 0; k < K; k++) q[k] = (1 - w->mix) * q[k] + w->mix * shares[k] / total;
}

/* Class weights: factors of the classes, then scaled to sum to 1. */
static void favour_item(const double *factor, size_t K, double *q)
{
    double total = 0;
    for (size_t k = 0; k < K; k++) total += q[k] *= factor[k];
    for (size_t k = 0; k < K; k++) q[k] /= total;
}

static dis_status finish_job(void *arg, size_t j, int thread)
{
    const calibrated_work *w = arg;
    const double *factor = w->args->choice->class_weight;
    const size_t K = w->args->n_classes, last = dis__job_first(w->args->n_items, w->n_jobs, j + 1);
    for (size_t i = dis__job_first(w->args->n_items, w->n_jobs, j); i < last; i++) {
        if (w->mix > 0) mix_item(w, i, w->counts + (size_t)thread * K, w->args->out + i * K);
        if (factor) favour_item(factor, K, w->args->out + i * K);
    }
    return DIS_OK;
}

/* ---- all of it ---- */

static dis_status choose_power(const dis__combine_args *args, double *power)
{
    const calibrated_options *o = args->options;
    *power = o->power;
    if (isnan(o->power)) {
        DIS_TRY(dis__overdispersion_fit(args, &args->did->overdispersion));
        *power = round(1000 * (BASE + SLOPE * fmin(args->did->overdispersion, MAX_SPREAD))) / 1000;
    }
    return DIS_OK;
}

/* The power without gold labels, then the choice of the gold labels. */
static dis_status choose(calibrated_work *w)
{
    const dis__combine_args *a = w->args;
    const calibrated_options *o = a->options;
    const bool chosen = a->choice->n_gold > 0;
    if (!chosen) DIS_TRY(choose_power(a, &w->power));
    if (!chosen && o->gold == GOLD_CHOOSE && a->gold) {
        const dis__gold_weights_problem problem = {.args = a,
                                                   .votes = w->votes,
                                                   .rate = w->rate,
                                                   .limit = w->limit,
                                                   .mix = w->mix,
                                                   .power = w->power,
                                                   .fixed_power = !isnan(o->power)};
        DIS_TRY(dis__gold_weights_fit(&problem));
    }
    if (a->choice->n_gold > 0) w->power = a->choice->power;
    a->did->power = w->power;
    return DIS_OK;
}

/* The views with positive weight. */
static dis__combine_args weighted_views(const dis__combine_args *args, const double **p, double *weight)
{
    const double *from = args->choice->n_gold > 0 ? args->choice->weight : args->weight;
    dis__combine_args out = *args;
    out.n_views = 0;
    for (size_t m = 0; m < args->n_views; m++) {
        if (!(from[m] > 0)) continue;
        p[out.n_views] = args->p[m];
        weight[out.n_views++] = from[m];
    }
    out.p = p;
    out.weight = weight;
    return out;
}

static dis_status combine(calibrated_work *w)
{
    const dis__combine_args *a = w->args;
    const size_t K = a->n_classes, threads = (size_t)dis_context_n_threads(a->ctx);
    const double *p[DIS_MAX_VIEWS];
    double weight[DIS_MAX_VIEWS];
    DIS_TRY(dis__alloc_array(&w->temperature, a->n_items, sizeof *w->temperature));
    DIS_TRY(dis__alloc_zeroed(&w->rate, K, sizeof *w->rate));
    DIS_TRY(dis__alloc_array(&w->counts, dis__saturating_size(threads, K, 0), sizeof *w->counts));
    DIS_TRY(find_rates(w));
    DIS_TRY(choose(w));
    DIS_TRY(dis__run_jobs(a->ctx, w->n_jobs, temperatures_job, w));
    const dis__temperatures t = {.value = w->temperature, .by_item = 1, .floor = -INFINITY};
    const dis__combine_args views = weighted_views(a, p, weight);
    DIS_TRY(dis__tempered_mean_compute(&views, &t));
    return w->mix > 0 || a->choice->class_weight ? dis__run_jobs(a->ctx, w->n_jobs, finish_job, w) : DIS_OK;
}

static dis_status run_calibrated(const dis__combine_args *args)
{
    const calibrated_options *o = args->options;
    const dis_votes_view votes = dis_votes_get_view(args->votes);
    calibrated_work w = {.args = args,
                         .votes = &votes,
                         .limit = o->limit,
                         .mix = o->mix,
                         .n_jobs = dis__n_jobs(args->n_items, GRAIN, MAX_JOBS)};
    const dis_status status = combine(&w);
    dis__free(w.temperature);
    dis__free(w.rate);
    dis__free(w.counts);
    return status;
}

const dis__combiner dis__combiner_calibrated = {
    .info = {.name = "calibrated",
             .summary = "mean after tempering by the number of votes and their overdispersion",
             .source = "dissent; docs/concepts/default-labels.md",
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .needs_votes = true},
    .options_size = sizeof(calibrated_options),
    .run = run_calibrated,
};
