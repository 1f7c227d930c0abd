/* Annotator metadata, from CSV, TSV, JSON Lines or JSON: an object whose keys are the workers, or a list of
 * objects.
 *
 * Cells are collected as they come, with the row and column they belong to, and laid out as a table at the end: lines
 * of JSON need not have the same keys. Cost: O(cells), a look at the list of columns for each cell of JSON. */
#include "dissent/option.h"
#include "dissent/worker_table.h"
#include "tool/arrays.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/options/sized_structs.h"
#include "io/files/file_format.h"
#include "io/table_rows.h"
#include <stdio.h>
#include <string.h>

static const char *const id_names[] = {"worker", "performer", "annotator", "annotator_id", "user", "id"};

struct dis_worker_table {
    char *path;
    dis_names *workers, *columns, *cells;
};

DIS_OPTIONS_DEFAULTS(dis_worker_table_options, .size = sizeof(dis_worker_table_options))

static dis_worker_table_view view_of(const dis_worker_table *t)
{
    return (dis_worker_table_view){.n_workers = dis_names_count(t->workers),
                                   .n_columns = dis_names_count(t->columns),
                                   .workers = t->workers,
                                   .columns = t->columns,
                                   .values = t->cells};
}
DIS_VIEW_DEFINE(dis_worker_table, t, view_of(t))

void dis_worker_table_destroy(dis_worker_table *t)
{
    if (!t) return;
    dis_names_destroy(t->workers);
    dis_names_destroy(t->columns);
    dis_names_destroy(t->cells);
    dis__free(t->path);
    dis__free(t);
}

/* ---- collecting ---- */

typedef struct {
    size_t row, column;
} place;

typedef struct {
    const char *path;
    const dis_worker_table_options *o;
    dis__name_list workers, columns, texts;
    place *at; /* (texts.n) */
    size_t room;
    char *id; /* prefix and id */
    size_t id_room;
    uint64_t *line; /* (workers.n) 0: not told, as in a JSON array */
    size_t line_room;
} loader;

static void loader_free(loader *l)
{
    dis__name_list_free(&l->workers);
    dis__name_list_free(&l->columns);
    dis__name_list_free(&l->texts);
    dis__free(l->at);
    dis__free(l->id);
    dis__free(l->line);
}

static dis_status put_worker(loader *l, uint64_t line, const char *text, size_t n)
{
    const size_t before = l->o->id_prefix ? strlen(l->o->id_prefix) : 0;
    DIS_TRY(dis__reserve(&l->id, &l->id_room, 0, dis__saturating_size(1, before, n + 1), 1));
    DIS_TRY(dis__reserve(&l->line, &l->line_room, l->workers.n, l->workers.n + 1, sizeof *l->line));
    l->line[l->workers.n] = line;
    if (before) memcpy(l->id, l->o->id_prefix, before);
    if (n) memcpy(l->id + before, text, n);
    return dis__name_list_add(&l->workers, l->id, before + n);
}

static dis_status put_cell(loader *l, size_t column, const char *text, size_t n)
{
    if (n == 0) return DIS_OK;
    DIS_TRY(dis__reserve(&l->at, &l->room, l->texts.n, l->texts.n + 1, sizeof *l->at));
    l->at[l->texts.n] = (place){.row = l->workers.n - 1, .column = column};
    return dis__name_list_add(&l->texts, text, n);
}

/* The column of that name, made when it is new. */
static dis_status column_of(loader *l, const dis__json_value *key, size_t *out)
{
    for (size_t c = 0; c < l->columns.n; c++) {
        const size_t n = l->columns.start[c + 1] - l->columns.start[c] - 1;
        if (n == key->length && memcmp(l->columns.bytes + l->columns.start[c], key->text, n) == 0) {
            *out = c;
            return DIS_OK;
        }
    }
    *out = l->columns.n;
    if (l->columns.n >= DIS_MAX_COLUMNS)
        return dis__fail_at(DIS_ELIMIT, l->path, 0, 0, "more than %u columns", DIS_MAX_COLUMNS);
    return dis__name_list_add(&l->columns, key->text, key->length);
}

/* ---- CSV and TSV ---- */

static dis_status no_id(const loader *l, uint64_t line, const char *have)
{
    return dis__fail_at(DIS_EDATA, l->path, line, 0,
                        "no column \"%.100s\" with the ids of workers; there are: %s; name "
                        "one with `id_column`",
                        l->o->id_column ? l->o->id_column : id_names[0], have);
}

static dis_status find_id(loader *l, const dis__table_rows *r, size_t *id)
{
    char have[400] = "";
    const size_t n = dis__table_rows_n_columns(r);
    for (size_t i = 0; i < sizeof id_names / sizeof *id_names; i++) /* in the order of preference */
        for (size_t c = 0; c < n; c++) {
            const dis__table_row_cell h = dis__table_rows_column(r, c);
            const char *want = l->o->id_column ? l->o->id_column : id_names[i];
            if (strlen(want) == h.n && memcmp(want, h.text, h.n) == 0) {
                *id = c;
                return DIS_OK;
            }
        }
    for (size_t c = 0; c < n; c++) {
        const dis__table_row_cell h = dis__table_rows_column(r, c);
        dis__text_list_append(have, sizeof have, h.text, h.n);
    }
    return no_id(l, 1, have);
}

static dis_status check_worker(dis__table_rows *r, size_t id, const dis__table_row_cell *cell)
{
    if (cell->n == 0) return dis__table_rows_fail(r, id, "an empty worker id; every row needs one");
    if (cell->n > DIS_MAX_ID) return dis__table_rows_fail(r, id, "a worker id of more than %u bytes", DIS_MAX_ID);
    return DIS_OK;
}

static dis_status read_rows(loader *l, dis__table_rows *r, const char **names, size_t n)
{
    size_t id = 0;
    DIS_TRY(find_id(l, r, &id));
    for (size_t c = 0; c < n; c++) {
        const dis__table_row_cell h = dis__table_rows_column(r, c);
        DIS_TRY(dis__name_list_add(&l->columns, h.text, h.n));
    }
    for (size_t c = 0; c < n; c++) names[c] = l->columns.bytes + l->columns.start[c];
    DIS_TRY(dis__table_rows_select(r, names, n));
    for (bool more;;) {
        DIS_TRY(dis__table_rows_next(r, &more));
        if (!more) return DIS_OK;
        DIS_TRY(check_worker(r, id, &r->cell[id]));
        DIS_TRY(put_worker(l, dis__table_rows_line(r), r->cell[id].text, r->cell[id].n));
        for (size_t c = 0; c < n; c++)
            if (c != id) DIS_TRY(put_cell(l, c, r->cell[c].text, r->cell[c].n));
    }
}

static dis_status read_table(dis_context *ctx, loader *l, const char *format)
{
    dis__table_rows r;
    const char **names = NULL;
    DIS_TRY(dis__table_rows_open(ctx, l->path, format, &r));
    const size_t n = dis__table_rows_n_columns(&r);
    dis_status status = dis__alloc_array(&names, n, sizeof *names);
    if (status == DIS_OK) status = read_rows(l, &r, names, n);
    dis__free(names);
    return dis__table_rows_finish(&r, status);
}

/* ---- JSON ---- */

static dis_status parse_member(loader *l, const dis__json *json, const dis__json_value *key, const dis__json_value *v)
{
    size_t column = 0;
    if (v->kind == DIS_JSON_ARRAY || v->kind == DIS_JSON_OBJECT)
        return dis__json_fail(json, v, "\"%.*s\" of a worker must be a text or a number",
                              (int)(key->length > 100 ? 100 : key->length), key->text);
    DIS_TRY(column_of(l, key, &column));
    return v->kind == DIS_JSON_NULL ? DIS_OK : put_cell(l, column, v->text, v->length);
}

/* All members of an object but `id` as cells of the worker put last. */
static dis_status parse_object(loader *l, const dis__json *json, const dis__json_value *object,
                               const dis__json_value *id)
{
    const dis__json_value *key = object + 1;
    for (uint32_t m = 0; m < object->n; m++) {
        const dis__json_value *v = key + 1;
        if (v != id) DIS_TRY(parse_member(l, json, key, v));
        key = v + v->skip;
    }
    return DIS_OK;
}

static dis_status parse_record(loader *l, const dis__json *json, uint64_t line, const dis__json_value *object)
{
    const dis__json_value *id = NULL;
    if (object->kind != DIS_JSON_OBJECT) return dis__json_fail(json, object, "a worker must be an object");
    if (l->o->id_column) id = dis__json_member(object, l->o->id_column);
    for (size_t i = 0; !l->o->id_column && !id && i < sizeof id_names / sizeof *id_names; i++)
        id = dis__json_member(object, id_names[i]);
    if (!id) {
        char keys[200];
        dis__json_list_keys(object, keys, sizeof keys);
        return dis__json_fail(json, object,
                              "no key \"%.100s\" with the id of the worker; the keys are: %s; name one "
                              "with `id_column`",
                              l->o->id_column ? l->o->id_column : id_names[0], keys);
    }
    if (id->kind != DIS_JSON_STRING && id->kind != DIS_JSON_NUMBER)
        return dis__json_fail(json, id, "the id of a worker must be a text or a number");
    if (id->length == 0 || id->length > DIS_MAX_ID)
        return dis__json_fail(json, id, "a worker id of %u bytes; from 1 to %u are possible", id->length, DIS_MAX_ID);
    DIS_TRY(put_worker(l, line, id->text, id->length));
    return parse_object(l, json, object, id);
}

static dis_status parse_workers(loader *l, const dis__json *json, const dis__json_value *root)
{
    const dis__json_value *key = root + 1;
    for (uint32_t m = 0; m < root->n; m++) {
        const dis__json_value *v = key + 1;
        if (v->kind != DIS_JSON_OBJECT)
            return dis__json_fail(json, v, "the entry of worker \"%.*s\" must be an object",
                                  (int)(key->length > 100 ? 100 : key->length), key->text);
        if (key->length == 0) return dis__json_fail(json, key, "an empty worker id; every worker needs one");
        DIS_TRY(put_worker(l, 0, key->text, key->length));
        DIS_TRY(parse_object(l, json, v, NULL));
        key = v + v->skip;
    }
    return DIS_OK;
}

static dis_status parse_list(loader *l, const dis__json *json, const dis__json_value *root)
{
    const dis__json_value *v = root + 1;
    for (uint32_t e = 0; e < root->n; e++, v += v->skip) DIS_TRY(parse_record(l, json, 0, v));
    return DIS_OK;
}

static dis_status read_json(loader *l, const dis__input *in, dis__json *json)
{
    const dis__json_value *root;
    const dis__json_position at = {.file = l->path, .line = 1, .column = 1};
    DIS_TRY(dis__json_parse(json, in->bytes, in->n, &at, &root));
    if (root->kind == DIS_JSON_OBJECT) return parse_workers(l, json, root);
    if (root->kind == DIS_JSON_ARRAY) return parse_list(l, json, root);
    return dis__json_fail(json, root, "a worker table in JSON is an object by worker, or a list of objects");
}

static dis_status read_lines(loader *l, const dis__input *in, dis__json *json)
{
    const char *line = in->bytes, *end = in->bytes + in->n;
    for (uint64_t number = 1; line < end; number++) {
        const char *lf = memchr(line, '\n', (size_t)(end - line)), *stop = lf ? lf : end;
        const dis__json_position at = {.file = l->path,
                                       .line = number,
                                       .column = 1,
                                       .offset = (uint64_t)(line - in->bytes)};
        const dis__json_value *root;
        DIS_TRY(dis__json_parse(json, line, (size_t)(stop - line), &at, &root));
        DIS_TRY(parse_record(l, json, number, root));
        line = lf ? lf + 1 : end;
    }
    return DIS_OK;
}

/* Whether a file called .json holds lines all the same: its first line is a whole object, and there is another. */
static bool is_json_lines(const dis__input *in)
{
    const char *lf = in->n ? memchr(in->bytes, '\n', in->n) : NULL;
    if (!lf || lf == in->bytes || in->bytes[0] != '{') return false;
    const char *last = lf[-1] == '\r' && lf - 1 > in->bytes ? lf - 2 : lf - 1;
    return *last == '}' && lf + 1 < in->bytes + in->n && lf[1] == '{';
}

static dis_status read_values(dis_context *ctx, loader *l, bool lines)
{
    dis__input in;
    dis__json json = {0};
    DIS_TRY(dis__input_open(ctx, l->path, &in));
    const dis_status status = lines || is_json_lines(&in) ? read_lines(l, &in, &json) : read_json(l, &in, &json);
    dis__json_free(&json);
    return dis__input_finish(&in, status);
}

/* ---- the table ---- */

static dis_status lay_out(loader *l, dis_worker_table *t)
{
    const size_t n_columns = dis_names_count(t->columns),
                 n = dis__saturating_size(dis_names_count(t->workers), n_columns, 0);
    size_t *which;
    DIS_TRY(dis__alloc_array(&which, n, sizeof *which));
    for (size_t i = 0; i < n; i++) which[i] = SIZE_MAX;
    for (size_t i = 0; i < l->texts.n; i++) which[l->at[i].row * n_columns + l->at[i].column] = i;
    dis__name_list cells = {0};
    dis_status status = DIS_OK;
    for (size_t i = 0; status == DIS_OK && i < n; i++) {
        const size_t w = which[i];
        const char *text = w == SIZE_MAX ? "" : l->texts.bytes + l->texts.start[w];
        status = dis__name_list_add(&cells, text, strlen(text));
    }
    if (status == DIS_OK) status = dis__name_list_move(&cells, &t->cells);
    dis__name_list_free(&cells);
    dis__free(which);
    return status;
}

static dis_status comes_twice(const loader *l, const dis_names *workers, size_t second)
{
    const char *name = dis_names_get(workers, second, NULL);
    size_t first = 0;
    while (strcmp(dis_names_get(workers, first, NULL), name) != 0) first++;
    if (!l->line[second])
        return dis__fail_at(DIS_EDATA, l->path, 0, 0, "worker \"%.200s\" is repeated; keep one", name);
    return dis__fail_at(DIS_EDATA, l->path, l->line[second], 0, "worker \"%.200s\" is in line %llu, too; keep one row",
                        name, (unsigned long long)l->line[first]);
}

static dis_status finish(loader *l, dis_worker_table *t)
{
    size_t twice = SIZE_MAX;
    if (l->workers.n == 0) return dis__fail_at(DIS_EDATA, l->path, 0, 0, "the table has no workers");
    DIS_TRY(dis__name_list_move(&l->workers, &t->workers));
    DIS_TRY(dis__name_list_move(&l->columns, &t->columns));
    DIS_TRY(dis__names_find_duplicate(t->workers, &twice));
    return twice == SIZE_MAX ? lay_out(l, t) : comes_twice(l, t->workers, twice);
}

dis_status dis_worker_table_read(dis_context *ctx, const char *path, const dis_worker_table_options *options,
                                 dis_worker_table **out)
{
    dis_worker_table_options o = dis_worker_table_options_default();
    const char *format;
    dis_worker_table *t;
    DIS_TRY(DIS_OPTIONS_COPY(dis_worker_table_options, &o, options));
    DIS_TRY(dis__file_format(o.format, path, "csv|tsv|json|jsonl", &format));
    DIS_TRY(dis__alloc_zeroed(&t, 1, sizeof *t));
    loader l = {.path = path, .o = &o};
    dis_status status = dis__copy_text(&t->path, path, strlen(path));
    if (status == DIS_OK && format[0] == 'j')
        status = read_values(ctx, &l, strcmp(format, "jsonl") == 0 && !dis__path_has_ending(path, ".json"));
    else if (status == DIS_OK)
        status = read_table(ctx, &l, format);
    if (status == DIS_OK) status = finish(&l, t);
    loader_free(&l);
    if (status != DIS_OK) {
        dis_worker_table_destroy(t);
        return status;
    }
    *out = t;
    return DIS_OK;
}

/* ---- asking it ---- */

static const char *next_column(const void *arg, size_t i)
{
    const dis_names *columns = arg;
    return i < dis_names_count(columns) ? dis_names_get(columns, i, NULL) : NULL;
}

static dis_status no_column(const dis_worker_table *t, const char *column)
{
    char have[300] = "";
    const char *near = dis__name_find_nearest(column, next_column, t->columns);
    for (size_t c = 0; c < dis_names_count(t->columns); c++) {
        size_t n;
        const char *name = dis_names_get(t->columns, c, &n);
        dis__text_list_append(have, sizeof have, name, n);
    }
    if (near)
        return dis__fail(DIS_EUSAGE, "%s: no column \"%.100s\"; did you mean %.100s? There are: %s", t->path, column,
                         near, have);
    return dis__fail(DIS_EUSAGE, "%s: no column \"%.100s\"; there are: %s", t->path, column, have);
}

static dis_status collect_values(const dis_worker_table *t, size_t column, const size_t *row, size_t n,
                                 dis__name_list *list)
{
    const size_t n_columns = dis_names_count(t->columns);
    for (size_t w = 0; w < n; w++) {
        size_t length = 0;
        const char *text = row[w] == SIZE_MAX ? "" : dis_names_get(t->cells, row[w] * n_columns + column, &length);
        DIS_TRY(dis__name_list_add(list, text, length));
    }
    return DIS_OK;
}

dis_status dis_worker_table_values(const dis_worker_table *t, const char *column, const dis_votes *votes,
                                   dis_names **out)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    const size_t at = dis_names_find(t->columns, column, strlen(column));
    if (at == SIZE_MAX) return no_column(t, column);
    if (!v.start || v.n_workers == 0)
        return dis__fail(DIS_EDATA, "the votes have no annotator ids; give one row per vote with a worker column");
    size_t *row, found = 0;
    DIS_TRY(dis__names_match_alloc(t->workers, v.workers, &row, &found));
    dis__name_list list = {0};
    dis_status status = DIS_OK;
    if (found == 0)
        status =
            dis__fail(DIS_EDATA,
                      "%s: none of the %zu workers of the votes is in the table (\"%.60s\" there, \"%.60s\" here); "
                      "name the column of the ids with `id_column`, or a prefix with `id_prefix`",
                      t->path, v.n_workers, dis_names_get(v.workers, 0, NULL), dis_names_get(t->workers, 0, NULL));
    if (status == DIS_OK) status = collect_values(t, at, row, v.n_workers, &list);
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    dis__free(row);
    return status;
}
