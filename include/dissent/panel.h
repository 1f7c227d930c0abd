/* panel.h: people and models as voters: what a panel of judges is worth, and what people must still be asked.
 *
 *     const bool person[] = {true, true, true, false};   // of the votes' workers
 *     dis_panel *panel;
 *     if (dis_panel_run(ctx, votes, person, NULL, &panel) != DIS_OK) { puts(dis_last_error()); return 1; }
 *     const dis_panel_view v = dis_panel_look(panel);
 *     printf("%zu judges count for %.1f\n", v.n_judges, v.effective.value);
 *     dis_panel_destroy(panel);
 *
 * Formulas and sources: docs/panel.md. Results do not depend on the number of threads.
 * Threads: a result may be read by any number of threads at once. */
#ifndef DIS_PANEL_H
#define DIS_PANEL_H
#include "dissent/metric.h"
#include "dissent/votes.h"

#define DIS_MAX_JUDGES 64u

typedef struct {
    size_t size;       /* of this struct */
    double epsilon;    /* what a person costs more than a judge, in the alternative-annotator test */
    double fdr;        /* rate of false discoveries of that test */
    size_t min_people; /* votes of people that an item must have to count in it */
    size_t min_items;  /* items that a person must share with a judge to count in it */
    bool numbers;      /* classes are numbers: the test goes by the root of the mean square of differences */
    double cluster;    /* judges whose errors correlate so much on average are one cluster */
    double precision;  /* half width of the interval of a rate, for how many items people must label */
    uint64_t budget;   /* votes of people to buy */
    size_t resamples;  /* of the items, for 95 % intervals; 0: none */
    uint64_t seed;
} dis_panel_options;
DIS_OPTIONS_API(dis_panel_options);

/* A model among the voters. */
typedef struct {
    uint32_t worker;      /* of the votes */
    uint64_t votes;       /* items it voted on */
    uint64_t shared;      /* of these with votes of people */
    dis_metric agreement; /* share of people's votes that are its own, mean over shared items */
    dis_metric error;     /* share of items with a majority of people on which it says something else */
    uint64_t people, won; /* compared with so many people; stands for so many of them at least as well */
    double winning_rate;  /* omega = won / people; NaN: nobody could be compared */
    dis_metric advantage; /* rho: chance that it stands for the others as well as a person does */
    bool passed;          /* omega is .5 or more: it may replace a person */
    uint32_t cluster;     /* from 0 */
} dis_panel_judge;

typedef struct {
    uint32_t a, b;      /* judges */
    uint64_t n;         /* items that both voted on, with a majority of people */
    double correlation; /* of their errors; NaN: one of them never errs there, or always */
} dis_panel_pair;

/* How common a class is among the answers of people, by what a judge says (judge n_judges: the majority of the judges).
 */
typedef struct {
    uint32_t judge, class;
    uint64_t n_people, n_alone; /* items with votes of people and of the judge; of the judge alone */
    double raw;                 /* share of the judge's votes */
    double sensitivity, specificity;
    dis_metric people; /* the mean share of people's votes by itself */
    dis_metric rogan_gladen;
    dis_metric powered; /* prediction-powered, tuned */
    double lambda;      /* its tuning: how much the judge counts, 0 to 1 */
    double needed,
        needed_alone; /* items that people must label for `precision`, with the judge and without; infinite: the
                                    judge has not voted on enough items */
} dis_panel_rate;

typedef struct {
    size_t item;
    uint32_t people; /* votes of theirs so far */
    uint32_t buy;    /* votes to buy */
    double gain;     /* how much one more vote would narrow its label: expected fall of the variance of its shares */
} dis_panel_item;

/* A voter who judged pairs in both orders. */
typedef struct {
    uint32_t worker;        /* of the first votes */
    uint64_t n;             /* pairs judged in both orders */
    dis_metric consistent;  /* share of them with the same outcome */
    uint64_t first, second; /* flips towards the answer shown first, and second */
    double p;               /* that neither place is preferred (exact sign test); 1 without flips */
} dis_panel_swap;

typedef struct {
    size_t n_judges, n_pairs, n_rates, n_items, n_classes, n_clusters;
    const dis_panel_judge *judges;
    const dis_panel_pair *pairs;
    const dis_panel_rate *rates;
    const dis_panel_item *items; /* (n_items) the largest gain first */
    const double *p;             /* (n_items, n_classes) soft labels calibrated to people, in the order of the votes */
    dis_metric correlation;      /* mean correlation of the errors of two judges */
    dis_metric effective;        /* independent judges that the panel is worth: n / (1 + (n - 1) correlation) */
    dis_metric spectrum;         /* the same by the spectrum of the correlations: n^2 / sum of their squares */
    size_t n_people;             /* people among the voters */
    uint64_t items_with_people;
    double exponent; /* to which what the judges say is raised: 1, they are independent */
    double strength; /* votes of people that the judges together are worth */
    dis_metric loss_rates, loss_shares, loss_calibrated; /* -log of a person's vote, held out: by the classes' rates, by
                                                             the judges' shares, by the calibrated labels */
    uint64_t spent;
} dis_panel_view;

typedef struct dis_panel dis_panel;

/* person: (n_workers of the votes) whether a voter is a person. `options` NULL: the defaults. DIS_EUSAGE; DIS_EDATA: no
 * model, no person, or no item with both; more than DIS_MAX_JUDGES models. DIS_ELIMIT, DIS_ECANCELLED. */
DIS_API dis_status dis_panel_run(dis_context *ctx, const dis_votes *votes, const bool *person,
                                 const dis_panel_options *options, dis_panel **out);
DIS_API void dis_panel_destroy(dis_panel *panel);
DIS_LOOK_API(dis_panel);

/* Voters who judged pairs twice, the second time with the two answers in the other order. mirror: (n_classes of
 * `votes`) what a label means with the places exchanged ("first" is "second"); NULL: labels name the answers. first:
 * the class that says the answer shown first is better, SIZE_MAX: there is none. *rows (dis_free) has voters with such
 * pairs, in the order of `votes`. DIS_EDATA: classes differ, or no pair was judged twice. */
DIS_API dis_status dis_panel_swaps(const dis_votes *votes, const dis_votes *swapped, const size_t *mirror, size_t first,
                                   dis_panel_swap **rows, size_t *n);

/* What a column of the votes' own files says of each worker, in the order of the votes (CSV, TSV or JSONL); empty where
 * it says nothing. DIS_EDATA: a worker with two values. The caller destroys it. */
DIS_API dis_status dis_votes_read_workers(dis_context *ctx, const char *const *paths, size_t n_paths,
                                          const char *format, const char *worker, const char *column,
                                          const dis_votes *votes, dis_names **out);

#endif
