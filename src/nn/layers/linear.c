/* Linear layer with its activation: y = act(x W' + b), W (out, in). Backward: dz = dy act' overwrites dy; dx = dz W, dW
 * += dz' x (the first one after an update is stored), db += sums of dz. Three GEMMs of 2 rows in out operations each.
 *
 * Two consecutive linear layers, (x V' + a) W' + b, equal one with the matrix W V and the bias W a + b. In networks
 * that only predict, these are computed once, 2 in middle out operations, and save 2 rows (in middle + middle out - in
 * out). */
#include "nn/net_internal.h"
#include <math.h>

typedef struct {
    size_t n_in, n_out;
    dis__activation act;
    bool merged; /* layer into which this one is merged, if nothing is trained */
    int first;   /* layer that is merged into this one; DIS_NONE: none */
    int sum;     /* layer that adds this one's value to another, or normalises the sum; DIS_NONE: none */
    bool bias;
    bool tied; /* the matrix is shared with another layer */
} linear;

static void *bias_of(const dis__net *net, const dis__layer *layer)
{
    return ((const linear *)layer->own)->bias ? dis__param_of(net, layer, 1) : NULL;
}

dis__linear_options dis__linear_options_default(void)
{
    return (dis__linear_options){.size = sizeof(dis__linear_options), .bias = true, .tied = DIS_NONE};
}

enum {
    PREPARED,
    MATRIX,
    BIAS
}; /* work of networks that only predict; the last two: of the layer into which another is merged */

/* The device's preprocessed weights, computed once. */
static dis_status plan_prepared(dis__net *net, dis__layer *layer, size_t n_in)
{
    const linear *l = layer->own;
    const dis__product_args args = {.tb = true,
                                    .m = dis__max_rows(net, layer->out),
                                    .n = l->n_out,
                                    .k = n_in,
                                    .lda = n_in,
                                    .ldb = n_in,
                                    .ldc = l->n_out};
    return dis__layer_work(net, layer, dis__layer_runs(net, DIS_OP_product, &args), DIS_WORK_LASTING);
}

static void set_prepared(const dis__net *net, const dis__layer *layer, dis__product_args *args)
{
    const dis__piece *piece = &net->pieces[layer->work_piece[PREPARED]];
    args->work = piece->bytes ? layer->work[PREPARED] : NULL;
    args->prepared = net->prepared;
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const linear *l = layer->own;
    if (!net->training_plan && l->merged) return DIS_OK;
    if (!net->training_plan)
        DIS_TRY(plan_prepared(net, layer,
                              l->first == DIS_NONE ? l->n_in : ((const linear *)net->layers[l->first].own)->n_in));
    if (!net->training_plan && l->first != DIS_NONE) {
        const linear *f = net->layers[l->first].own;
        const size_t real = dis__number_bytes(net, DIS_ROLE_VALUE);
        DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(dis__saturating_size(l->n_out, f->n_in, 0), real, 0),
                                DIS_WORK_LASTING));
        return dis__layer_work(net, layer, dis__saturating_size(l->n_out, real, 0), DIS_WORK_LASTING);
    }
    /* GELU's derivative needs its argument; the others' follow from the value. */
    if (l->act != DIS_ACT_GELU || !net->training_plan) return DIS_OK;
    const size_t n = dis__saturating_size(dis__max_rows(net, layer->out), l->n_out, 0);
    return dis__layer_work(net, layer, dis__saturating_size(n, dis__number_bytes(net, DIS_ROLE_VALUE), 0),
                           DIS_WORK_SAVED);
}

/* W V and W a, from the parameters of both layers. */
static dis_status prepare(dis__net *net, const dis__layer *layer, const dis__layer *first)
{
    const linear *l = layer->own, *f = first->own;
    dis__param *both[] = {&net->params[layer->param[0]], &net->params[first->param[0]]};
    for (size_t i = 0; i < 2; i++)
        if (both[i]->n_host_parts > 1) DIS_TRY(dis__param_copy_in(net, both[i]));
    dis__product_args args = {.m = l->n_out,
                              .n = f->n_in,
                              .k = l->n_in,
                              .a = dis__param_of(net, layer, 0),
                              .lda = l->n_in,
                              .b = dis__param_of(net, first, 0),
                              .ldb = f->n_in,
                              .c = layer->work[MATRIX],
                              .ldc = f->n_in};
    DIS_TRY(dis__product(net, &args));
    args.n = args.ldb = args.ldc = 1;
    args.b = dis__param_of(net, first, 1);
    args.c = layer->work[BIAS];
    return dis__product(net, &args);
}

/* Destination of the value: its own memory, or the other operand of the following sum or normalisation. */
static void set_target(const dis__net *net, const dis__layer *layer, dis__product_args *args)
{
    const linear *l = layer->own;
    const dis__layer *sum = l->sum == DIS_NONE ? NULL : &net->layers[l->sum];
    const int onto = !sum ? DIS_NONE : sum->passes ? sum->in[0] : dis__layernorm_sum(sum);
    args->add = onto != DIS_NONE;
    args->c = dis__data(net, args->add ? onto : layer->out);
    args->ldc = l->n_out;
}

/* A matrix in several parts: one GEMM for the columns of each. */
static dis_status product(dis__net *net, const dis__layer *layer, const dis__product_args *all)
{
    const dis__param *p = &net->params[layer->param[0]];
    if (p->n_host_parts < 2) return dis__product(net, all);
    dis__product_args args = *all;
    args.n = all->n / p->n_host_parts;
    for (size_t i = 0; i < p->n_host_parts; i++) {
        args.b = p->host_part[i];
        args.bias = dis__param_at(net, all->bias, i * args.n);
        args.c = dis__value_at(net, all->c, i * args.n);
        if (all->work)
            args.work = (char *)all->work + i * net->pieces[layer->work_piece[PREPARED]].bytes / p->n_host_parts;
        DIS_TRY(dis__product(net, &args));
    }
    return DIS_OK;
}

static dis_status merged_forward(dis__net *net, const dis__layer *layer)
{
    const linear *l = layer->own;
    const dis__layer *first = &net->layers[l->first];
    const size_t n_in = ((const linear *)first->own)->n_in;
    if (!net->prepared) DIS_TRY(prepare(net, layer, first));
    dis__product_args args = {.tb = true,
                              .act = l->act,
                              .m = dis__padded_rows(net, layer->out),
                              .n = l->n_out,
                              .k = n_in,
                              .a = dis__data(net, first->in[0]),
                              .lda = n_in,
                              .b = layer->work[MATRIX],
                              .ldb = n_in,
                              .bias = layer->work[BIAS],
                              .bias2 = bias_of(net, layer)};
    set_target(net, layer, &args);
    set_prepared(net, layer, &args);
    return dis__product(net, &args);
}

/* GELU of the argument kept for its derivative. */
static dis_status activate_again(dis__net *net, dis__layer *layer)
{
    const linear *l = layer->own;
    const dis__activate_args args = {.act = l->act,
                                     .n = dis__padded_rows(net, layer->out) * l->n_out,
                                     .x = layer->work[0],
                                     .y = dis__data(net, layer->out)};
    return dis__op_run(net, DIS_OP_activate, &args);
}

static bool is_gelu(const dis__layer *layer)
{
    return ((const linear *)layer->own)->act == DIS_ACT_GELU;
}

/* The gradient of the matrix needs the input; the derivatives of activations except GELU follow from the value. */
static bool reads(const dis__net *net, const dis__layer *layer, int value)
{
    if (value != layer->out) return net->params[layer->param[0]].info.trained;
    return !is_gelu(layer) && ((const linear *)layer->own)->act != DIS_ACT_NONE;
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const linear *l = layer->own;
    if (!net->training_plan && l->merged) return DIS_OK;
    if (!net->training_plan && l->first != DIS_NONE) return merged_forward(net, layer);
    const size_t rows = dis__padded_rows(net, layer->out);
    const bool gelu = l->act == DIS_ACT_GELU && net->training_plan;
    dis__product_args args = {.tb = true,
                              .act = gelu ? DIS_ACT_NONE : l->act,
                              .m = rows,
                              .n = l->n_out,
                              .k = l->n_in,
                              .a = dis__data(net, layer->in[0]),
                              .lda = l->n_in,
                              .b = dis__param_of(net, layer, 0),
                              .ldb = l->n_in,
                              .bias = bias_of(net, layer)};
    set_target(net, layer, &args);
    if (!net->training_plan) set_prepared(net, layer, &args);
    if (gelu) args.c = layer->work[0];
    DIS_TRY(product(net, layer, &args));
    return gelu ? activate_again(net, layer) : DIS_OK;
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const linear *l = layer->own;
    const size_t rows = dis__padded_rows(net, layer->out);
    void *dz = dis__grad(net, layer->out), *dw = dis__param_grad(net, layer, 0),
         *db = l->bias ? dis__param_grad(net, layer, 1) : NULL;
    if (l->act != DIS_ACT_NONE) {
        const dis__activate_args args = {.act = l->act,
                                         .n = rows * l->n_out,
                                         .x = l->act == DIS_ACT_GELU ? layer->work[0] : dis__data(net, layer->out),
                                         .dy = dz,
                                         .y = dz};
        DIS_TRY(dis__op_run(net, DIS_OP_activate_grad, &args));
    }
    if (db) {
        const dis__column_sums_args args = {
            .x = dz, .n_rows = rows, .n_cols = l->n_out, .ld = l->n_out, .out = db, .later = true};
        DIS_TRY(dis__op_run(net, DIS_OP_column_sums, &args));
    }
    if (dw)
        DIS_TRY(dis__product(net, &(dis__product_args){.ta = true,
                                                       .add = l->tied || !net->stale,
                                                       .later = !l->tied,
                                                       .m = l->n_out,
                                                       .n = l->n_in,
                                                       .k = rows,
                                                       .a = dz,
                                                       .lda = l->n_out,
                                                       .b = dis__data(net, layer->in[0]),
                                                       .ldb = l->n_in,
                                                       .c = dw,
                                                       .ldc = l->n_in}));
    if (!dis__grad(net, layer->in[0])) return DIS_OK;
    return dis__product(net, &(dis__product_args){.add = layer->adds[0],
                                                  .m = rows,
                                                  .n = l->n_in,
                                                  .k = l->n_out,
                                                  .a = dz,
                                                  .lda = l->n_out,
                                                  .b = dis__param_of(net, layer, 0),
                                                  .ldb = l->n_in,
                                                  .c = dis__grad(net, layer->in[0]),
                                                  .ldc = l->n_in});
}

static const dis__layer_kind linear_kind = {.name = "linear",
                                            .own = sizeof(linear),
                                            .plan = plan,
                                            .forward = forward,
                                            .backward = backward,
                                            .reads = reads,
                                            .recomputes = is_gelu,
                                            .recompute = activate_again};

int dis__layer_linear(dis__net *net, const char *name, int x, size_t n_out, dis__activation act)
{
    dis__linear_options o = dis__linear_options_default();
    o.act = act;
    return dis__layer_linear_with(net, name, x, n_out, &o);
}

/* The parameter that a layer shares with the embedding of `value`; SIZE_MAX: it has none of that shape. */
static size_t tied_param(dis__net *net, int value, size_t n_out, size_t n_in)
{
    const int producer = value < 0 || (size_t)value >= net->n_slots ? DIS_NONE : net->slots[value].producer;
    if (producer == DIS_NONE || !net->layers[producer].n_params) return SIZE_MAX;
    const size_t param = net->layers[producer].param[0];
    const dis__param_info *info = &net->params[param].info;
    return info->n_dims == 2 && info->dim[0] == n_out && info->dim[1] == n_in ? param : SIZE_MAX;
}

int dis__layer_linear_with(dis__net *net, const char *name, int x, size_t n_out, const dis__linear_options *options)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "%s: no input", name);
    dis__shape shape = *dis__shape_of(net, x);
    const size_t n_in = shape.channels;
    const size_t tied = options->tied == DIS_NONE ? SIZE_MAX : tied_param(net, options->tied, n_out, n_in);
    if (options->tied != DIS_NONE && tied == SIZE_MAX)
        return dis__net_build_error(net, DIS_EUSAGE, "%s: no table of %zu x %zu to be tied to", name, n_out, n_in);
    shape.channels = n_out;
    dis__layer *layer = dis__net_layer(net, &linear_kind, name, &x, 1, &shape);
    if (!layer) return DIS_NONE;
    *(linear *)layer->own =
        (linear){n_in, n_out, options->act, false, DIS_NONE, DIS_NONE, options->bias, tied != SIZE_MAX};
    const double spread = 1 / sqrt((double)n_in);
    if (tied != SIZE_MAX)
        layer->param[layer->n_params++] = tied;
    else
        dis__layer_param(net, layer, "weight", 2, (size_t[]){n_out, n_in}, DIS_START_UNIFORM, spread);
    if (tied == SIZE_MAX && layer->n_params) {
        net->params[layer->param[0]].accepts_parts = true;
        net->params[layer->param[0]].stored = true;
    }
    if (options->bias) dis__layer_param(net, layer, "bias", 1, &n_out, DIS_START_UNIFORM, spread);
    return layer->out;
}

void dis__linear_merge(dis__net *net, int first, int second)
{
    if (first < 0 || second < 0) return;
    dis__layer *one = &net->layers[net->slots[first].producer], *two = &net->layers[net->slots[second].producer];
    ((linear *)one->own)->merged = true;
    ((linear *)two->own)->first = one->index;
    net->slots[one->in[0]].last_use = two->index; /* the value is read at that time */
}

void dis__linear_in_place(dis__net *net, int value, int sum)
{
    if (value < 0 || sum < 0) return;
    const dis__layer *layer = &net->layers[net->slots[value].producer];
    dis__layer *next = &net->layers[net->slots[sum].producer];
    linear *l = layer->own;
    if (layer->kind != &linear_kind || l->act != DIS_ACT_NONE || layer->in[0] == next->in[0] ||
        layer->in[0] == next->in[1])
        return;
    l->sum = next->index;
    dis__add_in_place(next);
    dis__layernorm_in_place(next);
}

/* ---- an activation alone ---- */

static dis_status activate_forward(dis__net *net, dis__layer *layer)
{
    const linear *l = layer->own;
    const dis__activate_args args = {.act = l->act,
                                     .n = dis__padded_rows(net, layer->out) * l->n_out,
                                     .x = dis__data(net, layer->in[0]),
                                     .y = dis__data(net, layer->out)};
    return dis__op_run(net, DIS_OP_activate, &args);
}

/* Converts dy to dx in place, then adds it to its destination. */
static dis_status activate_backward(dis__net *net, dis__layer *layer)
{
    const linear *l = layer->own;
    const size_t n = dis__padded_rows(net, layer->out) * l->n_out;
    void *dy = dis__grad(net, layer->out), *dx = dis__grad(net, layer->in[0]);
    const bool adds = layer->adds[0];
    const dis__activate_args args = {.act = l->act,
                                     .n = n,
                                     .x = dis__data(net, l->act == DIS_ACT_GELU ? layer->in[0] : layer->out),
                                     .dy = dy,
                                     .y = adds ? dy : dx};
    DIS_TRY(dis__op_run(net, DIS_OP_activate_grad, &args));
    const dis__add_args add = {.n = n, .x = dy, .y = dx};
    return adds ? dis__op_run(net, DIS_OP_add, &add) : DIS_OK;
}

/* GELU's argument, the value of others. */
static bool activate_reads(const dis__net *net, const dis__layer *layer, int value)
{
    (void)net;
    return is_gelu(layer) ? value != layer->out : value == layer->out;
}

static const dis__layer_kind activate_kind = {.name = "activation",
                                              .own = sizeof(linear),
                                              .forward = activate_forward,
                                              .backward = activate_backward,
                                              .reads = activate_reads,
                                              .recomputes = is_gelu,
                                              .recompute = activate_forward};

int dis__layer_activate(dis__net *net, int x, dis__activation act)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "activation: no input");
    const dis__shape shape = *dis__shape_of(net, x);
    dis__layer *layer = dis__net_layer(net, &activate_kind, "activation", &x, 1, &shape);
    if (!layer) return DIS_NONE;
    *(linear *)layer->own = (linear){.n_in = shape.channels, .n_out = shape.channels, .act = act};
    return layer->out;
}
