/* Votes partitioned by task: see partition.h.
 *
 *   spread   a round's records, in the order of rows; where each batch puts its own is counted first
 *   number   bucket by hand: a table finds its tasks in order of first appearance; votes sorted by task
 *   lay out  range of rows by range of rows: the tasks of all buckets that first appear there, in order, are its items;
 *            where their votes begin, their names, their votes
 *
 * Buckets and ranges depend on the data alone, so any number of threads gives the same table.
 *
 * Cost: 16 bytes per row written and read, 8 written and read again; tables within the second cache. Memory: 16 bytes
 * per row beside the table. */
#include "votes/ids/partition.h"
#include "core/memory.h"
#include "core/names_build.h"
#include "core/pool.h"
#include "votes/fast_rows.h"

enum { MAX_BUCKETS = 1024, ROWS_PER_BASE = 1 << 16, RECORDS_AT_ONCE = 64, RANGE_ROWS = 1 << 16, MAX_RANGES = 256 };

/* A task of a bucket. */
typedef struct {
    uint64_t word;
    uint32_t at; /* its first row; later its place among the items of a range; of an item, where its votes begin */
    uint32_t n;  /* votes */
} bucket_task;

typedef struct {
    uint64_t word; /* 0: free */
    uint32_t task; /* index into the bucket's */
} bucket_slot;

typedef struct {
    uint32_t worker;
    uint16_t label;
} placed_vote;

/* The tasks of a bucket that first appear in a range of rows. */
typedef struct {
    uint32_t first, n;     /* of the bucket's tasks */
    size_t first_vote;     /* among the bucket's */
    uint64_t votes, bytes; /* of theirs, and of their names */
} range_part;

/* What one thread needs for the bucket or the range it is at. */
typedef struct {
    bucket_slot *slot;
    size_t slot_capacity;
    bucket_task *task; /* of a bucket, as they are found */
    size_t task_capacity;
    uint32_t *next; /* (tasks of a bucket) counts of votes, then where the next one goes */
    size_t next_capacity;
    placed_vote *sorted; /* (records of a bucket) */
    size_t sorted_capacity;
    uint64_t *is_first; /* (rows of a range, a bit each) an item appears */
    uint32_t *rank;     /* (words of these) items before */
    bucket_task *item;  /* (items of a range) in order */
    size_t item_capacity;
} scratch;

typedef struct {
    const dis__partition *partition;
    const uint16_t *class_of;
    dis_votes *votes;
    size_t n_rows, n_ranges;
    scratch *scratch;     /* (threads) */
    bucket_task **task;   /* (n_buckets) by first row */
    bucket_task **own;    /* (n_buckets) memory of those that do not fit behind the votes of their bucket */
    range_part *part;     /* (n_buckets, n_ranges) */
    range_part *range;    /* (n_ranges + 1) n, votes, bytes: of those before it */
    uint64_t *name_start; /* (n_items + 1) */
    char *names;
} finishing;

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

/* ---- partition ---- */

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

/* ---- number ---- */

/* Where the hash of a task points within a table of its bucket: bits that did not choose the bucket. */
static inline size_t slot_of(const finishing *f, uint64_t word, size_t n_slots)
{
    const uint32_t tag = dis__id_tag(&f->partition->places.secret, word);
    const uint32_t rest = (uint32_t)((uint64_t)tag * n_buckets(f->partition));
    return (size_t)((uint64_t)rest * n_slots >> 32);
}

static inline size_t next_slot(size_t k, size_t n_slots)
{
    return k + 1 == n_slots ? 0 : k + 1;
}

/* A table of that size for the n tasks that are known. */
static dis_status make_slots(const finishing *f, scratch *s, size_t n_slots, size_t n)
{
    DIS_TRY(dis__reserve(&s->slot, &s->slot_capacity, 0, n_slots, sizeof *s->slot));
    memset(s->slot, 0, n_slots * sizeof *s->slot);
    for (size_t t = 0; t < n; t++) {
        size_t k = slot_of(f, s->task[t].word, n_slots);
        while (s->slot[k].word) k = next_slot(k, n_slots);
        s->slot[k] = (bucket_slot){s->task[t].word, (uint32_t)t};
    }
    return DIS_OK;
}

/* Some records of a bucket whose tasks are n so far; how many they are then. Slots are asked for together, then looked
 * at one by one. Records have 1 + the number of their task in place of its word afterwards. */
static size_t number_records(const finishing *f, const scratch *s, size_t n_slots, size_t n, dis__vote_record *record,
                             size_t n_records, uint32_t *base)
{
    size_t home[RECORDS_AT_ONCE];
    for (size_t i = 0; i < n_records; i++) {
        home[i] = slot_of(f, record[i].task, n_slots);
        __builtin_prefetch(&s->slot[home[i]]);
    }
    for (size_t i = 0; i < n_records; i++) {
        const uint64_t word = record[i].task;
        if (word == 0) {
            *base = record[i].worker;
            continue;
        }
        size_t k = home[i];
        while (s->slot[k].word && s->slot[k].word != word) k = next_slot(k, n_slots);
        if (s->slot[k].word == 0) {
            s->slot[k] = (bucket_slot){word, (uint32_t)n};
            s->task[n] = (bucket_task){.word = word, .at = *base + record[i].row};
            s->next[n++] = 0;
        }
        const uint32_t task = s->slot[k].task;
        s->next[task]++;
        record[i].task = task + 1ull;
    }
    return n;
}

/* Finds the tasks of a bucket, by first appearance, and counts their votes. */
static dis_status number_tasks(const finishing *f, const dis__partition_bucket *bucket, scratch *s, size_t *n_tasks)
{
    enum { MIN_SLOTS = 4 * RECORDS_AT_ONCE };
    size_t n_slots = MIN_SLOTS + bucket->n / 2, n = 0;
    uint32_t base = 0;
    DIS_TRY(make_slots(f, s, n_slots, 0));
    for (size_t i = 0; i < bucket->n; i += RECORDS_AT_ONCE) {
        const size_t n_records = bucket->n - i < RECORDS_AT_ONCE ? bucket->n - i : RECORDS_AT_ONCE;
        DIS_TRY(dis__reserve(&s->task, &s->task_capacity, n, n + n_records, sizeof *s->task));
        DIS_TRY(dis__reserve(&s->next, &s->next_capacity, n, n + n_records, sizeof *s->next));
        if (2 * (n + n_records) > n_slots) DIS_TRY(make_slots(f, s, n_slots *= 2, n));
        n = number_records(f, s, n_slots, n, bucket->record + i, n_records, &base);
    }
    *n_tasks = n;
    return DIS_OK;
}

/* Votes by task, in place of the records: they are half as large. Returns their number. */
static size_t sort_bucket(const finishing *f, const dis__partition_bucket *bucket, const scratch *s, size_t n_tasks)
{
    uint32_t at = 0;
    for (size_t t = 0; t < n_tasks; t++) {
        s->task[t].n = s->next[t];
        s->next[t] = at;
        at += s->task[t].n;
    }
    for (const dis__vote_record *record = bucket->record, *end = record + bucket->n; record < end; record++)
        if (record->task)
            s->sorted[s->next[record->task - 1]++] = (placed_vote){record->worker, f->class_of[record->label]};
    memcpy(bucket->record, s->sorted, at * sizeof *s->sorted);
    return at;
}

/* Puts the tasks of a bucket behind its votes, or where there is room. */
static dis_status keep_tasks(const finishing *f, size_t h, const scratch *s, size_t n_tasks, size_t n_votes)
{
    const dis__partition_bucket *bucket = &f->partition->bucket[h];
    const size_t used = (n_votes + 1) / 2; /* records */
    _Static_assert(sizeof(dis__vote_record) == 2 * sizeof(placed_vote) &&
                       sizeof(dis__vote_record) == sizeof(bucket_task),
                   "in place");
    if (n_tasks <= bucket->n - used) {
        f->task[h] = (bucket_task *)(void *)(bucket->record + used);
    } else {
        DIS_TRY(dis__alloc_array(&f->own[h], n_tasks, sizeof *f->own[h]));
        f->task[h] = f->own[h];
    }
    memcpy(f->task[h], s->task, n_tasks * sizeof *s->task);
    return DIS_OK;
}

static size_t range_first(const finishing *f, size_t r)
{
    return dis__job_first(f->n_rows, f->n_ranges, r);
}

/* Cuts the tasks of a bucket where ranges end. */
static void cut_tasks(const finishing *f, const bucket_task *task, size_t n_tasks, range_part *part)
{
    size_t t = 0, n_votes = 0;
    for (size_t r = 0; r < f->n_ranges; r++) {
        range_part own = {.first = (uint32_t)t, .first_vote = n_votes};
        for (const size_t end = range_first(f, r + 1); t < n_tasks && task[t].at < end; t++) {
            own.votes += task[t].n;
            own.bytes += dis__word_length(task[t].word) + 1;
        }
        own.n = (uint32_t)t - own.first;
        n_votes += (size_t)own.votes;
        part[r] = own;
    }
}

static dis_status bucket_job(void *arg, size_t h, int thread)
{
    const finishing *f = arg;
    scratch *s = &f->scratch[thread];
    const dis__partition_bucket *bucket = &f->partition->bucket[h];
    size_t n_tasks;
    DIS_TRY(number_tasks(f, bucket, s, &n_tasks));
    DIS_TRY(dis__reserve(&s->sorted, &s->sorted_capacity, 0, bucket->n, sizeof *s->sorted));
    const size_t n_votes = sort_bucket(f, bucket, s, n_tasks);
    cut_tasks(f, s->task, n_tasks, f->part + h * f->n_ranges);
    return keep_tasks(f, h, s, n_tasks, n_votes);
}

/* ---- lay out ---- */

/* What is before each range. */
static void add_up(const finishing *f)
{
    range_part sum = {0};
    for (size_t r = 0; r <= f->n_ranges; r++) {
        f->range[r] = sum;
        for (size_t h = 0; r < f->n_ranges && h < n_buckets(f->partition); h++) {
            const range_part *part = &f->part[h * f->n_ranges + r];
            sum.n += part->n;
            sum.votes += part->votes;
            sum.bytes += part->bytes;
        }
    }
}

/* By adding neighbours up: the compiler's own would be a call where the instruction cannot be taken for granted. */
static inline uint32_t count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    return (uint32_t)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

/* The tasks of all buckets that first appear in a range, in order: s->item. */
static void put_in_order(const finishing *f, size_t r, const scratch *s)
{
    const size_t first = range_first(f, r), n_words = (range_first(f, r + 1) - first) / 64 + 1;
    memset(s->is_first, 0, n_words * sizeof *s->is_first);
    for (size_t h = 0; h < n_buckets(f->partition); h++) {
        const range_part *part = &f->part[h * f->n_ranges + r];
        for (const bucket_task *t = f->task[h] + part->first, *end = t + part->n; t < end; t++)
            s->is_first[(t->at - first) / 64] |= 1ull << (t->at - first) % 64;
    }
    uint32_t rank = 0;
    for (size_t w = 0; w < n_words; w++) {
        s->rank[w] = rank;
        rank += count_bits(s->is_first[w]);
    }
    for (size_t h = 0; h < n_buckets(f->partition); h++) {
        const range_part *part = &f->part[h * f->n_ranges + r];
        for (bucket_task *t = f->task[h] + part->first, *end = t + part->n; t < end; t++) {
            const size_t row = t->at - first;
            const uint64_t before = (1ull << row % 64) - 1;
            t->at = s->rank[row / 64] + count_bits(s->is_first[row / 64] & before);
            s->item[t->at] = *t;
        }
    }
}

/* Where the votes and the names of a range's items begin; names. */
static void begin_items(const finishing *f, size_t r, const scratch *s)
{
    const range_part *range = &f->range[r];
    uint64_t vote = range->votes, byte = range->bytes;
    for (size_t i = 0; i < range[1].n - range->n; i++) {
        bucket_task *item = &s->item[i];
        const size_t length = dis__word_length(item->word);
        f->votes->start[range->n + i] = vote;
        f->name_start[range->n + i] = byte;
        dis__word_put(item->word, length, f->names + byte, (size_t)(range[1].bytes - byte));
        item->at = (uint32_t)vote;
        vote += item->n;
        byte += length + 1;
    }
}

/* The votes of a range's items, which lie together in each bucket, to where they belong. */
static void lay_out(const finishing *f, size_t r, const scratch *s)
{
    const dis_votes *votes = f->votes;
    for (size_t h = 0; h < n_buckets(f->partition); h++) {
        const range_part *part = &f->part[h * f->n_ranges + r];
        const placed_vote *from = (const placed_vote *)(const void *)f->partition->bucket[h].record + part->first_vote;
        for (const bucket_task *t = f->task[h] + part->first, *end = t + part->n; t < end; t++) {
            const size_t at = s->item[t->at].at;
            for (size_t i = 0; i < t->n; i++) votes->worker[at + i] = from[i].worker;
            if (votes->label8)
                for (size_t i = 0; i < t->n; i++) votes->label8[at + i] = (uint8_t)from[i].label;
            else
                for (size_t i = 0; i < t->n; i++) votes->label16[at + i] = from[i].label;
            from += t->n;
        }
    }
}

static dis_status range_job(void *arg, size_t r, int thread)
{
    const finishing *f = arg;
    scratch *s = &f->scratch[thread];
    DIS_TRY(dis__reserve(&s->item, &s->item_capacity, 0, f->range[r + 1].n - f->range[r].n, sizeof *s->item));
    put_in_order(f, r, s);
    begin_items(f, r, s);
    lay_out(f, r, s);
    return DIS_OK;
}

static dis_status alloc_for(dis_context *ctx, finishing *f)
{
    const size_t n_threads = (size_t)dis_context_threads(ctx), widest = f->n_rows / f->n_ranges / 64 + 2;
    const size_t n = n_buckets(f->partition);
    DIS_TRY(dis__alloc_zeroed(&f->scratch, n_threads, sizeof *f->scratch));
    for (size_t t = 0; t < n_threads; t++) {
        DIS_TRY(dis__alloc_array(&f->scratch[t].is_first, widest, sizeof *f->scratch[t].is_first));
        DIS_TRY(dis__alloc_array(&f->scratch[t].rank, widest, sizeof *f->scratch[t].rank));
    }
    DIS_TRY(dis__alloc_array(&f->task, n, sizeof *f->task));
    DIS_TRY(dis__alloc_zeroed(&f->own, n, sizeof *f->own));
    DIS_TRY(dis__alloc_array(&f->part, dis__size(n, f->n_ranges, 0), sizeof *f->part));
    return dis__alloc_array(&f->range, f->n_ranges + 1, sizeof *f->range);
}

static dis_status finish(dis_context *ctx, finishing *f)
{
    dis_votes *votes = f->votes;
    const size_t n = n_buckets(f->partition);
    DIS_TRY(alloc_for(ctx, f));
    DIS_TRY(dis__run_jobs(ctx, n, bucket_job, f));
    add_up(f);
    const range_part *all = &f->range[f->n_ranges];
    votes->n_items = all->n;
    votes->n_votes = (size_t)all->votes;
    DIS_TRY(dis__alloc_array(&votes->start, votes->n_items + 1, sizeof *votes->start));
    DIS_TRY(dis__alloc_array(&f->name_start, votes->n_items + 1, sizeof *f->name_start));
    DIS_TRY(dis__alloc_array(&f->names, (size_t)all->bytes, 1));
    votes->start[votes->n_items] = all->votes;
    f->name_start[votes->n_items] = all->bytes;
    DIS_TRY(dis__alloc_array(&votes->worker, votes->n_votes, sizeof *votes->worker));
    DIS_TRY(votes->n_classes <= 256 ? dis__alloc_array(&votes->label8, votes->n_votes, sizeof *votes->label8)
                                    : dis__alloc_array(&votes->label16, votes->n_votes, sizeof *votes->label16));
    DIS_TRY(dis__run_jobs(ctx, f->n_ranges, range_job, f));
    DIS_TRY(dis__names_adopt(f->names, f->name_start, votes->n_items, &votes->tasks));
    f->names = NULL;
    f->name_start = NULL;
    return DIS_OK;
}

dis_status dis__partition_finish(dis_context *ctx, dis__partition *d, size_t n_rows, const uint16_t *class_of,
                                 dis_votes *votes)
{
    finishing f = {.partition = d,
                   .class_of = class_of,
                   .votes = votes,
                   .n_rows = n_rows,
                   .n_ranges = dis__n_jobs(n_rows, RANGE_ROWS, MAX_RANGES)};
    const dis_status status = finish(ctx, &f);
    for (int t = 0; f.scratch && t < dis_context_threads(ctx); t++) {
        dis__free(f.scratch[t].slot);
        dis__free(f.scratch[t].task);
        dis__free(f.scratch[t].next);
        dis__free(f.scratch[t].sorted);
        dis__free(f.scratch[t].is_first);
        dis__free(f.scratch[t].rank);
        dis__free(f.scratch[t].item);
    }
    for (size_t h = 0; f.own && h < n_buckets(d); h++) dis__free(f.own[h]);
    dis__free(f.scratch);
    dis__free(f.task);
    dis__free(f.own);
    dis__free(f.part);
    dis__free(f.range);
    dis__free(f.name_start);
    dis__free(f.names);
    return status;
}
