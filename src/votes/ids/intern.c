/* Keys, hash tables and text storage. Tables use linear probing and grow by half at three quarters full, so large ones
 * have on average 1.6 slots per key: 51 bytes. */
#include "votes/ids/intern.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include <time.h>

dis__secret dis__secret_draw(void)
{
    dis__secret s;
    if (!dis__os_random(&s, sizeof s)) { /* without enough entropy shortly after boot: better than a constant */
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        uint64_t x = (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&s << 16;
        for (int i = 0; i < 4; i++)
            s.word[i] = x = dis__mix(x ^ 0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u + (uint64_t)i);
    }
    s.word[3] |= 1; /* never multiply by zero */
    return s;
}

dis__key dis__key_from_text(const dis__secret *s, const char *text, size_t n)
{
    if (n <= DIS_KEY_INLINE) {
        char padded[DIS_KEY_INLINE] = {0};
        memcpy(padded, text, n);
        return dis__key_short(s, dis__load64(padded), dis__load64(padded + 8), n);
    }
    uint64_t h = s->word[2] ^ n;
    size_t i = 0;
    for (; n - i > 16; i += 16)
        h = dis__mix(dis__load64(text + i) ^ s->word[0], dis__load64(text + i + 8) ^ s->word[1] ^ h);
    h = dis__mix(dis__load64(text + n - 16) ^ s->word[0], dis__load64(text + n - 8) ^ s->word[1] ^ h);
    return (dis__key){.low = dis__load64(text),
                      .high = (uint64_t)(uintptr_t)text,
                      .hash = dis__mix(h ^ s->word[2], s->word[3]),
                      .n = (uint32_t)n};
}

const dis__key *dis__key_table_find(const dis__key_table *table, const dis__key *key)
{
    if (table->n == 0) return NULL;
    const dis__key *k = &table->slot[dis__key_table_slot(table, key)];
    return k->value == DIS_KEY_NONE ? NULL : k;
}

dis_status dis__key_table_resize(dis__key_table *t, size_t n_slots)
{
    dis__key_table larger = {.n = t->n, .n_slots = n_slots};
    if (n_slots > UINT32_MAX) return dis__fail(DIS_ELIMIT, "more than %zu different names", t->n);
    DIS_TRY(dis__alloc_array(&larger.slot, n_slots, sizeof *larger.slot));
    for (size_t i = 0; i < n_slots; i++) larger.slot[i].value = DIS_KEY_NONE;
    for (size_t i = 0; i < t->n_slots; i++)
        if (t->slot[i].value != DIS_KEY_NONE) larger.slot[dis__key_table_slot(&larger, &t->slot[i])] = t->slot[i];
    dis__free(t->slot);
    *t = larger;
    return DIS_OK;
}

dis_status dis__key_table_grow(dis__key_table *t)
{
    enum { FIRST = 256, MANY = 1 << 18 };
    const size_t n_slots = t->n_slots < MANY ? 2 * t->n_slots : t->n_slots + t->n_slots / 2;
    return dis__key_table_resize(t, n_slots < FIRST ? FIRST : n_slots);
}

dis_status dis__key_table_insert(dis__key_table *table, const dis__key *key, const dis__key **at, bool *fresh)
{
    if (dis__key_table_is_full(table)) DIS_TRY(dis__key_table_grow(table));
    dis__key *slot = &table->slot[dis__key_table_slot(table, key)];
    *fresh = slot->value == DIS_KEY_NONE;
    if (*fresh) {
        *slot = *key;
        table->n++;
    }
    *at = slot;
    return DIS_OK;
}

void dis__key_table_free(dis__key_table *table)
{
    dis__free(table->slot);
    *table = (dis__key_table){0};
}

dis_status dis__arena_copy(dis__arena *arena, const char *text, size_t n, const char **copy)
{
    enum { BLOCK = 1 << 16 };
    if (n > arena->room - arena->used || arena->n_blocks == 0) {
        DIS_TRY(
            dis__reserve(&arena->block, &arena->capacity, arena->n_blocks, arena->n_blocks + 1, sizeof *arena->block));
        const size_t room = n > BLOCK ? n : BLOCK;
        DIS_TRY(dis__alloc_array(&arena->block[arena->n_blocks], room, 1));
        arena->n_blocks++;
        arena->used = 0;
        arena->room = room;
    }
    char *to = arena->block[arena->n_blocks - 1] + arena->used;
    if (n) memcpy(to, text, n);
    arena->used += n;
    *copy = to;
    return DIS_OK;
}

void dis__arena_free(dis__arena *arena)
{
    for (size_t i = 0; i < arena->n_blocks; i++) dis__free(arena->block[i]);
    dis__free(arena->block);
    *arena = (dis__arena){0};
}
