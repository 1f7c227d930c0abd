/* Buckets of votes to a table: see partition.h.
 *
 *   number   bucket by bucket: a table finds its tasks in order of first appearance; votes sorted by task
 *   lay out  range of rows by range of rows: the tasks of all buckets that first appear there, in order, are its items;
 *            where their votes begin, their names, their votes
 *
 * Buckets and ranges depend on the data alone, so any number of threads gives the same table.
 *
 * Cost: 16 bytes per row read, 8 written and read again; tables within the second cache. */
#include "core/memory.h"
#include "core/names_build.h"
#include "core/pool.h"
#include "votes/ids/partition.h"

enum { RECORDS_AT_ONCE = 64, RANGE_ROWS = 1 << 16, MAX_RANGES = 256 };

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
            s->sorted[s->next[record->task - 1]++] =
                (placed_vote){record->worker, f->class_of ? f->class_of[record->label] : record->label};
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
    for (size_t h = 0; f.own && h < n_buckets(f.partition); h++) dis__free(f.own[h]);
    dis__free(f.scratch);
    dis__free(f.task);
    dis__free(f.own);
    dis__free(f.part);
    dis__free(f.range);
    dis__free(f.name_start);
    dis__free(f.names);
    return status;
}
