/* The votes of a growing state and new ones in one table, for a refit. Cost: that of all votes. */
#include "labels/online/incremental_internal.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/memory/spill.h"
#include "labels/method.h"

typedef struct {
    dis_names *tasks, *workers;
    uint32_t *task, *worker;
    uint16_t *label;
} gathering;

/* Names of the state's list, followed by those of `more` that it lacks. */
static dis_status join_names(const dis_incremental *g, int start, int bytes, const dis_names *more, const size_t *place,
                             dis_names **out)
{
    dis__name_list list = {0};
    const size_t n_old = g->part[start]->n - 1;
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n_old && status == DIS_OK; i++) {
        const char *name;
        size_t n;
        status = dis__incremental_name_at(g->part[start], g->part[bytes], i, &name, &n)
                     ? dis__name_list_add(&list, name, n)
                     : dis__incremental_fail(g, "damaged names");
    }
    for (size_t i = 0; i < dis_names_count(more) && status == DIS_OK; i++) {
        size_t n;
        const char *name = dis_names_get(more, i, &n);
        if (place[i] >= n_old) status = dis__name_list_add(&list, name, n);
    }
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    return status;
}

static dis_status gather(dis__incremental_update *a, gathering *x)
{
    const dis_incremental *g = a->g;
    const dis_votes_view *m = a->more;
    const size_t n_old = g->part[DIS_INCREMENTAL_WORKER]->n;
    size_t at = 0, next = g->n_items;
    DIS_TRY(dis__alloc_array(&x->task, n_old + m->n_votes, sizeof *x->task));
    DIS_TRY(dis__alloc_array(&x->worker, n_old + m->n_votes, sizeof *x->worker));
    DIS_TRY(dis__alloc_array(&x->label, n_old + m->n_votes, sizeof *x->label));
    for (size_t i = 0; i < g->n_items; i++) {
        const uint64_t to = dis__u64_at(g->part[DIS_INCREMENTAL_START], i + 1);
        if (dis__u64_at(g->part[DIS_INCREMENTAL_START], i) != at || to < at || to > n_old)
            return dis__incremental_fail(g, "damaged votes");
        for (; at < to; at++) {
            x->task[at] = (uint32_t)i;
            x->worker[at] = dis__u32_at(g->part[DIS_INCREMENTAL_WORKER], at);
            x->label[at] = dis__u16_at(g->part[DIS_INCREMENTAL_LABEL], at);
        }
    }
    if (at != n_old) return dis__incremental_fail(g, "damaged votes");
    for (size_t i = 0; i < m->n_items; i++) {
        if (a->item[i] == SIZE_MAX) a->item[i] = next++;
        for (uint64_t v = m->start[i]; v < m->start[i + 1]; v++, at++) {
            x->task[at] = (uint32_t)a->item[i];
            x->worker[at] = (uint32_t)a->worker[m->worker[v]];
            x->label[at] = (uint16_t)dis__vote_label(m, v);
        }
    }
    DIS_TRY(join_names(g, DIS_INCREMENTAL_TASK_START, DIS_INCREMENTAL_TASKS, m->tasks, a->item, &x->tasks));
    return join_names(g, DIS_INCREMENTAL_WORKER_START, DIS_INCREMENTAL_WORKERS, m->workers, a->worker, &x->workers);
}

static dis_status join_votes(dis_context *ctx, dis__incremental_update *a, dis_duplicates duplicates, gathering *x,
                             dis_votes **out)
{
    DIS_TRY(dis__incremental_check_votes(a));
    DIS_TRY(dis__tensor_check_all(&a->g->check));
    DIS_TRY(dis__incremental_match_votes(a));
    DIS_TRY(gather(a, x));
    const dis_votes_arrays all = {.size = sizeof(dis_votes_arrays),
                                  .n_votes = a->g->part[DIS_INCREMENTAL_WORKER]->n + a->more->n_votes,
                                  .n_items = dis_names_count(x->tasks),
                                  .n_workers = dis_names_count(x->workers),
                                  .n_classes = a->g->n_classes,
                                  .task = x->task,
                                  .worker = x->worker,
                                  .label = x->label,
                                  .tasks = x->tasks,
                                  .workers = x->workers,
                                  .classes = a->g->classes,
                                  .duplicates = duplicates};
    return dis_votes_create_from_arrays(ctx, &all, out);
}

dis_status dis_incremental_merge_votes(dis_context *ctx, const dis_incremental *g, const dis_votes *more,
                                       dis_duplicates duplicates, dis_votes **out)
{
    DIS_MEMORY_SCOPE(ctx);
    const dis_votes_view m = dis_votes_get_view(more);
    dis__incremental_update a = {.g = g, .more = &m};
    gathering x = {.tasks = NULL};
    dis_votes *all = NULL;
    const dis_status status = dis__input_check(&g->input, join_votes(ctx, &a, duplicates, &x, &all));
    if (status == DIS_OK)
        *out = all;
    else
        dis_votes_destroy(all);
    dis__free(a.worker);
    dis__free(a.item);
    dis__free(a.start);
    dis__free(x.task);
    dis__free(x.worker);
    dis__free(x.label);
    dis_names_destroy(x.tasks);
    dis_names_destroy(x.workers);
    return status;
}
