/* A survey of the first rows: every cell is interned per column, so that columns can be compared by indices. Cost: the
 * first DIS_SURVEY_ROWS rows, once, and only after an error. */
#include "votes/roles/column_survey.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include <strings.h>

static dis_status add_column(dis__survey *s, const char *name, size_t n)
{
    dis__survey_column *c = &s->column[s->n_columns];
    char *copy;
    DIS_TRY(dis__alloc_array(&c->cell, DIS_SURVEY_ROWS, sizeof *c->cell));
    s->n_columns++;
    for (size_t i = 0; i < DIS_SURVEY_ROWS; i++) c->cell[i] = DIS_NO_VALUE;
    DIS_TRY(dis__copy_text(&copy, name, n));
    c->name = copy;
    c->n_name = n;
    return DIS_OK;
}

bool dis__is_missing_word(const char *text, size_t n)
{
    static const char *const words[] = {"NA", "N/A", "#N/A", "nan", "NULL", "<NA>"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && strncasecmp(words[i], text, n) == 0) return true;
    return false;
}

static dis_status add_missing(dis__survey_column *c, dis__arena *texts, const char *text, size_t n)
{
    char word[8];
    memcpy(word, text, n);
    word[n] = 0;
    for (size_t i = 0; i < c->n_missing; i++)
        if (strcmp(c->missing[i], word) == 0) return DIS_OK;
    if (c->n_missing == DIS_SURVEY_MISSING) return DIS_OK;
    return dis__arena_copy(texts, word, n + 1, &c->missing[c->n_missing++]);
}

/* 0.25, 2024-03-01, 12:30 */
static bool is_measured(const char *text, size_t n, bool number)
{
    if (number) return memchr(text, '.', n) != NULL;
    bool plain = true;
    size_t dashes = 0, colons = 0;
    for (size_t i = 0; i < n; i++) {
        dashes += text[i] == '-';
        colons += text[i] == ':';
        plain = plain && (strchr("0123456789-:. TZ+/", text[i]) != NULL);
    }
    return plain && n >= 5 && (dashes >= 2 || colons >= 1);
}

static bool is_file(const char *text, size_t n)
{
    size_t spaces = 0;
    for (size_t i = 0; i < n; i++) spaces += text[i] == ' ';
    return spaces > 1 || memchr(text, '/', n) != NULL;
}

static dis_status add_cell(dis__survey *s, size_t column, const char *text, size_t n)
{
    dis__survey_column *c = &s->column[column];
    c->n_empty += n == 0;
    if (n == 0 || n > DIS_MAX_ID) return DIS_OK;
    if (dis__is_missing_word(text, n)) return add_missing(c, &s->texts, text, n);
    dis__key key = dis__key_from_text(&s->secret, text, n);
    const dis__key *at = dis__key_table_find(&c->values, &key);
    if (!at) {
        const char *copy;
        bool fresh;
        DIS_TRY(dis__arena_copy(&s->texts, text, n, &copy));
        key = dis__key_from_text(&s->secret, copy, n);
        key.value = (uint32_t)c->n_values++;
        DIS_TRY(dis__key_table_insert(&c->values, &key, &at, &fresh));
    }
    double x;
    c->cell[s->n_rows] = at->value;
    c->n_cells++;
    c->n_bytes += n;
    const bool number = dis__parse_real(text, n, &x);
    c->n_numbers += number;
    c->n_measured += is_measured(text, n, number);
    c->n_mails += memchr(text, '@', n) != NULL;
    c->n_files += is_file(text, n);
    return DIS_OK;
}

static dis_status name_columns(dis__survey *s, const dis__record_reader *source)
{
    if (source->table) {
        for (size_t i = 0; i < source->csv.n_columns && s->n_columns < DIS_SURVEY_COLUMNS; i++)
            DIS_TRY(add_column(s, source->csv.header[i].text, source->csv.header[i].n));
        return DIS_OK;
    }
    const dis__json_value *o = source->record.root.json;
    if (o->kind != DIS_JSON_OBJECT) return DIS_OK;
    const dis__json_value *v = o + 1;
    for (uint32_t i = 0; i < o->n && s->n_columns < DIS_SURVEY_COLUMNS; i++, v += 1 + v[1].skip)
        DIS_TRY(add_column(s, v->text, v->length));
    return DIS_OK;
}

static dis_status add_row(dis__survey *s, const dis__record_reader *source)
{
    for (size_t c = 0; c < s->n_columns; c++) {
        if (source->table && c >= source->csv.n_fields) { /* without a header, rows may have different lengths */
            s->column[c].n_empty++;
            continue;
        }
        if (source->table) {
            const dis__csv_field *field = &source->csv.field[c];
            DIS_TRY(add_cell(s, c, field->text, field->n));
            continue;
        }
        const dis__json_value *v = dis__json_member(source->record.root.json, s->column[c].name);
        const bool list = v && v->kind == DIS_JSON_ARRAY && v->n == 1;
        if (list) v++;
        if (v && v->kind != DIS_JSON_NULL && v->kind <= DIS_JSON_STRING)
            DIS_TRY(add_cell(s, c, v->text, v->length));
        else
            s->column[c].n_empty++;
    }
    s->n_rows++;
    return DIS_OK;
}

static dis_status survey_rows(dis__record_reader *source, dis__survey *s)
{
    dis__mapped_record *record = &source->record;
    bool go_on;
    DIS_TRY(dis__alloc_zeroed(&s->column, DIS_SURVEY_COLUMNS, sizeof *s->column));
    DIS_TRY(name_columns(s, source));
    while (record && s->n_rows < DIS_SURVEY_ROWS) {
        DIS_TRY(add_row(s, source));
        const dis_status status = dis__record_reader_next(source, &record, &go_on);
        if (status == DIS_EDATA) break;
        DIS_TRY(status);
    }
    return DIS_OK;
}

dis_status dis__survey_create(dis__record_reader *source, dis__survey *out)
{
    *out = (dis__survey){.secret = dis__secret_draw(), .table = source->table};
    const dis_status status = survey_rows(source, out);
    if (status != DIS_OK) dis__survey_free(out);
    return status;
}

dis_status dis__survey_first(dis__record_reader *source, dis__survey *out, bool *empty)
{
    dis__mapped_record *record;
    bool go_on;
    DIS_TRY(dis__record_reader_next(source, &record, &go_on));
    *empty = !record;
    return record ? dis__survey_create(source, out) : DIS_OK;
}

void dis__survey_free(dis__survey *s)
{
    for (size_t c = 0; c < s->n_columns; c++) {
        dis__key_table_free(&s->column[c].values);
        dis__free(s->column[c].cell);
        dis__free((char *)(uintptr_t)s->column[c].name);
    }
    dis__free(s->column);
    dis__arena_free(&s->texts);
    *s = (dis__survey){0};
}

size_t dis__survey_shared(const dis__survey *s, size_t a, size_t b)
{
    const dis__survey_column *x = &s->column[a], *y = &s->column[b];
    bool has[DIS_SURVEY_ROWS] = {false};
    for (size_t i = 0; i < x->values.n_slots; i++) {
        const dis__key *key = &x->values.slot[i];
        if (key->value != DIS_KEY_NONE) has[key->value] = dis__key_table_find(&y->values, key) != NULL;
    }
    size_t n = 0;
    for (size_t r = 0; r < s->n_rows; r++) n += x->cell[r] != DIS_NO_VALUE && has[x->cell[r]];
    return n;
}

dis_status dis__survey_pairs(const dis__survey *s, size_t a, size_t b, size_t *n)
{
    dis__key_table pairs = {0};
    dis_status status = DIS_OK;
    *n = 0;
    for (size_t r = 0; r < s->n_rows && status == DIS_OK; r++) {
        const uint32_t pair[] = {s->column[a].cell[r], s->column[b].cell[r]};
        const dis__key key = dis__key_from_text(&s->secret, (const char *)pair, sizeof pair), *at;
        bool fresh = false;
        status = dis__key_table_insert(&pairs, &key, &at, &fresh);
        *n += status == DIS_OK && fresh;
    }
    dis__key_table_free(&pairs);
    return status;
}

const dis__key *dis__survey_text(const dis__survey *s, size_t column, uint32_t value)
{
    const dis__key_table *values = &s->column[column].values;
    for (size_t i = 0; i < values->n_slots; i++)
        if (values->slot[i].value == value) return &values->slot[i];
    return NULL;
}

bool dis__survey_determines(const dis__survey *s, size_t from, size_t to)
{
    uint32_t row_count[DIS_SURVEY_ROWS + 1];
    const dis__survey_column *x = &s->column[from], *y = &s->column[to];
    for (size_t i = 0; i <= x->n_values; i++) row_count[i] = UINT32_MAX - 1;
    for (size_t r = 0; r < s->n_rows; r++) {
        uint32_t *count = &row_count[x->cell[r] == DIS_NO_VALUE ? x->n_values : x->cell[r]];
        if (*count == UINT32_MAX - 1) *count = y->cell[r];
        if (*count != y->cell[r]) return false;
    }
    return true;
}
