/* Votes from JSON Lines: one object per line, with the keys task, worker (or performer) and label, or those named by
 * the options. Values are texts or numbers; a number is kept as written, true and false are labels with these names,
 * null and an empty list are an empty label, and a list of one element is its element. Lines end with LF or CRLF. */
#include "votes/read/reader.h"
#include "tool/table_columns.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static dis_status open_jsonl(dis__vote_file *file)
{
    file->min = sizeof "{\"\":1}"; /* keys are searched in each line */
    return DIS_OK;
}

__attribute__((format(printf, 3, 4))) static dis_status bad(dis__row_cursor *c, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->problem.text, sizeof c->problem.text, format, args);
    va_end(args);
    c->problem.at = at;
    return DIS_EDATA;
}

/* The value of the only key that is a synonym of a role; NULL: none, or several. */
static const dis__json_value *find_synonym(const dis__json_value *object, const char *role)
{
    enum { MAX_KEYS = 64 };
    dis_column_name names[MAX_KEYS];
    const dis__json_value *value[MAX_KEYS], *v = object + 1;
    size_t n = 0, found[2];
    int r = DIS_ROLE_TASK;
    while (r < DIS_ROLE_LABEL && strcmp(role, dis__role_name((dis_role)r)) != 0) r++;
    for (; n < object->n && n < MAX_KEYS; n++, v += 1 + v[1].skip) {
        names[n] = (dis_column_name){v->text, v->length};
        value[n] = v + 1;
    }
    return dis_role_find((dis_role)r, names, n, found) == 1 ? value[found[0]] : NULL;
}

static dis_status read_field(dis__row_cursor *c, const dis__json_value *object, const char *line, const char *key,
                             const char *other, const char *option, dis__vote_field *cell)
{
    const bool label = strcmp(option, "label") == 0;
    const dis__json_value *v = dis__json_member(object, key);
    if (!v && other) v = dis__json_member(object, other);
    if (!v && strcmp(key, option) == 0) v = find_synonym(object, option);
    if (!v) {
        char keys[150];
        dis__json_list_keys(object, keys, sizeof keys);
        return bad(c, line, "no key \"%.100s\"; the keys are: %s; name the one to use with `%s`", key, keys, option);
    }
    if (label && v->kind == DIS_JSON_ARRAY && v->n == 1) v++; /* a single choice, as annotation tools write it */
    const char *at = line + v->at;
    if (v->kind == DIS_JSON_ARRAY && label && v->n > 0)
        return bad(c, at,
                   "a list of labels; a vote has one: say `multiple_labels` all (each a vote) or join (one class a+b)");
    const bool plain = v->kind == DIS_JSON_STRING || v->kind == DIS_JSON_NUMBER;
    const bool word = label && (v->kind == DIS_JSON_TRUE || v->kind == DIS_JSON_FALSE);
    const bool null = label && (v->kind == DIS_JSON_NULL || v->kind == DIS_JSON_ARRAY);
    if (!plain && !word && !null) return bad(c, at, "\"%.100s\" must be a text or a number", key);
    *cell = (dis__vote_field){.text = v->text, .n = null ? 0 : v->length, .at = at};
    return DIS_OK;
}

static bool is_dropped(const dis_votes_options *o, const dis__json_value *object)
{
    for (size_t d = 0; d < o->n_drop; d++) {
        const dis__json_value *v = dis__json_member(object, o->drop[d].column);
        const size_t n = strlen(o->drop[d].value);
        if (v && v->kind <= DIS_JSON_STRING && v->length == n && memcmp(v->text, o->drop[d].value, n) == 0) return true;
    }
    return false;
}

/* The JSON reader treats the line as the first one: "FILE:1:COLUMN: reason". This returns its column, for the actual
 * line. */
static dis_status bad_json(dis__row_cursor *c, const char *line)
{
    const char *message = strstr(dis_last_error(), ":1:");
    char *reason = NULL;
    const unsigned long long column = message ? strtoull(message + 3, &reason, 10) : 1;
    if (!reason || strncmp(reason, ": ", 2) != 0) return bad(c, line, "%s", dis_last_error());
    return bad(c, line + column - 1, "%s", reason + 2);
}

static dis_status row_jsonl(dis__row_cursor *c)
{
    static const char *const roles[] = {"task", "worker", "label"};
    const dis__vote_file *f = c->file;
    const dis_votes_options *o = &f->reader->o;
    const char *const given[] = {o->task, o->worker, o->label};
    const char *line = c->next, *lf = memchr(line, '\n', (size_t)(f->end - line));
    c->next = lf ? lf + 1 : f->end;
    size_t n = (size_t)((lf ? lf : f->end) - line);
    if (n && line[n - 1] == '\r') n--;
    if (n == 0) return bad(c, line, "a blank line; remove it");
    if (n > DIS_MAX_FIELD) return bad(c, line, "a line of more than %u bytes", DIS_MAX_FIELD);

    const dis__json_position place = {.file = "", .line = 1, .column = 1, .offset = (uint64_t)(line - f->input->bytes)};
    const dis__json_value *root;
    const dis_status status = dis__json_parse(&c->json, line, n, &place, &root);
    if (status == DIS_EDATA) return bad_json(c, line);
    DIS_TRY(status);
    if (root->kind != DIS_JSON_OBJECT)
        return bad(c, line, "a line must be one object, {\"task\": ..., \"worker\": ..., \"label\": ...}");
    c->dropped = is_dropped(o, root);
    if (c->dropped) return DIS_OK;
    for (int i = 0; i <= DIS_ID_COLUMNS; i++)
        DIS_TRY(read_field(c, root, line, given[i] ? given[i] : roles[i],
                           !given[i] && i == DIS_COLUMN_WORKER ? "performer" : NULL, roles[i], &c->cell[i]));
    return DIS_OK;
}

const dis__row_format dis__rows_jsonl = {.name = "jsonl", .open = open_jsonl, .row = row_jsonl};
