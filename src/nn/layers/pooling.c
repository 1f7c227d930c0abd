/* Pooling: the mean or the maximum over the positions of each row, rows padded to one length or packed one after the
 * other without padding. O(elements). */
#include "nn/net_internal.h"

typedef struct {
    dis__pooling kind;
} pool;

enum { START, LENGTH }; /* no START: rows are padded */

static dis_status pool_plan(dis__net *net, dis__layer *layer)
{
    const size_t n = dis__saturating_size(dis__max_rows(net, layer->out), dis__shape_of(net, layer->out)->channels, 0);
    const bool max = ((const pool *)layer->own)->kind == DIS_POOL_MAX;
    return max ? dis__layer_work(net, layer, dis__saturating_size(n, sizeof(int32_t), 0), DIS_WORK_SAVED) : DIS_OK;
}

static dis__pool_args pool_arguments(const dis__net *net, const dis__layer *layer)
{
    const dis__shape *s = dis__shape_of(net, layer->in[0]);
    const bool packed = layer->ints[START] != DIS_NONE;
    const size_t n = dis__padded_rows(net, layer->out), tokens = packed ? dis__padded_rows(net, layer->in[0]) : 0;
    return (dis__pool_args){
        .kind = ((const pool *)layer->own)->kind,
        .x = dis__data(net, layer->in[0]),
        .y = dis__data(net, layer->out),
        .choice = layer->n_works ? layer->work[0] : NULL,
        .length = dis__ints_of(net, layer->ints[LENGTH]),
        .start = dis__ints_of(net, layer->ints[START]),
        .n_rows = n,
        .per = !packed ? dis__axis_size(net, s->time) * s->height * s->width
               : n     ? tokens / n + 1
                       : 1,
        .width = s->channels,
        .n_packed = tokens,
    };
}

static dis_status pool_forward(dis__net *net, dis__layer *layer)
{
    const dis__pool_args args = pool_arguments(net, layer);
    return dis__op_run(net, DIS_OP_pool, &args);
}

static dis_status pool_backward(dis__net *net, dis__layer *layer)
{
    dis__pool_args args = pool_arguments(net, layer);
    args.dy = dis__grad(net, layer->out);
    args.dx = dis__grad(net, layer->in[0]);
    args.add = layer->adds[0];
    return dis__op_run(net, DIS_OP_pool_grad, &args);
}

static const dis__layer_kind pool_kind = {
    .name = "pool", .own = sizeof(pool), .plan = pool_plan, .forward = pool_forward, .backward = pool_backward};

static int add_pool(dis__net *net, const char *name, int x, const dis__shape *shape, dis__pooling kind, int start,
                    int length)
{
    dis__layer *layer = dis__net_layer(net, &pool_kind, name, &x, 1, shape);
    if (!layer) return DIS_NONE;
    ((pool *)layer->own)->kind = kind;
    layer->ints[START] = start;
    layer->ints[LENGTH] = length;
    return layer->out;
}

int dis__layer_pool(dis__net *net, int x, int lengths, dis__pooling kind)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "pool: no input");
    if (lengths != DIS_NONE && !dis__ints_fit(net, lengths, "lengths", "pool")) return DIS_NONE;
    const dis__shape *s = dis__shape_of(net, x), shape = dis__shape_rows(s->rows, s->channels);
    return add_pool(net, "pool", x, &shape, kind, DIS_NONE, lengths);
}

int dis__layer_pool_packed(dis__net *net, int x, int start, int length, dis__pooling kind)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "pool: no input");
    if (!dis__packed_fit(net, x, start, length, "pool")) return DIS_NONE;
    const dis__shape shape = dis__shape_rows(net->ints[start].rows, dis__shape_of(net, x)->channels);
    return add_pool(net, "packed pool", x, &shape, kind, start, length);
}
