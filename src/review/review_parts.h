/* review_parts.h: what a review is made of: items, the budget, workers. */
#ifndef DIS_REVIEW_REVIEW_PARTS_H
#define DIS_REVIEW_REVIEW_PARTS_H
#include "dissent/review.h"
#include "labels/crowd/crowd_model.h"

enum {
    DIS_REVIEW_MAX_VOTES = 8
}; /* votes that one item gets of a budget: after that many it is time for a new review */

/* Fills rows (n_items), in the order of items, all but `buy` and `accepted`. p: (n_items, K) the labels' probabilities;
 * labels: those under review, or NULL. */
dis_status dis__review_compute_items(const dis__crowd_model *m, const double *p, const int32_t *labels,
                                     dis_review_item *rows);

/* What is expected of item i after n <= DIS_REVIEW_MAX_VOTES more votes of typical workers. scratch: (DIS_CROWD_LEVELS + 1)
 * * K numbers. */
typedef struct {
    double entropy; /* of the truth, nats */
    double right;   /* chance that the label is right */
} dis__review_prediction;
dis__review_prediction dis__review_predict_item(const dis__crowd_model *m, size_t i, size_t n, double *scratch);

/* Spreads the budget: rows (n_items, in the order of items) get their `buy`. *gain: the expected number of labels put
 * right. */
dis_status dis__review_allocate_budget(const dis__crowd_model *m, dis_review_item *rows, uint64_t budget,
                                       uint64_t *spent, double *gain);

/* Fills rows (n_workers), in the order of workers. p: (n_items, K) the labels' probabilities. */
dis_status dis__review_compute_workers(const dis__crowd_model *m, const double *p, bool judged,
                                       dis_review_worker *rows);
/* Parts of it: accuracy, peers and accuracy against gold; the difference to the others on the same items. */
dis_status dis__review_compute_accuracy(const dis__crowd_model *m, const double *p, bool judged,
                                        dis_review_worker *rows);
dis_status dis__review_compute_differences(const dis__crowd_model *m, dis_review_worker *rows);

/* Whether the votes on item i can judge a worker: somebody else voted, or the truth is known. */
static inline bool dis__review_is_comparable(const dis__crowd_model *m, size_t i)
{
    return m->votes.start[i + 1] - m->votes.start[i] > 1 || (m->gold && m->gold[i] >= 0);
}

/* x to ten digits after the point, so that rounding, and with it the order of rows, decides no rank. */
static inline double dis__review_round(double x)
{
    return __builtin_round(x * 1e10);
}

#endif
