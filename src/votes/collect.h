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
    dis__table table; /* value: the order in which this partition saw it */
    uint32_t *id;     /* (table.n) its number in the whole input */
    size_t id_capacity;
    uint64_t *fresh; /* what the batches at hand brought: batch << 32 | index */
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
    dis__partition *partition[DIS_ID_COLUMNS]; /* (1 << partition_bits) */
    size_t n_ids[DIS_ID_COLUMNS];
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
/* Takes all rows of the batches, which may be reset afterwards. */
dis_status dis__collect(dis_context *ctx, dis__collector *c, dis__batch *const *batches, size_t n_batches);
/* The names of a column; tables and names of that column are gone afterwards. */
dis_status dis__collect_names(dis__collector *c, int column, dis_names **out);
void dis__collect_free(dis__collector *c);

#endif
