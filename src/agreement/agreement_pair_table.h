/* agreement_pair_table.h: what pairs of workers voted on the items that both voted on, as counts.
 *
 * Counts are made item by item, in one pass over the votes for as many pairs as memory takes:
 *
 *     dis__pair_table t;
 *     DIS_TRY(dis__pair_table_create(ctx, votes, max_pairs, order, &t));
 *     for (size_t first = 0; first < t.n_pairs; first = t.last) {
 *         DIS_TRY(dis__pair_table_count(ctx, &t, first));
 *         ... dis__pair_table_at(&t, p) of every pair p from first to t.last ...
 *     }
 *     dis__pair_table_destroy(&t);
 *
 * The workers looked at are those with most votes, as many as make no more pairs than asked for, so that a crowd of
 * 80,000 does not take 3e9. Ranks count the votes on their items; counts are integers, which are added up. */
#ifndef DIS_AGREEMENT_AGREEMENT_PAIR_TABLE_H
#define DIS_AGREEMENT_AGREEMENT_PAIR_TABLE_H
#include "dissent/votes.h"
#include "core/parallel/pool.h"

typedef struct {
    const dis_votes_view *votes;
    size_t n;           /* workers looked at */
    uint32_t *worker;   /* (n) who they are, rising */
    uint32_t *rank;     /* (n_workers) position in `worker`; UINT32_MAX: not looked at */
    uint16_t *place;    /* (n_classes) of each class in the order that means something, or as they come */
    size_t n_pairs;     /* n (n - 1) / 2: by the first worker, then by the second */
    size_t width;       /* numbers of a row */
    size_t first, last; /* pairs whose counts are there */
    size_t room;        /* pairs that there is room for */
    size_t n_copies;    /* tables that threads fill side by side */
    uint64_t *facts;    /* (n_copies, room, width) */
} dis__pair_table;

/* A row: pairs of votes, those that agree, sums of distances and of their squares, votes of either worker for the class
 * at each position. */
typedef struct {
    uint64_t *n, *equal, *linear, *quadratic;
    uint64_t *a, *b; /* (n_classes) */
} dis__pair_counts;

/* order: (n_classes) the class at each position, or NULL. spare: numbers per pair that the caller needs as well. */
dis_status dis__pair_table_create(dis_context *ctx, const dis_votes_view *votes, size_t max_pairs,
                                  const uint32_t *order, size_t spare, dis__pair_table *out);
void dis__pair_table_destroy(dis__pair_table *t);
/* Counts from pair `first` on, unless they are there; sets last. */
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

/* Votes of the workers looked at on one item, by worker, those of one worker in their order. */
typedef struct {
    struct {
        uint32_t rank;
        uint16_t place;
    } * vote; /* (n) */
    size_t n, capacity;
} dis__ranked_votes;
dis_status dis__ranked_votes_gather(const dis__pair_table *t, size_t item, dis__ranked_votes *out);

#endif
