/* curve.h: metrics of a training run, epoch by epoch: the result of train.h and input of report.h. Plain values; the
 * function that returns a curve documents its lifetime. */
#ifndef DIS_CURVE_H
#define DIS_CURVE_H
#include "dissent/status.h"

/* One epoch of the curve. NaN: not measured. */
typedef struct {
    double loss;              /* mean over the steps of the epoch */
    double rate;              /* of its last step */
    double dev;               /* the metric that the best epoch is chosen by */
    double dev_cross_entropy; /* to the soft labels of the development set, or to its gold */
} dis_epoch;

typedef struct {
    uint64_t seed;
    const dis_epoch *epoch;
    size_t n_epochs, best_epoch; /* from 0; of the epoch that was kept */
    const char *dev_metric;      /* the metric that `dev` is, NULL without a development set */
} dis_curve;

#endif
