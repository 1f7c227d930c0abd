/* agreement.h: inter-annotator agreement, overall, per worker, item, class and pair of workers.
 *
 * One call computes everything that is requested. Read the result through its view, then destroy it.
 *
 *     dis_agreement *agreement;
 *     if (dis_agreement_run(ctx, votes, NULL, &agreement) != DIS_OK) { puts(dis_last_error()); return 1; }
 *     const dis_metric *alpha = dis_agreement_find(agreement, "alpha_nominal");
 *     printf("alpha %.4f, 95 %% interval %.4f .. %.4f\n", alpha->value, alpha->ci_low, alpha->ci_high);
 *     dis_agreement_destroy(agreement);
 *
 * Definitions, and the treatment of missing votes: docs/reference/coefficients.md. Items with fewer than two votes are
 * left out and counted. All labels the same: 1 and degenerate. Nothing to compare: no value but a reason. Counts are
 * accepted where no workers are needed. Soft votes are an error. Cost: O(votes + classes^2), and for pairs of workers
 * the number of pairs of votes. Results do not depend on the number of threads, nor (to rounding) on the order of rows
 * and names.
 * Threads: a result may be read by any number of threads at once. */
#ifndef DIS_AGREEMENT_H
#define DIS_AGREEMENT_H
#include "dissent/metric.h"
#include "dissent/votes.h"

/* Parts that take a pass of their own. */
enum {
    DIS_AGREEMENT_ITEMS = 1,   /* a row per item */
    DIS_AGREEMENT_WORKERS = 2, /* a row per worker */
    DIS_AGREEMENT_PAIRS = 4,   /* a row per pair of workers, and from them the coefficients cohen* */
    DIS_AGREEMENT_ALL = 7,
};

typedef struct {
    size_t size;         /* of this struct */
    unsigned parts;      /* DIS_AGREEMENT_* or-ed; workers and pairs are left out where no workers are known */
    const int32_t *gold; /* (n_items) class of items whose truth is known, -1 elsewhere; NULL: none */
    bool ordinal;        /* the order of the classes means something; taken for granted when all are numbers */
    bool
        include_single_votes; /* items with one vote count in the chance agreement of Fleiss and Gwet, as in Gwet's software */
    size_t resamples;         /* resamples of the items for 95 % intervals; 0: no intervals */
    uint64_t seed;            /* of the resamples */
    size_t max_pairs;         /* of workers; beyond, the pairs among the workers with most votes */
    size_t min_common;        /* votes that a pair must have on the same items to count in cohen* */
    dis_interval_scope interval_scope; /* what intervals hold for; votes without annotators: DIS_INTERVAL_ITEMS */
} dis_agreement_options;
DIS_OPTIONS_API(dis_agreement_options);

/* What is measured overall, one static row each. */
typedef struct {
    const char *name;          /* key in JSON */
    const char *title;         /* for people */
    const char *missing_votes; /* what it does about missing votes */
    const char *source;        /* of the formula */
    bool describes_crowd;      /* describes the crowd rather than agreement beyond chance */
    bool needs_gold;
} dis_agreement_measure;
/* Row i, NULL past the end. */
DIS_API const dis_agreement_measure *dis_agreement_measure_get(size_t i);

typedef struct {
    uint64_t votes;
    uint32_t n_chosen_classes; /* number of different classes */
    uint32_t majority_class;   /* class with most votes, the first one on a tie; meaningless without votes */
    double agreement;          /* share of pairs of votes that agree; NaN with fewer than two votes */
} dis_agreement_item;

typedef struct {
    uint64_t votes, compared;    /* compared: on items with a vote of another worker */
    double agreement;            /* mean share of agreeing votes of the others; NaN when none was compared */
    double alpha_without_worker; /* alpha_nominal without the worker's votes; NaN when nothing remains to compare */
    uint64_t gold_votes;         /* on items whose truth is known */
    double accuracy;             /* share of them that is correct; NaN without any */
} dis_agreement_worker;

typedef struct {
    uint64_t votes;       /* on items with at least two */
    double share;         /* of such votes */
    dis_metric agreement; /* given one vote for it: the chance that another vote on the item is for it too */
    dis_metric fleiss;    /* this class against all others */
    dis_metric alpha;     /* the same */
} dis_agreement_class;

typedef struct {
    uint32_t a, b;                        /* workers */
    uint64_t n;                           /* pairs of votes on the same item */
    double agreement;                     /* share of them that agree */
    double scott, cohen;                  /* 1 by convention when degenerate */
    double cohen_linear, cohen_quadratic; /* by places in the class order; NaN for classes without order */
    bool degenerate;                      /* both always chose one and the same class */
} dis_agreement_pair;

/* Whether votes on one item agree more than chance: before anything is said of labels or workers. */
typedef enum {
    DIS_CHANCE_BEYOND,  /* they do */
    DIS_CHANCE_UNKNOWN, /* too few votes on common items to tell */
    DIS_CHANCE_NOISE,   /* they do not: the votes say nothing of the items, as far as can be told */
} dis_chance;
/* "beyond", "unknown", "noise". */
DIS_ENUM_API(dis_chance);

typedef struct {
    dis_chance verdict;
    double coefficient;    /* 0: as by chance, 1: pairs of votes always agree */
    double standard_error; /* of it by chance; 0: nothing to test, no item has two votes, or no annotator two labels */
    double z, p;           /* one-sided test of agreement by chance; p for any class balance */
    double n_pairs;        /* pairs of votes on one item */
} dis_chance_test;

typedef struct {
    size_t n_items, n_workers, n_classes;
    uint64_t n_compared, n_single_votes, n_empty; /* items with at least two votes, one, none */
    uint64_t votes, votes_compared;               /* all, and on items with at least two */
    const dis_metric *metric;                     /* one for each row of dis_agreement_measure_get */
    size_t n_metrics;
    const dis_agreement_class *classes;  /* (n_classes) */
    const dis_agreement_item *items;     /* (n_items), NULL unless asked for */
    const dis_agreement_worker *workers; /* (n_workers), NULL unless asked for and known */
    const dis_agreement_pair *pairs; /* (n_pairs) that share an item, by a, then b; NULL unless asked for and known */
    size_t n_pairs;
    size_t n_pair_workers;       /* workers whose pairs were examined: all, or those with most votes */
    uint64_t n_pairs_too_small;  /* pairs left out of cohen* for sharing less than min_common */
    uint64_t n_pairs_degenerate; /* pairs left out of cohen* because both chose nothing but one and the same class */
    dis_interval_scope interval_scope; /* what the intervals hold for */
    dis_chance_test chance;            /* before anything is read into the coefficients */
} dis_agreement_view;

typedef struct dis_agreement dis_agreement;

/* `options` NULL: the defaults. DIS_EUSAGE: an absurd option. DIS_EDATA: counts that are not whole numbers.
 * DIS_ELIMIT. DIS_ECANCELLED. */
DIS_API dis_status dis_agreement_run(dis_context *ctx, const dis_votes *votes, const dis_agreement_options *options,
                                     dis_agreement **out);
DIS_API void dis_agreement_destroy(dis_agreement *agreement);

/* The inside of a result, valid as long as it is. */
DIS_VIEW_API(dis_agreement);
/* The metric of that name, NULL if none has it. */
DIS_API const dis_metric *dis_agreement_find(const dis_agreement *agreement, const char *name);
/* Its value, and its interval; NaN: unknown name, or not measured. False: it has no interval. */
DIS_API double dis_agreement_value(const dis_agreement *agreement, const char *name);
DIS_API bool dis_agreement_interval(const dis_agreement *agreement, const char *name, double *low, double *high);

/* Keeps the label rates of each worker, so habits alone are chance. Votes that are distributions: unknown. DIS_ELIMIT,
 * DIS_ECANCELLED. */
DIS_API dis_status dis_votes_chance_test(dis_context *ctx, const dis_votes *votes, dis_chance_test *out);

#endif
