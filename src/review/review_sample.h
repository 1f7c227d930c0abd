/* review_sample.h: the truth of every item drawn many times, and what that says of workers.
 *
 * EM gives one set of parameters; how far they are off is what intervals are about. So the posterior of everything
 * (truths, difficulties, workers, the crowd) is sampled: review_sample.c has the model and the sweeps. */
#ifndef DIS_REVIEW_REVIEW_SAMPLE_H
#define DIS_REVIEW_REVIEW_SAMPLE_H
#include "labels/methods/crowd_model.h"

typedef struct {
    double mean, low, high; /* share of right votes among those that can be judged; NaN where there are none */
    uint64_t shared;        /* their number */
} dis__review_share;

typedef struct {
    double *p;                 /* (n_items, K): posterior of the truth, all parameters integrated out */
    dis__review_share *worker; /* (n_workers) */
    double spread;             /* how much workers differ: standard deviation of their log-odds of being right */
} dis__review_sample;

/* Bytes that sampling takes, what it gives back included. */
size_t dis__review_sample_memory(const dis_votes_view *votes);
/* For votes whose workers are known. Starts from the fitted model. The caller frees the sample, on failure too. */
dis_status dis__review_sample_draw(const dis__crowd_model *m, uint64_t seed, dis__review_sample *out);
void dis__review_sample_free(dis__review_sample *sample);

/* Whether the votes on item i can judge a worker: somebody else voted, or the truth is known. */
static inline bool dis__review_shared(const dis__crowd_model *m, size_t i)
{
    return m->votes.start[i + 1] - m->votes.start[i] > 1 || (m->gold && m->gold[i] >= 0);
}

#endif
