/* collect.h: batches put together: one numbering of tasks, workers and labels for the whole input, in order of first
 * appearance.
 *
 *     dis__collector c;
 *     DIS_TRY(dis__collect_begin(&c, n_bytes));
 *     ... fill batches ...; dis__collect(ctx, &c, batches, n); ... again and again, in the order of the file ...
 *     dis__collect_end(ctx, &c, ..., votes);
 *     dis__collect_free(&c);
 *
 * Ids are dealt out by the upper bits of their hash to partitions, each with a table that stays in the cache;
 * partitions work side by side, each going through the batches in order. A number of batches collected together gives
 * the same numbering as one after the other. */
#ifndef DIS_VOTES_COLLECT_H
#define DIS_VOTES_COLLECT_H
#include "votes/batch.h"

/* One partition of one column. */
typedef struct {
    dis__table table; /* value: the id */
    uint64_t *fresh;  /* (n_fresh) what the batches at hand brought: batch << 32 | index, then its id */
    uint32_t *slot;   /* (n_fresh) where it lies in the table, unless that grew meanwhile */
    size_t slot_capacity;
    size_t n_slots; /* of the table when the batches at hand came */
    size_t n_fresh, fresh_capacity;
    size_t *fresh_of; /* (batches) how many of them each batch brought */
    size_t fresh_of_capacity;
} dis__partition;

/* Names of the ids that were new in one batch. */
typedef struct {
    char *bytes; /* each with a NUL behind it */
    size_t n_bytes;
    size_t n;
} dis__names_piece;

typedef struct {
    dis__secret secret;
    unsigned partition_bits;
    uint64_t n_bytes, n_done;                  /* text in all, and collected */
    dis__partition *partition[DIS_ID_COLUMNS]; /* (1 << partition_bits) */
    size_t n_ids[DIS_ID_COLUMNS];
    dis__table frozen[DIS_ID_COLUMNS]; /* all values of a column that has few, to their ids: batches look here first */
    bool many[DIS_ID_COLUMNS];         /* too many for that */
    dis__names_piece *names[DIS_ID_COLUMNS]; /* (n_pieces) */
    size_t names_capacity[DIS_ID_COLUMNS];
    dis__rows *rows; /* (n_pieces) */
    size_t n_pieces, rows_capacity;
    dis__table label_table; /* value: index into label */
    dis__key *label;        /* in order of first appearance */
    size_t n_labels, label_capacity;
} dis__collector;

/* n_bytes: how much text is to come, which decides the number of partitions. */
dis_status dis__collect_begin(dis__collector *c, const dis__secret *secret, uint64_t n_bytes);
/* Takes all rows of the batches, which may be reset afterwards. n_bytes: of text they come from. */
dis_status dis__collect(dis_context *ctx, dis__collector *c, dis__batch *const *batches, size_t n_batches,
                        uint64_t n_bytes);
/* For dis__batch_reset(): the tables of columns with few values, NULL for the others. */
void dis__collect_frozen(const dis__collector *c, const dis__table *frozen[DIS_ID_COLUMNS]);
/* The names of a column; tables and names of that column are gone afterwards. */
dis_status dis__collect_names(dis__collector *c, int column, dis_names **out);
void dis__collect_free(dis__collector *c);

#endif
