/* folds.h: out-of-fold predictions: each item is predicted by a model that was not trained on it.
 *
 * The items are split into folds by the seed, with the same share of every label in every fold to within one item. The
 * model of each fold is trained on all other items, with the same options, and predicts the fold. The result has one
 * row per item, in the order of the items, and can be combined with votes (predictions.h).
 *
 *     dis_examples all = {.size = sizeof(dis_examples)}; // .items and .labels, as for dis_model_train()
 *     dis_model_train_options o = dis_model_train_options_default();
 *     dis_folds_options f = dis_folds_options_default();
 *     dis_labels *predicted;
 *     o.objective = "soft-ce";
 *     if (dis_folds_predict(NULL, &all, NULL, &o, &f, &predicted) == DIS_OK)
 *         dis_labels_destroy(predicted);
 *
 * The same data, options and seed give the same bytes for any number of threads, and in whatever order folds are
 * trained. */
#ifndef DIS_FOLDS_H
#define DIS_FOLDS_H
#include "dissent/train.h"

typedef struct {
    size_t size;      /* of this struct */
    size_t n_folds;   /* 10 */
    double dev;       /* share of the items outside of a fold to choose the epoch by; 0: none */
    const char *head; /* whose predictions; NULL: the first */
    size_t jobs;      /* 1; folds trained at the same time by dis_folds_predict(); 0: as many as fit (train_runs.h) */
} dis_folds_options;
DIS_OPTIONS_API(dis_folds_options);

/* Trains all folds. `dev`, which may be NULL, is a development set of its own, the same for all folds. Of the
 * training options, `seed` also deals the folds; a `folder` gets a checkpoint of each fold in fold-1, fold-2, ...
 * within it, and `resume` goes on from them. Errors as those of dis_model_train(); DIS_EUSAGE: fewer than 2 folds, both
 * kinds of development sets; DIS_EDATA: fewer items than folds. */
DIS_API dis_status dis_folds_predict(dis_context *ctx, const dis_examples *all, const dis_examples *dev,
                                     const dis_model_train_options *options, const dis_folds_options *folds,
                                     dis_labels **out);

/* ---- the split alone, for dis_model_train_runs() ---- */

typedef struct dis_folds dis_folds;

/* Splits the items. They must outlive the folds, as must everything that `all` points to. */
DIS_API dis_status dis_folds_create(dis_context *ctx, const dis_examples *all, const dis_folds_options *options,
                                    uint64_t seed, dis_folds **out);
DIS_API void dis_folds_destroy(dis_folds *folds);

#endif
