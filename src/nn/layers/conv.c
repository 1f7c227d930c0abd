/* Convolution over images (rows, height, width, channels) or over sequences, which are images of height 1 with one
 * column per position. Weights are (out, kernel_h, kernel_w, channels). image_loops.h has the algorithm and its
 * cost. */
#include "nn/net_internal.h"
#include <math.h>

typedef struct {
    dis__conv_options o;
    bool over_time;
    size_t kernel_h, pad_top, pad_left;
} conv;

dis__conv_options dis__conv_options_default(void)
{
    return (dis__conv_options){
        .size = sizeof(dis__conv_options), .out = 64, .kernel = 3, .stride = 1, .same = true, .bias = true};
}

static dis__conv_args arguments(const dis__net *net, const dis__layer *layer)
{
    const conv *l = layer->own;
    const dis__shape *in = dis__shape_of(net, layer->in[0]), *out = dis__shape_of(net, layer->out);
    return (dis__conv_args){
        .n = dis__axis_size(net, in->rows),
        .height = in->height,
        .width = l->over_time ? dis__axis_size(net, in->time) : in->width,
        .channels = in->channels,
        .out_h = out->height,
        .out_w = l->over_time ? dis__axis_size(net, out->time) : out->width,
        .out = out->channels,
        .kernel_h = l->kernel_h,
        .kernel_w = l->o.kernel,
        .stride = l->o.stride,
        .pad_top = l->pad_top,
        .pad_left = l->pad_left,
        .length = dis__ints_of(net, layer->ints[0]),
        .act = l->o.act,
        .x = dis__data(net, layer->in[0]),
        .weight = dis__param_of(net, layer, 0),
        .bias = l->o.bias ? dis__param_of(net, layer, 1) : NULL,
        .y = dis__data(net, layer->out),
    };
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const dis__conv_args args = arguments(net, layer);
    dis__layer_runs(net, DIS_OP_conv, &args);
    return dis__layer_work(net, layer, dis__layer_runs(net, DIS_OP_conv_grad, &args), DIS_WORK_BACKWARD);
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const dis__conv_args args = arguments(net, layer);
    return dis__op_run(net, DIS_OP_conv, &args);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const conv *l = layer->own;
    const size_t rows = dis__padded_rows(net, layer->out);
    void *dz = dis__grad(net, layer->out), *dw = dis__param_grad(net, layer, 0);
    void *db = l->o.bias ? dis__param_grad(net, layer, 1) : NULL;
    dis__conv_args args = arguments(net, layer);
    if (rows == 0) return DIS_OK;
    if (l->o.act != DIS_ACT_NONE) {
        const dis__activate_args act = {
            .act = l->o.act, .n = rows * args.out, .x = dis__data(net, layer->out), .dy = dz, .y = dz};
        DIS_TRY(dis__op_run(net, DIS_OP_activate_grad, &act));
    }
    if (db) {
        const dis__column_sums_args sums = {
            .x = dz, .n_rows = rows, .n_cols = args.out, .ld = args.out, .out = db, .later = true};
        DIS_TRY(dis__op_run(net, DIS_OP_column_sums, &sums));
    }
    args.dy = dz;
    args.dx = dis__grad(net, layer->in[0]);
    args.add = layer->adds[0];
    args.d_weight = dw;
    args.work = layer->work[0];
    args.later = true;
    args.once = net->once;
    return args.dx || dw ? dis__op_run(net, DIS_OP_conv_grad, &args) : DIS_OK;
}

static const dis__layer_kind conv_kind = {
    .name = "conv", .own = sizeof(conv), .plan = plan, .forward = forward, .backward = backward};

/* Size of a dimension after the kernel; 0: the kernel does not fit. */
static size_t size_after(size_t n, const dis__conv_options *o)
{
    if (o->same) return (n + o->stride - 1) / o->stride;
    return n < o->kernel ? 0 : (n - o->kernel) / o->stride + 1;
}

int dis__layer_conv(dis__net *net, const char *name, int x, int lengths, const dis__conv_options *options)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "%s: no input", name);
    if (lengths != DIS_NONE && !dis__ints_fit(net, lengths, "lengths", name)) return DIS_NONE;
    const dis__conv_options o = options ? *options : dis__conv_options_default();
    dis__shape shape = *dis__shape_of(net, x);
    const bool over_time = shape.time != DIS_NONE, flat = shape.height == 1;
    const size_t n_in = shape.channels;
    if (o.kernel == 0 || o.kernel > 1 << 20 || o.stride == 0 || o.out == 0 || o.act == DIS_ACT_GELU)
        return dis__net_build_error(net, DIS_EUSAGE, "%s: a convolution with size 0, or with GELU", name);
    if (over_time && (!o.same || o.stride != 1 || shape.height * shape.width != 1))
        return dis__net_build_error(net, DIS_EUSAGE, "%s: over time a convolution keeps the size", name);
    shape.channels = o.out;
    if (!over_time) {
        shape.width = size_after(shape.width, &o);
        shape.height = flat ? 1 : size_after(shape.height, &o);
    }
    dis__layer *layer = dis__net_layer(net, &conv_kind, name, &x, 1, &shape);
    if (!layer) return DIS_NONE;
    const size_t pad = o.same ? (o.kernel - 1) / 2 : 0;
    *(conv *)layer->own = (conv){
        .o = o, .over_time = over_time, .kernel_h = flat ? 1 : o.kernel, .pad_top = flat ? 0 : pad, .pad_left = pad};
    layer->ints[0] = lengths;
    const size_t dim[] = {o.out, flat ? 1 : o.kernel, o.kernel, n_in};
    const double spread = 1 / sqrt((double)(dim[1] * dim[2] * n_in));
    dis__layer_param(net, layer, "weight", 4, dim, o.he ? DIS_START_NORMAL : DIS_START_UNIFORM,
                     o.he ? spread * sqrt(2) : spread);
    if (o.bias) dis__layer_param(net, layer, "bias", 1, &o.out, DIS_START_UNIFORM, spread);
    return layer->out;
}

/* ---- windows and shortcuts ---- */

typedef struct {
    dis__pooling kind;
    size_t kernel, stride, before;
    bool shortcut;
} window;

static dis_status window_plan(dis__net *net, dis__layer *layer)
{
    const window *l = layer->own;
    if (l->shortcut || l->kind != DIS_POOL_MAX) return DIS_OK;
    const size_t n = dis__saturating_size(dis__max_rows(net, layer->out), dis__shape_of(net, layer->out)->channels, 0);
    return dis__layer_work(net, layer, dis__saturating_size(n, sizeof(int32_t), 0), DIS_WORK_SAVED);
}

static dis__window_args window_arguments(const dis__net *net, const dis__layer *layer)
{
    const window *l = layer->own;
    const dis__shape *in = dis__shape_of(net, layer->in[0]), *out = dis__shape_of(net, layer->out);
    return (dis__window_args){
        .kind = l->kind,
        .n = dis__axis_size(net, in->rows) * dis__axis_size(net, in->time),
        .height = in->height,
        .width = in->width,
        .channels = in->channels,
        .out_h = out->height,
        .out_w = out->width,
        .out = out->channels,
        .kernel = l->kernel,
        .stride = l->stride,
        .before = l->before,
        .x = dis__data(net, layer->in[0]),
        .y = dis__data(net, layer->out),
        .choice = layer->n_works ? layer->work[0] : NULL,
    };
}

static dis_status window_forward(dis__net *net, dis__layer *layer)
{
    const window *l = layer->own;
    const dis__window_args args = window_arguments(net, layer);
    return dis__op_run(net, l->shortcut ? DIS_OP_shortcut : DIS_OP_window, &args);
}

static dis_status window_backward(dis__net *net, dis__layer *layer)
{
    const window *l = layer->own;
    dis__window_args args = window_arguments(net, layer);
    args.dy = dis__grad(net, layer->out);
    args.dx = dis__grad(net, layer->in[0]);
    args.add = layer->adds[0];
    return dis__op_run(net, l->shortcut ? DIS_OP_shortcut_grad : DIS_OP_window_grad, &args);
}

static const dis__layer_kind window_kind = {.name = "window",
                                            .own = sizeof(window),
                                            .plan = window_plan,
                                            .forward = window_forward,
                                            .backward = window_backward};

static int new_window(dis__net *net, int x, const dis__shape *shape, const window *own)
{
    dis__layer *layer = dis__net_layer(net, &window_kind, "window", &x, 1, shape);
    if (!layer) return DIS_NONE;
    *(window *)layer->own = *own;
    return layer->out;
}

int dis__layer_window(dis__net *net, int x, dis__pooling kind, size_t kernel, size_t stride)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "window: no input");
    dis__shape shape = *dis__shape_of(net, x);
    const bool flat = shape.height == 1;
    if (kernel == 0 || stride == 0 || shape.width < kernel || (!flat && shape.height < kernel) ||
        (kind != DIS_POOL_MAX && kind != DIS_POOL_MEAN))
        return dis__net_build_error(net, DIS_EUSAGE, "windows of %zu in a width of %zu", kernel, shape.width);
    shape.width = (shape.width - kernel) / stride + 1;
    if (!flat) shape.height = (shape.height - kernel) / stride + 1;
    return new_window(net, x, &shape, &(window){.kind = kind, .kernel = kernel, .stride = stride});
}

int dis__layer_shortcut(dis__net *net, int x, size_t stride, size_t channels)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "shortcut: no input");
    dis__shape shape = *dis__shape_of(net, x);
    if (stride == 0 || channels < shape.channels)
        return dis__net_build_error(net, DIS_EUSAGE, "a shortcut from %zu channels to %zu", shape.channels, channels);
    const size_t before = (channels - shape.channels) / 2;
    shape.width = (shape.width + stride - 1) / stride;
    shape.height = (shape.height + stride - 1) / stride;
    shape.channels = channels;
    return new_window(net, x, &shape, &(window){.stride = stride, .before = before, .shortcut = true});
}
