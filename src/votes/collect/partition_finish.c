/* Converts buckets of votes to a table: see partition.h.
 *
 *   number   bucket by bucket: partition_bucket.h
 *   lay out  range of rows by range of rows: the tasks of all buckets that first appear in the range, in order, are its
 *            items; writes the offsets of their votes, their names and their votes
 *
 * Buckets and ranges depend on the data only, so any number of threads gives the same table.
 *
 * Rows are counted from the start of their range, so there may be 2^40 of them.
 *
 * Cost: 8 bytes per row read, 5 or 6 written, in addition to the numbering. */
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "votes/collect/partition_bucket.h"

enum { RANGE_ROWS = 1 << 16, MAX_RANGES = 256 };

/* The tasks of a bucket that first appear in a range of rows. */
typedef struct {
    uint32_t first, n;     /* range of the bucket's tasks */
    size_t first_vote;     /* offset in the bucket's votes */
    size_t first_text;     /* their words in the bucket's texts, */
    size_t text;           /* and the number of these */
    uint64_t votes, bytes; /* bytes of votes and of names */
} range_part;

/* Totals before a range. */
typedef struct {
    size_t items, text; /* text: words within it */
    uint64_t votes, bytes;
} range_sums;

/* Scratch of a thread, for its current bucket or range. */
typedef struct {
    dis__bucket_scratch bucket;
    uint64_t *is_first;     /* (one bit per row of a range) an item appears */
    uint32_t *rank;         /* (one per word of these) items before */
    dis__bucket_task *task; /* (items of a range) bucket by bucket */
    dis__bucket_task *item; /* (items of a range) in order */
    uint64_t *text;         /* (items of a range) texts read from a file */
    dis__bucket_vote *vote; /* of a bucket, likewise */
    size_t task_capacity, item_capacity, text_capacity, vote_capacity;
} scratch;

typedef struct {
    dis_context *ctx;
    dis__partition *partition;
    const uint16_t *class_of;
    dis_votes *votes;
    size_t n_rows, n_ranges;
    scratch *scratch;             /* (threads) */
    dis__numbered_bucket *bucket; /* (n_buckets) */
    range_part *part;             /* (n_buckets, n_ranges) */
    range_sums *range;            /* (n_ranges + 1) */
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

/* Splits the tasks of a bucket at the ends of ranges; their rows count from the start of the range. */
static void cut_tasks(const finishing *f, const dis__bucket_scratch *s, range_part *part)
{
    size_t t = 0, n_votes = 0, n_text = 0;
    for (size_t r = 0; r < f->n_ranges; r++) {
        range_part own = {.first = (uint32_t)t, .first_vote = n_votes, .first_text = n_text};
        const size_t begin = range_first(f, r), end = range_first(f, r + 1);
        for (; t < s->n_tasks && s->first_row[t] < end; t++) {
            dis__bucket_task *task = &s->task[t];
            const uint64_t *words = dis__bucket_words(s->text, task);
            task->at = (uint32_t)(s->first_row[t] - begin);
            own.votes += task->n;
            own.bytes += dis__packed_length(words) + 1;
            if (dis__bucket_is_reference(task->word)) own.text += dis__packed_words(*words);
        }
        own.n = (uint32_t)t - own.first;
        n_votes += (size_t)own.votes;
        n_text += own.text;
        part[r] = own;
    }
}

static dis_status bucket_job(void *arg, size_t h, int thread)
{
    const finishing *f = arg;
    dis__bucket_scratch *s = &f->scratch[thread].bucket;
    DIS_TRY(dis__bucket_number(f->ctx, f->partition, h, f->class_of, s));
    cut_tasks(f, s, f->part + h * f->n_ranges);
    return dis__bucket_store(f->partition, h, thread, s, &f->bucket[h]);
}

/* ---- lay out ---- */

/* Totals before each range. */
static dis_status add_up(const finishing *f)
{
    range_sums sum = {0};
    for (size_t r = 0; r <= f->n_ranges; r++) {
        f->range[r] = sum;
        f->range[r].text = 0;
        for (size_t h = 0; r < f->n_ranges && h < n_buckets(f->partition); h++) {
            const range_part *part = &f->part[h * f->n_ranges + r];
            sum.items += part->n;
            sum.votes += part->votes;
            sum.bytes += part->bytes;
            f->range[r].text += part->text;
        }
    }
    if (sum.items > DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u tasks", DIS_MAX_IDS);
    return DIS_OK;
}

enum { PARTS_AHEAD = 16 };

/* Offsets of the tasks of a bucket in the file, and of the texts after them. */
static uint64_t tasks_at(const dis__numbered_bucket *b)
{
    return b->at + b->n_votes * sizeof(dis__bucket_vote);
}
static uint64_t texts_at(const dis__numbered_bucket *b)
{
    return tasks_at(b) + b->n_tasks * sizeof(dis__bucket_task);
}

/* The tasks of a part, with addresses of long ones; to: its texts, if they are read from the file. */
static dis_status get_part(const finishing *f, const dis__numbered_bucket *b, const range_part *part,
                           dis__bucket_task *task, uint64_t *text)
{
    const uint64_t *from = text;
    if (b->vote) {
        from = b->text + part->first_text;
        memcpy(task, b->task + part->first, part->n * sizeof *task);
    } else {
        const dis__scratch_file *file = &f->partition->file;
        DIS_TRY(dis__scratch_read(file, tasks_at(b) + part->first * sizeof *task, task, part->n * sizeof *task));
        DIS_TRY(
            dis__scratch_read(file, texts_at(b) + part->first_text * sizeof *text, text, part->text * sizeof *text));
    }
    for (size_t t = 0; part->text && t < part->n; t++)
        if (dis__bucket_is_reference(task[t].word))
            task[t].word = dis__bucket_reference((uintptr_t)(from + ((task[t].word >> 8) - part->first_text)));
    return DIS_OK;
}

/* The tasks of all buckets that first appear in a range: s->task. */
static dis_status get_tasks(const finishing *f, size_t r, scratch *s)
{
    const size_t n = f->range[r + 1].items - f->range[r].items, n_text = f->range[r].text;
    DIS_TRY(dis__reserve(&s->task, &s->task_capacity, 0, n, sizeof *s->task));
    DIS_TRY(dis__reserve(&s->item, &s->item_capacity, 0, n, sizeof *s->item));
    if (dis__scratch_is_open(&f->partition->file))
        DIS_TRY(dis__reserve(&s->text, &s->text_capacity, 0, n_text, sizeof *s->text));
    dis__bucket_task *to = s->task;
    uint64_t *text = s->text;
    for (size_t h = 0; h < n_buckets(f->partition); h++) {
        const range_part *part = &f->part[h * f->n_ranges + r];
        if (h + PARTS_AHEAD < n_buckets(f->partition) && !f->bucket[h].vote) {
            const range_part *later = part + PARTS_AHEAD * f->n_ranges;
            dis__scratch_prefetch(&f->partition->file,
                                  tasks_at(&f->bucket[h + PARTS_AHEAD]) + later->first * sizeof *to,
                                  later->n * sizeof *to);
        }
        if (part->n == 0) continue;
        DIS_TRY(get_part(f, &f->bucket[h], part, to, text));
        to += part->n;
        if (text) text += part->text;
    }
    return DIS_OK;
}

/* Adds adjacent bits; the compiler's builtin would be a function call on targets without the instruction. */
static inline uint32_t count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    return (uint32_t)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

/* The tasks of a range in order: s->item. */
static void put_in_order(const finishing *f, size_t r, const scratch *s)
{
    const size_t n_words = (range_first(f, r + 1) - range_first(f, r)) / 64 + 1;
    const size_t n_tasks = (size_t)(f->range[r + 1].items - f->range[r].items);
    memset(s->is_first, 0, n_words * sizeof *s->is_first);
    for (size_t i = 0; i < n_tasks; i++) s->is_first[s->task[i].at / 64] |= 1ull << s->task[i].at % 64;
    uint32_t rank = 0;
    for (size_t w = 0; w < n_words; w++) {
        s->rank[w] = rank;
        rank += count_bits(s->is_first[w]);
    }
    for (size_t i = 0; i < n_tasks; i++) {
        dis__bucket_task *t = &s->task[i];
        const uint64_t before = (1ull << t->at % 64) - 1;
        t->at = s->rank[t->at / 64] + count_bits(s->is_first[t->at / 64] & before);
        s->item[t->at] = *t;
    }
}

/* Writes the NUL-terminated name of an item, if there is room for `room` bytes; returns its length. */
static size_t put_name(const dis__bucket_task *item, char *to, size_t room)
{
    if (dis__task_is_coded(item->word)) {
        const size_t n = dis__packed_length(&item->word);
        dis__task_decode(item->word, to);
        to[n] = 0;
        return n;
    }
    const dis__task_text text = dis__bucket_text(&item->word);
    if (dis__bucket_is_reference(item->word)) {
        memcpy(to, text.text, text.n);
        to[text.n] = 0;
    } else {
        dis__word_write(item->word, text.n, to, room);
    }
    return text.n;
}

/* Offsets of the votes and names of a range's items; writes the names. */
static void begin_items(const finishing *f, size_t r, const scratch *s)
{
    const range_sums *range = &f->range[r];
    uint64_t vote = range->votes, byte = range->bytes;
    for (size_t i = 0; i < range[1].items - range->items; i++) {
        f->votes->start[range->items + i] = vote;
        f->name_start[range->items + i] = byte;
        vote += s->item[i].n;
        byte += put_name(&s->item[i], f->names + byte, (size_t)(range[1].bytes - byte)) + 1;
    }
}

/* The votes of a part's items, which are contiguous. */
static dis_status get_votes(const finishing *f, size_t h, size_t r, scratch *s, const dis__bucket_vote **from)
{
    const dis__numbered_bucket *b = &f->bucket[h];
    const range_part *part = &f->part[h * f->n_ranges + r];
    const dis__scratch_file *file = &f->partition->file;
    const size_t size = sizeof *s->vote;
    if (b->vote) {
        *from = b->vote + part->first_vote;
        return DIS_OK;
    }
    if (h + PARTS_AHEAD < n_buckets(f->partition)) {
        const range_part *later = part + PARTS_AHEAD * f->n_ranges;
        dis__scratch_prefetch(file, f->bucket[h + PARTS_AHEAD].at + later->first_vote * size,
                              (size_t)later->votes * size);
    }
    DIS_TRY(dis__reserve(&s->vote, &s->vote_capacity, 0, (size_t)part->votes, size));
    *from = s->vote;
    return dis__scratch_read(file, b->at + part->first_vote * size, s->vote, (size_t)part->votes * size);
}

/* Copies the votes of a range's items to their final positions. */
static dis_status lay_out(const finishing *f, size_t r, scratch *s)
{
    const dis_votes *votes = f->votes;
    const uint64_t *start = votes->start + f->range[r].items;
    const dis__bucket_task *t = s->task;
    for (size_t h = 0; h < n_buckets(f->partition); h++) {
        const range_part *part = &f->part[h * f->n_ranges + r];
        if (part->n == 0) continue;
        const dis__bucket_vote *from;
        DIS_TRY(get_votes(f, h, r, s, &from));
        for (const dis__bucket_task *end = t + part->n; t < end; t++) {
            const size_t at = (size_t)start[t->at];
            for (size_t i = 0; i < t->n; i++) votes->worker[at + i] = from[i].worker;
            if (votes->label8)
                for (size_t i = 0; i < t->n; i++) votes->label8[at + i] = (uint8_t)from[i].label;
            else
                for (size_t i = 0; i < t->n; i++) votes->label16[at + i] = from[i].label;
            from += t->n;
        }
    }
    return DIS_OK;
}

static dis_status range_job(void *arg, size_t r, int thread)
{
    const finishing *f = arg;
    scratch *s = &f->scratch[thread];
    DIS_TRY(get_tasks(f, r, s));
    put_in_order(f, r, s);
    begin_items(f, r, s);
    return lay_out(f, r, s);
}

static dis_status alloc_for(dis_context *ctx, finishing *f)
{
    const size_t n_threads = (size_t)dis_context_n_threads(ctx), widest = f->n_rows / f->n_ranges / 64 + 2;
    const size_t n = n_buckets(f->partition);
    DIS_TRY(dis__alloc_zeroed(&f->scratch, n_threads, sizeof *f->scratch));
    for (size_t t = 0; t < n_threads; t++) {
        DIS_TRY(dis__alloc_array(&f->scratch[t].is_first, widest, sizeof *f->scratch[t].is_first));
        DIS_TRY(dis__alloc_array(&f->scratch[t].rank, widest, sizeof *f->scratch[t].rank));
    }
    DIS_TRY(dis__alloc_zeroed(&f->bucket, n, sizeof *f->bucket));
    DIS_TRY(dis__alloc_array(&f->part, dis__saturating_size(n, f->n_ranges, 0), sizeof *f->part));
    return dis__alloc_array(&f->range, f->n_ranges + 1, sizeof *f->range);
}

static dis_status finish(dis_context *ctx, finishing *f)
{
    dis_votes *votes = f->votes;
    const size_t n = n_buckets(f->partition);
    DIS_TRY(alloc_for(ctx, f));
    DIS_TRY(dis__partition_write(ctx, f->partition));
    DIS_TRY(dis__run_jobs(ctx, n, bucket_job, f));
    DIS_TRY(add_up(f));
    for (int t = 0; t < dis_context_n_threads(ctx); t++) {
        dis__bucket_scratch_free(&f->scratch[t].bucket);
        f->scratch[t].bucket = (dis__bucket_scratch){0};
    }
    const range_sums *all = &f->range[f->n_ranges];
    votes->n_items = all->items;
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
    DIS_TRY(dis__names_from_buffers(f->names, f->name_start, votes->n_items, &votes->tasks));
    f->names = NULL;
    f->name_start = NULL;
    return DIS_OK;
}

dis_status dis__partition_finish(dis_context *ctx, dis__partition *d, size_t n_rows, const uint16_t *class_of,
                                 dis_votes *votes)
{
    finishing f = {.ctx = ctx,
                   .partition = d,
                   .class_of = class_of,
                   .votes = votes,
                   .n_rows = n_rows,
                   .n_ranges = dis__n_jobs(n_rows, RANGE_ROWS, MAX_RANGES)};
    const dis_status status = finish(ctx, &f);
    for (int t = 0; f.scratch && t < dis_context_n_threads(ctx); t++) {
        dis__bucket_scratch_free(&f.scratch[t].bucket);
        dis__free(f.scratch[t].is_first);
        dis__free(f.scratch[t].rank);
        dis__free(f.scratch[t].task);
        dis__free(f.scratch[t].item);
        dis__free(f.scratch[t].text);
        dis__free(f.scratch[t].vote);
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
