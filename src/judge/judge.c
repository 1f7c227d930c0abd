/* A judge and people: sorts the votes, runs a panel of this judge alone (tests against chance, the alternative-annotator
 * test, class shares), then the agreement, the consistency, the contrasts and the means that later votes are compared
 * with. */
#include "judge/judge_internal.h"
#include "review/panel_internal.h"
#include "core/memory/memory.h"
#include "core/options/sized_structs.h"
#include <math.h>

DIS_OPTIONS_DEFAULTS(dis_judge_options, .size = sizeof(dis_judge_options), .epsilon = .1, .fdr = .05, .min_people = 2,
                     .min_items = 30, .half_width = .05)

static dis_judge_view view_of(const dis_judge *judge)
{
    return judge->view;
}
DIS_VIEW_DEFINE(dis_judge, judge, view_of(judge))

void dis_judge_destroy(dis_judge *judge)
{
    if (!judge) return;
    dis_panel_destroy(judge->panel);
    dis__free(judge->contrasts);
    dis__free(judge->baselines);
    dis__free(judge->rates);
    dis__free(judge);
}

/* ---- the panel of one judge ---- */

static dis_status run_panel(dis_context *ctx, const dis__judge_votes *v, const dis_names *classes,
                            const dis_judge_options *o, dis_judge *judge)
{
    dis_panel_options how = dis_panel_options_default();
    dis_votes *table = NULL;
    bool *person = NULL;
    how.epsilon = o->epsilon;
    how.fdr = o->fdr;
    how.min_people = o->min_people;
    how.min_items = o->min_items;
    how.half_width = o->half_width;
    how.seed = o->seed;
    dis_status status = dis__judge_votes_table(ctx, v, classes, &table);
    if (status == DIS_OK) status = dis__alloc_array(&person, v->n_people + 1, sizeof *person);
    for (size_t w = 0; w <= v->n_people && status == DIS_OK; w++) person[w] = w < v->n_people;
    if (status == DIS_OK) status = dis__panel_run_weighted(ctx, table, person, &how, o->weight, &judge->panel);
    dis__free(person);
    dis_votes_destroy(table);
    if (status != DIS_OK) return status;
    const dis_panel_view p = dis_panel_get_view(judge->panel);
    judge->view.test = p.judges[0];
    judge->view.test.worker = v->worker;
    judge->view.rates = p.rates;
    judge->view.missing_reason = p.missing_reason;
    judge->view.few_people = p.few_people;
    judge->view.p_people = p.p_people;
    return DIS_OK;
}

/* ---- all ---- */

static dis_status check(const dis_votes_view *v, const dis_judge_options *o)
{
    for (size_t i = 0; o->weight && i < v->n_items; i++)
        if (!(o->weight[i] >= 0) || isinf(o->weight[i]))
            return dis__fail(DIS_EDATA, "item \"%s\" has the weight %g; weights are 0 or more",
                             dis_names_get(v->tasks, i, NULL), o->weight[i]);
    return DIS_OK;
}

static dis_status fill(dis_context *ctx, const dis__judge_votes *v, const dis_names *classes,
                       const dis_judge_options *o, const double *weight, dis_judge *judge)
{
    const dis__judge_input in = {.votes = v, .weight = weight};
    dis_judge_view *view = &judge->view;
    judge->epsilon = o->epsilon;
    judge->fdr = o->fdr;
    view->worker = v->worker;
    view->n_classes = v->n_classes;
    view->n_people = v->n_people;
    view->n_votes = v->n_answers;
    view->n_shared = v->n_shared;
    view->n_two = v->n_two;
    view->n_repeated = v->n_repeated;
    view->coefficients = judge->coefficient;
    size_t used = 0;
    for (size_t i = 0; i < v->n_items; i++) used += v->answer[i] >= 0 && dis__judge_n_votes(v, i) > 0 && weight[i] > 0;
    if (used < DIS_JUDGE_MIN_ITEMS)
        return dis__fail(DIS_EDATA,
                         "%zu items%s have votes of people and of the judge; at least %d are needed. Let people label "
                         "items that the judge labelled",
                         used, o->weight ? " with a weight" : "", DIS_JUDGE_MIN_ITEMS);
    DIS_TRY(run_panel(ctx, v, classes, o, judge));
    DIS_TRY(dis__judge_compute_coefficients(&in, judge));
    DIS_TRY(dis__judge_compute_consistency(&in, judge));
    DIS_TRY(dis__judge_compute_contrasts(&in, o, judge));
    DIS_TRY(dis__judge_compute_baselines(&in, judge));
    return o->weight ? dis__judge_compute_weighted_rates(&in, judge) : DIS_OK;
}

dis_status dis_judge_run(dis_context *ctx, const dis_votes *votes, const bool *person, const dis_judge_options *options,
                         dis_judge **out)
{
    dis_judge_options o = dis_judge_options_default();
    const dis_votes_view v = dis_votes_get_view(votes);
    dis__judge_votes mine;
    dis_judge *judge = NULL;
    double *weight = NULL;
    DIS_TRY(DIS_OPTIONS_COPY(dis_judge_options, &o, options));
    DIS_TRY(check(&v, &o));
    DIS_TRY(dis__judge_votes_create(&v, person, o.name, &mine));
    dis_status status = dis__alloc_zeroed(&judge, 1, sizeof *judge);
    if (status == DIS_OK) status = dis__alloc_array(&weight, v.n_items, sizeof *weight);
    for (size_t i = 0; i < v.n_items && status == DIS_OK; i++) weight[i] = o.weight ? o.weight[i] : 1;
    if (status == DIS_OK) status = fill(ctx, &mine, v.classes, &o, weight, judge);
    dis__free(weight);
    dis__judge_votes_destroy(&mine);
    if (status != DIS_OK) {
        dis_judge_destroy(judge);
        return status;
    }
    *out = judge;
    return DIS_OK;
}
