/* A review of ordered classes: the method ordinal (src/labels/methods/ordinal.c), fitted with standard errors. Unless
 * labels are given, they are its most probable classes, correct if the item's position is between the thresholds of the
 * class. The gain of a vote is its expected information on the position. Workers get bias, spread and lapses with 95 %
 * intervals: of bias by +- 1.96 standard errors, of spread by the same on its logarithm.
 *
 * Cost: one fit of the method, and a pass over the votes. */
#include "review/review_internal.h"
#include "core/numbers/elementary.h"
#include "dissent/fit.h"
#include <math.h>
#include <string.h>

#define Z_95   1.959963984540054
#define BIASED .25 /* classes by which the whole interval of a bias must differ from 0 */

static const double *values(const dis_fit *fit, const char *name)
{
    return dis_fit_find_parameter(fit, name)->values;
}

static void copy_workers(const dis_fit *fit, dis_review *review)
{
    const double *bias = values(fit, "bias"), *bias_se = values(fit, "bias_se"), *spread = values(fit, "spread"),
                 *spread_se = values(fit, "spread_se"), *lapse = values(fit, "lapse");
    for (size_t w = 0; w < review->view.n_workers; w++) {
        const double factor = dis__exp(Z_95 * spread_se[w]);
        dis_review_ordinal_worker *x = &review->ordinal_workers[w];
        *x = (dis_review_ordinal_worker){.bias = bias[w],
                                         .bias_low = bias[w] - Z_95 * bias_se[w],
                                         .bias_high = bias[w] + Z_95 * bias_se[w],
                                         .spread = spread[w],
                                         .spread_low = spread[w] / factor,
                                         .spread_high = spread[w] * factor,
                                         .lapse_rate = lapse[w]};
        x->biased = x->bias_low > BIASED || x->bias_high < -BIASED;
        review->view.n_biased += x->biased;
    }
}

static void copy_items(const dis_fit *fit, dis_review *review)
{
    const double *place = values(fit, "score"), *place_se = values(fit, "score_se"), *gain = values(fit, "gain");
    for (size_t i = 0; i < review->view.n_items; i++)
        review->ordinal_items[i] =
            (dis_review_ordinal_item){.position = place[i], .position_se = place_se[i], .gain = gain[i]};
}

dis_status dis__review_fit_ordinal(dis_context *ctx, const dis_votes *votes, const dis_review_options *o,
                                   dis_review *review)
{
    dis_fit_options how = dis_fit_options_default();
    how.seed = o->seed;
    how.gold = o->gold;
    dis_fit *fit;
    const size_t n_classes = dis_votes_get_view(votes).n_classes;
    DIS_TRY(dis__alloc_array(&review->truth, dis__saturating_size(review->view.n_items, n_classes, 0),
                             sizeof *review->truth));
    DIS_TRY(dis__alloc_zeroed(&review->ordinal_items, review->view.n_items, sizeof *review->ordinal_items));
    DIS_TRY(dis__alloc_zeroed(&review->ordinal_workers, review->view.n_workers, sizeof *review->ordinal_workers));
    DIS_TRY(dis_fit_run(ctx, votes, "ordinal:intervals=yes", &how, &fit));
    copy_workers(fit, review);
    copy_items(fit, review);
    memcpy(review->truth, values(fit, "truth"), review->view.n_items * n_classes * sizeof *review->truth);
    review->ordinal_p = dis_fit_move_p(fit);
    dis_fit_destroy(fit);
    return DIS_OK;
}

void dis__review_apply_ordinal(const dis_review *review, size_t n_classes, dis_review_item *rows)
{
    if (!review->ordinal_items) return;
    for (size_t i = 0; i < review->view.n_items; i++) {
        if (rows[i].is_gold) continue;
        rows[i].gain = review->ordinal_items[i].gain;
        if (!review->ordinal_p) rows[i].p_correct = review->truth[i * n_classes + rows[i].label];
    }
}
