/* Adds new votes to a growing state: the posteriors of affected items are recomputed from all their votes and the
 * counts of their workers, and the counts change by the difference (incremental_em.h, including an item's own share, as
 * in a fit). This is done twice for all of these items, and then for those that still change by more than 1e-4. So the
 * estimates of workers use the new votes, and items with new votes use the estimates; other items, whose labels would
 * change slightly in a refit, are not updated.
 *
 * Cost: a lookup per item and the table of workers, then O(votes on the affected items) per round. Only the pages of
 * these items are read from the mapped file. */
#include "labels/online/incremental_internal.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/memory/spill.h"
#include "labels/method.h"
#include <math.h>

/* ---- looking tasks up ---- */

enum { AT_ONCE = 64 };

static size_t home_of(const dis_incremental *g, const char *name, size_t n)
{
    const uint64_t key[2] = {dis__u64_at(g->part[DIS_INCREMENTAL_KEY], 0),
                             dis__u64_at(g->part[DIS_INCREMENTAL_KEY], 1)};
    return (size_t)dis__siphash(key, name, n) & (g->part[DIS_INCREMENTAL_INDEX]->n - 1);
}

/* The name of an item of the state, with its checksums verified. */
static dis_status name_of(const dis_incremental *g, size_t i, const char **name, size_t *n)
{
    DIS_TRY(dis__incremental_check_values(g, DIS_INCREMENTAL_TASK_START, i, 2));
    const uint64_t from = dis__u64_at(g->part[DIS_INCREMENTAL_TASK_START], i),
                   to = dis__u64_at(g->part[DIS_INCREMENTAL_TASK_START], i + 1);
    DIS_TRY(dis__incremental_check_values(g, DIS_INCREMENTAL_TASKS, from, to - from));
    return dis__incremental_name_at(g->part[DIS_INCREMENTAL_TASK_START], g->part[DIS_INCREMENTAL_TASKS], i, name, n)
               ? DIS_OK
               : dis__incremental_fail(g, "damaged names");
}

/* *found: the item with that name, SIZE_MAX: it is new. */
static dis_status find_task(const dis_incremental *g, const char *name, size_t n, size_t home, size_t *found)
{
    const size_t mask = g->part[DIS_INCREMENTAL_INDEX]->n - 1;
    size_t s = home;
    *found = SIZE_MAX;
    for (size_t tried = 0; tried <= mask; tried++, s = (s + 1) & mask) {
        const char *other;
        size_t length;
        DIS_TRY(dis__incremental_check_values(g, DIS_INCREMENTAL_INDEX, s, 1));
        const uint32_t i = dis__u32_at(g->part[DIS_INCREMENTAL_INDEX], s);
        if (i == 0) break;
        if (i > g->n_items) return dis__incremental_fail(g, "a damaged index");
        DIS_TRY(name_of(g, i - 1, &other, &length));
        if (length == n && memcmp(name, other, n) == 0) {
            *found = i - 1;
            break;
        }
    }
    return DIS_OK;
}

static inline void ask_for(const dis__tensor *t, size_t i, size_t size)
{
    __builtin_prefetch((const char *)t->data + i * size);
}

/* Prefetches the data of tasks [first, first + n) of the new votes: their positions in the index (home), then the
 * positions of their names and votes, then these. Every one of them is a cache miss. */
static void ask_for_tasks(const dis__incremental_update *a, size_t first, size_t n, size_t *home)
{
    const dis_incremental *g = a->g;
    const dis__tensor *const *p = g->part;
    size_t item[AT_ONCE];
    for (size_t k = 0; k < n; k++) {
        size_t length;
        const char *name = dis_names_get(a->more->tasks, first + k, &length);
        home[k] = home_of(g, name, length);
        ask_for(p[DIS_INCREMENTAL_INDEX], home[k], sizeof(uint32_t));
    }
    for (size_t k = 0; k < n; k++) {
        item[k] = dis__u32_at(p[DIS_INCREMENTAL_INDEX], home[k]);
        if (item[k] == 0 || item[k] > g->n_items) continue;
        ask_for(p[DIS_INCREMENTAL_TASK_START], item[k] - 1, sizeof(uint64_t));
        ask_for(p[DIS_INCREMENTAL_START], item[k] - 1, sizeof(uint64_t));
    }
    for (size_t k = 0; k < n; k++) {
        if (item[k] == 0 || item[k] > g->n_items) continue;
        const uint64_t name = dis__u64_at(p[DIS_INCREMENTAL_TASK_START], item[k] - 1),
                       vote = dis__u64_at(p[DIS_INCREMENTAL_START], item[k] - 1);
        if (name < p[DIS_INCREMENTAL_TASKS]->n) ask_for(p[DIS_INCREMENTAL_TASKS], (size_t)name, 1);
        if (vote >= p[DIS_INCREMENTAL_WORKER]->n) continue;
        ask_for(p[DIS_INCREMENTAL_WORKER], (size_t)vote, sizeof(uint32_t));
        ask_for(p[DIS_INCREMENTAL_LABEL], (size_t)vote, sizeof(uint16_t));
    }
}

/* The index of item i of the new votes in the state, and its total number of votes. */
static dis_status find_item(dis__incremental_update *a, size_t i, size_t home)
{
    const dis_incremental *g = a->g;
    const dis_votes_view *m = a->more;
    size_t n;
    const char *name = dis_names_get(m->tasks, i, &n);
    uint64_t old = 0;
    DIS_TRY(find_task(g, name, n, home, &a->item[i]));
    const size_t at = a->item[i];
    if (at == SIZE_MAX) {
        a->notes.n_new_items++;
    } else {
        DIS_TRY(dis__incremental_check_values(g, DIS_INCREMENTAL_START, at, 2));
        const uint64_t from = dis__u64_at(g->part[DIS_INCREMENTAL_START], at),
                       to = dis__u64_at(g->part[DIS_INCREMENTAL_START], at + 1);
        if (from > to || to > g->part[DIS_INCREMENTAL_WORKER]->n) return dis__incremental_fail(g, "damaged votes");
        old = to - from;
    }
    a->notes.n_old_votes += (size_t)old;
    a->start[i + 1] = a->start[i] + old + m->start[i + 1] - m->start[i];
    return DIS_OK;
}

dis_status dis__incremental_match_votes(dis__incremental_update *a)
{
    const dis_incremental *g = a->g;
    const dis_votes_view *m = a->more;
    DIS_TRY(dis__alloc_array(&a->worker, m->n_workers, sizeof *a->worker));
    DIS_TRY(dis__alloc_array(&a->item, m->n_items, sizeof *a->item));
    DIS_TRY(dis__alloc_array(&a->start, m->n_items + 1, sizeof *a->start));
    DIS_TRY(dis__names_match(g->workers, m->workers, a->worker, NULL));
    for (size_t w = 0; w < m->n_workers; w++)
        if (a->worker[w] == SIZE_MAX) a->worker[w] = g->n_workers + a->notes.n_new_workers++;
    a->start[0] = 0;
    for (size_t first = 0; first < m->n_items; first += AT_ONCE) {
        const size_t n = m->n_items - first < AT_ONCE ? m->n_items - first : AT_ONCE;
        size_t home[AT_ONCE];
        ask_for_tasks(a, first, n, home);
        for (size_t k = 0; k < n; k++) DIS_TRY(find_item(a, first + k, home[k]));
    }
    return DIS_OK;
}

/* ---- adding votes ---- */

static size_t old_votes(const dis__incremental_update *a, size_t i)
{
    return (size_t)(a->start[i + 1] - a->start[i] - (a->more->start[i + 1] - a->more->start[i]));
}

static dis_status check_again(const dis__incremental_update *a, size_t i, size_t n_old, uint32_t worker, size_t w)
{
    const dis__incremental_vote *vote = a->vote + a->start[i];
    for (size_t v = 0; v < n_old; v++)
        if (vote[v].worker == worker)
            return dis__fail(DIS_EDATA,
                             "worker \"%.100s\" has a vote on task \"%.100s\" in %s already; leave the new one out",
                             dis_names_get(a->more->workers, w, NULL), dis_names_get(a->more->tasks, i, NULL),
                             a->g->path);
    return DIS_OK;
}

static dis_status merge_votes(dis__incremental_update *a)
{
    const dis_incremental *g = a->g;
    const dis_votes_view *m = a->more;
    DIS_TRY(dis__alloc_array(&a->vote, (size_t)a->start[m->n_items], sizeof *a->vote));
    for (size_t i = 0; i < m->n_items; i++) {
        dis__incremental_vote *to = a->vote + a->start[i];
        const size_t n_old = old_votes(a, i);
        const uint64_t from = n_old ? dis__u64_at(g->part[DIS_INCREMENTAL_START], a->item[i]) : 0;
        DIS_TRY(dis__incremental_check_values(g, DIS_INCREMENTAL_WORKER, from, n_old));
        DIS_TRY(dis__incremental_check_values(g, DIS_INCREMENTAL_LABEL, from, n_old));
        for (size_t v = 0; v < n_old; v++, to++) {
            *to = (dis__incremental_vote){.worker = dis__u32_at(g->part[DIS_INCREMENTAL_WORKER], (size_t)from + v),
                                          .label = dis__u16_at(g->part[DIS_INCREMENTAL_LABEL], (size_t)from + v)};
            if (to->worker >= g->n_workers || to->label >= g->n_classes)
                return dis__incremental_fail(g, "damaged votes");
        }
        for (uint64_t v = m->start[i]; v < m->start[i + 1]; v++, to++) {
            *to = (dis__incremental_vote){.worker = (uint32_t)a->worker[m->worker[v]],
                                          .label = (uint16_t)dis__vote_label(m, v)};
            DIS_TRY(check_again(a, i, n_old, to->worker, m->worker[v]));
        }
    }
    return DIS_OK;
}

/* The model stored in the state. */
static dis_status copy_model(dis__incremental_update *a)
{
    const dis_incremental *g = a->g;
    const size_t K = g->n_classes;
    dis__incremental_em *m = &a->model;
    *m = (dis__incremental_em){.smoothing = .5, .diagonal = 2, .own = true};
    DIS_TRY(dis__incremental_em_reserve_classes(m, K));
    DIS_TRY(dis__incremental_em_reserve_workers(m, g->n_workers + a->notes.n_new_workers));
    for (size_t w = 0; w < g->n_workers + a->notes.n_new_workers; w++) DIS_TRY(dis__incremental_em_add_worker(m));
    const char *counts = g->part[DIS_INCREMENTAL_COUNTS]->data;
    for (size_t w = 0; w < g->n_workers; w++)
        for (size_t l = 0; l < K; l++, counts += K * sizeof(double)) {
            double *row = m->sum + (w * m->row + l) * m->row;
            memcpy(row, counts, K * sizeof *row);
            for (size_t t = 0; t < K; t++) m->total[w * m->row + t] += row[t];
        }
    memcpy(m->class_sum, g->part[DIS_INCREMENTAL_CLASS_SUM]->data, K * sizeof *m->class_sum);
    m->n_items = (double)g->n_items;
    return DIS_OK;
}

/* The share of the items in the counts: posteriors from their old votes. Computed for all before any counts change. */
static dis_status copy_posteriors(dis__incremental_update *a)
{
    const size_t K = a->g->n_classes, n = a->more->n_items;
    DIS_TRY(dis__alloc_zeroed(&a->p, dis__saturating_size(n, K, 0), sizeof *a->p));
    DIS_TRY(dis__alloc_array(&a->next, K, sizeof *a->next));
    for (size_t i = 0; i < n; i++)
        if (old_votes(a, i))
            dis__incremental_em_compute_posterior(&a->model, a->vote + a->start[i], old_votes(a, i), 0, NULL,
                                                  a->p + i * K);
    return DIS_OK;
}

/* Recomputes the posterior of an item; returns its change. */
static double renew(dis__incremental_update *a, size_t i, size_t before)
{
    const dis__incremental_vote *vote = a->vote + a->start[i];
    const size_t K = a->g->n_classes, all = (size_t)(a->start[i + 1] - a->start[i]);
    double *p = a->p + i * K, change = 0;
    dis__incremental_em_compute_posterior(&a->model, vote, all, before, p, a->next);
    dis__incremental_em_replace_posterior(&a->model, vote, all, before, p, a->next);
    for (size_t t = 0; t < K; t++) {
        change = fmax(change, fabs(a->next[t] - p[t]));
        p[t] = a->next[t];
    }
    return change;
}

/* The first two rounds process all items, the others those that still change. */
static dis_status do_rounds(dis__incremental_update *a)
{
    enum { MAX_ROUNDS = 50, FULL_ROUNDS = 2 };
    const double tolerance = 1e-4;
    const size_t n = a->more->n_items;
    bool *moves;
    DIS_TRY(dis__alloc_zeroed(&moves, n, sizeof *moves));
    a->notes.max_change = 1;
    for (int r = 0; r < MAX_ROUNDS && (r < FULL_ROUNDS || a->notes.max_change > tolerance); r++) {
        a->notes.max_change = 0;
        a->notes.iterations = r + 1;
        for (size_t i = 0; i < n; i++) {
            if (r >= FULL_ROUNDS && !moves[i]) continue;
            const double change = renew(a, i, r ? (size_t)(a->start[i + 1] - a->start[i]) : old_votes(a, i));
            moves[i] = change > tolerance;
            a->notes.max_change = fmax(a->notes.max_change, change);
        }
    }
    dis__free(moves);
    return DIS_OK;
}

dis_status dis__incremental_check_votes(const dis__incremental_update *a)
{
    const dis_votes_view *m = a->more;
    if (!m->start)
        return dis__fail(DIS_EDATA, "the new votes have no annotator ids; give one row per vote with a worker column");
    if (!dis__names_equal(m->classes, a->g->classes))
        return dis__fail(DIS_EDATA, "the new votes have other classes than %s", a->g->path);
    return DIS_OK;
}

static dis_status append(dis_context *ctx, dis__incremental_update *a, dis_labels **out)
{
    const dis_votes_view *m = a->more;
    DIS_TRY(dis__incremental_check_votes(a));
    DIS_TRY(dis__incremental_match_votes(a));
    DIS_TRY(merge_votes(a));
    DIS_TRY(copy_model(a));
    DIS_TRY(copy_posteriors(a));
    DIS_TRY(do_rounds(a));
    const dis_labels_view labels = {.size = sizeof(dis_labels_view),
                                    .n_items = m->n_items,
                                    .n_classes = a->g->n_classes,
                                    .p = a->p,
                                    .tasks = m->tasks,
                                    .classes = m->classes};
    return dis_labels_create(ctx, &labels, out);
}

dis_status dis_incremental_append(dis_context *ctx, const dis_incremental *g, const dis_votes *more, dis_labels **out,
                                  dis_incremental_notes *notes)
{
    DIS_MEMORY_SCOPE(ctx);
    const dis_votes_view m = dis_votes_get_view(more);
    dis__incremental_update a = {.g = g,
                                 .more = &m,
                                 .notes = {.n_items = g->n_items,
                                           .n_workers = g->n_workers,
                                           .n_votes = g->part[DIS_INCREMENTAL_WORKER]->n}};
    dis_labels *labels = NULL;
    const dis_status status = dis__input_check(&g->input, append(ctx, &a, &labels));
    if (status == DIS_OK)
        *out = labels;
    else
        dis_labels_destroy(labels);
    if (status == DIS_OK && notes) *notes = a.notes;
    dis__free(a.worker);
    dis__free(a.item);
    dis__free(a.start);
    dis__free(a.vote);
    dis__free(a.p);
    dis__free(a.next);
    dis__incremental_em_destroy(&a.model);
    return status;
}
