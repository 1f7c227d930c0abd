/* Votes that several ranks have read, shared out: see votes_internal.h.
 *
 *   names    of workers and classes go to all ranks, which merge them in the order of ranks: first appearance
 *   tasks    go to a rank each by their hash, which tells who had one first; those number their own in order, from
 *   where
 *            the ranks before end, and tell the others by the same way
 *   cuts     votes per item, added up by ranges of items: where the shards of a pass begin (dis__votes_shards)
 *   votes    go to the owner of their item, with the name of the item from who had it first: one exchange
 *
 * Cost per rank: its votes once (6 bytes each), its items four times (name, two flags or numbers, count). */
#include "core/comm.h"
#include "core/memory.h"
#include "core/name_index.h"
#include "core/names_build.h"
#include "core/pool.h"
#include "votes/class_order.h"
#include "votes/ids/intern.h"
#include "votes/votes_internal.h"

typedef struct {
    const dis__comm *comm;
    size_t size; /* ranks */
    dis_votes *votes;
    dis__comm_block *to, *from; /* (size) */
    uint64_t *all;              /* (size) */
    uint32_t *worker_to, *class_to;
    dis_names *workers, *classes;
    uint64_t key[2];
    uint32_t *home;   /* (n_items) the rank that knows about a task */
    uint32_t *number; /* (n_items) of the task in the whole */
    bool *is_first;   /* (n_items) nobody before had it */
    dis__votes_part part;
    uint64_t *cut, *cut_vote; /* (n_owners + 1) first items, and their first votes */
} sharing;

static dis_status exchange(sharing *s)
{
    for (size_t r = 0; r < s->size; r++) {
        dis__free(s->from[r].bytes);
        s->from[r] = (dis__comm_block){0};
    }
    return dis__comm_exchange(s->comm, s->to, s->from);
}

/* ---- names ---- */

/* Lists one behind the other, each name with its NUL. to (n of this rank): where each of its names went. */
static dis_status merge_names(sharing *s, const dis_names *own, uint32_t *to, dis_names **out)
{
    const dis__secret secret = dis__secret_draw();
    const size_t n_own = dis_names_count(own);
    dis__name_list list = {0};
    dis__table table = {0};
    for (size_t r = 0; r < s->size; r++) {
        dis__free(s->from[r].bytes);
        s->from[r] = (dis__comm_block){0};
    }
    dis_status status = dis__comm_gather(s->comm, own->bytes, n_own ? (size_t)own->start[n_own] : 0, s->from);
    for (size_t r = 0; r < s->size && status == DIS_OK; r++) {
        const char *at = s->from[r].bytes, *end = at + s->from[r].n;
        for (size_t i = 0; at < end && status == DIS_OK; i++) {
            const size_t n = strlen(at);
            dis__key key = dis__key_of(&secret, at, n);
            const dis__key *found;
            bool fresh;
            key.value = (uint32_t)list.n;
            status = dis__table_put(&table, &key, &found, &fresh);
            if (status == DIS_OK && r == (size_t)s->comm->rank) to[i] = found->value;
            if (status == DIS_OK && fresh) status = dis__name_list_add(&list, at, n);
            at += n + 1;
        }
    }
    if (status == DIS_OK) status = dis__name_list_finish(&list, out);
    dis__name_list_free(&list);
    dis__table_free(&table);
    return status;
}

/* Classes that were found get the usual order; declared ones are the same everywhere. */
static dis_status merge_classes(sharing *s, const dis_names *declared)
{
    dis_names *found;
    size_t *row;
    DIS_TRY(merge_names(s, s->votes->classes, s->class_to, &found));
    const size_t n = dis_names_count(found);
    dis_status status = n > DIS_MAX_CLASSES ? dis__fail(DIS_ELIMIT,
                                                        "more than %u different labels; is this the right "
                                                        "column?",
                                                        DIS_MAX_CLASSES)
                        : declared          ? dis__names_copy(declared, &s->classes)
                                            : dis__usual_order(found, &s->classes);
    if (status == DIS_OK) status = dis__alloc_array(&row, n, sizeof *row);
    if (status == DIS_OK) {
        status = dis__names_match(s->classes, found, row, NULL);
        for (size_t k = 0; status == DIS_OK && k < s->votes->n_classes; k++)
            s->class_to[k] = (uint32_t)row[s->class_to[k]];
        dis__free(row);
    }
    dis_names_destroy(found);
    return status;
}

/* ---- tasks ---- */

/* Each rank's tasks, to where their hash says. */
static dis_status ask_homes(sharing *s)
{
    const dis_names *tasks = s->votes->tasks;
    for (size_t i = 0; i < s->votes->n_items; i++) {
        size_t n;
        const char *name = dis_names_get(tasks, i, &n);
        s->home[i] = (uint32_t)(dis__siphash(s->key, name, n) % s->size);
        DIS_TRY(dis__comm_put(&s->to[s->home[i]], name, n + 1));
    }
    return exchange(s);
}

/* What one rank knows of the tasks whose hash is its own: their index by (rank, place), and numbers. */
typedef struct {
    uint32_t **index; /* (size) */
    size_t *n;        /* (size) */
    uint32_t *number; /* (unique) */
    size_t n_unique;
} home;

static void free_home(const sharing *s, home *h)
{
    for (size_t r = 0; h->index && r < s->size; r++) dis__free(h->index[r]);
    dis__free(h->index);
    dis__free(h->n);
    dis__free(h->number);
}

/* Says of every task whether the asking rank is the first to have it. */
static dis_status answer_first(sharing *s, home *h)
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
    if (status == DIS_OK) status = exchange(s);
    return status == DIS_OK ? dis__alloc_array(&h->number, h->n_unique, sizeof *h->number) : status;
}

/* Numbers of the tasks that this rank had first, in their order; told to their homes. */
static dis_status number_own(sharing *s)
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
    return exchange(s);
}

/* Homes learn the numbers from who had a task first, and tell all. */
static dis_status answer_numbers(sharing *s, home *h)
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
    return exchange(s);
}

static dis_status take_numbers(sharing *s)
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

static dis_status number_tasks(sharing *s)
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

/* ---- cuts ---- */

typedef struct {
    uint32_t item, n;
} item_count;

/* Votes on the items of a range, which is this rank's for now. */
static dis_status count_range(sharing *s, size_t first, uint64_t *count)
{
    for (size_t i = 0; i < s->votes->n_items; i++) {
        const item_count c = {.item = s->number[i], .n = (uint32_t)(s->votes->start[i + 1] - s->votes->start[i])};
        size_t r = (size_t)((unsigned __int128)c.item * s->size / s->part.n_items);
        while (dis__job_first(s->part.n_items, s->size, r + 1) <= c.item) r++;
        DIS_TRY(dis__comm_put(&s->to[r], &c, sizeof c));
    }
    DIS_TRY(exchange(s));
    for (size_t r = 0; r < s->size; r++)
        for (size_t at = 0; at < s->from[r].n; at += sizeof(item_count)) {
            item_count c;
            memcpy(&c, s->from[r].bytes + at, sizeof c);
            count[c.item - first] += c.n;
        }
    return DIS_OK;
}

/* The lowest cut that any rank has found is the right one. */
static dis_status lowest_cuts(sharing *s)
{
    const size_t n = s->part.n_owners + 1;
    for (size_t r = 0; r < s->size; r++)
        for (int half = 0; half < 2; half++)
            DIS_TRY(dis__comm_put(&s->to[r], half ? s->cut_vote : s->cut, n * sizeof *s->cut));
    DIS_TRY(exchange(s));
    for (size_t r = 0; r < s->size; r++) {
        const uint64_t *cut = (const uint64_t *)(const void *)s->from[r].bytes, *vote = cut + n;
        for (size_t j = 0; j < n; j++) {
            if (cut[j] > s->cut[j]) continue;
            s->cut[j] = cut[j];
            s->cut_vote[j] = vote[j];
        }
    }
    return DIS_OK;
}

/* Where owner j begins: the first item i with (votes before it) + i >= its share of votes and items. Every rank looks
 * in its range. */
static dis_status find_cuts(sharing *s, size_t first, size_t n, const uint64_t *count)
{
    const size_t owners = s->part.n_owners, whole = s->part.n_votes + s->part.n_items;
    uint64_t sum = 0, at = 0;
    for (size_t i = 0; i < n; i++) sum += count[i];
    DIS_TRY(dis__comm_all_counts(s->comm, sum, s->all));
    for (size_t r = 0; r < (size_t)s->comm->rank; r++) at += s->all[r];
    for (size_t j = 0; j <= owners; j++) {
        s->cut[j] = j ? s->part.n_items : 0;
        s->cut_vote[j] = j ? s->part.n_votes : 0;
    }
    for (size_t i = 0, j = 1; i < n; at += count[i++])
        for (; j < owners && at + first + i >= dis__job_first(whole, owners, j); j++) {
            s->cut[j] = first + i;
            s->cut_vote[j] = at;
        }
    return lowest_cuts(s);
}

/* How many ranks own items: as many as there are shards of the method with the largest table. */
static size_t count_owners(const sharing *s)
{
    const size_t K = dis_names_count(s->classes), row = K <= 2 ? 2 : (K + 3) / 4 * 4;
    const size_t table = dis__size(dis_names_count(s->workers), dis__size(K, 2 * row, 0), 0);
    const size_t shards = dis__votes_shards(s->part.n_votes, table, row);
    size_t n = 1;
    while (2 * n <= shards && 2 * n <= s->size) n *= 2;
    return n;
}

static dis_status cut(sharing *s)
{
    const size_t n_items = s->part.n_items, rank = (size_t)s->comm->rank;
    const size_t first = dis__job_first(n_items, s->size, rank), n = dis__job_first(n_items, s->size, rank + 1) - first;
    DIS_TRY(dis__comm_all_counts(s->comm, s->votes->n_votes, s->all));
    s->part.n_votes = 0;
    for (size_t r = 0; r < s->size; r++) s->part.n_votes += (size_t)s->all[r];
    s->part.n_owners = count_owners(s);
    DIS_TRY(dis__alloc_array(&s->cut, s->part.n_owners + 1, sizeof *s->cut));
    DIS_TRY(dis__alloc_array(&s->cut_vote, s->part.n_owners + 1, sizeof *s->cut_vote));
    uint64_t *count;
    DIS_TRY(dis__alloc_zeroed(&count, n, sizeof *count));
    dis_status status = count_range(s, first, count);
    if (status == DIS_OK) status = find_cuts(s, first, n, count);
    dis__free(count);
    const bool owner = rank < s->part.n_owners;
    s->part.first_item = owner ? (size_t)s->cut[rank] : n_items;
    s->part.first_vote = owner ? s->cut_vote[rank] : s->part.n_votes;
    return status;
}

/* ---- votes ---- */

/* Of an item: what comes before its workers and labels. */
typedef struct {
    uint32_t item, n;
    uint32_t n_name; /* bytes with the NUL; 0: another rank has it */
} parcel;

static inline size_t label_of(const dis_votes *votes, uint64_t v)
{
    return votes->label8 ? votes->label8[v] : votes->label16[v];
}

static dis_status send_item(sharing *s, size_t i, dis__comm_block *to)
{
    const dis_votes *votes = s->votes;
    size_t n_name;
    const char *name = dis_names_get(votes->tasks, i, &n_name);
    const uint64_t begin = votes->start[i], end = votes->start[i + 1];
    const parcel p = {.item = s->number[i],
                      .n = (uint32_t)(end - begin),
                      .n_name = s->is_first[i] ? (uint32_t)n_name + 1 : 0};
    DIS_TRY(dis__comm_put(to, &p, sizeof p));
    DIS_TRY(dis__comm_put(to, name, p.n_name));
    DIS_TRY(dis__reserve(&to->bytes, &to->capacity, to->n, to->n + p.n * 6ull, 1));
    for (uint64_t v = begin; v < end; v++) {
        const uint32_t worker = s->worker_to[votes->worker[v]];
        const uint16_t label = (uint16_t)s->class_to[label_of(votes, v)];
        memcpy(to->bytes + to->n, &worker, sizeof worker);
        memcpy(to->bytes + to->n + sizeof worker, &label, sizeof label);
        to->n += sizeof worker + sizeof label;
    }
    return DIS_OK;
}

static dis_status send_votes(sharing *s)
{
    for (size_t i = 0; i < s->votes->n_items; i++) {
        size_t r = 0;
        while (r + 1 < s->part.n_owners && s->cut[r + 1] <= s->number[i]) r++;
        DIS_TRY(send_item(s, i, &s->to[r]));
    }
    return exchange(s);
}

/* What came, item by item: `see` gets each parcel with what is behind it. */
typedef struct {
    sharing *s;
    uint64_t *next;       /* (n_items + 1) votes of an item: how many, then where the next one goes */
    uint64_t *name_start; /* (n_items + 1) likewise, of bytes of names */
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
    DIS_TRY(dis__names_adopt(w->names, w->name_start, n, &out->tasks));
    w->names = NULL;
    w->name_start = NULL;
    return DIS_OK;
}

/* The table of this rank in place of what it has read; notes stay. */
static dis_status replace(sharing *s)
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

/* ---- all of it ---- */

static dis_status begin(sharing *s)
{
    const dis_votes *votes = s->votes;
    DIS_TRY(dis__alloc_zeroed(&s->to, s->size, sizeof *s->to));
    DIS_TRY(dis__alloc_zeroed(&s->from, s->size, sizeof *s->from));
    DIS_TRY(dis__alloc_zeroed(&s->all, s->size, sizeof *s->all));
    DIS_TRY(dis__alloc_zeroed(&s->worker_to, votes->n_workers, sizeof *s->worker_to));
    DIS_TRY(dis__alloc_zeroed(&s->class_to, votes->n_classes, sizeof *s->class_to));
    DIS_TRY(dis__alloc_array(&s->home, votes->n_items, sizeof *s->home));
    DIS_TRY(dis__alloc_array(&s->number, votes->n_items, sizeof *s->number));
    return dis__alloc_array(&s->is_first, votes->n_items, sizeof *s->is_first);
}

static void end(sharing *s)
{
    dis__comm_free(s->comm, s->to);
    dis__comm_free(s->comm, s->from);
    dis__free(s->all);
    dis__free(s->worker_to);
    dis__free(s->class_to);
    dis__free(s->home);
    dis__free(s->number);
    dis__free(s->is_first);
    dis__free(s->cut);
    dis__free(s->cut_vote);
    dis_names_destroy(s->workers);
    dis_names_destroy(s->classes);
}

static dis_status share_out(sharing *s, const dis_names *declared)
{
    const dis_votes *votes = s->votes;
    DIS_TRY(begin(s));
    dis__draw_key(s->key, s);
    DIS_TRY(dis__comm_broadcast(s->comm, s->key, sizeof s->key, 0));
    DIS_TRY(merge_names(s, votes->workers, s->worker_to, &s->workers));
    DIS_TRY(merge_classes(s, declared));
    DIS_TRY(number_tasks(s));
    if (s->part.n_items == 0) return DIS_OK;
    DIS_TRY(cut(s));
    DIS_TRY(send_votes(s));
    return replace(s);
}

dis_status dis__votes_share_out(dis_context *ctx, const dis_names *declared, dis_votes *votes)
{
    sharing s = {.comm = dis__context_comm(ctx), .votes = votes};
    s.size = (size_t)s.comm->size;
    const dis_status status = share_out(&s, declared);
    end(&s);
    return status;
}

/* ---- once more, when votes were taken out ---- */

/* Workers of whom no vote is left go, where items were left out; the others keep their order. */
static dis_status keep_workers(sharing *s, bool all)
{
    const dis_votes *votes = s->votes;
    const size_t n = votes->n_workers;
    uint64_t *count;
    const char **texts = NULL;
    DIS_TRY(dis__alloc_zeroed(&count, n, sizeof *count));
    for (size_t v = 0; v < votes->n_votes; v++) count[votes->worker[v]]++;
    dis_status status = dis__comm_sum_counts(s->comm, count, n);
    if (status == DIS_OK) status = dis__alloc_array(&texts, n, sizeof *texts);
    size_t kept = 0;
    for (size_t w = 0; status == DIS_OK && w < n; w++) {
        s->worker_to[w] = (uint32_t)kept;
        if (all || count[w]) texts[kept++] = dis_names_get(votes->workers, w, NULL);
    }
    if (status == DIS_OK) status = dis_names_create(texts, kept, &s->workers);
    dis__free(texts);
    dis__free(count);
    return status;
}

static dis_status share_again(sharing *s)
{
    const dis_votes *votes = s->votes;
    DIS_TRY(begin(s));
    DIS_TRY(dis__comm_all_counts(s->comm, votes->notes.items_left_out, s->all));
    uint64_t left_out = 0, next = 0;
    for (size_t r = 0; r < s->size; r++) left_out += s->all[r];
    DIS_TRY(dis__comm_all_counts(s->comm, votes->n_items, s->all));
    for (size_t r = 0; r < s->size; r++) {
        if (r < (size_t)s->comm->rank) next += s->all[r];
        s->part.n_items += (size_t)s->all[r];
    }
    for (size_t i = 0; i < votes->n_items; i++) {
        s->number[i] = (uint32_t)(next + i);
        s->is_first[i] = true;
    }
    for (size_t k = 0; k < votes->n_classes; k++) s->class_to[k] = (uint32_t)k;
    DIS_TRY(keep_workers(s, left_out == 0));
    DIS_TRY(dis__names_copy(votes->classes, &s->classes));
    if (s->part.n_items == 0) {
        s->votes->part = s->part;
        return DIS_OK;
    }
    DIS_TRY(cut(s));
    DIS_TRY(send_votes(s));
    return replace(s);
}

dis_status dis__votes_share_again(dis_context *ctx, dis_votes *votes)
{
    sharing s = {.comm = dis__context_comm(ctx), .votes = votes};
    s.size = (size_t)s.comm->size;
    const dis_status status = share_again(&s);
    end(&s);
    return status;
}

dis__votes_part dis__votes_part_of(const dis_votes *votes)
{
    return votes->part.n_owners
               ? votes->part
               : (dis__votes_part){.n_items = votes->n_items, .n_votes = votes->n_votes, .n_owners = 1};
}

void dis_votes_whole(const dis_votes *votes, size_t *n_items, size_t *n_votes)
{
    const dis__votes_part part = dis__votes_part_of(votes);
    *n_items = part.n_items;
    *n_votes = part.n_votes;
}
