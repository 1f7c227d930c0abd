/* Examples of (item, worker). An item stands in the table once for each of its votes, so that every model that takes
 * items takes pairs; what it computes of an item it computes again for each vote. Cost: O(votes). */
#include "train/workers/worker_examples.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/parallel/pool.h"

void dis__worker_examples_free(dis__worker_examples *pairs)
{
    dis_items_destroy(pairs->items);
    dis__free(pairs->worker);
    dis__free(pairs->first);
    *pairs = (dis__worker_examples){0};
}

typedef struct {
    const dis_names *tasks;
    dis_votes_view v;
    size_t *item, *worker, *class; /* of the votes: item of a task, number of a worker and of a class */
    size_t *rows;
} matching;

static dis_status match(matching *m, const dis_names *classes, const dis_names *workers)
{
    size_t found;
    DIS_TRY(dis__names_match_alloc(m->v.tasks, m->tasks, &m->item, NULL));
    DIS_TRY(dis__names_match_alloc(workers, m->v.workers, &m->worker, NULL));
    DIS_TRY(dis__names_match_alloc(classes, m->v.classes, &m->class, &found));
    if (found < m->v.n_classes)
        return dis__fail(DIS_EDATA, "the votes have a class that the model does not have; declare it (`classes`)");
    return DIS_OK;
}

static size_t count(const matching *m, size_t n_items)
{
    size_t n = 0;
    for (size_t i = 0; i < n_items; i++)
        if (m->item[i] != SIZE_MAX) n += (size_t)(m->v.start[m->item[i] + 1] - m->v.start[m->item[i]]);
    return n;
}

static dis_status fill(matching *m, size_t n_items, bool lenient, dis__worker_examples *pairs, dis__targets *t)
{
    const dis_votes_view *v = &m->v;
    pairs->n = count(m, n_items);
    if (pairs->n == 0)
        return dis__fail(DIS_EDATA, "none of the %zu items has a vote; do the ids (\"%.100s\", ...) match?", n_items,
                         n_items ? dis_names_get(m->tasks, 0, NULL) : "");
    DIS_TRY(dis__alloc_array(&pairs->worker, pairs->n, sizeof *pairs->worker));
    DIS_TRY(dis__alloc_array(&pairs->first, pairs->n, sizeof *pairs->first));
    DIS_TRY(dis__alloc_array(&m->rows, pairs->n, sizeof *m->rows));
    DIS_TRY(dis__alloc_array(&t->label, pairs->n, sizeof *t->label));
    DIS_TRY(dis__alloc_array(&t->used, pairs->n, sizeof *t->used));
    size_t n = 0;
    for (size_t i = 0; i < n_items; i++) {
        if (m->item[i] == SIZE_MAX && !lenient)
            return dis__fail(DIS_EDATA, "the item \"%.100s\" has no votes; `lenient` leaves such items out",
                             dis_names_get(m->tasks, i, NULL));
        const uint32_t first = (uint32_t)n;
        pairs->n_left_out += m->item[i] == SIZE_MAX;
        for (uint64_t w = m->item[i] == SIZE_MAX ? 0 : v->start[m->item[i]];
             m->item[i] != SIZE_MAX && w < v->start[m->item[i] + 1]; w++, n++) {
            m->rows[n] = i;
            pairs->worker[n] = m->worker[v->worker[w]] == SIZE_MAX ? -1 : (int32_t)m->worker[v->worker[w]];
            t->label[n] = (int32_t)m->class[v->label8 ? v->label8[w] : v->label16[w]];
            t->used[n] = true;
            pairs->first[n] = first;
        }
    }
    return DIS_OK;
}

dis_status dis__worker_examples_init(dis_context *ctx, const dis_items *items, const dis_votes *votes,
                                     const dis_names *classes, const dis_names *workers, bool lenient,
                                     dis__worker_examples *pairs, dis__targets *targets)
{
    const dis_items_view of = dis_items_get_view(items);
    matching m = {.tasks = of.tasks, .v = dis_votes_get_view(votes)};
    *pairs = (dis__worker_examples){0};
    *targets = (dis__targets){0};
    if (!m.v.start)
        return dis__fail(DIS_EDATA, "this input has no annotator ids; give one row per vote with a worker column");
    if (of.sentence) return dis__fail(DIS_EUSAGE, "annotator models support items, not tokens in sentences");
    dis_status status = match(&m, classes, workers);
    if (status == DIS_OK) status = fill(&m, of.n_items, lenient, pairs, targets);
    if (status == DIS_OK) status = dis_items_gather(ctx, items, m.rows, pairs->n, &pairs->items);
    targets->n_items = targets->n_used = pairs->n;
    targets->n_classes = dis_names_count(classes);
    targets->n_workers = dis_names_count(workers);
    dis__free(m.item);
    dis__free(m.worker);
    dis__free(m.class);
    dis__free(m.rows);
    if (status != DIS_OK) {
        dis__worker_examples_free(pairs);
        dis__targets_free(targets);
    }
    return status;
}
