/* The stem CNN of Fornaciari et al. (2021): the characters of a word and of a proposed stem, each through two layers of
 * convolutions with windows of several widths. The first layer's maxima over pairs of positions go to the second, whose
 * maxima over all positions go through an attention encoder that sees one position. Word and stem have layers of their
 * own and share the table of characters. The released network has one layer of convolutions, on the characters, without
 * padding (channels[0] = 0).
 *
 * The layer on characters looks up products of the table and its weights instead of convolving rows of the table
 * (lookup_conv.c): a text has few different characters.
 *
 * Cost forward, windows w: 4 characters width channels[0] sum(w) operations per batch, and a row 2 length channels[0]
 * sum(w) additions and 2 length n_windows channels[0] channels[1] sum(w) operations for the second layers. */
#include "nn/models/network_models.h"
#include <stdio.h>

dis__stem_cnn_options dis__stem_cnn_options_default(void)
{
    return (dis__stem_cnn_options){
        .size = sizeof(dis__stem_cnn_options),
        .n_characters = 1,
        .width = 300,
        .length = 20,
        .channels = {64, 128},
        .windows = {3, 4, 5},
        .n_windows = 3,
        .encoder = dis__attention_encoder_default(),
        .rows = 1024,
    };
}

typedef struct {
    dis__net *net;
    const dis__stem_cnn_options *o;
    const char *name; /* of the text */
    int table;
} reading;

/* Convolutions of every window: over ids of the table, or over a value. */
static void convolve(const reading *r, const char *part, int x, bool ids, size_t channels, int out[4])
{
    for (size_t i = 0; i < r->o->n_windows; i++) {
        char text[DIS_NET_NAME / 2];
        snprintf(text, sizeof text, "%.16s.%.8s.%zu", r->name, part, r->o->windows[i]);
        dis__conv_options c = dis__conv_options_default();
        c.out = channels;
        c.kernel = r->o->windows[i];
        c.act = DIS_ACT_RELU;
        c.same = r->o->channels[0] > 0;
        out[i] = ids ? dis__layer_lookup_conv(r->net, text, x, r->table, &c)
                     : dis__layer_conv(r->net, text, x, DIS_NONE, &c);
    }
}

static int stacked(const reading *r, int ids)
{
    int out[4];
    const int n = (int)r->o->n_windows;
    convolve(r, "first", ids, true, r->o->channels[0], out);
    const int x = dis__layer_window(r->net, dis__layer_concat(r->net, out, n), DIS_POOL_MAX, 2, 2);
    convolve(r, "second", x, false, r->o->channels[1], out);
    return dis__layer_pool(r->net, dis__layer_concat(r->net, out, n), DIS_NONE, DIS_POOL_MAX);
}

static int single(const reading *r, int ids)
{
    int out[4];
    convolve(r, "conv", ids, true, r->o->channels[1], out);
    for (size_t i = 0; i < r->o->n_windows; i++) out[i] = dis__layer_pool(r->net, out[i], DIS_NONE, DIS_POOL_MAX);
    return dis__layer_concat(r->net, out, (int)r->o->n_windows);
}

static int read_text(const reading *r, int ids)
{
    char text[DIS_NET_NAME / 2];
    dis__attention_encoder encoder = r->o->encoder;
    int x = r->o->channels[0] ? stacked(r, ids) : single(r, ids);
    for (size_t i = 0; i < r->o->dropouts; i++) x = dis__layer_dropout(r->net, x, encoder.dropout);
    snprintf(text, sizeof text, "%.16s.encoder", r->name);
    encoder.unnumbered = true;
    return dis__attention_encoder_build(r->net, text, x, &encoder);
}

dis__stem_cnn dis__stem_cnn_build(dis__net *net, const dis__stem_cnn_options *o)
{
    static const char *const names[2] = {"word", "stem"};
    dis__stem_cnn s = {.rows = dis__net_axis(net, o->rows)};
    int end[2];
    for (int i = 0; i < 2; i++) s.text[i] = dis__net_ints(net, names[i], s.rows, DIS_NONE, o->length);
    const int table = dis__layer_table(net, "characters", o->n_characters, o->width);
    for (int i = 0; i < 2; i++) end[i] = read_text(&(reading){net, o, names[i], table}, s.text[i]);
    s.trunk = dis__layer_concat(net, end, 2);
    return s;
}
