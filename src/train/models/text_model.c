/* text: bags of words and of pieces of words, for texts of any language, from scratch.
 *
 * A text is the mean of the vectors of its words and, hashed into a fixed number of rows, of the runs of `min` to
 * `max` characters within each word, as fastText does (Joulin et al. 2017): unseen words then have something to say.
 * Where items have several texts (premise and hypothesis) two bags are added: the words that all texts share, and those
 * that only the last one has. All bags use one table; they stand side by side under one hidden layer.
 *
 * Cost of a step: the ids of the batch times width, and the optimiser over the whole table. */
#include "tool/json_writer.h"
#include "train/model.h"
#include "train/files/model_digest.h"
#include "text/split_words.h"
#include "train/models/word_table.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    int64_t width, hidden, buckets, min, max, seen, vocabulary, longest;
    double dropout;
    int case_;
} settings;

#define INTEGER(field, key_, fallback_, low_, high_, summary_)                                                \
    {                                                                                                         \
        .key = key_, .kind = DIS_OPTION_INT, .offset = offsetof(settings, field), .default_value = fallback_, \
        .low = low_, .high = high_, .summary = summary_                                                       \
    }
static const dis_option options[] = {
    INTEGER(width, "width", "64", 1, 4096, "width of word vectors; vectors from a file have their own width"),
    INTEGER(hidden, "hidden", "64", 0, 65536, "width of the hidden layer; 0: no hidden layer"),
    INTEGER(buckets, "buckets", "16384", 0, 1e8, "hash buckets for character n-grams; 0: words only"),
    INTEGER(min, "least", "3", 1, 16, "length of the shortest n-gram"),
    INTEGER(max, "most", "5", 1, 16, "length of the longest n-gram"),
    INTEGER(seen, "seen", "2", 1, 1e9, "minimum frequency of a word in the vocabulary"),
    INTEGER(vocabulary, "vocabulary", "50000", 0, 1e8, "maximum size of the vocabulary"),
    INTEGER(longest, "longest", "2000", 1, 1e6, "maximum number of ids per text"),
    {.key = "dropout",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(settings, dropout),
     .default_value = "0.3",
     .low = 0,
     .high = .99,
     .summary = "dropout rate"},
    {.key = "case",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, case_),
     .default_value = "lower",
     .choices = "lower|keep",
     .summary = "convert ASCII letters to lower case, or keep the case"},
};

enum { MAX_TEXTS = 5, EXTRA_LISTS = 2 };

typedef struct {
    size_t n_texts;
    dis__word_table table;
} text_encoder;

typedef struct {
    dis__encoded_items shared;
    size_t n_lists; /* of ids, per item */
    uint32_t *length;
    uint64_t *start; /* (n_items * n_lists + 1): list l of item i is ids[start[i * n_lists + l]] .. */
    int32_t *ids;
} encoded_items;

typedef struct {
    dis__model_inputs shared;
    int rows, bags, positions; /* axes */
    int ids, lengths, list[MAX_TEXTS + EXTRA_LISTS];
    int32_t *room;      /* to lay out a batch */
    int32_t (*span)[4]; /* (bags): where its ids lie */
} inputs;

static size_t n_lists(const text_encoder *e)
{
    return e->n_texts + (e->n_texts > 1 ? EXTRA_LISTS : 0);
}

static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items,
                        const dis__preprocessor_files *files, void *encoder)
{
    const settings *s = of;
    text_encoder *e = encoder;
    if (s->min > s->max)
        return dis__fail(DIS_EUSAGE, "model text: least=%lld is above most=%lld", (long long)s->min, (long long)s->max);
    if (items->n_texts > MAX_TEXTS)
        return dis__fail(DIS_EUSAGE, "model text takes at most %d texts per item, not %zu", MAX_TEXTS, items->n_texts);
    e->n_texts = items->n_texts;
    for (size_t t = 0; t < items->n_items * items->n_texts; t++) {
        size_t n;
        const char *text = dis_names_get(items->texts, t, &n);
        dis__words w = dis__words_begin(text, n, s->case_ == 0);
        while (dis__words_next(&w)) DIS_TRY(dis__vocabulary_count(&e->table.words, w.word, w.n));
    }
    DIS_TRY(dis__vocabulary_finish(&e->table.words, (uint64_t)s->seen, (size_t)s->vocabulary));
    return dis__word_table_read_vectors(ctx, files->vectors, &e->table);
}

static void free_encoder(void *encoder)
{
    dis__word_table_free(&((text_encoder *)encoder)->table);
}

static void facts(const void *encoder, dis__preprocessor_info *out)
{
    const text_encoder *e = encoder;
    out->n_texts = e->n_texts;
    out->n_words = e->table.words.words ? dis_names_count(e->table.words.words) : 0;
    out->n_words_in_vectors = e->table.n_in_vectors;
}

static dis_status save(const void *encoder, dis__json_writer *json, const char *folder)
{
    const text_encoder *e = encoder;
    (void)folder;
    dis__model_json_write_count(json, "texts", e->n_texts);
    dis__word_table_write(&e->table, json);
    return DIS_OK;
}

static dis_status load(const dis__model_json *source, const dis__json_value *object, const char *folder, void *encoder)
{
    text_encoder *e = encoder;
    (void)folder;
    DIS_TRY(dis__model_json_read_count(source, object, "texts", &e->n_texts));
    return dis__word_table_read(source, object, &e->table);
}

static void hash_meaning(const void *encoder, dis__sha256 *sha)
{
    const text_encoder *e = encoder;
    const uint64_t sizes[] = {e->n_texts, e->table.vector_width};
    dis__sha256_update(sha, sizes, sizeof sizes);
    dis__hash_names(sha, e->table.words.words);
}

/* FNV-1a: the same on every machine, for rows that no one can profit from making collide. */
static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return h;
}

typedef struct {
    const settings *s;
    const text_encoder *encoder;
    encoded_items *out;
    size_t room, n_ids;
    int32_t *words[MAX_TEXTS]; /* known words of each text of the current item */
    size_t n_words[MAX_TEXTS], words_room[MAX_TEXTS];
} encoding;

static dis_status add_id(encoding *e, size_t list_start, int32_t id)
{
    if (e->n_ids - list_start >= (size_t)e->s->longest) return DIS_OK;
    DIS_TRY(dis__reserve(&e->out->ids, &e->room, e->n_ids, e->n_ids + 1, sizeof *e->out->ids));
    e->out->ids[e->n_ids++] = id;
    return DIS_OK;
}

/* Runs of characters of "<word>": where each character begins is known from its first byte. */
static dis_status add_pieces(encoding *e, size_t list_start, const char *word, size_t n)
{
    char text[DIS_WORD_BYTES + 2];
    size_t at[DIS_WORD_BYTES + 3], n_characters = 0;
    text[0] = '<';
    memcpy(text + 1, word, n);
    text[n + 1] = '>';
    for (size_t i = 0; i < n + 2; i++)
        if ((text[i] & 0xc0) != 0x80) at[n_characters++] = i;
    at[n_characters] = n + 2;
    const int32_t first = (int32_t)dis__vocabulary_size(&e->encoder->table.words);
    for (size_t from = 0; from < n_characters; from++)
        for (size_t length = (size_t)e->s->min; length <= (size_t)e->s->max && from + length <= n_characters;
             length++) {
            const uint64_t h = hash_of(text + at[from], at[from + length] - at[from]);
            DIS_TRY(add_id(e, list_start, first + (int32_t)(h % (uint64_t)e->s->buckets)));
        }
    return DIS_OK;
}

static dis_status encode_text(encoding *e, size_t t, const char *text, size_t n)
{
    const size_t list_start = e->n_ids;
    e->n_words[t] = 0;
    dis__words w = dis__words_begin(text, n, e->s->case_ == 0);
    while (dis__words_next(&w)) {
        const int32_t id = dis__vocabulary_find(&e->encoder->table.words, w.word, w.n);
        DIS_TRY(add_id(e, list_start, id));
        if (e->s->buckets) DIS_TRY(add_pieces(e, list_start, w.word, w.n));
        if (id == DIS_UNKNOWN) continue;
        DIS_TRY(dis__reserve(&e->words[t], &e->words_room[t], e->n_words[t], e->n_words[t] + 1, sizeof *e->words[t]));
        e->words[t][e->n_words[t]++] = id;
    }
    return DIS_OK;
}

static bool has_word(const encoding *e, size_t t, int32_t id)
{
    for (size_t i = 0; i < e->n_words[t]; i++)
        if (e->words[t][i] == id) return true;
    return false;
}

/* Words of the last text that all others have too, or that none of them has. */
static dis_status add_compared(encoding *e, bool shared)
{
    const size_t last = e->encoder->n_texts - 1, list_start = e->n_ids;
    for (size_t i = 0; i < e->n_words[last]; i++) {
        const int32_t id = e->words[last][i];
        size_t others = 0;
        for (size_t t = 0; t < last; t++) others += has_word(e, t, id);
        if (shared ? others == last : others == 0) DIS_TRY(add_id(e, list_start, id));
    }
    return DIS_OK;
}

static dis_status encode_items(encoding *e, const dis_items_view *items)
{
    encoded_items *out = e->out;
    const size_t n_texts = e->encoder->n_texts, lists = n_lists(e->encoder);
    out->shared.n_items = out->shared.n_units = items->n_items;
    out->n_lists = lists;
    DIS_TRY(dis__alloc_array(&out->start, dis__saturating_size(items->n_items, lists, 1), sizeof *out->start));
    DIS_TRY(dis__alloc_zeroed(&out->length, items->n_items, sizeof *out->length));
    out->shared.length = out->length;
    for (size_t i = 0; i < items->n_items; i++)
        for (size_t l = 0; l < lists; l++) {
            const size_t before = e->n_ids;
            out->start[i * lists + l] = before;
            if (l < n_texts) {
                size_t n;
                const char *text = dis_names_get(items->texts, i * n_texts + l, &n);
                DIS_TRY(encode_text(e, l, text, n));
            } else
                DIS_TRY(add_compared(e, l == n_texts));
            const uint32_t length = (uint32_t)(e->n_ids - before);
            if (length > out->length[i]) out->length[i] = length;
        }
    out->start[items->n_items * lists] = e->n_ids;
    return DIS_OK;
}

static dis_status encode(dis_context *ctx, const void *of, const void *encoder, const dis_items_view *items,
                         dis__encoded_items *out)
{
    (void)ctx;
    encoding e = {.s = of, .encoder = encoder, .out = (encoded_items *)out};
    const size_t n_texts = e.encoder->n_texts;
    if (items->n_texts != n_texts)
        return dis__fail(DIS_EDATA, "items of %zu text%s; the model was made for %zu (`columns` names those of a file)",
                         items->n_texts, items->n_texts == 1 ? "" : "s", n_texts);
    if (n_texts > MAX_TEXTS) /* a model file that was modified */
        return dis__fail(DIS_EDATA, "a model of %zu texts per item; there are at most %d", n_texts, MAX_TEXTS);
    const dis_status status = encode_items(&e, items);
    for (size_t t = 0; t < MAX_TEXTS; t++) dis__free(e.words[t]);
    return status;
}

static void free_encoded(dis__encoded_items *encoded)
{
    encoded_items *e = (encoded_items *)encoded;
    dis__free(e->length);
    dis__free(e->start);
    dis__free(e->ids);
}

static void hash_encoded(const void *encoder, const dis__encoded_items *encoded, dis__sha256 *sha)
{
    const encoded_items *e = (const encoded_items *)encoded;
    const size_t lists = encoded->n_units * e->n_lists;
    (void)encoder;
    if (e->ids) dis__sha256_update(sha, e->ids, (size_t)e->start[lists] * sizeof *e->ids);
    if (e->start) dis__sha256_update(sha, e->start, (lists + 1) * sizeof *e->start);
}

static void hash_encoder(const void *encoder, dis__sha256 *sha)
{
    dis__word_table_hash(&((const text_encoder *)encoder)->table, sha);
}

static dis_status build(dis__net *net, const void *of, const void *encoder, const dis__batch_limits *limits,
                        dis__model_inputs *to)
{
    const settings *s = of;
    const text_encoder *e = encoder;
    inputs *in = (inputs *)to;
    const size_t lists = n_lists(e), max = limits->longest;
    const size_t n_ids = dis__vocabulary_size(&e->table.words) + (size_t)s->buckets;
    in->rows = dis__net_axis(net, limits->units);
    in->bags = dis__net_axis(net, dis__saturating_size(limits->units, lists, 0));
    in->positions = dis__net_axis(net, max);
    in->ids = dis__net_ints(net, "ids", in->bags, in->positions, 1);
    in->lengths = dis__net_ints(net, "lengths", in->bags, DIS_NONE, 1);
    const size_t width = e->table.vector_width ? e->table.vector_width : (size_t)s->width;
    const int all = dis__layer_embed_bag(net, "words", in->ids, in->lengths, n_ids, width);
    int side[MAX_TEXTS + EXTRA_LISTS];
    for (size_t l = 0; l < lists; l++) {
        char name[32];
        snprintf(name, sizeof name, "list.%zu", l);
        in->list[l] = dis__net_ints(net, name, in->rows, DIS_NONE, 1);
        side[l] = dis__layer_gather(net, all, in->list[l]);
    }
    to->trunk = lists > 1 ? dis__layer_concat(net, side, (int)lists) : side[0];
    to->trunk = dis__layer_dropout(net, to->trunk, s->dropout);
    if (s->hidden) {
        to->trunk = dis__layer_linear(net, "hidden", to->trunk, (size_t)s->hidden, DIS_ACT_RELU);
        to->trunk = dis__layer_dropout(net, to->trunk, s->dropout);
    }
    const size_t room = dis__saturating_size(dis__saturating_size(limits->units, lists, 0), max + 1, 0);
    DIS_TRY(dis__alloc_array(&in->span, dis__saturating_size(limits->units, lists, 0), sizeof *in->span));
    return dis__alloc_array(&in->room, room, sizeof *in->room);
}

static void free_inputs(dis__model_inputs *in)
{
    dis__free(((inputs *)in)->room);
    dis__free(((inputs *)in)->span);
}

static dis_status put(dis__net *net, dis__model_inputs *to, const dis__encoded_items *encoded,
                      const dis__unit_batch *batch)
{
    const inputs *in = (const inputs *)to;
    const encoded_items *e = (const encoded_items *)encoded;
    const size_t lists = e->n_lists, n = batch->n;
    size_t longest = 1;
    for (size_t i = 0; i < n; i++)
        if (e->length[batch->unit[i]] > longest) longest = e->length[batch->unit[i]];
    const void *uploaded;
    DIS_TRY(dis__net_upload_ints(net, encoded->lasting ? e->ids : NULL, e->ids,
                                 (size_t)e->start[encoded->n_items * lists], &uploaded));
    int32_t *ids = in->room, *lengths = ids + n * lists * longest;
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < lists; l++) {
            const uint64_t *start = e->start + batch->unit[i] * lists + l;
            const size_t length = (size_t)(start[1] - start[0]), row = i * lists + l;
            const int32_t span[4] = {(int32_t)start[0], (int32_t)(row * longest), (int32_t)length, (int32_t)longest};
            memcpy(in->span[row], span, sizeof span);
            if (!uploaded && length) memcpy(ids + row * longest, e->ids + start[0], length * sizeof *ids);
            for (size_t j = length; !uploaded && j < longest; j++) ids[row * longest + j] = -1;
            lengths[row] = (int32_t)length;
        }
    dis__net_resize(net, in->rows, n);
    dis__net_resize(net, in->bags, n * lists);
    dis__net_resize(net, in->positions, longest);
    DIS_TRY(uploaded ? dis__net_gather_ints(net, in->ids, uploaded, (const int32_t(*)[4])in->span, n * lists)
                     : dis__net_put_ints(net, in->ids, ids));
    DIS_TRY(dis__net_put_ints(net, in->lengths, lengths));
    for (size_t l = 0; l < lists; l++) {
        for (size_t i = 0; i < n; i++) ids[i] = (int32_t)(i * lists + l);
        DIS_TRY(dis__net_put_ints(net, in->list[l], ids));
    }
    return DIS_OK;
}

static dis_status start(dis_context *ctx, dis__net *net, const void *encoder)
{
    (void)ctx;
    return dis__word_table_init_weights(net, &((const text_encoder *)encoder)->table);
}

static void forget(void *encoder)
{
    dis__word_vectors_free(&((text_encoder *)encoder)->table.vectors);
}

const dis__model_row dis__model_text = {
    .info = {.name = "text",
             .summary = "bag of words and character n-grams, without pretrained weights",
             .source = "after Joulin et al. 2017",
             .items_kind = DIS_ITEMS_TEXT,
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .epochs = 20,
             .batch = 32,
             .rate = 2e-3,
             .optimizer = "adam"},
    DIS_MODEL_MEMBERS(text_encoder),
    .hash_encoder = hash_encoder,
    .free_inputs = free_inputs,
    .start = start,
    .forget = forget,
};
