/* votes_table.h: the struct of a votes table, for code that builds one. */
#ifndef DIS_VOTES_TABLE_VOTES_TABLE_H
#define DIS_VOTES_TABLE_VOTES_TABLE_H
#include "dissent/votes.h"
#include "core/error.h"

enum { DIS_MAX_MESSAGES = 20, DIS_MAX_NOTES = 8 };

/* The part of the global table that a rank has: items first_item .. first_item + n_items - 1. */
typedef struct {
    size_t n_items, n_votes; /* of all ranks */
    size_t first_item;
    uint64_t first_vote;
    size_t n_owners; /* number of ranks with items, a power of 2; each has as many shards of a pass
                      * (dis__votes_shards) */
} dis__votes_part;

struct dis_votes {
    size_t n_items, n_workers, n_classes, n_votes;
    uint64_t *start;   /* (n_items + 1) */
    uint32_t *worker;  /* (n_votes) */
    uint8_t *label8;   /* (n_votes), or */
    uint16_t *label16; /* (n_votes) */
    double *counts;    /* (n_items, n_classes) */
    dis_names *tasks, *workers, *classes;
    dis_votes_notes notes;
    dis_scale scale;
    bool fold_case, trim; /* labels were read with these options; they apply to gold labels too */
    char *skipped[DIS_MAX_MESSAGES];
    size_t n_skipped;
    char *note[DIS_MAX_NOTES];
    dis_note_kind note_kind[DIS_MAX_NOTES];
    size_t n_notes;
    dis__votes_part part;
};

/* Adds a note for the user; ignored if there are too many. */
dis_status dis__votes_add_note(dis_votes *votes, dis_note_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Moves the notes of one table to another, which has none. */
void dis__votes_move_notes(dis_votes *from, dis_votes *to);

/* The part of a table; all of it without ranks. */
dis__votes_part dis__votes_part_of(const dis_votes *votes);
/* Number of shards, a power of 2, of a pass that adds into a table of this many doubles in rows of this size. Depends
 * on the problem only (labels/methods/em.c has the reasons). */
size_t dis__votes_shards(size_t n_votes, size_t table_size, size_t row);
/* Replaces the rows read by each rank (in the order of ranks, complete) by the part of the global table that the rank
 * owns: ids are numbered by first appearance over all ranks, votes are sent to the owner of their item in one exchange.
 * declared: the classes, NULL: those found. */
dis_status dis__votes_distribute(dis_context *ctx, const dis_names *declared, dis_votes *votes);
/* Repeats it after votes were removed on each rank, so that shards are those of the remaining votes. Workers without a
 * vote are removed, unless all are kept. */
dis_status dis__votes_redistribute(dis_context *ctx, bool every_worker, dis_votes *votes);

struct dis__comm;
/* Gathers the votes of all ranks as one table on the first rank; the others receive one without items. Collective: all
 * ranks call it. */
dis_status dis__votes_gather(const struct dis__comm *comm, const dis_votes *votes, dis_votes **out);
/* Likewise for a list of names that is partitioned over the ranks. */
dis_status dis__names_gather(const struct dis__comm *comm, const dis_names *names, dis_names **out);

/* Rows in input order. Ids are indices; label is an index before `class_of` is applied (below). */
typedef struct {
    uint32_t *task;   /* (n), or NULL, and */
    uint64_t *start;  /* (n_items + 1) the first row of each item; without the last entry: rows are grouped by item */
    uint32_t *worker; /* (n) */
    uint8_t *label8;  /* (n), or, if some do not fit, */
    uint16_t *label;  /* (n) */
    size_t n;
} dis__rows;

/* Fills start, worker, label8 or label16 and n_votes of `votes`, whose n_items and n_classes are set, with the rows
 * grouped by item, in their order within an item. class_of: (labels) the class of each label; NULL: the label itself.
 * With `consume` (otherwise rows->start must be NULL) the arrays of the rows are freed or moved to the table (and set
 * to NULL), to reduce peak memory. */
dis_status dis__votes_group(dis_context *ctx, dis__rows *rows, const uint16_t *class_of, bool consume,
                            dis_votes *votes);

/* A repeated (task, worker) pair. */
typedef struct {
    bool found;
    size_t item;
    uint32_t worker;
} dis__duplicate;

/* The steps after grouping: counts duplicates, and drops them if requested; removes items with fewer than min_votes
 * votes, and workers without votes on the others; counts ties. Under DIS_DUPLICATES_ERROR the first pair is written to
 * *duplicate and nothing is changed: the caller reports its position. */
dis_status dis__votes_dedup(dis_context *ctx, dis_votes *votes, dis_duplicates duplicates, size_t min_votes,
                            dis__duplicate *duplicate);

/* Counts the ties of a table of counts. */
void dis__votes_count_ties(dis_votes *votes);

#endif
