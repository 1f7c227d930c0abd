/* tagger: a label for each token of a sentence, from the words around it and from its own letters (Fornaciari et al.
 * 2021; Uma et al. 2020). Each sentence is read once and each distinct word of a batch spelt once.
 *
 * Words keep their case when vectors of a file may tell cases apart; letters always do. A word that the training items
 * do not have is unknown, but its letters are not. */
#include "tool/json_writer.h"
#include "train/model.h"
#include "train/files/model_digest.h"
#include "core/text/utf8.h"
#include "nn/models/network_models.h"
#include "train/models/word_table.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    int recipe, kind, cell, case_, position, final_norm, norm, copies, between, head_activation, padding, spelling;
    int vectors, units;
    int64_t word, character, hidden, layers, heads, feed, letters, positions, seen;
    dis_reals linear;
    double dropout;
} settings;

enum { UNITS_SENTENCES, UNITS_TOKENS };

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
    CHOICE("recipe", recipe, "default", "default|paper|released|soft-loss",
           "set of defaults for all other options, listed under recipes"),
    {.key = "kind",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, kind),
     .default_value = "encoder",
     .choices = "encoder|additive|linear",
     .summary =
         "combination of context and character states: attention encoders, additive attention, or linear layers"},
    {.key = "cell",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, cell),
     .default_value = "lstm",
     .choices = "lstm|gru",
     .summary = "recurrent cell for words and characters"},
    INTEGER(word, "300", 1, 4096, "width of word vectors; vectors from a file have their own width"),
    INTEGER(character, "100", 1, 4096, "width of character vectors"),
    INTEGER(hidden, "256", 1, 8192, "width of the recurrent layers per direction"),
    INTEGER(layers, "2", 0, 64, "layers of each attention encoder"),
    INTEGER(heads, "2", 1, 64, "attention heads"),
    INTEGER(feed, "2048", 1, 65536, "width of the feed-forward layers of the attention encoders"),
    INTEGER(letters, "15", 1, 256, "maximum number of characters per word"),
    INTEGER(seen, "2", 1, 1e9, "minimum frequency of words with a vector of their own; rarer words share one vector"),
    INTEGER(positions, "100", 1, 4096, "with padding=learned: minimum length to which sentences are padded"),
    CHOICE("position", position, "yes", "no|yes", "scale the encoder's input by sqrt(width) and add the position term"),
    CHOICE("final-norm", final_norm, "yes", "no|yes", "normalize the output of each attention encoder"),
    CHOICE("norm", norm, "variance", "variance|sample",
           "divisor of layer normalization: sqrt(variance + 1e-5), or sample standard deviation + 1e-6"),
    CHOICE("start", copies, "own", "own|copies",
           "initialize the layers of an encoder separately, or as copies of the first layer"),
    CHOICE("dropout-between", between, "no", "no|yes",
           "dropout between the shared encoder and the encoders of the heads"),
    CHOICE("head-activation", head_activation, "relu", "none|relu", "activation between the two layers of a head"),
    CHOICE("padding", padding, "none", "none|learned",
           "use the actual length of words and sentences, or pad with a learned vector"),
    CHOICE("spelling", spelling, "ends", "ends|last",
           "character states that are used: final state of each direction, or both at the last position"),
    CHOICE("vectors", vectors, "trained", "trained|frozen",
           "train the vectors of words and characters, or keep them fixed"),
    CHOICE("units", units, "sentences", "sentences|tokens",
           "unit of a batch: sentences, or tokens with their sentence"),
    {.key = "linear",
     .kind = DIS_OPTION_REALS,
     .offset = offsetof(settings, linear),
     .default_value = "409/327",
     .low = 1,
     .high = 65536,
     .summary = "with kind=linear: widths of the hidden layers (at most 8)"},
    {.key = "dropout",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(settings, dropout),
     .default_value = "0.1",
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

static const dis_model_recipe recipes[] = {
    {"default", "the paper's network with scaled input, position term and final norm", ""},
    {"paper", "Fornaciari et al. 2021 as the text describes it",
     "position=no,final-norm=no,norm=variance,start=own,dropout-between=no,head-activation=relu,padding=none,"
     "spelling=ends,units=sentences,letters=15,character=100"},
    {"released", "Fornaciari et al. 2021 as released",
     "position=yes,final-norm=yes,norm=sample,start=copies,dropout-between=yes,head-activation=none,padding=learned,"
     "spelling=last,units=tokens,letters=50,character=64,positions=100,seen=1"},
    {"soft-loss", "Uma et al. 2020, the authors' later code",
     "kind=linear,hidden=128,character=64,linear=409/327,dropout=0.2,vectors=frozen"},
};

enum { MAX_BYTES = 1024 };

/* The word as the vocabulary has it. Longer ones are cut: no one's vectors have them. */
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
    dis__encoded_items shared;
    size_t n_sentences;
    uint64_t *start;    /* (n_sentences + 1): the first token of each sentence */
    uint32_t *length;   /* (n_units): of a unit's sentence */
    uint32_t *sentence; /* (n_items) of each token; NULL: units are sentences */
    int32_t *row;       /* (n_sentences) -1; room for putting a batch; NULL as well */
    int32_t *ids;       /* (n_items) words */
    size_t n_types;
    uint32_t *type;   /* (n_items) which distinct word per token is */
    uint64_t *spelt;  /* (n_types + 1): its letters are letters[spelt[t]] .. */
    int32_t *letters; /* ids */
    int32_t *mark;    /* (n_types) -1; room for putting a batch */
} encoded_items;

typedef struct {
    dis__model_inputs shared;
    dis__tagger tagger;
    dis__tagger_options options;
    /* To lay out a batch. */
    int32_t *room, *ids, *lengths, *reversed, *place, *from_end, *word, *types, *spelt, *letters, *last, *sentences;
} inputs;

static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items,
                        const dis__preprocessor_files *files, void *encoder)
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
    DIS_TRY(dis__vocabulary_finish(&e->table.words, (uint64_t)s->seen, SIZE_MAX));
    DIS_TRY(dis__vocabulary_finish(&e->characters, 1, SIZE_MAX));
    return dis__word_table_read_vectors(ctx, files->vectors, &e->table);
}

static void free_encoder(void *encoder)
{
    token_encoder *e = encoder;
    dis__word_table_free(&e->table);
    dis__vocabulary_free(&e->characters);
}

static void facts(const void *encoder, dis__preprocessor_info *out)
{
    const token_encoder *e = encoder;
    out->n_words = e->table.words.words ? dis_names_count(e->table.words.words) : 0;
    out->n_words_in_vectors = e->table.n_in_vectors;
}

static dis_status save(const void *encoder, dis__json_writer *json, const char *folder)
{
    const token_encoder *e = encoder;
    (void)folder;
    dis__word_table_write(&e->table, json);
    dis__model_json_write_names(json, "characters", e->characters.words);
    return DIS_OK;
}

static dis_status load(const dis__model_json *source, const dis__json_value *object, const char *folder, void *encoder)
{
    token_encoder *e = encoder;
    (void)folder;
    DIS_TRY(dis__word_table_read(source, object, &e->table));
    return dis__model_json_read_vocabulary(source, object, "characters", &e->characters);
}

static void hash_meaning(const void *encoder, dis__sha256 *sha)
{
    const token_encoder *e = encoder;
    const uint64_t width = e->table.vector_width;
    dis__sha256_update(sha, &width, sizeof width);
    dis__hash_names(sha, e->table.words.words);
    dis__hash_names(sha, e->characters.words);
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
        if (letters == 0) { /* an empty token still has a position */
            DIS_TRY(dis__reserve(&out->letters, &room, used, used + 1, sizeof *out->letters));
            out->letters[used++] = DIS_UNKNOWN;
        }
    }
    out->spelt[out->n_types] = used;
    return DIS_OK;
}

/* Which tokens a unit has, and how long its sentence is. */
static dis_status unitize(const settings *s, const dis_items_view *items, encoded_items *out)
{
    const bool tokens = s->units == UNITS_TOKENS;
    const size_t n_sentences = items->n_sentences, n_units = tokens ? items->n_items : n_sentences;
    out->n_sentences = n_sentences;
    out->shared.n_items = items->n_items;
    out->shared.n_units = n_units;
    out->shared.unit = tokens ? NULL : items->sentence;
    out->shared.packed = tokens; /* sentences of a batch need not be alike */
    DIS_TRY(dis__alloc_array(&out->start, n_sentences + 1, sizeof *out->start));
    memcpy(out->start, items->sentence, (n_sentences + 1) * sizeof *out->start);
    DIS_TRY(dis__alloc_array(&out->length, n_units, sizeof *out->length));
    out->shared.length = out->length;
    if (tokens) DIS_TRY(dis__alloc_array(&out->sentence, n_units, sizeof *out->sentence));
    if (tokens) DIS_TRY(dis__alloc_array(&out->row, n_sentences, sizeof *out->row));
    for (size_t i = 0; i < n_sentences; i++) {
        const uint32_t length = (uint32_t)(out->start[i + 1] - out->start[i]);
        if (!tokens) out->length[i] = length;
        if (!tokens) continue;
        out->row[i] = -1;
        for (uint64_t t = out->start[i]; t < out->start[i + 1]; t++) {
            out->sentence[t] = (uint32_t)i;
            out->length[t] = length;
        }
    }
    return DIS_OK;
}

static dis_status number(const settings *s, const token_encoder *encoder, const dis_items_view *items,
                         dis__vocabulary *types, encoded_items *out)
{
    const size_t n_items = items->n_items;
    DIS_TRY(unitize(s, items, out));
    DIS_TRY(dis__alloc_array(&out->ids, n_items, sizeof *out->ids));
    DIS_TRY(dis__alloc_array(&out->type, n_items, sizeof *out->type));
    for (size_t i = 0; i < n_items; i++) {
        size_t n;
        char word[MAX_BYTES];
        const char *text = dis_names_get(items->texts, i, &n);
        DIS_TRY(dis__vocabulary_count(types, text, n));
        out->ids[i] = dis__vocabulary_find(&encoder->table.words, word, normal(s, text, n, word));
    }
    DIS_TRY(dis__vocabulary_finish(types, 1, SIZE_MAX));
    for (size_t i = 0; i < n_items; i++) {
        size_t n;
        const char *text = dis_names_get(items->texts, i, &n);
        out->type[i] = (uint32_t)dis__vocabulary_find(types, text, n) - 1;
    }
    return spell(s, encoder, types, out);
}

static dis_status encode(dis_context *ctx, const void *of, const void *encoder, const dis_items_view *items,
                         dis__encoded_items *out)
{
    (void)ctx;
    dis__vocabulary types = {0};
    const dis_status status = number(of, encoder, items, &types, (encoded_items *)out);
    dis__vocabulary_free(&types);
    return status;
}

static void free_encoded(dis__encoded_items *encoded)
{
    encoded_items *e = (encoded_items *)encoded;
    dis__free(e->start);
    dis__free(e->length);
    dis__free(e->sentence);
    dis__free(e->row);
    dis__free(e->ids);
    dis__free(e->type);
    dis__free(e->spelt);
    dis__free(e->letters);
    dis__free(e->mark);
}

static void hash_encoded(const void *encoder, const dis__encoded_items *encoded, dis__sha256 *sha)
{
    const encoded_items *e = (const encoded_items *)encoded;
    (void)encoder;
    if (e->ids) dis__sha256_update(sha, e->ids, encoded->n_items * sizeof *e->ids);
    if (e->start) dis__sha256_update(sha, e->start, (e->n_sentences + 1) * sizeof *e->start);
    if (e->type) dis__sha256_update(sha, e->type, encoded->n_items * sizeof *e->type);
    if (e->letters) dis__sha256_update(sha, e->letters, (size_t)e->spelt[e->n_types] * sizeof *e->letters);
}

static void hash_encoder(const void *encoder, dis__sha256 *sha)
{
    dis__word_table_hash(&((const token_encoder *)encoder)->table, sha);
}

static dis__attention_encoder attention_of(const settings *s)
{
    dis__attention_encoder a = dis__attention_encoder_default();
    a.layers = (size_t)s->layers;
    a.heads = (size_t)s->heads;
    a.feed = (size_t)s->feed;
    a.dropout = s->dropout;
    a.position = s->position;
    a.final_norm = s->final_norm;
    a.sample_norm = s->norm;
    a.copies = s->copies;
    return a;
}

static dis__tagger_options options_of(const settings *s, const token_encoder *encoder, const dis__batch_limits *limits)
{
    dis__tagger_options o = dis__tagger_options_default();
    o.kind = (dis__tagger_kind)s->kind;
    o.cell = s->cell == 0 ? DIS_CELL_LSTM : DIS_CELL_GRU;
    o.word_width = encoder && encoder->table.vector_width ? encoder->table.vector_width : (size_t)s->word;
    o.character_width = (size_t)s->character;
    o.hidden = (size_t)s->hidden;
    o.encoder = attention_of(s);
    o.dropout = s->dropout;
    o.dropout_between = s->between;
    o.head_relu = s->head_activation;
    o.padded = s->padding;
    o.last_state = s->spelling;
    o.frozen = s->vectors;
    for (; o.n_linears < s->linear.n && o.n_linears < DIS_TAGGER_LINEARS; o.n_linears++)
        o.linear[o.n_linears] = (size_t)s->linear.value[o.n_linears];
    o.characters = (size_t)s->letters;
    if (encoder) { /* after the ids of the vocabularies, that of padding */
        o.n_words = dis__vocabulary_size(&encoder->table.words) + o.padded;
        o.n_characters = dis__vocabulary_size(&encoder->characters) + o.padded;
    }
    if (limits) {
        o.sentences = limits->units;
        o.positions = limits->longest;
        if (o.padded && o.positions < (size_t)s->positions) o.positions = (size_t)s->positions;
        o.tokens = o.distinct = limits->items;
    }
    return o;
}

static dis_status fits(const void *of, size_t n_classes)
{
    const settings *s = of;
    (void)n_classes;
    if (s->linear.n > DIS_TAGGER_LINEARS)
        return dis__fail(DIS_EUSAGE, "model tagger: linear: %zu layers; at most %d", s->linear.n, DIS_TAGGER_LINEARS);
    return DIS_OK;
}

static dis_status build(dis__net *net, const void *of, const void *encoder, const dis__batch_limits *limits,
                        dis__model_inputs *to)
{
    inputs *in = (inputs *)to;
    const dis__tagger_options o = in->options = options_of(of, encoder, limits);
    in->tagger = dis__tagger_build(net, &o);
    to->trunk = in->tagger.trunk;
    const dis__tagger_sizes most =
        dis__tagger_round(net, (dis__tagger_sizes){o.sentences, o.positions, o.distinct, o.characters});
    const struct {
        int32_t **at;
        size_t n;
    } parts[] = {
        {&in->ids, dis__saturating_size(most.sentences, most.positions, 0)},
        {&in->lengths, most.sentences},
        {&in->reversed, o.padded ? dis__saturating_size(most.sentences, o.positions, 0) : 0},
        {&in->place, o.tokens},
        {&in->from_end, o.tokens},
        {&in->word, o.tokens},
        {&in->types, o.distinct},
        {&in->spelt, most.distinct},
        {&in->letters, dis__saturating_size(most.distinct, most.characters, 0)},
        {&in->last, most.distinct},
        {&in->sentences, o.sentences},
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    size_t room = 0;
    for (size_t i = 0; i < PARTS; i++) room = dis__saturating_size(1, parts[i].n, room);
    DIS_TRY(dis__alloc_array(&in->room, room, sizeof *in->room));
    int32_t *at = in->room;
    for (size_t i = 0; i < PARTS; at += parts[i++].n) *parts[i].at = at;
    return DIS_OK;
}

static void free_inputs(dis__model_inputs *in)
{
    dis__free(((inputs *)in)->room);
}

static int head(dis__net *net, const void *of, const dis__model_inputs *in, const char *name, size_t n_classes)
{
    const dis__tagger_options o = options_of(of, NULL, NULL);
    return dis__tagger_head(net, &o, &((const inputs *)in)->tagger, name, n_classes);
}

/* ---- a batch ---- */

/* Lengths and characters of the distinct words, rows after them empty; the marks of these words are taken back. */
static void put_characters(const inputs *in, const encoded_items *encoded, size_t n_distinct,
                           const dis__tagger_sizes *size)
{
    const bool padded = in->options.padded;
    const size_t most = in->options.characters;
    const int32_t pad = (int32_t)in->options.n_characters - 1;
    for (size_t d = 0; d < size->distinct; d++) {
        const bool used = d < n_distinct;
        const size_t type = used ? (size_t)in->types[d] : 0, first = (size_t)encoded->spelt[type];
        const size_t own = used ? (size_t)encoded->spelt[type + 1] - first : 0, length = used && padded ? most : own;
        in->spelt[d] = (int32_t)length;
        for (size_t c = 0; c < size->characters; c++)
            in->letters[d * size->characters + c] = c < own ? encoded->letters[first + c] : c < length ? pad : -1;
        in->last[d] = length ? in->letters[d * size->characters + length - 1] : -1;
        if (used) encoded->mark[type] = -1;
    }
}

/* Row r has sentence s: its words, and from the end what it is padded with and its words; rows after them are empty. */
static void put_sentences(const inputs *in, const encoded_items *encoded, size_t n, const dis__tagger_sizes *size)
{
    const size_t wide = size->positions, all = in->options.padded ? in->options.positions : 0;
    const int32_t pad = (int32_t)in->options.n_words - 1;
    for (size_t r = 0; r < size->sentences; r++) {
        const size_t s = r < n ? (size_t)in->sentences[r] : 0;
        const uint64_t first = encoded->start[s];
        const size_t length = r < n ? (size_t)(encoded->start[s + 1] - first) : 0;
        in->lengths[r] = (int32_t)length;
        for (size_t p = 0; p < wide; p++) in->ids[r * wide + p] = p < length ? encoded->ids[first + p] : -1;
        for (size_t p = 0; p < all; p++)
            in->reversed[r * all + p] = all - 1 - p < length ? encoded->ids[first + all - 1 - p] : pad;
    }
}

/* The token of an item as the next row of the heads. */
static void put_token(const inputs *in, const encoded_items *encoded, size_t item, size_t sentence, size_t row,
                      size_t wide, size_t n_tokens, size_t *n_distinct)
{
    const size_t p = item - (size_t)encoded->start[sentence], all = in->options.positions;
    const uint32_t type = encoded->type[item];
    if (encoded->mark[type] < 0) {
        encoded->mark[type] = (int32_t)*n_distinct;
        in->types[(*n_distinct)++] = (int32_t)type;
    }
    in->place[n_tokens] = (int32_t)(row * wide + p);
    in->from_end[n_tokens] = (int32_t)(row * all + all - 1 - p);
    in->word[n_tokens] = encoded->mark[type];
}

/* The sentences of a batch, and the length of the longest; of tokens, each sentence once. */
static size_t find_sentences(const inputs *in, const encoded_items *encoded, const dis__unit_batch *batch,
                             size_t *longest)
{
    size_t n = 0;
    *longest = 1;
    for (size_t i = 0; i < batch->n; i++) {
        const uint32_t unit = batch->unit[i], s = encoded->sentence ? encoded->sentence[unit] : unit;
        if (encoded->length[unit] > *longest) *longest = encoded->length[unit];
        if (encoded->sentence && encoded->row[s] >= 0) continue;
        if (encoded->sentence) encoded->row[s] = (int32_t)n;
        in->sentences[n++] = (int32_t)s;
    }
    return n;
}

static size_t put_tokens(const inputs *in, const encoded_items *encoded, const dis__unit_batch *batch, size_t wide,
                         size_t *n_distinct)
{
    size_t n_tokens = 0;
    for (size_t i = 0; i < batch->n; i++) {
        const uint32_t unit = batch->unit[i];
        if (encoded->sentence) {
            const uint32_t s = encoded->sentence[unit];
            put_token(in, encoded, unit, s, (size_t)encoded->row[s], wide, n_tokens++, n_distinct);
            continue;
        }
        for (uint64_t item = encoded->start[unit]; item < encoded->start[unit + 1]; item++)
            put_token(in, encoded, (size_t)item, unit, i, wide, n_tokens++, n_distinct);
    }
    return n_tokens;
}

static size_t most_characters(const inputs *in, const encoded_items *encoded, size_t n_distinct)
{
    size_t most = 1;
    if (in->options.padded) return in->options.characters;
    for (size_t d = 0; d < n_distinct; d++) {
        const size_t n = (size_t)(encoded->spelt[in->types[d] + 1] - encoded->spelt[in->types[d]]);
        if (n > most) most = n;
    }
    return most;
}

static dis_status put(dis__net *net, dis__model_inputs *to, const dis__encoded_items *items,
                      const dis__unit_batch *batch)
{
    const inputs *in = (const inputs *)to;
    const dis__tagger *t = &in->tagger;
    const encoded_items *encoded = (const encoded_items *)items;
    size_t n_distinct = 0;
    dis__tagger_sizes size = {.characters = 1};
    const size_t n = size.sentences = find_sentences(in, encoded, batch, &size.positions);
    size = dis__tagger_round(net, size);
    put_sentences(in, encoded, n, &size);
    const size_t n_tokens = put_tokens(in, encoded, batch, size.positions, &n_distinct);
    for (size_t r = 0; encoded->row && r < n; r++) encoded->row[in->sentences[r]] = -1;
    size.distinct = n_distinct;
    size.characters = most_characters(in, encoded, n_distinct);
    size = dis__tagger_round(net, size);
    put_characters(in, encoded, n_distinct, &size);
    dis__net_resize(net, t->sentences, size.sentences);
    dis__net_resize(net, t->tokens, n_tokens);
    dis__net_resize(net, t->positions, size.positions);
    dis__net_resize(net, t->distinct, size.distinct);
    dis__net_resize(net, t->characters, size.characters);
    const struct {
        int ints;
        const int32_t *x;
    } all[] = {{t->word_ids, in->ids}, {t->lengths, in->lengths},   {t->character_ids, in->letters},
               {t->spelt, in->spelt},  {t->place, in->place},       {t->word, in->word},
               {t->last, in->last},    {t->reversed, in->reversed}, {t->from_end, in->from_end}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].ints != DIS_NONE) DIS_TRY(dis__net_put_ints(net, all[i].ints, all[i].x));
    return DIS_OK;
}

static dis_status start(dis_context *ctx, dis__net *net, const void *encoder)
{
    (void)ctx;
    return dis__word_table_init_weights(net, &((const token_encoder *)encoder)->table);
}

static void forget(void *encoder)
{
    dis__word_vectors_free(&((token_encoder *)encoder)->table.vectors);
}

const dis__model_row dis__model_tagger = {
    .info = {.name = "tagger",
             .summary = "LSTM or GRU over words and characters; one label per token of a sentence",
             .source = "Fornaciari et al. 2021 (kind=encoder), Uma et al. 2020 (kind=additive, linear)",
             .items_kind = DIS_ITEMS_TOKENS,
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .recipes = recipes,
             .n_recipes = sizeof recipes / sizeof *recipes,
             .epochs = 10,
             .batch = 1024,
             .rate = 1e-3,
             .optimizer = "adam"},
    DIS_MODEL_MEMBERS(token_encoder),
    .hash_encoder = hash_encoder,
    .fits = fits,
    .free_inputs = free_inputs,
    .head = head,
    .start = start,
    .forget = forget,
};
