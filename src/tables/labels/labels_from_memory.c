/* A table of soft labels from memory: with the same checks as rows of a file. Cost: the copy, and a lookup per name. */
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "tables/labels/label_table.h"
#include "core/options/sized_structs.h"
#include <math.h>
#include <string.h>

static dis_status copy_names(const dis_names *names, size_t n, const char *what, dis_names **out)
{
    if (!names || dis_names_count(names) != n)
        return dis__fail(DIS_EUSAGE, "%zu names for %zu %ss", names ? dis_names_count(names) : 0, n, what);
    for (size_t i = 0; i < n; i++) {
        size_t length;
        dis_names_get(names, i, &length);
        if (length == 0) return dis__fail(DIS_EDATA, "%s %zu (counted from 0) has an empty name", what, i);
    }
    size_t twice;
    DIS_TRY(dis__names_find_duplicate(names, &twice));
    if (twice != SIZE_MAX)
        return dis__fail(DIS_EDATA, "the %s \"%.200s\" is repeated", what, dis_names_get(names, twice, NULL));
    return dis__names_copy(names, out);
}

static dis_status copy_rows(const dis_labels_view *v, dis_labels *labels)
{
    const size_t k = v->n_classes;
    const dis_labels_read_options strict = dis_labels_read_options_default();
    for (size_t i = 0; i < v->n_items; i++) {
        double *p = labels->p + i * k;
        memcpy(p, v->p + i * k, k * sizeof *p);
        for (size_t c = 0; c < k; c++)
            if (!isfinite(p[c]) || p[c] < 0)
                return dis__fail(DIS_EDATA, "the task \"%.200s\" has the probability %g; it must be 0 or more",
                                 dis_names_get(v->tasks, i, NULL), p[c]);
        dis__row_sum_error why;
        if (!dis__labels_check_row(p, k, &strict, &labels->renormalised, &why))
            return dis__fail(DIS_EDATA, "the task \"%.200s\" has %s", dis_names_get(v->tasks, i, NULL), why.problem);
    }
    return DIS_OK;
}

static dis_status copy_labels(dis_context *ctx, const dis_labels_view *v, dis_labels *labels)
{
    const size_t n = dis__saturating_size(v->n_items, v->n_classes, 0);
    DIS_TRY(copy_names(v->tasks, v->n_items, "task", &labels->tasks));
    DIS_TRY(copy_names(v->classes, v->n_classes, "class", &labels->classes));
    DIS_TRY(dis__check_memory(ctx, dis__saturating_size(n, sizeof *labels->p, 0), "the labels"));
    DIS_TRY(dis__alloc_array(&labels->p, n, sizeof *labels->p));
    labels->n_items = v->n_items;
    labels->n_classes = v->n_classes;
    return copy_rows(v, labels);
}

dis_status dis_labels_create(dis_context *ctx, const dis_labels_view *given, dis_labels **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_labels_view own = dis_labels_view_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_labels_view, &own, given));
    const dis_labels_view *view = &own;
    if (view->n_items == 0 || view->n_classes == 0)
        return dis__fail(DIS_EDATA, "labels need items and classes; got %zu and %zu", view->n_items, view->n_classes);
    DIS_TRY(dis__check_stop(ctx));
    dis_labels *labels;
    DIS_TRY(dis__alloc_zeroed(&labels, 1, sizeof *labels));
    const dis_status status = copy_labels(ctx, view, labels);
    if (status != DIS_OK) {
        dis_labels_destroy(labels);
        return status;
    }
    *out = labels;
    return DIS_OK;
}
