/* Comparisons from the votes: a task is a text and two candidates, numbered in sorted order; see bradley_terry.c. */
#include "scaled/pairs/pairs.h"
#include "core/names/names_internal.h"
#include "core/os/os.h"
#include "votes/table/scales.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *text;
    uint32_t n, number;
} named;

static int by_text(const void *x, const void *y)
{
    const named *a = x, *b = y;
    const int order = memcmp(a->text, b->text, a->n < b->n ? a->n : b->n);
    return order ? order : a->n < b->n ? -1 : a->n > b->n;
}

/* Numbers texts in sorted order; room for `list` (n) names, of which *n_different are distinct. */
static void number_texts(named *at, size_t n, uint32_t *number, size_t *n_different)
{
    for (size_t i = 0; i < n; i++) at[i].number = (uint32_t)i;
    qsort(at, n, sizeof *at, by_text);
    *n_different = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || by_text(&at[i - 1], &at[i]) != 0) ++*n_different;
        number[at[i].number] = (uint32_t)(*n_different - 1);
    }
}

/* The text before the parts of a task, and both parts. */
static bool split(const char *text, size_t n, named part[3])
{
    const char *last = dis__os_find_last(text, DIS_PART_SEPARATOR, n);
    const char *middle = last ? dis__os_find_last(text, DIS_PART_SEPARATOR, (size_t)(last - text)) : NULL;
    if (!last) return false;
    part[2] = (named){.text = last + 1, .n = (uint32_t)(text + n - last - 1)};
    part[1] = middle ? (named){.text = middle + 1, .n = (uint32_t)(last - middle - 1)}
                     : (named){.text = text, .n = (uint32_t)(last - text)};
    part[0] = middle ? (named){.text = text, .n = (uint32_t)(middle - text)} : (named){.text = "", .n = 0};
    return true;
}

/* The distinct ones of n sorted texts. */
static dis_status list_names(dis_scaled *out, const named *sorted, size_t n, const dis_names **names)
{
    dis__name_list list = {0};
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n && status == DIS_OK; i++)
        if (i == 0 || by_text(&sorted[i - 1], &sorted[i]) != 0)
            status = dis__name_list_add(&list, sorted[i].text, sorted[i].n);
    if (status == DIS_OK) status = dis__scaled_move_names(out, &list, names);
    dis__name_list_free(&list);
    return status;
}

dis_status dis__pairs_read(dis__pairs *m, dis_scaled *out)
{
    const dis_votes_view *v = &m->args->view;
    named *thing, *task;
    uint32_t *of_thing, *of_task;
    DIS_TRY(dis__scaled_allocate(out, &thing, 2 * v->n_items, sizeof *thing));
    DIS_TRY(dis__scaled_allocate(out, &task, v->n_items, sizeof *task));
    DIS_TRY(dis__scaled_allocate(out, &of_thing, 2 * v->n_items, sizeof *of_thing));
    DIS_TRY(dis__scaled_allocate(out, &of_task, v->n_items, sizeof *of_task));
    DIS_TRY(dis__scaled_allocate(out, &m->c, v->n_votes, sizeof *m->c));
    DIS_TRY(dis__scaled_allocate(out, &m->spare, v->n_votes, sizeof *m->spare));
    for (size_t i = 0; i < v->n_items; i++) {
        size_t n;
        named part[3];
        const char *text = dis_names_get(v->tasks, i, &n);
        if (!split(text, n, part))
            return dis__fail(DIS_EDATA, "\"%.100s\" does not name two items; read the votes with their columns a and b",
                             text);
        task[i] = part[0];
        thing[2 * i] = part[1];
        thing[2 * i + 1] = part[2];
    }
    number_texts(thing, 2 * v->n_items, of_thing, &m->n_things);
    DIS_TRY(list_names(out, thing, 2 * v->n_items, &m->things));
    number_texts(task, v->n_items, of_task, &m->n_tasks);
    DIS_TRY(list_names(out, task, v->n_items, &m->tasks));
    m->workers = v->workers;
    m->n_workers = v->n_workers;
    m->n_items = v->n_items;
    uint32_t verdict[3] = {DIS_PAIR_TIE, DIS_PAIR_TIE, DIS_PAIR_TIE};
    for (size_t k = 0; k < v->n_classes && k < 3; k++) {
        const char *name = dis_names_get(v->classes, k, NULL);
        verdict[k] = strcmp(name, "a") == 0 ? DIS_PAIR_FIRST : strcmp(name, "b") == 0 ? DIS_PAIR_SECOND : DIS_PAIR_TIE;
    }
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++) {
            const size_t label = v->label8 ? v->label8[n] : v->label16[n];
            m->c[m->n++] = (dis__comparison){.item = (uint32_t)i,
                                             .task = of_task[i],
                                             .a = of_thing[2 * i],
                                             .b = of_thing[2 * i + 1],
                                             .worker = v->worker[n],
                                             .verdict = label < 3 ? verdict[label] : DIS_PAIR_TIE};
        }
    return DIS_OK;
}
