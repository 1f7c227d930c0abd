/* The crowd layer of Rodrigues & Pereira (2018): each worker's own map from q = softmax(logits) to the logits of that
 * worker's vote, learned with the net. MW has a matrix a worker (start: the identity), VW a vector (ones), VB a bias
 * (zeros), VW+B both, SW one number (1). Votes are sparse: O(K^2) a vote for MW, O(K) for the others, never rows x
 * workers. q itself is what is predicted.
 *
 * Gradients of a worker's parameters are summed over that worker's votes in one job, in the order of the votes. */
#include "nn/net_inside.h"
#include <string.h>

typedef struct {
    dis__head head;
    dis__crowd kind;
    bool over_all, has_matrix, has_bias;
    size_t n_workers, most_votes, n_votes, n_groups;
    int32_t *row, *worker, *label, *order, *group_start; /* of votes; in one block */
    int32_t *row_start;                                  /* (rows + 1) */
    int32_t *count;                                      /* (workers + 1) */
} crowd;

enum { Q, ROW_LOSS, VOTE_GRAD, WASTE };

dis__crowd_head_options dis__crowd_head_options_default(void)
{
    return (dis__crowd_head_options){.size = sizeof(dis__crowd_head_options), .kind = DIS_CROWD_MW, .weight = 1};
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    crowd *h = layer->own;
    const size_t real = net->device->real, rows = dis__most_rows(net, layer->in[0]), k = h->head.n_classes;
    DIS_TRY(dis__layer_work(net, layer, dis__size(dis__size(rows, real, 0), k, 0), DIS_WORK_RESULT));
    DIS_TRY(dis__layer_work(net, layer, dis__size(rows, real, 0), DIS_WORK_RESULT));
    DIS_TRY(dis__layer_work(net, layer, dis__size(dis__size(h->most_votes, real, 0), k, 0), DIS_WORK_BACKWARD));
    DIS_TRY(dis__layer_work(net, layer, dis__size(dis__size(rows, real, 0), k, 0), DIS_WORK_BACKWARD));
    dis__layer_scratch(net, dis__size(k, 3 * real, 0));
    DIS_TRY(dis__alloc_array(&h->row, dis__size(h->most_votes, 5, 1), sizeof *h->row));
    h->worker = h->row + h->most_votes;
    h->label = h->worker + h->most_votes;
    h->order = h->label + h->most_votes;
    h->group_start = h->order + h->most_votes;
    DIS_TRY(dis__alloc_array(&h->row_start, dis__size(rows, 1, 1), sizeof *h->row_start));
    return dis__alloc_array(&h->count, h->n_workers + 1, sizeof *h->count);
}

static void free_own(dis__layer *layer)
{
    crowd *h = layer->own;
    dis__free(h->row);
    dis__free(h->row_start);
    dis__free(h->count);
}

static dis__crowd_args arguments(const dis__net *net, const dis__layer *layer)
{
    const crowd *h = layer->own;
    return (dis__crowd_args){
        .kind = h->kind,
        .n_classes = h->head.n_classes,
        .logits = dis__data(net, layer->in[0]),
        .matrix = h->has_matrix ? dis__param_of(net, layer, 0) : NULL,
        .bias = h->has_bias ? dis__param_of(net, layer, h->has_matrix) : NULL,
        .q = layer->work[Q],
        .loss = layer->work[ROW_LOSS],
        .row_start = h->n_votes ? h->row_start : NULL,
        .row = h->row,
        .worker = h->worker,
        .label = h->label,
        .order = h->order,
        .group_start = h->group_start,
    };
}

static size_t work_a_row(const crowd *h, size_t rows)
{
    const size_t k = h->head.n_classes, votes = rows ? h->n_votes / rows + 1 : 1;
    return k * 16 + votes * k * (h->kind == DIS_CROWD_MW ? k + 16 : 16);
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    crowd *h = layer->own;
    const size_t rows = dis__net_rows(net, layer->in[0]);
    const dis__crowd_args args = arguments(net, layer);
    h->head.q = layer->work[Q];
    h->head.loss = h->head.scale = 0;
    DIS_TRY(dis__op_run(net, DIS_OP_crowd_loss, &args, rows, work_a_row(h, rows)));
    if (!h->n_votes) return DIS_OK;
    const double counted = h->over_all ? (double)rows * (double)h->n_workers : (double)h->n_votes;
    const double norm = h->head.norm > 0 ? h->head.norm : counted;
    h->head.loss = dis__sum_rows(net, layer->work[ROW_LOSS], rows) / norm;
    h->head.scale = h->head.weight / norm;
    return DIS_OK;
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const crowd *h = layer->own;
    if (h->head.scale == 0) return DIS_OK;
    const size_t rows = dis__net_rows(net, layer->in[0]);
    dis__crowd_args args = arguments(net, layer);
    args.scale = h->head.scale;
    args.d_vote = layer->work[VOTE_GRAD];
    args.d_logits = dis__grad(net, layer->in[0]);
    if (!args.d_logits)
        args.d_logits = layer->work[WASTE];
    else
        args.add = dis__grad_adds(net, layer->in[0]);
    DIS_TRY(dis__op_run(net, DIS_OP_crowd_loss, &args, rows, 2 * work_a_row(h, rows)));
    args.d_matrix = h->has_matrix ? dis__param_grad(net, layer, 0) : NULL;
    args.d_bias = h->has_bias ? dis__param_grad(net, layer, h->has_matrix) : NULL;
    if (!args.d_matrix && !args.d_bias) return DIS_OK;
    return dis__op_run(net, DIS_OP_crowd_param_grad, &args, h->n_groups,
                       (h->n_votes / h->n_groups + 1) * h->head.n_classes * h->head.n_classes);
}

static const dis__layer_kind crowd_kind = {.name = "crowd head",
                                           .own = sizeof(crowd),
                                           .plan = plan,
                                           .forward = forward,
                                           .backward = backward,
                                           .free = free_own};

int dis__head_crowd(dis__net *net, const char *name, int logits, size_t n_workers, size_t most_votes,
                    const dis__crowd_head_options *options)
{
    if (logits < 0) return dis__net_bad(net, DIS_EBUG, "%s: no logits", name);
    const dis__crowd_head_options o = options ? *options : dis__crowd_head_options_default();
    if (n_workers == 0 || n_workers > INT32_MAX || most_votes == 0 || most_votes > INT32_MAX)
        return dis__net_bad(net, DIS_EUSAGE, "%s: %zu workers, up to %zu votes a batch", name, n_workers, most_votes);
    const size_t k = dis__shape_of(net, logits)->channels;
    dis__layer *layer = dis__net_layer(net, &crowd_kind, name, &logits, 1, NULL);
    if (!layer) return DIS_NONE;
    *(crowd *)layer->own = (crowd){
        .head = {.n_classes = k, .weight = o.weight, .logits = logits},
        .kind = o.kind,
        .over_all = o.over_all,
        .has_matrix = o.kind != DIS_CROWD_VB,
        .has_bias = o.kind == DIS_CROWD_VB || o.kind == DIS_CROWD_VWB,
        .n_workers = n_workers,
        .most_votes = most_votes,
    };
    if (o.kind == DIS_CROWD_MW)
        dis__layer_param(net, layer, "matrix", 3, (size_t[]){n_workers, k, k}, DIS_START_IDENTITY, 0);
    else if (o.kind != DIS_CROWD_VB)
        dis__layer_param(net, layer, "scale", 2, (size_t[]){n_workers, o.kind == DIS_CROWD_SW ? 1 : k}, DIS_START_ONE,
                         0);
    if (o.kind == DIS_CROWD_VB || o.kind == DIS_CROWD_VWB)
        dis__layer_param(net, layer, "bias", 2, (size_t[]){n_workers, k}, DIS_START_ZERO, 0);
    for (size_t i = 0; i < layer->n_params; i++)
        net->params[layer->param[i]].decays = false; /* towards 0 would be away from the identity */
    return dis__net_head(net, layer);
}

/* ---- votes ---- */

/* order: votes by worker, each worker's as they came; group_start: where each worker that voted begins. */
static void group_by_worker(crowd *h, size_t n)
{
    memset(h->count, 0, (h->n_workers + 1) * sizeof *h->count);
    for (size_t v = 0; v < n; v++) h->count[h->worker[v] + 1]++;
    h->n_groups = 0;
    int32_t start = 0;
    for (size_t w = 0; w < h->n_workers; w++) {
        const int32_t votes = h->count[w + 1];
        if (votes) h->group_start[h->n_groups++] = start;
        h->count[w] = start;
        start += votes;
    }
    h->group_start[h->n_groups] = (int32_t)n;
    for (size_t v = 0; v < n; v++) h->order[h->count[h->worker[v]]++] = (int32_t)v;
}

dis_status dis__head_put_votes(dis__net *net, int head, size_t n, const int32_t *row, const int32_t *worker,
                               const int32_t *label)
{
    dis__layer *layer = &net->layers[net->heads[head]];
    crowd *h = layer->own;
    const size_t rows = dis__net_rows(net, layer->in[0]);
    if (n > h->most_votes)
        return dis__fail(DIS_EUSAGE, "%s: %zu votes in a batch; it was planned for %zu", layer->name, n, h->most_votes);
    for (size_t v = 0; v < n; v++)
        if (row[v] < 0 || (size_t)row[v] >= rows || worker[v] < 0 || (size_t)worker[v] >= h->n_workers ||
            label[v] < 0 || (size_t)label[v] >= h->head.n_classes || (v && row[v] < row[v - 1]))
            return dis__fail(DIS_EUSAGE, "%s: vote %zu is out of range or out of order", layer->name, v);
    h->n_votes = n;
    if (!n) return DIS_OK;
    memcpy(h->row, row, n * sizeof *row);
    memcpy(h->worker, worker, n * sizeof *worker);
    memcpy(h->label, label, n * sizeof *label);
    for (size_t i = 0, v = 0; i <= rows; i++) {
        while (v < n && (size_t)row[v] < i) v++;
        h->row_start[i] = (int32_t)v;
    }
    group_by_worker(h, n);
    return DIS_OK;
}

void dis__head_put_nothing(dis__net *net, int head)
{
    dis__layer *layer = &net->layers[net->heads[head]];
    if (layer->kind == &crowd_kind)
        ((crowd *)layer->own)->n_votes = 0;
    else
        dis__soft_head_clear(layer);
}
