/* partition.h: votes in no order, partitioned by their tasks into buckets that fit in a cache.
 *
 * To look up the tasks of a shuffled file one by one means a line of memory far away for every row, and then rows must
 * still be sorted. So the votes of a round are partitioned into buckets by a hash of their tasks, as they come, and at
 * the end each bucket is taken up by itself: a small table numbers its tasks, its votes are sorted by task, and where
 * they go follows from the rows in which the tasks of all buckets first appear. Tasks are words, texts of up to 8
 * bytes.
 *
 *     DIS_TRY(dis__partition_begin(&partition, &secret, n_bytes, bucket_bytes, bytes_per_row));
 *     ... round by round:
 *         DIS_TRY(dis__partition_make_room(ctx, &partition, batches, n_batches));
 *         ... in each batch j: dis__partition_batch(&partition, batches[j], j); ...
 *     DIS_TRY(dis__partition_finish(ctx, &partition, n_rows, class_of, votes));
 *     dis__partition_free(&partition); */
#ifndef DIS_VOTES_IDS_PARTITION_H
#define DIS_VOTES_IDS_PARTITION_H
#include "dissent/context.h"
#include "votes/batch.h"

/* A vote; with task 0, the row from which the next ones count, in place of the worker. */
typedef struct {
    uint64_t task;
    uint32_t worker;
    uint16_t label, row;
} dis__vote_record;
#define DIS_PARTITION_MAX DIS_MAX_IDS /* votes: so there are never too many tasks, and rows have 32 bits */

typedef struct {
    dis__vote_record *record; /* (n) */
    size_t n, capacity;
    bool moved; /* had more than its share: its memory is its own */
} dis__partition_bucket;

typedef struct {
    dis__ids places;               /* the buckets of votes as those of a table of ids, for the hash of a task */
    dis__vote_record *all;         /* a share for each bucket */
    dis__partition_bucket *bucket; /* (places.n_buckets) */
    size_t *place;                 /* (n_batches, n_buckets) where the records of a batch go */
    size_t place_capacity;
} dis__partition;

/* n_bytes: of text, with rows of about that size; bucket_bytes: of them for each bucket. Sixty thousand rows are good:
 * what a bucket needs fits in the second cache then. */
dis_status dis__partition_begin(dis__partition *partition, const dis__secret *secret, uint64_t n_bytes,
                                size_t bucket_bytes, double bytes_per_row);
/* Room for what the batches of a round hold, which keep words and know their first rows. */
dis_status dis__partition_make_room(dis_context *ctx, dis__partition *partition, dis__batch *const *batches,
                                    size_t n_batches);
/* Partitions the j-th batch, whose workers and labels are final. From all threads. */
void dis__partition_batch(const dis__partition *partition, const dis__batch *batch, size_t j);
/* Fills tasks, n_items, start, worker, label8 or label16 and n_votes of `votes`, whose n_classes is set: items numbered
 * by first appearance, votes of an item in the order of rows. class_of: (labels) the class of each; NULL: the label
 * itself. */
dis_status dis__partition_finish(dis_context *ctx, dis__partition *partition, size_t n_rows, const uint16_t *class_of,
                                 dis_votes *votes);
void dis__partition_free(dis__partition *partition);

#endif
