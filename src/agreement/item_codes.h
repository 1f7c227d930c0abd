/* item_codes.h: the votes of an item as one short number. */
#ifndef DIS_AGREEMENT_AGREEMENT_KERNEL_H
#define DIS_AGREEMENT_AGREEMENT_KERNEL_H
#include "core/kernel.h"
#include <stddef.h>
#include <stdint.h>

enum { DIS_CODE_WORD = 8 }; /* labels that are loaded at once */

/* Counts the codes of the items first .. last - 1 in table, as far as they have codes; returns the first item that has
 * none because it has more than `max` votes, or `last`. The code of r labels below 2^bits is their bits, the first
 * label lowest, below a 1. Eight labels must be readable from the first vote of every item on; bits * most < 32. */
DIS_KERNEL_DECLARE(size_t, dis__code_items,
                   (const uint64_t *start, const uint8_t *label, size_t first, size_t last, unsigned bits, size_t max,
                    uint32_t *table));
/* n counts as bytes; false, with bytes that mean nothing, when one is no integer or above 255. */
DIS_KERNEL_DECLARE(int, dis__counts_to_bytes, (const double *count, size_t n, uint8_t *out));

#endif
