/* Groups of workers by the values of a column, none of them smaller than asked.
 *
 * Values are counted; those with fewer workers than `min_group` are merged into "other", and where "other" is too
 * small itself its workers are in no group: the smallest reported statistic is about `min_group` people. Cost:
 * O(workers x values), and a sort of the values. */
#include "dissent/worker_table.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/numbers/decimal.h"
#include "core/options/sized_structs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUT_TEXT = 80, MAX_VALUES = 10000 };
#define OTHER "other"

struct dis_worker_groups {
    dis_worker_groups_view view;
    dis_names *names;
    int32_t *group;
    uint64_t *workers, *votes;
};

DIS_OPTIONS_DEFAULTS(dis_worker_groups_options, .size = sizeof(dis_worker_groups_options), .min_group = 5)

static dis_worker_groups_view view_of(const dis_worker_groups *g)
{
    return g->view;
}
DIS_VIEW_DEFINE(dis_worker_groups, g, view_of(g))

void dis_worker_groups_destroy(dis_worker_groups *g)
{
    if (!g) return;
    dis_names_destroy(g->names);
    dis__free(g->group);
    dis__free(g->workers);
    dis__free(g->votes);
    dis__free(g);
}

/* ---- different values ---- */

/* A value with its workers. */
typedef struct {
    const char *text;
    double number; /* what it is, where all are numbers; its position between cuts */
    uint64_t workers;
    size_t index; /* in order of appearance */
} value;

typedef struct {
    const dis_worker_groups_options *o;
    dis_names *texts; /* of the values: cuts spelt out */
    value *values;
    size_t n;
    uint32_t *of; /* (n_workers) index of the value, UINT32_MAX: none */
    bool numbers;
} sorting;

/* "below 30", "30 to below 45", "45 or more". */
static void name_of_cut(const dis_worker_groups_options *o, size_t c, char out[CUT_TEXT])
{
    if (c == 0)
        snprintf(out, CUT_TEXT, "below %.10g", o->cuts[0]);
    else if (c == o->n_cuts)
        snprintf(out, CUT_TEXT, "%.10g or more", o->cuts[c - 1]);
    else
        snprintf(out, CUT_TEXT, "%.10g to below %.10g", o->cuts[c - 1], o->cuts[c]);
}

static bool is_among(const char *text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(text, words[i]) == 0) return true;
    return false;
}

/* What Prolific writes for people who took their consent back, or whose data it no longer has, is no one's group; and
 * in tables of numbers there are words for none. */
static bool is_missing(const char *text, bool numbers)
{
    static const char *const always[] = {"DATA_EXPIRED", "CONSENT_REVOKED"}, *const no_number[] = {"nan",  "NaN",
                                                                                                   "NA",   "N/A",
                                                                                                   "null", "None"};
    return is_among(text, always, 2) || (numbers && is_among(text, no_number, sizeof no_number / sizeof *no_number));
}

static dis_status place_of(const dis_worker_groups_options *o, const dis_votes_view *v, size_t w, const char *text,
                           size_t n, size_t *c)
{
    double x;
    if (!dis__parse_real(text, n, &x))
        return dis__fail(DIS_EDATA, "worker \"%.100s\": \"%.100s\" is not a number, and `cuts` are for numbers",
                         dis_names_get(v->workers, w, NULL), text);
    for (*c = 0; *c < o->n_cuts && x >= o->cuts[*c];) ++*c;
    return DIS_OK;
}

static dis_status add_value(sorting *s, dis__name_list *list, size_t w, const char *text, size_t n)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->start[i + 1] - list->start[i] - 1 == n && memcmp(list->bytes + list->start[i], text, n) == 0) {
            s->of[w] = (uint32_t)i;
            return DIS_OK;
        }
    if (list->n == MAX_VALUES)
        return dis__fail(DIS_ELIMIT, "more than %d different values: this column identifies workers rather than groups",
                         MAX_VALUES);
    s->of[w] = (uint32_t)list->n;
    return dis__name_list_add(list, text, n);
}

static dis_status find_values(sorting *s, const dis_votes_view *v, const dis_names *given, dis__name_list *list)
{
    for (size_t w = 0; w < v->n_workers; w++) {
        size_t n, c = 0;
        const char *text = dis_names_get(given, w, &n);
        char cut[CUT_TEXT];
        s->of[w] = UINT32_MAX;
        if (n == 0 || is_missing(text, s->o->n_cuts > 0)) continue;
        if (s->o->n_cuts) {
            DIS_TRY(place_of(s->o, v, w, text, n, &c));
            name_of_cut(s->o, c, cut);
            text = cut;
            n = strlen(cut);
        }
        DIS_TRY(add_value(s, list, w, text, n));
    }
    return DIS_OK;
}

static int by_name(const void *a, const void *b)
{
    const value *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* What a value is sorted by: its number where all are numbers, the lower end of a cut. */
static void number_values(sorting *s)
{
    s->numbers = true;
    for (size_t i = 0; i < s->n && !s->o->n_cuts; i++)
        s->numbers = s->numbers && dis__parse_real(s->values[i].text, strlen(s->values[i].text), &s->values[i].number);
    for (size_t i = 0; i < s->n; i++) {
        char cut[CUT_TEXT];
        if (!s->numbers) s->values[i].number = 0;
        for (size_t c = 0; s->o->n_cuts && c <= s->o->n_cuts; c++) {
            name_of_cut(s->o, c, cut);
            if (strcmp(cut, s->values[i].text) == 0) s->values[i].number = (double)c;
        }
    }
}

static dis_status count_values(sorting *s, const dis_votes_view *v)
{
    s->n = dis_names_count(s->texts);
    DIS_TRY(dis__alloc_zeroed(&s->values, s->n, sizeof *s->values));
    for (size_t i = 0; i < s->n; i++) s->values[i] = (value){.text = dis_names_get(s->texts, i, NULL), .index = i};
    for (size_t w = 0; w < v->n_workers; w++)
        if (s->of[w] != UINT32_MAX) s->values[s->of[w]].workers++;
    number_values(s);
    qsort(s->values, s->n, sizeof *s->values, by_name);
    return DIS_OK;
}

/* ---- groups ---- */

static bool is_small(const sorting *s, const value *x)
{
    return x->workers < s->o->min_group;
}

/* Handling of small groups. */
static void judge_small(const sorting *s, dis_worker_groups_view *view)
{
    uint64_t small = 0, people = 0;
    for (size_t i = 0; i < s->n; i++)
        if (is_small(s, &s->values[i])) {
            small++;
            people += s->values[i].workers;
        }
    const bool merge = !s->o->hide_small && small > 1 && people >= s->o->min_group;
    view->n_merged = merge ? small : 0;
    view->n_hidden = merge ? 0 : small;
    view->n_hidden_workers = merge ? 0 : people;
}

static dis_status name_groups(const sorting *s, dis_worker_groups *g, int32_t *group_of)
{
    const char *names[DIS_MAX_GROUPS + 1];
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        group_of[s->values[i].index] = -1;
        if (is_small(s, &s->values[i])) continue;
        if (n == DIS_MAX_GROUPS)
            return dis__fail(DIS_ELIMIT, "more than %u groups; raise `min_group`, or cut numbers with `cuts`",
                             DIS_MAX_GROUPS);
        group_of[s->values[i].index] = (int32_t)n;
        names[n++] = s->values[i].text;
    }
    if (n == 0)
        return dis__fail(DIS_EDATA,
                         "no value has %zu workers or more, so there is no group to show; lower `min_group`, or cut "
                         "numbers with `cuts`",
                         s->o->min_group);
    for (size_t i = 0; i < s->n && g->view.n_merged; i++)
        if (is_small(s, &s->values[i])) group_of[s->values[i].index] = (int32_t)n;
    if (g->view.n_merged) names[n++] = OTHER;
    g->view.n_groups = n;
    return dis_names_create(names, n, &g->names);
}

static dis_status fill_groups(const sorting *s, const dis_votes_view *v, dis_worker_groups *g)
{
    int32_t *group_of;
    judge_small(s, &g->view);
    DIS_TRY(dis__alloc_array(&group_of, s->n, sizeof *group_of));
    dis_status status = name_groups(s, g, group_of);
    if (status == DIS_OK) status = dis__alloc_array(&g->group, v->n_workers, sizeof *g->group);
    if (status == DIS_OK) status = dis__alloc_zeroed(&g->workers, g->view.n_groups, sizeof *g->workers);
    if (status == DIS_OK) status = dis__alloc_zeroed(&g->votes, g->view.n_groups, sizeof *g->votes);
    for (size_t w = 0; status == DIS_OK && w < v->n_workers; w++) {
        g->group[w] = s->of[w] == UINT32_MAX ? -1 : group_of[s->of[w]];
        g->view.n_unknown += s->of[w] == UINT32_MAX;
        if (g->group[w] >= 0) g->workers[g->group[w]]++;
    }
    for (size_t i = 0; status == DIS_OK && i < v->n_votes; i++)
        if (g->group[v->worker[i]] >= 0) g->votes[g->group[v->worker[i]]]++;
    dis__free(group_of);
    return status;
}

static dis_status make(const dis_votes_view *v, const dis_names *given, const dis_worker_groups_options *o,
                       dis_worker_groups *g)
{
    sorting s = {.o = o};
    dis__name_list list = {0};
    DIS_TRY(dis__alloc_array(&s.of, v->n_workers, sizeof *s.of));
    dis_status status = find_values(&s, v, given, &list);
    if (status == DIS_OK) status = dis__name_list_move(&list, &s.texts);
    if (status == DIS_OK) status = count_values(&s, v);
    if (status == DIS_OK) status = fill_groups(&s, v, g);
    dis__name_list_free(&list);
    dis_names_destroy(s.texts);
    dis__free(s.values);
    dis__free(s.of);
    return status;
}

static dis_status check(const dis_votes_view *v, const dis_names *given, const dis_worker_groups_options *o)
{
    if (!v->start)
        return dis__fail(DIS_EDATA, "the votes have no annotator ids; give one row per vote with a worker column");
    if (dis_names_count(given) != v->n_workers)
        return dis__fail(DIS_EUSAGE, "%zu values for %zu workers", dis_names_count(given), v->n_workers);
    if (o->min_group == 0) return dis__fail(DIS_EUSAGE, "`min_group` must be 1 or more");
    if (o->n_cuts >= DIS_MAX_GROUPS)
        return dis__fail(DIS_EUSAGE, "%zu `cuts`; at most %u are possible", o->n_cuts, DIS_MAX_GROUPS - 1);
    for (size_t c = 0; c < o->n_cuts; c++)
        if (!isfinite(o->cuts[c]) || (c && o->cuts[c] <= o->cuts[c - 1]))
            return dis__fail(DIS_EUSAGE, "`cuts` must be ascending numbers");
    return DIS_OK;
}

dis_status dis_worker_groups_create(const dis_votes *votes, const dis_names *given,
                                    const dis_worker_groups_options *options, dis_worker_groups **out)
{
    dis_worker_groups_options o = dis_worker_groups_options_default();
    const dis_votes_view v = dis_votes_get_view(votes);
    dis_worker_groups *g;
    DIS_TRY(DIS_OPTIONS_COPY(dis_worker_groups_options, &o, options));
    DIS_TRY(check(&v, given, &o));
    DIS_TRY(dis__alloc_zeroed(&g, 1, sizeof *g));
    const dis_status status = make(&v, given, &o, g);
    if (status != DIS_OK) {
        dis_worker_groups_destroy(g);
        return status;
    }
    g->view.n_workers = v.n_workers;
    g->view.min_group = o.min_group;
    g->view.names = g->names;
    g->view.group = g->group;
    g->view.workers = g->workers;
    g->view.votes = g->votes;
    *out = g;
    return DIS_OK;
}
