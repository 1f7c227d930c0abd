/* Training: epochs of batches, the best epoch on the development set kept, a checkpoint after each epoch.
 *
 * Which units a batch holds is a function of seed and epoch (batches.h), what dropout leaves out a function of seed and
 * pass (nn); so a run that continues from a checkpoint gives the same result as an uninterrupted run. */
#include "train/loop/train_internal.h"
#include "train/loop/training.h"
#include "core/parallel/comm.h"
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include "dissent/evaluate.h"
#include "nn/devices.h"
#include "nn/load_weights.h"
#include "train/loop/batches.h"
#include "train/loop/optimizer_spec.h"
#include "train/objectives/targets.h"
#include "train/workers/worker_net.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_examples, .size = sizeof(dis_examples))
DIS_OPTIONS_DEFAULTS(dis_model_train_options, .size = sizeof(dis_model_train_options), .model = "text",
                     .objective = "kl", .soft_weight = 1, .floor = 1e-6, .accumulate = 1)

static dis_status check_options(const dis_model_train_options *o)
{
    DIS_TRY(dis__train_options_check(o));
    if (o->log_base == 1) return dis__fail(DIS_EUSAGE, "`log_base` 1: must be above 0 and not 1");
    if (o->worker_features && !dis__objective_row_find(o->objective)->annotator)
        return dis__fail(DIS_EUSAGE, "`worker_features` is for the objectives annotator and annot-mix");
    if (o->resume && !o->folder) return dis__fail(DIS_EUSAGE, "resuming needs the folder of the checkpoint");
    return DIS_OK;
}

/* ---- steps ---- */

/* Calls `take` for every item of the units, in the order of the heads' rows. */
#define EACH_ITEM(t, units, n, row, item)                                                                              \
    for (size_t u_ = 0, row = 0; u_ < (n); u_++)                                                                       \
        for (size_t item = (t)->encoded->unit ? (size_t)(t)->encoded->unit[(units)[u_]] : (units)[u_],                 \
                    end_ = (t)->encoded->unit ? (size_t)(t)->encoded->unit[(units)[u_] + 1] : (size_t)(units)[u_] + 1; \
             item < end_; item++, row++)

static dis_status put_votes(dis__training *t, int head, const uint32_t *units, size_t n)
{
    const dis__targets *g = &t->targets;
    int32_t *row_of = t->vote_row, *worker = row_of + t->max_votes, *label = worker + t->max_votes;
    size_t n_votes = 0;
    EACH_ITEM(t, units, n, row, item)
    {
        for (uint64_t v = g->first[item]; v < g->first[item + 1]; v++, n_votes++) {
            row_of[n_votes] = (int32_t)row;
            worker[n_votes] = g->worker[v];
            label[n_votes] = g->vote[v];
        }
    }
    return dis__head_put_votes(t->model_net.net, head, n_votes, row_of, worker, label);
}

/* Labels of items that have weights. */
static dis_status put_weighted(dis__training *t, int head, const uint32_t *units, size_t n)
{
    const dis__targets *g = &t->targets;
    const size_t k = g->n_classes;
    EACH_ITEM(t, units, n, row, item)
    {
        const int32_t label = g->label[item];
        for (size_t c = 0; c < k; c++) t->target[row * k + c] = label >= 0 && (size_t)label == c;
        t->weight[row] = label >= 0 ? dis__label_weight(g, item) : 0;
    }
    return dis__head_put_targets(t->model_net.net, head, t->target, t->weight);
}

dis_status dis__training_set_labels(dis__training *t, int head, const uint32_t *units, size_t n)
{
    const dis__targets *g = &t->targets;
    const void *uploaded;
    double counted = 0;
    if (g->of_class || g->of_item) return put_weighted(t, head, units, n);
    DIS_TRY(dis__net_upload_ints(t->model_net.net, g->label, g->label, g->n_items, &uploaded));
    EACH_ITEM(t, units, n, row, item)
    {
        t->label[row] = uploaded ? (int32_t)item : g->label[item];
        counted += g->label[item] >= 0 && (size_t)g->label[item] < g->n_classes;
    }
    return uploaded ? dis__head_gather_labels(t->model_net.net, head, uploaded, t->label, counted)
                    : dis__head_put_labels(t->model_net.net, head, t->label);
}

static dis_status put_soft(dis__training *t, int head, const uint32_t *units, size_t n)
{
    const dis__targets *g = &t->targets;
    const size_t k = g->n_classes;
    const void *target, *weight;
    double counted = 0;
    DIS_TRY(dis__net_upload_reals(t->model_net.net, DIS_ROLE_STAT, g->target, g->target, g->n_items * k, &target));
    DIS_TRY(dis__net_upload_reals(t->model_net.net, DIS_ROLE_STAT, g->weight, g->weight, g->n_items, &weight));
    const bool uploaded = target && weight;
    EACH_ITEM(t, units, n, row, item)
    {
        t->label[row] = (int32_t)item;
        t->weight[row] = g->weight[item];
        counted += (double)g->weight[item];
        if (!uploaded) memcpy(t->target + row * k, g->target + item * k, k * sizeof *t->target);
    }
    return uploaded ? dis__head_gather_targets(t->model_net.net, head, target, weight, t->label, counted)
                    : dis__head_put_targets(t->model_net.net, head, t->target, t->weight);
}

static dis_status put_targets(dis__training *t, const uint32_t *units, size_t n)
{
    size_t h = 0;
    if (t->objective->annotator) return dis__worker_heads_set_targets(t, units, n);
    if (t->objective->main != DIS_MAIN_NONE) DIS_TRY(dis__training_set_labels(t, t->model_net.head[h++], units, n));
    if (t->objective->soft >= 0) DIS_TRY(put_soft(t, t->model_net.head[h++], units, n));
    if (t->objective->crowd < 0) return DIS_OK;
    const bool warming = t->at.epoch < (size_t)t->settings.warm_up;
    if (t->warm_up != DIS_NONE) dis__head_clear_targets(t->model_net.net, warming ? t->model_net.head[h] : t->warm_up);
    if (!warming) return put_votes(t, t->model_net.head[h], units, n);
    return dis__training_set_labels(t, t->warm_up, units, n);
}

/* Batches that make one step are one large batch to a head: its loss is divided by what all of them count for. */
static void set_norm(dis__training *t, size_t b, size_t target, int head)
{
    const size_t first = b - b % t->o->accumulate, end = first + t->o->accumulate;
    double norm = 0;
    if (head == DIS_NONE) return;
    for (size_t i = first; i < end && i < t->batches.n; i++) {
        size_t n;
        const uint32_t *units = dis__batch_units(&t->batches, i, &n);
        EACH_ITEM(t, units, n, row, item)
        norm += dis__target_weight(&t->targets, t->objective, target, t->o->over_all, item);
    }
    dis__head_set_norm(t->model_net.net, head, norm);
}

static void set_norms(dis__training *t, size_t b)
{
    const bool several = t->o->accumulate > 1 || dis__comm_is_parallel(t->comm);
    const size_t n_heads = !several ? 0 : t->objective->annotator ? 1 : t->model->n_heads;
    if (several && t->terms != DIS_NONE) dis__worker_losses_set_norm(t, b);
    for (size_t h = 0; h < n_heads; h++) set_norm(t, b, h, t->model_net.head[h]);
    if (n_heads) set_norm(t, b, n_heads, t->warm_up);
}

/* This rank's part of batch b. */
static const uint32_t *own_units(const dis__training *t, size_t b, size_t *n)
{
    const size_t size = (size_t)t->comm->size, rank = (size_t)t->comm->rank;
    const uint32_t *units = dis__batch_units(&t->batches, b, n);
    const size_t first = dis__job_first(*n, size, rank);
    *n = dis__job_first(*n, size, rank + 1) - first;
    return units + first;
}

/* Gradients of this rank's part, added to those of the batches before that belong to the step. */
static dis_status add_gradients(dis__training *t, size_t b, bool update)
{
    size_t n;
    const uint32_t *units = own_units(t, b, &n);
    dis__net *net = t->model_net.net;
    if (n == 0) {
        dis__net_skip_pass(net);
        return DIS_OK;
    }
    const dis__unit_batch batch = {
        .unit = units, .n = n, .training = true, .seed = t->model->seed, .number = (uint64_t)t->at.epoch << 32 | b};
    DIS_TRY(dis__model_net_set_batch(t->model, &t->model_net, t->encoded, &batch));
    DIS_TRY(put_targets(t, units, n));
    set_norms(t, b);
    return dis__net_train(net, t->at.rate, update);
}

static dis_status one_batch(dis__training *t, size_t b)
{
    dis__net *net = t->model_net.net;
    const bool update = (b + 1) % t->o->accumulate == 0 || b + 1 == t->batches.n,
               shared = dis__comm_is_parallel(t->comm);
    if (update) t->at.rate = dis__schedule_rate(&t->schedule, dis__net_steps(net));
    DIS_TRY(add_gradients(t, b, update && !shared));
    if (!update || !shared) return DIS_OK;
    DIS_TRY(dis__net_share_gradients(net, t->comm));
    return dis__net_step(net, t->at.rate);
}

static dis_status not_finite(const dis__training *t, const char *what)
{
    return dis__fail(DIS_EDATA, "the %s became infinite in epoch %zu; try a smaller rate or clip=1", what,
                     t->at.epoch + 1);
}

static dis_status judge(dis__training *t, dis_context *ctx, dis_epoch *e)
{
    e->dev = e->dev_cross_entropy = NAN;
    if (!t->q) return DIS_OK;
    const dis__targets *g = &t->dev_targets;
    DIS_TRY(dis__model_net_predict(&t->model_net, t->model, t->dev_encoded, 0, &t->limits, t->q));
    for (size_t i = 0; i < g->n_items * g->n_classes; i++)
        if (!isfinite(t->q[i])) return not_finite(t, "predictions");
    bool wanted[DIS_EVALUATION_METRICS] = {false};
    const dis_evaluation_metric loss = g->human ? DIS_EVALUATION_CROSS_ENTROPY : DIS_EVALUATION_LOG_LOSS;
    wanted[t->keep] = wanted[loss] = true;
    dis_evaluation_options o = dis_evaluation_options_default();
    o.resamples = 0;
    o.seed = t->model->seed;
    o.n_metrics = DIS_EVALUATION_METRICS;
    o.metrics = wanted;
    const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                     .n_items = g->n_items,
                                     .n_classes = g->n_classes,
                                     .q = t->q,
                                     .gold = g->label,
                                     .human = g->human};
    dis_evaluation *evaluation;
    DIS_TRY(dis_evaluation_run(ctx, &in, &o, &evaluation));
    const dis_evaluation_view v = dis_evaluation_get_view(evaluation);
    e->dev = v.metric[t->keep].value;
    e->dev_cross_entropy = v.metric[loss].value;
    dis_evaluation_destroy(evaluation);
    return DIS_OK;
}

/* Ranks have the same numbers: the first judges, and tells the others. */
static dis_status judge_once(dis__training *t, dis_context *ctx, dis_epoch *e)
{
    DIS_TRY(dis__comm_first_failure(t->comm, t->comm->rank == 0 ? judge(t, ctx, e) : DIS_OK));
    double scores[] = {e->dev, e->dev_cross_entropy};
    if (dis__comm_is_parallel(t->comm)) DIS_TRY(dis__comm_broadcast(t->comm, scores, sizeof scores, 0));
    e->dev = scores[0];
    e->dev_cross_entropy = scores[1];
    return DIS_OK;
}

/* The numbers of the best epoch so far: on the device until they are asked for, where they can stay there. */
static dis_status keep_best(dis__training *t)
{
    t->best_unsaved = true;
    t->best_on_device = dis__net_save_params_copy(t->model_net.net);
    return t->best_on_device ? DIS_OK : dis__model_weights_get(t->model_net.net, &t->model->weights);
}

static dis_status fetch_best(dis__training *t)
{
    if (!t->best_on_device) return DIS_OK;
    t->best_on_device = false;
    dis__net_swap_params_copy(t->model_net.net);
    const dis_status status = dis__model_weights_get(t->model_net.net, &t->model->weights);
    dis__net_swap_params_copy(t->model_net.net);
    return status;
}

/* A stop between steps leaves a checkpoint, but for ranks, which are ended where they are; other failures do not. */
static dis_status stop_here(dis__training *t, dis_status status)
{
    if (status != DIS_ECANCELLED || !t->o->folder || dis__comm_is_parallel(t->comm)) return status;
    DIS_TRY(dis__net_get_loss_sum(t->model_net.net, &t->at.loss));
    DIS_TRY(dis__checkpoint_write(t));
    return dis__fail(DIS_ECANCELLED, "stopped");
}

static dis_status end_epoch(dis__training *t, dis_context *ctx)
{
    dis_model *model = t->model;
    dis_epoch *e = &model->epoch[t->at.epoch];
    DIS_TRY(dis__net_get_loss_sum(t->model_net.net, &t->at.loss));
    DIS_TRY(dis__comm_sum_reals(t->comm, &t->at.loss, 1));
    if (dis__comm_is_parallel(t->comm)) DIS_TRY(dis__net_share_statistics(t->model_net.net, t->comm));
    const size_t steps = (t->batches.n + t->o->accumulate - 1) / t->o->accumulate;
    *e = (dis_epoch){.loss = t->at.loss / (double)steps, .rate = t->at.rate};
    if (!isfinite(e->loss)) return dis__comm_first_failure(t->comm, not_finite(t, "loss"));
    DIS_TRY(stop_here(t, judge_once(t, ctx, e)));
    model->n_epochs = t->at.epoch + 1;
    const bool first = t->at.epoch <= (size_t)t->settings.warm_up; /* what warms up is not what was asked for */
    const double best = model->epoch[model->best_epoch].dev;
    const bool better = !t->q || first || isnan(best) || (t->higher ? e->dev > best : e->dev < best) ||
                        (t->o->keep_last && e->dev == best);
    if (better) model->best_epoch = t->at.epoch;
    /* Without a development set the last epoch's numbers are the model's, and the network has them. */
    if (better && t->q) DIS_TRY(keep_best(t));
    t->at = (dis__training_position){.epoch = t->at.epoch + 1};
    return t->o->folder && t->comm->rank == 0 && dis__checkpoint_is_due(t) ? dis__checkpoint_write(t) : DIS_OK;
}

static bool out_of_patience(const dis__training *t)
{
    return t->q && t->o->patience && t->at.epoch > t->model->best_epoch + t->o->patience;
}

static dis_status epochs(dis__training *t, dis_context *ctx)
{
    while (t->at.epoch < t->epochs && !out_of_patience(t)) {
        dis__batches_begin_epoch(&t->batches, t->encoded, &t->limits, t->model->seed, t->at.epoch);
        DIS_TRY(dis__net_set_loss_sum(t->model_net.net, t->at.loss));
        for (; t->at.batch < t->batches.n; t->at.batch++) {
            if (t->at.batch % t->o->accumulate == 0) DIS_TRY(stop_here(t, dis__check_stop(ctx)));
            dis__suspend_stop(ctx, true); /* a step is done or not done */
            const dis_status status = one_batch(t, t->at.batch);
            dis__suspend_stop(ctx, false);
            DIS_TRY(status);
            const double done = (double)t->at.epoch + (double)(t->at.batch + 1) / (double)t->batches.n;
            dis__progress(ctx, t->what, done / (double)t->epochs);
        }
        DIS_TRY(end_epoch(t, ctx));
        const dis_epoch *e = &t->model->epoch[t->model->n_epochs - 1];
        if (t->q)
            snprintf(t->what, sizeof t->what, "loss %.4f, %s %.4f", e->loss, t->model->keep, e->dev);
        else
            snprintf(t->what, sizeof t->what, "loss %.4f", e->loss);
    }
    return DIS_OK;
}

static void free_training(dis__training *t)
{
    dis__model_net_free(&t->model_net);
    dis__encoded_items_free(t->model, t->encoded);
    dis__encoded_items_free(t->model, t->dev_encoded);
    dis__worker_examples_free(&t->pairs); /* what is encoded may read them */
    dis__worker_examples_free(&t->dev_pairs);
    dis__targets_free(&t->targets);
    dis__targets_free(&t->dev_targets);
    dis__batches_free(&t->batches);
    dis__free(t->label);
    dis__free(t->weight);
    dis__free(t->target);
    dis__free(t->vote_row);
    dis__free(t->q);
    dis__free(t->term);
    dis__free(t->term_weight);
}

static dis_status work(dis__training *t, dis_context *ctx, const dis_examples *train, const dis_examples *dev)
{
    dis_status status = dis__training_prepare(t, ctx, train, dev);
    if (status == DIS_OK && t->o->resume) status = dis__checkpoint_read(t, ctx);
    DIS_TRY(dis__comm_first_failure(t->comm, status));
    dis__net_set_rank(t->model_net.net, t->comm->rank);
    const char *by;
    DIS_TRY(dis__net_join_ranks(t->model_net.net, t->comm, &by));
    if (dis__comm_is_parallel(t->comm)) snprintf(t->model->sums_by, sizeof t->model->sums_by, "%s", by);
    dis__checkpoint_start_timer(t);
    if (t->moments) DIS_TRY(dis__net_put_moments(t->model_net.net, t->moments));
    DIS_TRY(epochs(t, ctx));
    if (t->moments) DIS_TRY(dis__net_get_moments(t->model_net.net, t->moments));
    DIS_TRY(fetch_best(t));
    if (!t->q) { /* otherwise the best epoch's numbers were kept when it ended */
        dis__net_release_training(t->model_net.net);
        DIS_TRY(dis__model_weights_get(t->model_net.net, &t->model->weights));
    }
    for (size_t i = 0; i < t->model->weights.n; i++)
        if (!dis__all_finite(t->model->weights.value[i], t->model->weights.info[i].n))
            return dis__comm_first_failure(t->comm,
                                           dis__fail(DIS_EDATA,
                                                     "the weights became infinite; try a smaller rate or clip=1"));
    dis__worker_net_set_unknown(t->model);
    return DIS_OK;
}

static dis_status run(dis__training *t, const dis__device *device, dis_context *ctx, const dis_examples *train,
                      const dis_examples *dev, dis_model **out)
{
    DIS_TRY(dis__objective_parse(t->o->objective, &t->objective, &t->settings));
    DIS_TRY(check_options(t->o));
    DIS_TRY(dis__model_create(t->o->model, t->o->objective, &t->model));
    t->model->seed = t->o->seed;
    t->model->device = device;
    const dis_status status = work(t, ctx, train, dev);
    free_training(t);
    if (t->model->row->forget) t->model->row->forget(t->model->encoder);
    if (status != DIS_OK) {
        dis_model_destroy(t->model);
        return status;
    }
    *out = t->model;
    return DIS_OK;
}

static dis__training begin(dis_context *ctx, const dis_model_train_options *o)
{
    return (dis__training){
        .o = o, .comm = dis__context_comm(ctx), .warm_up = DIS_NONE, .terms = DIS_NONE, .what = "training"};
}

dis_status dis_model_train(dis_context *ctx, const dis_examples *train, const dis_examples *dev,
                           const dis_model_train_options *options, dis_model **out)
{
    const dis__device *device;
    DIS_TRY(dis__device_for(ctx, &dis__device_cpu, true, &device));
    return dis__train_on_device(device, ctx, train, dev, options, out);
}

/* Trains on copies of the caller's structs. */
static dis_status run_copies(dis__training *t, const dis__device *device, dis_context *ctx, const dis_examples *train,
                             const dis_examples *dev, dis_model **out)
{
    dis_examples own_train = dis_examples_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_examples, &own_train, train));
    dis_examples own_dev = dis_examples_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_examples, &own_dev, dev));
    return run(t, device, ctx, &own_train, dev ? &own_dev : NULL, out);
}

dis_status dis__train_on_device(const dis__device *device, dis_context *ctx, const dis_examples *train,
                                const dis_examples *dev, const dis_model_train_options *options, dis_model **out)
{
    dis_model_train_options o = dis_model_train_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_model_train_options, &o, options));
    dis__training t = begin(ctx, &o);
    return run_copies(&t, device, ctx, train, dev, out);
}

dis_status dis__train_with_moments(dis_context *ctx, const dis_examples *train, const dis_examples *dev,
                                   const dis_model_train_options *options, dis__moments *moments, dis_model **out)
{
    const dis__device *device;
    dis_model_train_options o = dis_model_train_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_model_train_options, &o, options));
    DIS_TRY(dis__device_for(ctx, &dis__device_cpu, true, &device));
    dis__training t = begin(ctx, &o);
    t.moments = moments;
    return run_copies(&t, device, ctx, train, dev, out);
}
