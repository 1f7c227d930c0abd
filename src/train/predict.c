/* Predictions of a trained model, in batches as large as pays. The model keeps its net for the next call. */
#include "core/names_build.h"
#include "core/pool.h"
#include "tables/label_table.h"
#include "train/model.h"
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
static size_t items_of_total(const dis__encoded *encoded, size_t total)
{
    double length = 0;
    for (size_t u = 0; u < encoded->n_units; u++) length += encoded->length[u];
    const double n = length > 0 ? (double)total * (double)encoded->n_items / length : 1;
    return n < 1 ? 1 : n < (double)total ? (size_t)n : total;
}

/* As many batches as the usual size needs, all of about one size. */
static dis__batch_limits even_limits(const dis_model *model, const dis__encoded *encoded)
{
    const size_t own = 2 * model->row->info.batch, max = own > BATCH ? own : BATCH;
    const size_t total = model->row->predict_total, usual = total ? items_of_total(encoded, total) : max;
    const size_t n = encoded->n_items, n_batches = n > usual ? (n + usual - 1) / usual : 1;
    dis__batch_limits limits = dis__limits_of(encoded, (n + n_batches - 1) / n_batches);
    if (encoded->unit && n_batches > 1) limits.items += limits.longest; /* a batch ends with a whole sentence */
    return limits;
}

static dis_status predict(dis_context *ctx, dis_model *model, const dis_items_view *items, size_t head,
                          dis__encoded **encoded, dis_labels *labels)
{
    const size_t k = dis_names_count(model->classes);
    DIS_TRY(dis__encode(ctx, model, items, encoded));
    const dis__batch_limits limits = even_limits(model, *encoded);
    DIS_TRY(dis__model_net_ready(ctx, model, &limits, head));
    DIS_TRY(
        dis__check_memory(ctx, dis__size(dis__size(items->n_items, k, 0), sizeof *labels->p, 0), "the predictions"));
    DIS_TRY(dis__alloc_array(&labels->p, dis__size(items->n_items, k, 0), sizeof *labels->p));
    DIS_TRY(dis__model_net_predict(&model->ready, model, *encoded, head, &limits, labels->p));
    labels->n_items = items->n_items;
    labels->n_classes = k;
    DIS_TRY(dis__names_copy(items->tasks, &labels->tasks));
    return dis__names_copy(model->classes, &labels->classes);
}

dis_status dis_model_predict(dis_context *ctx, dis_model *model, const dis_items *items, const char *head,
                             dis_labels **out)
{
    const dis_items_view view = dis_items_look(items);
    size_t h;
    DIS_TRY(find_head(model, head, &h));
    if (view.kind != model->row->info.items)
        return dis__fail(DIS_EUSAGE, "the model %s was trained on another kind of items", model->row->info.name);
    dis_labels *labels;
    DIS_TRY(dis__alloc_zeroed(&labels, 1, sizeof *labels));
    dis__encoded *encoded = NULL;
    const dis_status status = predict(ctx, model, &view, h, &encoded, labels);
    dis__encoded_free(model, encoded);
    if (status != DIS_OK) {
        dis_labels_destroy(labels);
        return status;
    }
    *out = labels;
    return DIS_OK;
}
