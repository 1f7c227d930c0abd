/* A panel of people and judges: sorts the votes, tests against chance, then runs the parts.
 *
 * Cost: one pass over the votes, and the costs of the parts. */
#include "tool/arrays.h"
#include "review/panel_internal.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "core/options/sized_structs.h"
#include <math.h>

#define MAX_BUDGET 100000000u

struct dis_panel {
    dis_panel_view view;
    dis_panel_judge *judges;
    dis_panel_pair *pairs;
    dis_panel_copied_votes *copies;
    dis_panel_rate *rates;
    dis_panel_item *items;
    double *p;
};

DIS_OPTIONS_DEFAULTS(dis_panel_options, .size = sizeof(dis_panel_options), .epsilon = .1, .fdr = .05, .min_people = 2,
                     .min_items = 30, .error_correlation = .5, .half_width = .05)

static dis_panel_view view_of(const dis_panel *panel)
{
    return panel->view;
}
DIS_VIEW_DEFINE(dis_panel, panel, view_of(panel))

void dis_panel_destroy(dis_panel *panel)
{
    if (!panel) return;
    dis__free(panel->judges);
    dis__free(panel->pairs);
    dis__free(panel->copies);
    dis__free(panel->rates);
    dis__free(panel->items);
    dis__free(panel->p);
    dis__free(panel);
}

/* ---- sorting the votes ---- */

static void data_free(dis__panel_data *d)
{
    dis__free(d->judge);
    dis__free(d->answer);
    dis__free(d->people);
    dis__free(d->n_votes);
    dis__free(d->majority);
    dis__free(d->panel);
    dis__free(d->number);
    dis__free(d->first);
    dis__free(d->vote);
    dis__free(d->item);
}

static dis_status number_judges(dis__panel_data *d)
{
    const dis_votes_view *v = d->votes;
    DIS_TRY(dis__alloc_array(&d->judge, v->n_workers, sizeof *d->judge));
    for (size_t w = 0; w < v->n_workers; w++) {
        d->judge[w] = -1;
        d->n_people += d->person[w];
        if (d->person[w]) continue;
        if (d->n_judges == DIS_MAX_JUDGES)
            return dis__fail(DIS_EDATA, "more than %u judges (models) among the workers; name fewer", DIS_MAX_JUDGES);
        d->judge[w] = (int32_t)d->n_judges;
        d->worker[d->n_judges++] = (uint32_t)w;
    }
    if (d->n_judges == 0)
        return dis__fail(DIS_EDATA, "no worker is a judge (model); a panel compares judges with people");
    if (d->n_people == 0) return dis__fail(DIS_EDATA, "no worker is a person; judges are compared with people");
    return DIS_OK;
}

/* The class with most votes, -1 without votes or with a tie; *tied: number of classes with most votes, 0 without
 * votes. */
static int32_t most_chosen(const uint32_t *count, size_t n, size_t *tied)
{
    size_t top = 0;
    *tied = 0;
    for (size_t k = 1; k < n; k++)
        if (count[k] > count[top]) top = k;
    for (size_t k = 0; k < n && count[top]; k++) *tied += count[k] == count[top];
    return *tied == 1 ? (int32_t)top : -1;
}

/* The majority of the judges: each of t classes tied for most gets 1 / t. */
static void split_majority(const uint32_t *count, size_t n, double *share)
{
    uint32_t most = 0;
    size_t tied;
    most_chosen(count, n, &tied);
    for (size_t k = 0; k < n; k++) most = count[k] > most ? count[k] : most;
    for (size_t k = 0; k < n; k++) share[k] = most && count[k] == most ? 1 / (double)tied : 0;
}

static void read_item(dis__panel_data *d, size_t i, uint32_t *models)
{
    const dis_votes_view *v = d->votes;
    const size_t n = v->n_classes;
    for (size_t k = 0; k < n; k++) models[k] = 0;
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
        const size_t w = v->worker[t], k = dis__panel_label(v, t);
        if (d->person[w]) {
            d->people[i * n + k]++;
            d->n_votes[i]++;
        } else {
            d->answer[(size_t)d->judge[w] * v->n_items + i] = (int32_t)k;
            models[k]++;
        }
    }
    size_t tied;
    d->majority[i] = most_chosen(d->people + i * n, n, &tied);
    split_majority(models, n, d->panel + i * n);
}

static dis_status read_numbers(dis__panel_data *d)
{
    const dis_votes_view *v = d->votes;
    if (!d->o->numeric_classes) return DIS_OK;
    DIS_TRY(dis__alloc_array(&d->number, v->n_classes, sizeof *d->number));
    for (size_t k = 0; k < v->n_classes; k++) {
        size_t n;
        const char *text = dis_names_get(v->classes, k, &n);
        if (!dis__parse_real(text, n, &d->number[k])) d->number[k] = (double)k; /* ranks of declared classes */
    }
    return DIS_OK;
}

/* Votes by worker, and the item of each. */
static dis_status list_votes(dis__panel_data *d)
{
    const dis_votes_view *v = d->votes;
    DIS_TRY(dis__alloc_zeroed(&d->first, v->n_workers + 2, sizeof *d->first));
    DIS_TRY(dis__alloc_array(&d->vote, v->n_votes, sizeof *d->vote));
    DIS_TRY(dis__alloc_array(&d->item, v->n_votes, sizeof *d->item));
    for (size_t t = 0; t < v->n_votes; t++) d->first[v->worker[t] + 2]++;
    for (size_t w = 1; w < v->n_workers + 2; w++) d->first[w] += d->first[w - 1];
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            d->vote[d->first[v->worker[t] + 1]++] = t;
            d->item[t] = (uint32_t)i;
        }
    return DIS_OK;
}

static bool has_judge(const dis__panel_data *d, size_t i)
{
    for (size_t j = 0; j < d->n_judges; j++)
        if (d->answer[j * d->votes->n_items + i] >= 0) return true;
    return false;
}

static dis_status sort_out(dis__panel_data *d, dis_panel_view *view)
{
    const dis_votes_view *v = d->votes;
    uint32_t *models = NULL;
    bool both = false;
    DIS_TRY(number_judges(d));
    const size_t judged = dis__saturating_size(d->n_judges, v->n_items, 0);
    DIS_TRY(dis__alloc_array(&d->answer, judged, sizeof *d->answer));
    DIS_TRY(dis__alloc_zeroed(&d->people, dis__saturating_size(v->n_items, v->n_classes, 0), sizeof *d->people));
    DIS_TRY(dis__alloc_zeroed(&d->n_votes, v->n_items, sizeof *d->n_votes));
    DIS_TRY(dis__alloc_array(&d->majority, v->n_items, sizeof *d->majority));
    DIS_TRY(dis__alloc_array(&d->panel, dis__saturating_size(v->n_items, v->n_classes, 0), sizeof *d->panel));
    DIS_TRY(list_votes(d));
    DIS_TRY(read_numbers(d));
    for (size_t x = 0; x < judged; x++) d->answer[x] = -1;
    DIS_TRY(dis__alloc_array(&models, v->n_classes, sizeof *models));
    for (size_t i = 0; i < v->n_items; i++) {
        read_item(d, i, models);
        view->n_items_with_people += d->n_votes[i] > 0;
        view->n_items_with_two += d->n_votes[i] > 1;
        both = both || (d->n_votes[i] > 0 && has_judge(d, i));
    }
    dis__free(models);
    return both ? DIS_OK
                : dis__fail(DIS_EDATA, "no item has votes of people and of judges; judges are compared with people");
}

/* ---- entry point ---- */

static void count_judge(const dis__panel_data *d, size_t j, dis_panel_judge *to)
{
    *to = (dis_panel_judge){.worker = d->worker[j], .chance = NAN, .p_chance = NAN, .winning_rate = NAN};
    for (size_t i = 0; i < d->votes->n_items; i++) {
        const bool voted = d->answer[j * d->votes->n_items + i] >= 0;
        to->votes += voted;
        to->shared += voted && d->n_votes[i] > 0;
    }
}

/* All results are unknown until they are computed. */
static void undefine(const dis__panel_data *d, dis_panel_judge *judges, dis_panel_pair *pairs, dis_panel_view *view)
{
    const char *weak = view->n_items_with_two < DIS_PANEL_MIN_ITEMS
                           ? "fewer than 10 items have votes of two people"
                           : "people's votes do not identify the correct answers well enough";
    const char *few = "fewer than two judges agree with people more than chance";
    size_t p = 0;
    for (size_t j = 0; j < d->n_judges; j++) {
        const char *chance = judges[j].shared < DIS_PANEL_MIN_ITEMS
                                 ? "fewer than 10 items have votes of people and of the judge"
                                 : "the judge agrees with people no more than chance";
        const char *reason = d->unknown ? d->unknown : judges[j].above_chance ? weak : chance;
        judges[j].error = judges[j].advantage_probability = dis__metric_undefined(reason);
        judges[j].agreement = dis__metric_undefined(d->unknown ? d->unknown : chance);
        judges[j].error_group = UINT32_MAX;
        for (size_t b = j + 1; b < d->n_judges; b++)
            pairs[p++] = (dis_panel_pair){.a = (uint32_t)j, .b = (uint32_t)b, .correlation = NAN};
    }
    view->n_pairs = p;
    view->correlation = view->effective = dis__metric_undefined(d->unknown          ? d->unknown
                                                                : view->n_above < 2 ? few
                                                                                    : weak);
}

static dis_status judge_one(const dis__panel_data *d, size_t j, const dis_panel_view *view, dis_panel_judge *judge)
{
    if (judge->shared < DIS_PANEL_MIN_ITEMS) return DIS_OK;
    DIS_TRY(dis__panel_compute_agreement(d, j, judge));
    if (!judge->above_chance || isnan(view->p_people)) return DIS_OK;
    return dis__panel_test_alternative(d, j, judge);
}

/* Parts that need several people per item. */
static dis_status judge_together(const dis__panel_data *d, dis_panel *panel, dis_panel_view *view)
{
    dis__panel_truth t;
    if (isnan(view->p_people) || d->votes->n_classes > DIS_PANEL_MAX_CLASSES) return DIS_OK;
    DIS_TRY(dis__panel_truth_create(d, &t));
    dis__panel_truth_fit(&t);
    dis_status status = dis__panel_estimate_errors(d, &t, panel->judges, panel->pairs, view, &view->copies_tested);
    if (status == DIS_OK && view->copies_tested)
        status = dis__panel_find_copies(d, &t, panel->judges, &panel->copies, &view->n_copies);
    dis__panel_truth_destroy(&t);
    return status;
}

static dis_status judge_all(dis__panel_data *d, dis_panel *panel, dis_panel_view *view)
{
    for (size_t j = 0; j < d->n_judges; j++) count_judge(d, j, &panel->judges[j]);
    view->few_people = d->n_people < DIS_PANEL_MIN_PEOPLE;
    DIS_TRY(dis__panel_test_chance(d, panel->judges, view));
    view->missing_reason = d->unknown;
    undefine(d, panel->judges, panel->pairs, view);
    DIS_TRY(dis__panel_test_labelled(d, view));
    if (d->unknown) return DIS_OK;
    for (size_t j = 0; j < d->n_judges; j++) DIS_TRY(judge_one(d, j, view, &panel->judges[j]));
    return judge_together(d, panel, view);
}

static dis_status fill(dis__panel_data *d, dis_panel *panel)
{
    const size_t n_items = d->votes->n_items, n = d->votes->n_classes;
    dis_panel_view *v = &panel->view;
    DIS_TRY(sort_out(d, v));
    const size_t m = d->n_judges;
    v->n_judges = m;
    v->n_people = d->n_people;
    v->n_items = n_items;
    v->n_classes = n;
    v->n_rates = (m + 1) * n;
    DIS_TRY(dis__alloc_zeroed(&panel->judges, m, sizeof *panel->judges));
    DIS_TRY(dis__alloc_array(&panel->pairs, m * (m - 1) / 2, sizeof *panel->pairs));
    DIS_TRY(dis__alloc_array(&panel->rates, v->n_rates, sizeof *panel->rates));
    DIS_TRY(dis__alloc_array(&panel->items, n_items, sizeof *panel->items));
    DIS_TRY(dis__alloc_array(&panel->p, dis__saturating_size(n_items, n, 0), sizeof *panel->p));
    DIS_TRY(judge_all(d, panel, v));
    DIS_TRY(dis__panel_estimate_rates(d, panel->judges, panel->rates));
    DIS_TRY(dis__panel_compute_labels(d, panel->p, v));
    DIS_TRY(dis__panel_select_items(d, panel->p, v->judge_strength, panel->items, &v->budget_spent));
    v->judges = panel->judges;
    v->pairs = panel->pairs;
    v->copies = panel->copies;
    v->rates = panel->rates;
    v->items = panel->items;
    v->p = panel->p;
    return DIS_OK;
}

static dis_status check(const dis_votes_view *v, const dis_panel_options *o)
{
    if (!v->start)
        return dis__fail(DIS_EDATA,
                         "the votes have no annotator ids; a panel needs one row per vote with a worker column");
    if (v->n_classes < 2)
        return dis__fail(DIS_EDATA, "all votes are for one class; judges cannot be compared with people");
    if (!(o->epsilon >= 0 && o->epsilon <= 1)) return dis__fail(DIS_EUSAGE, "`epsilon` must be from 0 to 1");
    if (!(o->fdr > 0 && o->fdr < 1)) return dis__fail(DIS_EUSAGE, "`fdr` must be between 0 and 1");
    if (!(o->half_width > 0 && o->half_width < 1)) return dis__fail(DIS_EUSAGE, "`precision` must be between 0 and 1");
    if (o->budget > MAX_BUDGET) return dis__fail(DIS_EUSAGE, "a `budget` of at most %u votes is possible", MAX_BUDGET);
    return DIS_OK;
}

dis_status dis_panel_run(dis_context *ctx, const dis_votes *votes, const bool *person, const dis_panel_options *options,
                         dis_panel **out)
{
    return dis__panel_run_weighted(ctx, votes, person, options, NULL, out);
}

dis_status dis__panel_run_weighted(dis_context *ctx, const dis_votes *votes, const bool *person,
                                   const dis_panel_options *options, const double *weight, dis_panel **out)
{
    dis_panel_options o = dis_panel_options_default();
    const dis_votes_view v = dis_votes_get_view(votes);
    dis_panel *panel;
    DIS_TRY(DIS_OPTIONS_COPY(dis_panel_options, &o, options));
    DIS_TRY(check(&v, &o));
    DIS_TRY(dis__alloc_zeroed(&panel, 1, sizeof *panel));
    dis__panel_data d = {.ctx = ctx, .votes = &v, .person = person, .o = &o, .weight = weight};
    const dis_status status = fill(&d, panel);
    data_free(&d);
    if (status != DIS_OK) {
        dis_panel_destroy(panel);
        return status;
    }
    *out = panel;
    return DIS_OK;
}
