/* Buckets of votes to a table: see partition.h.
 *
 *   number   bucket by bucket: partition_number.h
 *   lay out  range of rows by range of rows: the tasks of all buckets that first appear there, in order, are its items;
 *            where their votes begin, their names, their votes
 *
 * Buckets and ranges depend on the data alone, so any number of threads gives the same table.
 *
 * Cost: 8 bytes per row read, 5 or 6 written, beside numbering. */
#include "core/memory.h"
#include "core/names_build.h"
#include "core/pool.h"
#include "votes/ids/partition_number.h"

enum { RANGE_ROWS = 1 << 16, MAX_RANGES = 256 };

/* The tasks of a bucket that first appear in a range of rows. */
typedef struct {
    uint32_t first, n;     /* of the bucket's tasks */
    size_t first_vote;     /* among the bucket's */
    uint64_t votes, bytes; /* of theirs, and of their names */
} range_part;

/* What one thread needs for the bucket or the range it is at. */
typedef struct {
    dis__bucket_scratch bucket;
    uint64_t *is_first;     /* (rows of a range, a bit each) an item appears */
    uint32_t *rank;         /* (words of these) items before */
    dis__bucket_task *item; /* (items of a range) in order */
    size_t item_capacity;
} scratch;

typedef struct {
    const dis__partition *partition;
    const uint16_t *class_of;
    dis_votes *votes;
    size_t n_rows, n_ranges;
    scratch *scratch;             /* (threads) */
    dis__numbered_bucket *bucket; /* (n_buckets) */
    range_part *part;             /* (n_buckets, n_ranges) */
    range_part *range;            /* (n_ranges + 1) n, votes, bytes: of those before it */
    uint64_t *name_start;         /* (n_items + 1) */
    char *names;
} finishing;

static size_t n_buckets(const dis__partition *d)
{
    return d->places.n_buckets;
}

static size_t range_first(const finishing *f, size_t r)
{
    return dis__job_first(f->n_rows, f->n_ranges, r);
}

/* Cuts the tasks of a bucket where ranges end. */
static void cut_tasks(const finishing *f, const dis__bucket_task *task, size_t n_tasks, range_part *part)
{
    size_t t = 0, n_votes = 0;
    for (size_t r = 0; r < f->n_ranges; r++) {
        range_part own = {.first = (uint32_t)t, .first_vote = n_votes};
        for (const size_t end = range_first(f, r + 1); t < n_tasks && task[t].at < end; t++) {
            own.votes += task[t].n;
            own.bytes += dis__bucket_text(&task[t].word).n + 1;
        }
        own.n = (uint32_t)t - own.first;
        n_votes += (size_t)own.votes;
        part[r] = own;
    }
}

static dis_status bucket_job(void *arg, size_t h, int thread)
{
    const finishing *f = arg;
    DIS_TRY(dis__bucket_number(f->partition, h, f->class_of, &f->scratch[thread].bucket, &f->bucket[h]));
    cut_tasks(f, f->bucket[h].task, f->bucket[h].n_tasks, f->part + h * f->n_ranges);
    return DIS_OK;
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
        for (const dis__bucket_task *t = f->bucket[h].task + part->first, *end = t + part->n; t < end; t++)
            s->is_first[(t->at - first) / 64] |= 1ull << (t->at - first) % 64;
    }
    uint32_t rank = 0;
    for (size_t w = 0; w < n_words; w++) {
        s->rank[w] = rank;
        rank += count_bits(s->is_first[w]);
    }
    for (size_t h = 0; h < n_buckets(f->partition); h++) {
        const range_part *part = &f->part[h * f->n_ranges + r];
        for (dis__bucket_task *t = f->bucket[h].task + part->first, *end = t + part->n; t < end; t++) {
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
        dis__bucket_task *item = &s->item[i];
        const dis__task_text text = dis__bucket_text(&item->word);
        f->votes->start[range->n + i] = vote;
        f->name_start[range->n + i] = byte;
        if (dis__bucket_is_long(item->word)) {
            memcpy(f->names + byte, text.text, text.n);
            f->names[byte + text.n] = 0;
        } else {
            dis__word_put(item->word, text.n, f->names + byte, (size_t)(range[1].bytes - byte));
        }
        item->at = (uint32_t)vote;
        vote += item->n;
        byte += text.n + 1;
    }
}

/* The votes of a range's items, which lie together in each bucket, to where they belong. */
static void lay_out(const finishing *f, size_t r, const scratch *s)
{
    const dis_votes *votes = f->votes;
    for (size_t h = 0; h < n_buckets(f->partition); h++) {
        const range_part *part = &f->part[h * f->n_ranges + r];
        const dis__placed_vote *from =
            (const dis__placed_vote *)(const void *)f->partition->bucket[h].record + part->first_vote;
        for (const dis__bucket_task *t = f->bucket[h].task + part->first, *end = t + part->n; t < end; t++) {
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
    DIS_TRY(dis__alloc_zeroed(&f->bucket, n, sizeof *f->bucket));
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
        dis__bucket_scratch_free(&f.scratch[t].bucket);
        dis__free(f.scratch[t].is_first);
        dis__free(f.scratch[t].rank);
        dis__free(f.scratch[t].item);
    }
    for (size_t h = 0; f.bucket && h < n_buckets(f.partition); h++) dis__free(f.bucket[h].own);
    dis__free(f.scratch);
    dis__free(f.bucket);
    dis__free(f.part);
    dis__free(f.range);
    dis__free(f.name_start);
    dis__free(f.names);
    return status;
}
