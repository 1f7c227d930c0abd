/* Tasks in ascending order: see sorted_tasks.h. A word is a text of up to 8 bytes padded with zeros. Byte-swapped words
 * compare like texts by bytes, and without the trailing zeros like texts by length and bytes. Batches with longer texts
 * compare them byte by byte.
 *
 * Cost: two passes over runs of rows, a few ns each; some ten with long texts. */
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "votes/collect/collector.h"

/* Properties of one batch. */
typedef struct {
    bool broken[DIS_NAME_ORDERS];
    size_t n_ids, n_bytes; /* except its first run */
} batch_order;

typedef struct {
    dis__batch *const *batch;
    batch_order *batch_order; /* (n_batches) */
} order_job;

static inline uint64_t by_bytes(uint64_t word)
{
    return __builtin_bswap64(word);
}

static inline uint64_t by_length(uint64_t word)
{
    const uint64_t text = by_bytes(word);
    return text >> (__builtin_ctzll(text) & 56);
}

static inline size_t name_bytes(uint64_t word)
{
    return dis__word_length(word) + 1;
}

static void follow_words(const dis__batch *b, batch_order *s)
{
    const uint64_t *word = b->run_word;
    for (size_t i = 1; i < b->n_runs; i++) {
        const bool new = word[i] != word[i - 1];
        s->broken[0] |= by_bytes(word[i]) < by_bytes(word[i - 1]);
        s->broken[1] |= by_length(word[i]) < by_length(word[i - 1]);
        s->n_ids += new;
        s->n_bytes += new ? name_bytes(word[i]) : 0;
    }
}

static inline bool differs(dis__task_text before, dis__task_text task, bool broken[DIS_NAME_ORDERS])
{
    return dis__name_differs(before.text, before.n, task.text, task.n, broken);
}

/* Texts may be in a mapped file, which another process can change. So whether a task differs from the previous one is
 * decided once, and stored in `run` for number_texts(). */
static void follow_texts(dis__batch *b, batch_order *s)
{
    size_t long_at = 0;
    dis__task_text before = dis__batch_task(b, 0, &long_at);
    for (size_t i = 1; i < b->n_runs; i++) {
        const dis__task_text task = dis__batch_task(b, i, &long_at);
        const bool new = differs(before, task, s->broken);
        b->run[i] = new;
        s->n_ids += new;
        s->n_bytes += new ? task.n + 1 : 0;
        before = task;
    }
}

static dis_status follow_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const order_job *c = arg;
    dis__batch *b = c->batch[j];
    batch_order s = {.n_ids = 0};
    if (b->n_long)
        follow_texts(b, &s);
    else
        follow_words(b, &s);
    c->batch_order[j] = s;
    return DIS_OK;
}

/* The last task of the previous rounds; no text: there is none. */
static dis__task_text last_task(const dis__ids *ids)
{
    if (ids->n == 0) return (dis__task_text){.n = 0};
    const uint64_t *start = &ids->start[ids->n - 1];
    return (dis__task_text){ids->bytes + start[0], (size_t)(start[1] - start[0]) - 1};
}

/* Checks whether the tasks of the batches still ascend. If not, *sorted is unchanged. */
static dis_status follow(dis__filled_round *round, dis__sorted_tasks *sorted, bool *still)
{
    order_job c = {.batch = round->batch};
    dis__sorted_tasks to = *sorted;
    dis__task_text last = last_task(&round->collector->ids[DIS_COLUMN_TASK]);
    DIS_TRY(dis__alloc_array(&c.batch_order, round->n, sizeof *c.batch_order));
    const dis_status status = dis__run_jobs(round->ctx, round->n, follow_job, &c);
    for (size_t j = 0; status == DIS_OK && j < round->n; j++) {
        dis__batch *b = round->batch[j];
        dis__chunk_ids *chunk_ids = &b->chunk_ids[DIS_COLUMN_TASK];
        const batch_order *s = &c.batch_order[j];
        chunk_ids->n_ids = s->n_ids;
        chunk_ids->n_bytes = s->n_bytes;
        if (b->n_runs == 0) continue;
        size_t first_long = 0, last_long = b->n_long - 1; /* read only if there is one */
        const dis__task_text first = dis__batch_task(b, 0, &first_long);
        b->first_is_new = !last.text || differs(last, first, to.broken);
        chunk_ids->n_ids += b->first_is_new;
        chunk_ids->n_bytes += b->first_is_new ? first.n + 1 : 0;
        for (int o = 0; o < DIS_NAME_ORDERS; o++) to.broken[o] |= s->broken[o];
        last = dis__batch_task(b, b->n_runs - 1, &last_long);
    }
    dis__free(c.batch_order);
    *still = !to.broken[0] || !to.broken[1];
    if (*still) *sorted = to;
    return status;
}

/* Tasks that do not ascend. Rows that are not grouped by task are partitioned; other rows, and rows after collected
 * ones, only if a table of all tasks, estimated from this round, would take too much memory. */
static const dis__numbering *next_numbering(const dis__filled_round *round)
{
    enum { TABLE = 32 /* bytes per task */, PART_FOR_TABLE = 8 };
    const dis__collector *c = round->collector;
    size_t n_rows = 0, n_runs = 0;
    for (size_t b = 0; b < round->n; b++) {
        n_rows += round->batch[b]->n_rows;
        n_runs += round->batch[b]->n_runs;
    }
    const uint64_t limit = dis__memory_limit();
    const double row = (double)round->n_bytes / (double)n_rows, rows = (double)c->n_bytes / row;
    const double memory = limit && limit != DIS_MEMORY_AVAILABLE ? (double)limit : (double)dis__memory_available();
    const double left = (dis__collector_bytes_left(c) + (double)round->n_bytes) / row,
                 tasks = (double)c->ids[DIS_COLUMN_TASK].n + left * (double)n_runs / (double)n_rows;
    const bool jumps = 3 * n_runs >= 2 * n_rows && c->n_rows == 0, known = memory > 0;
    const bool large_table = known && limit && tasks * TABLE > memory / PART_FOR_TABLE;
    const bool too_much = known && !limit && rows * DIS_PARTITION_ROW > memory / 2;
    if (rows > (double)c->max_partitioned || too_much) return &dis__tasks_hashed;
    return jumps || large_table ? &dis__tasks_partitioned : &dis__tasks_hashed;
}

static dis_status accept(dis__filled_round *round, const dis__numbering **next)
{
    bool still = true;
    DIS_TRY(follow(round, &round->collector->sorted, &still));
    if (!still) *next = next_numbering(round);
    return DIS_OK;
}

static void number_words(dis__batch *b)
{
    const dis__chunk_ids *chunk_ids = &b->chunk_ids[DIS_COLUMN_TASK];
    const dis__ids *ids = chunk_ids->ids;
    size_t id = chunk_ids->id, at = chunk_ids->byte;
    const size_t end = at + chunk_ids->n_bytes;
    uint64_t before = b->n_runs && !b->first_is_new ? b->run_word[0] : 0;
    for (size_t i = 0; i < b->n_runs; i++) {
        const uint64_t word = b->run_word[i];
        if (word != before) {
            const size_t n = name_bytes(word);
            ids->start[id++] = at;
            dis__word_write(word, n - 1, ids->bytes + at, end - at);
            at += n;
            before = word;
        }
        b->run[i] = (uint32_t)(id - 1);
    }
}

static void number_texts(dis__batch *b)
{
    const dis__chunk_ids *chunk_ids = &b->chunk_ids[DIS_COLUMN_TASK];
    const dis__ids *ids = chunk_ids->ids;
    size_t id = chunk_ids->id, at = chunk_ids->byte, long_at = 0;
    for (size_t i = 0; i < b->n_runs; i++) {
        const dis__task_text task = dis__batch_task(b, i, &long_at);
        if (i == 0 ? b->first_is_new : b->run[i] != 0) {
            ids->start[id++] = at;
            memcpy(ids->bytes + at, task.text, task.n);
            ids->bytes[at + task.n] = 0;
            at += task.n + 1;
        }
        b->run[i] = (uint32_t)(id - 1);
    }
}

/* Assigns indices to the tasks of a batch's runs, and stores the names of new ones. */
static void number(dis__batch *b)
{
    if (b->n_long)
        number_texts(b);
    else
        number_words(b);
    b->tasks_descend = false;
}

const dis__numbering dis__tasks_sorted = {
    .name = "sorted",
    .numbered_later = true,
    .accept = accept,
    .number = number,
    .reserve = dis__row_store_reserve,
    .add_batch = dis__row_store_add_batch,
    .end_round = dis__row_store_end_round,
    .finish = dis__row_store_finish,
};
