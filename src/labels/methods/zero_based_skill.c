/* Zero-based skill: skills s and the vote weighted by them are updated in turn,
 *
 *     s <- s + rate * (share of the worker's votes that agree with the weighted vote - s),
 *
 * from s = 1/K + 1e-5, halving the rate at every 20th step (crowd-kit 1.4.1, ZeroBasedSkill). Ties take the first
 * class. The rule has no objective. Once a step changes no skill, later ones would not either, and the method stops:
 * with the default rate of 1 that is usually after a few of the 100 steps, with the same result.
 *
 * Cost: one pass over the votes per step. */
#include "labels/passes/weighted_majority.h"
#include <string.h>

typedef struct {
    int64_t iterations, every;
    double rate, factor, margin;
} zbs_options;

static const dis_option options[] = {
    DIS_OPTION_ITERATIONS(zbs_options, "100"),
    {.key = "rate",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(zbs_options, rate),
     .default_value = "1",
     .low = 0,
     .high = 1,
     .summary = "step size towards the latest agreement"},
    {.key = "every",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(zbs_options, every),
     .default_value = "20",
     .low = 1,
     .high = 1e9,
     .summary = "number of steps after which the rate decreases"},
    {.key = "factor",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(zbs_options, factor),
     .default_value = ".5",
     .low = 0,
     .high = 1,
     .summary = "factor by which the rate decreases"},
    {.key = "margin",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(zbs_options, margin),
     .default_value = "1e-5",
     .low = 0,
     .high = 1,
     .summary = "initial accuracy minus chance"},
};

static dis_status run_zbs(const dis__fit_args *args, dis__weighted_majority *vote, double *accuracy, dis_fit *fit)
{
    const zbs_options *o = args->options;
    double *skill, rate = o->rate;
    DIS_TRY(dis__fit_add_parameter(fit, "skill", "w", &skill));
    for (size_t w = 0; w < fit->n_workers; w++) accuracy[w] = skill[w] = 1 / (double)fit->n_classes + o->margin;
    fit->converged = false;
    for (int64_t step = 1; step <= o->iterations && !fit->converged; step++) {
        if (step % o->every == 0) rate *= o->factor;
        DIS_TRY(dis__weighted_majority_compute_accuracy(vote, skill, accuracy));
        bool moved = false;
        for (size_t w = 0; w < fit->n_workers; w++) {
            const double next = skill[w] + rate * (accuracy[w] - skill[w]);
            moved |= next != skill[w];
            skill[w] = next;
        }
        fit->iterations = (int)step;
        fit->converged = !moved;
        dis__progress(args->ctx, "zero-based-skill", (double)step / (double)o->iterations);
    }
    return dis__weighted_majority_compute_shares(vote, skill, fit->p);
}

static dis_status fit_zbs(const dis__fit_args *args, dis_fit *fit)
{
    dis__weighted_majority vote;
    double *accuracy = NULL;
    dis_status status = dis__weighted_majority_create(args, &vote);
    if (status == DIS_OK) status = dis__alloc_array(&accuracy, fit->n_workers, sizeof *accuracy);
    if (status == DIS_OK) status = run_zbs(args, &vote, accuracy, fit);
    dis__free(accuracy);
    dis__weighted_majority_destroy(&vote);
    return status;
}

const dis__method dis__method_zero_based_skill = {
    .info = {.name = "zero-based-skill",
             .summary = "votes weighted by each annotator's agreement with the weighted majority, iterated",
             .source = "crowd-kit 1.4.1, ZeroBasedSkill",
             .objective = "none",
             .needs_workers = true,
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(zbs_options),
    .memory = dis__weighted_majority_memory,
    .fit = fit_zbs,
    .ranks = true,
};
