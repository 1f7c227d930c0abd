/* Numbers the tasks of a bucket: see partition_bucket.h. A hash table maps words, or hashes of texts, to tasks, for
 * several records at a time.
 *
 * Cost: 16 or more bytes per row read twice, 8 written; the table fits into the L2 cache while buckets are small. */
#include "votes/collect/partition_bucket.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"

enum { RECORDS_AT_ONCE = 64 };

/* A record being processed. */
typedef struct {
    const uint64_t *at;
    uint64_t key;      /* the key of its task: the word, or a hash that is not a word; 0: a base */
    size_t first_slot; /* its home slot */
    size_t words;      /* of the task */
} record;

/* Home slot of a task's hash in the table of its bucket: uses bits that did not choose the bucket. */
static inline size_t slot_of(const dis__partition *d, uint32_t tag, size_t n_slots)
{
    const uint32_t rest = (uint32_t)((uint64_t)tag * d->places.n_buckets);
    return (size_t)((uint64_t)rest * n_slots >> 32);
}

static inline void read_record(const dis__partition *d, const uint64_t *task, size_t n_slots, record *out)
{
    const dis__secret *secret = &d->places.secret;
    out->at = task;
    out->words = 1;
    out->key = *task;
    if (!dis__bucket_is_reference(*task)) {
        out->first_slot = slot_of(d, dis__id_tag(secret, *task), n_slots);
        return;
    }
    const dis__task_text text = dis__packed_text(task);
    const uint64_t hash = dis__id_hash_long(secret, text.text, text.n);
    out->words = dis__packed_words(*task);
    out->key = hash | DIS_TASK_LONG;
    out->first_slot = slot_of(d, dis__id_tag_long(secret, hash), n_slots);
}

static inline size_t next_slot(size_t k, size_t n_slots)
{
    return k + 1 == n_slots ? 0 : k + 1;
}

/* Creates a table of this size for the n known tasks. */
static dis_status make_slots(const dis__partition *d, dis__bucket_scratch *s, size_t n_slots, size_t n)
{
    DIS_TRY(dis__reserve(&s->slot, &s->slot_capacity, 0, n_slots, sizeof *s->slot));
    memset(s->slot, 0, n_slots * sizeof *s->slot);
    for (size_t t = 0; t < n; t++) {
        record r;
        read_record(d, dis__bucket_words(s->text, &s->task[t]), n_slots, &r);
        size_t k = r.first_slot;
        while (s->slot[k].key) k = next_slot(k, n_slots);
        s->slot[k] = (dis__bucket_slot){r.key, (uint32_t)t};
    }
    return DIS_OK;
}

static inline bool is_same(const dis__bucket_scratch *s, const dis__bucket_slot *slot, const record *r)
{
    if (slot->key != r->key) return false;
    return r->words == 1 ||
           memcmp(dis__bucket_words(s->text, &s->task[slot->task]), r->at, r->words * sizeof *r->at) == 0;
}

/* Adds a new task; there is room for it. */
static inline uint32_t add_task(dis__bucket_scratch *s, size_t n, const record *r, uint64_t row)
{
    dis__bucket_task *task = &s->task[n];
    *task = (dis__bucket_task){.word = *r->at};
    s->first_row[n] = row;
    if (r->words > 1) {
        task->word = dis__bucket_reference(s->n_text);
        memcpy(s->text + s->n_text, r->at, r->words * sizeof *r->at);
        s->n_text += r->words;
    }
    s->next[n] = 0;
    return (uint32_t)n;
}

/* Numbers some records of a bucket with n tasks so far; returns the new number of tasks. Slots are prefetched together,
 * then examined one by one. */
static size_t number_records(dis__bucket_scratch *s, size_t n_slots, size_t n, const record *r, size_t n_records,
                             uint64_t *base)
{
    size_t n_votes = s->n_votes;
    for (size_t i = 0; i < n_records; i++, r++) {
        const uint64_t vote = r->at[r->words];
        if (r->key == 0) {
            *base = vote;
            continue;
        }
        size_t k = r->first_slot;
        while (s->slot[k].key && !is_same(s, &s->slot[k], r)) k = next_slot(k, n_slots);
        if (s->slot[k].key == 0) s->slot[k] = (dis__bucket_slot){r->key, add_task(s, n++, r, *base + (vote >> 48))};
        const uint32_t task = s->slot[k].task;
        s->next[task]++;
        s->number[n_votes++] = task;
    }
    s->n_votes = n_votes;
    return n;
}

/* The next records of a bucket, and the number of words of their tasks, summed. */
static size_t gather_records(const dis__partition *d, const dis__bucket_scratch *s, const uint64_t **at,
                             const uint64_t *end, size_t n_slots, record *r, size_t *words)
{
    size_t n = 0;
    for (; n < RECORDS_AT_ONCE && *at < end; n++) {
        read_record(d, *at, n_slots, &r[n]);
        __builtin_prefetch(&s->slot[r[n].first_slot]);
        *words += r[n].words;
        *at += r[n].words + 1;
    }
    return n;
}

static dis_status reserve_tasks(dis__bucket_scratch *s, size_t n, size_t n_records, size_t words)
{
    DIS_TRY(dis__reserve(&s->task, &s->task_capacity, n, n + n_records, sizeof *s->task));
    DIS_TRY(dis__reserve(&s->first_row, &s->row_capacity, n, n + n_records, sizeof *s->first_row));
    DIS_TRY(dis__reserve(&s->next, &s->next_capacity, n, n + n_records, sizeof *s->next));
    DIS_TRY(dis__reserve(&s->text, &s->text_capacity, s->n_text, s->n_text + words, sizeof *s->text));
    return dis__reserve(&s->number, &s->number_capacity, s->n_votes, s->n_votes + n_records, sizeof *s->number);
}

/* Finds the tasks of n_words words of records, in order of first appearance, and counts their votes. */
static dis_status number_tasks(const dis__partition *d, const uint64_t *at, size_t n_words, dis__bucket_scratch *s)
{
    enum { MIN_SLOTS = 4 * RECORDS_AT_ONCE };
    const uint64_t *end = at + n_words;
    const double expected = (s->tasks_per_word > 0 ? s->tasks_per_word : 1. / 8) * (double)n_words;
    size_t n_slots = MIN_SLOTS + (size_t)(2.2 * expected), n = 0;
    uint64_t base = 0;
    record r[RECORDS_AT_ONCE];
    s->n_text = s->n_votes = 0;
    DIS_TRY(make_slots(d, s, n_slots, 0));
    while (at < end) {
        const uint64_t *from = at;
        size_t words = 0;
        size_t n_records = gather_records(d, s, &at, end, n_slots, r, &words);
        DIS_TRY(reserve_tasks(s, n, n_records, words));
        if (2 * (n + n_records) > n_slots) {
            DIS_TRY(make_slots(d, s, n_slots *= 2, n));
            n_records = gather_records(d, s, &from, at, n_slots, r, &words);
        }
        n = number_records(s, n_slots, n, r, n_records, &base);
    }
    if (s->n_votes > UINT32_MAX)
        return dis__fail(DIS_ELIMIT, "more than %u votes on some tasks, too many to sort", UINT32_MAX);
    s->n_tasks = n;
    if (n_words) s->tasks_per_word = (double)n / (double)n_words;
    return DIS_OK;
}

/* Votes sorted by task, overwriting the records, which are at least twice as large. */
static void sort_votes(uint64_t *records, size_t n_words, const uint16_t *class_of, const dis__bucket_scratch *s)
{
    uint32_t sum = 0;
    for (size_t t = 0; t < s->n_tasks; t++) {
        s->task[t].n = s->next[t];
        s->next[t] = sum;
        sum += s->task[t].n;
    }
    size_t i = 0;
    for (const uint64_t *at = records, *end = at + n_words; at < end;) {
        const bool is_vote = *at != 0;
        at += dis__packed_words(*at);
        const uint64_t vote = *at++;
        const uint16_t label = (uint16_t)(vote >> 32);
        if (!is_vote) continue;
        s->sorted[s->next[s->number[i++]]++] =
            (dis__bucket_vote){(uint32_t)vote, class_of ? class_of[label] : label, 0};
    }
    if (sum) memcpy(records, s->sorted, sum * sizeof *s->sorted);
}

/* ---- in the file ---- */

static size_t words_in_file(const dis__partition_bucket *bucket)
{
    size_t n = 0;
    for (size_t i = 0; i < bucket->n_blocks; i++) n += bucket->block[i].n;
    return n;
}

/* The records of a bucket. Those of the bucket `later` may be prefetched at the same time. */
static dis_status read_records(const dis__partition *d, const dis__partition_bucket *bucket,
                               const dis__partition_bucket *later, dis__bucket_scratch *s)
{
    const size_t n = words_in_file(bucket);
    uint64_t *to;
    for (size_t i = 0; later && i < later->n_blocks; i++)
        dis__scratch_prefetch(&d->file, later->block[i].at, later->block[i].n * sizeof *to);
    DIS_TRY(dis__reserve(&s->record, &s->record_capacity, 0, n, sizeof *s->record));
    to = s->record;
    for (size_t i = 0; i < bucket->n_blocks; i++) {
        const dis__partition_block *b = &bucket->block[i];
        DIS_TRY(dis__scratch_read(&d->file, b->at, to, b->n * sizeof *to));
        to += b->n;
    }
    return DIS_OK;
}

enum { TASK_WORDS = sizeof(dis__bucket_task) / sizeof(uint64_t) };
_Static_assert(sizeof(dis__bucket_vote) == sizeof(uint64_t) && sizeof(dis__bucket_task) % sizeof(uint64_t) == 0,
               "in place of words");

/* Tasks and texts, concatenated. */
static void put_tasks(const dis__bucket_scratch *s, uint64_t *to)
{
    if (s->n_tasks) memcpy(to, s->task, s->n_tasks * sizeof *s->task);
    if (s->n_text) memcpy(to + TASK_WORDS * s->n_tasks, s->text, s->n_text * sizeof *s->text);
}

static dis_status keep_in_file(dis__partition *d, int thread, dis__bucket_scratch *s, dis__numbered_bucket *out)
{
    const size_t n = s->n_votes + TASK_WORDS * s->n_tasks + s->n_text;
    DIS_TRY(dis__reserve(&s->record, &s->record_capacity, s->n_votes, n, sizeof *s->record));
    put_tasks(s, s->record + s->n_votes);
    return dis__scratch_append(&d->file, thread, s->record, n * sizeof *s->record, &out->at);
}

/* ---- all of it ---- */

dis_status dis__bucket_number(dis_context *ctx, const dis__partition *d, size_t h, const uint16_t *class_of,
                              dis__bucket_scratch *s)
{
    const dis__partition_bucket *bucket = &d->bucket[h];
    uint64_t *records = bucket->record;
    size_t n = bucket->n;
    if (dis__scratch_is_open(&d->file)) {
        const size_t later = h + (size_t)dis_context_n_threads(ctx);
        DIS_TRY(read_records(d, bucket, later < d->places.n_buckets ? &d->bucket[later] : NULL, s));
        n = words_in_file(bucket);
        records = s->record;
    }
    DIS_TRY(number_tasks(d, records, n, s));
    DIS_TRY(dis__reserve(&s->sorted, &s->sorted_capacity, 0, s->n_votes, sizeof *s->sorted));
    sort_votes(records, n, class_of, s);
    return DIS_OK;
}

dis_status dis__bucket_store(dis__partition *d, size_t h, int thread, dis__bucket_scratch *s, dis__numbered_bucket *out)
{
    const dis__partition_bucket *bucket = &d->bucket[h];
    *out = (dis__numbered_bucket){.n_votes = s->n_votes, .n_tasks = s->n_tasks, .n_text = s->n_text};
    if (dis__scratch_is_open(&d->file)) return keep_in_file(d, thread, s, out);
    const size_t words = TASK_WORDS * s->n_tasks + s->n_text;
    uint64_t *to = bucket->record + s->n_votes, *free_from = to + words, *end = bucket->record + bucket->n;
    if (words > bucket->n - s->n_votes) {
        DIS_TRY(dis__alloc_array(&out->own, words, sizeof *out->own));
        free_from = to;
        to = out->own;
    }
    dis__release_pages(free_from, (size_t)(end - free_from) * sizeof *free_from);
    put_tasks(s, to);
    out->vote = (const dis__bucket_vote *)(const void *)bucket->record;
    out->task = (dis__bucket_task *)(void *)to;
    out->text = to + TASK_WORDS * s->n_tasks;
    return DIS_OK;
}

void dis__bucket_scratch_free(dis__bucket_scratch *s)
{
    dis__free(s->record);
    dis__free(s->slot);
    dis__free(s->task);
    dis__free(s->first_row);
    dis__free(s->text);
    dis__free(s->number);
    dis__free(s->next);
    dis__free(s->sorted);
}
