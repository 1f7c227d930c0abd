/* Resolves a path in one record, key by key. Cost: a linear search of the members per key. */
#include "votes/mapper/record_walk_internal.h"
#include <string.h>

static bool is_null(const dis__node *node)
{
    return node->kind == DIS_NODE_JSON && node->json->kind == DIS_JSON_NULL;
}

/* One of the keys "a|b"; NONE if it has none of them. A null counts only if no further key is present. */
static dis_status try_keys(dis__mapped_record *r, const dis__node *node, const dis__path_step *step, dis__node *out)
{
    const char *key = step->text, *end = key + step->n;
    dis__node null = {.at = node->at};
    for (;;) {
        const char *bar = step->quoted ? NULL : memchr(key, '|', (size_t)(end - key));
        DIS_TRY(dis__node_member(r, node, key, (size_t)((bar ? bar : end) - key), out));
        if (out->kind != DIS_NODE_NONE && !(bar && is_null(out))) return DIS_OK;
        if (is_null(out) && null.kind == DIS_NODE_NONE) null = *out;
        if (!bar) break;
        key = bar + 1;
    }
    *out = null;
    return DIS_OK;
}

dis_status dis__path_lookup_key(dis__mapped_record *r, const dis__node *node, const dis__path_step *step,
                                dis__node *out, size_t *n_steps)
{
    for (*n_steps = step->chain; *n_steps > 1; --*n_steps) {
        const dis__path_step *last = step + *n_steps - 1;
        DIS_TRY(dis__node_member(r, node, step->text, (size_t)(last->text + last->n - step->text), out));
        if (out->kind != DIS_NODE_NONE) return DIS_OK;
    }
    return try_keys(r, node, step, out);
}

dis_status dis__path_exists(const dis__path *path, dis__mapped_record *record, bool *leads)
{
    const dis__path_part *part = &path->part[0];
    dis__node node = record->root;
    *leads = false;
    for (size_t s = 0; s < part->n_steps;) {
        const dis__path_step *step = &part->step[s];
        dis__node next = {0};
        size_t n_steps = 1;
        if (dis__step_is_axis(step)) {
            dis__node_list list;
            dis__element element;
            bool is_list;
            DIS_TRY(dis__node_list_open(record, &node, step, &list, &is_list));
            if (!is_list) return DIS_OK;
            do {
                if (list.i == list.n) {
                    *leads = s + 1 == part->n_steps && step->n == 0 && step->n_tests == 0;
                    return DIS_OK;
                }
                DIS_TRY(dis__node_list_next(record, &list, &element));
            } while (element.passed);
            next = element.node;
        } else if (step->kind == DIS_STEP_KEY) {
            DIS_TRY(dis__path_lookup_key(record, &node, step, &next, &n_steps));
        } else {
            DIS_TRY(dis__node_step(record, &node, step, &next));
        }
        if (next.kind == DIS_NODE_NONE && !step->optional) return DIS_OK;
        if (next.kind != DIS_NODE_NONE) node = next;
        s += n_steps;
    }
    *leads = true;
    return DIS_OK;
}
