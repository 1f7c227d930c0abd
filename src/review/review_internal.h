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
};

#endif
