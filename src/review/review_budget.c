/* Spreads a budget of votes over items: the next vote always goes to the item where it is expected to reduce the
 * entropy of the true class most (review_items.c).
 *
 * The expected entropy of an item decreases by less with every vote and items are independent, so the greedy choice is
 * optimal. Gains are updated in expectation: after real votes have been collected, a new review is better informed than
 * any plan, so no item gets more than DIS_REVIEW_MAX_VOTES votes of one budget.
 *
 * Cost: a heap over the items; one evaluation of the gain for each assigned vote. */
#include "review/review_parts.h"
#include <math.h>

typedef struct {
    double digits;  /* gain of the next vote, rounded */
    double entropy; /* expected after the assigned votes and the next one; NaN: not computed yet */
    uint32_t item;
} bid;

/* Descending; ties in order of items. */
static bool before(const bid *a, const bid *b)
{
    return a->digits != b->digits ? a->digits > b->digits : a->item < b->item;
}

static void sift_down(bid *heap, size_t n, size_t at)
{
    const bid moving = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(&heap[child + 1], &heap[child])) child++;
        if (!before(&heap[child], &moving)) break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

/* Assigns votes from a heap of n items until the budget is spent or no gain remains. */
static uint64_t spend(const dis__crowd_model *m, dis_review_item *rows, bid *heap, size_t n, uint64_t budget,
                      double *scratch)
{
    uint64_t spent = 0;
    for (; n && spent < budget; spent++) {
        bid *top = heap;
        const size_t have = ++rows[top->item].votes_to_buy;
        if (isnan(top->entropy)) top->entropy = dis__review_predict_item(m, top->item, have, scratch).entropy;
        const double now = top->entropy;
        if (have < DIS_REVIEW_MAX_VOTES)
            top->entropy = dis__review_predict_item(m, top->item, have + 1, scratch).entropy;
        top->digits = have < DIS_REVIEW_MAX_VOTES ? dis__review_round(now - top->entropy) : 0;
        if (!(top->digits > 0)) *top = heap[--n];
        if (n) sift_down(heap, n, 0);
    }
    return spent;
}

dis_status dis__review_allocate_budget(const dis__crowd_model *m, dis_review_item *rows, uint64_t budget,
                                       uint64_t *spent, double *gain)
{
    const size_t n_items = m->votes.n_items;
    size_t n = 0;
    bid *heap = NULL;
    double *scratch = NULL;
    *spent = 0;
    *gain = 0;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&heap, n_items, sizeof *heap), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&scratch, (DIS_CROWD_LEVELS + 1) * m->n_classes, sizeof *scratch), end);
    for (size_t i = 0; i < n_items; i++) {
        const double digits = dis__review_round(rows[i].gain);
        if (digits > 0) heap[n++] = (bid){.digits = digits, .entropy = NAN, .item = (uint32_t)i};
    }
    for (size_t at = n / 2; at-- > 0;) sift_down(heap, n, at);
    *spent = spend(m, rows, heap, n, budget, scratch);
    for (size_t i = 0; i < n_items; i++)
        if (rows[i].votes_to_buy)
            *gain += fmin(dis__review_predict_item(m, i, rows[i].votes_to_buy, scratch).right -
                              dis__review_predict_item(m, i, 0, scratch).right,
                          1 - rows[i].p_correct);
end:
    dis__free(heap);
    dis__free(scratch);
    return status;
}
