/* LSTM and GRU layers. Products over all positions give the inputs' part of the gates, recurrent_loops.h runs through
 * time, and backward ends with products for the two weights and for the input. Parameters are named and laid out as
 * PyTorch's: weight_ih_l0 (gates hidden, in), weight_hh_l0 (gates hidden, hidden), bias_ih_l0, bias_hh_l0, and the same
 * with "_reverse". Where the two biases add up they get the same gradient; with both, training goes as PyTorch's does.
 *
 * What a cell needs is a row of a table. A step has four gates' worth of numbers: the LSTM's i, f, g, o; for the GRU n,
 * r, z and the state's part of n, which r is to weigh and so must stand apart. In this order the state's products,
 * whose rows are r, z, n, go to neighbours and a step is one product.
 *
 * A layer works on nodes (recurrent_layout.h): the positions within the rows' lengths, and over ids one for all rows
 * that are the same up to there. Inputs are gathered into their order and gradients spread from it. Over ids of a table
 * that has fewer rows than a batch has positions it multiplies each row of the table once and takes the products
 * instead, 2 ids in gates hidden operations however long the rows are; in networks that never train, once for all
 * batches. */
#include "nn/layers/recurrent_layout.h"
#include "nn/net_internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { W_INPUT, W_STATE, B_INPUT, B_STATE, PARAMS }; /* of one direction */
/* Work. INPUT: the inputs of all positions; row by row of a table for each direction the gates' arguments that its rows
 * make, and after them those of no row. D_INPUT: gradients of the same, row by row of one direction at a time. */
enum { GATES, MEMORY = 2, STATE = 4, BEFORE = 6, PLACES = 8, INPUT, D_INPUT };

/* Rows [row, row + n) of the parameters, in gates, compute gates [gate, gate + n) of a step before the iteration over
 * time. */
typedef struct {
    size_t row, gate, n;
    bool weights, input_bias, state_bias; /* the inputs; weights: times the inputs */
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
    size_t n_ids;                    /* over a table, which is the last parameter; 0: over a value */
    bool may;                        /* the table is small enough to multiply its rows */
    bool by_row;                     /* applies to this batch */
    bool rows_computed;              /* gate inputs per id are cached in INPUT */
    bool makes;                      /* and will be after this pass, which a device may repeat */
    int32_t *places;                 /* layouts on the host, with copies on the device in PLACES */
    dis__recurrent_layout layout[2]; /* of this batch, on the device */
} recurrent;

/* A layout on the host, as it is on the device. */
static dis__recurrent_layout moved(const dis__recurrent_layout *layout, const int32_t *from, int32_t *to)
{
    dis__recurrent_layout out = *layout;
    out.steps = (dis__recurrent_step *)(to + ((int32_t *)layout->steps - from));
    out.parent = to + (layout->parent - from);
    out.from = to + (layout->from - from);
    out.node = to + (layout->node - from);
    out.order = to + (layout->order - from);
    out.length = to + (layout->length - from);
    return out;
}

static dis_status prepare(dis__net *net, dis__layer *layer)
{
    recurrent *l = layer->own;
    const dis__shape *s = dis__shape_of(net, layer->out);
    const dis__recurrent_rows rows = {.n_rows = dis__axis_size(net, s->rows),
                                      .n_times = dis__axis_size(net, s->time),
                                      .length = dis__mirror_of(net, layer->ints[0]),
                                      .ids = dis__mirror_of(net, layer->ints[1])};
    const size_t apart = dis__recurrent_layout_size(net->axis_max[s->rows], net->axis_max[s->time]);
    const size_t used = dis__recurrent_layout_size(rows.n_rows, rows.n_times);
    dis__recurrent_layout layout[2];
    size_t max = 0;
    for (size_t d = 0; d < l->n_directions; d++) {
        dis__recurrent_lay_out(&rows, d, l->places + d * apart, &layout[d]);
        if (layout[d].n_nodes > max) max = layout[d].n_nodes;
    }
    l->makes = l->makes && net->prepared;
    l->rows_computed = l->makes;
    l->by_row = l->may && (l->rows_computed || l->n_ids < max);
    for (size_t d = 0; d < l->n_directions; d++) {
        int32_t *host = l->places + d * apart, *device_copy = (int32_t *)layer->work[PLACES] + d * apart;
        for (size_t i = 0; l->by_row && i < layout[d].n_nodes; i++)
            if (layout[d].from[i] < 0) layout[d].from[i] = (int32_t)l->n_ids;
        dis__recurrent_pad(&rows, net->device->round, &layout[d]);
        l->layout[d] = moved(&layout[d], host, device_copy);
        dis__key_add(net, layout[d].n_nodes << 1 | layout[d].by_end);
        DIS_TRY(dis__copy_in(net, device_copy, host, used * sizeof *host));
    }
    dis__key_add(net, (uint64_t)l->by_row | (uint64_t)l->rows_computed << 1);
    return DIS_OK;
}

/* The gates' pre-activations of a direction for the rows of the table. */
static void *row_inputs(const dis__net *net, const dis__layer *layer, size_t d)
{
    const recurrent *l = layer->own;
    return dis__value_at(net, layer->work[INPUT], d * (l->n_ids + 1) * DIS_RECURRENT_GATES * l->n_hidden);
}

static dis__recurrent_args arguments(const dis__net *net, const dis__layer *layer)
{
    const recurrent *l = layer->own;
    const dis__shape *s = dis__shape_of(net, layer->out);
    dis__recurrent_args args = {
        .cell = l->cell,
        .n_rows = dis__axis_size(net, s->rows),
        .n_times = dis__axis_size(net, s->time),
        .n_hidden = l->n_hidden,
        .n_directions = l->n_directions,
        .first_state = l->row->first_state,
        .n_state = l->row->n_gates,
        .n_memory = l->row->memory ? l->n_hidden : 0,
        .forget = l->by_row && !net->training_plan,
        .y = dis__data(net, layer->out),
        .dy = dis__grad(net, layer->out),
    };
    for (size_t d = 0; d < l->n_directions; d++) {
        args.layout[d] = l->layout[d];
        args.weight[d] = dis__param_of(net, layer, d * PARAMS + W_STATE);
        args.gates[d] = layer->work[GATES + d];
        args.memory[d] = layer->work[MEMORY + d];
        args.state[d] = layer->work[STATE + d];
        args.before[d] = layer->work[BEFORE + d];
        if (l->by_row) args.projected[d] = row_inputs(net, layer, d);
    }
    return args;
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    recurrent *l = layer->own;
    const dis__shape *s = dis__shape_of(net, layer->out);
    const size_t real = dis__number_bytes(net, DIS_ROLE_VALUE), rows = dis__max_rows(net, layer->out);
    const size_t state = dis__saturating_size(dis__saturating_size(rows, l->n_hidden, 0), real, 0);
    const size_t memory =
        dis__saturating_size(dis__saturating_size(rows, l->n_hidden, 0), dis__number_bytes(net, DIS_ROLE_STAT), 0);
    const size_t sizes[] = {dis__saturating_size(state, DIS_RECURRENT_GATES, 0), l->row->memory ? memory : 0, state,
                            state};
    static const dis__work_life lives[] = {DIS_WORK_SAVED, DIS_WORK_SAVED, DIS_WORK_SAVED, DIS_WORK_BACKWARD};
    for (int w = 0; w < 4; w++)
        for (size_t d = 0; d < 2; d++)
            DIS_TRY(dis__layer_work(net, layer, d < l->n_directions ? sizes[w] : 0, lives[w]));
    const size_t places = dis__recurrent_layout_size(net->axis_max[s->rows], net->axis_max[s->time]);
    const size_t all_places = dis__saturating_size(places, l->n_directions, 0);
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(all_places, sizeof(int32_t), 0), DIS_WORK_BATCH));
    DIS_TRY(dis__check_memory(net->ctx, dis__saturating_size(all_places, sizeof(int32_t), 0),
                              "layouts of recurrent layers"));
    DIS_TRY(dis__alloc_array(&l->places, all_places, sizeof *l->places));
    const size_t row = DIS_RECURRENT_GATES * l->n_hidden;
    l->may = l->n_ids && l->n_ids < rows;
    const size_t rows_computed = l->may ? dis__saturating_size(l->n_ids + 1, row, 0) : 0,
                 inputs = dis__saturating_size(rows, l->n_in, 0);
    const size_t all_rows = dis__saturating_size(rows_computed, l->n_directions, 0);
    const size_t all_inputs = dis__saturating_size(inputs, l->n_ids ? l->n_directions : 1, 0);
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(all_rows > all_inputs ? all_rows : all_inputs, real, 0),
                            net->training_plan ? DIS_WORK_SAVED : DIS_WORK_LASTING));
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(rows_computed > inputs ? rows_computed : inputs, real, 0),
                            DIS_WORK_BACKWARD));
    const dis__recurrent_args args = arguments(net, layer);
    dis__layer_runs(net, DIS_OP_recurrent, &args);
    dis__layer_runs(net, DIS_OP_recurrent_grad, &args);
    return DIS_OK;
}

static void free_own(dis__layer *layer)
{
    dis__free(((recurrent *)layer->own)->places);
}

static void *table_of(const dis__net *net, const dis__layer *layer)
{
    return dis__param_of(net, layer, layer->n_params - 1);
}

/* `rows` rows of x to gates; x NULL: only the biases, for one row. */
static dis_status inputs_forward(dis__net *net, dis__layer *layer, size_t d, const void *x, size_t rows, void *gates)
{
    const recurrent *l = layer->own;
    const size_t n = l->n_hidden;
    for (const part *p = l->row->parts; p < l->row->parts + l->row->n_parts; p++) {
        const void *weight = dis__param_of(net, layer, d * PARAMS + W_INPUT);
        const void *input_bias = dis__param_of(net, layer, d * PARAMS + B_INPUT);
        const void *state_bias = dis__param_of(net, layer, d * PARAMS + B_STATE);
        DIS_TRY(dis__product(
            net, &(dis__product_args){.tb = true,
                                      .m = rows,
                                      .n = p->n * n,
                                      .k = p->weights && x ? l->n_in : 0,
                                      .a = x,
                                      .lda = l->n_in,
                                      .b = dis__param_at(net, weight, p->row * n * l->n_in),
                                      .ldb = l->n_in,
                                      .bias = p->input_bias ? dis__param_at(net, input_bias, p->row * n) : NULL,
                                      .bias2 = p->state_bias ? dis__param_at(net, state_bias, p->row * n) : NULL,
                                      .c = dis__value_at(net, gates, p->gate * n),
                                      .ldc = DIS_RECURRENT_GATES * n}));
    }
    return DIS_OK;
}

static dis_status gather(dis__net *net, const dis__recurrent_layout *layout, const void *table, size_t width, void *y)
{
    const dis__gather_args args = {
        .table = table, .id = layout->from, .per = 1, .n_rows = layout->n_nodes, .width = width, .y = y};
    return dis__op_run(net, DIS_OP_gather, &args);
}

/* Adds the gradients of the input of gather(): d_table += */
static dis_status spread(dis__net *net, const dis__recurrent_layout *layout, const void *dy, size_t width,
                         void *d_table)
{
    const dis__gather_args args = {
        .id = layout->from, .per = 1, .n_rows = layout->n_nodes, .width = width, .dy = dy, .d_table = d_table};
    return dis__op_run(net, DIS_OP_gather_grad, &args);
}

/* Inputs of the nodes of a direction; over values both directions are equal. */
static void *inputs_of(const dis__net *net, const dis__layer *layer, size_t d)
{
    const recurrent *l = layer->own;
    return dis__value_at(net, layer->work[INPUT], l->n_ids ? d * l->layout[0].n_nodes * l->n_in : 0);
}

static dis_status forward_by_row(dis__net *net, dis__layer *layer)
{
    recurrent *l = layer->own;
    const size_t width = DIS_RECURRENT_GATES * l->n_hidden;
    for (size_t d = 0; d < l->n_directions; d++) {
        void *rows_computed = row_inputs(net, layer, d);
        if (!l->rows_computed) {
            DIS_TRY(inputs_forward(net, layer, d, table_of(net, layer), l->n_ids, rows_computed));
            DIS_TRY(inputs_forward(net, layer, d, NULL, 1, dis__value_at(net, rows_computed, l->n_ids * width)));
        }
    }
    l->makes = !net->training_plan;
    return DIS_OK;
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const recurrent *l = layer->own;
    if (l->by_row) {
        DIS_TRY(forward_by_row(net, layer));
    } else {
        const void *x = l->n_ids ? table_of(net, layer) : dis__data(net, layer->in[0]);
        for (size_t d = 0; d < l->n_directions; d++) {
            void *inputs = inputs_of(net, layer, d);
            if (d == 0 || l->n_ids) DIS_TRY(gather(net, &l->layout[d], x, l->n_in, inputs));
            DIS_TRY(inputs_forward(net, layer, d, inputs, l->layout[d].n_nodes, layer->work[GATES + d]));
        }
    }
    const dis__recurrent_args args = arguments(net, layer);
    return dis__op_run(net, DIS_OP_recurrent, &args);
}

/* Rows of x and the gradients of their pre-activations; `bare` more rows from biases only follow. */
typedef struct {
    const void *x, *gates;
    size_t n_rows, width, bare;
} source;

/* The gradients of rows [row, row + n) of a weight and its bias. */
static dis_status rows_backward(dis__net *net, dis__layer *layer, size_t d, size_t weight, const source *from,
                                const part *p)
{
    const recurrent *l = layer->own;
    const size_t n = l->n_hidden, ld = DIS_RECURRENT_GATES * n;
    const void *gates = dis__value_at(net, from->gates, p->gate * n);
    void *dw = dis__param_grad(net, layer, d * PARAMS + weight);
    if (dw)
        DIS_TRY(dis__product(net, &(dis__product_args){.ta = true,
                                                       .add = true,
                                                       .m = p->n * n,
                                                       .n = from->width,
                                                       .k = from->n_rows,
                                                       .a = gates,
                                                       .lda = ld,
                                                       .b = from->x,
                                                       .ldb = from->width,
                                                       .c = dis__param_at(net, dw, p->row * n * from->width),
                                                       .ldc = from->width}));
    void *db = dis__param_grad(net, layer, d * PARAMS + weight - W_INPUT + B_INPUT);
    if (!db) return DIS_OK;
    const dis__column_sums_args sums = {.x = gates,
                                        .n_rows = from->n_rows + from->bare,
                                        .n_cols = p->n * n,
                                        .ld = ld,
                                        .out = dis__param_at(net, db, p->row * n)};
    return dis__op_run(net, DIS_OP_column_sums, &sums);
}

/* The gradients of one direction's parameters, and of the rows of x: dx = or +=; NULL: not requested. */
static dis_status weights_backward(dis__net *net, dis__layer *layer, size_t d, const source *from, void *dx, bool add)
{
    const recurrent *l = layer->own;
    const size_t n = l->n_hidden;
    const source before = {layer->work[BEFORE + d], layer->work[GATES + d], l->layout[d].n_nodes, n, 0};
    const part state = {.gate = l->row->first_state, .n = l->row->n_gates};
    DIS_TRY(rows_backward(net, layer, d, W_STATE, &before, &state));
    for (const part *p = l->row->parts; p < l->row->parts + l->row->n_parts; p++) {
        if (!p->weights) continue;
        DIS_TRY(rows_backward(net, layer, d, W_INPUT, from, p));
        if (!dx) continue;
        const void *weight = dis__param_of(net, layer, d * PARAMS + W_INPUT);
        DIS_TRY(dis__product(net, &(dis__product_args){.add = add,
                                                       .m = from->n_rows,
                                                       .n = l->n_in,
                                                       .k = p->n * n,
                                                       .a = dis__value_at(net, from->gates, p->gate * n),
                                                       .lda = DIS_RECURRENT_GATES * n,
                                                       .b = dis__param_at(net, weight, p->row * n * l->n_in),
                                                       .ldb = l->n_in,
                                                       .c = dx,
                                                       .ldc = l->n_in}));
        add = true;
    }
    return DIS_OK;
}

static dis_status backward_by_row(dis__net *net, dis__layer *layer, void *d_table)
{
    const recurrent *l = layer->own;
    const size_t width = DIS_RECURRENT_GATES * l->n_hidden;
    void *rows_computed = layer->work[D_INPUT];
    const source from = {table_of(net, layer), rows_computed, l->n_ids, l->n_in, 1};
    for (size_t d = 0; d < l->n_directions; d++) {
        DIS_TRY(dis__zero(net, rows_computed, (l->n_ids + 1) * width * dis__number_bytes(net, DIS_ROLE_VALUE)));
        DIS_TRY(spread(net, &l->layout[d], layer->work[GATES + d], width, rows_computed));
        DIS_TRY(weights_backward(net, layer, d, &from, d_table, true));
    }
    return DIS_OK;
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const recurrent *l = layer->own;
    const dis__recurrent_args args = arguments(net, layer);
    DIS_TRY(dis__op_run(net, DIS_OP_recurrent_grad, &args));
    void *dx = l->n_ids ? dis__param_grad(net, layer, layer->n_params - 1) : dis__grad(net, layer->in[0]);
    if (l->by_row) return backward_by_row(net, layer, dx);
    if (dx && !l->n_ids && !layer->adds[0])
        DIS_TRY(
            dis__zero(net, dx, dis__padded_rows(net, layer->in[0]) * l->n_in * dis__number_bytes(net, DIS_ROLE_VALUE)));
    for (size_t d = 0; d < l->n_directions; d++) {
        const source from = {inputs_of(net, layer, d), layer->work[GATES + d], l->layout[d].n_nodes, l->n_in, 0};
        const bool add = d > 0 && !l->n_ids, last = d + 1 == l->n_directions;
        DIS_TRY(weights_backward(net, layer, d, &from, dx ? layer->work[D_INPUT] : NULL, add));
        if (dx && (last || l->n_ids)) DIS_TRY(spread(net, &l->layout[d], layer->work[D_INPUT], l->n_in, dx));
    }
    return DIS_OK;
}

#define KIND(name_)                                                                                    \
    {                                                                                                  \
        .name = name_, .own = sizeof(recurrent), .plan = plan, .prepare = prepare, .forward = forward, \
        .backward = backward, .free = free_own                                                         \
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

/* The layer over x or over ids of a table (a layer of dis__layer_table); the other is DIS_NONE. */
typedef struct {
    int x, ids, table, lengths;
} input;

static int one_layer(dis__net *net, const char *name, dis__recurrent_cell cell, int number, const input *in,
                     size_t hidden, bool both)
{
    const cell_row *row = &cells[cell];
    const bool over_table = in->table != DIS_NONE;
    dis__shape shape;
    size_t n_ids = 0;
    if (over_table) {
        const dis__ints *ids = &net->ints[in->ids];
        const dis__param_info *info = &net->params[net->layers[in->table].param[0]].info;
        shape = (dis__shape){ids->rows, ids->time, 1, ids->per, info->dim[1]};
        n_ids = info->dim[0];
    } else {
        if (in->x < 0) return dis__net_build_error(net, DIS_EBUG, "%s: no input", name);
        shape = *dis__shape_of(net, in->x);
    }
    const size_t n_in = shape.channels;
    if (hidden == 0 || hidden > SIZE_MAX / 64)
        return dis__net_build_error(net, DIS_EUSAGE, "%s: a state of %zu numbers", name, hidden);
    if (shape.time == DIS_NONE || shape.height * shape.width != 1)
        return dis__net_build_error(net, DIS_EUSAGE, "%s: layers of kind %s need a value over time", name,
                                    row->kind.name);
    shape.channels = both ? 2 * hidden : hidden;
    dis__layer *layer = dis__net_layer(net, &row->kind, name, &in->x, over_table ? 0 : 1, &shape);
    if (!layer) return DIS_NONE;
    *(recurrent *)layer->own = (recurrent){
        .row = row, .cell = cell, .n_in = n_in, .n_hidden = hidden, .n_directions = both ? 2 : 1, .n_ids = n_ids};
    layer->ints[0] = in->lengths;
    layer->ints[1] = in->ids;
    for (int i = 0; i < 2; i++)
        if (layer->ints[i] != DIS_NONE) net->ints[layer->ints[i]].mirrored = true;
    const double start = 1 / sqrt((double)hidden);
    for (int d = 0; d < (both ? 2 : 1); d++) {
        static const char *const what[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
        for (int p = 0; p < PARAMS; p++) {
            char text[32];
            snprintf(text, sizeof text, "%s_l%d%s", what[p], number, d ? "_reverse" : "");
            const size_t dim[] = {row->n_gates * hidden, p == W_INPUT ? n_in : hidden};
            dis__layer_param(net, layer, text, p < B_INPUT ? 2 : 1, dim, DIS_START_UNIFORM, start);
        }
    }
    if (over_table && net->status == DIS_OK) layer->param[layer->n_params++] = net->layers[in->table].param[0];
    return layer->out;
}

static int all_layers(dis__net *net, const char *name, dis__recurrent_cell cell, input in, size_t hidden, bool both,
                      int layers, double dropout)
{
    if (in.lengths != DIS_NONE && !dis__ints_fit(net, in.lengths, "lengths", name)) return DIS_NONE;
    int x = one_layer(net, name, cell, 0, &in, hidden, both);
    for (int i = 1; i < layers; i++) {
        const input next = {dis__layer_dropout(net, x, dropout), DIS_NONE, DIS_NONE, in.lengths};
        x = one_layer(net, name, cell, i, &next, hidden, both);
    }
    return x;
}

int dis__layer_recurrent(dis__net *net, const char *name, dis__recurrent_cell cell, int x, int lengths, size_t hidden,
                         bool both, int layers, double dropout)
{
    return all_layers(net, name, cell, (input){x, DIS_NONE, DIS_NONE, lengths}, hidden, both, layers, dropout);
}

int dis__layer_lookup_recurrent(dis__net *net, const char *name, dis__recurrent_cell cell, int ids, int table,
                                int lengths, size_t hidden, bool both, int layers, double dropout)
{
    if (table < 0 || !dis__ints_fit(net, ids, "ids", name))
        return dis__net_build_error(net, DIS_EBUG, "%s: no table", name);
    return all_layers(net, name, cell, (input){DIS_NONE, ids, table, lengths}, hidden, both, layers, dropout);
}
