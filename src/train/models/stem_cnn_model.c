/* stem-cnn: is this the stem of that word? Two texts per item, each a short run of letters: convolutions over the
 * vectors of the letters, an attention encoder each, side by side (Fornaciari et al. 2021). */
#include "tool/json_writer.h"
#include "train/model.h"
#include "train/files/model_digest.h"
#include "core/text/utf8.h"
#include "nn/models/network_models.h"
#include "text/vocabulary.h"
#include <string.h>

typedef struct {
    int recipe, case_, padding, convolutions, pooled_dropout, position, final_norm, norm, head;
    int64_t width, length, first, second, feed;
    double dropout;
} settings;

#define INTEGER(field, fallback_, low_, high_, summary_)                                                        \
    {                                                                                                           \
        .key = #field, .kind = DIS_OPTION_INT, .offset = offsetof(settings, field), .default_value = fallback_, \
        .low = low_, .high = high_, .summary = summary_                                                         \
    }
#define CHOICE(key_, field, fallback_, choices_, summary_)                                                       \
    {                                                                                                            \
        .key = key_, .kind = DIS_OPTION_CHOICE, .offset = offsetof(settings, field), .default_value = fallback_, \
        .choices = choices_, .summary = summary_                                                                 \
    }
static const dis_option options[] = {
    CHOICE("recipe", recipe, "default", "default|paper|released",
           "set of defaults for all other options, listed under recipes"),
    INTEGER(width, "300", 1, 4096, "width of character vectors"),
    INTEGER(length, "21", 5, 256, "maximum number of characters of the word and of the stem"),
    INTEGER(first, "64", 1, 4096, "channels of the first convolution, per window size"),
    INTEGER(second, "128", 1, 4096, "channels of the second convolution, or of the only one"),
    INTEGER(feed, "2048", 1, 65536, "width of the feed-forward layers of the attention encoders"),
    {.key = "dropout",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(settings, dropout),
     .default_value = "0.1",
     .low = 0,
     .high = .99,
     .summary = "dropout rate"},
    CHOICE("case", case_, "keep", "keep|lower", "keep the case of ASCII letters, or convert them to lower case"),
    CHOICE("padding", padding, "none", "none|learned",
           "padding at the end of a text: zeros, or a learned vector per position"),
    CHOICE("convolutions", convolutions, "stacked", "stacked|single",
           "two convolutions that keep the length, or one without padding"),
    CHOICE("pooled-dropout", pooled_dropout, "none", "none|once|twice", "dropout after max pooling"),
    CHOICE("position", position, "no", "no|yes", "scale the encoders' input by sqrt(width) and add the position term"),
    CHOICE("final-norm", final_norm, "no", "no|yes", "normalize the output of the attention encoders"),
    CHOICE("norm", norm, "variance", "variance|sample",
           "divisor of layer normalization: sqrt(variance + 1e-5), or sample standard deviation + 1e-6"),
    CHOICE("head", head, "softmax", "softmax|sigmoid",
           "first head: one output per class, or one output for two classes"),
};

static const dis_model_recipe recipes[] = {
    {"default", "the paper's network", ""},
    {"paper", "Fornaciari et al. 2021 as the text describes it",
     "case=keep,padding=none,convolutions=stacked,pooled-dropout=none,position=no,final-norm=no,norm=variance,"
     "head=softmax"},
    {"released", "Fornaciari et al. 2021 as released",
     "case=lower,padding=learned,convolutions=single,pooled-dropout=twice,position=yes,final-norm=yes,norm=sample,"
     "head=sigmoid"},
};

enum { TEXTS = 2 };

typedef struct {
    size_t n_texts;
    dis__vocabulary characters;
} letter_encoder;

typedef struct {
    dis__encoded_items shared;
    size_t length; /* of a list */
    int32_t *ids;  /* (n_items, TEXTS, length); after the end -1, or the number of padding */
} encoded_items;

typedef struct {
    dis__model_inputs shared;
    int rows, text[TEXTS];
    int32_t *ids;       /* one text of a batch */
    int32_t (*span)[4]; /* (units): as dis__net_gather_ints wants them */
} inputs;

/* The character as the vocabulary has it. */
static const char *normal(const settings *s, const char *character, size_t n, char *room)
{
    *room = (char)(*character - 'A' + 'a');
    return s->case_ && n == 1 && *character >= 'A' && *character <= 'Z' ? room : character;
}

static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items,
                        const dis__preprocessor_files *files, void *encoder)
{
    (void)ctx;
    (void)files;
    const settings *s = of;
    letter_encoder *e = encoder;
    if (items->n_texts != TEXTS)
        return dis__fail(DIS_EUSAGE,
                         "model stem-cnn needs two texts per item, word and stem; name both with `columns`");
    e->n_texts = TEXTS;
    for (size_t t = 0; t < items->n_items * TEXTS; t++) {
        size_t n;
        const char *text = dis_names_get(items->texts, t, &n);
        for (size_t at = 0, m; at < n; at += m) {
            m = dis__utf8_step(text[at]);
            char room;
            DIS_TRY(dis__vocabulary_count(&e->characters, normal(s, text + at, m, &room), m));
        }
    }
    return dis__vocabulary_finish(&e->characters, 1, SIZE_MAX);
}

static void free_encoder(void *encoder)
{
    dis__vocabulary_free(&((letter_encoder *)encoder)->characters);
}

static void facts(const void *encoder, dis__preprocessor_info *out)
{
    out->n_texts = ((const letter_encoder *)encoder)->n_texts;
}

static dis_status save(const void *encoder, dis__json_writer *json, const char *folder)
{
    const letter_encoder *e = encoder;
    (void)folder;
    dis__model_json_write_count(json, "texts", e->n_texts);
    dis__model_json_write_names(json, "characters", e->characters.words);
    return DIS_OK;
}

static dis_status load(const dis__model_json *source, const dis__json_value *object, const char *folder, void *encoder)
{
    letter_encoder *e = encoder;
    (void)folder;
    DIS_TRY(dis__model_json_read_count(source, object, "texts", &e->n_texts));
    return dis__model_json_read_vocabulary(source, object, "characters", &e->characters);
}

static void hash_meaning(const void *encoder, dis__sha256 *sha)
{
    dis__hash_names(sha, ((const letter_encoder *)encoder)->characters.words);
}

static dis_status encode(dis_context *ctx, const void *of, const void *encoder, const dis_items_view *items,
                         dis__encoded_items *encoded)
{
    const settings *s = of;
    const letter_encoder *e = encoder;
    encoded_items *out = (encoded_items *)encoded;
    const size_t lists = items->n_items * TEXTS, length = (size_t)s->length;
    const int32_t pad = s->padding ? (int32_t)dis__vocabulary_size(&e->characters) : -1;
    (void)ctx;
    if (items->n_texts != TEXTS)
        return dis__fail(DIS_EDATA, "items of %zu texts; the model was made for word and stem", items->n_texts);
    encoded->n_items = encoded->n_units = items->n_items;
    out->length = length;
    DIS_TRY(dis__alloc_array(&out->ids, dis__saturating_size(lists, length, 0), sizeof *out->ids));
    for (size_t t = 0; t < lists; t++) {
        size_t n, letters = 0;
        const char *text = dis_names_get(items->texts, t, &n);
        for (size_t at = 0, m; at < n && letters < length; at += m) {
            m = dis__utf8_step(text[at]);
            char room;
            out->ids[t * length + letters++] = dis__vocabulary_find(&e->characters, normal(s, text + at, m, &room), m);
        }
        while (letters < length) out->ids[t * length + letters++] = pad;
    }
    return DIS_OK;
}

static void free_encoded(dis__encoded_items *encoded)
{
    dis__free(((encoded_items *)encoded)->ids);
}

static void hash_encoded(const void *encoder, const dis__encoded_items *encoded, dis__sha256 *sha)
{
    const encoded_items *e = (const encoded_items *)encoded;
    (void)encoder;
    if (e->ids) dis__sha256_update(sha, e->ids, encoded->n_items * TEXTS * e->length * sizeof *e->ids);
}

static dis_status build(dis__net *net, const void *of, const void *encoder, const dis__batch_limits *limits,
                        dis__model_inputs *to)
{
    const settings *s = of;
    inputs *in = (inputs *)to;
    dis__stem_cnn_options o = dis__stem_cnn_options_default();
    o.n_characters = dis__vocabulary_size(&((const letter_encoder *)encoder)->characters) + (s->padding ? 1 : 0);
    o.width = (size_t)s->width;
    o.length = (size_t)s->length;
    o.channels[0] = s->convolutions ? 0 : (size_t)s->first;
    o.channels[1] = (size_t)s->second;
    o.dropouts = (size_t)s->pooled_dropout;
    o.encoder.feed = (size_t)s->feed;
    o.encoder.dropout = s->dropout;
    o.encoder.position = s->position;
    o.encoder.final_norm = s->final_norm;
    o.encoder.sample_norm = s->norm;
    o.rows = limits->units;
    const dis__stem_cnn t = dis__stem_cnn_build(net, &o);
    in->rows = t.rows;
    in->text[0] = t.text[0];
    in->text[1] = t.text[1];
    to->trunk = t.trunk;
    DIS_TRY(dis__alloc_array(&in->span, limits->units, sizeof *in->span));
    return dis__alloc_array(&in->ids, dis__saturating_size(limits->units, o.length, 0), sizeof *in->ids);
}

static void free_inputs(dis__model_inputs *in)
{
    dis__free(((inputs *)in)->ids);
    dis__free(((inputs *)in)->span);
}

static dis_status fits(const void *of, size_t n_classes)
{
    const settings *s = of;
    if (s->head && n_classes != 2)
        return dis__fail(DIS_EUSAGE, "model stem-cnn: head=sigmoid is for 2 classes, not %zu; use head=softmax",
                         n_classes);
    return DIS_OK;
}

/* A sigmoid of z is a softmax of (z, 0). */
static int head(dis__net *net, const void *of, const dis__model_inputs *in, const char *name, size_t n_classes)
{
    const bool sigmoid = ((const settings *)of)->head && strcmp(name, "out") == 0;
    const int z = dis__layer_linear(net, name, in->trunk, sigmoid ? 1 : n_classes, DIS_ACT_NONE);
    return sigmoid ? dis__layer_shortcut(net, z, 1, 2) : z;
}

static dis_status put(dis__net *net, dis__model_inputs *to, const dis__encoded_items *encoded,
                      const dis__unit_batch *batch)
{
    const inputs *in = (const inputs *)to;
    const encoded_items *e = (const encoded_items *)encoded;
    const void *uploaded;
    const size_t n = encoded->n_items * TEXTS * e->length;
    dis__net_resize(net, in->rows, batch->n);
    DIS_TRY(dis__net_upload_ints(net, encoded->lasting ? e->ids : NULL, e->ids, n, &uploaded));
    for (size_t t = 0; t < TEXTS; t++) {
        for (size_t i = 0; i < batch->n; i++) {
            const size_t from = (batch->unit[i] * TEXTS + t) * e->length;
            const int32_t length = (int32_t)e->length, span[4] = {(int32_t)from, (int32_t)i * length, length, length};
            memcpy(in->span[i], span, sizeof span);
            if (!uploaded) memcpy(in->ids + i * e->length, e->ids + from, e->length * sizeof *in->ids);
        }
        DIS_TRY(uploaded ? dis__net_gather_ints(net, in->text[t], uploaded, (const int32_t(*)[4])in->span, batch->n)
                         : dis__net_put_ints(net, in->text[t], in->ids));
    }
    return DIS_OK;
}

const dis__model_row dis__model_stem_cnn = {
    .info = {.name = "stem-cnn",
             .summary = "character CNN on a word and its stem",
             .source = "Fornaciari et al. 2021",
             .items_kind = DIS_ITEMS_TEXT,
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .recipes = recipes,
             .n_recipes = sizeof recipes / sizeof *recipes,
             .epochs = 10,
             .batch = 1024,
             .rate = 1e-3,
             .optimizer = "adam"},
    DIS_MODEL_MEMBERS(letter_encoder),
    .fits = fits,
    .free_inputs = free_inputs,
    .head = head,
};
