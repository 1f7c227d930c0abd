/* Before the first step of training (train.c): items and targets are matched and encoded, the network is built with its
 * heads and laid out, and what a batch needs is allocated, so that steps allocate nothing. */
#include "train/loop/training.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "dissent/evaluate.h"
#include "train/loop/batches.h"
#include "train/loop/optimizer_spec.h"
#include "train/objectives/targets.h"
#include "train/workers/worker_net.h"
#include <string.h>

static const char *const kind_names[] = {"texts", "tokens", "features", "images"};

static dis_status check_kind(const dis_model *model, const dis_items *items)
{
    const dis_items_kind have = dis_items_get_view(items).kind;
    if (have == model->row->info.items_kind) return DIS_OK;
    return dis__fail(DIS_EUSAGE, "the model %s needs %s, but these items are %s", model->row->info.name,
                     kind_names[model->row->info.items_kind], kind_names[have]);
}

/* The metric that decides between epochs. */
static dis_status choose_keep(dis__training *t, const dis_model_train_options *o, const dis_examples *dev)
{
    if (!dev) return DIS_OK;
    const char *usual = t->objective->annotator ? "log_loss" : dev->gold ? "macro_f1" : "cross_entropy";
    const char *name = o->keep ? o->keep : usual;
    const dis_evaluation_metric metric = dis_evaluation_metric_find(name);
    if (metric == DIS_EVALUATION_METRICS)
        return dis__fail(DIS_EUSAGE, "no metric \"%.60s\" to keep the best epoch by; dissent list metrics shows them",
                         name);
    const dis_evaluation_metric_row *row = dis_evaluation_metric_get(metric);
    const bool higher = strcmp(row->better, "higher") == 0;
    if (!higher && strcmp(row->better, "lower") != 0)
        return dis__fail(DIS_EUSAGE, "%s has no better direction; keep the best epoch by another metric", name);
    if (row->needs & (DIS_NEEDS_WORKERS | DIS_NEEDS_SETS))
        return dis__fail(DIS_EUSAGE, "%s cannot select the best epoch; log_loss and accuracy of single votes can",
                         name);
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
    if (t->objective->annotator) return dis__worker_heads_build(t, r, logits);
    if (t->objective->main != DIS_MAIN_NONE) {
        r->head[h] = dis__head_soft(r->net, t->model->head[h], logits[h], NULL);
        h++;
    }
    if (t->objective->soft >= 0) {
        dis__soft_head_options o = dis__soft_head_options_default();
        o.loss = (dis__loss)t->objective->soft;
        o.weight = h ? t->o->soft_weight : 1;
        o.base = t->o->log_base;
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
    return dis__saturating_size(max, items, 0) < all ? max * items : all;
}

static dis_status copy_declared_classes(const dis_names *classes, dis_names **out)
{
    const size_t n = dis_names_count(classes);
    if (n == 0 || n > DIS_MAX_CLASSES)
        return dis__fail(DIS_EUSAGE, "%zu classes are declared; 1 to %u are possible", n, DIS_MAX_CLASSES);
    size_t twice;
    DIS_TRY(dis__names_find_duplicate(classes, &twice));
    if (twice != SIZE_MAX)
        return dis__fail(DIS_EUSAGE, "the class \"%.200s\" is declared twice", dis_names_get(classes, twice, NULL));
    return dis__names_copy(classes, out);
}

static dis_status fit_features(dis__training *t)
{
    dis_model *model = t->model;
    if (!t->o->worker_table)
        return dis__fail(DIS_EUSAGE, "`worker_features` names columns of a worker table; give it with `worker_table`");
    return dis__worker_features_fit(t->o->worker_table, t->o->worker_features, model->workers, &model->features);
}

/* A row per vote; the workers are those of the training votes. */
static dis_status make_pairs(dis__training *t, dis_context *ctx, const dis_examples *train, const dis_examples *dev)
{
    dis_model *model = t->model;
    if (!train->votes)
        return dis__fail(DIS_EUSAGE, "the objective %s needs votes; give them with `votes`", t->objective->info.name);
    DIS_TRY(dis__names_copy(dis_votes_get_view(train->votes).workers, &model->workers));
    DIS_TRY(dis__worker_examples_init(ctx, train->items, train->votes, model->classes, model->workers, t->o->lenient,
                                      &t->pairs, &t->targets));
    if (t->o->worker_features) DIS_TRY(fit_features(t));
    if (!dev) return DIS_OK;
    return dis__worker_examples_init(ctx, dev->items, dev->votes ? dev->votes : train->votes, model->classes,
                                     model->workers, true, &t->dev_pairs, &t->dev_targets);
}

/* Items as numbers, or with pairs an item once for each of its votes. */
static dis_status encode(dis__training *t, dis_context *ctx, const dis_items *items, const dis__worker_examples *pairs,
                         dis__encoded_items **out)
{
    const dis_items_view view = dis_items_get_view(pairs->items ? pairs->items : items);
    DIS_TRY(dis__encode_items(ctx, t->model, &view, out));
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
                         "`encoder` is for models of pretrained encoders, which %s is not; leave it out, or "
                         "choose the model encoder or encoder-tagger",
                         model->row->info.name);
    if (o->classes)
        DIS_TRY(copy_declared_classes(o->classes, &model->classes));
    else
        DIS_TRY(dis__examples_get_classes(train, &model->classes));
    if (t->objective->annotator && o->item_weights)
        return dis__fail(DIS_EUSAGE, "weights of items are for gold, silver and soft labels; %s is trained on votes",
                         t->objective->info.name);
    if (t->objective->annotator) {
        DIS_TRY(make_pairs(t, ctx, train, dev));
    } else {
        DIS_TRY(dis__targets_init(ctx, train, t->objective, &t->settings, model->classes, o->lenient, &t->targets));
        if (o->class_weights) DIS_TRY(dis__targets_set_class_weights(&t->targets, t->objective));
        if (o->item_weights) DIS_TRY(dis__targets_set_item_weights(&t->targets, t->objective, o->item_weights));
        if (dev) DIS_TRY(dis__targets_init(ctx, dev, NULL, NULL, model->classes, true, &t->dev_targets));
    }
    DIS_TRY(choose_keep(t, o, dev));
    model->n_examples = t->targets.n_used;
    model->n_left_out = t->targets.n_items - t->targets.n_used + t->pairs.n_left_out;

    const dis_items_view items = dis_items_get_view(train->items);
    const dis__preprocessor_files files = {.vectors = o->vectors, .encoder = o->encoder};
    DIS_TRY(model->row->learn(ctx, model->settings, &items, &files, model->encoder));
    DIS_TRY(encode(t, ctx, train->items, &t->pairs, &t->encoded));
    if (dev) DIS_TRY(encode(t, ctx, dev->items, &t->dev_pairs, &t->dev_encoded));
    DIS_TRY(dis__batches_init(t->encoded, t->targets.used, &t->batches));
    return dis__batch_order_find(o->order, &t->batches.kind);
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
    t->limits = dis__batch_limits_compute(t->encoded, batch);
    if (has_dev(t)) {
        const dis__batch_limits dev = dis__batch_limits_compute(t->dev_encoded, batch);
        if (dev.items > t->limits.items) t->limits.items = dev.items;
        if (dev.longest > t->limits.longest) t->limits.longest = dev.longest;
        if (dev.total > t->limits.total) t->limits.total = dev.total;
    }
    t->max_votes = max_votes(&t->targets, t->limits.items);
    dis__batches_begin_epoch(&t->batches, t->encoded, &t->limits, model->seed, 0);
    dis__plan_options plan = dis__plan_options_default();
    DIS_TRY(dis__optimizer_parse(o->optimizer ? o->optimizer : kind->optimizer, &plan.optimizer));
    const char *schedule = o->schedule ? o->schedule : kind->schedule ? kind->schedule : "constant";
    DIS_TRY(dis__schedule_parse(schedule, o->rate > 0 ? o->rate : kind->rate,
                                (t->batches.n + o->accumulate - 1) / o->accumulate, t->epochs, &t->schedule));
    DIS_TRY(dis__model_net_build(model, &t->limits, model->seed, add_heads, t, &t->model_net));
    DIS_TRY(dis__net_plan(t->model_net.net, ctx, &plan));
    if (model->row->start) DIS_TRY(model->row->start(ctx, t->model_net.net, model->encoder));
    DIS_TRY(dis__worker_net_init_weights(model, t->model_net.net));
    model->n_parameters = dis__net_n_parameters(t->model_net.net);
    DIS_TRY(dis__alloc_array(&model->epoch, t->epochs, sizeof *model->epoch));
    DIS_TRY(dis__alloc_array(&t->label, t->limits.items, sizeof *t->label));
    DIS_TRY(dis__alloc_array(&t->weight, t->limits.items, sizeof *t->weight));
    DIS_TRY(dis__alloc_array(&t->target, dis__saturating_size(t->limits.items, t->targets.n_classes, 0),
                             sizeof *t->target));
    DIS_TRY(dis__alloc_array(&t->vote_row, dis__saturating_size(3, t->max_votes, 0), sizeof *t->vote_row));
    if (has_dev(t))
        DIS_TRY(dis__alloc_array(&t->q, dis__saturating_size(t->dev_encoded->n_items, t->targets.n_classes, 0),
                                 sizeof *t->q));
    return DIS_OK;
}

dis_status dis__training_prepare(dis__training *t, dis_context *ctx, const dis_examples *train, const dis_examples *dev)
{
    DIS_TRY(prepare_data(t, ctx, train, dev));
    return prepare_net(t, ctx);
}
