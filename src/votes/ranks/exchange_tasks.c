/* Numbers the tasks of several ranks: see vote_exchange.h. A task's hash determines its home rank, which knows the
 * first rank that has it. Ranks number the tasks that they have first, in order, from the end of the previous rank on,
 * and send the numbers to the others via the home ranks. Cost per rank: its items three times (name, a flag, a number),
 * and a table of its share of all tasks. Names that ascend over all ranks, as in a sorted file, need none of this: only
 * adjacent ranks can share a task. */
#include "votes/ranks/vote_exchange.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "votes/ids/intern.h"

/* Sends each rank's tasks to their home ranks. */
static dis_status ask_homes(dis__vote_exchange *s)
{
    const dis_names *tasks = s->votes->tasks;
    for (size_t i = 0; i < s->votes->n_items; i++) {
        size_t n;
        const char *name = dis_names_get(tasks, i, &n);
        s->directory_rank[i] = (uint32_t)(dis__siphash(s->key, name, n) % s->size);
        DIS_TRY(dis__comm_block_append(&s->to[s->directory_rank[i]], name, n + 1));
    }
    return dis__vote_exchange_run(s);
}

/* Tasks whose home is this rank: their index by (rank, position), and numbers. */
typedef struct {
    uint32_t **index; /* (size) */
    size_t *n;        /* (size) */
    uint32_t *number; /* (unique) */
    size_t n_unique;
} directory_rank;

static void free_home(const dis__vote_exchange *s, directory_rank *h)
{
    for (size_t r = 0; h->index && r < s->size; r++) dis__free(h->index[r]);
    dis__free(h->index);
    dis__free(h->n);
    dis__free(h->number);
}

/* Replies for every task whether the asking rank is the first one that has it. */
static dis_status answer_first(dis__vote_exchange *s, directory_rank *h)
{
    const dis__secret secret = dis__secret_draw();
    dis__key_table table = {0};
    dis_status status = DIS_OK;
    for (size_t r = 0; r < s->size && status == DIS_OK; r++) {
        const char *at = s->from[r].bytes, *end = at + s->from[r].n;
        size_t capacity = 0;
        while (at < end && status == DIS_OK) {
            const size_t n = strlen(at);
            dis__key key = dis__key_from_text(&secret, at, n);
            const dis__key *found;
            bool fresh;
            key.value = (uint32_t)h->n_unique;
            status = dis__key_table_insert(&table, &key, &found, &fresh);
            if (status == DIS_OK)
                status = dis__reserve(&h->index[r], &capacity, h->n[r], h->n[r] + 1, sizeof *h->index[r]);
            if (status != DIS_OK) break;
            h->index[r][h->n[r]++] = found->value;
            h->n_unique += fresh;
            status = dis__comm_block_append(&s->to[r], &fresh, 1);
            at += n + 1;
        }
    }
    dis__key_table_free(&table);
    if (status == DIS_OK) status = dis__vote_exchange_run(s);
    return status == DIS_OK ? dis__alloc_array(&h->number, h->n_unique, sizeof *h->number) : status;
}

/* Numbers the tasks that this rank had first, in order; sends them to their homes. */
static dis_status number_own(dis__vote_exchange *s)
{
    const size_t n = s->votes->n_items;
    size_t *at, n_first = 0;
    DIS_TRY(dis__alloc_zeroed(&at, s->size, sizeof *at));
    for (size_t i = 0; i < n; i++)
        n_first += s->is_first[i] = s->from[s->directory_rank[i]].bytes[at[s->directory_rank[i]]++] != 0;
    dis__free(at);
    DIS_TRY(dis__comm_allgather_counts(s->comm, n_first, s->all));
    uint64_t next = 0;
    s->part.n_items = 0;
    for (size_t r = 0; r < s->size; r++) {
        if (r < (size_t)s->comm->rank) next += s->all[r];
        s->part.n_items += (size_t)s->all[r];
    }
    if (s->part.n_items > DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u tasks", DIS_MAX_IDS);
    for (size_t i = 0; i < n; i++) {
        if (!s->is_first[i]) continue;
        s->number[i] = (uint32_t)next++;
        DIS_TRY(dis__comm_block_append(&s->to[s->directory_rank[i]], &s->number[i], sizeof *s->number));
    }
    return dis__vote_exchange_run(s);
}

/* Homes receive the numbers from the first rank of each task, and send them to all. */
static dis_status answer_numbers(dis__vote_exchange *s, directory_rank *h)
{
    uint32_t known = 0; /* tasks occur in the same order as when they were new */
    for (size_t r = 0; r < s->size; r++) {
        const char *at = s->from[r].bytes;
        for (size_t i = 0; i < h->n[r]; i++) {
            if (h->index[r][i] != known) continue;
            memcpy(&h->number[known++], at, sizeof *h->number);
            at += sizeof *h->number;
        }
    }
    for (size_t r = 0; r < s->size; r++)
        for (size_t i = 0; i < h->n[r]; i++)
            DIS_TRY(dis__comm_block_append(&s->to[r], &h->number[h->index[r][i]], sizeof *h->number));
    return dis__vote_exchange_run(s);
}

static dis_status receive_numbers(dis__vote_exchange *s)
{
    size_t *at;
    DIS_TRY(dis__alloc_zeroed(&at, s->size, sizeof *at));
    for (size_t i = 0; i < s->votes->n_items; i++) {
        const uint32_t r = s->directory_rank[i];
        memcpy(&s->number[i], s->from[r].bytes + at[r], sizeof *s->number);
        at[r] += sizeof *s->number;
    }
    dis__free(at);
    return DIS_OK;
}

/* ---- names that ascend ---- */

enum { BY_BYTES = 1, BY_LENGTH = 2 }; /* orders, as flags */

static unsigned orders_of(const char *a, size_t n_a, const char *b, size_t n_b, bool same)
{
    const int c = memcmp(a, b, n_a < n_b ? n_a : n_b);
    if (c == 0 && n_a == n_b) return same ? BY_BYTES | BY_LENGTH : 0;
    return (c < 0 || (c == 0 && n_a < n_b) ? BY_BYTES : 0u) | (n_a < n_b || (n_a == n_b && c < 0) ? BY_LENGTH : 0u);
}

/* Summary of the names of a rank: the orders in which they ascend, their number, the first and the last. */
typedef struct {
    uint64_t orders, n;
} ends;

static dis_status share_ends(dis__vote_exchange *s)
{
    const dis_names *tasks = s->votes->tasks;
    ends e = {.orders = BY_BYTES | BY_LENGTH, .n = s->votes->n_items};
    dis__comm_block own = {0};
    size_t n_before = 0, n = 0;
    const char *before = NULL, *name = NULL;
    for (size_t i = 0; i < s->votes->n_items; i++, before = name, n_before = n) {
        name = dis_names_get(tasks, i, &n);
        if (i) e.orders &= orders_of(before, n_before, name, n, false);
        if (e.orders == 0) break;
    }
    dis_status status = dis__comm_block_append(&own, &e, sizeof e);
    for (size_t k = 0; k < 2 && e.n && e.orders && status == DIS_OK; k++) {
        name = dis_names_get(tasks, k ? s->votes->n_items - 1 : 0, &n);
        status = dis__comm_block_append(&own, name, n + 1);
    }
    for (size_t r = 0; r < s->size; r++) {
        dis__free(s->from[r].bytes);
        s->from[r] = (dis__comm_block){0};
    }
    if (status == DIS_OK) status = dis__comm_allgather_blocks(s->comm, own.bytes, own.n, s->from);
    dis__free(own.bytes);
    return status;
}

/* Whether names ascend over all ranks. Then *next: the number of this rank's first new task, and *again whether the
 * previous rank has the first one too. */
static bool they_ascend(dis__vote_exchange *s, uint64_t *next, bool *again)
{
    uint64_t orders = BY_BYTES | BY_LENGTH, n_all = 0;
    const char *last = NULL;
    for (size_t r = 0; r < s->size && orders; r++) {
        ends e;
        memcpy(&e, s->from[r].bytes, sizeof e);
        orders &= e.orders;
        if (e.n == 0 || orders == 0) continue;
        const char *first = s->from[r].bytes + sizeof e;
        const bool twice = last && strcmp(last, first) == 0;
        if (last) orders &= orders_of(last, strlen(last), first, strlen(first), true);
        if (r == (size_t)s->comm->rank) {
            *next = n_all;
            *again = twice;
        }
        n_all += e.n - twice;
        last = first + strlen(first) + 1;
    }
    s->part.n_items = (size_t)n_all;
    return orders != 0;
}

static dis_status number_ascending(dis__vote_exchange *s, bool *done)
{
    uint64_t next = 0;
    bool again = false;
    DIS_TRY(share_ends(s));
    *done = they_ascend(s, &next, &again);
    if (!*done) return DIS_OK;
    if (s->part.n_items > DIS_MAX_IDS) return dis__fail(DIS_ELIMIT, "more than %u tasks", DIS_MAX_IDS);
    for (size_t i = 0; i < s->votes->n_items; i++) {
        s->is_first[i] = i || !again;
        s->number[i] = (uint32_t)(next + i - again);
    }
    return DIS_OK;
}

dis_status dis__vote_exchange_number_tasks(dis__vote_exchange *s)
{
    directory_rank h = {0};
    bool done;
    DIS_TRY(number_ascending(s, &done));
    if (done) return DIS_OK;
    dis_status status = dis__alloc_zeroed(&h.index, s->size, sizeof *h.index);
    if (status == DIS_OK) status = dis__alloc_zeroed(&h.n, s->size, sizeof *h.n);
    if (status == DIS_OK) status = ask_homes(s);
    if (status == DIS_OK) status = answer_first(s, &h);
    if (status == DIS_OK) status = number_own(s);
    if (status == DIS_OK) status = answer_numbers(s, &h);
    if (status == DIS_OK) status = receive_numbers(s);
    free_home(s, &h);
    return status;
}
