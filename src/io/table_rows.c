/* Rows of named texts: one cursor over the CSV reader or, line by line, the JSON reader. */
#include "io/table_rows.h"
#include "core/memory/memory.h"
#include "io/files/file_format.h"
#include "io/input/text_format.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_json(const dis__table_rows *r)
{
    return strcmp(r->format, "jsonl") == 0;
}

dis_status dis__table_rows_open(dis_context *ctx, const char *path, const char *format, dis__table_rows *r)
{
    return dis__table_rows_open_headerless(ctx, path, format, NULL, 0, r);
}

dis_status dis__table_rows_open_headerless(dis_context *ctx, const char *path, const char *format,
                                           const char *const *names, size_t n, dis__table_rows *r)
{
    *r = (dis__table_rows){.line = 0};
    DIS_TRY(dis__file_format(format, path, "csv|tsv|jsonl", &r->format));
    if (is_json(r) && n) return dis__fail(DIS_EUSAGE, "%s: JSON Lines have names in every line and no header", path);
    DIS_TRY(dis__input_open(ctx, path, &r->in));
    char separator = strcmp(r->format, "tsv") == 0 ? '\t' : ',';
    dis_status status = n ? DIS_OK : dis__text_format_check(&r->in, r->format, NULL, &separator);
    if (status != DIS_OK) return dis__input_finish(&r->in, status);
    if (is_json(r)) {
        r->next = r->in.bytes;
        if (r->in.n >= 3 && memcmp(r->next, "\xef\xbb\xbf", 3) == 0) r->next += 3;
        if (r->next == r->in.bytes + r->in.n) status = dis__fail_at(DIS_EDATA, path, 0, 0, "the file is empty");
    } else {
        dis__csv_open(&r->csv, &r->in, separator);
        status = n ? dis__csv_set_columns(&r->csv, names, n) : dis__csv_header(&r->csv);
    }
    if (status != DIS_OK) status = dis__table_rows_finish(r, status);
    return status;
}

dis_status dis__table_rows_finish(dis__table_rows *r, dis_status so_far)
{
    if (!is_json(r)) dis__csv_close(&r->csv);
    dis__json_free(&r->json);
    dis__free(r->column);
    dis__free(r->value);
    dis__free(r->cell);
    return dis__input_finish(&r->in, so_far);
}

size_t dis__table_rows_n_columns(const dis__table_rows *r)
{
    return is_json(r) ? 0 : r->csv.n_columns;
}

dis__table_row_cell dis__table_rows_column(const dis__table_rows *r, size_t i)
{
    return (dis__table_row_cell){.text = r->csv.header[i].text, .n = r->csv.header[i].n};
}

/* Copies the next of "a|b|c" to `out`; returns the position after it, NULL at the end. */
static const char *next_name(const char *names, char *out, size_t room)
{
    if (!*names) return NULL;
    const size_t n = strcspn(names, "|");
    snprintf(out, room, "%.*s", (int)(n < room ? n : room - 1), names);
    return names + n + (names[n] == '|');
}

enum { NAME = 512 };

static dis_status find_column(dis__table_rows *r, const char *names, size_t *column)
{
    char name[NAME];
    for (const char *s = names; (s = next_name(s, name, sizeof name));)
        if ((*column = dis__csv_column(&r->csv, name)) != SIZE_MAX) return DIS_OK;
    char have[400];
    dis__csv_list_columns(&r->csv, have, sizeof have);
    next_name(names, name, sizeof name);
    return dis__fail_at(DIS_EDATA, r->in.path, 1, 0, "no column \"%.100s\"; there are: %s%s", name, have,
                        r->hint ? r->hint : "");
}

dis_status dis__table_rows_select(dis__table_rows *r, const char *const *names, size_t n)
{
    DIS_TRY(dis__alloc_zeroed(&r->cell, n, sizeof *r->cell));
    DIS_TRY(dis__alloc_zeroed(&r->column, n, sizeof *r->column));
    DIS_TRY(dis__alloc_zeroed(&r->value, n, sizeof *r->value));
    r->selected = names;
    r->n_selected = n;
    for (size_t i = 0; i < n && !is_json(r); i++) DIS_TRY(find_column(r, names[i], &r->column[i]));
    return DIS_OK;
}

static dis_status read_key(dis__table_rows *r, size_t i)
{
    char name[NAME];
    const dis__json_value *v = NULL;
    for (const char *s = r->selected[i]; !v && (s = next_name(s, name, sizeof name));)
        v = dis__json_member(r->root, name);
    if (!v) {
        char keys[200];
        next_name(r->selected[i], name, sizeof name);
        dis__json_list_keys(r->root, keys, sizeof keys);
        return dis__json_fail(&r->json, r->root, "no key \"%.100s\"; the keys are: %s%s", name, keys,
                              r->hint ? r->hint : "");
    }
    if (v->kind == DIS_JSON_ARRAY || v->kind == DIS_JSON_OBJECT || v->kind == DIS_JSON_NULL)
        return dis__json_fail(&r->json, v, "\"%.100s\" must be a text or a number", name);
    r->value[i] = v;
    r->cell[i] = (dis__table_row_cell){.text = v->text, .n = v->length};
    return DIS_OK;
}

static dis_status next_json(dis__table_rows *r, bool *more)
{
    const char *line = r->next, *end = r->in.bytes + r->in.n;
    *more = line < end;
    if (!*more) return DIS_OK;
    const char *lf = memchr(line, '\n', (size_t)(end - line)), *stop = lf ? lf : end;
    r->line++;
    r->next = lf ? lf + 1 : end;
    if ((size_t)(stop - line) > DIS_MAX_FIELD)
        return dis__fail_at(DIS_EDATA, r->in.path, r->line, 1, "a line of more than %u bytes", DIS_MAX_FIELD);
    const dis__json_position place = {.file = r->in.path,
                                      .line = r->line,
                                      .column = 1,
                                      .offset = (uint64_t)(line - r->in.bytes)};
    DIS_TRY(dis__json_parse(&r->json, line, (size_t)(stop - line), &place, &r->root));
    if (r->root->kind != DIS_JSON_OBJECT) return dis__json_fail(&r->json, r->root, "a line must be one object");
    for (size_t i = 0; i < r->n_selected; i++) DIS_TRY(read_key(r, i));
    return DIS_OK;
}

dis_status dis__table_rows_names(dis__table_rows *r, dis_column_name *out, size_t room, size_t *n)
{
    *n = 0;
    for (; !is_json(r) && *n < r->csv.n_columns && *n < room; ++*n)
        out[*n] = (dis_column_name){r->csv.header[*n].text, r->csv.header[*n].n};
    if (!is_json(r)) return DIS_OK;
    bool more;
    const dis__table_rows before = *r;
    r->n_selected = 0;
    const dis_status status = next_json(r, &more);
    if (status == DIS_OK && more) {
        const dis__json_value *v = r->root + 1;
        for (; *n < r->root->n && *n < room; ++*n, v += 1 + v[1].skip) out[*n] = (dis_column_name){v->text, v->length};
    }
    r->n_selected = before.n_selected;
    r->next = before.next;
    r->line = before.line;
    return status;
}

dis_status dis__table_rows_next(dis__table_rows *r, bool *more)
{
    if (is_json(r)) {
        DIS_TRY(next_json(r, more));
    } else {
        DIS_TRY(dis__csv_next(&r->csv, more));
        for (size_t i = 0; *more && i < r->n_selected; i++) {
            const dis__csv_field *f = &r->csv.field[r->column[i]];
            r->cell[i] = (dis__table_row_cell){.text = f->text, .n = f->n};
        }
    }
    r->n_rows += *more;
    return DIS_OK;
}

uint64_t dis__table_rows_line(dis__table_rows *r)
{
    uint64_t line = r->line, column;
    if (!is_json(r)) dis__csv_position(&r->csv, r->csv.row, &line, &column);
    return line;
}

dis_status dis__table_rows_fail(dis__table_rows *r, size_t i, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (is_json(r)) return dis__json_fail(&r->json, r->value[i], "%s", message);
    return dis__csv_fail(&r->csv, &r->csv.field[r->column[i]], "%s", message);
}
