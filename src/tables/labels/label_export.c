/* Soft labels as tools import them, a row per target:
 *
 *   label-studio  a list of predictions; with the export of the project, of its tasks with a prediction each
 *   argilla       a list of records with a suggestion each, as records.from_json reads it
 *   huggingface   a folder that datasets.load_dataset reads: data.jsonl, and a README.md with the features
 *
 * An export that goes along is read record by record (json_records.h); what is copied of it stays as it is written. */
#include "dissent/export.h"
#include "tool/table_columns.h"
#include "tool/arrays.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/numbers/decimal.h"
#include "core/options/sized_structs.h"
#include "core/system_calls.h"
#include "io/files/folder.h"
#include "io/json/json_records.h"
#include "io/output/output_file.h"
#include "io/output/format_fields.h"
#include "tables/labels/dataset_folder.h"
#include "tables/labels/project_controls.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct exporting exporting;
struct exporting {
    dis_context *ctx;
    const dis_labels_view *labels;
    dis_labels_export_options o;
    const char *path;
    dis_export_notes *notes;
    dis__out *out;
    char *room; /* of one text */
    size_t room_capacity;
    bool some; /* of a list: an element is there */
    const struct target *target;
    dis__project_control control; /* the question that the labels answer */
};

/* How the value of a class is written for a type of controls that labels can go back to. */
typedef struct {
    const char *type, *before, *after;
    bool number;
} control_type;

struct target {
    dis_export_target row;
    dis_status (*run)(exporting *e);
    const char *copied;                  /* of a record of the source: what goes along */
    const dis__project_reader *controls; /* of the source; NULL: labels answer no question */
    const control_type *types;           /* up to one without a name; the first is the default */
    const char *type_list;
    /* Item i, as members of an object; `copied` NULL: nothing is copied. */
    dis_status (*record)(exporting *e, size_t i, const char *copied, size_t n);
};

/* ---- pieces ---- */

static dis_status put(exporting *e, const char *text)
{
    return dis__out_write(e->out, text, strlen(text));
}

static dis_status put_text(exporting *e, const char *text, size_t n)
{
    DIS_TRY(dis__reserve(&e->room, &e->room_capacity, 0, DIS_STRING_BYTES(n), 1));
    return dis__out_write(e->out, e->room, (size_t)(dis__format_json_string(e->room, text, n) - e->room));
}

static dis_status put_name(exporting *e, const dis_names *names, size_t i)
{
    size_t n;
    const char *text = dis_names_get(names, i, &n);
    return put_text(e, text, n);
}

static dis_status put_real(exporting *e, double x)
{
    char text[DIS_REAL_TEXT];
    return dis__out_write(e->out, text, dis__format_real(x, text));
}

/* A task id as JSON had it: a number when it is one. */
static dis_status put_id(exporting *e, size_t i)
{
    size_t n;
    const char *text = dis_names_get(e->labels->tasks, i, &n);
    bool number = n > 0 && n < 16 && (text[0] != '0' || n == 1);
    for (size_t k = 0; k < n; k++) number = number && text[k] >= '0' && text[k] <= '9';
    return number ? dis__out_write(e->out, text, n) : put_text(e, text, n);
}

static size_t class_of(const exporting *e, size_t i, double *p)
{
    const double *row = e->labels->p + i * e->labels->n_classes;
    const size_t k = dis__argmax(row, e->labels->n_classes);
    *p = row[k];
    return k;
}

/* ---- targets ---- */

/* How the type of the control writes classes; NULL: labels cannot go to it. */
static const control_type *find_type(const exporting *e)
{
    for (const control_type *t = e->target->types; t->type; t++)
        if (strcmp(t->type, e->control.type) == 0) return t;
    return NULL;
}

static dis_status put_value(exporting *e, const control_type *t, size_t k)
{
    size_t n;
    const char *name = dis_names_get(e->labels->classes, k, &n);
    double x;
    if (t->number && !dis__parse_real(name, n, &x))
        return dis__fail(DIS_EDATA, "the class \"%.100s\" is not a number, but the control %s is of type %s", name,
                         e->o.control, t->type);
    DIS_TRY(put(e, t->before));
    DIS_TRY(t->number ? put_real(e, x) : put_text(e, name, n));
    return put(e, t->after);
}

static dis_status label_studio(exporting *e, size_t i, const char *data, size_t n)
{
    double score;
    const size_t k = class_of(e, i, &score);
    DIS_TRY(put(e, data ? "\"id\":" : "\"task\":"));
    DIS_TRY(put_id(e, i));
    if (data) {
        DIS_TRY(put(e, ",\"data\":"));
        DIS_TRY(dis__out_write(e->out, data, n));
        DIS_TRY(put(e, ",\"predictions\":[{"));
    } else {
        DIS_TRY(put(e, ","));
    }
    DIS_TRY(put(e, "\"model_version\":"));
    DIS_TRY(put_text(e, e->o.model, strlen(e->o.model)));
    DIS_TRY(put(e, ",\"score\":"));
    DIS_TRY(put_real(e, score));
    DIS_TRY(put(e, ",\"result\":[{\"from_name\":"));
    DIS_TRY(put_text(e, e->o.control, strlen(e->o.control)));
    DIS_TRY(put(e, ",\"to_name\":"));
    DIS_TRY(put_text(e, e->o.object, strlen(e->o.object)));
    DIS_TRY(put(e, ",\"type\":"));
    DIS_TRY(put_text(e, e->control.type, strlen(e->control.type)));
    DIS_TRY(put(e, ",\"value\":"));
    DIS_TRY(put_value(e, find_type(e), k));
    return put(e, data ? "}]}]" : "}]");
}

static dis_status argilla(exporting *e, size_t i, const char *fields, size_t n)
{
    double score;
    const size_t k = class_of(e, i, &score);
    DIS_TRY(put(e, "\"id\":"));
    DIS_TRY(put_name(e, e->labels->tasks, i));
    DIS_TRY(put(e, ",\"fields\":"));
    if (fields)
        DIS_TRY(dis__out_write(e->out, fields, n));
    else
        DIS_TRY(put(e, "{}"));
    DIS_TRY(put(e, ",\"suggestions\":{"));
    DIS_TRY(put_text(e, e->o.control, strlen(e->o.control)));
    DIS_TRY(put(e, ":{\"value\":"));
    DIS_TRY(put_value(e, find_type(e), k));
    DIS_TRY(put(e, ",\"score\":"));
    DIS_TRY(put_real(e, score));
    DIS_TRY(put(e, ",\"agent\":"));
    DIS_TRY(put_text(e, e->o.model, strlen(e->o.model)));
    return put(e, "}}");
}

static dis_status begin_record(exporting *e)
{
    const bool some = e->some;
    e->some = true;
    e->notes->n_written++;
    return put(e, some ? ",\n{" : "[\n{");
}

static dis_status write_item(exporting *e, size_t i, const char *copied, size_t n)
{
    DIS_TRY(begin_record(e));
    DIS_TRY(e->target->record(e, i, copied, n));
    return put(e, "}");
}

/* The source at hand. */
typedef struct {
    dis__json_records records;
    dis__json json;
    dis__name_index tasks;
    bool *seen; /* (n_items) */
} source;

/* One record of the source: the value of its key, for the item of its id. */
static dis_status read_record(exporting *e, source *s)
{
    const dis__json_value *root;
    DIS_TRY(dis__json_records_parse(&s->records, &s->json, &root));
    const dis__json_value *id = dis__json_member(root, "id"), *copied = dis__json_member(root, e->target->copied);
    if (!id || !copied || copied->kind != DIS_JSON_OBJECT)
        return dis__json_records_fail(&s->records, root,
                                      "a record without \"%s\"; `source` is the export of the tool itself",
                                      id ? e->target->copied : "id");
    const size_t i = dis__name_index_find(&s->tasks, id->text, id->length);
    if (i == SIZE_MAX || s->seen[i]) {
        e->notes->n_unlabelled += i == SIZE_MAX;
        return DIS_OK;
    }
    s->seen[i] = true;
    return write_item(e, i, s->records.split.text + copied->at, copied->length);
}

static dis_status walk_source(exporting *e, source *s, dis__input *in, dis__csv *places)
{
    bool more;
    size_t twice;
    DIS_TRY(dis__name_index_build(e->labels->tasks, &s->tasks, &twice));
    dis_status status = dis__alloc_zeroed(&s->seen, e->labels->n_items, sizeof *s->seen);
    if (status == DIS_OK) status = dis__json_records_open(&s->records, in, places, NULL, false);
    while (status == DIS_OK && (status = dis__json_records_next(&s->records, &more)) == DIS_OK && more)
        status = read_record(e, s);
    for (size_t i = 0; status == DIS_OK && i < e->labels->n_items; i++) e->notes->n_unknown += !s->seen[i];
    dis__name_index_free(&s->tasks);
    return status;
}

static dis_status from_source(exporting *e)
{
    dis__input in;
    dis__csv places;
    source s = {0};
    DIS_TRY(dis__input_open_stream(e->ctx, e->o.source, &in));
    dis__csv_open(&places, &in, ',');
    const dis_status status = walk_source(e, &s, &in, &places);
    dis__free(s.seen);
    dis__json_free(&s.json);
    dis__csv_close(&places);
    return dis__input_finish(&in, status);
}

static dis_status write_list(exporting *e)
{
    DIS_TRY(dis__out_open(e->path, &e->out));
    dis_status status = DIS_OK;
    if (e->o.source)
        status = from_source(e);
    else
        for (size_t i = 0; i < e->labels->n_items && status == DIS_OK; i++) status = write_item(e, i, NULL, 0);
    if (status == DIS_OK) status = put(e, e->some ? "\n]\n" : "[]\n");
    return dis__out_finish(e->out, status);
}

/* ---- a folder for datasets.load_dataset ---- */

static dis_status hugging_row(exporting *e, size_t i)
{
    const size_t K = e->labels->n_classes;
    double p;
    char label[24];
    snprintf(label, sizeof label, "%zu", class_of(e, i, &p));
    DIS_TRY(put(e, "{\"task\":"));
    DIS_TRY(put_name(e, e->labels->tasks, i));
    if (e->o.text) {
        DIS_TRY(put(e, ",\"text\":"));
        DIS_TRY(put_name(e, e->o.text, i));
    }
    DIS_TRY(put(e, ",\"label\":"));
    DIS_TRY(put(e, label));
    DIS_TRY(put(e, ",\"soft_label\":["));
    for (size_t k = 0; k < K; k++) {
        if (k) DIS_TRY(put(e, ","));
        DIS_TRY(put_real(e, e->labels->p[i * K + k]));
    }
    e->notes->n_written++;
    return put(e, "]}\n");
}

static dis_status hugging_card(exporting *e)
{
    char line[64];
    DIS_TRY(put(e, "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data.jsonl\n"
                   "dataset_info:\n  features:\n  - name: task\n    dtype: string\n"));
    if (e->o.text) DIS_TRY(put(e, "  - name: text\n    dtype: string\n"));
    DIS_TRY(put(e, "  - name: label\n    dtype:\n      class_label:\n        names:\n"));
    for (size_t k = 0; k < e->labels->n_classes; k++) {
        snprintf(line, sizeof line, "          '%zu': ", k);
        DIS_TRY(put(e, line));
        DIS_TRY(put_name(e, e->labels->classes, k)); /* a JSON string is one of YAML */
        DIS_TRY(put(e, "\n"));
    }
    return put(e, "  - name: soft_label\n    sequence: float64\n---\n" DIS_DATASET_NOTE "\n");
}

static dis_status open_in(exporting *e, const char *name, dis__out **out)
{
    char *path;
    DIS_TRY(dis__path_join(e->path, name, &path));
    const dis_status status = dis__out_open(path, out);
    dis__free(path);
    return status;
}

static dis_status write_folder(exporting *e)
{
    dis__out *outs[2] = {NULL, NULL};
    if (dis__sys_mkdir(e->path) != 0 && errno != EEXIST) return dis__fail_io("make the folder", e->path);
    DIS_TRY(dis__dataset_check_folder(e->ctx, e->path));
    dis_status status = open_in(e, "data.jsonl", &outs[0]);
    if (status == DIS_OK) status = open_in(e, "README.md", &outs[1]);
    e->out = outs[0];
    for (size_t i = 0; i < e->labels->n_items && status == DIS_OK; i++) status = hugging_row(e, i);
    e->out = outs[1];
    if (status == DIS_OK) status = hugging_card(e);
    return dis__out_finish_all(outs, 2, status);
}

static const control_type studio_types[] = {{"choices", "{\"choices\":[", "]}", false},
                                            {"taxonomy", "{\"taxonomy\":[[", "]]}", false},
                                            {"rating", "{\"rating\":", "}", true},
                                            {"number", "{\"number\":", "}", true},
                                            {.type = NULL}};
static const control_type argilla_types[] = {{"text", "", "", false},
                                             {"number", "", "", true},
                                             {"list", "[", "]", false},
                                             {.type = NULL}};

static const struct target targets[] = {
    {.row = {.name = "label-studio",
             .summary = "predictions for Label Studio; with a source, tasks to import that include them",
             .source = true},
     .run = write_list,
     .record = label_studio,
     .copied = "data",
     .controls = &dis__studio_controls,
     .types = studio_types,
     .type_list = "choices, taxonomy, rating and number"},
    {.row = {.name = "argilla",
             .summary = "records with suggestions for Argilla 2 (records.from_json)",
             .source = true},
     .run = write_list,
     .record = argilla,
     .copied = "fields",
     .controls = &dis__argilla_questions,
     .types = argilla_types,
     .type_list = "text, number and list"},
    {.row = {.name = "huggingface",
             .summary = "a folder for datasets.load_dataset: label, soft_label and the text",
             .folder = true},
     .run = write_folder},
};
enum { N_TARGETS = sizeof targets / sizeof *targets };

const dis_export_target *dis__export_target_get(size_t i)
{
    return i < N_TARGETS ? &targets[i].row : NULL;
}

DIS_OPTIONS_DEFAULTS(dis_labels_export_options, .size = sizeof(dis_labels_export_options))

static const struct target *find_target(const char *name)
{
    for (size_t i = 0; name && i < N_TARGETS; i++)
        if (strcmp(targets[i].row.name, name) == 0) return &targets[i];
    return NULL;
}

/* The names and the type that the source has; what the caller names wins. */
static dis_status choose_control(exporting *e)
{
    if (!e->target->controls) return DIS_OK;
    snprintf(e->control.type, sizeof e->control.type, "%s", e->target->types->type);
    if (!e->o.source) return DIS_OK;
    const dis_status status =
        dis__project_find_control(e->ctx, e->o.source, e->target->controls, e->o.control, &e->control);
    if (status == DIS_EUSAGE && e->o.control && e->o.object) return DIS_OK; /* a control that was not used yet */
    DIS_TRY(status);
    if (!find_type(e))
        return dis__fail(DIS_EUSAGE, "the control %s is of type %s; labels can be written to %s", e->control.control,
                         e->control.type, e->target->type_list);
    if (!e->o.control) e->o.control = e->control.control;
    if (!e->o.object && *e->control.object) e->o.object = e->control.object;
    return DIS_OK;
}

dis_status dis_labels_export(dis_context *ctx, const dis_labels_view *given, const char *path,
                             const dis_labels_export_options *options, dis_export_notes *notes)
{
    dis_labels_view own = dis_labels_view_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_labels_view, &own, given));
    const dis_labels_view *labels = &own;
    exporting e = {.ctx = ctx, .labels = labels, .path = path, .o = dis_labels_export_options_default()};
    dis_export_notes did = {0};
    DIS_TRY(DIS_OPTIONS_COPY(dis_labels_export_options, &e.o, options));
    e.target = find_target(e.o.target);
    e.notes = &did;
    if (!e.target)
        return dis__fail(DIS_EUSAGE,
                         "labels cannot be written for \"%.60s\"; targets: label-studio, argilla and huggingface",
                         e.o.target ? e.o.target : "");
    if (e.o.source && !e.target->row.source)
        return dis__fail(DIS_EUSAGE, "`source` is an export of Label Studio or Argilla; leave it out for %s",
                         e.o.target);
    DIS_TRY(choose_control(&e));
    if (!e.o.control) e.o.control = "label";
    if (!e.o.object) e.o.object = "text";
    if (!e.o.model) e.o.model = "dissent";
    const dis_status status = e.target->run(&e);
    dis__free(e.room);
    if (status == DIS_OK && notes) *notes = did;
    return status;
}
