/* Sends votes to the owners of their items: see vote_exchange.h. One exchange of parcels, one item each: its number,
 * its name from the first rank that has it, and workers and labels with their global indices (6 bytes per vote). */
#include "votes/ranks/vote_exchange.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include <string.h>

/* Header of a parcel, before its workers and labels. */
typedef struct {
    uint32_t item, n;
    uint32_t n_name; /* bytes including the NUL; 0: another rank sends it */
} parcel;

static inline size_t label_of(const dis_votes *votes, uint64_t v)
{
    return votes->label8 ? votes->label8[v] : votes->label16[v];
}

static parcel parcel_of(const dis__vote_exchange *s, size_t i, const char **name)
{
    const dis_votes *votes = s->votes;
    size_t n_name;
    *name = dis_names_get(votes->tasks, i, &n_name);
    return (parcel){.item = s->number[i],
                    .n = (uint32_t)(votes->start[i + 1] - votes->start[i]),
                    .n_name = s->is_first[i] ? (uint32_t)n_name + 1 : 0};
}

static inline uint64_t parcel_size(const parcel *p)
{
    return sizeof *p + p->n_name + p->n * 6ull;
}

/* Writes a parcel; there is room for it. */
static void send_item(const dis__vote_exchange *s, size_t i, dis__comm_block *to)
{
    const dis_votes *votes = s->votes;
    const char *name;
    const parcel p = parcel_of(s, i, &name);
    char *at = to->bytes + to->n;
    memcpy(at, &p, sizeof p);
    memcpy(at + sizeof p, name, p.n_name);
    at += sizeof p + p.n_name;
    for (uint64_t v = votes->start[i]; v < votes->start[i + 1]; v++, at += 6) {
        const uint32_t worker = s->worker_to[votes->worker[v]];
        const uint16_t label = (uint16_t)s->class_to[label_of(votes, v)];
        memcpy(at, &worker, sizeof worker);
        memcpy(at + sizeof worker, &label, sizeof label);
    }
    to->n += parcel_size(&p);
}

/* The owner of a task; `last` owned the previous one, which is often the same. */
static size_t owner_of(const dis__vote_exchange *s, uint32_t number, size_t last)
{
    size_t r = s->cut[last] <= number ? last : 0;
    while (r + 1 < s->part.n_owners && s->cut[r + 1] <= number) r++;
    return r;
}

/* Computes the sizes of the blocks, then fills them. */
dis_status dis__vote_exchange_send(dis__vote_exchange *s)
{
    const char *name;
    for (size_t i = 0, r = 0; i < s->votes->n_items; i++) {
        const parcel p = parcel_of(s, i, &name);
        r = owner_of(s, p.item, r);
        s->to[r].capacity += parcel_size(&p);
    }
    for (size_t r = 0; r < s->part.n_owners; r++) DIS_TRY(dis__alloc_array(&s->to[r].bytes, s->to[r].capacity, 1));
    for (size_t i = 0, r = 0; i < s->votes->n_items; i++) {
        r = owner_of(s, s->number[i], r);
        send_item(s, i, &s->to[r]);
    }
    return dis__vote_exchange_run(s);
}

/* Reads received parcels: `see` is called with each parcel and the bytes after it. */
typedef struct {
    dis__vote_exchange *s;
    uint64_t *next;       /* (n_items + 1) votes of an item: counts, then the offset of the next one */
    uint64_t *name_start; /* (n_items + 1) likewise, for bytes of names */
    char *names;
    dis_votes *out;
} receiving;

static void for_each_parcel(receiving *w,
                            void (*see)(receiving *w, const parcel *p, const char *name, const char *votes))
{
    for (size_t r = 0; r < w->s->size; r++)
        for (size_t at = 0; at < w->s->from[r].n;) {
            const char *bytes = w->s->from[r].bytes + at;
            parcel p;
            memcpy(&p, bytes, sizeof p);
            see(w, &p, bytes + sizeof p, bytes + sizeof p + p.n_name);
            at += sizeof p + p.n_name + p.n * 6ull;
        }
}

static void see_sizes(receiving *w, const parcel *p, const char *name, const char *votes)
{
    (void)name, (void)votes;
    const size_t i = p->item - w->s->part.first_item;
    w->next[i] += p->n;
    w->name_start[i] += p->n_name;
}

static void see_votes(receiving *w, const parcel *p, const char *name, const char *votes)
{
    const size_t i = p->item - w->s->part.first_item;
    memcpy(w->names + w->name_start[i], name, p->n_name);
    for (size_t k = 0; k < p->n; k++, votes += 6) {
        const uint64_t v = w->next[i]++;
        uint16_t label;
        memcpy(&w->out->worker[v], votes, 4);
        memcpy(&label, votes + 4, 2);
        if (w->out->label8)
            w->out->label8[v] = (uint8_t)label;
        else
            w->out->label16[v] = label;
    }
}

static uint64_t add_up(uint64_t *x, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= n; i++) {
        const uint64_t own = i < n ? x[i] : 0;
        x[i] = sum;
        sum += own;
    }
    return sum;
}

static dis_status receive_votes(receiving *w)
{
    dis_votes *out = w->out;
    const size_t n = out->n_items;
    DIS_TRY(dis__alloc_zeroed(&w->next, n + 1, sizeof *w->next));
    DIS_TRY(dis__alloc_zeroed(&w->name_start, n + 1, sizeof *w->name_start));
    for_each_parcel(w, see_sizes);
    out->n_votes = (size_t)add_up(w->next, n);
    const uint64_t n_bytes = add_up(w->name_start, n);
    DIS_TRY(dis__alloc_array(&out->start, n + 1, sizeof *out->start));
    memcpy(out->start, w->next, (n + 1) * sizeof *out->start);
    DIS_TRY(dis__alloc_array(&w->names, (size_t)n_bytes, 1));
    DIS_TRY(dis__alloc_array(&out->worker, out->n_votes, sizeof *out->worker));
    DIS_TRY(out->n_classes <= 256 ? dis__alloc_array(&out->label8, out->n_votes, sizeof *out->label8)
                                  : dis__alloc_array(&out->label16, out->n_votes, sizeof *out->label16));
    for_each_parcel(w, see_votes);
    DIS_TRY(dis__names_from_buffers(w->names, w->name_start, n, &out->tasks));
    w->names = NULL;
    w->name_start = NULL;
    return DIS_OK;
}

/* Replaces the table of this rank by the received one; notes stay. */
dis_status dis__vote_exchange_receive(dis__vote_exchange *s)
{
    const size_t rank = (size_t)s->comm->rank;
    const bool owner = rank < s->part.n_owners;
    dis_votes out = {.n_items = owner ? (size_t)(s->cut[rank + 1] - s->cut[rank]) : 0,
                     .n_workers = dis_names_count(s->workers),
                     .n_classes = dis_names_count(s->classes),
                     .part = s->part};
    receiving w = {.s = s, .out = &out};
    const dis_status status = receive_votes(&w);
    dis__free(w.next);
    dis__free(w.name_start);
    dis__free(w.names);
    dis_votes *votes = s->votes;
    dis_votes old = status == DIS_OK ? *votes : out;
    if (status == DIS_OK) {
        out.workers = s->workers;
        out.classes = s->classes;
        s->workers = s->classes = NULL;
        out.notes = votes->notes;
        memcpy(out.skipped, votes->skipped, sizeof out.skipped);
        out.n_skipped = votes->n_skipped;
        dis__votes_move_notes(votes, &out);
        out.fold_case = votes->fold_case;
        out.trim = votes->trim;
        *votes = out;
    }
    dis__free(old.start);
    dis__free(old.worker);
    dis__free(old.label8);
    dis__free(old.label16);
    dis_names_destroy(old.tasks);
    dis_names_destroy(old.workers);
    dis_names_destroy(old.classes);
    return status;
}
