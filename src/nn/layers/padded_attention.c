/* Multi-head self-attention and the encoder block around it. A linear layer makes queries, keys and values in one
 * product, padded_attention_loops.h does one row and head at a time, a second linear layer puts the heads together.
 * Names as in the products: NAME.in_proj.weight (3 channels, channels), NAME.out_proj.weight. Attention that sees
 * one position is two linear layers with dropout between them, and outside training one. */
#include "nn/net_internal.h"
#include <stdio.h>

typedef struct {
    size_t n_heads, channels;
    bool value_only;
    double rate;
} attention;

static dis__padded_attention_args arguments(const dis__net *net, const dis__layer *layer)
{
    const attention *l = layer->own;
    const size_t rows = dis__axis_size(net, dis__shape_of(net, layer->out)->rows);
    return (dis__padded_attention_args){
        .n_rows = l->value_only ? dis__padded_rows(net, layer->out) : rows,
        .n_times = dis__axis_size(net, dis__shape_of(net, layer->out)->time),
        .n_heads = l->n_heads,
        .channels = l->channels,
        .value_only = l->value_only,
        .length = dis__ints_of(net, layer->ints[0]),
        .qkv = dis__data(net, layer->in[0]),
        .y = dis__data(net, layer->out),
        .share = layer->n_works ? layer->work[0] : NULL,
        .rate = net->training ? l->rate : 0,
        .seed = net->seed,
        .pass = dis__pass_of(net),
        .layer = (uint32_t)layer->index,
    };
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const attention *l = layer->own;
    const dis__padded_attention_args args = arguments(net, layer);
    dis__layer_runs(net, DIS_OP_padded_attention, &args);
    dis__layer_runs(net, DIS_OP_padded_attention_grad, &args);
    if (l->value_only) return DIS_OK;
    const size_t square = dis__saturating_size(dis__saturating_size(args.n_times, args.n_times, 0),
                                               dis__number_bytes(net, DIS_ROLE_VALUE), 0);
    return dis__layer_work(net, layer,
                           dis__saturating_size(dis__saturating_size(args.n_rows, l->n_heads, 0), square, 0),
                           DIS_WORK_SAVED);
}

static bool passes(const dis__net *net, const dis__layer *layer)
{
    (void)net;
    return ((const attention *)layer->own)->value_only;
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    if (layer->passes) return DIS_OK;
    const dis__padded_attention_args args = arguments(net, layer);
    return dis__op_run(net, DIS_OP_padded_attention, &args);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    dis__padded_attention_args args = arguments(net, layer);
    args.dy = dis__grad(net, layer->out);
    args.d_qkv = dis__grad(net, layer->in[0]);
    args.add = layer->adds[0];
    return dis__op_run(net, DIS_OP_padded_attention_grad, &args);
}

static const dis__layer_kind attention_kind = {.name = "attention",
                                               .own = sizeof(attention),
                                               .passes = passes,
                                               .plan = plan,
                                               .forward = forward,
                                               .backward = backward};

static const char *join(char out[DIS_NET_NAME], const char *name, const char *what)
{
    snprintf(out, DIS_NET_NAME, "%.*s.%s", DIS_NET_NAME / 2, name, what);
    return out;
}

int dis__layer_multihead_attention(dis__net *net, const char *name, int x, int lengths, size_t n_heads, double dropout)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "%s: no input", name);
    if (lengths != DIS_NONE && !dis__ints_fit(net, lengths, "lengths", name)) return DIS_NONE;
    const dis__shape shape = *dis__shape_of(net, x);
    const bool alone = shape.time == DIS_NONE;
    char text[DIS_NET_NAME];
    if (n_heads == 0 || shape.channels % n_heads != 0 || shape.height * shape.width != 1)
        return dis__net_build_error(net, DIS_EUSAGE, "%s: %zu channels in %zu heads", name, shape.channels, n_heads);
    if (!(dropout >= 0 && dropout < 1))
        return dis__net_build_error(net, DIS_EUSAGE, "%s: a dropout rate of %g", name, dropout);
    const int qkv = dis__layer_linear(net, join(text, name, alone ? "v_proj" : "in_proj"), x,
                                      (alone ? 1 : 3) * shape.channels, DIS_ACT_NONE);
    if (qkv < 0) return DIS_NONE;
    dis__layer *layer = dis__net_layer(net, &attention_kind, name, &qkv, 1, &shape);
    if (!layer) return DIS_NONE;
    *(attention *)layer->own = (attention){n_heads, shape.channels, alone, dropout};
    layer->ints[0] = alone ? DIS_NONE : lengths;
    const int out = dis__layer_linear(net, join(text, name, "out_proj"), layer->out, shape.channels, DIS_ACT_NONE);
    if (alone) dis__linear_merge(net, qkv, out);
    return out;
}

dis__encoder_options dis__encoder_options_default(void)
{
    return (dis__encoder_options){.size = sizeof(dis__encoder_options),
                                  .n_heads = 1,
                                  .n_feed = 2048,
                                  .act = DIS_ACT_RELU,
                                  .norm_first = true,
                                  .norm = dis__layernorm_options_default()};
}

/* norm_first: x + f(norm(x)) for attention and feed-forward in turn; otherwise norm(x + f(x)). */
int dis__layer_encoder(dis__net *net, const char *name, int x, int lengths, const dis__encoder_options *options)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "%s: no input", name);
    char text[DIS_NET_NAME];
    const dis__encoder_options *o = options;
    const size_t channels = dis__shape_of(net, x)->channels;
#define NORM(which, x_, residual) dis__layer_layernorm_with(net, join(text, name, which), x_, residual, &o->norm)
    int y = o->norm_first ? NORM("norm1", x, DIS_NONE) : x;
    int out = dis__layer_multihead_attention(net, join(text, name, "self_attn"), y, lengths, o->n_heads, o->dropout);
    y = dis__layer_dropout(net, out, o->dropout);
    x = o->norm_first ? dis__layer_add(net, x, y) : NORM("norm1", y, x);
    if (o->norm_first) dis__linear_in_place(net, out, x);
    y = o->norm_first ? NORM("norm2", x, DIS_NONE) : x;
    y = dis__layer_linear(net, join(text, name, "linear1"), y, o->n_feed, o->act);
    y = dis__layer_dropout(net, y, o->dropout);
    out = dis__layer_linear(net, join(text, name, "linear2"), y, channels, DIS_ACT_NONE);
    y = dis__layer_dropout(net, out, o->dropout);
    x = o->norm_first ? dis__layer_add(net, x, y) : NORM("norm2", y, x);
    if (o->norm_first) dis__linear_in_place(net, out, x);
#undef NORM
    return x;
}
