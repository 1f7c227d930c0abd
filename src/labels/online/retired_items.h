/* retired_items.h: retired items, as a hash and a label each, without names.
 *
 *     dis__retired_items done = {.remember = 0};
 *     DIS_TRY(dis__retired_items_add(&done, hash, label));
 *     if (dis__retired_items_find(&done, hash, &label)) ...
 *
 * With `remember` above 0 the set is bounded: it contains at least the last `remember` items, and at most twice as
 * many.
 * */
#ifndef DIS_LABELS_RETIRED_ITEMS_H
#define DIS_LABELS_RETIRED_ITEMS_H
#include "core/error.h"

typedef struct {
    uint64_t *hash;  /* (mask + 1); 0: free */
    uint16_t *label; /* (mask + 1) */
    size_t mask, n;
} dis__retired_table;

typedef struct {
    uint64_t remember;             /* 0: unbounded */
    dis__retired_table young, old; /* old: full, discarded when young is full */
} dis__retired_items;

/* Adds an item that is not in the set. */
dis_status dis__retired_items_add(dis__retired_items *set, uint64_t hash, uint16_t label);
/* Whether it is in the set, and its label. */
bool dis__retired_items_find(const dis__retired_items *set, uint64_t hash, size_t *label);
void dis__retired_items_destroy(dis__retired_items *set);

#endif
