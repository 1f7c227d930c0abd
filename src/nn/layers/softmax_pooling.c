/* Rows weighted by the softmax of their scores, and reshaping of rows: O(elements). */
#include "nn/net_internal.h"

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const size_t n = dis__max_rows(net, layer->in[0]);
    return dis__layer_work(net, layer, dis__saturating_size(n, dis__number_bytes(net, DIS_ROLE_VALUE), 0),
                           DIS_WORK_SAVED);
}

static dis__softmax_pool_args arguments(const dis__net *net, const dis__layer *layer)
{
    const dis__shape *s = dis__shape_of(net, layer->in[0]);
    return (dis__softmax_pool_args){
        .x = dis__data(net, layer->in[0]),
        .scores = dis__data(net, layer->in[1]),
        .y = dis__data(net, layer->out),
        .share = layer->work[0],
        .length = dis__ints_of(net, layer->ints[0]),
        .n_rows = dis__padded_rows(net, layer->out),
        .per = dis__axis_size(net, s->time) * s->height * s->width,
        .width = s->channels,
    };
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const dis__softmax_pool_args args = arguments(net, layer);
    return dis__op_run(net, DIS_OP_softmax_pool, &args);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    dis__softmax_pool_args args = arguments(net, layer);
    args.dy = dis__grad(net, layer->out);
    args.dx = dis__grad(net, layer->in[0]);
    args.add_x = layer->adds[0];
    args.d_scores = dis__grad(net, layer->in[1]);
    args.add_scores = layer->adds[1];
    return dis__op_run(net, DIS_OP_softmax_pool_grad, &args);
}

static const dis__layer_kind softmax_pool_kind = {.name = "softmax pool",
                                                  .plan = plan,
                                                  .forward = forward,
                                                  .backward = backward};

int dis__layer_softmax_pool(dis__net *net, int x, int scores, int lengths)
{
    if (x < 0 || scores < 0) return dis__net_build_error(net, DIS_EBUG, "weigh: no input");
    if (lengths != DIS_NONE && !dis__ints_fit(net, lengths, "lengths", "softmax pool")) return DIS_NONE;
    const dis__shape a = *dis__shape_of(net, x), b = *dis__shape_of(net, scores);
    if (a.rows != b.rows || a.time != b.time || a.height != b.height || a.width != b.width || b.channels != 1)
        return dis__net_build_error(net, DIS_EUSAGE, "weigh: one score per row is needed");
    const dis__shape shape = dis__shape_rows(a.rows, a.channels);
    dis__layer *layer = dis__net_layer(net, &softmax_pool_kind, "softmax pool", (int[]){x, scores}, 2, &shape);
    if (!layer) return DIS_NONE;
    layer->ints[0] = lengths;
    return layer->out;
}

/* ---- reshape ---- */

static dis_status reshape_forward(dis__net *net, dis__layer *layer)
{
    const size_t n = dis__padded_rows(net, layer->out) * dis__shape_of(net, layer->out)->channels;
    const dis__copy_columns_args copy = {.n_rows = 1,
                                         .from = dis__data(net, layer->in[0]),
                                         .to = dis__data(net, layer->out),
                                         .width = n};
    return dis__op_run(net, DIS_OP_copy_columns, &copy);
}

static dis_status reshape_backward(dis__net *net, dis__layer *layer)
{
    return dis__pass_gradient(net, layer, 0);
}

static const dis__layer_kind reshape_kind = {.name = "reshape",
                                             .forward = reshape_forward,
                                             .backward = reshape_backward};

int dis__layer_reshape(dis__net *net, int x, size_t height, size_t width, size_t channels)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "reshape: no input");
    dis__shape shape = *dis__shape_of(net, x);
    if (dis__saturating_size(dis__saturating_size(height, width, 0), channels, 0) !=
        shape.height * shape.width * shape.channels)
        return dis__net_build_error(net, DIS_EUSAGE, "a row of %zu numbers cannot become %zu x %zu x %zu",
                                    shape.height * shape.width * shape.channels, height, width, channels);
    shape.height = height;
    shape.width = width;
    shape.channels = channels;
    dis__layer *layer = dis__net_layer(net, &reshape_kind, "reshape", &x, 1, &shape);
    return layer ? layer->out : DIS_NONE;
}
