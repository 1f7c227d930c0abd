/* review_inside.h: the inside of a review. */
#ifndef DIS_METRICS_REVIEW_INSIDE_H
#define DIS_METRICS_REVIEW_INSIDE_H
#include "metrics/review_parts.h"

struct dis_review {
    dis_review_view view;
    dis_review_item *items;     /* (n_items) */
    dis_review_worker *workers; /* (n_workers) */
    size_t *row_of_worker;      /* (n_workers): where each stands in `workers` */
    char *method;
};

#endif
