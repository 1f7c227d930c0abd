/* numbering.h: algorithms that assign indices to tasks: rows of a table, of which the collector uses one at a time.
 *
 * All of them number by order of first appearance and give the same votes; they differ in the input they support and in
 * their cost:
 *
 *   sorted       while tasks ascend: needs no table (sorted_tasks.h)
 *   partitioned  tasks in any order: buckets, numbered one by one (partition.h)
 *   hashed       any input: a table that all threads use while rows are read (hashed_ids.h)
 *
 * Rows are read once. A numbering that does not support the batches of a round names its successor, which takes over
 * the collected rows and the tasks of the current batches. */
#ifndef DIS_VOTES_IDS_NUMBERING_H
#define DIS_VOTES_IDS_NUMBERING_H
#include "dissent/context.h"
#include "votes/collect/batch.h"

typedef struct dis__collector dis__collector;
typedef struct dis__numbering dis__numbering;

/* The batches of a round, filled. */
typedef struct {
    dis_context *ctx;
    dis__collector *collector;
    dis__batch *const *batch; /* (n) */
    size_t n;
    uint64_t n_bytes; /* bytes of text they come from */
} dis__filled_round;

struct dis__numbering {
    const char *name;
    bool numbered_later; /* batches keep tasks as texts (batch.h); they get their indices after the round */
    /* Whether it supports the batches; if not, *next is another numbering. NULL: always. */
    dis_status (*accept)(dis__filled_round *round, const dis__numbering **next);
    /* Continues from the state of `before`. NULL: nothing to do, because `before` has collected nothing. */
    dis_status (*continue_from)(dis__filled_round *round, const dis__numbering *before);
    /* New tasks of a batch: their number, in its share; their indices, once the share has the first one. In parallel;
     * NULL: indices are assigned at the end. */
    void (*count)(dis__batch *batch);
    void (*number)(dis__batch *batch);
    /* Reserves room for the rows of the round; adds the rows of a batch, whose labels and workers have final indices,
     * in parallel; finishes the round (may be NULL). */
    dis_status (*reserve)(dis__filled_round *round);
    void (*add_batch)(const dis__filled_round *round, size_t j);
    dis_status (*end_round)(dis__filled_round *round);
    /* Writes tasks and votes by item to `votes`, whose n_classes is set; class_of: (labels). */
    dis_status (*finish)(dis_context *ctx, dis__collector *collector, const uint16_t *class_of, dis_votes *votes);
};

extern const dis__numbering dis__tasks_hashed, dis__tasks_sorted, dis__tasks_partitioned;

#endif
