/* The texts of items in the order of another table, such as that of the votes. O(items), one look-up each. */
#include "items/items_internal.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/os/os.h"
#include "votes/table/scales.h"
#include <string.h>

static const char between[] = " / ";

/* Concatenates the non-empty texts of a row in a growing buffer. */
static dis_status joined(const dis_items *items, size_t row, char **room, size_t *capacity, size_t *used)
{
    *used = 0;
    for (size_t t = 0; t < items->n_texts; t++) {
        size_t n;
        const char *text = dis_names_get(items->texts, row * items->n_texts + t, &n);
        DIS_TRY(dis__reserve(room, capacity, *used, dis__saturating_size(1, *used + sizeof between, n), 1));
        if (*used && n) {
            memcpy(*room + *used, between, strlen(between));
            *used += strlen(between);
        }
        memcpy(*room + *used, text, n);
        *used += n;
    }
    return DIS_OK;
}

/* The task of a comparison or a span ends with two parts, the two options or positions; the text is that of the rest.
 * Returns its length, or n without such parts. */
static size_t length_without_parts(const char *name, size_t n)
{
    const char *last = dis__os_find_last(name, DIS_PART_SEPARATOR, n);
    const char *middle = last ? dis__os_find_last(name, DIS_PART_SEPARATOR, (size_t)(last - name)) : NULL;
    return middle ? (size_t)(middle - name) : n;
}

static dis_status match_without_parts(const dis_items *items, const dis_names *tasks, size_t **row, size_t *found)
{
    dis__name_list list = {0};
    dis_names *names = NULL;
    dis_status status = DIS_OK;
    for (size_t i = 0; i < dis_names_count(tasks) && status == DIS_OK; i++) {
        size_t n;
        const char *name = dis_names_get(tasks, i, &n);
        status = dis__name_list_add(&list, name, length_without_parts(name, n));
    }
    if (status == DIS_OK) status = dis__name_list_move(&list, &names);
    if (status == DIS_OK) status = dis__names_match_alloc(items->tasks, names, row, found);
    dis__name_list_free(&list);
    dis_names_destroy(names);
    return status;
}

dis_status dis_items_get_texts(const dis_items *items, const dis_names *tasks, dis_names **out, size_t *found)
{
    dis__name_list list = {0};
    char *room = NULL;
    size_t capacity = 0, *row, n_found;
    if (items->n_texts == 0) return dis__fail(DIS_EUSAGE, "these items have no texts: they are features or images");
    DIS_TRY(match_without_parts(items, tasks, &row, &n_found));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < dis_names_count(tasks) && status == DIS_OK; i++) {
        size_t used = 0;
        if (row[i] != SIZE_MAX) status = joined(items, row[i], &room, &capacity, &used);
        if (status == DIS_OK) status = dis__name_list_add(&list, used ? room : "", used);
    }
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    if (status == DIS_OK && found) *found = n_found;
    dis__name_list_free(&list);
    dis__free(row);
    dis__free(room);
    return status;
}
