/* Gold labels from memory. Cost: the copy, and a lookup per task. */
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "tables/gold_labels/gold_table.h"
#include "core/options/sized_structs.h"
#include <string.h>

static const char from_memory[] = "gold labels";

static dis_status check_names(const dis_names *names, const char *what)
{
    for (size_t i = 0; i < dis_names_count(names); i++) {
        size_t n;
        dis_names_get(names, i, &n);
        if (n == 0) return dis__fail(DIS_EDATA, "%s: an empty %s", from_memory, what);
    }
    size_t twice;
    DIS_TRY(dis__names_find_duplicate(names, &twice));
    if (twice == SIZE_MAX) return DIS_OK;
    return dis__fail(DIS_EDATA, "%s: the %s \"%.200s\" is repeated; keep one", from_memory, what,
                     dis_names_get(names, twice, NULL));
}

static dis_status copy_gold(const dis_gold_view *v, dis_gold *gold)
{
    const size_t k = dis_names_count(v->classes);
    DIS_TRY(check_names(v->tasks, "task"));
    DIS_TRY(check_names(v->classes, "class"));
    for (size_t i = 0; i < v->n_items; i++)
        if (v->label[i] < 0 || (size_t)v->label[i] >= k)
            return dis__fail(DIS_EDATA, "%s: the label %d of task \"%.200s\" is outside of %zu classes", from_memory,
                             v->label[i], dis_names_get(v->tasks, i, NULL), k);
    DIS_TRY(dis__copy_text(&gold->path, from_memory, sizeof from_memory - 1));
    DIS_TRY(dis__alloc_array(&gold->label, v->n_items, sizeof *gold->label));
    DIS_TRY(dis__alloc_array(&gold->row, v->n_items, sizeof *gold->row));
    memcpy(gold->label, v->label, v->n_items * sizeof *gold->label);
    for (size_t i = 0; i < v->n_items; i++) gold->row[i] = i + 1;
    gold->n = v->n_items;
    DIS_TRY(dis__names_copy(v->tasks, &gold->tasks));
    return dis__names_copy(v->classes, &gold->classes);
}

dis_status dis_gold_create(dis_context *ctx, const dis_gold_view *given, dis_gold **out)
{
    dis_gold_view own = dis_gold_view_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_gold_view, &own, given));
    const dis_gold_view *view = &own;
    if (view->n_items == 0) return dis__fail(DIS_EDATA, "no gold labels");
    if (!view->tasks || !view->classes || dis_names_count(view->tasks) != view->n_items)
        return dis__fail(DIS_EUSAGE, "%s need a task each, and classes", from_memory);
    DIS_TRY(dis__check_stop(ctx));
    dis_gold *gold;
    DIS_TRY(dis__alloc_zeroed(&gold, 1, sizeof *gold));
    const dis_status status = copy_gold(view, gold);
    if (status != DIS_OK) {
        dis_gold_destroy(gold);
        return status;
    }
    *out = gold;
    return DIS_OK;
}
