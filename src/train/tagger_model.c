/* tagger: a label for each token of a sentence, from the words around it and from its own letters (Fornaciari et al.
 * 2021; Uma et al. 2020). Each sentence is read once and each distinct word of a batch spelt once.
 *
 * Words keep their case when vectors of a file may tell cases apart; letters always do. A word that the training items
 * do not have is unknown, but its letters are not. */
#include "train/models.h"
#include "train/model_digest.h"
#include "core/utf8.h"
#include "nn/models/nets.h"
#include "train/word_table.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    int kind, cell, case_;
    int64_t word, character, hidden, layers, heads, feed, letters, seen;
    double dropout;
} settings;

#define WHOLE(field, fallback_, low_, high_, summary_)                                                     \
    {                                                                                                      \
        .key = #field, .kind = DIS_OPTION_INT, .offset = offsetof(settings, field), .fallback = fallback_, \
        .low = low_, .high = high_, .summary = summary_                                                    \
    }
static const dis_option options[] = {
    {.key = "kind",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, kind),
     .fallback = "encoder",
     .choices = "encoder|additive",
     .summary = "how word and letters come together: attention encoders, or additive attention"},
    {.key = "cell",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, cell),
     .fallback = "lstm",
     .choices = "lstm|gru",
     .summary = "what reads words and letters: long short-term memory, or gated recurrent units"},
    WHOLE(word, "300", 1, 4096, "width of the vector of a word; word vectors from a file bring their own"),
    WHOLE(character, "100", 1, 4096, "width of the vector of a letter"),
    WHOLE(hidden, "256", 1, 8192, "of the layers that read, each direction"),
    WHOLE(layers, "2", 0, 64, "of each attention encoder"),
    WHOLE(heads, "2", 1, 64, "of attention"),
    WHOLE(feed, "2048", 1, 65536, "width of the encoders' inner layer"),
    WHOLE(letters, "15", 1, 256, "of a word that are read"),
    WHOLE(seen, "2", 1, 1e9,
          "a word is known when it was seen this often; the others teach the vector of unknown ones"),
    {.key = "dropout",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(settings, dropout),
     .fallback = "0.1",
     .low = 0,
     .high = .99,
     .summary = "share of values left out in each step"},
    {.key = "case",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, case_),
     .fallback = "lower",
     .choices = "lower|keep",
     .summary = "ASCII letters of words are made small, or stay"},
};

enum { MAX_BYTES = 1024 };

/* The word as the vocabulary has it. Longer ones are cut: nobody's vectors have them. */
static size_t normal(const settings *s, const char *word, size_t n, char out[MAX_BYTES])
{
    const size_t length = n < MAX_BYTES ? n : MAX_BYTES;
    for (size_t i = 0; i < length; i++)
        out[i] = s->case_ == 0 && word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] - 'A' + 'a') : word[i];
    return length;
}

typedef struct {
    dis__word_table table;
    dis__vocabulary characters;
} token_encoder;

/* Each distinct word is spelt once. */
typedef struct {
    dis__encoded shared;
    uint64_t *start;  /* (n_units + 1): the first token of each sentence */
    uint32_t *length; /* (n_units) */
    int32_t *ids;     /* (n_items) words */
    size_t n_types;
    uint32_t *type;   /* (n_items) which distinct word a token is */
    uint64_t *spelt;  /* (n_types + 1): its letters are letters[spelt[t]] .. */
    int32_t *letters; /* ids */
    int32_t *mark;    /* (n_types) -1; room for putting a batch */
} encoded_items;

typedef struct {
    dis__inputs shared;
    dis__tagger tagger;
    int32_t *room; /* to lay out a batch */
} inputs;

static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items, const dis__model_files *files,
                        void *encoder)
{
    const settings *s = of;
    token_encoder *e = encoder;
    for (size_t i = 0; i < items->n_items; i++) {
        size_t n;
        char word[MAX_BYTES];
        const char *text = dis_names_get(items->texts, i, &n);
        DIS_TRY(dis__vocabulary_count(&e->table.words, word, normal(s, text, n, word)));
        for (size_t at = 0, m; at < n; at += m) {
            m = dis__utf8_step(text[at]);
            DIS_TRY(dis__vocabulary_count(&e->characters, text + at, m));
        }
    }
    DIS_TRY(dis__vocabulary_close(&e->table.words, (uint64_t)s->seen, SIZE_MAX));
    DIS_TRY(dis__vocabulary_close(&e->characters, 1, SIZE_MAX));
    return dis__word_table_vectors(ctx, files->vectors, &e->table);
}

static void free_encoder(void *encoder)
{
    token_encoder *e = encoder;
    dis__word_table_free(&e->table);
    dis__vocabulary_free(&e->characters);
}

static void facts(const void *encoder, dis__encoder_facts *out)
{
    const token_encoder *e = encoder;
    out->n_words = e->table.words.words ? dis_names_count(e->table.words.words) : 0;
    out->n_words_in_vectors = e->table.n_in_vectors;
}

static dis_status save(const void *encoder, dis_json *json, const char *folder)
{
    const token_encoder *e = encoder;
    (void)folder;
    dis__word_table_save(&e->table, json);
    dis__model_put_names(json, "characters", e->characters.words);
    return DIS_OK;
}

static dis_status load(const dis__model_source *source, const dis__json_value *object, const char *folder,
                       void *encoder)
{
    token_encoder *e = encoder;
    (void)folder;
    DIS_TRY(dis__word_table_load(source, object, &e->table));
    return dis__model_take_vocabulary(source, object, "characters", &e->characters);
}

static void hash_meaning(const void *encoder, dis__sha256 *sha)
{
    const token_encoder *e = encoder;
    const uint64_t width = e->table.vector_width;
    dis__sha256_add(sha, &width, sizeof width);
    dis__digest_names(sha, e->table.words.words);
    dis__digest_names(sha, e->characters.words);
}

static dis_status spell(const settings *s, const token_encoder *encoder, const dis__vocabulary *types,
                        encoded_items *out)
{
    size_t room = 0, used = 0;
    out->n_types = dis_names_count(types->words);
    DIS_TRY(dis__alloc_array(&out->spelt, out->n_types + 1, sizeof *out->spelt));
    DIS_TRY(dis__alloc_array(&out->mark, out->n_types, sizeof *out->mark));
    for (size_t t = 0; t < out->n_types; t++) {
        size_t n, letters = 0;
        const char *text = dis_names_get(types->words, t, &n);
        out->spelt[t] = used;
        out->mark[t] = -1;
        for (size_t at = 0, m; at < n && letters < (size_t)s->letters; at += m, letters++) {
            m = dis__utf8_step(text[at]);
            DIS_TRY(dis__reserve(&out->letters, &room, used, used + 1, sizeof *out->letters));
            out->letters[used++] = dis__vocabulary_find(&encoder->characters, text + at, m);
        }
        if (letters == 0) { /* an empty token still has a place */
            DIS_TRY(dis__reserve(&out->letters, &room, used, used + 1, sizeof *out->letters));
            out->letters[used++] = DIS_UNKNOWN;
        }
    }
    out->spelt[out->n_types] = used;
    return DIS_OK;
}

static dis_status number(const settings *s, const token_encoder *encoder, const dis_items_view *items,
                         dis__vocabulary *types, encoded_items *out)
{
    const size_t n_units = items->n_sentences, n_items = items->n_items;
    out->shared.n_items = n_items;
    out->shared.n_units = n_units;
    out->shared.unit = items->sentence;
    DIS_TRY(dis__alloc_array(&out->start, n_units + 1, sizeof *out->start));
    DIS_TRY(dis__alloc_array(&out->length, n_units, sizeof *out->length));
    out->shared.length = out->length;
    DIS_TRY(dis__alloc_array(&out->ids, n_items, sizeof *out->ids));
    DIS_TRY(dis__alloc_array(&out->type, n_items, sizeof *out->type));
    memcpy(out->start, items->sentence, (n_units + 1) * sizeof *out->start);
    for (size_t u = 0; u < n_units; u++) out->length[u] = (uint32_t)(out->start[u + 1] - out->start[u]);
    for (size_t i = 0; i < n_items; i++) {
        size_t n;
        char word[MAX_BYTES];
        const char *text = dis_names_get(items->texts, i, &n);
        DIS_TRY(dis__vocabulary_count(types, text, n));
        out->ids[i] = dis__vocabulary_find(&encoder->table.words, word, normal(s, text, n, word));
    }
    DIS_TRY(dis__vocabulary_close(types, 1, SIZE_MAX));
    for (size_t i = 0; i < n_items; i++) {
        size_t n;
        const char *text = dis_names_get(items->texts, i, &n);
        out->type[i] = (uint32_t)dis__vocabulary_find(types, text, n) - 1;
    }
    return spell(s, encoder, types, out);
}

static dis_status encode(dis_context *ctx, const void *of, const void *encoder, const dis_items_view *items,
                         dis__encoded *out)
{
    (void)ctx;
    dis__vocabulary types = {0};
    const dis_status status = number(of, encoder, items, &types, (encoded_items *)out);
    dis__vocabulary_free(&types);
    return status;
}

static void free_encoded(dis__encoded *encoded)
{
    encoded_items *e = (encoded_items *)encoded;
    dis__free(e->start);
    dis__free(e->length);
    dis__free(e->ids);
    dis__free(e->type);
    dis__free(e->spelt);
    dis__free(e->letters);
    dis__free(e->mark);
}

static void hash_encoded(const void *encoder, const dis__encoded *encoded, dis__sha256 *sha)
{
    const encoded_items *e = (const encoded_items *)encoded;
    (void)encoder;
    if (e->ids) dis__sha256_add(sha, e->ids, (size_t)e->start[encoded->n_units] * sizeof *e->ids);
    if (e->start) dis__sha256_add(sha, e->start, (encoded->n_units + 1) * sizeof *e->start);
    if (e->type) dis__sha256_add(sha, e->type, encoded->n_items * sizeof *e->type);
    if (e->letters) dis__sha256_add(sha, e->letters, (size_t)e->spelt[e->n_types] * sizeof *e->letters);
}

static void hash_encoder(const void *encoder, dis__sha256 *sha)
{
    dis__word_table_hash(&((const token_encoder *)encoder)->table, sha);
}

static dis__tagger_options options_of(const settings *s, const token_encoder *encoder, const dis__batch_limits *limits)
{
    dis__tagger_options o = dis__tagger_options_default();
    o.kind = s->kind == 0 ? DIS_TAGGER_ENCODER : DIS_TAGGER_ADDITIVE;
    o.cell = s->cell == 0 ? DIS_CELL_LSTM : DIS_CELL_GRU;
    o.word_width = encoder && encoder->table.vector_width ? encoder->table.vector_width : (size_t)s->word;
    o.character_width = (size_t)s->character;
    o.hidden = (size_t)s->hidden;
    o.encoder_layers = (size_t)s->layers;
    o.encoder_heads = (size_t)s->heads;
    o.feed = (size_t)s->feed;
    o.dropout = s->dropout;
    o.characters = (size_t)s->letters;
    if (encoder) {
        o.n_words = dis__vocabulary_size(&encoder->table.words);
        o.n_characters = dis__vocabulary_size(&encoder->characters);
    }
    if (limits) {
        o.sentences = limits->units;
        o.positions = limits->longest;
        o.tokens = o.distinct = limits->items;
    }
    return o;
}

static dis_status build(dis__net *net, const void *of, const void *encoder, const dis__batch_limits *limits,
                        dis__inputs *to)
{
    inputs *in = (inputs *)to;
    const dis__tagger_options o = options_of(of, encoder, limits);
    in->tagger = dis__tagger_build(net, &o);
    to->trunk = in->tagger.trunk;
    const dis__tagger_sizes most =
        dis__tagger_round(net, (dis__tagger_sizes){o.sentences, o.positions, o.distinct, o.characters});
    const size_t room =
        dis__size(most.sentences, most.positions + 1,
                  dis__size(most.distinct, most.characters + 1, dis__size(1, o.distinct, 2 * o.tokens)));
    return dis__alloc_array(&in->room, room, sizeof *in->room);
}

static void free_inputs(dis__inputs *in)
{
    dis__free(((inputs *)in)->room);
}

static int head(dis__net *net, const void *of, const dis__inputs *in, const char *name, size_t n_classes)
{
    const dis__tagger_options o = options_of(of, NULL, NULL);
    return dis__tagger_head(net, &o, &((const inputs *)in)->tagger, name, n_classes);
}

/* Lengths and letters of the distinct words, rows behind them empty; the marks of these words are taken back. */
static void put_letters(const encoded_items *encoded, const int32_t *types, size_t n_distinct,
                        const dis__tagger_sizes *size, int32_t *spelt, int32_t *letters)
{
    for (size_t d = 0; d < size->distinct; d++) {
        const size_t type = d < n_distinct ? (size_t)types[d] : 0, first = (size_t)encoded->spelt[type];
        const size_t length = d < n_distinct ? (size_t)encoded->spelt[type + 1] - first : 0;
        spelt[d] = (int32_t)length;
        for (size_t c = 0; c < size->characters; c++)
            letters[d * size->characters + c] = c < length ? encoded->letters[first + c] : -1;
        encoded->mark[type] = -1;
    }
}

static dis_status put(dis__net *net, dis__inputs *to, const dis__encoded *items, const dis__unit_batch *batch)
{
    const inputs *in = (const inputs *)to;
    const dis__tagger *t = &in->tagger;
    const encoded_items *encoded = (const encoded_items *)items;
    const uint32_t *units = batch->unit;
    const size_t n = batch->n;
    size_t n_tokens = 0, n_distinct = 0;
    dis__tagger_sizes size = {.sentences = n, .positions = 1, .characters = 1};
    for (size_t s = 0; s < n; s++) {
        const uint32_t length = encoded->length[units[s]];
        if (length > size.positions) size.positions = length;
        n_tokens += length;
    }
    size = dis__tagger_round(net, size);
    const size_t longest = size.positions;
    int32_t *ids = in->room, *lengths = ids + size.sentences * longest, *place = lengths + size.sentences;
    int32_t *word = place + n_tokens;
    int32_t *types = word + n_tokens; /* of the distinct words; their letters and lengths follow */
    size_t row = 0;
    for (size_t s = 0; s < n; s++) {
        const uint64_t first = encoded->start[units[s]];
        const uint32_t length = encoded->length[units[s]];
        lengths[s] = (int32_t)length;
        for (size_t p = 0; p < longest; p++) ids[s * longest + p] = p < length ? encoded->ids[first + p] : -1;
        for (size_t p = 0; p < length; p++, row++) {
            const uint32_t type = encoded->type[first + p];
            if (encoded->mark[type] < 0) {
                encoded->mark[type] = (int32_t)n_distinct;
                types[n_distinct++] = (int32_t)type;
                const size_t letters = (size_t)(encoded->spelt[type + 1] - encoded->spelt[type]);
                if (letters > size.characters) size.characters = letters;
            }
            place[row] = (int32_t)(s * longest + p);
            word[row] = encoded->mark[type];
        }
    }
    for (size_t s = n; s < size.sentences; s++) {
        lengths[s] = 0;
        for (size_t p = 0; p < longest; p++) ids[s * longest + p] = -1;
    }
    size.distinct = n_distinct;
    size = dis__tagger_round(net, size);
    int32_t *spelt = types + n_distinct, *letters = spelt + size.distinct;
    put_letters(encoded, types, n_distinct, &size, spelt, letters);
    dis__net_resize(net, t->sentences, size.sentences);
    dis__net_resize(net, t->tokens, n_tokens);
    dis__net_resize(net, t->positions, longest);
    dis__net_resize(net, t->distinct, size.distinct);
    dis__net_resize(net, t->characters, size.characters);
    const struct {
        int ints;
        const int32_t *x;
    } all[] = {{t->word_ids, ids}, {t->lengths, lengths}, {t->character_ids, letters},
               {t->spelt, spelt},  {t->place, place},     {t->word, word}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) DIS_TRY(dis__net_put_ints(net, all[i].ints, all[i].x));
    return DIS_OK;
}

static dis_status start(dis_context *ctx, dis__net *net, const void *encoder)
{
    (void)ctx;
    return dis__word_table_start(net, &((const token_encoder *)encoder)->table);
}

static void forget(void *encoder)
{
    dis__vectors_free(&((token_encoder *)encoder)->table.vectors);
}

const dis__model_row dis__model_tagger = {
    .info = {.name = "tagger",
             .summary = "LSTMs or GRUs over words and letters, a label for each token of a sentence",
             .source = "Fornaciari et al. 2021 (kind=encoder), Uma et al. 2020 (kind=additive)",
             .items = DIS_ITEMS_TOKENS,
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .epochs = 10,
             .batch = 1024,
             .rate = 1e-3,
             .optimizer = "adam"},
    .settings_size = sizeof(settings),
    .encoder_size = sizeof(token_encoder),
    .encoded_size = sizeof(encoded_items),
    .inputs_size = sizeof(inputs),
    .learn = learn,
    .free_encoder = free_encoder,
    .facts = facts,
    .save = save,
    .load = load,
    .hash_meaning = hash_meaning,
    .encode = encode,
    .free_encoded = free_encoded,
    .hash_encoded = hash_encoded,
    .hash_encoder = hash_encoder,
    .build = build,
    .free_inputs = free_inputs,
    .head = head,
    .put = put,
    .start = start,
    .forget = forget,
};
