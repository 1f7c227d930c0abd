/* Training: epochs of batches, the best epoch on the development set kept, a checkpoint after each epoch.
 *
 * Which units a batch holds is a function of seed and epoch (batches.h), what dropout leaves out a function of seed and
 * pass (nn); so a run that goes on from a checkpoint does exactly what it would have done without the stop. */
#include "core/comm.h"
#include "core/name_index.h"
#include "core/names_build.h"
#include "core/pool.h"
#include "core/sized_options.h"
#include "dissent/evaluate.h"
#include "nn/devices.h"
#include "train/batches.h"
#include "train/optimizer_spec.h"
#include "train/run.h"
#include "train/targets.h"
#include "train/worker_net.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_model_train_options, .size = sizeof(dis_model_train_options), .model = "text",
                     .objective = "kl", .soft_weight = 1, .floor = 1e-6, .accumulate = 1)

/* ---- before the first step ---- */

static dis_status check_options(const dis_model_train_options *o)
{
    DIS_TRY(dis__train_options_check(o));
    if (o->base == 1) return dis__fail(DIS_EUSAGE, "the base of logarithms must be above 0, and not 1");
    if (o->worker_features && !dis__objective_row_find(o->objective)->annotator)
        return dis__fail(DIS_EUSAGE, "`worker_features` is for objectives that say who is asked: annotator, annot-mix");
    if (o->resume && !o->folder) return dis__fail(DIS_EUSAGE, "resuming needs the folder of the checkpoint");
    return DIS_OK;
}

static const char *const kind_names[] = {"texts", "tokens", "features", "images"};

static dis_status check_kind(const dis_model *model, const dis_items *items)
{
    const dis_items_kind have = dis_items_look(items).kind;
    if (have == model->row->info.items) return DIS_OK;
    return dis__fail(DIS_EUSAGE, "the model %s learns from %s, and these items are %s", model->row->info.name,
                     kind_names[model->row->info.items], kind_names[have]);
}

/* The metric that decides between epochs. */
static dis_status choose_keep(dis__training *t, const dis_model_train_options *o, const dis_examples *dev)
{
    if (!dev) return DIS_OK;
    const char *usual = t->objective->annotator ? "log_loss" : dev->gold ? "macro_f1" : "cross_entropy";
    const char *name = o->keep ? o->keep : usual;
    const dis_eval_metric metric = dis_eval_metric_find(name);
    if (metric == DIS_EVAL_METRICS)
        return dis__fail(DIS_EUSAGE, "no metric \"%.60s\" to keep the best epoch by; dissent list metrics shows them",
                         name);
    const dis_eval_row *row = dis_eval_metric_at(metric);
    const bool higher = strcmp(row->better, "higher") == 0;
    if (!higher && strcmp(row->better, "lower") != 0)
        return dis__fail(DIS_EUSAGE, "%s is neither better high nor low; keep the best epoch by another metric", name);
    if (row->needs & DIS_NEEDS_WORKERS)
        return dis__fail(DIS_EUSAGE,
                         "%s is no metric to keep the best epoch by; log_loss and accuracy are of single votes", name);
    if (row->needs & DIS_NEEDS_HUMAN && !dev->labels)
        return dis__fail(DIS_EUSAGE, "%s needs soft labels of the development set", name);
    t->keep = metric;
    t->higher = higher;
    return dis__copy_text(&t->model->keep, name, strlen(name));
}

static dis_status add_heads(void *arg, dis__model_net *r, const int *logits)
{
    dis__training *t = arg;
    size_t h = 0;
    if (t->objective->annotator) return dis__worker_heads(t, r, logits);
    if (t->objective->main != DIS_MAIN_NONE) {
        r->head[h] = dis__head_soft(r->net, t->model->head[h], logits[h], NULL);
        h++;
    }
    if (t->objective->soft >= 0) {
        dis__soft_head_options o = dis__soft_head_options_default();
        o.loss = (dis__loss)t->objective->soft;
        o.weight = h ? t->o->soft_weight : 1;
        o.base = t->o->base;
        o.floor = t->o->floor;
        r->head[h] = dis__head_soft(r->net, t->model->head[h], logits[h], &o);
        h++;
    }
    if (t->objective->crowd >= 0) {
        dis__crowd_head_options o = dis__crowd_head_options_default();
        o.kind = (dis__crowd)t->objective->crowd;
        o.on_probabilities = t->settings.on == DIS_CROWD_ON_PROBABILITIES;
        o.over_all = t->o->over_all;
        r->head[h] = dis__head_crowd(r->net, t->model->head[h], logits[h], t->targets.n_workers, t->max_votes, &o);
        if (t->settings.warm_up) t->warm_up = dis__head_soft(r->net, "warm-up", logits[h], NULL);
    }
    return DIS_OK;
}

/* The maximum number of votes that a batch can hold: those of the items with the most. */
static size_t max_votes(const dis__targets *t, size_t items)
{
    size_t max = 0;
    for (size_t i = 0; t->first && i < t->n_items; i++)
        if (t->first[i + 1] - t->first[i] > max) max = (size_t)(t->first[i + 1] - t->first[i]);
    const size_t all = t->first ? (size_t)t->first[t->n_items] : 0;
    return dis__size(max, items, 0) < all ? max * items : all;
}

static dis_status take_declared(const dis_names *classes, dis_names **out)
{
    const size_t n = dis_names_count(classes);
    if (n == 0 || n > DIS_MAX_CLASSES)
        return dis__fail(DIS_EUSAGE, "%zu classes are declared; 1 to %u are possible", n, DIS_MAX_CLASSES);
    size_t twice;
    DIS_TRY(dis__names_twice(classes, &twice));
    if (twice != SIZE_MAX)
        return dis__fail(DIS_EUSAGE, "the class \"%.200s\" is declared twice", dis_names_get(classes, twice, NULL));
    return dis__names_copy(classes, out);
}

static dis_status take_features(dis__training *t)
{
    dis_model *model = t->model;
    if (!t->o->worker_table)
        return dis__fail(DIS_EUSAGE, "`worker_features` names columns of a worker table; give it with `worker_table`");
    return dis__worker_features_learn(t->o->worker_table, t->o->worker_features, model->workers, &model->features);
}

/* A row per vote; the workers are those of the training votes. */
static dis_status make_pairs(dis__training *t, dis_context *ctx, const dis_examples *train, const dis_examples *dev)
{
    dis_model *model = t->model;
    if (!train->votes)
        return dis__fail(DIS_EUSAGE, "the objective %s needs votes; give them with `votes`", t->objective->info.name);
    DIS_TRY(dis__names_copy(dis_votes_look(train->votes).workers, &model->workers));
    DIS_TRY(dis__pairs_make(ctx, train->items, train->votes, model->classes, model->workers, t->o->lenient, &t->pairs,
                            &t->targets));
    if (t->o->worker_features) DIS_TRY(take_features(t));
    if (!dev) return DIS_OK;
    return dis__pairs_make(ctx, dev->items, dev->votes ? dev->votes : train->votes, model->classes, model->workers,
                           true, &t->dev_pairs, &t->dev_targets);
}

/* Items as numbers, or with pairs an item once for each of its votes. */
static dis_status encode(dis__training *t, dis_context *ctx, const dis_items *items, const dis__pairs *pairs,
                         dis__encoded **out)
{
    const dis_items_view view = dis_items_look(pairs->items ? pairs->items : items);
    DIS_TRY(dis__encode(ctx, t->model, &view, out));
    (*out)->worker = pairs->worker;
    (*out)->lasting = true;
    return DIS_OK;
}

static dis_status prepare_data(dis__training *t, dis_context *ctx, const dis_examples *train, const dis_examples *dev)
{
    const dis_model_train_options *o = t->o;
    dis_model *model = t->model;
    DIS_TRY(check_kind(model, train->items));
    if (dev) DIS_TRY(check_kind(model, dev->items));
    if (o->encoder && !model->row->pretrained)
        return dis__fail(DIS_EUSAGE,
                         "`encoder` is for models of pretrained encoders, and %s is none; leave it out, or "
                         "choose the model encoder or encoder-tagger",
                         model->row->info.name);
    if (o->classes)
        DIS_TRY(take_declared(o->classes, &model->classes));
    else
        DIS_TRY(dis__examples_classes(train, &model->classes));
    if (t->objective->annotator) {
        DIS_TRY(make_pairs(t, ctx, train, dev));
    } else {
        DIS_TRY(dis__targets_make(ctx, train, t->objective, &t->settings, model->classes, o->lenient, &t->targets));
        if (dev) DIS_TRY(dis__targets_make(ctx, dev, NULL, NULL, model->classes, true, &t->dev_targets));
    }
    DIS_TRY(choose_keep(t, o, dev));
    model->n_examples = t->targets.n_used;
    model->n_left_out = t->targets.n_items - t->targets.n_used + t->pairs.n_left_out;

    const dis_items_view items = dis_items_look(train->items);
    const dis__model_files files = {.vectors = o->vectors, .encoder = o->encoder};
    DIS_TRY(model->row->learn(ctx, model->settings, &items, &files, model->encoder));
    DIS_TRY(encode(t, ctx, train->items, &t->pairs, &t->encoded));
    if (dev) DIS_TRY(encode(t, ctx, dev->items, &t->dev_pairs, &t->dev_encoded));
    return dis__batches_create(t->encoded, t->targets.used, &t->batches);
}

static bool has_dev(const dis__training *t)
{
    return t->dev_encoded && t->dev_encoded->n_units;
}

static dis_status prepare_net(dis__training *t, dis_context *ctx)
{
    const dis_model_train_options *o = t->o;
    dis_model *model = t->model;
    const dis_model_kind *kind = &model->row->info;
    const size_t batch = o->batch ? o->batch : kind->batch;
    t->epochs = o->epochs ? o->epochs : kind->epochs;
    if (t->settings.warm_up && (size_t)t->settings.warm_up >= t->epochs)
        return dis__fail(DIS_EUSAGE, "warm-up=%lld leaves none of %zu epochs for the crowd layer",
                         (long long)t->settings.warm_up, t->epochs);
    t->limits = dis__limits_of(t->encoded, batch);
    if (has_dev(t)) {
        const dis__batch_limits dev = dis__limits_of(t->dev_encoded, batch);
        if (dev.items > t->limits.items) t->limits.items = dev.items;
        if (dev.longest > t->limits.longest) t->limits.longest = dev.longest;
        if (dev.total > t->limits.total) t->limits.total = dev.total;
    }
    t->max_votes = max_votes(&t->targets, t->limits.items);
    dis__batches_epoch(&t->batches, t->encoded, &t->limits, model->seed, 0);
    dis__plan_options plan = dis__plan_options_default();
    DIS_TRY(dis__optimizer_parse(o->optimizer ? o->optimizer : kind->optimizer, &plan.optimizer));
    const char *schedule = o->schedule ? o->schedule : kind->schedule ? kind->schedule : "constant";
    DIS_TRY(dis__schedule_parse(schedule, o->rate > 0 ? o->rate : kind->rate,
                                (t->batches.n + o->accumulate - 1) / o->accumulate, t->epochs, &t->schedule));
    DIS_TRY(dis__model_net_build(model, &t->limits, model->seed, add_heads, t, &t->model_net));
    DIS_TRY(dis__net_plan(t->model_net.net, ctx, &plan));
    if (model->row->start) DIS_TRY(model->row->start(ctx, t->model_net.net, model->encoder));
    DIS_TRY(dis__asked_start(model, t->model_net.net));
    model->n_parameters = dis__net_n_parameters(t->model_net.net);
    DIS_TRY(dis__alloc_array(&model->epoch, t->epochs, sizeof *model->epoch));
    DIS_TRY(dis__alloc_array(&t->label, t->limits.items, sizeof *t->label));
    DIS_TRY(dis__alloc_array(&t->weight, t->limits.items, sizeof *t->weight));
    DIS_TRY(dis__alloc_array(&t->target, dis__size(t->limits.items, t->targets.n_classes, 0), sizeof *t->target));
    DIS_TRY(dis__alloc_array(&t->vote_row, dis__size(3, t->max_votes, 0), sizeof *t->vote_row));
    if (has_dev(t))
        DIS_TRY(dis__alloc_array(&t->q, dis__size(t->dev_encoded->n_items, t->targets.n_classes, 0), sizeof *t->q));
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

dis_status dis__training_put_labels(dis__training *t, int head, const uint32_t *units, size_t n)
{
    const dis__targets *g = &t->targets;
    const void *kept;
    double counted = 0;
    DIS_TRY(dis__net_keep_ints(t->model_net.net, g->label, g->label, g->n_items, &kept));
    EACH_ITEM(t, units, n, row, item)
    {
        t->label[row] = kept ? (int32_t)item : g->label[item];
        counted += g->label[item] >= 0 && (size_t)g->label[item] < g->n_classes;
    }
    return kept ? dis__head_take_labels(t->model_net.net, head, kept, t->label, counted)
                : dis__head_put_labels(t->model_net.net, head, t->label);
}

static dis_status put_soft(dis__training *t, int head, const uint32_t *units, size_t n)
{
    const dis__targets *g = &t->targets;
    const size_t k = g->n_classes;
    const void *target, *weight;
    double counted = 0;
    DIS_TRY(dis__net_keep_reals(t->model_net.net, DIS_ROLE_STAT, g->target, g->target, g->n_items * k, &target));
    DIS_TRY(dis__net_keep_reals(t->model_net.net, DIS_ROLE_STAT, g->weight, g->weight, g->n_items, &weight));
    const bool kept = target && weight;
    EACH_ITEM(t, units, n, row, item)
    {
        t->label[row] = (int32_t)item;
        t->weight[row] = g->weight[item];
        counted += (double)g->weight[item];
        if (!kept) memcpy(t->target + row * k, g->target + item * k, k * sizeof *t->target);
    }
    return kept ? dis__head_take_targets(t->model_net.net, head, target, weight, t->label, counted)
                : dis__head_put_targets(t->model_net.net, head, t->target, t->weight);
}

static dis_status put_targets(dis__training *t, const uint32_t *units, size_t n)
{
    size_t h = 0;
    if (t->objective->annotator) return dis__worker_targets(t, units, n);
    if (t->objective->main != DIS_MAIN_NONE) DIS_TRY(dis__training_put_labels(t, t->model_net.head[h++], units, n));
    if (t->objective->soft >= 0) DIS_TRY(put_soft(t, t->model_net.head[h++], units, n));
    if (t->objective->crowd < 0) return DIS_OK;
    const bool warming = t->at.epoch < (size_t)t->settings.warm_up;
    if (t->warm_up != DIS_NONE) dis__head_put_nothing(t->model_net.net, warming ? t->model_net.head[h] : t->warm_up);
    if (!warming) return put_votes(t, t->model_net.head[h], units, n);
    return dis__training_put_labels(t, t->warm_up, units, n);
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
        norm += dis__target_count(&t->targets, t->objective, target, t->o->over_all, item);
    }
    dis__head_set_norm(t->model_net.net, head, norm);
}

static void set_norms(dis__training *t, size_t b)
{
    const bool several = t->o->accumulate > 1 || dis__comm_is_shared(t->comm);
    const size_t n_heads = !several ? 0 : t->objective->annotator ? 1 : t->model->n_heads;
    if (several && t->terms != DIS_NONE) dis__worker_norm(t, b);
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
        dis__net_skip(net);
        return DIS_OK;
    }
    const dis__unit_batch batch = {
        .unit = units, .n = n, .training = true, .seed = t->model->seed, .number = (uint64_t)t->at.epoch << 32 | b};
    DIS_TRY(dis__model_net_put(t->model, &t->model_net, t->encoded, &batch));
    DIS_TRY(put_targets(t, units, n));
    set_norms(t, b);
    return dis__net_train(net, t->at.rate, update);
}

static dis_status one_batch(dis__training *t, size_t b)
{
    dis__net *net = t->model_net.net;
    const bool update = (b + 1) % t->o->accumulate == 0 || b + 1 == t->batches.n, shared = dis__comm_is_shared(t->comm);
    if (update) t->at.rate = dis__schedule_rate(&t->schedule, dis__net_steps(net));
    DIS_TRY(add_gradients(t, b, update && !shared));
    if (!update || !shared) return DIS_OK;
    DIS_TRY(dis__net_share_gradients(net, t->comm));
    return dis__net_step(net, t->at.rate);
}

static dis_status judge(dis__training *t, dis_context *ctx, dis_epoch *e)
{
    e->dev = e->dev_cross_entropy = NAN;
    if (!t->q) return DIS_OK;
    const dis__targets *g = &t->dev_targets;
    DIS_TRY(dis__model_net_predict(&t->model_net, t->model, t->dev_encoded, 0, &t->limits, t->q));
    bool wanted[DIS_EVAL_METRICS] = {false};
    const dis_eval_metric loss = g->human ? DIS_EVAL_CROSS_ENTROPY : DIS_EVAL_LOG_LOSS;
    wanted[t->keep] = wanted[loss] = true;
    dis_evaluation_options o = dis_evaluation_options_default();
    o.resamples = 0;
    o.seed = t->model->seed;
    o.wanted = wanted;
    const dis_evaluation_input in = {
        .n_items = g->n_items, .n_classes = g->n_classes, .q = t->q, .gold = g->label, .human = g->human};
    dis_evaluation *evaluation;
    DIS_TRY(dis_evaluation_run(ctx, &in, &o, &evaluation));
    const dis_evaluation_view v = dis_evaluation_look(evaluation);
    e->dev = v.metric[t->keep].value;
    e->dev_cross_entropy = v.metric[loss].value;
    dis_evaluation_destroy(evaluation);
    return DIS_OK;
}

/* Ranks have the same numbers: the first judges, and tells the others. */
static dis_status judge_once(dis__training *t, dis_context *ctx, dis_epoch *e)
{
    if (t->comm->rank == 0) DIS_TRY(judge(t, ctx, e));
    double told[] = {e->dev, e->dev_cross_entropy};
    if (dis__comm_is_shared(t->comm)) DIS_TRY(dis__comm_broadcast(t->comm, told, sizeof told, 0));
    e->dev = told[0];
    e->dev_cross_entropy = told[1];
    return DIS_OK;
}

/* A stop between steps leaves a checkpoint, but for ranks, which are ended where they are; other failures do not. */
static dis_status stop_here(dis__training *t, dis_status status)
{
    if (status != DIS_ECANCELLED || !t->o->folder || dis__comm_is_shared(t->comm)) return status;
    DIS_TRY(dis__net_get_loss_sum(t->model_net.net, &t->at.loss));
    DIS_TRY(dis__training_save(t));
    return dis__fail(DIS_ECANCELLED, "stopped");
}

static dis_status end_epoch(dis__training *t, dis_context *ctx)
{
    dis_model *model = t->model;
    dis_epoch *e = &model->epoch[t->at.epoch];
    DIS_TRY(dis__net_get_loss_sum(t->model_net.net, &t->at.loss));
    DIS_TRY(dis__comm_sum_reals(t->comm, &t->at.loss, 1));
    if (dis__comm_is_shared(t->comm)) DIS_TRY(dis__net_share_statistics(t->model_net.net, t->comm));
    const size_t steps = (t->batches.n + t->o->accumulate - 1) / t->o->accumulate;
    *e = (dis_epoch){.loss = t->at.loss / (double)steps, .rate = t->at.rate};
    DIS_TRY(stop_here(t, judge_once(t, ctx, e)));
    model->n_epochs = t->at.epoch + 1;
    const bool first = t->at.epoch <= (size_t)t->settings.warm_up; /* what warms up is not what was asked for */
    const double best = model->epoch[model->best_epoch].dev;
    const bool better = !t->q || first || isnan(best) || (t->higher ? e->dev > best : e->dev < best);
    if (better) model->best_epoch = t->at.epoch;
    if (better && t->q) { /* without a development set the last epoch's numbers are the model's, and the net has them */
        DIS_TRY(dis__weights_take(t->model_net.net, &model->weights));
        t->best_unsaved = true;
    }
    t->at = (dis__place){.epoch = t->at.epoch + 1};
    return t->o->folder && t->comm->rank == 0 && dis__training_save_due(t) ? dis__training_save(t) : DIS_OK;
}

static bool out_of_patience(const dis__training *t)
{
    return t->q && t->o->patience && t->at.epoch > t->model->best_epoch + t->o->patience;
}

static dis_status epochs(dis__training *t, dis_context *ctx)
{
    while (t->at.epoch < t->epochs && !out_of_patience(t)) {
        dis__batches_epoch(&t->batches, t->encoded, &t->limits, t->model->seed, t->at.epoch);
        DIS_TRY(dis__net_set_loss_sum(t->model_net.net, t->at.loss));
        for (; t->at.batch < t->batches.n; t->at.batch++) {
            if (t->at.batch % t->o->accumulate == 0) DIS_TRY(stop_here(t, dis__check_stop(ctx)));
            dis__hold_stop(ctx, true); /* a step is done or not done */
            const dis_status status = one_batch(t, t->at.batch);
            dis__hold_stop(ctx, false);
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
        if (!isfinite(e->loss))
            return dis__comm_agree(t->comm,
                                   dis__fail(DIS_EDATA,
                                             "the loss became infinite in epoch %zu; try a smaller rate or clip=1",
                                             t->model->n_epochs));
    }
    return DIS_OK;
}

static void free_training(dis__training *t)
{
    dis__model_net_free(&t->model_net);
    dis__encoded_free(t->model, t->encoded);
    dis__encoded_free(t->model, t->dev_encoded);
    dis__pairs_free(&t->pairs); /* what is encoded may read them */
    dis__pairs_free(&t->dev_pairs);
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
    dis_status status = prepare_data(t, ctx, train, dev);
    if (status == DIS_OK) status = prepare_net(t, ctx);
    if (status == DIS_OK && t->o->resume) status = dis__training_load(t, ctx);
    DIS_TRY(dis__comm_agree(t->comm, status));
    dis__net_be_rank(t->model_net.net, t->comm->rank);
    const char *by;
    DIS_TRY(dis__net_join_ranks(t->model_net.net, t->comm, &by));
    if (dis__comm_is_shared(t->comm)) snprintf(t->model->sums_by, sizeof t->model->sums_by, "%s", by);
    dis__training_begin(t);
    DIS_TRY(epochs(t, ctx));
    if (!t->q) { /* otherwise the best epoch's numbers were taken when it ended */
        dis__net_finish(t->model_net.net);
        DIS_TRY(dis__weights_take(t->model_net.net, &t->model->weights));
    }
    dis__asked_finish(t->model);
    return DIS_OK;
}

dis_status dis_model_train(dis_context *ctx, const dis_examples *train, const dis_examples *dev,
                           const dis_model_train_options *options, dis_model **out)
{
    const dis__device *device;
    DIS_TRY(dis__device_for(ctx, &dis__device_cpu, true, &device));
    return dis__train_on(device, ctx, train, dev, options, out);
}

dis_status dis__train_on(const dis__device *device, dis_context *ctx, const dis_examples *train,
                         const dis_examples *dev, const dis_model_train_options *options, dis_model **out)
{
    dis_model_train_options o = dis_model_train_options_default();
    DIS_TRY(DIS_OPTIONS_TAKE(dis_model_train_options, &o, options));
    dis__training t = {
        .o = &o, .comm = dis__context_comm(ctx), .warm_up = DIS_NONE, .terms = DIS_NONE, .what = "training"};
    DIS_TRY(dis__objective_parse(t.o->objective, &t.objective, &t.settings));
    DIS_TRY(check_options(t.o));
    DIS_TRY(dis__model_create(t.o->model, t.o->objective, &t.model));
    t.model->seed = t.o->seed;
    t.model->device = device;
    const dis_status status = work(&t, ctx, train, dev);
    free_training(&t);
    if (t.model->row->forget) t.model->row->forget(t.model->encoder);
    if (status != DIS_OK) {
        dis_model_destroy(t.model);
        return status;
    }
    *out = t.model;
    return DIS_OK;
}
