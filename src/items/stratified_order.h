/* stratified_order.h: rows in a random order, then by label: the line from which folds and held-out parts are dealt. */
#ifndef DIS_ITEMS_STRATIFIED_ORDER_H
#define DIS_ITEMS_STRATIFIED_ORDER_H
#include "core/error.h"

/* Shuffles the n rows of `line` by the seed; `draw` tells draws of one seed apart. With `label` (by row, NULL: none)
 * they are then put in order of their labels, those without one (below 0) after all others, and stay shuffled within a
 * label: what is dealt in turn, or taken at equal steps, has every label in the same share to within one row. Cost:
 * linear. */
dis_status dis__stratified_order(uint64_t seed, uint64_t draw, const int32_t *label, size_t n_classes, size_t *line,
                                 size_t n);

#endif
