/* camp_finder.h: shared by the files that look for two camps of annotators (annotator_camps.c). */
#ifndef DIS_REVIEW_CAMPS_CAMP_FINDER_H
#define DIS_REVIEW_CAMPS_CAMP_FINDER_H
#include "labels/crowd/crowd_model.h"

enum {
    DIS_CAMP_MAX_VOTES = 12, /* of an item; of more, some are drawn at random */
    DIS_CAMP_MAX_JOBS = 64,
    DIS_CAMP_GRAIN = 64,
    DIS_CAMP_LEVELS = DIS_CROWD_LEVELS,
    DIS_CAMP_BETWEEN = 2 /* pairs of votes of different camps */
};

typedef struct {
    uint32_t worker; /* number among the annotators of camps */
    uint32_t label;
    uint64_t rank; /* by which votes are drawn */
} dis__camp_vote;

typedef struct {
    uint32_t a, b;
    double residual;
} dis__camp_pair;

/* Of an item, or of all: pairs of votes within the first camp, within the second, and between them. */
typedef struct {
    double n_pairs[3], n_equal[3];
    double difference; /* sum of d over both camps, divided by the votes of the camp */
    double n;          /* items with a difference */
} dis__camp_tally;

typedef struct {
    const dis__crowd_model *m;
    uint64_t seed;
    size_t n_items, n_workers; /* of the sample */
    uint32_t *item;            /* (n_items) */
    uint8_t *halves;           /* (n_items): bit k: the item is held out in split k */
    unsigned split;            /* the split that is used */
    uint32_t *number;          /* (workers of the crowd): in the sample, UINT32_MAX: too few votes */
    uint64_t *worker_key;      /* (workers of the crowd) */
    size_t *first;             /* (n_items + 1): where the pairs of an item are stored */
    dis__camp_pair *pair;
    double *matrix; /* (n_workers, K voted, K true), logarithms: the crowd's matrix at the annotator's accuracy */
    double *norm;   /* (n_workers, states) log of the sums of its columns, raised to the power of the level */
    double *degree, *vector, *next; /* (n_workers) */
    uint8_t *camp;                  /* (n_workers): 0 or 1 */
    bool finding_on_all;            /* camps are found on all items */
    bool is_part;                   /* items and keys belong to another dis__camp_finder */
    dis__camp_tally *tally;         /* (n_items) */
    size_t n_scratch;
    double *scratch; /* (threads, n_scratch) */
} dis__camp_finder;

/* Votes of one item, and the probability of each label by state: a state is a level and a class. */
typedef struct {
    size_t n, K, n_states;
    dis__camp_vote vote[DIS_CAMP_MAX_VOTES];
    double *log_p; /* (DIS_CAMP_MAX_VOTES, n_states): of the label */
    double *p;     /* (DIS_CAMP_MAX_VOTES, n_states, K): of every label */
    double *state; /* (n_states) */
    double *prior; /* (n_states), logarithms */
    double *mean;  /* (n_states, K) */
} dis__camp_item;

/* camp_sample.c: the items and annotators that take part. Members: the annotators of a camp of `all`, on the same
 * items. */
dis_status dis__camp_sample_items(dis__camp_finder *x);
dis_status dis__camp_sample_workers(dis__camp_finder *x);
dis_status dis__camp_sample_members(const dis__camp_finder *all, uint8_t camp, dis__camp_finder *x);
void dis__camp_finder_free(dis__camp_finder *x);

/* Of one item: the votes, the probabilities of all labels by state, and the posterior of the states from the prior and the
 * votes of `camp` (-1: all) except a and b. */
void dis__camp_bind_scratch(const dis__camp_finder *x, int thread, dis__camp_item *q);
void dis__camp_gather_votes(const dis__camp_finder *x, size_t s, dis__camp_item *q);
void dis__camp_compute_labels(const dis__camp_finder *x, dis__camp_item *q);
void dis__camp_compute_states(const dis__camp_finder *x, dis__camp_item *q, int camp, size_t a, size_t b);

/* camp_search.c: allocates what a search needs and computes the residuals of all pairs of votes. */
dis_status dis__camp_prepare_search(dis__camp_finder *x);
/* Fills x->camp from the items that are not held out, or from all. */
void dis__camp_search(dis__camp_finder *x);

static inline bool dis__camp_is_held_out(const dis__camp_finder *x, size_t s)
{
    return x->halves[s] >> x->split & 1;
}

/* Whether a pair of annotators belongs to the first camp (0), to the second (1), or to both (DIS_CAMP_BETWEEN). */
static inline size_t dis__camp_pair_kind(const dis__camp_finder *x, uint32_t a, uint32_t b)
{
    return x->camp[a] == x->camp[b] ? x->camp[a] : DIS_CAMP_BETWEEN;
}

#endif
