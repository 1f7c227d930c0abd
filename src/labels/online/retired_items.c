/* A set of 64-bit hashes with a label each: open addressing with linear probing, at most 3/4 full and then doubled, so
 * 13 to 27 bytes per item. Among N items a new one is mistaken for a retired one with probability N / 2^64.
 *
 * A bounded set is two tables: when the young one has `remember` items it becomes the old one, and the previous old one
 * is discarded. */
#include "labels/online/retired_items.h"
#include "core/memory/memory.h"

enum { FIRST = 256 };

/* 0 marks a free slot. */
static uint64_t mark(uint64_t hash)
{
    return hash ? hash : 1;
}

/* The slot of the hash, or the free one for it. */
static size_t seek(const dis__retired_table *t, uint64_t hash)
{
    size_t i = (size_t)hash & t->mask;
    while (t->hash[i] && t->hash[i] != hash) i = (i + 1) & t->mask;
    return i;
}

static void part_free(dis__retired_table *t)
{
    dis__free(t->hash);
    dis__free(t->label);
    *t = (dis__retired_table){0};
}

static dis_status grow(dis__retired_table *t)
{
    const size_t old = t->hash ? t->mask + 1 : 0, n = old ? 2 * old : FIRST;
    dis__retired_table larger = {.mask = n - 1, .n = t->n};
    dis_status status = dis__alloc_zeroed(&larger.hash, n, sizeof *larger.hash);
    if (status == DIS_OK) status = dis__alloc_array(&larger.label, n, sizeof *larger.label);
    if (status != DIS_OK) {
        part_free(&larger);
        return status;
    }
    for (size_t i = 0; i < old; i++) {
        if (!t->hash[i]) continue;
        const size_t to = seek(&larger, t->hash[i]);
        larger.hash[to] = t->hash[i];
        larger.label[to] = t->label[i];
    }
    part_free(t);
    *t = larger;
    return DIS_OK;
}

dis_status dis__retired_items_add(dis__retired_items *set, uint64_t hash, uint16_t label)
{
    if (set->remember && set->young.n >= set->remember) {
        part_free(&set->old);
        set->old = set->young;
        set->young = (dis__retired_table){0};
    }
    dis__retired_table *t = &set->young;
    if (!t->hash || 4 * (t->n + 1) > 3 * (t->mask + 1)) DIS_TRY(grow(t));
    const size_t i = seek(t, mark(hash));
    t->n += !t->hash[i];
    t->hash[i] = mark(hash);
    t->label[i] = label;
    return DIS_OK;
}

static bool find(const dis__retired_table *t, uint64_t hash, size_t *label)
{
    if (t->n == 0) return false;
    const size_t i = seek(t, hash);
    if (!t->hash[i]) return false;
    *label = t->label[i];
    return true;
}

bool dis__retired_items_find(const dis__retired_items *set, uint64_t hash, size_t *label)
{
    return find(&set->young, mark(hash), label) || find(&set->old, mark(hash), label);
}

void dis__retired_items_destroy(dis__retired_items *set)
{
    part_free(&set->young);
    part_free(&set->old);
}
