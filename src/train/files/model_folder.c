/* A model's folder: model.json says what it is (model, objective, classes, vocabulary, curve) and names the file of its
 * numbers. That file is written first, so model.json never names one that is not whole; the one that an older
 * model.json named is removed last. Two digests tie the files together: weights_sha256 is that of the file of numbers
 * (what sha256sum gives), and that file holds the digest of everything in model.json that gives the numbers their
 * meaning, classes and vocabulary in their order among it.
 *
 * Schema 1 had a digest of names, shapes and numbers in weights_sha256 and none of the meaning; it is still read. */
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include "dissent/version.h"
#include "tool/method_checks.h"
#include "tool/json_writer.h"
#include "io/files/folder.h"
#include "io/input/input.h"
#include "io/tensors/safetensors.h"
#include "nn/devices.h"
#include "nn/load_weights.h"
#include "train/model.h"
#include "train/files/model_digest.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OLD_SCHEMA = 1, SCHEMA = 2, HEX = DIS_MODEL_HEX, SHORT = 16, FILE_NAME = 64 };
#define MODEL_FORMAT "dissent-model"
#define MEANING      "meaning_sha256"

/* ---- writing ---- */

static void put_curve(dis__json_writer *j, const dis_model *m)
{
    dis__json_writer_key(j, "curve");
    dis__json_writer_begin_array(j);
    for (size_t e = 0; e < m->n_epochs; e++) {
        dis__json_writer_begin_object(j);
        dis__json_writer_key(j, "loss");
        dis__json_writer_real(j, m->epoch[e].loss);
        dis__json_writer_key(j, "rate");
        dis__json_writer_real(j, m->epoch[e].rate);
        dis__json_writer_key(j, "dev");
        dis__json_writer_real(j, m->epoch[e].dev);
        dis__json_writer_key(j, "dev_cross_entropy");
        dis__json_writer_real(j, m->epoch[e].dev_cross_entropy);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

static dis_status write_json(const dis_model *m, const char *folder, const char *path, const char *weights,
                             const char *hex)
{
    dis__json_writer *j;
    DIS_TRY(dis__json_writer_create(path, &j));
    dis__json_writer_begin_object(j);
    dis__model_json_write_text(j, "format", MODEL_FORMAT);
    dis__model_json_write_count(j, "schema_version", SCHEMA);
    dis__model_json_write_text(j, "version", dis_version());
    dis__model_json_write_text(j, "model", m->spec);
    dis__model_json_write_text(j, "objective", m->objective);
    dis__model_json_write_count(j, "seed", m->seed);
    if (strcmp(m->device->row->machine, "cpu") != 0) { /* otherwise on the CPU, in float32 */
        dis__model_json_write_text(j, "device", m->device->row->machine);
        dis__model_json_write_text(j, "precision", dis__device_precision(m->device));
    }
    dis__model_json_write_names(j, "classes", m->classes);
    if (m->workers) dis__model_json_write_names(j, "workers", m->workers);
    if (m->features.width) dis__worker_features_write(&m->features, dis_names_count(m->workers), j);
    dis__model_json_write_text(j, "weights", weights);
    dis__model_json_write_text(j, "weights_sha256", hex);
    dis__model_json_write_count(j, "parameters", m->n_parameters);
    dis__model_json_write_count(j, "examples", m->n_examples);
    dis__model_json_write_count(j, "left_out", m->n_left_out);
    dis__model_json_write_text(j, "kept_by", m->keep);
    dis__model_json_write_count(j, "best_epoch", m->best_epoch);
    put_curve(j, m);
    dis__json_writer_key(j, "encoder");
    dis__json_writer_begin_object(j);
    const dis_status status = m->row->save(m->encoder, j, folder);
    dis__json_writer_end_object(j);
    dis__json_writer_end_object(j);
    return dis__json_writer_finish(j, status);
}

static dis_status list_tensors(const dis_model *m, dis__tensor **out)
{
    dis__tensor *t;
    DIS_TRY(dis__alloc_zeroed(&t, m->weights.n, sizeof *t));
    for (size_t i = 0; i < m->weights.n; i++) {
        const dis__param_info *info = &m->weights.info[i];
        t[i] = (dis__tensor){.name = info->name,
                             .name_length = strlen(info->name),
                             .dtype = dis__dtype_find("F32", 3),
                             .n_dims = info->n_dims,
                             .n = info->n,
                             .data = m->weights.value[i]};
        memcpy(t[i].dim, info->dim, info->n_dims * sizeof *info->dim);
    }
    *out = t;
    return DIS_OK;
}

static dis_status write_weights(const dis_model *m, const char *path, const char *meaning, char hex[HEX + 1])
{
    dis__tensor *tensors;
    const char *const metadata[][2] = {{"format", MODEL_FORMAT}, {MEANING, meaning}};
    DIS_TRY(list_tensors(m, &tensors));
    dis__out *out;
    dis_status status = dis__out_open(path, &out);
    if (status == DIS_OK) {
        status = dis__safetensors_write(out, tensors, m->weights.n, metadata, 2);
        status = dis__out_finish(out, status);
    }
    dis__free(tensors);
    return status == DIS_OK ? dis__sha256_file(path, hex) : status;
}

/* "weights-....safetensors": nothing else in the folder is ever removed. */
static bool is_weights_name(const dis__json_value *v)
{
    static const char begin[] = "weights-", end[] = ".safetensors";
    const size_t n_begin = sizeof begin - 1, n_end = sizeof end - 1;
    return v->kind == DIS_JSON_STRING && v->length < FILE_NAME && !memchr(v->text, '/', v->length) &&
           v->length > n_begin + n_end && memcmp(v->text, begin, n_begin) == 0 &&
           memcmp(v->text + v->length - n_end, end, n_end) == 0;
}

/* What an older model.json names; "" when there is none that makes sense. DIS_EUSAGE: it is not one of dissent. */
static dis_status old_weights(dis_context *ctx, const char *path, char name[FILE_NAME])
{
    dis__input in;
    dis__json json = {0};
    const dis__json_value *root, *v;
    const dis__json_position place = {.file = path};
    name[0] = 0;
    if (dis__os_access(path, F_OK) != 0) return DIS_OK;
    DIS_TRY(dis__input_open_regular(ctx, path, DIS_MODEL_FILE, &in));
    dis_status status = dis__json_parse(&json, in.bytes, in.n, &place, &root);
    const dis__json_value *format = status == DIS_OK ? dis__json_member(root, "format") : NULL;
    if (status == DIS_OK && (!format || !dis__json_equals(format, MODEL_FORMAT))) {
        status = dis__fail_foreign_file(path);
    } else if (status == DIS_OK && (v = dis__json_member(root, "weights")) && is_weights_name(v)) {
        memcpy(name, v->text, v->length);
        name[v->length] = 0;
    }
    dis__json_free(&json);
    status = dis__input_finish(&in, status);
    return status == DIS_EDATA ? DIS_OK : status; /* a damaged one is replaced */
}

static dis_status remove_file(const char *folder, const char *name)
{
    char *path;
    DIS_TRY(dis__path_join(folder, name, &path));
    dis__os_remove_file(path); /* a file too many does no harm */
    dis__free(path);
    return DIS_OK;
}

dis_status dis__model_check_folder(dis_context *ctx, const char *folder)
{
    char old[FILE_NAME], *json;
    DIS_TRY(dis__path_join(folder, "model.json", &json));
    const dis_status status = old_weights(ctx, json, old);
    dis__free(json);
    return status;
}

dis_status dis_model_write(dis_context *ctx, const dis_model *model, const char *folder)
{
    char meaning[HEX + 1], hex[HEX + 1], name[FILE_NAME], old[FILE_NAME], *json = NULL, *weights = NULL;
    dis_status status = DIS_OK;
    if (dis__sys_mkdir(folder) != 0 && errno != EEXIST) return dis__fail_io("make the folder", folder);
    dis__model_hash_metadata(model, meaning);
    dis__model_hash_weights(model, meaning, hex);
    snprintf(name, sizeof name, "weights-%.*s.safetensors", SHORT, hex);
    DIS_TRY_GOTO(status, dis__path_join(folder, "model.json", &json), end);
    DIS_TRY_GOTO(status, dis__path_join(folder, name, &weights), end);
    DIS_TRY_GOTO(status, old_weights(ctx, json, old), end);
    DIS_TRY_GOTO(status, write_weights(model, weights, meaning, hex), end);
    DIS_TRY_GOTO(status, write_json(model, folder, json, name, hex), end);
    if (*old && strcmp(old, name) != 0) status = remove_file(folder, old);
end:
    dis__free(json);
    dis__free(weights);
    return status;
}

/* ---- reading ---- */

static dis_status read_schema(dis__model_json *s)
{
    DIS_TRY(dis__model_json_read_count(s, s->root, "schema_version", &s->schema));
    if (s->schema >= OLD_SCHEMA && s->schema <= SCHEMA) return DIS_OK;
    return dis__json_fail(&s->json, dis__json_member(s->root, "schema_version"),
                          "schema version %zu, but dissent %s reads %d and %d; use the version that wrote the model",
                          s->schema, dis_version(), OLD_SCHEMA, SCHEMA);
}

static dis_status read_classes(const dis__model_json *s, dis_names **out)
{
    DIS_TRY(dis__model_json_read_names(s, s->root, "classes", out));
    if (!*out) return dis__json_fail(&s->json, s->root, "a model without classes");
    size_t twice;
    DIS_TRY(dis__names_find_duplicate(*out, &twice));
    if (twice == SIZE_MAX) return DIS_OK;
    return dis__json_fail(&s->json, dis__json_member(s->root, "classes"), "the class \"%.40s\" twice",
                          dis_names_get(*out, twice, NULL));
}

static double number_of(const dis__json_value *object, const char *key)
{
    const dis__json_value *v = dis__json_member(object, key);
    return v && v->kind == DIS_JSON_NUMBER ? v->number : NAN;
}

static dis_status read_curve(const dis__model_json *s, dis_model *m)
{
    const dis__json_value *v;
    DIS_TRY(dis__model_json_member(s, s->root, "curve", DIS_JSON_ARRAY, &v));
    DIS_TRY(dis__alloc_zeroed(&m->epoch, v->n, sizeof *m->epoch));
    const dis__json_value *e = v + 1;
    for (uint32_t i = 0; i < v->n; i++, e += e->skip)
        m->epoch[m->n_epochs++] = (dis_epoch){.loss = number_of(e, "loss"),
                                              .rate = number_of(e, "rate"),
                                              .dev = number_of(e, "dev"),
                                              .dev_cross_entropy = number_of(e, "dev_cross_entropy")};
    if (m->best_epoch >= m->n_epochs) return dis__json_fail(&s->json, v, "the best epoch is not in the curve");
    return DIS_OK;
}

static dis_status read_encoder(const dis__model_json *s, const char *folder, dis_model *m)
{
    const dis__json_value *of;
    DIS_TRY(dis__model_json_member(s, s->root, "encoder", DIS_JSON_OBJECT, &of));
    return m->row->load(s, of, folder, m->encoder);
}

/* A model or an objective that does not exist is damaged data here, not a mistake of the caller. */
static dis_status create(const dis__model_json *s, const char *spec, const char *objective, dis_model **out)
{
    const dis_status status = dis__model_create(spec, objective, out);
    if (status != DIS_EUSAGE) return status;
    char reason[400];
    snprintf(reason, sizeof reason, "%s", dis_last_error());
    return dis__json_fail(&s->json, s->root, "%s; the file was changed after dissent wrote it", reason);
}

static dis_status read_model(dis__model_json *s, const char *folder, dis_model **out, char **weights, char **hex)
{
    char *format = NULL, *spec = NULL, *objective = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__model_json_read_text(s, s->root, "format", &format), end);
    if (strcmp(format, MODEL_FORMAT) != 0)
        DIS_TRY_GOTO(status, dis__json_fail(&s->json, s->root, "not a model that dissent has written"), end);
    DIS_TRY_GOTO(status, read_schema(s), end);
    DIS_TRY_GOTO(status, dis__model_json_read_text(s, s->root, "model", &spec), end);
    DIS_TRY_GOTO(status, dis__model_json_read_text(s, s->root, "objective", &objective), end);
    DIS_TRY_GOTO(status, dis__model_json_read_text(s, s->root, "weights", weights), end);
    DIS_TRY_GOTO(status, dis__model_json_read_text(s, s->root, "weights_sha256", hex), end);
    DIS_TRY_GOTO(status, create(s, spec, objective, out), end);
    dis_model *m = *out;
    const dis__json_value *keep = dis__json_member(s->root, "kept_by");
    if (keep && keep->kind == DIS_JSON_STRING)
        DIS_TRY_GOTO(status, dis__copy_text(&m->keep, keep->text, keep->length), end);
    DIS_TRY_GOTO(status, dis__model_json_read_seed(s, s->root, "seed", &m->seed), end);
    DIS_TRY_GOTO(status, dis__model_json_read_count(s, s->root, "parameters", &m->n_parameters), end);
    DIS_TRY_GOTO(status, dis__model_json_read_count(s, s->root, "examples", &m->n_examples), end);
    DIS_TRY_GOTO(status, dis__model_json_read_count(s, s->root, "left_out", &m->n_left_out), end);
    DIS_TRY_GOTO(status, dis__model_json_read_count(s, s->root, "best_epoch", &m->best_epoch), end);
    DIS_TRY_GOTO(status, read_classes(s, &m->classes), end);
    if (dis__json_member(s->root, "workers"))
        DIS_TRY_GOTO(status, dis__model_json_read_names(s, s->root, "workers", &m->workers), end);
    if (m->workers && dis__json_member(s->root, "worker_features"))
        DIS_TRY_GOTO(status, dis__worker_features_read(s, dis_names_count(m->workers), &m->features), end);
    DIS_TRY_GOTO(status, read_curve(s, m), end);
    status = read_encoder(s, folder, m);
end:
    dis__free(format);
    dis__free(spec);
    dis__free(objective);
    return status;
}

/* Numbers of a large file are used where they lie. */
static bool can_map(const dis__safetensors *file, const dis__input *in)
{
    enum { LARGE = 8 << 20 };
    for (size_t i = 0; i < file->n_tensors; i++)
        if ((uintptr_t)file->tensors[i].data % _Alignof(float)) return false;
    return in->map && in->n >= LARGE;
}

static dis_status load_values(const dis__tensor *t, bool mapped, float **out)
{
    if (mapped) {
        *out = (float *)(uintptr_t)t->data;
        return DIS_OK;
    }
    DIS_TRY(dis__alloc_array(out, t->n, sizeof **out));
    memcpy(*out, t->data, t->n * sizeof **out);
    return DIS_OK;
}

/* Where the model uses the file's numbers, *in is the model's from now on. */
static dis_status read_tensors(const dis__safetensors *file, const char *path, const dis__input *in, dis_model *m)
{
    dis__model_weights *w = &m->weights;
    const bool mapped = can_map(file, in);
    DIS_TRY(dis__alloc_zeroed(&w->info, file->n_tensors, sizeof *w->info));
    DIS_TRY(dis__alloc_zeroed(&w->value, file->n_tensors, sizeof *w->value));
    for (size_t i = 0; i < file->n_tensors; i++) {
        const dis__tensor *t = &file->tensors[i];
        if (t->name_length >= DIS_NET_NAME || t->n_dims > DIS_PARAM_DIMS || strcmp(t->dtype->name, "F32") != 0)
            return dis__fail_at(DIS_EDATA, path, 0, 0, "an array that models of dissent do not have");
        memcpy(w->info[i].name, t->name, t->name_length);
        w->info[i].n_dims = t->n_dims;
        memcpy(w->info[i].dim, t->dim, t->n_dims * sizeof *t->dim);
        w->info[i].n = t->n;
        DIS_TRY(load_values(t, mapped, &w->value[i]));
        if (!mapped) w->n = i + 1;
        if (!dis__all_finite(w->value[i], t->n))
            return dis__fail_at(DIS_EDATA, path, 0, 0, "%s has a number that is not finite", w->info[i].name);
    }
    w->n = file->n_tensors;
    if (mapped) {
        DIS_TRY(dis__copy_text(&w->path, path, strlen(path)));
        w->file = *in;
        w->file.path = w->path; /* that of `in` is the caller's */
    }
    return DIS_OK;
}

/* Whether the numbers in `in` are those that model.json was written with, and mean what it says. */
static dis_status check_weights(const dis__safetensors *file, const dis__input *in, const char *json, size_t schema,
                                const char *hex, const dis_model *m)
{
    char have[HEX + 1], meaning[HEX + 1];
    if (schema == OLD_SCHEMA) {
        dis__model_hash_weights(m, "", have);
    } else {
        dis__sha256 sha;
        dis__sha256_init(&sha);
        dis__sha256_update(&sha, in->bytes, in->n);
        dis__sha256_hex(&sha, have);
    }
    if (strcmp(have, hex) != 0)
        return dis__fail_at(DIS_EDATA, in->path, 0, 0,
                            "its weights do not match model.json; the file was damaged or replaced");
    if (schema == OLD_SCHEMA) return DIS_OK;
    const dis__json_value *metadata = dis__safetensors_metadata(file, MEANING);
    dis__model_hash_metadata(m, meaning);
    if (metadata && metadata->length == HEX && memcmp(metadata->text, meaning, HEX) == 0) return DIS_OK;
    return dis__fail_at(DIS_EDATA, json, 0, 0,
                        "classes, words or settings are not those that the model was trained with, or are in another "
                        "order; the model was changed after dissent wrote it");
}

static dis_status read_weights(dis_context *ctx, const char *path, const char *json, size_t schema, const char *hex,
                               dis_model *m)
{
    dis__input in;
    dis__safetensors file;
    DIS_TRY(dis__input_open_regular(ctx, path, SIZE_MAX / 2, &in));
    dis_status status = dis__safetensors_open(path, in.bytes, in.n, &file);
    if (status == DIS_OK) {
        status = read_tensors(&file, path, &in, m);
        if (status == DIS_OK) status = check_weights(&file, &in, json, schema, hex, m);
        dis__safetensors_close(&file);
    }
    status = dis__input_check(&in, status);
    if (!m->weights.file.map) dis__input_close(&in);
    return status;
}

static dis_status load(dis_context *ctx, const char *folder, const char *path, dis_model **out)
{
    dis__input in;
    dis__model_json s = {.path = path};
    char *name = NULL, *hex = NULL, *weights = NULL;
    const dis__json_position place = {.file = path, .line = 1, .column = 1};
    DIS_TRY(dis__input_open_regular(ctx, path, DIS_MODEL_FILE, &in));
    dis_status status = dis__json_parse(&s.json, in.bytes, in.n, &place, &s.root);
    if (status == DIS_OK) status = read_model(&s, folder, out, &name, &hex);
    if (status == DIS_OK && strchr(name, '/'))
        status = dis__fail_at(DIS_EDATA, path, 0, 0, "the file of weights must be in the model's folder");
    if (status == DIS_OK) status = dis__path_join(folder, name, &weights);
    if (status == DIS_OK) status = read_weights(ctx, weights, path, s.schema, hex, *out);
    dis__free(name);
    dis__free(hex);
    dis__free(weights);
    dis__json_free(&s.json);
    return dis__input_finish(&in, status);
}

/* The caller may pass a file, or a folder of another kind. */
static dis_status check_folder(const char *folder)
{
    bool mapped;
    DIS_TRY(dis__file_exists(folder, "model.json", &mapped));
    if (mapped) return DIS_OK;
    return dis__fail(DIS_EIO, "%s: not a model; a model is a folder written by dissent train, with a model.json",
                     folder);
}

dis_status dis_model_read(dis_context *ctx, const char *folder, dis_model **out)
{
    char *path;
    dis_model *model = NULL;
    DIS_TRY(check_folder(folder));
    DIS_TRY(dis__path_join(folder, "model.json", &path));
    const dis_status status = load(ctx, folder, path, &model);
    dis__free(path);
    if (status != DIS_OK) {
        dis_model_destroy(model);
        return status;
    }
    *out = model;
    return DIS_OK;
}

dis_status dis_model_export(const dis_model *model, const char *folder)
{
    if (model->row->export) return model->row->export(model, folder);
    return dis__fail(DIS_EUSAGE, "the model %s cannot be exported to other software; encoder and encoder-tagger can",
                     model->row->info.name);
}
