/* Detects the format of a file from its first records: suggested, never assumed. Presets have signatures, paths that
 * exist in their files. Columns are found by their names (roles/role_use.h). Cost: reads the first record, or, for
 * tables without a header, the first thousand rows. */
#include "votes/mapper/record_reader.h"
#include "core/memory/memory.h"
#include "votes/roles/column_roles.h"
#include <stdio.h>

enum { ROWS = 1000 };

/* ---- presets ---- */

/* Whether all paths of a signature, separated by spaces, exist. */
static dis_status has_sign(dis__mapped_record *record, const char *sign, bool *has)
{
    char word[64];
    *has = true;
    while (*has && *sign) {
        const size_t n = strcspn(sign, " ");
        dis__path path;
        snprintf(word, sizeof word, "%.*s", (int)n, sign);
        DIS_TRY(dis__path_parse(word, "sign", &path));
        DIS_TRY(dis__path_exists(&path, record, has));
        sign += n + (sign[n] == ' ');
    }
    return DIS_OK;
}

static bool is_integer(const dis__json_value *v)
{
    if (v->kind != DIS_JSON_NUMBER && v->kind != DIS_JSON_STRING) return false;
    for (uint32_t i = 0; i < v->length; i++)
        if ((v->text[i] < '0' || v->text[i] > '9') && !(i == 0 && v->text[i] == '-')) return false;
    return v->length > 0;
}

/* {"worker": label, ...} of integers only, in an object of such objects. */
static bool is_peerannot(const dis__record_reader *s)
{
    if (s->table || s->values.split.kind != DIS_SPLIT_OBJECT) return false;
    const dis__json_value *o = s->record.root.json;
    if (o->kind != DIS_JSON_OBJECT || o->n == 0) return false;
    const dis__json_value *v = o + 1;
    for (uint32_t i = 0; i < o->n; i++, v += 1 + v[1].skip)
        if (!is_integer(v) || !is_integer(v + 1)) return false;
    return true;
}

/* Whether the file is one object, this key its first. */
static bool has_key_like(const dis__record_reader *s, const char *key)
{
    return !s->table && s->values.split.kind == DIS_SPLIT_OBJECT && s->record.n_key == strlen(key) &&
           memcmp(s->record.key, key, s->record.n_key) == 0;
}

static bool fits_container(const dis__record_reader *s, const char *file)
{
    if (!file) return true;
    if (strcmp(file, "table") == 0) return s->table;
    const bool many =
        !s->table && (s->values.split.kind == DIS_SPLIT_LINES || s->values.split.kind == DIS_SPLIT_SEQUENCE);
    return strcmp(file, "lines") == 0 ? many : !s->table;
}

/* A number, a word, tags separated by commas, the tag of an expert; no header. */
static bool is_gimpel(const dis__record_reader *s)
{
    const dis__csv_field *h = s->csv.header;
    if (!s->table || s->csv.separator != '\t' || s->csv.n_columns != 4 || h[0].n == 0) return false;
    for (size_t i = 0; i < h[0].n; i++)
        if (h[0].text[i] < '0' || h[0].text[i] > '9') return false;
    return memchr(h[2].text, ',', h[2].n) != NULL;
}

/* Files that are one object, by its first key; `sign` is a signature of the value of this key, NULL: the key suffices. */
static const struct {
    const char *key, *sign, *preset;
} first_keys[] = {{"%FEATURE_STRUCTURES", NULL, "inception"},
                  {"%TYPES", NULL, "inception"},
                  {"data", "[].traceId [].source", "langfuse"},
                  {"testCases", "[].metricsData", "deepeval"}};

static dis_status find_by_first_key(dis__record_reader *s, const char **name)
{
    for (size_t i = 0; !*name && i < sizeof first_keys / sizeof *first_keys; i++) {
        bool has = has_key_like(s, first_keys[i].key);
        if (has && first_keys[i].sign) DIS_TRY(has_sign(&s->record, first_keys[i].sign, &has));
        if (has) *name = first_keys[i].preset;
    }
    return DIS_OK;
}

static dis_status find_preset(dis__record_reader *s, const dis_votes_preset **found)
{
    const char *name = is_peerannot(s) ? "peerannot" : NULL;
    DIS_TRY(find_by_first_key(s, &name));
    *found = name ? dis_votes_preset_find(name) : NULL;
    const dis_votes_preset *p;
    for (size_t i = 0; !*found && (p = dis_votes_preset_get(i)); i++) {
        bool has;
        if (!p->signature || !fits_container(s, p->container)) continue;
        DIS_TRY(has_sign(&s->record, p->signature, &has));
        if (has) *found = p;
    }
    return DIS_OK;
}

static dis_status propose(const dis__record_reader *s, const dis_votes_preset *p)
{
    return dis__fail_at(DIS_EDATA, s->input->path, 0, 0, "this looks like %s: use `preset` %s%s", p->tool, p->name,
                        p->label ? "" : " and `label` NAME");
}

static bool has_ending(const char *path, const char *ending)
{
    const size_t n = strlen(path), e = strlen(ending);
    return n > e && strcmp(path + n - e, ending) == 0;
}

/* ---- wide tables ---- */

/* Statistics of the first rows of a table: which values occur in which columns. */
typedef struct {
    dis__secret secret;
    dis__key_table values; /* of all cells except the first row and the first column */
    dis__key_table ids;    /* of the first column without the first row */
    size_t n_rows, n_columns, n_cells, n_values, n_ids;
    bool ragged;
    /* of the first row */
    dis__key *first; /* (n_columns) */
    dis__arena texts;
} survey;

static dis_status put(survey *w, dis__key_table *table, const dis__csv_field *cell, size_t *n)
{
    const char *copy;
    const dis__key *at;
    bool fresh;
    dis__key key = dis__key_from_text(&w->secret, cell->text, cell->n);
    if (dis__key_table_find(table, &key)) return DIS_OK;
    DIS_TRY(dis__arena_copy(&w->texts, cell->text, cell->n, &copy));
    key = dis__key_from_text(&w->secret, copy, cell->n);
    DIS_TRY(dis__key_table_insert(table, &key, &at, &fresh));
    *n += fresh;
    return DIS_OK;
}

static dis_status copy_first_row(survey *w, const dis__csv *csv)
{
    w->n_columns = csv->n_fields;
    DIS_TRY(dis__alloc_array(&w->first, csv->n_fields, sizeof *w->first));
    for (size_t c = 0; c < csv->n_fields; c++) {
        const char *copy;
        DIS_TRY(dis__arena_copy(&w->texts, csv->field[c].text, csv->field[c].n, &copy));
        w->first[c] = dis__key_from_text(&w->secret, copy, csv->field[c].n);
    }
    return DIS_OK;
}

static dis_status survey_file(survey *w, const dis__input *in, char separator)
{
    dis__csv csv;
    dis__csv_open(&csv, in, separator);
    dis_status status = DIS_OK;
    while (status == DIS_OK && csv.next < csv.end && w->n_rows < ROWS) {
        status = dis__csv_row(&csv);
        if (status != DIS_OK) break; /* bad data: the reader will report it */
        if (w->n_rows++ == 0) {
            status = copy_first_row(w, &csv);
            continue;
        }
        w->ragged = w->ragged || csv.n_fields != w->n_columns;
        for (size_t c = 0; c < csv.n_fields && status == DIS_OK; c++) {
            if (csv.field[c].n == 0) continue;
            status = c ? put(w, &w->values, &csv.field[c], &w->n_values) : put(w, &w->ids, &csv.field[c], &w->n_ids);
            w->n_cells += c > 0;
        }
    }
    dis__csv_close(&csv);
    return status == DIS_EDATA ? DIS_OK : status;
}

static void free_survey(survey *w)
{
    dis__key_table_free(&w->values);
    dis__key_table_free(&w->ids);
    dis__arena_free(&w->texts);
    dis__free(w->first);
}

/* Whether the columns after the first have few values. */
static bool shares_values(const survey *w)
{
    enum { FEW = 50 };
    return !w->ragged && w->n_rows > 2 && w->n_columns > 2 && w->n_values > 0 && w->n_values <= FEW &&
           2 * w->n_values <= w->n_cells;
}

/* Whether the first row has names that do not occur below. */
static bool has_header(const survey *w)
{
    for (size_t c = 0; c < w->n_columns; c++) {
        const dis__key *x = &w->first[c];
        if (x->n == 0 && c) return false;
        if (dis__key_table_find(&w->values, x) || dis__key_table_find(&w->ids, x)) return false;
        for (size_t k = 0; k < c; k++)
            if (dis__key_equal(x, &w->first[k])) return false;
    }
    return true;
}

/* Whether the first column has a different text in every row, and none that occurs in another column. */
static bool has_ids(const survey *w)
{
    if (w->n_ids + 1 != w->n_rows || w->n_rows < 4) return false;
    for (size_t i = 0; i < w->ids.n_slots; i++)
        if (w->ids.slot[i].value != DIS_KEY_NONE && dis__key_table_find(&w->values, &w->ids.slot[i])) return false;
    return true;
}

dis_status dis__check_wide(dis__reader *r, const dis__input *in, const char *format)
{
    if (r->o.n_classes) return DIS_OK; /* a value that cannot be a class is an error in any case */
    survey w = {.secret = r->rules.secret};
    dis_status status = survey_file(&w, in, dis__votes_separator(&r->o, format));
    if (status == DIS_OK && shares_values(&w) && has_header(&w))
        status = dis__fail_at(DIS_EDATA, in->path, 1, 0,
                              "the first row looks like a header, and wide tables in MACE's format have none: set "
                              "`input` wide; if it holds labels, name all with `classes`");
    else if (status == DIS_OK && shares_values(&w) && has_ids(&w))
        status = dis__fail_at(DIS_EDATA, in->path, 1, 1,
                              "the first column looks like ids of items, and wide tables as MACE reads them have none: "
                              "remove it, or add a header and set `input` wide; if it holds labels, name all "
                              "with `classes`");
    free_survey(&w);
    return status;
}

/* ---- votes ---- */

/* Whether the first row cannot be a header: its values occur again below. */
static bool repeats_first(const survey *w)
{
    size_t n = 0;
    for (size_t c = 0; c < w->n_columns; c++)
        n += w->first[c].n == 0 || dis__key_table_find(&w->values, &w->first[c]) ||
             dis__key_table_find(&w->ids, &w->first[c]);
    return !w->ragged && w->n_columns > 1 && w->n_rows > 1 && 2 * n > w->n_columns;
}

/* Whether a table without a header is MACE's: its columns share few values. */
static dis_status propose_mace(dis__reader *r, dis__input *in)
{
    const char *format;
    DIS_TRY(dis__votes_format(r->o.format, in->path, &format));
    survey w = {.secret = r->rules.secret};
    if (strncmp(format, "json", 4) == 0) return DIS_OK;
    DIS_TRY(dis__check_header_twice(in, dis__votes_separator(&r->o, format)));
    dis_status status = dis__suggest_no_header(r, in);
    if (status == DIS_OK && strcmp(format, "csv") == 0)
        status = survey_file(&w, in, dis__votes_separator(&r->o, format));
    if (status == DIS_OK && !has_header(&w) && (shares_values(&w) || repeats_first(&w)))
        status = dis__fail_at(DIS_EDATA, in->path, 1, 0,
                              "the first row is not a header; this looks like a table with a column per worker, as "
                              "MACE reads it: use `preset` mace");
    free_survey(&w);
    return status;
}

/* What the first record suggests: a matching preset, otherwise the columns. */
static dis_status detect_from_record(dis__reader *r, dis__record_reader *s, bool presets)
{
    const dis_votes_preset *preset = NULL;
    dis__roles roles;
    DIS_TRY(dis__roles_find(r, s, &roles));
    dis_status status = presets && !roles.standard ? find_preset(s, &preset) : DIS_OK;
    if (status == DIS_EDATA) status = DIS_OK;
    if (status == DIS_OK && preset) status = propose(s, preset);
    if (status == DIS_OK && s->table && !roles.standard) status = dis__find_header(s->input);
    if (status == DIS_OK && !preset) status = dis__roles_apply(r, s, &roles);
    dis__roles_free(&roles);
    return status;
}

dis_status dis__suggest_preset(dis__reader *r, dis__input *in)
{
    dis__record_reader s;
    dis__mapped_record *record;
    bool go_on;
    const bool presets = !r->o.task && !r->o.worker && !r->o.label;
    if (presets && has_ending(in->path, ".ann"))
        return dis__fail_at(DIS_EDATA, in->path, 0, 0, "this looks like annotations of brat: use `preset` brat");
    dis_status status = dis__record_reader_open(&s, r, in);
    if (status == DIS_EDATA) return presets ? propose_mace(r, in) : DIS_OK;
    if (status == DIS_EUSAGE) return DIS_OK; /* the reader will report it */
    DIS_TRY(status);
    status = dis__record_reader_next(&s, &record, &go_on);
    if (presets && is_gimpel(&s)) /* with a blank second line */
        status = propose(&s, dis_votes_preset_find("gimpel"));
    else if (status == DIS_OK && record)
        status = detect_from_record(r, &s, presets);
    else if (status == DIS_EDATA)
        status = s.table ? dis__find_header(in) : DIS_OK;
    dis__record_reader_close(&s);
    return status;
}

dis_status dis__suggest_other_preset(dis__reader *r)
{
    char message[DIS_MESSAGE];
    const dis_votes_preset *preset = NULL;
    snprintf(message, sizeof message, "%s", dis_last_error());
    const dis__reader before = *r;
    r->o.format = r->o.records = NULL; /* ignores the container set by the preset */
    r->o.delimiter = 0;
    r->o.no_header = false;
    for (size_t i = 0; i < r->n_inputs && !preset; i++) {
        dis__record_reader s;
        dis__mapped_record *record;
        bool go_on;
        dis_status status = dis__record_reader_open(&s, r, &r->input[i]);
        if (status != DIS_OK) continue;
        status = dis__record_reader_next(&s, &record, &go_on);
        if (status == DIS_OK && record) status = find_preset(&s, &preset);
        if (status != DIS_OK) preset = NULL;
        if (is_gimpel(&s)) preset = dis_votes_preset_find("gimpel");
        dis__record_reader_close(&s);
    }
    r->o = before.o;
    if (!preset || strcmp(preset->name, r->o.preset) == 0) {
        dis__set_error(message);
        return DIS_EDATA;
    }
    message[strcspn(message, "\n")] = 0; /* without suggestions */
    return dis__fail(DIS_EDATA, "%s; the file looks like %s: use `preset` %s", message, preset->tool, preset->name);
}
