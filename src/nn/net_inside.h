/* net_inside.h: the inside of a net, for layers and for the files of nn itself. */
#ifndef DIS_NN_NET_INSIDE_H
#define DIS_NN_NET_INSIDE_H
#include "core/memory.h"
#include "core/pool.h"
#include "nn/net.h"

enum { DIS_LAYER_PARAMS = 12, DIS_LAYER_WORKS = 11, DIS_LAYER_INTS = 3 };

/* A piece of the activation arena, alive from one moment of a pass to another: forward of layer i of L is moment i, its
 * backward 2 L - 1 - i. Pieces that are not alive together may lie in the same place. */
typedef struct {
    size_t bytes, from, to;
    size_t at;
} dis__piece;

typedef struct {
    dis__shape shape;
    const char *name; /* of an input; else NULL */
    int producer;     /* layer; DIS_NONE: an input */
    int last_use;     /* layer; DIS_NONE: nobody */
    bool wants_grad;  /* something below it is trained */
    bool has_grad;    /* in this backward pass: somebody has stored it */
    size_t piece, grad_piece;
    void *data, *grad; /* grad NULL: not wanted */
} dis__slot;

typedef struct {
    char name[DIS_NET_NAME];
    int rows, time;
    size_t per, at; /* at: in the arena of whole numbers */
    int32_t *data;
} dis__ints;

typedef enum { DIS_START_ZERO, DIS_START_ONE, DIS_START_UNIFORM, DIS_START_NORMAL, DIS_START_IDENTITY } dis__start;

typedef struct {
    dis__param_info info;
    dis__start start;
    double spread;  /* uniform: +-, normal: sd */
    bool decays;    /* a matrix or table */
    bool statistic; /* not a parameter: kept and saved, never trained */
    size_t at;      /* in numbers, from the start of each arena */
} dis__param;

typedef struct dis__layer dis__layer;

/* A kind of layer: one static row in the layer's file. plan may be NULL; backward is called only when the output's
 * gradient is there. */
typedef struct {
    const char *name;
    size_t own; /* bytes of the layer's own struct */
    /* In nets that never train its output is its input, one piece of memory. NULL: never. Asked in the order of the
     * layers, when a plan begins; layer->passes has the answer. */
    bool (*passes)(const dis__net *net, const dis__layer *layer);
    dis_status (*plan)(dis__net *net, dis__layer *layer);
    dis_status (*forward)(dis__net *net, dis__layer *layer);
    dis_status (*backward)(dis__net *net, dis__layer *layer);
    void (*free)(dis__layer *layer); /* what the own struct holds; may be NULL */
} dis__layer_kind;

struct dis__layer {
    const dis__layer_kind *kind;
    char name[DIS_NET_NAME];
    int index;
    int in[DIS_LAYER_INS], n_in, out; /* values; out DIS_NONE: a head */
    bool passes;
    int ints[DIS_LAYER_INTS];
    size_t param[DIS_LAYER_PARAMS], n_params;
    size_t work_piece[DIS_LAYER_WORKS], n_works;
    void *work[DIS_LAYER_WORKS];
    void *own;
};

/* What every head keeps, first in its own struct. */
typedef struct {
    size_t n_classes;
    double weight, norm; /* norm 0: counted from the batch */
    double loss, scale;  /* of the last forward; scale: what its row losses' gradients are multiplied by, 0: nothing */
    void *q, *row_loss;  /* (rows, classes), (rows): in the arena */
    int logits;
} dis__head;

struct dis__net {
    const dis__device *device;
    dis__op_function *op[DIS_N_OPS];
    dis_context *ctx;
    dis_status status; /* of building: the first failure */
    char message[512];
    uint64_t seed, pass, steps; /* pass: of training, keys dropout */
    bool planned, training_plan, training, unset;
    bool prepared; /* what layers make of parameters alone, in nets that never train, is made */
    dis__optimizer_options optimizer;

    size_t n_axes, axis_most[DIS_NET_AXES], axis[DIS_NET_AXES];
    dis__slot *slots;
    size_t n_slots, slots_room;
    dis__ints *ints;
    size_t n_ints, ints_room;
    dis__param *params;
    size_t n_params, params_room;
    dis__layer *layers;
    size_t n_layers, layers_room;
    int *heads; /* layers */
    size_t n_heads, heads_room;
    dis__piece *pieces;
    size_t n_pieces, pieces_room;

    size_t n_numbers; /* of each arena of parameters, padding included */
    size_t n_trained; /* of these, trained */
    char *param_arena, *grad_arena, *state_arena;
    int n_states;
    char *work_arena, *scratch;
    int32_t *int_arena;
    double *squares;                             /* sums of squares of blocks of the gradient arena */
    size_t work_bytes, int_count, scratch_bytes; /* scratch_bytes: of one thread */
    int n_threads;                               /* that there is scratch for */
};

/* ---- for building ---- */

/* Records a failure of building, and returns DIS_NONE. */
int dis__net_bad(dis__net *net, dis_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A new layer with its own struct, zeroed, reading n values; its output has `shape` (NULL: a head). NULL after a
 * failure: return DIS_NONE then. Checks that all values are there. */
dis__layer *dis__net_layer(dis__net *net, const dis__layer_kind *kind, const char *name, const int *in, int n,
                           const dis__shape *shape);
/* A parameter "LAYER.what" of the last layer. */
void dis__layer_param(dis__net *net, dis__layer *layer, const char *what, size_t n_dims, const size_t *dim,
                      dis__start start, double spread);
bool dis__same_shape(dis__net *net, int x, int y, const char *layer);
bool dis__ints_fit(dis__net *net, int ints, const char *what, const char *layer);
int dis__net_head(dis__net *net, dis__layer *layer);

static inline const dis__shape *dis__shape_of(const dis__net *net, int value)
{
    return &net->slots[value].shape;
}

/* Two linear layers whose values are x W' + a and y, y made of the first by layers that pass it on: in nets that never
 * train they become one, its matrix and bias made once. */
void dis__linear_merge(dis__net *net, int first, int second);
/* A linear layer's value goes into a sum of two, as its second, and nowhere else: in nets that never train the layer adds
 * to the first where it lies, if that is not needed any more. */
void dis__linear_onto(dis__net *net, int value, int sum);
void dis__add_takes(dis__net *net, int value); /* of dis__linear_onto: says so to the sum */

/* ---- for planning ---- */

/* Memory of a layer's own: kept from forward to backward, used within backward only, kept for the caller to read
 * afterwards, filled by the caller before the pass, or kept from pass to pass. The n-th call makes layer->work[n]. */
typedef enum { DIS_WORK_KEPT, DIS_WORK_BACKWARD, DIS_WORK_RESULT, DIS_WORK_BATCH, DIS_WORK_LASTING } dis__work_life;
dis_status dis__layer_work(dis__net *net, dis__layer *layer, size_t bytes, dis__work_life life);
void dis__layer_scratch(dis__net *net, size_t bytes);  /* at least so much in each thread */
size_t dis__most_rows(const dis__net *net, int value); /* as dis__net_rows, at the axes' maxima; SIZE_MAX: overflow */

/* ---- for running ---- */

/* Cuts [0, n) into jobs of about 64k units of work, `work` being that of one index. */
dis_status dis__op_run(dis__net *net, dis__op op, const void *args, size_t n, size_t work);
/* The same for operations whose index is columns: a job has whole lines of memory of them. */
dis_status dis__op_run_columns(dis__net *net, dis__op op, const void *args, size_t n, size_t work);
dis_status dis__product(dis__net *net, const dis__product_args *args);
/* x += or =: says which, and notes that the gradient is there from now on. The gradient must be wanted. */
bool dis__grad_adds(dis__net *net, int value);

/* n numbers of the device set to 0. */
void dis__zero(const dis__net *net, void *numbers, size_t n);
void dis__set_number(const dis__net *net, void *numbers, size_t i, double x);
/* In double, in order. */
double dis__sum_rows(const dis__net *net, const void *numbers, size_t n);
void dis__soft_head_clear(dis__layer *layer);

/* Adds (or stores) the gradient of value `from` to that of value `to`, which has the same shape; nothing where that is
 * not wanted. */
dis_status dis__pass_down(dis__net *net, int from, int to);

/* `numbers` of the device moved on by n. */
static inline void *dis__after(const dis__net *net, const void *numbers, size_t n)
{
    return (char *)numbers + n * net->device->real;
}

static inline void *dis__data(const dis__net *net, int value)
{
    return net->slots[value].data;
}

/* NULL: nobody wants it. */
static inline void *dis__grad(const dis__net *net, int value)
{
    return net->slots[value].grad;
}

static inline void *dis__param_of(const dis__net *net, const dis__layer *layer, size_t i)
{
    return dis__after(net, net->param_arena, net->params[layer->param[i]].at);
}

/* NULL: not trained. */
static inline void *dis__param_grad(const dis__net *net, const dis__layer *layer, size_t i)
{
    const dis__param *p = &net->params[layer->param[i]];
    return p->info.trained && net->grad_arena ? dis__after(net, net->grad_arena, p->at) : NULL;
}

static inline const int32_t *dis__ints_of(const dis__net *net, int ints)
{
    return ints == DIS_NONE ? NULL : net->ints[ints].data;
}

static inline size_t dis__axis_now(const dis__net *net, int axis)
{
    return axis == DIS_NONE ? 1 : net->axis[axis];
}

#endif
