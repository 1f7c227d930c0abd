/* Attention within packed rows. The tokens of a batch lie one after another without padding; row i is the tokens
 * from start[i] on, length[i] of them. Queries, keys and values come side by side in one value, as one linear layer
 * makes them; packed_attention_loops.h does one row and head at a time. Biases by distance are rows of a table that
 * several layers may share, one number per head, found by the bucket of a distance, which is computed once. */
#include "nn/net_internal.h"
#include <math.h>

typedef struct {
    dis__packed_attention_options o;
    size_t channels, n_buckets;
    int32_t *bucket; /* (2 longest - 1), on the host until it is copied to the device; NULL: no bias */
    int like;        /* for networks that only predict: an earlier layer with the same rows; DIS_NONE: none */
} packed_attention;

enum { LOG_SUM, D_BIAS, BUCKETS, SAVED };
enum { START, LENGTH, MASK };

dis__packed_attention_options dis__packed_attention_options_default(void)
{
    return (dis__packed_attention_options){.size = sizeof(dis__packed_attention_options),
                                           .n_heads = 1,
                                           .longest = 512,
                                           .mask = DIS_NONE,
                                           .bias = DIS_NONE,
                                           .farthest = 128};
}

int32_t dis__distance_bucket(int32_t distance, int32_t n_buckets, int32_t farthest)
{
    const int32_t half = n_buckets / 2, exact = half / 2, side = distance > 0 ? half : 0;
    const int32_t n = distance < 0 ? -distance : distance;
    if (n < exact) return side + n;
    /* In float, as in the trained models. */
    const float part = logf((float)n / (float)exact) / (float)log((double)farthest / exact);
    const int32_t far = exact + (int32_t)(part * (float)(half - exact));
    return side + (far < half ? far : half - 1);
}

static dis__packed_attention_args arguments(const dis__net *net, const dis__layer *layer)
{
    const packed_attention *l = layer->own;
    const bool biased = l->o.bias != DIS_NONE;
    const dis__layer *owner = l->like == DIS_NONE ? layer : &net->layers[l->like];
    return (dis__packed_attention_args){
        .n_rows = dis__axis_size(net, net->ints[layer->ints[START]].rows),
        .n_tokens = dis__padded_rows(net, layer->out),
        .n_heads = l->o.n_heads,
        .channels = l->channels,
        .longest = l->o.longest,
        .n_buckets = l->n_buckets,
        .scale = l->o.scale > 0 ? l->o.scale : 1 / sqrt((double)l->channels / (double)l->o.n_heads),
        .window = l->o.window,
        .start = dis__ints_of(net, layer->ints[START]),
        .length = dis__ints_of(net, layer->ints[LENGTH]),
        .mask = dis__ints_of(net, layer->ints[MASK]),
        .bucket = biased && layer->n_works ? layer->work[BUCKETS] : NULL,
        .bias = biased ? dis__param_of(net, layer, 0) : NULL,
        .qkv = dis__data(net, layer->in[0]),
        .y = dis__data(net, layer->out),
        .log_sum = layer->n_works ? layer->work[LOG_SUM] : NULL,
        .saved = layer->n_works ? owner->work[SAVED] : NULL,
        .known = owner != layer,
        .rate = net->training ? l->o.dropout : 0,
        .seed = net->seed,
        .pass = dis__pass_of(net),
        .layer = (uint32_t)layer->index,
    };
}

/* The spans of rows are computed once for all layers of a network that only predicts. */
static int like_of(const dis__net *net, const dis__layer *layer)
{
    for (int i = 0; !net->training_plan && i < layer->index; i++) {
        const dis__layer *other = &net->layers[i];
        if (other->kind == layer->kind && other->ints[START] == layer->ints[START] &&
            other->ints[LENGTH] == layer->ints[LENGTH])
            return i;
    }
    return DIS_NONE;
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    packed_attention *l = layer->own;
    l->like = like_of(net, layer);
    dis__packed_attention_args args = arguments(net, layer);
    args.rate = net->training_plan ? l->o.dropout : 0;
    const size_t sums = dis__saturating_size(dis__saturating_size(dis__max_rows(net, layer->out), args.n_heads, 0),
                                             dis__number_bytes(net, DIS_ROLE_STAT), 0);
    const size_t n = l->o.bias == DIS_NONE ? 0 : 2 * l->o.longest - 1;
    const size_t saved = dis__layer_runs(net, DIS_OP_packed_attention, &args);
    const size_t work = dis__layer_runs(net, DIS_OP_packed_attention_grad, &args);
    DIS_TRY(dis__layer_work(net, layer, sums, DIS_WORK_SAVED));
    DIS_TRY(dis__layer_work(net, layer, work, DIS_WORK_BACKWARD));
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(n, sizeof(int32_t), 0), DIS_WORK_LASTING));
    DIS_TRY(dis__layer_work(net, layer, args.known ? 0 : saved, net->training_plan ? DIS_WORK_AHEAD : DIS_WORK_RESULT));
    if (!n) return DIS_OK;
    DIS_TRY(dis__alloc_array(&l->bucket, n, sizeof *l->bucket));
    for (size_t i = 0; i < n; i++)
        l->bucket[i] =
            dis__distance_bucket((int32_t)i - (int32_t)l->o.longest + 1, (int32_t)l->n_buckets, (int32_t)l->o.farthest);
    return DIS_OK;
}

static void free_own(dis__layer *layer)
{
    dis__free(((packed_attention *)layer->own)->bucket);
}

static dis_status prepare(dis__net *net, dis__layer *layer)
{
    packed_attention *l = layer->own;
    if (!l->bucket) return DIS_OK;
    DIS_TRY(dis__copy_in(net, layer->work[BUCKETS], l->bucket, (2 * l->o.longest - 1) * sizeof *l->bucket));
    dis__free(l->bucket); /* they stay there */
    l->bucket = NULL;
    return DIS_OK;
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const dis__packed_attention_args args = arguments(net, layer);
    return dis__op_run(net, DIS_OP_packed_attention, &args);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    dis__packed_attention_args args = arguments(net, layer);
    args.dy = dis__grad(net, layer->out);
    args.d_qkv = dis__grad(net, layer->in[0]);
    args.add = layer->adds[0];
    args.d_bias = args.bias ? dis__param_grad(net, layer, 0) : NULL;
    args.work = layer->work[D_BIAS];
    return args.d_qkv || args.d_bias ? dis__op_run(net, DIS_OP_packed_attention_grad, &args) : DIS_OK;
}

static const dis__layer_kind packed_attention_kind = {.name = "packed_attention",
                                                      .own = sizeof(packed_attention),
                                                      .plan = plan,
                                                      .prepare = prepare,
                                                      .forward = forward,
                                                      .backward = backward,
                                                      .free = free_own};

bool dis__packed_fit(dis__net *net, int x, int start, int length, const char *layer)
{
    if (!dis__ints_fit(net, start, "starts", layer) || !dis__ints_fit(net, length, "lengths", layer)) return false;
    const dis__shape *s = dis__shape_of(net, x);
    const dis__ints *a = &net->ints[start], *b = &net->ints[length];
    const bool good = s->time == DIS_NONE && s->height * s->width == 1 && a->rows == b->rows && a->time == DIS_NONE &&
                      b->time == DIS_NONE && a->per == 1 && b->per == 1;
    if (!good)
        dis__net_build_error(net, DIS_EUSAGE, "%s: packed tokens have no time, and rows one start and length each",
                             layer);
    return good;
}

int dis__layer_packed_attention(dis__net *net, const char *name, int qkv, int start, int length,
                                const dis__packed_attention_options *options)
{
    if (qkv < 0) return dis__net_build_error(net, DIS_EBUG, "%s: no input", name);
    const dis__packed_attention_options o = *options;
    dis__shape shape = *dis__shape_of(net, qkv);
    if (!dis__packed_fit(net, qkv, start, length, name)) return DIS_NONE;
    if (o.mask != DIS_NONE && !dis__ints_fit(net, o.mask, "mask", name)) return DIS_NONE;
    if (o.n_heads == 0 || shape.channels % (3 * o.n_heads) != 0 || o.longest == 0 || o.longest > 1 << 20)
        return dis__net_build_error(net, DIS_EUSAGE,
                                    "%s: queries, keys and values of %zu channels in %zu heads, rows up to %zu", name,
                                    shape.channels, o.n_heads, o.longest);
    if (!(o.dropout >= 0 && o.dropout < 1))
        return dis__net_build_error(net, DIS_EUSAGE, "%s: a dropout rate of %g", name, o.dropout);
    const dis__param *table = o.bias == DIS_NONE ? NULL : &net->params[net->layers[o.bias].param[0]];
    if (table && (table->info.dim[1] != o.n_heads || table->info.dim[0] < 4 || o.farthest <= table->info.dim[0] / 4))
        return dis__net_build_error(net, DIS_EUSAGE,
                                    "%s: a table of %zu x %zu for the biases of %zu heads, up to a distance of %zu",
                                    name, table->info.dim[0], table->info.dim[1], o.n_heads, o.farthest);
    shape.channels /= 3;
    dis__layer *layer = dis__net_layer(net, &packed_attention_kind, name, &qkv, 1, &shape);
    if (!layer) return DIS_NONE;
    *(packed_attention *)layer->own = (packed_attention){.o = o,
                                                         .channels = shape.channels,
                                                         .n_buckets = table ? table->info.dim[0] : 0,
                                                         .like = DIS_NONE};
    layer->ints[START] = start;
    layer->ints[LENGTH] = length;
    layer->ints[MASK] = o.mask;
    if (table) layer->param[layer->n_params++] = net->layers[o.bias].param[0];
    return layer->out;
}
