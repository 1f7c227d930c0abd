/* item_codes.h: the votes of an item packed into one short integer. */
#ifndef DIS_AGREEMENT_ITEM_CODES_H
#define DIS_AGREEMENT_ITEM_CODES_H
#include "core/kernel.h"
#include <stddef.h>
#include <stdint.h>

enum { DIS_CODE_WORD = 8 }; /* labels that are loaded at once */

/* Counts the codes of the items first .. last - 1 in table; returns the first item without a code, because it has more
 * than `max` votes, or `last`. The code of r labels below 2^bits is their bits, the first label lowest, followed by a 1
 * bit. Eight labels must be readable from the first vote of every item; bits * max < 32. */
DIS_KERNEL_DECLARE(size_t, dis__code_items,
                   (const uint64_t *start, const uint8_t *label, size_t first, size_t last, unsigned bits, size_t max,
                    uint32_t *table));
/* Packs n counts into bytes; false, with undefined bytes, if one is not an integer or is above 255. */
DIS_KERNEL_DECLARE(int, dis__counts_to_bytes, (const double *count, size_t n, uint8_t *out));

#endif
