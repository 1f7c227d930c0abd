/* ranks.h: the order of values and their ranks; ties share the mean of their positions. */
#ifndef DIS_STATS_RANKS_H
#define DIS_STATS_RANKS_H
#include "core/error.h"

/* A value and its original index. */
typedef struct {
    double value;
    size_t index;
} dis__indexed_value;

/* Sorts ascending by value; equal values keep their order. `spare` has room for n. The result is in `x`. No NaN; -0 and
 * 0 are equal. */
void dis__sort_indexed(dis__indexed_value *x, dis__indexed_value *spare, size_t n);

/* The number of entries equal to the first one of n > 0 sorted entries. */
size_t dis__tie_length(const dis__indexed_value *sorted, size_t n);

/* rank[i] = position of x[i] counted from 1; equal values share the mean of their positions, as scipy's rankdata.
 * `ties` (may be NULL) receives the sum of t^3 - t over groups of t equal values. DIS_ELIMIT. */
dis_status dis__ranks(const double *x, size_t n, double *rank, double *ties);

#endif
