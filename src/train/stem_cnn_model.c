/* stem-cnn: is this the stem of that word? Two texts an item, each a short run of letters: convolutions over the vectors
 * of the letters, an attention encoder each, side by side (Fornaciari et al. 2021). */
#include "train/models.h"
#include "core/utf8.h"
#include "nn/models/nets.h"
#include <string.h>

typedef struct {
    int64_t width, length, first, second, feed;
    double dropout;
} settings;

#define WHOLE(field, fallback_, low_, high_, summary_)                                                     \
    {                                                                                                      \
        .key = #field, .kind = DIS_OPTION_INT, .offset = offsetof(settings, field), .fallback = fallback_, \
        .low = low_, .high = high_, .summary = summary_                                                    \
    }
static const dis_option options[] = {
    WHOLE(width, "300", 1, 4096, "of the vector of a letter"),
    WHOLE(length, "20", 5, 256, "letters of a word and of a stem that are read"),
    WHOLE(first, "64", 1, 4096, "channels of the first convolution, for each window"),
    WHOLE(second, "128", 1, 4096, "channels of the second"),
    WHOLE(feed, "2048", 1, 65536, "width of the encoders' inner layer"),
    {.key = "dropout",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(settings, dropout),
     .fallback = "0.1",
     .low = 0,
     .high = .99,
     .summary = "share of values left out in each step"},
};

enum { TEXTS = 2 };

static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items, const char *vectors,
                        dis__encoder *encoder)
{
    (void)ctx;
    (void)of;
    (void)vectors;
    if (items->n_texts != TEXTS)
        return dis__fail(DIS_EUSAGE, "model stem-cnn needs two texts an item, word and stem; name both with --text");
    encoder->n_texts = TEXTS;
    for (size_t t = 0; t < items->n_items * TEXTS; t++) {
        size_t n;
        const char *text = dis_names_get(items->texts, t, &n);
        for (size_t at = 0, m; at < n; at += m) {
            m = dis__utf8_step(text[at]);
            DIS_TRY(dis__vocabulary_count(&encoder->characters, text + at, m));
        }
    }
    return dis__vocabulary_close(&encoder->characters, 1, SIZE_MAX);
}

/* (n_items * TEXTS) lists of `length` ids each, -1 behind the end. */
static dis_status encode(dis_context *ctx, const void *of, const dis__encoder *encoder, const dis_items_view *items,
                         dis__encoded *out)
{
    const settings *s = of;
    const size_t lists = items->n_items * TEXTS, length = (size_t)s->length;
    (void)ctx;
    if (items->n_texts != TEXTS)
        return dis__fail(DIS_EDATA, "items of %zu texts; the model was made for word and stem", items->n_texts);
    out->n_items = out->n_units = items->n_items;
    out->n_lists = TEXTS;
    DIS_TRY(dis__alloc_array(&out->start, lists + 1, sizeof *out->start));
    DIS_TRY(dis__alloc_array(&out->ids, dis__size(lists, length, 0), sizeof *out->ids));
    for (size_t t = 0; t < lists; t++) {
        size_t n, letters = 0;
        const char *text = dis_names_get(items->texts, t, &n);
        out->start[t] = t * length;
        for (size_t at = 0, m; at < n && letters < length; at += m) {
            m = dis__utf8_step(text[at]);
            out->ids[t * length + letters++] = dis__vocabulary_find(&encoder->characters, text + at, m);
        }
        while (letters < length) out->ids[t * length + letters++] = -1;
    }
    out->start[lists] = lists * length;
    return DIS_OK;
}

static dis_status build(dis__net *net, const void *of, const dis__encoder *encoder, const dis__batch_limits *limits,
                        dis__inputs *in)
{
    const settings *s = of;
    dis__stem_cnn_options o = dis__stem_cnn_options_default();
    o.n_characters = dis__vocabulary_size(&encoder->characters);
    o.width = (size_t)s->width;
    o.length = (size_t)s->length;
    o.channels[0] = (size_t)s->first;
    o.channels[1] = (size_t)s->second;
    o.feed = (size_t)s->feed;
    o.dropout = s->dropout;
    o.rows = limits->units;
    const dis__stem_cnn t = dis__stem_cnn_build(net, &o);
    in->units = in->items = t.rows;
    in->ints[0] = t.text[0];
    in->ints[1] = t.text[1];
    in->trunk = t.trunk;
    in->room = dis__size(limits->units, o.length, 0);
    return dis__alloc_array(&in->whole, in->room, sizeof *in->whole);
}

static void put(dis__net *net, const dis__inputs *in, const dis__encoded *encoded, const uint32_t *units, size_t n)
{
    const size_t length = in->room / in->most_units;
    dis__net_resize(net, in->units, n);
    for (size_t t = 0; t < TEXTS; t++) {
        for (size_t i = 0; i < n; i++)
            memcpy(in->whole + i * length, encoded->ids + encoded->start[units[i] * TEXTS + t],
                   length * sizeof *in->whole);
        dis__net_put_ints(net, in->ints[t], in->whole);
    }
}

const dis__model_row dis__model_stem_cnn = {
    .info = {.name = "stem-cnn",
             .summary = "convolutions over the letters of a word and of a stem",
             .source = "Fornaciari et al. 2021",
             .items = DIS_ITEMS_TEXT,
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
    .put = put,
};
