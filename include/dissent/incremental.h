/* incremental.h: adds votes to a saved state and updates the labels of the affected items.
 *
 * A growing state is a file that holds the votes of a fit of dawid-skene, its soft counts of workers and an index of
 * tasks. It is mapped, not read: adding votes looks at the items that got some, at the votes these had, and at the
 * table of workers. The file itself stays as it is: give all votes that came since it was written.
 *
 *     dis_incremental *state;
 *     if (dis_incremental_read(NULL, "state.safetensors", &state) == DIS_OK) {
 *         dis_labels *changed;                 // votes: read with the classes of the view declared
 *         if (dis_incremental_append(NULL, state, votes, &changed, NULL) == DIS_OK) dis_labels_destroy(changed);
 *         dis_incremental_destroy(state);
 *     } */
#ifndef DIS_INCREMENTAL_H
#define DIS_INCREMENTAL_H
#include "dissent/labels.h"
#include "dissent/votes.h"

typedef struct dis_incremental dis_incremental;

/* Writes a state: votes, and p (n_items, n_classes), their labels by method dawid-skene with its defaults. DIS_EDATA:
 * votes without workers. DIS_EIO, DIS_ELIMIT. */
DIS_API dis_status dis_incremental_write(dis_context *ctx, const dis_votes *votes, const double *p, const char *path);
/* DIS_EDATA: no such state, or a damaged one. Each block is verified when it is first read. */
DIS_API dis_status dis_incremental_read(dis_context *ctx, const char *path, dis_incremental **out);
DIS_API void dis_incremental_destroy(dis_incremental *state);

typedef struct {
    size_t n_items, n_workers, n_classes;
    const dis_names *classes; /* new votes are read with these declared */
} dis_incremental_view;
DIS_VIEW_API(dis_incremental);

typedef struct {
    size_t n_items, n_workers, n_votes; /* of the state */
    size_t n_new_items, n_new_workers;  /* that it does not know */
    size_t n_old_votes;                 /* on items that got new ones */
    int iterations;
    double max_change; /* of the last round: the largest change of a probability */
} dis_incremental_notes;

/* Labels of the items that `more` has votes on, in the order of `more`, from all votes on them. `notes` may be NULL.
 * DIS_EDATA: a worker votes again on an item, other classes, a damaged state. */
DIS_API dis_status dis_incremental_append(dis_context *ctx, const dis_incremental *state, const dis_votes *more,
                                          dis_labels **out, dis_incremental_notes *notes);

/* All votes in one table, for a refit: those of the state, then those of `more`, whose new items and workers follow
 * those of the state. DIS_EDATA as above; a worker's second vote on an item follows `duplicates`. */
DIS_API dis_status dis_incremental_merge_votes(dis_context *ctx, const dis_incremental *state, const dis_votes *more,
                                               dis_duplicates duplicates, dis_votes **out);

#endif
