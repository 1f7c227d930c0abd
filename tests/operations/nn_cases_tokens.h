/* nn_cases_tokens.h: cases of layers over sequences: recurrent ones, attention, packed rows of tokens, taggers. */
#ifndef DIS_OPERATIONS_NN_CASES_TOKENS_H
#define DIS_OPERATIONS_NN_CASES_TOKENS_H
#include "nn_case_parts.h"

/* One direction to its last state; two layers of both directions; the same over a table; rows that begin or end alike,
 * over a table with few rows and with many; every state and the ends, without lengths. */
#define RECURRENT(name, cell)                                                                                   \
    static void case_##name(nn_net *f)                                                                          \
    {                                                                                                           \
        const int x = sequence(f, 5), n = lengths(f);                                                           \
        const int y = dis__layer_recurrent(f->net, #name, cell, x, n, 6, false, 1, 0);                          \
        above(f, dis__layer_pool(f->net, y, n, DIS_POOL_LAST));                                                 \
    }                                                                                                           \
    static void case_##name##_both(nn_net *f)                                                                   \
    {                                                                                                           \
        const int x = sequence(f, 5), n = lengths(f);                                                           \
        const int y = dis__layer_recurrent(f->net, #name, cell, x, n, 9, true, 2, .2);                          \
        above(f, dis__layer_pool(f->net, y, n, DIS_POOL_MEAN));                                                 \
    }                                                                                                           \
    static void case_##name##_ids(nn_net *f)                                                                    \
    {                                                                                                           \
        const int ids = nn_ints_input(f, f->rows, f->time, 1, -1, 5), n = lengths(f);                           \
        const int table = dis__layer_table(f->net, "letters", 6, 4);                                            \
        const int y = dis__layer_lookup_recurrent(f->net, #name, cell, ids, table, n, 5, true, 2, .2);          \
        above(f, dis__layer_pool(f->net, y, n, DIS_POOL_MEAN));                                                 \
    }                                                                                                           \
    static void case_##name##_alike(nn_net *f)                                                                  \
    {                                                                                                           \
        const int ids = nn_ints_input(f, f->rows, f->time, 1, -1, 0), n = lengths(f);                           \
        const int few = dis__layer_table(f->net, "few", 1, 4), many = dis__layer_table(f->net, "many", 999, 3); \
        const int y = dis__layer_lookup_recurrent(f->net, "one", cell, ids, few, n, 5, true, 1, 0);             \
        const int z = dis__layer_lookup_recurrent(f->net, "two", cell, ids, many, n, 4, true, 1, 0);            \
        above(f, dis__layer_pool(f->net, dis__layer_concat(f->net, (int[]){y, z}, 2), n, DIS_POOL_MEAN));       \
    }                                                                                                           \
    static void case_##name##_all(nn_net *f)                                                                    \
    {                                                                                                           \
        const int x = dis__layer_recurrent(f->net, #name, cell, sequence(f, 4), DIS_NONE, 3, true, 1, 0);       \
        above(f, x);                                                                                            \
        nn_soft(f, "ends", dis__layer_pool(f->net, x, DIS_NONE, DIS_POOL_ENDS), NULL);                          \
    }
RECURRENT(lstm, DIS_CELL_LSTM)
RECURRENT(gru, DIS_CELL_GRU)

/* More rows than a block of a recurrent layer has, and as many units as devices have special ways for: over values, and
 * over ids, where rows share what they begin or end with. */
static void more_rows(nn_net *f)
{
    f->times = 5;
    f->rows = dis__net_axis(f->net, 200);
}

#define RECURRENT_WIDE(name, cell)                                                                        \
    static void case_##name##_wide(nn_net *f)                                                             \
    {                                                                                                     \
        more_rows(f);                                                                                     \
        const int n = lengths(f), ids = nn_ints_input(f, f->rows, f->time, 1, -1, 1);                     \
        const int table = dis__layer_table(f->net, "letters", 2, 4);                                      \
        const int x = dis__layer_lookup_recurrent(f->net, "one", cell, ids, table, n, 64, true, 1, 0);    \
        const int y = dis__layer_recurrent(f->net, "two", cell, sequence(f, 5), n, 64, false, 1, 0);      \
        above(f, dis__layer_pool(f->net, dis__layer_concat(f->net, (int[]){x, y}, 2), n, DIS_POOL_MEAN)); \
    }
RECURRENT_WIDE(lstm, DIS_CELL_LSTM)
RECURRENT_WIDE(gru, DIS_CELL_GRU)

/* More units that devices have special ways for. */
#define RECURRENT_UNITS(name, cell)                                                                       \
    static void case_##name##_units(nn_net *f)                                                            \
    {                                                                                                     \
        more_rows(f);                                                                                     \
        const int n = lengths(f), x = sequence(f, 5);                                                     \
        const int y = dis__layer_recurrent(f->net, "one", cell, x, n, 128, false, 1, 0);                  \
        const int z = dis__layer_recurrent(f->net, "two", cell, x, n, 256, false, 1, 0);                  \
        above(f, dis__layer_pool(f->net, dis__layer_concat(f->net, (int[]){y, z}, 2), n, DIS_POOL_MEAN)); \
    }
RECURRENT_UNITS(lstm, DIS_CELL_LSTM)
RECURRENT_UNITS(gru, DIS_CELL_GRU)

static void case_padded_attention(nn_net *f)
{
    const int x = sequence(f, 6), n = lengths(f), y = dis__layer_multihead_attention(f->net, "att", x, n, 2, .2);
    above(f, dis__layer_pool(f->net, y, n, DIS_POOL_MEAN));
}

static void case_padded_attention_alone(nn_net *f)
{
    above(f, dis__layer_multihead_attention(f->net, "att", below(f, 6), DIS_NONE, 3, .3));
}

static dis__encoder_options encoder_options(size_t heads, size_t feed, double dropout)
{
    dis__encoder_options o = dis__encoder_options_default();
    o.n_heads = heads;
    o.n_feed = feed;
    o.dropout = dropout;
    return o;
}

static void case_encoder(nn_net *f)
{
    const int n = lengths(f);
    dis__encoder_options o = encoder_options(2, 11, .1);
    const int x = dis__layer_encoder(f->net, "one", sequence(f, 8), n, &o);
    o = encoder_options(4, 10, 0);
    o.act = DIS_ACT_GELU;
    o.norm_first = false;
    above(f, dis__layer_encoder(f->net, "two", x, n, &o));
}

/* What the blocks add to is needed once more after them, itself and passed on. */
static void case_encoder_fork(nn_net *f)
{
    const int x = below(f, 6), y = dis__layer_dropout(f->net, x, .1);
    const dis__encoder_options o = encoder_options(2, 7, .1), p = encoder_options(2, 7, 0);
    const int one = dis__layer_encoder(f->net, "one", x, DIS_NONE, &o);
    const int two = dis__layer_encoder(f->net, "two", x, DIS_NONE, &p);
    above(f, dis__layer_concat(f->net, (int[]){one, two, y}, 3));
}

/* Packed rows: the tokens' vectors, (tokens, channels). */
static int packed(nn_net *f, size_t channels)
{
    const int ids = nn_ints_input(f, f->tokens, DIS_NONE, 1, 0, 8),
              places = nn_ints_input(f, f->tokens, DIS_NONE, 1, 0, 3);
    f->start = dis__net_ints(f->net, "start", f->rows, DIS_NONE, 1) + 1;
    f->length = dis__net_ints(f->net, "length", f->rows, DIS_NONE, 1) + 1;
    return dis__layer_add(f->net, dis__layer_embed(f->net, "words", ids, 9, channels),
                          dis__layer_embed(f->net, "places", places, 4, channels));
}

static int packed_attention(nn_net *f, const char *name, int x, const dis__packed_attention_options *o)
{
    char text[32];
    snprintf(text, sizeof text, "%s.qkv", name);
    const int qkv = dis__layer_linear(f->net, text, x, 3 * dis__shape_of(f->net, x)->channels, DIS_ACT_NONE);
    return dis__layer_packed_attention(f->net, name, qkv, f->start - 1, f->length - 1, o);
}

static void case_packed_attention(nn_net *f)
{
    const int x = packed(f, 6);
    dis__packed_attention_options o = dis__packed_attention_options_default();
    o.n_heads = 2;
    o.longest = 60;
    above(f, dis__layer_pool_packed(f->net, packed_attention(f, "att", x, &o), f->start - 1, f->length - 1,
                                    DIS_POOL_MEAN));
}

/* Two layers that share biases by distance; a window, a scale, dropout; a label per token. */
static void case_packed_attention_bias(nn_net *f)
{
    const int x = packed(f, 8), table = dis__layer_table(f->net, "relative", 8, 4);
    dis__packed_attention_options o = dis__packed_attention_options_default();
    o.n_heads = 4;
    o.longest = 60;
    o.bias = table;
    o.farthest = 7;
    o.dropout = .2;
    const int y = dis__layer_add(f->net, packed_attention(f, "one", x, &o), x);
    o.window = 2;
    o.scale = .5;
    above(f, packed_attention(f, "two", y, &o));
}

/* Tokens that are not seen, in some rows all of them. */
static void case_packed_attention_mask(nn_net *f)
{
    const int x = packed(f, 4);
    dis__packed_attention_options o = dis__packed_attention_options_default();
    o.longest = 60;
    o.mask = nn_ints_input(f, f->tokens, DIS_NONE, 1, 0, 2);
    above(f,
          dis__layer_pool_packed(f->net, packed_attention(f, "att", x, &o), f->start - 1, f->length - 1, DIS_POOL_MAX));
}

/* ---- many tokens: heads as wide as encoders have them, rows of several tiles, and many rows ---- */

static int packed_many(nn_net *f, size_t channels)
{
    f->tokens = dis__net_axis_packed(f->net, NN_MANY_TOKENS);
    return packed(f, channels);
}

static dis__packed_attention_options heads_of_many(size_t n_heads, double dropout)
{
    dis__packed_attention_options o = dis__packed_attention_options_default();
    o.n_heads = n_heads;
    o.longest = NN_MANY_TOKENS;
    o.dropout = dropout;
    o.scale = .03; /* parameters are large here: rounding would turn sharper choices */
    return o;
}

static void case_heads_64(nn_net *f)
{
    const dis__packed_attention_options o = heads_of_many(2, .2);
    const int x = packed_many(f, 128), y = packed_attention(f, "att", x, &o);
    above(f, dis__layer_pool_packed(f->net, y, f->start - 1, f->length - 1, DIS_POOL_MEAN));
}

static void heads_with_bias(nn_net *f, size_t channels)
{
    const int x = packed_many(f, 2 * channels), table = dis__layer_table(f->net, "relative", 32, 2);
    dis__packed_attention_options o = heads_of_many(2, .1);
    o.bias = table;
    const int y = dis__layer_add(f->net, packed_attention(f, "one", x, &o), x);
    o.window = 70;
    o.scale = .01;
    above(f, packed_attention(f, "two", y, &o));
}

static void case_heads_64_bias(nn_net *f)
{
    heads_with_bias(f, 64);
}

static void case_heads_32_bias(nn_net *f)
{
    heads_with_bias(f, 32);
}

static void case_heads_64_mask(nn_net *f)
{
    const int x = packed_many(f, 128);
    dis__packed_attention_options o = heads_of_many(2, 0);
    o.mask = nn_ints_input(f, f->tokens, DIS_NONE, 1, 0, 2);
    const int y = packed_attention(f, "one", x, &o);
    o.mask = DIS_NONE;
    o.window = 9;
    above(f, packed_attention(f, "two", y, &o));
}

static void case_pool_packed_first(nn_net *f)
{
    const int x = packed(f, 5);
    above(f, dis__layer_linear(f->net, "pooler",
                               dis__layer_pool_packed(f->net, x, f->start - 1, f->length - 1, DIS_POOL_FIRST), 5,
                               DIS_ACT_TANH));
}

static void tagger(nn_net *f, dis__tagger_options o)
{
    o.n_words = 9;
    o.n_characters = 6;
    o.word_width = 5;
    o.character_width = 3;
    o.hidden = 4;
    o.encoder.feed = 7;
    o.sentences = o.positions = o.tokens = o.distinct = o.characters = 128; /* a round number for any device */
    const dis__tagger t = dis__tagger_build(f->net, &o);
    dis__net_resize(f->net, t.distinct, 12);
    dis__net_resize(f->net, t.characters, 12);
    f->rows = t.sentences;
    f->time = t.positions;
    f->tokens = t.tokens;
    f->ints[f->n_ints++] = (nn_ints){t.word_ids, -1, 8};
    f->ints[f->n_ints++] = (nn_ints){t.lengths, 0, DIS_NONE};
    f->ints[f->n_ints++] = (nn_ints){t.character_ids, 0, 5};
    f->ints[f->n_ints++] = (nn_ints){t.spelt, 1, 12};
    f->ints[f->n_ints++] = (nn_ints){t.place, 0, 0};
    f->ints[f->n_ints++] = (nn_ints){t.word, 0, 11};
    if (o.padded) f->ints[f->n_ints++] = (nn_ints){t.reversed, 0, 8};
    if (o.padded) f->ints[f->n_ints++] = (nn_ints){t.from_end, 0, 0};
    if (o.last_state) f->ints[f->n_ints++] = (nn_ints){t.last, 0, 5};
    nn_soft(f, "gold", dis__tagger_head(f->net, &o, &t, "gold", 4), NULL);
    nn_soft(f, "soft", dis__tagger_head(f->net, &o, &t, "soft", 3), NULL);
}

static dis__tagger_options tagger_options(dis__tagger_kind kind, dis__recurrent_cell cell)
{
    dis__tagger_options o = dis__tagger_options_default();
    o.kind = kind;
    o.cell = cell;
    o.encoder.layers = 1;
    return o;
}

static void case_tagger_encoder(nn_net *f)
{
    tagger(f, tagger_options(DIS_TAGGER_ENCODER, DIS_CELL_LSTM));
}

static void case_tagger_additive(nn_net *f)
{
    tagger(f, tagger_options(DIS_TAGGER_ADDITIVE, DIS_CELL_LSTM));
}

static void case_tagger_gru(nn_net *f)
{
    tagger(f, tagger_options(DIS_TAGGER_ENCODER, DIS_CELL_GRU));
}

static void case_tagger_linear(nn_net *f)
{
    dis__tagger_options o = tagger_options(DIS_TAGGER_LINEAR, DIS_CELL_LSTM);
    o.frozen = true;
    o.n_linears = 2;
    o.linear[0] = 6;
    o.linear[1] = 5;
    tagger(f, o);
}

static void case_tagger_released(nn_net *f)
{
    dis__tagger_options o = tagger_options(DIS_TAGGER_ENCODER, DIS_CELL_LSTM);
    o.encoder.layers = 2;
    o.encoder.position = o.encoder.final_norm = o.encoder.sample_norm = o.encoder.copies = true;
    o.dropout_between = o.padded = o.last_state = true;
    o.head_relu = false;
    tagger(f, o);
}

#endif
