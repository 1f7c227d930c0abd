/* judge_internal.h: shared by the parts of a judge's evaluation. */
#ifndef DIS_JUDGE_JUDGE_INTERNAL_H
#define DIS_JUDGE_JUDGE_INTERNAL_H
#include "dissent/judge.h"
#include "stats/crossed_intervals.h"

enum {
    DIS_JUDGE_MIN_ITEMS = 10, /* minimum number of items of an estimate */
    DIS_JUDGE_MIN_PEOPLE = 5  /* minimum number of people of an interval for new people */
};

/* ---- votes (judge_votes.c) ---- */

/* The first vote of each person on each item, and of one judge; items are those of the votes. */
typedef struct {
    size_t n_items, n_classes, n_people;
    uint32_t worker;     /* the judge */
    int32_t *answer;     /* (n_items) class that the judge gave first, -1: none */
    uint64_t *start;     /* (n_items + 1) votes of people on an item */
    uint32_t *person;    /* (votes) from 0 to n_people - 1 */
    uint32_t *label;     /* (votes) */
    uint64_t n_repeated; /* items with several votes of the judge */
    double *repeats;     /* (n_items) share of equal pairs among the votes of the judge; NaN: one vote or none */
    uint64_t n_answers, n_shared, n_two;
} dis__judge_votes;

/* The judge of that name; NULL: the only worker that is not a person. */
dis_status dis__judge_find(const dis_votes_view *votes, const bool *person, const char *name, uint32_t *worker);
/* worker UINT32_MAX: no judge. */
dis_status dis__judge_votes_read(const dis_votes_view *votes, const bool *person, uint32_t worker,
                                 dis__judge_votes *out);
dis_status dis__judge_votes_create(const dis_votes_view *votes, const bool *person, const char *name,
                                   dis__judge_votes *out);
void dis__judge_votes_destroy(dis__judge_votes *votes);
static inline size_t dis__judge_n_votes(const dis__judge_votes *v, size_t i)
{
    return (size_t)(v->start[i + 1] - v->start[i]);
}
/* Share of people's votes for a class on item i, which must have votes. */
double dis__judge_people_share(const dis__judge_votes *v, size_t i, size_t class_index);
/* The same votes as a table: workers 0 .. n_people - 1 are people, n_people is the judge. */
dis_status dis__judge_votes_table(dis_context *ctx, const dis__judge_votes *v, const dis_names *classes,
                                  dis_votes **out);

/* ---- variances (judge_variance.c) ---- */

/* Variance of an estimate with new items and new people, from the influence of each item and of each vote on it. */
typedef struct {
    size_t n_people, n_items;
    double items, votes; /* sums of squares */
    double *person;      /* (n_people) sums */
    double *n_votes;     /* (n_people) */
} dis__judge_variance;
dis_status dis__judge_variance_create(size_t n_people, dis__judge_variance *v);
void dis__judge_variance_clear(dis__judge_variance *v);
void dis__judge_variance_add_item(dis__judge_variance *v, double influence);
void dis__judge_variance_add_vote(dis__judge_variance *v, size_t person, double influence);
dis__crossed_variances dis__judge_variance_compute(const dis__judge_variance *v);
void dis__judge_variance_destroy(dis__judge_variance *v);

/* ---- figures ---- */

/* The variances of the metrics of a view, for planning. */
typedef struct {
    double items, people; /* of the metric: contributions of items and of people */
} dis__judge_spread;

struct dis_judge {
    dis_judge_view view;
    double epsilon, fdr; /* of the alternative-annotator test */
    dis_judge_coefficient coefficient[DIS_JUDGE_COEFFICIENTS];
    dis__judge_spread spread[DIS_JUDGE_COEFFICIENTS], difference_spread[DIS_JUDGE_COEFFICIENTS];
    dis_panel *panel;
    dis_judge_contrast *contrasts;
    dis_judge_baseline *baselines; /* (2 n_classes) shares, then biases */
    dis_panel_rate *rates;         /* (n_classes) with weights; NULL: those of the panel */
};

typedef struct {
    const dis__judge_votes *votes;
    const double *weight; /* (n_items) */
} dis__judge_input;

/* judge_agreement.c */
dis_status dis__judge_compute_coefficients(const dis__judge_input *in, dis_judge *judge);
dis_status dis__judge_compute_consistency(const dis__judge_input *in, dis_judge *judge);
/* judge_contrasts.c */
dis_status dis__judge_compute_contrasts(const dis__judge_input *in, const dis_judge_options *o, dis_judge *judge);
/* judge_baselines.c */
dis_status dis__judge_compute_baselines(const dis__judge_input *in, dis_judge *judge);
/* Bias and class shares from weighted items, after the baselines. */
dis_status dis__judge_compute_weighted_rates(const dis__judge_input *in, dis_judge *judge);

#endif
