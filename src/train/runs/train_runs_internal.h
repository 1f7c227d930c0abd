/* train_runs_internal.h: several trainings in one call: internal interface. */
#ifndef DIS_TRAIN_RUNS_TRAIN_RUNS_INTERNAL_H
#define DIS_TRAIN_RUNS_TRAIN_RUNS_INTERNAL_H
#include "dissent/train_runs.h"
#include "core/error.h"

struct dis_train_runs {
    size_t n_runs, n_folds;
    dis_train_curve *curve; /* (n_runs) with epochs of their own */
    dis_model *model;
    dis_labels **part; /* (n_folds) the predictions of each fold */
    dis_labels *out_of_fold;
};

/* folds.c */
size_t dis__folds_count(const dis_folds *folds);
/* Trains without fold f (from 0) and predicts it. Any number of threads may call it at once, each with a context of its
 * own. */
dis_status dis__folds_train(dis_context *ctx, const dis_folds *folds, size_t f, const dis_examples *dev,
                            const dis_model_train_options *options, dis_labels **out);
/* part (n_folds): the predictions of each fold. One table of all, in the order of the items. */
dis_status dis__folds_join(dis_context *ctx, const dis_folds *folds, dis_labels *const *part, dis_labels **out);

/* train_runs_ranks.c: whether each rank trains some of the models; whether this one trains model n (the folds, then the
 * runs); afterwards, the curves and predictions of all ranks. */
bool dis__train_runs_are_split(const dis_context *ctx);
bool dis__train_runs_are_own(const dis_context *ctx, const dis_train_runs *runs, size_t n);
dis_status dis__train_runs_gather(dis_context *ctx, dis_train_runs *runs);

#endif
