/* Rows of a table by id: embeddings, bags of embeddings, and rows of a value gathered by their position. All three are
 * one operation; only the location of the table differs. Gradients are added row by row, and each job has some columns
 * of all rows, so their order is fixed. O(ids width). */
#include "nn/net_internal.h"

typedef struct {
    bool from_value; /* the table is a value */
    bool bag;
} embed;

static dis__gather_args arguments(const dis__net *net, const dis__layer *layer)
{
    const embed *e = layer->own;
    const dis__ints *ids = &net->ints[layer->ints[0]];
    dis__gather_args args = {
        .table = e->from_value ? dis__data(net, layer->in[0]) : dis__param_of(net, layer, 0),
        .id = ids->data,
        .per = 1,
        .n_rows = dis__padded_rows(net, layer->out),
        .width = dis__shape_of(net, layer->out)->channels,
        .y = dis__data(net, layer->out),
        .dy = dis__grad(net, layer->out),
    };
    if (e->bag) {
        args.count = dis__ints_of(net, layer->ints[1]);
        args.per = ids->per * dis__axis_size(net, ids->time);
        args.mean = true;
    }
    return args;
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const dis__gather_args args = arguments(net, layer);
    return dis__op_run(net, DIS_OP_gather, &args);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const embed *e = layer->own;
    dis__gather_args args = arguments(net, layer);
    args.d_table = e->from_value ? dis__grad(net, layer->in[0]) : dis__param_grad(net, layer, 0);
    if (!args.d_table) return DIS_OK;
    if (e->from_value && !layer->adds[0])
        DIS_TRY(dis__zero(net, args.d_table,
                          dis__padded_rows(net, layer->in[0]) * args.width * dis__number_bytes(net, DIS_ROLE_VALUE)));
    return dis__op_run(net, DIS_OP_gather_grad, &args);
}

static const dis__layer_kind embed_kind = {.name = "embed",
                                           .own = sizeof(embed),
                                           .forward = forward,
                                           .backward = backward};

static dis__layer *new_embed(dis__net *net, const char *name, int ids, int lengths, size_t width, bool bag)
{
    if (!dis__ints_fit(net, ids, "ids", name)) return NULL;
    const dis__ints *in = &net->ints[ids];
    const dis__shape shape = {in->rows, bag ? DIS_NONE : in->time, 1, bag ? 1 : in->per, width};
    dis__layer *layer = dis__net_layer(net, &embed_kind, name, NULL, 0, &shape);
    if (!layer) return NULL;
    ((embed *)layer->own)->bag = bag;
    layer->ints[0] = ids;
    layer->ints[1] = lengths;
    return layer;
}

static int embedding(dis__net *net, const char *name, int ids, int lengths, size_t n_ids, size_t width, bool bag)
{
    dis__layer *layer = new_embed(net, name, ids, lengths, width, bag);
    if (!layer) return DIS_NONE;
    dis__layer_param(net, layer, "weight", 2, (size_t[]){n_ids, width}, DIS_START_NORMAL, bag ? .1 : 1);
    return layer->out;
}

const dis__layer *dis__embed_layer(const dis__net *net, int embedded)
{
    const int producer = embedded < 0 ? DIS_NONE : net->slots[embedded].producer;
    const dis__layer *layer = producer == DIS_NONE ? NULL : &net->layers[producer];
    return layer && layer->kind == &embed_kind && layer->n_params ? layer : NULL;
}

int dis__layer_embed_again(dis__net *net, int embedded, int ids, int lengths)
{
    const dis__layer *first = dis__embed_layer(net, embedded);
    if (!first) return dis__net_build_error(net, DIS_EBUG, "embed: no table");
    const size_t table = first->param[0];
    const bool bag = ((const embed *)first->own)->bag;
    if (lengths != DIS_NONE && !dis__ints_fit(net, lengths, "lengths", "embed")) return DIS_NONE;
    dis__layer *layer = new_embed(net, "embed again", ids, lengths, dis__shape_of(net, embedded)->channels, bag);
    if (!layer) return DIS_NONE;
    layer->param[layer->n_params++] = table;
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
    if (x < 0 || !dis__ints_fit(net, index, "index", "gather"))
        return dis__net_build_error(net, DIS_EBUG, "gather: no input");
    const dis__ints *in = &net->ints[index];
    const dis__shape shape = {in->rows, in->time, 1, in->per, dis__shape_of(net, x)->channels};
    dis__layer *layer = dis__net_layer(net, &embed_kind, "gather", &x, 1, &shape);
    if (!layer) return DIS_NONE;
    *(embed *)layer->own = (embed){.from_value = true};
    layer->ints[0] = index;
    return layer->out;
}
