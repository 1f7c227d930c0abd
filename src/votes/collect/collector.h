/* collector.h: merges batches into one numbering of tasks, workers and labels for the whole input, in order of first
 * appearance.
 *
 *     dis__collector c;
 *     DIS_TRY(dis__collector_init(&c, &secret, n_bytes));
 *     ... round by round, in the order of the file:
 *         DIS_TRY(dis__collector_begin_round(&c, &plan));
 *         ... dis__batch_reset() and fill each batch; if one is full: dis__collector_undo_round(), and repeat with more
 *         room
 *             ...
 *         DIS_TRY(dis__collector_add_round(ctx, &c, batches, n_batches, n_bytes)); ...
 *     DIS_TRY(dis__collector_finish(ctx, &c, class_of, votes));
 *     dis__collector_free(&c); */
#ifndef DIS_VOTES_COLLECT_COLLECTOR_H
#define DIS_VOTES_COLLECT_COLLECTOR_H
#include "votes/collect/numbering.h"
#include "votes/collect/partition.h"
#include "votes/collect/sorted_tasks.h"

/* Rows in input order, with final ids. */
typedef struct {
    dis__rows rows; /* while they are grouped by item, start instead of task */
    size_t capacity, task_capacity, start_capacity;
    bool scattered;     /* they are not grouped by item */
    uint32_t last_task; /* of the stored rows */
} dis__row_store;

struct dis__collector {
    uint64_t n_bytes, n_done; /* bytes of text in total, and collected */
    dis__ids ids[DIS_ID_COLUMNS];
    double rate[DIS_ID_COLUMNS]; /* new ids per byte of text in the last round; in the first, the maximum possible */
    dis__collected_labels labels;
    size_t n_rows;

    const dis__numbering *tasks; /* hashed at first; other numberings need `bucket` */
    size_t bucket;               /* bytes of text per bucket, see dis__partition_begin() */
    uint64_t max_partitioned;    /* rows; tests reduce it */
    bool in_file;                /* partitioned votes go to a file, even if memory suffices */
    dis__sorted_tasks sorted;
    dis__partition partition; /* all votes, if they are partitioned; otherwise they are in */
    dis__row_store store;
};

/* n_bytes: bytes of text to come. */
dis_status dis__collector_init(dis__collector *c, const dis__secret *secret, uint64_t n_bytes);
/* A round of batches. */
typedef struct {
    size_t n_batches;
    size_t n_bytes;  /* bytes of text of the longest batch */
    size_t max_rows; /* new ids that a batch can have */
    size_t room;     /* multiple of the expected number of new ids to reserve */
    bool in_order;   /* batches are filled in sequence */
} dis__round;
#define DIS_HEADROOM_UNLIMITED SIZE_MAX /* as many as there are rows */

/* Call it before batches are filled. */
dis_status dis__collector_begin_round(dis__collector *c, const dis__round *round);
/* Removes the ids added by the batches of a round. */
void dis__collector_undo_round(dis__collector *c, dis__batch *const *batches, size_t n_batches);
/* Adds all rows of the round's batches, which may be reset afterwards. n_bytes: their bytes of text. */
dis_status dis__collector_add_round(dis_context *ctx, dis__collector *c, dis__batch *const *batches, size_t n_batches,
                                    uint64_t n_bytes);
/* Writes the names of tasks and workers and the votes grouped by item to `votes`, whose n_classes is set. class_of:
 * (labels). */
dis_status dis__collector_finish(dis_context *ctx, dis__collector *c, const uint16_t *class_of, dis_votes *votes);
void dis__collector_free(dis__collector *c);

/* Bytes of text still to come. */
static inline double dis__collector_bytes_left(const dis__collector *c)
{
    return c->n_bytes > c->n_done ? (double)(c->n_bytes - c->n_done) : 0;
}

/* row_store.c: shared by the numberings that keep rows in input order; see numbering.h. */
dis_status dis__row_store_reserve(dis__filled_round *round);
void dis__row_store_add_batch(const dis__filled_round *round, size_t j);
dis_status dis__row_store_end_round(dis__filled_round *round);
dis_status dis__row_store_finish(dis_context *ctx, dis__collector *c, const uint16_t *class_of, dis_votes *votes);
void dis__row_store_free(dis__row_store *store);

#endif
