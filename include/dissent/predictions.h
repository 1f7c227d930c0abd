/* predictions.h: predictions of a model for the items, for label methods that use them (fit.h).
 *
 *     dis_labels *model;
 *     double *p;
 *     dis_predictions_counts counts;
 *     dis_fit *fit;
 *     dis_fit_options o = dis_fit_options_default();
 *     if (dis_labels_read(NULL, "out-of-fold.csv", NULL, &model) == DIS_OK) {
 *         const dis_labels_view view = dis_labels_get_view(model);
 *         if (dis_predictions_align(NULL, &view, votes, &p, &counts) == DIS_OK) {
 *             o.predictions = p;
 *             if (dis_fit_run(NULL, votes, "dawid-skene:smoothing=.5,diagonal=2", &o, &fit) == DIS_OK)
 *                 printf("weight %g\n", dis_fit_get_view(fit).predictions_weight);
 *         }
 *     }
 *
 * Predictions must be out of fold: a model that was trained on labels of an item repeats them. */
#ifndef DIS_PREDICTIONS_H
#define DIS_PREDICTIONS_H
#include "dissent/fit.h"
#include "dissent/labels.h"

typedef struct {
    size_t n_matched;       /* items of the votes that have a prediction */
    size_t n_missing;       /* items of the votes that have none */
    size_t n_without_votes; /* predictions for items without votes: left out */
} dis_predictions_counts;

/* Rows in the order of the items of the votes, columns in that of their classes; rows of zeros where there is no
 * prediction. The caller frees *p (dis_free). DIS_EDATA: a class that the other side lacks, or no item in common. */
DIS_API dis_status dis_predictions_align(dis_context *ctx, const dis_labels_view *labels, const dis_votes *votes,
                                         double **p, dis_predictions_counts *counts);

#endif
