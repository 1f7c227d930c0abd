/* Worker agreement with aggregate: a worker's skill is the share of the votes that agree with the majority; the soft
 * label is each class's share of the summed skill of its votes (the "Wawa" rule of crowdsourcing platforms, as in
 * crowd-kit 1.4.1). A tied majority takes the first class. Workers without votes have skill 0. Items with a gold label
 * use it in place of the majority.
 *
 * Cost: two passes over the votes. */
#include "labels/passes/weighted_majority.h"

typedef struct {
    char none;
} wawa_options;

static dis_status run_wawa(dis__weighted_majority *vote, dis_fit *fit)
{
    double *skill, *equal;
    DIS_TRY(dis__fit_add_parameter(fit, "skill", "w", &skill));
    DIS_TRY(dis__alloc_array(&equal, fit->n_workers, sizeof *equal));
    for (size_t w = 0; w < fit->n_workers; w++) equal[w] = 1;
    const dis_status status = dis__weighted_majority_compute_accuracy(vote, equal, skill);
    dis__free(equal);
    return status == DIS_OK ? dis__weighted_majority_compute_shares(vote, skill, fit->p) : status;
}

static dis_status fit_wawa(const dis__fit_args *args, dis_fit *fit)
{
    dis__weighted_majority vote;
    dis_status status = dis__weighted_majority_create(args, &vote);
    if (status == DIS_OK) status = run_wawa(&vote, fit);
    dis__weighted_majority_destroy(&vote);
    return status;
}

const dis__method dis__method_wawa = {
    .info = {.name = "wawa",
             .summary = "votes weighted by each annotator's agreement with the majority",
             .source = "crowd-kit 1.4.1, Wawa",
             .objective = "none",
             .needs_workers = true},
    .options_size = sizeof(wawa_options),
    .memory = dis__weighted_majority_memory,
    .fit = fit_wawa,
    .ranks = true,
};
