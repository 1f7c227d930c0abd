/* Controls of a Label Studio export: see studio_controls.h. Each result of an annotation or prediction names its
 * control, so the first tasks that have some tell all that are in use. */
#include "tables/studio_controls.h"
#include "io/csv.h"
#include "io/json_records.h"
#include <stdio.h>
#include <string.h>

enum { TASKS = 1000, MAX_CONTROLS = 32 };

typedef struct {
    dis__studio_control control[MAX_CONTROLS];
    size_t n;
} control_list;

static bool copy_member(const dis__json_value *result, const char *key, char out[DIS_STUDIO_NAME])
{
    const dis__json_value *v = dis__json_member(result, key);
    if (!v || v->kind != DIS_JSON_STRING || v->length >= DIS_STUDIO_NAME) return false;
    memcpy(out, v->text, v->length);
    out[v->length] = 0;
    return true;
}

static void add_result(control_list *list, const dis__json_value *result)
{
    dis__studio_control c = {0};
    if (result->kind != DIS_JSON_OBJECT || list->n == MAX_CONTROLS) return;
    if (!copy_member(result, "from_name", c.control) || !copy_member(result, "type", c.type)) return;
    (void)copy_member(result, "to_name", c.object); /* "" where the export leaves it out */
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->control[i].control, c.control) == 0) return;
    list->control[list->n++] = c;
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

static dis_status read_controls(dis__json_records *records, dis__json *json, control_list *list)
{
    static const char *const keys[] = {"annotations", "completions", "predictions"};
    for (size_t i = 0; i < TASKS; i++) {
        bool more;
        const dis__json_value *root;
        DIS_TRY(dis__json_records_next(records, &more));
        if (!more) return DIS_OK;
        DIS_TRY(dis__json_records_parse(records, json, &root));
        for (size_t k = 0; k < sizeof keys / sizeof *keys && root->kind == DIS_JSON_OBJECT; k++)
            add_annotations(list, dis__json_member(root, keys[k]));
    }
    return DIS_OK;
}

static dis_status list_controls(dis_context *ctx, const char *path, control_list *list)
{
    dis__input in;
    dis__csv places;
    dis__json json = {0};
    dis__json_records records;
    DIS_TRY(dis__input_open_stream(ctx, path, &in));
    dis__csv_open(&places, &in, ',');
    dis_status status = dis__json_records_open(&records, &in, &places, NULL, false);
    if (status == DIS_OK) status = read_controls(&records, &json, list);
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
        char text[2 * DIS_STUDIO_NAME + 4];
        const int n = snprintf(text, sizeof text, "%s (%s)", list->control[i].control, list->control[i].type);
        dis__list_add(out, room, text, (size_t)n);
    }
}

dis_status dis__studio_find_control(dis_context *ctx, const char *path, const char *name, dis__studio_control *out)
{
    control_list list = {.n = 0};
    char have[400];
    size_t found = SIZE_MAX, n_found = 0;
    DIS_TRY(list_controls(ctx, path, &list));
    for (size_t i = 0; i < list.n; i++) {
        const bool fits =
            name ? strcmp(list.control[i].control, name) == 0 : strcmp(list.control[i].type, "choices") == 0;
        if (fits) found = i;
        n_found += fits;
    }
    show_controls(&list, have, sizeof have);
    if (list.n == 0 && name) return DIS_OK;
    if (list.n == 0)
        return dis__fail(DIS_EUSAGE,
                         "%s has no annotations that name a control; say both names of the labelling configuration: "
                         "`control` (from_name) and `object` (to_name)",
                         path);
    if (n_found != 1 && !name)
        return dis__fail(DIS_EUSAGE, "which control are the labels of? Name it with `control`; %s has: %s", path, have);
    if (n_found != 1)
        return dis__fail(DIS_EUSAGE, "%s has no control \"%.100s\"; name one with `control`: %s", path, name, have);
    *out = list.control[found];
    return DIS_OK;
}
