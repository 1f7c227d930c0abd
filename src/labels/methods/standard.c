/* Vote shares: p = c / sum c (Uma et al. 2020 eq. 3, Wright & Augenstein 2022 eq. 9). An item without votes gets the
 * uniform distribution.
 *
 * Cost: one pass over the votes. */
#include "labels/passes/item_passes.h"
#include <float.h>

typedef struct {
    char none;
} standard_options;

static void shares(const dis__fit_args *args, const void *arg, size_t i, double *p)
{
    (void)arg;
    (void)i;
    const size_t n_classes = args->votes.n_classes;
    double sum = 0, max = 0;
    for (size_t k = 0; k < n_classes; k++) {
        sum += p[k];
        max = p[k] > max ? p[k] : max;
    }
    if (sum > DBL_MAX) { /* counts near the upper limit of double */
        sum = 0;
        for (size_t k = 0; k < n_classes; k++) sum += p[k] /= max;
    }
    for (size_t k = 0; k < n_classes; k++) p[k] /= sum;
}

static dis_status fit_standard(const dis__fit_args *args, dis_fit *fit)
{
    return dis__item_formula_fit(args, fit, &(dis__item_formula){.item = shares});
}

const dis__method dis__method_standard = {
    .info = {.name = "standard",
             .summary = "share of votes per class",
             .source = "Uma et al. 2020 eq. 3, Wright & Augenstein 2022 eq. 9",
             .objective = "none"},
    .options_size = sizeof(standard_options),
    .fit = fit_standard,
    .shares = true,
    .ranks = true,
};
