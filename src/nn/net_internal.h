/* net_internal.h: internals of a network, for layers and for the files of nn. */
#ifndef DIS_NN_NET_INTERNAL_H
#define DIS_NN_NET_INTERNAL_H
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "nn/net.h"

enum { DIS_LAYER_PARAMS = 12, DIS_LAYER_WORKS = 11, DIS_LAYER_INTS = 3, DIS_PARAM_PARTS = 3 };

/* A piece of the activation arena, alive from one moment of a pass to another: forward of layer i of L is moment i, its
 * backward 2 L - 1 - i. Pieces that are not alive together may are in the same position. */
typedef struct {
    size_t bytes, from, to;
    size_t at;
} dis__piece;

typedef struct {
    dis__shape shape;
    const char *name; /* of an input; otherwise NULL */
    int producer;     /* layer; DIS_NONE: an input */
    int last_use;     /* last layer that reads it; DIS_NONE: none */
    bool wants_grad;  /* something below it is trained */
    bool has_grad;    /* during planning of backward: whether a reader stores it */
    size_t piece, grad_piece;
    size_t recompute_piece; /* where it is recomputed for backward; SIZE_MAX: it is kept, or not needed */
    bool recomputed;        /* in this pass */
    void *data, *grad;      /* grad NULL: not requested */
} dis__slot;

typedef struct {
    char name[DIS_NET_NAME];
    int rows, time;
    size_t per, at; /* at: in the arena of integers */
    int32_t *data;
    bool mirrored;   /* a layer reads it on the host too */
    int32_t *mirror; /* host buffer; NULL: not needed */
} dis__ints;

typedef struct {
    dis__param_info info;
    dis__start start;
    size_t start_like; /* 1 + the parameter whose initial values it copies; 0: none */
    double spread;     /* uniform: +-, normal: sd */
    bool decays;       /* a matrix or table */
    double rate;       /* factor of the learning rate */
    bool statistic;    /* not a parameter: stored and saved, never trained */
    size_t at;         /* in elements, from the start of each arena */
    /* Of networks that never train: where its numbers are used instead, in the host's memory, in so many parts of as
     * many rows each; 0: in the arena. */
    const void *host_part[DIS_PARAM_PARTS];
    size_t n_host_parts;
    bool accepts_parts; /* its reader supports several parts */
    bool stored;        /* its gradient has one writer, which stores the first one after an update */
} dis__param;

typedef struct dis__layer dis__layer;

/* A kind of layer: one static row in the layer's file. plan may be NULL. Whether backward is called, and whether it
 * stores or adds to the gradient of each input, is planned (layer->back, layer->adds): it must store or add to the
 * gradients of all inputs that want one, in their order. */
typedef struct {
    const char *name;
    size_t own; /* bytes of the layer's own struct */
    /* In networks that never train its output is its input, one piece of memory. NULL: never. Asked in the order of the
     * layers, when a plan begins; layer->passes has the answer. */
    bool (*passes)(const dis__net *net, const dis__layer *layer);
    dis_status (*plan)(dis__net *net, dis__layer *layer);
    /* The host's part of a batch, before its operations: layouts and counts that they depend on, which it adds to
     * the key of the step (dis__key_add). May be NULL. */
    dis_status (*prepare)(dis__net *net, dis__layer *layer);
    dis_status (*forward)(dis__net *net, dis__layer *layer);
    dis_status (*backward)(dis__net *net, dis__layer *layer);
    /* Whether backward reads the numbers (not the gradient) of this value, the output or an input: others are not kept
     * for it. NULL: it reads all. */
    bool (*reads)(const dis__net *net, const dis__layer *layer, int value);
    /* Makes the output again in a pass of training, from what backward needs anyway, so that it need not be kept; asked
     * of devices with the host's memory alone. NULL, or false of recomputes: it cannot. */
    bool (*recomputes)(const dis__layer *layer);
    dis_status (*recompute)(dis__net *net, dis__layer *layer);
    void (*free)(dis__layer *layer); /* frees resources of the own struct; may be NULL */
} dis__layer_kind;

struct dis__layer {
    const dis__layer_kind *kind;
    char name[DIS_NET_NAME];
    int index;
    int in[DIS_LAYER_INS], n_in, out; /* values; out DIS_NONE: a head, or nothing */
    int head;                         /* index of the head; DIS_NONE: not a head */
    bool passes;
    bool back, adds[DIS_LAYER_INS]; /* of the planned backward pass; adds: to the gradient of an input, or stored */
    int ints[DIS_LAYER_INTS];
    size_t param[DIS_LAYER_PARAMS], n_params;
    size_t below; /* elements of the arena up to the last one used by an earlier layer */
    size_t work_piece[DIS_LAYER_WORKS], n_works;
    void *work[DIS_LAYER_WORKS];
    void *own;
};

/* Common state of heads, first in their own structs. */
typedef struct {
    size_t n_classes;
    double weight, norm; /* norm 0: computed from the batch */
    bool has_targets;    /* in this batch */
    double counted;      /* of this batch: the sum of weights, or votes */
    void *q, *row_loss;  /* (rows, classes), (rows): in the arena */
    int logits;
} dis__head;

/* Scalars of a network in device memory: what the host writes once per step, then the heads', then what only the device
 * writes. The host's copy has the same layout. */
typedef struct {
    dis__step_scalars step;
    double pass;       /* of training, keys dropout */
    double total, sum; /* losses of the last pass, and since the sum was reset */
} dis__net_scalars;

typedef struct dis__upload dis__upload; /* net_feed.c: arrays on the device, and their gathered rows */
typedef struct dis__feed dis__feed;

struct dis__net {
    const dis__device *device;
    void *session;       /* on the device */
    bool team;           /* ranks sum gradients on their devices */
    char team_name[200]; /* the method; otherwise why not */
    dis_context *ctx;
    dis_status status; /* the first build error */
    char message[512];
    uint64_t seed, pass, steps; /* pass: of training, keys dropout */
    bool planned, training_plan, training, unset;
    bool back_planned; /* for the heads that took part last */
    bool stale;        /* gradients to be stored may hold values of the last update; they count as 0 */
    bool once;         /* gradients count as 0, and this step updates from them directly */
    bool prepared;     /* values that layers compute from parameters only, in networks that only predict, are
                        * available */
    dis__optimizer_options optimizer;

    size_t n_axes, axis_max[DIS_NET_AXES], axis[DIS_NET_AXES];
    size_t axis_given[DIS_NET_AXES], axis_round[DIS_NET_AXES]; /* before rounding up, and the multiples to round to */
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

    size_t n_numbers; /* of the arena of parameters, padding included */
    size_t n_trained; /* number of trained ones: they come first; gradients and states have the same number */
    size_t squared;   /* during backward: gradients from here on are already included in the norm */
    /* Device memory. */
    char *param_arena, *grad_arena, *state_arena;
    char *params_copy_arena; /* stored copy of the parameters (dis__net_save_params_copy); NULL: none */
    int n_states;
    char *work_arena;
    int32_t *int_arena;
    double *squares; /* sums of squares of blocks of the gradient arena */
    dis__net_scalars *scalars;
    dis__head_scalars *head_scalars;
    size_t work_bytes, int_count;
    /* Host memory. */
    dis__net_scalars now;
    dis__head_scalars *host_head_scalars; /* (n_heads) */
    uint64_t *key;                        /* of a step: axes, heads, feeds, and additions by layers */
    size_t n_key;
    dis__upload *uploads;
    size_t n_uploads, uploads_capacity;
    dis__feed *feeds;
    size_t n_feeds, feeds_room;
};

/* ---- for building ---- */

/* Records a build error, and returns DIS_NONE. */
int dis__net_build_error(dis__net *net, dis_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A new layer with its own struct, zeroed, reading n values; its output has `shape` (NULL: a head). NULL after a
 * failure: return DIS_NONE then. Checks that all values are there. */
dis__layer *dis__net_layer(dis__net *net, const dis__layer_kind *kind, const char *name, const int *in, int n,
                           const dis__shape *shape);
/* A parameter "LAYER.what" of the last layer. */
void dis__layer_param(dis__net *net, dis__layer *layer, const char *what, size_t n_dims, const size_t *dim,
                      dis__start start, double spread);
bool dis__same_shape(dis__net *net, int x, int y, const char *layer);
bool dis__ints_fit(dis__net *net, int ints, const char *what, const char *layer);
/* packed_attention.c: checks that x is packed rows with these starts and lengths; otherwise records a build error. */
bool dis__packed_fit(dis__net *net, int x, int start, int length, const char *layer);
int dis__net_head(dis__net *net, dis__layer *layer);
/* embed.c: the layer that computed a value from a table that is a parameter; NULL: none. */
const dis__layer *dis__embed_layer(const dis__net *net, int embedded);

static inline const dis__shape *dis__shape_of(const dis__net *net, int value)
{
    return &net->slots[value].shape;
}

/* Two linear layers whose values are x W' + a and y, y made of the first by layers that pass it on: in networks that
 * never train they become one, its matrix and bias made once. */
void dis__linear_merge(dis__net *net, int first, int second);
/* For dis__linear_in_place: informs the following layer. */
void dis__add_in_place(dis__layer *layer);
void dis__layernorm_in_place(dis__layer *layer);
/* The value to which a linear layer before a normalisation adds its output; DIS_NONE: it has its own memory. */
int dis__layernorm_sum(const dis__layer *layer);
/* dropout_add_concat.c: no one needs the value after this layer, which is the last to read it, under this name or
 * another. */
bool dis__is_last_use(const dis__net *net, const dis__layer *layer, int value);

/* ---- for planning ---- */

/* Memory of a layer's own: kept from forward to backward, the same but the layer's from the beginning of the pass on,
 * used within backward only, kept for the caller to read afterwards, filled by the caller before the pass, or kept from
 * pass to pass. The n-th call makes layer->work[n]. */
typedef enum {
    DIS_WORK_SAVED,
    DIS_WORK_AHEAD,
    DIS_WORK_BACKWARD,
    DIS_WORK_RESULT,
    DIS_WORK_BATCH,
    DIS_WORK_LASTING
} dis__work_life;
dis_status dis__layer_work(dis__net *net, dis__layer *layer, size_t bytes, dis__work_life life);
/* Announces that the layer will run this operation, with these arguments at the axes' maxima; returns the bytes of
 * args.work. */
size_t dis__layer_runs(dis__net *net, dis__op op, const void *args);
size_t dis__max_rows(const dis__net *net, int value); /* as dis__padded_rows, at the axes' maxima; SIZE_MAX: overflow */

/* ---- for running ---- */

/* Zeroes gradients that only count as 0. */
dis_status dis__net_clear_stale(dis__net *net);

/* rows x time x height x width as computed: packed axes rounded up. */
size_t dis__padded_rows(const dis__net *net, int value);
dis_status dis__op_run(dis__net *net, dis__op op, const void *args);
/* Up to DIS_LAYER_KEYS per layer and batch. */
enum { DIS_LAYER_KEYS = 3 };
void dis__key_add(dis__net *net, uint64_t x);
dis_status dis__product(dis__net *net, const dis__product_args *args);
dis_status dis__zero(dis__net *net, void *numbers, size_t bytes);

/* Copies n values to and from device memory, converted to the type of their role. */
dis_status dis__put_floats(dis__net *net, dis__role role, void *to, const float *x, size_t n);
dis_status dis__put_doubles(dis__net *net, dis__role role, void *to, const double *x, size_t n);
dis_status dis__get_doubles(const dis__net *net, dis__role role, const void *from, double *x, size_t n);
dis_status dis__get_floats(const dis__net *net, dis__role role, const void *from, float *x, size_t n);
dis_status dis__copy_in(dis__net *net, void *to, const void *from, size_t bytes);

dis_status dis__put_none(dis__net *net, int32_t *to, size_t n); /* missing ids */

/* ---- batches by index (net_feed.c) ---- */

/* args->y gets rows of args->x in each pass from now on; row: n numbers on the host (four each where moved), of `max`
 * at most, those after them up to args->n_rows none; NULL: args->row is another feed's. */
dis_status dis__feed_rows(dis__net *net, const dis__batch_rows_args *args, const int32_t *row, size_t n, size_t max);
const int32_t *dis__feed_index(const dis__net *net, const void *to); /* of such a feed, on the device */
dis_status dis__feed_one_hot(dis__net *net, const dis__one_hot_args *args);
void dis__feed_stop(dis__net *net, const void *to); /* the host fills this destination, or it is unused */
void dis__feeds_key(dis__net *net);                 /* adds to the key of a step */
dis_status dis__feeds_run(dis__net *net);
void dis__feeds_free(dis__net *net);
enum { DIS_HEAD_FEEDS = 3, DIS_FEED_KEYS = 2 };

/* The divisor of the batch's row losses; 0: the head does not take part. */
double dis__head_norm(const dis__head *head);
/* Adds the head's row losses to its scalars, if it takes part. */
dis_status dis__head_sum(dis__net *net, const dis__layer *layer, const void *row_loss, size_t n);

/* Adds (or stores) the gradient of the layer's output to that of its input i, which has the same shape; nothing
 * where that is not wanted. */
dis_status dis__pass_gradient(dis__net *net, const dis__layer *layer, int i);

/* Bytes of a value. */
static inline size_t dis__number_bytes(const dis__net *net, dis__role role)
{
    return dis__number_size(net->device->number[role]);
}

/* Device address advanced by n values of a role. NULL stays NULL. */
static inline void *dis__offset_role(const dis__net *net, dis__role role, const void *numbers, size_t n)
{
    return numbers ? (char *)numbers + n * dis__number_bytes(net, role) : NULL;
}

static inline void *dis__value_at(const dis__net *net, const void *numbers, size_t n)
{
    return dis__offset_role(net, DIS_ROLE_VALUE, numbers, n);
}

static inline void *dis__param_at(const dis__net *net, const void *numbers, size_t n)
{
    return dis__offset_role(net, DIS_ROLE_PARAM, numbers, n);
}

static inline const double *dis__pass_of(const dis__net *net)
{
    return net->scalars ? &net->scalars->pass : NULL;
}

static inline dis__head_scalars *dis__scalars_of(const dis__net *net, const dis__layer *layer)
{
    return net->head_scalars ? net->head_scalars + layer->head : NULL;
}

static inline void *dis__data(const dis__net *net, int value)
{
    return net->slots[value].data;
}

/* NULL: not requested. */
static inline void *dis__grad(const dis__net *net, int value)
{
    return net->slots[value].grad;
}

/* Not for one stored elsewhere in several parts. */
static inline void *dis__param_place(const dis__net *net, const dis__param *p)
{
    return p->n_host_parts == 1 ? (void *)p->host_part[0] : dis__param_at(net, net->param_arena, p->at);
}

static inline void *dis__param_of(const dis__net *net, const dis__layer *layer, size_t i)
{
    return dis__param_place(net, &net->params[layer->param[i]]);
}

/* Copies values used elsewhere to the network's own memory. */
dis_status dis__param_copy_in(dis__net *net, dis__param *p);

/* NULL: not trained. */
static inline void *dis__param_grad(const dis__net *net, const dis__layer *layer, size_t i)
{
    const dis__param *p = &net->params[layer->param[i]];
    return p->info.trained && net->grad_arena ? dis__param_at(net, net->grad_arena, p->at) : NULL;
}

static inline const int32_t *dis__ints_of(const dis__net *net, int ints)
{
    return ints == DIS_NONE ? NULL : net->ints[ints].data;
}

/* The host's copy of an input that is mirrored. */
static inline const int32_t *dis__mirror_of(const dis__net *net, int ints)
{
    return ints == DIS_NONE ? NULL : net->ints[ints].mirror;
}

static inline size_t dis__axis_size(const dis__net *net, int axis)
{
    return axis == DIS_NONE ? 1 : net->axis[axis];
}

#endif
