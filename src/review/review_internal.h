/* review_internal.h: internals of a review. */
#ifndef DIS_REVIEW_REVIEW_INTERNAL_H
#define DIS_REVIEW_REVIEW_INTERNAL_H
#include "review/review_parts.h"

struct dis_review {
    dis_review_view view;
    dis_review_item *items;     /* (n_items) */
    dis_review_worker *workers; /* (n_workers) */
    size_t *row_of_worker;      /* (n_workers): index of each in `workers` */
    char *method;
    dis_review_ordinal_item *ordinal_items;     /* (n_items), or NULL */
    double *truth;                              /* (n_items, K): posterior of the position's class, from the same fit */
    double *ordinal_p;                          /* (n_items, K): soft labels of that fit, until they are used */
    dis_review_ordinal_worker *ordinal_workers; /* (n_workers), or NULL */
    dis_review_vote *votes;                     /* (n_votes), or NULL: causes */
    double *slip_rate;                          /* (n_workers) likewise */
    double *reading_p;                          /* (n_items, K) likewise */
    dis_review_camps camps;
    uint8_t *camp; /* (n_workers), or NULL */
};

/* The reviewed labels as probabilities (n_items, K); the caller owns them. Fills review->method. */
dis_status dis__review_create_labels(dis_context *ctx, const dis_votes *votes, const dis_review_options *o,
                                     dis_review *review, double **p);
/* Fits the method ordinal: ordinal_items, ordinal_workers, ordinal_p, truth, n_biased. */
dis_status dis__review_fit_ordinal(dis_context *ctx, const dis_votes *votes, const dis_review_options *o,
                                   dis_review *review);
/* Fills `gain` of the rows from that fit and, if its labels are reviewed, `right`. Without a fit, nothing. */
void dis__review_apply_ordinal(const dis_review *review, size_t n_classes, dis_review_item *rows);
/* Causes of votes (vote_causes.c): votes, slip_rate, reading_p of the review and its view. */
dis_status dis__review_find_causes(dis_context *ctx, const dis_votes *votes, const dis_worker_groups *groups,
                                   dis_review *review);

#endif
