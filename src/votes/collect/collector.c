/* Merges batches: see collector.h. While they are filled, batches share the tables of ids (hashed_ids.h). The steps at
 * the end of a round run in parallel over batches:
 *
 *   count   the number of new ids that a batch had first
 *   number  numbers them in order of appearance, from the end of the previous batch on, and stores their names
 *   rows    replaces indices of the round by final ones, and passes the rows to the numbering of tasks
 *           (ids/numbering.h)
 *
 * Cost per row: 5 or 6 bytes read and written; per new id: 24 bytes read, its name written, and its slot if batches
 * were filled in parallel. */
#include "votes/collect/collector.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"

dis_status dis__collector_init(dis__collector *c, const dis__secret *secret, uint64_t n_bytes)
{
    *c = (dis__collector){.n_bytes = n_bytes,
                          .tasks = &dis__tasks_hashed,
                          .max_partitioned = DIS_PARTITION_MAX,
                          .store = {.last_task = DIS_ID_NONE}};
    for (int k = 0; k < DIS_ID_COLUMNS; k++) {
        c->ids[k].secret = *secret;
        c->rate[k] = 1;
    }
    return DIS_OK;
}

void dis__collector_free(dis__collector *c)
{
    for (int k = 0; k < DIS_ID_COLUMNS; k++) dis__ids_free(&c->ids[k]);
    dis__partition_free(&c->partition);
    dis__row_store_free(&c->store);
    dis__key_table_free(&c->labels.table);
    dis__free(c->labels.key);
}

dis_status dis__collector_begin_round(dis__collector *c, const dis__round *round)
{
    enum { AT_MIN = 64 };
    for (int k = c->tasks->numbered_later ? DIS_COLUMN_WORKER : DIS_COLUMN_TASK; k < DIS_ID_COLUMNS; k++) {
        const double expected = AT_MIN + 2 * c->rate[k] * (double)round->n_bytes, room = (double)round->room * expected;
        const size_t max = room < (double)round->max_rows ? (size_t)room : round->max_rows;
        const double n_expected = c->n_done ? c->rate[k] * dis__collector_bytes_left(c) : 0;
        DIS_TRY(dis__ids_begin_round(&c->ids[k], round->n_batches, max, round->in_order, n_expected));
    }
    return DIS_OK;
}

void dis__collector_undo_round(dis__collector *c, dis__batch *const *batches, size_t n_batches)
{
    for (int k = 0; k < DIS_ID_COLUMNS; k++)
        for (size_t b = 0; b < n_batches; b++) dis__ids_undo_round(&c->ids[k], &batches[b]->chunk_ids[k]);
}

static dis_status count_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__filled_round *round = arg;
    const dis__numbering *tasks = round->collector->tasks;
    if (tasks->count) tasks->count(round->batch[j]);
    dis__ids_count(&round->batch[j]->chunk_ids[DIS_COLUMN_WORKER]);
    return DIS_OK;
}

static dis_status number_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__filled_round *round = arg;
    const dis__numbering *tasks = round->collector->tasks;
    if (tasks->number) tasks->number(round->batch[j]);
    dis__ids_number(&round->batch[j]->chunk_ids[DIS_COLUMN_WORKER]);
    return DIS_OK;
}

static dis_status rows_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__filled_round *round = arg;
    dis__batch *b = round->batch[j];
    if (b->n_rows == 0) return DIS_OK;
    uint16_t *label = b->row_label;
    const size_t n_known = b->n_known;
    for (size_t i = 0; b->label.n_votes && i < b->n_rows; i++)
        if (label[i] >= n_known) label[i] = b->label_of[label[i] - n_known];
    round->collector->tasks->add_batch(round, j);
    return DIS_OK;
}

/* Labels are few: one table, batch by batch. */
static dis_status merge_labels(dis__collected_labels *known, dis__batch *b, size_t n_known)
{
    size_t votes = 0;
    b->n_known = n_known;
    DIS_TRY(dis__reserve(&b->label_of, &b->label_of_capacity, 0, b->label.n_votes, sizeof *b->label_of));
    for (size_t i = 0; i < b->label.n; i++) {
        if (b->label.label[i].kind != DIS_LABEL_VOTE) continue;
        dis__key key = b->label.key[i];
        key.value = (uint32_t)known->n;
        const dis__key *at;
        bool fresh;
        DIS_TRY(dis__key_table_insert(&known->table, &key, &at, &fresh));
        b->label_of[votes++] = (uint16_t)at->value;
        if (!fresh) continue;
        if (known->n == DIS_MAX_CLASSES)
            return dis__fail(DIS_ELIMIT, "more than %u different labels; is this the right column?", DIS_MAX_CLASSES);
        DIS_TRY(dis__reserve(&known->key, &known->capacity, known->n, known->n + 1, sizeof *known->key));
        known->key[known->n++] = key;
    }
    return DIS_OK;
}

/* The first index and name offset of each batch's new ids. */
static dis_status place_ids(const dis__filled_round *round, int k, size_t *n)
{
    static const char *const what[] = {"tasks", "workers"};
    dis__collector *c = round->collector;
    dis__ids *ids = &c->ids[k];
    const size_t before = ids->n, bytes_before = ids->start ? (size_t)ids->start[ids->n] : 0;
    const double n_bytes = round->n_bytes ? (double)round->n_bytes : 1;
    size_t at = bytes_before;
    *n = before;
    for (size_t b = 0; b < round->n; b++) {
        dis__chunk_ids *s = &round->batch[b]->chunk_ids[k];
        s->id = *n;
        s->byte = at;
        *n += s->n_ids;
        at += s->n_bytes;
    }
    if (*n > DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u %s", DIS_MAX_IDS, what[k]);
    c->rate[k] = (double)(*n - before) / n_bytes;
    const double more = 1.02 * dis__collector_bytes_left(c) / n_bytes;
    return dis__ids_reserve(ids, *n, at, (double)*n + more * (double)(*n - before),
                            (double)at + more * (double)(at - bytes_before));
}

static void place_rows(const dis__filled_round *round)
{
    size_t n = round->collector->n_rows;
    for (size_t b = 0; b < round->n; b++) {
        round->batch[b]->first_row = n;
        n += round->batch[b]->n_rows;
    }
}

static void finish_ids(const dis__filled_round *round, int k, size_t n)
{
    bool has_medium = false;
    for (size_t b = 0; b < round->n; b++) has_medium = has_medium || round->batch[b]->chunk_ids[k].has_medium;
    dis__ids_end_round(&round->collector->ids[k], n, has_medium);
}

/* Switches to another numbering of tasks, until one accepts the batches of the round. */
static dis_status choose_numbering(dis__filled_round *round)
{
    dis__collector *c = round->collector;
    for (;;) {
        const dis__numbering *before = c->tasks, *next = before;
        if (before->accept) DIS_TRY(before->accept(round, &next));
        if (next == before) return DIS_OK;
        if (next->continue_from) DIS_TRY(next->continue_from(round, before));
        c->tasks = next;
    }
}

dis_status dis__collector_add_round(dis_context *ctx, dis__collector *c, dis__batch *const *batches, size_t n_batches,
                                    uint64_t n_bytes)
{
    dis__filled_round round = {.ctx = ctx, .collector = c, .batch = batches, .n = n_batches, .n_bytes = n_bytes};
    const size_t n_known = c->labels.n;
    size_t n_ids[DIS_ID_COLUMNS];
    c->n_done += n_bytes;
    DIS_TRY(choose_numbering(&round));
    DIS_TRY(dis__run_jobs(ctx, n_batches, count_job, &round));
    for (int k = 0; k < DIS_ID_COLUMNS; k++) DIS_TRY(place_ids(&round, k, &n_ids[k]));
    for (size_t b = 0; b < n_batches; b++) DIS_TRY(merge_labels(&c->labels, batches[b], n_known));
    place_rows(&round);
    DIS_TRY(c->tasks->reserve(&round));
    DIS_TRY(dis__run_jobs(ctx, n_batches, number_job, &round));
    DIS_TRY(dis__run_jobs(ctx, n_batches, rows_job, &round));
    if (c->tasks->end_round) DIS_TRY(c->tasks->end_round(&round));
    for (size_t b = 0; b < n_batches; b++) c->n_rows += batches[b]->n_rows;
    for (int k = 0; k < DIS_ID_COLUMNS; k++) finish_ids(&round, k, n_ids[k]);
    return DIS_OK;
}

dis_status dis__collector_finish(dis_context *ctx, dis__collector *c, const uint16_t *class_of, dis_votes *votes)
{
    dis__ids *workers = &c->ids[DIS_COLUMN_WORKER];
    votes->n_workers = workers->n;
    DIS_TRY(dis__ids_names(workers, &votes->workers));
    return c->tasks->finish(ctx, c, class_of, votes);
}
