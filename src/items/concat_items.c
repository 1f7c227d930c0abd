/* Concatenates tables of items, each with its own prefix of ids. */
#include "items/items_internal.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include <string.h>

static dis_status check_alike(dis_items *const *parts, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (parts[i]->kind != parts[0]->kind || parts[i]->n_texts != parts[0]->n_texts ||
            parts[i]->n_features != parts[0]->n_features || parts[i]->width != parts[0]->width)
            return dis__fail(DIS_EDATA, "files of items that form one table have different kinds or columns");
    return DIS_OK;
}

typedef struct {
    dis_items *to;
    dis__name_list tasks, texts;
    char *name;
    size_t room;
} joining;

static dis_status add_task(joining *j, const char *prefix, const char *task, size_t n)
{
    const size_t before = prefix ? strlen(prefix) : 0;
    DIS_TRY(dis__reserve(&j->name, &j->room, 0, dis__saturating_size(1, before, n) + 1, 1));
    if (before) memcpy(j->name, prefix, before);
    memcpy(j->name + before, task, n);
    return dis__name_list_add(&j->tasks, j->name, before + n);
}

static dis_status add_part(joining *j, const dis_items *from, const char *prefix)
{
    dis_items *to = j->to;
    for (size_t i = 0; i < from->n_items; i++) {
        size_t n;
        const char *text = dis_names_get(from->tasks, i, &n);
        DIS_TRY(add_task(j, prefix, text, n));
        for (size_t t = 0; t < from->n_texts; t++) {
            text = dis_names_get(from->texts, i * from->n_texts + t, &n);
            DIS_TRY(dis__name_list_add(&j->texts, text, n));
        }
    }
    if (from->x)
        memcpy(to->x + to->n_items * to->n_features, from->x, from->n_items * from->n_features * sizeof *to->x);
    for (size_t s = 0; s < from->n_sentences; s++) to->sentence[to->n_sentences++] = to->n_items + from->sentence[s];
    to->n_items += from->n_items;
    if (to->sentence) to->sentence[to->n_sentences] = to->n_items;
    return DIS_OK;
}

static dis_status check_twice(const dis_names *tasks)
{
    size_t twice;
    DIS_TRY(dis__names_find_duplicate(tasks, &twice));
    if (twice == SIZE_MAX) return DIS_OK;
    return dis__fail(DIS_EDATA, "two files have an item \"%.200s\"; give each file its own prefix",
                     dis_names_get(tasks, twice, NULL));
}

static dis_status join(joining *j, dis_items *const *parts, const char *const *prefix, size_t n)
{
    dis_items *to = j->to;
    size_t items = 0, sentences = 0;
    for (size_t i = 0; i < n; i++) {
        items += parts[i]->n_items;
        sentences += parts[i]->n_sentences;
    }
    *to = (dis_items){.kind = parts[0]->kind,
                      .n_texts = parts[0]->n_texts,
                      .height = parts[0]->height,
                      .width = parts[0]->width,
                      .channels = parts[0]->channels,
                      .n_features = parts[0]->n_features};
    if (parts[0]->x) DIS_TRY(dis__alloc_array(&to->x, dis__saturating_size(items, to->n_features, 0), sizeof *to->x));
    if (parts[0]->sentence) DIS_TRY(dis__alloc_array(&to->sentence, sentences + 1, sizeof *to->sentence));
    for (size_t i = 0; i < n; i++) DIS_TRY(add_part(j, parts[i], prefix[i]));
    DIS_TRY(dis__name_list_move(&j->tasks, &to->tasks));
    if (to->n_texts) DIS_TRY(dis__name_list_move(&j->texts, &to->texts));
    return check_twice(to->tasks);
}

dis_status dis__items_concat(dis_context *ctx, dis_items *const *parts, const char *const *prefix, size_t n,
                             dis_items **out)
{
    joining j = {0};
    DIS_TRY(dis__check_stop(ctx));
    DIS_TRY(check_alike(parts, n));
    DIS_TRY(dis__alloc_zeroed(&j.to, 1, sizeof *j.to));
    const dis_status status = join(&j, parts, prefix, n);
    dis__name_list_free(&j.tasks);
    dis__name_list_free(&j.texts);
    dis__free(j.name);
    if (status == DIS_OK)
        *out = j.to;
    else
        dis_items_destroy(j.to);
    return status;
}
