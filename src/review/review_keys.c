/* Keys of items and workers from the votes alone: two rounds of hashing an item by who said what on it and a worker by
 * what they said on which items (Weisfeiler and Lehman's colours of a graph). Items with the same votes get different
 * keys by their order; which gets which makes no difference. Cost: four hashes a vote, two sorts. */
#include "core/random.h"
#include "review/review_sampler.h"
#include "labels/method.h"
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 2 };

typedef struct {
    uint64_t key, at;
} keyed;

static uint64_t mix(uint64_t a, uint64_t b)
{
    return dis__random(a, DIS_STREAM_REVIEW_ITEM, b);
}

static int by_key(const void *x, const void *y)
{
    const keyed *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static dis_status tell_apart(uint64_t *key, size_t n)
{
    keyed *order;
    DIS_TRY(dis__alloc_array(&order, n, sizeof *order));
    for (size_t i = 0; i < n; i++) order[i] = (keyed){key[i], i};
    qsort(order, n, sizeof *order, by_key);
    for (size_t r = 0, first = 0; r < n; r++) {
        if (order[r].key != order[first].key) first = r;
        if (r > first) key[order[r].at] = mix(order[r].key, r - first);
    }
    dis__free(order);
    return DIS_OK;
}

dis_status dis__sampler_keys(dis__sampler *s)
{
    const dis_votes_view *v = &s->m->votes;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < v->n_items; i++) {
            s->item_key[i] = 0;
            for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++)
                s->item_key[i] += mix(round ? s->worker_key[v->worker[a]] : 1, dis__vote_label(v, a));
        }
        memset(s->worker_key, 0, s->W * sizeof *s->worker_key);
        for (size_t i = 0; i < v->n_items; i++)
            for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++)
                s->worker_key[v->worker[a]] += mix(s->item_key[i], dis__vote_label(v, a));
    }
    DIS_TRY(tell_apart(s->item_key, v->n_items));
    return tell_apart(s->worker_key, s->W);
}
