/* Tasks in ascending order: see sorted_ids.h. Takes tasks of up to 8 bytes. A word is a text of up to 8 bytes padded
 * with zeros; with its first byte made the highest, words compare as texts do by bytes, and without the zeros behind
 * them as they do by length and bytes.
 *
 * Cost: two passes over runs of rows, a few ns each. */
#include "core/memory.h"
#include "core/pool.h"
#include "core/spill.h"
#include "votes/collect.h"

/* What one batch looks like by itself. */
typedef struct {
    bool broken[DIS_SORTED_ORDERS];
    size_t n_ids, n_bytes; /* but for its first run */
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

static dis_status follow_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const order_job *c = arg;
    const dis__batch *b = c->batch[j];
    const uint64_t *word = b->run_word;
    batch_order s = {0};
    for (size_t i = 1; i < b->n_runs; i++) {
        const bool new = word[i] != word[i - 1];
        s.broken[0] |= by_bytes(word[i]) < by_bytes(word[i - 1]);
        s.broken[1] |= by_length(word[i]) < by_length(word[i - 1]);
        s.n_ids += new;
        s.n_bytes += new ? name_bytes(word[i]) : 0;
    }
    c->batch_order[j] = s;
    return DIS_OK;
}

/* Goes on with the tasks of the batches; whether they still ascend. If not, *sorted has not changed. */
static dis_status follow(dis__filled *round, dis__sorted_ids *sorted, bool *still)
{
    order_job c = {.batch = round->batch};
    dis__sorted_ids to = *sorted;
    DIS_TRY(dis__alloc_array(&c.batch_order, round->n, sizeof *c.batch_order));
    const dis_status status = dis__run_jobs(round->ctx, round->n, follow_job, &c);
    for (size_t j = 0; status == DIS_OK && j < round->n; j++) {
        dis__batch *b = round->batch[j];
        dis__id_share *share = &b->share[DIS_COLUMN_TASK];
        const batch_order *s = &c.batch_order[j];
        const uint64_t first = b->n_runs ? b->run_word[0] : to.last;
        const bool new = first != to.last;
        b->word_before = to.last;
        share->n_ids = s->n_ids + new;
        share->n_bytes = s->n_bytes + (new ? name_bytes(first) : 0);
        if (to.last) {
            to.broken[0] |= by_bytes(first) < by_bytes(to.last);
            to.broken[1] |= by_length(first) < by_length(to.last);
        }
        for (int o = 0; o < DIS_SORTED_ORDERS; o++) to.broken[o] |= s->broken[o];
        if (b->n_runs) to.last = b->run_word[b->n_runs - 1];
    }
    dis__free(c.batch_order);
    *still = !to.broken[0] || !to.broken[1];
    if (*still) *sorted = to;
    return status;
}

/* Tasks that do not ascend: rows that go from task to task are partitioned, unless there are others already, or the
 * guess how many there will be asks for too much. */
static const dis__numbering *next_numbering(const dis__filled *round)
{
    const dis__collector *c = round->collector;
    size_t n_rows = 0, n_runs = 0;
    for (size_t b = 0; b < round->n; b++) {
        n_rows += round->batch[b]->n_rows;
        n_runs += round->batch[b]->n_runs;
    }
    if (c->n_rows || 3 * n_runs < 2 * n_rows || c->max_rows > DIS_PARTITION_MAX) return &dis__tasks_hashed;
    const double row = (double)round->n_bytes / (double)n_rows, memory = (double)dis__memory_available();
    const bool too_much =
        !dis__memory_limit() && memory > 0 && (double)c->n_bytes / row * sizeof(dis__vote_record) > memory / 2;
    return too_much ? &dis__tasks_hashed : &dis__tasks_partitioned;
}

static dis_status accept(dis__filled *round, const dis__numbering **next)
{
    bool still = true;
    if (dis__batches_have_long_task(round->batch, round->n)) {
        *next = &dis__tasks_hashed;
        return DIS_OK;
    }
    DIS_TRY(follow(round, &round->collector->sorted, &still));
    if (!still) *next = next_numbering(round);
    return DIS_OK;
}

/* Gives the runs of a batch their tasks' numbers, and puts the names of new ones where they belong. */
static void number(dis__batch *b)
{
    const dis__id_share *share = &b->share[DIS_COLUMN_TASK];
    const dis__ids *ids = share->ids;
    size_t id = share->id, at = share->byte;
    const size_t end = at + share->n_bytes;
    uint64_t before = b->word_before;
    for (size_t i = 0; i < b->n_runs; i++) {
        const uint64_t word = b->run_word[i];
        if (word != before) {
            const size_t n = name_bytes(word);
            ids->start[id++] = at;
            dis__word_put(word, n - 1, ids->bytes + at, end - at);
            at += n;
            before = word;
        }
        b->run[i] = (uint32_t)(id - 1);
    }
    b->tasks_fall = false;
}

const dis__numbering dis__tasks_sorted = {
    .name = "sorted",
    .late = true,
    .accept = accept,
    .number = number,
    .make_room = dis__row_store_make_room,
    .put = dis__row_store_put,
    .settle = dis__row_store_settle,
    .finish = dis__row_store_finish,
};
