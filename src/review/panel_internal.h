/* panel_internal.h: what the parts of a panel share. */
#ifndef DIS_REVIEW_PANEL_INTERNAL_H
#define DIS_REVIEW_PANEL_INTERNAL_H
#include "dissent/panel.h"
#include "core/pool.h"

/* The votes as a panel looks at them: of people counted, of judges one by one. */
typedef struct {
    dis_context *ctx;
    const dis_votes_view *votes;
    const bool *person;
    const dis_panel_options *o;
    size_t n_judges, n_people;
    uint32_t worker[DIS_MAX_JUDGES];
    int32_t *judge;    /* (n_workers) -1: a person */
    int32_t *said;     /* (n_judges, n_items) class, -1: nothing */
    uint32_t *people;  /* (n_items, n_classes) votes of people */
    uint32_t *n_votes; /* (n_items) of people */
    int32_t *majority; /* (n_items) of people, -1: none, or a tie */
    int32_t *panel;    /* (n_items) majority of the judges, the first class on a tie; -1: none voted */
    double *number;    /* (n_classes) where classes are numbers */
} dis__panel_data;

/* panel_alternative.c: votes of people beside a judge's, one row each. */
typedef struct {
    uint32_t item;
    uint8_t stands; /* the judge agrees with the others at least as well as this person */
} dis__stand;
typedef struct {
    dis__stand *row;
    size_t n;
    uint64_t *first; /* (n_compared + 1) rows of a person */
    size_t n_compared;
} dis__stands;
dis_status dis__panel_alternative(const dis__panel_data *d, size_t j, dis_panel_judge *judge, dis__stands *stands);
/* rho with items weighted. times NULL: once each. */
double dis__panel_advantage(const dis__stands *stands, const uint8_t *times);

/* panel_judges.c: what resamples of items change. */
enum { DIS_PANEL_AGREEMENT, DIS_PANEL_ERROR, DIS_PANEL_ADVANTAGE, DIS_PANEL_JUDGE_VALUES };
enum { DIS_PANEL_CORRELATION, DIS_PANEL_EFFECTIVE, DIS_PANEL_SPECTRUM, DIS_PANEL_VALUES };
dis_status dis__panel_judges(const dis__panel_data *d, dis_panel_judge *judges, dis_panel_pair *pairs,
                             dis_panel_view *view);

/* panel_rates.c: (n_judges + 1, n_classes) rows. */
dis_status dis__panel_rates(const dis__panel_data *d, dis_panel_rate *rates);

/* panel_labels.c: calibrated labels, and where to buy. */
dis_status dis__panel_labels(const dis__panel_data *d, double *p, dis_panel_view *view);
dis_status dis__panel_buy(const dis__panel_data *d, const double *p, double strength, dis_panel_item *items,
                          uint64_t *spent);

#endif
