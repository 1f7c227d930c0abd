/* Reads maps by their rows. Cost: every key is compared with every row. */
#include "experiment/plan/schema.h"
#include "core/os/os.h"
#include "dissent/option.h"
#include "tool/arrays.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "io/files/folder.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- memory ---- */

dis_status dis__plan_alloc(dis__plan_memory *memory, void *out, size_t n, size_t size)
{
    void *block;
    DIS_TRY(dis__reserve(&memory->block, &memory->capacity, memory->n, memory->n + 1, sizeof *memory->block));
    DIS_TRY(dis__alloc_zeroed(&block, n, size));
    memory->block[memory->n++] = block;
    *(void **)out = block;
    return DIS_OK;
}

dis_status dis__plan_format_text(dis__plan_memory *memory, const char **out, const char *format, ...)
{
    va_list args;
    char *text;
    va_start(args, format);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) return dis__fail(DIS_EBUG, "the text cannot be formatted");
    DIS_TRY(dis__plan_alloc(memory, &text, (size_t)n + 1, 1));
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    *out = text;
    return DIS_OK;
}

void dis__plan_memory_free(dis__plan_memory *memory)
{
    for (size_t i = 0; i < memory->n; i++) dis__free(memory->block[i]);
    dis__free(memory->block);
    *memory = (dis__plan_memory){0};
}

/* ---- keys ---- */

static const char *key_at(const void *arg, size_t i)
{
    const dis__schema *schema = arg;
    return i < schema->n_fields ? schema->field[i].key : NULL;
}

const dis__field *dis__schema_find(const dis__schema *schema, const char *key)
{
    for (size_t i = 0; i < schema->n_fields; i++)
        if (strcmp(schema->field[i].key, key) == 0) return &schema->field[i];
    return NULL;
}

static const char *article(const dis__schema *schema)
{
    return strchr("aeiou", schema->info.name[0]) ? "an" : "a";
}

dis_status dis__unknown_key(dis__form *form, const dis__schema *schema, const dis__yaml_node *key)
{
    const char *near = dis__name_find_nearest(key->text, key_at, schema);
    char known[600] = "";
    for (size_t i = 0; i < schema->n_fields; i++)
        dis__text_list_append(known, sizeof known, schema->field[i].key, strlen(schema->field[i].key));
    if (near)
        return dis__yaml_fail(form->yaml, key, "unknown key \"%.60s\" of %s %s; did you mean %s? It may have %s",
                              key->text, article(schema), schema->info.name, near, known);
    return dis__yaml_fail(form->yaml, key, "unknown key \"%.60s\" of %s %s; it may have %s", key->text, article(schema),
                          schema->info.name, known);
}

const dis__yaml_node *dis__record_place(const void *record, const char *key)
{
    const dis__yaml_node *at = *(const dis__yaml_node *const *)record, *value = dis__yaml_member(at, key);
    return value ? value : at;
}

/* ---- single values ---- */

/* "file.yaml:3:9: epochs: " and the message. */
static dis_status wrong(dis__form *form, const dis__field *field, const dis__yaml_node *node, const char *must)
{
    if (node->kind == DIS_YAML_TEXT)
        return dis__yaml_fail(form->yaml, node, "%s: \"%.100s\" must be %s", field->key, node->text, must);
    return dis__yaml_fail(form->yaml, node, "%s must be %s, not a %s", field->key, must,
                          node->kind == DIS_YAML_LIST ? "list" : "map");
}

static dis_status text_of(dis__form *form, const dis__field *field, const dis__yaml_node *node, const char **out)
{
    if (node->kind != DIS_YAML_TEXT) return wrong(form, field, node, "a text");
    if (node->plain && (node->length == 0 || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0))
        return dis__yaml_fail(form->yaml, node, "%s has no value; give one or leave the key out", field->key);
    if (field->required && strspn(node->text, " \t\r\n") == node->length)
        return dis__yaml_fail(form->yaml, node, "%s: an empty text; it is needed", field->key);
    *out = node->text;
    return DIS_OK;
}

static dis_status read_count(dis__form *form, const dis__field *field, const dis__yaml_node *node, uint64_t *out)
{
    char must[96], *end;
    snprintf(must, sizeof must, "an integer from %.0f to %.0f", field->low, field->high);
    const char *text = node->text;
    if (node->kind != DIS_YAML_TEXT || text[0] < '0' || text[0] > '9') return wrong(form, field, node, must);
    errno = 0;
    const unsigned long long x = strtoull(text, &end, 10);
    if (*end || errno || (double)x < field->low || (double)x > field->high) return wrong(form, field, node, must);
    *out = x;
    return DIS_OK;
}

static dis_status read_real(dis__form *form, const dis__field *field, const dis__yaml_node *node, double *out)
{
    char must[96];
    double x;
    snprintf(must, sizeof must, "a number from %g to %g", field->low, field->high);
    if (node->kind != DIS_YAML_TEXT || !dis__parse_real(node->text, node->length, &x) || x < field->low ||
        x > field->high)
        return wrong(form, field, node, must);
    *out = x;
    return DIS_OK;
}

static dis_status read_flag(dis__form *form, const dis__field *field, const dis__yaml_node *node, bool *out)
{
    static const char *const words[] = {"no", "yes", "false", "true"};
    for (size_t i = 0; node->kind == DIS_YAML_TEXT && i < sizeof words / sizeof *words; i++)
        if (strcmp(node->text, words[i]) == 0) {
            *out = i % 2;
            return DIS_OK;
        }
    return wrong(form, field, node, "yes or no");
}

static dis_status read_choice(dis__form *form, const dis__field *field, const dis__yaml_node *node, int *out)
{
    char must[160];
    int index = 0;
    for (const char *c = field->choices; node->kind == DIS_YAML_TEXT && *c; index++) {
        const size_t n = strcspn(c, "|");
        if (n == node->length && memcmp(c, node->text, n) == 0) {
            *out = index;
            return DIS_OK;
        }
        c += n + (c[n] == '|');
    }
    snprintf(must, sizeof must, "one of %s", field->choices);
    return wrong(form, field, node, must);
}

/* ---- files ---- */

const dis__missing *dis__missing_within(const dis__form *form, const dis__yaml_node *node)
{
    for (const dis__missing *m = form->missing; m && node; m = m->next)
        if (m->at >= node && m->at < node + node->skip) return m;
    return NULL;
}

/* Records the failure to find a named file, once, and unsets the value. */
static dis_status note_missing(dis__form *form, const dis__yaml_node *node, dis_status status)
{
    if (status != DIS_EIO || !form->lenient) return status;
    if (dis__missing_within(form, node)) return DIS_OK;
    dis__missing *m, **end = &form->missing;
    DIS_TRY(dis__plan_alloc(form->memory, &m, 1, sizeof *m));
    m->at = node;
    DIS_TRY(dis__plan_format_text(form->memory, &m->message, "%s", dis_last_error()));
    while (*end) end = &(*end)->next;
    *end = m;
    return DIS_OK;
}

/* The file may come from someone else: opening a FIFO would block, and a device never ends. */
static dis_status check_file(dis__form *form, const dis__field *field, const dis__yaml_node *node, const char *path)
{
    struct stat st;
    if (dis__os_stat(path, &st) != 0 || S_ISREG(st.st_mode)) return DIS_OK;
    return dis__fail_at(DIS_EDATA, form->yaml->path, node->line, node->column,
                        "%s: %.200s is %s; expected a regular file", field->key, path, dis__file_kind(st.st_mode));
}

static dis_status find_file(dis__form *form, const dis__field *field, const dis__yaml_node *node, const char **out)
{
    const char *name = NULL;
    DIS_TRY(text_of(form, field, node, &name));
    *out = name;
    const char *const folders[] = {form->folder, form->data_folder};
    if (dis__os_is_absolute(name) && dis__os_access(name, R_OK) == 0) return check_file(form, field, node, name);
    for (size_t i = 0; i < 2 && name[0] != '/'; i++) {
        DIS_TRY(dis__plan_format_text(form->memory, out, "%s/%s", folders[i], name));
        if (dis__os_access(*out, R_OK) == 0) return check_file(form, field, node, *out);
    }
    const bool one = dis__os_is_absolute(name) || strcmp(form->folder, form->data_folder) == 0;
    return dis__fail_at(DIS_EIO, form->yaml->path, node->line, node->column,
                        "%s: no file \"%.200s\"%s%.200s%s%.200s; "
                        "`data_folder` or DISSENT_DATA names the folder of the data",
                        field->key, name, dis__os_is_absolute(name) ? "" : " in ",
                        dis__os_is_absolute(name) ? "" : form->folder, one ? "" : " or ", one ? "" : form->data_folder);
}

/* Encoders are large and serve many experiments: DISSENT_ENCODERS names a third folder to search. */
static dis_status find_folder(dis__form *form, const dis__field *field, const dis__yaml_node *node, const char **out)
{
    const char *name = NULL, *encoders = getenv("DISSENT_ENCODERS");
    DIS_TRY(text_of(form, field, node, &name));
    const char *const folders[] = {form->folder, form->data_folder, encoders};
    const size_t n = dis__os_is_absolute(name) ? 1 : encoders && *encoders ? 3 : 2;
    for (size_t i = 0; i < n; i++) {
        if (dis__os_is_absolute(name))
            *out = name;
        else
            DIS_TRY(dis__plan_format_text(form->memory, out, "%s/%s", folders[i], name));
        if (dis__os_access(*out, R_OK) == 0) return DIS_OK;
    }
    return dis__fail_at(
        DIS_EIO, form->yaml->path, node->line, node->column,
        "%s: no folder \"%.200s\"; it is searched in the folder of the file, in the folder of the data (`data_folder`) "
        "and in that of DISSENT_ENCODERS",
        field->key, name);
}

/* ---- lists and maps ---- */

static dis_status read_texts(dis__form *form, const dis__field *field, const dis__yaml_node *node, dis__texts *out)
{
    const bool list = node->kind == DIS_YAML_LIST;
    out->n = list ? node->n : 1;
    if (out->n == 0) return dis__yaml_fail(form->yaml, node, "%s: an empty list", field->key);
    DIS_TRY(dis__plan_alloc(form->memory, &out->text, out->n, sizeof *out->text));
    DIS_TRY(dis__plan_alloc(form->memory, &out->at, out->n, sizeof *out->at));
    const dis__yaml_node *at = list ? node + 1 : node;
    for (size_t i = 0; i < out->n; i++, at += at->skip) {
        out->at[i] = at;
        if (field->kind == DIS_FIELD_FILES)
            DIS_TRY(note_missing(form, at, find_file(form, field, at, &out->text[i])));
        else
            DIS_TRY(text_of(form, field, at, &out->text[i]));
    }
    return DIS_OK;
}

static dis_status read_pairs(dis__form *form, const dis__field *field, const dis__yaml_node *node, dis__text_pairs *out)
{
    if (node->kind != DIS_YAML_MAP || node->n == 0) return wrong(form, field, node, "a map of texts");
    out->n = node->n;
    DIS_TRY(dis__plan_alloc(form->memory, &out->key, out->n, sizeof *out->key));
    DIS_TRY(dis__plan_alloc(form->memory, &out->value, out->n, sizeof *out->value));
    DIS_TRY(dis__plan_alloc(form->memory, &out->at, out->n, sizeof *out->at));
    const dis__yaml_node *at = node + 1;
    for (size_t i = 0; i < out->n; i++) {
        out->key[i] = at->text;
        out->at[i] = at + 1;
        DIS_TRY(text_of(form, field, at + 1, &out->value[i]));
        at += 1 + (at + 1)->skip;
    }
    return DIS_OK;
}

static dis_status read_parts(dis__form *form, const dis__field *field, const dis__yaml_node *node, dis__parts *out)
{
    const bool named = field->kind == DIS_FIELD_NAMED, list = node->kind == DIS_YAML_LIST;
    if (named && (node->kind != DIS_YAML_MAP || node->n == 0)) return wrong(form, field, node, "a map of names");
    out->n = named || list ? node->n : 1;
    out->size = field->part->size;
    if (out->n == 0) return dis__yaml_fail(form->yaml, node, "%s: an empty list", field->key);
    if (named) DIS_TRY(dis__plan_alloc(form->memory, &out->name, out->n, sizeof *out->name));
    DIS_TRY(dis__plan_alloc(form->memory, &out->record, out->n, out->size));
    const dis__yaml_node *at = named || list ? node + 1 : node;
    for (size_t i = 0; i < out->n; i++, at += at->skip) {
        if (named) out->name[i] = at++->text;
        DIS_TRY(dis__record_read(form, field->part, at, dis__part(out, i)));
    }
    return DIS_OK;
}

/* ---- records ---- */

dis_status dis__field_read(dis__form *form, const dis__field *field, const dis__yaml_node *node, void *record)
{
    void *to = (char *)record + field->offset;
    switch (field->kind) {
    case DIS_FIELD_TEXT: return text_of(form, field, node, to);
    case DIS_FIELD_TEXTS:
    case DIS_FIELD_FILES: return read_texts(form, field, node, to);
    case DIS_FIELD_COUNT: return read_count(form, field, node, to);
    case DIS_FIELD_REAL: return read_real(form, field, node, to);
    case DIS_FIELD_FLAG: return read_flag(form, field, node, to);
    case DIS_FIELD_CHOICE: return read_choice(form, field, node, to);
    case DIS_FIELD_FILE: return note_missing(form, node, find_file(form, field, node, to));
    case DIS_FIELD_FOLDER: return note_missing(form, node, find_folder(form, field, node, to));
    case DIS_FIELD_PAIRS: return read_pairs(form, field, node, to);
    case DIS_FIELD_LIST:
    case DIS_FIELD_NAMED: return read_parts(form, field, node, to);
    case DIS_FIELD_NODE: *(const dis__yaml_node **)to = node; return DIS_OK;
    case DIS_FIELD_RECORD:
        DIS_TRY(dis__plan_alloc(form->memory, to, 1, field->part->size));
        return dis__record_read(form, field->part, node, *(void **)to);
    }
    return DIS_OK;
}

dis_status dis__record_defaults(dis__form *form, const dis__schema *schema, void *record)
{
    for (size_t i = 0; i < schema->n_fields; i++) {
        const dis__field *field = &schema->field[i];
        if (!field->fallback) continue;
        const dis__yaml_node node = {.kind = DIS_YAML_TEXT,
                                     .text = field->fallback,
                                     .length = (uint32_t)strlen(field->fallback),
                                     .n = 0,
                                     .skip = 1};
        DIS_TRY(dis__field_read(form, field, &node, record));
    }
    return DIS_OK;
}

static dis_status read_members(dis__form *form, const dis__schema *schema, const dis__yaml_node *node, void *record)
{
    const dis__yaml_node *key = node + 1;
    for (uint32_t i = 0; i < node->n; i++) {
        const dis__field *field = dis__schema_find(schema, key->text);
        if (!field) return dis__unknown_key(form, schema, key);
        DIS_TRY(dis__field_read(form, field, key + 1, record));
        key += 1 + (key + 1)->skip;
    }
    for (size_t i = 0; i < schema->n_fields; i++)
        if (schema->field[i].required && !dis__yaml_member(node, schema->field[i].key))
            return dis__yaml_fail(form->yaml, node, "%s %s needs the key \"%s\": %s", article(schema),
                                  schema->info.name, schema->field[i].key, schema->field[i].summary);
    return DIS_OK;
}

dis_status dis__record_read(dis__form *form, const dis__schema *schema, const dis__yaml_node *node, void *record)
{
    *(const dis__yaml_node **)record = node;
    DIS_TRY(dis__record_defaults(form, schema, record));
    if (node->kind == DIS_YAML_TEXT && schema->alone)
        return dis__field_read(form, dis__schema_find(schema, schema->alone), node, record);
    if (node->kind != DIS_YAML_MAP)
        return dis__yaml_fail(form->yaml, node, "%s %s must be a map of keys and values%s%s%s", article(schema),
                              schema->info.name, schema->alone ? ", or its " : "", schema->alone ? schema->alone : "",
                              schema->alone ? " alone" : "");
    return read_members(form, schema, node, record);
}
