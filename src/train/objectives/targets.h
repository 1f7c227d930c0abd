/* targets.h: what the items of a set of examples are to become, in the order of the items. */
#ifndef DIS_TRAIN_TARGETS_H
#define DIS_TRAIN_TARGETS_H
#include "train/objectives/objective.h"

typedef struct {
    size_t n_items, n_classes;
    int32_t *label;  /* (n_items) gold or silver, -1: none; NULL: neither is there */
    double *human;   /* (n_items, n_classes) soft labels; NULL: there are none */
    float *target;   /* the same for networks, rows without a label 0 */
    float *weight;   /* (n_items) of its soft label, 0: none */
    float *of_class; /* (n_classes) weight of items with that label; NULL: 1 */
    float *of_item;  /* (n_items) weight given by the caller; NULL: 1 */
    uint64_t *first; /* (n_items + 1) votes of item i: first[i] .. first[i + 1] - 1; NULL: none */
    int32_t *worker, *vote;
    size_t n_workers;
    size_t n_used; /* items with a target that the objective uses */
    bool *used;    /* (n_items) */
} dis__targets;

/* The classes of a set of examples: those of the labels, else of the votes, else of gold in the usual order. */
dis_status dis__examples_get_classes(const dis_examples *examples, dis_names **out);
/* `lenient`: items without a target are left out; otherwise they are an error that names the first. For judging
 * (development sets) `objective` and `settings` are NULL: label is gold where there is some, else silver. With a
 * warm-up label is the majority of the votes, -1 where they tie. */
dis_status dis__targets_init(dis_context *ctx, const dis_examples *examples, const dis__objective_row *objective,
                             const dis__objective_settings *settings, const dis_names *classes, bool lenient,
                             dis__targets *out);
/* Items weigh items / (classes x items of their class): by their labels, else by their soft labels, whose mass in a
 * class counts. DIS_EUSAGE: an objective of votes. */
dis_status dis__targets_set_class_weights(dis__targets *targets, const dis__objective_row *objective);
/* Weights of the caller (train.h, item_weights). Items of weight 0 are no longer used. DIS_EUSAGE: an objective of
 * votes. DIS_EDATA: a weight that is negative or not finite, or no item with a weight above 0. */
dis_status dis__targets_set_item_weights(dis__targets *targets, const dis__objective_row *objective,
                                         const double *weights);
/* Weight of an item with a label in the loss of that label: of its class and of the item. */
float dis__label_weight(const dis__targets *targets, size_t item);
/* What an item counts for in the mean of a head's losses: `head` as the objective has them, in their order; after them
 * that of labels. */
double dis__target_weight(const dis__targets *targets, const dis__objective_row *objective, size_t head, bool over_all,
                          size_t item);
void dis__targets_free(dis__targets *targets);

#endif
