/* The order from which splits are assigned: Fisher and Yates' shuffle, then a stable counting sort by label. */
#include "items/stratified_order.h"
#include "core/memory/memory.h"
#include "core/random/random.h"
#include <string.h>

static void shuffle(uint64_t seed, uint64_t draw, size_t *line, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)dis__random_below(seed, DIS_STREAM_SPLIT | draw << 32, i, i), held = line[i - 1];
        line[i - 1] = line[j];
        line[j] = held;
    }
}

/* first (k + 1) zeroed, order (n). */
static void sort(const int32_t *label, size_t k, size_t *line, size_t n, size_t *first, size_t *order)
{
    for (size_t i = 0; i < n; i++) first[(label[line[i]] < 0 ? k - 1 : (size_t)label[line[i]]) + 1]++;
    for (size_t c = 0; c < k; c++) first[c + 1] += first[c];
    for (size_t i = 0; i < n; i++) order[first[label[line[i]] < 0 ? k - 1 : (size_t)label[line[i]]]++] = line[i];
    memcpy(line, order, n * sizeof *line);
}

dis_status dis__stratified_order(uint64_t seed, uint64_t draw, const int32_t *label, size_t n_classes, size_t *line,
                                 size_t n)
{
    shuffle(seed, draw, line, n);
    if (!label || n == 0) return DIS_OK;
    size_t *first, *order;
    DIS_TRY(dis__alloc_zeroed(&first, n_classes + 2, sizeof *first));
    const dis_status status = dis__alloc_array(&order, n, sizeof *order);
    if (status == DIS_OK) {
        sort(label, n_classes + 1, line, n, first, order);
        dis__free(order);
    }
    dis__free(first);
    return status;
}
