/* net.h: a network: built from layers, planned, then run forward and backward and stepped.
 *
 *     dis__net *net;
 *     DIS_TRY(dis__net_create(&dis__device_cpu, seed, &net));
 *     const int rows = dis__net_axis(net, 64);                     // at most 64 rows per batch
 *     const int x = dis__net_reals(net, "features", dis__shape_rows(rows, 4096));
 *     const int h = dis__layer_dropout(net, dis__layer_linear(net, "hidden", x, 128, DIS_ACT_RELU), .5);
 *     const int z = dis__layer_linear(net, "out", h, n_classes, DIS_ACT_NONE);
 *     const int head = dis__head_soft(net, "gold", z, NULL);
 *     DIS_TRY(dis__net_plan(net, ctx, &options));                  // says whether building failed; all memory is taken
 *     for each batch:
 *         dis__net_resize(net, rows, n);
 *         DIS_TRY(dis__net_put(net, x, features));
 *         DIS_TRY(dis__head_put_labels(net, head, labels));
 *         DIS_TRY(dis__net_train(net, rate, true));
 *     dis__net_destroy(net);
 *
 * Build order is execution order; backward is the loop down. Building calls return the number of a value (or of an
 * input, or a head), below 0 after a failure; calls given a number below 0 do nothing, so builders need no checks:
 * dis__net_plan() returns the first failure. Names of parameters are those of their layer, a dot, and "weight",
 * "bias" and so on, as PyTorch lays them out.
 *
 * Axes are sizes that differ from batch to batch, up to a maximum: rows of a batch, positions of a sentence, tokens
 * gathered. A value is a block of reals, (rows, time, height, width, channels), rows and time being axes.
 *
 * The loss is the sum over heads of weight * mean loss. Gradients of parameters add up over calls of backward until
 * dis__net_step, which leaves them at 0.
 *
 * The same seed, batches and device give the same bytes for any number of threads. A network serves one thread at a
 * time, and uses the context that it was planned with, or serves since (dis__net_set_context), while it runs. A call
 * that was cancelled in the middle (context with `stop`) leaves a network whose step has to be done again from a
 * checkpoint. */
#ifndef DIS_NN_NET_H
#define DIS_NN_NET_H
#include "dissent/context.h"
#include "nn/device.h"
#include "nn/optimizer.h"

typedef struct dis__net dis__net;

#define DIS_NONE       (-1) /* no axis, no value, no lengths */
#define DIS_NET_AXES   16
#define DIS_LAYER_INS  8
#define DIS_PARAM_DIMS 4
#define DIS_NET_NAME   96

typedef struct {
    int rows, time;                 /* axes; time may be DIS_NONE */
    size_t height, width, channels; /* height = width = 1 but for images and fixed-length sequences */
} dis__shape;

static inline dis__shape dis__shape_rows(int rows, size_t channels)
{
    return (dis__shape){rows, DIS_NONE, 1, 1, channels};
}

/* ---- building ---- */

dis_status dis__net_create(const dis__device *device, uint64_t seed, dis__net **out);
void dis__net_destroy(dis__net *net);
/* Nothing will be run any more: frees gradients, the optimiser's state and activations; parameters can still be
 * read. */
void dis__net_release_training(dis__net *net);

int dis__net_axis(dis__net *net, size_t max);
/* An axis of packed tokens: rows of different lengths one after another. On devices that record steps counts are
 * rounded up, so that few differ; what is after the tokens is computed and has no effect: its ids are none. */
int dis__net_axis_packed(dis__net *net, size_t max);
/* An axis of rows, rounded up to multiples of `to` on such devices. */
int dis__net_axis_rounded(dis__net *net, size_t max, size_t to);
/* Real values of each batch: a value. */
int dis__net_reals(dis__net *net, const char *name, dis__shape shape);
/* Integers of each batch (ids, lengths, positions): rows x time x per of them. Not a value. */
int dis__net_ints(dis__net *net, const char *name, int rows, int time, size_t per);
/* Inputs by name; DIS_NONE: not found. */
int dis__net_find_reals(const dis__net *net, const char *name);
int dis__net_find_ints(const dis__net *net, const char *name);

/* ids (DIS_NONE id: an id below 0) to rows of a table: (rows, time, 1, per, width). */
int dis__layer_embed(dis__net *net, const char *name, int ids, size_t n_ids, size_t width);
/* The mean of the rows of the first lengths[i] ids of each row (lengths may be DIS_NONE): (rows, width). */
int dis__layer_embed_bag(dis__net *net, const char *name, int ids, int lengths, size_t n_ids, size_t width);
/* Further ids, or bags of them, from the table of `embedded`. */
int dis__layer_embed_again(dis__net *net, int embedded, int ids, int lengths);
/* act(W x + b) over channels. */
int dis__layer_linear(dis__net *net, const char *name, int x, size_t n_out, dis__activation act);
typedef struct {
    size_t size;
    dis__activation act;
    bool bias;
    int tied; /* an embedding's value, whose table (n_out, channels) is used as the matrix; DIS_NONE: own matrix */
} dis__linear_options;
dis__linear_options dis__linear_options_default(void); /* no activation, with bias, not tied */
int dis__layer_linear_with(dis__net *net, const char *name, int x, size_t n_out, const dis__linear_options *options);
/* A linear layer's value goes into a sum of two, as its second, or into a normalisation of two, as its first, and
 * nowhere else: in networks that never train the layer adds to the other where it lies, if that is not needed any
 * more. */
void dis__linear_in_place(dis__net *net, int value, int sum);
int dis__layer_activate(dis__net *net, int x, dis__activation act);
/* y + scale B A x, as LoRA has it, for columns [first, first + n_out) of y, in each of n_parts parts: A (n_parts x
 * rank, channels of x), B (n_parts x n_out, rank), which starts at 0. */
#define DIS_LOW_RANK_PARTS 3
typedef struct {
    size_t size;
    size_t rank;
    double scale;
    size_t n_out; /* 0: all columns of y */
    size_t n_parts, first[DIS_LOW_RANK_PARTS];
} dis__low_rank_options;
dis__low_rank_options dis__low_rank_options_default(void); /* rank 8, scale 2, one part */
int dis__layer_low_rank(dis__net *net, const char *name, int x, int y, const dis__low_rank_options *options);
/* Normalised over channels; of x + residual unless that is DIS_NONE. */
int dis__layer_layernorm(dis__net *net, const char *name, int x, int residual);
typedef struct {
    size_t size;
    double epsilon;
    bool bias;
    bool sample; /* divided by the sample standard deviation + epsilon, instead of sqrt(variance + epsilon) */
} dis__layernorm_options;
dis__layernorm_options dis__layernorm_options_default(void); /* 1e-5, with bias, not of a sample */
int dis__layer_layernorm_with(dis__net *net, const char *name, int x, int residual,
                              const dis__layernorm_options *options);
int dis__layer_dropout(dis__net *net, int x, double rate);
int dis__layer_add(dis__net *net, int x, int y);
/* x sqrt(channels) + the position term of Vaswani et al. (2017) at position 0: 0 at even channels, 1 at odd ones. */
int dis__layer_position(dis__net *net, int x);
/* Concatenated along channels. */
int dis__layer_concat(dis__net *net, const int *values, int n);
/* Reshapes rows without changing rows and time: (height, width, channels) may differ. */
int dis__layer_reshape(dis__net *net, int x, size_t height, size_t width, size_t channels);
/* The mean of the rows of channels of each (time, height, width), weighted by the softmax of their scores (one
 * channel). Scores of tanh layers make it the additive attention of Bahdanau et al. (2015). */
int dis__layer_softmax_pool(dis__net *net, int x, int scores, int lengths);
/* One row of channels of each (time, height, width); lengths (or DIS_NONE) are the numbers of valid rows. */
int dis__layer_pool(dis__net *net, int x, int lengths, dis__pooling kind);
/* LSTM or GRU over time, both directions side by side in channels where `both`; layers stand one on the other, with
 * dropout between them. lengths may be DIS_NONE. (rows, time, hidden or 2 hidden); DIS_POOL_LAST or DIS_POOL_ENDS takes
 * the final states. */
int dis__layer_recurrent(dis__net *net, const char *name, dis__recurrent_cell cell, int x, int lengths, size_t hidden,
                         bool both, int layers, double dropout);
/* The same over rows of a table (dis__layer_table) by ids, below 0: zeros. A table that has fewer rows than a batch has
 * positions is multiplied row by row, not position by position; the parameters are those of an embedding and a
 * recurrent layer. */
int dis__layer_lookup_recurrent(dis__net *net, const char *name, dis__recurrent_cell cell, int ids, int table,
                                int lengths, size_t hidden, bool both, int layers, double dropout);
/* Multi-head self-attention over time with its projections. Where x has no time, attention sees one position: the
 * values alone are projected, and there are no queries and keys. */
int dis__layer_multihead_attention(dis__net *net, const char *name, int x, int lengths, size_t n_heads, double dropout);
/* Self-attention within packed rows of tokens. qkv: (tokens, 3 channels), queries, keys and values side by side, as
 * a linear layer makes them; start and length: ints, one per row. (tokens, channels). */
typedef struct {
    size_t size;
    size_t n_heads;
    size_t longest;  /* tokens of a row */
    double scale;    /* of scores; 0: 1 / sqrt(channels per head) */
    double dropout;  /* of the attention probabilities */
    size_t window;   /* tokens farther apart are masked; 0: none */
    int mask;        /* ints (tokens): 0 masks this token; DIS_NONE: no mask */
    int bias;        /* table (dis__layer_table) of buckets x heads added to scores, by the distance of two tokens;
                       DIS_NONE: none. Several layers may share it */
    size_t farthest; /* distance from which on all share one bucket */
} dis__packed_attention_options;
dis__packed_attention_options dis__packed_attention_options_default(void); /* 1 head, rows up to 512, farthest 128 */
int dis__layer_packed_attention(dis__net *net, const char *name, int qkv, int start, int length,
                                const dis__packed_attention_options *options);
/* Which of n_buckets the distance from query to key falls into: half of them for each side, small distances one
 * each, the others by their logarithm (T5, MPNet). */
int32_t dis__distance_bucket(int32_t distance, int32_t n_buckets, int32_t farthest);
/* One row of channels of each packed row. */
int dis__layer_pool_packed(dis__net *net, int x, int start, int length, dis__pooling kind);
/* A block of an attention encoder, normalised before (or after) attention and feed-forward. */
typedef struct {
    size_t size;
    size_t n_heads, n_feed;
    dis__activation act; /* of the feed-forward layer */
    double dropout;
    bool norm_first;
    dis__layernorm_options norm;
} dis__encoder_options;
dis__encoder_options dis__encoder_options_default(void); /* 1 head, 2048, ReLU, no dropout, normalised before */
int dis__layer_encoder(dis__net *net, const char *name, int x, int lengths, const dis__encoder_options *options);
/* Convolution. Over time, or over the width of a sequence of fixed length (height 1), kernel is that of the one
 * dimension and lengths may say where sequences end; over images it is kernel x kernel. `same`: padded so that stride 1
 * keeps the size; otherwise only where the kernel lies within, which time cannot. */
typedef struct {
    size_t size;
    size_t out, kernel, stride;
    bool same, bias;
    bool he; /* weights are initialized with the variance of He et al. (2015), for ReLU */
    dis__activation act;
} dis__conv_options;
dis__conv_options dis__conv_options_default(void); /* kernel 3, stride 1, same, with bias, no activation */
int dis__layer_conv(dis__net *net, const char *name, int x, int lengths, const dis__conv_options *options);
/* The same over rows of a table (n_ids x width) by ids of a fixed number per row, below 0: zeros. Far less work than an
 * embedding and a convolution where a batch has more positions than the table rows; the parameters are theirs. */
int dis__layer_table(dis__net *net, const char *name, size_t n_ids, size_t width);
int dis__layer_lookup_conv(dis__net *net, const char *name, int ids, int table, const dis__conv_options *options);
/* Max or mean in windows of kernel x kernel (height 1: of kernel). */
int dis__layer_window(dis__net *net, int x, dis__pooling kind, size_t kernel, size_t stride);
/* Every stride-th position, with zeros for further channels on both sides: the shortcut "A" of He et al. (2016). */
int dis__layer_shortcut(dis__net *net, int x, size_t stride, size_t channels);
/* act(batch normalisation of x + residual); residual may be DIS_NONE. GELU is not possible here. */
int dis__layer_batchnorm(dis__net *net, const char *name, int x, int residual, dis__activation act);
/* Rows of x, counted over (rows, time, height, width), gathered by index: (rows of index, channels). */
int dis__layer_gather(dis__net *net, int x, int index);

/* What a vote will be: log sum_k softmax(class_logits)_k softmax(confusion)_{k,z}, (rows, classes); confusion: (rows,
 * classes x classes), class by class. */
int dis__layer_confusion(dis__net *net, int class_logits, int confusion);
/* x with stopped gradient. */
int dis__layer_stop(dis__net *net, int x);

/* The loss of a head. */
typedef struct {
    size_t size;
    dis__loss loss;
    double weight; /* weight of this head in the sum */
    double base;   /* of logarithms; 0: e */
    double floor;  /* of targets, for inverse KL */
} dis__soft_head_options;
dis__soft_head_options dis__soft_head_options_default(void); /* cross-entropy, 1, e, 1e-6 */

/* Returns the index of a head. */
int dis__head_soft(dis__net *net, const char *name, int logits, const dis__soft_head_options *options);

typedef struct {
    size_t size;
    dis__crowd kind;
    double weight;
    bool on_probabilities; /* workers' maps apply to q; otherwise to the logits */
    bool over_all;         /* the mean is over rows x workers, missing votes counting as 0; otherwise over votes */
} dis__crowd_head_options;
dis__crowd_head_options dis__crowd_head_options_default(void); /* MW, 1, on logits, over votes */

/* most_votes: of one batch. */
int dis__head_crowd(dis__net *net, const char *name, int logits, size_t n_workers, size_t max_votes,
                    const dis__crowd_head_options *options);

/* Penalty terms on pairs of rows of the table of `embedded`; the loss is their weighted sum. */
int dis__head_pairs(dis__net *net, const char *name, int embedded, size_t max_pairs);

/* Groups of parameters, by prefixes of their names; before planning. */
void dis__net_freeze(dis__net *net, const char *prefix);                     /* frozen */
void dis__net_rate_factor(dis__net *net, const char *prefix, double factor); /* factor of the learning rate */
void dis__net_set_decay(dis__net *net, const char *prefix, bool decays);     /* whether weight decay applies */
/* Matrices and tables are initialized from a normal distribution with this standard deviation, biases with 0. */
void dis__net_init_normal(dis__net *net, const char *prefix, double sd);
/* Parameters NAME.* are initialized with the values of LIKE.*. */
void dis__net_init_like(dis__net *net, const char *name, const char *like);
/* They are initialized with 0, since the caller sets them: random initialization of a large encoder takes longer than a
 * step. */
void dis__net_zero_params(dis__net *net, const char *prefix);

/* ---- planning ---- */

typedef struct {
    size_t size;
    bool training; /* false: memory for forward only */
    dis__optimizer_options optimizer;
    bool unset; /* parameters stay 0 until the caller sets them */
} dis__plan_options;
dis__plan_options dis__plan_options_default(void); /* for training, Adam */

/* The first failure of building; DIS_ELIMIT when the memory is not there, before any is taken. Sets all parameters to
 * their starts, which depend on the seed and the parameter's name. */
dis_status dis__net_plan(dis__net *net, dis_context *ctx, const dis__plan_options *options);
size_t dis__net_bytes(const dis__net *net);        /* bytes of the plan */
size_t dis__net_n_parameters(const dis__net *net); /* number of trained weights */

/* From now on the network runs in this context. False: it has more threads than the network was planned for, and
 * nothing is done. */
bool dis__net_set_context(dis__net *net, dis_context *ctx);

/* ---- batches ---- */

/* n: 0 .. the axis' maximum. */
void dis__net_resize(dis__net *net, int axis, size_t n);
size_t dis__net_rows(const dis__net *net, int value); /* rows x time x height x width of the current batch */
/* The shape of a value; NULL after a build error. */
const dis__shape *dis__net_shape(const dis__net *net, int value);
/* Devices that record steps gain where sizes of batches repeat: n rounded up to a multiple of `to` there, n on others.
 * A caller that asks fills up what he puts. */
size_t dis__net_round(const dis__net *net, size_t n, size_t to);
/* Copies as many values as the value or input has in this batch. */
dis_status dis__net_put(dis__net *net, int value, const float *x);
dis_status dis__net_put_row(dis__net *net, int value, size_t row, const float *x);
dis_status dis__net_put_exact(dis__net *net, int value, const double *x);
dis_status dis__net_put_ints(dis__net *net, int ints, const int32_t *x);
/* The same if x includes padding after the batch, up to the computed size (dis__net_filled). */
dis_status dis__net_put_filled(dis__net *net, int ints, const int32_t *x);
/* Targets (rows, classes) and weights (rows; NULL: 1; 0: no target). Each row must sum to 1. */
dis_status dis__head_put_targets(dis__net *net, int head, const float *target, const float *weight);
dis_status dis__head_put_exact(dis__net *net, int head, const double *target, const double *weight);
/* One label per row, below 0: none. Equivalent to one-hot targets. */
dis_status dis__head_put_labels(dis__net *net, int head, const int32_t *label);
/* Votes sorted by row; DIS_EUSAGE if they are unsorted or out of range. */
dis_status dis__head_put_votes(dis__net *net, int head, size_t n, const int32_t *row, const int32_t *worker,
                               const int32_t *label);
/* pair: (n, 3), rows a and b and dis__pair_kind; DIS_EUSAGE if they are out of range. */
dis_status dis__head_put_pairs(dis__net *net, int head, size_t n, const int32_t *pair, const float *weight);
/* The head has no targets in this batch, or (prediction) never: only q is computed. */
void dis__head_clear_targets(dis__net *net, int head);
/* What the head's losses are summed up and divided by; 0 (the start): the sum of the weights or votes of the batch. For
 * adding up gradients over several passes. */
void dis__head_set_norm(dis__net *net, int head, double norm);
void dis__head_set_weight(dis__net *net, int head, double weight);

/* ---- batches by index ---- */

/* Arrays that stay as they are while the network is used, of which batches are rows: the device keeps a copy, made
 * once, where its memory is not the host's and a quarter of what is free of it is enough. *kept: where, or NULL:
 * batches are to be put as above. `of` tells arrays apart, mostly where they are on the host; NULL: not to be kept. */
dis_status dis__net_upload_reals(dis__net *net, dis__role role, const void *of, const float *x, size_t n,
                                 const void **uploaded);
dis_status dis__net_upload_ints(dis__net *net, const void *of, const int32_t *x, size_t n, const void **uploaded);
/* Whether this was decided already, for callers that would have to compute the values first. */
bool dis__net_find_upload(const dis__net *net, const void *of, const void **uploaded);

/* Instead of dis__net_put: as many rows as the value has now, by their numbers. `moved`: (row, dy, dx, mirror) of
 * images, shifted by so much and perhaps mirrored. */
dis_status dis__net_gather_reals(dis__net *net, int value, const void *uploaded, const int32_t *row, bool moved);
/* Instead of dis__net_put_ints: spans (from, to, n, room): numbers from .. of the array go to `to` .., -1 after them
 * up to `room`; together they fill all that is computed (dis__net_filled). */
dis_status dis__net_gather_ints(dis__net *net, int ints, const void *uploaded, const int32_t (*span)[4], size_t n);
size_t dis__net_filled(const dis__net *net, int ints); /* integers of an input, rounded up */
/* Instead of dis__head_put_targets and _labels; counted: the sum of the weights, the number of labels. */
dis_status dis__head_gather_targets(dis__net *net, int head, const void *target, const void *weight, const int32_t *row,
                                    double counted);
dis_status dis__head_gather_labels(dis__net *net, int head, const void *label, const int32_t *row, double counted);

/* ---- running ---- */

/* training: dropout and batch statistics, drawn for this pass. */
dis_status dis__net_forward(dis__net *net, bool training);
dis_status dis__net_backward(dis__net *net);
/* One step of the optimiser at this rate; gradients are 0 afterwards. */
dis_status dis__net_step(dis__net *net, double rate);

/* One step of training: forward, backward, and where `update` is set a step of the optimiser at this rate. A device may
 * record it and replay it for later batches of the same sizes. */
dis_status dis__net_train(dis__net *net, double rate, bool update);

/* Losses are on the device; reading one waits for it. */
dis_status dis__net_get_loss(const dis__net *net, double *loss); /* of the last forward: the weighted sum */
double dis__net_loss(const dis__net *net);                       /* the same; NaN: it could not be read */
double dis__head_loss(const dis__net *net, int head);            /* the mean of one head; 0 if no row counted */
/* Ranks that train one network together, each on its part of a batch: gradients become the sums of those of all
 * ranks, and statistics their means, before the step of the optimiser. A rank without a part of a batch skips it;
 * what dropout leaves out differs from rank to rank. */
struct dis__comm;
/* Before the first of them: ranks find out whether their devices can add up among themselves. *by says what does it, or
 * why the host has to; valid as long as the network. */
dis_status dis__net_join_ranks(dis__net *net, const struct dis__comm *comm, const char **by);
dis_status dis__net_share_gradients(dis__net *net, const struct dis__comm *comm);
dis_status dis__net_share_statistics(dis__net *net, const struct dis__comm *comm);
void dis__net_skip_pass(dis__net *net);
void dis__net_set_rank(dis__net *net, int rank);

/* The sum of the losses of all training passes since it was reset. */
dis_status dis__net_get_loss_sum(const dis__net *net, double *sum);
dis_status dis__net_set_loss_sum(dis__net *net, double sum);
/* q of a head, (rows, classes). */
dis_status dis__head_get(const dis__net *net, int head, double *q);
dis_status dis__net_get(const dis__net *net, int value, double *x);
/* The first rows, of the last pass: the next batch may be there already, so that a device has no need to wait for it.
 * raw: bytes as the device has them, at most those of doubles; numbers [first, first + n) are decoded from there. */
dis_status dis__net_fetch(const dis__net *net, int value, size_t n_rows, void *raw);
void dis__net_decode(const dis__net *net, const void *raw, size_t first, size_t n, float *x);
size_t dis__head_rows(const dis__net *net, int head); /* of the batch */
dis_status dis__head_get_rows(const dis__net *net, int head, size_t n_rows, double *q);
dis_status dis__net_get_grad(const dis__net *net, int value, double *x);

/* ---- parameters ---- */

typedef struct {
    char name[DIS_NET_NAME];
    size_t n_dims, dim[DIS_PARAM_DIMS], n;
    bool trained; /* false: frozen, or statistics */
} dis__param_info;
size_t dis__net_n_params(const dis__net *net);
const dis__param_info *dis__net_param(const dis__net *net, size_t param);
size_t dis__net_find_param(const dis__net *net, const char *name); /* SIZE_MAX: not found */
dis_status dis__param_get(const dis__net *net, size_t param, double *x);
dis_status dis__param_get_floats(const dis__net *net, size_t param, float *x);
/* A copy of all parameters as they are, on a device whose memory is not the host's. false: it has no room for it, and
 * nothing is kept. */
bool dis__net_save_params_copy(dis__net *net);
/* That copy and the parameters change positions, to be read: to be called twice, with nothing run or written
 * between. */
void dis__net_swap_params_copy(dis__net *net);
dis_status dis__param_get_grad(const dis__net *net, size_t param, double *x);
dis_status dis__param_put(dis__net *net, size_t param, const double *x);
/* All of it. A network that only predicts may reference x, which must then outlive the network. */
dis_status dis__param_use(dis__net *net, size_t param, const float *x);
/* Rows [first, first + n) of dim[0] in the same way. */
dis_status dis__param_use_rows(dis__net *net, size_t param, size_t first, size_t n, const float *x);
dis_status dis__param_put_rows(dis__net *net, size_t param, size_t first, size_t n,
                               const float *x); /* rows of dim[0] */

/* ---- checkpoints ---- */

/* The optimiser's state and step, for another network to continue; zeroed: none. Freed by dis__moments_free(). */
typedef struct {
    size_t n;
    struct dis__moment *param;
    uint64_t steps;
} dis__moments;
dis_status dis__net_get_moments(const dis__net *net, dis__moments *moments); /* replaces the stored ones */
dis_status dis__net_put_moments(dis__net *net, const dis__moments *moments);
void dis__moments_free(dis__moments *moments);

/* Parameters, optimiser state and the step to a safetensors file with a checksum, whole or not at all. `extra`:
 * pairs of key and text kept with it. */
dis_status dis__net_save(const dis__net *net, const char *path, bool with_state, const char *const (*extra)[2],
                         size_t n_extra);
/* Fills a planned network of the same shape. DIS_EDATA: cut off, changed, or of another network; the network is then
 * unchanged. */
dis_status dis__net_load(dis__net *net, dis_context *ctx, const char *path);
uint64_t dis__net_steps(const dis__net *net);

#endif
