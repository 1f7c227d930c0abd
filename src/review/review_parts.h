/* review_parts.h: the parts of a review: items, the budget, workers. */
#ifndef DIS_REVIEW_REVIEW_PARTS_H
#define DIS_REVIEW_REVIEW_PARTS_H
#include "dissent/review.h"
#include "labels/crowd/crowd_model.h"

enum { DIS_REVIEW_MAX_VOTES = 8 }; /* maximum number of votes for one item in a budget: after these, run a new review */

/* Fills rows (n_items), in the order of items, except `buy` and `accepted`. p: (n_items, K) the labels' probabilities;
 * labels: the reviewed ones, or NULL. */
dis_status dis__review_compute_items(const dis__crowd_model *m, const double *p, const int32_t *labels,
                                     dis_review_item *rows);

/* Expectation for item i after n <= DIS_REVIEW_MAX_VOTES more votes of typical workers. scratch: (DIS_CROWD_LEVELS + 1)
 * * K values. */
typedef struct {
    double entropy; /* of the true class, nats */
    double right;   /* probability that the label is correct */
} dis__review_prediction;
dis__review_prediction dis__review_predict_item(const dis__crowd_model *m, size_t i, size_t n, double *scratch);

/* Constant, random or confuses. */
bool dis__review_verdict_is_unreliable(dis_review_verdict verdict);

/* Spreads the budget: sets `buy` of the rows (n_items, in the order of items). *gain: the expected number of corrected
 * labels. */
dis_status dis__review_allocate_budget(const dis__crowd_model *m, dis_review_item *rows, uint64_t budget,
                                       uint64_t *spent, double *gain);

/* Fills rows (n_workers), in the order of workers. p: (n_items, K) the labels' probabilities. */
dis_status dis__review_compute_workers(const dis__crowd_model *m, const double *p, bool judged,
                                       dis_review_worker *rows);
/* Parts of it: accuracy, agreement with peers and accuracy against gold; the difference to the others on the same
 * items. */
dis_status dis__review_compute_accuracy(const dis__crowd_model *m, const double *p, bool judged,
                                        dis_review_worker *rows);
dis_status dis__review_compute_differences(const dis__crowd_model *m, dis_review_worker *rows);

/* Whether the votes on item i can judge a worker: another worker voted on it, or it has a gold label. */
static inline bool dis__review_is_comparable(const dis__crowd_model *m, size_t i)
{
    return m->votes.start[i + 1] - m->votes.start[i] > 1 || (m->gold && m->gold[i] >= 0);
}

/* x rounded to ten decimals, so that rounding errors, and with them the order of rows, cannot affect a rank. */
static inline double dis__review_round(double x)
{
    return __builtin_round(x * 1e10);
}

#endif
