/* Layers of annotator models: votes through a confusion matrix per row, a stop-gradient, and the head of penalty terms
 * on rows of a table (workers' vectors). Sources and formulas: nn/loops/annotator_loops.h. */
#include "nn/net_internal.h"

/* ---- confusion ---- */

static dis__confusion_args arguments(const dis__net *net, const dis__layer *layer)
{
    return (dis__confusion_args){.n_rows = dis__padded_rows(net, layer->out),
                                 .n_classes = dis__shape_of(net, layer->out)->channels,
                                 .class_logits = dis__data(net, layer->in[0]),
                                 .confusion = dis__data(net, layer->in[1]),
                                 .y = dis__data(net, layer->out)};
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const dis__confusion_args args = {.n_rows = dis__max_rows(net, layer->out),
                                      .n_classes = dis__shape_of(net, layer->out)->channels};
    dis__layer_runs(net, DIS_OP_confusion, &args);
    dis__layer_runs(net, DIS_OP_confusion_grad, &args);
    return DIS_OK;
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const dis__confusion_args args = arguments(net, layer);
    return dis__op_run(net, DIS_OP_confusion, &args);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    dis__confusion_args args = arguments(net, layer);
    args.dy = dis__grad(net, layer->out);
    args.d_class = dis__grad(net, layer->in[0]);
    args.add_class = layer->adds[0];
    args.d_confusion = dis__grad(net, layer->in[1]);
    args.add_confusion = layer->adds[1];
    return dis__op_run(net, DIS_OP_confusion_grad, &args);
}

static const dis__layer_kind confusion_kind = {.name = "confusion",
                                               .plan = plan,
                                               .forward = forward,
                                               .backward = backward};

int dis__layer_confusion(dis__net *net, int class_logits, int confusion)
{
    if (class_logits < 0 || confusion < 0) return dis__net_build_error(net, DIS_EBUG, "confusion: no input");
    const dis__shape shape = *dis__shape_of(net, class_logits), *c = dis__shape_of(net, confusion);
    if (c->rows != shape.rows || c->time != shape.time || c->channels != shape.channels * shape.channels)
        return dis__net_build_error(net, DIS_EUSAGE, "confusion: a matrix of classes by classes per row is needed");
    dis__layer *layer = dis__net_layer(net, &confusion_kind, "confusion", (int[]){class_logits, confusion}, 2, &shape);
    return layer ? layer->out : DIS_NONE;
}

/* ---- a value without a gradient ---- */

static size_t n_numbers(const dis__net *net, int value)
{
    return dis__padded_rows(net, value) * dis__shape_of(net, value)->channels;
}

static dis_status stop_forward(dis__net *net, dis__layer *layer)
{
    if (layer->passes) return DIS_OK;
    const dis__copy_columns_args copy = {.n_rows = 1,
                                         .from = dis__data(net, layer->in[0]),
                                         .to = dis__data(net, layer->out),
                                         .width = n_numbers(net, layer->out)};
    return dis__op_run(net, DIS_OP_copy_columns, &copy);
}

static dis_status stop_backward(dis__net *net, dis__layer *layer)
{
    void *grad = dis__grad(net, layer->in[0]);
    if (!grad || layer->adds[0]) return DIS_OK;
    return dis__zero(net, grad, n_numbers(net, layer->in[0]) * dis__number_bytes(net, DIS_ROLE_VALUE));
}

static bool always(const dis__net *net, const dis__layer *layer)
{
    (void)net;
    (void)layer;
    return true;
}

static bool reads_nothing(const dis__net *net, const dis__layer *layer, int value)
{
    (void)net;
    (void)layer;
    (void)value;
    return false;
}

static const dis__layer_kind stop_kind = {
    .name = "stop", .passes = always, .forward = stop_forward, .backward = stop_backward, .reads = reads_nothing};

int dis__layer_stop(dis__net *net, int x)
{
    if (x < 0) return dis__net_build_error(net, DIS_EBUG, "stop: no input");
    const dis__shape shape = *dis__shape_of(net, x);
    dis__layer *layer = dis__net_layer(net, &stop_kind, "stop", &x, 1, &shape);
    return layer ? layer->out : DIS_NONE;
}

/* ---- terms of pairs of rows ---- */

typedef struct {
    dis__head head;
    size_t max_pairs, n_pairs, n_rows, width;
} pairs;

enum { LOSS, SLOPE, PAIR, WEIGHT };
enum { ROUND = 32 }; /* pairs, on a device that records steps */

static dis_status plan_pairs(dis__net *net, dis__layer *layer)
{
    pairs *p = layer->own;
    const size_t rows = dis__saturating_size(p->max_pairs, dis__number_bytes(net, DIS_ROLE_STAT), 0);
    const dis__pair_terms_args args = {.n_pairs = p->max_pairs, .width = p->width};
    dis__layer_runs(net, DIS_OP_pair_terms, &args);
    dis__layer_runs(net, DIS_OP_pair_terms_grad, &args);
    DIS_TRY(dis__layer_work(net, layer, rows, DIS_WORK_RESULT));
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(rows, 3, 0), DIS_WORK_SAVED));
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(p->max_pairs, 3 * sizeof(int32_t), 0), DIS_WORK_BATCH));
    return dis__layer_work(net, layer, rows, DIS_WORK_BATCH);
}

static dis_status prepare_pairs(dis__net *net, dis__layer *layer)
{
    const pairs *p = layer->own;
    dis__key_add(net, p->head.has_targets ? p->n_pairs : 0);
    return DIS_OK;
}

static dis__pair_terms_args pair_arguments(const dis__net *net, const dis__layer *layer)
{
    const pairs *p = layer->own;
    return (dis__pair_terms_args){.n_pairs = p->head.has_targets ? p->n_pairs : 0,
                                  .width = p->width,
                                  .table = dis__param_of(net, layer, 0),
                                  .pair = layer->work[PAIR],
                                  .weight = layer->work[WEIGHT],
                                  .loss = layer->work[LOSS],
                                  .slope = layer->work[SLOPE],
                                  .scale = &dis__scalars_of(net, layer)->scale};
}

static dis_status pairs_forward(dis__net *net, dis__layer *layer)
{
    const dis__pair_terms_args args = pair_arguments(net, layer);
    if (args.n_pairs == 0) return DIS_OK;
    DIS_TRY(dis__op_run(net, DIS_OP_pair_terms, &args));
    return dis__head_sum(net, layer, args.loss, args.n_pairs);
}

static dis_status pairs_backward(dis__net *net, dis__layer *layer)
{
    dis__pair_terms_args args = pair_arguments(net, layer);
    args.d_table = dis__param_grad(net, layer, 0);
    return args.n_pairs && args.d_table ? dis__op_run(net, DIS_OP_pair_terms_grad, &args) : DIS_OK;
}

static const dis__layer_kind pairs_kind = {.name = "pair terms",
                                           .own = sizeof(pairs),
                                           .plan = plan_pairs,
                                           .prepare = prepare_pairs,
                                           .forward = pairs_forward,
                                           .backward = pairs_backward};

int dis__head_pairs(dis__net *net, const char *name, int embedded, size_t max_pairs)
{
    const dis__layer *first = dis__embed_layer(net, embedded);
    if (!first) return dis__net_build_error(net, DIS_EBUG, "%s: no table", name);
    const size_t table = first->param[0];
    dis__layer *layer = dis__net_layer(net, &pairs_kind, name, NULL, 0, NULL);
    if (!layer) return DIS_NONE;
    const dis__param_info *info = &net->params[table].info;
    *(pairs *)layer->own = (pairs){.head = {.weight = 1, .logits = DIS_NONE},
                                   .max_pairs = max_pairs ? max_pairs : 1,
                                   .n_rows = info->dim[0],
                                   .width = info->dim[1]};
    layer->param[layer->n_params++] = table;
    return dis__net_head(net, layer);
}

/* Padding pairs of weight 0 after the given ones, so that few different sizes occur. */
static dis_status pad_pairs(dis__net *net, const dis__layer *layer, size_t n)
{
    static const float weight[ROUND];
    static const int32_t pair[3 * ROUND];
    const size_t more = ((const pairs *)layer->own)->n_pairs - n, real = dis__number_bytes(net, DIS_ROLE_STAT);
    DIS_TRY(dis__put_floats(net, DIS_ROLE_STAT, (char *)layer->work[WEIGHT] + n * real, weight, more));
    return dis__copy_in(net, (int32_t *)layer->work[PAIR] + 3 * n, pair, 3 * more * sizeof *pair);
}

dis_status dis__head_put_pairs(dis__net *net, int head, size_t n, const int32_t *pair, const float *weight)
{
    dis__layer *layer = &net->layers[net->heads[head]];
    pairs *p = layer->own;
    if (n > p->max_pairs)
        return dis__fail(DIS_EUSAGE, "%s: %zu pairs in a batch; it was planned for %zu", layer->name, n, p->max_pairs);
    for (size_t i = 0; i < n; i++)
        if (pair[3 * i] < 0 || pair[3 * i + 1] < 0 || (size_t)pair[3 * i] >= p->n_rows ||
            (size_t)pair[3 * i + 1] >= p->n_rows || pair[3 * i + 2] < 0 || pair[3 * i + 2] >= DIS_N_PAIRS)
            return dis__fail(DIS_EUSAGE, "%s: pair %zu is out of range", layer->name, i);
    const size_t rounded = dis__net_round(net, n, ROUND);
    p->n_pairs = rounded < p->max_pairs ? rounded : p->max_pairs;
    p->head.has_targets = n > 0;
    p->head.counted = 1;
    if (!n) return DIS_OK;
    DIS_TRY(dis__put_floats(net, DIS_ROLE_STAT, layer->work[WEIGHT], weight, n));
    DIS_TRY(dis__copy_in(net, layer->work[PAIR], pair, 3 * n * sizeof *pair));
    return pad_pairs(net, layer, n);
}
