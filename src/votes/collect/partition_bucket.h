/* partition_bucket.h: the tasks of one bucket of partition.h, in order of first appearance, and its votes by task. */
#ifndef DIS_VOTES_IDS_PARTITION_BUCKET_H
#define DIS_VOTES_IDS_PARTITION_BUCKET_H
#include "votes/collect/partition.h"

/* A task of a bucket. */
typedef struct {
    uint64_t word; /* packed; for a task with several words, see dis__bucket_reference() */
    uint32_t at;   /* the row of its range in which it first appears; later its index among the items of the range */
    uint32_t n;    /* votes */
} dis__bucket_task;

typedef struct {
    uint32_t worker;
    uint16_t label, unused;
} dis__bucket_vote;

/* The result for a bucket: votes by task, tasks by first row, texts of tasks with several words. */
typedef struct {
    size_t n_votes, n_tasks, n_text; /* n_text: words */
    const dis__bucket_vote *vote;    /* (n_votes) overwriting the records; NULL for a bucket in the file: */
    uint64_t at;                     /* all three, concatenated */
    dis__bucket_task *task;          /* (n_tasks) */
    const uint64_t *text;            /* (n_text) */
    uint64_t *own;                   /* memory of tasks that do not fit after the votes; NULL: they fit */
} dis__numbered_bucket;

typedef struct {
    uint64_t key;  /* 0: free */
    uint32_t task; /* index into the bucket's */
} dis__bucket_slot;

/* Scratch of a thread, for its current bucket. */
typedef struct {
    uint64_t *record; /* of a bucket in the file: (n_words) */
    size_t record_capacity;
    dis__bucket_slot *slot;
    size_t slot_capacity;
    dis__bucket_task *task; /* (n_tasks) in order of discovery */
    uint64_t *first_row;    /* (n_tasks) */
    size_t n_tasks, task_capacity, row_capacity;
    uint64_t *text; /* (n_text) tasks of more than one word, packed */
    size_t n_text, text_capacity;
    uint32_t *number; /* (n_votes) their tasks */
    size_t n_votes, number_capacity;
    uint32_t *next; /* (n_tasks) counts of votes, then the offset of the next one */
    size_t next_capacity;
    dis__bucket_vote *sorted; /* (n_votes) */
    size_t sorted_capacity;
    double tasks_per_word; /* in the previous bucket */
} dis__bucket_scratch;

/* Represents a task of several words: the position of its text, as an index into the bucket's texts or as an address;
 * both are below 2^56. */
static inline uint64_t dis__bucket_reference(uint64_t at)
{
    return at << 8 | DIS_TASK_COUNTED;
}
static inline bool dis__bucket_is_reference(uint64_t word)
{
    return (word & 0xff) >= DIS_TASK_LONG;
}
/* The text of a task whose word is an address, and of one whose word is an index into texts. */
static inline dis__task_text dis__bucket_text(const uint64_t *word)
{
    return dis__packed_text(dis__bucket_is_reference(*word) ? (const uint64_t *)(uintptr_t)(*word >> 8) : word);
}
static inline const uint64_t *dis__bucket_words(const uint64_t *text, const dis__bucket_task *task)
{
    return dis__bucket_is_reference(task->word) ? text + (task->word >> 8) : &task->word;
}

/* Numbers bucket h, all of whose records are present: tasks and their first rows into the scratch, votes by task over
 * the records. class_of as in dis__partition_finish(). */
dis_status dis__bucket_number(dis_context *ctx, const dis__partition *partition, size_t h, const uint16_t *class_of,
                              dis__bucket_scratch *scratch);
/* Stores the result. */
dis_status dis__bucket_store(dis__partition *partition, size_t h, int thread, dis__bucket_scratch *scratch,
                             dis__numbered_bucket *out);
void dis__bucket_scratch_free(dis__bucket_scratch *scratch);

#endif
