/* intern.h: maps texts to numbers, with unpredictable hashes.
 *
 * A key is a text in 32 bytes: up to 16 bytes of it are in the key itself (NUL never occurs in a text, so padding with
 * zeros is unambiguous), longer ones are referenced and must stay valid. Hashes are keyed by a random secret per call,
 * so a file cannot be constructed to collide; no result depends on the secret. */
#ifndef DIS_VOTES_IDS_INTERN_H
#define DIS_VOTES_IDS_INTERN_H
#include "core/error.h"
#include <string.h>

enum { DIS_KEY_INLINE = 16 };
#define DIS_KEY_NONE UINT32_MAX

typedef struct {
    uint64_t word[4];
} dis__secret;

typedef struct {
    uint64_t low;  /* the first 8 bytes */
    uint64_t high; /* the next 8 bytes, or the address of the text when it has more than 16 */
    uint64_t hash;
    uint32_t n;     /* bytes */
    uint32_t value; /* the caller's value; DIS_KEY_NONE in a free slot of a table */
} dis__key;

dis__secret dis__secret_draw(void);

/* The upper and the lower half of a product, combined (as in wyhash by Wang Yi): every bit depends on every bit. */
static inline uint64_t dis__mix(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t dis__load64(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

static inline uint64_t dis__hash_short(const dis__secret *s, uint64_t low, uint64_t high)
{
    return dis__mix(low ^ s->word[0], high ^ s->word[1]);
}

/* From 16 bytes padded with zeros. */
static inline dis__key dis__key_short(const dis__secret *s, uint64_t low, uint64_t high, size_t n)
{
    return (dis__key){.low = low, .high = high, .hash = dis__hash_short(s, low, high), .n = (uint32_t)n};
}

/* The key of any text; n < 2^32. */
dis__key dis__key_from_text(const dis__secret *secret, const char *text, size_t n);

static inline const char *dis__key_text(const dis__key *k)
{
    return k->n <= DIS_KEY_INLINE ? (const char *)k : (const char *)(uintptr_t)k->high;
}

static inline bool dis__key_equal(const dis__key *a, const dis__key *b)
{
    if (a->low != b->low || a->n != b->n) return false;
    if (a->high == b->high) return true;
    return a->n > DIS_KEY_INLINE && memcmp(dis__key_text(a), dis__key_text(b), a->n) == 0;
}

/* An open table from keys to the values within them. */
typedef struct {
    dis__key *slot; /* (n_slots) */
    size_t n_slots, n;
} dis__key_table;

/* The home slot of a hash: from the lower half of its bits, so that the upper ones may select a table. */
static inline size_t dis__hash_slot(uint64_t hash, size_t n_slots)
{
    return (size_t)((hash & 0xffffffffu) * n_slots >> 32);
}

/* The slot with the key, or the free one for it. The table must have slots. */
static inline size_t dis__key_table_slot(const dis__key_table *t, const dis__key *key)
{
    size_t i = dis__hash_slot(key->hash, t->n_slots);
    while (t->slot[i].value != DIS_KEY_NONE && !(t->slot[i].hash == key->hash && dis__key_equal(&t->slot[i], key)))
        i = i + 1 == t->n_slots ? 0 : i + 1;
    return i;
}
/* Enlarges the table: to the requested number of slots, or by its default growth. */
dis_status dis__key_table_resize(dis__key_table *table, size_t n_slots);
dis_status dis__key_table_grow(dis__key_table *table);
static inline bool dis__key_table_is_full(const dis__key_table *table)
{
    return table->n >= table->n_slots - table->n_slots / 4;
}

/* The existing key, NULL if it is absent. */
const dis__key *dis__key_table_find(const dis__key_table *table, const dis__key *key);
/* Finds the key, or adds it with its value and sets *fresh. The pointer is valid until the next call. */
dis_status dis__key_table_insert(dis__key_table *table, const dis__key *key, const dis__key **at, bool *fresh);
void dis__key_table_free(dis__key_table *table);

/* Storage for texts that outlive their source. */
typedef struct {
    char **block;
    size_t n_blocks, capacity, used, room;
} dis__arena;
dis_status dis__arena_copy(dis__arena *arena, const char *text, size_t n, const char **copy);
void dis__arena_free(dis__arena *arena);

#endif
