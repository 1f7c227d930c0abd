/* Numbering a bucket: see partition_number.h. A table, from words or hashes of texts to tasks, is asked for some
 * records at a time.
 *
 * Cost: 16 or more bytes per row read twice, 8 written; the table lies within the second cache while buckets are small.
 */
#include "votes/ids/partition_number.h"
#include "core/memory.h"

enum { RECORDS_AT_ONCE = 64 };

/* A record that is looked at. */
typedef struct {
    const uint64_t *at;
    uint64_t key; /* of its task: the word, or a hash that is no word; 0: a base */
    size_t home;  /* where it points within a table */
    size_t words; /* of the task */
} record;

/* Where the hash of a task points within a table of its bucket: bits that did not choose the bucket. */
static inline size_t slot_of(const dis__partition *d, uint32_t tag, size_t n_slots)
{
    const uint32_t rest = (uint32_t)((uint64_t)tag * d->places.n_buckets);
    return (size_t)((uint64_t)rest * n_slots >> 32);
}

static inline void look_at(const dis__partition *d, const uint64_t *task, size_t n_slots, record *out)
{
    const dis__secret *secret = &d->places.secret;
    out->at = task;
    out->words = 1;
    out->key = *task;
    if (!dis__bucket_is_long(*task)) {
        out->home = slot_of(d, dis__id_tag(secret, *task), n_slots);
        return;
    }
    const dis__task_text text = dis__packed_text(task);
    const uint64_t hash = dis__id_hash_long(secret, text.text, text.n);
    out->words = dis__packed_words(*task);
    out->key = hash | DIS_TASK_LONG;
    out->home = slot_of(d, dis__id_tag_long(secret, hash), n_slots);
}

static inline size_t next_slot(size_t k, size_t n_slots)
{
    return k + 1 == n_slots ? 0 : k + 1;
}

/* The words of a task that was found. */
static inline const uint64_t *words_of(const dis__bucket_scratch *s, const dis__bucket_task *task)
{
    return dis__bucket_is_long(task->word) ? s->text + (task->word >> 8) : &task->word;
}

/* A table of that size for the n tasks that are known. */
static dis_status make_slots(const dis__partition *d, dis__bucket_scratch *s, size_t n_slots, size_t n)
{
    DIS_TRY(dis__reserve(&s->slot, &s->slot_capacity, 0, n_slots, sizeof *s->slot));
    memset(s->slot, 0, n_slots * sizeof *s->slot);
    for (size_t t = 0; t < n; t++) {
        record r;
        look_at(d, words_of(s, &s->task[t]), n_slots, &r);
        size_t k = r.home;
        while (s->slot[k].key) k = next_slot(k, n_slots);
        s->slot[k] = (dis__bucket_slot){r.key, (uint32_t)t};
    }
    return DIS_OK;
}

static inline bool is_same(const dis__bucket_scratch *s, const dis__bucket_slot *slot, const record *r)
{
    if (slot->key != r->key) return false;
    return r->words == 1 || memcmp(words_of(s, &s->task[slot->task]), r->at, r->words * sizeof *r->at) == 0;
}

/* A task that is new; there is room for it. */
static inline uint32_t add_task(dis__bucket_scratch *s, size_t n, const record *r, uint32_t row)
{
    dis__bucket_task *task = &s->task[n];
    *task = (dis__bucket_task){.word = *r->at, .at = row};
    if (r->words > 1) {
        task->word = dis__bucket_long(s->n_text);
        memcpy(s->text + s->n_text, r->at, r->words * sizeof *r->at);
        s->n_text += r->words;
    }
    s->next[n] = 0;
    return (uint32_t)n;
}

/* Numbers some records of a bucket whose tasks are n so far; how many they are then. Slots are asked for together, then
 * looked at one by one. */
static size_t number_records(dis__bucket_scratch *s, size_t n_slots, size_t n, const record *r, size_t n_records,
                             size_t *n_votes, uint32_t *base)
{
    for (size_t i = 0; i < n_records; i++, r++) {
        const uint64_t vote = r->at[r->words];
        if (r->key == 0) {
            *base = (uint32_t)vote;
            continue;
        }
        size_t k = r->home;
        while (s->slot[k].key && !is_same(s, &s->slot[k], r)) k = next_slot(k, n_slots);
        if (s->slot[k].key == 0)
            s->slot[k] = (dis__bucket_slot){r->key, add_task(s, n++, r, *base + (uint32_t)(vote >> 48))};
        const uint32_t task = s->slot[k].task;
        s->next[task]++;
        s->number[(*n_votes)++] = task;
    }
    return n;
}

/* The next records of a bucket, and how many words their tasks have, added. */
static size_t look_ahead(const dis__partition *d, const dis__bucket_scratch *s, const uint64_t **at,
                         const uint64_t *end, size_t n_slots, record *r, size_t *words)
{
    size_t n = 0;
    for (; n < RECORDS_AT_ONCE && *at < end; n++) {
        look_at(d, *at, n_slots, &r[n]);
        __builtin_prefetch(&s->slot[r[n].home]);
        *words += r[n].words;
        *at += r[n].words + 1;
    }
    return n;
}

static dis_status reserve_tasks(dis__bucket_scratch *s, size_t n, size_t n_votes, size_t n_records, size_t words)
{
    DIS_TRY(dis__reserve(&s->task, &s->task_capacity, n, n + n_records, sizeof *s->task));
    DIS_TRY(dis__reserve(&s->next, &s->next_capacity, n, n + n_records, sizeof *s->next));
    DIS_TRY(dis__reserve(&s->text, &s->text_capacity, s->n_text, s->n_text + words, sizeof *s->text));
    return dis__reserve(&s->number, &s->number_capacity, n_votes, n_votes + n_records, sizeof *s->number);
}

/* Finds the tasks of a bucket, by first appearance, and counts their votes. */
static dis_status number_tasks(const dis__partition *d, const dis__partition_bucket *bucket, dis__bucket_scratch *s,
                               size_t *n_tasks, size_t *n_votes)
{
    enum { MIN_SLOTS = 4 * RECORDS_AT_ONCE, WORDS_PER_SLOT = 4 };
    const uint64_t *at = bucket->record, *end = at + bucket->n;
    size_t n_slots = MIN_SLOTS + bucket->n / WORDS_PER_SLOT, n = 0;
    uint32_t base = 0;
    record r[RECORDS_AT_ONCE];
    s->n_text = *n_votes = 0;
    DIS_TRY(make_slots(d, s, n_slots, 0));
    while (at < end) {
        const uint64_t *from = at;
        size_t words = 0;
        size_t n_records = look_ahead(d, s, &at, end, n_slots, r, &words);
        DIS_TRY(reserve_tasks(s, n, *n_votes, n_records, words));
        if (2 * (n + n_records) > n_slots) {
            DIS_TRY(make_slots(d, s, n_slots *= 2, n));
            n_records = look_ahead(d, s, &from, at, n_slots, r, &words);
        }
        n = number_records(s, n_slots, n, r, n_records, n_votes, &base);
    }
    *n_tasks = n;
    return DIS_OK;
}

/* Votes by task, in place of the records: they are half as large, or smaller. */
static void sort_votes(const dis__partition_bucket *bucket, const uint16_t *class_of, const dis__bucket_scratch *s,
                       size_t n_tasks)
{
    uint32_t sum = 0;
    for (size_t t = 0; t < n_tasks; t++) {
        s->task[t].n = s->next[t];
        s->next[t] = sum;
        sum += s->task[t].n;
    }
    size_t i = 0;
    for (const uint64_t *at = bucket->record, *end = at + bucket->n; at < end;) {
        const bool is_vote = *at != 0;
        at += dis__packed_words(*at);
        const uint64_t vote = *at++;
        const uint16_t label = (uint16_t)(vote >> 32);
        if (!is_vote) continue;
        s->sorted[s->next[s->number[i++]]++] = (dis__placed_vote){(uint32_t)vote, class_of ? class_of[label] : label};
    }
    if (sum) memcpy(bucket->record, s->sorted, sum * sizeof *s->sorted);
}

/* Puts the tasks of a bucket behind its votes, or where there is room. */
static dis_status keep_tasks(const dis__partition_bucket *bucket, const dis__bucket_scratch *s, size_t n_votes,
                             dis__numbered_bucket *out)
{
    enum { TASK_WORDS = sizeof(dis__bucket_task) / sizeof(uint64_t) };
    _Static_assert(sizeof(dis__placed_vote) == sizeof(uint64_t) && sizeof(dis__bucket_task) % sizeof(uint64_t) == 0,
                   "in place");
    const size_t task_words = TASK_WORDS * out->n_tasks, words = task_words + s->n_text;
    uint64_t *to = bucket->record + n_votes, *free_from = to + words, *end = bucket->record + bucket->n;
    if (words > bucket->n - n_votes) {
        DIS_TRY(dis__alloc_array(&out->own, words, sizeof *out->own));
        free_from = to;
        to = out->own;
    }
    dis__release(free_from, (size_t)(end - free_from) * sizeof *free_from);
    uint64_t *text = to + task_words;
    out->task = (dis__bucket_task *)(void *)to;
    if (s->n_text) memcpy(text, s->text, s->n_text * sizeof *text);
    for (size_t t = 0; t < out->n_tasks; t++) {
        out->task[t] = s->task[t];
        if (dis__bucket_is_long(s->task[t].word))
            out->task[t].word = dis__bucket_long((uintptr_t)(text + (s->task[t].word >> 8)));
    }
    return DIS_OK;
}

dis_status dis__bucket_number(const dis__partition *d, size_t h, const uint16_t *class_of, dis__bucket_scratch *s,
                              dis__numbered_bucket *out)
{
    const dis__partition_bucket *bucket = &d->bucket[h];
    size_t n_votes;
    DIS_TRY(number_tasks(d, bucket, s, &out->n_tasks, &n_votes));
    DIS_TRY(dis__reserve(&s->sorted, &s->sorted_capacity, 0, n_votes, sizeof *s->sorted));
    sort_votes(bucket, class_of, s, out->n_tasks);
    return keep_tasks(bucket, s, n_votes, out);
}

void dis__bucket_scratch_free(dis__bucket_scratch *s)
{
    dis__free(s->slot);
    dis__free(s->task);
    dis__free(s->text);
    dis__free(s->number);
    dis__free(s->next);
    dis__free(s->sorted);
}
