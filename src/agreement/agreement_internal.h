/* agreement_internal.h: declarations shared by the files of this folder.
 *
 * Everything except the statistics per worker is a function of how many items have which pattern of votes, where a
 * pattern is "2 for class 0, 3 for class 4". There are far fewer patterns than items (56 for five votes on four
 * classes). So the votes are read once, and a bootstrap resample of the items only draws a count per pattern. */
#ifndef DIS_AGREEMENT_AGREEMENT_INTERNAL_H
#define DIS_AGREEMENT_AGREEMENT_INTERNAL_H
#include "dissent/agreement.h"
#include "agreement/agreement_pair_table.h"
#include "core/parallel/pool.h"

/* `count` votes for class `class`. */
typedef struct {
    uint32_t class, count;
} dis__tally;

typedef struct {
    const dis__tally *tally; /* (n), by class */
    size_t n;
    uint64_t votes;
    uint64_t items; /* items with this pattern */
} dis__vote_pattern;

/* agreement_patterns.c */
typedef struct {
    dis__vote_pattern *pattern; /* (n), in an order that depends on the patterns only */
    size_t n;
    dis__tally *tallies;
    uint64_t compared, singles, empty, votes, votes_compared;
} dis__vote_patterns;

/* With `singles`, patterns of one vote are kept too. */
dis_status dis__vote_patterns_create(dis_context *ctx, const dis_votes_view *votes, bool singles,
                                     dis__vote_patterns *out);
void dis__vote_patterns_destroy(dis__vote_patterns *patterns);

/* Writes the votes of item i as tallies, in any order, and returns their number (n_classes at most). `count`
 * (n_classes) must be zero, and is zero again afterwards. Counts must have been checked. */
size_t dis__item_count_tallies(const dis_votes_view *votes, size_t i, uint32_t *count, dis__tally *out);

/* agreement_measures.c: positions of the rows of dis_agreement_measure_get. */
typedef enum {
    DIS_MEASURE_PERCENT,
    DIS_MEASURE_FLEISS,
    DIS_MEASURE_SCOTT,
    DIS_MEASURE_ALPHA_NOMINAL,
    DIS_MEASURE_ALPHA_ORDINAL,
    DIS_MEASURE_ALPHA_INTERVAL,
    DIS_MEASURE_ALPHA_RATIO,
    DIS_MEASURE_AC1,
    DIS_MEASURE_AC2_LINEAR,
    DIS_MEASURE_AC2_QUADRATIC,
    DIS_MEASURE_AC2_ORDINAL,
    DIS_MEASURE_COHEN,
    DIS_MEASURE_COHEN_LINEAR,
    DIS_MEASURE_COHEN_QUADRATIC,
    DIS_MEASURE_VOTES_PER_ITEM,
    DIS_MEASURE_CODER_TO_LABEL,
    DIS_MEASURE_AGREEMENT_WITH_SINGLES,
    DIS_MEASURE_WORKER_ACCURACY,
    DIS_MEASURE_WORKERS_AT_75,
    DIS_MEASURE_WORKERS_ABOVE_75,
    DIS_MEASURE_VOTE_ACCURACY,
    DIS_MEASURE_GOLD_NEVER_VOTED,
    DIS_MEASURES,
    DIS_MEASURES_OF_PATTERNS = DIS_MEASURE_COHEN, /* those that depend on patterns only come first */
} dis__coefficient_id;

/* Type of classes that a measure requires. */
typedef enum { DIS_SCALE_NAMES, DIS_SCALE_ORDER, DIS_SCALE_NUMBERS, DIS_SCALE_RATIO } dis__scale;
dis__scale dis__measure_scale(dis__coefficient_id measure);

/* agreement_coefficients.c: the coefficients as functions of how often each pattern comes. */
typedef struct dis__coefficients dis__coefficients;

/* The parts of a pattern or a class that do not depend on how often each pattern occurs. */
dis_status dis__coefficients_create(const dis_votes_view *votes, const dis__vote_patterns *patterns, bool ordinal,
                                    dis__coefficients **out);
void dis__coefficients_destroy(dis__coefficients *coefficients);
/* The reason why a coefficient is undefined for these classes; NULL if it is defined. */
const char *dis__coefficient_reason(const dis__coefficients *coefficients, dis__coefficient_id measure);
/* The class at each position of the class order (ascending values, otherwise the order of the classes); NULL: the
 * classes have no order. */
const uint32_t *dis__coefficients_class_order(const dis__coefficients *coefficients);

/* Statistics per class, with scratch space: (n_classes) each. */
typedef struct {
    double votes;  /* n_k */
    double share;  /* sum over items of its share of the votes */
    double both;   /* o_kk */
    double parted; /* sum over items of the share of pairs of votes in which exactly one vote is for the class */
} dis__class_sums;

typedef struct {
    double value[DIS_MEASURES_OF_PATTERNS]; /* if defined */
    bool degenerate[DIS_MEASURES_OF_PATTERNS];
    double items, votes; /* pairs compared */
    double shared;       /* items that count in the class shares */
} dis__coefficient_values;

/* Distances between classes. The last, of mean ranks, depends on how often each pattern occurs. */
typedef enum {
    DIS_DISTANCE_NOMINAL,
    DIS_DISTANCE_LINEAR,
    DIS_DISTANCE_QUADRATIC,
    DIS_DISTANCE_POSITION,
    DIS_DISTANCE_RATIO,
    DIS_DISTANCE_RANK,
    DIS_DISTANCES,
    DIS_PATTERN_DISTANCES = DIS_DISTANCE_RANK
} dis__distance;

/* Totals that the coefficients are computed from, together with the class sums; w is the count of an item's pattern, r
 * its votes. */
typedef struct {
    double items;                 /* with at least two votes */
    double shared;                /* items whose votes count in the class shares */
    double votes;                 /* on items with at least two */
    double mean[DIS_DISTANCES];   /* sum of w D, except the rank distance */
    double paired[DIS_DISTANCES]; /* sum of w r D */
} dis__agreement_totals;

/* The two steps of dis__coefficients_compute. */
void dis__coefficients_compute_totals(const dis__coefficients *coefficients, const double *times,
                                      dis__class_sums *classes, double *rank, dis__agreement_totals *out);
void dis__coefficients_from_totals(const dis__coefficients *coefficients, const dis__agreement_totals *totals,
                                   const dis__class_sums *classes, const double *rank, dis__coefficient_values *out);
/* How many distances are used: only the first for classes without order. */
size_t dis__coefficients_count_distances(const dis__coefficients *coefficients);
void dis__coefficients_compute_distances(const dis__coefficients *coefficients, const double *rank, uint32_t k,
                                         uint32_t l, double out[DIS_DISTANCES]);

/* times: (n) the count of each pattern; `rank` is scratch, `classes` scratch and output. Requires at least one item
 * with two votes. */
void dis__coefficients_compute(const dis__coefficients *coefficients, const double *times, dis__class_sums *classes,
                               double *rank, dis__coefficient_values *out);

/* Agreement, Fleiss' kappa and alpha of class k against all others; false: the class has no votes. */
enum { DIS_CLASS_MEASURES = 3 };
bool dis__class_compute_measures(const dis__class_sums *k, const dis__coefficient_values *all,
                                 double out[DIS_CLASS_MEASURES], bool *degenerate);

/* agreement_workers.c */
typedef struct {
    uint32_t item;
    uint32_t same; /* votes on the item for this class, this one included */
    uint16_t class;
} dis__worker_vote;

typedef struct {
    uint64_t *first;        /* (n_workers + 1) */
    dis__worker_vote *cast; /* (n_votes) votes of worker w: cast[first[w]] .. cast[first[w + 1] - 1], items rising */
} dis__worker_votes;
dis_status dis__worker_votes_create(dis_context *ctx, const dis_votes_view *votes, dis__worker_votes *out);
void dis__worker_votes_destroy(dis__worker_votes *by);

dis_status dis__agreement_compute_workers(dis_context *ctx, const dis_votes_view *votes, const dis__worker_votes *by,
                                          const dis__vote_patterns *patterns, const int32_t *gold,
                                          dis_agreement_worker *out);

/* agreement_pairs.c */
typedef struct {
    dis_agreement_pair *pair; /* (n) that share an item, by a, then b */
    size_t n, workers;
} dis__worker_pairs;
dis_status dis__agreement_compute_pairs(dis_context *ctx, dis__pair_table *table, bool ordered, dis__worker_pairs *out);
/* For two workers who chose the class at position k a[k] and b[k] times in n pairs of votes: n times their expected
 * disagreement by chance. */
enum { DIS_KAPPAS = 3 }; /* unweighted, linear, quadratic */
void dis__kappa_compute_chance(const double *a, const double *b, size_t n_classes, double n, double out[DIS_KAPPAS]);
/* 1 - observed / expected; 1 if the expected disagreement is 0. */
double dis__kappa_compute(double observed, double expected);

/* agreement_pair_intervals.c: intervals of the means of Cohen's kappas over `pairs`. */
size_t dis__pair_intervals_size(size_t n_classes, bool ordered); /* memory required per pair */
dis_status dis__pair_intervals_compute(dis_context *ctx, dis__pair_table *table, const dis__worker_pairs *pairs,
                                       bool ordered, const dis_agreement_options *options,
                                       dis_metric metric[DIS_KAPPAS]);

/* agreement_intervals.c: intervals of the coefficients of patterns and of classes. */
dis_status dis__agreement_compute_intervals(dis_context *ctx, const dis_votes_view *votes,
                                            const dis__vote_patterns *patterns, const dis__coefficients *coefficients,
                                            const dis_agreement_options *options, dis_metric *metric,
                                            dis_agreement_class *classes);

#endif
