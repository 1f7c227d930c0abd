/* Answers in batch results of Mechanical Turk. A question has one of three forms:
 *
 *     Answer.sentiment                      a cell with the answer
 *     Answer.category.cat, .dog             radio buttons and checkboxes: a column per option, true or false
 *     Answer.taskAnswers                    a crowd form: [{"category": {"cat": true, "dog": false},
 *                                                           "sentiment": {"label": "good"}, "comment": "fine"}]
 *
 * The caller names the question, "category" or "Answer.category"; the code below finds it in the header and the first
 * rows, and replaces the name by the path and the rule. Which question is the label is never guessed. */
#include "votes/mapper/record_reader.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include <stdio.h>

enum { ROWS = 1000, LIST = 400 };
const char dis__option_chosen[] = "true";
static const char prefix[] = "Answer.";
enum { PREFIX = sizeof prefix - 1 };

typedef struct {
    dis__reader *reader;
    dis__record_reader *source;
    const char *name; /* of the question, without the prefix */
    size_t n;
    char path[512];
    bool options; /* the path refers to options that are true or false */
    char have[LIST];
    dis__json json;
} search;

static bool is_answer(const dis__csv_field *h)
{
    return h->n > PREFIX && memcmp(h->text, prefix, PREFIX) == 0;
}

static bool is_text(const char *a, size_t n_a, const char *b, size_t n_b)
{
    return n_a == n_b && memcmp(a, b, n_a) == 0;
}

static bool is_truth(const dis__csv_field *f)
{
    return is_text(f->text, f->n, "true", 4) || is_text(f->text, f->n, "false", 5);
}

/* The question of which a column is an option: "category" of Answer.category.cat; 0: none. */
static size_t question_of(const dis__csv_field *h)
{
    const char *dot = dis__os_find_last(h->text + PREFIX, '.', h->n - PREFIX);
    return dot ? (size_t)(dot - h->text) - PREFIX : 0;
}

/* ---- JSON in a cell ---- */

/* The object of a cell {...} or [{...}]; NULL: another value. *list: it is the first of a list. */
static const dis__json_value *form_in(search *s, const dis__csv_field *f, bool *list)
{
    const dis__json_value *root;
    if (f->n == 0 || (f->text[0] != '[' && f->text[0] != '{')) return NULL;
    if (dis__json_parse(&s->json, f->text, f->n, &(dis__json_position){.file = ""}, &root) != DIS_OK) return NULL;
    *list = root->kind == DIS_JSON_ARRAY;
    if (*list) root = root->n ? root + 1 : root;
    return root->kind == DIS_JSON_OBJECT ? root : NULL;
}

static bool has_truths_only(const dis__json_value *object)
{
    const dis__json_value *v = object + 1;
    for (uint32_t i = 0; i < object->n; i++, v += 1 + v[1].skip)
        if (v[1].kind != DIS_JSON_TRUE && v[1].kind != DIS_JSON_FALSE) return false;
    return object->n > 0;
}

/* The path of the answer within the value of a question; NULL: unknown. */
static const char *rest_of_path(const dis__json_value *v, bool *options)
{
    *options = v->kind == DIS_JSON_OBJECT && has_truths_only(v);
    if (*options) return "{}#";
    if (v->kind == DIS_JSON_ARRAY) return "[]";
    if (v->kind != DIS_JSON_OBJECT) return "";
    return dis__json_member(v, "label") ? ".label" : dis__json_member(v, "labels") ? ".labels[]" : NULL;
}

static dis_status search_form(search *s, const dis__csv_field *h, const dis__json_value *form, bool list, bool *found)
{
    const dis__json_value *v = form + 1;
    for (uint32_t i = 0; i < form->n; i++, v += 1 + v[1].skip) {
        if (!is_text(v->text, v->length, s->name, s->n)) continue;
        const char *rest = rest_of_path(v + 1, &s->options);
        if (!rest)
            return dis__fail_at(DIS_EDATA, s->source->input->path, 0, 0,
                                "the answer \"%.*s\" is an object; name its key: `label` '%.*s%s.%.*s.KEY'", (int)s->n,
                                s->name, (int)h->n, h->text, list ? "[0]" : "", (int)s->n, s->name);
        snprintf(s->path, sizeof s->path, "\"%.*s\"%s.\"%.*s\"%s", (int)h->n, h->text, list ? "[0]" : "", (int)s->n,
                 s->name, rest);
        *found = true;
    }
    return DIS_OK;
}

static void list_form(search *s, const dis__json_value *form)
{
    const dis__json_value *v = form + 1;
    for (uint32_t i = 0; i < form->n; i++, v += 1 + v[1].skip) dis__text_list_append(s->have, LIST, v->text, v->length);
}

/* ---- columns ---- */

/* Whether all values of columns "Answer.NAME.x" in the first rows are true or false, with at least one such column. */
typedef struct {
    size_t n_columns;
    bool truths;
} option_columns;

static void find_options(const search *s, const char *name, size_t n, option_columns *o)
{
    const dis__csv *csv = &s->source->csv;
    o->n_columns = 0;
    for (size_t c = 0; c < csv->n_columns; c++) {
        const dis__csv_field *h = &csv->header[c];
        if (!is_answer(h) || question_of(h) != n || memcmp(h->text + PREFIX, name, n) != 0) continue;
        o->n_columns++;
        o->truths = o->truths && (csv->field[c].n == 0 || is_truth(&csv->field[c]));
    }
}

/* The questions in the header and in this row. */
static void list_answers(search *s)
{
    const dis__csv *csv = &s->source->csv;
    for (size_t c = 0; c < csv->n_columns; c++) {
        const dis__csv_field *h = &csv->header[c];
        bool list, listed = false;
        if (!is_answer(h)) continue;
        const dis__json_value *form = form_in(s, &csv->field[c], &list);
        const size_t n = question_of(h);
        option_columns o = {.truths = true};
        if (n) find_options(s, h->text + PREFIX, n, &o);
        const bool option = n && o.truths;
        for (size_t k = 0; option && k < c; k++)
            listed = listed || (is_answer(&csv->header[k]) && question_of(&csv->header[k]) == n &&
                                memcmp(csv->header[k].text, h->text, PREFIX + n) == 0);
        if (form)
            list_form(s, form);
        else if (!listed)
            dis__text_list_append(s->have, LIST, h->text, option ? PREFIX + n : h->n);
    }
}

/* Looks for the question in one row. */
static dis_status search_row(search *s, bool *found)
{
    const dis__csv *csv = &s->source->csv;
    for (size_t c = 0; c < csv->n_columns && !*found; c++) {
        const dis__csv_field *h = &csv->header[c];
        bool list;
        const dis__json_value *form = is_answer(h) ? form_in(s, &csv->field[c], &list) : NULL;
        if (form) DIS_TRY(search_form(s, h, form, list, found));
    }
    return DIS_OK;
}

/* Reads the first rows: sets `o` for columns of options, s->path if a form has the question. */
static dis_status search_rows(search *s, option_columns *o, bool *found)
{
    for (size_t i = 0; i < ROWS && !*found; i++) {
        dis__mapped_record *record;
        bool go_on;
        const dis_status status = dis__record_reader_next(s->source, &record, &go_on);
        if (status == DIS_EDATA && go_on) continue;
        if (status == DIS_EDATA || (status == DIS_OK && !record)) return DIS_OK;
        DIS_TRY(status);
        if (!s->have[0]) list_answers(s);
        if (!s->name) return DIS_OK;
        find_options(s, s->name, s->n, o);
        DIS_TRY(search_row(s, found));
    }
    return DIS_OK;
}

static size_t find_column(const search *s, const char *name)
{
    for (size_t c = 0; c < s->source->csv.n_columns; c++)
        if (is_text(s->source->csv.header[c].text, s->source->csv.header[c].n, name, strlen(name))) return c;
    return SIZE_MAX;
}

/* A column named literally: valid, unless it contains more than one answer, or a part of one. */
static dis_status check_column(search *s, size_t c)
{
    const dis__csv *csv = &s->source->csv;
    const dis__csv_field *h = &csv->header[c];
    bool list;
    const size_t n = is_answer(h) ? question_of(h) : 0;
    dis__mapped_record *record;
    bool go_on;
    option_columns o = {.truths = true};
    for (size_t i = 0; i < ROWS; i++) {
        const dis_status status = dis__record_reader_next(s->source, &record, &go_on);
        if (status == DIS_EDATA && go_on) continue;
        if (status == DIS_EDATA || (status == DIS_OK && !record)) break;
        DIS_TRY(status);
        const dis__json_value *form = is_answer(h) ? form_in(s, &csv->field[c], &list) : NULL;
        if (form) {
            list_form(s, form);
            return dis__fail_at(
                DIS_EDATA, s->source->input->path, 1, 0,
                "the column %.*s contains the answers to all questions of a form: %s; choose the label with `label`",
                (int)h->n, h->text, s->have);
        }
        if (n) find_options(s, h->text + PREFIX, n, &o);
    }
    if (n == 0 || !o.truths || o.n_columns < 2) return DIS_OK;
    return dis__fail_at(DIS_EDATA, s->source->input->path, 1, 0,
                        "the column %.*s is one of %zu options of a question; name the question: `label` %.*s",
                        (int)h->n, h->text, o.n_columns, (int)(PREFIX + n), h->text);
}

/* ---- applying the result ---- */

static dis_status keep_text(dis__reader *r, const char *text, const char **out)
{
    DIS_TRY(dis__reserve(&r->named, &r->named_capacity, r->n_named, r->n_named + 1, sizeof *r->named));
    DIS_TRY(dis__copy_text(&r->named[r->n_named], text, strlen(text)));
    *out = r->named[r->n_named++];
    return DIS_OK;
}

/* Options that are not true are not answers. */
static dis_status keep_true(dis__reader *r, const char *label)
{
    dis_votes_options *o = &r->o;
    const size_t n = o->n_drop + o->n_keep;
    const char *column;
    char path[512];
    snprintf(path, sizeof path, "%.*s", (int)(strlen(label) - 1), label); /* the value instead of the name, "#" */
    DIS_TRY(keep_text(r, path, &column));
    DIS_TRY(dis__resize_array(&r->filters, n, n + 1, sizeof *r->filters));
    r->filters[n] = (dis_drop_rule){.column = column, .value = dis__option_chosen};
    o->drop = r->filters;
    o->keep = r->filters + o->n_drop;
    o->n_keep++;
    return DIS_OK;
}

static dis_status fail_unknown(const search *s)
{
    const char *path = s->source->input->path;
    if (!s->have[0])
        return dis__fail_at(DIS_EDATA, path, 1, 0,
                            "no column begins with \"Answer.\"; are these batch results of MTurk?");
    if (!s->name)
        return dis__fail_at(DIS_EDATA, path, 1, 0,
                            "choose the answer that is the label with `label`; the answers are: %s", s->have);
    return dis__fail_at(DIS_EDATA, path, 1, 0,
                        "no answer \"%.*s\"; the answers are: %s; name the one to use with `label`",
                        s->n > 100 ? 100 : (int)s->n, s->name, s->have);
}

static dis_status find_label(search *s)
{
    dis__reader *r = s->reader;
    const char *label = r->o.label;
    bool found = false;
    char column[256];
    option_columns o = {.truths = true};
    if (label && find_column(s, label) != SIZE_MAX) return check_column(s, find_column(s, label));
    if (label) {
        const bool prefixed = strncmp(label, prefix, PREFIX) == 0;
        s->name = label + (prefixed ? PREFIX : 0);
        s->n = strlen(s->name);
        snprintf(column, sizeof column, "%s%s", prefix, s->name);
        const size_t c = find_column(s, column);
        if (c != SIZE_MAX) {
            DIS_TRY(keep_text(r, column, &r->o.label));
            return check_column(s, c);
        }
    }
    DIS_TRY(search_rows(s, &o, &found));
    if (!found && (o.n_columns == 0 || !o.truths)) return fail_unknown(s);
    if (!found) {
        snprintf(s->path, sizeof s->path, "\"%s%.*s\"{}#", prefix, (int)s->n, s->name);
        s->options = true;
    }
    DIS_TRY(keep_text(r, s->path, &r->o.label));
    return s->options ? keep_true(r, r->o.label) : DIS_OK;
}

dis_status dis__mturk_apply(dis__reader *r)
{
    dis__record_reader source;
    if (!r->o.preset || strcmp(r->o.preset, "mturk") != 0 || (r->o.label && dis__path_is_special(r->o.label, false)))
        return DIS_OK;
    const dis_status opened = dis__record_reader_open(&source, r, &r->input[0]);
    if (opened == DIS_EDATA) return DIS_OK; /* the reader will report it */
    DIS_TRY(opened);
    search s = {.reader = r, .source = &source};
    const dis_status status = source.table ? find_label(&s) : DIS_OK;
    dis__json_free(&s.json);
    dis__record_reader_close(&source);
    return status;
}
