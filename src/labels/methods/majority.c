/* Majority vote: all mass on the class with most votes ("silver" labels in all four papers). The option `ties`
 * determines the result of a tie: the first class in class order, one of the tied classes drawn at random, or the mass
 * split evenly between them.
 *
 * The random choice is keyed by the seed and the text of the task's id, so it depends neither on the order of rows nor
 * on threads; renaming a task may change it (the only exception to the rule that names do not matter).
 *
 * Cost: one pass over the votes. */
#include "labels/passes/item_passes.h"
#include "core/random/random.h"

enum { TIES_FIRST, TIES_RANDOM, TIES_SPLIT };

typedef struct {
    int ties;
    dis_seed seed;
} majority_options;

static const dis_option options[] = {
    {.key = "ties",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(majority_options, ties),
     .default_value = "first",
     .choices = "first|random|split",
     .summary = "on a tie: take the first class, take a random one, or split the probability evenly"},
    DIS_OPTION_SEED_ROW(majority_options),
};

static void majority(const dis__fit_args *args, const void *arg, size_t i, double *p)
{
    (void)arg;
    const majority_options *o = args->options;
    const size_t n_classes = args->votes.n_classes;
    double max = 0;
    size_t n_tied = 0, n_before = 0;
    for (size_t k = 0; k < n_classes; k++) {
        n_tied = p[k] > max ? 1 : n_tied + (p[k] == max);
        max = p[k] > max ? p[k] : max;
    }
    size_t pick = 0;
    if (o->ties == TIES_RANDOM && n_tied > 1) {
        size_t length;
        const char *id = dis_names_get(args->votes.tasks, i, &length);
        pick = (size_t)dis__random_below(args->seed, DIS_STREAM_TIES, dis__random_key(id, length), n_tied);
    }
    for (size_t k = 0; k < n_classes; k++) {
        const bool tied = p[k] == max;
        if (o->ties == TIES_SPLIT)
            p[k] = tied ? 1 / (double)n_tied : 0;
        else
            p[k] = tied && n_before == pick;
        n_before += tied;
    }
}

static dis_status fit_majority(const dis__fit_args *args, dis_fit *fit)
{
    return dis__item_formula_fit(args, fit, &(dis__item_formula){.item = majority});
}

const dis__method dis__method_majority = {
    .info = {.name = "majority",
             .summary = "one-hot label: the class with most votes",
             .source = "the most common baseline; Sheng et al. 2008",
             .objective = "none",
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(majority_options),
    .seed_offset = offsetof(majority_options, seed) + 1,
    .fit = fit_majority,
    .shares = true,
    .ranks = true,
};
