/* The head of one task: q = softmax(logits), and the weighted mean loss to targets that are hard, soft or missing. O(K) a
 * row. Row losses come back in the device's numbers and are added up here in double, in order. */
#include "nn/net_inside.h"
#include <math.h>
#include <string.h>

typedef struct {
    dis__head head;
    dis__loss loss;
    double per_log_base, floor;
    bool has_targets;
    double total; /* of the weights of this batch */
} soft_head;

enum { Q, ROW_LOSS, TARGET, WEIGHT };

dis__soft_head_options dis__soft_head_options_default(void)
{
    return (dis__soft_head_options){.size = sizeof(dis__soft_head_options),
                                    .loss = DIS_LOSS_CE,
                                    .weight = 1,
                                    .floor = 1e-6};
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const soft_head *h = layer->own;
    const size_t rows = dis__size(dis__most_rows(net, layer->in[0]), net->device->real, 0);
    DIS_TRY(dis__layer_work(net, layer, dis__size(rows, h->head.n_classes, 0), DIS_WORK_RESULT));
    DIS_TRY(dis__layer_work(net, layer, rows, DIS_WORK_RESULT));
    DIS_TRY(dis__layer_work(net, layer, dis__size(rows, h->head.n_classes, 0), DIS_WORK_BATCH));
    DIS_TRY(dis__layer_work(net, layer, rows, DIS_WORK_BATCH));
    dis__layer_scratch(net, dis__size(h->head.n_classes, net->device->real, 0));
    return DIS_OK;
}

static dis__soft_loss_args arguments(const dis__net *net, const dis__layer *layer)
{
    const soft_head *h = layer->own;
    return (dis__soft_loss_args){
        .kind = h->loss,
        .n_classes = h->head.n_classes,
        .logits = dis__data(net, layer->in[0]),
        .target = h->has_targets ? layer->work[TARGET] : NULL,
        .weight = layer->work[WEIGHT],
        .q = layer->work[Q],
        .loss = layer->work[ROW_LOSS],
        .per_log_base = h->per_log_base,
        .floor = h->floor,
    };
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    soft_head *h = layer->own;
    const size_t rows = dis__net_rows(net, layer->in[0]);
    const dis__soft_loss_args args = arguments(net, layer);
    h->head.q = layer->work[Q];
    h->head.loss = h->head.scale = 0;
    DIS_TRY(dis__op_run(net, DIS_OP_soft_loss, &args, rows, 16 * h->head.n_classes));
    const double norm = h->head.norm > 0 ? h->head.norm : h->total;
    if (!h->has_targets || !(norm > 0)) return DIS_OK;
    h->head.loss = dis__sum_rows(net, layer->work[ROW_LOSS], rows) / norm;
    h->head.scale = h->head.weight / norm;
    return DIS_OK;
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const soft_head *h = layer->own;
    if (h->head.scale == 0 || !dis__grad(net, layer->in[0])) return DIS_OK;
    dis__soft_loss_args args = arguments(net, layer);
    args.scale = h->head.scale;
    args.d_logits = dis__grad(net, layer->in[0]);
    args.add = dis__grad_adds(net, layer->in[0]);
    return dis__op_run(net, DIS_OP_soft_loss_grad, &args, dis__net_rows(net, layer->in[0]), 8 * args.n_classes);
}

static const dis__layer_kind soft_kind = {
    .name = "soft head", .own = sizeof(soft_head), .plan = plan, .forward = forward, .backward = backward};

int dis__head_soft(dis__net *net, const char *name, int logits, const dis__soft_head_options *options)
{
    if (logits < 0) return dis__net_bad(net, DIS_EBUG, "%s: no logits", name);
    const dis__soft_head_options o = options ? *options : dis__soft_head_options_default();
    if (o.base != 0 && !(o.base > 1)) return dis__net_bad(net, DIS_EUSAGE, "%s: logarithms to base %g", name, o.base);
    if (o.loss == DIS_LOSS_INVERSE_KL && !(o.floor > 0 && o.floor < 1))
        return dis__net_bad(net, DIS_EUSAGE, "%s: a floor of %g; inverse KL needs one in (0, 1)", name, o.floor);
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

static dis__layer *open_targets(dis__net *net, int head, size_t *rows)
{
    dis__layer *layer = &net->layers[net->heads[head]];
    soft_head *h = layer->own;
    *rows = dis__net_rows(net, layer->in[0]);
    h->has_targets = true;
    h->total = 0;
    return layer;
}

void dis__head_put_targets(dis__net *net, int head, const float *target, const float *weight)
{
    size_t rows;
    dis__layer *layer = open_targets(net, head, &rows);
    soft_head *h = layer->own;
    for (size_t i = 0; i < rows; i++) {
        dis__set_number(net, layer->work[WEIGHT], i, weight ? (double)weight[i] : 1);
        h->total += weight ? (double)weight[i] : 1;
    }
    for (size_t i = 0; i < rows * h->head.n_classes; i++)
        dis__set_number(net, layer->work[TARGET], i, (double)target[i]);
}

void dis__head_put_exact(dis__net *net, int head, const double *target, const double *weight)
{
    size_t rows;
    dis__layer *layer = open_targets(net, head, &rows);
    soft_head *h = layer->own;
    for (size_t i = 0; i < rows; i++) {
        dis__set_number(net, layer->work[WEIGHT], i, weight ? weight[i] : 1);
        h->total += weight ? weight[i] : 1;
    }
    for (size_t i = 0; i < rows * h->head.n_classes; i++) dis__set_number(net, layer->work[TARGET], i, target[i]);
}

void dis__head_put_labels(dis__net *net, int head, const int32_t *label)
{
    size_t rows;
    dis__layer *layer = open_targets(net, head, &rows);
    soft_head *h = layer->own;
    memset(layer->work[TARGET], 0, rows * h->head.n_classes * net->device->real);
    for (size_t i = 0; i < rows; i++) {
        const bool there = label[i] >= 0 && (size_t)label[i] < h->head.n_classes;
        dis__set_number(net, layer->work[WEIGHT], i, there);
        h->total += there;
        if (there) dis__set_number(net, layer->work[TARGET], i * h->head.n_classes + (size_t)label[i], 1);
    }
}

void dis__soft_head_clear(dis__layer *layer)
{
    ((soft_head *)layer->own)->has_targets = false;
}
