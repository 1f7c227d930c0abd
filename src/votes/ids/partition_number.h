/* partition_number.h: the tasks of one bucket of partition.h, in order of first appearance, and its votes by task. */
#ifndef DIS_VOTES_IDS_PARTITION_NUMBER_H
#define DIS_VOTES_IDS_PARTITION_NUMBER_H
#include "votes/ids/partition.h"

/* A task of a bucket. */
typedef struct {
    uint64_t word; /* packed; of one that takes more words, see dis__bucket_long() */
    uint32_t at;   /* its first row; later its place among the items of a range; of an item, where its votes begin */
    uint32_t n;    /* votes */
} dis__bucket_task;

typedef struct {
    uint32_t worker;
    uint16_t label;
} dis__placed_vote;

/* Votes lie in place of the records, task by task. */
typedef struct {
    dis__bucket_task *task; /* (n_tasks) by first row */
    size_t n_tasks;
    uint64_t *own; /* memory of tasks that do not fit behind the votes; NULL: they do */
} dis__numbered_bucket;

typedef struct {
    uint64_t key;  /* 0: free */
    uint32_t task; /* index into the bucket's */
} dis__bucket_slot;

/* What one thread needs for the bucket it is at. */
typedef struct {
    dis__bucket_slot *slot;
    size_t slot_capacity;
    dis__bucket_task *task; /* as they are found */
    size_t task_capacity;
    uint64_t *text; /* (n_text) tasks of more than one word, packed */
    size_t n_text, text_capacity;
    uint32_t *number; /* (votes) their tasks */
    size_t number_capacity;
    uint32_t *next; /* (tasks) counts of votes, then where the next one goes */
    size_t next_capacity;
    dis__placed_vote *sorted; /* (votes) */
    size_t sorted_capacity;
} dis__bucket_scratch;

/* Instead of a task of several words: where these are, as an index or an address, neither of which has 56 bits. */
static inline uint64_t dis__bucket_long(uint64_t at)
{
    return at << 8 | DIS_TASK_COUNTED;
}
static inline bool dis__bucket_is_long(uint64_t word)
{
    return (word & 0xff) >= DIS_TASK_LONG;
}
/* The text of a task. */
static inline dis__task_text dis__bucket_text(const uint64_t *word)
{
    return dis__packed_text(dis__bucket_is_long(*word) ? (const uint64_t *)(uintptr_t)(*word >> 8) : word);
}

/* Numbers bucket h, all of whose records are there; class_of as in dis__partition_finish(). */
dis_status dis__bucket_number(const dis__partition *partition, size_t h, const uint16_t *class_of,
                              dis__bucket_scratch *scratch, dis__numbered_bucket *out);
void dis__bucket_scratch_free(dis__bucket_scratch *scratch);

#endif
