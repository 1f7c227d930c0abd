/* Parts of a data set. Tokens are read with the whole of their sentences; which of them count is said by their having
 * labels: training leaves out, and counts, what has no target. */
#include "experiment/run/run_examples.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "tables/labels/label_table.h"
#include "tables/gold_labels/gold_table.h"
#include <string.h>

void dis__examples_free(dis__examples *e)
{
    dis__free(e->task);
    dis__free(e->read);
    dis_items_destroy(e->picked);
    dis_gold_destroy(e->gold);
    dis_labels_destroy(e->labels);
    dis_votes_destroy(e->votes);
    *e = (dis__examples){0};
}

/* Sentences with a selected token: their number and their tokens. */
static size_t wanted_sentences(const dis_items_view *v, const bool *wanted, size_t *row, dis__examples *e)
{
    size_t n = 0;
    for (size_t s = 0; s < v->n_sentences; s++) {
        bool any = false;
        for (uint64_t i = v->sentence[s]; i < v->sentence[s + 1]; i++) any |= wanted[i];
        if (!any) continue;
        row[n++] = s;
        for (uint64_t i = v->sentence[s]; i < v->sentence[s + 1]; i++) e->read[e->n_read++] = (size_t)i;
    }
    return n;
}

static dis_status pick(dis_context *ctx, const dis__dataset *m, const bool *wanted, dis__examples *e)
{
    DIS_TRY(dis__alloc_array(&e->task, m->n, sizeof *e->task));
    DIS_TRY(dis__alloc_array(&e->read, m->n, sizeof *e->read));
    for (size_t i = 0; i < m->n; i++)
        if (wanted[i]) e->task[e->n++] = i;
    if (e->n == 0 || !m->items) return DIS_OK;
    const dis_items_view v = dis_items_get_view(m->items);
    size_t *row = NULL, n = e->n;
    dis_status status = DIS_OK;
    if (v.sentence) {
        DIS_TRY(dis__alloc_array(&row, v.n_sentences, sizeof *row));
        n = wanted_sentences(&v, wanted, row, e);
    } else {
        memcpy(e->read, e->task, n * sizeof *e->read);
        e->n_read = n;
    }
    if (e->n_read < m->n) status = dis_items_gather(ctx, m->items, row ? row : e->task, n, &e->picked);
    e->items = e->picked ? e->picked : m->items;
    dis__free(row);
    return status;
}

dis_status dis__examples_of(dis_context *ctx, const dis__dataset *m, const bool *wanted, dis__examples *out)
{
    *out = (dis__examples){0};
    const dis_status status = pick(ctx, m, wanted, out);
    if (status != DIS_OK) dis__examples_free(out);
    return status;
}

static dis_status names_of(const dis_names *tasks, const size_t *task, size_t n, dis_names **out)
{
    dis__name_list list = {0};
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n && status == DIS_OK; i++) {
        size_t length;
        const char *name = dis_names_get(tasks, task[i], &length);
        status = dis__name_list_add(&list, name, length);
    }
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    return status;
}

dis_status dis__examples_add_gold(const dis__dataset *m, dis__examples *e)
{
    size_t *task, n = 0;
    if (!m->label) return DIS_OK;
    DIS_TRY(dis__alloc_array(&task, e->n, sizeof *task));
    for (size_t i = 0; i < e->n; i++)
        if (m->label[e->task[i]] >= 0) task[n++] = e->task[i];
    dis_status status = n ? dis__alloc_zeroed(&e->gold, 1, sizeof *e->gold) : DIS_OK;
    if (n && status == DIS_OK) {
        dis_gold *gold = e->gold;
        gold->n = n;
        status = dis__copy_text(&gold->path, "gold labels", 11);
        if (status == DIS_OK) status = dis__alloc_array(&gold->label, n, sizeof *gold->label);
        if (status == DIS_OK) status = dis__alloc_array(&gold->row, n, sizeof *gold->row);
        for (size_t i = 0; i < n && status == DIS_OK; i++) {
            gold->label[i] = m->label[task[i]];
            gold->row[i] = i + 1;
        }
        if (status == DIS_OK) status = names_of(m->tasks, task, n, &gold->tasks);
        if (status == DIS_OK) status = dis__names_copy(m->classes, &gold->classes);
    }
    dis__free(task);
    return status;
}

static dis_status fill_labels(const dis__dataset *m, const double *p, const size_t *task, size_t n, dis_labels *to)
{
    const size_t k = dis_names_count(m->classes);
    to->n_items = n;
    to->n_classes = k;
    DIS_TRY(dis__alloc_array(&to->p, dis__saturating_size(n, k, 0), sizeof *to->p));
    for (size_t i = 0; i < n; i++) memcpy(to->p + i * k, p + task[i] * k, k * sizeof *p);
    DIS_TRY(names_of(m->tasks, task, n, &to->tasks));
    return dis__names_copy(m->classes, &to->classes);
}

dis_status dis__labels_of_rows(const dis__dataset *m, const double *p, const size_t *task, size_t n, dis_labels **out)
{
    dis_labels *to;
    DIS_TRY(dis__alloc_zeroed(&to, 1, sizeof *to));
    const dis_status status = fill_labels(m, p, task, n, to);
    if (status == DIS_OK)
        *out = to;
    else
        dis_labels_destroy(to);
    return status;
}

dis_status dis__examples_add_labels(const dis__dataset *m, const dis__label_set *labels, dis__examples *e)
{
    size_t *task, n = 0;
    if (!labels) return DIS_OK;
    DIS_TRY(dis__alloc_array(&task, e->n, sizeof *task));
    for (size_t i = 0; i < e->n; i++)
        if (labels->has[e->task[i]]) task[n++] = e->task[i];
    const dis_status status = n ? dis__labels_of_rows(m, labels->p, task, n, &e->labels) : DIS_OK;
    dis__free(task);
    return status;
}

dis_status dis__examples_add_votes(dis_context *ctx, const dis__dataset *m, const bool *wanted,
                                   const dis__vote_draw *draw, dis__examples *e)
{
    return dis__votes_pick(ctx, m, wanted, draw, &e->votes);
}
