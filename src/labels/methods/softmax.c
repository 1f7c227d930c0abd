/* Softmax of the counts: p = exp(c) / sum exp(c) (Uma et al. 2020 eq. 4, Wright & Augenstein 2022 eq. 10), so that
 * every class gets some mass. The largest count is subtracted first: 100,000 votes on an item do not overflow.
 *
 * Cost: one pass over the votes and n_classes exponentials per item. */
#include "core/numbers/elementary.h"
#include "labels/passes/item_passes.h"
#include <math.h>

typedef struct {
    char none;
} softmax_options;

static void softmax(const dis__fit_args *args, const void *arg, size_t i, double *p)
{
    (void)arg;
    (void)i;
    const size_t n_classes = args->votes.n_classes;
    double max = 0, sum = 0;
    for (size_t k = 0; k < n_classes; k++) max = p[k] > max ? p[k] : max;
    for (size_t k = 0; k < n_classes; k++) sum += p[k] = dis__exp(p[k] - max);
    for (size_t k = 0; k < n_classes; k++) p[k] /= sum;
}

static dis_status fit_softmax(const dis__fit_args *args, dis_fit *fit)
{
    return dis__item_formula_fit(args, fit, &(dis__item_formula){.item = softmax});
}

const dis__method dis__method_softmax = {
    .info = {.name = "softmax",
             .summary = "softmax of the vote counts; no class has probability 0",
             .source = "Uma et al. 2020 eq. 4, Wright & Augenstein 2022 eq. 10",
             .objective = "none"},
    .options_size = sizeof(softmax_options),
    .fit = fit_softmax,
    .shares = true,
    .ranks = true,
};
