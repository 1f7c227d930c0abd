/* Numbers of an encoder: model.safetensors, or the files that model.safetensors.index.json names, mapped; arrays found
 * by the names of the family, with and without the prefix of its models and of sentence-transformers. One pass over the
 * numbers. */
#include "encoder/encoder.h"
#include "core/memory/memory.h"
#include "core/text/sha256.h"
#include "io/files/folder.h"
#include "io/input/input.h"
#include "nn/load_weights.h"
#include "tokens/tokenizer_internal.h"
#include <stdio.h>
#include <string.h>

enum { NAME = 192, FILES = 256, PREFIX = 64 };

typedef struct {
    char array[NAME], param[DIS_NET_NAME];
} name_pair;

typedef struct dis__encoder_weight_files {
    dis__input input[FILES];
    dis__safetensors file[FILES];
    const char *path[FILES];
    char *owned[FILES];
    size_t n_files, n_opened;
    char prefix[PREFIX];
    name_pair *names;
    dis__fill_row *rows;
    size_t n_rows, room;
} source;

/* ---- files ---- */

static dis_status refuse(const char *folder)
{
    static const char *const others[] = {"pytorch_model.bin", "pytorch_model.bin.index.json",
                                         "pytorch_model.pt",  "model.pt",
                                         "model.pth",         "model.bin",
                                         "model.pkl",         "tf_model.h5",
                                         "flax_model.msgpack"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bool exists;
        DIS_TRY(dis__file_exists(folder, others[i], &exists));
        if (exists)
            return dis__fail(
                DIS_EDATA,
                "%s/%s: only safetensors are read; in Python, "
                "AutoModel.from_pretrained(FOLDER).save_pretrained(FOLDER, safe_serialization=True) writes "
                "model.safetensors",
                folder, others[i]);
    }
    return dis__fail(DIS_EIO, "%s has no weights: neither model.safetensors nor model.safetensors.index.json", folder);
}

static dis_status add_file(source *s, const char *folder, const char *name, size_t n)
{
    char text[NAME];
    if (n >= sizeof text || s->n_files == FILES)
        return dis__fail(DIS_ELIMIT, "%s: more than %d files of weights, or a name is too long", folder, FILES);
    snprintf(text, sizeof text, "%.*s", (int)n, name);
    for (size_t i = 0; i < s->n_files; i++)
        if (strcmp(strrchr(s->path[i], '/') + 1, text) == 0) return DIS_OK;
    DIS_TRY(dis__path_join(folder, text, &s->owned[s->n_files]));
    s->path[s->n_files] = s->owned[s->n_files];
    s->n_files++;
    return DIS_OK;
}

static dis_status add_from_index(source *s, const char *folder, const dis__json *json, const dis__json_value *root)
{
    const dis__json_value *map = dis__json_member(root, "weight_map");
    if (!map || map->kind != DIS_JSON_OBJECT) return dis__json_fail(json, root, "there is no object weight_map");
    const dis__json_value *at = map + 1;
    for (uint32_t i = 0; i < map->n; i++, at += 1 + at[1].skip) {
        const dis__json_value *v = at + 1;
        const bool plain = v->kind == DIS_JSON_STRING && v->length > 12 && !memchr(v->text, '/', v->length) &&
                           memcmp(v->text + v->length - 12, ".safetensors", 12) == 0;
        if (!plain) return dis__json_fail(json, v, "weight_map must name files *.safetensors of this folder");
        DIS_TRY(add_file(s, folder, v->text, v->length));
    }
    return DIS_OK;
}

static dis_status read_index(dis_context *ctx, source *s, const char *folder)
{
    char *path;
    dis__input in;
    dis__json json = {0};
    const dis__json_value *root;
    DIS_TRY(dis__path_join(folder, "model.safetensors.index.json", &path));
    dis_status status = dis__input_open_regular(ctx, path, DIS_CONFIG_FILE, &in);
    if (status == DIS_OK) {
        const dis__json_position place = {.file = path, .line = 1, .column = 1};
        status = dis__json_parse(&json, in.bytes, in.n, &place, &root);
        if (status == DIS_OK) status = add_from_index(s, folder, &json, root);
        status = dis__input_finish(&in, status);
    }
    dis__json_free(&json);
    dis__free(path);
    return status;
}

static dis_status open_files(dis_context *ctx, source *s, const char *folder)
{
    bool single_file, index;
    DIS_TRY(dis__file_exists(folder, "model.safetensors", &single_file));
    DIS_TRY(dis__file_exists(folder, "model.safetensors.index.json", &index));
    if (single_file)
        DIS_TRY(add_file(s, folder, "model.safetensors", 17));
    else if (index)
        DIS_TRY(read_index(ctx, s, folder));
    if (s->n_files == 0) return refuse(folder);
    for (; s->n_opened < s->n_files; s->n_opened++) {
        dis__input *in = &s->input[s->n_opened];
        DIS_TRY(dis__input_open_regular(ctx, s->path[s->n_opened], SIZE_MAX / 2, in));
        const dis_status status = dis__safetensors_open(in->path, in->bytes, in->n, &s->file[s->n_opened]);
        if (status != DIS_OK) return dis__input_finish(in, status);
    }
    return DIS_OK;
}

/* `so_far`, or DIS_EIO if a file has changed since it was opened. */
static dis_status check_files(const source *s, dis_status so_far)
{
    for (size_t i = 0; i < s->n_opened; i++) so_far = dis__input_check(&s->input[i], so_far);
    return so_far;
}

static void close_files(source *s)
{
    for (size_t i = 0; i < s->n_opened; i++) {
        dis__safetensors_close(&s->file[i]);
        dis__input_close(&s->input[i]);
    }
    for (size_t i = 0; i < s->n_files; i++) dis__free(s->owned[i]);
    dis__free(s->names);
    dis__free(s->rows);
    dis__free(s);
}

/* ---- names ---- */

static bool has(const source *s, const char *name)
{
    for (size_t i = 0; i < s->n_opened; i++)
        if (dis__safetensors_find(&s->file[i], name)) return true;
    return false;
}

static dis_status find_prefix(source *s, const dis__encoder_family *family)
{
    const char *const outer[] = {"", "0.auto_model.", "auto_model.", "model."};
    for (size_t i = 0; i < 2 * sizeof outer / sizeof *outer; i++) {
        char name[NAME];
        snprintf(s->prefix, sizeof s->prefix, "%s%s", outer[i / 2], i % 2 ? family->prefix : "");
        snprintf(name, sizeof name, "%s%s.weight", s->prefix, family->embeddings->array);
        if (has(s, name)) return DIS_OK;
    }
    return dis__fail_at(DIS_EDATA, s->path[0], 0, 0, "no array %s.weight, with or without %s before it",
                        family->embeddings->array, family->prefix);
}

static dis_status add_pair(source *s, const dis__net *net, const char *array, const char *layer, const char *what,
                           const char *older, const dis__encoder_array *a)
{
    name_pair *p = &s->names[s->n_rows];
    dis__fill_row *row = &s->rows[s->n_rows];
    snprintf(p->array, sizeof p->array, "%s.%s", array, what);
    if (!has(s, p->array)) { /* as TensorFlow calls gains and biases of normalisations */
        char other[NAME];
        snprintf(other, sizeof other, "%s.%s", array, older);
        if (has(s, other)) memcpy(p->array, other, sizeof other);
    }
    snprintf(p->param, sizeof p->param, "%s.%s", layer, what);
    const size_t param = dis__net_find_param(net, p->param);
    if (param == SIZE_MAX) return DIS_OK; /* a layer that this model does without */
    const size_t n = a->parts > 1 ? dis__net_param(net, param)->dim[0] / a->parts : 0;
    *row = (dis__fill_row){.array = p->array, .param = p->param, .first = a->part * n, .n = n};
    s->n_rows++;
    return DIS_OK;
}

static dis_status add_arrays(source *s, const dis__net *net, const dis__encoder_array *list, const char *array_prefix,
                             const char *layer_prefix)
{
    for (const dis__encoder_array *a = list; a->array; a++) {
        char array[NAME], layer[DIS_NET_NAME];
        snprintf(array, sizeof array, "%s%s%s", s->prefix, array_prefix, a->array);
        snprintf(layer, sizeof layer, "encoder.%s%s", layer_prefix, a->layer);
        DIS_TRY(add_pair(s, net, array, layer, "weight", "gamma", a));
        if (!a->bare) DIS_TRY(add_pair(s, net, array, layer, "bias", "beta", a));
    }
    return DIS_OK;
}

/* The pooler is one of the encoder's arrays, a classifier's layer is separate. */
static dis_status add_top(source *s, const dis__net *net, const dis__encoder_family *f)
{
    const dis__encoder_array a = {f->top.array, "top", 0, 1, false};
    char array[NAME], name[NAME];
    snprintf(array, sizeof array, "%s%s", f->top.pretrained ? s->prefix : "", f->top.array);
    snprintf(name, sizeof name, "%.180s.weight", array);
    if (!has(s, name)) return DIS_OK; /* begins anew */
    DIS_TRY(add_pair(s, net, array, "top", "weight", "weight", &a));
    return add_pair(s, net, array, "top", "bias", "bias", &a);
}

static dis_status add_rows(source *s, const dis__net *net, const dis__encoder_config *c)
{
    const dis__encoder_family *f = c->family;
    const size_t room = 16 * (c->n_layers + 2);
    DIS_TRY(dis__alloc_array(&s->names, room, sizeof *s->names));
    DIS_TRY(dis__alloc_array(&s->rows, room, sizeof *s->rows));
    DIS_TRY(add_arrays(s, net, f->embeddings, "", ""));
    for (size_t l = 0; l < c->n_layers; l++) {
        char array[NAME], layer[DIS_NET_NAME];
        snprintf(array, sizeof array, "%s%zu.", f->layer, l);
        snprintf(layer, sizeof layer, "layer.%zu.", l);
        DIS_TRY(add_arrays(s, net, f->in_layer, array, layer));
    }
    return add_top(s, net, f);
}

/* Heads of other tasks have arrays without a corresponding layer. */
static const char *const heads[] = {"cls.",       "lm_head.",     "classifier.", "pre_classifier.",
                                    "qa_outputs", "vocab_",       "generator_",  "discriminator_predictions.",
                                    "pooler.",    "position_ids", "score.",      "logits_proj.",
                                    NULL};

static dis_status fill(dis_context *ctx, source *s, const char *folder, const dis__encoder_config *config, bool lasting,
                       dis__net *net)
{
    DIS_TRY(open_files(ctx, s, folder));
    DIS_TRY(find_prefix(s, config->family));
    DIS_TRY(add_rows(s, net, config));
    const dis__fill what = {.file = s->file,
                            .path = s->path,
                            .n_files = s->n_files,
                            .rows = s->rows,
                            .n_rows = s->n_rows,
                            .only = "encoder.",
                            .ignored = heads,
                            .by = "config.json",
                            .lasting = lasting};
    return dis__net_fill(net, &what);
}

dis_status dis__encoder_read_weights(dis_context *ctx, const char *folder, const dis__encoder_config *config,
                                     dis__net *net)
{
    source *s;
    DIS_TRY(dis__alloc_zeroed(&s, 1, sizeof *s));
    const dis_status status = check_files(s, fill(ctx, s, folder, config, false, net));
    close_files(s);
    return status;
}

dis_status dis__encoder_map_weights(dis_context *ctx, const char *folder, const dis__encoder_config *config,
                                    dis__net *net, dis__encoder_weight_files **out)
{
    source *s;
    DIS_TRY(dis__alloc_zeroed(&s, 1, sizeof *s));
    const dis_status status = check_files(s, fill(ctx, s, folder, config, true, net));
    if (status == DIS_OK)
        *out = s;
    else
        close_files(s);
    return status;
}

dis_status dis__encoder_weight_files_check(const dis__encoder_weight_files *files, dis_status so_far)
{
    return files ? check_files(files, so_far) : so_far;
}

void dis__encoder_weight_files_close(dis__encoder_weight_files *files)
{
    if (files) close_files(files);
}

dis_status dis__encoder_weights_check(dis_context *ctx, const char *folder)
{
    source *s;
    DIS_TRY(dis__alloc_zeroed(&s, 1, sizeof *s));
    const dis_status status = open_files(ctx, s, folder);
    close_files(s);
    return status;
}

/* The digest of the file, or of the digests of several. Read in pieces, because training leaves no memory for whole
 * files. */
dis_status dis__encoder_hash_weights(dis_context *ctx, const char *folder, char hex[65])
{
    source *s;
    dis__sha256 sha;
    DIS_TRY(dis__alloc_zeroed(&s, 1, sizeof *s));
    dis_status status = open_files(ctx, s, folder);
    dis__sha256_init(&sha);
    for (size_t i = 0; i < s->n_opened && status == DIS_OK; i++) {
        status = dis__sha256_file(s->path[i], hex);
        dis__sha256_update(&sha, hex, 64);
    }
    status = check_files(s, status);
    if (s->n_opened > 1) dis__sha256_hex(&sha, hex);
    close_files(s);
    return status;
}
