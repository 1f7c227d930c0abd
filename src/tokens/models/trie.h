/* trie.h: texts to numbers, found byte by byte: vocabularies, added tokens.
 *
 *     dis__trie trie = {0};
 *     DIS_TRY(dis__trie_put(&trie, "ing", 3, 7));
 *     uint32_t value = dis__trie_get(&trie, "ing", 3);          // DIS_TRIE_NONE: not there
 *     dis__trie_free(&trie);
 *
 * A node is a number; where it leads by which byte stands in one open-addressed table for all nodes, so that building
 * costs no more than reading the texts. Threads: any number may look things up at once. */
#ifndef DIS_TOKENS_MODELS_TRIE_H
#define DIS_TOKENS_MODELS_TRIE_H
#include "core/error.h"

#define DIS_TRIE_NONE UINT32_MAX

typedef struct {
    uint64_t *slot;  /* (mask + 1): (node << 8 | byte) + 1 above 32 bits of the node it leads to; 0: free */
    uint32_t *value; /* (n_nodes) */
    size_t mask, n_nodes, capacity;
    uint64_t factor; /* random and odd, so that no vocabulary can make all its nodes collide */
} dis__trie;

/* The last value put for a text counts. DIS_ELIMIT. */
dis_status dis__trie_put(dis__trie *trie, const char *text, size_t n, uint32_t value);
uint32_t dis__trie_get(const dis__trie *trie, const char *text, size_t n);
void dis__trie_free(dis__trie *trie);

/* The slot of a key: mixed, then spread over the table, so that no key can be chosen for its slot. */
static inline size_t dis__trie_slot(uint64_t key, uint64_t factor, size_t mask)
{
    const uint64_t mixed = key * factor;
    return (size_t)(((mixed ^ mixed >> 32) * 0x9e3779b97f4a7c15u) >> 32) & mask;
}

/* A factor for hashing of what others choose. */
uint64_t dis__random_factor(void);

/* The node behind `node` (0: the root) by a byte; 0: there is none. */
static inline uint32_t dis__trie_step(const dis__trie *trie, uint32_t node, char byte)
{
    if (trie->n_nodes == 0) return 0;
    const uint32_t key = (node << 8 | (unsigned char)byte) + 1;
    for (size_t at = dis__trie_slot(key, trie->factor, trie->mask); trie->slot[at]; at = (at + 1) & trie->mask)
        if (trie->slot[at] >> 32 == key) return (uint32_t)trie->slot[at];
    return 0;
}

/* The longest text of the trie that the n bytes begin with: its value, *length its bytes. */
static inline uint32_t dis__trie_longest(const dis__trie *trie, const char *text, size_t n, size_t *length)
{
    uint32_t node = 0, value = DIS_TRIE_NONE;
    for (size_t i = 0; i < n && (node = dis__trie_step(trie, node, text[i])); i++)
        if (trie->value[node] != DIS_TRIE_NONE) {
            value = trie->value[node];
            *length = i + 1;
        }
    return value;
}

#endif
