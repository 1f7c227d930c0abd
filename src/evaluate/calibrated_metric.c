/* Calibrated log-likelihood as a metric; calibrated_likelihood.c fits the temperatures. Intervals treat the temperatures
 * as given and resample the loss of the held-out halves. */
#include "core/memory/memory.h"
#include "evaluate/evaluation_internal.h"
#include <string.h>

static dis_status compute(dis_context *ctx, dis_evaluation *e, const dis__item_sums *s, dis_evaluation_metric m)
{
    (void)s;
    e->calibration = (dis__calibration){.n = e->view.n_gold,
                                        .n_classes = e->in.n_classes,
                                        .q = e->in.q,
                                        .gold = e->in.gold,
                                        .item = e->gold_item,
                                        .group = e->in.group,
                                        .n_groups = e->in.n_groups,
                                        .n_splits = e->o.n_splits,
                                        .seed = e->o.seed};
    const char *reason;
    DIS_TRY(dis__temperatures_fit(ctx, &e->calibration, &e->calibrated, &reason));
    if (reason) {
        dis__metric_set_undefined(e, m, reason);
        return DIS_OK;
    }
    dis__metric_set(e, m, e->calibrated.value, e->view.n_gold);
    e->view.n_splits = e->o.n_splits;
    e->view.temperature = e->calibrated.temperature;
    e->view.at_bound = e->calibrated.on_bound;
    return DIS_OK;
}

/* Each split is a sum of losses over a sum of ones: items of the held-out half. */
static dis_status add_columns(dis__resampling *r, double **own)
{
    dis_evaluation *e = r->e;
    const size_t n = e->view.n_gold, n_splits = e->o.n_splits;
    DIS_TRY(dis__alloc_array(own, dis__saturating_size(n, 2 * n_splits, 0), sizeof **own));
    double *loss[DIS_EVALUATION_MAX_SPLITS];
    for (size_t s = 0; s < n_splits; s++) {
        loss[s] = *own + 2 * s * n;
        double *held = loss[s] + n;
        for (size_t i = 0; i < n; i++) held[i] = !(e->calibrated.fitted[i] >> s & 1);
        r->column[r->n_columns++] = loss[s];
        r->column[r->n_columns++] = held;
    }
    return dis__calibrated_losses_compute(r->ctx, &e->calibration, &e->calibrated, loss);
}

/* NaN if no item of a held-out half was drawn. */
static double from_sums(const dis_evaluation *e, const double *sums, double n_draws)
{
    (void)n_draws;
    double x = 0;
    for (size_t s = 0; s < e->o.n_splits; s++) x += sums[2 * s] / sums[2 * s + 1] / (double)e->o.n_splits;
    return x;
}

const dis__metric_code dis__calibrated_log_likelihood = {.compute = compute,
                                                         .add_columns = add_columns,
                                                         .from_sums = from_sums};
