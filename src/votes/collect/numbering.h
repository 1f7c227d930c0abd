/* numbering.h: ways in which tasks get their numbers: rows of a table, of which the collector follows one.
 *
 * All of them number by first appearance and give the same votes; they differ in what they can take and in their cost:
 *
 *   sorted       while tasks ascend: no table of them at all (sorted_tasks.h)
 *   partitioned  tasks in any order: buckets, numbered one by one (partition.h)
 *   hashed       anything: a table that all threads look tasks up in while rows are read (hashed_ids.h)
 *
 * Rows are read once. A numbering that cannot take the batches of a round names the one to go on with, which takes over
 * what was collected before and the tasks of the batches as they were read. */
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
    uint64_t n_bytes; /* of text they come from */
} dis__filled_round;

struct dis__numbering {
    const char *name;
    bool numbered_later; /* batches keep tasks as texts (batch.h); they get their numbers after the round */
    /* Whether it takes the batches; if not, *next is another numbering. NULL: it takes any. */
    dis_status (*accept)(dis__filled_round *round, const dis__numbering **next);
    /* Goes on where `before` was. NULL: nothing is to be done, for `before` has collected nothing. */
    dis_status (*continue_from)(dis__filled_round *round, const dis__numbering *before);
    /* New tasks of a batch: how many, in its share; their numbers, once the share says from where on. On all threads;
     * NULL: numbers come at the end. */
    void (*count)(dis__batch *batch);
    void (*number)(dis__batch *batch);
    /* Room for the rows of the round; the rows of a batch, whose labels are final and whose workers have their final
     * numbers in the table, on all threads; what is left when all batches are there (may be NULL). */
    dis_status (*reserve)(dis__filled_round *round);
    void (*add_batch)(const dis__filled_round *round, size_t j);
    dis_status (*end_round)(dis__filled_round *round);
    /* Tasks and votes by item, into `votes`, whose n_classes is set; class_of: (labels). */
    dis_status (*finish)(dis_context *ctx, dis__collector *collector, const uint16_t *class_of, dis_votes *votes);
};

extern const dis__numbering dis__tasks_hashed, dis__tasks_sorted, dis__tasks_partitioned;

#endif
