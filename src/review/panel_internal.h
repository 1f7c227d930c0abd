/* panel_internal.h: shared by the parts of a panel. */
#ifndef DIS_REVIEW_PANEL_INTERNAL_H
#define DIS_REVIEW_PANEL_INTERNAL_H
#include "dissent/panel.h"
#include "core/parallel/pool.h"

enum {
    DIS_PANEL_MIN_ITEMS = 10,  /* minimum number of items of an estimate */
    DIS_PANEL_MIN_PEOPLE = 5,  /* minimum number of people of an interval for new people */
    DIS_PANEL_GROUPS = 20,     /* groups of items of the jackknife */
    DIS_PANEL_MAX_CLASSES = 64 /* maximum number of classes for the correction of errors */
};

/* The votes: of people as counts, of judges as a table. */
typedef struct {
    dis_context *ctx;
    const dis_votes_view *votes;
    const bool *person;
    const dis_panel_options *o;
    const double *weight; /* (n_items) of the alternative-annotator test, 0: left out; NULL: all equal */
    size_t n_judges, n_people;
    uint32_t worker[DIS_MAX_JUDGES];
    int32_t *judge;      /* (n_workers) -1: a person */
    int32_t *answer;     /* (n_judges, n_items) class, -1: no vote */
    uint32_t *people;    /* (n_items, n_classes) votes of people */
    uint32_t *n_votes;   /* (n_items) of people */
    int32_t *majority;   /* (n_items) of people, -1: none, or a tie */
    double *panel;       /* (n_items, n_classes) majority of the judges, ties split evenly; all 0: no vote */
    double *number;      /* (n_classes) values of numeric classes */
    uint64_t *first;     /* (n_workers + 1) votes of a worker, in `vote` */
    uint64_t *vote;      /* (n_votes) positions of votes, by worker */
    uint32_t *item;      /* (n_votes) the item of a vote */
    const char *unknown; /* why nothing is reported about judges */
} dis__panel_data;

static inline size_t dis__panel_label(const dis_votes_view *v, uint64_t t)
{
    return v->label8 ? v->label8[t] : v->label16[t];
}

/* dis_panel_run() with weights of items for the alternative-annotator test; other figures do not use them. */
dis_status dis__panel_run_weighted(dis_context *ctx, const dis_votes *votes, const bool *person,
                                   const dis_panel_options *options, const double *weight, dis_panel **out);

/* ---- intervals (panel_interval.c) ---- */

/* Variance of an average over votes of people when items and people are new ones (two-way clustering: items + people -
 * votes). `add` receives the influence of each vote; votes of one item are consecutive. */
typedef struct {
    double items, votes, item; /* sums of squares; the item being added */
    double *person;            /* (n_workers) sums of a person */
    size_t n_workers, n_people;
} dis__panel_variance;
dis_status dis__panel_variance_create(const dis__panel_data *d, dis__panel_variance *v);
void dis__panel_variance_add(dis__panel_variance *v, size_t worker, double influence);
void dis__panel_variance_end_item(dis__panel_variance *v);
/* Contribution of people to the variance over items: 0 with fewer than DIS_PANEL_MIN_PEOPLE people. */
double dis__panel_variance_compute_people(const dis__panel_variance *v);
void dis__panel_variance_destroy(dis__panel_variance *v);
/* A share with its interval, never of width 0: if few items differ, Wilson's interval widens it. */
dis_metric dis__panel_compute_share(double value, double variance, double quantile, size_t n);

/* ---- tests ---- */

/* panel_chance.c: permutation tests of people and of judges against chance. Sets `unknown`. */
dis_status dis__panel_test_chance(dis__panel_data *d, dis_panel_judge *judges, dis_panel_view *view);
/* panel_labelled_items.c: do judges answer alike on items with and without people's votes? */
dis_status dis__panel_test_labelled(const dis__panel_data *d, dis_panel_view *view);

/* ---- the answer of most people (panel_truth.c) ---- */

typedef struct {
    size_t n_patterns, n_classes;
    uint32_t *pattern; /* (n_items) items with equal counts of people's votes share a pattern; UINT32_MAX: no votes */
    uint32_t *count;   /* (n_patterns, n_classes) */
    uint32_t *weight;  /* (n_patterns, DIS_PANEL_GROUPS) items of each group */
    uint8_t *group;    /* (n_items) */
    double *posterior; /* (n_patterns, n_classes) of the answer of most people, given people's votes */
    double *matrix;    /* (n_classes, n_classes) probability that a person says c when most people say k */
    double *prior;     /* (n_classes) */
} dis__panel_truth;
dis_status dis__panel_truth_create(const dis__panel_data *d, dis__panel_truth *t);
void dis__panel_truth_destroy(dis__panel_truth *t);
/* EM without a group of items (DIS_PANEL_GROUPS: with all), from the posterior in the struct into `posterior`, then
 * the decoder: decoded (n_patterns, n_classes) has expectation 1 for the answer of most people and 0 for the others.
 * *clarity: how well people's votes identify this answer, 0 to 1. False: the decoder does not exist. */
bool dis__panel_truth_decode(const dis__panel_truth *t, size_t without, double *posterior, double *decoded,
                             double *clarity);
/* EM with all items, into the struct. */
void dis__panel_truth_fit(dis__panel_truth *t);

/* panel_errors.c: errors of judges, corrected; which judges err together. *identified: whether people's votes identify
 * the answer of most people well enough. */
dis_status dis__panel_estimate_errors(const dis__panel_data *d, const dis__panel_truth *t, dis_panel_judge *judges,
                                      dis_panel_pair *pairs, dis_panel_view *view, bool *identified);
/* panel_copies.c: judges that copy a person or the majority of people. */
dis_status dis__panel_find_copies(const dis__panel_data *d, const dis__panel_truth *t, const dis_panel_judge *judges,
                                  dis_panel_copied_votes **copies, size_t *n);

/* panel_alternative.c: agreement, and the alternative-annotator test. */
dis_status dis__panel_compute_agreement(const dis__panel_data *d, size_t j, dis_panel_judge *judge);
dis_status dis__panel_test_alternative(const dis__panel_data *d, size_t j, dis_panel_judge *judge);

/* panel_rates.c: (n_judges + 1, n_classes) rows. */
dis_status dis__panel_estimate_rates(const dis__panel_data *d, const dis_panel_judge *judges, dis_panel_rate *rates);

/* panel_labels.c: calibrated labels, and which items need more votes. */
dis_status dis__panel_compute_labels(const dis__panel_data *d, double *p, dis_panel_view *view);
dis_status dis__panel_select_items(const dis__panel_data *d, const double *p, double strength, dis_panel_item *items,
                                   uint64_t *spent);

#endif
