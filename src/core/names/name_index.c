/* Open addressing with linear probing, at most half full, over SipHash-1-3 under a random key. A slot keeps 24 bits of
 * the hash together with the index, so that a probe rarely compares a different name. Cost: O(n) to build, 16 to 32
 * bytes per name; about one cache miss in the table and one in the names for each lookup. Sorted lists are matched
 * without a hash table (name_order.h). */
#include "core/names/name_index.h"
#include "core/memory/memory.h"
#include "core/names/name_order.h"
#include "core/os/os.h"
#include <string.h>
#include <time.h>

#define INDEX_BITS 40
#define INDEX_MASK ((UINT64_C(1) << INDEX_BITS) - 1)

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

uint64_t dis__siphash(const uint64_t key[2], const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                     key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    uint64_t word;
    size_t left = n;
    for (; left >= 8; left -= 8, at += 8) {
        memcpy(&word, at, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    word = (uint64_t)n << 56;
    for (size_t i = 0; i < left; i++) word |= (uint64_t)at[i] << (8 * i);
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void dis__hash_key_draw(uint64_t key[2], const void *somewhere)
{
    if (dis__os_random(key, 2 * sizeof *key)) return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    key[0] = (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15);
    key[1] = (uint64_t)(uintptr_t)somewhere * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)now.tv_sec;
}

static uint64_t tag_of(uint64_t hash)
{
    return hash & ~INDEX_MASK;
}

/* The slot of a text: that of the equal name, or the free one for it. */
static size_t locate(const dis__name_index *index, uint64_t hash, const char *text, size_t n)
{
    for (size_t s = (size_t)hash & index->mask;; s = (s + 1) & index->mask) {
        const uint64_t slot = index->slot[s];
        if (slot == 0) return s;
        if (tag_of(slot) != tag_of(hash)) continue;
        size_t length;
        const char *name = dis_names_get(index->names, (size_t)((slot & INDEX_MASK) - 1), &length);
        if (length == n && memcmp(name, text, n) == 0) return s;
    }
}

dis_status dis__name_index_build(const dis_names *names, dis__name_index *out, size_t *twice)
{
    const size_t n = dis_names_count(names);
    size_t size = 16;
    while (size / 2 < n) size *= 2;
    dis__name_index index = {.names = names, .mask = size - 1};
    DIS_TRY(dis__alloc_zeroed(&index.slot, size, sizeof *index.slot));
    dis__hash_key_draw(index.key, index.slot);
    size_t first_twice = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t length;
        const char *name = dis_names_get(names, i, &length);
        const uint64_t hash = dis__siphash(index.key, name, length);
        const size_t s = locate(&index, hash, name, length);
        if (index.slot[s] == 0)
            index.slot[s] = tag_of(hash) | (i + 1);
        else if (first_twice == SIZE_MAX)
            first_twice = i;
    }
    *out = index;
    *twice = first_twice;
    return DIS_OK;
}

size_t dis__name_index_find(const dis__name_index *index, const char *text, size_t n)
{
    const uint64_t slot = index->slot[locate(index, dis__siphash(index->key, text, n), text, n)];
    return slot ? (size_t)((slot & INDEX_MASK) - 1) : SIZE_MAX;
}

void dis__name_index_free(dis__name_index *index)
{
    dis__free(index->slot);
    index->slot = NULL;
}

size_t dis__name_index_match(const dis__name_index *index, const dis_names *names, size_t *row)
{
    size_t found = 0;
    for (size_t i = 0; i < dis_names_count(names); i++) {
        size_t n;
        const char *name = dis_names_get(names, i, &n);
        row[i] = dis__name_index_find(index, name, n);
        found += row[i] != SIZE_MAX;
    }
    return found;
}

/* ---- lists that ascend ---- */

/* Notes the orders in which the names do not ascend; stops when all are ruled out, unless duplicates must be found. */
static void check_order(const dis_names *names, bool differ, bool broken[DIS_NAME_ORDERS])
{
    const char *before = "";
    size_t n_before = 0;
    for (size_t i = 0; i < dis_names_count(names) && !(broken[0] && broken[1]); i++) {
        size_t n;
        const char *name = dis_names_get(names, i, &n);
        if (i && !dis__name_differs(before, n_before, name, n, broken) && differ) broken[0] = broken[1] = true;
        before = name;
        n_before = n;
    }
}

/* Matches two sorted lists by merging; with `all`, stops at the first name of `to` that is missing. row: (may be NULL).
 * Returns the number of matches. */
static size_t merge(dis__name_order order, const dis_names *from, const dis_names *to, bool all, size_t *row)
{
    size_t at = 0, found = 0;
    for (size_t i = 0; i < dis_names_count(to); i++) {
        size_t n, n_other;
        const char *name = dis_names_get(to, i, &n);
        int way = -1;
        for (; at < dis_names_count(from); at++) {
            const char *other = dis_names_get(from, at, &n_other);
            way = dis__name_compare(order, other, n_other, name, n);
            if (way >= 0) break;
        }
        found += way == 0;
        if (row) row[i] = way == 0 ? at : SIZE_MAX;
        if (all && way != 0) break;
    }
    return found;
}

/* The first order in which both lists ascend without equal names; DIS_NAME_ORDERS: none. */
static dis__name_order common_order(const dis_names *from, const dis_names *to)
{
    bool broken[DIS_NAME_ORDERS] = {false, false};
    check_order(from, true, broken);
    check_order(to, false, broken);
    return !broken[DIS_ORDER_BYTES] ? DIS_ORDER_BYTES : !broken[DIS_ORDER_LENGTH] ? DIS_ORDER_LENGTH : DIS_NAME_ORDERS;
}

/* ---- matching ---- */

dis_status dis__names_match(const dis_names *from, const dis_names *to, size_t *row, size_t *found)
{
    dis__name_index index = {.slot = NULL};
    size_t n, twice;
    const dis__name_order order = common_order(from, to);
    if (order == DIS_NAME_ORDERS) DIS_TRY(dis__name_index_build(from, &index, &twice));
    n = index.slot ? dis__name_index_match(&index, to, row) : merge(order, from, to, false, row);
    if (found) *found = n;
    dis__name_index_free(&index);
    return DIS_OK;
}

dis_status dis__names_match_alloc(const dis_names *from, const dis_names *to, size_t **row, size_t *found)
{
    size_t *out;
    DIS_TRY(dis__alloc_array(&out, dis_names_count(to), sizeof *out));
    const dis_status status = dis__names_match(from, to, out, found);
    if (status == DIS_OK)
        *row = out;
    else
        dis__free(out);
    return status;
}

dis_status dis__names_find_missing(const dis_names *from, const dis_names *to, size_t *which)
{
    dis__name_index index;
    size_t twice;
    const dis__name_order order = common_order(to, from);
    if (order != DIS_NAME_ORDERS) {
        const size_t found = merge(order, to, from, true, NULL);
        *which = found < dis_names_count(from) ? found : SIZE_MAX;
        return DIS_OK;
    }
    DIS_TRY(dis__name_index_build(to, &index, &twice));
    *which = SIZE_MAX;
    for (size_t i = 0; i < dis_names_count(from) && *which == SIZE_MAX; i++) {
        size_t n;
        const char *name = dis_names_get(from, i, &n);
        if (dis__name_index_find(&index, name, n) == SIZE_MAX) *which = i;
    }
    dis__name_index_free(&index);
    return DIS_OK;
}

dis_status dis__names_find_duplicate(const dis_names *names, size_t *twice)
{
    dis__name_index index;
    bool broken[DIS_NAME_ORDERS] = {false, false};
    check_order(names, true, broken);
    *twice = SIZE_MAX;
    if (!broken[DIS_ORDER_BYTES] || !broken[DIS_ORDER_LENGTH]) return DIS_OK;
    DIS_TRY(dis__name_index_build(names, &index, twice));
    dis__name_index_free(&index);
    return DIS_OK;
}
