/* The head of one task: q = softmax(logits), and the weighted mean loss to targets that are hard, soft or missing. O(K)
 * per row. Row losses are added up on the device, in double, in order. */
#include "nn/net_internal.h"
#include <math.h>

typedef struct {
    dis__head head;
    dis__loss loss;
    double per_log_base, floor;
} soft_head;

enum { Q, ROW_LOSS, TARGET, WEIGHT, LABEL };

dis__soft_head_options dis__soft_head_options_default(void)
{
    return (dis__soft_head_options){.size = sizeof(dis__soft_head_options),
                                    .loss = DIS_LOSS_CE,
                                    .weight = 1,
                                    .floor = 1e-6};
}

static dis__soft_loss_args arguments(const dis__net *net, const dis__layer *layer)
{
    const soft_head *h = layer->own;
    return (dis__soft_loss_args){
        .kind = h->loss,
        .n_rows = dis__padded_rows(net, layer->in[0]),
        .n_classes = h->head.n_classes,
        .logits = dis__data(net, layer->in[0]),
        .target = h->head.has_targets ? layer->work[TARGET] : NULL,
        .weight = layer->work[WEIGHT],
        .q = layer->work[Q],
        .loss = layer->work[ROW_LOSS],
        .per_log_base = h->per_log_base,
        .floor = h->floor,
        .scale = &dis__scalars_of(net, layer)->scale,
    };
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const soft_head *h = layer->own;
    const size_t max = dis__max_rows(net, layer->in[0]), k = h->head.n_classes;
    const size_t rows = dis__saturating_size(max, dis__number_bytes(net, DIS_ROLE_STAT), 0);
    const dis__soft_loss_args args = {.n_rows = max, .n_classes = k};
    dis__layer_runs(net, DIS_OP_soft_loss, &args);
    dis__layer_runs(net, DIS_OP_soft_loss_grad, &args);
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(rows, k, 0), DIS_WORK_RESULT));
    DIS_TRY(dis__layer_work(net, layer, rows, DIS_WORK_RESULT));
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(rows, k, 0), DIS_WORK_BATCH));
    DIS_TRY(dis__layer_work(net, layer, rows, DIS_WORK_BATCH));
    return dis__layer_work(net, layer, dis__saturating_size(max, sizeof(int32_t), 0), DIS_WORK_BATCH);
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    soft_head *h = layer->own;
    const dis__soft_loss_args args = arguments(net, layer);
    h->head.q = layer->work[Q];
    DIS_TRY(dis__op_run(net, DIS_OP_soft_loss, &args));
    return dis__head_sum(net, layer, args.loss, args.n_rows);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    dis__soft_loss_args args = arguments(net, layer);
    args.d_logits = dis__grad(net, layer->in[0]);
    args.add = layer->adds[0];
    return args.d_logits ? dis__op_run(net, DIS_OP_soft_loss_grad, &args) : DIS_OK;
}

static const dis__layer_kind soft_kind = {
    .name = "soft head", .own = sizeof(soft_head), .plan = plan, .forward = forward, .backward = backward};

int dis__head_soft(dis__net *net, const char *name, int logits, const dis__soft_head_options *options)
{
    if (logits < 0) return dis__net_build_error(net, DIS_EBUG, "%s: no logits", name);
    const dis__soft_head_options o = options ? *options : dis__soft_head_options_default();
    if (o.base != 0 && !(o.base > 1))
        return dis__net_build_error(net, DIS_EUSAGE, "%s: logarithms to base %g", name, o.base);
    if (o.loss == DIS_LOSS_INVERSE_KL && !(o.floor > 0 && o.floor < 1))
        return dis__net_build_error(net, DIS_EUSAGE, "%s: a floor of %g; inverse KL needs one in (0, 1)", name,
                                    o.floor);
    const size_t n_classes = dis__shape_of(net, logits)->channels;
    dis__layer *layer = dis__net_layer(net, &soft_kind, name, &logits, 1, NULL);
    if (!layer) return DIS_NONE;
    *(soft_head *)layer->own = (soft_head){
        .head = {.n_classes = n_classes, .weight = o.weight, .logits = logits},
        .loss = o.loss,
        .per_log_base = o.base == 0 ? 1 : 1 / log(o.base),
        .floor = o.floor,
    };
    return dis__net_head(net, layer);
}

/* ---- targets ---- */

static void stop_feeds(dis__net *net, const dis__layer *layer)
{
    static const int filled[DIS_HEAD_FEEDS] = {TARGET, WEIGHT, LABEL};
    for (int i = 0; i < DIS_HEAD_FEEDS; i++) dis__feed_stop(net, layer->work[filled[i]]);
}

static dis__layer *open_targets(dis__net *net, int head, size_t *rows)
{
    dis__layer *layer = &net->layers[net->heads[head]];
    dis__head *h = layer->own;
    *rows = dis__net_rows(net, layer->in[0]);
    h->has_targets = true;
    h->counted = 0;
    stop_feeds(net, layer);
    return layer;
}

/* Rows after those of the batch have weight 0. */
static dis_status end_targets(dis__net *net, dis__layer *layer, size_t rows)
{
    const size_t real = dis__number_bytes(net, DIS_ROLE_STAT);
    return dis__zero(net, dis__offset_role(net, DIS_ROLE_STAT, layer->work[WEIGHT], rows),
                     (dis__padded_rows(net, layer->in[0]) - rows) * real);
}

/* A weight of 1 for each row. */
static dis_status put_ones(dis__net *net, dis__layer *layer, size_t rows)
{
    const dis__start_args ones = {.kind = DIS_START_ONE, .n = rows, .side = 1, .y = layer->work[WEIGHT]};
    ((dis__head *)layer->own)->counted = (double)rows;
    return dis__op_run(net, DIS_OP_start, &ones);
}

dis_status dis__head_put_targets(dis__net *net, int head, const float *target, const float *weight)
{
    size_t rows;
    dis__layer *layer = open_targets(net, head, &rows);
    dis__head *h = layer->own;
    for (size_t i = 0; weight && i < rows; i++) h->counted += (double)weight[i];
    DIS_TRY(weight ? dis__put_floats(net, DIS_ROLE_STAT, layer->work[WEIGHT], weight, rows)
                   : put_ones(net, layer, rows));
    DIS_TRY(dis__put_floats(net, DIS_ROLE_STAT, layer->work[TARGET], target, rows * h->n_classes));
    return end_targets(net, layer, rows);
}

dis_status dis__head_put_exact(dis__net *net, int head, const double *target, const double *weight)
{
    size_t rows;
    dis__layer *layer = open_targets(net, head, &rows);
    dis__head *h = layer->own;
    for (size_t i = 0; weight && i < rows; i++) h->counted += weight[i];
    DIS_TRY(weight ? dis__put_doubles(net, DIS_ROLE_STAT, layer->work[WEIGHT], weight, rows)
                   : put_ones(net, layer, rows));
    DIS_TRY(dis__put_doubles(net, DIS_ROLE_STAT, layer->work[TARGET], target, rows * h->n_classes));
    return end_targets(net, layer, rows);
}

dis_status dis__head_put_labels(dis__net *net, int head, const int32_t *label)
{
    size_t rows;
    dis__layer *layer = open_targets(net, head, &rows);
    dis__head *h = layer->own;
    for (size_t i = 0; i < rows; i++) h->counted += label[i] >= 0 && (size_t)label[i] < h->n_classes;
    DIS_TRY(dis__copy_in(net, layer->work[LABEL], label, rows * sizeof *label));
    const dis__one_hot_args args = {.n_rows = rows,
                                    .n_classes = h->n_classes,
                                    .label = layer->work[LABEL],
                                    .target = layer->work[TARGET],
                                    .weight = layer->work[WEIGHT]};
    DIS_TRY(dis__op_run(net, DIS_OP_one_hot, &args));
    return end_targets(net, layer, rows);
}

/* Copies rows of an array to memory of the head; `row` NULL: the rows of `like`. */
static dis_status gather_rows(dis__net *net, dis__layer *layer, int to, const dis__batch_rows_args *what,
                              const int32_t *row)
{
    dis__batch_rows_args args = *what;
    args.y = layer->work[to];
    args.n_rows = dis__padded_rows(net, layer->in[0]);
    args.height = args.width = 1;
    return dis__feed_rows(net, &args, row, dis__net_rows(net, layer->in[0]), dis__max_rows(net, layer->in[0]));
}

dis_status dis__head_gather_targets(dis__net *net, int head, const void *target, const void *weight, const int32_t *row,
                                    double counted)
{
    size_t rows;
    dis__layer *layer = open_targets(net, head, &rows);
    dis__head *h = layer->own;
    h->counted = counted;
    dis__batch_rows_args args = {.x = target, .size = dis__number_bytes(net, DIS_ROLE_STAT), .channels = h->n_classes};
    DIS_TRY(gather_rows(net, layer, TARGET, &args, row));
    args = (dis__batch_rows_args){.x = weight, .size = args.size, .channels = 1};
    args.row = dis__feed_index(net, layer->work[TARGET]);
    return gather_rows(net, layer, WEIGHT, &args, NULL);
}

dis_status dis__head_gather_labels(dis__net *net, int head, const void *label, const int32_t *row, double counted)
{
    size_t rows;
    dis__layer *layer = open_targets(net, head, &rows);
    dis__head *h = layer->own;
    h->counted = counted;
    const dis__batch_rows_args args = {.x = label, .size = sizeof(int32_t), .channels = 1, .fill = 0xff};
    DIS_TRY(gather_rows(net, layer, LABEL, &args, row));
    const dis__one_hot_args hot = {.n_rows = dis__padded_rows(net, layer->in[0]),
                                   .n_classes = h->n_classes,
                                   .label = layer->work[LABEL],
                                   .target = layer->work[TARGET],
                                   .weight = layer->work[WEIGHT]};
    return dis__feed_one_hot(net, &hot);
}

void dis__head_clear_targets(dis__net *net, int head)
{
    dis__layer *layer = &net->layers[net->heads[head]];
    ((dis__head *)layer->own)->has_targets = false;
    if (layer->kind == &soft_kind) stop_feeds(net, layer);
}
