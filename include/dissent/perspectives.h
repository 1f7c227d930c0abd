/* perspectives.h: compares predictions for single annotators with their votes.
 *
 * Predictions are votes themselves: one label per (task, worker), as dissent predict --perspectives writes them. Every
 * predicted vote is compared with its prediction: wrong or not, and for ordered classes the number of steps. There are
 * two baselines. One is the most frequent label of the worker, from votes given as history or else from the worker's
 * other votes. The other is the majority of the other votes on the item. Ties take the first class.
 *
 *     dis_perspectives *p;
 *     if (dis_perspectives_run(NULL, votes, predictions, NULL, NULL, &p) == DIS_OK) {
 *         const dis_perspectives_view v = dis_perspectives_get_view(p);
 *         printf("%g of the votes are wrong\n", v.error[DIS_PREDICTION_OF_MODEL][DIS_AVERAGE_OVER_VOTES].value);
 *         dis_perspectives_destroy(p);
 *     }
 *
 * Threads: no call keeps state; the same seed gives the same numbers for any number of threads. */
#ifndef DIS_PERSPECTIVES_H
#define DIS_PERSPECTIVES_H
#include "dissent/metric.h"
#include "dissent/worker_table.h"

/* Who said it. */
typedef enum {
    DIS_PREDICTION_OF_MODEL,
    DIS_PREDICTION_MOST_FREQUENT,
    DIS_PREDICTION_MAJORITY_OF_OTHERS,
    DIS_PREDICTION_SOURCES
} dis_prediction_source;
/* What a mean is over: votes, items (each the mean of its votes) or workers (the same). */
typedef enum { DIS_AVERAGE_OVER_VOTES, DIS_AVERAGE_OVER_ITEMS, DIS_AVERAGE_OVER_WORKERS, DIS_AVERAGES } dis_average;

typedef struct {
    size_t size;                     /* of this struct */
    size_t resamples;                /* of items (of workers, for means over workers), for intervals; 0: none */
    uint64_t seed;                   /* of these */
    bool ordered;                    /* classes are steps of a scale */
    bool lenient;                    /* votes without a prediction are left out, and counted; otherwise an error */
    const dis_worker_groups *groups; /* of the votes' workers; NULL: none */
} dis_perspectives_options;
DIS_OPTIONS_API(dis_perspectives_options);

/* error: share of votes that are predicted wrongly; distance: mean steps between prediction and vote. */
typedef struct {
    uint64_t votes;
    const double *error, *distance; /* (DIS_PREDICTION_SOURCES) NaN: nothing to measure; distance without order too */
} dis_perspectives_row;

typedef struct {
    uint64_t workers, votes;
    const dis_metric *error, *distance; /* (DIS_PREDICTION_SOURCES) over votes */
} dis_perspectives_group;

typedef struct {
    size_t n_votes, n_items, n_workers; /* measured */
    uint64_t n_votes_unpredicted;       /* votes without a prediction */
    uint64_t n_predictions_unused;      /* predictions without a vote */
    /* (DIS_PREDICTION_SOURCES), each (DIS_AVERAGES); of baselines: on votes that have one; distance: undefined without
     * order */
    const dis_metric *const *error, *const *distance;
    const dis_names *workers;        /* of the votes */
    const dis_perspectives_row *row; /* (workers): votes 0: none was measured */
    size_t n_groups;
    const dis_perspectives_group *group; /* (n_groups) */
} dis_perspectives_view;

typedef struct dis_perspectives dis_perspectives;

/* history: votes that the most frequent answers are taken from; NULL: the worker's other votes. `options` NULL: the
 * defaults. DIS_EDATA: no vote has a prediction; without `lenient`, one has none; a label that is not a class of the
 * votes; votes that name no workers. */
DIS_API dis_status dis_perspectives_run(dis_context *ctx, const dis_votes *votes, const dis_votes *predictions,
                                        const dis_votes *history, const dis_perspectives_options *options,
                                        dis_perspectives **out);
DIS_API void dis_perspectives_destroy(dis_perspectives *perspectives);
DIS_VIEW_API(dis_perspectives);

#endif
