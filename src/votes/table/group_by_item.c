/* Rows to votes grouped by item (CSR).
 *
 * Ids are numbered by first appearance, so a file that is grouped by item has nondecreasing task indices, and the rows
 * are the votes. Otherwise a stable two-level counting sort is used: runs of rows are scattered to ranges of items (at
 * most 2^16 items each, at least 256 ranges), packed in 8 bytes per row; then each range is sorted by item within the
 * cache. Runs and ranges depend on the data only, so any number of threads gives the same table.
 *
 * Cost: O(votes + items + runs * ranges), two passes over the rows; memory: 8 bytes per row in addition to rows and
 * table. */
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "votes/table/votes_table.h"
#include <string.h>

enum { RANGES = 256, RANGE_BITS = 16, SMALL = 1 << 16, RUN = 1 << 18, MAX_RUNS = 256 };

typedef struct {
    uint32_t worker;
    uint16_t label;
    uint16_t item; /* within its range */
} packed;

typedef struct {
    dis__rows *rows;
    const uint8_t *label8; /* of the rows, wherever they are stored */
    const uint16_t *label;
    const uint16_t *class_of;
    bool consume;
    dis_votes *votes;
    size_t n_runs;
    bool *falls;    /* (n_runs) a task index is smaller than the previous one */
    unsigned shift; /* item >> shift is its range */
    size_t n_ranges;
    uint64_t *place;       /* (n_runs, n_ranges) offsets of a run's rows among the packed ones */
    uint64_t *range_first; /* (n_ranges + 1) */
    packed *packed;        /* (n_votes) */
} grouping;

static void run_of(const grouping *g, size_t j, size_t *first, size_t *last)
{
    *first = dis__job_first(g->rows->n, g->n_runs, j);
    *last = dis__job_first(g->rows->n, g->n_runs, j + 1);
}

static dis_status falls_job(void *arg, size_t j, int thread)
{
    enum { STEP = 4096 };
    (void)thread;
    const grouping *g = arg;
    const uint32_t *task = g->rows->task;
    size_t i, last;
    run_of(g, j, &i, &last);
    bool falls = false;
    for (i += i == 0; i < last && !falls;)
        for (const size_t end = last - i < STEP ? last : i + STEP; i < end; i++) falls |= task[i] < task[i - 1];
    g->falls[j] = falls;
    return DIS_OK;
}

/* Whether rows are already grouped by item. */
static dis_status is_grouped(dis_context *ctx, grouping *g, bool *grouped)
{
    DIS_TRY(dis__run_jobs(ctx, g->n_runs, falls_job, g));
    *grouped = true;
    for (size_t j = 0; j < g->n_runs; j++) *grouped = *grouped && !g->falls[j];
    return DIS_OK;
}

/* The class of row i. */
static inline uint16_t class_at(const grouping *g, size_t i)
{
    const uint16_t label = g->label8 ? g->label8[i] : g->label[i];
    return g->class_of ? g->class_of[label] : label;
}

static dis_status labels_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const grouping *g = arg;
    dis_votes *votes = g->votes;
    const uint16_t *class_of = g->class_of;
    uint8_t *label8 = votes->label8;
    size_t first, last;
    run_of(g, j, &first, &last);
    if (label8 && label8 == g->label8 && class_of)
        for (size_t i = first; i < last; i++) label8[i] = (uint8_t)class_of[label8[i]];
    else if (label8)
        for (size_t i = first; i < last; i++) label8[i] = (uint8_t)class_at(g, i);
    else
        for (size_t i = first; i < last; i++) votes->label16[i] = class_at(g, i);
    return DIS_OK;
}

static dis_status starts_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const grouping *g = arg;
    dis_votes *votes = g->votes;
    const uint32_t *task = g->rows->task;
    size_t first, last;
    run_of(g, j, &first, &last);
    if (!g->consume && last > first)
        memcpy(votes->worker + first, g->rows->worker + first, (last - first) * sizeof *votes->worker);
    size_t next =
        first ? (size_t)task[first - 1] + 1 : 0; /* item that begins with the next row that is not before it */
    for (size_t i = first; i < last; i++)
        for (; next <= task[i]; next++) votes->start[next] = i;
    return DIS_OK;
}

static dis_status count_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const grouping *g = arg;
    uint64_t *count = g->place + j * g->n_ranges;
    size_t first, last;
    run_of(g, j, &first, &last);
    for (size_t i = first; i < last; i++) count[g->rows->task[i] >> g->shift]++;
    return DIS_OK;
}

static dis_status spread_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const grouping *g = arg;
    uint64_t *place = g->place + j * g->n_ranges;
    const dis__rows *rows = g->rows;
    const uint32_t low = (uint32_t)((1ull << g->shift) - 1);
    size_t first, last;
    run_of(g, j, &first, &last);
    for (size_t i = first; i < last; i++) {
        const uint32_t item = rows->task[i];
        g->packed[place[item >> g->shift]++] =
            (packed){.worker = rows->worker[i], .label = class_at(g, i), .item = (uint16_t)(item & low)};
    }
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
    if (votes->label8)
        for (const packed *p = from; p < end; p++) {
            const uint64_t v = next[p->item]++;
            votes->worker[v] = p->worker;
            votes->label8[v] = (uint8_t)p->label;
        }
    else
        for (const packed *p = from; p < end; p++) {
            const uint64_t v = next[p->item]++;
            votes->worker[v] = p->worker;
            votes->label16[v] = p->label;
        }
    dis__free(next);
    return DIS_OK;
}

/* The rows' arrays become the table's if they may be consumed. */
static dis_status alloc_votes(const grouping *g)
{
    dis_votes *votes = g->votes;
    if (g->rows->start) {
        votes->start = g->rows->start;
        g->rows->start = NULL;
    } else {
        DIS_TRY(dis__alloc_array(&votes->start, dis__saturating_size(votes->n_items, 1, 1), sizeof *votes->start));
    }
    votes->start[votes->n_items] = votes->n_votes;
    if (g->consume) {
        votes->worker = g->rows->worker;
        g->rows->worker = NULL;
    } else {
        DIS_TRY(dis__alloc_array(&votes->worker, votes->n_votes, sizeof *votes->worker));
    }
    if (g->consume && g->rows->label8 && votes->n_classes <= 256) {
        votes->label8 = g->rows->label8;
        g->rows->label8 = NULL;
        return DIS_OK;
    }
    return votes->n_classes <= 256 ? dis__alloc_array(&votes->label8, votes->n_votes, sizeof *votes->label8)
                                   : dis__alloc_array(&votes->label16, votes->n_votes, sizeof *votes->label16);
}

static dis_status copy_rows(dis_context *ctx, grouping *g)
{
    DIS_TRY(alloc_votes(g));
    DIS_TRY(dis__run_jobs(ctx, g->n_runs, labels_job, g));
    DIS_TRY(dis__run_jobs(ctx, g->n_runs, starts_job, g));
    /* items after the last one with votes */
    for (size_t item = g->rows->n ? (size_t)g->rows->task[g->rows->n - 1] + 1 : 0; item < g->votes->n_items; item++)
        g->votes->start[item] = g->votes->n_votes;
    return DIS_OK;
}

/* Frees the arrays of rows that are no longer needed. */
static void consume_rows(const grouping *g)
{
    if (!g->consume) return;
    dis__free(g->rows->task);
    dis__free(g->rows->label);
    dis__free(g->rows->label8);
    g->rows->task = NULL;
    g->rows->label = NULL;
    g->rows->label8 = NULL;
}

static dis_status sort_rows(dis_context *ctx, grouping *g)
{
    dis_votes *votes = g->votes;
    while (g->shift < RANGE_BITS && (votes->n_items >> g->shift) >= RANGES) g->shift++;
    if (votes->n_votes < SMALL && votes->n_items <= 1u << RANGE_BITS) g->shift = RANGE_BITS;
    g->n_ranges = ((votes->n_items ? votes->n_items - 1 : 0) >> g->shift) + 1;
    DIS_TRY(dis__alloc_zeroed(&g->place, dis__saturating_size(g->n_runs, g->n_ranges, 0), sizeof *g->place));
    DIS_TRY(dis__alloc_array(&g->range_first, g->n_ranges + 1, sizeof *g->range_first));
    DIS_TRY(dis__alloc_array(&g->packed, votes->n_votes, sizeof *g->packed));
    DIS_TRY(dis__run_jobs(ctx, g->n_runs, count_job, g));
    uint64_t at = 0;
    for (size_t r = 0; r < g->n_ranges; r++) {
        g->range_first[r] = at;
        for (size_t j = 0; j < g->n_runs; j++) {
            uint64_t *place = &g->place[j * g->n_ranges + r];
            const uint64_t count = *place;
            *place = at;
            at += count;
        }
    }
    g->range_first[g->n_ranges] = at;
    DIS_TRY(dis__run_jobs(ctx, g->n_runs, spread_job, g));
    DIS_TRY(alloc_votes(g));
    consume_rows(g);
    return dis__run_jobs(ctx, g->n_ranges, sort_job, g);
}

static dis_status group(dis_context *ctx, grouping *g)
{
    g->votes->n_votes = g->rows->n;
    g->n_runs = dis__n_jobs(g->rows->n, RUN, MAX_RUNS);
    if (g->rows->start) {
        DIS_TRY(alloc_votes(g));
        DIS_TRY(dis__run_jobs(ctx, g->n_runs, labels_job, g));
        consume_rows(g);
        return DIS_OK;
    }
    DIS_TRY(dis__alloc_array(&g->falls, g->n_runs, sizeof *g->falls));
    bool grouped;
    DIS_TRY(is_grouped(ctx, g, &grouped));
    if (!grouped) return sort_rows(ctx, g);
    DIS_TRY(copy_rows(ctx, g));
    consume_rows(g);
    return DIS_OK;
}

dis_status dis__votes_group(dis_context *ctx, dis__rows *rows, const uint16_t *class_of, bool consume, dis_votes *votes)
{
    grouping g = {.rows = rows,
                  .label8 = rows->label8,
                  .label = rows->label,
                  .class_of = class_of,
                  .consume = consume,
                  .votes = votes};
    const dis_status status = group(ctx, &g);
    dis__free(g.falls);
    dis__free(g.place);
    dis__free(g.range_first);
    dis__free(g.packed);
    return status;
}
