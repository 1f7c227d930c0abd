/* Iterates over one record. Each part of each path is a leg: it has a current value and a next step. A level of lists
 * is opened for all legs with a list at that level, and their elements are visited together.
 *
 * Cost: every value of a path is visited once; a key costs a linear search of the members. */
#include "votes/mapper/record_walk_internal.h"
#include "core/memory/memory.h"
#include <stdio.h>
#include <string.h>

/* ---- making ---- */

static dis_status add_cursors(dis__record_walk *w, const dis__path *path, dis__path_role of, size_t rule)
{
    for (size_t i = 0; path->text && i < path->n_parts; i++) {
        dis__path_cursor *l = &w->cursors[w->n_cursors++];
        *l = (dis__path_cursor){.path = path, .part = &path->part[i], .of = of, .rule = rule};
        size_t n = 0;
        for (size_t s = 0; s < l->part->n_steps; s++)
            if (dis__step_is_axis(&l->part->step[s])) l->axis[n++] = s;
    }
    return DIS_OK;
}

dis_status dis__record_walk_create(const dis__mapping *m, dis__record_walk **out)
{
    dis__record_walk *w;
    DIS_TRY(dis__alloc_zeroed(&w, 1, sizeof *w));
    w->m = m;
    const dis_status status = dis__alloc_zeroed(&w->cursors, (4 + m->n_rules) * DIS_PATH_PARTS, sizeof *w->cursors);
    if (status != DIS_OK) {
        dis__free(w);
        return status;
    }
    add_cursors(w, &m->task, DIS_PATH_TASK, 0);
    add_cursors(w, &m->worker, DIS_PATH_WORKER, 0);
    add_cursors(w, &m->label, DIS_PATH_LABEL, 0);
    add_cursors(w, &m->time, DIS_PATH_TIME, 0);
    for (size_t i = 0; i < m->n_rules; i++) add_cursors(w, &m->rule[i].path, DIS_PATH_RULE, i);
    const size_t task = dis__path_axes(&m->task), worker = dis__path_axes(&m->worker);
    w->depth = task > worker ? task : worker;
    w->label_depth = dis__path_axes(&m->label);
    *out = w;
    return DIS_OK;
}

void dis__record_walk_destroy(dis__record_walk *w)
{
    if (!w) return;
    dis__free(w->cursors);
    dis__free(w->answer.label);
    dis__free(w->joined[0]);
    dis__free(w->joined[1]);
    dis__free(w);
}

/* ---- going on ---- */

/* The index of the element that a leg visited last. */
static size_t number_of(const dis__path_cursor *l)
{
    size_t axis = 0;
    while (axis + 1 < l->part->n_axes && l->axis[axis + 1] < l->step) axis++;
    return l->list[axis].i - 1;
}

static void visit_name(dis__path_cursor *l)
{
    const dis__element *e = &l->element;
    if (!e->has_name) return; /* the value itself */
    dis__node name = {.kind = DIS_NODE_TEXT, .text = e->name, .n = e->n_name, .at = l->node.at};
    if (!e->name) {
        name.n = (size_t)snprintf(l->number, sizeof l->number, "%zu", number_of(l));
        name.text = l->number;
    }
    l->node = name;
}

/* Follows all steps up to the next list, or the end. */
static dis_status advance(dis__record_walk *w, dis__path_cursor *l)
{
    const dis__path_part *part = l->part;
    for (l->missing = false; l->step < part->n_steps && !dis__step_is_axis(&part->step[l->step]);) {
        const dis__path_step *step = &part->step[l->step];
        size_t n_steps = 1;
        dis__node next = l->node;
        if (step->kind == DIS_STEP_NAME)
            visit_name(l);
        else if (step->kind == DIS_STEP_KEY)
            DIS_TRY(dis__path_lookup_key(w->record, &l->node, step, &next, &n_steps));
        else
            DIS_TRY(dis__node_step(w->record, &l->node, step, &next));
        if (step->kind != DIS_STEP_NAME && next.kind == DIS_NODE_NONE && !step->optional) {
            l->missing = true;
            return DIS_OK;
        }
        if (step->kind != DIS_STEP_NAME && next.kind != DIS_NODE_NONE) l->node = next;
        l->step += n_steps;
    }
    return DIS_OK;
}

/* Whether one of the participating legs has a list at this level. */
static bool goes_along(const dis__path_cursor *l, size_t level, bool labels_only)
{
    return level < l->part->n_axes &&
           !(labels_only && (l->of == DIS_PATH_TASK || l->of == DIS_PATH_WORKER || l->of == DIS_PATH_TIME));
}

/* Opens the lists of a level; *n is set to their length. */
static dis_status open_level(dis__record_walk *w, size_t level, bool labels_only, size_t *n)
{
    const dis__path_cursor *first = NULL;
    bool single = false;
    *n = 0;
    for (size_t i = 0; i < w->n_cursors; i++) {
        dis__path_cursor *l = &w->cursors[i];
        if (!goes_along(l, level, labels_only)) continue;
        bool is_list = false;
        if (!l->missing)
            DIS_TRY(dis__node_list_open(w->record, &l->node, &l->part->step[l->step], &l->list[level], &is_list));
        if (!is_list && dis__path_cursor_is_required(l)) return dis__record_walk_fail_missing(w, l);
        l->missing = !is_list;
        if (!is_list) continue;
        const size_t length = l->list[level].n;
        single = single || l->list[level].single;
        if (l->list[level].single) continue; /* repeated for every element of the others */
        if (first && length != *n) {
            char a[70], b[70];
            dis__record_walk_position(w, first, a, sizeof a);
            dis__record_walk_position(w, l, b, sizeof b);
            return dis__record_walk_fail(w, l->node.at,
                                         "%s has %zu elements and %s has %zu; parallel lists must have the same length",
                                         a, *n, b, length);
        }
        if (!first) {
            first = l;
            *n = length;
        }
    }
    if (!first) *n = single;
    return DIS_OK;
}

/* Element i of all lists of a level. *passed: a required one is skipped. */
static dis_status next_elements(dis__record_walk *w, size_t level, bool labels_only, bool *passed)
{
    *passed = false;
    for (size_t i = 0; i < w->n_cursors; i++) {
        dis__path_cursor *l = &w->cursors[i];
        if (!goes_along(l, level, labels_only) ||
            (l->missing && !dis__path_cursor_is_required(l) && l->step <= l->axis[level]))
            continue;
        dis__node_list *list = &l->list[level];
        if (list->i >= list->n) continue; /* the value itself, for all elements */
        DIS_TRY(dis__node_list_next(w->record, list, &l->element));
        l->node = l->element.node;
        l->step = l->axis[level] + 1;
        if (l->element.passed && dis__path_cursor_is_required(l)) *passed = true;
        l->missing = l->element.passed;
        if (!l->element.passed) DIS_TRY(advance(w, l));
    }
    return DIS_OK;
}

/* Applies rules whose lists end at this level; counts the answers that they drop. */
static dis_status check_rules(dis__record_walk *w, size_t level, bool *drop)
{
    *drop = false;
    for (size_t i = 0; i < w->n_cursors && !*drop; i++) {
        const dis__path_cursor *l = &w->cursors[i];
        if (l->of != DIS_PATH_RULE || l->part->n_axes != level) continue;
        const dis__map_rule *rule = &w->m->rule[l->rule];
        if (l->missing) { /* a record without the key is not one to keep */
            *drop = rule->keep && level == 0;
            w->dropped += *drop;
            continue;
        }
        const char *text;
        size_t n;
        if (!dis__node_text(&l->node, &text, &n)) continue;
        const size_t length = strlen(rule->value);
        *drop =
            rule->keep ? !dis__glob(rule->value, length, text, n) : n == length && memcmp(text, rule->value, n) == 0;
        w->dropped += *drop && rule->value != dis__option_chosen;
    }
    return DIS_OK;
}

/* ---- values ---- */

static dis_status value_of(dis__record_walk *w, const dis__path_cursor *l, dis__vote_field *out)
{
    if (l->missing) return dis__record_walk_fail_missing(w, l);
    const char *text;
    size_t n;
    if (!dis__node_text(&l->node, &text, &n)) {
        char place[80];
        dis__record_walk_position(w, l, place, sizeof place);
        return dis__record_walk_fail(w, l->node.at, "\"%s\" must be a text or a number; correct the path, `%s`", place,
                                     dis__path_cursor_option(w, l));
    }
    if (n == 0 && l->part->step[l->part->n_steps - 1].kind == DIS_STEP_FOLDER)
        return dis__record_walk_fail(w, l->node.at,
                                     "the %s is read from the name of the folder; give the file as FOLDER/FILE",
                                     dis__path_cursor_option(w, l));
    *out = (dis__vote_field){.text = text ? text : "", .n = n, .at = l->node.at};
    return DIS_OK;
}

/* Values of all parts of a path, joined by "/". */
static dis_status join(dis__record_walk *w, dis__path_role of, dis__vote_field *out)
{
    size_t n_parts = 0, used = 0;
    for (size_t i = 0; i < w->n_cursors; i++) {
        if (w->cursors[i].of != of) continue;
        dis__vote_field value;
        DIS_TRY(value_of(w, &w->cursors[i], &value));
        if (w->cursors[i].path->n_parts == 1) {
            *out = value;
            return DIS_OK;
        }
        if (n_parts == 0) out->at = value.at;
        DIS_TRY(dis__reserve(&w->joined[of], &w->joined_capacity[of], used, used + value.n + 1, 1));
        if (n_parts++) w->joined[of][used++] = of == DIS_PATH_TASK ? w->m->joiner : '/';
        memcpy(w->joined[of] + used, value.text, value.n);
        used += value.n;
    }
    out->text = w->joined[of];
    out->n = used;
    return DIS_OK;
}

static dis__path_cursor *cursor_of(dis__record_walk *w, dis__path_role of)
{
    for (size_t i = 0; i < w->n_cursors; i++)
        if (w->cursors[i].of == of) return &w->cursors[i];
    return NULL;
}

static dis_status add_label(dis__record_walk *w, const dis__path_cursor *l)
{
    dis__answer *a = &w->answer;
    DIS_TRY(dis__reserve(&a->label, &w->label_capacity, a->n_labels, a->n_labels + 1, sizeof *a->label));
    dis__mapped_label *label = &a->label[a->n_labels];
    *label = (dis__mapped_label){.name = l->element.name, .n_name = l->element.n_name};
    DIS_TRY(value_of(w, l, &label->value));
    if (label->value.text == l->number) label->value.text = NULL; /* the next one would overwrite it */
    if (!label->name && l->part->n_axes)
        label->n_name = (size_t)snprintf(label->number, sizeof label->number, "%zu", number_of(l));
    a->n_labels++;
    return DIS_OK;
}

/* The values of the label's path: a list at its end yields several labels. */
static dis_status add_labels(dis__record_walk *w)
{
    dis__path_cursor *l = cursor_of(w, DIS_PATH_LABEL);
    const dis__node list = l->node;
    if (l->missing || w->m->numbers || list.kind != DIS_NODE_JSON || list.json->kind != DIS_JSON_ARRAY ||
        list.json->n < 2)
        return add_label(w, l);
    const dis__json_value *v = list.json + 1;
    for (uint32_t i = 0; i < list.json->n; i++, v += v->skip) {
        l->node.json = v;
        l->node.at = list.base ? list.base + v->at : list.at;
        DIS_TRY(add_label(w, l));
    }
    l->node = list;
    return DIS_OK;
}

static dis_status walk_labels(dis__record_walk *w, size_t level)
{
    if (level >= w->label_depth) return add_labels(w);
    size_t n;
    DIS_TRY(open_level(w, level, true, &n));
    for (size_t i = 0; i < n; i++) {
        bool passed, drop;
        w->index[level] = i;
        DIS_TRY(next_elements(w, level, true, &passed));
        if (passed) continue;
        DIS_TRY(check_rules(w, level + 1, &drop));
        if (!drop) DIS_TRY(walk_labels(w, level + 1));
    }
    return DIS_OK;
}

static dis_status emit_answer(dis__record_walk *w)
{
    dis__answer *a = &w->answer;
    const dis__path_cursor *time = cursor_of(w, DIS_PATH_TIME), *label = cursor_of(w, DIS_PATH_LABEL);
    a->n_labels = 0;
    a->worker = a->time = (dis__vote_field){0};
    a->at = label->node.at;
    DIS_TRY(join(w, DIS_PATH_TASK, &a->task));
    if (!w->m->no_worker) DIS_TRY(join(w, DIS_PATH_WORKER, &a->worker));
    const size_t from = label->part->n_axes < w->depth ? label->part->n_axes : w->depth;
    DIS_TRY(walk_labels(w, from));
    if (time && !time->missing && time->step == time->part->n_steps) (void)value_of(w, time, &a->time);
    for (size_t i = 0; i < a->n_labels; i++) { /* the array may have moved */
        dis__mapped_label *x = &a->label[i];
        if (!x->value.text) x->value.text = x->number;
        if (!x->name) x->name = x->number;
    }
    return w->on_answer(w->user, a, w->problem);
}

static dis_status walk(dis__record_walk *w, size_t level)
{
    if (level == w->depth) return emit_answer(w);
    size_t n;
    DIS_TRY(open_level(w, level, false, &n));
    for (size_t i = 0; i < n; i++) {
        bool passed, drop;
        w->index[level] = i;
        DIS_TRY(next_elements(w, level, false, &passed));
        if (passed) continue;
        DIS_TRY(check_rules(w, level + 1, &drop));
        if (!drop) DIS_TRY(walk(w, level + 1));
    }
    return DIS_OK;
}

dis_status dis__map_record(dis__record_walk *w, dis__mapped_record *record, dis__answer_callback on_answer, void *user,
                           uint64_t *dropped, dis__row_problem *problem)
{
    w->record = record;
    w->problem = problem;
    w->on_answer = on_answer;
    w->user = user;
    w->dropped = 0;
    record->n_embedded = 0;
    for (size_t i = 0; i < w->n_cursors; i++) {
        dis__path_cursor *l = &w->cursors[i];
        l->node = record->root;
        l->step = 0;
        l->element = (dis__element){.has_name = false};
        DIS_TRY(advance(w, l));
    }
    bool drop;
    DIS_TRY(check_rules(w, 0, &drop));
    const dis_status status = drop ? DIS_OK : walk(w, 0);
    *dropped += w->dropped;
    return status;
}
