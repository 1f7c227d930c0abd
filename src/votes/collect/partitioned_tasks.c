/* Tasks numbered at the end of the input, from buckets of votes: see partition.h. Rows collected before the switch,
 * grouped by item, are added to the buckets first. */
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "votes/collect/collector.h"

static dis_status accept(dis__filled_round *round, const dis__numbering **next)
{
    const dis__collector *c = round->collector;
    size_t n_rows = c->n_rows;
    for (size_t j = 0; j < round->n; j++) n_rows += round->batch[j]->n_rows;
    if (n_rows > c->max_partitioned) *next = &dis__tasks_hashed;
    return DIS_OK;
}

/* Words of records for the rows of a round. */
static double words_of(const dis__filled_round *round)
{
    double words = 0;
    for (size_t j = 0; j < round->n; j++) {
        const dis__batch *b = round->batch[j];
        size_t long_at = 0;
        for (size_t r = 0; r < b->n_runs; r++) {
            const size_t end = r + 1 < b->n_runs ? b->run_row[r + 1] : b->n_rows;
            const dis__task_text task = dis__batch_task(b, r, &long_at);
            const bool coded = b->run_word[r] == 0 && task.n <= DIS_CODED_MAX && dis__task_code(task.text, task.n);
            words += (double)((1 + (coded ? 1 : dis__task_words(task.n))) * (end - b->run_row[r]));
        }
    }
    return words;
}

/* ---- rows that were collected before ---- */

enum { ROWS_AT_ONCE = 1 << 16 };

/* Position of the copy in the rows. */
typedef struct {
    const dis__collector *collector;
    size_t item, row;
} place;

/* The next rows as a batch; names are not copied. */
static dis_status copy_rows(place *from, dis__batch *b)
{
    const dis__ids *ids = &from->collector->ids[DIS_COLUMN_TASK];
    const dis__rows *rows = &from->collector->store.rows;
    b->first_row = from->row;
    b->n_rows = b->n_runs = b->n_long = 0;
    DIS_TRY(dis__batch_reserve(b, ROWS_AT_ONCE));
    while (b->n_rows < ROWS_AT_ONCE && from->row < rows->n) {
        const size_t next = from->item + 1 < ids->n ? (size_t)rows->start[from->item + 1] : rows->n;
        const char *name = ids->bytes + ids->start[from->item];
        const size_t n = (size_t)(ids->start[from->item + 1] - ids->start[from->item]) - 1;
        const size_t room = from->row + ROWS_AT_ONCE - b->n_rows, end = next < room ? next : room;
        uint64_t word = 0;
        if (n <= DIS_ID_INLINE)
            memcpy(&word, name, n);
        else
            DIS_TRY(dis__batch_add_long_task(b, name, n, true));
        b->run_word[b->n_runs] = word;
        b->run_row[b->n_runs++] = (uint32_t)b->n_rows;
        for (; from->row < end; from->row++, b->n_rows++) {
            b->worker[b->n_rows] = rows->worker[from->row];
            b->row_label[b->n_rows] = rows->label8 ? rows->label8[from->row] : rows->label[from->row];
        }
        from->item += from->row == next;
    }
    return DIS_OK;
}

static dis_status put_copy(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__filled_round *copies = arg;
    dis__partition_add_batch(&copies->collector->partition, copies->batch[j], j);
    return DIS_OK;
}

static dis_status partition_rows(dis__filled_round *copies, size_t n_batches)
{
    dis__collector *c = copies->collector;
    place from = {.collector = c};
    while (from.row < c->store.rows.n) {
        for (copies->n = 0; copies->n < n_batches && from.row < c->store.rows.n; copies->n++)
            DIS_TRY(copy_rows(&from, copies->batch[copies->n]));
        const double done = (double)c->n_done / (double)c->n_bytes * (double)from.row / (double)c->store.rows.n;
        DIS_TRY(dis__partition_reserve(copies->ctx, &c->partition, copies->batch, copies->n, done));
        DIS_TRY(dis__run_jobs(copies->ctx, copies->n, put_copy, copies));
    }
    return DIS_OK;
}

static dis_status partition_round(const dis__filled_round *round)
{
    dis__collector *c = round->collector;
    const size_t n = 2 * (size_t)dis_context_n_threads(round->ctx);
    const dis__secret secret = c->ids[DIS_COLUMN_TASK].secret;
    dis__batch *batch, **batches = NULL;
    DIS_TRY(dis__alloc_zeroed(&batch, n, sizeof *batch));
    dis_status status = dis__alloc_array(&batches, n, sizeof *batches);
    for (size_t j = 0; status == DIS_OK && j < n; j++) batches[j] = &batch[j];
    dis__filled_round copies = {.ctx = round->ctx, .collector = c, .batch = batches};
    if (status == DIS_OK) status = partition_rows(&copies, n);
    for (size_t j = 0; j < n; j++) dis__batch_free(&batch[j]);
    dis__free(batch);
    dis__free(batches);
    DIS_TRY(status);
    dis__row_store_free(&c->store);
    c->store = (dis__row_store){.last_task = DIS_ID_NONE};
    dis__ids_free(&c->ids[DIS_COLUMN_TASK]);
    c->ids[DIS_COLUMN_TASK].secret = secret;
    return DIS_OK;
}

static dis_status continue_from(dis__filled_round *round, const dis__numbering *before)
{
    (void)before; /* has rows grouped by item, or none */
    dis__collector *c = round->collector;
    for (size_t j = 0; j < round->n; j++) {
        dis__chunk_ids *chunk_ids = &round->batch[j]->chunk_ids[DIS_COLUMN_TASK];
        chunk_ids->n_ids = chunk_ids->n_bytes = 0; /* the previous numbering may have counted them */
    }
    DIS_TRY(dis__partition_begin(round->ctx, &c->partition, &c->ids[DIS_COLUMN_TASK].secret, c->n_bytes, c->bucket,
                                 words_of(round) / (double)round->n_bytes, c->in_file));
    return c->n_rows ? partition_round(round) : DIS_OK;
}

/* ---- rounds ---- */

static dis_status reserve(dis__filled_round *round)
{
    dis__collector *c = round->collector;
    return dis__partition_reserve(round->ctx, &c->partition, round->batch, round->n,
                                  (double)c->n_done / (double)c->n_bytes);
}

static void add_batch(const dis__filled_round *round, size_t j)
{
    const dis__collector *c = round->collector;
    const dis__batch *b = round->batch[j];
    dis__ids_resolve_all(&c->ids[DIS_COLUMN_WORKER], b->worker, b->n_rows, b->worker);
    dis__partition_add_batch(&c->partition, b, j);
}

static dis_status finish(dis_context *ctx, dis__collector *c, const uint16_t *class_of, dis_votes *votes)
{
    return dis__partition_finish(ctx, &c->partition, c->n_rows, class_of, votes);
}

const dis__numbering dis__tasks_partitioned = {
    .name = "partitioned",
    .numbered_later = true,
    .accept = accept,
    .continue_from = continue_from,
    .reserve = reserve,
    .add_batch = add_batch,
    .finish = finish,
};
