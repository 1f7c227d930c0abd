/* Cells: the product of the lists in each entry and in the defaults, the first key slowest; their names, baselines and
 * published figures. */
#include "experiment/plan/plan_internal.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FAIL(p, at, ...) dis__yaml_fail(&(p)->yaml, at, __VA_ARGS__)

enum { MAX_KEYS = 32, MAX_CELLS = 10000 };

/* One key of an entry, or of the defaults. */
typedef struct {
    const dis__field *field;
    const dis__yaml_node *value;
    bool own, varies; /* set by the entry; a list */
} axis;

typedef struct {
    dis__plan_internal *p;
    axis axis[MAX_KEYS];
    size_t n_axes;
    size_t capacity, internal_capacity;
} grid;

/* ---- the grid ---- */

static dis_status add_axes(grid *g, const dis__yaml_node *map, bool own)
{
    dis__plan_internal *p = g->p;
    const dis__yaml_node *key = map + 1;
    if (map->kind != DIS_YAML_MAP) return FAIL(p, map, "a cell must be a map of keys and values");
    for (uint32_t i = 0; i < map->n; i++) {
        const dis__field *field = dis__schema_find(&dis__cell_schema, key->text);
        if (!field) return dis__unknown_key(&p->form, &dis__cell_schema, key);
        bool present = false;
        for (size_t a = 0; a < g->n_axes; a++) present |= g->axis[a].field == field;
        const bool varies = (key + 1)->kind == DIS_YAML_LIST;
        if (varies && (key + 1)->n == 0) return FAIL(p, key + 1, "%s: an empty list", field->key);
        if (!present) g->axis[g->n_axes++] = (axis){.field = field, .value = key + 1, .own = own, .varies = varies};
        key += 1 + (key + 1)->skip;
    }
    return DIS_OK;
}

static const dis__yaml_node *choice_of(const axis *a, size_t i)
{
    const dis__yaml_node *at = a->varies ? a->value + 1 : a->value;
    for (; i; i--) at += at->skip;
    return at;
}

static size_t choices(const axis *a)
{
    return a->varies ? a->value->n : 1;
}

static bool is_setting(const axis *a)
{
    static const char *const unsaid[] = {"name", "baseline", "published"};
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++)
        if (strcmp(a->field->key, unsaid[i]) == 0) return false;
    return true;
}

/* ---- names ---- */

typedef struct {
    char text[512];
    size_t n;
} line;

static void add(line *l, const char *text)
{
    const int n = snprintf(l->text + l->n, sizeof l->text - l->n, "%s", text);
    l->n += (size_t)n < sizeof l->text - l->n ? (size_t)n : sizeof l->text - l->n - 1;
}

/* "{objective} on {data}" with the cell's values. */
static dis_status fill_in(grid *g, const dis__yaml_node *at, const dis_experiment_cell *cell, const char **out)
{
    dis__plan_internal *p = g->p;
    line l = {.n = 0};
    const char *s = at->text;
    while (*s) {
        const size_t plain = strcspn(s, "{");
        char piece[256];
        snprintf(piece, sizeof piece, "%.*s", (int)plain, s);
        add(&l, piece);
        s += plain;
        if (!*s) break;
        const size_t n = strcspn(s, "}");
        if (!s[n]) return FAIL(p, at, "\"%.100s\": a { without its }", at->text);
        snprintf(piece, sizeof piece, "%.*s", (int)(n - 1), s + 1);
        if (!dis__schema_find(&dis__cell_schema, piece))
            return FAIL(p, at, "\"%.100s\": {%.60s} is not a key of a cell", at->text, piece);
        for (size_t i = 0; i < cell->n_settings; i++)
            if (strcmp(cell->setting[i].key, piece) == 0) add(&l, cell->setting[i].value);
        s += n + 1;
    }
    if (l.n == 0) return FAIL(p, at, "\"%.100s\": an empty name", at->text);
    return dis__plan_format_text(&p->memory, out, "%s", l.text);
}

/* The values set by the entry and those that vary, for readers of the table. */
static dis_status usual_name(grid *g, const dis_experiment_cell *cell, const char **out)
{
    static const char *const plain[] = {"data", "labels", "objective", "model"};
    line l = {.n = 0};
    size_t s = 0;
    for (size_t a = 0; a < g->n_axes; a++) {
        if (!is_setting(&g->axis[a])) continue;
        const dis__setting *setting = &cell->setting[s++];
        if (!g->axis[a].own && !g->axis[a].varies) continue;
        bool bare = false;
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) bare |= strcmp(setting->key, plain[i]) == 0;
        add(&l, l.n ? ", " : "");
        if (!bare) {
            add(&l, setting->key);
            add(&l, "=");
        }
        add(&l, setting->value);
    }
    if (l.n == 0) add(&l, "all");
    return dis__plan_format_text(&g->p->memory, out, "%s", l.text);
}

/* ---- cells ---- */

/* Missing data and labels of a cell. */
static void note_missing(const dis__plan_internal *p, dis__cell_internal *c)
{
    const dis__data *d = &p->data[c->data];
    const dis__yaml_node *const uses[] = {d->part->at, c->labels ? c->labels->at : NULL, d->human ? d->human->at : NULL,
                                          d->split->at};
    for (size_t i = 0; i < sizeof uses / sizeof *uses && !c->missing; i++)
        c->missing = dis__missing_within(&p->form, uses[i]);
}

/* One combination of the choices. */
static dis_status add_cell(grid *g, const dis__yaml_node *at, const size_t *chosen)
{
    dis__plan_internal *p = g->p;
    size_t n = p->plan.n_cells;
    if (n >= MAX_CELLS) return FAIL(p, at, "more than %d cells", MAX_CELLS);
    DIS_TRY(dis__reserve(&p->cell, &g->internal_capacity, n, n + 1, sizeof *p->cell));
    DIS_TRY(dis__reserve(&p->cells, &g->capacity, n, n + 1, sizeof *p->cells));
    dis__cell_internal *internal = &p->cell[n];
    dis_experiment_cell *cell = &p->cells[n];
    *internal = (dis__cell_internal){.part = {.at = at}};
    *cell = (dis_experiment_cell){.baseline = SIZE_MAX};
    DIS_TRY(dis__record_defaults(&p->form, &dis__cell_schema, &internal->part));
    dis__setting *setting;
    const dis__yaml_node *name = NULL;
    DIS_TRY(dis__plan_alloc(&p->memory, &setting, g->n_axes, sizeof *setting));
    for (size_t a = 0; a < g->n_axes; a++) {
        const dis__yaml_node *value = choice_of(&g->axis[a], chosen[a]);
        DIS_TRY(dis__field_read(&p->form, g->axis[a].field, value, &internal->part));
        if (!internal->missing) internal->missing = dis__missing_within(&p->form, value);
        if (strcmp(g->axis[a].field->key, "name") == 0) name = value;
        if (is_setting(&g->axis[a]))
            setting[cell->n_settings++] = (dis__setting){.key = g->axis[a].field->key, .value = value->text};
    }
    cell->setting = setting;
    DIS_TRY(dis__plan_check_cell(p, internal));
    note_missing(p, internal);
    cell->data = p->data[internal->data].name;
    DIS_TRY(name ? fill_in(g, name, cell, &cell->name) : usual_name(g, cell, &cell->name));
    for (size_t i = 0; i < n; i++)
        if (strcmp(p->cells[i].name, cell->name) == 0)
            return FAIL(p, name ? name : at,
                        "two cells are called \"%.100s\"; give them names, as name: \"{data} {labels}\"", cell->name);
    if (internal->part.baseline) { /* its text for now; not all cells exist yet */
        const dis__yaml_node *base = NULL;
        for (size_t a = 0; a < g->n_axes; a++)
            if (strcmp(g->axis[a].field->key, "baseline") == 0) base = choice_of(&g->axis[a], chosen[a]);
        DIS_TRY(fill_in(g, base, cell, &internal->part.baseline));
    }
    p->plan.n_cells = n + 1;
    return DIS_OK;
}

static dis_status expand(grid *g, const dis__yaml_node *entry)
{
    size_t chosen[MAX_KEYS] = {0};
    g->n_axes = 0;
    DIS_TRY(add_axes(g, entry, true));
    if (g->p->file.defaults) DIS_TRY(add_axes(g, g->p->file.defaults, false));
    for (;;) {
        DIS_TRY(add_cell(g, entry, chosen));
        size_t a = g->n_axes;
        while (a > 0 && ++chosen[a - 1] == choices(&g->axis[a - 1])) chosen[--a] = 0;
        if (a == 0) return DIS_OK;
    }
}

static dis_status find_baselines(dis__plan_internal *p)
{
    for (size_t i = 0; i < p->plan.n_cells; i++) {
        const char *base = p->cell[i].part.baseline;
        if (!base) continue;
        size_t b = 0;
        while (b < p->plan.n_cells && strcmp(p->cells[b].name, base) != 0) b++;
        if (b == p->plan.n_cells)
            return FAIL(p, dis__plan_cell_place(p, &p->cell[i].part, "baseline"),
                        "baseline: no cell is called \"%.100s\"", base);
        if (b != i && p->cell[b].data != p->cell[i].data)
            return FAIL(p, dis__plan_cell_place(p, &p->cell[i].part, "baseline"),
                        "baseline: \"%.100s\" uses other data than \"%.100s\"", base, p->cells[i].name);
        p->cells[i].baseline = b == i ? SIZE_MAX : b;
    }
    return DIS_OK;
}

/* ---- published figures ---- */

static dis_status find_measure(dis__plan_internal *p, const dis__yaml_node *key, size_t *out)
{
    for (*out = 0; *out < p->plan.n_measures; (*out)++) {
        const dis_experiment_measure *m = &p->measures[*out];
        const char *metric = dis_evaluation_metric_get(m->metric)->name;
        const size_t n = strlen(m->set);
        if (strcmp(key->text, metric) == 0) return DIS_OK;
        if (strncmp(key->text, m->set, n) == 0 && key->text[n] == '.' && strcmp(key->text + n + 1, metric) == 0)
            return DIS_OK;
    }
    return FAIL(p, key, "published: \"%.100s\" is not measured; write METRIC or SET.METRIC of those under measure",
                key->text);
}

static dis_status parse_published_map(dis__plan_internal *p, const dis__yaml_node *map, double *figures)
{
    if (map->kind != DIS_YAML_MAP) return FAIL(p, map, "published must be a map: METRIC: number");
    const dis__yaml_node *key = map + 1;
    for (uint32_t i = 0; i < map->n; i++) {
        const dis__yaml_node *value = key + 1;
        size_t m;
        DIS_TRY(find_measure(p, key, &m));
        if (value->kind != DIS_YAML_TEXT || !dis__parse_real(value->text, value->length, &figures[m]))
            return FAIL(p, value, "published: %.60s must be a number", key->text);
        key = value + value->skip;
    }
    return DIS_OK;
}

static dis_status parse_published_results(dis__plan_internal *p)
{
    double *figures;
    const size_t n = p->plan.n_measures;
    DIS_TRY(dis__plan_alloc(&p->memory, &figures, dis__saturating_size(p->plan.n_cells, n, 0), sizeof *figures));
    for (size_t i = 0; i < p->plan.n_cells * n; i++) figures[i] = NAN;
    for (size_t c = 0; c < p->plan.n_cells; c++) {
        p->cells[c].published = figures + c * n;
        if (p->cell[c].part.published) DIS_TRY(parse_published_map(p, p->cell[c].part.published, figures + c * n));
    }
    const dis__yaml_node *map = p->file.published;
    if (!map) return DIS_OK;
    if (map->kind != DIS_YAML_MAP) return FAIL(p, map, "published must be a map: CELL: {METRIC: number}");
    const dis__yaml_node *key = map + 1;
    for (uint32_t i = 0; i < map->n; i++) {
        size_t c = 0;
        while (c < p->plan.n_cells && strcmp(p->cells[c].name, key->text) != 0) c++;
        if (c == p->plan.n_cells) return FAIL(p, key, "published: no cell is called \"%.100s\"", key->text);
        DIS_TRY(parse_published_map(p, key + 1, figures + c * n));
        key += 1 + (key + 1)->skip;
    }
    return DIS_OK;
}

dis_status dis__plan_add_cells(dis__plan_internal *p)
{
    grid g = {.p = p};
    const dis__yaml_node *list = p->file.cells;
    if (list->kind != DIS_YAML_LIST || list->n == 0) return FAIL(p, list, "cells must be a list of maps");
    const dis__yaml_node *entry = list + 1;
    for (uint32_t i = 0; i < list->n; i++, entry += entry->skip) DIS_TRY(expand(&g, entry));
    DIS_TRY(find_baselines(p));
    DIS_TRY(parse_published_results(p));
    p->plan.cell = p->cells;
    return DIS_OK;
}
