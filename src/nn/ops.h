/* ops.h: the table of operations: one row per operation, one column per device.
 *
 * Layers (nn/layers) are written once, as calls of operations; a device (nn/device.h) runs them. What an operation
 * does is written in nn/loops, in terms of `real`: column `ref` has these loops in double, the specification and
 * what finite differences are taken of; column `cpu` has them in float, compiled for each instruction set, with exp,
 * log and matrix products of its own (nn/cpu). A device whose memory is elsewhere brings its own functions for the
 * same arguments.
 *
 * An operation works on a range [first, last) of its own index (rows, columns, tiles: said at its arguments), and
 * what it computes for an index depends on nothing but the arguments: any cut into jobs gives the same bytes.
 *
 *     const dis__gather_args args = {...};
 *     DIS_TRY(dis__op_run(net, DIS_OP_gather, &args));
 *
 * All pointers below point to device memory: `void *` to numbers of the type that the device keeps such a tensor in
 * (dis__role), the others to what they say. Arguments themselves are the host's, read during the call. Numbers that
 * change from step to step are read from device memory (const double *), so that a step can be recorded and
 * replayed. */
#ifndef DIS_NN_OPS_H
#define DIS_NN_OPS_H
#include "core/error.h"

typedef enum { DIS_ACT_NONE, DIS_ACT_RELU, DIS_ACT_TANH, DIS_ACT_SIGMOID, DIS_ACT_GELU, DIS_N_ACTS } dis__activation;

#define DIS_OPS(X)           \
    X(product)               \
    X(column_sums)           \
    X(activate)              \
    X(activate_grad)         \
    X(gather)                \
    X(gather_grad)           \
    X(layernorm)             \
    X(layernorm_grad)        \
    X(layernorm_param_grad)  \
    X(dropout)               \
    X(add)                   \
    X(shift)                 \
    X(copy_columns)          \
    X(pool)                  \
    X(pool_grad)             \
    X(softmax_pool)          \
    X(softmax_pool_grad)     \
    X(one_hot)               \
    X(soft_loss)             \
    X(soft_loss_grad)        \
    X(crowd_loss)            \
    X(crowd_param_grad)      \
    X(confusion)             \
    X(confusion_grad)        \
    X(pair_terms)            \
    X(pair_terms_grad)       \
    X(head_loss)             \
    X(total_loss)            \
    X(recurrent)             \
    X(recurrent_grad)        \
    X(padded_attention)      \
    X(padded_attention_grad) \
    X(packed_attention)      \
    X(packed_attention_grad) \
    X(conv)                  \
    X(conv_grad)             \
    X(lookup_conv)           \
    X(lookup_conv_grad)      \
    X(window)                \
    X(window_grad)           \
    X(shortcut)              \
    X(shortcut_grad)         \
    X(batch_stats)           \
    X(batchnorm)             \
    X(batchnorm_sums)        \
    X(batchnorm_grad)        \
    X(update)                \
    X(square_sums)           \
    X(clip)                  \
    X(start)                 \
    X(batch_rows)            \
    X(batch_spans)

typedef enum {
#define DIS_OP_ENUM(name) DIS_OP_##name,
    DIS_OPS(DIS_OP_ENUM)
#undef DIS_OP_ENUM
        DIS_N_OPS
} dis__op;

typedef void dis__op_function(const void *args, size_t first, size_t last, void *scratch);

/* The functions of the devices with host memory; cpu: for this machine's instruction set. */
void dis__ops_ref(dis__op_function *table[DIS_N_OPS]);
void dis__ops_cpu(dis__op_function *table[DIS_N_OPS]);
void dis__ops_bf16(dis__op_function *table[DIS_N_OPS]); /* the cpu's, with GEMM in bfloat16 */
const char *dis__op_name(dis__op op);

/* ---- arguments ---- */

/* In some: later: what comes out is needed by the optimiser alone (clip and update), and what goes in stays for
 * dis__device.lag layers. */

/* C (m x n) = act(op(A) op(B) + bias + bias2), or += without activation. Index: tiles of tile_rows x tile_cols, row
 * by row, which the device chooses. */
typedef struct {
    bool ta, tb, add;
    dis__activation act;
    size_t m, n, k, lda, ldb, ldc;
    const void *a, *b, *bias, *bias2; /* biases: (n) or NULL */
    void *c;
    size_t tile_rows, tile_cols;
    /* Where B is the same from call to call: memory that plan() asked for, for what the device prepares from B; prepared: it
     * holds that. NULL: B is read. */
    void *work;
    bool prepared, later;
} dis__product_args;

/* out[c] += sum of column c of x (n_rows x ., rows ld apart). Index: columns. */
typedef struct {
    const void *x;
    size_t n_rows, n_cols, ld;
    void *out;
    bool later;
} dis__column_sums_args;

/* y = act(x); grad: dx = dy act'(x) (in place allowed), where `x` holds the argument for GELU and the value for the
 * others. Index: elements. */
typedef struct {
    dis__activation act;
    size_t n;
    const void *x, *dy;
    void *y;
} dis__activate_args;

/* y[i] = sum (mean: divided by their number) of table rows id[i * per + j], j < count[i]; ids below 0 are not rows.
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

/* y = gain (s - mean) / D + bias over the width of s = x + r (r may be NULL); D = sqrt(var + eps), or with `sample`
 * sd + eps, whose sum of squares is divided by width - 1. stats: (rows, 2) mean and 1 / D. Index: rows. grad: d =
 * gradient of s, stored or added to dx and dr (each may be NULL). param_grad: index: columns. */
typedef struct {
    const void *x, *r, *gain, *bias;
    void *y, *stats;
    size_t n_rows, width;
    double epsilon;
    const void *dy;
    void *dx, *dr, *d_gain, *d_bias;
    bool add_x, add_r, later; /* later: of param_grad */
    bool sample;
} dis__layernorm_args;

/* y = x kept with probability 1 - rate, divided by it; the choice is a function of (seed, pass, layer, element). With
 * `add` y +=. Index: blocks of DIS_DROPOUT_BLOCK elements. */
#define DIS_DROPOUT_BLOCK 1024
typedef struct {
    const void *x;
    void *y;
    size_t n;
    bool add;
    double rate;
    uint64_t seed;
    const double *pass;
    uint32_t layer;
} dis__dropout_args;

/* y = x + z, or y += x where z is NULL. Index: elements. */
typedef struct {
    size_t n;
    const void *x, *z;
    void *y;
} dis__add_args;

/* y = scale x, + odd at odd columns of rows of `width`; with `add` y +=. Index: rows. */
typedef struct {
    size_t n_rows, width;
    double scale, odd;
    const void *x;
    void *y;
    bool add;
} dis__shift_args;

/* to[i][0 .. width) = from[i][0 .. width), or +=. Index: rows. */
typedef struct {
    const void *from;
    void *to;
    size_t n_rows, from_ld, to_ld, width;
    bool add;
} dis__copy_columns_args;

/* ENDS: the first half of the channels from the last row, the second half from the first: the final states of both
 * directions of a recurrent layer. */
typedef enum { DIS_POOL_MAX, DIS_POOL_MEAN, DIS_POOL_FIRST, DIS_POOL_LAST, DIS_POOL_ENDS, DIS_N_POOLS } dis__pooling;

/* One row (width) of `per` of them, of which the first length[i] count (NULL: all; 0: the row is 0); packed rows
 * begin at start[i], and there are n_packed in all. choice: (rows, width) int32, of max only. Index: rows. grad
 * stores dx (add: +=). */
typedef struct {
    dis__pooling kind;
    const void *x;
    void *y;
    int32_t *choice;
    const int32_t *length, *start; /* start NULL: not packed */
    size_t n_rows, per, width, n_packed;
    const void *dy;
    void *dx;
    bool add;
} dis__pool_args;

/* y[i] = sum over the first length[i] of `per` rows of share * x, share (rows, per) = softmax of the scores. Index:
 * rows. grad: each of dx and d_scores may be NULL. */
typedef struct {
    const void *x, *scores;
    void *y, *share;
    const int32_t *length;
    size_t n_rows, per, width;
    const void *dy;
    void *dx, *d_scores;
    bool add_x, add_scores;
} dis__softmax_pool_args;

typedef enum { DIS_LOSS_CE, DIS_LOSS_KL, DIS_LOSS_INVERSE_KL, DIS_LOSS_JS, DIS_N_LOSSES } dis__loss;

/* target (rows, classes) and weight (rows) of labels; a label below 0, or no class, has weight 0. Index: rows. */
typedef struct {
    size_t n_rows, n_classes;
    const int32_t *label;
    void *target, *weight;
} dis__one_hot_args;

/* q = softmax(logits); loss[i] = weight[i] * L(target[i], q[i]) / ln(base), 0 where the weight is 0 (the target is not
 * looked at then). grad: d_logits = scale * d loss. Index: rows. */
typedef struct {
    dis__loss kind;
    size_t n_rows, n_classes;
    const void *logits, *target, *weight; /* target NULL: only q */
    void *q, *loss;
    double per_log_base, floor; /* 1 / ln(base); floor: of the target, inverse KL only */
    void *d_logits;
    const double *scale;
    bool add;
} dis__soft_loss_args;

typedef enum { DIS_CROWD_MW, DIS_CROWD_VW, DIS_CROWD_VB, DIS_CROWD_VWB, DIS_CROWD_SW, DIS_N_CROWDS } dis__crowd;

/* Votes (row, worker, label) sorted by row: votes row_start[i] .. row_start[i + 1] are of row i. A worker's logits are
 * M x (MW), v * x, x + b, v * x + b, s x, where x is the row of logits (on_logits) or of q. crowd_loss: q =
 * softmax(logits) and, where there are votes, loss[i] = sum of the cross-entropies of row i's votes; with d_logits its
 * gradient times scale, and d_vote (votes, classes): gradient of each vote's logits. Index: rows. crowd_param_grad:
 * index: groups g of votes of one worker, order[group_start[g]] ... being votes. */
typedef struct {
    dis__crowd kind;
    bool on_logits; /* workers' maps read the logits; otherwise q */
    size_t n_rows, n_classes, n_votes, n_groups;
    const void *logits, *matrix, *bias; /* (workers, K x K or K or 1), (workers, K) */
    void *q, *loss, *d_logits, *d_vote;
    const int32_t *row_start, *row, *worker, *label; /* row_start NULL: no votes */
    const int32_t *order, *group_start;
    const double *scale;
    bool add;
    void *d_matrix, *d_bias;
} dis__crowd_args;

/* Votes by way of a confusion matrix per row: y[i][z] = log sum_k softmax(class)[i][k] softmax(confusion[i][k])[z], so
 * that softmax(y) is what the vote will be. confusion: (rows, classes, classes), class by class. Index: rows. grad:
 * from dy to d_class and d_confusion (each may be NULL), stored or added. */
typedef struct {
    size_t n_rows, n_classes;
    const void *class_logits, *confusion;
    void *y;
    const void *dy;
    void *d_class, *d_confusion;
    bool add_class, add_confusion;
} dis__confusion_args;

/* Penalty terms on rows of a table: near: 1 - cos(a, b); apart: max(0, cos(a, b)); length: |a|. */
typedef enum { DIS_PAIR_NEAR, DIS_PAIR_APART, DIS_PAIR_LENGTH, DIS_N_PAIRS } dis__pair_kind;

/* loss[i] = weight[i] times the term of pair[i] = (a, b, kind). slope (pairs, 3): the gradient of loss[i] is slope[0] a
 * + slope[1] b by a, slope[1] a + slope[2] b by b. Index: pairs. grad: d_table += scale times that, pair by pair.
 * Index: columns. */
typedef struct {
    size_t n_pairs, width;
    const void *table; /* a parameter */
    const int32_t *pair;
    const void *weight;
    void *loss, *slope;
    const double *scale;
    void *d_table;
} dis__pair_terms_args;

/* A head's scalars, in device memory. The host writes norm (what the sum of row losses is divided by; 0: the head
 * takes no part), weight and scale (weight / norm); head_loss writes the mean loss and weight * that. */
typedef struct {
    double norm, weight, scale;
    double loss, weighted;
} dis__head_scalars;

/* The sum of n row losses, in order, in double. Index: one. */
typedef struct {
    size_t n;
    const void *row_loss;
    dis__head_scalars *head;
} dis__head_loss_args;

/* total = the sum of weighted losses over heads that take part, in order; *sum += total where it is not NULL. Index:
 * one. */
typedef struct {
    size_t n_heads;
    const dis__head_scalars *head;
    double *total, *sum;
} dis__total_loss_args;

/* One step of a recurrent layer. */
typedef enum { DIS_CELL_LSTM, DIS_CELL_GRU, DIS_N_CELLS } dis__recurrent_cell;

/* A step of a block of rows: nodes [begin, begin + count). The first `n_parents` of them follow a node of the step before. */
typedef struct {
    int32_t begin, count, n_parents;
} dis__recurrent_step;

/* What one direction of a recurrent layer does: nodes, each of which stands for one position of a row or of several
 * (nn/layers/recurrent_layout.h). Rows of a block are neighbours in `order`. The last nodes may be there for a round
 * number alone: no step has them, and DIS_RECURRENT_PAD is their parent. */
#define DIS_RECURRENT_PAD INT32_MIN
typedef struct {
    size_t n_nodes;
    dis__recurrent_step *steps; /* (blocks, n_times): as the direction goes */
    int32_t *parent, *from;     /* (nodes): the previous node, the row of the inputs */
    int32_t *node;              /* (rows, n_times): -1 after a row's length */
    int32_t *order, *length;    /* (rows) */
    bool by_end;                /* step s is the time s before the last of each row, not before n_times - 1 */
} dis__recurrent_layout;

/* One direction or two of a recurrent layer over (rows, time). gates[d]: (nodes, 4 hidden), before: the inputs' part
 * of each gate's argument, unless that is row from[node] of projected[d]; after: the gates, or nothing where they are
 * forgotten; LSTM i, f, g, o; GRU n, r, z, and W h + b of n. The state before, times weight, is added to n_state of
 * the four, from first_state on. memory[d]: (nodes, n_memory), the LSTM's c (statistics: sums over time); state[d]:
 * (nodes, hidden). y: (rows, time, directions hidden), 0 after a row's length. grad: gates[d] become the gradients of
 * their arguments, before[d] (nodes, hidden) the state before each step. Index: blocks of DIS_RECURRENT_BLOCK rows of
 * direction 0, then of direction 1. Both are 0 of nodes that no step has. */
#define DIS_RECURRENT_GATES 4
#define DIS_RECURRENT_BLOCK 64
typedef struct {
    dis__recurrent_cell cell;
    size_t n_rows, n_times, n_hidden, n_directions;
    size_t first_state, n_state, n_memory; /* n_memory: n_hidden or 0 */
    dis__recurrent_layout layout[2];
    const void *weight[2];    /* (n_state hidden, hidden): of the state before */
    const void *projected[2]; /* NULL: the inputs' part is in gates */
    bool forget;              /* gates of a step are not kept: they are in scratch memory, and projected[] is set */
    void *gates[2], *memory[2], *state[2], *before[2];
    void *y;
    const void *dy;
} dis__recurrent_args;

/* Scaled dot-product attention of one sequence per row: qkv (rows, time, 3 channels), y (rows, time, channels), share
 * (rows, heads, time, time): the softmax. Index: (row, head). Without keys (value_only) qkv is (rows, channels),
 * time is 1 and every share is 1. The dropout of shares is keyed as dis__dropout_args says, by the position in
 * `share`. */
typedef struct {
    size_t n_rows, n_times, n_heads, channels;
    bool value_only;
    const int32_t *length;
    const void *qkv;
    void *y, *share;
    double rate;
    uint64_t seed;
    const double *pass;
    uint32_t layer;
    const void *dy;
    void *d_qkv;
    bool add;
} dis__padded_attention_args;

/* Scaled dot-product attention within packed rows: qkv (tokens, 3 channels), y (tokens, channels); row i is tokens
 * start[i] .. + length[i] - 1, rows lie one after another, tokens after the last get 0. The score of query i and
 * key j is scale q k + bias[bucket[j - i + longest - 1]][head]; keys whose mask is 0, or farther away than the
 * window (0: none is), do not count; a query without keys gets 0. log_sum: (tokens, heads). The dropout of shares is
 * keyed by the position (start heads longest + head length^2 + i length + j). Index: (row, head). grad: d_bias +=
 * (NULL: not wanted), by way of `work`; that and `saved`, from forward to backward, are the device's. known: `saved` is
 * that of an operation before in this pass, with the same rows and without dropout. */
typedef struct {
    size_t n_rows, n_tokens, n_heads, channels, longest, n_buckets;
    double scale;
    size_t window;
    const int32_t *start, *length, *mask; /* mask (tokens) may be NULL */
    const int32_t *bucket;                /* (2 longest - 1) */
    const void *bias;                     /* (buckets, heads); NULL: none */
    const void *qkv;
    void *y, *log_sum;
    double rate;
    uint64_t seed;
    const double *pass;
    uint32_t layer;
    const void *dy;
    void *d_qkv, *d_bias, *work, *saved;
    bool add, known;
} dis__packed_attention_args;

/* Convolution of images (n, height, width, channels) with weight (out, kernel_h, kernel_w, channels): y (n, out_h,
 * out_w, out), act(. + bias). What lies outside, or after length[i] columns of an image, is 0. Index: groups of
 * `group` images, which the device chooses. grad: dx (may be NULL) is stored or added, d_weight (may be NULL) += ;
 * `work` is the device's. The functions of this table leave d_weight in n_parts parts in `work`, of which each is an
 * index. */
typedef struct {
    size_t n, height, width, channels, out_h, out_w, out;
    size_t kernel_h, kernel_w, stride, pad_top, pad_left;
    size_t group, n_parts;
    const int32_t *length;
    dis__activation act;
    const void *x, *weight, *bias;
    void *y;
    const void *dy;
    void *dx, *d_weight, *work;
    bool add, later; /* later: d_weight */
    bool once;       /* d_weight is 0, and this step's update reads it next: a device may store it elsewhere */
} dis__conv_args;
#define DIS_CONV_ROWS 192 /* positions of y at a time */

/* Convolution over rows of a table: position j of text i is row id[i * width + j] (below 0: zeros). row_products: (ids,
 * kernel, out): each row of the table times the weights of each position of the kernel, so that y[i][j] = act(bias +
 * sum over k of row_products[id of position j + k - before][k]) for `places` positions j. Index: texts. grad:
 * d_row_products += the gradients of the positions it went to; index: columns of out. */
typedef struct {
    size_t n, width, places, kernel, before, out, n_ids;
    const int32_t *id;
    dis__activation act;
    const void *row_products, *bias; /* bias may be NULL */
    void *y;
    const void *dy;
    void *d_row_products;
} dis__lookup_conv_args;

/* Max or mean of windows of an image; choice: (n, out_h, out_w, channels), of max: where it was. The strided
 * identity of ResNets ("shortcut") takes every stride-th position and puts `before` empty channels in front. Index:
 * images. */
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

/* Batch normalisation over n_rows rows of `width` channels: y = act(gain (x - mean) scale + bias + r). stats: (2,
 * width) mean and 1 / sd. batch_stats: of this batch, moving `running` (2, width: mean, variance) along; or from
 * `running` where `fixed`. Index: columns. batchnorm, batchnorm_grad: index: rows. batchnorm_sums: sums (2, width)
 * of dz = dy act'(y) and dz times the normalised x, also added to d_bias and d_gain (each may be NULL). Index: columns.
 * grad: dx and dr, of which each may be NULL. */
typedef struct {
    const void *x, *r, *gain, *bias;
    void *y, *stats, *running_mean, *running_var;
    size_t n_rows, width;
    dis__activation act;
    double epsilon, momentum;
    bool fixed;
    const void *dy;
    void *sums, *d_gain, *d_bias, *dx, *dr;
    bool add, add_r;
    void *work; /* device-specific values kept from batchnorm to batchnorm_grad */
} dis__batchnorm_args;

typedef enum { DIS_OPTIMIZER_SGD, DIS_OPTIMIZER_ADAM, DIS_OPTIMIZER_ADAMW, DIS_N_OPTIMIZERS } dis__optimizer_kind;

/* What a step of the optimiser reads, in device memory: the rate, 1 - beta^step, and what gradients are multiplied by
 * (which clip writes). */
typedef struct {
    double rate, correct1, correct2, scale;
} dis__step_scalars;

/* One step of an optimiser on n parameters; the gradient is multiplied by step->scale and is 0 afterwards. The rate is
 * step->rate * factor. Index: parameters. */
typedef struct {
    dis__optimizer_kind kind;
    size_t n;
    void *param, *grad, *m, *v; /* m: momentum or first moment; v: second moment */
    const dis__step_scalars *step;
    double factor, momentum, beta1, beta2, epsilon, decay;
    bool nesterov;
    bool stored; /* the next gradient is stored, not added: this one need not be reset */
} dis__update_args;

/* sums[b] = sum of squares of x's block b. Index: blocks of DIS_SQUARES_BLOCK elements. */
#define DIS_SQUARES_BLOCK 4096
typedef struct {
    const void *x;
    size_t n;
    double *sums;
    bool later;
} dis__square_sums_args;

/* *scale = most / (norm + 1e-6) where norm, the root of the sum of n sums, is above `max`; 1 otherwise. Index: one. */
typedef struct {
    const double *sums;
    size_t n;
    double max;
    double *scale;
} dis__clip_args;

typedef enum { DIS_START_ZERO, DIS_START_ONE, DIS_START_UNIFORM, DIS_START_NORMAL, DIS_START_IDENTITY } dis__start;

/* Where parameters begin, y (n): 0, 1, uniform within +-spread, normal with sd `spread`, or identity matrices (side x
 * side). Number i is a function of (seed, stream, i). Index: elements. */
typedef struct {
    dis__start kind;
    uint64_t seed, stream;
    double spread;
    size_t n, side;
    void *y;
} dis__start_args;

/* Rows of a larger array: row i of y, height x width x channels numbers of `size` bytes, is row row[i] of x; below 0:
 * all its bytes are `after`. With `moved` row has four numbers for each, (which, dy, dx, mirror): an image whose
 * position (r, c) is x's (r + dy, c' + dx), c' counted from the other side where it is mirrored, 0 outside. Index:
 * rows. */
typedef struct {
    const void *x;
    void *y;
    const int32_t *row;
    size_t size, n_rows, height, width, channels;
    bool moved;
    unsigned char fill;
} dis__batch_rows_args;

/* Spans (from, to, n, room) of integers: y[to + j] = x[from + j] for j < n, and -1 for the rest of the room.
 * Index: spans. */
typedef struct {
    const int32_t *x;
    int32_t *y;
    const int32_t *span; /* (n_spans, 4) */
    size_t n_spans;
} dis__batch_spans_args;

#endif
