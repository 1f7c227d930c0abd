/* A trained encoder as a folder that transformers loads: config.json with the classes, the tokenizer's files, and
 * model.safetensors with the names of the family (of its multiple choice, where the model chooses). Of two heads the
 * first is the classifier. Nothing is copied but
 * the LoRA update more of: arrays of queries, keys and values are parts of one. */
#include "tool/json_writer.h"
#include "train/models/encoder_model.h"
#include "core/memory/memory.h"
#include "core/system_calls.h"
#include "io/files/folder.h"
#include "io/output/output_file.h"
#include "io/tensors/safetensors.h"
#include "tokens/tokenizer_internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 192 };

typedef struct {
    const dis_model *model;
    const dis__pretrained_encoder *e;
    char (*name)[NAME];
    dis__tensor *tensor;
    float **merged; /* (weights): with the LoRA update; NULL: none of those, or not asked for yet */
    size_t n, room;
} exported;

/* ---- numbers ---- */

static dis_status add_array(exported *x, const char *array, const char *param, size_t part, size_t parts)
{
    const dis__model_weights *w = &x->model->weights;
    size_t i = 0;
    while (i < w->n && strcmp(w->info[i].name, param) != 0) i++;
    if (i == w->n) return DIS_OK; /* a layer that this model does without */
    if (x->n == x->room) return dis__fail(DIS_EBUG, "more arrays than there are names");
    if (!x->merged[i]) DIS_TRY(dis__encoder_merge_lora_weight(x->model, i, &x->merged[i]));
    const float *value = x->merged[i] ? x->merged[i] : w->value[i];
    dis__tensor *t = &x->tensor[x->n];
    snprintf(x->name[x->n], NAME, "%s", array);
    *t = (dis__tensor){.name = x->name[x->n],
                       .name_length = strlen(array),
                       .dtype = dis__dtype_find("F32", 3),
                       .n_dims = w->info[i].n_dims,
                       .n = w->info[i].n / parts,
                       .data = value + part * (w->info[i].n / parts)};
    memcpy(t->dim, w->info[i].dim, t->n_dims * sizeof *t->dim);
    t->dim[0] /= parts;
    x->n++;
    return DIS_OK;
}

static dis_status add_layer(exported *x, const char *array, const char *layer, const dis__encoder_array *a)
{
    static const char *const what[] = {"weight", "bias"};
    for (size_t i = 0; i < (a->bare ? 1 : 2); i++) {
        char from[NAME], to[NAME];
        snprintf(to, sizeof to, "%s%s.%s", array, a->array, what[i]);
        snprintf(from, sizeof from, "%s%s.%s", layer, a->layer, what[i]);
        DIS_TRY(add_array(x, to, from, a->part, a->parts));
    }
    return DIS_OK;
}

static bool chooses(const exported *x)
{
    return ((const dis__encoder_settings *)x->model->settings)->choices > 0;
}

static dis_status add_all(exported *x)
{
    const dis__encoder_family *f = x->e->config.family;
    const dis__encoder_pooler *on = chooses(x) ? &f->choice : &f->top;
    for (const dis__encoder_array *a = f->embeddings; a->array; a++) DIS_TRY(add_layer(x, f->prefix, "encoder.", a));
    for (size_t l = 0; l < x->e->config.n_layers; l++) {
        char array[NAME], layer[NAME];
        snprintf(array, sizeof array, "%s%s%zu.", f->prefix, f->layer, l);
        snprintf(layer, sizeof layer, "encoder.layer.%zu.", l);
        for (const dis__encoder_array *a = f->in_layer; a->array; a++) DIS_TRY(add_layer(x, array, layer, a));
    }
    const dis__encoder_array top = {on->array, "top", 0, 1, false};
    const dis__encoder_array out = {x->e->n_texts ? on->out : "classifier", "out", 0, 1, false};
    DIS_TRY(add_layer(x, on->pretrained ? f->prefix : "", "", &top));
    return add_layer(x, "", "", &out);
}

#define WRITTEN_BY "written_by"

static dis_status write_numbers(exported *x, const char *folder)
{
    static const char *const metadata[][2] = {{"format", "pt"}, {WRITTEN_BY, "dissent"}};
    char *path;
    dis__out *out;
    DIS_TRY(dis__path_join(folder, "model.safetensors", &path));
    dis_status status = dis__out_open(path, &out);
    if (status == DIS_OK) status = dis__out_finish(out, dis__safetensors_write(out, x->tensor, x->n, metadata, 2));
    dis__free(path);
    return status;
}

/* ---- config.json ---- */

static const dis__json_value *copy_value(dis__json_writer *j, const dis__json_value *v)
{
    const dis__json_value *at = v + 1;
    switch (v->kind) {
    case DIS_JSON_NULL: dis__json_writer_null(j); break;
    case DIS_JSON_FALSE:
    case DIS_JSON_TRUE: dis__json_writer_bool(j, v->kind == DIS_JSON_TRUE); break;
    case DIS_JSON_NUMBER: dis__json_writer_real(j, v->number); break;
    case DIS_JSON_STRING: dis__json_writer_text_n(j, v->text, v->length); break;
    case DIS_JSON_ARRAY:
        dis__json_writer_begin_array(j);
        for (uint32_t i = 0; i < v->n; i++) at = copy_value(j, at);
        dis__json_writer_end_array(j);
        break;
    case DIS_JSON_OBJECT:
        dis__json_writer_begin_object(j);
        for (uint32_t i = 0; i < v->n; i++) {
            char key[NAME];
            snprintf(key, sizeof key, "%.*s", (int)at->length, at->text);
            dis__json_writer_key(j, key);
            at = copy_value(j, at + 1);
        }
        dis__json_writer_end_object(j);
        break;
    }
    return v + v->skip;
}

static void put_classes(const exported *x, dis__json_writer *j)
{
    const dis_names *classes = x->model->classes;
    char number[24];
    dis__json_writer_key(j, "id2label");
    dis__json_writer_begin_object(j);
    for (size_t k = 0; k < dis_names_count(classes); k++) {
        snprintf(number, sizeof number, "%zu", k);
        dis__json_writer_key(j, number);
        dis__json_writer_text(j, dis_names_get(classes, k, NULL));
    }
    dis__json_writer_end_object(j);
    dis__json_writer_key(j, "label2id");
    dis__json_writer_begin_object(j);
    for (size_t k = 0; k < dis_names_count(classes); k++) {
        dis__json_writer_key(j, dis_names_get(classes, k, NULL));
        dis__json_writer_count(j, k);
    }
    dis__json_writer_end_object(j);
}

static void put_config(const exported *x, dis__json_writer *j, const dis__json_value *root)
{
    static const char *const replaced[] = {"architectures", "id2label",    "label2id", "num_labels",
                                           "problem_type",  "torch_dtype", "dtype"};
    char class[NAME];
    const dis__json_value *at = root + 1;
    dis__json_writer_begin_object(j);
    for (uint32_t i = 0; i < root->n; i++, at += 1 + at[1].skip) {
        char key[NAME];
        bool ours = false;
        snprintf(key, sizeof key, "%.*s", (int)at->length, at->text);
        for (size_t r = 0; r < sizeof replaced / sizeof *replaced; r++) ours |= strcmp(key, replaced[r]) == 0;
        if (ours) continue;
        dis__json_writer_key(j, key);
        copy_value(j, at + 1);
    }
    snprintf(class, sizeof class, "%sFor%s", x->e->config.family->class,
             chooses(x)      ? "MultipleChoice"
             : x->e->n_texts ? "SequenceClassification"
                             : "TokenClassification");
    dis__json_writer_key(j, "architectures");
    dis__json_writer_begin_array(j);
    dis__json_writer_text(j, class);
    dis__json_writer_end_array(j);
    dis__json_writer_key(j, "dtype");
    dis__json_writer_text(j, "float32");
    put_classes(x, j);
    dis__json_writer_end_object(j);
}

static dis_status write_config(const exported *x, const char *folder)
{
    char *path;
    dis__json_writer *j;
    dis__json json = {0};
    const dis__json_value *root;
    const dis__json_position place = {.file = "config.json", .line = 1, .column = 1};
    DIS_TRY(dis__path_join(folder, "config.json", &path));
    dis_status status = dis__json_parse(&json, x->e->file[0], x->e->n_file[0], &place, &root);
    if (status == DIS_OK) status = dis__json_writer_create(path, &j);
    if (status == DIS_OK) {
        put_config(x, j, root);
        status = dis__json_writer_finish(j, DIS_OK);
    }
    dis__json_free(&json);
    dis__free(path);
    return status;
}

/* ---- the folder ---- */

static dis_status write_tokenizer(const exported *x, const char *folder)
{
    static const char *const file_names[] = DIS_ENCODER_FILES;
    for (size_t i = 1; i < DIS_ENCODER_N_FILES; i++) {
        char *path;
        dis__out *out;
        if (!x->e->file[i]) continue;
        DIS_TRY(dis__path_join(folder, file_names[i], &path));
        dis_status status = dis__out_open(path, &out);
        if (status == DIS_OK) status = dis__out_finish(out, dis__out_write(out, x->e->file[i], x->e->n_file[i]));
        dis__free(path);
        DIS_TRY(status);
    }
    return DIS_OK;
}

/* Whether model.safetensors is that of an earlier export. */
static dis_status is_own_export(const char *path, bool *own)
{
    dis__input in;
    dis__safetensors file;
    *own = false;
    const dis_status opened = dis__input_open(NULL, path, &in);
    if (opened == DIS_EDATA) return DIS_OK;
    DIS_TRY(opened);
    if (dis__safetensors_open(path, in.bytes, in.n, &file) == DIS_OK) {
        const dis__json_value *by = dis__safetensors_metadata(&file, WRITTEN_BY);
        *own = by && dis__json_equals(by, "dissent");
        dis__safetensors_close(&file);
    }
    return dis__input_finish(&in, DIS_OK);
}

/* Weights and settings of an encoder that dissent did not write stay. */
static dis_status check_folder(const char *folder)
{
    static const char *const files[] = {"model.safetensors", "config.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bool exists, own = false;
        char *path;
        DIS_TRY(dis__file_exists(folder, files[i], &exists));
        if (!exists) continue;
        DIS_TRY(dis__path_join(folder, files[i], &path));
        dis_status status = i == 0 ? is_own_export(path, &own) : DIS_OK;
        if (status == DIS_OK && !own) status = dis__fail_foreign_file(path);
        dis__free(path);
        return status;
    }
    return DIS_OK;
}

dis_status dis__encoder_export(const dis_model *model, const char *folder)
{
    exported x = {.model = model, .e = model->encoder};
    dis_status status;
    x.room = 16 * (x.e->config.n_layers + 2);
    if (dis__sys_mkdir(folder) != 0 && errno != EEXIST) return dis__fail_io("make the folder", folder);
    DIS_TRY(check_folder(folder));
    DIS_TRY_GOTO(status, dis__alloc_array(&x.name, x.room, sizeof *x.name), end);
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&x.tensor, x.room, sizeof *x.tensor), end);
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&x.merged, model->weights.n, sizeof *x.merged), end);
    DIS_TRY_GOTO(status, add_all(&x), end);
    DIS_TRY_GOTO(status, write_tokenizer(&x, folder), end);
    DIS_TRY_GOTO(status, write_numbers(&x, folder), end);
    status = write_config(&x, folder);
end:
    for (size_t i = 0; x.merged && i < model->weights.n; i++) dis__free(x.merged[i]);
    dis__free(x.merged);
    dis__free(x.tensor);
    dis__free(x.name);
    return status;
}
