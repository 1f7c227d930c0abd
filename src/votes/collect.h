/* collect.h: batches put together: one numbering of tasks, workers and labels for the whole input, in order of first
 * appearance.
 *
 *     dis__collector c;
 *     DIS_TRY(dis__collect_begin(&c, &secret, n_bytes));
 *     ... round by round, in the order of the file:
 *         DIS_TRY(dis__collect_prepare(&c, &plan));
 *         ... dis__batch_reset() and fill each batch; if one is full: dis__collect_withdraw(), and again with more room
 *             ...
 *         ... dis__collect_suits(), or dis__collect_withdraw() and again ...
 *         DIS_TRY(dis__collect(ctx, &c, batches, n_batches, n_bytes)); ...
 *     DIS_TRY(dis__collect_finish(ctx, &c, class_of, votes));
 *     dis__collect_free(&c); */
#ifndef DIS_VOTES_COLLECT_H
#define DIS_VOTES_COLLECT_H
#include "votes/ids/sorted_ids.h"
#include "votes/ids/partition.h"

/* How tasks get their numbers: from a table while rows are read, as workers do; or after each round, since they
 * ascend; or at the end, from buckets. All number by first appearance. */
typedef enum { DIS_TASKS_HASHED, DIS_TASKS_SORTED, DIS_TASKS_PARTITIONED } dis__tasks;

typedef struct {
    uint64_t n_bytes, n_done; /* text in all, and collected */
    dis__ids ids[DIS_ID_COLUMNS];
    double rate[DIS_ID_COLUMNS]; /* new ids per byte of text in the last round; in the first, as many as there may be */
    dis__tasks tasks;
    size_t bucket;     /* how much text a bucket is for, see dis__partition_begin(), */
    uint64_t max_rows; /* and how many rows there may be: both must be set for tasks that ascend */
    dis__sorted_ids sorted;
    dis__partition partition; /* of all votes, when they are partitioned: then rows has only their number */
    dis__rows rows;           /* with final ids; while rows lie item by item, start instead of task */
    size_t rows_capacity, task_capacity, start_capacity;
    bool scattered;     /* rows do not lie item by item */
    uint32_t last_task; /* of the rows that are here */
    dis__known_labels labels;
} dis__collector;

/* n_bytes: how much text is to come. */
dis_status dis__collect_begin(dis__collector *c, const dis__secret *secret, uint64_t n_bytes);
/* A round of batches. */
typedef struct {
    size_t n_batches;
    size_t n_bytes;  /* of text, the longest batch */
    size_t max_rows; /* of a batch: so many new ids it can have */
    size_t room;     /* how many times what is expected it may have */
    bool in_order;   /* batches are filled one after the other */
} dis__round;
#define DIS_ROOM_FOR_ALL SIZE_MAX /* as many as there are rows */

/* Before batches are filled. */
dis_status dis__collect_prepare(dis__collector *c, const dis__round *round);
/* Takes out again what the batches of a round brought. */
void dis__collect_withdraw(dis__collector *c, dis__batch *const *batches, size_t n_batches);
/* Whether tasks can be numbered as they are for the batches of a round too. If not, then from here on in another way,
 * and the round must be filled anew; or, with *start_over, the input be read again with tasks looked up. */
dis_status dis__collect_suits(dis_context *ctx, dis__collector *c, dis__batch *const *batches, size_t n_batches,
                              uint64_t n_bytes, bool *suits, bool *start_over);
/* Takes all rows of the round's batches, which may be reset afterwards. n_bytes: of text they come from. */
dis_status dis__collect(dis_context *ctx, dis__collector *c, dis__batch *const *batches, size_t n_batches,
                        uint64_t n_bytes);
/* Names of tasks and workers and the votes grouped by item, into `votes`, whose n_classes is set. class_of:
 * (labels). */
dis_status dis__collect_finish(dis_context *ctx, dis__collector *c, const uint16_t *class_of, dis_votes *votes);
void dis__collect_free(dis__collector *c);

#endif
