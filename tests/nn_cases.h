/* nn_cases.h: one list of small nets, at least one per layer and a head, that every device is tested with. Below each
 * layer stands a linear one or a table, so that the gradient of its input is seen in a parameter. */
#ifndef DIS_TESTS_NN_CASES_H
#define DIS_TESTS_NN_CASES_H
#include "nn_support.h"
#include "nn/models/nets.h"

static int below(nn_net *f, size_t channels)
{
    const int x = nn_reals(f, dis__shape_rows(f->rows, 7));
    return dis__layer_linear(f->net, "below", x, channels, DIS_ACT_NONE);
}

/* (rows, time, channels) */
static int sequence(nn_net *f, size_t channels)
{
    const int ids = nn_ints_input(f, f->rows, f->time, 1, -1, 8);
    return dis__layer_embed(f->net, "words", ids, 9, channels);
}

static int lengths(nn_net *f)
{
    return nn_ints_input(f, f->rows, DIS_NONE, 1, 0, DIS_NONE);
}

static void above(nn_net *f, int x)
{
    nn_soft(f, "head", dis__layer_linear(f->net, "above", x, 4, DIS_ACT_NONE), NULL);
}

static void case_linear(nn_net *f)
{
    above(f, below(f, 37));
}

#define ACTIVATION(name, act)                                              \
    static void case_##name(nn_net *f)                                     \
    {                                                                      \
        above(f, dis__layer_linear(f->net, "act", below(f, 19), 13, act)); \
    }
ACTIVATION(relu, DIS_ACT_RELU)
ACTIVATION(tanh, DIS_ACT_TANH)
ACTIVATION(sigmoid, DIS_ACT_SIGMOID)
ACTIVATION(gelu, DIS_ACT_GELU)

static void case_activations_alone(nn_net *f)
{
    const int x = below(f, 11), y = dis__layer_activate(f->net, x, DIS_ACT_GELU);
    above(f, dis__layer_add(f->net, dis__layer_activate(f->net, y, DIS_ACT_TANH),
                            dis__layer_activate(f->net, x, DIS_ACT_SIGMOID)));
}

static void case_wide(nn_net *f)
{
    const int x = nn_reals(f, dis__shape_rows(f->rows, 700));
    above(f, dis__layer_linear(f->net, "wide", x, 530, DIS_ACT_TANH));
}

static void case_embed(nn_net *f)
{
    above(f, dis__layer_pool(f->net, sequence(f, 21), DIS_NONE, DIS_POOL_MEAN));
}

static void case_embed_bag(nn_net *f)
{
    const int ids = nn_ints_input(f, f->rows, f->time, 1, -1, 30);
    above(f, dis__layer_embed_bag(f->net, "bag", ids, lengths(f), 31, 18));
}

static void case_embed_again(nn_net *f)
{
    const int x = sequence(f, 5), more = nn_ints_input(f, f->rows, f->time, 1, -1, 8);
    above(f, dis__layer_add(f->net, x, dis__layer_embed_again(f->net, x, more, DIS_NONE)));
}

static void case_weigh(nn_net *f)
{
    const int n = lengths(f), x = sequence(f, 6), s = dis__layer_linear(f->net, "score", x, 1, DIS_ACT_TANH);
    above(f, dis__layer_weigh(f->net, x, s, n));
}

static void case_weigh_wide(nn_net *f)
{
    const int x = sequence(f, 70), s = dis__layer_linear(f->net, "score", x, 1, DIS_ACT_NONE);
    above(f, dis__layer_weigh(f->net, x, s, DIS_NONE));
}

static void case_reshape(nn_net *f)
{
    const int x = dis__layer_reshape(f->net, below(f, 12), 2, 3, 2);
    above(f, dis__layer_pool(f->net, x, DIS_NONE, DIS_POOL_MAX));
}

static void case_layernorm(nn_net *f)
{
    above(f, dis__layer_layernorm(f->net, "norm", below(f, 33), DIS_NONE));
}

static void case_layernorm_residual(nn_net *f)
{
    const int x = below(f, 9), y = dis__layer_linear(f->net, "other", x, 9, DIS_ACT_TANH);
    above(f, dis__layer_layernorm(f->net, "norm", y, x));
}

static void case_dropout(nn_net *f)
{
    const int x = below(f, 50);
    above(f, dis__layer_add(f->net, dis__layer_dropout(f->net, x, .3), x));
}

static void case_add_itself(nn_net *f)
{
    const int x = below(f, 5);
    above(f, dis__layer_add(f->net, x, x));
}

static void case_concat(nn_net *f)
{
    const int x = below(f, 5), y = dis__layer_linear(f->net, "y", x, 3, DIS_ACT_TANH);
    above(f, dis__layer_concat(f->net, (int[]){y, x, y}, 3));
}

#define POOL(name, kind)                                                     \
    static void case_pool_##name(nn_net *f)                                  \
    {                                                                        \
        above(f, dis__layer_pool(f->net, sequence(f, 6), lengths(f), kind)); \
    }
POOL(max, DIS_POOL_MAX)
POOL(mean, DIS_POOL_MEAN)
POOL(first, DIS_POOL_FIRST)
POOL(last, DIS_POOL_LAST)

static void case_gather(nn_net *f)
{
    const int x = sequence(f, 6), index = nn_ints_input(f, f->tokens, DIS_NONE, 1, -1, 0);
    above(f, dis__layer_gather(f->net, x, index));
}

#define SOFT(name, kind, log_base)                                   \
    static void case_##name(nn_net *f)                               \
    {                                                                \
        dis__soft_head_options o = dis__soft_head_options_default(); \
        o.loss = kind;                                               \
        o.base = log_base;                                           \
        o.floor = 1e-3;                                              \
        o.weight = .7;                                               \
        nn_soft(f, "head", below(f, 5), &o);                         \
    }
SOFT(ce, DIS_LOSS_CE, 0)
SOFT(kl, DIS_LOSS_KL, 2)
SOFT(inverse_kl, DIS_LOSS_INVERSE_KL, 2)
SOFT(js, DIS_LOSS_JS, 10)

#define CROWD(name, kind)                               \
    static void case_crowd_##name(nn_net *f)            \
    {                                                   \
        nn_crowd(f, "crowd", below(f, 3), kind, false); \
    }                                                   \
    static void case_crowd_q_##name(nn_net *f)          \
    {                                                   \
        nn_crowd(f, "crowd", below(f, 3), kind, true);  \
    }
CROWD(mw, DIS_CROWD_MW)
CROWD(vw, DIS_CROWD_VW)
CROWD(vb, DIS_CROWD_VB)
CROWD(vwb, DIS_CROWD_VWB)
CROWD(sw, DIS_CROWD_SW)

/* More classes than a warp of a GPU has lanes. */
static void case_crowd_wide(nn_net *f)
{
    nn_crowd(f, "crowd", below(f, 40), DIS_CROWD_MW, true);
}

static void case_pool_ends(nn_net *f)
{
    above(f, dis__layer_pool(f->net, sequence(f, 6), lengths(f), DIS_POOL_ENDS));
}

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

static void case_attention(nn_net *f)
{
    const int x = sequence(f, 6), n = lengths(f), y = dis__layer_attention(f->net, "att", x, n, 2, .2);
    above(f, dis__layer_pool(f->net, y, n, DIS_POOL_MEAN));
}

static void case_attention_alone(nn_net *f)
{
    above(f, dis__layer_attention(f->net, "att", below(f, 6), DIS_NONE, 3, .3));
}

static void case_encoder(nn_net *f)
{
    const int n = lengths(f);
    const int x = dis__layer_encoder(f->net, "one", sequence(f, 8), n, 2, 11, DIS_ACT_RELU, .1, true);
    above(f, dis__layer_encoder(f->net, "two", x, n, 4, 10, DIS_ACT_GELU, 0, false));
}

/* What the blocks add to is needed once more behind them, itself and passed on. */
static void case_encoder_fork(nn_net *f)
{
    const int x = below(f, 6), y = dis__layer_dropout(f->net, x, .1);
    const int one = dis__layer_encoder(f->net, "one", x, DIS_NONE, 2, 7, DIS_ACT_RELU, .1, true);
    const int two = dis__layer_encoder(f->net, "two", x, DIS_NONE, 2, 7, DIS_ACT_RELU, 0, true);
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

static int attend(nn_net *f, const char *name, int x, const dis__attend_options *o)
{
    char text[32];
    snprintf(text, sizeof text, "%s.qkv", name);
    const int qkv = dis__layer_linear(f->net, text, x, 3 * dis__shape_of(f->net, x)->channels, DIS_ACT_NONE);
    return dis__layer_attend(f->net, name, qkv, f->start - 1, f->length - 1, o);
}

static void case_attend(nn_net *f)
{
    const int x = packed(f, 6);
    dis__attend_options o = dis__attend_options_default();
    o.n_heads = 2;
    o.longest = 60;
    above(f, dis__layer_pool_packed(f->net, attend(f, "att", x, &o), f->start - 1, f->length - 1, DIS_POOL_MEAN));
}

/* Two layers that share biases by distance; a window, a scale, dropout; a label per token. */
static void case_attend_bias(nn_net *f)
{
    const int x = packed(f, 8), table = dis__layer_table(f->net, "relative", 8, 4);
    dis__attend_options o = dis__attend_options_default();
    o.n_heads = 4;
    o.longest = 60;
    o.bias = table;
    o.farthest = 7;
    o.dropout = .2;
    const int y = dis__layer_add(f->net, attend(f, "one", x, &o), x);
    o.window = 2;
    o.scale = .5;
    above(f, attend(f, "two", y, &o));
}

/* Tokens that are not seen, in some rows all of them. */
static void case_attend_mask(nn_net *f)
{
    const int x = packed(f, 4);
    dis__attend_options o = dis__attend_options_default();
    o.longest = 60;
    o.mask = nn_ints_input(f, f->tokens, DIS_NONE, 1, 0, 2);
    above(f, dis__layer_pool_packed(f->net, attend(f, "att", x, &o), f->start - 1, f->length - 1, DIS_POOL_MAX));
}

/* ---- many tokens: heads as wide as encoders have them, rows of several tiles, and many rows ---- */

enum { NN_MANY_TOKENS = 700, NN_MANY_ROWS = 4200 };

static int packed_many(nn_net *f, size_t channels)
{
    f->tokens = dis__net_axis_packed(f->net, NN_MANY_TOKENS);
    return packed(f, channels);
}

static dis__attend_options heads_of_many(size_t n_heads, double dropout)
{
    dis__attend_options o = dis__attend_options_default();
    o.n_heads = n_heads;
    o.longest = NN_MANY_TOKENS;
    o.dropout = dropout;
    o.scale = .03; /* parameters are large here: rounding would turn sharper choices */
    return o;
}

static void case_heads_64(nn_net *f)
{
    const dis__attend_options o = heads_of_many(2, .2);
    const int x = packed_many(f, 128), y = attend(f, "att", x, &o);
    above(f, dis__layer_pool_packed(f->net, y, f->start - 1, f->length - 1, DIS_POOL_MEAN));
}

static void heads_with_bias(nn_net *f, size_t channels)
{
    const int x = packed_many(f, 2 * channels), table = dis__layer_table(f->net, "relative", 32, 2);
    dis__attend_options o = heads_of_many(2, .1);
    o.bias = table;
    const int y = dis__layer_add(f->net, attend(f, "one", x, &o), x);
    o.window = 70;
    o.scale = .01;
    above(f, attend(f, "two", y, &o));
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
    dis__attend_options o = heads_of_many(2, 0);
    o.mask = nn_ints_input(f, f->tokens, DIS_NONE, 1, 0, 2);
    const int y = attend(f, "one", x, &o);
    o.mask = DIS_NONE;
    o.window = 9;
    above(f, attend(f, "two", y, &o));
}

static void case_pool_packed_first(nn_net *f)
{
    const int x = packed(f, 5);
    above(f, dis__layer_linear(f->net, "pooler",
                               dis__layer_pool_packed(f->net, x, f->start - 1, f->length - 1, DIS_POOL_FIRST), 5,
                               DIS_ACT_TANH));
}

/* As encoders of 768 channels have them: between linear layers, behind dropout and without, with a residual and
 * without; the products are small. */
static void case_wide_norms(nn_net *f)
{
    const int x = below(f, 768), narrow = dis__layer_linear(f->net, "narrow", x, 8, DIS_ACT_NONE);
    int y = dis__layer_linear(f->net, "one", narrow, 768, DIS_ACT_NONE);
    y = dis__layer_layernorm(f->net, "norm1", dis__layer_dropout(f->net, y, .3), x);
    int z = dis__layer_linear(f->net, "two", dis__layer_linear(f->net, "less", y, 8, DIS_ACT_NONE), 768, DIS_ACT_NONE);
    z = dis__layer_layernorm(f->net, "norm2", z, y);
    z = dis__layer_layernorm(f->net, "norm3", dis__layer_dropout(f->net, z, .2), DIS_NONE);
    above(f, z);
}

static void case_many_norms(nn_net *f)
{
    f->rows = dis__net_axis(f->net, NN_MANY_ROWS);
    case_wide_norms(f);
}

static void case_layernorm_options(nn_net *f)
{
    dis__layernorm_options o = dis__layernorm_options_default();
    o.epsilon = .5;
    const int x = dis__layer_layernorm_with(f->net, "one", below(f, 9), DIS_NONE, &o);
    o.bias = false;
    above(f, dis__layer_layernorm_with(f->net, "two", x, x, &o));
}

/* Without bias; and tied to the table of an embedding, which gets both gradients. */
static void case_linear_options(nn_net *f)
{
    dis__linear_options o = dis__linear_options_default();
    o.bias = false;
    o.act = DIS_ACT_GELU;
    const int words = sequence(f, 7);
    const int x =
        dis__layer_linear_with(f->net, "bare", dis__layer_pool(f->net, words, DIS_NONE, DIS_POOL_MEAN), 7, &o);
    o.tied = words;
    o.act = DIS_ACT_NONE;
    nn_soft(f, "head", dis__layer_linear_with(f->net, "decoder", x, 9, &o), NULL);
}

/* The second and last thirds of three, and all of one matrix, which itself stays. */
static void case_low_rank(nn_net *f)
{
    dis__low_rank_options o = dis__low_rank_options_default();
    const int x = below(f, 11);
    int y = dis__layer_linear(f->net, "three", x, 27, DIS_ACT_NONE);
    o.rank = 3;
    o.scale = 1.5;
    o.n_out = 9;
    o.n_parts = 2;
    o.first[0] = 9;
    o.first[1] = 18;
    y = dis__layer_low_rank(f->net, "lora.three", x, y, &o);
    o = dis__low_rank_options_default();
    const int z = dis__layer_linear(f->net, "one", y, 13, DIS_ACT_NONE);
    above(f, dis__layer_low_rank(f->net, "lora.one", dis__layer_dropout(f->net, y, .1), z, &o));
    dis__net_freeze(f->net, "one.");
}

static int convolve(nn_net *f, const char *name, int x, int n, size_t out, size_t kernel, size_t stride, bool same)
{
    dis__conv_options o = dis__conv_options_default();
    o.out = out;
    o.kernel = kernel;
    o.stride = stride;
    o.same = same;
    o.act = DIS_ACT_TANH;
    return dis__layer_conv(f->net, name, x, n, &o);
}

static void case_conv_time(nn_net *f)
{
    const int n = lengths(f), x = convolve(f, "c3", sequence(f, 5), n, 7, 3, 1, true);
    const int y = convolve(f, "c4", x, n, 6, 4, 1, true);
    above(f, dis__layer_pool(f->net, y, n, DIS_POOL_MAX));
}

/* Sequences of fixed length, with windows in between. */
static void case_conv_fixed(nn_net *f)
{
    const int ids = nn_ints_input(f, f->rows, DIS_NONE, 11, -1, 5);
    const int x = convolve(f, "c5", dis__layer_embed(f->net, "chars", ids, 6, 4), DIS_NONE, 5, 5, 1, true);
    const int y = dis__layer_window(f->net, x, DIS_POOL_MAX, 3, 2);
    above(f, dis__layer_pool(f->net, convolve(f, "c2", y, DIS_NONE, 3, 2, 1, false), DIS_NONE, DIS_POOL_MEAN));
}

/* Two texts over one table, by kernels of even and odd width, with and without bias; some ids are none. */
static void case_lookup_conv(nn_net *f)
{
    const int table = dis__layer_table(f->net, "letters", 6, 5);
    int y[2];
    for (size_t i = 0; i < 2; i++) {
        const int ids = nn_ints_input(f, f->rows, DIS_NONE, 7, -1, 5);
        dis__conv_options o = dis__conv_options_default();
        o.out = 9;
        o.kernel = 3 + i;
        o.bias = i == 0;
        o.act = i ? DIS_ACT_TANH : DIS_ACT_NONE;
        y[i] = dis__layer_lookup_conv(f->net, i ? "second" : "first", ids, table, &o);
    }
    above(f, dis__layer_pool(f->net, dis__layer_add(f->net, y[0], y[1]), DIS_NONE, DIS_POOL_MEAN));
}

/* (rows, 6, 5, channels) */
static int image(nn_net *f, size_t channels)
{
    const int x = nn_reals(f, (dis__shape){f->rows, DIS_NONE, 6, 5, 3});
    return dis__layer_linear(f->net, "below", x, channels, DIS_ACT_NONE);
}

static void case_conv_image(nn_net *f)
{
    const int x = convolve(f, "c3", image(f, 4), DIS_NONE, 5, 3, 2, true);
    const int y = convolve(f, "c2", x, DIS_NONE, 4, 2, 1, false);
    above(f, dis__layer_pool(f->net, y, DIS_NONE, DIS_POOL_MEAN));
}

static int convolve_plain(nn_net *f, const char *name, int x, int n, size_t out, size_t kernel, size_t stride)
{
    dis__conv_options o = dis__conv_options_default();
    o.out = out;
    o.kernel = kernel;
    o.stride = stride;
    o.bias = false;
    return dis__layer_conv(f->net, name, x, n, &o);
}

/* Whole vectors of channels, more columns than a tile has, and more places. Plain layers: what is rounded at one stays
 * as small behind it. */
static void case_conv_wide(nn_net *f)
{
    const int x = convolve_plain(f, "c3", image(f, 16), DIS_NONE, 72, 3, 1);
    const int y = convolve_plain(f, "c5", x, DIS_NONE, 8, 5, 2), z = convolve_plain(f, "c1", y, DIS_NONE, 16, 1, 2);
    const int n = lengths(f), t = convolve(f, "c4", sequence(f, 8), n, 24, 4, 1, true);
    const int both[] = {dis__layer_pool(f->net, y, DIS_NONE, DIS_POOL_MEAN),
                        dis__layer_pool(f->net, z, DIS_NONE, DIS_POOL_MEAN),
                        dis__layer_pool(f->net, t, n, DIS_POOL_MEAN)};
    const int all = dis__layer_concat(f->net, both, 3);
    above(f, dis__layer_layernorm(f->net, "norm", all, DIS_NONE));
}

/* Colours first, an input that two layers read, a projection. */
static void case_conv_bare(nn_net *f)
{
    const int x = convolve_plain(f, "first", image(f, 3), DIS_NONE, 16, 3, 1);
    const int y = convolve_plain(f, "second", x, DIS_NONE, 16, 3, 1);
    const int z = convolve_plain(f, "third", dis__layer_add(f->net, x, y), DIS_NONE, 16, 3, 2);
    const int w = convolve_plain(f, "projection", x, DIS_NONE, 16, 1, 2);
    const int sum = dis__layer_pool(f->net, dis__layer_add(f->net, z, w), DIS_NONE, DIS_POOL_MEAN);
    above(f, dis__layer_layernorm(f->net, "norm", sum, DIS_NONE));
}

static void case_windows(nn_net *f)
{
    const int x = image(f, 4), y = dis__layer_window(f->net, x, DIS_POOL_MEAN, 2, 1);
    const int z = dis__layer_window(f->net, x, DIS_POOL_MAX, 2, 2);
    above(f, dis__layer_add(f->net, dis__layer_pool(f->net, y, DIS_NONE, DIS_POOL_MAX),
                            dis__layer_pool(f->net, z, DIS_NONE, DIS_POOL_MEAN)));
}

static void case_shortcut(nn_net *f)
{
    const int x = image(f, 4), y = dis__layer_shortcut(f->net, x, 2, 8);
    above(f, dis__layer_add(f->net, dis__layer_pool(f->net, y, DIS_NONE, DIS_POOL_MEAN),
                            dis__layer_pool(f->net, convolve(f, "c", x, DIS_NONE, 8, 1, 1, true), DIS_NONE,
                                            DIS_POOL_MAX)));
}

static void case_batchnorm(nn_net *f)
{
    const int x = image(f, 4), y = dis__layer_batchnorm(f->net, "norm", x, DIS_NONE, DIS_ACT_TANH);
    const int z =
        dis__layer_batchnorm(f->net, "norm2", dis__layer_linear(f->net, "mid", y, 4, DIS_ACT_NONE), y, DIS_ACT_SIGMOID);
    above(f, dis__layer_pool(f->net, z, DIS_NONE, DIS_POOL_MEAN));
}

static void case_batchnorm_wide(nn_net *f)
{
    const int x = image(f, 72), y = dis__layer_batchnorm(f->net, "norm", x, DIS_NONE, DIS_ACT_RELU);
    const int z = dis__layer_batchnorm(f->net, "norm2", dis__layer_linear(f->net, "mid", y, 67, DIS_ACT_NONE), DIS_NONE,
                                       DIS_ACT_NONE);
    above(f, dis__layer_concat(f->net,
                               (int[]){dis__layer_pool(f->net, y, DIS_NONE, DIS_POOL_MEAN),
                                       dis__layer_pool(f->net, z, DIS_NONE, DIS_POOL_MEAN)},
                               2));
}

static void tagger(nn_net *f, dis__tagger_kind kind, dis__recurrent_cell cell)
{
    dis__tagger_options o = dis__tagger_options_default();
    o.kind = kind;
    o.cell = cell;
    o.n_words = 9;
    o.n_characters = 6;
    o.word_width = 5;
    o.character_width = 3;
    o.hidden = 4;
    o.feed = 7;
    o.encoder_layers = 1;
    o.sentences = o.positions = o.tokens = o.distinct = o.characters = 12;
    const dis__tagger t = dis__tagger_build(f->net, &o);
    f->rows = t.sentences;
    f->time = t.positions;
    f->tokens = t.tokens;
    f->ints[f->n_ints++] = (nn_ints){t.word_ids, -1, 8};
    f->ints[f->n_ints++] = (nn_ints){t.lengths, 0, DIS_NONE};
    f->ints[f->n_ints++] = (nn_ints){t.character_ids, 0, 5};
    f->ints[f->n_ints++] = (nn_ints){t.spelt, 1, 12};
    f->ints[f->n_ints++] = (nn_ints){t.place, 0, 0};
    f->ints[f->n_ints++] = (nn_ints){t.word, 0, 11};
    nn_soft(f, "gold", dis__tagger_head(f->net, &o, &t, "gold", 4), NULL);
    nn_soft(f, "soft", dis__tagger_head(f->net, &o, &t, "soft", 3), NULL);
}

static void case_tagger_encoder(nn_net *f)
{
    tagger(f, DIS_TAGGER_ENCODER, DIS_CELL_LSTM);
}

static void case_tagger_additive(nn_net *f)
{
    tagger(f, DIS_TAGGER_ADDITIVE, DIS_CELL_LSTM);
}

static void case_tagger_gru(nn_net *f)
{
    tagger(f, DIS_TAGGER_ENCODER, DIS_CELL_GRU);
}

static void case_stem_cnn(nn_net *f)
{
    dis__stem_cnn_options o = dis__stem_cnn_options_default();
    o.n_characters = 8;
    o.width = 4;
    o.length = 9;
    o.channels[0] = 3;
    o.channels[1] = 2;
    o.feed = 5;
    o.rows = 40;
    const dis__stem_cnn s = dis__stem_cnn_build(f->net, &o);
    f->rows = s.rows;
    for (int i = 0; i < 2; i++) f->ints[f->n_ints++] = (nn_ints){s.text[i], -1, 7};
    above(f, s.trunk);
}

static void resnet(nn_net *f, dis__resnet_kind kind)
{
    dis__resnet_options o = dis__resnet_options_default();
    o.kind = kind;
    o.height = o.width = 7;
    o.first_width = 4;
    o.rows = 40;
    for (int i = 0; i < (kind == DIS_RESNET_CIFAR ? 3 : 2); i++) o.blocks[i] = 1;
    for (int i = kind == DIS_RESNET_CIFAR ? 3 : 2; i < 4; i++) o.blocks[i] = 0;
    const dis__resnet r = dis__resnet_build(f->net, &o);
    f->rows = r.rows;
    f->reals[f->n_reals++] = r.images;
    above(f, r.trunk);
}

static void case_resnet_cifar(nn_net *f)
{
    resnet(f, DIS_RESNET_CIFAR);
}

static void case_resnet_imagenet(nn_net *f)
{
    resnet(f, DIS_RESNET_IMAGENET);
}

static void case_many_heads(nn_net *f)
{
    const int x = dis__layer_linear(f->net, "shared", below(f, 12), 10, DIS_ACT_RELU);
    above(f, x);
    dis__soft_head_options o = dis__soft_head_options_default();
    o.loss = DIS_LOSS_KL;
    o.weight = .25;
    nn_soft(f, "second", dis__layer_linear(f->net, "second", x, 3, DIS_ACT_NONE), &o);
    nn_crowd(f, "crowd", dis__layer_linear(f->net, "third", x, 4, DIS_ACT_NONE), DIS_CROWD_MW, false);
}

/* The matrix reads what the classes read, so that both gradients meet below. */
static void case_confuse(nn_net *f)
{
    const int x = below(f, 9), q = dis__layer_linear(f->net, "class", x, 4, DIS_ACT_NONE);
    nn_soft(f, "vote", dis__layer_confuse(f->net, q, dis__layer_linear(f->net, "matrix", x, 16, DIS_ACT_NONE)), NULL);
}

static void case_confuse_wide(nn_net *f)
{
    const int x = below(f, 3), q = dis__layer_linear(f->net, "class", x, 17, DIS_ACT_NONE);
    nn_soft(f, "vote", dis__layer_confuse(f->net, q, dis__layer_linear(f->net, "matrix", x, 289, DIS_ACT_NONE)), NULL);
}

static void case_pair_terms(nn_net *f)
{
    const int ids = nn_ints_input(f, f->rows, DIS_NONE, 1, -1, 4);
    const int x = dis__layer_embed_bag(f->net, "workers", ids, DIS_NONE, 5, 150);
    above(f, x);
    nn_pairs(f, "pairs", x);
}

/* Rows mixed two by two, as mixup does. */
static void case_mixed(nn_net *f)
{
    const int ids = nn_ints_input(f, f->rows, DIS_NONE, 2, -1, 8);
    const int share = nn_reals(f, (dis__shape){f->rows, DIS_NONE, 1, 2, 1});
    above(f, dis__layer_weigh(f->net, dis__layer_embed(f->net, "workers", ids, 9, 6), share, DIS_NONE));
}

static void case_frozen(nn_net *f)
{
    const int x = dis__layer_linear(f->net, "mid", below(f, 12), 10, DIS_ACT_RELU);
    above(f, x);
    dis__net_freeze(f->net, "below");
    dis__net_freeze(f->net, "above.bias");
}

#define CASE(name)                \
    {                             \
#name, case_##name, false \
    }
#define LARGE(name)              \
    {                            \
#name, case_##name, true \
    }
static const nn_case nn_cases[] = {
    CASE(linear),
    CASE(relu),
    CASE(tanh),
    CASE(sigmoid),
    CASE(gelu),
    CASE(activations_alone),
    CASE(wide_norms),
    LARGE(wide),
    CASE(embed),
    CASE(embed_bag),
    CASE(embed_again),
    CASE(weigh),
    CASE(weigh_wide),
    CASE(reshape),
    CASE(layernorm),
    CASE(layernorm_residual),
    CASE(dropout),
    CASE(add_itself),
    CASE(concat),
    CASE(pool_max),
    CASE(pool_mean),
    CASE(pool_first),
    CASE(pool_last),
    CASE(gather),
    CASE(ce),
    CASE(kl),
    CASE(inverse_kl),
    CASE(js),
    CASE(crowd_mw),
    CASE(crowd_vw),
    CASE(crowd_vb),
    CASE(crowd_vwb),
    CASE(crowd_sw),
    CASE(crowd_wide),
    CASE(crowd_q_mw),
    CASE(crowd_q_vw),
    CASE(crowd_q_vb),
    CASE(crowd_q_vwb),
    CASE(crowd_q_sw),
    CASE(confuse),
    LARGE(confuse_wide),
    CASE(pair_terms),
    CASE(mixed),
    CASE(pool_ends),
    CASE(lstm),
    CASE(lstm_both),
    CASE(lstm_ids),
    CASE(lstm_alike),
    CASE(lstm_all),
    CASE(gru),
    CASE(gru_both),
    CASE(gru_ids),
    CASE(gru_alike),
    CASE(gru_all),
    LARGE(lstm_wide),
    LARGE(gru_wide),
    CASE(attention),
    CASE(attention_alone),
    CASE(encoder),
    CASE(encoder_fork),
    CASE(attend),
    CASE(attend_bias),
    CASE(attend_mask),
    CASE(pool_packed_first),
    CASE(layernorm_options),
    CASE(linear_options),
    CASE(low_rank),
    CASE(conv_time),
    CASE(conv_fixed),
    CASE(lookup_conv),
    CASE(conv_image),
    LARGE(conv_wide),
    LARGE(conv_bare),
    CASE(windows),
    CASE(shortcut),
    CASE(batchnorm),
    LARGE(batchnorm_wide),
    LARGE(tagger_encoder),
    LARGE(tagger_additive),
    LARGE(tagger_gru),
    LARGE(stem_cnn),
    LARGE(resnet_cifar),
    LARGE(resnet_imagenet),
    CASE(many_heads),
    CASE(frozen),
};
enum { NN_CASES = sizeof nn_cases / sizeof *nn_cases };

/* rows, time, tokens: tiny, odd, nothing at all, and the most that was planned for. */
static const size_t nn_sizes[][3] = {{1, 1, 1}, {3, 5, 7}, {0, 3, 0}, {17, 12, 33}, {40, 7, 60}};
enum { NN_SIZES = sizeof nn_sizes / sizeof *nn_sizes };

/* Sizes of their own: devices may take other ways where there is much to do. */
static const struct {
    nn_case net;
    size_t size[3][3];
} nn_many[] = {
    {LARGE(heads_64), {{1, 1, 300}, {5, 1, 640}, {40, 1, 700}}},
    {LARGE(heads_64_bias), {{1, 1, 300}, {5, 1, 640}, {40, 1, 700}}},
    {LARGE(heads_32_bias), {{1, 1, 300}, {5, 1, 640}, {40, 1, 700}}},
    {LARGE(heads_64_mask), {{1, 1, 300}, {5, 1, 640}, {40, 1, 700}}},
    {LARGE(many_norms), {{4096, 1, 1}, {4099, 1, 1}, {4200, 1, 1}}},
};
enum { NN_MANY = sizeof nn_many / sizeof *nn_many };

#endif
