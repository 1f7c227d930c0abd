/* Layer normalisation over channels, of x or of x + residual: O(elements). Mean and 1 / sd of each row are kept, the
 * rest is recomputed in backward. In networks that only predict, x may already be added to the residual by the GEMM
 * that computes it. */
#include "nn/net_internal.h"

typedef struct {
    dis__layernorm_options o;
    bool in_place; /* x is the output of a linear layer used only here */
    bool summed;   /* and was added to the residual, in place */
} layernorm;

dis__layernorm_options dis__layernorm_options_default(void)
{
    return (dis__layernorm_options){.size = sizeof(dis__layernorm_options), .epsilon = 1e-5, .bias = true};
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const size_t rows = dis__max_rows(net, layer->out);
    layernorm *l = layer->own;
    l->summed = l->in_place && !net->training_plan && net->device->sums && dis__is_last_use(net, layer, layer->in[1]);
    return dis__layer_work(net, layer, dis__saturating_size(rows, 2 * dis__number_bytes(net, DIS_ROLE_STAT), 0),
                           DIS_WORK_SAVED);
}

static dis__layernorm_args arguments(const dis__net *net, const dis__layer *layer)
{
    const layernorm *l = layer->own;
    const dis__layernorm_options *o = &l->o;
    return (dis__layernorm_args){
        .x = dis__data(net, layer->in[l->summed ? 1 : 0]),
        .r = layer->in[1] == DIS_NONE || l->summed ? NULL : dis__data(net, layer->in[1]),
        .gain = dis__param_of(net, layer, 0),
        .bias = o->bias ? dis__param_of(net, layer, 1) : NULL,
        .y = dis__data(net, layer->out),
        .stats = layer->work[0],
        .n_rows = dis__padded_rows(net, layer->out),
        .width = dis__shape_of(net, layer->out)->channels,
        .epsilon = o->epsilon,
        .sample = o->sample,
    };
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const dis__layernorm_args args = arguments(net, layer);
    return dis__op_run(net, DIS_OP_layernorm, &args);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    dis__layernorm_args args = arguments(net, layer);
    args.dy = dis__grad(net, layer->out);
    args.d_gain = dis__param_grad(net, layer, 0);
    args.d_bias = args.bias ? dis__param_grad(net, layer, 1) : NULL;
    args.later = true;
    if (args.d_gain || args.d_bias) DIS_TRY(dis__op_run(net, DIS_OP_layernorm_param_grad, &args));
    args.dx = dis__grad(net, layer->in[0]);
    args.add_x = layer->adds[0];
    args.dr = layer->in[1] == DIS_NONE ? NULL : dis__grad(net, layer->in[1]);
    args.add_r = layer->adds[1];
    if (!args.dx && !args.dr) return DIS_OK;
    return dis__op_run(net, DIS_OP_layernorm_grad, &args);
}

static const dis__layer_kind layernorm_kind = {
    .name = "layernorm", .own = sizeof(layernorm), .plan = plan, .forward = forward, .backward = backward};

int dis__layer_layernorm(dis__net *net, const char *name, int x, int residual)
{
    const dis__layernorm_options o = dis__layernorm_options_default();
    return dis__layer_layernorm_with(net, name, x, residual, &o);
}

int dis__layer_layernorm_with(dis__net *net, const char *name, int x, int residual,
                              const dis__layernorm_options *options)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "%s: no input", name);
    const dis__shape shape = *dis__shape_of(net, x);
    if (residual != DIS_NONE && !dis__same_shape(net, x, residual, name)) return DIS_NONE;
    dis__layer *layer = dis__net_layer(net, &layernorm_kind, name, (int[]){x, residual}, 2, &shape);
    if (!layer) return DIS_NONE;
    if (!(options->epsilon > 0))
        return dis__net_build_error(net, DIS_EUSAGE, "%s: an epsilon of %g", name, options->epsilon);
    if (options->sample && shape.channels < 2)
        return dis__net_build_error(net, DIS_EUSAGE, "%s: the standard deviation of a single sample", name);
    ((layernorm *)layer->own)->o = *options;
    dis__layer_param(net, layer, "weight", 1, &shape.channels, DIS_START_ONE, 0);
    if (options->bias) dis__layer_param(net, layer, "bias", 1, &shape.channels, DIS_START_ZERO, 0);
    return layer->out;
}

void dis__layernorm_in_place(dis__layer *layer)
{
    if (layer->kind == &layernorm_kind && layer->in[1] != DIS_NONE) ((layernorm *)layer->own)->in_place = true;
}

int dis__layernorm_sum(const dis__layer *layer)
{
    return layer->kind == &layernorm_kind && ((const layernorm *)layer->own)->summed ? layer->in[1] : DIS_NONE;
}
