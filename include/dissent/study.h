/* study.h: how many items, annotators and votes a study needs. Predicts the intervals and the power of designs that have
 * not been carried out, from the votes of a pilot study or from stated figures.
 *
 *     const size_t items[] = {100, 200}, annotators[] = {10, 20}, votes[] = {1, 3, 5};
 *     dis_study_options o = dis_study_options_default();
 *     dis_study_design rows[2 * 2 * 3];
 *     dis_study_plan plan = dis_study_plan_default();
 *     o.items = items, o.n_items = 2;
 *     o.annotators = annotators, o.n_annotators = 2;
 *     o.votes_per_item = votes, o.n_votes_per_item = 3;
 *     o.metric = "judge";                  // agreement of a model with people
 *     o.figures.value = .8;
 *     o.figures.kappa = .5;
 *     o.half_width = .03;
 *     if (dis_study_predict(&o, rows, &plan) != DIS_OK) { puts(dis_last_error()); return 1; }
 *     if (plan.has_best)
 *         printf("%zu items, %zu votes each, %zu annotators\n", plan.best.items, plan.best.votes_per_item,
 *                plan.best.annotators);
 *
 * Formulas: docs/reference/plan-formulas.md; predictions compared with thinned crowds: docs/evidence/plan.md. Results do
 * not depend on the number of threads. */
#ifndef DIS_STUDY_H
#define DIS_STUDY_H
#include "dissent/votes.h"

/* What the study measures; names "labels", "alpha", "kappa", "percent", "judge", "difference", "share". */
typedef enum {
    DIS_STUDY_LABELS,     /* accuracy of majority labels */
    DIS_STUDY_ALPHA,      /* Krippendorff's alpha of people, nominal */
    DIS_STUDY_KAPPA,      /* Fleiss' kappa of people */
    DIS_STUDY_PERCENT,    /* share of equal pairs of votes */
    DIS_STUDY_JUDGE,      /* share of people's votes that equal the answer of a judge or model */
    DIS_STUDY_DIFFERENCE, /* the same of one judge minus that of another one, on the same items */
    DIS_STUDY_SHARE,      /* share of a class among people's votes */
    DIS_STUDY_METRICS
} dis_study_metric;

/* Figures of a study without a pilot; NaN: not given. */
typedef struct {
    double value;       /* of the metric; labels: of single votes. alpha, kappa: `kappa` */
    double kappa;       /* chance-corrected agreement of two people; labels: how alike votes on an item are */
    double spread;      /* standard deviation of annotators' own values; 0.05 if it is not given */
    double discordant;  /* difference: share of votes that equal the answer of only one of the two judges */
    double judge_kappa; /* share: kappa of the judge and a person, for the split of a budget */
    size_t n_classes;   /* alpha, kappa, percent, labels; all equally frequent. 0: 2 */
} dis_study_figures;

typedef struct {
    size_t size;        /* of this struct */
    const char *metric; /* name; NULL: "labels" */
    /* the pilot; NULL: stated figures */
    const dis_votes *votes;
    const bool *people;               /* (n_workers) whose votes count; NULL: all */
    const int32_t *gold;              /* (n_items) labels, -1: unknown; NULL: the label that many votes would give */
    const char *judge, *second_judge; /* names among the workers */
    const char *class_name;           /* of a share; NULL: the first class */
    dis_study_figures figures;        /* without votes */
    /* the grid; the search also uses its annotators and votes */
    const size_t *items, *annotators, *votes_per_item;
    size_t n_items, n_annotators, n_votes_per_item;
    /* what the study is to achieve; NaN: no such target */
    double effect;       /* smallest difference (of two judges, or from a fixed value) that it should detect */
    double power;        /* probability of detecting it */
    double half_width;   /* of the 95 % interval */
    double min_accuracy; /* labels: least expected accuracy */
    double budget;
    size_t max_items; /* that are available */
    /* costs */
    double vote_cost, item_cost, annotator_cost, judge_cost;
    uint64_t seed;
} dis_study_options;
DIS_OPTIONS_API(dis_study_options);

/* A design, and what to expect of it. */
typedef struct {
    size_t items, annotators, votes_per_item; /* annotators with equal shares of the votes */
    double value;                             /* expected value of the metric */
    double half_width; /* expected, of the 95 % interval for new items and new annotators; NaN: the
                                                 design is impossible */
    double power;      /* of detecting `effect`; NaN without one */
    double cost;
} dis_study_design;

/* Variances of one vote: they add up to that of a study. Pairs: of coefficients, per pair of votes. */
typedef struct {
    double items, annotators, votes, pairs;
    double items_error, annotators_error; /* standard errors of the first two; 0: stated figures */
} dis_study_variances;

/* A share with votes of people on n_people items and answers of a judge on n_judge further ones. */
typedef struct {
    size_t n_people, n_judge, votes_per_item;
    double half_width; /* of the prediction-powered share */
    double cost;
    size_t n_people_only; /* items for the same cost without a judge */
    double half_width_people;
} dis_study_split;

typedef struct {
    size_t size; /* of this struct */
    dis_study_metric metric;
    double value;                            /* in the pilot, or as stated */
    uint64_t n_items, n_annotators, n_votes; /* of the pilot that were used */
    double effective_annotators;             /* of the pilot: equal ones that would weigh as much */
    dis_study_variances variances;
    bool has_best;                /* the grid's votes and annotators can reach the target */
    dis_study_design best;        /* the cheapest design that reaches the target */
    double items_low, items_high; /* items if the variances are one standard error lower, and higher */
    const char *reason;           /* static text: why no design was found; NULL */
    bool has_split;
    dis_study_split split;
} dis_study_plan;
DIS_OPTIONS_API(dis_study_plan);

/* rows (n_items x n_annotators x n_votes_per_item of the options), items varying most slowly. DIS_EUSAGE: an unknown
 * name, an invalid or missing figure. DIS_EDATA: too few votes for the metric. DIS_ELIMIT. */
DIS_API dis_status dis_study_predict(const dis_study_options *options, dis_study_design *rows, dis_study_plan *summary);

/* The plan as one HTML page, which works offline. Options and rows are those of dis_study_predict(). DIS_EIO, DIS_ELIMIT. */
DIS_API dis_status dis_study_write_page(const dis_study_options *options, const dis_study_design *rows,
                                        const dis_study_plan *summary, const char *path);

#endif
