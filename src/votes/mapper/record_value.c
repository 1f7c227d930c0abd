/* Nodes: see record_value.h. Members of JSON objects, and columns, are searched linearly; records have few. */
#include "votes/mapper/record_value.h"
#include "core/memory/memory.h"
#include <stdio.h>
#include <string.h>

void dis__mapped_record_free(dis__mapped_record *r)
{
    for (size_t i = 0; i < r->n_parsers; i++) {
        dis__json_free(&r->embedded[i]->json);
        dis__free(r->embedded[i]);
    }
    dis__free(r->embedded);
    r->embedded = NULL;
    r->n_embedded = r->n_parsers = r->parsers_capacity = 0;
}

static dis__node json_node(const dis__node *parent, const dis__json_value *v)
{
    return (dis__node){.kind = DIS_NODE_JSON,
                       .json = v,
                       .base = parent->base,
                       .at = parent->base ? parent->base + v->at : parent->at};
}

static dis__node text_node(const char *text, size_t n, const char *at)
{
    return (dis__node){.kind = DIS_NODE_TEXT, .text = text, .n = n, .at = at};
}

static dis__node cell_node(const dis__csv_field *cell)
{
    return text_node(cell->text, cell->n, cell->at);
}

/* A parser for one more text of this record. */
static dis_status new_parser(dis__mapped_record *r, dis__embedded **out)
{
    if (r->n_embedded == r->n_parsers) {
        DIS_TRY(
            dis__reserve(&r->embedded, &r->parsers_capacity, r->n_parsers, r->n_parsers + 1, sizeof(dis__embedded *)));
        DIS_TRY(dis__alloc_zeroed(&r->embedded[r->n_parsers], 1, sizeof **r->embedded));
        r->n_parsers++;
    }
    *out = r->embedded[r->n_embedded++];
    return DIS_OK;
}

/* A text as JSON, if the path continues; NONE if it is not JSON. */
static dis_status parse_text(dis__mapped_record *r, const char *text, size_t n, const char *at, dis__node *out)
{
    *out = (dis__node){.at = at};
    for (size_t i = 0; i < r->n_embedded; i++)
        if (r->embedded[i]->text == text) {
            if (r->embedded[i]->root) *out = (dis__node){.kind = DIS_NODE_JSON, .json = r->embedded[i]->root, .at = at};
            return DIS_OK;
        }
    const char *p = text, *end = text + n;
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) p++;
    if (p == end || (*p != '{' && *p != '[')) return DIS_OK;
    dis__embedded *e;
    DIS_TRY(new_parser(r, &e));
    e->text = text;
    const dis_status status = dis__json_parse(&e->json, text, n, &(dis__json_position){.file = ""}, &e->root);
    if (status == DIS_EDATA) e->root = NULL;
    if (status == DIS_EDATA) return DIS_OK;
    DIS_TRY(status);
    *out = (dis__node){.kind = DIS_NODE_JSON, .json = e->root, .at = at};
    return DIS_OK;
}

/* A node as a container of members or elements. */
static dis_status open_text(dis__mapped_record *r, const dis__node *node, dis__node *out)
{
    *out = *node;
    if (node->kind == DIS_NODE_TEXT) return parse_text(r, node->text, node->n, node->at, out);
    if (node->kind == DIS_NODE_JSON && node->json->kind == DIS_JSON_STRING)
        return parse_text(r, node->json->text, node->json->length, node->at, out);
    return DIS_OK;
}

static bool is_text(const char *a, size_t n_a, const char *b, size_t n_b)
{
    return n_a == n_b && memcmp(a, b, n_a) == 0;
}

/* The column of a row, or of a group of columns; SIZE_MAX: none. *group: there are columns with that prefix. */
static size_t find_column(const dis__mapped_record *r, const dis__node *node, const char *key, size_t n, bool *group)
{
    const size_t skip = node->kind == DIS_NODE_GROUP ? node->n + 1 : 0;
    *group = false;
    for (size_t c = 0; c < r->csv->n_columns; c++) {
        const dis__csv_field *h = &r->csv->header[c];
        if (skip && (h->n < skip || memcmp(h->text, node->text, skip - 1) != 0 || h->text[skip - 1] != '.')) continue;
        if (is_text(h->text + skip, h->n - skip, key, n)) return c;
        *group = *group || (!skip && h->n > n + 1 && memcmp(h->text, key, n) == 0 && h->text[n] == '.');
    }
    return SIZE_MAX;
}

dis_status dis__node_member(dis__mapped_record *r, const dis__node *given, const char *key, size_t n, dis__node *out)
{
    dis__node node;
    DIS_TRY(open_text(r, given, &node));
    *out = (dis__node){.at = given->at};
    if (node.kind == DIS_NODE_ROW || node.kind == DIS_NODE_GROUP) {
        bool group;
        const size_t c = find_column(r, &node, key, n, &group);
        if (c != SIZE_MAX)
            *out = cell_node(&r->csv->field[c]);
        else if (group)
            *out = (dis__node){.kind = DIS_NODE_GROUP, .text = key, .n = n, .at = given->at};
        return DIS_OK;
    }
    if (node.kind != DIS_NODE_JSON || node.json->kind != DIS_JSON_OBJECT) return DIS_OK;
    const dis__json_value *v = node.json + 1;
    for (uint32_t i = 0; i < node.json->n; i++, v += 1 + v[1].skip)
        if (is_text(v->text, v->length, key, n)) {
            *out = json_node(&node, v + 1);
            return DIS_OK;
        }
    return DIS_OK;
}

/* Part `index` of a text; NULL past the last. */
static const char *find_part(const char *text, size_t n, char separator, size_t index, size_t *n_part)
{
    const char *end = text + n;
    for (;; index--) {
        const char *stop = memchr(text, separator, (size_t)(end - text));
        *n_part = (size_t)((stop ? stop : end) - text);
        if (index == 0) return text;
        if (!stop) return NULL;
        text = stop + 1;
    }
}

static dis__node part_node(const dis__node *node, const char *part, size_t n)
{
    /* Parts of a cell have their own positions if the cell is unchanged in the input. */
    const bool as_is = node->kind == DIS_NODE_TEXT && node->text == node->at;
    while (n && *part == ' ') {
        part++;
        n--;
    }
    while (n && part[n - 1] == ' ') n--;
    return text_node(part, n, as_is ? part : node->at);
}

dis_status dis__node_step(dis__mapped_record *r, const dis__node *node, const dis__path_step *step, dis__node *out)
{
    const char *text;
    size_t n;
    *out = (dis__node){.at = node->at};
    switch (step->kind) {
    case DIS_STEP_RECORD: *out = text_node(r->key, r->n_key, node->at); return DIS_OK;
    case DIS_STEP_FILE: *out = text_node(r->file, r->n_file, node->at); return DIS_OK;
    case DIS_STEP_FOLDER: *out = text_node(r->folder, r->n_folder, node->at); return DIS_OK;
    case DIS_STEP_INDEX: {
        dis__node list;
        DIS_TRY(open_text(r, node, &list));
        if (list.kind == DIS_NODE_ROW && step->index < r->csv->n_columns) *out = cell_node(&r->csv->field[step->index]);
        if (list.kind != DIS_NODE_JSON || list.json->kind != DIS_JSON_ARRAY || step->index >= list.json->n)
            return DIS_OK;
        const dis__json_value *v = list.json + 1;
        for (size_t i = 0; i < step->index; i++) v += v->skip;
        *out = json_node(&list, v);
        return DIS_OK;
    }
    case DIS_STEP_PART: {
        if (!dis__node_text(node, &text, &n)) return DIS_OK;
        size_t n_part;
        const char *part = find_part(text, n, step->separator, step->index, &n_part);
        if (part) *out = part_node(node, part, n_part);
        return DIS_OK;
    }
    default: return DIS_OK; /* the walk handles keys and axes */
    }
}

void dis__node_keys(dis__mapped_record *r, const dis__node *given, char *out, size_t room)
{
    dis__node node;
    out[0] = 0;
    if (open_text(r, given, &node) != DIS_OK) return;
    if (node.kind == DIS_NODE_JSON && node.json->kind == DIS_JSON_OBJECT) {
        dis__json_list_keys(node.json, out, room);
        return;
    }
    if (node.kind == DIS_NODE_ROW || node.kind == DIS_NODE_GROUP) dis__csv_list_columns(r->csv, out, room);
}

bool dis__node_text(const dis__node *node, const char **text, size_t *n)
{
    const dis__json_value *v = node->json;
    *text = node->text;
    *n = node->n;
    if (node->kind == DIS_NODE_TEXT) return true;
    if (node->kind != DIS_NODE_JSON) return false;
    if (v->kind == DIS_JSON_ARRAY && v->n == 1) v++; /* a single choice, as annotation tools write it */
    *text = v->text;
    *n = v->kind == DIS_JSON_NULL || v->kind == DIS_JSON_ARRAY ? 0 : v->length;
    return v->kind <= DIS_JSON_STRING || (v->kind == DIS_JSON_ARRAY && v->n == 0);
}

static size_t count_parts(const char *text, size_t n, char separator)
{
    size_t parts = 1;
    for (size_t i = 0; i < n; i++) parts += text[i] == separator;
    return parts;
}

dis_status dis__node_list_open(dis__mapped_record *r, const dis__node *given, const dis__path_step *step,
                               dis__node_list *l, bool *is_list)
{
    dis__node node = *given;
    *l = (dis__node_list){.step = step};
    *is_list = true;
    if (step->kind == DIS_STEP_SPLIT) {
        const char *text;
        size_t n;
        l->list = node;
        if (dis__node_text(&node, &text, &n) && !(node.kind == DIS_NODE_JSON && node.json->kind == DIS_JSON_ARRAY)) {
            l->part = text;
            l->n = n ? count_parts(text, n, step->separator) : 0;
            return DIS_OK;
        }
    } else {
        DIS_TRY(open_text(r, given, &node));
        l->list = node;
        const bool members = step->kind == DIS_STEP_MEMBERS;
        if (node.kind == DIS_NODE_JSON && node.json->kind == DIS_JSON_NULL) return DIS_OK; /* no elements */
        if (node.kind == DIS_NODE_JSON && node.json->kind == (members ? DIS_JSON_OBJECT : DIS_JSON_ARRAY)) {
            l->next = node.json + 1;
            l->n = node.json->n;
            return DIS_OK;
        }
        if (members && (node.kind == DIS_NODE_ROW || node.kind == DIS_NODE_GROUP)) {
            l->n = r->csv->n_columns;
            return DIS_OK;
        }
    }
    l->list = *given;
    l->single = step->optional;
    l->n = 1;
    *is_list = step->optional;
    return DIS_OK;
}

/* Whether an element satisfies the conditions of a step. */
static dis_status passes(dis__mapped_record *r, const dis__node *node, const dis__path_step *step, bool *good)
{
    *good = true;
    for (size_t i = 0; i < step->n_tests && *good; i++) {
        const dis__step_test *t = &step->test[i];
        dis__node value;
        const char *text;
        size_t n;
        DIS_TRY(dis__node_member(r, node, t->key, t->n_key, &value));
        *good = dis__node_text(&value, &text, &n) && dis__glob(t->value, t->n_value, text, n);
    }
    return DIS_OK;
}

/* Whether a name matches one of the patterns "a*,b". */
static bool fits(const dis__path_step *step, const char *name, size_t n)
{
    for (const char *p = step->text, *end = p + step->n;;) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
        if (dis__glob(p, (size_t)(stop - p), name, n)) return true;
        if (!comma) return false;
        p = comma + 1;
    }
}

/* A column as a member; its name within a group begins after the dot. */
static void find_column_value(const dis__mapped_record *r, dis__node_list *l, dis__element *out)
{
    const size_t c = l->i, skip = l->list.kind == DIS_NODE_GROUP ? l->list.n + 1 : 0;
    const dis__csv_field *h = &r->csv->header[c], *cell = &r->csv->field[c];
    out->passed = cell->n == 0 || (!skip && r->used && r->used[c]) ||
                  (skip && (h->n <= skip || memcmp(h->text, l->list.text, skip - 1) != 0 || h->text[skip - 1] != '.'));
    if (out->passed) return;
    out->name = h->text + skip;
    out->n_name = h->n - skip;
    out->node = cell_node(cell);
}

dis_status dis__node_list_next(dis__mapped_record *r, dis__node_list *l, dis__element *out)
{
    const dis__path_step *step = l->step;
    *out = (dis__element){.node = l->list, .has_name = !l->single};
    if (l->single) {
        l->i++;
        return DIS_OK;
    }
    if (l->part) {
        const char *text;
        size_t n, n_part;
        (void)dis__node_text(&l->list, &text, &n);
        const char *part = find_part(l->part, (size_t)(text + n - l->part), step->separator, 0, &n_part);
        out->node = part_node(&l->list, part, n_part);
        l->part = part + n_part + (l->i + 1 < l->n);
    } else if (!l->next) {
        find_column_value(r, l, out);
    } else {
        if (step->kind == DIS_STEP_MEMBERS) {
            out->name = l->next->text;
            out->n_name = l->next->length;
            l->next++;
        }
        out->node = json_node(&l->list, l->next);
        l->next += l->next->skip;
    }
    l->i++;
    if (!out->passed && step->kind == DIS_STEP_MEMBERS && step->n) out->passed = !fits(step, out->name, out->n_name);
    if (out->passed) return DIS_OK;
    bool good;
    DIS_TRY(passes(r, &out->node, step, &good));
    out->passed = !good;
    return DIS_OK;
}
