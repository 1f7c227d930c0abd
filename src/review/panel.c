/* A panel of people and models: the votes sorted out, then one part after the other looks at them.
 *
 * Cost: one pass over the votes, and what the parts take. */
#include "review/panel_internal.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/sized_options.h"
#include <math.h>

enum { MAX_RESAMPLES = 1000000 };
#define MAX_BUDGET 100000000u

struct dis_panel {
    dis_panel_view view;
    dis_panel_judge *judges;
    dis_panel_pair *pairs;
    dis_panel_rate *rates;
    dis_panel_item *items;
    double *p;
};

DIS_OPTIONS_DEFAULTS(dis_panel_options, .size = sizeof(dis_panel_options), .epsilon = .1, .fdr = .05, .min_people = 2,
                     .min_items = 30, .cluster = .5, .precision = .05, .resamples = 1000)

static dis_panel_view view_of(const dis_panel *panel)
{
    return panel->view;
}
DIS_LOOK_DEFINE(dis_panel, panel, view_of(panel))

void dis_panel_destroy(dis_panel *panel)
{
    if (!panel) return;
    dis__free(panel->judges);
    dis__free(panel->pairs);
    dis__free(panel->rates);
    dis__free(panel->items);
    dis__free(panel->p);
    dis__free(panel);
}

/* ---- sorting out ---- */

static void data_free(dis__panel_data *d)
{
    dis__free(d->judge);
    dis__free(d->said);
    dis__free(d->people);
    dis__free(d->n_votes);
    dis__free(d->majority);
    dis__free(d->panel);
    dis__free(d->number);
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
            return dis__fail(DIS_EDATA, "more than %u models among the voters; a panel takes no more", DIS_MAX_JUDGES);
        d->judge[w] = (int32_t)d->n_judges;
        d->worker[d->n_judges++] = (uint32_t)w;
    }
    if (d->n_judges == 0) return dis__fail(DIS_EDATA, "no voter is a model; a panel is about models beside people");
    if (d->n_people == 0) return dis__fail(DIS_EDATA, "no voter is a person; models are judged by people");
    return DIS_OK;
}

/* The class with most votes, -1 when there is none; on a tie the first one, or -1. */
static int32_t most_chosen(const uint32_t *count, size_t n, bool ties)
{
    size_t top = 0;
    bool tied = false;
    for (size_t k = 1; k < n; k++) {
        tied = count[k] == count[top] || (tied && count[k] < count[top]);
        if (count[k] > count[top]) {
            top = k;
            tied = false;
        }
    }
    return count[top] == 0 || (tied && !ties) ? -1 : (int32_t)top;
}

static void take_item(dis__panel_data *d, size_t i, uint32_t *models)
{
    const dis_votes_view *v = d->votes;
    const size_t n = v->n_classes;
    for (size_t k = 0; k < n; k++) models[k] = 0;
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
        const uint32_t w = v->worker[t], k = v->label8 ? v->label8[t] : v->label16[t];
        if (d->person[w]) {
            d->people[i * n + k]++;
            d->n_votes[i]++;
        } else {
            d->said[(size_t)d->judge[w] * v->n_items + i] = (int32_t)k;
            models[k]++;
        }
    }
    d->majority[i] = most_chosen(d->people + i * n, n, false);
    d->panel[i] = most_chosen(models, n, true);
}

static dis_status take_numbers(dis__panel_data *d)
{
    const dis_votes_view *v = d->votes;
    if (!d->o->numbers) return DIS_OK;
    DIS_TRY(dis__alloc_array(&d->number, v->n_classes, sizeof *d->number));
    for (size_t k = 0; k < v->n_classes; k++) {
        size_t n;
        const char *text = dis_names_get(v->classes, k, &n);
        if (!dis__parse_real(text, n, &d->number[k])) d->number[k] = (double)k; /* places of declared classes */
    }
    return DIS_OK;
}

static dis_status sort_out(dis__panel_data *d, uint64_t *with_people)
{
    const dis_votes_view *v = d->votes;
    uint32_t *models = NULL;
    bool both = false;
    DIS_TRY(number_judges(d));
    const size_t judged = dis__size(d->n_judges, v->n_items, 0);
    DIS_TRY(dis__alloc_array(&d->said, judged, sizeof *d->said));
    DIS_TRY(dis__alloc_zeroed(&d->people, dis__size(v->n_items, v->n_classes, 0), sizeof *d->people));
    DIS_TRY(dis__alloc_zeroed(&d->n_votes, v->n_items, sizeof *d->n_votes));
    DIS_TRY(dis__alloc_array(&d->majority, v->n_items, sizeof *d->majority));
    DIS_TRY(dis__alloc_array(&d->panel, v->n_items, sizeof *d->panel));
    DIS_TRY(take_numbers(d));
    for (size_t x = 0; x < judged; x++) d->said[x] = -1;
    DIS_TRY(dis__alloc_array(&models, v->n_classes, sizeof *models));
    for (size_t i = 0; i < v->n_items; i++) {
        take_item(d, i, models);
        *with_people += d->n_votes[i] > 0;
        both = both || (d->n_votes[i] > 0 && d->panel[i] >= 0);
    }
    dis__free(models);
    return both ? DIS_OK
                : dis__fail(DIS_EDATA, "no item has votes of people and of models; models are judged by people");
}

/* ---- work ---- */

static dis_status fill(dis__panel_data *d, dis_panel *panel)
{
    const size_t n_items = d->votes->n_items, n = d->votes->n_classes;
    dis_panel_view *v = &panel->view;
    DIS_TRY(sort_out(d, &v->items_with_people));
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
    DIS_TRY(dis__alloc_array(&panel->p, dis__size(n_items, n, 0), sizeof *panel->p));
    DIS_TRY(dis__panel_judges(d, panel->judges, panel->pairs, v));
    DIS_TRY(dis__panel_rates(d, panel->rates));
    DIS_TRY(dis__panel_labels(d, panel->p, v));
    DIS_TRY(dis__panel_buy(d, panel->p, v->strength, panel->items, &v->spent));
    v->judges = panel->judges;
    v->pairs = panel->pairs;
    v->rates = panel->rates;
    v->items = panel->items;
    v->p = panel->p;
    return DIS_OK;
}

static dis_status check(const dis_votes_view *v, const dis_panel_options *o)
{
    if (!v->start) return dis__fail(DIS_EDATA, "the votes do not say who voted; bring one row per vote");
    if (v->n_classes < 2) return dis__fail(DIS_EDATA, "all votes are for one class; there is nothing to judge");
    if (!(o->epsilon >= 0 && o->epsilon <= 1)) return dis__fail(DIS_EUSAGE, "`epsilon` must be from 0 to 1");
    if (!(o->fdr > 0 && o->fdr < 1)) return dis__fail(DIS_EUSAGE, "`fdr` must lie between 0 and 1");
    if (!(o->precision > 0 && o->precision < 1)) return dis__fail(DIS_EUSAGE, "`precision` must lie between 0 and 1");
    if (o->resamples > MAX_RESAMPLES)
        return dis__fail(DIS_EUSAGE, "at most %d `resamples` are possible", MAX_RESAMPLES);
    if (o->budget > MAX_BUDGET) return dis__fail(DIS_EUSAGE, "a `budget` of at most %u votes is possible", MAX_BUDGET);
    return DIS_OK;
}

dis_status dis_panel_run(dis_context *ctx, const dis_votes *votes, const bool *person, const dis_panel_options *options,
                         dis_panel **out)
{
    dis_panel_options o = dis_panel_options_default();
    const dis_votes_view v = dis_votes_look(votes);
    dis_panel *panel;
    DIS_TRY(DIS_OPTIONS_TAKE(dis_panel_options, &o, options));
    DIS_TRY(check(&v, &o));
    DIS_TRY(dis__alloc_zeroed(&panel, 1, sizeof *panel));
    dis__panel_data d = {.ctx = ctx, .votes = &v, .person = person, .o = &o};
    const dis_status status = fill(&d, panel);
    data_free(&d);
    if (status != DIS_OK) {
        dis_panel_destroy(panel);
        return status;
    }
    *out = panel;
    return DIS_OK;
}
