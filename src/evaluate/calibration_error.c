/* Expected calibration error: mean |accuracy - confidence| over equal bins of confidence (Guo et al. 2017). Intervals
 * resample the sums of each bin. */
#include "core/memory/memory.h"
#include "evaluate/evaluation_internal.h"
#include <math.h>

static dis_status compute(dis_context *ctx, dis_evaluation *e, const dis__item_sums *s, dis_evaluation_metric m)
{
    (void)ctx;
    double error = 0;
    for (size_t b = 0; b < e->o.n_bins; b++) error += fabs(s->bin[b].correct - s->bin[b].confidence);
    dis__metric_set(e, m, error / (double)e->view.n_gold, e->view.n_gold);
    return DIS_OK;
}

/* Of one resample, from the sums of its bins. */
static double ece_of(const double *sum, size_t n_bins, size_t n_draws)
{
    double error = 0;
    for (size_t b = 0; b < n_bins; b++) error += fabs(sum[b]);
    return error / (double)n_draws;
}

static dis_status resample(dis_context *ctx, dis_evaluation *e, const dis__bootstrap *b, double *value)
{
    const size_t n = e->view.n_gold, n_bins = e->o.n_bins;
    uint8_t *bin = NULL;
    double *excess = NULL /* confidence minus whether the prediction was correct */, *sums = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&bin, n, sizeof *bin), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&excess, n, sizeof *excess), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&sums, dis__saturating_size(b->n_resamples, n_bins, 0), sizeof *sums), end);
    for (size_t i = 0; i < n; i++) {
        const size_t item = e->gold_item ? e->gold_item[i] : i;
        const double confidence = e->column[DIS_ITEM_CONFIDENCE][item];
        bin[i] = (uint8_t)dis__reliability_bin_of(confidence, n_bins);
        excess[i] = confidence - e->column[DIS_ITEM_CORRECT][item];
    }
    DIS_TRY_GOTO(status, dis__bootstrap_bins(ctx, b, excess, bin, n_bins, sums), end);
    for (size_t r = 0; r < b->n_resamples; r++) value[r] = ece_of(sums + r * n_bins, n_bins, b->n_draws);
end:
    dis__free(bin);
    dis__free(excess);
    dis__free(sums);
    return status;
}

const dis__metric_code dis__calibration_error = {.interval_columns = 1u << DIS_ITEM_CONFIDENCE | 1u << DIS_ITEM_CORRECT,
                                                 .compute = compute,
                                                 .resample = resample};
