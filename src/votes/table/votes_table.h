/* votes_table.h: the struct of a votes table, for those who build one. */
#ifndef DIS_VOTES_TABLE_VOTES_TABLE_H
#define DIS_VOTES_TABLE_VOTES_TABLE_H
#include "dissent/votes.h"
#include "core/error.h"

enum { DIS_MAX_MESSAGES = 20, DIS_MAX_NOTES = 8 };

/* Where a table that is shared out over ranks is in the whole: it has items first_item .. first_item + n_items -
 * 1. */
typedef struct {
    size_t n_items, n_votes; /* of all ranks */
    size_t first_item;
    uint64_t first_vote;
    size_t n_owners; /* ranks below have items, a power of 2; each has as many shards of a pass (dis__votes_shards) */
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
    bool fold_case, trim; /* labels were read so, and gold labels are too */
    char *skipped[DIS_MAX_MESSAGES];
    size_t n_skipped;
    char *note[DIS_MAX_NOTES];
    dis_note_kind note_kind[DIS_MAX_NOTES];
    size_t n_notes;
    dis__votes_part part;
};

/* Adds a note for the user; one too many is left out. */
dis_status dis__votes_add_note(dis_votes *votes, dis_note_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Moves the notes of one table to another, which has none. */
void dis__votes_move_notes(dis_votes *from, dis_votes *to);

/* The part that a table is: of itself, when there are no ranks. */
dis__votes_part dis__votes_part_of(const dis_votes *votes);
/* In how many shards, a power of 2, a pass is cut that adds into a table of so many doubles in rows of so many. Depends
 * on the problem only (labels/methods/em.c has the reasons). */
size_t dis__votes_shards(size_t n_votes, size_t table_size, size_t row);
/* Makes of what each rank has read (in the order of ranks, nothing left out) the part of the whole that this rank owns:
 * ids are numbered by first appearance over all ranks, votes go to the owner of their item by one exchange.
 * declared: the classes, NULL: those found. `votes` is replaced. */
dis_status dis__votes_distribute(dis_context *ctx, const dis_names *declared, dis_votes *votes);
/* The same once more after votes were taken out on each rank, so that shards are those of what is left. Workers without
 * a vote go too, unless every one is to stay. */
dis_status dis__votes_redistribute(dis_context *ctx, bool every_worker, dis_votes *votes);

struct dis__comm;
/* The votes of all ranks as one table on the first of them; elsewhere one without items. All ranks call it. */
dis_status dis__votes_gather(const struct dis__comm *comm, const dis_votes *votes, dis_votes **out);
/* Likewise a list of names that is in parts on the ranks. */
dis_status dis__names_gather(const struct dis__comm *comm, const dis_names *names, dis_names **out);

/* Rows in the order they were read. Ids are indices; label is an index before `class_of` (below). */
typedef struct {
    uint32_t *task;   /* (n), or NULL, and */
    uint64_t *start;  /* (n_items + 1) the row each item begins with, but the last entry: rows lie item by item */
    uint32_t *worker; /* (n) */
    uint8_t *label8;  /* (n), or, when some do not fit, */
    uint16_t *label;  /* (n) */
    size_t n;
} dis__rows;

/* Fills start, worker, label8 or label16 and n_votes of `votes`, whose n_items and n_classes are set, with the rows
 * grouped by item, in their order within an item. class_of: (labels) the class of each label; NULL: the label itself.
 * With `consume` (else there must be no rows->start) the arrays of the rows are freed or become the table's (and are
 * set to NULL), to keep the peak of memory low. */
dis_status dis__votes_group(dis_context *ctx, dis__rows *rows, const uint16_t *class_of, bool consume,
                            dis_votes *votes);

/* A (task, worker) pair that voted twice. */
typedef struct {
    bool found;
    size_t item;
    uint32_t worker;
} dis__duplicate;

/* What remains after grouping: duplicates counted, and dropped as asked; items with fewer than min_votes votes left
 * out, and workers who have no vote without them; ties counted. Under DIS_DUPLICATES_ERROR the first pair goes to
 * *duplicate and nothing is changed: the caller knows how to name the position. */
dis_status dis__votes_dedup(dis_context *ctx, dis_votes *votes, dis_duplicates duplicates, size_t min_votes,
                            dis__duplicate *duplicate);

/* Counts the ties of a table of counts. */
void dis__votes_count_ties(dis_votes *votes);

#endif
