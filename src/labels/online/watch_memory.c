/* The memory of a watch: its arrays are accessed at random, so they stay in memory, and an allocation beyond `memory`
 * fails before it is made. The arrays of items, workers, classes and retired items count; while one grows, its old and
 * its new block both count. O(1). */
#include "labels/online/watch_internal.h"
#include "core/memory/memory.h"

static uint64_t part_bytes(const dis__retired_table *t)
{
    return t->hash ? (t->mask + 1) * (sizeof *t->hash + sizeof *t->label) : 0;
}

uint64_t dis__watch_worker_bytes(size_t n_workers, size_t row)
{
    return (uint64_t)dis__saturating_size(n_workers, dis__saturating_size(row, row, row), 0) * sizeof(double);
}

uint64_t dis__watch_pool_bytes(const dis_watch *w, size_t n_items, size_t row)
{
    return (uint64_t)n_items * (sizeof *w->item + row * sizeof *w->p);
}

uint64_t dis__watch_bytes(const dis_watch *w)
{
    const uint64_t items = dis__watch_pool_bytes(w, w->capacity, w->row) + w->blocks_bytes;
    const uint64_t slots = w->slot ? (w->mask + 1) * sizeof *w->slot : 0;
    const uint64_t keys = (w->classes.n_slots + w->workers.n_slots) * sizeof *w->workers.slot;
    return items + slots + keys + w->class_name.capacity + dis__watch_worker_bytes(w->model.capacity, w->model.row) +
           part_bytes(&w->done.young) + part_bytes(&w->done.old);
}

dis_status dis__watch_check_memory(const dis_watch *w, uint64_t more)
{
    const double mib = 1 << 20;
    const uint64_t have = dis__watch_bytes(w);
    if (!w->memory || (have <= w->memory && more <= w->memory - have)) return DIS_OK;
    return dis__fail(
        DIS_ELIMIT,
        "%zu open items with %zu votes, %zu workers and %zu classes would need %.4g MiB, and `memory` "
        "allows %.4g MiB; raise it, or close items earlier (`max_votes`) and remember fewer (`n_remembered`)",
        w->n_open, w->votes_open, w->model.n_workers, w->n_classes, ((double)have + (double)more) / mib,
        (double)w->memory / mib);
}

dis_status dis__watch_check_retired_memory(const dis_watch *w)
{
    const dis__retired_table *t = &w->done.young;
    const bool grows = t->hash && 4 * (t->n + 1) > 3 * (t->mask + 1);
    return grows ? dis__watch_check_memory(w, 2 * part_bytes(t)) : DIS_OK;
}
