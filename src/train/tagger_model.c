/* tagger: a label for each token of a sentence, from the words around it and from its own letters (Fornaciari et al.
 * 2021; Uma et al. 2020). Each sentence is read once and each distinct word of a batch spelt once.
 *
 * Words keep their case when vectors of a file may tell cases apart; letters always do. A word that the training items do
 * not have is unknown, but its letters are not. */
#include "train/models.h"
#include "core/utf8.h"
#include "nn/models/nets.h"
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

enum { MOST_BYTES = 1024 };

/* The word as the vocabulary has it. Longer ones are cut: nobody's vectors have them. */
static size_t normal(const settings *s, const char *word, size_t n, char out[MOST_BYTES])
{
    const size_t length = n < MOST_BYTES ? n : MOST_BYTES;
    for (size_t i = 0; i < length; i++)
        out[i] = s->case_ == 0 && word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] - 'A' + 'a') : word[i];
    return length;
}

static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items, const char *vectors,
                        dis__encoder *encoder)
{
    const settings *s = of;
    for (size_t i = 0; i < items->n_items; i++) {
        size_t n;
        char word[MOST_BYTES];
        const char *text = dis_names_get(items->texts, i, &n);
        DIS_TRY(dis__vocabulary_count(&encoder->words, word, normal(s, text, n, word)));
        for (size_t at = 0, m; at < n; at += m) {
            m = dis__utf8_step(text[at]);
            DIS_TRY(dis__vocabulary_count(&encoder->characters, text + at, m));
        }
    }
    DIS_TRY(dis__vocabulary_close(&encoder->words, (uint64_t)s->seen, SIZE_MAX));
    DIS_TRY(dis__vocabulary_close(&encoder->characters, 1, SIZE_MAX));
    return dis__learn_vectors(ctx, vectors, encoder);
}

static dis_status spell(const settings *s, const dis__encoder *encoder, const dis__vocabulary *types, dis__encoded *out)
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

static dis_status number(const settings *s, const dis__encoder *encoder, const dis_items_view *items,
                         dis__vocabulary *types, dis__encoded *out)
{
    out->n_items = items->n_items;
    out->n_units = items->n_sentences;
    out->unit = items->sentence;
    out->n_lists = 1;
    DIS_TRY(dis__alloc_array(&out->start, out->n_units + 1, sizeof *out->start));
    DIS_TRY(dis__alloc_array(&out->length, out->n_units, sizeof *out->length));
    DIS_TRY(dis__alloc_array(&out->ids, out->n_items, sizeof *out->ids));
    DIS_TRY(dis__alloc_array(&out->type, out->n_items, sizeof *out->type));
    memcpy(out->start, items->sentence, (out->n_units + 1) * sizeof *out->start);
    for (size_t u = 0; u < out->n_units; u++) out->length[u] = (uint32_t)(out->start[u + 1] - out->start[u]);
    for (size_t i = 0; i < out->n_items; i++) {
        size_t n;
        char word[MOST_BYTES];
        const char *text = dis_names_get(items->texts, i, &n);
        DIS_TRY(dis__vocabulary_count(types, text, n));
        out->ids[i] = dis__vocabulary_find(&encoder->words, word, normal(s, text, n, word));
    }
    DIS_TRY(dis__vocabulary_close(types, 1, SIZE_MAX));
    for (size_t i = 0; i < out->n_items; i++) {
        size_t n;
        const char *text = dis_names_get(items->texts, i, &n);
        out->type[i] = (uint32_t)dis__vocabulary_find(types, text, n) - 1;
    }
    return spell(s, encoder, types, out);
}

static dis_status encode(dis_context *ctx, const void *of, const dis__encoder *encoder, const dis_items_view *items,
                         dis__encoded *out)
{
    (void)ctx;
    dis__vocabulary types = {0};
    const dis_status status = number(of, encoder, items, &types, out);
    dis__vocabulary_free(&types);
    return status;
}

static dis__tagger_options options_of(const settings *s, const dis__encoder *encoder, const dis__batch_limits *limits)
{
    dis__tagger_options o = dis__tagger_options_default();
    o.kind = s->kind == 0 ? DIS_TAGGER_ENCODER : DIS_TAGGER_ADDITIVE;
    o.cell = s->cell == 0 ? DIS_CELL_LSTM : DIS_CELL_GRU;
    o.word_width = encoder && encoder->vector_width ? encoder->vector_width : (size_t)s->word;
    o.character_width = (size_t)s->character;
    o.hidden = (size_t)s->hidden;
    o.encoder_layers = (size_t)s->layers;
    o.encoder_heads = (size_t)s->heads;
    o.feed = (size_t)s->feed;
    o.dropout = s->dropout;
    o.characters = (size_t)s->letters;
    if (encoder) {
        o.n_words = dis__vocabulary_size(&encoder->words);
        o.n_characters = dis__vocabulary_size(&encoder->characters);
    }
    if (limits) {
        o.sentences = limits->units;
        o.positions = limits->longest;
        o.tokens = o.distinct = limits->items;
    }
    return o;
}

/* ints[]: word ids, lengths, character ids, spelt, place, word; time[]: positions, distinct, characters. */
static dis_status build(dis__net *net, const void *of, const dis__encoder *encoder, const dis__batch_limits *limits,
                        dis__inputs *in)
{
    const dis__tagger_options o = options_of(of, encoder, limits);
    const dis__tagger t = dis__tagger_build(net, &o);
    in->units = t.sentences;
    in->items = t.tokens;
    in->time[0] = t.positions;
    in->time[1] = t.distinct;
    in->time[2] = t.characters;
    const int ints[] = {t.word_ids, t.lengths, t.character_ids, t.spelt, t.place, t.word};
    memcpy(in->ints, ints, sizeof ints);
    in->trunk = t.trunk;
    in->room = dis__size(o.sentences, o.positions + 1, dis__size(o.distinct, o.characters + 1, 2 * o.tokens));
    return dis__alloc_array(&in->whole, in->room, sizeof *in->whole);
}

static int head(dis__net *net, const void *of, const dis__inputs *in, const char *name, size_t n_classes)
{
    const dis__tagger_options o = options_of(of, NULL, NULL);
    const dis__tagger t = {.trunk = in->trunk};
    return dis__tagger_head(net, &o, &t, name, n_classes);
}

static void put(dis__net *net, const dis__inputs *in, const dis__encoded *encoded, const uint32_t *units, size_t n)
{
    size_t longest = 1, n_tokens = 0, n_distinct = 0, most_letters = 1;
    for (size_t s = 0; s < n; s++) {
        const uint32_t length = encoded->length[units[s]];
        if (length > longest) longest = length;
        n_tokens += length;
    }
    int32_t *ids = in->whole, *lengths = ids + n * longest, *place = lengths + n, *word = place + n_tokens;
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
                if (letters > most_letters) most_letters = letters;
            }
            place[row] = (int32_t)(s * longest + p);
            word[row] = encoded->mark[type];
        }
    }
    int32_t *spelt = types + n_distinct, *letters = spelt + n_distinct;
    for (size_t d = 0; d < n_distinct; d++) {
        const size_t type = (size_t)types[d], first = (size_t)encoded->spelt[type];
        const size_t length = (size_t)encoded->spelt[type + 1] - first;
        spelt[d] = (int32_t)length;
        for (size_t c = 0; c < most_letters; c++)
            letters[d * most_letters + c] = c < length ? encoded->letters[first + c] : -1;
        encoded->mark[type] = -1;
    }
    dis__net_resize(net, in->units, n);
    dis__net_resize(net, in->items, n_tokens);
    dis__net_resize(net, in->time[0], longest);
    dis__net_resize(net, in->time[1], n_distinct);
    dis__net_resize(net, in->time[2], most_letters);
    const int32_t *const all[] = {ids, lengths, letters, spelt, place, word};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) dis__net_put_ints(net, in->ints[i], all[i]);
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
    .learn = learn,
    .encode = encode,
    .build = build,
    .head = head,
    .put = put,
    .start = dis__start_words,
};
