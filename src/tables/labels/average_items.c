/* One distribution per item from several: predictions for single annotators become predictions for items. */
#include "core/memory/memory.h"
#include "tool/label_calls.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *task;
    size_t row;
} task_row;

static int by_task(const void *a, const void *b)
{
    const task_row *x = a, *y = b;
    const int order = strcmp(x->task, y->task);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* item[r]: the index of the item of row r, items in the order of their first row. Returns the number of items. */
static size_t number_items(const dis_names *tasks, task_row *sorted, size_t *item)
{
    const size_t n = dis_names_count(tasks);
    for (size_t r = 0; r < n; r++) sorted[r] = (task_row){dis_names_get(tasks, r, NULL), r};
    qsort(sorted, n, sizeof *sorted, by_task);
    size_t first = 0, n_items = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(sorted[i].task, sorted[i - 1].task) != 0) first = sorted[i].row;
        item[sorted[i].row] = first;
    }
    for (size_t r = 0; r < n; r++) item[r] = item[r] == r ? n_items++ : item[item[r]];
    return n_items;
}

typedef struct {
    task_row *sorted;
    const char **task;
    size_t *item;
    double *p, *n_rows;
    dis_names *tasks;
} averages;

static dis_status average(dis_context *ctx, const dis_labels_view *rows, averages *a, dis_labels **out)
{
    const size_t n = rows->n_classes;
    DIS_TRY(dis__alloc_array(&a->sorted, rows->n_items, sizeof *a->sorted));
    DIS_TRY(dis__alloc_array(&a->task, rows->n_items, sizeof *a->task));
    DIS_TRY(dis__alloc_array(&a->item, rows->n_items, sizeof *a->item));
    DIS_TRY(dis__alloc_zeroed(&a->p, dis__saturating_size(rows->n_items, n, 0), sizeof *a->p));
    DIS_TRY(dis__alloc_zeroed(&a->n_rows, rows->n_items, sizeof *a->n_rows));
    const size_t n_items = number_items(rows->tasks, a->sorted, a->item);
    for (size_t r = 0; r < rows->n_items; r++) {
        const size_t i = a->item[r];
        a->task[i] = dis_names_get(rows->tasks, r, NULL);
        a->n_rows[i]++;
        for (size_t k = 0; k < n; k++) a->p[i * n + k] += rows->p[r * n + k];
    }
    for (size_t i = 0; i < n_items; i++)
        for (size_t k = 0; k < n; k++) a->p[i * n + k] /= a->n_rows[i];
    DIS_TRY(dis_names_create(a->task, n_items, &a->tasks));
    const dis_labels_view view = {.size = sizeof(dis_labels_view),
                                  .n_items = n_items,
                                  .n_classes = n,
                                  .p = a->p,
                                  .tasks = a->tasks,
                                  .classes = rows->classes};
    return dis_labels_create(ctx, &view, out);
}

dis_status dis__labels_average_items(dis_context *ctx, const dis_labels_view *rows, dis_labels **out)
{
    averages a = {0};
    const dis_status status = average(ctx, rows, &a, out);
    dis_names_destroy(a.tasks);
    dis__free(a.sorted);
    dis__free(a.task);
    dis__free(a.item);
    dis__free(a.p);
    dis__free(a.n_rows);
    return status;
}
