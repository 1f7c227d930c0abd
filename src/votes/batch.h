/* batch.h: votes as one piece of a file holds them, before the pieces know of each other.
 *
 * A batch numbers the ids and labels of its rows by itself, so that batches are filled on all threads at once. A column
 * whose values come again and again (workers) is looked up in a small table of its own; one whose values hardly repeat
 * (tasks in random order) is only kept from repeating a value in a row, since a table would cost more than it saves:
 * the first values of each batch decide. collect.h puts batches together. */
#ifndef DIS_VOTES_BATCH_H
#define DIS_VOTES_BATCH_H
#include "votes/intern.h"
#include "votes/table.h"

/* The different values of one column, in order of appearance. */
typedef struct {
    dis__key *key; /* (n), value = its own index */
    size_t n, capacity;
    uint64_t *slot; /* (n_slots) upper half of the hash, then index + 1; 0: free */
    size_t n_slots;
    const dis__table *frozen; /* values that earlier batches had, to their ids; NULL: not kept */
    size_t asked;             /* how often a value was looked up */
    bool repeats;             /* looked up, else only compared with the one before */
    unsigned again;           /* how often to go on without lookups after a reset, before trying again */
    uint32_t last;            /* of the row before */

    /* for collect.c */
    uint32_t *order; /* (n) by partition */
    size_t *first;   /* (partitions + 1) into order */
    uint32_t *id;    /* (n) its number in the whole input */
    bool *fresh;     /* (n) not seen in any batch before */
    size_t id_capacity;
} dis__column;

enum { DIS_COLUMN_TASK, DIS_COLUMN_WORKER, DIS_ID_COLUMNS };

enum { DIS_RECENT_LABELS = 128 };

#define DIS_ROW_IS_ID 0x80000000u

/* What a label is good for. */
typedef enum { DIS_LABEL_VOTE, DIS_LABEL_NA, DIS_LABEL_EMPTY, DIS_LABEL_UNDECLARED } dis__label_kind;

/* Labels that have a meaning before the file is read: value is the class, or DIS_LABEL_IS_NA. */
#define DIS_LABEL_IS_NA (UINT32_MAX - 1)
typedef struct {
    dis__secret secret;
    dis__table known;
    bool declared; /* other labels are errors */
} dis__label_rules;

dis__label_kind dis__label_kind_of(const dis__label_rules *rules, const dis__key *label);

typedef struct {
    const char *at; /* in the input */
    char *message;
} dis__skipped;

/* A label of up to 16 bytes, as in a key. */
typedef struct {
    uint64_t low, high; /* a free one has high alone, which no text has */
    uint32_t index, kind;
} dis__recent;

typedef struct {
    const dis__label_rules *rules;
    dis__column id[DIS_ID_COLUMNS];
    dis__column label;
    uint8_t *kind;                         /* (label.n) dis__label_kind */
    dis__recent recent[DIS_RECENT_LABELS]; /* labels of the rows before, by dis__label_slot() */
    size_t kind_capacity;
    uint32_t *row[DIS_ID_COLUMNS]; /* (n_rows) index into id[].key, or DIS_ROW_IS_ID and the id itself */
    uint16_t *row_label;           /* (n_rows) */
    size_t n_rows, row_capacity[DIS_ID_COLUMNS + 1];
    dis__arena *texts; /* long ids that are not as they stand in the input; outlive the batch */
    uint64_t seen, na, dropped, bad;
    dis__skipped skipped[DIS_KEPT_MESSAGES];
    size_t n_skipped;
} dis__batch;

/* Empties a batch, keeping its memory; of a new one (all zero) too. */
void dis__batch_reset(dis__batch *batch, const dis__label_rules *rules, const dis__table *const frozen[DIS_ID_COLUMNS],
                      dis__arena *texts);
void dis__batch_free(dis__batch *batch);
/* Room for n more rows. */
dis_status dis__batch_reserve(dis__batch *batch, size_t n);

/* A cheap place for a short label among the recent ones; it need not be hashed when it is there. */
static inline size_t dis__label_slot(uint64_t low, uint64_t high)
{
    return (size_t)((low ^ high) * 0x9e3779b97f4a7c15u >> 57);
}

/* Adds a row; there must be room. The label comes first: rows that are no votes leave no ids behind. Texts of more than
 * 16 bytes must stay where they are. */
dis_status dis__batch_label(dis__batch *batch, const dis__key *label, uint32_t *index);
dis_status dis__column_lookup(dis__column *column, const dis__key *key, uint32_t *index);

/* The index of a value; its hash need not be there yet when it repeats the row before. */
static inline bool dis__column_repeats(const dis__column *column, const dis__key *key, uint32_t *index)
{
    if (column->n == 0 || !dis__key_same(&column->key[column->last], key)) return false;
    *index = column->last;
    return true;
}

static inline void dis__batch_add(dis__batch *batch, uint32_t task, uint32_t worker, uint32_t label)
{
    batch->row[DIS_COLUMN_TASK][batch->n_rows] = task;
    batch->row[DIS_COLUMN_WORKER][batch->n_rows] = worker;
    batch->row_label[batch->n_rows++] = (uint16_t)label;
}

/* One cell of a row that was read the slow way. */
typedef struct {
    const char *text;
    size_t n;
    const char *at; /* in the input, for messages */
} dis__cell;

/* A whole row by its texts, checked: on DIS_EDATA *problem says why (static or in `room`), *at where; nothing was
 * added. Texts outside [input, input_end) are copied if need be. */
typedef struct {
    const char *at;
    char text[320];
} dis__problem;
dis_status dis__batch_row(dis__batch *batch, const dis__cell cell[DIS_ID_COLUMNS + 1], const char *input,
                          const char *input_end, dis__problem *problem);
/* Counts a row that is skipped, and keeps its message if it is among the first. */
dis_status dis__batch_skip(dis__batch *batch, const dis__problem *problem);

#endif
