/* Rows in input order: see collector.h. While they are grouped by item, as in most files, the start of each item is
 * kept instead of the task of every row; from the first row that returns to an earlier item, the tasks are kept.
 *
 * Cost per row: 5 or 6 bytes written, and 4 more if rows are not grouped by item. */
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "votes/collect/collector.h"

void dis__row_store_free(dis__row_store *store)
{
    dis__free(store->rows.task);
    dis__free(store->rows.start);
    dis__free(store->rows.worker);
    dis__free(store->rows.label8);
    dis__free(store->rows.label);
}

/* Reserves room for the rows of the round, and for the rest of the input if its rows have the same length. */
dis_status dis__row_store_reserve(dis__filled_round *round)
{
    const dis__collector *c = round->collector;
    dis__row_store *store = &round->collector->store;
    dis__rows *rows = &store->rows;
    const bool wide = c->labels.n > UINT8_MAX + 1;
    size_t n = c->n_rows, capacity = store->capacity;
    for (size_t j = 0; j < round->n; j++) n += round->batch[j]->n_rows;
    if (n > capacity) {
        const double guess = 1.01 * (double)n * (double)c->n_bytes / (double)(c->n_done ? c->n_done : 1);
        capacity = guess > (double)n ? (size_t)guess : n;
        DIS_TRY(dis__resize_array(&rows->worker, rows->n, capacity, sizeof *rows->worker));
    }
    if (!wide && capacity > store->capacity)
        DIS_TRY(dis__resize_array(&rows->label8, rows->n, capacity, sizeof *rows->label8));
    if (wide && (capacity > store->capacity || !rows->label))
        DIS_TRY(dis__resize_array(&rows->label, rows->label ? rows->n : 0, capacity, sizeof *rows->label));
    if (wide && rows->label8) {
        for (size_t i = 0; i < rows->n; i++) rows->label[i] = rows->label8[i];
        dis__free(rows->label8);
        rows->label8 = NULL;
    }
    store->capacity = capacity;
    return DIS_OK;
}

void dis__row_store_add_batch(const dis__filled_round *round, size_t j)
{
    const dis__collector *c = round->collector;
    const dis__rows *rows = &c->store.rows;
    const dis__batch *b = round->batch[j];
    dis__ids_resolve_all(&c->ids[DIS_COLUMN_WORKER], b->worker, b->n_rows, rows->worker + b->first_row);
    if (rows->label8)
        for (size_t i = 0; i < b->n_rows; i++) rows->label8[b->first_row + i] = (uint8_t)b->row_label[i];
    else
        memcpy(rows->label + b->first_row, b->row_label, b->n_rows * sizeof *b->row_label);
}

/* Checks whether rows are still grouped by item; the tasks of all batches are final. */
static void find_descents(const dis__filled_round *round)
{
    dis__row_store *store = &round->collector->store;
    for (size_t j = 0; j < round->n; j++) {
        dis__batch *b = round->batch[j];
        b->previous_task = store->last_task;
        if (b->n_runs == 0) continue;
        const bool back = store->last_task != DIS_ID_NONE && b->run[0] < store->last_task;
        store->scattered = store->scattered || back || b->tasks_descend;
        store->last_task = b->run[b->n_runs - 1];
    }
}

/* Reserves room for the tasks of all rows; fills those of previous rows from the starts of items, if needed. */
static dis_status make_tasks(dis__row_store *store, size_t n_items)
{
    dis__rows *rows = &store->rows;
    const bool first = rows->start || !rows->task;
    if (store->capacity > store->task_capacity) {
        DIS_TRY(dis__resize_array(&rows->task, first ? 0 : rows->n, store->capacity, sizeof *rows->task));
        store->task_capacity = store->capacity;
    }
    if (!rows->start) return DIS_OK;
    for (size_t i = 0; i < n_items; i++) {
        const size_t end = i + 1 < n_items ? (size_t)rows->start[i + 1] : rows->n;
        for (size_t r = (size_t)rows->start[i]; r < end; r++) rows->task[r] = (uint32_t)i;
    }
    dis__free(rows->start);
    rows->start = NULL;
    return DIS_OK;
}

static dis_status make_starts(dis__collector *c, size_t n_before, size_t n_items)
{
    dis__row_store *store = &c->store;
    if (n_items < store->start_capacity) return DIS_OK;
    const double more = c->rate[DIS_COLUMN_TASK] * dis__collector_bytes_left(c), max = 4. * (double)n_items;
    const size_t capacity = n_items + 1 + (size_t)(1.02 * more < max ? 1.02 * more : max);
    DIS_TRY(dis__resize_array(&store->rows.start, n_before, capacity, sizeof *store->rows.start));
    store->start_capacity = capacity;
    return DIS_OK;
}

static void put_tasks(const dis__rows *rows, const dis__batch *b)
{
    uint32_t *task = rows->task + b->first_row;
    for (size_t r = 0; r < b->n_runs; r++) {
        const size_t end = r + 1 < b->n_runs ? b->run_row[r + 1] : b->n_rows;
        for (size_t i = b->run_row[r]; i < end; i++) task[i] = b->run[r];
    }
}

static void put_starts(const dis__rows *rows, const dis__batch *b)
{
    uint32_t before = b->previous_task;
    for (size_t r = 0; r < b->n_runs; r++) {
        if (b->run[r] != before) rows->start[b->run[r]] = b->first_row + b->run_row[r];
        before = b->run[r];
    }
}

static dis_status tasks_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__filled_round *round = arg;
    const dis__row_store *store = &round->collector->store;
    if (store->scattered)
        put_tasks(&store->rows, round->batch[j]);
    else
        put_starts(&store->rows, round->batch[j]);
    return DIS_OK;
}

dis_status dis__row_store_end_round(dis__filled_round *round)
{
    dis__collector *c = round->collector;
    dis__row_store *store = &c->store;
    const size_t n_before = c->ids[DIS_COLUMN_TASK].n;
    size_t n_items = n_before;
    for (size_t j = 0; j < round->n; j++) n_items += round->batch[j]->chunk_ids[DIS_COLUMN_TASK].n_ids;
    find_descents(round);
    DIS_TRY(store->scattered ? make_tasks(store, n_before) : make_starts(c, n_before, n_items));
    DIS_TRY(dis__run_jobs(round->ctx, round->n, tasks_job, round));
    for (size_t j = 0; j < round->n; j++) store->rows.n += round->batch[j]->n_rows;
    return DIS_OK;
}

dis_status dis__row_store_finish(dis_context *ctx, dis__collector *c, const uint16_t *class_of, dis_votes *votes)
{
    dis__ids *tasks = &c->ids[DIS_COLUMN_TASK];
    votes->n_items = tasks->n;
    DIS_TRY(dis__ids_names(tasks, &votes->tasks));
    return dis__votes_group(ctx, &c->store.rows, class_of, true, votes);
}
