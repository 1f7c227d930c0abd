/* Tasks in ascending order: see sorted_ids.h. A word is a text of up to 8 bytes padded with zeros; with its first byte
 * made the highest, words compare as texts do by bytes, and without the zeros behind them as they do by length and
 * bytes.
 *
 * Cost: two passes over runs of rows, a few ns each. */
#include "votes/ids/sorted_ids.h"
#include "core/memory.h"
#include "core/pool.h"

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

dis_status dis__sorted_ids_follow(dis_context *ctx, dis__sorted_ids *sorted, dis__batch *const *batches,
                                  size_t n_batches, bool *still)
{
    order_job c = {.batch = batches};
    dis__sorted_ids to = *sorted;
    DIS_TRY(dis__alloc_array(&c.batch_order, n_batches, sizeof *c.batch_order));
    const dis_status status = dis__run_jobs(ctx, n_batches, follow_job, &c);
    for (size_t j = 0; status == DIS_OK && j < n_batches; j++) {
        dis__batch *b = batches[j];
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

void dis__sorted_ids_number(dis__batch *b, size_t id, size_t at)
{
    dis__ids *ids = b->share[DIS_COLUMN_TASK].ids;
    const size_t end = at + b->share[DIS_COLUMN_TASK].n_bytes;
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
}
