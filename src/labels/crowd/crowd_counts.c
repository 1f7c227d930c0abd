/* Expected counts of workers from posteriors of items: count[w][v][t] = sum of p(t
 * item) over the votes of w for v, added in the order of items.
 *
 * Votes are stored item by item. They are processed in pieces, in two steps: first each block of a piece is sorted by
 * groups of workers, blocks in parallel; then each group adds up its votes of all blocks, in their order. So a thread
 * uses the counts of one group and the posteriors of one piece, which fit into its cache, memory accesses are local,
 * and sums have the order of items for any number of threads.
 *
 * Cost: O(votes K), 12 bytes written and read per vote, within a cache. */
#include "labels/crowd/crowd_model.h"
#include "labels/method.h"
#include "core/memory/spill.h"
#include <string.h>

enum { MAX_GROUPS = 64, BLOCK = 1 << 15, BLOCKS_PER_THREAD = 4, MAX_BLOCKS = 128 };

typedef struct {
    uint32_t item, worker;
    uint16_t label;
} sorted_vote;

typedef struct {
    const dis__crowd_model *m;
    size_t n_groups;
    unsigned shift;                    /* worker w is in group w >> shift */
    uint64_t first, last;              /* votes of the piece */
    sorted_vote *vote;                 /* (last - first) */
    uint32_t (*begin)[MAX_GROUPS + 1]; /* (blocks) offsets of each group's votes within the block */
} counting;

static uint64_t block_first(const counting *c, size_t b)
{
    const uint64_t at = c->first + (uint64_t)b * BLOCK;
    return at < c->last ? at : c->last;
}

static size_t n_blocks(const counting *c)
{
    return (size_t)((c->last - c->first + BLOCK - 1) / BLOCK);
}

/* The item of vote v. */
static size_t item_of_vote(const dis_votes_view *votes, uint64_t v)
{
    size_t low = 0, high = votes->n_items; /* start[low] <= v < start[high] */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (votes->start[middle] <= v)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static dis_status sort_job(void *arg, size_t b, int thread)
{
    (void)thread;
    const counting *c = arg;
    const dis_votes_view *votes = &c->m->votes;
    const uint32_t *worker = votes->worker;
    const unsigned shift = c->shift;
    const uint64_t first = block_first(c, b), last = block_first(c, b + 1);
    sorted_vote *to = c->vote + (first - c->first);
    uint32_t place[MAX_GROUPS] = {0}, sum = 0;
    for (uint64_t v = first; v < last; v++) place[worker[v] >> shift]++;
    for (size_t g = 0; g < c->n_groups; g++) {
        const uint32_t n = place[g];
        c->begin[b][g] = place[g] = sum;
        sum += n;
    }
    c->begin[b][c->n_groups] = sum;
    uint64_t v = first;
    for (size_t i = item_of_vote(votes, first); v < last; i++)
        for (const uint64_t end = votes->start[i + 1] < last ? votes->start[i + 1] : last; v < end; v++)
            to[place[worker[v] >> shift]++] =
                (sorted_vote){(uint32_t)i, worker[v], (uint16_t)dis__vote_label(votes, v)};
    return DIS_OK;
}

/* The votes [x, end); expanded for small K. */
static inline __attribute__((always_inline)) void add(const dis__crowd_model *m, const sorted_vote *x,
                                                      const sorted_vote *end, size_t K)
{
    for (; x < end; x++) {
        const double *p = m->p + x->item * K;
        double *count = m->log_confusion + (x->worker * K + x->label) * K;
        for (size_t t = 0; t < K; t++) count[t] += p[t];
    }
}

static dis_status add_job(void *arg, size_t g, int thread)
{
    (void)thread;
    const counting *c = arg;
    const dis__crowd_model *m = c->m;
    for (size_t b = 0; b < n_blocks(c); b++) {
        const sorted_vote *block = c->vote + (block_first(c, b) - c->first);
        const sorted_vote *x = block + c->begin[b][g], *end = block + c->begin[b][g + 1];
        switch (m->n_classes) {
        case 2: add(m, x, end, 2); break;
        case 3: add(m, x, end, 3); break;
        case 4: add(m, x, end, 4); break;
        case 5: add(m, x, end, 5); break;
        default: add(m, x, end, m->n_classes);
        }
    }
    return DIS_OK;
}

/* Consecutive workers form a group, so that its counts fit into a small cache. */
static void cut_groups(size_t n_workers, counting *c)
{
    for (c->shift = 0; (n_workers - 1) >> c->shift >= MAX_GROUPS;) c->shift++;
    c->n_groups = ((n_workers - 1) >> c->shift) + 1;
}

/* Blocks of a piece: with a memory limit, at most a part of it. */
static size_t blocks_of_piece(const dis_context *ctx)
{
    enum { PART = 32 };
    const uint64_t limit = dis__memory_limit();
    const size_t wanted = BLOCKS_PER_THREAD * (size_t)dis_context_n_threads(ctx);
    size_t n = wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    while (limit && limit != DIS_MEMORY_AVAILABLE && n > 1 && n * BLOCK * sizeof(sorted_vote) > limit / PART) n /= 2;
    return n;
}

dis_status dis__crowd_model_count_votes(const dis__crowd_model *m)
{
    counting c = {.m = m};
    if (m->n_workers == 0) return DIS_OK;
    cut_groups(m->n_workers, &c);
    const uint64_t n_votes = m->votes.n_votes;
    const size_t n = blocks_of_piece(m->ctx);
    const uint64_t piece = (uint64_t)n * BLOCK;
    dis_status status = dis__alloc_array(&c.vote, (size_t)(piece < n_votes ? piece : n_votes), sizeof *c.vote);
    if (status == DIS_OK) status = dis__alloc_array(&c.begin, n, sizeof *c.begin);
    memset(m->log_confusion, 0, m->n_workers * m->n_classes * m->n_classes * sizeof *m->log_confusion);
    for (; c.first < n_votes && status == DIS_OK; c.first = c.last) {
        c.last = n_votes - c.first < piece ? n_votes : c.first + piece;
        status = dis__run_jobs(m->ctx, n_blocks(&c), sort_job, &c);
        if (status == DIS_OK) status = dis__run_jobs(m->ctx, c.n_groups, add_job, &c);
    }
    dis__free(c.vote);
    dis__free(c.begin);
    return status;
}
