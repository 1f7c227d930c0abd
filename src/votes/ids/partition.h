/* partition.h: votes in no order, dealt out by their tasks to hands that fit in a cache.
 *
 * To look up the tasks of a shuffled file one by one means a line of memory far away for every row, and then rows must
 * still be sorted. So the votes of a round are dealt out to hands by a hash of their tasks, as they come, and at the end
 * each hand is taken up by itself: a small table numbers its tasks, its votes are sorted by task, and where they go
 * follows from the rows in which the tasks of all hands first appear. Tasks are words, texts of up to 8 bytes.
 *
 *     DIS_TRY(dis__deal_begin(&deal, &secret, n_bytes, hand_bytes, bytes_a_row));
 *     ... round by round:
 *         DIS_TRY(dis__deal_make_room(ctx, &deal, batches, n_batches));
 *         ... in each batch j: dis__deal_batch(&deal, batches[j], j); ...
 *     DIS_TRY(dis__deal_finish(ctx, &deal, n_rows, class_of, votes));
 *     dis__deal_free(&deal); */
#ifndef DIS_VOTES_IDS_PARTITION_H
#define DIS_VOTES_IDS_PARTITION_H
#include "dissent/context.h"
#include "votes/batch.h"

/* A vote; with task 0, the row from which the next ones count, in place of the worker. */
typedef struct {
    uint64_t task;
    uint32_t worker;
    uint16_t label, row;
} dis__card;
#define DIS_DEAL_MOST DIS_MAX_IDS /* votes: so there are never too many tasks, and rows have 32 bits */

typedef struct {
    dis__card *card; /* (n) */
    size_t n, capacity;
    bool moved; /* had more than its share: its memory is its own */
} dis__hand;

typedef struct {
    dis__ids places; /* hands as the buckets of a table, for the hash of a task */
    dis__card *all;  /* a share for each hand */
    dis__hand *hand; /* (places.n_buckets) */
    size_t *place;   /* (n_batches, n_hands) where the cards of a batch go */
    size_t place_capacity;
} dis__deal;

/* n_bytes: of text, with rows of about that size; hand_bytes: of them for each hand. Sixty thousand rows are good: what a
 * hand needs fits in the second cache then. */
dis_status dis__deal_begin(dis__deal *deal, const dis__secret *secret, uint64_t n_bytes, size_t hand_bytes,
                           double bytes_a_row);
/* Room for what the batches of a round hold, which keep words and know their first rows. */
dis_status dis__deal_make_room(dis_context *ctx, dis__deal *deal, dis__batch *const *batches, size_t n_batches);
/* Deals the j-th batch, whose workers and labels are final. From all threads. */
void dis__deal_batch(const dis__deal *deal, const dis__batch *batch, size_t j);
/* Fills tasks, n_items, start, worker, label8 or label16 and n_votes of `votes`, whose n_classes is set: items numbered by
 * first appearance, votes of an item in the order of rows. class_of: (labels) the class of each. */
dis_status dis__deal_finish(dis_context *ctx, dis__deal *deal, size_t n_rows, const uint16_t *class_of,
                            dis_votes *votes);
void dis__deal_free(dis__deal *deal);

#endif
