/* sets.h: the parts of the scale multi-label: sets from votes (sets.c), labels (sets_labels.c), agreement
 * (sets_agreement.c). */
#ifndef DIS_SCALED_SETS_H
#define DIS_SCALED_SETS_H
#include "scaled/scaled_internal.h"
#include "dissent/recipe.h"

typedef struct {
    const dis__scaled_args *args;
    dis_scaled *out;
    dis_label_plan choice;
    const dis_names *classes;
    size_t n_classes, n_sets, n_votes;
    bool *has;                      /* (n_sets, n_classes) */
    double *size;                   /* (n_sets) */
    uint64_t *start;                /* (n_items + 1) */
    uint32_t *worker, *kind, *task; /* (n_votes): one set per worker and item */
    uint16_t *label;                /* (n_votes) room */
    double *p;                      /* (n_classes, n_items) */
} dis__sets;

dis_status dis__sets_add_labels(dis__sets *x);   /* tables labels, items and joint */
dis_status dis__sets_add_measures(dis__sets *x); /* measures, tables classes and workers */

#endif
