/* Distributes the votes read by several ranks: see votes_table.h.
 *
 *   names    of workers and classes are sent to all ranks, which merge them in the order of ranks: first appearance
 *   tasks    get indices in order of first appearance (exchange_tasks.c)
 *   cuts     votes per item, summed over ranges of items: the boundaries of the shards of a pass (dis__votes_shards)
 *   votes    are sent to the owner of their item, with its name: one exchange (exchange_votes.c)
 *
 * Cost per rank: its votes once (6 bytes each), its items four times (name, two flags or numbers, count). */
#include "votes/ranks/vote_exchange.h"
#include "tool/rank_calls.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "votes/table/class_names.h"
#include "votes/ids/intern.h"

static void forget_received(dis__vote_exchange *s)
{
    for (size_t r = 0; r < s->size; r++) {
        dis__free(s->from[r].bytes);
        s->from[r] = (dis__comm_block){0};
    }
}

dis_status dis__vote_exchange_run(dis__vote_exchange *s)
{
    forget_received(s);
    return dis__comm_exchange(s->comm, s->to, s->from);
}

/* ---- names ---- */

/* Concatenated lists of NUL-terminated names. to (n of this rank): the new index of each of its names. */
static dis_status merge_names(dis__vote_exchange *s, const dis_names *own, uint32_t *to, dis_names **out)
{
    const dis__secret secret = dis__secret_draw();
    const size_t n_own = dis_names_count(own);
    dis__name_list list = {0};
    dis__key_table table = {0};
    forget_received(s);
    dis_status status = dis__comm_allgather_blocks(s->comm, own->bytes, n_own ? (size_t)own->start[n_own] : 0, s->from);
    for (size_t r = 0; r < s->size && status == DIS_OK; r++) {
        const char *at = s->from[r].bytes, *end = at + s->from[r].n;
        for (size_t i = 0; at < end && status == DIS_OK; i++) {
            const size_t n = strlen(at);
            dis__key key = dis__key_from_text(&secret, at, n);
            const dis__key *found;
            bool fresh;
            key.value = (uint32_t)list.n;
            status = dis__key_table_insert(&table, &key, &found, &fresh);
            if (status == DIS_OK && r == (size_t)s->comm->rank) to[i] = found->value;
            if (status == DIS_OK && fresh) status = dis__name_list_add(&list, at, n);
            at += n + 1;
        }
    }
    if (status == DIS_OK) status = dis__name_list_move(&list, out);
    dis__name_list_free(&list);
    dis__key_table_free(&table);
    return status;
}

/* Undeclared classes get the default order; declared ones are the same everywhere. */
static dis_status merge_classes(dis__vote_exchange *s, const dis_names *declared)
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
                                            : dis__names_in_class_order(found, &s->classes);
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

/* ---- cuts ---- */

typedef struct {
    uint32_t item, n;
} item_count;

/* Votes on the items of a range, which this rank counts. */
static dis_status count_range(dis__vote_exchange *s, size_t first, uint64_t *count)
{
    for (size_t i = 0; i < s->votes->n_items; i++) {
        const item_count c = {.item = s->number[i], .n = (uint32_t)(s->votes->start[i + 1] - s->votes->start[i])};
        size_t r = (size_t)((unsigned __int128)c.item * s->size / s->part.n_items);
        while (dis__job_first(s->part.n_items, s->size, r + 1) <= c.item) r++;
        DIS_TRY(dis__comm_block_append(&s->to[r], &c, sizeof c));
    }
    DIS_TRY(dis__vote_exchange_run(s));
    for (size_t r = 0; r < s->size; r++)
        for (size_t at = 0; at < s->from[r].n; at += sizeof(item_count)) {
            item_count c;
            memcpy(&c, s->from[r].bytes + at, sizeof c);
            count[c.item - first] += c.n;
        }
    return DIS_OK;
}

/* The lowest cut found by any rank is correct. */
static dis_status lowest_cuts(dis__vote_exchange *s)
{
    const size_t n = s->part.n_owners + 1;
    for (size_t r = 0; r < s->size; r++)
        for (int half = 0; half < 2; half++)
            DIS_TRY(dis__comm_block_append(&s->to[r], half ? s->cut_vote : s->cut, n * sizeof *s->cut));
    DIS_TRY(dis__vote_exchange_run(s));
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

/* The start of owner j: the first item i with (votes before it) + i >= its share of votes and items. Every rank
 * searches its range. */
static dis_status find_cuts(dis__vote_exchange *s, size_t first, size_t n, const uint64_t *count)
{
    const size_t owners = s->part.n_owners, n_shared = s->part.n_votes + s->part.n_items;
    uint64_t sum = 0, at = 0;
    for (size_t i = 0; i < n; i++) sum += count[i];
    DIS_TRY(dis__comm_allgather_counts(s->comm, sum, s->all));
    for (size_t r = 0; r < (size_t)s->comm->rank; r++) at += s->all[r];
    for (size_t j = 0; j <= owners; j++) {
        s->cut[j] = j ? s->part.n_items : 0;
        s->cut_vote[j] = j ? s->part.n_votes : 0;
    }
    for (size_t i = 0, j = 1; i < n; at += count[i++])
        for (; j < owners && at + first + i >= dis__job_first(n_shared, owners, j); j++) {
            s->cut[j] = first + i;
            s->cut_vote[j] = at;
        }
    return lowest_cuts(s);
}

/* Number of ranks that own items: as many as the method with the largest table has shards. */
static size_t count_owners(const dis__vote_exchange *s)
{
    const size_t K = dis_names_count(s->classes), row = K <= 2 ? 2 : (K + 3) / 4 * 4;
    const size_t table = dis__saturating_size(dis_names_count(s->workers), dis__saturating_size(K, 2 * row, 0), 0);
    const size_t shards = dis__votes_shards(s->part.n_votes, table, row);
    size_t n = 1;
    while (2 * n <= shards && 2 * n <= s->size) n *= 2;
    return n;
}

static dis_status cut(dis__vote_exchange *s)
{
    const size_t n_items = s->part.n_items, rank = (size_t)s->comm->rank;
    const size_t first = dis__job_first(n_items, s->size, rank), n = dis__job_first(n_items, s->size, rank + 1) - first;
    DIS_TRY(dis__comm_allgather_counts(s->comm, s->votes->n_votes, s->all));
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

/* ---- all of it ---- */

static dis_status begin(dis__vote_exchange *s)
{
    const dis_votes *votes = s->votes;
    DIS_TRY(dis__alloc_zeroed(&s->to, s->size, sizeof *s->to));
    DIS_TRY(dis__alloc_zeroed(&s->from, s->size, sizeof *s->from));
    DIS_TRY(dis__alloc_zeroed(&s->all, s->size, sizeof *s->all));
    DIS_TRY(dis__alloc_zeroed(&s->worker_to, votes->n_workers, sizeof *s->worker_to));
    DIS_TRY(dis__alloc_zeroed(&s->class_to, votes->n_classes, sizeof *s->class_to));
    DIS_TRY(dis__alloc_array(&s->directory_rank, votes->n_items, sizeof *s->directory_rank));
    DIS_TRY(dis__alloc_array(&s->number, votes->n_items, sizeof *s->number));
    return dis__alloc_array(&s->is_first, votes->n_items, sizeof *s->is_first);
}

static void end(dis__vote_exchange *s)
{
    dis__comm_blocks_free(s->comm, s->to);
    dis__comm_blocks_free(s->comm, s->from);
    dis__free(s->all);
    dis__free(s->worker_to);
    dis__free(s->class_to);
    dis__free(s->directory_rank);
    dis__free(s->number);
    dis__free(s->is_first);
    dis__free(s->cut);
    dis__free(s->cut_vote);
    dis_names_destroy(s->workers);
    dis_names_destroy(s->classes);
}

static dis_status share_out(dis__vote_exchange *s, const dis_names *declared)
{
    const dis_votes *votes = s->votes;
    DIS_TRY(begin(s));
    dis__hash_key_draw(s->key, s);
    DIS_TRY(dis__comm_broadcast(s->comm, s->key, sizeof s->key, 0));
    DIS_TRY(merge_names(s, votes->workers, s->worker_to, &s->workers));
    DIS_TRY(merge_classes(s, declared));
    DIS_TRY(dis__vote_exchange_number_tasks(s));
    if (s->part.n_items == 0) return DIS_OK;
    DIS_TRY(cut(s));
    DIS_TRY(dis__vote_exchange_send(s));
    return dis__vote_exchange_receive(s);
}

dis_status dis__votes_distribute(dis_context *ctx, const dis_names *declared, dis_votes *votes)
{
    dis__vote_exchange s = {.comm = dis__context_comm(ctx), .votes = votes};
    s.size = (size_t)s.comm->size;
    const dis_status status = share_out(&s, declared);
    end(&s);
    return status;
}

/* ---- repeated after votes were removed ---- */

/* Removes workers without votes, unless all are kept; the others keep their order. */
static dis_status keep_workers(dis__vote_exchange *s, bool all)
{
    const dis_votes *votes = s->votes;
    const size_t n = votes->n_workers;
    uint64_t *count;
    const char **texts = NULL;
    DIS_TRY(dis__alloc_zeroed(&count, n, sizeof *count));
    for (size_t v = 0; v < votes->n_votes; v++) count[votes->worker[v]]++;
    dis_status status = dis__comm_sum_counts(s->comm, count, n);
    if (status == DIS_OK) status = dis__alloc_array(&texts, n, sizeof *texts);
    size_t n_left = 0;
    for (size_t w = 0; status == DIS_OK && w < n; w++) {
        s->worker_to[w] = (uint32_t)n_left;
        if (all || count[w]) texts[n_left++] = dis_names_get(votes->workers, w, NULL);
    }
    if (status == DIS_OK) status = dis_names_create(texts, n_left, &s->workers);
    dis__free(texts);
    dis__free(count);
    return status;
}

static dis_status share_again(dis__vote_exchange *s, bool every_worker)
{
    const dis_votes *votes = s->votes;
    uint64_t next = 0;
    DIS_TRY(begin(s));
    DIS_TRY(dis__comm_allgather_counts(s->comm, votes->n_items, s->all));
    for (size_t r = 0; r < s->size; r++) {
        if (r < (size_t)s->comm->rank) next += s->all[r];
        s->part.n_items += (size_t)s->all[r];
    }
    for (size_t i = 0; i < votes->n_items; i++) {
        s->number[i] = (uint32_t)(next + i);
        s->is_first[i] = true;
    }
    for (size_t k = 0; k < votes->n_classes; k++) s->class_to[k] = (uint32_t)k;
    DIS_TRY(keep_workers(s, every_worker));
    DIS_TRY(dis__names_copy(votes->classes, &s->classes));
    if (s->part.n_items == 0) {
        s->votes->part = s->part;
        return DIS_OK;
    }
    DIS_TRY(cut(s));
    DIS_TRY(dis__vote_exchange_send(s));
    return dis__vote_exchange_receive(s);
}

dis_status dis__votes_redistribute(dis_context *ctx, bool every_worker, dis_votes *votes)
{
    dis__vote_exchange s = {.comm = dis__context_comm(ctx), .votes = votes};
    s.size = (size_t)s.comm->size;
    const dis_status status = share_again(&s, every_worker);
    end(&s);
    return status;
}

dis__votes_part dis__votes_part_of(const dis_votes *votes)
{
    return votes->part.n_owners
               ? votes->part
               : (dis__votes_part){.n_items = votes->n_items, .n_votes = votes->n_votes, .n_owners = 1};
}

void dis__votes_get_totals(const dis_votes *votes, size_t *n_items, size_t *n_votes)
{
    const dis__votes_part part = dis__votes_part_of(votes);
    *n_items = part.n_items;
    *n_votes = part.n_votes;
}
