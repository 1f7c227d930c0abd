/* Items in memory, copied into a new table. Cost: the copy, and a lookup per id. */
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "items/items_internal.h"
#include "core/options/sized_structs.h"
#include <math.h>
#include <string.h>

static dis_status copy_tasks(const dis_items_view *v, dis_items *items)
{
    if (!v->tasks) return dis__names_from_numbers(v->n_items, &items->tasks);
    if (dis_names_count(v->tasks) != v->n_items)
        return dis__fail(DIS_EUSAGE, "%zu ids for %zu items", dis_names_count(v->tasks), v->n_items);
    for (size_t i = 0; i < v->n_items; i++) {
        size_t n;
        dis_names_get(v->tasks, i, &n);
        if (n == 0) return dis__fail(DIS_EDATA, "item %zu (counted from 0) has an empty id", i);
    }
    DIS_TRY(dis__names_copy(v->tasks, &items->tasks));
    return dis__items_check_duplicates(items);
}

static dis_status copy_texts(const dis_items_view *v, dis_items *items)
{
    if (v->n_texts == 0 || !v->texts || dis_names_count(v->texts) != dis__saturating_size(v->n_items, v->n_texts, 0))
        return dis__fail(DIS_EUSAGE, "%zu texts for %zu items of %zu each", v->texts ? dis_names_count(v->texts) : 0,
                         v->n_items, v->n_texts);
    items->n_texts = v->n_texts;
    return dis__names_copy(v->texts, &items->texts);
}

static dis_status copy_sentences(const dis_items_view *v, dis_items *items)
{
    if (v->n_sentences == 0 || !v->sentence || v->n_texts != 1)
        return dis__fail(DIS_EUSAGE, "tokens must have one text each, and a sentence");
    for (size_t s = 0; s < v->n_sentences; s++)
        if (v->sentence[s] >= v->sentence[s + 1])
            return dis__fail(DIS_EDATA, "sentence %zu (counted from 0) has no tokens; leave it out", s);
    if (v->sentence[0] != 0 || v->sentence[v->n_sentences] != v->n_items)
        return dis__fail(DIS_EDATA, "the sentences have tokens %llu to %llu of %zu", (unsigned long long)v->sentence[0],
                         (unsigned long long)v->sentence[v->n_sentences], v->n_items);
    DIS_TRY(dis__alloc_array(&items->sentence, v->n_sentences + 1, sizeof *items->sentence));
    memcpy(items->sentence, v->sentence, (v->n_sentences + 1) * sizeof *items->sentence);
    items->n_sentences = v->n_sentences;
    return DIS_OK;
}

static dis_status copy_values(dis_context *ctx, const dis_items_view *v, dis_items *items)
{
    const bool images = v->kind == DIS_ITEMS_IMAGES;
    const size_t n = dis__saturating_size(v->n_items, v->n_features, 0);
    if (v->n_features == 0 || !v->x) return dis__fail(DIS_EUSAGE, "items without numbers");
    if (images && dis__saturating_size(dis__saturating_size(v->height, v->width, 0), v->channels, 0) != v->n_features)
        return dis__fail(DIS_EUSAGE, "images of %zu x %zu x %zu, but %zu numbers each", v->height, v->width,
                         v->channels, v->n_features);
    DIS_TRY(dis__check_memory(ctx, dis__saturating_size(n, sizeof *items->x, 0), "the items"));
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v->x[i]))
            return dis__fail(DIS_EDATA, "row %zu, number %zu is not finite (counted from 0)", i / v->n_features,
                             i % v->n_features);
    DIS_TRY(dis__alloc_array(&items->x, n, sizeof *items->x));
    memcpy(items->x, v->x, n * sizeof *items->x);
    items->n_features = v->n_features;
    items->height = images ? v->height : 0;
    items->width = images ? v->width : 0;
    items->channels = images ? v->channels : 0;
    return DIS_OK;
}

static dis_status copy_items(dis_context *ctx, const dis_items_view *v, dis_items *items)
{
    items->kind = v->kind;
    items->n_items = v->n_items;
    DIS_TRY(copy_tasks(v, items));
    if (v->kind == DIS_ITEMS_FEATURES || v->kind == DIS_ITEMS_IMAGES) return copy_values(ctx, v, items);
    DIS_TRY(copy_texts(v, items));
    return v->kind == DIS_ITEMS_TOKENS ? copy_sentences(v, items) : DIS_OK;
}

dis_status dis_items_create(dis_context *ctx, const dis_items_view *given, dis_items **out)
{
    dis_items_view own = dis_items_view_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_items_view, &own, given));
    const dis_items_view *view = &own;
    if (view->n_items == 0) return dis__fail(DIS_EDATA, "no items");
    DIS_TRY(dis__check_stop(ctx));
    dis_items *items;
    DIS_TRY(dis__alloc_zeroed(&items, 1, sizeof *items));
    const dis_status status = copy_items(ctx, view, items);
    if (status != DIS_OK) {
        dis_items_destroy(items);
        return status;
    }
    *out = items;
    return DIS_OK;
}
