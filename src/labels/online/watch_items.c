/* Open items of a watch: a pool of slots, reused in the order last freed first, and a hash table with linear probing,
 * at most half full. Cost: O(1) per item that is found, opened or closed. */
#include "labels/online/watch_internal.h"
#include "core/memory/memory.h"
#include <string.h>

static size_t home(const dis_watch *w, uint64_t hash)
{
    return (size_t)hash & w->mask;
}

size_t dis__watch_find_slot(const dis_watch *w, uint64_t hash, const char *name, size_t n)
{
    size_t s = home(w, hash);
    for (; w->slot[s] != DIS_WATCH_NONE; s = (s + 1) & w->mask) {
        const dis__open_item *item = &w->item[w->slot[s] - 1];
        if (item->hash == hash && item->n_name == n && memcmp(item->name, name, n) == 0) break;
    }
    return s;
}

static dis_status grow_slots(dis_watch *w)
{
    enum { FIRST = 256 };
    const size_t n = w->slot ? 2 * (w->mask + 1) : FIRST;
    uint32_t *slot;
    DIS_TRY(dis__watch_check_memory(w, n * sizeof *slot));
    DIS_TRY(dis__alloc_zeroed(&slot, n, sizeof *slot));
    for (size_t i = 0; i < w->n_places; i++) {
        if (!w->item[i].name) continue;
        size_t s = (size_t)w->item[i].hash & (n - 1);
        while (slot[s] != DIS_WATCH_NONE) s = (s + 1) & (n - 1);
        slot[s] = (uint32_t)(i + 1);
    }
    dis__free(w->slot);
    w->slot = slot;
    w->mask = n - 1;
    return DIS_OK;
}

/* Finds a free slot of the pool, without claiming it. */
static dis_status find_place(dis_watch *w, size_t *out)
{
    enum { FIRST = 64 };
    *out = w->first_free;
    if (w->first_free < w->n_places) return DIS_OK;
    if (w->n_places == w->capacity) {
        const size_t n = w->capacity ? w->capacity + w->capacity / 2 : FIRST, row = w->row;
        if (n >= UINT32_MAX) return dis__fail(DIS_ELIMIT, "more than %zu open items", w->capacity);
        DIS_TRY(dis__watch_check_memory(w, dis__watch_pool_bytes(w, n, row)));
        DIS_TRY(dis__resize_array(&w->item, w->n_places, n, sizeof *w->item));
        DIS_TRY(dis__resize_array(&w->p, w->n_places * row, dis__saturating_size(n, row, 0), sizeof *w->p));
        w->capacity = n;
    }
    w->item[w->n_places] = (dis__open_item){.next_free = w->n_places + 1};
    *out = w->n_places;
    return DIS_OK;
}

dis_status dis__watch_add_item(dis_watch *w, uint64_t hash, const char *name, size_t n, size_t *out)
{
    enum { FIRST = 4 };
    size_t i;
    char *copy;
    dis__incremental_vote *vote;
    const size_t bytes = n + 1 + FIRST * sizeof *vote + 2 * (size_t)DIS_WATCH_BLOCK;
    DIS_TRY(dis__watch_check_memory(w, bytes));
    if (2 * (w->n_open + 1) > w->mask) DIS_TRY(grow_slots(w));
    DIS_TRY(find_place(w, &i));
    DIS_TRY(dis__alloc_array(&vote, FIRST, sizeof *vote));
    const dis_status status = dis__copy_text(&copy, name, n);
    if (status != DIS_OK) {
        dis__free(vote);
        return status;
    }
    if (i == w->n_places) w->n_places++;
    w->first_free = w->item[i].next_free;
    w->item[i] = (dis__open_item){
        .hash = hash, .name = copy, .n_name = (uint32_t)n, .serial = w->n_items++, .vote = vote, .capacity = FIRST};
    memset(w->p + i * w->row, 0, w->row * sizeof *w->p);
    w->slot[dis__watch_find_slot(w, hash, name, n)] = (uint32_t)(i + 1);
    w->n_open++;
    w->blocks_bytes += bytes;
    *out = i;
    return DIS_OK;
}

/* Entries after it in its probe sequence move up, so that each remains reachable. */
void dis__watch_remove_item(dis_watch *w, size_t i)
{
    dis__open_item *item = &w->item[i];
    size_t hole = dis__watch_find_slot(w, item->hash, item->name, item->n_name);
    for (size_t s = (hole + 1) & w->mask; w->slot[s] != DIS_WATCH_NONE; s = (s + 1) & w->mask) {
        const size_t from = home(w, w->item[w->slot[s] - 1].hash);
        if (((s - from) & w->mask) < ((s - hole) & w->mask)) continue;
        w->slot[hole] = w->slot[s];
        hole = s;
    }
    w->slot[hole] = DIS_WATCH_NONE;
    w->votes_open -= item->n_votes;
    w->n_open--;
    w->blocks_bytes -= item->n_name + 1 + item->capacity * sizeof *item->vote + 2 * (size_t)DIS_WATCH_BLOCK;
    dis__free(item->name);
    dis__free(item->vote);
    *item = (dis__open_item){.next_free = w->first_free};
    w->first_free = i;
}
