/* Layers without parameters: dropout, the sum of two values, concatenation.
 * O(elements). */
#include "nn/net_internal.h"
#include <math.h>

static size_t n_elements(const dis__net *net, int value)
{
    return dis__padded_rows(net, value) * dis__shape_of(net, value)->channels;
}

dis_status dis__pass_gradient(dis__net *net, const dis__layer *layer, int i)
{
    const int from = layer->out, to = layer->in[i];
    if (!dis__grad(net, to)) return DIS_OK;
    const size_t n = n_elements(net, from);
    if (!layer->adds[i]) {
        const dis__copy_columns_args copy = {
            .n_rows = 1, .from = dis__grad(net, from), .to = dis__grad(net, to), .from_ld = 1, .to_ld = 1, .width = n};
        return dis__op_run(net, DIS_OP_copy_columns, &copy);
    }
    const dis__add_args add = {.n = n, .x = dis__grad(net, from), .y = dis__grad(net, to)};
    return dis__op_run(net, DIS_OP_add, &add);
}

/* ---- dropout ---- */

typedef struct {
    double rate;
} dropout;

static dis__dropout_args dropout_arguments(const dis__net *net, const dis__layer *layer)
{
    return (dis__dropout_args){
        .n = n_elements(net, layer->out),
        .rate = net->training ? ((const dropout *)layer->own)->rate : 0,
        .seed = net->seed,
        .pass = dis__pass_of(net),
        .layer = (uint32_t)layer->index,
    };
}

static dis_status run_dropout(dis__net *net, const dis__dropout_args *args)
{
    return dis__op_run(net, DIS_OP_dropout, args);
}

static dis_status dropout_forward(dis__net *net, dis__layer *layer)
{
    if (layer->passes) return DIS_OK;
    dis__dropout_args args = dropout_arguments(net, layer);
    args.x = dis__data(net, layer->in[0]);
    args.y = dis__data(net, layer->out);
    return run_dropout(net, &args);
}

static bool dropout_passes(const dis__net *net, const dis__layer *layer)
{
    (void)net;
    (void)layer;
    return true;
}

static dis_status dropout_backward(dis__net *net, dis__layer *layer)
{
    dis__dropout_args args = dropout_arguments(net, layer);
    args.x = dis__grad(net, layer->out);
    args.y = dis__grad(net, layer->in[0]);
    args.add = layer->adds[0];
    return run_dropout(net, &args);
}

static bool reads_nothing(const dis__net *net, const dis__layer *layer, int value)
{
    (void)net;
    (void)layer;
    (void)value;
    return false;
}

static const dis__layer_kind dropout_kind = {.name = "dropout",
                                             .own = sizeof(dropout),
                                             .passes = dropout_passes,
                                             .forward = dropout_forward,
                                             .backward = dropout_backward,
                                             .reads = reads_nothing};

int dis__layer_dropout(dis__net *net, int x, double rate)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "dropout: no input");
    if (!(rate >= 0 && rate < 1))
        return dis__net_build_error(net, DIS_EUSAGE, "a dropout rate of %g; it must be in [0, 1)", rate);
    if (rate == 0) return x;
    const dis__shape shape = *dis__shape_of(net, x);
    dis__layer *layer = dis__net_layer(net, &dropout_kind, "dropout", &x, 1, &shape);
    if (!layer) return DIS_NONE;
    ((dropout *)layer->own)->rate = rate;
    return layer->out;
}

/* ---- add ---- */

typedef struct {
    bool in_place; /* the second value is the output of a linear layer used only here */
} sum;

static bool add_passes(const dis__net *net, const dis__layer *layer);

static dis_status add_forward(dis__net *net, dis__layer *layer)
{
    if (layer->passes) return DIS_OK; /* the linear layer has added it */
    const dis__add_args args = {.n = n_elements(net, layer->out),
                                .x = dis__data(net, layer->in[0]),
                                .z = dis__data(net, layer->in[1]),
                                .y = dis__data(net, layer->out)};
    return dis__op_run(net, DIS_OP_add, &args);
}

static dis_status add_backward(dis__net *net, dis__layer *layer)
{
    DIS_TRY(dis__pass_gradient(net, layer, 0));
    return dis__pass_gradient(net, layer, 1);
}

static const dis__layer_kind add_kind = {.name = "add",
                                         .own = sizeof(sum),
                                         .passes = add_passes,
                                         .forward = add_forward,
                                         .backward = add_backward,
                                         .reads = reads_nothing};

bool dis__is_last_use(const dis__net *net, const dis__layer *layer, int value)
{
    const dis__slot *slot = &net->slots[value];
    if (slot->producer == DIS_NONE || slot->last_use != layer->index) return false;
    const dis__layer *producer = &net->layers[slot->producer];
    if (producer->passes && producer->kind != &add_kind) return false;
    for (size_t i = 0; i < net->n_layers; i++) {
        const dis__layer *other = &net->layers[i];
        if (other != layer && other->kind->passes && other->in[0] == value) return false;
    }
    return true;
}

static bool add_passes(const dis__net *net, const dis__layer *layer)
{
    return ((const sum *)layer->own)->in_place && dis__is_last_use(net, layer, layer->in[0]);
}

int dis__layer_add(dis__net *net, int x, int y)
{
    if (x < 0 || y < 0) return dis__net_build_error(net, DIS_EBUG, "add: no input");
    const dis__shape shape = *dis__shape_of(net, x);
    if (!dis__same_shape(net, x, y, "add")) return DIS_NONE;
    dis__layer *layer = dis__net_layer(net, &add_kind, "add", (int[]){x, y}, 2, &shape);
    return layer ? layer->out : DIS_NONE;
}

void dis__add_in_place(dis__layer *layer)
{
    if (layer->kind == &add_kind) ((sum *)layer->own)->in_place = true;
}

/* ---- position ---- */

static dis_status run_shift(dis__net *net, const dis__layer *layer, double odd, const void *x, void *y, bool add)
{
    const size_t width = dis__shape_of(net, layer->out)->channels;
    const dis__shift_args args = {.n_rows = dis__padded_rows(net, layer->out),
                                  .width = width,
                                  .scale = sqrt((double)width),
                                  .odd = odd,
                                  .x = x,
                                  .y = y,
                                  .add = add};
    return dis__op_run(net, DIS_OP_shift, &args);
}

static dis_status position_forward(dis__net *net, dis__layer *layer)
{
    return run_shift(net, layer, 1, dis__data(net, layer->in[0]), dis__data(net, layer->out), false);
}

static dis_status position_backward(dis__net *net, dis__layer *layer)
{
    return run_shift(net, layer, 0, dis__grad(net, layer->out), dis__grad(net, layer->in[0]), layer->adds[0]);
}

static const dis__layer_kind position_kind = {
    .name = "position", .own = 1, .forward = position_forward, .backward = position_backward, .reads = reads_nothing};

int dis__layer_position(dis__net *net, int x)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "position: no input");
    const dis__shape shape = *dis__shape_of(net, x);
    dis__layer *layer = dis__net_layer(net, &position_kind, "position", &x, 1, &shape);
    return layer ? layer->out : DIS_NONE;
}

/* ---- concat ---- */

static dis_status concat_forward(dis__net *net, dis__layer *layer)
{
    const size_t rows = dis__padded_rows(net, layer->out), width = dis__shape_of(net, layer->out)->channels;
    char *to = dis__data(net, layer->out);
    for (int i = 0; i < layer->n_in; i++) {
        const size_t part = dis__shape_of(net, layer->in[i])->channels;
        const dis__copy_columns_args args = {.n_rows = rows,
                                             .from = dis__data(net, layer->in[i]),
                                             .to = to,
                                             .from_ld = part,
                                             .to_ld = width,
                                             .width = part};
        DIS_TRY(dis__op_run(net, DIS_OP_copy_columns, &args));
        to += part * dis__number_bytes(net, DIS_ROLE_VALUE);
    }
    return DIS_OK;
}

static dis_status concat_backward(dis__net *net, dis__layer *layer)
{
    const size_t rows = dis__padded_rows(net, layer->out), width = dis__shape_of(net, layer->out)->channels;
    const char *from = dis__grad(net, layer->out);
    for (int i = 0; i < layer->n_in; i++) {
        const size_t part = dis__shape_of(net, layer->in[i])->channels;
        if (dis__grad(net, layer->in[i])) {
            const dis__copy_columns_args args = {.n_rows = rows,
                                                 .from = from,
                                                 .to = dis__grad(net, layer->in[i]),
                                                 .from_ld = width,
                                                 .to_ld = part,
                                                 .width = part,
                                                 .add = layer->adds[i]};
            DIS_TRY(dis__op_run(net, DIS_OP_copy_columns, &args));
        }
        from += part * dis__number_bytes(net, DIS_ROLE_VALUE);
    }
    return DIS_OK;
}

static const dis__layer_kind concat_kind = {.name = "concat",
                                            .forward = concat_forward,
                                            .backward = concat_backward,
                                            .reads = reads_nothing};

int dis__layer_concat(dis__net *net, const int *values, int n)
{
    if (n < 1 || n > DIS_LAYER_INS || values[0] < 0) return dis__net_build_error(net, DIS_EBUG, "concat: no input");
    dis__shape shape = *dis__shape_of(net, values[0]);
    for (int i = 1; i < n; i++) {
        if (values[i] < 0) return dis__net_build_error(net, DIS_EBUG, "concat: no input");
        const dis__shape *other = dis__shape_of(net, values[i]);
        if (other->rows != shape.rows || other->time != shape.time || other->height != shape.height ||
            other->width != shape.width)
            return dis__net_build_error(net, DIS_EUSAGE, "concat: values of different rows");
        shape.channels += other->channels;
    }
    dis__layer *layer = dis__net_layer(net, &concat_kind, "concat", values, n, &shape);
    return layer ? layer->out : DIS_NONE;
}
