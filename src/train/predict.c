/* Predictions of a trained model, in batches as large as pays. The model keeps its network for the next call. */
#include "core/names/name_index.h"
#include "tool/table_columns.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "io/table_rows.h"
#include "items/items_internal.h"
#include "nn/devices.h"
#include "tables/labels/label_table.h"
#include "train/model.h"
#include <math.h>
#include <string.h>

enum { BATCH = 256 }; /* at least; twice the model's own when that is larger, since nothing is kept for backward */

static dis_status find_head(const dis_model *model, const char *name, size_t *head)
{
    *head = 0;
    if (!name) return DIS_OK;
    for (size_t h = 0; h < model->n_heads; h++)
        if (strcmp(model->head[h], name) == 0) {
            *head = h;
            return DIS_OK;
        }
    return dis__fail(DIS_EUSAGE, "the model has no head \"%.60s\"; it has %s%s%s", name, model->head[0],
                     model->n_heads > 1 ? " and " : "", model->n_heads > 1 ? model->head[1] : "");
}

/* Items whose units have that length in all. */
static size_t items_of_total(const dis__encoded_items *encoded, size_t total)
{
    double length = 0;
    for (size_t u = 0; u < encoded->n_units; u++) length += encoded->length[u];
    const double n = length > 0 ? (double)total * (double)encoded->n_items / length : 1;
    return n < 1 ? 1 : n < (double)total ? (size_t)n : total;
}

static size_t total_of(const dis__encoded_items *encoded)
{
    size_t total = 0;
    for (size_t u = 0; u < encoded->n_units; u++) total += encoded->length[u];
    return total;
}

/* As few batches as units of so many lengths in all need, each filled up to one size. */
static dis__batch_limits full_limits(const dis__encoded_items *encoded, size_t at_once)
{
    const size_t all = total_of(encoded), n_batches = all > at_once ? (all + at_once - 1) / at_once : 1;
    const size_t usual = items_of_total(encoded, all / n_batches + 1), n = encoded->n_items;
    dis__batch_limits limits = dis__batch_limits_compute(encoded, 2 * usual < n ? 2 * usual : n);
    limits.items += encoded->unit ? limits.longest : 0;
    limits.total = all / n_batches + (n_batches > 1 ? limits.longest : 1);
    return limits;
}

/* As many batches as the usual size needs, all of about one size. */
static dis__batch_limits even_limits(const dis_model *model, const dis__encoded_items *encoded)
{
    const size_t own = 2 * model->row->info.batch, max = own > BATCH ? own : BATCH;
    const size_t total = model->row->predict_total, usual = total ? items_of_total(encoded, total) : max;
    const size_t n = encoded->n_items, n_batches = n > usual ? (n + usual - 1) / usual : 1;
    dis__batch_limits limits = dis__batch_limits_compute(encoded, (n + n_batches - 1) / n_batches);
    if (encoded->unit && n_batches > 1) limits.items += limits.longest; /* a batch ends with a whole sentence */
    return limits;
}

/* A network for large batches where the device likes them and has room for it. */
static dis_status get_ready(dis_context *ctx, dis_model *model, const dis__encoded_items *encoded, size_t head,
                            dis__batch_limits *limits)
{
    const dis__device *device;
    DIS_TRY(dis__device_for(ctx, model->device, false, &device));
    if (model->row->predict_total && encoded->length && device->at_once) {
        *limits = full_limits(encoded, device->at_once);
        const dis_status status = dis__model_prepare_prediction(ctx, model, limits, head);
        if (status != DIS_ELIMIT) return status;
    }
    *limits = even_limits(model, encoded);
    return dis__model_prepare_prediction(ctx, model, limits, head);
}

/* Weights are finite, and their products may still overflow. */
static dis_status check_finite(const dis_items_view *items, const double *p, size_t k)
{
    for (size_t i = 0; i < items->n_items; i++)
        for (size_t c = 0; c < k; c++)
            if (!isfinite(p[i * k + c]))
                return dis__fail(DIS_EDATA,
                                 "item \"%.100s\": the model's output is not finite; its weights overflow float32",
                                 dis_names_get(items->tasks, i, NULL));
    return DIS_OK;
}

static dis_status predict(dis_context *ctx, dis_model *model, const dis_items_view *items, const int32_t *worker,
                          size_t head, dis__encoded_items **encoded, dis_labels *labels)
{
    const size_t k = dis_names_count(model->classes);
    DIS_TRY(dis__encode_items(ctx, model, items, encoded));
    (*encoded)->worker = worker;
    dis__batch_limits limits;
    DIS_TRY(get_ready(ctx, model, *encoded, head, &limits));
    DIS_TRY(dis__check_memory(ctx,
                              dis__saturating_size(dis__saturating_size(items->n_items, k, 0), sizeof *labels->p, 0),
                              "the predictions"));
    DIS_TRY(dis__alloc_array(&labels->p, dis__saturating_size(items->n_items, k, 0), sizeof *labels->p));
    DIS_TRY(dis__model_net_predict(&model->ready, model, *encoded, head, &limits, labels->p));
    DIS_TRY(check_finite(items, labels->p, k));
    labels->n_items = items->n_items;
    labels->n_classes = k;
    DIS_TRY(dis__names_copy(items->tasks, &labels->tasks));
    return dis__names_copy(model->classes, &labels->classes);
}

static dis_status predict_items(dis_context *ctx, dis_model *model, const dis_items *items, const int32_t *worker,
                                const char *head, dis_labels **out)
{
    const dis_items_view view = dis_items_get_view(items);
    size_t h;
    DIS_TRY(find_head(model, head, &h));
    if (view.kind != model->row->info.items_kind)
        return dis__fail(DIS_EUSAGE, "the model %s was trained on another kind of items", model->row->info.name);
    dis_labels *labels;
    DIS_TRY(dis__alloc_zeroed(&labels, 1, sizeof *labels));
    dis__encoded_items *encoded = NULL;
    const dis_status status =
        dis__input_check(&model->weights.file, predict(ctx, model, &view, worker, h, &encoded, labels));
    dis__encoded_items_free(model, encoded);
    if (status != DIS_OK) {
        dis_labels_destroy(labels);
        return status;
    }
    *out = labels;
    return DIS_OK;
}

dis_status dis_model_predict(dis_context *ctx, dis_model *model, const dis_items *items, const char *head,
                             dis_labels **out)
{
    return predict_items(ctx, model, items, NULL, head, out);
}

/* ---- for each worker ---- */

/* Those whom the model was told of: -2, -3, ... */
static dis_status match_others(const dis_model *model, const dis_names *workers, int32_t *worker)
{
    size_t *number;
    DIS_TRY(dis__names_match_alloc(model->features.others, workers, &number, NULL));
    for (size_t r = 0; r < dis_names_count(workers); r++)
        if (worker[r] == -1 && number[r] != SIZE_MAX) worker[r] = -2 - (int32_t)number[r];
    dis__free(number);
    return DIS_OK;
}

/* Rows of the items, and numbers of the workers, of each pair. */
static dis_status match_pairs(const dis_model *model, const dis_items *items, const dis_names *tasks,
                              const dis_names *workers, size_t *rows, int32_t *worker, size_t *unknown)
{
    const size_t n = dis_names_count(tasks);
    size_t *number;
    DIS_TRY(dis__names_match(dis_items_get_view(items).tasks, tasks, rows, NULL));
    for (size_t r = 0; r < n; r++)
        if (rows[r] == SIZE_MAX)
            return dis__fail(
                DIS_EDATA,
                "pair %zu: the task \"%.100s\" is not among the items%s%.200s; remove the pair, or add the item", r + 1,
                dis_names_get(tasks, r, NULL), items->path ? " of " : "", items->path ? items->path : "");
    DIS_TRY(dis__names_match_alloc(model->workers, workers, &number, NULL));
    for (size_t r = 0; r < n; r++) worker[r] = number[r] == SIZE_MAX ? -1 : (int32_t)number[r];
    dis__free(number);
    if (model->features.others) DIS_TRY(match_others(model, workers, worker));
    size_t missing = 0;
    for (size_t r = 0; r < n; r++) missing += worker[r] == -1;
    if (unknown) *unknown = missing;
    return DIS_OK;
}

dis_status dis_model_set_workers(dis_model *model, const dis_worker_table *table)
{
    if (!model->features.width)
        return dis__fail(DIS_EUSAGE, "this model uses no worker features; train one with `worker_features`");
    return dis__worker_features_set_new_workers(&model->features, table, model->workers);
}

dis_status dis_model_predict_workers(dis_context *ctx, dis_model *model, const dis_items *items, const dis_names *tasks,
                                     const dis_names *workers, dis_labels **out, size_t *unknown)
{
    const size_t n = dis_names_count(tasks);
    if (!model->workers)
        return dis__fail(DIS_EUSAGE,
                         "this model has no annotators; train one with the objective annotator or annot-mix");
    if (n == 0 || dis_names_count(workers) != n)
        return dis__fail(DIS_EUSAGE, "%zu tasks but %zu workers: pairs need one of each", n, dis_names_count(workers));
    size_t *rows = NULL;
    int32_t *worker = NULL;
    dis_items *pairs = NULL;
    dis_status status = dis__alloc_array(&rows, n, sizeof *rows);
    if (status == DIS_OK) status = dis__alloc_array(&worker, n, sizeof *worker);
    if (status == DIS_OK) status = match_pairs(model, items, tasks, workers, rows, worker, unknown);
    if (status == DIS_OK) status = dis_items_gather(ctx, items, rows, n, &pairs);
    if (status == DIS_OK) status = predict_items(ctx, model, pairs, worker, NULL, out);
    dis_items_destroy(pairs);
    dis__free(rows);
    dis__free(worker);
    return status;
}

static dis_status read_pairs(dis__table_rows *r, dis__name_list *tasks, dis__name_list *workers)
{
    static const char *const columns[] = {"task", "worker|performer|annotator"};
    r->hint = "; name the columns task and worker";
    DIS_TRY(dis__table_rows_select(r, columns, 2));
    for (bool more;;) {
        DIS_TRY(dis__table_rows_next(r, &more));
        if (!more) return DIS_OK;
        for (size_t c = 0; c < 2; c++)
            if (r->cell[c].n == 0)
                return dis__table_rows_fail(r, c, "an empty %s; a pair needs both", c ? "worker" : "task");
        DIS_TRY(dis__name_list_add(tasks, r->cell[0].text, r->cell[0].n));
        DIS_TRY(dis__name_list_add(workers, r->cell[1].text, r->cell[1].n));
    }
}

dis_status dis__task_worker_pairs_read(dis_context *ctx, const char *path, dis_names **tasks, dis_names **workers)
{
    dis__table_rows r;
    dis__name_list lists[2] = {{0}};
    dis_names *of_tasks = NULL;
    DIS_TRY(dis__table_rows_open(ctx, path, NULL, &r));
    dis_status status = read_pairs(&r, &lists[0], &lists[1]);
    status = dis__table_rows_finish(&r, status);
    if (status == DIS_OK && lists[0].n == 0)
        status = dis__fail_at(DIS_EDATA, path, 0, 0, "no pairs of task and worker");
    if (status == DIS_OK) status = dis__name_list_move(&lists[0], &of_tasks);
    if (status == DIS_OK) status = dis__name_list_move(&lists[1], workers);
    dis__name_list_free(&lists[0]);
    dis__name_list_free(&lists[1]);
    if (status == DIS_OK)
        *tasks = of_tasks;
    else
        dis_names_destroy(of_tasks);
    return status;
}
