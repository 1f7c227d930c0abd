/* encoder, encoder-tagger: fine-tunes a pretrained encoder (Devlin et al. 2019), for texts and pairs of
 * texts by their first token, for tokens of sentences by the first piece of each word. Layers and numbers are those of
 * a folder as Hugging Face lays it out (src/encoder); the model's folder gets copies of what it needs of it, and so
 * stands alone.
 *
 * With choices an item is several texts of tokens, and the rows of its choices stand together
 * (encoder_multiple_choice.c).
 *
 * Tokens of a batch are packed, nothing is computed for padding. A word of which normalising leaves nothing is judged
 * by the first token of its sentence. */
#include "tool/json_writer.h"
#include "train/models/encoder_model.h"
#include "io/files/folder.h"
#include "train/model.h"
#include "core/memory/memory.h"
#include "io/input/input.h"
#include "io/output/output_file.h"
#include "tokens/tokenizer_internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef dis__encoder_settings settings;

static const dis_option options[] = {
    {.key = "frozen",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(settings, frozen),
     .default_value = "-1",
     .low = -1,
     .high = DIS_ENCODER_LAYERS,
     .summary = "freeze the embeddings and the first N layers; -1: freeze nothing"},
    {.key = "layer-decay",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(settings, layer_decay),
     .default_value = "1",
     .low = .01,
     .high = 1,
     .summary = "learning rate of a layer relative to the layer above it"},
    {.key = "max-length",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(settings, max_length),
     .default_value = "0",
     .low = 0,
     .high = 1e6,
     .summary = "maximum number of tokens per text, including special tokens; 0: the encoder's maximum"},
    {.key = "choices",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(settings, choices),
     .default_value = "0",
     .low = 0,
     .high = DIS_MAX_CHOICES,
     .summary = "multiple choice: the last N texts are answers, one per class, each with its own score; 0: off"},
    {.key = "dropout",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, dropout),
     .default_value = "config",
     .choices = "config|none",
     .summary = "use the dropout rates of config.json, or no dropout"},
    {.key = "lora",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(settings, lora),
     .default_value = "0",
     .low = 0,
     .high = 1024,
     .summary = "LoRA rank; 0 trains all weights"},
    {.key = "lora-alpha",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(settings, lora_alpha),
     .default_value = "16",
     .low = 1e-6,
     .high = 1e6,
     .summary = "LoRA scaling factor alpha; updates are multiplied by alpha / rank"},
    {.key = "lora-dropout",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(settings, lora_dropout),
     .default_value = "0.1",
     .low = 0,
     .high = .99,
     .summary = "dropout rate of the LoRA inputs; not used with dropout=none"},
    {.key = "lora-targets",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, lora_targets),
     .default_value = "query+value",
     .choices = "query+value|query+key+value|attention|feed|all",
     .summary = "matrices with LoRA; attention: all four attention matrices; feed: both feed-forward matrices"},
};

static const char *const file_names[] = DIS_ENCODER_FILES;
enum { AT_ONCE = 2048 }; /* tokens: matrices are packed once for all of them */
typedef dis__pretrained_encoder pretrained;

typedef struct {
    dis__encoded_items shared;
    dis_tokens *tokens;
    dis_tokens_view view;
    uint32_t *length; /* (n_units) */
    uint64_t *unit;   /* (n_units + 1): the first word of each sentence, or piece of one; NULL: texts */
    size_t per;       /* texts of tokens per unit: choices, or 1 */
} encoded_items;

typedef struct {
    dis__model_inputs shared;
    dis__encoder_net built;
    dis__encoder_config config;
    int items, places; /* axis and ints: the first piece of each word, or the rows of choices; DIS_NONE: texts */
    int32_t *room;
    uint32_t *rows; /* (rows): those of a batch of choices */
} inputs;

/* ---- the encoder: only its folder ---- */

static dis_status read_files(dis_context *ctx, const char *folder, pretrained *e)
{
    for (size_t i = 0; i < DIS_ENCODER_N_FILES; i++) {
        bool exists;
        char *path;
        dis__input in;
        DIS_TRY(dis__file_exists(folder, file_names[i], &exists));
        if (!exists) continue;
        DIS_TRY(dis__path_join(folder, file_names[i], &path));
        dis_status status = dis__input_open_regular(ctx, path, DIS_TOKEN_FILE, &in);
        if (status == DIS_OK) {
            status = dis__copy_text(&e->file[i], in.bytes, in.n);
            e->n_file[i] = in.n;
            status = dis__input_finish(&in, status);
        }
        dis__free(path);
        DIS_TRY(status);
    }
    return DIS_OK;
}

static dis_status open_folder(dis_context *ctx, const char *folder, pretrained *e)
{
    DIS_TRY(dis__encoder_config_read(ctx, folder, &e->config));
    DIS_TRY(dis_tokenizer_read(ctx, folder, &e->tokenizer));
    const dis_tokenizer_view t = dis_tokenizer_get_view(e->tokenizer);
    if (t.n_ids > 0 && (size_t)t.n_ids > e->config.n_words)
        return dis__fail(DIS_EDATA, "%s: the tokenizer has ids up to %d, vocab_size of config.json is %zu", folder,
                         (int)t.n_ids - 1, e->config.n_words);
    return read_files(ctx, folder, e);
}

static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items,
                        const dis__preprocessor_files *files, void *encoder)
{
    pretrained *e = encoder;
    const settings *s = of;
    if (!files->encoder)
        return dis__fail(DIS_EUSAGE, "the model needs a pretrained encoder; `encoder` names its folder");
    if (s->choices) DIS_TRY(dis__choices_check(items, (size_t)s->choices));
    if (!s->choices && items->kind == DIS_ITEMS_TEXT && items->n_texts > 2)
        return dis__fail(DIS_EUSAGE,
                         "the items have %zu texts; an encoder reads one or two, or the answers of choices=N",
                         items->n_texts);
    e->n_texts = items->kind == DIS_ITEMS_TEXT ? items->n_texts : 0;
    DIS_TRY(open_folder(ctx, files->encoder, e));
    return dis__copy_text(&e->folder, files->encoder, strlen(files->encoder));
}

static void free_encoder(void *encoder)
{
    pretrained *e = encoder;
    dis_tokenizer_destroy(e->tokenizer);
    for (size_t i = 0; i < DIS_ENCODER_N_FILES; i++) dis__free(e->file[i]);
    dis__free(e->folder);
}

static void facts(const void *encoder, dis__preprocessor_info *out)
{
    out->n_texts = ((const pretrained *)encoder)->n_texts;
}

static dis_status write_file(const char *folder, const char *name, const char *bytes, size_t n)
{
    char *path;
    dis__out *out;
    DIS_TRY(dis__path_join(folder, name, &path));
    dis_status status = dis__out_open(path, &out);
    if (status == DIS_OK) status = dis__out_finish(out, dis__out_write(out, bytes, n));
    dis__free(path);
    return status;
}

static dis_status save(const void *encoder, dis__json_writer *json, const char *folder)
{
    const pretrained *e = encoder;
    dis__model_json_write_count(json, "texts", e->n_texts);
    dis__model_json_write_text(json, "family", e->config.family->model_type);
    for (size_t i = 0; i < DIS_ENCODER_N_FILES; i++)
        if (e->file[i]) DIS_TRY(write_file(folder, file_names[i], e->file[i], e->n_file[i]));
    return DIS_OK;
}

static dis_status load(const dis__model_json *source, const dis__json_value *object, const char *folder, void *encoder)
{
    pretrained *e = encoder;
    DIS_TRY(dis__model_json_read_count(source, object, "texts", &e->n_texts));
    if (!folder) return dis__fail(DIS_EUSAGE, "a model with an encoder must be read from its folder");
    return open_folder(NULL, folder, e);
}

static void hash_meaning(const void *encoder, dis__sha256 *sha)
{
    const pretrained *e = encoder;
    const uint64_t n_texts = e->n_texts;
    dis__sha256_update(sha, &n_texts, sizeof n_texts);
    for (size_t i = 0; i < DIS_ENCODER_N_FILES; i++) {
        const uint64_t n = e->n_file[i];
        dis__sha256_update(sha, &n, sizeof n);
        if (e->file[i]) dis__sha256_update(sha, e->file[i], e->n_file[i]);
    }
}

/* The digest of 438 MB takes as long as some steps do. */
static dis_status identify(void *encoder)
{
    pretrained *e = encoder;
    return e->digest[0] ? DIS_OK : dis__encoder_hash_weights(NULL, e->folder, e->digest);
}

static void hash_encoder(const void *encoder, dis__sha256 *sha)
{
    hash_meaning(encoder, sha);
    dis__sha256_update(sha, ((const pretrained *)encoder)->digest, DIS_ENCODER_DIGEST_SIZE);
}

/* ---- items ---- */

static dis_status tokenizer_options(const settings *s, const pretrained *e, dis_tokenizer_options *o)
{
    const size_t longest = dis__encoder_max_length(&e->config), own = dis_tokenizer_get_view(e->tokenizer).max_length;
    *o = dis_tokenizer_options_default();
    o->max_length = s->max_length ? (size_t)s->max_length : own && own < longest ? own : longest;
    if (o->max_length > longest)
        return dis__fail(DIS_EUSAGE, "max-length=%zu; the encoder has positions for %zu", o->max_length, longest);
    return DIS_OK;
}

static dis_status encode_texts(dis_context *ctx, const pretrained *e, const dis_items_view *items,
                               const dis_tokenizer_options *o, size_t choices, encoded_items *out)
{
    dis_token_text *texts;
    if (items->n_texts != e->n_texts)
        return dis__fail(DIS_EDATA, "items of %zu text%s; the model was made for %zu (`columns` names those of a file)",
                         items->n_texts, items->n_texts == 1 ? "" : "s", e->n_texts);
    if (choices) return dis__encode_choices(ctx, e->tokenizer, items, choices, o, &out->tokens);
    DIS_TRY(dis__alloc_zeroed(&texts, items->n_items, sizeof *texts));
    for (size_t i = 0; i < items->n_items; i++) {
        texts[i].first = dis_names_get(items->texts, i * e->n_texts, &texts[i].n_first);
        if (e->n_texts == 2) texts[i].second = dis_names_get(items->texts, 2 * i + 1, &texts[i].n_second);
    }
    const dis_status status = dis_tokenizer_encode(ctx, e->tokenizer, texts, items->n_items, o, &out->tokens);
    dis__free(texts);
    return status;
}

static dis_status encode(dis_context *ctx, const void *of, const void *encoder, const dis_items_view *items,
                         dis__encoded_items *to)
{
    const pretrained *e = encoder;
    encoded_items *out = (encoded_items *)to;
    dis_tokenizer_options o;
    const bool words = items->kind == DIS_ITEMS_TOKENS;
    const size_t choices = (size_t)((const settings *)of)->choices;
    DIS_TRY(tokenizer_options(of, e, &o));
    to->n_items = to->n_units = items->n_items;
    DIS_TRY(words ? dis__encode_words(ctx, e->tokenizer, items, &o, &out->tokens, &out->unit, &to->n_units)
                  : encode_texts(ctx, e, items, &o, choices, out));
    out->per = choices ? choices : 1;
    out->view = dis_tokens_get_view(out->tokens);
    to->unit = out->unit;
    DIS_TRY(dis__alloc_array(&out->length, to->n_units, sizeof *out->length));
    for (size_t u = 0; u < to->n_units; u++)
        out->length[u] = (uint32_t)(out->view.text_start[(u + 1) * out->per] - out->view.text_start[u * out->per]);
    to->length = out->length;
    to->packed = true;
    return DIS_OK;
}

static void free_encoded(dis__encoded_items *encoded)
{
    encoded_items *e = (encoded_items *)encoded;
    dis_tokens_destroy(e->tokens);
    dis__free(e->length);
    dis__free(e->unit);
}

static void hash_encoded(const void *encoder, const dis__encoded_items *encoded, dis__sha256 *sha)
{
    const encoded_items *e = (const encoded_items *)encoded;
    const dis_tokens_view *v = &e->view;
    (void)encoder;
    dis__sha256_update(sha, v->text_start, (v->n_texts + 1) * sizeof *v->text_start);
    dis__sha256_update(sha, v->id, v->text_start[v->n_texts] * sizeof *v->id);
    dis__sha256_update(sha, v->type, v->text_start[v->n_texts] * sizeof *v->type);
    if (v->first_token) dis__sha256_update(sha, v->first_token, encoded->n_items * sizeof *v->first_token);
}

/* ---- the network ---- */

/* Embeddings are layer 0, the encoder's own are 1 to n_layers. */
static void set_groups(dis__net *net, const settings *s, const dis__encoder_config *c)
{
    static const char *const embeddings[] = {"encoder.words.", "encoder.positions.", "encoder.types.",
                                             "encoder.norm.",  "encoder.project.",   "encoder.relative."};
    for (size_t l = 0; l <= c->n_layers; l++) {
        char name[DIS_NET_NAME];
        const double factor = pow(s->layer_decay, (double)(c->n_layers + 1 - l));
        for (size_t i = 0; i < (l ? 1 : sizeof embeddings / sizeof *embeddings); i++) {
            snprintf(name, sizeof name, "encoder.layer.%zu.", l - (l > 0));
            const char *prefix = l ? name : embeddings[i];
            if (s->frozen >= 0 && l <= (size_t)s->frozen) dis__net_freeze(net, prefix);
            if (s->layer_decay < 1) dis__net_rate_factor(net, prefix, factor);
        }
        snprintf(name, sizeof name, "lora.layer.%zu.", l - (l > 0));
        if (l && s->layer_decay < 1) dis__net_rate_factor(net, name, factor);
    }
    if (s->lora) dis__net_freeze(net, "encoder.");
    dis__net_zero_params(net, "encoder."); /* comes from the folder */
    dis__net_init_normal(net, "top", .02); /* initializer_range */
    dis__net_init_normal(net, "out", .02);
}

static int first_pieces(dis__net *net, inputs *in, const dis__batch_limits *limits, bool dropout)
{
    in->items = dis__net_axis(net, limits->items);
    in->places = dis__net_ints(net, "places", in->items, DIS_NONE, 1);
    const int x = dis__layer_gather(net, in->built.hidden, in->places);
    return dropout && in->config.top_dropout > 0 ? dis__layer_dropout(net, x, in->config.top_dropout) : x;
}

static dis_status fits(const void *of, size_t n_classes)
{
    const int64_t choices = ((const settings *)of)->choices;
    if (choices == 0 || (size_t)choices == n_classes) return DIS_OK;
    return dis__fail(DIS_EUSAGE, "choices=%d and %zu classes; every class has one text", (int)choices, n_classes);
}

static int head(dis__net *net, const void *of, const dis__model_inputs *to, const char *name, size_t n_classes)
{
    if (((const settings *)of)->choices == 0) return dis__layer_linear(net, name, to->trunk, n_classes, DIS_ACT_NONE);
    const int scores = dis__layer_linear(net, name, to->trunk, 1, DIS_ACT_NONE);
    return dis__layer_reshape(net, dis__layer_gather(net, scores, ((const inputs *)to)->places), 1, 1, n_classes);
}

static dis_status build(dis__net *net, const void *of, const void *encoder, const dis__batch_limits *limits,
                        dis__model_inputs *to)
{
    const settings *s = of;
    const pretrained *e = encoder;
    inputs *in = (inputs *)to;
    const bool dropout = s->dropout == 0;
    dis__encoder_lora lora;
    const bool adapted = dis__encoder_lora_parse(s, &lora) && !limits->predicts;
    const size_t per = s->choices ? (size_t)s->choices : 1, n_rows = dis__saturating_size(limits->units, per, 0);
    const dis__encoder_limits size = {.rows = n_rows,
                                      .tokens = limits->total,
                                      .dropout = dropout,
                                      .predicts = limits->predicts,
                                      .first = limits->predicts && e->n_texts > 0,
                                      .lora = adapted ? &lora : NULL};
    in->config = e->config;
    in->places = DIS_NONE;
    DIS_TRY(dis__encoder_build(net, &e->config, &size, &in->built));
    to->trunk = e->n_texts ? dis__encoder_pooler_build(net, &e->config, &in->built, dropout)
                           : first_pieces(net, in, limits, dropout);
    set_groups(net, s, &e->config);
    if (s->choices) {
        in->items = dis__net_axis(net, limits->units);
        in->places = dis__net_ints(net, "choices", in->items, DIS_NONE, per);
        DIS_TRY(dis__alloc_array(&in->rows, n_rows, sizeof *in->rows));
    }
    return in->places == DIS_NONE ? DIS_OK
                                  : dis__alloc_array(&in->room, s->choices ? n_rows : limits->items, sizeof *in->room);
}

static void free_inputs(dis__model_inputs *to)
{
    inputs *in = (inputs *)to;
    dis__free(in->built.room);
    dis__free(in->room);
    dis__free(in->rows);
}

static dis_status put_places(dis__net *net, const inputs *in, const encoded_items *e, const dis__unit_batch *batch)
{
    size_t n = 0, at = 0;
    for (size_t u = 0; u < batch->n; u++) {
        const size_t unit = batch->unit[u], first = e->view.text_start[unit];
        for (size_t w = e->unit[unit]; w < e->unit[unit + 1]; w++) {
            const size_t token = e->view.first_token[w];
            in->room[n++] = (int32_t)(at + (token == SIZE_MAX ? 0 : token - first));
        }
        at += e->length[unit];
    }
    dis__net_resize(net, in->items, n);
    return dis__net_put_ints(net, in->places, in->room);
}

static dis_status put_rows(dis__net *net, const inputs *in, const encoded_items *e, const uint32_t *row, size_t n)
{
    return e->shared.lasting ? dis__encoder_gather_batch(net, &in->built, &in->config, &e->view, row, n)
                             : dis__encoder_set_batch(net, &in->built, &in->config, &e->view, row, n);
}

/* An item's choices are rows that follow each other. */
static dis_status put_choices(dis__net *net, const inputs *in, const encoded_items *e, const dis__unit_batch *batch)
{
    const size_t n = batch->n * e->per;
    for (size_t r = 0; r < n; r++) {
        in->rows[r] = (uint32_t)(batch->unit[r / e->per] * e->per + r % e->per);
        in->room[r] = (int32_t)r;
    }
    DIS_TRY(put_rows(net, in, e, in->rows, n));
    dis__net_resize(net, in->items, batch->n);
    return dis__net_put_ints(net, in->places, in->room);
}

static dis_status put(dis__net *net, dis__model_inputs *to, const dis__encoded_items *encoded,
                      const dis__unit_batch *batch)
{
    const inputs *in = (const inputs *)to;
    const encoded_items *e = (const encoded_items *)encoded;
    if (in->rows) return put_choices(net, in, e, batch);
    DIS_TRY(put_rows(net, in, e, batch->unit, batch->n));
    return in->places == DIS_NONE ? DIS_OK : put_places(net, in, e, batch);
}

static dis_status start(dis_context *ctx, dis__net *net, const void *encoder)
{
    const pretrained *e = encoder;
    return dis__encoder_read_weights(ctx, e->folder, &e->config, net);
}

#define ROW(name_, summary_, kind_)                                                                                \
    {                                                                                                              \
        .info = {.name = name_,                                                                                    \
                 .summary = summary_,                                                                              \
                 .source = "Devlin et al. 2019",                                                                   \
                 .items_kind = kind_,                                                                              \
                 .options = options,                                                                               \
                 .n_options = sizeof options / sizeof *options,                                                    \
                 .epochs = 3,                                                                                      \
                 .batch = 16,                                                                                      \
                 .rate = 3e-5,                                                                                     \
                 .optimizer = "adamw:decay=0.01,clip=1",                                                           \
                 .schedule = "linear:warm-up=0.1"},                                                                \
        DIS_MODEL_MEMBERS(pretrained), .pretrained = true, .predict_total = AT_ONCE, .hash_encoder = hash_encoder, \
        .identify = identify, .fits = fits, .free_inputs = free_inputs, .head = head,                              \
        .merge = dis__encoder_merge_lora, .export = dis__encoder_export, .start = start,                           \
    }

const dis__model_row dis__model_encoder =
    ROW("encoder", "pretrained encoder for texts and pairs of texts", DIS_ITEMS_TEXT);
const dis__model_row dis__model_encoder_tagger =
    ROW("encoder-tagger", "pretrained encoder for tokens of sentences", DIS_ITEMS_TOKENS);
