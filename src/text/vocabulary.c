/* Maps words to ids: counted in an open-addressing table with a random key (results do not depend on it), then
 * sorted. */
#include "text/vocabulary.h"
#include "core/memory/memory.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024 };

static size_t hash_of(const dis__vocabulary *v, const char *word, size_t n)
{
    return (size_t)dis__siphash(v->key, word, n);
}

static const char *seen_word(const dis__vocabulary *v, size_t i, size_t *n)
{
    *n = (size_t)(v->seen.start[i + 1] - v->seen.start[i] - 1);
    return v->seen.bytes + v->seen.start[i];
}

static dis_status grow(dis__vocabulary *v)
{
    const size_t size = v->slot ? 2 * (v->mask + 1) : FIRST_SLOTS;
    uint32_t *slot;
    DIS_TRY(dis__alloc_zeroed(&slot, size, sizeof *slot));
    if (!v->slot) dis__hash_key_draw(v->key, slot);
    for (size_t i = 0; i < v->seen.n; i++) {
        size_t n, at;
        const char *word = seen_word(v, i, &n);
        for (at = hash_of(v, word, n) & (size - 1); slot[at]; at = (at + 1) & (size - 1)) {}
        slot[at] = (uint32_t)i + 1;
    }
    dis__free(v->slot);
    v->slot = slot;
    v->mask = size - 1;
    return DIS_OK;
}

dis_status dis__vocabulary_count(dis__vocabulary *v, const char *word, size_t n)
{
    if (!v->slot || v->seen.n * 2 > v->mask) DIS_TRY(grow(v));
    size_t at = hash_of(v, word, n) & v->mask;
    for (; v->slot[at]; at = (at + 1) & v->mask) {
        size_t length;
        const char *have = seen_word(v, v->slot[at] - 1, &length);
        if (length == n && memcmp(have, word, n) == 0) {
            v->count[v->slot[at] - 1]++;
            return DIS_OK;
        }
    }
    if (v->seen.n >= DIS_MAX_WORDS) return dis__fail(DIS_ELIMIT, "more than %u different words", DIS_MAX_WORDS);
    DIS_TRY(dis__reserve(&v->count, &v->count_room, v->seen.n, v->seen.n + 1, sizeof *v->count));
    DIS_TRY(dis__name_list_add(&v->seen, word, n));
    v->count[v->seen.n - 1] = 1;
    v->slot[at] = (uint32_t)v->seen.n;
    return DIS_OK;
}

typedef struct {
    uint64_t count;
    const char *word;
    size_t n;
} entry;

static int more_often_first(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    const int order = memcmp(x->word, y->word, x->n < y->n ? x->n : y->n);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

static dis_status finish(dis__vocabulary *v, dis__name_list *entries_kept)
{
    dis_names *words;
    if (entries_kept->n == 0)
        DIS_TRY(dis__reserve(&entries_kept->start, &entries_kept->start_capacity, 0, 1, sizeof *entries_kept->start));
    if (entries_kept->n == 0) entries_kept->start[0] = 0;
    DIS_TRY(dis__name_list_move(entries_kept, &words));
    size_t twice;
    const dis_status status = dis__name_index_build(words, &v->index, &twice);
    if (status != DIS_OK) {
        dis_names_destroy(words);
        return status;
    }
    v->words = words;
    return twice == SIZE_MAX
               ? DIS_OK
               : dis__fail(DIS_EDATA, "the word \"%.100s\" is repeated", dis_names_get(words, twice, NULL));
}

dis_status dis__vocabulary_finish(dis__vocabulary *v, uint64_t min, size_t max)
{
    entry *entries;
    size_t n = 0;
    DIS_TRY(dis__alloc_array(&entries, v->seen.n, sizeof *entries));
    for (size_t i = 0; i < v->seen.n; i++)
        if (v->count[i] >= min) {
            entry *e = &entries[n++];
            e->count = v->count[i];
            e->word = seen_word(v, i, &e->n);
        }
    qsort(entries, n, sizeof *entries, more_often_first);
    dis__name_list entries_kept = {0};
    dis_status status = DIS_OK;
    for (size_t i = 0; i < n && i < max && status == DIS_OK; i++)
        status = dis__name_list_add(&entries_kept, entries[i].word, entries[i].n);
    if (status == DIS_OK) status = finish(v, &entries_kept);
    dis__name_list_free(&entries_kept);
    dis__free(entries);
    return status;
}

dis_status dis__vocabulary_from_words(const dis_names *words, dis__vocabulary *v)
{
    dis__name_list entries_kept = {0};
    dis_status status = DIS_OK;
    *v = (dis__vocabulary){0};
    for (size_t i = 0; i < dis_names_count(words) && status == DIS_OK; i++) {
        size_t n;
        const char *word = dis_names_get(words, i, &n);
        status = dis__name_list_add(&entries_kept, word, n);
    }
    if (status == DIS_OK) status = finish(v, &entries_kept);
    dis__name_list_free(&entries_kept);
    if (status != DIS_OK) dis__vocabulary_free(v);
    return status;
}

int32_t dis__vocabulary_find(const dis__vocabulary *v, const char *word, size_t n)
{
    if (!v->words) return DIS_UNKNOWN;
    const size_t i = dis__name_index_find(&v->index, word, n);
    return i == SIZE_MAX ? DIS_UNKNOWN : (int32_t)(i + 1);
}

size_t dis__vocabulary_size(const dis__vocabulary *v)
{
    return (v->words ? dis_names_count(v->words) : 0) + 1; /* none: a model without words */
}

void dis__vocabulary_free(dis__vocabulary *v)
{
    dis_names_destroy(v->words);
    dis__name_index_free(&v->index);
    dis__name_list_free(&v->seen);
    dis__free(v->count);
    dis__free(v->slot);
    *v = (dis__vocabulary){0};
}
