/* The general numbering: tasks are looked up in a hash table while rows are read, like workers. It can replace other
 * numberings: tasks that were numbered without a table have their names, from which the next table is built
 * (hashed_ids.c); partitioned votes are finished as at the end of the input and become the first rows, grouped by item;
 * and the tasks of the round, kept as texts, are looked up here.
 *
 * Cost: see hashed_ids.c; for a switch, one lookup per run of rows of the round. */
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "votes/collect/collector.h"

enum { BLOCK = 64 };

/* The keys of runs [first, first + n) of a batch; long_at: its next long task. */
static void make_keys(const dis__batch *b, size_t first, size_t n, size_t *long_at, dis__id_key *key)
{
    const dis__ids *ids = b->chunk_ids[DIS_COLUMN_TASK].ids;
    for (size_t i = 0; i < n; i++) {
        const dis__task_text task = dis__batch_task(b, first + i, long_at);
        dis__id_key_init(ids, task.text, task.n, true, &key[i]);
        __builtin_prefetch(&ids->slot[dis__ids_bucket(ids, key[i].tag)]);
    }
}

static dis_status find_tasks_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__filled_round *round = arg;
    dis__ids *ids = &round->collector->ids[DIS_COLUMN_TASK];
    dis__batch *b = round->batch[j];
    dis__chunk_ids *chunk_ids = &b->chunk_ids[DIS_COLUMN_TASK];
    *chunk_ids = dis__chunk_ids_begin(ids, j, j ? &round->batch[j - 1]->chunk_ids[DIS_COLUMN_TASK] : NULL, b->texts);
    dis__id_key key[BLOCK];
    size_t long_at = 0;
    for (size_t first = 0; first < b->n_runs; first += BLOCK) {
        const size_t n = b->n_runs - first < BLOCK ? b->n_runs - first : BLOCK;
        make_keys(b, first, n, &long_at, key);
        for (size_t i = 0; i < n; i++) b->run[first + i] = dis__ids_find(chunk_ids, &key[i]);
    }
    return DIS_OK;
}

/* The tasks of the round. */
static dis_status find_tasks(dis__filled_round *round)
{
    dis__ids *ids = &round->collector->ids[DIS_COLUMN_TASK];
    size_t max = 1;
    for (size_t j = 0; j < round->n; j++) max = round->batch[j]->n_runs > max ? round->batch[j]->n_runs : max;
    DIS_TRY(dis__ids_begin_round(ids, round->n, max, dis_context_n_threads(round->ctx) == 1, 0));
    return dis__run_jobs(round->ctx, round->n, find_tasks_job, round);
}

static void adopt(dis__collector *c, dis_votes *votes)
{
    dis__row_store *store = &c->store;
    dis__row_store_free(store); /* rounds without rows may have left memory */
    store->rows = (dis__rows){.start = votes->start,
                              .worker = votes->worker,
                              .label8 = votes->label8,
                              .label = votes->label16,
                              .n = votes->n_votes};
    store->capacity = votes->n_votes;
    store->start_capacity = votes->n_items + 1;
    store->last_task = (uint32_t)(votes->n_items - 1);
    votes->start = NULL;
    votes->worker = NULL;
    votes->label8 = NULL;
    votes->label16 = NULL;
}

static dis_status adopt_names(dis__ids *ids, const dis_votes *votes)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < votes->n_items; i++) {
        size_t n;
        dis_names_get(votes->tasks, i, &n);
        n_bytes += n + 1;
    }
    DIS_TRY(dis__ids_reserve(ids, votes->n_items, n_bytes, 0, 0));
    for (size_t i = 0, at = 0; i < votes->n_items; i++) {
        size_t n;
        const char *name = dis_names_get(votes->tasks, i, &n);
        ids->start[i] = at;
        memcpy(ids->bytes + at, name, n + 1);
        at += n + 1;
    }
    ids->n = votes->n_items;
    return DIS_OK;
}

/* Converts partitioned votes to rows, grouped by item. */
static dis_status gather(dis_context *ctx, dis__collector *c)
{
    dis_votes votes = {.n_classes = c->labels.n};
    dis_status status = dis__partition_finish(ctx, &c->partition, c->n_rows, NULL, &votes);
    if (status == DIS_OK) status = adopt_names(&c->ids[DIS_COLUMN_TASK], &votes);
    if (status == DIS_OK) adopt(c, &votes);
    dis__free(votes.start);
    dis__free(votes.worker);
    dis__free(votes.label8);
    dis__free(votes.label16);
    dis_names_destroy(votes.tasks);
    dis__partition_free(&c->partition);
    return status;
}

static dis_status continue_from(dis__filled_round *round, const dis__numbering *before)
{
    if (before == &dis__tasks_partitioned) DIS_TRY(gather(round->ctx, round->collector));
    return find_tasks(round);
}

static void count(dis__batch *batch)
{
    dis__ids_count(&batch->chunk_ids[DIS_COLUMN_TASK]);
}

static void number(dis__batch *batch)
{
    dis__ids_number(&batch->chunk_ids[DIS_COLUMN_TASK]);
}

static void add_batch(const dis__filled_round *round, size_t j)
{
    dis__batch *b = round->batch[j];
    dis__ids_resolve_all(&round->collector->ids[DIS_COLUMN_TASK], b->run, b->n_runs, b->run);
    bool falls = false;
    for (size_t i = 1; i < b->n_runs; i++) falls |= b->run[i] < b->run[i - 1];
    b->tasks_descend = falls;
    dis__row_store_add_batch(round, j);
}

const dis__numbering dis__tasks_hashed = {
    .name = "hashed",
    .continue_from = continue_from,
    .count = count,
    .number = number,
    .reserve = dis__row_store_reserve,
    .add_batch = add_batch,
    .end_round = dis__row_store_end_round,
    .finish = dis__row_store_finish,
};
