/* Batch normalisation over rows, time and position, with the residual and the activation that follow it: O(elements).
 * The running mean and variance are stored and saved with the parameters, and never trained. */
#include "nn/net_internal.h"

typedef struct {
    dis__activation act;
} batchnorm;

static const double EPSILON = 1e-5, MOMENTUM = .1;
enum { GAIN, BIAS, RUNNING_MEAN, RUNNING_VAR };
enum { STATS, SUMS, OWN };

static dis__batchnorm_args arguments(const dis__net *net, const dis__layer *layer)
{
    return (dis__batchnorm_args){
        .x = dis__data(net, layer->in[0]),
        .r = layer->in[1] == DIS_NONE ? NULL : dis__data(net, layer->in[1]),
        .gain = dis__param_of(net, layer, GAIN),
        .bias = dis__param_of(net, layer, BIAS),
        .running_mean = dis__param_of(net, layer, RUNNING_MEAN),
        .running_var = dis__param_of(net, layer, RUNNING_VAR),
        .y = dis__data(net, layer->out),
        .stats = layer->work[STATS],
        .work = layer->n_works > OWN ? layer->work[OWN] : NULL,
        .n_rows = dis__padded_rows(net, layer->out),
        .width = dis__shape_of(net, layer->out)->channels,
        .act = ((const batchnorm *)layer->own)->act,
        .epsilon = EPSILON,
        .momentum = MOMENTUM,
        .fixed = !net->training,
    };
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const size_t bytes =
        dis__saturating_size(dis__shape_of(net, layer->out)->channels, 2 * dis__number_bytes(net, DIS_ROLE_STAT), 0);
    dis__batchnorm_args args = arguments(net, layer);
    args.r = layer->in[1] == DIS_NONE ? NULL : layer; /* whether there is one */
    DIS_TRY(dis__layer_work(net, layer, bytes, DIS_WORK_SAVED));
    DIS_TRY(dis__layer_work(net, layer, bytes, DIS_WORK_BACKWARD));
    const size_t own = dis__layer_runs(net, DIS_OP_batchnorm, &args);
    return own && net->training_plan ? dis__layer_work(net, layer, own, DIS_WORK_SAVED) : DIS_OK;
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const dis__batchnorm_args args = arguments(net, layer);
    DIS_TRY(dis__op_run(net, DIS_OP_batch_stats, &args));
    return dis__op_run(net, DIS_OP_batchnorm, &args);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    dis__batchnorm_args args = arguments(net, layer);
    if (args.n_rows == 0) return DIS_OK;
    args.dy = dis__grad(net, layer->out);
    args.sums = layer->work[SUMS];
    args.d_gain = dis__param_grad(net, layer, GAIN);
    args.d_bias = dis__param_grad(net, layer, BIAS);
    DIS_TRY(dis__op_run(net, DIS_OP_batchnorm_sums, &args));
    args.dx = dis__grad(net, layer->in[0]);
    args.add = layer->adds[0];
    args.dr = layer->in[1] == DIS_NONE ? NULL : dis__grad(net, layer->in[1]);
    args.add_r = layer->adds[1];
    return args.dx || args.dr ? dis__op_run(net, DIS_OP_batchnorm_grad, &args) : DIS_OK;
}

static const dis__layer_kind batchnorm_kind = {
    .name = "batchnorm", .own = sizeof(batchnorm), .plan = plan, .forward = forward, .backward = backward};

int dis__layer_batchnorm(dis__net *net, const char *name, int x, int residual, dis__activation act)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "%s: no input", name);
    if (act == DIS_ACT_GELU) return dis__net_build_error(net, DIS_EUSAGE, "%s: GELU cannot follow here", name);
    const dis__shape shape = *dis__shape_of(net, x);
    if (residual != DIS_NONE && !dis__same_shape(net, x, residual, name)) return DIS_NONE;
    dis__layer *layer = dis__net_layer(net, &batchnorm_kind, name, (int[]){x, residual}, 2, &shape);
    if (!layer) return DIS_NONE;
    ((batchnorm *)layer->own)->act = act;
    dis__layer_param(net, layer, "weight", 1, &shape.channels, DIS_START_ONE, 0);
    dis__layer_param(net, layer, "bias", 1, &shape.channels, DIS_START_ZERO, 0);
    dis__layer_param(net, layer, "running_mean", 1, &shape.channels, DIS_START_ZERO, 0);
    dis__layer_param(net, layer, "running_var", 1, &shape.channels, DIS_START_ONE, 0);
    for (size_t i = RUNNING_MEAN; i < layer->n_params; i++) net->params[layer->param[i]].statistic = true;
    return layer->out;
}
