/* batches.h: which units go through the network together, in which order: a function of seed and epoch.
 *
 * Units are shuffled; within ranges of some batches those of like length are put together, so that little is padded,
 * unless a model packs them; then the batches are shuffled. Or all epochs have the batches of the first, or those of
 * the file in its order. */
#ifndef DIS_TRAIN_BATCHES_H
#define DIS_TRAIN_BATCHES_H
#include "train/model.h"

typedef enum {
    DIS_BATCH_ORDER_SHUFFLED,
    DIS_BATCH_ORDER_FIXED,
    DIS_BATCH_ORDER_FILE,
    DIS_N_BATCH_ORDERS
} dis__batch_order;
/* By name; NULL: shuffled. DIS_EUSAGE. */
dis_status dis__batch_order_find(const char *name, dis__batch_order *out);

typedef struct {
    dis__batch_order kind;
    uint32_t *all;  /* units that take part */
    uint32_t *unit; /* the same in the order of the epoch */
    size_t n_units;
    size_t *first; /* (n_units + 1): batch b has units first[b] .. first[b + 1] - 1, in order[] */
    size_t *order; /* (n_units): which of these comes b-th */
    size_t n;      /* batches */
} dis__batches;

/* used: (n_items); a unit takes part when one of its items does. */
dis_status dis__batches_init(const dis__encoded_items *encoded, const bool *used, dis__batches *out);
void dis__batches_begin_epoch(dis__batches *b, const dis__encoded_items *encoded, const dis__batch_limits *limits,
                              uint64_t seed, uint64_t epoch);
void dis__batches_free(dis__batches *b);

/* Batch i of the epoch. */
static inline const uint32_t *dis__batch_units(const dis__batches *b, size_t i, size_t *n)
{
    const size_t which = b->order[i];
    *n = b->first[which + 1] - b->first[which];
    return b->unit + b->first[which];
}

#endif
