/* Controls of an export: see project_controls.h. Each answer or prediction names its control, so the first records that
 * have some name all that are in use. */
#include "tables/labels/project_controls.h"
#include "io/csv/csv.h"
#include "io/json/json_records.h"
#include <stdio.h>
#include <string.h>

enum { RECORDS = 1000, MAX_CONTROLS = 32 };

typedef struct {
    dis__project_control control[MAX_CONTROLS];
    size_t n;
} control_list;

struct dis__project_reader {
    void (*add)(control_list *list, const dis__json_value *record);
    const char *type; /* a control that is chosen without a name has this type; NULL: any type */
    const char *word; /* what the tool calls a control */
    dis_status (*fail_none)(const char *path); /* no record names a control */
};

static bool copy_name(const dis__json_value *v, char out[DIS_CONTROL_NAME])
{
    if (!v || v->kind != DIS_JSON_STRING || v->length >= DIS_CONTROL_NAME) return false;
    memcpy(out, v->text, v->length);
    out[v->length] = 0;
    return true;
}

static void add_control(control_list *list, const dis__project_control *c)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->control[i].control, c->control) == 0) return;
    if (list->n < MAX_CONTROLS) list->control[list->n++] = *c;
}

/* ---- Label Studio ---- */

static void add_result(control_list *list, const dis__json_value *result)
{
    dis__project_control c = {0};
    if (result->kind != DIS_JSON_OBJECT || !copy_name(dis__json_member(result, "from_name"), c.control) ||
        !copy_name(dis__json_member(result, "type"), c.type))
        return;
    (void)copy_name(dis__json_member(result, "to_name"), c.object); /* "" where the export leaves it out */
    add_control(list, &c);
}

/* All results in a list of annotations, or of predictions. */
static void add_annotations(control_list *list, const dis__json_value *annotations)
{
    if (!annotations || annotations->kind != DIS_JSON_ARRAY) return;
    const dis__json_value *a = annotations + 1;
    for (uint32_t i = 0; i < annotations->n; i++, a += a->skip) {
        const dis__json_value *results = a->kind == DIS_JSON_OBJECT ? dis__json_member(a, "result") : NULL;
        if (!results || results->kind != DIS_JSON_ARRAY) continue;
        const dis__json_value *r = results + 1;
        for (uint32_t k = 0; k < results->n; k++, r += r->skip) add_result(list, r);
    }
}

static void add_studio_task(control_list *list, const dis__json_value *record)
{
    static const char *const keys[] = {"annotations", "completions", "predictions"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) add_annotations(list, dis__json_member(record, keys[k]));
}

static dis_status fail_no_studio_control(const char *path)
{
    return dis__fail(DIS_EUSAGE,
                     "%s has no annotations that name a control; give both names of the labelling configuration: "
                     "`control` (from_name) and `object` (to_name)",
                     path);
}

const dis__project_reader dis__studio_controls = {.add = add_studio_task,
                                                  .type = "choices",
                                                  .word = "control",
                                                  .fail_none = fail_no_studio_control};

/* ---- Argilla ---- */

/* A suggestion, or the first of the responses to a question. */
static const char *type_of_answer(const dis__json_value *answer)
{
    if (answer->kind == DIS_JSON_ARRAY && answer->n > 0) answer++;
    const dis__json_value *value = answer->kind == DIS_JSON_OBJECT ? dis__json_member(answer, "value") : NULL;
    if (!value) return NULL;
    return value->kind == DIS_JSON_NUMBER ? "number" : value->kind == DIS_JSON_ARRAY ? "list" : "text";
}

static void add_argilla_record(control_list *list, const dis__json_value *record)
{
    static const char *const keys[] = {"responses", "suggestions"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const dis__json_value *questions = dis__json_member(record, keys[k]);
        if (!questions || questions->kind != DIS_JSON_OBJECT) continue;
        const dis__json_value *key = questions + 1;
        for (uint32_t i = 0; i < questions->n; i++) {
            const dis__json_value *answer = key + key->skip;
            const char *type = type_of_answer(answer);
            dis__project_control c = {0};
            if (type && copy_name(key, c.control)) {
                snprintf(c.type, sizeof c.type, "%s", type);
                add_control(list, &c);
            }
            key = answer + answer->skip;
        }
    }
}

static dis_status fail_no_argilla_question(const char *path)
{
    return dis__fail(DIS_EUSAGE, "%s has no responses or suggestions; name the question with `control`", path);
}

const dis__project_reader dis__argilla_questions = {.add = add_argilla_record,
                                                    .word = "question",
                                                    .fail_none = fail_no_argilla_question};

/* ---- both ---- */

static dis_status read_controls(dis__json_records *records, dis__json *json, const dis__project_reader *reader,
                                control_list *list)
{
    for (size_t i = 0; i < RECORDS; i++) {
        bool more;
        const dis__json_value *root;
        DIS_TRY(dis__json_records_next(records, &more));
        if (!more) return DIS_OK;
        DIS_TRY(dis__json_records_parse(records, json, &root));
        if (root->kind == DIS_JSON_OBJECT) reader->add(list, root);
    }
    return DIS_OK;
}

static dis_status list_controls(dis_context *ctx, const char *path, const dis__project_reader *reader,
                                control_list *list)
{
    dis__input in;
    dis__csv places;
    dis__json json = {0};
    dis__json_records records;
    DIS_TRY(dis__input_open_stream(ctx, path, &in));
    dis__csv_open(&places, &in, ',');
    dis_status status = dis__json_records_open(&records, &in, &places, NULL, false);
    if (status == DIS_OK) status = read_controls(&records, &json, reader, list);
    dis__json_free(&json);
    dis__csv_close(&places);
    dis__input_close(&in);
    return status;
}

/* "sentiment (choices), clarity (rating)" */
static void show_controls(const control_list *list, char *out, size_t room)
{
    out[0] = 0;
    for (size_t i = 0; i < list->n; i++) {
        char text[2 * DIS_CONTROL_NAME + 4];
        const int n = snprintf(text, sizeof text, "%s (%s)", list->control[i].control, list->control[i].type);
        dis__text_list_append(out, room, text, (size_t)n);
    }
}

static bool fits(const dis__project_control *c, const dis__project_reader *reader, const char *name)
{
    if (name) return strcmp(c->control, name) == 0;
    return !reader->type || strcmp(c->type, reader->type) == 0;
}

dis_status dis__project_find_control(dis_context *ctx, const char *path, const dis__project_reader *reader,
                                     const char *name, dis__project_control *out)
{
    control_list list = {.n = 0};
    char have[400];
    size_t found = 0, n_found = 0;
    DIS_TRY(list_controls(ctx, path, reader, &list));
    for (size_t i = 0; i < list.n; i++)
        if (fits(&list.control[i], reader, name)) found = i, n_found++;
    show_controls(&list, have, sizeof have);
    if (list.n == 0 && name) return DIS_OK;
    if (list.n == 0) return reader->fail_none(path);
    if (n_found != 1 && !name)
        return dis__fail(DIS_EUSAGE, "several %ss; name the one of the labels with `control`; %s has: %s", reader->word,
                         path, have);
    if (n_found != 1)
        return dis__fail(DIS_EUSAGE, "%s has no %s \"%.100s\"; name one with `control`: %s", path, reader->word, name,
                         have);
    *out = list.control[found];
    return DIS_OK;
}
