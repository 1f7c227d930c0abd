/* Rows of a table by id: embeddings, bags of embeddings, and rows of a value gathered by their place. All three are one
 * operation; only where the table lies differs. Gradients are added row by row, each job having some of the columns of
 * all rows, so their order is fixed. O(ids width). */
#include "nn/net_inside.h"

typedef struct {
    bool from_value; /* the table is a value */
    bool bag;
    size_t n_ids;
} embed;

static dis__gather_args arguments(const dis__net *net, const dis__layer *layer)
{
    const embed *e = layer->own;
    const dis__ints *ids = &net->ints[layer->ints[0]];
    dis__gather_args args = {
        .table = e->from_value ? dis__data(net, layer->in[0]) : dis__param_of(net, layer, 0),
        .id = ids->data,
        .per = 1,
        .n_rows = dis__net_rows(net, layer->out),
        .width = dis__shape_of(net, layer->out)->channels,
        .y = dis__data(net, layer->out),
        .dy = dis__grad(net, layer->out),
    };
    if (e->bag) {
        args.count = dis__ints_of(net, layer->ints[1]);
        args.per = ids->per * dis__axis_now(net, ids->time);
        args.mean = true;
    }
    return args;
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const dis__gather_args args = arguments(net, layer);
    return dis__op_run(net, DIS_OP_gather, &args, args.n_rows, args.width * args.per);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const embed *e = layer->own;
    dis__gather_args args = arguments(net, layer);
    args.d_table = e->from_value ? dis__grad(net, layer->in[0]) : dis__param_grad(net, layer, 0);
    if (!args.d_table) return DIS_OK;
    if (e->from_value && !dis__grad_adds(net, layer->in[0]))
        dis__zero(net, args.d_table, dis__net_rows(net, layer->in[0]) * args.width);
    return dis__op_run(net, DIS_OP_gather_grad, &args, args.width, args.n_rows * args.per * 2);
}

static const dis__layer_kind embed_kind = {.name = "embed",
                                           .own = sizeof(embed),
                                           .forward = forward,
                                           .backward = backward};

static int embedding(dis__net *net, const char *name, int ids, int lengths, size_t n_ids, size_t width, bool bag)
{
    if (!dis__ints_fit(net, ids, "ids", name)) return DIS_NONE;
    const dis__ints *in = &net->ints[ids];
    const dis__shape shape = {in->rows, bag ? DIS_NONE : in->time, 1, bag ? 1 : in->per, width};
    dis__layer *layer = dis__net_layer(net, &embed_kind, name, NULL, 0, &shape);
    if (!layer) return DIS_NONE;
    *(embed *)layer->own = (embed){.bag = bag, .n_ids = n_ids};
    layer->ints[0] = ids;
    layer->ints[1] = lengths;
    dis__layer_param(net, layer, "weight", 2, (size_t[]){n_ids, width}, DIS_START_NORMAL, bag ? .1 : 1);
    return layer->out;
}

int dis__layer_embed(dis__net *net, const char *name, int ids, size_t n_ids, size_t width)
{
    return embedding(net, name, ids, DIS_NONE, n_ids, width, false);
}

int dis__layer_embed_bag(dis__net *net, const char *name, int ids, int lengths, size_t n_ids, size_t width)
{
    if (lengths != DIS_NONE && !dis__ints_fit(net, lengths, "lengths", name)) return DIS_NONE;
    return embedding(net, name, ids, lengths, n_ids, width, true);
}

int dis__layer_gather(dis__net *net, int x, int index)
{
    if (x < 0 || !dis__ints_fit(net, index, "index", "gather")) return dis__net_bad(net, DIS_EBUG, "gather: no input");
    const dis__ints *in = &net->ints[index];
    const dis__shape shape = {in->rows, in->time, 1, in->per, dis__shape_of(net, x)->channels};
    dis__layer *layer = dis__net_layer(net, &embed_kind, "gather", &x, 1, &shape);
    if (!layer) return DIS_NONE;
    *(embed *)layer->own = (embed){.from_value = true};
    layer->ints[0] = index;
    return layer->out;
}
