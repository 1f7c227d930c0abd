/* Putting batches together: see collect.h. While they are filled, batches share the tables of ids (hashed_ids.h); what
 * is left for the end of a round, each step shared out by batch:
 *
 *   count   how many new ids a batch had first
 *   number  it numbers them in order of appearance, from where the batch before ends, and keeps their names
 *   rows    its rows get the numbers of the whole input
 *   tasks   while rows lie item by item: where its items begin; else its rows get their tasks
 *
 * Tasks that ascend are numbered without a table (sorted_ids.h); votes whose tasks come in no order are partitioned
 * (partition.h).
 *
 * Cost per row: 5 or 6 bytes read and written, and 4 more when rows do not lie item by item; a new id: 24 bytes read,
 * its name written, and its slot when batches were filled side by side. */
#include "votes/collect.h"
#include "core/memory.h"
#include "core/pool.h"

/* Where the parts of a batch go. */
typedef struct {
    size_t id[DIS_ID_COLUMNS], byte[DIS_ID_COLUMNS]; /* its first new number and the first byte of its name */
    uint16_t *label_of;                              /* (new labels that are votes) their indices for good */
    bool falls;                                      /* a task is smaller than the one before */
    uint32_t before;                                 /* the last task before it, DIS_ID_NONE at the beginning */
} placement;

typedef struct {
    dis_context *ctx;
    dis__collector *c;
    dis__batch *const *batch; /* (n_batches) */
    placement *to;            /* (n_batches) */
    size_t n_batches;
    size_t n_known; /* labels of earlier rounds */
} collecting;

dis_status dis__collect_begin(dis__collector *c, const dis__secret *secret, uint64_t n_bytes)
{
    *c = (dis__collector){.n_bytes = n_bytes, .last_task = DIS_ID_NONE};
    for (int k = 0; k < DIS_ID_COLUMNS; k++) {
        c->ids[k].secret = *secret;
        c->rate[k] = 1;
    }
    return DIS_OK;
}

void dis__collect_free(dis__collector *c)
{
    for (int k = 0; k < DIS_ID_COLUMNS; k++) dis__ids_free(&c->ids[k]);
    dis__partition_free(&c->partition);
    dis__free(c->rows.task);
    dis__free(c->rows.start);
    dis__free(c->rows.worker);
    dis__free(c->rows.label8);
    dis__free(c->rows.label);
    dis__table_free(&c->labels.table);
    dis__free(c->labels.key);
}

static double bytes_left(const dis__collector *c)
{
    return c->n_bytes > c->n_done ? (double)(c->n_bytes - c->n_done) : 0;
}

dis_status dis__collect_prepare(dis__collector *c, const dis__round *round)
{
    enum { AT_MIN = 64 };
    const bool late = c->tasks != DIS_TASKS_HASHED;
    for (int k = late ? DIS_COLUMN_WORKER : DIS_COLUMN_TASK; k < DIS_ID_COLUMNS; k++) {
        const double expected = AT_MIN + 2 * c->rate[k] * (double)round->n_bytes, room = (double)round->room * expected;
        const size_t max = room < (double)round->max_rows ? (size_t)room : round->max_rows;
        const double to_come = c->n_done ? c->rate[k] * bytes_left(c) : 0;
        DIS_TRY(dis__ids_prepare(&c->ids[k], round->n_batches, max, round->in_order, to_come));
    }
    return DIS_OK;
}

void dis__collect_withdraw(dis__collector *c, dis__batch *const *batches, size_t n_batches)
{
    for (int k = 0; k < DIS_ID_COLUMNS; k++)
        for (size_t b = 0; b < n_batches; b++) dis__ids_withdraw(&c->ids[k], &batches[b]->share[k]);
}

static dis_status count_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const collecting *w = arg;
    if (w->c->tasks == DIS_TASKS_HASHED) dis__ids_count(&w->batch[j]->share[DIS_COLUMN_TASK]);
    dis__ids_count(&w->batch[j]->share[DIS_COLUMN_WORKER]);
    return DIS_OK;
}

static dis_status number_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const collecting *w = arg;
    const placement *to = &w->to[j];
    dis__batch *b = w->batch[j];
    if (w->c->tasks == DIS_TASKS_SORTED)
        dis__sorted_ids_number(b, to->id[DIS_COLUMN_TASK], to->byte[DIS_COLUMN_TASK]);
    else if (w->c->tasks == DIS_TASKS_HASHED)
        dis__ids_number(&b->share[DIS_COLUMN_TASK], to->id[DIS_COLUMN_TASK], to->byte[DIS_COLUMN_TASK]);
    dis__ids_number(&b->share[DIS_COLUMN_WORKER], to->id[DIS_COLUMN_WORKER], to->byte[DIS_COLUMN_WORKER]);
    return DIS_OK;
}

static void final_ids(const dis__ids *ids, const uint32_t *number, size_t n, uint32_t *to)
{
    if (ids->in_order && to != number) memcpy(to, number, n * sizeof *to);
    if (ids->in_order) return;
    for (size_t i = 0; i < n; i++) to[i] = dis__ids_final(ids, number[i]);
}

static dis_status rows_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const collecting *w = arg;
    const dis__rows *rows = &w->c->rows;
    dis__batch *b = w->batch[j];
    placement *to = &w->to[j];
    if (b->n_rows == 0) return DIS_OK;
    uint16_t *label = b->row_label;
    const size_t n_known = w->n_known;
    for (size_t i = 0; b->label.n_votes && i < b->n_rows; i++)
        if (label[i] >= n_known) label[i] = to->label_of[label[i] - n_known];
    const dis__ids *workers = &w->c->ids[DIS_COLUMN_WORKER];
    if (w->c->tasks == DIS_TASKS_PARTITIONED) {
        final_ids(workers, b->worker, b->n_rows, b->worker);
        dis__partition_batch(&w->c->partition, b, j);
        return DIS_OK;
    }
    final_ids(workers, b->worker, b->n_rows, rows->worker + b->first_row);
    if (rows->label8)
        for (size_t i = 0; i < b->n_rows; i++) rows->label8[b->first_row + i] = (uint8_t)label[i];
    else
        memcpy(rows->label + b->first_row, label, b->n_rows * sizeof *label);

    if (w->c->tasks == DIS_TASKS_SORTED) return DIS_OK;
    final_ids(&w->c->ids[DIS_COLUMN_TASK], b->run, b->n_runs, b->run);
    bool falls = false;
    for (size_t i = 1; i < b->n_runs; i++) falls |= b->run[i] < b->run[i - 1];
    to->falls = falls;
    return DIS_OK;
}

static dis_status tasks_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const collecting *w = arg;
    const dis__rows *rows = &w->c->rows;
    const dis__batch *b = w->batch[j];
    const placement *to = &w->to[j];
    if (b->n_rows == 0) return DIS_OK;
    if (w->c->scattered) {
        uint32_t *task = rows->task + b->first_row;
        for (size_t r = 0; r < b->n_runs; r++) {
            const size_t end = r + 1 < b->n_runs ? b->run_row[r + 1] : b->n_rows;
            for (size_t i = b->run_row[r]; i < end; i++) task[i] = b->run[r];
        }
        return DIS_OK;
    }
    uint32_t before = to->before;
    for (size_t r = 0; r < b->n_runs; r++) {
        if (b->run[r] != before) rows->start[b->run[r]] = b->first_row + b->run_row[r];
        before = b->run[r];
    }
    return DIS_OK;
}

/* Labels are few: one table, batch by batch. */
static dis_status merge_labels(dis__known_labels *known, const dis__batch *b, uint16_t *label_of)
{
    size_t votes = 0;
    for (size_t i = 0; i < b->label.n; i++) {
        if (b->label.label[i].kind != DIS_LABEL_VOTE) continue;
        dis__key key = b->label.key[i];
        key.value = (uint32_t)known->n;
        const dis__key *at;
        bool fresh;
        DIS_TRY(dis__table_put(&known->table, &key, &at, &fresh));
        label_of[votes++] = (uint16_t)at->value;
        if (!fresh) continue;
        if (known->n == DIS_MAX_CLASSES)
            return dis__fail(DIS_ELIMIT, "more than %u different labels; is this the right column?", DIS_MAX_CLASSES);
        DIS_TRY(dis__reserve(&known->key, &known->capacity, known->n, known->n + 1, sizeof *known->key));
        known->key[known->n++] = key;
    }
    return DIS_OK;
}

/* Where each batch's new numbers and names begin. */
static dis_status place_ids(const collecting *w, int k, uint64_t n_bytes, size_t *n)
{
    static const char *const what[] = {"tasks", "workers"};
    dis__collector *c = w->c;
    dis__ids *ids = &c->ids[k];
    const size_t before = ids->n, bytes_before = ids->start ? (size_t)ids->start[ids->n] : 0;
    size_t at = bytes_before;
    *n = before;
    for (size_t b = 0; b < w->n_batches; b++) {
        const dis__id_share *s = &w->batch[b]->share[k];
        w->to[b].id[k] = *n;
        w->to[b].byte[k] = at;
        *n += s->n_ids;
        at += s->n_bytes;
    }
    if (*n > DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u %s", DIS_MAX_IDS, what[k]);
    c->rate[k] = (double)(*n - before) / (double)(n_bytes ? n_bytes : 1);
    const double more = 1.02 * bytes_left(c) / (double)(n_bytes ? n_bytes : 1);
    return dis__ids_reserve(ids, *n, at, (double)*n + more * (double)(*n - before),
                            (double)at + more * (double)(at - bytes_before));
}

/* Where each batch's rows begin; room for them, and for the rest of the input if its rows are as long. */
static dis_status place_rows(const collecting *w)
{
    dis__collector *c = w->c;
    size_t n = c->rows.n;
    for (size_t b = 0; b < w->n_batches; b++) {
        w->batch[b]->first_row = n;
        n += w->batch[b]->n_rows;
    }
    if (c->tasks == DIS_TASKS_PARTITIONED)
        return dis__partition_make_room(w->ctx, &c->partition, w->batch, w->n_batches);
    dis__rows *rows = &c->rows;
    const bool wide = c->labels.n > UINT8_MAX + 1;
    size_t capacity = c->rows_capacity;
    if (n > capacity) {
        const double guess = 1.01 * (double)n * (double)c->n_bytes / (double)(c->n_done ? c->n_done : 1);
        capacity = guess > (double)n ? (size_t)guess : n;
        DIS_TRY(dis__resize_array(&rows->worker, rows->n, capacity, sizeof *rows->worker));
    }
    if (!wide && capacity > c->rows_capacity)
        DIS_TRY(dis__resize_array(&rows->label8, rows->n, capacity, sizeof *rows->label8));
    if (wide && (capacity > c->rows_capacity || !rows->label))
        DIS_TRY(dis__resize_array(&rows->label, rows->label ? rows->n : 0, capacity, sizeof *rows->label));
    if (wide && rows->label8) {
        for (size_t i = 0; i < rows->n; i++) rows->label[i] = rows->label8[i];
        dis__free(rows->label8);
        rows->label8 = NULL;
    }
    c->rows_capacity = capacity;
    return DIS_OK;
}

/* Finds out whether rows still lie item by item, the tasks of all batches being final. */
static void look_for_falls(const collecting *w)
{
    dis__collector *c = w->c;
    for (size_t b = 0; b < w->n_batches; b++) {
        const dis__batch *batch = w->batch[b];
        w->to[b].before = c->last_task;
        if (batch->n_runs == 0) continue;
        const bool back = c->last_task != DIS_ID_NONE && batch->run[0] < c->last_task;
        c->scattered = c->scattered || back || w->to[b].falls;
        c->last_task = batch->run[batch->n_runs - 1];
    }
}

/* Room for the tasks of all rows; those of the rows before, if they are not there yet, from where items begin. */
static dis_status make_tasks(dis__collector *c, size_t n_before, size_t n_items)
{
    const bool first = c->rows.start || !c->rows.task;
    if (c->rows_capacity > c->task_capacity) {
        DIS_TRY(dis__resize_array(&c->rows.task, first ? 0 : n_before, c->rows_capacity, sizeof *c->rows.task));
        c->task_capacity = c->rows_capacity;
    }
    if (!c->rows.start) return DIS_OK;
    for (size_t i = 0; i < n_items; i++) {
        const size_t end = i + 1 < n_items ? (size_t)c->rows.start[i + 1] : n_before;
        for (size_t r = (size_t)c->rows.start[i]; r < end; r++) c->rows.task[r] = (uint32_t)i;
    }
    dis__free(c->rows.start);
    c->rows.start = NULL;
    return DIS_OK;
}

static dis_status make_starts(dis__collector *c, size_t n_before, size_t n_items)
{
    if (n_items < c->start_capacity) return DIS_OK;
    const double more = c->rate[DIS_COLUMN_TASK] * bytes_left(c), max = 4. * (double)n_items;
    const size_t capacity = n_items + 1 + (size_t)(1.02 * more < max ? 1.02 * more : max);
    DIS_TRY(dis__resize_array(&c->rows.start, n_before, capacity, sizeof *c->rows.start));
    c->start_capacity = capacity;
    return DIS_OK;
}

static dis_status place_tasks(collecting *w, size_t rows_before, size_t items_before, size_t n_items)
{
    dis__collector *c = w->c;
    look_for_falls(w);
    DIS_TRY(c->scattered ? make_tasks(c, rows_before, items_before) : make_starts(c, items_before, n_items));
    return dis__run_jobs(w->ctx, w->n_batches, tasks_job, w);
}

static dis_status collect(collecting *w, uint64_t n_bytes)
{
    dis_context *ctx = w->ctx;
    dis__collector *c = w->c;
    const size_t rows_before = c->rows.n, items_before = c->ids[DIS_COLUMN_TASK].n;
    size_t n_ids[DIS_ID_COLUMNS];
    DIS_TRY(dis__alloc_zeroed(&w->to, w->n_batches, sizeof *w->to));
    for (size_t b = 0; b < w->n_batches; b++)
        DIS_TRY(dis__alloc_array(&w->to[b].label_of, w->batch[b]->label.n_votes, sizeof *w->to[b].label_of));
    DIS_TRY(dis__run_jobs(ctx, w->n_batches, count_job, w));
    for (int k = 0; k < DIS_ID_COLUMNS; k++) DIS_TRY(place_ids(w, k, n_bytes, &n_ids[k]));
    w->n_known = c->labels.n;
    for (size_t b = 0; b < w->n_batches; b++) DIS_TRY(merge_labels(&c->labels, w->batch[b], w->to[b].label_of));
    DIS_TRY(place_rows(w));
    DIS_TRY(dis__run_jobs(ctx, w->n_batches, number_job, w));
    DIS_TRY(dis__run_jobs(ctx, w->n_batches, rows_job, w));
    if (c->tasks != DIS_TASKS_PARTITIONED) DIS_TRY(place_tasks(w, rows_before, items_before, n_ids[DIS_COLUMN_TASK]));
    for (size_t b = 0; b < w->n_batches; b++) c->rows.n += w->batch[b]->n_rows;
    for (int k = 0; k < DIS_ID_COLUMNS; k++) {
        bool has_medium = false;
        for (size_t b = 0; b < w->n_batches; b++) has_medium = has_medium || w->batch[b]->share[k].has_medium;
        dis__ids_finish(&c->ids[k], n_ids[k], has_medium);
    }
    return DIS_OK;
}

/* Tasks do not ascend: rows that go from task to task are partitioned, unless there are others already, or the guess
 * how many there will be asks for too much. */
static dis_status leave_sorted(dis__collector *c, dis__batch *const *batches, size_t n_batches, uint64_t n_bytes)
{
    size_t n_rows = 0, n_runs = 0;
    for (size_t b = 0; b < n_batches; b++) {
        n_rows += batches[b]->n_rows;
        n_runs += batches[b]->n_runs;
    }
    c->tasks = DIS_TASKS_HASHED;
    if (c->rows.n || 3 * n_runs < 2 * n_rows || c->max_rows > DIS_PARTITION_MAX) return DIS_OK;
    const double row = (double)n_bytes / (double)n_rows, memory = (double)dis__memory_available();
    if (memory > 0 && (double)c->n_bytes / row * sizeof(dis__vote_record) > memory / 2) return DIS_OK;
    c->tasks = DIS_TASKS_PARTITIONED;
    return dis__partition_begin(&c->partition, &c->ids[DIS_COLUMN_TASK].secret, c->n_bytes, c->bucket, row);
}

dis_status dis__collect_suits(dis_context *ctx, dis__collector *c, dis__batch *const *batches, size_t n_batches,
                              uint64_t n_bytes, bool *suits, bool *start_over)
{
    *start_over = false;
    *suits = true;
    if (c->tasks == DIS_TASKS_HASHED) return DIS_OK;
    *suits = !dis__batches_have_long_task(batches, n_batches);
    if (!*suits) {
        *start_over = c->tasks == DIS_TASKS_PARTITIONED;
        c->tasks = DIS_TASKS_HASHED;
        return DIS_OK;
    }
    if (c->tasks == DIS_TASKS_PARTITIONED) return DIS_OK;
    bool ascend;
    DIS_TRY(dis__sorted_ids_follow(ctx, &c->sorted, batches, n_batches, &ascend));
    if (!ascend) DIS_TRY(leave_sorted(c, batches, n_batches, n_bytes));
    *suits = c->tasks != DIS_TASKS_HASHED;
    return DIS_OK;
}

dis_status dis__collect_finish(dis_context *ctx, dis__collector *c, const uint16_t *class_of, dis_votes *votes)
{
    dis__ids *tasks = &c->ids[DIS_COLUMN_TASK], *workers = &c->ids[DIS_COLUMN_WORKER];
    votes->n_workers = workers->n;
    DIS_TRY(dis__ids_names(workers, &votes->workers));
    if (c->tasks == DIS_TASKS_PARTITIONED) return dis__partition_finish(ctx, &c->partition, c->rows.n, class_of, votes);
    votes->n_items = tasks->n;
    DIS_TRY(dis__ids_names(tasks, &votes->tasks));
    return dis__votes_group(ctx, &c->rows, class_of, true, votes);
}

dis_status dis__collect(dis_context *ctx, dis__collector *c, dis__batch *const *batches, size_t n_batches,
                        uint64_t n_bytes)
{
    collecting w = {.ctx = ctx, .c = c, .batch = batches, .n_batches = n_batches};
    c->n_done += n_bytes;
    const dis_status status = collect(&w, n_bytes);
    for (size_t b = 0; w.to && b < n_batches; b++) dis__free(w.to[b].label_of);
    dis__free(w.to);
    return status;
}
