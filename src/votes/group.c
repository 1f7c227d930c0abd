/* Rows to votes grouped by item (CSR), and the rules that need groups: duplicates, items with too few votes, ties.
 *
 * Ids are numbered by first appearance, so a file that lists one item after the other has task numbers that never fall:
 * then grouping is a copy. Otherwise a stable two-level counting sort: every piece of rows is dealt out to ranges of
 * items (at most 2^16 items each, at least 256 ranges), packed in 8 bytes a row; then each range is sorted by item
 * while it stays in the cache. Pieces and ranges depend on the data alone, so any number of threads gives the same
 * table.
 *
 * Cost: O(votes + items + pieces * ranges), two passes over the rows; memory 8 bytes a row beside rows and table. */
#include "votes/table.h"
#include "core/memory.h"
#include "core/pool.h"
#include <string.h>

enum { RANGES = 256, RANGE_BITS = 16, SMALL = 1 << 16, FEW_VOTES = 16 };

typedef struct {
    uint32_t worker;
    uint16_t label;
    uint16_t item; /* within its range */
} packed;

typedef struct {
    dis__rows *pieces;
    size_t n_pieces;
    const uint16_t *class_of;
    bool consume;
    dis_votes *votes;
    uint64_t *first; /* (n_pieces + 1) row at which a piece begins */
    bool *falls;     /* (n_pieces) a task number is smaller than the one before */
    unsigned shift;  /* item >> shift is its range */
    size_t n_ranges;
    uint64_t *place;       /* (n_pieces, n_ranges) where the rows of a piece go among the packed ones */
    uint64_t *range_first; /* (n_ranges + 1) */
    packed *packed;        /* (n_votes) */
} grouping;

static void consume_piece(const grouping *g, size_t j)
{
    if (!g->consume) return;
    dis__rows *p = &g->pieces[j];
    dis__free(p->task);
    dis__free(p->worker);
    dis__free(p->label);
    p->task = p->worker = NULL;
    p->label = NULL;
}

static void put_label(dis_votes *votes, size_t v, uint16_t label)
{
    if (votes->label8)
        votes->label8[v] = (uint8_t)label;
    else
        votes->label16[v] = label;
}

static dis_status falls_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const grouping *g = arg;
    const dis__rows *p = &g->pieces[j];
    bool falls = false;
    for (size_t i = 1; i < p->n; i++) falls |= p->task[i] < p->task[i - 1];
    g->falls[j] = falls;
    return DIS_OK;
}

/* Whether rows already lie item by item. */
static dis_status is_grouped(dis_context *ctx, grouping *g, bool *grouped)
{
    DIS_TRY(dis__run_jobs(ctx, g->n_pieces, falls_job, g));
    uint32_t last = 0;
    *grouped = true;
    for (size_t j = 0; j < g->n_pieces; j++) {
        const dis__rows *p = &g->pieces[j];
        if (p->n == 0) continue;
        if (g->falls[j] || p->task[0] < last) *grouped = false;
        last = p->task[p->n - 1];
    }
    return DIS_OK;
}

static inline uint16_t class_at(const grouping *g, uint16_t label)
{
    return g->class_of ? g->class_of[label] : label;
}

static dis_status copy_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const grouping *g = arg;
    dis_votes *votes = g->votes;
    const dis__rows *p = &g->pieces[j];
    const size_t first = (size_t)g->first[j];
    if (p->n) memcpy(votes->worker + first, p->worker, p->n * sizeof *p->worker);
    if (votes->label8)
        for (size_t i = 0; i < p->n; i++) votes->label8[first + i] = (uint8_t)class_at(g, p->label[i]);
    else
        for (size_t i = 0; i < p->n; i++) votes->label16[first + i] = class_at(g, p->label[i]);
    /* start[] of the items that begin after the first row of this piece: its first row is open_items()'s */
    for (size_t i = 1; i < p->n; i++)
        for (size_t item = (size_t)p->task[i - 1] + 1; item <= p->task[i]; item++) votes->start[item] = first + i;
    consume_piece(g, j);
    return DIS_OK;
}

/* start[] of the items that begin with the first row of a piece, or have no votes at the end. */
static void open_items(const grouping *g)
{
    size_t item = 0; /* next one to open */
    for (size_t j = 0; j < g->n_pieces; j++) {
        const dis__rows *p = &g->pieces[j];
        if (p->n == 0) continue;
        for (; item <= p->task[0]; item++) g->votes->start[item] = g->first[j];
        item = (size_t)p->task[p->n - 1] + 1;
    }
    for (; item <= g->votes->n_items; item++) g->votes->start[item] = g->first[g->n_pieces];
}

static dis_status count_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const grouping *g = arg;
    uint64_t *count = g->place + j * g->n_ranges;
    const dis__rows *p = &g->pieces[j];
    for (size_t i = 0; i < p->n; i++) count[p->task[i] >> g->shift]++;
    return DIS_OK;
}

static dis_status deal_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const grouping *g = arg;
    uint64_t *place = g->place + j * g->n_ranges;
    const dis__rows *p = &g->pieces[j];
    const uint32_t low = (uint32_t)((1ull << g->shift) - 1);
    for (size_t i = 0; i < p->n; i++) {
        const uint32_t item = p->task[i];
        g->packed[place[item >> g->shift]++] =
            (packed){.worker = p->worker[i], .label = class_at(g, p->label[i]), .item = (uint16_t)(item & low)};
    }
    consume_piece(g, j);
    return DIS_OK;
}

static dis_status sort_job(void *arg, size_t r, int thread)
{
    (void)thread;
    const grouping *g = arg;
    dis_votes *votes = g->votes;
    const size_t first_item = r << g->shift, width = (size_t)1 << g->shift;
    const size_t n = votes->n_items - first_item < width ? votes->n_items - first_item : width;
    uint64_t *start = votes->start + first_item;
    const packed *from = g->packed + g->range_first[r], *end = g->packed + g->range_first[r + 1];
    uint64_t *next;
    DIS_TRY(dis__alloc_zeroed(&next, n, sizeof *next));
    for (const packed *p = from; p < end; p++) next[p->item]++;
    uint64_t at = g->range_first[r];
    for (size_t i = 0; i < n; i++) {
        const uint64_t count = next[i];
        start[i] = next[i] = at;
        at += count;
    }
    for (const packed *p = from; p < end; p++) {
        const uint64_t v = next[p->item]++;
        votes->worker[v] = p->worker;
        put_label(votes, v, p->label);
    }
    dis__free(next);
    return DIS_OK;
}

static dis_status alloc_votes(dis_votes *votes)
{
    DIS_TRY(dis__alloc_array(&votes->start, dis__size(votes->n_items, 1, 1), sizeof *votes->start));
    DIS_TRY(dis__alloc_array(&votes->worker, votes->n_votes, sizeof *votes->worker));
    return votes->n_classes <= 256 ? dis__alloc_array(&votes->label8, votes->n_votes, sizeof *votes->label8)
                                   : dis__alloc_array(&votes->label16, votes->n_votes, sizeof *votes->label16);
}

static dis_status sort_rows(dis_context *ctx, grouping *g)
{
    dis_votes *votes = g->votes;
    while (g->shift < RANGE_BITS && (votes->n_items >> g->shift) >= RANGES) g->shift++;
    if (votes->n_votes < SMALL && votes->n_items <= 1u << RANGE_BITS) g->shift = RANGE_BITS;
    g->n_ranges = ((votes->n_items ? votes->n_items - 1 : 0) >> g->shift) + 1;
    DIS_TRY(dis__alloc_zeroed(&g->place, dis__size(g->n_pieces, g->n_ranges, 0), sizeof *g->place));
    DIS_TRY(dis__alloc_array(&g->range_first, g->n_ranges + 1, sizeof *g->range_first));
    DIS_TRY(dis__alloc_array(&g->packed, votes->n_votes, sizeof *g->packed));
    DIS_TRY(dis__run_jobs(ctx, g->n_pieces, count_job, g));
    uint64_t at = 0;
    for (size_t r = 0; r < g->n_ranges; r++) {
        g->range_first[r] = at;
        for (size_t j = 0; j < g->n_pieces; j++) {
            uint64_t *place = &g->place[j * g->n_ranges + r];
            const uint64_t count = *place;
            *place = at;
            at += count;
        }
    }
    g->range_first[g->n_ranges] = at;
    DIS_TRY(dis__run_jobs(ctx, g->n_pieces, deal_job, g));
    DIS_TRY(alloc_votes(votes));
    votes->start[votes->n_items] = votes->n_votes;
    return dis__run_jobs(ctx, g->n_ranges, sort_job, g);
}

static dis_status group(dis_context *ctx, grouping *g)
{
    DIS_TRY(dis__alloc_array(&g->first, g->n_pieces + 1, sizeof *g->first));
    DIS_TRY(dis__alloc_array(&g->falls, g->n_pieces, sizeof *g->falls));
    uint64_t n = 0;
    for (size_t j = 0; j < g->n_pieces; j++) {
        g->first[j] = n;
        n += g->pieces[j].n;
    }
    g->first[g->n_pieces] = n;
    g->votes->n_votes = (size_t)n;
    bool grouped;
    DIS_TRY(is_grouped(ctx, g, &grouped));
    if (!grouped) return sort_rows(ctx, g);
    DIS_TRY(alloc_votes(g->votes));
    open_items(g);
    return dis__run_jobs(ctx, g->n_pieces, copy_job, g);
}

dis_status dis__votes_group(dis_context *ctx, dis__rows *pieces, size_t n_pieces, const uint16_t *class_of,
                            bool consume, dis_votes *votes)
{
    grouping g = {.pieces = pieces, .n_pieces = n_pieces, .class_of = class_of, .consume = consume, .votes = votes};
    const dis_status status = group(ctx, &g);
    dis__free(g.first);
    dis__free(g.falls);
    dis__free(g.place);
    dis__free(g.range_first);
    dis__free(g.packed);
    return status;
}

/* Duplicates and ties, seen in one pass over the items. */
typedef struct {
    uint64_t duplicates, ties;
    dis__duplicate first;
} findings;

typedef struct {
    const dis_votes *votes;
    size_t n_jobs;
    findings *found;   /* (n_jobs) */
    bool **seen;       /* (threads) (n_workers), or NULL until an item with many votes comes */
    uint64_t **chosen; /* (threads) (n_classes), all 0 between items */
} survey;

static size_t label_at(const dis_votes *votes, size_t v)
{
    return votes->label8 ? votes->label8[v] : votes->label16[v];
}

/* Votes of one item whose worker voted on it before. */
static dis_status find_duplicates(const survey *s, size_t item, int thread, findings *f)
{
    const dis_votes *votes = s->votes;
    const size_t first = (size_t)votes->start[item], n = (size_t)votes->start[item + 1] - first;
    const uint32_t *worker = votes->worker + first;
    uint64_t twice = 0;
    size_t which = 0;
    if (n <= FEW_VOTES) {
        for (size_t i = 1; i < n; i++) {
            bool again = false;
            for (size_t k = 0; k < i; k++) again |= worker[k] == worker[i];
            if (again && twice++ == 0) which = i;
        }
    } else {
        if (!s->seen[thread]) DIS_TRY(dis__alloc_zeroed(&s->seen[thread], votes->n_workers, sizeof(bool)));
        bool *seen = s->seen[thread];
        for (size_t i = 0; i < n; i++) {
            if (seen[worker[i]] && twice++ == 0) which = i;
            seen[worker[i]] = true;
        }
        for (size_t i = 0; i < n; i++) seen[worker[i]] = false;
    }
    if (twice && !f->first.found) f->first = (dis__duplicate){.found = true, .item = item, .worker = worker[which]};
    f->duplicates += twice;
    return DIS_OK;
}

/* Whether the largest count of an item is shared: a class that reaches the best count from below shares it. */
static bool is_tie(const dis_votes *votes, size_t item, uint64_t *chosen)
{
    const size_t first = (size_t)votes->start[item], last = (size_t)votes->start[item + 1];
    uint64_t best = 0, holders = 0;
    for (size_t v = first; v < last; v++) {
        const uint64_t c = ++chosen[label_at(votes, v)];
        holders = c > best ? 1 : holders + (c == best);
        best = c > best ? c : best;
    }
    for (size_t v = first; v < last; v++) chosen[label_at(votes, v)] = 0;
    return holders > 1;
}

static dis_status survey_job(void *arg, size_t j, int thread)
{
    const survey *s = arg;
    findings f = {0};
    const size_t last = dis__job_first(s->votes->n_items, s->n_jobs, j + 1);
    for (size_t i = dis__job_first(s->votes->n_items, s->n_jobs, j); i < last; i++) {
        DIS_TRY(find_duplicates(s, i, thread, &f));
        f.ties += is_tie(s->votes, i, s->chosen[thread]);
    }
    s->found[j] = f;
    return DIS_OK;
}

static dis_status run_survey(dis_context *ctx, survey *s, findings *sum)
{
    const size_t n_threads = (size_t)dis_context_threads(ctx);
    DIS_TRY(dis__alloc_zeroed(&s->found, s->n_jobs, sizeof *s->found));
    DIS_TRY(dis__alloc_zeroed(&s->seen, n_threads, sizeof *s->seen));
    DIS_TRY(dis__alloc_zeroed(&s->chosen, n_threads, sizeof *s->chosen));
    for (size_t t = 0; t < n_threads; t++)
        DIS_TRY(dis__alloc_zeroed(&s->chosen[t], s->votes->n_classes, sizeof **s->chosen));
    DIS_TRY(dis__run_jobs(ctx, s->n_jobs, survey_job, s));
    for (size_t j = 0; j < s->n_jobs; j++) {
        sum->duplicates += s->found[j].duplicates;
        sum->ties += s->found[j].ties;
        if (!sum->first.found) sum->first = s->found[j].first;
    }
    return DIS_OK;
}

static dis_status take_survey(dis_context *ctx, const dis_votes *votes, findings *sum)
{
    enum { ITEMS_A_JOB = 4096, MOST_JOBS = 1024 };
    survey s = {.votes = votes, .n_jobs = dis__n_jobs(votes->n_items, ITEMS_A_JOB, MOST_JOBS)};
    const dis_status status = run_survey(ctx, &s, sum);
    for (int t = 0; t < dis_context_threads(ctx); t++) {
        if (s.seen) dis__free(s.seen[t]);
        if (s.chosen) dis__free(s.chosen[t]);
    }
    dis__free(s.found);
    dis__free(s.seen);
    dis__free(s.chosen);
    return status;
}

/* Keeps one vote a worker and item, in place of the first: the first itself, or the last. */
static dis_status drop_duplicates(dis_votes *votes, bool keep_last)
{
    uint32_t *place; /* (n_workers) 1 + the place among the item's kept votes; 0: none yet */
    DIS_TRY(dis__alloc_zeroed(&place, votes->n_workers, sizeof *place));
    size_t kept = 0;
    for (size_t i = 0; i < votes->n_items; i++) {
        const size_t first = (size_t)votes->start[i], last = (size_t)votes->start[i + 1], begin = kept;
        votes->start[i] = begin;
        for (size_t v = first; v < last; v++) {
            const uint32_t worker = votes->worker[v];
            const uint16_t label = (uint16_t)label_at(votes, v);
            if (place[worker]) {
                if (keep_last) put_label(votes, begin + place[worker] - 1, label);
                continue;
            }
            place[worker] = (uint32_t)(kept - begin) + 1;
            votes->worker[kept] = worker;
            put_label(votes, kept++, label);
        }
        for (size_t v = begin; v < kept; v++) place[votes->worker[v]] = 0;
    }
    votes->start[votes->n_items] = kept;
    votes->n_votes = kept;
    dis__free(place);
    return DIS_OK;
}

/* The names that are kept: keep[i] is the new index, UINT32_MAX for none. */
static dis_status keep_names(const dis_names *names, const uint32_t *keep, size_t n_kept, dis_names **out)
{
    const char **texts;
    DIS_TRY(dis__alloc_array(&texts, n_kept, sizeof *texts));
    for (size_t i = 0; i < dis_names_count(names); i++)
        if (keep[i] != UINT32_MAX) texts[keep[i]] = dis_names_get(names, i, NULL);
    const dis_status status = dis_names_create(texts, n_kept, out);
    dis__free(texts);
    return status;
}

static dis_status leave_out(dis_votes *votes, size_t min_votes, uint32_t *item_to, uint32_t *worker_to)
{
    size_t n_items = 0, n_workers = 0;
    for (size_t w = 0; w < votes->n_workers; w++) worker_to[w] = UINT32_MAX;
    for (size_t i = 0; i < votes->n_items; i++) {
        const bool keep = votes->start[i + 1] - votes->start[i] >= min_votes;
        item_to[i] = keep ? (uint32_t)n_items++ : UINT32_MAX;
        for (size_t v = (size_t)votes->start[i]; keep && v < votes->start[i + 1]; v++) worker_to[votes->worker[v]] = 0;
    }
    for (size_t w = 0; w < votes->n_workers; w++)
        if (worker_to[w] == 0) worker_to[w] = (uint32_t)n_workers++;

    dis_names *tasks, *workers;
    DIS_TRY(keep_names(votes->tasks, item_to, n_items, &tasks));
    const dis_status status = keep_names(votes->workers, worker_to, n_workers, &workers);
    if (status != DIS_OK) {
        dis_names_destroy(tasks);
        return status;
    }
    dis_names_destroy(votes->tasks);
    dis_names_destroy(votes->workers);
    votes->tasks = tasks;
    votes->workers = workers;

    size_t kept = 0;
    for (size_t i = 0; i < votes->n_items; i++) {
        if (item_to[i] == UINT32_MAX) continue;
        const size_t first = (size_t)votes->start[i], last = (size_t)votes->start[i + 1];
        votes->start[item_to[i]] = kept;
        for (size_t v = first; v < last; v++) {
            votes->worker[kept] = worker_to[votes->worker[v]];
            put_label(votes, kept++, (uint16_t)label_at(votes, v));
        }
    }
    votes->start[n_items] = kept;
    votes->notes.items_left_out = votes->n_items - n_items;
    votes->n_items = n_items;
    votes->n_workers = n_workers;
    votes->n_votes = kept;
    return DIS_OK;
}

static dis_status leave_out_items(dis_votes *votes, size_t min_votes)
{
    size_t few = 0;
    for (size_t i = 0; i < votes->n_items; i++) few += votes->start[i + 1] - votes->start[i] < min_votes;
    if (few == 0) return DIS_OK;
    uint32_t *item_to = NULL, *worker_to = NULL;
    dis_status status = dis__alloc_array(&item_to, votes->n_items, sizeof *item_to);
    if (status == DIS_OK) status = dis__alloc_array(&worker_to, votes->n_workers, sizeof *worker_to);
    if (status == DIS_OK) status = leave_out(votes, min_votes, item_to, worker_to);
    dis__free(item_to);
    dis__free(worker_to);
    return status;
}

dis_status dis__votes_settle(dis_context *ctx, dis_votes *votes, dis_duplicates duplicates, size_t min_votes,
                             dis__duplicate *duplicate)
{
    findings f = {0};
    DIS_TRY(take_survey(ctx, votes, &f));
    votes->notes.duplicates = f.duplicates;
    if (f.duplicates && duplicates == DIS_DUPLICATES_ERROR) {
        *duplicate = f.first;
        return DIS_OK;
    }
    const size_t n_items = votes->n_items, n_votes = votes->n_votes;
    if (f.duplicates && duplicates != DIS_DUPLICATES_ALL)
        DIS_TRY(drop_duplicates(votes, duplicates == DIS_DUPLICATES_LAST));
    if (min_votes) DIS_TRY(leave_out_items(votes, min_votes));
    if (votes->n_votes != n_votes || votes->n_items != n_items || (f.duplicates && duplicates == DIS_DUPLICATES_LAST)) {
        f = (findings){0};
        DIS_TRY(take_survey(ctx, votes, &f));
    }
    votes->notes.ties = f.ties;
    return DIS_OK;
}

void dis__votes_count_ties(dis_votes *votes)
{
    votes->notes.ties = 0;
    for (size_t i = 0; i < votes->n_items; i++) {
        const double *c = votes->counts + i * votes->n_classes;
        double best = 0;
        size_t holders = 0;
        for (size_t k = 0; k < votes->n_classes; k++) {
            holders = c[k] > best ? 1 : holders + (c[k] == best);
            best = c[k] > best ? c[k] : best;
        }
        votes->notes.ties += best > 0 && holders > 1;
    }
}
