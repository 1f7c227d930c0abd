/* recurrent_layout.h: which steps a recurrent layer takes, and where their numbers lie.
 *
 * Rows are sequences of different lengths. Over values every position of a row is a step of its own, and rows go by
 * length, the longest first, so that those which a time has are the first of their block. Over ids rows that begin
 * alike share what they have in common, as "tree" and "trees" do, and backwards those that end alike; rows are sorted
 * then, so that such rows are neighbours. In a batch of words a fifth to a third of all steps go. Where less than an
 * eighth would, as in sentences, rows go by length.
 *
 *     dis__recurrent_layout layout;
 *     dis__recurrent_lay_out(&rows, direction, memory, &layout);
 *
 * Cost: O(positions), and O(rows log rows) comparisons of rows. */
#ifndef DIS_NN_LAYERS_RECURRENT_LAYOUT_H
#define DIS_NN_LAYERS_RECURRENT_LAYOUT_H
#include "nn/ops.h"

typedef struct {
    size_t n_rows, n_times;
    const int32_t *length; /* (rows); NULL or too large: n_times */
    const int32_t *ids;    /* (rows, n_times); NULL: over values, from[] has row and time */
} dis__recurrent_rows;

/* Number of integers of a layout; SIZE_MAX: overflow. */
size_t dis__recurrent_layout_size(size_t n_rows, size_t n_times);
void dis__recurrent_lay_out(const dis__recurrent_rows *rows, size_t direction, int32_t *memory,
                            dis__recurrent_layout *layout);
/* Number of nodes rounded up to a multiple of `round`, at most all positions: padding nodes belong to no step. */
void dis__recurrent_pad(const dis__recurrent_rows *rows, size_t round, dis__recurrent_layout *layout);

#endif
