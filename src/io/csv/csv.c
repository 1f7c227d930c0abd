/* The strict CSV reader. One pass over the bytes of a row; quoted fields are scanned from quote to quote by memchr.
 *
 * After a bad row, reading may continue after the next LF following the position of the problem. For an unclosed quote
 * that position is the quote itself, so one missing quote does not consume the file. */
#include "io/csv/csv.h"
#include "core/memory/memory.h"
#include "core/text/utf8.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dis__csv_open(dis__csv *csv, const dis__input *input, char separator)
{
    const char *begin = input->bytes;
    size_t bom = input->n >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (input->preamble > bom) bom = input->preamble < input->n ? input->preamble : input->n;
    *csv = (dis__csv){.path = input->path,
                      .begin = begin,
                      .end = begin + input->n,
                      .separator = separator,
                      .row = begin + bom,
                      .next = begin + bom,
                      .counted = begin,
                      .line = 1};
}

void dis__csv_close(dis__csv *csv)
{
    dis__free(csv->field);
    dis__free(csv->header);
    dis__free(csv->header_text);
    dis__free(csv->unquoted);
    csv->field = csv->header = NULL;
    csv->header_text = csv->unquoted = NULL;
}

__attribute__((format(printf, 3, 4))) static dis_status bad(dis__csv *csv, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(csv->problem, sizeof csv->problem, format, args);
    va_end(args);
    csv->problem_at = at;
    const char *lf = at < csv->end ? memchr(at, '\n', (size_t)(csv->end - at)) : NULL;
    csv->next = lf ? lf + 1 : csv->end;
    return DIS_EDATA;
}

static dis_status too_long(dis__csv *csv, const char *field)
{
    const dis_status status =
        bad(csv, field, "a field of more than %u bytes; split it, or look for a quote that is not closed",
            DIS_MAX_FIELD);
    const char *from = (size_t)(csv->end - field) > DIS_MAX_FIELD ? field + DIS_MAX_FIELD : csv->end;
    const char *lf = from < csv->end ? memchr(from, '\n', (size_t)(csv->end - from)) : NULL;
    csv->next = lf ? lf + 1 : csv->end;
    return status;
}

static dis_status check_text(dis__csv *csv, const char *text, size_t n)
{
    const char *nul = memchr(text, 0, n);
    if (nul) return bad(csv, nul, "a NUL byte; this is not text, or UTF-16 text: save it as UTF-8");
    const size_t valid = dis__utf8_check(text, n);
    if (valid < n)
        return bad(csv, text + valid,
                   "invalid UTF-8 (byte 0x%02x); save the file as UTF-8, or if it is Windows-1252 or Latin-1, convert "
                   "it: iconv -f WINDOWS-1252 -t UTF-8 %.100s > utf8.csv",
                   (unsigned char)text[valid], csv->path);
    return DIS_OK;
}

static dis_status add_field(dis__csv *csv, const char *at, const char *text, size_t n)
{
    if (csv->n_fields == DIS_MAX_COLUMNS) return bad(csv, at, "more than %u columns; cut the table", DIS_MAX_COLUMNS);
    DIS_TRY(dis__reserve(&csv->field, &csv->capacity, csv->n_fields, csv->n_fields + 1, sizeof *csv->field));
    csv->field[csv->n_fields++] = (dis__csv_field){.text = text, .n = n, .at = at};
    return DIS_OK;
}

/* Reserves n bytes for unquoted texts; existing ones may move, and the fields with them. */
static dis_status room(dis__csv *csv, size_t n, char **out)
{
    const uintptr_t old = (uintptr_t)csv->unquoted, used = csv->unquoted_used;
    DIS_TRY(dis__reserve(&csv->unquoted, &csv->unquoted_capacity, used, dis__saturating_size(n, 1, used), 1));
    if ((uintptr_t)csv->unquoted != old)
        for (size_t i = 0; i < csv->n_fields; i++) {
            const uintptr_t text = (uintptr_t)csv->field[i].text;
            if (text >= old && text < old + used) csv->field[i].text = csv->unquoted + (text - old);
        }
    *out = csv->unquoted + used;
    return DIS_OK;
}

/* The text between the quotes at [text, text + n), with doubled quotes replaced by single ones. */
static dis_status undouble(dis__csv *csv, const char *text, size_t n, const char **out, size_t *n_out)
{
    char *to;
    DIS_TRY(room(csv, n, &to));
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        to[k++] = text[i];
        if (text[i] == '"') i++;
    }
    csv->unquoted_used += k;
    *out = to;
    *n_out = k;
    return DIS_OK;
}

/* A quoted field at `at`; *after receives the position after the closing quote. */
static dis_status quoted(dis__csv *csv, const char *at, const char **after)
{
    const char *text = at + 1, *p = text;
    bool doubled = false;
    for (;;) {
        const size_t left = (size_t)(csv->end - p), allowed = DIS_MAX_FIELD + 2 - (size_t)(p - text);
        const char *q = memchr(p, '"', left < allowed ? left : allowed);
        if (!q && left >= allowed) return too_long(csv, at);
        if (!q) return bad(csv, at, "this quote is never closed; close it, or double it if it belongs to the text");
        p = q + 1;
        if (p == csv->end || *p != '"') break;
        doubled = true;
        p++;
        if ((size_t)(p - text) > DIS_MAX_FIELD) return too_long(csv, at);
    }
    size_t n = (size_t)(p - 1 - text);
    if (n > DIS_MAX_FIELD) return too_long(csv, at);
    if (p < csv->end && *p != csv->separator && *p != '\n' && *p != '\r')
        return bad(csv, p, "text after a closing quote; double the quotes that belong to the text");
    DIS_TRY(check_text(csv, text, n));
    if (doubled) DIS_TRY(undouble(csv, text, n, &text, &n));
    DIS_TRY(add_field(csv, at, text, n));
    *after = p;
    return DIS_OK;
}

static dis_status plain(dis__csv *csv, const char *at, const char **after)
{
    const char *p = at;
    const char separator = csv->separator;
    while (p < csv->end && *p != separator && *p != '\n' && *p != '\r' && *p != '"') p++;
    if ((size_t)(p - at) > DIS_MAX_FIELD) return too_long(csv, at);
    DIS_TRY(check_text(csv, at, (size_t)(p - at)));
    if (p < csv->end && *p == '"')
        return bad(csv, p,
                   "a quote within a field that does not begin with one; quote the whole field and double the quote");
    DIS_TRY(add_field(csv, at, at, (size_t)(p - at)));
    *after = p;
    return DIS_OK;
}

dis_status dis__csv_row(dis__csv *csv)
{
    const char *p = csv->row = csv->next;
    csv->n_fields = csv->unquoted_used = 0;
    for (;;) {
        DIS_TRY(p < csv->end && *p == '"' ? quoted(csv, p, &p) : plain(csv, p, &p));
        if (p == csv->end) break;
        const char c = *p++;
        if (c == csv->separator) continue;
        if (c == '\r') {
            if (p == csv->end || *p != '\n') return bad(csv, p - 1, "a lone CR; end lines with LF or CRLF");
            p++;
        }
        break;
    }
    csv->next = p;
    if (csv->n_columns && csv->n_fields != csv->n_columns) {
        const bool blank = csv->n_fields == 1 && csv->field[0].n == 0;
        blank ? bad(csv, csv->row, "a blank line; remove it")
              : bad(csv, csv->row, "%zu field%s where the header has %zu; %s", csv->n_fields,
                    csv->n_fields == 1 ? "" : "s", csv->n_columns,
                    p == csv->end && p[-1] != '\n' && csv->n_fields < csv->n_columns
                        ? "the file ends here: is it complete?"
                        : "quote fields that hold a separator");
        csv->next = p; /* the row itself was complete */
        return DIS_EDATA;
    }
    return DIS_OK;
}

void dis__csv_position(dis__csv *csv, const char *at, uint64_t *line, uint64_t *column)
{
    if (at < csv->counted) {
        csv->counted = csv->searched = csv->begin;
        csv->line = 1;
    }
    const char *p = csv->searched > csv->counted ? csv->searched : csv->counted, *lf;
    while (p < at && (lf = memchr(p, '\n', (size_t)(at - p)))) {
        csv->line++;
        csv->counted = p = lf + 1;
    }
    csv->searched = at > p ? at : p;
    *line = csv->line;
    *column = (uint64_t)(at - csv->counted) + 1;
}

static dis_status fail_at(dis__csv *csv, const char *at, const char *message)
{
    uint64_t line, column;
    dis__csv_position(csv, at, &line, &column);
    return dis__fail_at(DIS_EDATA, csv->path, line, column, "%s", message);
}

dis_status dis__csv_fail(dis__csv *csv, const dis__csv_field *field, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return fail_at(csv, field ? field->at : csv->row, message);
}

/* The start of the next line that is not blank. */
static const char *past_blank_lines(const dis__csv *csv)
{
    const char *p = csv->next;
    while (p < csv->end && (*p == '\n' || (*p == '\r' && p + 1 < csv->end && p[1] == '\n'))) p += 1 + (*p == '\r');
    return p;
}

dis_status dis__csv_next(dis__csv *csv, bool *more)
{
    if (csv->declared && csv->n_columns > 1) csv->next = past_blank_lines(csv);
    *more = csv->next < csv->end;
    if (!*more) return DIS_OK;
    const dis_status status = dis__csv_row(csv);
    return status == DIS_EDATA ? fail_at(csv, csv->problem_at, csv->problem) : status;
}

static int by_text(const void *a, const void *b)
{
    const dis__csv_field *x = a, *y = b;
    const int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
    return order ? order : x->n < y->n ? -1 : x->n > y->n ? 1 : x->at < y->at ? -1 : x->at > y->at;
}

/* Finds two columns with the same name among the sorted ones. Several columns may be unnamed. */
static dis_status check_twice(dis__csv *csv)
{
    dis__csv_field *sorted;
    DIS_TRY(dis__alloc_array(&sorted, csv->n_columns, sizeof *sorted));
    memcpy(sorted, csv->header, csv->n_columns * sizeof *sorted);
    qsort(sorted, csv->n_columns, sizeof *sorted, by_text);
    const dis__csv_field *twice = NULL; /* the first one in the file that repeats a name */
    for (size_t i = 1; i < csv->n_columns; i++)
        if (sorted[i].n && sorted[i].n == sorted[i - 1].n &&
            memcmp(sorted[i].text, sorted[i - 1].text, sorted[i].n) == 0 && (!twice || sorted[i].at < twice->at))
            twice = &sorted[i];
    const dis_status status = twice ? dis__csv_fail(csv, twice, "two columns are called \"%.*s\"; rename one of them",
                                                    twice->n > 200 ? 200 : (int)twice->n, twice->text)
                                    : DIS_OK;
    dis__free(sorted);
    return status;
}

dis_status dis__csv_header(dis__csv *csv)
{
    bool more;
    DIS_TRY(dis__csv_next(csv, &more));
    if (!more) return dis__fail_at(DIS_EDATA, csv->path, 0, 0, "the file is empty");
    size_t total = 0;
    for (size_t i = 0; i < csv->n_fields; i++) total += csv->field[i].n;
    DIS_TRY(dis__alloc_array(&csv->header, csv->n_fields, sizeof *csv->header));
    DIS_TRY(dis__alloc_array(&csv->header_text, total, 1));
    char *text = csv->header_text;
    for (size_t i = 0; i < csv->n_fields; i++) {
        csv->header[i] = csv->field[i];
        csv->header[i].text = text;
        if (csv->field[i].n) memcpy(text, csv->field[i].text, csv->field[i].n);
        text += csv->field[i].n;
    }
    csv->n_columns = csv->n_fields;
    return check_twice(csv);
}

dis_status dis__csv_set_columns(dis__csv *csv, const char *const *names, size_t n)
{
    DIS_TRY(dis__alloc_array(&csv->header, n, sizeof *csv->header));
    for (size_t i = 0; i < n; i++)
        csv->header[i] = (dis__csv_field){.text = names[i], .n = strlen(names[i]), .at = csv->begin};
    csv->n_columns = n;
    csv->declared = true;
    return check_twice(csv);
}

void dis__csv_list_columns(const dis__csv *csv, char *out, size_t room)
{
    out[0] = 0;
    for (size_t i = 0; i < csv->n_columns; i++) dis__text_list_append(out, room, csv->header[i].text, csv->header[i].n);
}

size_t dis__csv_column(const dis__csv *csv, const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < csv->n_columns; i++)
        if (csv->header[i].n == n && memcmp(csv->header[i].text, name, n) == 0) return i;
    return SIZE_MAX;
}
