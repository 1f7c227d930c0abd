/* A trie in a hash table: one slot per node but the root, twice as many slots as nodes. */
#include "tokens/models/trie.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"

enum { FIRST_NODES = 256, MAX_NODES = 1 << 24 };

static void place(uint64_t *slot, size_t mask, uint64_t factor, uint64_t entry)
{
    size_t at = dis__trie_slot(entry >> 32, factor, mask);
    while (slot[at]) at = (at + 1) & mask;
    slot[at] = entry;
}

static dis_status grow(dis__trie *trie)
{
    const size_t capacity = trie->capacity ? 2 * trie->capacity : FIRST_NODES;
    if (capacity > MAX_NODES)
        return dis__fail(DIS_ELIMIT, "a vocabulary with more than %d different beginnings of tokens", MAX_NODES);
    uint64_t *slot;
    DIS_TRY(dis__alloc_zeroed(&slot, 2 * capacity, sizeof *slot));
    const dis_status status = dis__resize_array(&trie->value, trie->capacity, capacity, sizeof *trie->value);
    if (status != DIS_OK) {
        dis__free(slot);
        return status;
    }
    if (!trie->slot) trie->factor = dis__random_factor();
    for (size_t i = 0; trie->slot && i <= trie->mask; i++)
        if (trie->slot[i]) place(slot, 2 * capacity - 1, trie->factor, trie->slot[i]);
    dis__free(trie->slot);
    trie->slot = slot;
    trie->mask = 2 * capacity - 1;
    trie->capacity = capacity;
    return DIS_OK;
}

uint64_t dis__random_factor(void)
{
    uint64_t key[2] = {0};
    dis__hash_key_draw(key, key);
    return key[0] | 1;
}

static uint32_t new_node(dis__trie *trie)
{
    trie->value[trie->n_nodes] = DIS_TRIE_NONE;
    return (uint32_t)trie->n_nodes++;
}

dis_status dis__trie_put(dis__trie *trie, const char *text, size_t n, uint32_t value)
{
    if (trie->n_nodes == 0) {
        DIS_TRY(grow(trie));
        new_node(trie);
    }
    uint32_t node = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t next = dis__trie_step(trie, node, text[i]);
        if (!next) {
            if (trie->n_nodes == trie->capacity) DIS_TRY(grow(trie));
            next = new_node(trie);
            const uint32_t key = (node << 8 | (unsigned char)text[i]) + 1;
            place(trie->slot, trie->mask, trie->factor, (uint64_t)key << 32 | next);
        }
        node = next;
    }
    trie->value[node] = value;
    return DIS_OK;
}

uint32_t dis__trie_get(const dis__trie *trie, const char *text, size_t n)
{
    uint32_t node = 0;
    if (trie->n_nodes == 0) return DIS_TRIE_NONE;
    for (size_t i = 0; i < n; i++)
        if (!(node = dis__trie_step(trie, node, text[i]))) return DIS_TRIE_NONE;
    return trie->value[node];
}

void dis__trie_free(dis__trie *trie)
{
    dis__free(trie->slot);
    dis__free(trie->value);
    *trie = (dis__trie){0};
}
