/* The labels of open items, in order of first appearance. Undeclared classes are in the order used in label files.
 * Cost: a sort of the open items and a copy of their labels. */
#include "core/memory/memory.h"
#include "labels/online/watch_internal.h"
#include "votes/table/class_names.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t serial;
    size_t place;
} entry;

static int by_serial(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static dis_status class_names(const dis_watch *w, dis_names **out)
{
    const char **text;
    dis_names *found;
    DIS_TRY(dis__alloc_array(&text, w->n_classes, sizeof *text));
    for (size_t k = 0; k < w->n_classes; k++) text[k] = w->class_name.bytes + w->class_name.start[k];
    dis_status status = dis_names_create(text, w->n_classes, w->o.n_classes ? out : &found);
    dis__free(text);
    if (status != DIS_OK || w->o.n_classes) return status;
    status = dis__names_in_class_order(found, out);
    dis_names_destroy(found);
    return status;
}

/* p: (n, classes) labels of the entries, in the order of `classes`. */
static dis_status gather_labels(const dis_watch *w, const entry *e, size_t n, const dis_names *classes, double *p,
                                dis__name_list *tasks)
{
    const size_t K = w->n_classes;
    double *q;
    size_t *column;
    DIS_TRY(dis__alloc_array(&column, K, sizeof *column));
    dis_status status = dis__alloc_array(&q, K, sizeof *q);
    if (status != DIS_OK) {
        dis__free(column);
        return status;
    }
    for (size_t k = 0; k < K; k++) {
        const uint64_t *start = w->class_name.start;
        column[k] = dis_names_find(classes, w->class_name.bytes + start[k], (size_t)(start[k + 1] - start[k]) - 1);
    }
    for (size_t i = 0; i < n && status == DIS_OK; i++) {
        const dis__open_item *item = &w->item[e[i].place];
        dis__watch_temper_posterior(w, w->p + e[i].place * w->row, item->n_votes, q);
        for (size_t k = 0; k < K; k++) p[i * K + column[k]] = q[k];
        status = dis__name_list_add(tasks, item->name, item->n_name);
    }
    dis__free(column);
    dis__free(q);
    return status;
}

dis_status dis_watch_write(const dis_watch *w, const char *path, const char *format)
{
    const size_t n = w->n_open, K = w->n_classes;
    entry *e = NULL;
    double *p = NULL;
    dis__name_list list = {0};
    dis_names *classes = NULL, *tasks = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&e, n, sizeof *e), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&p, dis__saturating_size(n, K, 0), sizeof *p), end);
    DIS_TRY_GOTO(status, class_names(w, &classes), end);
    for (size_t i = 0, at = 0; i < w->n_places; i++)
        if (w->item[i].name) e[at++] = (entry){.serial = w->item[i].serial, .place = i};
    qsort(e, n, sizeof *e, by_serial);
    DIS_TRY_GOTO(status, gather_labels(w, e, n, classes, p, &list), end);
    DIS_TRY_GOTO(status, dis__name_list_move(&list, &tasks), end);
    const dis_labels_view labels = {
        .size = sizeof(dis_labels_view), .n_items = n, .n_classes = K, .p = p, .tasks = tasks, .classes = classes};
    status = dis_labels_write(NULL, &labels, path, format);
end:
    dis__free(e);
    dis__free(p);
    dis__name_list_free(&list);
    dis_names_destroy(tasks);
    dis_names_destroy(classes);
    return status;
}
