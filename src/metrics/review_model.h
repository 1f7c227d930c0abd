/* review_model.h: the crowd as `dissent review` sees it.
 *
 *     P(label v | worker w, truth t, level e)  =  confusion[w][v][t] ^ ease[e] / sum over v of the same
 *
 * Levels are how hard an item is: at ease 1 workers vote as they do on the whole, below it their votes say less, above
 * it more (the odds of being right are raised to a power, as in GLAD, Whitehill et al. 2009, but with a few levels and
 * any confusion matrix). Where it is not known who voted, everybody is the same worker. */
#ifndef DIS_METRICS_REVIEW_MODEL_H
#define DIS_METRICS_REVIEW_MODEL_H
#include "dissent/review.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/special.h"

enum { DIS_REVIEW_LEVELS = 3, DIS_REVIEW_HARD = 0, DIS_REVIEW_USUAL = 1 };
extern const double dis__review_ease[DIS_REVIEW_LEVELS];

typedef struct {
    dis_context *ctx;
    dis_votes_view votes;
    const int32_t *gold; /* (n_items) or NULL */
    size_t n_workers;    /* 1 where it is not known who voted */
    size_t n_classes;    /* K */
    dis__special special;
    double *p;             /* (n_items, K): posterior of the true class */
    double *log_confusion; /* (n_workers, K voted, K true) */
    double *log_norm;      /* (levels, n_workers, K true): log of the sum over v above */
    double *crowd;         /* (levels, K voted, K true): confusion matrix of all votes together */
    double *log_prior;     /* (K) */
    double log_level[DIS_REVIEW_LEVELS];
    /* Votes by worker; NULL where it is not known who voted. */
    uint64_t *worker_start; /* (n_workers + 1) */
    uint32_t *item_of;      /* (n_votes) */
    uint16_t *label_of;     /* (n_votes) */
} dis__review_model;

/* Bytes beside the votes and the posterior. */
size_t dis__review_model_memory(const dis_votes_view *votes);

/* Takes over `p`, the first labels (freed by destroy, on failure too). */
dis_status dis__review_model_create(dis_context *ctx, const dis_votes_view *votes, const int32_t *gold, double *p,
                                    dis__review_model *m);
void dis__review_model_destroy(dis__review_model *m);

/* Joint posterior (levels, K) of item i: sums to 1. `sums` (K) gets the summed log-probabilities of its votes at ease
 * 1, class by class. */
void dis__review_joint(const dis__review_model *m, size_t i, double *joint, double *sums);

static inline double *dis__review_matrix(const dis__review_model *m, size_t w)
{
    return m->log_confusion + w * m->n_classes * m->n_classes;
}

/* Column t of a matrix of counts (K voted, K true) to probabilities, drawn a little towards the diagonal. */
void dis__review_normalise(const double *counts, size_t n_classes, double *out);

#endif
