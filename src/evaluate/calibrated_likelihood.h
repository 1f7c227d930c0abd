/* calibrated_likelihood.h: log-likelihood after calibration, which compares models independently of how confident their
 * predictions are. */
#ifndef DIS_EVALUATE_CALIBRATED_LIKELIHOOD_H
#define DIS_EVALUATE_CALIBRATED_LIKELIHOOD_H
#include "dissent/evaluate.h"
#include "core/error.h"
#include "core/kernel.h"

typedef struct {
    size_t n, n_classes;   /* items that have a gold label */
    const double *q;       /* (any, n_classes) */
    const int32_t *gold;   /* (any) */
    const size_t *item;    /* (n) their rows; NULL: 0, 1, 2, ... */
    const uint32_t *group; /* (any) as in dis_evaluation_input */
    size_t n_groups, n_splits;
    uint64_t seed;
} dis__calibration;

typedef struct {
    double value; /* mean over the splits */
    double temperature[DIS_EVALUATION_MAX_SPLITS];
    bool on_bound[DIS_EVALUATION_MAX_SPLITS];
    uint16_t *fitted; /* (n): bit s is set if the item was in the half on which the temperature of split s was fitted */
} dis__fitted_temperatures;

/* DIS_OK with *reason set (static) if nothing can be computed. The caller frees out->fitted. */
dis_status dis__temperatures_fit(dis_context *ctx, const dis__calibration *c, dis__fitted_temperatures *out,
                                 const char **reason);

/* loss[s][i]: -log q at the gold label of item i at the temperature of split s; 0 for items it was fitted on. */
dis_status dis__calibrated_losses_compute(dis_context *ctx, const dis__calibration *c,
                                          const dis__fitted_temperatures *at, double *const *loss);

/* ---- kernel ---- */

/* Sums over the fitted half, and over the other: of f and of its derivatives by 1 / T. */
typedef struct {
    double f, f1, f2, f3;
} dis__calibrated_sums;

typedef struct {
    const dis__calibration *c;
    const uint16_t *fitted;
    size_t n_splits;
    unsigned bit[DIS_EVALUATION_MAX_SPLITS]; /* which split */
    double beta[DIS_EVALUATION_MAX_SPLITS];  /* 1 / T */
    double *const *loss;                     /* for dis__calibrated_items */
} dis__calibrated_args;

/* Items stride * first, stride * (first + 1), ..., stride * (last - 1): adds to sums (n_splits, 2), fitted first.
 * scratch: n_classes vectors. */
DIS_KERNEL_DECLARE(void, dis__calibrated_pass,
                   (const dis__calibrated_args *args, size_t first, size_t last, size_t stride, double *scratch,
                    dis__calibrated_sums *sums));
DIS_KERNEL_DECLARE(void, dis__calibrated_items,
                   (const dis__calibrated_args *args, size_t first, size_t last, double *scratch));

#endif
