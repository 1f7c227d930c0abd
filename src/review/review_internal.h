/* review_internal.h: the inside of a review. */
#ifndef DIS_REVIEW_REVIEW_INTERNAL_H
#define DIS_REVIEW_REVIEW_INTERNAL_H
#include "review/review_parts.h"

struct dis_review {
    dis_review_view view;
    dis_review_item *items;     /* (n_items) */
    dis_review_worker *workers; /* (n_workers) */
    size_t *row_of_worker;      /* (n_workers): where each stands in `workers` */
    char *method;
    dis_review_ordinal_item *ordinal_items;     /* (n_items), or NULL */
    double *truth;                              /* (n_items, K): of the place, likewise */
    dis_review_ordinal_worker *ordinal_workers; /* (n_workers), or NULL */
};

/* Fits the method ordinal: ordinal_items, ordinal_workers, n_biased; *p: its soft labels (n_items, K), the caller's. */
dis_status dis__review_ordinal(dis_context *ctx, const dis_votes *votes, const dis_review_options *o,
                               dis_review *review, double **p);
/* What another vote tells and the chance that the label is right, by that fit, where there is one. */
void dis__review_ordinal_rows(const dis_review *review, size_t n_classes, dis_review_item *rows);

#endif
