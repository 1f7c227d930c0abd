/* text: bags of words and of pieces of words, for texts of any language, from nothing.
 *
 * A text is the mean of the vectors of its words and, hashed into a fixed number of rows, of the runs of `least` to
 * `most` characters within each word, as fastText does (Joulin et al. 2017): unseen words then have something to say.
 * Where items have several texts (premise and hypothesis) two bags are added: the words that all texts share, and those
 * that only the last one has. All bags use one table; they stand side by side under one hidden layer.
 *
 * Cost of a step: the ids of the batch times width, and the optimiser over the whole table. */
#include "train/models.h"
#include "text/words.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    int64_t width, hidden, buckets, least, most, seen, vocabulary, longest;
    double dropout;
    int case_;
} settings;

#define WHOLE(field, key_, fallback_, low_, high_, summary_)                                                          \
    {                                                                                                                 \
        .key = key_, .kind = DIS_OPTION_INT, .offset = offsetof(settings, field), .fallback = fallback_, .low = low_, \
        .high = high_, .summary = summary_                                                                            \
    }
static const dis_option options[] = {
    WHOLE(width, "width", "64", 1, 4096, "of the vector of a word; word vectors from a file bring their own"),
    WHOLE(hidden, "hidden", "64", 0, 65536, "width of the hidden layer; 0: none"),
    WHOLE(buckets, "buckets", "16384", 0, 1e8, "rows for pieces of words; 0: whole words only"),
    WHOLE(least, "least", "3", 1, 16, "characters of the shortest piece"),
    WHOLE(most, "most", "5", 1, 16, "characters of the longest piece"),
    WHOLE(seen, "seen", "2", 1, 1e9, "a word is known when it was seen this often"),
    WHOLE(vocabulary, "vocabulary", "50000", 0, 1e8, "most words known"),
    WHOLE(longest, "longest", "2000", 1, 1e6, "ids of a text beyond these are left out"),
    {.key = "dropout",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(settings, dropout),
     .fallback = "0.3",
     .low = 0,
     .high = .99,
     .summary = "share of values left out in each step"},
    {.key = "case",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, case_),
     .fallback = "lower",
     .choices = "lower|keep",
     .summary = "ASCII letters are made small, or stay"},
};

enum { MOST_TEXTS = 5, EXTRA_LISTS = 2 };

static size_t n_lists(const dis__encoder *e)
{
    return e->n_texts + (e->n_texts > 1 ? EXTRA_LISTS : 0);
}

static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items, const char *vectors,
                        dis__encoder *encoder)
{
    const settings *s = of;
    if (s->least > s->most)
        return dis__fail(DIS_EUSAGE, "model text: least=%lld is above most=%lld", (long long)s->least,
                         (long long)s->most);
    if (items->n_texts > MOST_TEXTS)
        return dis__fail(DIS_EUSAGE, "model text takes at most %d texts an item, not %zu", MOST_TEXTS, items->n_texts);
    encoder->n_texts = items->n_texts;
    for (size_t t = 0; t < items->n_items * items->n_texts; t++) {
        size_t n;
        const char *text = dis_names_get(items->texts, t, &n);
        dis__words w = dis__words_of(text, n, s->case_ == 0);
        while (dis__words_next(&w)) DIS_TRY(dis__vocabulary_count(&encoder->words, w.word, w.n));
    }
    DIS_TRY(dis__vocabulary_close(&encoder->words, (uint64_t)s->seen, (size_t)s->vocabulary));
    return dis__learn_vectors(ctx, vectors, encoder);
}

/* FNV-1a: the same on every machine, for rows that nobody can profit from making collide. */
static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return h;
}

typedef struct {
    const settings *s;
    const dis__encoder *encoder;
    dis__encoded *out;
    size_t room, n_ids;
    int32_t *words[MOST_TEXTS]; /* known words of each text of the item at hand */
    size_t n_words[MOST_TEXTS], words_room[MOST_TEXTS];
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
    const int32_t first = (int32_t)dis__vocabulary_size(&e->encoder->words);
    for (size_t from = 0; from < n_characters; from++)
        for (size_t length = (size_t)e->s->least; length <= (size_t)e->s->most && from + length <= n_characters;
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
    dis__words w = dis__words_of(text, n, e->s->case_ == 0);
    while (dis__words_next(&w)) {
        const int32_t id = dis__vocabulary_find(&e->encoder->words, w.word, w.n);
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
    dis__encoded *out = e->out;
    const size_t n_texts = e->encoder->n_texts, lists = n_lists(e->encoder);
    out->n_items = out->n_units = items->n_items;
    out->n_lists = lists;
    DIS_TRY(dis__alloc_array(&out->start, dis__size(items->n_items, lists, 1), sizeof *out->start));
    DIS_TRY(dis__alloc_zeroed(&out->length, items->n_items, sizeof *out->length));
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

static dis_status encode(dis_context *ctx, const void *of, const dis__encoder *encoder, const dis_items_view *items,
                         dis__encoded *out)
{
    (void)ctx;
    if (items->n_texts != encoder->n_texts)
        return dis__fail(DIS_EDATA, "items of %zu texts; the model was made for %zu", items->n_texts, encoder->n_texts);
    if (items->n_texts > MOST_TEXTS) /* a model file that somebody has changed */
        return dis__fail(DIS_EDATA, "a model of %zu texts an item; there are at most %d", items->n_texts, MOST_TEXTS);
    encoding e = {.s = of, .encoder = encoder, .out = out};
    const dis_status status = encode_items(&e, items);
    for (size_t t = 0; t < MOST_TEXTS; t++) dis__free(e.words[t]);
    return status;
}

static dis_status build(dis__net *net, const void *of, const dis__encoder *encoder, const dis__batch_limits *limits,
                        dis__inputs *in)
{
    const settings *s = of;
    const size_t lists = n_lists(encoder), most = limits->longest;
    const size_t n_ids = dis__vocabulary_size(&encoder->words) + (size_t)s->buckets;
    in->units = in->items = dis__net_axis(net, limits->units);
    const int bags = in->time[0] = dis__net_axis(net, dis__size(limits->units, lists, 0));
    in->time[1] = dis__net_axis(net, most);
    in->ints[0] = dis__net_ints(net, "ids", bags, in->time[1], 1);
    in->ints[1] = dis__net_ints(net, "lengths", bags, DIS_NONE, 1);
    const size_t width = encoder->vector_width ? encoder->vector_width : (size_t)s->width;
    const int all = dis__layer_embed_bag(net, "words", in->ints[0], in->ints[1], n_ids, width);
    int side[MOST_TEXTS + EXTRA_LISTS];
    for (size_t l = 0; l < lists; l++) {
        char name[32];
        snprintf(name, sizeof name, "list.%zu", l);
        in->ints[2 + l] = dis__net_ints(net, name, in->units, DIS_NONE, 1);
        side[l] = dis__layer_gather(net, all, in->ints[2 + l]);
    }
    in->trunk = lists > 1 ? dis__layer_concat(net, side, (int)lists) : side[0];
    in->trunk = dis__layer_dropout(net, in->trunk, s->dropout);
    if (s->hidden) {
        in->trunk = dis__layer_linear(net, "hidden", in->trunk, (size_t)s->hidden, DIS_ACT_RELU);
        in->trunk = dis__layer_dropout(net, in->trunk, s->dropout);
    }
    in->room = dis__size(dis__size(limits->units, lists, 0), most + 1, 0);
    return dis__alloc_array(&in->whole, in->room, sizeof *in->whole);
}

static void put(dis__net *net, const dis__inputs *in, const dis__encoded *encoded, const uint32_t *units, size_t n)
{
    const size_t lists = encoded->n_lists;
    size_t longest = 1;
    for (size_t i = 0; i < n; i++)
        if (encoded->length[units[i]] > longest) longest = encoded->length[units[i]];
    int32_t *ids = in->whole, *lengths = ids + n * lists * longest;
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < lists; l++) {
            const uint64_t *start = encoded->start + units[i] * lists + l;
            const size_t length = (size_t)(start[1] - start[0]), row = i * lists + l;
            if (length) memcpy(ids + row * longest, encoded->ids + start[0], length * sizeof *ids);
            for (size_t j = length; j < longest; j++) ids[row * longest + j] = -1;
            lengths[row] = (int32_t)length;
        }
    dis__net_resize(net, in->units, n);
    dis__net_resize(net, in->time[0], n * lists);
    dis__net_resize(net, in->time[1], longest);
    dis__net_put_ints(net, in->ints[0], ids);
    dis__net_put_ints(net, in->ints[1], lengths);
    for (size_t l = 0; l < lists; l++) {
        for (size_t i = 0; i < n; i++) ids[i] = (int32_t)(i * lists + l);
        dis__net_put_ints(net, in->ints[2 + l], ids);
    }
}

const dis__model_row dis__model_text = {
    .info = {.name = "text",
             .summary = "bags of words and of pieces of words, for texts, without anything pretrained",
             .source = "after Joulin et al. 2017",
             .items = DIS_ITEMS_TEXT,
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .epochs = 20,
             .batch = 32,
             .rate = 2e-3,
             .optimizer = "adam"},
    .settings_size = sizeof(settings),
    .learn = learn,
    .encode = encode,
    .build = build,
    .put = put,
    .start = dis__start_words,
};
