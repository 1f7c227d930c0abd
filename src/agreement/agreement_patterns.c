/* Counts the patterns of votes: which exist, and how many items have each.
 *
 * A pattern is identified by a 128-bit hash: the sum over its votes of a random value for each class (drawn per
 * process, so votes cannot be chosen to collide; two patterns share one with a probability below 2^-90). Sums do not
 * depend on the order of votes, so an item is looked up without sorting, and only the first item of a pattern has its
 * votes tallied.
 *
 * Where items have few votes on few classes, even that is too slow: the labels of an item, each reduced to the bits it
 * needs, are packed into one short code that counts in a table directly (item_codes_kernel.c). At the end, the table is
 * converted to patterns.
 *
 * Items are divided into jobs by their number only, each with its own table. The tables are added in the order of the
 * jobs and the patterns sorted, so neither the threads nor the order of rows change the result.
 *
 * Ranks process their items, and exchange the patterns found.
 *
 * Cost: O(votes) and the sort of the patterns; memory: 8 bytes per tally and about 100 per pattern. */
#include "agreement/agreement_internal.h"
#include "agreement/item_codes.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/random/random.h"
#include "votes/ids/intern.h"
#include <stdlib.h>
#include <string.h>

enum { GRAIN = 1 << 18, MAX_JOBS = 64, CODE_BITS = 15, FIRST_SLOTS = 1024, BLOCK = 1024, WORD_BITS = 12 };

typedef struct {
    uint64_t a, b;
} name128;

typedef struct {
    uint64_t name; /* the first half */
    uint32_t at;   /* pattern + 1; 0: free */
} slot;

typedef struct {
    uint64_t first; /* tally */
    uint64_t items, votes;
    uint32_t n;
    name128 name;
} entry;

/* Patterns found so far. */
typedef struct {
    slot *slots;
    size_t n_slots; /* a power of two */
    entry *entries;
    size_t n, room;
    dis__tally *tallies;
    size_t n_tallies, tally_room;
} finder;

typedef struct {
    const dis_votes_view *votes;
    const name128 *key; /* (n_classes) */
    size_t n_jobs;
    finder *finders;  /* (n_jobs) */
    unsigned bits;    /* bits of a label in a code */
    size_t max_coded; /* maximum number of votes of an item with a code; 0: no item has one */
} search;

static void finder_free(finder *f)
{
    dis__free(f->slots);
    dis__free(f->entries);
    dis__free(f->tallies);
    *f = (finder){0};
}

static dis_status grow_slots(finder *f)
{
    const size_t n = f->n_slots ? 2 * f->n_slots : FIRST_SLOTS;
    slot *slots;
    DIS_TRY(dis__alloc_zeroed(&slots, n, sizeof *slots));
    for (size_t p = 0; p < f->n; p++) {
        size_t s = (size_t)f->entries[p].name.a & (n - 1);
        while (slots[s].at) s = (s + 1) & (n - 1);
        slots[s] = (slot){.name = f->entries[p].name.a, .at = (uint32_t)p + 1};
    }
    dis__free(f->slots);
    f->slots = slots;
    f->n_slots = n;
    return DIS_OK;
}

/* The pattern with this hash; NULL: not found. */
static inline entry *find(const finder *f, name128 name)
{
    if (!f->n_slots) return NULL;
    for (size_t s = (size_t)name.a & (f->n_slots - 1);; s = (s + 1) & (f->n_slots - 1)) {
        const slot *x = &f->slots[s];
        if (!x->at) return NULL;
        if (x->name == name.a && f->entries[x->at - 1].name.b == name.b) return &f->entries[x->at - 1];
    }
}

static int by_class(const void *a, const void *b)
{
    const uint32_t x = ((const dis__tally *)a)->class, y = ((const dis__tally *)b)->class;
    return (x > y) - (x < y);
}

static dis_status add(finder *f, name128 name, const dis__tally *tally, size_t n, uint64_t items)
{
    if (2 * f->n >= f->n_slots) DIS_TRY(grow_slots(f));
    if (f->n >= UINT32_MAX - 1)
        return dis__fail(DIS_ELIMIT, "more than %u different patterns of votes", UINT32_MAX - 1);
    DIS_TRY(dis__reserve(&f->entries, &f->room, f->n, f->n + 1, sizeof *f->entries));
    DIS_TRY(dis__reserve(&f->tallies, &f->tally_room, f->n_tallies, f->n_tallies + n, sizeof *f->tallies));
    dis__tally *to = n ? f->tallies + f->n_tallies : NULL;
    entry e = {.first = f->n_tallies, .items = items, .n = (uint32_t)n, .name = name};
    if (n) memcpy(to, tally, n * sizeof *to);
    for (size_t i = 0; i < n; i++) e.votes += to[i].count;
    if (n > 1) qsort(to, n, sizeof *to, by_class);
    f->n_tallies += n;
    size_t s = (size_t)name.a & (f->n_slots - 1);
    while (f->slots[s].at) s = (s + 1) & (f->n_slots - 1);
    f->slots[s] = (slot){.name = name.a, .at = (uint32_t)f->n + 1};
    f->entries[f->n++] = e;
    return DIS_OK;
}

static inline name128 plus(name128 x, name128 y)
{
    return (name128){x.a + y.a, x.b + y.b};
}

/* ---- one item ---- */

size_t dis__item_count_tallies(const dis_votes_view *votes, size_t i, uint32_t *count, dis__tally *out)
{
    size_t n = 0;
    if (votes->counts) {
        const double *c = votes->counts + i * votes->n_classes;
        for (size_t k = 0; k < votes->n_classes; k++)
            if (c[k] > 0) out[n++] = (dis__tally){.class = (uint32_t)k, .count = (uint32_t)c[k]};
        return n;
    }
    for (uint64_t v = votes->start[i]; v < votes->start[i + 1]; v++) {
        const uint32_t k = votes->label8 ? votes->label8[v] : votes->label16[v];
        if (count[k]++ == 0) out[n++].class = k;
    }
    for (size_t t = 0; t < n; t++) {
        out[t].count = count[out[t].class];
        count[out[t].class] = 0;
    }
    return n;
}

typedef struct {
    uint32_t *count;   /* (n_classes) zeros */
    dis__tally *tally; /* (n_classes) */
} scratch;

static dis_status count_item(const search *s, finder *f, size_t i, name128 name, const scratch *room)
{
    entry *e = find(f, name);
    if (e) {
        e->items++;
        return DIS_OK;
    }
    return add(f, name, room->tally, dis__item_count_tallies(s->votes, i, room->count, room->tally), 1);
}

/* Why the counts of an item are invalid. */
static dis_status wrong_counts(const dis_votes_view *v, size_t i)
{
    const double *c = v->counts + i * v->n_classes;
    for (size_t k = 0; k < v->n_classes; k++)
        if (!(c[k] <= UINT32_MAX && c[k] == (double)(uint32_t)c[k]) && c[k] <= UINT32_MAX)
            return dis__fail(
                DIS_EDATA,
                "item \"%.200s\", class \"%.200s\": a count of %g; agreement needs integer counts, not soft votes",
                dis_names_get(v->tasks, i, NULL), dis_names_get(v->classes, k, NULL), c[k]);
    return dis__fail(DIS_ELIMIT, "item \"%.200s\": more than %u votes", dis_names_get(v->tasks, i, NULL), UINT32_MAX);
}

static dis_status item_of_counts(const search *s, finder *f, size_t i, const scratch *room)
{
    const size_t n = s->votes->n_classes;
    const double *c = s->votes->counts + i * n;
    name128 name = {0, 0};
    double votes = 0;
    bool is_complete = true;
    for (size_t k = 0; k < n; k++) { /* branchless: which counts are 0 is unpredictable */
        const double capped = c[k] < UINT32_MAX ? c[k] : UINT32_MAX;
        const int64_t x = (int64_t)capped;
        is_complete &= (double)x == capped;
        votes += c[k];
        name = plus(name, (name128){(uint64_t)x * s->key[k].a, (uint64_t)x * s->key[k].b});
    }
    if (!is_complete || !(votes <= UINT32_MAX)) return wrong_counts(s->votes, i);
    return count_item(s, f, i, name, room);
}

static dis_status item_of_votes(const search *s, finder *f, size_t i, const scratch *room)
{
    const dis_votes_view *v = s->votes;
    name128 name = {0, 0};
    const uint64_t first = v->start[i], end = v->start[i + 1];
    if (end - first > UINT32_MAX) return dis__fail(DIS_ELIMIT, "more than %u votes on one item", UINT32_MAX);
    if (v->label8)
        for (uint64_t j = first; j < end; j++) name = plus(name, s->key[v->label8[j]]);
    else
        for (uint64_t j = first; j < end; j++) name = plus(name, s->key[v->label16[j]]);
    return count_item(s, f, i, name, room);
}

/* ---- items with codes ---- */

static dis_status code_items(const search *s, finder *f, size_t first, size_t last, uint32_t *table,
                             const scratch *room)
{
    const dis_votes_view *v = s->votes;
    size_t loadable = last; /* items before this one can load a full word of labels from their first vote */
    while (loadable > first && v->start[loadable - 1] + DIS_CODE_WORD > v->n_votes) loadable--;
    for (size_t i = first; i < last; i++) {
        if (i < loadable)
            i = DIS_KERNEL_SELECT(dis__code_items)(v->start, v->label8, i, loadable, s->bits, s->max_coded, table);
        if (i < last) DIS_TRY(item_of_votes(s, f, i, room));
    }
    return DIS_OK;
}

/* Adds a pattern of room->tally (n) with a count of items. */
static dis_status add_items(finder *f, name128 name, size_t n, uint64_t items, const scratch *room)
{
    entry *e = find(f, name);
    if (!e) return add(f, name, room->tally, n, items);
    e->items += items;
    return DIS_OK;
}

static dis_status decode(const search *s, finder *f, const uint32_t *table, size_t n_table, const scratch *room)
{
    for (size_t code = 1; code < n_table; code++) {
        if (!table[code]) continue;
        unsigned r = 0;
        while ((code >> (s->bits * (r + 1))) != 0) r++;
        name128 name = {0, 0};
        size_t n = 0;
        for (unsigned j = 0; j < r; j++) {
            const uint32_t k = (uint32_t)(code >> (s->bits * j)) & ((1u << s->bits) - 1);
            name = plus(name, s->key[k]);
            if (room->count[k]++ == 0) room->tally[n++].class = k;
        }
        for (size_t t = 0; t < n; t++) {
            room->tally[t].count = room->count[room->tally[t].class];
            room->count[room->tally[t].class] = 0;
        }
        DIS_TRY(add_items(f, name, n, table[code], room));
    }
    return DIS_OK;
}

/* ---- counts packed into words ---- */

/* Cache of packed counts, indexed by their hash; on a collision, the item is counted the usual way. */
typedef struct {
    uint64_t word[1 << WORD_BITS];
    uint64_t items[1 << WORD_BITS];
    uint8_t bytes[BLOCK * DIS_CODE_WORD + DIS_CODE_WORD];
} words;

static dis_status block_of_counts(const search *s, finder *f, size_t first, size_t last, words *w, const scratch *room)
{
    const size_t k = s->votes->n_classes;
    const uint64_t keep = k == DIS_CODE_WORD ? UINT64_MAX : ((uint64_t)1 << (8 * k)) - 1;
    const bool fit =
        DIS_KERNEL_SELECT(dis__counts_to_bytes)(s->votes->counts + first * k, (last - first) * k, w->bytes) != 0;
    for (size_t i = first; i < last; i++) {
        uint64_t word;
        memcpy(&word, w->bytes + (i - first) * k, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        word &= keep;
        const size_t at = (size_t)((word * 0x9e3779b97f4a7c15u) >> (64 - WORD_BITS));
        if (fit && (w->word[at] == word || w->items[at] == 0)) {
            w->word[at] = word;
            w->items[at]++;
        } else
            DIS_TRY(item_of_counts(s, f, i, room));
    }
    return DIS_OK;
}

static dis_status range_of_counts(const search *s, finder *f, size_t first, size_t last, const scratch *room)
{
    words *w;
    DIS_TRY(dis__alloc_zeroed(&w, 1, sizeof *w));
    dis_status status = DIS_OK;
    for (size_t i = first; i < last && status == DIS_OK; i += BLOCK)
        status = block_of_counts(s, f, i, last - i < BLOCK ? last : i + BLOCK, w, room);
    for (size_t at = 0; at < (size_t)1 << WORD_BITS && status == DIS_OK; at++) {
        name128 name = {0, 0};
        size_t n = 0;
        for (size_t k = 0; k < s->votes->n_classes; k++) {
            const uint32_t c = (uint32_t)(w->word[at] >> (8 * k)) & UINT8_MAX;
            name = plus(name, (name128){c * s->key[k].a, c * s->key[k].b});
            if (c) room->tally[n++] = (dis__tally){.class = (uint32_t)k, .count = c};
        }
        if (w->items[at]) status = add_items(f, name, n, w->items[at], room);
    }
    dis__free(w);
    return status;
}

/* ---- all items ---- */

static dis_status search_range(const search *s, finder *f, size_t first, size_t last, const scratch *room)
{
    if (s->votes->counts && s->votes->n_classes <= DIS_CODE_WORD) return range_of_counts(s, f, first, last, room);
    if (s->votes->counts) {
        for (size_t i = first; i < last; i++) DIS_TRY(item_of_counts(s, f, i, room));
        return DIS_OK;
    }
    if (!s->max_coded) {
        for (size_t i = first; i < last; i++) DIS_TRY(item_of_votes(s, f, i, room));
        return DIS_OK;
    }
    const size_t n_table = (size_t)2 << (s->bits * s->max_coded);
    uint32_t *table;
    DIS_TRY(dis__alloc_zeroed(&table, n_table, sizeof *table));
    dis_status status = code_items(s, f, first, last, table, room);
    if (status == DIS_OK) status = decode(s, f, table, n_table, room);
    dis__free(table);
    return status;
}

static dis_status search_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const search *s = arg;
    scratch room = {0};
    dis_status status = dis__alloc_zeroed(&room.count, s->votes->n_classes, sizeof *room.count);
    if (status == DIS_OK) status = dis__alloc_array(&room.tally, s->votes->n_classes, sizeof *room.tally);
    if (status == DIS_OK)
        status = search_range(s, &s->finders[j], dis__job_first(s->votes->n_items, s->n_jobs, j),
                              dis__job_first(s->votes->n_items, s->n_jobs, j + 1), &room);
    dis__free(room.count);
    dis__free(room.tally);
    return status;
}

static dis_status merge_one(finder *all, const entry *e, const dis__tally *tally)
{
    entry *known = find(all, e->name);
    if (!known) return add(all, e->name, tally, e->n, e->items);
    known->items += e->items;
    return DIS_OK;
}

/* Adds the other finders to finders[0]. */
static dis_status merge(const search *s)
{
    finder *all = &s->finders[0];
    for (size_t j = 1; j < s->n_jobs; j++) {
        finder *f = &s->finders[j];
        for (size_t p = 0; p < f->n; p++) DIS_TRY(merge_one(all, &f->entries[p], f->tallies + f->entries[p].first));
        finder_free(f);
    }
    return DIS_OK;
}

/* The patterns of another rank: entries, each followed by its tallies. */
static dis_status merge_block(finder *all, const dis__comm_block *from)
{
    for (size_t at = 0; at < from->n;) {
        entry e;
        memcpy(&e, from->bytes + at, sizeof e);
        at += sizeof e;
        DIS_TRY(merge_one(all, &e, (const dis__tally *)(const void *)(from->bytes + at)));
        at += e.n * sizeof(dis__tally);
    }
    return DIS_OK;
}

/* finders[0] of all ranks, merged on each rank. */
static dis_status merge_ranks(const dis__comm *comm, finder *own)
{
    dis__comm_block mine = {0}, *from = NULL;
    finder all = {0};
    dis_status status = dis__alloc_zeroed(&from, (size_t)comm->size, sizeof *from);
    for (size_t p = 0; p < own->n && status == DIS_OK; p++) {
        const entry *e = &own->entries[p];
        status = dis__comm_block_append(&mine, e, sizeof *e);
        if (status == DIS_OK)
            status = dis__comm_block_append(&mine, own->tallies + e->first, e->n * sizeof *own->tallies);
    }
    if (status == DIS_OK) status = dis__comm_allgather_blocks(comm, mine.bytes, mine.n, from);
    for (int r = 0; r < comm->size && status == DIS_OK; r++) status = merge_block(&all, &from[r]);
    dis__free(mine.bytes);
    dis__comm_blocks_free(comm, from);
    finder_free(own);
    *own = all;
    return status;
}

static int by_pattern(const void *a, const void *b)
{
    const dis__vote_pattern *x = a, *y = b;
    if (x->votes != y->votes) return x->votes < y->votes ? -1 : 1;
    const size_t n = x->n < y->n ? x->n : y->n;
    for (size_t i = 0; i < n; i++) {
        if (x->tally[i].class != y->tally[i].class) return x->tally[i].class < y->tally[i].class ? -1 : 1;
        if (x->tally[i].count != y->tally[i].count) return x->tally[i].count > y->tally[i].count ? -1 : 1;
    }
    return (x->n > y->n) - (x->n < y->n);
}

static dis_status fill_patterns(finder *f, bool singles, dis__vote_patterns *out)
{
    DIS_TRY(dis__alloc_array(&out->pattern, f->n, sizeof *out->pattern));
    for (size_t p = 0; p < f->n; p++) {
        const entry *e = &f->entries[p];
        out->votes += e->items * e->votes;
        if (e->votes >= 2) {
            out->compared += e->items;
            out->votes_compared += e->items * e->votes;
        } else if (e->votes == 1)
            out->singles += e->items;
        else
            out->empty += e->items;
        if (e->votes >= 2 || (e->votes == 1 && singles))
            out->pattern[out->n++] =
                (dis__vote_pattern){.tally = f->tallies + e->first, .n = e->n, .votes = e->votes, .items = e->items};
    }
    out->tallies = f->tallies;
    f->tallies = NULL;
    if (out->n > 1) qsort(out->pattern, out->n, sizeof *out->pattern, by_pattern);
    return DIS_OK;
}

static dis_status run_search(dis_context *ctx, search *s, name128 *key)
{
    const dis__comm *comm = dis__context_comm(ctx);
    dis__secret secret = dis__secret_draw();
    if (dis__comm_is_parallel(comm)) DIS_TRY(dis__comm_broadcast(comm, &secret, sizeof secret, 0));
    for (size_t k = 0; k < s->votes->n_classes; k++)
        key[k] = (name128){dis__random(secret.word[0], secret.word[1], 2 * k),
                           dis__random(secret.word[2], secret.word[3], 2 * k + 1)};
    DIS_TRY(dis__run_jobs(ctx, s->n_jobs, search_job, s));
    DIS_TRY(merge(s));
    return dis__comm_is_parallel(comm) ? merge_ranks(comm, &s->finders[0]) : DIS_OK;
}

dis_status dis__vote_patterns_create(dis_context *ctx, const dis_votes_view *votes, bool singles,
                                     dis__vote_patterns *out)
{
    *out = (dis__vote_patterns){0};
    search s = {.votes = votes, .n_jobs = dis__n_jobs(votes->n_items, GRAIN, MAX_JOBS)};
    if (votes->label8 && votes->n_classes <= 16) {
        for (s.bits = 1; (size_t)1 << s.bits < votes->n_classes;) s.bits++;
        s.max_coded = (CODE_BITS - 1) / s.bits < DIS_CODE_WORD ? (CODE_BITS - 1) / s.bits : DIS_CODE_WORD;
    }
    name128 *key = NULL;
    dis_status status = dis__alloc_zeroed(&s.finders, s.n_jobs, sizeof *s.finders);
    if (status == DIS_OK) status = dis__alloc_array(&key, votes->n_classes, sizeof *key);
    s.key = key;
    if (status == DIS_OK) status = run_search(ctx, &s, key);
    if (status == DIS_OK) status = fill_patterns(&s.finders[0], singles, out);
    for (size_t j = 0; s.finders && j < s.n_jobs; j++) finder_free(&s.finders[j]);
    dis__free(s.finders);
    dis__free(key);
    if (status != DIS_OK) dis__vote_patterns_destroy(out);
    return status;
}

void dis__vote_patterns_destroy(dis__vote_patterns *patterns)
{
    dis__free(patterns->pattern);
    dis__free(patterns->tallies);
    *patterns = (dis__vote_patterns){0};
}
