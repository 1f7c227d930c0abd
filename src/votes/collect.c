/* Putting batches together: see collect.h. While they are filled, batches share the tables of ids (ids.h); what is left
 * for the end of a round, each step shared out by batch:
 *
 *   count   how many new ids a batch had first
 *   number  it numbers them in order of appearance, from where the batch before ends, and keeps their names
 *   rows    its rows get the numbers of the whole input
 *
 * Cost a row: 10 bytes read and written; a new id: 24 bytes read, its name written, and its slot when batches were filled
 * side by side. */
#include "votes/collect.h"
#include "core/memory.h"
#include "core/pool.h"

typedef struct {
    dis__collector *c;
    dis__batch *const *batch;
    size_t n_batches;
    size_t (*first_id)[DIS_ID_COLUMNS], (*first_byte)[DIS_ID_COLUMNS]; /* (n_batches) */
    size_t *first_row;                                                 /* (n_batches) */
    uint16_t **label_of;                                               /* (n_batches) (labels of that batch) */
} collecting;

dis_status dis__collect_begin(dis__collector *c, const dis__secret *secret, uint64_t n_bytes)
{
    *c = (dis__collector){.n_bytes = n_bytes};
    for (int k = 0; k < DIS_ID_COLUMNS; k++) {
        c->ids[k].secret = *secret;
        c->rate[k] = 1;
    }
    return DIS_OK;
}

void dis__collect_free(dis__collector *c)
{
    for (int k = 0; k < DIS_ID_COLUMNS; k++) dis__ids_free(&c->ids[k]);
    dis__free(c->rows.task);
    dis__free(c->rows.worker);
    dis__free(c->rows.label);
    dis__table_free(&c->label_table);
    dis__free(c->label);
}

static double bytes_left(const dis__collector *c)
{
    return c->n_bytes > c->n_done ? (double)(c->n_bytes - c->n_done) : 0;
}

dis_status dis__collect_prepare(dis__collector *c, const dis__round *round)
{
    enum { AT_LEAST = 64 };
    for (int k = 0; k < DIS_ID_COLUMNS; k++) {
        const double expected = AT_LEAST + 2 * c->rate[k] * (double)round->n_bytes,
                     room = (double)round->room * expected;
        const size_t most = room < (double)round->most_rows ? (size_t)room : round->most_rows;
        const double to_come = c->n_done ? c->rate[k] * bytes_left(c) : 0;
        DIS_TRY(dis__ids_prepare(&c->ids[k], round->n_batches, most, round->in_order, to_come));
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
    for (int k = 0; k < DIS_ID_COLUMNS; k++) dis__ids_count(&w->batch[j]->share[k]);
    return DIS_OK;
}

static dis_status number_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const collecting *w = arg;
    for (int k = 0; k < DIS_ID_COLUMNS; k++)
        dis__ids_number(&w->batch[j]->share[k], w->first_id[j][k], w->first_byte[j][k]);
    return DIS_OK;
}

static void final_ids(const dis__ids *ids, const uint32_t *number, size_t n, uint32_t *to)
{
    if (ids->in_order) {
        if (n) memcpy(to, number, n * sizeof *to);
        return;
    }
    for (size_t i = 0; i < n; i++) to[i] = dis__ids_final(ids, number[i]);
}

static dis_status rows_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const collecting *w = arg;
    const dis__rows *rows = &w->c->rows;
    const dis__batch *b = w->batch[j];
    const size_t first = w->first_row[j], n = b->n_rows;
    final_ids(&w->c->ids[DIS_COLUMN_TASK], b->row[DIS_COLUMN_TASK], n, rows->task + first);
    final_ids(&w->c->ids[DIS_COLUMN_WORKER], b->row[DIS_COLUMN_WORKER], n, rows->worker + first);
    const uint16_t *label_of = w->label_of[j];
    for (size_t i = 0; i < n; i++) rows->label[first + i] = label_of[b->row_label[i]];
    return DIS_OK;
}

/* Labels are few: one table, batch by batch. */
static dis_status merge_labels(dis__collector *c, const dis__batch *b, uint16_t *label_of)
{
    for (size_t i = 0; i < b->label.n; i++) {
        if (b->kind[i] != DIS_LABEL_VOTE) continue;
        dis__key key = b->label.key[i];
        key.value = (uint32_t)c->n_labels;
        const dis__key *at;
        bool fresh;
        DIS_TRY(dis__table_put(&c->label_table, &key, &at, &fresh));
        label_of[i] = (uint16_t)at->value;
        if (!fresh) continue;
        if (c->n_labels == DIS_MAX_CLASSES)
            return dis__fail(DIS_ELIMIT, "more than %u different labels; is this the right column?", DIS_MAX_CLASSES);
        DIS_TRY(dis__reserve(&c->label, &c->label_capacity, c->n_labels, c->n_labels + 1, sizeof *c->label));
        c->label[c->n_labels++] = key;
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
        w->first_id[b][k] = *n;
        w->first_byte[b][k] = at;
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
        w->first_row[b] = n;
        n += w->batch[b]->n_rows;
    }
    if (n > c->rows_capacity) {
        const double guess = 1.01 * (double)n * (double)c->n_bytes / (double)(c->n_done ? c->n_done : 1);
        const size_t capacity = guess > (double)n ? (size_t)guess : n;
        DIS_TRY(dis__resize_array(&c->rows.task, c->rows.n, capacity, sizeof *c->rows.task));
        DIS_TRY(dis__resize_array(&c->rows.worker, c->rows.n, capacity, sizeof *c->rows.worker));
        DIS_TRY(dis__resize_array(&c->rows.label, c->rows.n, capacity, sizeof *c->rows.label));
        c->rows_capacity = capacity;
    }
    c->rows.n = n;
    return DIS_OK;
}

static dis_status collect(dis_context *ctx, collecting *w, uint64_t n_bytes)
{
    dis__collector *c = w->c;
    size_t n_ids[DIS_ID_COLUMNS];
    DIS_TRY(dis__alloc_array(&w->first_id, w->n_batches, sizeof *w->first_id));
    DIS_TRY(dis__alloc_array(&w->first_byte, w->n_batches, sizeof *w->first_byte));
    DIS_TRY(dis__alloc_array(&w->first_row, w->n_batches, sizeof *w->first_row));
    DIS_TRY(dis__alloc_zeroed(&w->label_of, w->n_batches, sizeof *w->label_of));
    for (size_t b = 0; b < w->n_batches; b++) {
        DIS_TRY(dis__alloc_array(&w->label_of[b], w->batch[b]->label.n, sizeof **w->label_of));
        DIS_TRY(merge_labels(c, w->batch[b], w->label_of[b]));
    }
    DIS_TRY(dis__run_jobs(ctx, w->n_batches, count_job, w));
    for (int k = 0; k < DIS_ID_COLUMNS; k++) DIS_TRY(place_ids(w, k, n_bytes, &n_ids[k]));
    DIS_TRY(place_rows(w));
    DIS_TRY(dis__run_jobs(ctx, w->n_batches, number_job, w));
    DIS_TRY(dis__run_jobs(ctx, w->n_batches, rows_job, w));
    for (int k = 0; k < DIS_ID_COLUMNS; k++) dis__ids_finish(&c->ids[k], n_ids[k]);
    return DIS_OK;
}

dis_status dis__collect(dis_context *ctx, dis__collector *c, dis__batch *const *batches, size_t n_batches,
                        uint64_t n_bytes)
{
    collecting w = {.c = c, .batch = batches, .n_batches = n_batches};
    c->n_done += n_bytes;
    const dis_status status = collect(ctx, &w, n_bytes);
    for (size_t b = 0; w.label_of && b < n_batches; b++) dis__free(w.label_of[b]);
    dis__free(w.label_of);
    dis__free(w.first_id);
    dis__free(w.first_byte);
    dis__free(w.first_row);
    return status;
}
