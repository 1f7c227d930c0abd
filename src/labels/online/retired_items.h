/* retired_items.h: items that are done, known again by a hash: a hash and a label each, no names.
 *
 *     dis__retired_items done = {.remember = 0};
 *     DIS_TRY(dis__retired_items_add(&done, hash, label));
 *     if (dis__retired_items_find(&done, hash, &label)) ...
 *
 * With `remember` above 0 the set is bounded: it holds the last `remember` items at least, and at most twice as many.
 * */
#ifndef DIS_LABELS_RETIRED_H
#define DIS_LABELS_RETIRED_H
#include "core/error.h"

typedef struct {
    uint64_t *hash;  /* (mask + 1); 0: free */
    uint16_t *label; /* (mask + 1) */
    size_t mask, n;
} dis__retired_table;

typedef struct {
    uint64_t remember;             /* 0: all */
    dis__retired_table young, old; /* old: full, and forgotten as soon as young is */
} dis__retired_items;

/* An item that is not there yet. */
dis_status dis__retired_items_add(dis__retired_items *set, uint64_t hash, uint16_t label);
/* Whether it is there, and the label it has. */
bool dis__retired_items_find(const dis__retired_items *set, uint64_t hash, size_t *label);
void dis__retired_items_destroy(dis__retired_items *set);

#endif
