/* item_prior.h: predictions of a model as the prior of each item in the shared loop of the EM methods
 * (item_prior.c). */
#ifndef DIS_LABELS_METHODS_ITEM_PRIOR_H
#define DIS_LABELS_METHODS_ITEM_PRIOR_H
#include "labels/passes/item_passes.h"
#include "core/numbers/special_functions.h"

/* Further sums over items, after the priors of the classes. */
enum { DIS_PRIOR_LOG_Z, DIS_PRIOR_MEAN, DIS_PRIOR_VARIANCE, DIS_PRIOR_SUMS };

typedef struct dis__item_prior {
    size_t n_items, n_classes;
    double n_all;        /* items of all ranks */
    double *log_q;       /* (n_items, n_classes): log q minus its maximum; all 0: no prediction */
    double *factor;      /* (n_items, n_classes): q^weight over the normaliser of the item */
    dis__item_sums pass; /* over items */
    double *scratch;     /* (threads, BLOCK * (n_classes + 1)) */
    double *expected;    /* (n_classes): sum of the priors of all items; followed by: */
    double *total;  /* (DIS_PRIOR_SUMS): logarithms of the normalisers; mean and variance of log q under the priors */
    double *scaled; /* (n_classes) */
    const double *classes;      /* (n_classes): the current class prior */
    double weight, start, cost; /* cost: of one unit of weight, in nats */
    bool fixed;                 /* the weight is given, not estimated */
    dis__special_functions special;
} dis__item_prior;

/* Bytes for this many items. */
size_t dis__item_prior_memory(size_t n_items, size_t n_classes);

/* args->predictions: rows of zeros are items without a prediction. weight: below 0: estimated, beginning with `start`.
 * The caller destroys it, and must not move it. */
dis_status dis__item_prior_create(const dis__fit_args *args, double weight, dis__item_prior *out);
void dis__item_prior_destroy(dis__item_prior *prior);

/* Resets the weight for another restart. */
void dis__item_prior_reset(dis__item_prior *prior);

/* class_sum (n_classes), the sums of the posteriors, transformed so that the rule for the class prior increases the
 * likelihood; valid until the next call. */
const double *dis__item_prior_class_sums(dis__item_prior *prior, const double *class_sum);

/* New weight and factors for the new class prior `classes`, given the sum over items of the expected log q under the
 * posteriors; an evidence of NaN (before the first pass) leaves the weight. */
dis_status dis__item_prior_update(dis__item_prior *prior, const double *classes, double evidence);

#endif
