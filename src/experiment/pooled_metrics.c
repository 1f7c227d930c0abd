/* Metrics of gold labels on the predictions of all folds of a seed together. Seeds of which predictions are missing, and
 * other metrics, have the mean over folds. Cost: all predictions are read once per set. */
#include "experiment/experiment_internal.h"
#include "experiment/compare_cells.h"
#include "core/error.h"
#include <string.h>

static bool pools(const dis_experiment_measure *m, const char *set)
{
    return dis_evaluation_metric_get(m->metric)->needs == DIS_NEEDS_GOLD && strcmp(m->set, set) == 0;
}

static dis_status measure(dis_context *ctx, const dis__plan *plan, const dis__pooled *p, const char *set, double *value)
{
    bool wanted[DIS_EVALUATION_METRICS] = {false};
    dis_evaluation_options o = dis_evaluation_options_default();
    dis_evaluation *evaluation;
    o.resamples = 0;
    o.n_metrics = DIS_EVALUATION_METRICS;
    o.metrics = wanted;
    for (size_t m = 0; m < plan->n_measures; m++)
        if (pools(&plan->measure[m], set)) wanted[plan->measure[m].metric] = true;
    const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                     .n_items = p->n_items,
                                     .n_classes = p->n_classes,
                                     .q = p->p,
                                     .gold = p->gold};
    DIS_TRY(dis_evaluation_run(ctx, &in, &o, &evaluation));
    const dis_evaluation_view v = dis_evaluation_get_view(evaluation);
    for (size_t m = 0; m < plan->n_measures; m++)
        if (pools(&plan->measure[m], set) && !v.metric[plan->measure[m].metric].reason)
            value[m] = v.metric[plan->measure[m].metric].value;
    dis_evaluation_destroy(evaluation);
    return DIS_OK;
}

static dis_status one_set(dis_context *ctx, const dis__plan *plan, dis__store *store, const dis__known *known, size_t r,
                          const char *set, double *value)
{
    const dis__run *run = &plan->run[r];
    dis__pooled pooled;
    bool found;
    DIS_TRY(dis__pool_folds(ctx, store, plan, known->state, run->cell, run->seed, set, true, &pooled, &found));
    if (!found) return DIS_OK;
    const dis_status status = pooled.gold ? measure(ctx, plan, &pooled, set, value) : DIS_OK;
    dis__pooled_free(&pooled);
    return status;
}

dis_status dis__pooled_values(dis_context *ctx, const dis__plan *plan, dis__store *store, const dis__known *known,
                              size_t r, double *value)
{
    for (size_t m = 0; store && m < plan->n_measures; m++) {
        const char *set = plan->measure[m].set;
        bool before = !pools(&plan->measure[m], set);
        for (size_t i = 0; i < m; i++) before |= pools(&plan->measure[i], set);
        if (!before) DIS_TRY(one_set(ctx, plan, store, known, r, set, value));
    }
    return DIS_OK;
}
