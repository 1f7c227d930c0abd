/* Views tempered by the number of votes on an item, averaged, and mixed with a little of the smoothed vote shares:
 *
 *     q_i = (1 - mix) sum_m w_m softmax(log p_mi / T_i) + mix (counts_i + 2 rates) / (n_i + 2)
 *     T_i = min(n_i, limit) ^ power,    n_i votes on item i, rates: shares of the classes among all votes
 *
 * Models of annotators multiply the votes on an item as if they were independent given the class. On real crowds they
 * are not: what misleads one annotator misleads the next, so every further vote adds less than the model assumes. The
 * best temperature against gold labels grows like a power of the number of votes. The power follows from the
 * overdispersion s of the votes (overdispersion.h): power = BASE + SLOPE min(s, MAX_SPREAD), rounded to 3 digits so that
 * the value that is reported gives the same labels. The second term keeps items on which everyone agrees, some of
 * which are wrong, from being near-certain. docs/default-labels.md has the figures and how the constants were chosen.
 *
 * A class that all views rule out (an item pinned by gold) stays ruled out.
 *
 * Cost: the estimate of the overdispersion, and one pass with a logarithm and an exponential per value. */
#include "labels/combine/overdispersion.h"
#include "labels/combine/temper.h"
#include "labels/methods/job_sums.h"
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
} calibrated_options;

static const dis_option options[] = {
    DIS_OPTION_WEIGHTS,
    {.key = "power",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(calibrated_options, power),
     .fallback = "auto",
     .choices = "auto",
     .low = 0,
     .high = 1,
     .summary = "exponent of the number of votes in an item's temperature, 0 if errors are independent; "
                "auto: estimated from the votes"},
    {.key = "limit",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(calibrated_options, limit),
     .fallback = "16",
     .low = 1,
     .high = 1e9,
     .summary = "number of votes above which the temperature stays constant"},
    {.key = "mix",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(calibrated_options, mix),
     .fallback = ".02",
     .low = 0,
     .high = 1,
     .summary = "weight of the smoothed vote shares in the result"},
};

static double votes_on(const dis_votes_view *votes, size_t i)
{
    if (votes->start) return (double)(votes->start[i + 1] - votes->start[i]);
    double n = 0;
    for (size_t k = 0; k < votes->n_classes; k++) n += votes->counts[i * votes->n_classes + k];
    return n;
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
    double last_n = 1, last_t = 1; /* neighbours often have as many votes */
    for (size_t i = dis__job_first(w->args->n_items, w->n_jobs, j); i < last; i++) {
        const double n = fmax(1, fmin(votes_on(w->votes, i), w->limit));
        if (n != last_n) last_t = pow(n, w->power);
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
        dis__item_counts(w->votes, i, counts);
        for (size_t k = 0; k < K; k++) sums[k] += counts[k];
    }
}

static dis_status find_rates(const calibrated_work *w)
{
    const dis__combine_args *a = w->args;
    const dis__fit_args items = {.ctx = a->ctx, .votes = *w->votes, .part = dis__votes_part_of(a->votes)};
    dis__job_sums s = {.args = &items,
                       .n_jobs = dis__n_jobs(items.part.n_items, GRAIN, MAX_JOBS),
                       .n_sums = a->n_classes,
                       .job = count_job,
                       .arg = (void *)(uintptr_t)w};
    DIS_TRY(dis__job_sums_create(&s));
    const dis_status status = dis__job_sums_run(&s, w->rate);
    dis__job_sums_destroy(&s);
    double total = 0;
    for (size_t k = 0; status == DIS_OK && k < a->n_classes; k++) total += w->rate[k];
    for (size_t k = 0; status == DIS_OK && k < a->n_classes && total > 0; k++) w->rate[k] /= total;
    return status;
}

/* Mixes the smoothed shares of the classes that are not ruled out into q. */
static void mix_item(const calibrated_work *w, size_t i, double *shares, double *q)
{
    const size_t K = w->args->n_classes;
    double total = 0;
    size_t n_possible = 0;
    dis__item_counts(w->votes, i, shares);
    for (size_t k = 0; k < K; k++) {
        shares[k] = q[k] > 0 ? shares[k] + SHARES * w->rate[k] : 0;
        total += shares[k];
        n_possible += q[k] > 0;
    }
    if (n_possible < 2 || !(total > 0)) return;
    for (size_t k = 0; k < K; k++) q[k] = (1 - w->mix) * q[k] + w->mix * shares[k] / total;
}

static dis_status mix_job(void *arg, size_t j, int thread)
{
    const calibrated_work *w = arg;
    const size_t K = w->args->n_classes, last = dis__job_first(w->args->n_items, w->n_jobs, j + 1);
    for (size_t i = dis__job_first(w->args->n_items, w->n_jobs, j); i < last; i++)
        mix_item(w, i, w->counts + (size_t)thread * K, w->args->out + i * K);
    return DIS_OK;
}

/* ---- all of it ---- */

static dis_status choose_power(const dis__combine_args *args, double *power)
{
    const calibrated_options *o = args->options;
    *power = o->power;
    if (isnan(o->power)) {
        DIS_TRY(dis__overdispersion(args, &args->did->overdispersion));
        *power = round(1000 * (BASE + SLOPE * fmin(args->did->overdispersion, MAX_SPREAD))) / 1000;
    }
    args->did->power = *power;
    return DIS_OK;
}

static dis_status combine(calibrated_work *w)
{
    const dis__combine_args *a = w->args;
    const size_t K = a->n_classes, threads = (size_t)dis_context_threads(a->ctx);
    DIS_TRY(choose_power(a, &w->power));
    DIS_TRY(dis__alloc_array(&w->temperature, a->n_items, sizeof *w->temperature));
    DIS_TRY(dis__alloc_zeroed(&w->rate, K, sizeof *w->rate));
    DIS_TRY(dis__alloc_array(&w->counts, dis__size(threads, K, 0), sizeof *w->counts));
    DIS_TRY(dis__run_jobs(a->ctx, w->n_jobs, temperatures_job, w));
    const dis__temperatures t = {.value = w->temperature, .by_item = 1, .floor = -INFINITY};
    if (w->mix > 0) DIS_TRY(find_rates(w));
    DIS_TRY(dis__temper_mean(a, &t));
    return w->mix > 0 ? dis__run_jobs(a->ctx, w->n_jobs, mix_job, w) : DIS_OK;
}

static dis_status run_calibrated(const dis__combine_args *args)
{
    const calibrated_options *o = args->options;
    const dis_votes_view votes = dis_votes_look(args->votes);
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
             .summary = "views tempered by the number of votes and their overdispersion, then averaged",
             .source = "dissent; docs/default-labels.md",
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .needs_votes = true},
    .options_size = sizeof(calibrated_options),
    .run = run_calibrated,
};
