/* review_support.h: crowds whose truth is known, made in memory, for the tests of reviews. */
#ifndef DIS_SUPPORT_REVIEW_SUPPORT_H
#define DIS_SUPPORT_REVIEW_SUPPORT_H
#include "em_support.h"
#include "core/random/random.h"

/* Worker w is right with accuracy[w] (wrong votes go anywhere else), or always says habit[w] when that is not
 * negative. */
typedef struct {
    uint64_t seed;
    size_t n_items, n_workers, n_classes;
    double accuracy[64];
    int habit[64];
} review_crowd;

static inline size_t review_truth(const review_crowd *c, size_t i)
{
    return dis__random_below(c->seed, 1, i, c->n_classes);
}

/* What worker w says about item i, whenever asked. */
static inline size_t review_vote(const review_crowd *c, size_t i, size_t w)
{
    const size_t truth = review_truth(c, i);
    if (c->habit[w] >= 0) return (size_t)c->habit[w];
    if (dis__random_uniform(c->seed, 2, i * 64 + w) < c->accuracy[w]) return truth;
    const size_t k = dis__random_below(c->seed, 3, i * 64 + w, c->n_classes - 1);
    return k + (k >= truth);
}

/* The q-th voter of item i: no worker twice for q < n_workers. */
static inline size_t review_voter(const review_crowd *c, size_t i, size_t q)
{
    const size_t W = c->n_workers;
    size_t stride = 1 + dis__random_below(c->seed, 6, i, W);
    for (;; stride++) { /* the next one that has no divisor in common with W */
        size_t a = stride, b = W;
        while (b) {
            const size_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) break;
    }
    return (dis__random_below(c->seed, 4, i, W) + q * stride) % W;
}

/* Items with taken[i] votes each, by their first voters. */
static inline dis_votes *review_votes(const review_crowd *c, const size_t *n_votes)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < c->n_items; i++) n += n_votes[i];
    uint32_t *task = malloc((n + 1) * sizeof *task), *worker = malloc((n + 1) * sizeof *worker);
    uint16_t *label = malloc((n + 1) * sizeof *label);
    assert_true(task && worker && label);
    for (size_t i = 0; i < c->n_items; i++)
        for (size_t q = 0; q < n_votes[i]; q++, at++) {
            task[at] = (uint32_t)i;
            worker[at] = (uint32_t)review_voter(c, i, q);
            label[at] = (uint16_t)review_vote(c, i, worker[at]);
        }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = c->n_items,
                                .n_workers = c->n_workers,
                                .n_classes = c->n_classes,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_votes *votes;
    if (dis_votes_create_from_arrays(NULL, &a, &votes) != DIS_OK) fail_msg("%s", dis_last_error());
    free(task);
    free(worker);
    free(label);
    return votes;
}

static inline dis_votes *review_even_votes(const review_crowd *c, size_t each)
{
    size_t *n_votes = malloc(c->n_items * sizeof *n_votes);
    assert_non_null(n_votes);
    for (size_t i = 0; i < c->n_items; i++) n_votes[i] = each;
    dis_votes *votes = review_votes(c, n_votes);
    free(n_votes);
    return votes;
}

/* Everybody honest, .6 to .9 right. */
static inline review_crowd review_good_crowd(uint64_t seed, size_t n_items, size_t n_workers, size_t n_classes)
{
    review_crowd c = {.seed = seed, .n_items = n_items, .n_workers = n_workers, .n_classes = n_classes};
    for (size_t w = 0; w < n_workers; w++) {
        c.accuracy[w] = .6 + .3 * dis__random_uniform(seed, 5, w);
        c.habit[w] = -1;
    }
    return c;
}

static inline dis_review *review_of(dis_context *ctx, const dis_votes *votes, const dis_review_options *o)
{
    dis_review *review;
    if (dis_review_run(ctx, votes, o, &review) != DIS_OK) fail_msg("%s", dis_last_error());
    return review;
}

#endif
