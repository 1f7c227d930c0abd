/* config.json of an encoder's folder: which family it is, its sizes, and a check of every field that changes what is
 * computed. What asks for something else is refused with the field's name. */
#include "encoder/encoder.h"
#include "core/memory/memory.h"
#include "io/files/folder.h"
#include "io/input/input.h"
#include "tokens/tokenizer_internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAMES = 256, BUCKETS = 32 };

static const struct {
    const char *name;
    dis__activation act;
} activations[] = {{"gelu", DIS_ACT_GELU}, {"relu", DIS_ACT_RELU}, {"tanh", DIS_ACT_TANH}};

/* Known families that are not supported. */
static const struct {
    const char *model_type, *reason;
} refused[] = {
    {"deberta-v2", "its attention also multiplies queries and keys with embeddings of distances, which dissent lacks"},
    {"deberta", "its attention also multiplies queries and keys with embeddings of distances, which dissent lacks"},
    {"modernbert", "rotary positions and gated layers are not supported"},
    {"albert", "layers that share their parameters are not supported"},
};

typedef struct {
    dis__json json;
    const dis__json_value *root;
    dis__encoder_config *c;
} reader;

static const dis__json_value *field_of(const reader *r, const char *key)
{
    const dis__json_value *v = key ? dis__json_member(r->root, key) : NULL;
    return v && v->kind != DIS_JSON_NULL ? v : NULL;
}

static dis_status parse_activation(reader *r, const dis__encoder_config_field *f, const dis__json_value *v)
{
    dis__activation *to = (dis__activation *)((char *)r->c + f->offset);
    *to = DIS_ACT_GELU;
    if (!v) return DIS_OK;
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (v->kind == DIS_JSON_STRING && dis__json_equals(v, activations[i].name)) {
            *to = activations[i].act;
            return DIS_OK;
        }
    return dis__json_fail(&r->json, v, "%s: %.*s is not supported; gelu, relu and tanh are", f->key, (int)v->length,
                          v->text);
}

static dis_status parse_number(reader *r, const dis__encoder_config_field *f, const dis__json_value *v)
{
    if (!v && isnan(f->fallback)) return dis__json_fail(&r->json, r->root, "there is no %s", f->key);
    if (v && v->kind != DIS_JSON_NUMBER) return dis__json_fail(&r->json, v, "%s must be a number", f->key);
    const double x = v ? v->number : f->fallback;
    if (f->kind == DIS_CONFIG_REAL) {
        if (!(x >= 0 && x < 1)) return dis__json_fail(&r->json, v, "%s must be from 0 to below 1", f->key);
        memcpy((char *)r->c + f->offset, &x, sizeof x);
        return DIS_OK;
    }
    const double low = f->kind == DIS_CONFIG_SIZE ? 1 : 0;
    if (!(x >= low && x <= 16777216 && x == floor(x)))
        return dis__json_fail(&r->json, v, "%s must be an integer from %g to 16777216", f->key, low);
    const size_t n = (size_t)x;
    memcpy((char *)r->c + f->offset, &n, sizeof n);
    return DIS_OK;
}

static dis_status check_only(const reader *r, const dis__encoder_config_field *f, const dis__json_value *v)
{
    const bool empty = v && v->kind == DIS_JSON_OBJECT && v->n == 0 && strcmp(f->only, "{}") == 0;
    const bool plain = v && v->kind != DIS_JSON_OBJECT && v->kind != DIS_JSON_ARRAY;
    if (!v || empty || (plain && v->length == strlen(f->only) && memcmp(v->text, f->only, v->length) == 0))
        return DIS_OK;
    return dis__json_fail(&r->json, v, "%s: only %s is supported", f->key, f->only);
}

static dis_status parse_field(reader *r, const dis__encoder_config_field *f)
{
    const dis__json_value *v = field_of(r, f->key);
    if (!v && f->backup) v = field_of(r, f->backup);
    if (f->kind == DIS_CONFIG_FIXED) return check_only(r, f, v);
    return f->kind == DIS_CONFIG_ACTIVATION ? parse_activation(r, f, v) : parse_number(r, f, v);
}

static dis_status find_family(reader *r)
{
    char known[NAMES] = "";
    const dis__json_value *type = field_of(r, "model_type");
    if (!type || type->kind != DIS_JSON_STRING)
        return dis__json_fail(&r->json, type ? type : r->root, "there is no model_type that names the architecture");
    const dis__encoder_family *f;
    for (size_t i = 0; (f = dis__encoder_family_at(i)); i++) {
        if (dis__json_equals(type, f->model_type)) {
            r->c->family = f;
            return DIS_OK;
        }
        dis__text_list_append(known, sizeof known, f->model_type, strlen(f->model_type));
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (dis__json_equals(type, refused[i].model_type))
            return dis__json_fail(&r->json, type, "model_type %s: %s; supported are %s", refused[i].model_type,
                                  refused[i].reason, known);
    return dis__json_fail(&r->json, type, "model_type %.*s is not supported; these are: %s",
                          (int)(type->length < 60 ? type->length : 60), type->text, known);
}

static const dis__json_value *place_of(const reader *r, const char *key)
{
    const dis__json_value *v = field_of(r, key);
    return v ? v : r->root;
}

/* What the family calls a size. */
static const char *key_of(const dis__encoder_config *c, size_t offset)
{
    const dis__encoder_config_field *f = c->family->fields;
    while (f->key && (f->kind == DIS_CONFIG_FIXED || f->offset != offset)) f++;
    return f->key;
}

static dis_status check_sizes(const reader *r)
{
    const dis__encoder_config *c = r->c;
    const char *const heads = key_of(c, offsetof(dis__encoder_config, n_heads));
    const char *const layers = key_of(c, offsetof(dis__encoder_config, n_layers));
    if (c->width % c->n_heads)
        return dis__json_fail(&r->json, place_of(r, heads), "%s %zu does not divide %s %zu", heads, c->n_heads,
                              key_of(c, offsetof(dis__encoder_config, width)), c->width);
    if (c->n_layers > DIS_ENCODER_LAYERS)
        return dis__json_fail(&r->json, place_of(r, layers), "%s %zu; at most %d are possible", layers, c->n_layers,
                              DIS_ENCODER_LAYERS);
    if (c->family->shifted && c->n_positions <= c->padding + 1)
        return dis__json_fail(&r->json, r->root,
                              "max_position_embeddings leaves no position after the padding position");
    return DIS_OK;
}

static dis_status parse_config(reader *r)
{
    if (r->root->kind != DIS_JSON_OBJECT) return dis__json_fail(&r->json, r->root, "must be an object");
    DIS_TRY(find_family(r));
    if (r->c->family->shifted) r->c->padding = 1;
    if (r->c->family->relative) r->c->n_buckets = BUCKETS;
    r->c->epsilon = 1e-12; /* DistilBERT names none */
    for (const dis__encoder_config_field *f = r->c->family->fields; f->key; f++) DIS_TRY(parse_field(r, f));
    if (r->c->embedding == r->c->width) r->c->embedding = 0;
    return check_sizes(r);
}

dis_status dis__encoder_config_parse(const char *file, const char *text, size_t n, dis__encoder_config *out)
{
    dis__encoder_config config = {0};
    reader r = {.c = &config};
    const dis__json_position place = {.file = file, .line = 1, .column = 1};
    dis_status status = dis__json_parse(&r.json, text, n, &place, &r.root);
    if (status == DIS_OK) status = parse_config(&r);
    dis__json_free(&r.json);
    if (status == DIS_OK) *out = config;
    return status;
}

/* Detects a path to the weight file instead of its folder. */
static dis_status check_folder(const char *folder)
{
    static const char *const pickles[] = {".bin", ".pt", ".pth", ".pkl", ".ckpt"};
    const size_t n = strlen(folder);
    for (size_t i = 0; i < sizeof pickles / sizeof *pickles; i++) {
        const size_t m = strlen(pickles[i]);
        if (n > m && strcmp(folder + n - m, pickles[i]) == 0)
            return dis__fail(DIS_EDATA,
                             "%s: an encoder is a folder with config.json, a tokenizer and model.safetensors; pickled "
                             "weights (%s) are not read, because reading them runs their code",
                             folder, pickles[i]);
    }
    return DIS_OK;
}

/* PEFT saves LoRA weights without their encoder. */
static dis_status check_config(const char *folder)
{
    bool config, adapter;
    DIS_TRY(dis__file_exists(folder, "config.json", &config));
    DIS_TRY(dis__file_exists(folder, "adapter_config.json", &adapter));
    if (config) return DIS_OK;
    if (!adapter)
        return dis__fail(DIS_EIO,
                         "%s has no config.json; an encoder is a folder with config.json, a tokenizer and "
                         "model.safetensors",
                         folder);
    return dis__fail(DIS_EDATA,
                     "%s/adapter_config.json: an adapter without its encoder; in Python, "
                     "AutoPeftModelForSequenceClassification.from_pretrained(FOLDER).merge_and_unload()"
                     ".save_pretrained(OTHER) writes both as one",
                     folder);
}

dis_status dis__encoder_config_read(dis_context *ctx, const char *folder, dis__encoder_config *out)
{
    char path[DIS_ENCODER_PATH];
    dis__input in;
    DIS_TRY(check_folder(folder));
    DIS_TRY(dis__folder_check(folder));
    DIS_TRY(check_config(folder));
    if ((size_t)snprintf(path, sizeof path, "%s/config.json", folder) >= sizeof path)
        return dis__fail(DIS_EUSAGE, "the name of the encoder's folder is too long");
    DIS_TRY(dis__input_open_regular(ctx, path, DIS_CONFIG_FILE, &in));
    const dis_status status = dis__encoder_config_parse(path, in.bytes, in.n, out);
    return dis__input_finish(&in, status);
}

size_t dis__encoder_max_length(const dis__encoder_config *config)
{
    return config->n_positions - (config->family->shifted ? config->padding + 1 : 0);
}
