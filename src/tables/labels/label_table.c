/* Tables of soft labels: creation and destruction, alignment, and properties of a single row. */
#include "core/numbers/elementary.h"
#include "tool/arrays.h"
#include "tables/labels/label_table.h"
#include "core/memory/memory.h"
#include "core/options/sized_structs.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_labels_view, .size = sizeof(dis_labels_view))

void dis_labels_destroy(dis_labels *labels)
{
    if (!labels) return;
    dis__free(labels->p);
    dis_names_destroy(labels->tasks);
    dis_names_destroy(labels->classes);
    dis__free(labels->path);
    dis__free(labels);
}

static dis_labels_view view_of(const dis_labels *labels)
{
    return (dis_labels_view){.size = sizeof(dis_labels_view),
                             .n_items = labels->n_items,
                             .n_classes = labels->n_classes,
                             .p = labels->p,
                             .tasks = labels->tasks,
                             .classes = labels->classes};
}
DIS_SIZED_VIEW_DEFINE(dis_labels, labels, view_of(labels))

size_t dis_labels_n_items(const dis_labels *labels)
{
    return labels->n_items;
}

size_t dis_labels_n_classes(const dis_labels *labels)
{
    return labels->n_classes;
}

const double *dis_labels_p(const dis_labels *labels)
{
    return labels->p;
}

const dis_names *dis_labels_tasks(const dis_labels *labels)
{
    return labels->tasks;
}

const dis_names *dis_labels_classes(const dis_labels *labels)
{
    return labels->classes;
}

uint64_t dis_labels_n_renormalised(const dis_labels *labels)
{
    return labels->renormalised;
}

bool dis__labels_check_row(double *p, size_t n_classes, const dis_labels_read_options *options, uint64_t *renormalised,
                           dis__row_sum_error *why)
{
    const bool renormalise = options->renormalise;
    double sum = 0, max = 0;
    for (size_t k = 0; k < n_classes; k++) {
        p[k] += 0.0; /* -0 becomes 0: it would be written as 0 and so read back with other bits */
        sum += p[k];
        max = p[k] > max ? p[k] : max;
    }
    if (options->multi_label) {
        if (max > 1) snprintf(why->problem, sizeof why->problem, "a probability of %.9g; it must be at most 1", max);
        return max <= 1;
    }
    if (fabs(sum - 1) <= DIS_SUM_TOLERANCE) return true;
    if (!renormalise || !(sum > 0) || !isfinite(sum)) {
        snprintf(why->problem, sizeof why->problem, "probabilities that sum to %.9g, not 1; %s", sum,
                 renormalise ? "that cannot be scaled" : "fix them, or let them be scaled (`renormalise`)");
        return false;
    }
    for (size_t k = 0; k < n_classes; k++) p[k] /= sum;
    ++*renormalised;
    return true;
}

/* order[i]: the index in `from` of name i of `to`. Both must hold the same names. */
static dis_status match(const dis_names *from, const dis_names *to, const char *what, size_t *order)
{
    const size_t n = dis_names_count(to);
    size_t which;
    DIS_TRY(dis__names_match(from, to, order, NULL));
    for (size_t i = 0; i < n; i++)
        if (order[i] == SIZE_MAX)
            return dis__fail(DIS_EDATA, "no labels for the %s \"%.200s\"", what, dis_names_get(to, i, NULL));
    if (dis_names_count(from) == n) return DIS_OK;
    /* `from` has more: name one of them. */
    DIS_TRY(dis__names_find_missing(from, to, &which));
    if (which == SIZE_MAX) return dis__fail(DIS_EDATA, "a %s is repeated", what);
    return dis__fail(DIS_EDATA, "labels for the %s \"%.200s\", which the other table does not have; give both the same",
                     what, dis_names_get(from, which, NULL));
}

static dis_status align(const dis_labels *labels, const dis_names *tasks, const dis_names *classes, dis_labels *out,
                        size_t *row, size_t *column)
{
    const size_t n_items = dis_names_count(tasks), n_classes = dis_names_count(classes);
    const bool same_rows = dis__names_equal(labels->tasks, tasks),
               same_columns = dis__names_equal(labels->classes, classes);
    if (!same_columns) DIS_TRY(match(labels->classes, classes, "class", column));
    if (!same_rows) DIS_TRY(match(labels->tasks, tasks, "task", row));
    out->n_items = n_items;
    out->n_classes = n_classes;
    out->renormalised = labels->renormalised;
    DIS_TRY(dis__alloc_array(&out->p, dis__saturating_size(n_items, n_classes, 0), sizeof *out->p));
    for (size_t i = 0; i < n_items; i++) {
        const double *from = labels->p + (same_rows ? i : row[i]) * n_classes;
        double *to = out->p + i * n_classes;
        if (same_columns)
            memcpy(to, from, n_classes * sizeof *to);
        else
            for (size_t k = 0; k < n_classes; k++) to[k] = from[column[k]];
    }
    DIS_TRY(dis__names_copy(tasks, &out->tasks));
    return dis__names_copy(classes, &out->classes);
}

dis_status dis_labels_align(dis_context *ctx, const dis_labels *labels, const dis_names *tasks,
                            const dis_names *classes, dis_labels **out)
{
    DIS_MEMORY_SCOPE(ctx);
    DIS_TRY(dis__check_stop(ctx));
    dis_labels *aligned = NULL;
    size_t *row = NULL, *column = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&aligned, 1, sizeof *aligned), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&row, dis_names_count(tasks), sizeof *row), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&column, dis_names_count(classes), sizeof *column), end);
    status = align(labels, tasks, classes, aligned, row, column);
end:
    dis__free(row);
    dis__free(column);
    if (status != DIS_OK) {
        dis_labels_destroy(aligned);
        return status;
    }
    *out = aligned;
    return DIS_OK;
}

size_t dis__argmax(const double *p, size_t n_classes)
{
    size_t best = 0;
    for (size_t k = 1; k < n_classes; k++)
        if (p[k] > p[best]) best = k;
    return best;
}

double dis__entropy(const double *p, size_t n_classes)
{
    double h = 0;
    for (size_t k = 0; k < n_classes; k++)
        if (p[k] > 0) h -= p[k] * dis__log(p[k]);
    return h > 0 ? h : 0; /* one class with all the mass, rounded above 1, must not give less than nothing */
}
