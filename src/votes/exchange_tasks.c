/* The numbers of tasks that several ranks have read: see exchange.h. A task's hash tells which rank, its home, knows who
 * had it first; those number their own in order, from where the ranks before end, and tell the others by way of the
 * homes. Cost per rank: its items three times (name, a flag, a number), and a table of its share of all tasks. */
#include "votes/exchange.h"
#include "core/memory.h"
#include "core/name_index.h"
#include "votes/ids/intern.h"

/* Each rank's tasks, to where their hash says. */
static dis_status ask_homes(dis__sharing *s)
{
    const dis_names *tasks = s->votes->tasks;
    for (size_t i = 0; i < s->votes->n_items; i++) {
        size_t n;
        const char *name = dis_names_get(tasks, i, &n);
        s->home[i] = (uint32_t)(dis__siphash(s->key, name, n) % s->size);
        DIS_TRY(dis__comm_put(&s->to[s->home[i]], name, n + 1));
    }
    return dis__sharing_exchange(s);
}

/* What one rank knows of the tasks whose hash is its own: their index by (rank, place), and numbers. */
typedef struct {
    uint32_t **index; /* (size) */
    size_t *n;        /* (size) */
    uint32_t *number; /* (unique) */
    size_t n_unique;
} home;

static void free_home(const dis__sharing *s, home *h)
{
    for (size_t r = 0; h->index && r < s->size; r++) dis__free(h->index[r]);
    dis__free(h->index);
    dis__free(h->n);
    dis__free(h->number);
}

/* Says of every task whether the asking rank is the first to have it. */
static dis_status answer_first(dis__sharing *s, home *h)
{
    const dis__secret secret = dis__secret_draw();
    dis__table table = {0};
    dis_status status = DIS_OK;
    for (size_t r = 0; r < s->size && status == DIS_OK; r++) {
        const char *at = s->from[r].bytes, *end = at + s->from[r].n;
        size_t capacity = 0;
        while (at < end && status == DIS_OK) {
            const size_t n = strlen(at);
            dis__key key = dis__key_of(&secret, at, n);
            const dis__key *found;
            bool fresh;
            key.value = (uint32_t)h->n_unique;
            status = dis__table_put(&table, &key, &found, &fresh);
            if (status == DIS_OK)
                status = dis__reserve(&h->index[r], &capacity, h->n[r], h->n[r] + 1, sizeof *h->index[r]);
            if (status != DIS_OK) break;
            h->index[r][h->n[r]++] = found->value;
            h->n_unique += fresh;
            status = dis__comm_put(&s->to[r], &fresh, 1);
            at += n + 1;
        }
    }
    dis__table_free(&table);
    if (status == DIS_OK) status = dis__sharing_exchange(s);
    return status == DIS_OK ? dis__alloc_array(&h->number, h->n_unique, sizeof *h->number) : status;
}

/* Numbers of the tasks that this rank had first, in their order; told to their homes. */
static dis_status number_own(dis__sharing *s)
{
    const size_t n = s->votes->n_items;
    size_t *at, n_first = 0;
    DIS_TRY(dis__alloc_zeroed(&at, s->size, sizeof *at));
    for (size_t i = 0; i < n; i++) n_first += s->is_first[i] = s->from[s->home[i]].bytes[at[s->home[i]]++] != 0;
    dis__free(at);
    DIS_TRY(dis__comm_all_counts(s->comm, n_first, s->all));
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
        DIS_TRY(dis__comm_put(&s->to[s->home[i]], &s->number[i], sizeof *s->number));
    }
    return dis__sharing_exchange(s);
}

/* Homes learn the numbers from who had a task first, and tell all. */
static dis_status answer_numbers(dis__sharing *s, home *h)
{
    uint32_t known = 0; /* tasks are met in the same order as when they were new */
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
            DIS_TRY(dis__comm_put(&s->to[r], &h->number[h->index[r][i]], sizeof *h->number));
    return dis__sharing_exchange(s);
}

static dis_status take_numbers(dis__sharing *s)
{
    size_t *at;
    DIS_TRY(dis__alloc_zeroed(&at, s->size, sizeof *at));
    for (size_t i = 0; i < s->votes->n_items; i++) {
        const uint32_t r = s->home[i];
        memcpy(&s->number[i], s->from[r].bytes + at[r], sizeof *s->number);
        at[r] += sizeof *s->number;
    }
    dis__free(at);
    return DIS_OK;
}

dis_status dis__sharing_number_tasks(dis__sharing *s)
{
    home h = {0};
    dis_status status = dis__alloc_zeroed(&h.index, s->size, sizeof *h.index);
    if (status == DIS_OK) status = dis__alloc_zeroed(&h.n, s->size, sizeof *h.n);
    if (status == DIS_OK) status = ask_homes(s);
    if (status == DIS_OK) status = answer_first(s, &h);
    if (status == DIS_OK) status = number_own(s);
    if (status == DIS_OK) status = answer_numbers(s, &h);
    if (status == DIS_OK) status = take_numbers(s);
    free_home(s, &h);
    return status;
}
