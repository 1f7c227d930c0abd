/* The votes of some workers as a new table; on ranks, redistributed like other tables. Cost: two passes over the votes,
 * and on ranks the kept votes cross the network. */
#include "dissent/worker_table.h"
#include "tool/table_columns.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/memory/spill.h"
#include "votes/table/votes_table.h"

typedef struct {
    const dis_votes_view *v;
    const bool *keep;
    uint32_t *worker_at; /* (n_workers) its index among those kept */
    dis_votes_arrays arrays;
    uint32_t *task, *worker;
    uint16_t *label;
    dis__name_list tasks, workers;
    dis_names *task_names, *worker_names;
} selection;

static dis_status number_workers(selection *s)
{
    DIS_TRY(dis__alloc_array(&s->worker_at, s->v->n_workers, sizeof *s->worker_at));
    for (size_t w = 0; w < s->v->n_workers; w++) {
        size_t n;
        const char *name = dis_names_get(s->v->workers, w, &n);
        s->worker_at[w] = (uint32_t)s->workers.n;
        if (s->keep[w]) DIS_TRY(dis__name_list_add(&s->workers, name, n));
    }
    return DIS_OK;
}

static dis_status copy_item(selection *s, size_t i)
{
    const dis_votes_view *v = s->v;
    const size_t before = s->arrays.n_votes;
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
        if (!s->keep[v->worker[t]]) continue;
        const size_t at = s->arrays.n_votes++;
        s->task[at] = (uint32_t)s->tasks.n;
        s->worker[at] = s->worker_at[v->worker[t]];
        s->label[at] = v->label8 ? v->label8[t] : v->label16[t];
    }
    size_t n;
    const char *name = dis_names_get(v->tasks, i, &n);
    return s->arrays.n_votes > before ? dis__name_list_add(&s->tasks, name, n) : DIS_OK;
}

static dis_status select_votes(const dis__comm *comm, selection *s)
{
    uint64_t n = 0;
    for (uint64_t t = 0; t < s->v->n_votes; t++) n += s->keep[s->v->worker[t]];
    uint64_t n_all = n;
    DIS_TRY(dis__comm_sum_counts(comm, &n_all, 1));
    if (n_all == 0) return dis__fail(DIS_EDATA, "none of these workers cast a vote");
    DIS_TRY(number_workers(s));
    DIS_TRY(dis__alloc_array(&s->task, (size_t)n, sizeof *s->task));
    DIS_TRY(dis__alloc_array(&s->worker, (size_t)n, sizeof *s->worker));
    DIS_TRY(dis__alloc_array(&s->label, (size_t)n, sizeof *s->label));
    for (size_t i = 0; i < s->v->n_items; i++) DIS_TRY(copy_item(s, i));
    DIS_TRY(s->tasks.n ? dis__name_list_move(&s->tasks, &s->task_names)
                       : dis_names_create(NULL, 0, &s->task_names)); /* a rank may have none */
    return dis__name_list_move(&s->workers, &s->worker_names);
}

dis_status dis__votes_gather_workers(dis_context *ctx, const dis_votes *votes, const bool *keep, dis_votes **out)
{
    DIS_MEMORY_SCOPE(ctx);
    const dis_votes_view v = dis_votes_get_view(votes);
    if (!v.start)
        return dis__fail(DIS_EDATA, "the votes have no annotator ids; give one row per vote with a worker column");
    selection s = {.v = &v, .keep = keep, .arrays = {.size = sizeof s.arrays}};
    dis_votes *selected = NULL;
    dis_status status = select_votes(dis__context_comm(ctx), &s);
    if (status == DIS_OK) {
        s.arrays.n_items = dis_names_count(s.task_names);
        s.arrays.n_workers = dis_names_count(s.worker_names);
        s.arrays.n_classes = v.n_classes;
        s.arrays.task = s.task;
        s.arrays.worker = s.worker;
        s.arrays.label = s.label;
        s.arrays.tasks = s.task_names;
        s.arrays.workers = s.worker_names;
        s.arrays.classes = v.classes;
        s.arrays.duplicates = DIS_DUPLICATES_ALL; /* the selection was already applied when they were read */
        status = dis_votes_create_from_arrays(ctx, &s.arrays, &selected);
    }
    if (status == DIS_OK && dis__comm_is_parallel(dis__context_comm(ctx)))
        status = dis__votes_redistribute(ctx, true, selected);
    if (status == DIS_OK)
        *out = selected;
    else
        dis_votes_destroy(selected);
    dis__name_list_free(&s.tasks);
    dis__name_list_free(&s.workers);
    dis_names_destroy(s.task_names);
    dis_names_destroy(s.worker_names);
    dis__free(s.worker_at);
    dis__free(s.task);
    dis__free(s.worker);
    dis__free(s.label);
    return status;
}
