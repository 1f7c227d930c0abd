/* gold_weights.h: gold labels choose the weights of views, the power of the temperature and class weights for
 * `calibrated`. */
#ifndef DIS_LABELS_COMBINE_GOLD_WEIGHTS_H
#define DIS_LABELS_COMBINE_GOLD_WEIGHTS_H
#include "labels/combiner.h"

/* The parts of calibrated.c that are the same for every choice. */
typedef struct {
    const dis__combine_args *args; /* views fitted without the gold labels; weight: the weights without a choice */
    const dis_votes_view *votes;
    const double *rate; /* (K): shares of the classes among all votes */
    double limit, mix;
    double power;     /* without a choice */
    bool fixed_power; /* do not choose it */
} dis__gold_weights_problem;

/* The number of votes in the temperature of item i, at least 1 and at most the limit. */
double dis__item_capped_votes(const dis_votes_view *votes, size_t i, double limit);
/* Votes per class of item i plus two votes at the class rates: shares (K), unnormalised. Returns their sum. */
double dis__item_smoothed_counts(const dis_votes_view *votes, size_t i, const double *rate, double *shares);

/* Fills args->choice if there are at least DIS_MIN_GOLD gold labels; otherwise it is unchanged. */
dis_status dis__gold_weights_fit(const dis__gold_weights_problem *problem);

#endif
