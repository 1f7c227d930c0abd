/* The order of training: Fisher-Yates over counter-based random numbers, then a stable sort by length within ranges of
 * STRETCH batches. O(n log n) per epoch. */
#include "train/loop/batches.h"
#include "core/random/random.h"
#include <stdlib.h>
#include <string.h>

enum { STRETCH = 32 }; /* batches whose units are sorted by length together */

void dis__batches_free(dis__batches *b)
{
    dis__free(b->all);
    dis__free(b->unit);
    dis__free(b->first);
    dis__free(b->order);
    *b = (dis__batches){0};
}

dis_status dis__batch_order_find(const char *name, dis__batch_order *out)
{
    static const char *const names[DIS_N_BATCH_ORDERS] = {"shuffled", "fixed", "file"};
    *out = DIS_BATCH_ORDER_SHUFFLED;
    for (int i = 0; name && i < DIS_N_BATCH_ORDERS; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = (dis__batch_order)i;
        return DIS_OK;
    }
    return name ? dis__fail(DIS_EUSAGE, "order: \"%.60s\" must be shuffled, fixed or file", name) : DIS_OK;
}

static size_t items_of(const dis__encoded_items *e, size_t u)
{
    return e->unit ? (size_t)(e->unit[u + 1] - e->unit[u]) : 1;
}

static bool contributes(const dis__encoded_items *e, const bool *used, size_t u)
{
    const size_t first = e->unit ? (size_t)e->unit[u] : u;
    for (size_t i = 0; i < items_of(e, u); i++)
        if (used[first + i]) return true;
    return false;
}

dis_status dis__batches_init(const dis__encoded_items *encoded, const bool *used, dis__batches *out)
{
    dis__batches b = {0};
    const size_t n = encoded->n_units;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&b.all, n, sizeof *b.all), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&b.unit, n, sizeof *b.unit), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&b.first, n + 1, sizeof *b.first), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&b.order, n, sizeof *b.order), end);
    for (size_t u = 0; u < n; u++)
        if (contributes(encoded, used, u)) b.all[b.n_units++] = (uint32_t)u;
    *out = b;
    return DIS_OK;
end:
    dis__batches_free(&b);
    return status;
}

#define SHUFFLE(array, n, seed, stream)                                        \
    for (size_t i_ = (n); i_ > 1; i_--) {                                      \
        const size_t j_ = (size_t)dis__random_below((seed), (stream), i_, i_); \
        const __typeof__(*(array)) held_ = (array)[i_ - 1];                    \
        (array)[i_ - 1] = (array)[j_];                                         \
        (array)[j_] = held_;                                                   \
    }

/* Sorts by length, keeping the order of equal ones: counting would need as many counters as the longest has ids, and
 * the stretches are short. */
static void sort_by_length(uint32_t *unit, size_t n, const uint32_t *length, uint32_t *room)
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t at = 0; at < n; at += 2 * width) {
            size_t a = at, b = at + width < n ? at + width : n, out = at;
            const size_t a_end = b, b_end = at + 2 * width < n ? at + 2 * width : n;
            while (a < a_end || b < b_end)
                room[out++] = b >= b_end || (a < a_end && length[unit[a]] <= length[unit[b]]) ? unit[a++] : unit[b++];
        }
        memcpy(unit, room, n * sizeof *unit);
    }
}

void dis__batches_begin_epoch(dis__batches *b, const dis__encoded_items *encoded, const dis__batch_limits *limits,
                              uint64_t seed, uint64_t epoch)
{
    const bool as_read = b->kind == DIS_BATCH_ORDER_FILE;
    if (b->kind == DIS_BATCH_ORDER_FIXED) epoch = 0;
    const uint64_t by_unit = DIS_STREAM_TRAIN_ORDER | epoch << 33, by_batch = by_unit | UINT64_C(1) << 32;
    memcpy(b->unit, b->all, b->n_units * sizeof *b->unit);
    SHUFFLE(b->unit, as_read ? 0 : b->n_units, seed, by_unit)
    if (encoded->length && !encoded->packed && !as_read) {
        /* `order` has room for a stretch and is not needed yet. */
        const size_t max = STRETCH * limits->units;
        for (size_t at = 0; at < b->n_units; at += max) {
            const size_t n = b->n_units - at < max ? b->n_units - at : max;
            sort_by_length(b->unit + at, n, encoded->length, (uint32_t *)b->order);
        }
    }
    b->n = 0;
    size_t items = 0;
    b->first[0] = 0;
    for (size_t i = 0; i < b->n_units; i++) {
        const size_t n = items_of(encoded, b->unit[i]), begun = i - b->first[b->n];
        if (begun && (begun == limits->units || items + n > limits->items)) {
            b->first[++b->n] = i;
            items = 0;
        }
        items += n;
    }
    b->first[++b->n] = b->n_units;
    for (size_t i = 0; i < b->n; i++) b->order[i] = i;
    SHUFFLE(b->order, as_read ? 0 : b->n, seed, by_batch)
}
