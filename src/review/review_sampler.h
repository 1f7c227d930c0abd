/* review_sampler.h: the state of a Gibbs sampler over a crowd (review_sample.c has the model). */
#ifndef DIS_REVIEW_REVIEW_SAMPLER_H
#define DIS_REVIEW_REVIEW_SAMPLER_H
#include "review/review_sample.h"

enum { DIS_SAMPLER_LEVELS = DIS_CROWD_LEVELS, DIS_SAMPLER_ALONE = 0x80 };

/* What workers add up to, for the draw of the crowd's parameters. */
typedef struct {
    double *skill;   /* (K): sum of x - theta over workers with votes in the column */
    double *square;  /* (K): sum of (x - theta - mu)^2 */
    double *number;  /* (K): how many workers */
    double *talent;  /* theta^2, and the number of workers */
    double *mistake; /* (K voted, K true): all votes by the truth drawn */
} dis__sampler_sums;

typedef struct dis__sampler dis__sampler;
struct dis__sampler {
    const dis__crowd_model *m;
    void (*products)(const dis__sampler *s, size_t i, double *joint, double *mistakes); /* review_kernel.c */
    size_t K, W;
    uint64_t seed, sweep;
    size_t n_kept, kept; /* sweeps that count, and how many of them are done */
    bool keep;
    double chance; /* log(K - 1): at x = 0 a worker is right as often as a guess */
    /* items */
    uint16_t *truth;
    uint8_t *level; /* and DIS_SAMPLER_ALONE, where votes can judge nobody: workers look at items all over memory */
    uint64_t *item_key;
    double *prior; /* (levels, K) */
    double *p;     /* (n_items, K): sum over the sweeps that count */
    size_t n_item_jobs;
    uint64_t *item_sums; /* (jobs, levels + K) */
    /* workers */
    uint64_t *worker_key;
    double *skill;   /* (W, K): x */
    double *talent;  /* (W): theta */
    double *wrong;   /* (W, levels, K): chance of a wrong vote */
    double *odds;    /* (W, levels, K): of a right one against that */
    double *mistake; /* (W, K voted, K true): shares of wrong votes; 1 on the diagonal */
    uint32_t *right; /* (W, n_kept): votes that equal the truth drawn */
    size_t n_worker_jobs, n_worker_sums;
    double *worker_sums; /* (jobs, n_worker_sums) */
    /* crowd */
    double *mean;   /* (K): mu of each class */
    double *common; /* (K voted, K true): the crowd's shares of wrong votes; 1 on the diagonal */
    double all, rho2, sigma2, tau2;
    double spread;   /* sum of sigma over the sweeps that count */
    double *scratch; /* (threads, n_scratch) */
    size_t n_scratch;
};

dis__sampler_sums dis__sampler_sums_of(double *sums, size_t K);

/* Tables of worker w from x; counts: (K voted, K true) of the votes by truth. */
void dis__sampler_fill(dis__sampler *s, size_t w, const double *counts);
/* One worker step, then the crowd's parameters. */
dis_status dis__sampler_workers(dis__sampler *s);

/* Keys of items and workers that depend on nothing but the votes, so that neither rows, names nor threads change what
 * is drawn. */
dis_status dis__sampler_keys(dis__sampler *s);

#endif
