/* LSTM and GRU layers. Products over all positions give the inputs' part of the gates, recurrent_loops.h runs through
 * time, and backward ends with products for the two weights and for the input. Parameters are named and laid out as
 * PyTorch's: weight_ih_l0 (gates hidden, in), weight_hh_l0 (gates hidden, hidden), bias_ih_l0, bias_hh_l0, and the same
 * with "_reverse". Where the two biases add up they get the same gradient; with both, training goes as PyTorch's does.
 *
 * What a cell needs is a row of a table. A step has four gates' worth of numbers: the LSTM's i, f, g, o; for the GRU n,
 * r, z and the state's part of n, which r is to weigh and so must stand apart. In this order the state's products, whose
 * rows are r, z, n, go to neighbours and a step is one product. */
#include "nn/net_inside.h"
#include <math.h>
#include <stdio.h>

enum { W_INPUT, W_STATE, B_INPUT, B_STATE, PARAMS }; /* of one direction */
enum { GATES, MEMORY = 2, BEFORE = 4 };              /* work: two each */

/* Rows [row, row + n) of the parameters, in gates, make gates [gate, gate + n) of a step before time is run through. */
typedef struct {
    size_t row, gate, n;
    bool weights, input_bias, state_bias; /* what goes in; weights: times the inputs */
} part;

typedef struct {
    dis__layer_kind kind;
    size_t n_gates;     /* rows of the parameters */
    size_t first_state; /* gate that the first row of the state's weight belongs to */
    bool memory;        /* a second state */
    part parts[3];
    size_t n_parts;
} cell_row;

typedef struct {
    const cell_row *row;
    dis__recurrent_cell cell;
    size_t n_in, n_hidden, n_directions;
} recurrent;

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const recurrent *l = layer->own;
    const size_t real = net->device->real, rows = dis__most_rows(net, layer->out);
    const size_t state = dis__size(dis__size(rows, l->n_hidden, 0), real, 0);
    const size_t sizes[] = {dis__size(state, DIS_RECURRENT_GATES, 0), l->row->memory ? state : 0, state};
    static const dis__work_life lives[] = {DIS_WORK_KEPT, DIS_WORK_KEPT, DIS_WORK_BACKWARD};
    for (int w = 0; w < 3; w++)
        for (size_t d = 0; d < 2; d++)
            DIS_TRY(dis__layer_work(net, layer, d < l->n_directions ? sizes[w] : 0, lives[w]));
    const size_t packed = dis__size(dis__size(l->row->n_gates * l->n_hidden, 1, 16), l->n_hidden + 16, 0);
    dis__layer_scratch(net, dis__size(dis__size(packed, 1, 2 * DIS_RECURRENT_BLOCK * l->n_hidden), real,
                                      net->device->scratch));
    return DIS_OK;
}

static dis__recurrent_args arguments(const dis__net *net, const dis__layer *layer)
{
    const recurrent *l = layer->own;
    const dis__shape *s = dis__shape_of(net, layer->out);
    dis__recurrent_args args = {
        .cell = l->cell,
        .n_rows = dis__axis_now(net, s->rows),
        .n_times = dis__axis_now(net, s->time),
        .n_hidden = l->n_hidden,
        .n_directions = l->n_directions,
        .first_state = l->row->first_state,
        .n_state = l->row->n_gates,
        .n_memory = l->row->memory ? l->n_hidden : 0,
        .length = dis__ints_of(net, layer->ints[0]),
        .y = dis__data(net, layer->out),
        .dy = dis__grad(net, layer->out),
    };
    for (size_t d = 0; d < l->n_directions; d++) {
        args.weight[d] = dis__param_of(net, layer, d * PARAMS + W_STATE);
        args.gates[d] = layer->work[GATES + d];
        args.memory[d] = layer->work[MEMORY + d];
        args.before[d] = layer->work[BEFORE + d];
    }
    return args;
}

static dis_status run(dis__net *net, const dis__recurrent_args *args, dis__op op)
{
    const size_t blocks = (args->n_rows + DIS_RECURRENT_BLOCK - 1) / DIS_RECURRENT_BLOCK;
    const size_t work = dis__size(args->n_times * DIS_RECURRENT_BLOCK, args->n_hidden * args->n_hidden / 2 + 1, 0);
    return dis__op_run(net, op, args, blocks * args->n_directions, work);
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const recurrent *l = layer->own;
    const size_t rows = dis__net_rows(net, layer->out), n = l->n_hidden;
    for (size_t d = 0; d < l->n_directions; d++)
        for (const part *p = l->row->parts; p < l->row->parts + l->row->n_parts; p++) {
            const void *weight = dis__param_of(net, layer, d * PARAMS + W_INPUT);
            const void *input_bias = dis__param_of(net, layer, d * PARAMS + B_INPUT);
            const void *state_bias = dis__param_of(net, layer, d * PARAMS + B_STATE);
            DIS_TRY(dis__product(
                net, &(dis__product_args){.tb = true,
                                          .m = rows,
                                          .n = p->n * n,
                                          .k = p->weights ? l->n_in : 0,
                                          .a = dis__data(net, layer->in[0]),
                                          .lda = l->n_in,
                                          .b = dis__after(net, weight, p->row * n * l->n_in),
                                          .ldb = l->n_in,
                                          .bias = p->input_bias ? dis__after(net, input_bias, p->row * n) : NULL,
                                          .bias2 = p->state_bias ? dis__after(net, state_bias, p->row * n) : NULL,
                                          .c = dis__after(net, layer->work[GATES + d], p->gate * n),
                                          .ldc = DIS_RECURRENT_GATES * n}));
        }
    const dis__recurrent_args args = arguments(net, layer);
    return run(net, &args, DIS_OP_recurrent);
}

/* The gradients of rows [row, row + n) of a weight and its bias, from those of the gates that they made of x. */
static dis_status rows_backward(dis__net *net, dis__layer *layer, size_t d, size_t weight, const void *x, size_t n_x,
                                const part *p)
{
    const recurrent *l = layer->own;
    const size_t rows = dis__net_rows(net, layer->out), n = l->n_hidden;
    const void *gates = dis__after(net, layer->work[GATES + d], p->gate * n);
    void *dw = dis__param_grad(net, layer, d * PARAMS + weight);
    if (dw)
        DIS_TRY(dis__product(net, &(dis__product_args){.ta = true,
                                                       .add = true,
                                                       .m = p->n * n,
                                                       .n = n_x,
                                                       .k = rows,
                                                       .a = gates,
                                                       .lda = DIS_RECURRENT_GATES * n,
                                                       .b = x,
                                                       .ldb = n_x,
                                                       .c = dis__after(net, dw, p->row * n * n_x),
                                                       .ldc = n_x}));
    void *db = dis__param_grad(net, layer, d * PARAMS + weight - W_INPUT + B_INPUT);
    if (!db) return DIS_OK;
    const dis__column_sums_args sums = {.x = gates,
                                        .n_rows = rows,
                                        .ld = DIS_RECURRENT_GATES * n,
                                        .out = dis__after(net, db, p->row * n)};
    return dis__op_run_columns(net, DIS_OP_column_sums, &sums, p->n * n, rows);
}

/* The gradients of one direction's parameters, and of the input, from those of the gates. */
static dis_status weights_backward(dis__net *net, dis__layer *layer, size_t d)
{
    const recurrent *l = layer->own;
    const size_t n = l->n_hidden;
    const part state = {.gate = l->row->first_state, .n = l->row->n_gates};
    DIS_TRY(rows_backward(net, layer, d, W_STATE, layer->work[BEFORE + d], n, &state));
    for (const part *p = l->row->parts; p < l->row->parts + l->row->n_parts; p++) {
        if (!p->weights) continue;
        DIS_TRY(rows_backward(net, layer, d, W_INPUT, dis__data(net, layer->in[0]), l->n_in, p));
        if (!dis__grad(net, layer->in[0])) continue;
        const void *weight = dis__param_of(net, layer, d * PARAMS + W_INPUT);
        DIS_TRY(dis__product(net, &(dis__product_args){.add = dis__grad_adds(net, layer->in[0]),
                                                       .m = dis__net_rows(net, layer->out),
                                                       .n = l->n_in,
                                                       .k = p->n * n,
                                                       .a = dis__after(net, layer->work[GATES + d], p->gate * n),
                                                       .lda = DIS_RECURRENT_GATES * n,
                                                       .b = dis__after(net, weight, p->row * n * l->n_in),
                                                       .ldb = l->n_in,
                                                       .c = dis__grad(net, layer->in[0]),
                                                       .ldc = l->n_in}));
    }
    return DIS_OK;
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const recurrent *l = layer->own;
    const dis__recurrent_args args = arguments(net, layer);
    DIS_TRY(run(net, &args, DIS_OP_recurrent_grad));
    for (size_t d = 0; d < l->n_directions; d++) DIS_TRY(weights_backward(net, layer, d));
    return DIS_OK;
}

#define KIND(name_)                                                                                     \
    {                                                                                                   \
        .name = name_, .own = sizeof(recurrent), .plan = plan, .forward = forward, .backward = backward \
    }
static const cell_row cells[DIS_N_CELLS] = {
    [DIS_CELL_LSTM] =
        {.kind = KIND("lstm"), .n_gates = 4, .memory = true, .parts = {{0, 0, 4, true, true, true}}, .n_parts = 1},
    [DIS_CELL_GRU] = {.kind = KIND("gru"),
                      .n_gates = 3,
                      .first_state = 1,
                      .parts = {{0, 1, 2, true, true, true},    /* r, z */
                                {2, 0, 1, true, true, false},   /* n: the inputs' part */
                                {2, 3, 1, false, false, true}}, /* and the state's */
                      .n_parts = 3},
};

static int one_layer(dis__net *net, const char *name, dis__recurrent_cell cell, int number, int x, int lengths,
                     size_t hidden, bool both)
{
    const cell_row *row = &cells[cell];
    if (x < 0) return dis__net_bad(net, DIS_EBUG, "%s: no input", name);
    dis__shape shape = *dis__shape_of(net, x);
    const size_t n_in = shape.channels;
    if (hidden == 0 || hidden > SIZE_MAX / 64)
        return dis__net_bad(net, DIS_EUSAGE, "%s: a state of %zu numbers", name, hidden);
    if (shape.time == DIS_NONE || shape.height * shape.width != 1)
        return dis__net_bad(net, DIS_EUSAGE, "%s: layers of kind %s need a value over time", name, row->kind.name);
    shape.channels = both ? 2 * hidden : hidden;
    dis__layer *layer = dis__net_layer(net, &row->kind, name, &x, 1, &shape);
    if (!layer) return DIS_NONE;
    *(recurrent *)layer->own = (recurrent){row, cell, n_in, hidden, both ? 2 : 1};
    layer->ints[0] = lengths;
    const double spread = 1 / sqrt((double)hidden);
    for (int d = 0; d < (both ? 2 : 1); d++) {
        static const char *const what[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
        for (int p = 0; p < PARAMS; p++) {
            char text[32];
            snprintf(text, sizeof text, "%s_l%d%s", what[p], number, d ? "_reverse" : "");
            const size_t dim[] = {row->n_gates * hidden, p == W_INPUT ? n_in : hidden};
            dis__layer_param(net, layer, text, p < B_INPUT ? 2 : 1, dim, DIS_START_UNIFORM, spread);
        }
    }
    return layer->out;
}

int dis__layer_recurrent(dis__net *net, const char *name, dis__recurrent_cell cell, int x, int lengths, size_t hidden,
                         bool both, int layers, double dropout)
{
    if (lengths != DIS_NONE && !dis__ints_fit(net, lengths, "lengths", name)) return DIS_NONE;
    for (int i = 0; i < layers; i++) {
        if (i) x = dis__layer_dropout(net, x, dropout);
        x = one_layer(net, name, cell, i, x, lengths, hidden, both);
    }
    return x;
}
