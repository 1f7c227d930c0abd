/* Messages for paths without a value in a record: the position, the value found instead, and the option of the path.
 * Missing columns of a table are reported at its header, before the first row. */
#include "votes/mapper/record_walk_internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"task", "worker", "label", "time", "drop"};

dis_status dis__record_walk_fail(dis__record_walk *w, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(w->problem->text, sizeof w->problem->text, format, args);
    va_end(args);
    w->problem->at = at;
    return DIS_EDATA;
}

void dis__record_walk_position(const dis__record_walk *w, const dis__path_cursor *l, char *out, size_t room)
{
    size_t used = 0, axis = 0;
    out[0] = 0;
    for (size_t s = 0; s < l->step && used + 2 < room; s++) {
        const dis__path_step *step = &l->part->step[s];
        int n = 0;
        if (step->kind == DIS_STEP_KEY)
            n = snprintf(out + used, room - used, "%s%.*s", used ? "." : "", step->n > 60 ? 60 : (int)step->n,
                         step->text);
        else if (dis__step_is_axis(step))
            n = snprintf(out + used, room - used, "[%zu]", w->index[axis++]);
        else if (step->kind == DIS_STEP_INDEX || step->kind == DIS_STEP_PART)
            n = snprintf(out + used, room - used, "[%zu]", step->index);
        used += n > 0 ? (size_t)n : 0;
    }
}

const char *dis__path_cursor_option(const dis__record_walk *w, const dis__path_cursor *l)
{
    const size_t left = l->path->n_parts - (size_t)(l->part - l->path->part); /* parts from this one on */
    return l->of == DIS_PATH_TASK && w->m->part_option && left <= 2 ? w->m->part_option[2 - left] : names[l->of];
}

/* "a" or "b" for a step "a|b", with the group in which it is looked up. */
static void quote_keys(const char *group, const dis__path_step *step, char *out, size_t room)
{
    const char *key = step->text, *end = key + step->n;
    size_t used = 0;
    out[0] = 0;
    while (used + 1 < room) {
        const char *bar = step->quoted ? NULL : memchr(key, '|', (size_t)(end - key));
        const size_t n = (size_t)((bar ? bar : end) - key);
        const int put = snprintf(out + used, room - used, "%s\"%s%s%.*s\"", used ? " or " : "", group,
                                 *group ? "." : "", n > 60 ? 60 : (int)n, key);
        used += put > 0 ? (size_t)put : 0;
        if (!bar) return;
        key = bar + 1;
    }
}

/* A row, or the columns "NAME.x" of it. */
static bool is_of_columns(const dis__node *node)
{
    return node->kind == DIS_NODE_ROW || node->kind == DIS_NODE_GROUP;
}

dis_status dis__record_walk_fail_missing(dis__record_walk *w, const dis__path_cursor *l)
{
    const dis__path_step *step = &l->part->step[l->step];
    char place[80], keys[400], name[160];
    dis__record_walk_position(w, l, place, sizeof place);
    dis__node_keys(w->record, &l->node, keys, sizeof keys);
    const char *within = place[0] ? " within " : "";
    if (step->kind == DIS_STEP_KEY) quote_keys(is_of_columns(&l->node) ? place : "", step, name, sizeof name);
    if (step->kind == DIS_STEP_KEY && l->node.kind == DIS_NODE_ROW && w->record->bare)
        return dis__record_walk_fail(w, l->node.at,
                                     "no column %s, counted from 0: this row has %zu; is the file complete?", name,
                                     w->record->csv->n_columns);
    if (step->kind == DIS_STEP_KEY && is_of_columns(&l->node))
        return dis__record_walk_fail(w, l->node.at, "no column %s; the columns are: %s; name the one to use with `%s`",
                                     name, keys, dis__path_cursor_option(w, l));
    if (step->kind == DIS_STEP_KEY && keys[0])
        return dis__record_walk_fail(w, l->node.at, "no key %s%s%s; the keys are: %s; name the one to use with `%s`",
                                     name, within, place, keys, dis__path_cursor_option(w, l));
    if (step->kind == DIS_STEP_KEY && l->node.kind == DIS_NODE_JSON && l->node.json->kind == DIS_JSON_OBJECT)
        return dis__record_walk_fail(w, l->node.at, "no key %s%s%s: the object is empty", name, within, place);
    if (step->kind == DIS_STEP_KEY)
        return dis__record_walk_fail(w, l->node.at, "no key %s%s%s, which is not an object; correct the path, `%s`",
                                     name, within, place, dis__path_cursor_option(w, l));
    return dis__record_walk_fail(w, l->node.at, "%s%s is no %s; correct the path, `%s`",
                                 place[0] ? place : "the record",
                                 l->node.kind == DIS_NODE_TEXT ? ", a text without JSON in it," : "",
                                 step->kind == DIS_STEP_MEMBERS ? "object"
                                 : step->kind == DIS_STEP_SPLIT || step->kind == DIS_STEP_PART
                                     ? "text"
                                     : "list, or not long enough",
                                 dis__path_cursor_option(w, l));
}

dis_status dis__record_walk_check_columns(dis__record_walk *w, dis__mapped_record *header, dis__row_problem *problem)
{
    w->record = header;
    w->problem = problem;
    for (size_t i = 0; i < w->n_cursors; i++) {
        dis__path_cursor *l = &w->cursors[i];
        if (!dis__path_cursor_is_required(l) || (l->of == DIS_PATH_WORKER && w->m->no_worker)) continue;
        l->node = header->root;
        for (l->step = 0; l->step < l->part->n_steps && is_of_columns(&l->node);) {
            const dis__path_step *step = &l->part->step[l->step];
            size_t n_steps;
            dis__node next;
            if (step->kind != DIS_STEP_KEY || step->optional) break;
            DIS_TRY(dis__path_lookup_key(header, &l->node, step, &next, &n_steps));
            if (next.kind == DIS_NODE_NONE) return dis__record_walk_fail_missing(w, l);
            l->node = next;
            l->step += n_steps;
        }
    }
    return DIS_OK;
}
