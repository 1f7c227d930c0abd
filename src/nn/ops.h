/* ops.h: the table of kernels: one row an operation, one column a device.
 *
 * Layers (nn/layers) are written once, as calls of operations; what an operation does is written in nn/loops, in terms
 * of `real`. Column `ref` has these loops in double: the specification, and what finite differences are taken of.
 * Column `cpu` has them in float, compiled for each instruction set, with exp, log and matrix products of its own
 * (nn/cpu). A further device is a further column.
 *
 * An operation works on a range [first, last) of its own index (rows, columns, tiles: said at its arguments), and what
 * it computes for an index depends on nothing but the arguments: any cut into jobs gives the same bytes.
 *
 *     const dis__gather_args args = {...};
 *     DIS_TRY(dis__op_run(net, DIS_OP_gather, &args, n_rows, row_length));
 *
 * All `void *` below point to reals of the device unless they say otherwise. */
#ifndef DIS_NN_OPS_H
#define DIS_NN_OPS_H
#include "core/error.h"

typedef enum { DIS_ACT_NONE, DIS_ACT_RELU, DIS_ACT_TANH, DIS_ACT_SIGMOID, DIS_ACT_GELU, DIS_N_ACTS } dis__activation;

#define DIS_OPS(X)          \
    X(product)              \
    X(column_sums)          \
    X(activate)             \
    X(activate_grad)        \
    X(gather)               \
    X(gather_grad)          \
    X(layernorm)            \
    X(layernorm_grad)       \
    X(layernorm_param_grad) \
    X(dropout)              \
    X(add)                  \
    X(copy_columns)         \
    X(pool)                 \
    X(pool_grad)            \
    X(weigh)                \
    X(weigh_grad)           \
    X(soft_loss)            \
    X(soft_loss_grad)       \
    X(crowd_loss)           \
    X(crowd_param_grad)     \
    X(recurrent)            \
    X(recurrent_grad)       \
    X(attention)            \
    X(attention_grad)       \
    X(conv)                 \
    X(conv_grad)            \
    X(lookup_conv)          \
    X(lookup_conv_grad)     \
    X(window)               \
    X(window_grad)          \
    X(shortcut)             \
    X(shortcut_grad)        \
    X(batch_stats)          \
    X(batchnorm)            \
    X(batchnorm_sums)       \
    X(batchnorm_grad)       \
    X(update)               \
    X(square_sums)          \
    X(uniform)

typedef enum {
#define DIS_OP_ENUM(name) DIS_OP_##name,
    DIS_OPS(DIS_OP_ENUM)
#undef DIS_OP_ENUM
        DIS_N_OPS
} dis__op;

typedef void dis__op_function(const void *args, size_t first, size_t last, void *scratch);

/* A device: its row of functions and the size of its numbers. Static. */
typedef struct {
    const char *name; /* "ref", "cpu" */
    size_t real;      /* bytes of a number */
    bool threads;     /* operations are cut into jobs */
    size_t scratch;   /* bytes that an operation may use for itself, in each thread */
} dis__device;

extern const dis__device dis__device_ref, dis__device_cpu;
const dis__device *dis__device_find(const char *name); /* NULL: there is none */

/* The functions of all operations on a device, for this machine's instruction set. */
void dis__ops_pick(const dis__device *device, dis__op_function *table[DIS_N_OPS]);
const char *dis__op_name(dis__op op);

/* ---- arguments ---- */

/* C (m x n) = act(op(A) op(B) + bias + bias2), or += without activation. Index: tiles of tile_rows x tile_cols, row by row;
 * dis__product_tiles() sets them and returns their number. */
typedef struct {
    bool ta, tb, add;
    dis__activation act;
    size_t m, n, k, lda, ldb, ldc;
    const void *a, *b, *bias, *bias2; /* biases: (n) or NULL */
    void *c;
    size_t tile_rows, tile_cols;
} dis__product_args;
size_t dis__product_tiles(dis__product_args *args, int n_threads);

/* out[c] += sum of column c of x (n_rows x ., rows ld apart). Index: columns. */
typedef struct {
    const void *x;
    size_t n_rows, ld;
    void *out;
} dis__column_sums_args;

/* y = act(x); grad: dx = dy act'(x) (in place allowed), where `x` holds the argument for GELU and the value for the
 * others. Index: elements. */
typedef struct {
    dis__activation act;
    const void *x, *dy;
    void *y;
} dis__activate_args;

/* y[i] = sum (mean: divided by their number) of table rows id[i * per + j], j < count[i]; ids below 0 are no rows.
 * Index: rows i. grad: d_table += ; index: columns. */
typedef struct {
    const void *table;
    const int32_t *id, *count; /* count NULL: per */
    size_t per, n_rows, width;
    bool mean;
    void *y;
    const void *dy;
    void *d_table;
} dis__gather_args;

/* y = gain (s - mean) / sqrt(var + eps) + bias over the width of s = x + r (r may be NULL); stats: (rows, 2) mean and
 * 1 / sd. Index: rows. grad: d = gradient of s, stored or added to dx and dr (each may be NULL). param_grad: index:
 * columns. */
typedef struct {
    const void *x, *r, *gain, *bias;
    void *y, *stats;
    size_t n_rows, width;
    double epsilon;
    const void *dy;
    void *dx, *dr, *d_gain, *d_bias;
    bool add_x, add_r;
} dis__layernorm_args;

/* y = x kept with probability 1 - rate, divided by it; the choice is a function of (seed, step, layer, element). With
 * `add` y +=. Index: blocks of DIS_DROPOUT_BLOCK elements. */
#define DIS_DROPOUT_BLOCK 1024
typedef struct {
    const void *x;
    void *y;
    size_t n;
    bool add;
    double rate;
    uint64_t seed, step;
    uint32_t layer;
} dis__dropout_args;

/* y = x + z, or y += x where z is NULL. Index: elements. */
typedef struct {
    const void *x, *z;
    void *y;
} dis__add_args;

/* to[i][0 .. width) = from[i][0 .. width), or +=. Index: rows. */
typedef struct {
    const void *from;
    void *to;
    size_t from_ld, to_ld, width;
    bool add;
} dis__copy_columns_args;

/* ENDS: the first half of the channels from the last row, the second half from the first: the final states of both
 * directions of a recurrent layer. */
typedef enum { DIS_POOL_MAX, DIS_POOL_MEAN, DIS_POOL_FIRST, DIS_POOL_LAST, DIS_POOL_ENDS, DIS_N_POOLS } dis__pooling;

/* One row (width) of `per` of them, of which the first length[i] count (NULL: all; 0: the row is 0). choice: (rows,
 * width) int32, of max only. Index: rows. grad stores dx (add: +=). */
typedef struct {
    dis__pooling kind;
    const void *x;
    void *y;
    int32_t *choice;
    const int32_t *length;
    size_t per, width;
    const void *dy;
    void *dx;
    bool add;
} dis__pool_args;

/* y[i] = sum over the first length[i] of `per` rows of share * x, share (rows, per) = softmax of the scores. Index: rows.
 * grad: each of dx and d_scores may be NULL. */
typedef struct {
    const void *x, *scores;
    void *y, *share;
    const int32_t *length;
    size_t per, width;
    const void *dy;
    void *dx, *d_scores;
    bool add_x, add_scores;
} dis__weigh_args;

typedef enum { DIS_LOSS_CE, DIS_LOSS_KL, DIS_LOSS_INVERSE_KL, DIS_LOSS_JS, DIS_N_LOSSES } dis__loss;

/* q = softmax(logits); loss[i] = weight[i] * L(target[i], q[i]) / ln(base), 0 where the weight is 0 (the target is not
 * looked at then). grad: d_logits = scale * d loss. Index: rows. */
typedef struct {
    dis__loss kind;
    size_t n_classes;
    const void *logits, *target, *weight; /* target NULL: only q */
    void *q, *loss;
    double per_log_base, floor; /* 1 / ln(base); floor: of the target, inverse KL only */
    void *d_logits;
    double scale;
    bool add;
} dis__soft_loss_args;

typedef enum { DIS_CROWD_MW, DIS_CROWD_VW, DIS_CROWD_VB, DIS_CROWD_VWB, DIS_CROWD_SW, DIS_N_CROWDS } dis__crowd;

/* Votes (row, worker, label) sorted by row: votes row_start[i] .. row_start[i + 1] are of row i. A worker's logits are
 * M q (MW), v * q, q + b, v * q + b, s q. crowd_loss: q = softmax(logits) and, where there are votes, loss[i] = sum of
 * the cross-entropies of row i's votes; with d_logits its gradient times scale, and d_vote (votes, classes): gradient
 * of each vote's logits. Index: rows. crowd_param_grad: index: groups g of votes of one worker, order[group_start[g]]
 * ... being votes. */
typedef struct {
    dis__crowd kind;
    size_t n_classes;
    const void *logits, *matrix, *bias; /* (workers, K x K or K or 1), (workers, K) */
    void *q, *loss, *d_logits, *d_vote;
    const int32_t *row_start, *row, *worker, *label; /* row_start NULL: no votes */
    const int32_t *order, *group_start;
    double scale;
    bool add;
    void *d_matrix, *d_bias;
} dis__crowd_args;
typedef dis__crowd_args dis__crowd_loss_args;

/* What a recurrent layer does in a step. */
typedef enum { DIS_CELL_LSTM, DIS_CELL_GRU, DIS_N_CELLS } dis__recurrent_cell;

/* A step of a block of rows: nodes [begin, begin + count). The first `had` of them follow a node of the step before. */
typedef struct {
    int32_t begin, count, had;
} dis__recurrent_step;

/* What one direction of a recurrent layer does: nodes, each of which stands for one position of a row or of several
 * (nn/layers/recurrent_layout.h). Rows of a block are neighbours in `order`. */
typedef struct {
    size_t n_nodes;
    dis__recurrent_step *steps; /* (blocks, n_times): as the direction goes */
    int32_t *parent, *from;     /* (nodes): the node before, the row of the inputs */
    int32_t *node;              /* (rows, n_times): -1 behind a row's length */
    int32_t *order, *length;    /* (rows) */
    bool by_end;                /* step s is the time s before the last of each row, not before n_times - 1 */
} dis__recurrent_layout;

/* One direction or two of a recurrent layer over (rows, time). gates[d]: (nodes, 4 hidden), before: the inputs' part of
 * each gate's argument, unless that is row from[node] of made[d]; after: the gates, or nothing where they are forgotten;
 * LSTM i, f, g, o; GRU n, r, z, and W h + b of n. The state before, times weight, is added to n_state of the four, from
 * first_state on. memory[d]: (nodes, n_memory), the LSTM's c; state[d]: (nodes, hidden). y: (rows, time, directions
 * hidden), 0 behind a row's length. grad: gates[d] become the gradients of their arguments, before[d] (nodes, hidden) the
 * state before each step. Index: blocks of DIS_RECURRENT_BLOCK rows of direction 0, then of direction 1. */
#define DIS_RECURRENT_GATES 4
#define DIS_RECURRENT_BLOCK 64
typedef struct {
    dis__recurrent_cell cell;
    size_t n_rows, n_times, n_hidden, n_directions;
    size_t first_state, n_state, n_memory; /* n_memory: n_hidden or 0 */
    dis__recurrent_layout layout[2];
    const void *weight[2]; /* (n_state hidden, hidden): of the state before */
    const void *made[2];   /* NULL: the inputs' part lies in gates */
    bool forget;           /* gates of a step are not kept: they lie in scratch memory, and made[] is there */
    void *gates[2], *memory[2], *state[2], *before[2];
    void *y;
    const void *dy;
} dis__recurrent_args;

/* Scaled dot-product attention of one sequence a row: qkv (rows, time, 3 channels), y (rows, time, channels), share
 * (rows, heads, time, time): the softmax. Index: (row, head). Without keys (value_only) qkv is (rows, channels), time is
 * 1 and every share is 1. The dropout of shares is keyed as dis__dropout_args says, by the place in `share`. */
typedef struct {
    size_t n_times, n_heads, channels;
    bool value_only;
    const int32_t *length;
    const void *qkv;
    void *y, *share;
    double rate;
    uint64_t seed, step;
    uint32_t layer;
    const void *dy;
    void *d_qkv;
    bool add;
} dis__attention_args;

/* Convolution of images (n, height, width, channels) with weight (out, kernel_h, kernel_w, channels): y (n, out_h,
 * out_w, out), act(. + bias). What lies outside, or behind length[i] columns of an image, is 0. Index: groups of `group`
 * images. grad: index: parts of the groups; dx (may be NULL) is stored or added, d_weight (parts, weight; may be NULL)
 * stored. */
typedef struct {
    size_t n, height, width, channels, out_h, out_w, out;
    size_t kernel_h, kernel_w, stride, pad_top, pad_left;
    size_t group, n_parts;
    const int32_t *length;
    dis__activation act;
    const void *x, *weight, *bias;
    void *y;
    const void *dy;
    void *dx, *d_weight;
    bool add;
} dis__conv_args;
#define DIS_CONV_ROWS 192 /* places of y at a time */

/* Convolution over rows of a table: place j of text i is row id[i * width + j] (below 0: zeros). product: (ids, kernel,
 * out): each row of the table times the weights of each place of the kernel, so that y[i][j] = act(bias + sum over k of
 * product[id of place j + k - before][k]). Index: texts. grad: d_product += the gradients of the places it went to;
 * index: columns of out. */
typedef struct {
    size_t n, width, kernel, before, out;
    const int32_t *id;
    dis__activation act;
    const void *product, *bias; /* bias may be NULL */
    void *y;
    const void *dy;
    void *d_product;
} dis__lookup_conv_args;

/* Max or mean of windows of an image; choice: (n, out_h, out_w, channels), of max: where it was. The strided identity of
 * ResNets ("shortcut") takes every stride-th place and puts `before` empty channels in front. Index: images. */
typedef struct {
    dis__pooling kind;
    size_t n, height, width, channels, out_h, out_w, kernel, stride, out, before;
    const void *x;
    void *y;
    int32_t *choice;
    const void *dy;
    void *dx;
    bool add;
} dis__window_args;

/* Batch normalisation over n_rows rows of `width` channels: y = act(gain (x - mean) scale + bias + r). stats: (2, width)
 * mean and 1 / sd. batch_stats: of this batch, moving `running` (2, width: mean, variance) along; or from `running`
 * where `fixed`. Index: columns. batchnorm, batchnorm_grad: index: rows. batchnorm_sums: sums (2, width) of dz and dz
 * times the normalised x, also added to d_bias and d_gain (each may be NULL). Index: columns. */
typedef struct {
    const void *x, *r, *gain, *bias;
    void *y, *stats, *running_mean, *running_var;
    size_t n_rows, width;
    dis__activation act;
    double epsilon, momentum;
    bool fixed;
    const void *dz;
    void *sums, *d_gain, *d_bias, *dx;
    bool add;
} dis__batchnorm_args;

typedef enum { DIS_OPTIMIZER_SGD, DIS_OPTIMIZER_ADAM, DIS_OPTIMIZER_ADAMW, DIS_N_OPTIMIZERS } dis__optimizer_kind;

/* One step of an optimiser on parameters [first, last); the gradient is multiplied by `scale` and is 0 afterwards.
 * Index: parameters. */
typedef struct {
    dis__optimizer_kind kind;
    void *param, *grad, *m, *v; /* m: momentum or first moment; v: second moment */
    double rate, scale, momentum, beta1, beta2, epsilon, decay;
    double correct1, correct2; /* 1 - beta^step */
    bool nesterov, first;      /* first: the momentum starts with this gradient */
} dis__update_args;

/* sums[b] = sum of squares of x's block b. Index: blocks of DIS_SQUARES_BLOCK elements. */
#define DIS_SQUARES_BLOCK 4096
typedef struct {
    const void *x;
    size_t n;
    double *sums;
} dis__square_sums_args;

/* y[i] = (2 u - 1) spread, u = dis__uniform(seed, stream, i). Index: elements. */
typedef struct {
    uint64_t seed, stream;
    double spread;
    void *y;
} dis__uniform_args;

#endif
