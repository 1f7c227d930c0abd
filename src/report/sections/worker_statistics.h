/* worker_statistics.h: what the figures about workers share. Verdicts are those of the review (dissent/review.h): nothing here
 * judges anybody by rules of its own. */
#ifndef DIS_REPORT_WORKER_STATISTICS_H
#define DIS_REPORT_WORKER_STATISTICS_H
#include "report/report_internal.h"

enum { DIS__WORKER_ROWS = 500 };

typedef struct {
    uint64_t *votes; /* (n_workers) */
    uint64_t *n_gold_votes,
        *n_gold_correct; /* (n_workers): of these, on items with gold labels, and correct ones; or NULL */
    size_t *row;         /* (n_workers): their row of the review; NULL without one */
    dis__top_item busiest[DIS__WORKER_ROWS];
    size_t n_busiest;
    double min, max; /* votes of one worker */
} dis__worker_statistics;

/* NULL: there is no review. */
const dis_review_worker *dis__worker_statistics_find_review(const dis__report_job *job, const dis__worker_statistics *c,
                                                            size_t worker);

dis_status dis__figure_confusions(dis__report_job *job, const dis__worker_statistics *c);

#endif
