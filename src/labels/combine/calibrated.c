/* Views made less sure by how many votes an item has, then their weighted mean:
 *
 *     q_i = sum_m w_m softmax(log p_mi / T_i),    T_i = min(n_i, limit) ^ power,    n_i votes on item i
 *
 * Models of workers multiply the votes on an item as if they were independent given the truth. On real crowds they are
 * not: what misleads one worker misleads the next, so every further vote says less than the model believes. Against
 * gold labels the best temperature of a view is above 1 on every real crowd measured, and it grows with the number of
 * votes like a power of it, also within one crowd whose votes are cut to 2, 3, 5 and 8 per item. docs/default-labels.md
 * has the figures, how power and limit were chosen, and what they cost on crowds whose votes are independent.
 *
 * A class that a view rules out (an item pinned by gold) stays ruled out.
 *
 * Cost: one pass; a logarithm and an exponential per number. */
#include "labels/combine/temper.h"
#include <math.h>

typedef struct {
    dis_reals weights;
    double power, limit;
} calibrated_options;

static const dis_option options[] = {
    DIS_OPTION_WEIGHTS,
    {.key = "power",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(calibrated_options, power),
     .fallback = ".7",
     .low = 0,
     .high = 1,
     .summary = "temperature of an item: its number of votes to this power; 0: votes are independent, 1: one vote"},
    {.key = "limit",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(calibrated_options, limit),
     .fallback = "16",
     .low = 1,
     .high = 1e9,
     .summary = "number of votes from which the temperature no longer rises"},
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
    size_t n_jobs;
    double *temperature; /* (n_items) */
} temperatures_work;

static dis_status temperatures_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const temperatures_work *w = arg;
    const calibrated_options *o = w->args->options;
    const size_t last = dis__job_first(w->args->n_items, w->n_jobs, j + 1);
    double last_n = 1, last_t = 1; /* neighbours often have as many votes */
    for (size_t i = dis__job_first(w->args->n_items, w->n_jobs, j); i < last; i++) {
        const double n = fmax(1, fmin(votes_on(w->votes, i), o->limit));
        if (n != last_n) last_t = pow(n, o->power);
        last_n = n;
        w->temperature[i] = last_t;
    }
    return DIS_OK;
}

static dis_status run_calibrated(const dis__combine_args *args)
{
    const dis_votes_view votes = dis_votes_look(args->votes);
    temperatures_work w = {.args = args, .votes = &votes, .n_jobs = dis__n_jobs(args->n_items, 1 << 14, 64)};
    DIS_TRY(dis__alloc_array(&w.temperature, args->n_items, sizeof *w.temperature));
    dis_status status = dis__run_jobs(args->ctx, w.n_jobs, temperatures_job, &w);
    const dis__temperatures t = {.value = w.temperature, .by_item = 1, .floor = -INFINITY};
    if (status == DIS_OK) status = dis__temper_mean(args, &t);
    dis__free(w.temperature);
    return status;
}

const dis__combiner dis__combiner_calibrated = {
    .info = {.name = "calibrated",
             .summary = "views made less sure by the number of votes, then averaged: votes are not independent",
             .source = "dissent; docs/default-labels.md",
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .needs_votes = true},
    .options_size = sizeof(calibrated_options),
    .run = run_calibrated,
};
