/* Labels in one call: runs the views in sequence, then combines them.
 *
 * Of a fit only its labels are kept, unless its parameters are requested, and the combination overwrites the first view
 * unless views are requested: the peak memory is the votes, one table of labels per view, and the memory of one method.
 *
 * With gold=choose, every view is fitted without the gold labels first: a pinned label cannot test a view. The views
 * with positive weight are then fitted again with the gold labels pinned, which improves the estimates of the
 * annotators, and combined by the choice. The cost is that of two fits per view. */
#include "dissent/recipe.h"
#include "tool/method_checks.h"
#include "core/parallel/comm.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include "labels/combiner.h"
#include "labels/methods.h"
#include "labels/em/em_device.h"
#include <string.h>

struct dis_label_result {
    size_t n_views;
    dis_label_result_part part[DIS_MAX_VIEWS];
    dis_fit *fit[DIS_MAX_VIEWS]; /* of the parts */
    double *view[DIS_MAX_VIEWS]; /* labels of the parts */
    double *p;                   /* the labels */
    dis_combination did;
    const char *combine;
    dis__gold_weights gold; /* n_gold 0: gold labels have chosen nothing */
};

DIS_OPTIONS_DEFAULTS(dis_label_result_options, .size = sizeof(dis_label_result_options))

/* Methods without parameters run without the state; the state must contain at least one of the methods. */
static dis_status check_start(const dis_label_plan *choice, const dis_state *start)
{
    size_t n = 0;
    const dis__method *method = NULL;
    for (size_t m = 0; start && m < choice->n_views; m++) {
        DIS_TRY(dis__method_find(choice->views[m], &method));
        if (method->starts) DIS_TRY(dis__fit_check_start(method, start));
        n += method->starts;
    }
    return start && n == 0 ? dis__fit_check_start(method, start) : DIS_OK;
}

/* View m: its labels, and its fit if `fit_out` is not NULL. */
static dis_status fit_view(dis_context *ctx, const dis_votes *votes, const dis_label_plan *choice,
                           const dis_label_result_options *o, size_t m, dis_fit **fit_out, double **p)
{
    const dis__method *method;
    dis_fit *fit;
    dis_fit_options how = *o->fit;
    DIS_TRY(dis__method_find(choice->views[m], &method));
    if (method->info.predictions == DIS_PREDICTIONS_UNUSED) how.predictions = NULL;
    if (!method->starts) how.initial_state = NULL;
    DIS_TRY(dis_fit_run(ctx, votes, choice->views[m], &how, &fit));
    *p = dis_fit_move_p(fit);
    if (fit_out)
        *fit_out = fit;
    else
        dis_fit_destroy(fit);
    return DIS_OK;
}

static dis_status fit_views(dis_context *ctx, const dis_votes *votes, const dis_label_plan *choice,
                            const dis_label_result_options *o, dis_label_result *result)
{
    for (size_t m = 0; m < choice->n_views; m++) {
        DIS_TRY(fit_view(ctx, votes, choice, o, m, &result->fit[m], &result->view[m]));
        result->n_views = m + 1;
        if (!o->keep_fits) dis__fit_free_parameters(result->fit[m]);
        result->part[m] =
            (dis_label_result_part){.spec = choice->views[m], .fit = result->fit[m], .p = result->view[m]};
        if (o->on_fit) DIS_TRY(o->on_fit(o->user, m, &result->part[m]));
    }
    return DIS_OK;
}

/* Skips views that a recipe has for gold labels only, if there are none. */
static dis_status choose_weights(dis_context *ctx, const dis_votes *votes, const dis_label_plan *choice,
                                 const dis_label_result_options *o, double *weight)
{
    if (choice->recipe && choice->n_views == choice->recipe->n_views_for_gold) {
        dis_label_plan usual = dis__label_plan_for_gold(choice, 0);
        memset(weight, 0, choice->n_views * sizeof *weight);
        if (usual.n_views < choice->n_views) return choose_weights(ctx, votes, &usual, o, weight);
    }
    if (dis__combiner_has_weights(choice->combine, DIS_WEIGHTS_VOTES))
        return dis_views_vote_weights(votes, choice->views, choice->n_views, weight);
    return dis_views_auto_weights(ctx, votes, choice->views, choice->n_views, o->fit, weight);
}

static dis_status combine_views(dis_context *ctx, const dis_votes *votes, const dis_label_plan *choice,
                                const dis_label_result_options *o, dis_label_result *result)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    double weight[DIS_MAX_VIEWS];
    const bool automatic = result->gold.n_gold == 0 && dis__combiner_wants_auto_weights(choice->combine);
    if (automatic) DIS_TRY(choose_weights(ctx, votes, choice, o, weight));
    if (result->gold.n_gold) memcpy(weight, result->gold.weight, sizeof weight);
    const dis_views views = {.size = sizeof(dis_views),
                             .n_items = v.n_items,
                             .n_classes = v.n_classes,
                             .n_views = choice->n_views,
                             .p = (const double *const *)result->view,
                             .weight = automatic || result->gold.n_gold ? weight : NULL,
                             .votes = votes,
                             .gold = o->fit->gold};
    if (o->keep_views)
        DIS_TRY(dis__alloc_array(&result->p, dis__saturating_size(v.n_items, v.n_classes, 0), sizeof *result->p));
    else
        result->p = result->view[0];
    const double overdispersion = result->did.overdispersion; /* of the choice */
    DIS_TRY(dis__views_combine(ctx, &views, choice->combine, &result->gold, result->p, &result->did));
    if (result->gold.n_gold) result->did.overdispersion = overdispersion;
    for (size_t m = 0; !o->keep_views && m < result->n_views; m++) {
        if (m > 0) dis__free(result->view[m]);
        result->view[m] = NULL;
        result->part[m].p = NULL;
    }
    return DIS_OK;
}

/* ---- known labels choose ---- */

/* Fits all views without the gold labels and computes their choice; `p` has room for a table per view. */
static dis_status choose_by_gold(dis_context *ctx, const dis_votes *votes, const dis_label_plan *choice,
                                 const dis_label_result_options *o, double **p, dis_label_result *result)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    double weight[DIS_MAX_VIEWS];
    dis_fit_options blind = *o->fit;
    blind.gold = NULL;
    const dis_label_result_options how = {.fit = &blind};
    for (size_t m = 0; m < choice->n_views; m++) DIS_TRY(fit_view(ctx, votes, choice, &how, m, NULL, &p[m]));
    const bool automatic = dis__combiner_wants_auto_weights(choice->combine);
    if (automatic) DIS_TRY(choose_weights(ctx, votes, choice, &how, weight));
    const dis_views views = {.size = sizeof(dis_views),
                             .n_items = v.n_items,
                             .n_classes = v.n_classes,
                             .n_views = choice->n_views,
                             .p = (const double *const *)p,
                             .weight = automatic ? weight : NULL,
                             .votes = votes,
                             .gold = o->fit->gold};
    return dis__views_combine(ctx, &views, choice->combine, &result->gold, p[0], &result->did);
}

/* Removes views with a smaller weight from the choice. */
static void keep_weighted(dis_label_plan *choice, double *weight, double least)
{
    size_t n = 0;
    for (size_t m = 0; m < choice->n_views; m++) {
        if (!(weight[m] >= least)) continue;
        choice->views[n] = choice->views[m];
        weight[n++] = weight[m];
    }
    choice->n_views = n;
}

/* Views of a recipe with negligible weight are not fitted. */
static dis_status drop_light_views(dis_context *ctx, const dis_votes *votes, dis_label_plan *choice,
                                   const dis_label_result_options *o)
{
    double weight[DIS_MAX_VIEWS];
    if (!choice->recipe || !choice->combine || !dis__combiner_has_weights(choice->combine, DIS_WEIGHTS_VOTES))
        return DIS_OK;
    DIS_TRY(choose_weights(ctx, votes, choice, o, weight));
    keep_weighted(choice, weight, DIS_MIN_VIEW_WEIGHT);
    return DIS_OK;
}

static dis_status apply_gold(dis_context *ctx, const dis_votes *votes, dis_label_plan *choice,
                             const dis_label_result_options *o, dis_label_result *result)
{
    double *p[DIS_MAX_VIEWS] = {0};
    const dis_status status = choose_by_gold(ctx, votes, choice, o, p, result);
    for (size_t m = 0; m < choice->n_views; m++) dis__free(p[m]);
    if (status == DIS_OK && result->gold.n_gold) keep_weighted(choice, result->gold.weight, DIS_MIN_VIEW_WEIGHT);
    return status;
}

static dis_status make(dis_context *ctx, const dis_votes *votes, dis_label_plan *choice,
                       const dis_label_result_options *o, dis_label_result *result)
{
    dis_status status = dis__fit_check(ctx, votes, choice->views, choice->n_views);
    if (status == DIS_OK) status = check_start(choice, o->fit->initial_state);
    if (status == DIS_OK && choice->combine) status = dis__views_check(votes, choice->n_views, choice->combine);
    DIS_TRY(dis__comm_first_failure(dis__context_comm(ctx), status));
    if (o->fit->gold && choice->combine && dis__combiner_has_gold_weights(choice->combine))
        DIS_TRY(apply_gold(ctx, votes, choice, o, result));
    if (!result->gold.n_gold) DIS_TRY(drop_light_views(ctx, votes, choice, o));
    DIS_TRY(fit_views(ctx, votes, choice, o, result));
    result->combine = choice->combine;
    if (choice->combine) return combine_views(ctx, votes, choice, o, result);
    result->p = result->view[0];
    result->did.weight[0] = 1;
    return DIS_OK;
}

/* Gold labels of all ranks count. */
static dis_status choose_for_gold(dis_context *ctx, const dis_votes *votes, const dis_label_plan *choice,
                                  const int32_t *gold, dis_label_plan *out)
{
    const size_t n_items = dis_votes_get_view(votes).n_items;
    uint64_t n_gold = 0;
    for (size_t i = 0; gold && i < n_items; i++) n_gold += gold[i] >= 0;
    DIS_TRY(dis__comm_sum_counts(dis__context_comm(ctx), &n_gold, 1));
    *out = dis__label_plan_for_gold(choice, n_gold);
    return DIS_OK;
}

dis_status dis_label_result_run(dis_context *ctx, const dis_votes *votes, const dis_label_plan *choice,
                                const dis_label_result_options *options, dis_label_result **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_label_result_options o = dis_label_result_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_label_result_options, &o, options));
    dis_fit_options fit = dis_fit_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_fit_options, &fit, o.fit));
    o.fit = &fit;
    dis_label_plan plan = dis_label_plan_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_label_plan, &plan, choice));
    if (plan.n_views == 0 || plan.n_views > DIS_MAX_VIEWS || (plan.n_views > 1) != (plan.combine != NULL))
        return dis__fail(DIS_EUSAGE, "the plan was not created by dis_label_plan_parse");
    dis_label_result *result;
    dis_label_plan own = dis_label_plan_default();
    DIS_TRY(choose_for_gold(ctx, votes, &plan, fit.gold, &own));
    DIS_TRY(dis__alloc_zeroed(&result, 1, sizeof *result));
    result->did = dis_combination_default();
    const dis_status status = make(ctx, votes, &own, &o, result);
    if (status != DIS_OK) {
        dis_label_result_destroy(result);
        return status;
    }
    *out = result;
    return DIS_OK;
}

static dis_label_result_view view_of(const dis_label_result *result)
{
    return (dis_label_result_view){.n_views = result->n_views,
                                   .parts = result->part,
                                   .p = result->p,
                                   .combination = &result->did,
                                   .combine = result->combine,
                                   .class_weight = result->gold.class_weight};
}
DIS_VIEW_DEFINE(dis_label_result, result, view_of(result))

const double *dis_label_result_p(const dis_label_result *result)
{
    return result->p;
}

dis_status dis_label_result_write_labels(dis_context *ctx, const dis_label_result *result, const dis_votes *votes,
                                         const char *path, const char *format)
{
    return dis__vote_labels_write(ctx, result->p, votes, path, format);
}

double *dis_label_result_move_p(dis_label_result *result)
{
    double *p = result->p;
    result->p = NULL;
    for (size_t m = 0; m < result->n_views; m++)
        if (result->view[m] == p) {
            result->view[m] = NULL;
            result->part[m].p = NULL;
        }
    return p;
}

void dis_label_result_destroy(dis_label_result *result)
{
    if (!result) return;
    bool shared = false;
    for (size_t m = 0; m < result->n_views; m++) {
        shared |= result->view[m] == result->p;
        dis__free(result->view[m]);
        dis_fit_destroy(result->fit[m]);
    }
    if (!shared) dis__free(result->p);
    dis__free(result->gold.class_weight);
    dis__free(result);
}
