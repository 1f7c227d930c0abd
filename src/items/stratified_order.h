/* stratified_order.h: rows in random order, sorted by label: the order from which folds and held-out parts are
 * assigned. */
#ifndef DIS_ITEMS_STRATIFIED_ORDER_H
#define DIS_ITEMS_STRATIFIED_ORDER_H
#include "core/error.h"

/* Shuffles the n rows of `line` by the seed; `draw` distinguishes several shuffles of one seed. With `label` (by row,
 * NULL: none) they are then sorted by label, rows without one (below 0) last, and stay shuffled within a label. Parts
 * that are assigned in turn, or at equal steps, then contain every label in the same share to within one row. Cost:
 * linear. */
dis_status dis__stratified_order(uint64_t seed, uint64_t draw, const int32_t *label, size_t n_classes, size_t *line,
                                 size_t n);

#endif
