/* Convolution over ids of a table, without materializing the rows of the table: y = act(conv(table[ids]) + bias).
 *
 * A text has many positions and few different characters. Each row of the table is multiplied once per batch by the
 * weights of each position of the kernel (ids x kernel x out), and a position of the output is the sum of one such row
 * per kernel position. Backward sums the gradients of these rows, from which those of weights and table follow by GEMMs
 * of the same small size. Parameters are those of an embedding and a convolution (weight: out, 1, kernel, in).
 *
 * Cost: 2 ids kernel in out operations and positions kernel out additions, instead of 2 positions kernel in out
 * operations; backward twice that. */
#include "nn/net_internal.h"
#include <math.h>

typedef struct {
    dis__conv_options o;
    size_t n_ids, n_in, before;
} lookup_conv;

enum { TABLE, WEIGHT, BIAS };
enum { PRODUCT, D_PRODUCT };

/* ---- the table ---- */

static dis_status nothing(dis__net *net, dis__layer *layer)
{
    (void)net;
    (void)layer;
    return DIS_OK;
}

static const dis__layer_kind table_kind = {.name = "table", .own = 1, .forward = nothing, .backward = nothing};

int dis__layer_table(dis__net *net, const char *name, size_t n_ids, size_t width)
{
    dis__layer *layer = dis__net_layer(net, &table_kind, name, NULL, 0, NULL);
    if (!layer) return DIS_NONE;
    dis__layer_param(net, layer, "weight", 2, (size_t[]){n_ids, width}, DIS_START_NORMAL, 1);
    return layer->index;
}

/* ---- the convolution ---- */

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const lookup_conv *l = layer->own;
    const size_t n = dis__saturating_size(dis__saturating_size(l->n_ids, l->o.kernel, 0),
                                          l->o.out * dis__number_bytes(net, DIS_ROLE_VALUE), 0);
    DIS_TRY(dis__layer_work(net, layer, n, DIS_WORK_SAVED));
    return dis__layer_work(net, layer, n, DIS_WORK_BACKWARD);
}

static dis__lookup_conv_args arguments(const dis__net *net, const dis__layer *layer)
{
    const lookup_conv *l = layer->own;
    const dis__shape *s = dis__shape_of(net, layer->out);
    return (dis__lookup_conv_args){
        .n = dis__axis_size(net, s->rows),
        .width = net->ints[layer->ints[0]].per,
        .places = s->width,
        .kernel = l->o.kernel,
        .before = l->before,
        .out = l->o.out,
        .n_ids = l->n_ids,
        .id = dis__ints_of(net, layer->ints[0]),
        .act = l->o.act,
        .row_products = layer->work[PRODUCT],
        .bias = l->o.bias ? dis__param_of(net, layer, BIAS) : NULL,
        .y = dis__data(net, layer->out),
        .dy = dis__grad(net, layer->out),
        .d_row_products = layer->work[D_PRODUCT],
    };
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const lookup_conv *l = layer->own;
    const size_t row = l->o.kernel * l->o.out;
    for (size_t k = 0; k < l->o.kernel; k++)
        DIS_TRY(dis__product(net, &(dis__product_args){.tb = true,
                                                       .m = l->n_ids,
                                                       .n = l->o.out,
                                                       .k = l->n_in,
                                                       .a = dis__param_of(net, layer, TABLE),
                                                       .lda = l->n_in,
                                                       .b = dis__param_at(net, dis__param_of(net, layer, WEIGHT),
                                                                          k * l->n_in),
                                                       .ldb = l->o.kernel * l->n_in,
                                                       .c = dis__value_at(net, layer->work[PRODUCT], k * l->o.out),
                                                       .ldc = row}));
    const dis__lookup_conv_args args = arguments(net, layer);
    return dis__op_run(net, DIS_OP_lookup_conv, &args);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const lookup_conv *l = layer->own;
    const dis__lookup_conv_args args = arguments(net, layer);
    const size_t rows = dis__padded_rows(net, layer->out), row = l->o.kernel * l->o.out;
    void *dz = dis__grad(net, layer->out), *db = l->o.bias ? dis__param_grad(net, layer, BIAS) : NULL;
    void *dw = dis__param_grad(net, layer, WEIGHT), *d_table = dis__param_grad(net, layer, TABLE);
    if (l->o.act != DIS_ACT_NONE) {
        const dis__activate_args act = {
            .act = l->o.act, .n = rows * args.out, .x = dis__data(net, layer->out), .dy = dz, .y = dz};
        DIS_TRY(dis__op_run(net, DIS_OP_activate_grad, &act));
    }
    if (db) {
        const dis__column_sums_args sums = {.x = dz, .n_rows = rows, .n_cols = args.out, .ld = args.out, .out = db};
        DIS_TRY(dis__op_run(net, DIS_OP_column_sums, &sums));
    }
    if (!dw && !d_table) return DIS_OK;
    DIS_TRY(dis__zero(net, args.d_row_products, l->n_ids * row * dis__number_bytes(net, DIS_ROLE_VALUE)));
    DIS_TRY(dis__op_run(net, DIS_OP_lookup_conv_grad, &args));
    for (size_t k = 0; k < l->o.kernel; k++) {
        const void *d = dis__value_at(net, args.d_row_products, k * l->o.out);
        if (dw)
            DIS_TRY(dis__product(net, &(dis__product_args){.ta = true,
                                                           .add = true,
                                                           .m = l->o.out,
                                                           .n = l->n_in,
                                                           .k = l->n_ids,
                                                           .a = d,
                                                           .lda = row,
                                                           .b = dis__param_of(net, layer, TABLE),
                                                           .ldb = l->n_in,
                                                           .c = dis__param_at(net, dw, k * l->n_in),
                                                           .ldc = l->o.kernel * l->n_in}));
        if (d_table)
            DIS_TRY(dis__product(net, &(dis__product_args){.add = true,
                                                           .m = l->n_ids,
                                                           .n = l->n_in,
                                                           .k = l->o.out,
                                                           .a = d,
                                                           .lda = row,
                                                           .b = dis__param_at(net, dis__param_of(net, layer, WEIGHT),
                                                                              k * l->n_in),
                                                           .ldb = l->o.kernel * l->n_in,
                                                           .c = d_table,
                                                           .ldc = l->n_in}));
    }
    return DIS_OK;
}

static const dis__layer_kind lookup_conv_kind = {
    .name = "lookup conv", .own = sizeof(lookup_conv), .plan = plan, .forward = forward, .backward = backward};

int dis__layer_lookup_conv(dis__net *net, const char *name, int ids, int table, const dis__conv_options *options)
{
    if (!dis__ints_fit(net, ids, "ids", name)) return DIS_NONE;
    if (table < 0 || (size_t)table >= net->n_layers || net->layers[table].kind != &table_kind)
        return dis__net_build_error(net, DIS_EBUG, "%s: no table", name);
    const size_t param = net->layers[table].param[0], *dim = net->params[param].info.dim;
    const dis__conv_options o = options ? *options : dis__conv_options_default();
    const dis__ints *in = &net->ints[ids];
    if (o.kernel == 0 || o.kernel > 1 << 20 || o.stride != 1 || o.out == 0 || o.act == DIS_ACT_GELU ||
        in->time != DIS_NONE || (!o.same && in->per < o.kernel))
        return dis__net_build_error(net, DIS_EUSAGE,
                                    "%s: a convolution over %zu ids with a kernel of %zu and a stride of %zu", name,
                                    in->per, o.kernel, o.stride);
    const dis__shape shape = {in->rows, DIS_NONE, 1, o.same ? in->per : in->per - o.kernel + 1, o.out};
    const lookup_conv own = {o, dim[0], dim[1], o.same ? (o.kernel - 1) / 2 : 0};
    dis__layer *layer = dis__net_layer(net, &lookup_conv_kind, name, NULL, 0, &shape);
    if (!layer) return DIS_NONE;
    *(lookup_conv *)layer->own = own;
    layer->ints[0] = ids;
    layer->param[layer->n_params++] = param;
    const double spread = 1 / sqrt((double)(o.kernel * own.n_in));
    dis__layer_param(net, layer, "weight", 4, (size_t[]){o.out, 1, o.kernel, own.n_in}, DIS_START_UNIFORM, spread);
    if (o.bias) dis__layer_param(net, layer, "bias", 1, &o.out, DIS_START_UNIFORM, spread);
    return layer->out;
}
