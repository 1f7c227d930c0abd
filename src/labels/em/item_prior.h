/* item_prior.h: predictions of a model as the prior of each item in the shared loop of the EM methods
 * (item_prior.c). */
#ifndef DIS_LABELS_METHODS_ITEM_PRIOR_H
#define DIS_LABELS_METHODS_ITEM_PRIOR_H
#include "labels/passes/item_passes.h"
#include "core/numbers/special_functions.h"

/* What is added up over items, after the priors of their classes. */
enum { DIS_PRIOR_LOG_Z, DIS_PRIOR_MEAN, DIS_PRIOR_VARIANCE, DIS_PRIOR_SUMS };

typedef struct dis__item_prior {
    size_t n_items, n_classes;
    double n_all;        /* items of all ranks */
    double *log_q;       /* (n_items, n_classes): below the largest of the item; 0 everywhere: no prediction */
    double *factor;      /* (n_items, n_classes): q^weight over the normaliser of the item */
    dis__item_sums pass; /* over items */
    double *scratch;     /* (threads, BLOCK * (n_classes + 1)) */
    double *expected;    /* (n_classes): sum of the priors of all items; then the others: */
    double *total;  /* (DIS_PRIOR_SUMS): logarithms of the normalisers; mean and variance of log q under the priors */
    double *scaled; /* (n_classes) */
    const double *classes;      /* (n_classes): the class prior at hand */
    double weight, start, cost; /* cost: of one unit of weight, in nats */
    bool fixed;                 /* the weight is given, not estimated */
    dis__special_functions special;
} dis__item_prior;

/* Bytes for so many items. */
size_t dis__item_prior_memory(size_t n_items, size_t n_classes);

/* args->predictions: rows of zeros are items without a prediction. weight: below 0: to be estimated, from `start` on.
 * The caller destroys it, and keeps it where it is. */
dis_status dis__item_prior_create(const dis__fit_args *args, double weight, dis__item_prior *out);
void dis__item_prior_destroy(dis__item_prior *prior);

/* The weight as it was at the start: another restart begins. */
void dis__item_prior_reset(dis__item_prior *prior);

/* class_sum (n_classes), the sums of the posteriors, as the rule that makes a class prior of them has to see them so
 * that the likelihood rises; valid until the next call. */
const double *dis__item_prior_class_sums(dis__item_prior *prior, const double *class_sum);

/* New weight and factors for the new class prior `classes`, given the sum over items of the expected log q under the
 * posteriors; an evidence of NaN (there was no pass yet) leaves the weight. */
dis_status dis__item_prior_update(dis__item_prior *prior, const double *classes, double evidence);

#endif
