/* Votes partitioned by task: see partition.h. The records of a round are appended to their buckets in the order of
 * rows; the records of each batch per bucket are counted first. partition_finish.c processes the buckets at the end.
 *
 * Cost: 16 bytes per row written, and 8 for each further 8 bytes of a name. Memory: the same, or a sixteenth of the
 * limit if buckets are in a file. */
#include "votes/collect/partition.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "votes/collect/fast_rows.h"
#include <math.h>

enum { MAX_BUCKETS = 1024, ROWS_PER_BASE = 1 << 16, BASE_WORDS = 2, SPARE = 512, MAX_MOVED = 32 };
static const double MIN_GROWTH = 1.25;

/* ---- tasks of 9 and 10 bytes ---- */

static const char alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/* The code of a character, from 0x40 on: invalid. */
static inline unsigned code_of(unsigned char c)
{
#define DIGIT(d)   ['0' + (d)] = (d) + 1
#define UPPER(n)   ['A' + (n)] = (n) + 11
#define LOWER(n)   ['a' + (n)] = (n) + 37
#define FIVE(x, n) x(n), x((n) + 1), x((n) + 2), x((n) + 3), x((n) + 4)
    static const uint8_t place[256] = {FIVE(DIGIT, 0),  FIVE(DIGIT, 5),  FIVE(UPPER, 0),  FIVE(UPPER, 5),
                                       FIVE(UPPER, 10), FIVE(UPPER, 15), FIVE(UPPER, 20), UPPER(25),
                                       FIVE(LOWER, 0),  FIVE(LOWER, 5),  FIVE(LOWER, 10), FIVE(LOWER, 15),
                                       FIVE(LOWER, 20), LOWER(25),       ['-'] = 63,      ['_'] = 64};
#undef DIGIT
#undef UPPER
#undef LOWER
#undef FIVE
    return place[c] - 1u;
}

/* Six bits per character, and a bit for length ten. */
uint64_t dis__task_code(const char *text, size_t n)
{
    uint64_t bits = (uint64_t)(n == DIS_CODED_MAX) << 60;
    unsigned all = 0;
    for (size_t i = 0; i < DIS_CODED_MIN; i++) {
        const unsigned code = code_of((unsigned char)text[i]);
        all |= code;
        bits |= (uint64_t)code << 6 * i;
    }
    if (n == DIS_CODED_MAX) {
        const unsigned code = code_of((unsigned char)text[DIS_CODED_MIN]);
        all |= code;
        bits |= (uint64_t)code << 54;
    }
    return all < 64 ? bits >> 6 << 8 | DIS_TASK_CODED | (bits & 63) : 0;
}

static size_t coded_length(uint64_t word)
{
    return DIS_CODED_MIN + (word >> 62 & 1);
}

void dis__task_decode(uint64_t word, char *to)
{
    const uint64_t bits = word >> 8 << 6 | (word & 63);
    for (size_t i = 0; i < coded_length(word); i++) to[i] = alphabet[bits >> 6 * i & 63];
}

size_t dis__packed_length(const uint64_t *task)
{
    return dis__task_is_coded(*task) ? coded_length(*task) : dis__packed_text(task).n;
}

/* ---- buckets ---- */

static size_t n_buckets(const dis__partition *d)
{
    return d->places.n_buckets;
}

/* Words that a bucket collects before they are written to the file. */
static size_t block_words(size_t n)
{
    enum { PART = 16, MIN = 64 };
    const uint64_t limit = dis__memory_limit(), max = (uint64_t)256 << 20;
    const uint64_t memory = (limit == DIS_MEMORY_AVAILABLE ? dis__memory_available() : limit) / PART;
    const size_t words = (size_t)(memory < max ? memory : max) / sizeof(uint64_t) / n;
    return words < MIN ? MIN : words;
}

dis_status dis__partition_begin(dis_context *ctx, dis__partition *d, const dis__secret *secret, uint64_t n_bytes,
                                size_t bucket_bytes, double words_per_byte, bool in_file)
{
    const uint64_t wanted = n_bytes / bucket_bytes + 1;
    const size_t n = wanted < MAX_BUCKETS ? (size_t)wanted : MAX_BUCKETS;
    const double expected = (double)n_bytes * words_per_byte / (double)n;
    *d = (dis__partition){.places = {.secret = *secret, .n_buckets = n}};
    d->bucket_words = (size_t)(1.02 * expected + 20 * sqrt(expected)) + SPARE; /* some buckets have more */
    if (in_file ||
        dis__spill_needed(dis__saturating_size(dis__saturating_size(n, d->bucket_words, 0), sizeof *d->all, 0))) {
        DIS_TRY(dis__scratch_open(dis_context_n_threads(ctx), &d->file));
        const size_t block = block_words(n);
        d->bucket_words = block < d->bucket_words ? block : d->bucket_words;
    }
    DIS_TRY(dis__alloc_zeroed(&d->bucket, n, sizeof *d->bucket));
    DIS_TRY(dis__scratch_is_open(&d->file)
                ? dis__alloc_resident(&d->all, dis__saturating_size(n, d->bucket_words, 0), sizeof *d->all)
                : dis__alloc_array(&d->all, dis__saturating_size(n, d->bucket_words, 0), sizeof *d->all));
    for (size_t h = 0; h < n; h++)
        d->bucket[h] = (dis__partition_bucket){.record = d->all + h * d->bucket_words, .capacity = d->bucket_words};
    return DIS_OK;
}

void dis__partition_free(dis__partition *d)
{
    for (size_t h = 0; d->bucket && h < n_buckets(d); h++) {
        if (d->bucket[h].moved) dis__free(d->bucket[h].record);
        dis__free(d->bucket[h].block);
    }
    dis__free(d->bucket);
    dis__free(d->all);
    dis__free(d->place);
    dis__scratch_close(&d->file);
    *d = (dis__partition){0};
}

typedef struct {
    dis__partition *partition;
    dis__batch *const *batch;
    const size_t *more; /* (n_buckets) words to come, or NULL: none */
} partitioning;

static size_t rows_end(const dis__batch *b, size_t run)
{
    return run + 1 < b->n_runs ? b->run_row[run + 1] : b->n_rows;
}

/* Converts long tasks that fit a coded word. */
static void code_tasks(dis__batch *b)
{
    size_t long_at = 0, n_long = 0;
    for (size_t r = 0; r < b->n_runs && long_at < b->n_long; r++) {
        if (b->run_word[r]) continue;
        const dis__task_text task = b->long_task[long_at++];
        if (task.n <= DIS_CODED_MAX) b->run_word[r] = dis__task_code(task.text, task.n);
        if (b->run_word[r] == 0) b->long_task[n_long++] = task;
    }
    b->n_long = n_long;
}

/* The bucket of each run, and the number of words for each bucket. */
static dis_status count_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const partitioning *w = arg;
    const dis__ids *places = &w->partition->places;
    dis__batch *b = w->batch[j];
    size_t *count = w->partition->place + j * n_buckets(w->partition), long_at = 0;
    DIS_TRY(dis__batch_reserve(b, DIS_FAST_ROWS_MARGIN));
    code_tasks(b);
    DIS_KERNEL_SELECT(dis__find_buckets)(places, b->run_word, b->n_runs, b->run);
    const size_t bases = (b->first_row + b->n_rows + ROWS_PER_BASE - 1) / ROWS_PER_BASE -
                         (b->first_row + ROWS_PER_BASE - 1) / ROWS_PER_BASE;
    for (size_t h = 0; h < n_buckets(w->partition); h++) count[h] = BASE_WORDS * bases;
    for (size_t r = 0; r < b->n_runs; r++) {
        size_t words = 2;
        if (b->run_word[r] == 0) {
            const dis__task_text *task = &b->long_task[long_at++];
            const uint64_t hash = dis__id_hash_long(&places->secret, task->text, task->n);
            b->run[r] = (uint32_t)dis__ids_bucket(places, dis__id_tag_long(&places->secret, hash));
            words = 1 + dis__task_words(task->n);
        }
        b->run[r] /= DIS_BUCKET;
        count[b->run[r]] += words * (rows_end(b, r) - b->run_row[r]);
    }
    return DIS_OK;
}

/* Capacity in words for a bucket that has n after a share `done` of the input. */
static size_t with_foresight(size_t n, double done)
{
    const double more = done > 0 && done < 1 ? 1.05 / done : 1;
    return (size_t)((more > MIN_GROWTH ? more : MIN_GROWTH) * (double)n) + SPARE;
}

static dis_status move_bucket(const dis__partition *d, dis__partition_bucket *bucket, size_t capacity)
{
    uint64_t *record;
    DIS_TRY(dis__scratch_is_open(&d->file) ? dis__alloc_resident(&record, capacity, sizeof *record)
                                           : dis__alloc_array(&record, capacity, sizeof *record));
    memcpy(record, bucket->record, bucket->n * sizeof *record);
    if (bucket->moved) dis__free(bucket->record);
    bucket->record = record;
    bucket->capacity = capacity;
    bucket->moved = true;
    return DIS_OK;
}

/* New capacities for all buckets; bucket h has n[h] words. */
static dis_status move_all(dis__partition *d, const size_t *n, double done)
{
    uint64_t *all;
    size_t sum = 0;
    for (size_t h = 0; h < n_buckets(d); h++) sum = dis__saturating_size(with_foresight(n[h], done), 1, sum);
    DIS_TRY(dis__alloc_array(&all, sum, sizeof *all));
    uint64_t *at = all;
    for (size_t h = 0; h < n_buckets(d); h++) {
        dis__partition_bucket *bucket = &d->bucket[h];
        memcpy(at, bucket->record, bucket->n * sizeof *at);
        if (bucket->moved) dis__free(bucket->record);
        *bucket = (dis__partition_bucket){.record = at, .n = bucket->n, .capacity = with_foresight(n[h], done)};
        at += bucket->capacity;
    }
    dis__free(d->all);
    d->all = all;
    return DIS_OK;
}

/* Buckets that exceed their capacity get separate memory, each of which may be a file. */
static dis_status make_fit(dis__partition *d, const size_t *n, double done)
{
    size_t n_moved = 0;
    for (size_t h = 0; h < n_buckets(d); h++) n_moved += d->bucket[h].moved || n[h] > d->bucket[h].capacity;
    if (n_moved > MAX_MOVED) return move_all(d, n, done);
    for (size_t h = 0; h < n_buckets(d); h++)
        if (n[h] > d->bucket[h].capacity) DIS_TRY(move_bucket(d, &d->bucket[h], with_foresight(n[h], done)));
    return DIS_OK;
}

/* ---- to the file ---- */

/* Moves the words of a bucket back, and frees its separate memory, which one round needed. */
static dis_status write_bucket(dis__partition *d, size_t h, int thread)
{
    dis__partition_bucket *b = &d->bucket[h];
    if (b->n) {
        DIS_TRY(dis__reserve(&b->block, &b->block_capacity, b->n_blocks, b->n_blocks + 1, sizeof *b->block));
        dis__partition_block *block = &b->block[b->n_blocks];
        block->n = b->n;
        DIS_TRY(dis__scratch_append(&d->file, thread, b->record, b->n * sizeof *b->record, &block->at));
        b->n_blocks++;
        b->n = 0;
    }
    if (b->moved) dis__free(b->record);
    b->moved = false;
    b->record = d->all + h * d->bucket_words;
    b->capacity = d->bucket_words;
    return DIS_OK;
}

enum { WRITE_JOBS = 64 };

static dis_status write_job(void *arg, size_t j, int thread)
{
    const partitioning *w = arg;
    dis__partition *d = w->partition;
    const size_t last = dis__job_first(n_buckets(d), WRITE_JOBS, j + 1);
    for (size_t h = dis__job_first(n_buckets(d), WRITE_JOBS, j); h < last; h++) {
        const dis__partition_bucket *b = &d->bucket[h];
        if (!w->more || b->moved || w->more[h] > b->capacity - b->n) DIS_TRY(write_bucket(d, h, thread));
    }
    return DIS_OK;
}

dis_status dis__partition_write(dis_context *ctx, dis__partition *d)
{
    partitioning w = {.partition = d};
    if (!dis__scratch_is_open(&d->file)) return DIS_OK;
    DIS_TRY(dis__run_jobs(ctx, WRITE_JOBS, write_job, &w));
    dis__free(d->all);
    d->all = NULL;
    for (size_t h = 0; h < n_buckets(d); h++) d->bucket[h].record = NULL;
    return DIS_OK;
}

/* ---- positions ---- */

/* Writes words that do not fit into memory to the file. */
static dis_status make_place(dis_context *ctx, partitioning *w, size_t n_batches)
{
    const dis__partition *d = w->partition;
    size_t *more = d->place + n_batches * n_buckets(d);
    bool full = false;
    memset(more, 0, n_buckets(d) * sizeof *more);
    for (size_t j = 0; j < n_batches; j++)
        for (size_t h = 0; h < n_buckets(d); h++) more[h] += d->place[j * n_buckets(d) + h];
    for (size_t h = 0; h < n_buckets(d); h++)
        full |= d->bucket[h].moved || more[h] > d->bucket[h].capacity - d->bucket[h].n;
    w->more = more;
    return full ? dis__run_jobs(ctx, WRITE_JOBS, write_job, w) : DIS_OK;
}

/* Buckets with more than a block in this round. */
static dis_status widen(dis__partition *d, const size_t *n)
{
    for (size_t h = 0; h < n_buckets(d); h++)
        if (n[h] > d->bucket[h].capacity) DIS_TRY(move_bucket(d, &d->bucket[h], n[h]));
    return DIS_OK;
}

static dis_status place_batches(dis__partition *d, size_t n_batches, double done, size_t *n)
{
    for (size_t h = 0; h < n_buckets(d); h++) {
        n[h] = d->bucket[h].n;
        for (size_t j = 0; j < n_batches; j++) {
            size_t *place = &d->place[j * n_buckets(d) + h];
            const size_t count = *place;
            *place = n[h];
            n[h] += count;
        }
    }
    DIS_TRY(dis__scratch_is_open(&d->file) ? widen(d, n) : make_fit(d, n, done));
    for (size_t h = 0; h < n_buckets(d); h++) d->bucket[h].n = n[h];
    return DIS_OK;
}

dis_status dis__partition_reserve(dis_context *ctx, dis__partition *d, dis__batch *const *batches, size_t n_batches,
                                  double done)
{
    partitioning w = {.partition = d, .batch = batches};
    const size_t need =
        dis__saturating_size(dis__saturating_size(n_batches, 1, 1), n_buckets(d), 0); /* one more row for the sums */
    DIS_TRY(dis__reserve(&d->place, &d->place_capacity, 0, need, sizeof *d->place));
    DIS_TRY(dis__run_jobs(ctx, n_batches, count_job, &w));
    if (dis__scratch_is_open(&d->file)) DIS_TRY(make_place(ctx, &w, n_batches));
    return place_batches(d, n_batches, done, d->place + n_batches * n_buckets(d));
}

static void put_bases(const dis__partition *d, size_t *place, size_t row)
{
    for (size_t h = 0; h < n_buckets(d); h++) {
        uint64_t *base = d->bucket[h].record + place[h];
        base[0] = 0;
        base[1] = row;
        place[h] += BASE_WORDS;
    }
}

void dis__partition_add_batch(const dis__partition *d, const dis__batch *b, size_t j)
{
    enum { AHEAD = 12 }; /* words of this bucket, a cache line or two ahead */
    size_t *place = d->place + j * n_buckets(d), long_at = 0;
    for (size_t r = 0; r < b->n_runs; r++) {
        const size_t end = rows_end(b, r), h = b->run[r];
        const uint64_t word = b->run_word[r];
        const dis__task_text *task = word ? NULL : &b->long_task[long_at++];
        for (size_t i = b->run_row[r]; i < end; i++) {
            const size_t row = b->first_row + i;
            if (row % ROWS_PER_BASE == 0) put_bases(d, place, row);
            uint64_t *record = d->bucket[h].record + place[h];
            __builtin_prefetch(record + AHEAD, 1);
            size_t words = 1;
            if (word)
                record[0] = word;
            else
                words = dis__task_pack(*task, record);
            record[words] = b->worker[i] | (uint64_t)b->row_label[i] << 32 | (uint64_t)(row % ROWS_PER_BASE) << 48;
            place[h] += words + 1;
        }
    }
}
