/* The stem CNN of Fornaciari et al. (2021): the characters of a word and of a proposed stem, each through two layers of
 * convolutions with windows of several widths. The first layer's maxima over pairs of places go to the second, whose
 * maxima over all places go through an attention encoder that sees one position. Word and stem have layers of their own
 * and share the table of characters.
 *
 * The first layer looks up products of the table and its weights instead of convolving rows of the table
 * (lookup_conv.c): a text has few different letters.
 *
 * Cost forward, windows w: 4 letters width channels[0] sum(w) operations per batch, and a row 2 length channels[0]
 * sum(w) additions and 2 length n_windows channels[0] channels[1] sum(w) operations for the second layers. */
#include "nn/models/nets.h"
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
        .feed = 2048,
        .dropout = .1,
        .rows = 1024,
    };
}

/* Convolutions of every window side by side: over ids of a table, or over a value (table NULL). */
static int convolve(dis__net *net, const dis__stem_cnn_options *o, const char *name, int x, const int *table,
                    size_t channels)
{
    int side[4];
    const size_t n = o->n_windows < 4 ? o->n_windows : 4;
    for (size_t i = 0; i < n; i++) {
        char text[DIS_NET_NAME / 2];
        snprintf(text, sizeof text, "%.24s.%zu", name, o->windows[i]);
        dis__conv_options c = dis__conv_options_default();
        c.out = channels;
        c.kernel = o->windows[i];
        c.act = DIS_ACT_RELU;
        side[i] =
            !table ? dis__layer_conv(net, text, x, DIS_NONE, &c) : dis__layer_lookup_conv(net, text, x, *table, &c);
    }
    return dis__layer_concat(net, side, (int)n);
}

static int read_text(dis__net *net, const dis__stem_cnn_options *o, const char *name, int ids, int table)
{
    char text[DIS_NET_NAME / 2];
    snprintf(text, sizeof text, "%.16s.first", name);
    int x = convolve(net, o, text, ids, &table, o->channels[0]);
    x = dis__layer_window(net, x, DIS_POOL_MAX, 2, 2);
    snprintf(text, sizeof text, "%.16s.second", name);
    x = dis__layer_pool(net, convolve(net, o, text, x, NULL, o->channels[1]), DIS_NONE, DIS_POOL_MAX);
    snprintf(text, sizeof text, "%.16s.encoder", name);
    return dis__layer_encoder(net, text, x, DIS_NONE, 1, o->feed, DIS_ACT_RELU, o->dropout, true);
}

dis__stem_cnn dis__stem_cnn_build(dis__net *net, const dis__stem_cnn_options *o)
{
    static const char *const names[2] = {"word", "stem"};
    dis__stem_cnn s = {.rows = dis__net_axis(net, o->rows)};
    int end[2];
    for (int i = 0; i < 2; i++) s.text[i] = dis__net_ints(net, names[i], s.rows, DIS_NONE, o->length);
    const int table = dis__layer_table(net, "characters", o->n_characters, o->width);
    for (int i = 0; i < 2; i++) end[i] = read_text(net, o, names[i], s.text[i], table);
    s.trunk = dis__layer_concat(net, end, 2);
    return s;
}
