/* agreement_pair_table.h: counts of the votes of pairs of workers on the items that both voted on.
 *
 * Counts are accumulated item by item, in one pass over the votes for as many pairs as fit into memory:
 *
 *     dis__pair_table t;
 *     DIS_TRY(dis__pair_table_create(ctx, votes, max_pairs, order, &t));
 *     for (size_t first = 0; first < t.n_pairs; first = t.last) {
 *         DIS_TRY(dis__pair_table_count(ctx, &t, first));
 *         ... dis__pair_table_at(&t, p) of every pair p from first to t.last ...
 *     }
 *     dis__pair_table_destroy(&t);
 *
 * The selected workers are those with most votes, limited by the requested number of pairs: a crowd of 80,000 has 3e9
 * pairs. Ranks count the votes on their items, and the integer counts are added up. */
#ifndef DIS_AGREEMENT_AGREEMENT_PAIR_TABLE_H
#define DIS_AGREEMENT_AGREEMENT_PAIR_TABLE_H
#include "dissent/votes.h"
#include "core/parallel/pool.h"

typedef struct {
    const dis_votes_view *votes;
    size_t n;           /* selected workers */
    uint32_t *worker;   /* (n) their indices, ascending */
    uint32_t *rank;     /* (n_workers) position in `worker`; UINT32_MAX: not selected */
    uint16_t *place;    /* (n_classes) position of each class in the class order, or its index */
    size_t n_pairs;     /* n (n - 1) / 2: by the first worker, then by the second */
    size_t width;       /* values per row */
    size_t first, last; /* pairs counted in this pass */
    size_t room;        /* capacity in pairs */
    size_t n_copies;    /* tables that threads fill in parallel */
    uint64_t *facts;    /* (n_copies, room, width) */
} dis__pair_table;

/* A row: pairs of votes, pairs that agree, sums of distances and of their squares, and the votes of either worker for
 * the class at each position. */
typedef struct {
    uint64_t *n, *equal, *linear, *quadratic;
    uint64_t *a, *b; /* (n_classes) */
} dis__pair_counts;

/* order: (n_classes) the class at each position, or NULL. spare: additional bytes per pair that the caller needs. */
dis_status dis__pair_table_create(dis_context *ctx, const dis_votes_view *votes, size_t max_pairs,
                                  const uint32_t *order, size_t spare, dis__pair_table *out);
void dis__pair_table_destroy(dis__pair_table *t);
/* Counts pairs from `first` on, if they are not in the table; sets last. */
dis_status dis__pair_table_count(dis_context *ctx, dis__pair_table *t, size_t first);

static inline dis__pair_counts dis__pair_table_at(const dis__pair_table *t, size_t pair)
{
    uint64_t *row = t->facts + (pair - t->first) * t->width;
    const size_t n_classes = t->votes->n_classes;
    return (dis__pair_counts){row, row + 1, row + 2, row + 3, row + 4, row + 4 + n_classes};
}

/* The pair of the workers at positions x < y. */
static inline size_t dis__pair_table_index(const dis__pair_table *t, size_t x, size_t y)
{
    return x * (2 * t->n - x - 1) / 2 + y - x - 1;
}

/* Votes of the selected workers on one item, by worker; those of one worker in input order. */
typedef struct {
    struct {
        uint32_t rank;
        uint16_t place;
    } * vote; /* (n) */
    size_t n, capacity;
} dis__ranked_votes;
dis_status dis__ranked_votes_gather(const dis__pair_table *t, size_t item, dis__ranked_votes *out);

#endif
