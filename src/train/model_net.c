/* A model's network at work: building it for given sizes of batches, predicting, and moving its numbers in and out. */
#include "train/model.h"
#include "core/options/option_spec.h"
#include "nn/devices.h"
#include "core/options/sized_structs.h"
#include "train/workers/worker_net.h"
#include <stdio.h>
#include <string.h>

/* ---- weights ---- */

void dis__model_weights_free(dis__model_weights *weights)
{
    for (size_t i = 0; i < weights->n && !weights->file.map; i++) dis__free(weights->value[i]);
    dis__input_close(&weights->file);
    dis__free(weights->value);
    dis__free(weights->info);
    dis__free(weights->path);
    *weights = (dis__model_weights){0};
}

static dis_status make_room(const dis__net *net, dis__model_weights *weights)
{
    const size_t n = dis__net_n_params(net);
    DIS_TRY(dis__alloc_array(&weights->info, n, sizeof *weights->info));
    DIS_TRY(dis__alloc_zeroed(&weights->value, n, sizeof *weights->value));
    for (; weights->n < n; weights->n++) {
        weights->info[weights->n] = *dis__net_param(net, weights->n);
        DIS_TRY(dis__alloc_array(&weights->value[weights->n], weights->info[weights->n].n, sizeof **weights->value));
    }
    return DIS_OK;
}

dis_status dis__model_weights_get(const dis__net *net, dis__model_weights *weights)
{
    if (weights->n == 0) DIS_TRY(make_room(net, weights));
    for (size_t i = 0; i < weights->n; i++) DIS_TRY(dis__param_get_floats(net, i, weights->value[i]));
    return DIS_OK;
}

static size_t find_weight(const dis__model_weights *weights, const char *name)
{
    for (size_t i = 0; i < weights->n; i++)
        if (strcmp(weights->info[i].name, name) == 0) return i;
    return SIZE_MAX;
}

dis_status dis__model_weights_set(const dis__model_weights *weights, dis__net *net)
{
    for (size_t p = 0; p < dis__net_n_params(net); p++) {
        const dis__param_info *info = dis__net_param(net, p);
        const size_t i = find_weight(weights, info->name);
        if (i == SIZE_MAX || weights->info[i].n_dims != info->n_dims ||
            memcmp(weights->info[i].dim, info->dim, info->n_dims * sizeof *info->dim) != 0)
            return dis__fail(DIS_EDATA, "the model's weights lack %s, or it has another shape", info->name);
        DIS_TRY(dis__param_use(net, p, weights->value[i]));
    }
    return DIS_OK;
}

/* ---- models ---- */

static dis_status fill(const char *spec, const char *objective, dis_model *model)
{
    const dis__model_row *row;
    DIS_TRY(dis__model_row_find(spec, &row));
    const dis__objective_row *o;
    dis__objective_settings of_objective;
    DIS_TRY(dis__objective_parse(objective, &o, &of_objective));
    model->row = row;
    model->device = &dis__device_cpu;
    DIS_TRY(dis__alloc_zeroed(&model->settings, 1, row->settings_size ? row->settings_size : 1));
    DIS_TRY(dis__alloc_zeroed(&model->encoder, 1, row->encoder_size));
    DIS_TRY(dis__model_settings_parse(row, spec, model->settings));
    DIS_TRY(dis__copy_text(&model->spec, spec, strlen(spec)));
    DIS_TRY(dis__copy_text(&model->objective, objective, strlen(objective)));
    model->of_objective = of_objective;
    model->confuses = o->confuses;
    if (o->annotator) model->head[model->n_heads++] = "vote";
    if (o->confuses) model->head[model->n_heads++] = "class";
    if (o->annotator) return DIS_OK;
    if (o->main != DIS_MAIN_NONE) model->head[model->n_heads++] = o->main == DIS_MAIN_GOLD ? "gold" : "silver";
    if (o->soft >= 0) model->head[model->n_heads++] = "soft";
    if (o->crowd >= 0) model->head[model->n_heads++] = "crowd";
    return DIS_OK;
}

dis_status dis__model_create(const char *spec, const char *objective, dis_model **out)
{
    dis_model *model;
    DIS_TRY(dis__alloc_zeroed(&model, 1, sizeof *model));
    const dis_status status = fill(spec, objective, model);
    if (status != DIS_OK) {
        dis_model_destroy(model);
        return status;
    }
    *out = model;
    return DIS_OK;
}

void dis_model_destroy(dis_model *model)
{
    if (!model) return;
    dis__free(model->settings);
    dis__free(model->spec);
    dis__free(model->objective);
    dis__free(model->keep);
    dis_names_destroy(model->classes);
    dis_names_destroy(model->workers);
    dis__worker_features_free(&model->features);
    if (model->encoder) model->row->free_encoder(model->encoder);
    dis__free(model->encoder);
    dis__model_net_free(&model->ready);
    dis__free(model->epoch);
    dis__model_weights_free(&model->weights);
    dis__free(model);
}

static dis_model_view view_of(const dis_model *model)
{
    dis__preprocessor_info facts = {0};
    model->row->facts(model->encoder, &facts);
    return (dis_model_view){.kind = &model->row->info,
                            .spec = model->spec,
                            .objective = model->objective,
                            .seed = model->seed,
                            .classes = model->classes,
                            .n_parameters = model->n_parameters,
                            .n_heads = model->n_heads,
                            .head = model->head,
                            .n_epochs = model->n_epochs,
                            .best_epoch = model->best_epoch,
                            .epoch = model->epoch,
                            .keep = model->keep,
                            .n_examples = model->n_examples,
                            .n_left_out = model->n_left_out,
                            .n_words = facts.n_words,
                            .n_words_in_vectors = facts.n_words_in_vectors,
                            .gradients_by = model->sums_by,
                            .workers = model->workers};
}
DIS_VIEW_DEFINE(dis_model, model, view_of(model))

const dis_names *dis_model_classes(const dis_model *model)
{
    return model->classes;
}

/* ---- items ---- */

void dis__encoded_items_free(const dis_model *model, dis__encoded_items *encoded)
{
    if (!encoded) return;
    if (model->row->free_encoded) model->row->free_encoded(encoded);
    dis__free(encoded);
}

dis_status dis__encode_items(dis_context *ctx, const dis_model *model, const dis_items_view *items,
                             dis__encoded_items **out)
{
    *out = NULL;
    dis__encoded_items *encoded;
    DIS_TRY(dis__alloc_zeroed(&encoded, 1, model->row->encoded_size));
    const dis_status status = model->row->encode(ctx, model->settings, model->encoder, items, encoded);
    if (status == DIS_OK)
        *out = encoded;
    else
        dis__encoded_items_free(model, encoded);
    return status;
}

/* ---- networks ---- */

/* Units longer than `length`, and the sum of their lengths. */
static size_t n_longer(const dis__encoded_items *encoded, size_t length, size_t *sum)
{
    size_t n = 0;
    *sum = 0;
    for (size_t u = 0; u < encoded->n_units; u++)
        if (encoded->length[u] > length) {
            *sum += encoded->length[u];
            n++;
        }
    return n;
}

/* The sum of the lengths of the n longest units: by halving, the smallest length that at most n units exceed. */
static size_t longest_total(const dis__encoded_items *encoded, size_t n, size_t longest)
{
    size_t low = 0, high = longest, sum;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (n_longer(encoded, middle, &sum) <= n)
            high = middle;
        else
            low = middle + 1;
    }
    const size_t longer = n_longer(encoded, low, &sum), units = encoded->n_units < n ? encoded->n_units : n;
    return sum + (units > longer ? (units - longer) * low : 0);
}

dis__batch_limits dis__batch_limits_compute(const dis__encoded_items *encoded, size_t batch)
{
    dis__batch_limits l = {.units = batch, .items = batch, .longest = 1};
    if (encoded->unit && encoded->n_items) { /* sentences: room for those of half the usual length and above */
        const double mean = (double)encoded->n_items / (double)encoded->n_units;
        l.units = (size_t)(2 * (double)batch / mean) + 1;
    }
    for (size_t u = 0; u < encoded->n_units; u++) {
        if (encoded->length && encoded->length[u] > l.longest) l.longest = encoded->length[u];
        const size_t n = encoded->unit ? (size_t)(encoded->unit[u + 1] - encoded->unit[u]) : 1;
        if (n > l.items) l.items = n;
    }
    l.total = encoded->length ? longest_total(encoded, l.units, l.longest) : l.units;
    if (l.total == 0) l.total = 1;
    return l;
}

void dis__model_net_free(dis__model_net *r)
{
    dis__net_destroy(r->net);
    if (r->in && r->row->free_inputs) r->row->free_inputs(r->in);
    dis__free(r->in);
    dis__worker_net_free(r->worker_net);
    *r = (dis__model_net){0};
}

dis_status dis__model_net_set_batch(const dis_model *model, dis__model_net *r, const dis__encoded_items *encoded,
                                    const dis__unit_batch *batch)
{
    DIS_TRY(r->row->put(r->net, r->in, encoded, batch));
    return r->worker_net ? dis__worker_net_set_batch(model, r, encoded, batch) : DIS_OK;
}

/* The logits of head h. The first head's layer has one name whatever the head is: equal targets then give equal models.
 * Of a model of classes and the workers' maps, the first head is the vote, the second the class. */
static int head_logits(const dis_model *model, dis__model_net *r, size_t h, int before)
{
    const size_t k = dis_names_count(model->classes);
    const dis__model_row *row = model->row;
    const char *layer = h == 0 || model->confuses ? "out" : "out.soft";
    if (before != DIS_NONE) return before;
    return row->head ? row->head(r->net, model->settings, r->in, layer, k)
                     : dis__layer_linear(r->net, layer, r->in->trunk, k, DIS_ACT_NONE);
}

/* Heads [first, last) of the model's. */
static dis_status build(const dis_model *model, const dis__device *device, const dis__batch_limits *limits,
                        uint64_t seed, size_t first, size_t last,
                        dis_status (*add_heads)(void *arg, dis__model_net *r, const int *logits), void *arg,
                        dis__model_net *r)
{
    const dis__model_row *row = model->row;
    int logits[DIS_MAX_HEADS];
    const size_t k = dis_names_count(model->classes);
    if (row->fits) DIS_TRY(row->fits(model->settings, k));
    DIS_TRY(dis__net_create(device, seed, &r->net));
    r->row = row;
    r->device = device;
    DIS_TRY(dis__alloc_zeroed(&r->in, 1, row->inputs_size));
    DIS_TRY(row->build(r->net, model->settings, model->encoder, limits, r->in));
    if (!(model->confuses && first > 0)) DIS_TRY(dis__worker_net_build(model, limits, r));
    for (size_t h = 0; h < DIS_MAX_HEADS; h++) r->head[h] = DIS_NONE;
    int class_logits = DIS_NONE;
    for (size_t h = first; h < last; h++) {
        logits[h] = head_logits(model, r, h, class_logits);
        if (!model->confuses || h > 0 || !r->worker_net) continue;
        class_logits = logits[h];
        logits[h] = dis__layer_confusion(r->net, class_logits, r->worker_net->confusion);
    }
    if (add_heads) return add_heads(arg, r, logits);
    for (size_t h = first; h < last; h++) r->head[h] = dis__head_soft(r->net, model->head[h], logits[h], NULL);
    return DIS_OK;
}

dis_status dis__model_net_build(const dis_model *model, const dis__batch_limits *limits, uint64_t seed,
                                dis_status (*add_heads)(void *arg, dis__model_net *r, const int *logits), void *arg,
                                dis__model_net *r)
{
    *r = (dis__model_net){0};
    const dis_status status = build(model, model->device, limits, seed, 0, model->n_heads, add_heads, arg, r);
    if (status != DIS_OK) dis__model_net_free(r);
    return status;
}

static dis_status build_planned(dis_context *ctx, const dis_model *model, const dis__device *device,
                                const dis__batch_limits *limits, size_t head, dis__model_net *r)
{
    dis__plan_options plan = dis__plan_options_default();
    plan.training = false;
    plan.unset = true;
    dis__batch_limits l = *limits;
    l.predicts = true;
    DIS_TRY(build(model, device, &l, model->seed, head, head + 1, NULL, NULL, r));
    DIS_TRY(dis__net_plan(r->net, ctx, &plan));
    DIS_TRY(dis__model_weights_set(&model->weights, r->net));
    return model->row->merge ? model->row->merge(model, r->net) : DIS_OK;
}

dis_status dis__model_prepare_prediction(dis_context *ctx, dis_model *model, const dis__batch_limits *limits,
                                         size_t head)
{
    dis__model_net *r = &model->ready;
    dis__batch_limits *max = &model->ready_limits;
    const dis__device *device;
    DIS_TRY(dis__device_for(ctx, model->device, false, &device));
    if (r->net && r->device == device && r->head[head] != DIS_NONE && limits->units <= max->units &&
        limits->items <= max->items && limits->longest <= max->longest && limits->total <= max->total &&
        dis__net_set_context(r->net, ctx))
        return DIS_OK;
    dis__model_net_free(r);
    const dis_status status = build_planned(ctx, model, device, limits, head, r);
    if (status != DIS_OK) dis__model_net_free(r);
    *max = *limits;
    return status;
}

/* Units in their order, as many as fit. */
static size_t next_batch(const dis__encoded_items *encoded, const dis__batch_limits *limits, size_t first)
{
    size_t u = first, items = 0, total = 0;
    while (u < encoded->n_units && u - first < limits->units) {
        const size_t n = encoded->unit ? (size_t)(encoded->unit[u + 1] - encoded->unit[u]) : 1;
        const size_t length = encoded->length ? encoded->length[u] : 1;
        if (u > first && (items + n > limits->items || total + length > limits->total)) break;
        items += n;
        total += length;
        u++;
    }
    return u - first;
}

static dis_status put_units(dis__model_net *r, const dis_model *model, const dis__encoded_items *encoded, size_t first,
                            size_t n, uint32_t *units)
{
    for (size_t i = 0; i < n; i++) units[i] = (uint32_t)(first + i);
    const dis__unit_batch batch = {.unit = units, .n = n};
    DIS_TRY(dis__model_net_set_batch(model, r, encoded, &batch));
    for (size_t h = 0; h < model->n_heads; h++)
        if (r->head[h] != DIS_NONE) dis__head_clear_targets(r->net, r->head[h]);
    return DIS_OK;
}

/* The next batch is put while a device computes the one before, of which `done` rows are fetched then. */
static dis_status predict_units(dis__model_net *r, const dis_model *model, const dis__encoded_items *encoded,
                                size_t head, const dis__batch_limits *limits, uint32_t *units, double *q)
{
    const size_t k = dis_names_count(model->classes);
    size_t done = 0;
    for (size_t u = 0, n; u < encoded->n_units; u += n) {
        n = next_batch(encoded, limits, u);
        DIS_TRY(put_units(r, model, encoded, u, n, units));
        DIS_TRY(dis__head_get_rows(r->net, r->head[head], done, q));
        DIS_TRY(dis__net_forward(r->net, false));
        q += done * k;
        done = dis__head_rows(r->net, r->head[head]);
    }
    return dis__head_get_rows(r->net, r->head[head], done, q);
}

dis_status dis__model_net_predict(dis__model_net *r, const dis_model *model, const dis__encoded_items *encoded,
                                  size_t head, const dis__batch_limits *limits, double *q)
{
    uint32_t *units;
    DIS_TRY(dis__alloc_array(&units, limits->units, sizeof *units));
    const dis_status status = predict_units(r, model, encoded, head, limits, units, q);
    dis__free(units);
    return status;
}
