/* tie_models.h: what a tie means: a table of likelihoods of one comparison.
 *
 * x: the predictor, log-odds of the first against the second without ties. t: the tie parameter, on a scale where the
 * log-likelihood is concave in (x, t). */
#ifndef DIS_SCALED_TIE_MODELS_H
#define DIS_SCALED_TIE_MODELS_H
#include "core/error.h"

/* A log-likelihood with its first derivatives and negative second derivatives. */
typedef struct {
    double value, x, t, xx, xt, tt;
} dis__pair_likelihood;

typedef struct {
    const char *name;
    bool has_parameter;
    double start, low; /* t stays above `low` */
    /* n: votes for the first, for the second, ties */
    dis__pair_likelihood (*evaluate)(double x, double t, const double n[3]);
    double (*value)(double x, double t, const double n[3]);
    /* Probabilities of the three outcomes. */
    void (*predict)(double x, double t, double p[3]);
} dis__tie_model;

#define DIS_TIE_MODEL_NAMES "half|davidson|rao-kupper"
/* Row i, in the order of DIS_TIE_MODEL_NAMES. */
const dis__tie_model *dis__tie_model_get(size_t i);

#endif
