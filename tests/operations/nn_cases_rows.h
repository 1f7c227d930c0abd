/* nn_cases_rows.h: cases of layers that see one row at a time, and of heads. */
#ifndef DIS_OPERATIONS_NN_CASES_ROWS_H
#define DIS_OPERATIONS_NN_CASES_ROWS_H
#include "nn_case_parts.h"

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

/* Rows of whole vectors of 16 bytes, of which there may be none. */
static void case_gelu_vectors(nn_net *f)
{
    const int x = dis__layer_linear(f->net, "act", below(f, 16), 64, DIS_ACT_GELU);
    above(f, dis__layer_linear(f->net, "narrow", x, 8, DIS_ACT_NONE));
}

static void case_activations_alone(nn_net *f)
{
    const int x = below(f, 11), y = dis__layer_activate(f->net, x, DIS_ACT_GELU);
    above(f, dis__layer_add(f->net, dis__layer_activate(f->net, y, DIS_ACT_TANH),
                            dis__layer_activate(f->net, x, DIS_ACT_SIGMOID)));
}

/* Rows of whole vectors. */
static void case_activations_wide(nn_net *f)
{
    const int x = dis__layer_linear(f->net, "first", below(f, 16), 64, DIS_ACT_SIGMOID);
    const int y = dis__layer_activate(f->net, dis__layer_linear(f->net, "second", x, 64, DIS_ACT_GELU), DIS_ACT_RELU);
    above(f, dis__layer_linear(f->net, "third", y, 15, DIS_ACT_GELU));
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

static void case_softmax_pool(nn_net *f)
{
    const int n = lengths(f), x = sequence(f, 6), s = dis__layer_linear(f->net, "score", x, 1, DIS_ACT_TANH);
    above(f, dis__layer_softmax_pool(f->net, x, s, n));
}

static void case_softmax_pool_wide(nn_net *f)
{
    const int x = sequence(f, 70), s = dis__layer_linear(f->net, "score", x, 1, DIS_ACT_NONE);
    above(f, dis__layer_softmax_pool(f->net, x, s, DIS_NONE));
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

/* As encoders of 768 channels have them: between linear layers, after dropout and without, with a residual and
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

/* Of 512 channels and of 1,024. */
static void case_norm_widths(nn_net *f)
{
    const int x = below(f, 512), thin = dis__layer_linear(f->net, "thin", x, 8, DIS_ACT_NONE);
    int y = dis__layer_linear(f->net, "one", thin, 512, DIS_ACT_NONE);
    y = dis__layer_layernorm(f->net, "norm1", dis__layer_dropout(f->net, y, .3), x);
    int z = dis__layer_linear(f->net, "less", y, 8, DIS_ACT_NONE);
    z = dis__layer_linear(f->net, "two", z, 1024, DIS_ACT_NONE);
    z = dis__layer_layernorm(f->net, "norm2", dis__layer_dropout(f->net, z, .2), DIS_NONE);
    z = dis__layer_linear(f->net, "three", dis__layer_linear(f->net, "few", z, 8, DIS_ACT_NONE), 1024, DIS_ACT_NONE);
    above(f, dis__layer_layernorm(f->net, "norm3", z, DIS_NONE));
}

static void case_many_norms(nn_net *f)
{
    f->rows = dis__net_axis(f->net, NN_MANY_ROWS);
    case_wide_norms(f);
}

/* 2^24 numbers and more. */
static void case_many_gelus(nn_net *f)
{
    f->rows = dis__net_axis(f->net, NN_MANY_ROWS);
    const int wide = dis__layer_linear(f->net, "wide", below(f, 16), 4096, DIS_ACT_GELU);
    above(f, dis__layer_linear(f->net, "narrow", wide, 8, DIS_ACT_NONE));
}

static void case_layernorm_options(nn_net *f)
{
    dis__layernorm_options o = dis__layernorm_options_default();
    o.epsilon = .5;
    const int x = dis__layer_layernorm_with(f->net, "one", below(f, 9), DIS_NONE, &o);
    o.bias = false;
    above(f, dis__layer_layernorm_with(f->net, "two", x, x, &o));
}

/* Of a sample, in rows of one group, of vectors, and too wide for registers. */
static void case_layernorm_sample(nn_net *f)
{
    static const size_t widths[] = {9, 512, 1300};
    dis__layernorm_options o = dis__layernorm_options_default();
    int x = below(f, 2);
    o.sample = true;
    o.epsilon = .01;
    for (size_t i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "wide.%zu", i);
        x = dis__layer_linear(f->net, name, x, widths[i], DIS_ACT_NONE);
        snprintf(name, sizeof name, "norm.%zu", i);
        x = dis__layer_layernorm_with(f->net, name, x, i == 1 ? x : DIS_NONE, &o);
    }
    above(f, x);
}

static void case_position(nn_net *f)
{
    const int x = below(f, 7);
    above(f, dis__layer_add(f->net, dis__layer_position(f->net, x), x));
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
static void case_confusion(nn_net *f)
{
    const int x = below(f, 9), q = dis__layer_linear(f->net, "class", x, 4, DIS_ACT_NONE);
    nn_soft(f, "vote", dis__layer_confusion(f->net, q, dis__layer_linear(f->net, "matrix", x, 16, DIS_ACT_NONE)), NULL);
}

static void case_confusion_wide(nn_net *f)
{
    const int x = below(f, 3), q = dis__layer_linear(f->net, "class", x, 17, DIS_ACT_NONE);
    nn_soft(f, "vote", dis__layer_confusion(f->net, q, dis__layer_linear(f->net, "matrix", x, 289, DIS_ACT_NONE)),
            NULL);
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
    above(f, dis__layer_softmax_pool(f->net, dis__layer_embed(f->net, "workers", ids, 9, 6), share, DIS_NONE));
}

static void case_frozen(nn_net *f)
{
    const int x = dis__layer_linear(f->net, "mid", below(f, 12), 10, DIS_ACT_RELU);
    above(f, x);
    dis__net_freeze(f->net, "below");
    dis__net_freeze(f->net, "above.bias");
}

#endif
