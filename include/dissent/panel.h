/* panel.h: people and LLM judges (or other models) as annotators. Measures whether a judge answers like people, which
 * judges err together, class shares, and where more votes of people help.
 *
 *     const bool person[] = {true, true, true, false};   // of the votes' workers
 *     dis_panel *panel;
 *     if (dis_panel_run(ctx, votes, person, NULL, &panel) != DIS_OK) { puts(dis_last_error()); return 1; }
 *     const dis_panel_view v = dis_panel_get_view(panel);
 *     if (v.missing_reason) puts(v.missing_reason);   // nothing is reported about judges, for example because people vote at random
 *     else printf("%zu judges count for %.1f independent ones\n", v.n_above, v.effective.value);
 *     dis_panel_destroy(panel);
 *
 * Formulas: docs/reference/panel-formulas.md; measured error rates: docs/evidence/panel.md. Results do not depend on
 * the number of threads.
 * Threads: a result may be read by any number of threads concurrently. */
#ifndef DIS_PANEL_H
#define DIS_PANEL_H
#include "dissent/metric.h"
#include "dissent/votes.h"

#define DIS_MAX_JUDGES 64u

typedef struct {
    size_t size;              /* of this struct */
    double epsilon;           /* alternative-annotator test: how much more a person costs than a judge */
    double fdr;               /* its false discovery rate */
    size_t min_people;        /* votes of people that an item needs for this test */
    size_t min_items;         /* items that a person must share with a judge for this test */
    bool numeric_classes;     /* classes are numbers: this test uses the root mean squared difference */
    double error_correlation; /* judges whose errors correlate at least this much on average form one error group */
    double half_width;        /* half width of the interval of a class share, for `needed` */
    uint64_t budget;          /* votes of people to buy */
    uint64_t seed;
} dis_panel_options;
DIS_OPTIONS_API(dis_panel_options);

/* One judge. Every figure is undefined when `unknown` of the view is set; all but agreement, chance and p_chance also
 * when the judge agrees with people no more than chance. */
typedef struct {
    uint32_t worker;      /* of the votes */
    uint64_t votes;       /* items it voted on */
    uint64_t shared;      /* of these with votes of people */
    dis_metric agreement; /* share of people's votes that equal its own, mean over shared items */
    double chance;        /* the agreement expected if its answers did not depend on the item */
    double p_chance;      /* permutation test of agreement against chance, corrected over judges; NaN: not tested */
    bool above_chance;
    dis_metric error; /* share of items on which it differs from the answer of most people, corrected for people's
                             own errors */
    uint64_t n_people_compared,
        n_people_represented; /* people it was compared with; people it represents at least as well (given epsilon) */
    double winning_rate;      /* won / people; NaN: no one could be compared */
    dis_metric
        advantage_probability; /* share of items on which it agrees with the other people at least as well as a person does */
    bool passed;               /* winning_rate is .5 or more: it answers like these people */
    uint32_t error_group; /* from 0: judges that err together; UINT32_MAX: unknown */
} dis_panel_judge;

typedef struct {
    uint32_t a, b;      /* judges */
    uint64_t n;         /* items with votes of both and of people */
    double correlation; /* of their errors, corrected for people's errors; NaN: cannot be measured */
} dis_panel_pair;

/* A judge whose votes equal those of a person, or of the majority of people, more often than independent votes. */
typedef struct {
    uint32_t judge, worker;    /* worker UINT32_MAX: the majority of people */
    uint64_t n;                /* shared items */
    double observed, expected; /* share of equal votes; the share expected of independent votes */
    double copied_share;       /* estimated share of copied votes: (same - expected) / (1 - expected) */
    double p;                  /* corrected over all comparisons (Holm) */
} dis_panel_copied_votes;

/* The share of a class among people's answers, estimated with a judge (judge n_judges: the majority of the judges, ties
 * split evenly). */
typedef struct {
    uint32_t judge, class_index;
    uint64_t n_people, n_judge_only; /* items with votes of people and of the judge; of the judge alone */
    double raw;                      /* share of the judge's votes */
    double sensitivity, specificity;
    dis_metric bias;   /* share of the judge's votes minus share of people's votes, on items with both */
    dis_metric people; /* mean share of people's votes */
    dis_metric rogan_gladen;
    dis_metric prediction_powered; /* prediction-powered, tuned */
    double tuning_weight;          /* its tuning: weight of the judge, 0 to 1 */
    double n_needed,
        n_needed_without_judge; /* items that people must label for `precision`, with the judge and without; infinite:
                                    the judge has not voted on enough items */
} dis_panel_rate;

typedef struct {
    size_t item;
    uint32_t people;       /* votes of people so far */
    uint32_t votes_to_buy; /* votes to buy */
    double gain;           /* expected reduction of the variance of its soft label by one more vote */
} dis_panel_item;

/* A voter who judged pairs in both orders. */
typedef struct {
    uint32_t worker;                          /* of the first votes */
    uint64_t n;                               /* pairs judged in both orders */
    dis_metric consistency;                   /* share of them with the same outcome */
    uint64_t flips_to_first, flips_to_second; /* flips towards the answer shown first, and second */
    double p;                                 /* that neither place is preferred (exact sign test); 1 without flips */
} dis_position_bias;

typedef struct {
    size_t n_judges, n_pairs, n_rates, n_items, n_classes, n_error_groups, n_copies;
    const dis_panel_judge *judges;
    const dis_panel_pair *pairs;
    const dis_panel_copied_votes *copies; /* the smallest p first */
    const dis_panel_rate *rates;
    const dis_panel_item *items; /* (n_items) the largest gain first */
    const double *p;             /* (n_items, n_classes) soft labels calibrated to people, in the order of the votes */
    const char *missing_reason;  /* static text: why nothing is reported about judges; NULL: judges are reported on */
    size_t n_people;             /* people among the voters */
    bool few_people;             /* fewer than 5: intervals hold for new items, but for these people only */
    uint64_t n_items_with_people, n_items_with_two; /* items with votes of people; of two people or more */
    double p_people;        /* permutation test: people agree no more than chance; NaN: not tested */
    size_t n_above;         /* judges that agree with people more than chance */
    dis_metric correlation; /* mean correlation of the errors of two judges, corrected for people's errors */
    dis_metric effective;   /* n / (1 + (n - 1) correlation) independent judges, n = n_above */
    bool copies_tested;     /* false: people's votes do not suffice */
    double p_labelled; /* test: the judges answer alike on items with and without people's votes; NaN: not tested */
    bool labelled_items_differ; /* p_labelled is below .01: estimates from labelled items may not hold for the others */
    double exponent;            /* power to which the judges' evidence is raised; 1: they are independent */
    double judge_strength;      /* number of people's votes that the judges' prediction counts as, at most 100 */
    dis_metric loss_rates, loss_shares, loss_calibrated; /* mean -log of a person's held-out vote: by class shares, by
                                                            the judges' shares, by the calibrated labels */
    uint64_t budget_spent;
} dis_panel_view;

typedef struct dis_panel dis_panel;

/* person: (n_workers of the votes) true for people, false for judges. `options` NULL: the defaults. DIS_EUSAGE;
 * DIS_EDATA: no judge, no person, or no item with both; more than DIS_MAX_JUDGES judges. DIS_ELIMIT, DIS_ECANCELLED. */
DIS_API dis_status dis_panel_run(dis_context *ctx, const dis_votes *votes, const bool *person,
                                 const dis_panel_options *options, dis_panel **out);
DIS_API void dis_panel_destroy(dis_panel *panel);
DIS_VIEW_API(dis_panel);

/* Voters who judged pairs twice, the second time with the two answers in the other order. mirror: (n_classes of
 * `votes`) what a label means with the positions exchanged ("first" is "second"); NULL: labels name the answers. first:
 * the class that means that the answer shown first is better, SIZE_MAX: no such class. *rows (dis_free) has voters with
 * such pairs, in the order of `votes`. DIS_EDATA: classes differ, or no pair was judged twice. */
DIS_API dis_status dis_position_bias_run(const dis_votes *votes, const dis_votes *swapped, const size_t *mirror,
                                         size_t first, dis_position_bias **rows, size_t *n);

/* What a column of the votes' own files says of each worker, in the order of the votes (CSV, TSV or JSONL); empty where
 * it says nothing. DIS_EDATA: a worker with two values. The caller destroys it. */
DIS_API dis_status dis_votes_read_workers(dis_context *ctx, const char *const *paths, size_t n_paths,
                                          const char *format, const char *worker, const char *column,
                                          const dis_votes *votes, dis_names **out);

#endif
