/* Copies some items of a table into a new table: for splits. Cost: the copy. */
#include "tool/arrays.h"
#include "items/items_internal.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "core/random/random.h"
#include <string.h>

static dis_status copy_name(const dis_names *from, size_t i, dis__name_list *to)
{
    size_t n;
    const char *text = dis_names_get(from, i, &n);
    return dis__name_list_add(to, text, n);
}

static dis_status copy_item(const dis_items *from, size_t i, dis_items *to, dis__name_list *tasks,
                            dis__name_list *texts)
{
    DIS_TRY(copy_name(from->tasks, i, tasks));
    for (size_t t = 0; t < from->n_texts; t++) DIS_TRY(copy_name(from->texts, i * from->n_texts + t, texts));
    if (from->x)
        memcpy(to->x + to->n_items * from->n_features, from->x + i * from->n_features,
               from->n_features * sizeof *from->x);
    if (from->line) to->line[to->n_items] = from->line[i];
    to->n_items++;
    return DIS_OK;
}

static dis_status copy(const dis_items *from, const size_t *rows, size_t n, dis_items *to, dis__name_list *tasks,
                       dis__name_list *texts)
{
    *to = (dis_items){.kind = from->kind,
                      .n_texts = from->n_texts,
                      .height = from->height,
                      .width = from->width,
                      .channels = from->channels,
                      .n_features = from->n_features};
    size_t n_items = 0;
    for (size_t r = 0; r < n; r++)
        n_items += from->sentence ? (size_t)(from->sentence[rows[r] + 1] - from->sentence[rows[r]]) : 1;
    if (from->path) DIS_TRY(dis__copy_text(&to->path, from->path, strlen(from->path)));
    if (from->line) DIS_TRY(dis__alloc_array(&to->line, n_items, sizeof *to->line));
    if (from->x) DIS_TRY(dis__alloc_array(&to->x, dis__saturating_size(n, from->n_features, 0), sizeof *to->x));
    if (from->sentence) DIS_TRY(dis__alloc_array(&to->sentence, n + 1, sizeof *to->sentence));
    for (size_t r = 0; r < n; r++) {
        const size_t first = from->sentence ? (size_t)from->sentence[rows[r]] : rows[r];
        const size_t end = from->sentence ? (size_t)from->sentence[rows[r] + 1] : rows[r] + 1;
        if (to->sentence) to->sentence[to->n_sentences++] = to->n_items;
        for (size_t i = first; i < end; i++) DIS_TRY(copy_item(from, i, to, tasks, texts));
    }
    if (to->sentence) to->sentence[to->n_sentences] = to->n_items;
    DIS_TRY(dis__name_list_move(tasks, &to->tasks));
    return from->n_texts ? dis__name_list_move(texts, &to->texts) : DIS_OK;
}

dis_status dis_items_gather(dis_context *ctx, const dis_items *items, const size_t *rows, size_t n, dis_items **out)
{
    const size_t n_rows = items->sentence ? items->n_sentences : items->n_items;
    if (n == 0) return dis__fail(DIS_EUSAGE, "no items to select");
    for (size_t r = 0; r < n; r++)
        if (rows[r] >= n_rows) return dis__fail(DIS_EUSAGE, "row %zu is outside of %zu rows", rows[r], n_rows);
    DIS_TRY(dis__check_stop(ctx));
    dis_items *to;
    dis__name_list tasks = {0}, texts = {0};
    DIS_TRY(dis__alloc_zeroed(&to, 1, sizeof *to));
    const dis_status status = copy(items, rows, n, to, &tasks, &texts);
    dis__name_list_free(&tasks);
    dis__name_list_free(&texts);
    if (status != DIS_OK) {
        dis_items_destroy(to);
        return status;
    }
    *out = to;
    return DIS_OK;
}

void dis__shuffle(uint64_t seed, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)dis__random_below(seed, DIS_STREAM_SPLIT, i, i), held = order[i - 1];
        order[i - 1] = order[j];
        order[j] = held;
    }
}
