/* LSTM layers. One product over all positions gives the inputs' part of the gates, lstm_loops.h runs through time, and
 * backward ends with one product each for the two weights and for the input. Parameters are named and laid out as
 * PyTorch's: weight_ih_l0 (4 hidden, in), weight_hh_l0 (4 hidden, hidden), bias_ih_l0, bias_hh_l0, and the same with
 * "_reverse". The two biases add up and get the same gradient; with both, training goes as PyTorch's does. */
#include "nn/net_inside.h"
#include <math.h>
#include <stdio.h>

typedef struct {
    size_t n_in, n_hidden, n_directions;
} lstm;

enum { W_INPUT, W_STATE, B_INPUT, B_STATE, PARAMS }; /* of one direction */
enum { GATES, CELL = 2, BEFORE = 4 };                /* work: two each */

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const lstm *l = layer->own;
    const size_t real = net->device->real, rows = dis__most_rows(net, layer->out);
    const size_t state = dis__size(dis__size(rows, l->n_hidden, 0), real, 0);
    const size_t sizes[] = {dis__size(state, 4, 0), state, state};
    static const dis__work_life lives[] = {DIS_WORK_KEPT, DIS_WORK_KEPT, DIS_WORK_BACKWARD};
    for (int w = 0; w < 3; w++)
        for (size_t d = 0; d < 2; d++)
            DIS_TRY(dis__layer_work(net, layer, d < l->n_directions ? sizes[w] : 0, lives[w]));
    const size_t packed = dis__size(dis__size(4 * l->n_hidden, 1, 16), l->n_hidden + 16, 0);
    dis__layer_scratch(net,
                       dis__size(dis__size(packed, 1, 2 * DIS_LSTM_BLOCK * l->n_hidden), real, net->device->scratch));
    return DIS_OK;
}

static dis__lstm_args arguments(const dis__net *net, const dis__layer *layer)
{
    const lstm *l = layer->own;
    const dis__shape *s = dis__shape_of(net, layer->out);
    dis__lstm_args args = {
        .n_rows = dis__axis_now(net, s->rows),
        .n_times = dis__axis_now(net, s->time),
        .n_hidden = l->n_hidden,
        .n_directions = l->n_directions,
        .length = dis__ints_of(net, layer->ints[0]),
        .y = dis__data(net, layer->out),
        .dy = dis__grad(net, layer->out),
    };
    for (size_t d = 0; d < l->n_directions; d++) {
        args.weight[d] = dis__param_of(net, layer, d * PARAMS + W_STATE);
        args.gates[d] = layer->work[GATES + d];
        args.cell[d] = layer->work[CELL + d];
        args.before[d] = layer->work[BEFORE + d];
    }
    return args;
}

static dis_status run(dis__net *net, const dis__lstm_args *args, dis__op op)
{
    const size_t blocks = (args->n_rows + DIS_LSTM_BLOCK - 1) / DIS_LSTM_BLOCK;
    const size_t work = dis__size(args->n_times * DIS_LSTM_BLOCK, args->n_hidden * args->n_hidden / 2 + 1, 0);
    return dis__op_run(net, op, args, blocks * args->n_directions, work);
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const lstm *l = layer->own;
    const size_t rows = dis__net_rows(net, layer->out), n_gates = 4 * l->n_hidden;
    for (size_t d = 0; d < l->n_directions; d++) {
        DIS_TRY(dis__product(net, &(dis__product_args){.tb = true,
                                                       .m = rows,
                                                       .n = n_gates,
                                                       .k = l->n_in,
                                                       .a = dis__data(net, layer->in[0]),
                                                       .lda = l->n_in,
                                                       .b = dis__param_of(net, layer, d * PARAMS + W_INPUT),
                                                       .ldb = l->n_in,
                                                       .bias = dis__param_of(net, layer, d * PARAMS + B_INPUT),
                                                       .bias2 = dis__param_of(net, layer, d * PARAMS + B_STATE),
                                                       .c = layer->work[GATES + d],
                                                       .ldc = n_gates}));
    }
    const dis__lstm_args args = arguments(net, layer);
    return run(net, &args, DIS_OP_lstm);
}

/* The gradients of one direction's weights, and of the input, from those of the gates. */
static dis_status weights_backward(dis__net *net, dis__layer *layer, size_t d)
{
    const lstm *l = layer->own;
    const size_t rows = dis__net_rows(net, layer->out), n_gates = 4 * l->n_hidden;
    const void *gates = layer->work[GATES + d];
    const struct {
        size_t param, n;
        const void *x;
    } products[] = {{W_INPUT, l->n_in, dis__data(net, layer->in[0])}, {W_STATE, l->n_hidden, layer->work[BEFORE + d]}};
    for (int p = 0; p < 2; p++) {
        void *dw = dis__param_grad(net, layer, d * PARAMS + products[p].param);
        if (dw)
            DIS_TRY(dis__product(net, &(dis__product_args){.ta = true,
                                                           .add = true,
                                                           .m = n_gates,
                                                           .n = products[p].n,
                                                           .k = rows,
                                                           .a = gates,
                                                           .lda = n_gates,
                                                           .b = products[p].x,
                                                           .ldb = products[p].n,
                                                           .c = dw,
                                                           .ldc = products[p].n}));
        void *db = dis__param_grad(net, layer, d * PARAMS + (p ? B_STATE : B_INPUT));
        const dis__column_sums_args sums = {.x = gates, .n_rows = rows, .ld = n_gates, .out = db};
        if (db) DIS_TRY(dis__op_run_columns(net, DIS_OP_column_sums, &sums, n_gates, rows));
    }
    if (!dis__grad(net, layer->in[0])) return DIS_OK;
    return dis__product(net, &(dis__product_args){.add = dis__grad_adds(net, layer->in[0]),
                                                  .m = rows,
                                                  .n = l->n_in,
                                                  .k = n_gates,
                                                  .a = gates,
                                                  .lda = n_gates,
                                                  .b = dis__param_of(net, layer, d * PARAMS + W_INPUT),
                                                  .ldb = l->n_in,
                                                  .c = dis__grad(net, layer->in[0]),
                                                  .ldc = l->n_in});
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const lstm *l = layer->own;
    const dis__lstm_args args = arguments(net, layer);
    DIS_TRY(run(net, &args, DIS_OP_lstm_grad));
    for (size_t d = 0; d < l->n_directions; d++) DIS_TRY(weights_backward(net, layer, d));
    return DIS_OK;
}

static const dis__layer_kind lstm_kind = {
    .name = "lstm", .own = sizeof(lstm), .plan = plan, .forward = forward, .backward = backward};

static int one_layer(dis__net *net, const char *name, int number, int x, int lengths, size_t hidden, bool both)
{
    if (x < 0) return dis__net_bad(net, DIS_EBUG, "%s: no input", name);
    dis__shape shape = *dis__shape_of(net, x);
    const size_t n_in = shape.channels;
    if (hidden == 0 || hidden > SIZE_MAX / 64)
        return dis__net_bad(net, DIS_EUSAGE, "%s: a state of %zu numbers", name, hidden);
    if (shape.time == DIS_NONE || shape.height * shape.width != 1)
        return dis__net_bad(net, DIS_EUSAGE, "%s: an LSTM needs a value over time", name);
    shape.channels = both ? 2 * hidden : hidden;
    dis__layer *layer = dis__net_layer(net, &lstm_kind, name, &x, 1, &shape);
    if (!layer) return DIS_NONE;
    *(lstm *)layer->own = (lstm){n_in, hidden, both ? 2 : 1};
    layer->ints[0] = lengths;
    const double spread = 1 / sqrt((double)hidden);
    for (int d = 0; d < (both ? 2 : 1); d++) {
        static const char *const what[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
        for (int p = 0; p < PARAMS; p++) {
            char text[32];
            snprintf(text, sizeof text, "%s_l%d%s", what[p], number, d ? "_reverse" : "");
            const size_t dim[] = {4 * hidden, p == W_INPUT ? n_in : hidden};
            dis__layer_param(net, layer, text, p < B_INPUT ? 2 : 1, dim, DIS_START_UNIFORM, spread);
        }
    }
    return layer->out;
}

int dis__layer_lstm(dis__net *net, const char *name, int x, int lengths, size_t hidden, bool both, int layers,
                    double dropout)
{
    if (lengths != DIS_NONE && !dis__ints_fit(net, lengths, "lengths", name)) return DIS_NONE;
    for (int i = 0; i < layers; i++) {
        if (i) x = dis__layer_dropout(net, x, dropout);
        x = one_layer(net, name, i, x, lengths, hidden, both);
    }
    return x;
}
