/* judge.h: may an LLM judge (or any model) answer in place of people? Agreement with people, biases, a certificate, and
 * a check of later votes against the certificate.
 *
 *     const bool person[] = {true, true, true, false};   // of the votes' workers
 *     dis_judge *judge;
 *     if (dis_judge_run(ctx, votes, person, NULL, &judge) != DIS_OK) { puts(dis_last_error()); return 1; }
 *     const dis_judge_view v = dis_judge_get_view(judge);
 *     const dis_metric *kappa = &v.coefficients[DIS_JUDGE_KAPPA].judge;
 *     printf("kappa %.3f, 95 %% interval %.3f to %.3f\n", kappa->value, kappa->ci_low, kappa->ci_high);
 *     dis_judge_destroy(judge);
 *
 * Formulas: docs/reference/judge-formulas.md; measured error rates: docs/evidence/judges.md. Results do not depend on
 * the number of threads.
 * Threads: a result may be read by any number of threads concurrently. */
#ifndef DIS_JUDGE_H
#define DIS_JUDGE_H
#include "dissent/panel.h"

typedef struct dis_judge dis_judge;

/* A property of items, such as the length of an answer. Items above the median are compared with the others; if there
 * are two values, items with the larger one. */
typedef struct {
    const char *name;
    const double *value; /* (n_items) NaN: unknown */
} dis_judge_covariate;

typedef struct {
    size_t size;          /* of this struct */
    const char *name;     /* name of the judge among the workers; NULL: the only worker that is not a person */
    const double *weight; /* (n_items) weights of items, such as 1 / sampling probability; NULL: all equal */
    const dis_judge_covariate *covariates;
    size_t n_covariates;
    double epsilon; /* the fields from here on: as in dis_panel_options */
    double fdr;
    size_t min_people;
    size_t min_items;
    double half_width;
    uint64_t seed;
} dis_judge_options;
DIS_OPTIONS_API(dis_judge_options);

enum { DIS_JUDGE_AGREEMENT, DIS_JUDGE_KAPPA, DIS_JUDGE_ALPHA, DIS_JUDGE_AC1, DIS_JUDGE_COEFFICIENTS };

/* One coefficient of agreement. Each item counts the same (or by its weight), however many people voted on it. */
typedef struct {
    const char *name;      /* "agreement", "kappa", "alpha", "ac1" */
    dis_metric judge;      /* of the judge and a person, on items with votes of both */
    dis_metric people;     /* of two people, on items with votes of the judge and of two people */
    dis_metric difference; /* of the judge and a person minus two people, on the same items */
    double constant;       /* of a judge that always gives the most frequent answer of people; NaN: unknown */
} dis_judge_coefficient;

/* How the bias of a judge differs between items with a large and a small value of a covariate. */
typedef struct {
    size_t covariate, class_index;
    uint64_t n_low, n_high; /* items with votes of people and of the judge */
    double split;           /* items above it are the high ones */
    dis_metric difference;  /* bias on the high items minus bias on the low items */
    double p;               /* that there is no difference; corrected over all rows (Holm) */
} dis_judge_contrast;

/* A mean that later votes are compared with. */
typedef struct {
    double mean;
    double item_variance; /* of one item */
    double variance;      /* of the mean, for new items and new annotators */
    uint64_t n;           /* items */
} dis_judge_baseline;

typedef struct {
    uint32_t worker; /* of the votes */
    size_t n_classes, n_people;
    uint64_t n_votes;                          /* items that the judge voted on */
    uint64_t n_shared;                         /* of these with votes of people */
    uint64_t n_two;                            /* of these with votes of two people or more */
    const dis_judge_coefficient *coefficients; /* DIS_JUDGE_COEFFICIENTS rows */
    dis_metric consistency;                    /* share of equal pairs among repeated votes of the judge on one item */
    uint64_t n_repeated;         /* items that the judge voted on more than once; the first vote counts elsewhere */
    dis_panel_judge test;        /* test against chance, alternative-annotator test, error rate */
    const char *missing_reason;  /* static text: why people's votes say nothing about a judge; NULL: they do */
    bool few_people;             /* fewer than 5: intervals hold for new items, but for these people only */
    double p_people;             /* permutation test: people agree no more than chance; NaN: not tested */
    const dis_panel_rate *rates; /* (n_classes) bias and class shares */
    const dis_judge_contrast *contrasts;
    size_t n_contrasts;
    double chance_agreement; /* agreement of the judge and people expected by chance, as in kappa */
    dis_judge_baseline agreement;
    const dis_judge_baseline *shares; /* (n_classes) of the judge's answers */
    const dis_judge_baseline *biases; /* (n_classes) share of the judge's answers minus share of people's votes */
} dis_judge_view;

/* person: (n_workers of the votes) true for people, false for judges; other judges are ignored. A judge may vote several
 * times on an item. DIS_EUSAGE: an unknown or ambiguous judge, an invalid option. DIS_EDATA: no judge, no person, or
 * fewer than 10 items with votes of both. DIS_ELIMIT, DIS_ECANCELLED. */
DIS_API dis_status dis_judge_run(dis_context *ctx, const dis_votes *votes, const bool *person,
                                 const dis_judge_options *options, dis_judge **out);
DIS_API void dis_judge_destroy(dis_judge *judge);
DIS_VIEW_API(dis_judge);

/* ---- requirements ---- */

typedef enum {
    DIS_REQUIREMENT_MET,     /* the whole 95 % interval meets the bound */
    DIS_REQUIREMENT_NOT_MET, /* no value of the interval meets it */
    DIS_REQUIREMENT_OPEN,    /* the interval contains the bound */
    DIS_REQUIREMENT_UNKNOWN, /* the figure has no value, or no interval */
} dis_requirement_outcome;
/* "met", "not met", "open", "unknown". */
DIS_ENUM_API(dis_requirement_outcome);

typedef enum {
    DIS_REQUIRE_AGREEMENT,
    DIS_REQUIRE_KAPPA,
    DIS_REQUIRE_ALPHA,
    DIS_REQUIRE_AC1,
    DIS_REQUIRE_DIFFERENCE, /* kappa of the judge and a person minus kappa of two people */
    DIS_REQUIRE_CONSISTENCY,
    DIS_REQUIRE_BIAS,     /* at most: the largest bias of a class, without its sign */
    DIS_REQUIRE_ALT_TEST, /* the winning rate of the alternative-annotator test; met if the test is passed */
    DIS_REQUIREMENT_KINDS
} dis_requirement_kind;
/* "min-kappa", ... */
DIS_ENUM_API(dis_requirement_kind);

typedef struct {
    dis_requirement_kind kind;
    double bound;
    /* written by dis_judge_evaluate_requirements() */
    dis_requirement_outcome outcome;
    dis_metric figure;
    double items_needed; /* open: further items with as many votes that would decide it, if the figure stays; infinite:
                            more annotators are needed; NaN: unknown or not open */
} dis_requirement;
/* Fills `rows` (n). DIS_EUSAGE: an unknown kind. */
DIS_API dis_status dis_judge_evaluate_requirements(const dis_judge *judge, dis_requirement *rows, size_t n);

/* ---- certificates ---- */

typedef struct {
    const char *role, *path, *sha256; /* "votes", "prompt", "guideline" */
} dis_certificate_source;

/* What a certificate states in addition to the results. */
typedef struct {
    size_t size;       /* of this struct */
    const char *judge; /* name */
    const dis_names *classes;
    const dis_certificate_source *sources;
    size_t n_sources;
    const dis_requirement *requirements; /* evaluated */
    size_t n_requirements;
    const char *const *covariates;     /* names, in the order of the options */
    const dis_position_bias *position; /* position bias of the judge; NULL: not measured */
} dis_certificate_facts;
DIS_OPTIONS_API(dis_certificate_facts);

/* Writes the certificate (JSON), complete or not at all. DIS_EIO, DIS_ELIMIT. */
DIS_API dis_status dis_certificate_write(const dis_judge *judge, const dis_certificate_facts *facts, const char *path);

/* The same as one HTML page, which works offline. */
DIS_API dis_status dis_certificate_write_page(const dis_judge *judge, const dis_certificate_facts *facts,
                                              const char *path);

typedef struct dis_certificate dis_certificate;
typedef struct {
    const char *judge;
    const dis_names *classes;
    size_t n_sources;
    const dis_certificate_source *sources;
    uint64_t n_people;
    double chance_agreement, kappa;
    dis_judge_baseline agreement;
    const dis_judge_baseline *shares, *biases; /* (classes) */
} dis_certificate_view;
/* DIS_EDATA with the place: not a certificate, or damaged. DIS_EIO, DIS_ELIMIT. */
DIS_API dis_status dis_certificate_read(dis_context *ctx, const char *path, dis_certificate **out);
DIS_API void dis_certificate_destroy(dis_certificate *certificate);
DIS_VIEW_API(dis_certificate);

/* ---- later votes ---- */

typedef struct {
    size_t size;      /* of this struct */
    const char *name; /* of the judge; NULL: as in the certificate */
    double level;     /* probability of a false alarm, over any number of looks */
} dis_drift_options;
DIS_OPTIONS_API(dis_drift_options);

typedef enum { DIS_DRIFT_AGREEMENT, DIS_DRIFT_SHARE, DIS_DRIFT_BIAS } dis_drift_kind;

typedef struct {
    dis_drift_kind kind;
    uint32_t class_index; /* of shares and biases */
    uint64_t n;           /* items */
    double certified;     /* the mean in the certificate */
    dis_metric now;       /* mean of the new votes; interval valid at every look (confidence sequence) */
    double p;             /* p-value that is valid at every look */
    bool drifted;
    size_t since; /* item at which the change most likely began; SIZE_MAX: no drift */
} dis_drift_row;

typedef struct {
    size_t n_rows;
    const dis_drift_row *rows;  /* agreement, then shares, then biases */
    uint64_t n_items, n_shared; /* items with votes of the judge; of these with votes of people */
    bool drifted;
} dis_drift_view;

typedef struct dis_drift dis_drift;
/* Compares votes, items in the order of their first vote, with a certificate. DIS_EDATA: other classes, no such judge,
 * no votes of the judge. DIS_EUSAGE, DIS_ELIMIT. */
DIS_API dis_status dis_drift_run(dis_context *ctx, const dis_certificate *certificate, const dis_votes *votes,
                                 const bool *person, const dis_drift_options *options, dis_drift **out);
DIS_API void dis_drift_destroy(dis_drift *drift);
DIS_VIEW_API(dis_drift);

/* ---- which items people should label next ---- */

typedef struct {
    size_t size;         /* of this struct */
    const char *name;    /* of the judge; NULL: the only one */
    const double *score; /* (n_items) confidence of the judge, NaN: unknown; NULL: none */
    size_t n;            /* items to choose */
    uint64_t seed;
} dis_judge_sample_options;
DIS_OPTIONS_API(dis_judge_sample_options);

typedef struct {
    size_t item;
    uint32_t class_index; /* the judge's answer */
    uint32_t third;       /* of the scores among items with this answer, 0: the lowest; 0 without scores */
    double probability;   /* that this item was chosen */
    double weight;        /* 1 / probability */
} dis_judge_sample_row;
/* A stratified random sample of the items that the judge voted on and no person did. *rows (dis_free), in the order of
 * the votes. DIS_EDATA: no such item. DIS_EUSAGE, DIS_ELIMIT. */
DIS_API dis_status dis_judge_sample(dis_context *ctx, const dis_votes *votes, const bool *person,
                                    const dis_judge_sample_options *options, dis_judge_sample_row **rows, size_t *n);

#endif
