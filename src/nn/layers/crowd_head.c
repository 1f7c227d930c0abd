/* The crowd layer of Rodrigues & Pereira (2018): a map per worker from the network's output for an item to the logits
 * of that worker's vote, trained with the network. MW has a matrix per worker (initially the identity), VW a vector
 * (ones), VB a bias (zeros), VW+B both, SW a scalar (1). The map reads the logits, as the code of Uma et al. (2020)
 * does, or q = softmax(logits), as Rodrigues & Pereira define it: there a vote's logits are initially in [0, 1], so
 * that the probability of a vote is at most e / (e + K - 1) and classes with q near 0 get no gradient. Votes are
 * sparse: O(K^2) per vote for MW, O(K) for the others, never rows x workers. The prediction is q.
 *
 * Gradients of a worker's parameters are summed over that worker's votes in one job, in the order of the votes. */
#include "nn/net_internal.h"
#include <string.h>

typedef struct {
    dis__head head;
    dis__crowd kind;
    bool on_logits, over_all, has_matrix, has_bias;
    size_t n_workers, max_votes, n_votes, n_groups;
    /* On the host; the device has a copy in VOTES. */
    int32_t *votes;                                      /* one block: */
    int32_t *row, *worker, *label, *order, *group_start; /* of votes */
    int32_t *row_start;                                  /* (rows + 1) */
    size_t n_ints;                                       /* of the block */
    int32_t *count;                                      /* (workers + 1) */
} crowd;

enum { Q, ROW_LOSS, VOTE_GRAD, WASTE, VOTES };
enum { GROUPS = 64 }; /* a device that records steps needs a multiple of this */

dis__crowd_head_options dis__crowd_head_options_default(void)
{
    return (dis__crowd_head_options){.size = sizeof(dis__crowd_head_options), .kind = DIS_CROWD_MW, .weight = 1};
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    crowd *h = layer->own;
    const size_t stat = dis__number_bytes(net, DIS_ROLE_STAT), rows = dis__max_rows(net, layer->in[0]),
                 k = h->head.n_classes;
    const size_t values =
        dis__saturating_size(dis__saturating_size(rows, dis__number_bytes(net, DIS_ROLE_VALUE), 0), k, 0);
    const dis__crowd_args args = {.kind = h->kind, .n_rows = rows, .n_classes = k};
    dis__layer_runs(net, DIS_OP_crowd_loss, &args);
    DIS_TRY(
        dis__layer_work(net, layer, dis__saturating_size(dis__saturating_size(rows, stat, 0), k, 0), DIS_WORK_RESULT));
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(rows, stat, 0), DIS_WORK_RESULT));
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(dis__saturating_size(h->max_votes, stat, 0), k, 0),
                            DIS_WORK_BACKWARD));
    DIS_TRY(dis__layer_work(net, layer, values, DIS_WORK_BACKWARD));
    h->n_ints = dis__saturating_size(h->max_votes, 5, dis__saturating_size(rows, 1, 2));
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(h->n_ints, sizeof(int32_t), 0), DIS_WORK_BATCH));
    DIS_TRY(dis__alloc_zeroed(&h->votes, h->n_ints, sizeof *h->votes));
    h->row = h->votes;
    h->worker = h->row + h->max_votes;
    h->label = h->worker + h->max_votes;
    h->order = h->label + h->max_votes;
    h->group_start = h->order + h->max_votes;
    h->row_start = h->group_start + h->max_votes + 1;
    return dis__alloc_array(&h->count, h->n_workers + 1, sizeof *h->count);
}

static void free_own(dis__layer *layer)
{
    crowd *h = layer->own;
    dis__free(h->votes);
    dis__free(h->count);
}

/* Its address on the device. */
static const int32_t *device_address(const dis__layer *layer, const int32_t *here)
{
    return (const int32_t *)layer->work[VOTES] + (here - ((const crowd *)layer->own)->votes);
}

static dis__crowd_args arguments(const dis__net *net, const dis__layer *layer)
{
    const crowd *h = layer->own;
    return (dis__crowd_args){
        .kind = h->kind,
        .on_logits = h->on_logits,
        .n_rows = dis__padded_rows(net, layer->in[0]),
        .n_classes = h->head.n_classes,
        .n_votes = net->device->round > 1 ? h->max_votes : h->n_votes,
        .n_groups = h->n_groups,
        .logits = dis__data(net, layer->in[0]),
        .matrix = h->has_matrix ? dis__param_of(net, layer, 0) : NULL,
        .bias = h->has_bias ? dis__param_of(net, layer, h->has_matrix) : NULL,
        .q = layer->work[Q],
        .loss = layer->work[ROW_LOSS],
        .row_start = h->head.has_targets ? device_address(layer, h->row_start) : NULL,
        .row = device_address(layer, h->row),
        .worker = device_address(layer, h->worker),
        .label = device_address(layer, h->label),
        .order = device_address(layer, h->order),
        .group_start = device_address(layer, h->group_start),
        .scale = &dis__scalars_of(net, layer)->scale,
    };
}

/* The number of votes is not in the key: starts of rows and groups mark their end. */
static dis_status prepare(dis__net *net, dis__layer *layer)
{
    const crowd *h = layer->own;
    dis__key_add(net, h->head.has_targets ? h->n_groups : 0);
    return DIS_OK;
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    crowd *h = layer->own;
    const dis__crowd_args args = arguments(net, layer);
    h->head.q = layer->work[Q];
    DIS_TRY(dis__op_run(net, DIS_OP_crowd_loss, &args));
    return dis__head_sum(net, layer, args.loss, args.n_rows);
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const crowd *h = layer->own;
    dis__crowd_args args = arguments(net, layer);
    args.d_vote = layer->work[VOTE_GRAD];
    args.d_logits = dis__grad(net, layer->in[0]);
    args.add = args.d_logits && layer->adds[0];
    if (!args.d_logits) args.d_logits = layer->work[WASTE];
    DIS_TRY(dis__op_run(net, DIS_OP_crowd_loss, &args));
    args.d_matrix = h->has_matrix ? dis__param_grad(net, layer, 0) : NULL;
    args.d_bias = h->has_bias ? dis__param_grad(net, layer, h->has_matrix) : NULL;
    return args.d_matrix || args.d_bias ? dis__op_run(net, DIS_OP_crowd_param_grad, &args) : DIS_OK;
}

static const dis__layer_kind crowd_kind = {.name = "crowd head",
                                           .own = sizeof(crowd),
                                           .plan = plan,
                                           .prepare = prepare,
                                           .forward = forward,
                                           .backward = backward,
                                           .free = free_own};

int dis__head_crowd(dis__net *net, const char *name, int logits, size_t n_workers, size_t max_votes,
                    const dis__crowd_head_options *options)
{
    if (logits < 0) return dis__net_build_error(net, DIS_EBUG, "%s: no logits", name);
    const dis__crowd_head_options o = options ? *options : dis__crowd_head_options_default();
    if (n_workers == 0 || n_workers > INT32_MAX || max_votes == 0 || max_votes > INT32_MAX)
        return dis__net_build_error(net, DIS_EUSAGE, "%s: %zu workers, up to %zu votes per batch", name, n_workers,
                                    max_votes);
    const size_t k = dis__shape_of(net, logits)->channels;
    dis__layer *layer = dis__net_layer(net, &crowd_kind, name, &logits, 1, NULL);
    if (!layer) return DIS_NONE;
    *(crowd *)layer->own = (crowd){
        .head = {.n_classes = k, .weight = o.weight, .logits = logits},
        .kind = o.kind,
        .on_logits = !o.on_probabilities,
        .over_all = o.over_all,
        .has_matrix = o.kind != DIS_CROWD_VB,
        .has_bias = o.kind == DIS_CROWD_VB || o.kind == DIS_CROWD_VWB,
        .n_workers = n_workers,
        .max_votes = max_votes,
    };
    if (o.kind == DIS_CROWD_MW)
        dis__layer_param(net, layer, "matrix", 3, (size_t[]){n_workers, k, k}, DIS_START_IDENTITY, 0);
    else if (o.kind != DIS_CROWD_VB)
        dis__layer_param(net, layer, "scale", 2, (size_t[]){n_workers, o.kind == DIS_CROWD_SW ? 1 : k}, DIS_START_ONE,
                         0);
    if (o.kind == DIS_CROWD_VB || o.kind == DIS_CROWD_VWB)
        dis__layer_param(net, layer, "bias", 2, (size_t[]){n_workers, k}, DIS_START_ZERO, 0);
    for (size_t i = 0; i < layer->n_params; i++)
        net->params[layer->param[i]].decays = false; /* decay towards 0 would be away from the identity */
    return dis__net_head(net, layer);
}

/* ---- votes ---- */

/* order: votes by worker, stable; group_start: start of each worker with votes. The number of groups is a multiple
 * required by the device, the last ones are empty. */
static void group_by_worker(const dis__net *net, crowd *h, size_t n)
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
    const size_t max = h->n_workers < h->max_votes ? h->n_workers : h->max_votes;
    const size_t rounded = dis__net_round(net, h->n_groups, GROUPS), n_groups = rounded < max ? rounded : max;
    for (size_t g = h->n_groups; g <= n_groups; g++) h->group_start[g] = (int32_t)n;
    h->n_groups = n_groups;
    for (size_t v = 0; v < n; v++) h->order[h->count[h->worker[v]]++] = (int32_t)v;
}

dis_status dis__head_put_votes(dis__net *net, int head, size_t n, const int32_t *row, const int32_t *worker,
                               const int32_t *label)
{
    dis__layer *layer = &net->layers[net->heads[head]];
    crowd *h = layer->own;
    const size_t rows = dis__net_rows(net, layer->in[0]), all_rows = dis__padded_rows(net, layer->in[0]);
    if (n > h->max_votes)
        return dis__fail(DIS_EUSAGE, "%s: %zu votes in a batch; it was planned for %zu", layer->name, n, h->max_votes);
    for (size_t v = 0; v < n; v++)
        if (row[v] < 0 || (size_t)row[v] >= rows || worker[v] < 0 || (size_t)worker[v] >= h->n_workers ||
            label[v] < 0 || (size_t)label[v] >= h->head.n_classes || (v && row[v] < row[v - 1]))
            return dis__fail(DIS_EUSAGE, "%s: vote %zu is out of range or out of order", layer->name, v);
    h->n_votes = n;
    h->head.has_targets = n > 0;
    h->head.counted = h->over_all ? (double)rows * (double)h->n_workers : (double)n;
    if (!n) return DIS_OK;
    memcpy(h->row, row, n * sizeof *row);
    memcpy(h->worker, worker, n * sizeof *worker);
    memcpy(h->label, label, n * sizeof *label);
    for (size_t i = 0, v = 0; i <= all_rows; i++) {
        while (v < n && (size_t)row[v] < i) v++;
        h->row_start[i] = (int32_t)v;
    }
    group_by_worker(net, h, n);
    const struct {
        const int32_t *x;
        size_t n;
    } all[] = {{h->row, n},
               {h->worker, n},
               {h->label, n},
               {h->order, n},
               {h->group_start, h->n_groups + 1},
               {h->row_start, all_rows + 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        DIS_TRY(dis__copy_in(net, (int32_t *)device_address(layer, all[i].x), all[i].x, all[i].n * sizeof *all[i].x));
    return DIS_OK;
}
