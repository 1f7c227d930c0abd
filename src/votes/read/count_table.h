/* count_table.h: growing tables of values per item: counts, and sums of soft votes.
 *
 *     dis__count_table t = {.reader = reader, .soft = soft};
 *     DIS_TRY(dis__count_table_set_classes(&t, keys, n));            // once the classes are known
 *     ... t.row: fill it ...; DIS_TRY(dis__count_table_add(&t, &task, &worker, at, &problem)); ...
 *     DIS_TRY(dis__count_table_finish(&t));                      // into reader->votes
 *     dis__count_table_free(&t); */
#ifndef DIS_VOTES_READ_COUNT_TABLE_H
#define DIS_VOTES_READ_COUNT_TABLE_H
#include "votes/read/reader.h"

typedef struct {
    dis__reader *reader;
    bool soft;
    dis__key_table tasks; /* value: item */
    dis__key_table pairs; /* of soft votes: "task NUL worker"; value: index into last */
    dis__arena texts;
    const char **name; /* (n_items) */
    uint32_t *n_name;
    size_t n_items, name_capacity, n_name_capacity;
    double *sum; /* (n_items, n_classes) */
    size_t sum_capacity;
    uint64_t *n_votes; /* (n_items) rows that count */
    size_t n_votes_capacity;
    /* If the last of duplicates counts, rows are kept until all are read: subtracting one from a sum would leave
     * rounding errors. */
    double *last;      /* (n_pairs, n_classes) */
    size_t *last_item; /* (n_pairs) */
    size_t n_pairs, last_capacity, last_item_capacity;
    dis_names *classes; /* in their final order */
    size_t n_classes;
    double *row; /* (n_classes) of the current row */
    char *pair;
    size_t pair_capacity;
} dis__count_table;

void dis__count_table_free(dis__count_table *t);
/* Sets the classes: `keys`, sorted, or the declared ones. */
dis_status dis__count_table_set_classes(dis__count_table *t, const dis__key *keys, size_t n);
/* Adds t->row to the item of a task. `worker` NULL: unknown. DIS_EDATA with *problem; `at` is the position of the
 * row. */
dis_status dis__count_table_add(dis__count_table *t, const dis__vote_field *task, const dis__vote_field *worker,
                                const char *at, dis__row_problem *problem);
/* Writes the table of items with enough votes. */
dis_status dis__count_table_finish(dis__count_table *t);

#endif
