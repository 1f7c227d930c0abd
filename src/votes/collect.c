/* Putting batches together: see collect.h. Steps, each shared out by batch or by (column, partition):
 *
 *   deal    a batch's keys are put in order of their partition (counting sort)
 *   merge   a partition looks up its keys, batch by batch: the number that is known, or that no batch had it before
 *   number  a batch numbers its new keys in order of appearance, from where the batch before ends, and keeps their names
 *   tell    a partition learns the numbers of its new keys
 *   rows    a batch's rows get the numbers of the whole input
 *
 * Cost a key: two reads of its 32 bytes, a lookup in a table that was fetched ahead, three writes of 4 bytes. */
#include "votes/collect.h"
#include "core/memory.h"
#include "core/names_build.h"
#include "core/pool.h"

enum { BYTES_A_PARTITION = 1 << 20, MOST_BITS = 4, AHEAD = 16, FEW_IDS = 1 << 16 };

dis_status dis__collect_begin(dis__collector *c, const dis__secret *secret, uint64_t n_bytes)
{
    *c = (dis__collector){.secret = *secret, .n_bytes = n_bytes};
    while (c->partition_bits < MOST_BITS && n_bytes >> c->partition_bits > BYTES_A_PARTITION) c->partition_bits++;
    for (int k = 0; k < DIS_ID_COLUMNS; k++)
        DIS_TRY(dis__alloc_zeroed(&c->partition[k], (size_t)1 << c->partition_bits, sizeof **c->partition));
    return DIS_OK;
}

static void free_partitions(dis__collector *c, int column)
{
    for (size_t p = 0; c->partition[column] && p < (size_t)1 << c->partition_bits; p++) {
        dis__partition *part = &c->partition[column][p];
        dis__table_free(&part->table);
        dis__free(part->fresh);
        dis__free(part->slot);
        dis__free(part->fresh_of);
    }
    dis__free(c->partition[column]);
    c->partition[column] = NULL;
}

static void free_names(dis__collector *c, int column)
{
    for (size_t i = 0; c->names[column] && i < c->n_pieces; i++) dis__free(c->names[column][i].bytes);
    dis__free(c->names[column]);
    c->names[column] = NULL;
}

void dis__collect_free(dis__collector *c)
{
    for (int k = 0; k < DIS_ID_COLUMNS; k++) {
        free_partitions(c, k);
        free_names(c, k);
        dis__table_free(&c->frozen[k]);
    }
    for (size_t i = 0; c->rows && i < c->n_pieces; i++) {
        dis__free(c->rows[i].task);
        dis__free(c->rows[i].worker);
        dis__free(c->rows[i].label);
    }
    dis__free(c->rows);
    dis__table_free(&c->label_table);
    dis__free(c->label);
}

typedef struct {
    dis__collector *c;
    dis__batch *const *batch;
    size_t n_batches;
    uint64_t n_bytes;
    size_t base
        [DIS_ID_COLUMNS]; /* numbers given before; what is new gets a number of its partition's, from here on, at first */
    size_t (*first)[DIS_ID_COLUMNS]; /* (n_batches) the first new number of each batch */
    uint16_t **label_of;             /* (n_batches) (labels of that batch) */
} collecting;

static size_t partition_of(const dis__collector *c, uint64_t hash)
{
    return c->partition_bits ? (size_t)(hash >> (64 - c->partition_bits)) : 0;
}

/* Room for n numbers in arrays whose contents need not be kept. */
static dis_status room_for(dis__column *col)
{
    if (col->n <= col->id_capacity) return DIS_OK;
    dis__free(col->id);
    dis__free(col->fresh);
    dis__free(col->order);
    col->id = col->order = NULL;
    col->fresh = NULL;
    col->id_capacity = 0;
    DIS_TRY(dis__alloc_array(&col->id, col->capacity, sizeof *col->id));
    DIS_TRY(dis__alloc_array(&col->fresh, col->capacity, sizeof *col->fresh));
    DIS_TRY(dis__alloc_array(&col->order, col->capacity, sizeof *col->order));
    col->id_capacity = col->capacity;
    return DIS_OK;
}

static dis_status deal_column(const dis__collector *c, dis__column *col)
{
    const size_t n_partitions = (size_t)1 << c->partition_bits;
    if (!col->first) DIS_TRY(dis__alloc_array(&col->first, n_partitions + 1, sizeof *col->first));
    DIS_TRY(room_for(col));
    if (col->n) memset(col->fresh, 0, col->n * sizeof *col->fresh);
    size_t next[(1 << MOST_BITS) + 1] = {0};
    for (size_t i = 0; i < col->n; i++) next[partition_of(c, col->key[i].hash) + 1]++;
    for (size_t p = 0; p < n_partitions; p++) next[p + 1] += next[p];
    memcpy(col->first, next, (n_partitions + 1) * sizeof *next);
    for (size_t i = 0; i < col->n; i++) col->order[next[partition_of(c, col->key[i].hash)]++] = (uint32_t)i;
    return DIS_OK;
}

static dis_status deal_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const collecting *w = arg;
    for (int k = 0; k < DIS_ID_COLUMNS; k++) DIS_TRY(deal_column(w->c, &w->batch[j]->id[k]));
    return DIS_OK;
}

/* Job j: column and partition. */
static void which(const collecting *w, size_t j, int *column, size_t *partition)
{
    *column = (int)(j >> w->c->partition_bits);
    *partition = j & (((size_t)1 << w->c->partition_bits) - 1);
}

static dis_status merge_keys(dis__partition *part, dis__column *col, size_t first, size_t last, size_t batch,
                             size_t base)
{
    dis__table *t = &part->table;
    DIS_TRY(dis__reserve(&part->fresh, &part->fresh_capacity, part->n_fresh, part->n_fresh + last - first,
                         sizeof *part->fresh));
    DIS_TRY(dis__reserve(&part->slot, &part->slot_capacity, part->n_fresh, part->n_fresh + last - first,
                         sizeof *part->slot));
    for (size_t i = first; i < last; i++) {
        if (i + 2 * AHEAD < last) __builtin_prefetch(&col->key[col->order[i + 2 * AHEAD]]);
        if (i + AHEAD < last && t->n_slots)
            __builtin_prefetch(&t->slot[dis__slot_of(col->key[col->order[i + AHEAD]].hash, t->n_slots)]);
        const uint32_t index = col->order[i];
        if (dis__table_is_full(t)) DIS_TRY(dis__table_grow(t));
        dis__key *slot = &t->slot[dis__table_seek(t, &col->key[index])];
        if (slot->value != DIS_KEY_NONE) {
            col->id[index] = slot->value;
            continue;
        }
        *slot = col->key[index];
        slot->value = (uint32_t)(base + part->n_fresh);
        t->n++;
        part->slot[part->n_fresh] = (uint32_t)(slot - t->slot);
        part->fresh[part->n_fresh++] = (uint64_t)batch << 32 | index;
        part->fresh_of[batch]++;
        col->fresh[index] = true;
    }
    return DIS_OK;
}

static dis_status merge_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const collecting *w = arg;
    int column;
    size_t p;
    which(w, j, &column, &p);
    dis__partition *part = &w->c->partition[column][p];
    part->n_fresh = 0;
    part->n_slots = part->table.n_slots;
    DIS_TRY(dis__reserve(&part->fresh_of, &part->fresh_of_capacity, 0, w->n_batches, sizeof *part->fresh_of));
    memset(part->fresh_of, 0, w->n_batches * sizeof *part->fresh_of);
    for (size_t b = 0; b < w->n_batches; b++) {
        dis__column *col = &w->batch[b]->id[column];
        DIS_TRY(merge_keys(part, col, col->first[p], col->first[p + 1], b, w->base[column]));
    }
    return DIS_OK;
}

static dis_status name_fresh(dis__column *col, size_t next, dis__names_piece *piece)
{
    size_t n = 0, n_bytes = 0;
    for (size_t i = 0; i < col->n; i++)
        if (col->fresh[i]) {
            n++;
            n_bytes += col->key[i].n + 1;
        }
    char *bytes;
    DIS_TRY(dis__alloc_array(&bytes, n_bytes + DIS_KEY_INLINE, 1)); /* short names are copied whole */
    *piece = (dis__names_piece){.bytes = bytes, .n_bytes = n_bytes, .n = n};
    for (size_t i = 0; i < col->n; i++)
        if (col->fresh[i]) {
            const dis__key *k = &col->key[i];
            col->id[i] = (uint32_t)next++;
            if (k->n <= DIS_KEY_INLINE)
                memcpy(bytes, dis__key_text(k), DIS_KEY_INLINE);
            else
                memcpy(bytes, dis__key_text(k), k->n);
            bytes += k->n;
            *bytes++ = 0;
        }
    return DIS_OK;
}

static dis_status number_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const collecting *w = arg;
    for (int k = 0; k < DIS_ID_COLUMNS; k++)
        DIS_TRY(name_fresh(&w->batch[j]->id[k], w->first[j][k], &w->c->names[k][w->c->n_pieces - w->n_batches + j]));
    return DIS_OK;
}

/* Grows a table before it must, and to the size that the rest of the input will need if it goes on like this (but four times
 * as large at most: it may not): growing by little steps would write it three times. */
static dis_status foresee(const collecting *w, dis__partition *part)
{
    dis__table *t = &part->table;
    const double left = w->c->n_bytes > w->c->n_done ? (double)(w->c->n_bytes - w->c->n_done) : 0;
    const double to_come = (double)part->n_fresh * left / (double)(w->n_bytes ? w->n_bytes : 1);
    if (to_come < 1000 || (double)t->n + 1.5 * (double)part->n_fresh < .7 * (double)t->n_slots) return DIS_OK;
    const double wanted = ((double)t->n + to_come) / .7, least = 1.5 * (double)t->n_slots,
                 most = 4. * (double)t->n_slots;
    return dis__table_resize(t, (size_t)(wanted < least ? least : wanted > most ? most : wanted));
}

static dis_status tell_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const collecting *w = arg;
    int column;
    size_t p;
    which(w, j, &column, &p);
    dis__partition *part = &w->c->partition[column][p];
    dis__table *t = &part->table;
    const bool stayed = part->n_slots == t->n_slots;
    for (size_t i = 0; i < part->n_fresh; i++) {
        if (stayed && i + AHEAD < part->n_fresh) __builtin_prefetch(&t->slot[part->slot[i + AHEAD]], 1);
        const dis__column *col = &w->batch[part->fresh[i] >> 32]->id[column];
        const uint32_t index = (uint32_t)part->fresh[i];
        part->fresh[i] = col->id[index];
        t->slot[stayed ? part->slot[i] : dis__table_seek(t, &col->key[index])].value = col->id[index];
    }
    return foresee(w, part);
}

static dis_status rows_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const collecting *w = arg;
    const dis__collector *c = w->c;
    dis__batch *b = w->batch[j];
    for (int k = 0; k < DIS_ID_COLUMNS; k++) {
        dis__column *col = &b->id[k];
        for (size_t i = 0; i < col->n; i++)
            if (!col->fresh[i] && col->id[i] >= w->base[k])
                col->id[i] =
                    (uint32_t)c->partition[k][partition_of(c, col->key[i].hash)].fresh[col->id[i] - w->base[k]];
    }
    dis__rows *rows = &c->rows[c->n_pieces - w->n_batches + j];
    const size_t n = b->n_rows;
    DIS_TRY(dis__alloc_array(&rows->task, n, sizeof *rows->task));
    DIS_TRY(dis__alloc_array(&rows->worker, n, sizeof *rows->worker));
    DIS_TRY(dis__alloc_array(&rows->label, n, sizeof *rows->label));
    rows->n = n;
    const uint32_t *task = b->id[DIS_COLUMN_TASK].id, *worker = b->id[DIS_COLUMN_WORKER].id;
    const uint16_t *label_of = w->label_of[j];
    for (size_t i = 0; i < n; i++) {
        const uint32_t t = b->row[DIS_COLUMN_TASK][i], v = b->row[DIS_COLUMN_WORKER][i];
        rows->task[i] = t & DIS_ROW_IS_ID ? t & ~DIS_ROW_IS_ID : task[t];
        rows->worker[i] = v & DIS_ROW_IS_ID ? v & ~DIS_ROW_IS_ID : worker[v];
        rows->label[i] = label_of[b->row_label[i]];
    }
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

/* Where each batch's new numbers begin. */
static dis_status place_batches(collecting *w)
{
    dis__collector *c = w->c;
    static const char *const what[] = {"tasks", "workers"};
    for (int k = 0; k < DIS_ID_COLUMNS; k++)
        for (size_t b = 0; b < w->n_batches; b++) {
            w->first[b][k] = c->n_ids[k];
            for (size_t p = 0; p < (size_t)1 << c->partition_bits; p++) c->n_ids[k] += c->partition[k][p].fresh_of[b];
            if (c->n_ids[k] > DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u %s", DIS_MAX_IDS, what[k]);
        }
    return DIS_OK;
}

static dis_status add_pieces(dis__collector *c, size_t n)
{
    DIS_TRY(dis__reserve(&c->rows, &c->rows_capacity, c->n_pieces, c->n_pieces + n, sizeof *c->rows));
    for (int k = 0; k < DIS_ID_COLUMNS; k++)
        DIS_TRY(dis__reserve(&c->names[k], &c->names_capacity[k], c->n_pieces, c->n_pieces + n, sizeof **c->names));
    memset(c->rows + c->n_pieces, 0, n * sizeof *c->rows);
    for (int k = 0; k < DIS_ID_COLUMNS; k++) memset(c->names[k] + c->n_pieces, 0, n * sizeof **c->names);
    c->n_pieces += n;
    return DIS_OK;
}

void dis__collect_frozen(const dis__collector *c, const dis__table *frozen[DIS_ID_COLUMNS])
{
    for (int k = 0; k < DIS_ID_COLUMNS; k++) frozen[k] = c->frozen[k].n ? &c->frozen[k] : NULL;
}

/* Keeps the values of columns that have few where batches to come find them at once. */
static dis_status freeze(const collecting *w, int k)
{
    dis__collector *c = w->c;
    c->many[k] = c->many[k] || c->n_ids[k] > FEW_IDS;
    for (size_t b = 0; b < w->n_batches && !c->many[k]; b++) {
        const dis__column *col = &w->batch[b]->id[k];
        c->many[k] = !col->repeats;
        for (size_t i = 0; i < col->n; i++) {
            if (!col->fresh[i]) continue;
            dis__key key = col->key[i];
            key.value = col->id[i];
            const dis__key *at;
            bool fresh;
            if (3 * c->frozen[k].n >= c->frozen[k].n_slots) DIS_TRY(dis__table_grow(&c->frozen[k])); /* found at once */
            DIS_TRY(dis__table_put(&c->frozen[k], &key, &at, &fresh));
        }
    }
    if (c->many[k]) dis__table_free(&c->frozen[k]);
    return DIS_OK;
}

static dis_status collect(dis_context *ctx, collecting *w)
{
    dis__collector *c = w->c;
    const size_t n_parts = (size_t)DIS_ID_COLUMNS << c->partition_bits;
    DIS_TRY(dis__alloc_array(&w->first, w->n_batches, sizeof *w->first));
    DIS_TRY(dis__alloc_zeroed(&w->label_of, w->n_batches, sizeof *w->label_of));
    DIS_TRY(dis__run_jobs(ctx, w->n_batches, deal_job, w));
    DIS_TRY(dis__run_jobs(ctx, n_parts, merge_job, w));
    for (size_t b = 0; b < w->n_batches; b++) {
        DIS_TRY(dis__alloc_array(&w->label_of[b], w->batch[b]->label.n, sizeof **w->label_of));
        DIS_TRY(merge_labels(c, w->batch[b], w->label_of[b]));
    }
    DIS_TRY(place_batches(w));
    DIS_TRY(add_pieces(c, w->n_batches));
    DIS_TRY(dis__run_jobs(ctx, w->n_batches, number_job, w));
    DIS_TRY(dis__run_jobs(ctx, n_parts, tell_job, w));
    DIS_TRY(dis__run_jobs(ctx, w->n_batches, rows_job, w));
    for (int k = 0; k < DIS_ID_COLUMNS; k++) DIS_TRY(freeze(w, k));
    return DIS_OK;
}

dis_status dis__collect(dis_context *ctx, dis__collector *c, dis__batch *const *batches, size_t n_batches,
                        uint64_t n_bytes)
{
    collecting w = {.c = c, .batch = batches, .n_batches = n_batches, .n_bytes = n_bytes};
    c->n_done += n_bytes;
    memcpy(w.base, c->n_ids, sizeof w.base);
    const dis_status status = collect(ctx, &w);
    for (size_t b = 0; w.label_of && b < n_batches; b++) dis__free(w.label_of[b]);
    dis__free(w.label_of);
    dis__free(w.first);
    return status;
}

dis_status dis__collect_names(dis__collector *c, int column, dis_names **out)
{
    free_partitions(c, column);
    const size_t n = c->n_ids[column];
    size_t n_bytes = 0;
    for (size_t i = 0; i < c->n_pieces; i++) n_bytes += c->names[column][i].n_bytes;
    char *bytes = NULL;
    uint64_t *start = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&bytes, n_bytes, 1), fail);
    DIS_TRY_GOTO(status, dis__alloc_array(&start, n + 1, sizeof *start), fail);
    size_t at = 0, name = 0;
    for (size_t i = 0; i < c->n_pieces; i++) {
        dis__names_piece *piece = &c->names[column][i];
        if (piece->n_bytes) memcpy(bytes + at, piece->bytes, piece->n_bytes);
        dis__free(piece->bytes);
        piece->bytes = NULL;
        for (const size_t end = at + piece->n_bytes; at < end;) {
            start[name++] = at;
            at += strlen(bytes + at) + 1;
        }
    }
    start[n] = at;
    DIS_TRY_GOTO(status, dis__names_adopt(bytes, start, n, out), fail);
    return DIS_OK;
fail:
    dis__free(bytes);
    dis__free(start);
    return status;
}
