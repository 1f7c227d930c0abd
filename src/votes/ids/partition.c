/* Votes partitioned by task: see partition.h. The records of a round go to their buckets in the order of rows; where
 * each batch puts its own is counted first. What becomes of them at the end is in partition_finish.c.
 *
 * Cost: 16 bytes per row written. Memory: 16 bytes per row. */
#include "votes/ids/partition.h"
#include "core/memory.h"
#include "core/pool.h"
#include "votes/fast_rows.h"

enum { MAX_BUCKETS = 1024, ROWS_PER_BASE = 1 << 16 };

static size_t n_buckets(const dis__partition *d)
{
    return d->places.n_buckets;
}

dis_status dis__partition_begin(dis__partition *d, const dis__secret *secret, uint64_t n_bytes, size_t bucket_bytes,
                                double bytes_per_row)
{
    const uint64_t wanted = n_bytes / bucket_bytes + 1;
    const size_t n = wanted < MAX_BUCKETS ? (size_t)wanted : MAX_BUCKETS;
    const size_t share = (size_t)(1.03 * (double)n_bytes / bytes_per_row / (double)n) + 256;
    *d = (dis__partition){.places = {.secret = *secret, .n_buckets = n}};
    DIS_TRY(dis__alloc_zeroed(&d->bucket, n, sizeof *d->bucket));
    DIS_TRY(dis__alloc_array(&d->all, dis__size(n, share, 0), sizeof *d->all));
    for (size_t h = 0; h < n; h++)
        d->bucket[h] = (dis__partition_bucket){.record = d->all + h * share, .capacity = share};
    return DIS_OK;
}

void dis__partition_free(dis__partition *d)
{
    for (size_t h = 0; d->bucket && h < n_buckets(d); h++)
        if (d->bucket[h].moved) dis__free(d->bucket[h].record);
    dis__free(d->bucket);
    dis__free(d->all);
    dis__free(d->place);
    *d = (dis__partition){0};
}

typedef struct {
    const dis__partition *partition;
    dis__batch *const *batch;
} partitioning;

static size_t rows_end(const dis__batch *b, size_t run)
{
    return run + 1 < b->n_runs ? b->run_row[run + 1] : b->n_rows;
}

/* The bucket of each run, and how many records each bucket gets. */
static dis_status count_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const partitioning *w = arg;
    dis__batch *b = w->batch[j];
    size_t *count = w->partition->place + j * n_buckets(w->partition);
    DIS_TRY(dis__batch_reserve(b, DIS_FAST_ROWS_MARGIN));
    DIS_KERNEL_PICK(dis__find_homes)(&w->partition->places, b->run_word, b->n_runs, b->run);
    const size_t bases = (b->first_row + b->n_rows + ROWS_PER_BASE - 1) / ROWS_PER_BASE -
                         (b->first_row + ROWS_PER_BASE - 1) / ROWS_PER_BASE;
    for (size_t h = 0; h < n_buckets(w->partition); h++) count[h] = bases;
    for (size_t r = 0; r < b->n_runs; r++) {
        b->run[r] /= DIS_BUCKET;
        count[b->run[r]] += rows_end(b, r) - b->run_row[r];
    }
    return DIS_OK;
}

static dis_status reserve_bucket(dis__partition_bucket *bucket, size_t n)
{
    if (n <= bucket->capacity) return DIS_OK;
    const size_t capacity = dis__size(n, 2, 0);
    dis__vote_record *record;
    DIS_TRY(dis__alloc_array(&record, capacity, sizeof *record));
    memcpy(record, bucket->record, bucket->n * sizeof *record);
    if (bucket->moved) dis__free(bucket->record);
    bucket->record = record;
    bucket->capacity = capacity;
    bucket->moved = true;
    return DIS_OK;
}

dis_status dis__partition_make_room(dis_context *ctx, dis__partition *d, dis__batch *const *batches, size_t n_batches)
{
    partitioning w = {.partition = d, .batch = batches};
    DIS_TRY(dis__reserve(&d->place, &d->place_capacity, 0, dis__size(n_batches, n_buckets(d), 0), sizeof *d->place));
    DIS_TRY(dis__run_jobs(ctx, n_batches, count_job, &w));
    for (size_t h = 0; h < n_buckets(d); h++) {
        size_t at = d->bucket[h].n;
        for (size_t j = 0; j < n_batches; j++) {
            size_t *place = &d->place[j * n_buckets(d) + h];
            const size_t count = *place;
            *place = at;
            at += count;
        }
        DIS_TRY(reserve_bucket(&d->bucket[h], at));
        d->bucket[h].n = at;
    }
    return DIS_OK;
}

void dis__partition_batch(const dis__partition *d, const dis__batch *b, size_t j)
{
    enum { AHEAD = 6 };
    size_t *place = d->place + j * n_buckets(d);
    const dis__partition_bucket *bucket = d->bucket;
    for (size_t r = 0; r < b->n_runs; r++) {
        const size_t end = rows_end(b, r), h = b->run[r];
        for (size_t i = b->run_row[r]; i < end; i++) {
            const size_t row = b->first_row + i;
            if (row % ROWS_PER_BASE == 0)
                for (size_t k = 0; k < n_buckets(d); k++)
                    bucket[k].record[place[k]++] = (dis__vote_record){.worker = (uint32_t)row};
            dis__vote_record *record = bucket[h].record + place[h]++;
            __builtin_prefetch(record + AHEAD, 1); /* of this bucket, a line or two later */
            *record = (dis__vote_record){.task = b->run_word[r],
                                         .worker = b->worker[i],
                                         .label = b->row_label[i],
                                         .row = (uint16_t)(row % ROWS_PER_BASE)};
        }
    }
}
