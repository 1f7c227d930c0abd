/* prediction_sets.h: sets of classes that contain an annotator's answer with a stated probability.
 *
 * Conformal prediction with several votes per item: the votes on calibration items show how probable a model finds the
 * answers of people. A set contains every class that is not less plausible than all but a share 1 - coverage of these
 * answers. No assumption about the model is made.
 *
 *     static const double q[] = {.8, .2, .6, .4, .1, .9}; // three items, two classes; the first two items have votes
 *     static const size_t items[] = {0, 1, SIZE_MAX}, classes[] = {0, 1};
 *     const dis_prediction_sets_input in = {.size = sizeof(dis_prediction_sets_input), .n_items = 3, .n_classes = 2,
 *         .q = q, .votes = votes, .item_map = items, .class_map = classes};
 *     dis_prediction_sets *sets;
 *     if (dis_prediction_sets_run(ctx, &in, NULL, &sets) != DIS_OK) { puts(dis_last_error()); return 1; }
 *     const dis_prediction_sets_view v = dis_prediction_sets_get_view(sets);
 *     printf("%d %d\n", v.in_set[4], v.in_set[5]); // the classes of the last item
 *     dis_prediction_sets_destroy(sets);
 *
 * The guarantee: items are exchangeable, and so are the votes on an item. Then a set contains a further vote on a new
 * item with probability `coverage` or more. Definitions: docs/reference/prediction-set-formulas.md.
 *
 * Threads: results do not depend on their number, nor on the order of items that have names. */
#ifndef DIS_PREDICTION_SETS_H
#define DIS_PREDICTION_SETS_H
#include "dissent/context.h"
#include "dissent/metric.h"
#include "dissent/votes.h"

/* How implausible a class is. Names "lac", "aps". */
typedef enum {
    DIS_SET_SCORE_LAC, /* 1 - q: the smallest sets on average (Sadinle, Lei and Wasserman 2019) */
    DIS_SET_SCORE_APS, /* probability of the more probable classes, and a random share of its own: coverage is more
                          equal across items (Romano, Sesia and Candes 2020) */
    DIS_SET_SCORES
} dis_set_score;
DIS_ENUM_API(dis_set_score);

/* The arrays remain the caller's. */
typedef struct {
    size_t size; /* of this struct */
    size_t n_items, n_classes;
    const double *q;         /* (n_items, n_classes): predictions, rows sum to 1 */
    const dis_names *tasks;  /* (n_items): key the random shares of an item; NULL: its position does */
    const bool *calibrates;  /* (n_items): the item's votes calibrate; other votes test; NULL: all votes calibrate */
    const dis_votes *votes;  /* votes with annotators, or counts */
    const size_t *item_map;  /* (n_items) the item of `votes`; SIZE_MAX: none */
    const size_t *class_map; /* (classes of `votes`) the class; SIZE_MAX: none, so no set can contain the vote */
} dis_prediction_sets_input;
DIS_OPTIONS_API(dis_prediction_sets_input);

typedef struct {
    size_t size;     /* of this struct */
    double coverage; /* .9; within (0, 1) */
    dis_set_score score;
    bool allow_empty; /* else a set without a class gets the most probable one */
    uint64_t seed;
} dis_prediction_sets_options;
DIS_OPTIONS_API(dis_prediction_sets_options);

/* The votes that a row of coverage is about. Names "all", "class", "size", "entropy", "annotator",
 * "new_annotators". */
typedef enum {
    DIS_COVERAGE_ALL,
    DIS_COVERAGE_CLASS,          /* answers of one class */
    DIS_COVERAGE_SIZE,           /* items whose set has `index` classes */
    DIS_COVERAGE_ENTROPY,        /* a quarter of the items, by the entropy of the prediction */
    DIS_COVERAGE_ANNOTATOR,      /* votes of one annotator, with sets from the votes of others */
    DIS_COVERAGE_NEW_ANNOTATORS, /* all votes, each with sets from the votes of other annotators */
    DIS_COVERAGE_KINDS
} dis_coverage_kind;
DIS_ENUM_API(dis_coverage_kind);

typedef struct {
    dis_coverage_kind kind;
    size_t index;     /* class, number of classes, quarter, or annotator of `votes` */
    double low, high; /* range of the entropy in nats; otherwise NaN */
    size_t n_items;
    double n_votes;
    double mean_size;    /* of the sets; NaN for annotators */
    dis_metric coverage; /* mean over items of the share of votes within the set */
} dis_coverage_row;

typedef struct {
    size_t n_items, n_classes;
    size_t n_calibration, n_tested; /* items with votes of both kinds */
    double n_votes;                 /* that calibrate */
    double unmatched;               /* their share for classes that predictions lack */
    size_t n_annotators;            /* who gave them; 0: unknown */
    double coverage;
    dis_set_score score;
    size_t min_items; /* for sets that need not contain all classes; more than n_calibration: they all do */
    double threshold; /* largest score within sets of new items; infinite if sets contain all classes */
    /* (n_items, n_classes): the p-value of each class, that is, the smallest 1 - coverage without it in the set. For
     * calibration items, their own votes are left out. */
    const double *p_value;
    const bool *in_set;       /* (n_items, n_classes) */
    const uint32_t *set_size; /* (n_items) */
    size_t n_filled;          /* sets of new items that got the most probable class; without new items, of all */
    size_t n_rows;
    /* where the sets are checked: on test items if they have votes, otherwise on calibration items without their own
     * votes. Annotators: always the latter */
    const dis_coverage_row *rows;
} dis_prediction_sets_view;

typedef struct dis_prediction_sets dis_prediction_sets;

/* options NULL: the defaults. DIS_EUSAGE: no predictions, coverage out of range. DIS_EDATA: no item has votes that
 * calibrate. DIS_ELIMIT, DIS_ECANCELLED. The caller destroys the result. */
DIS_API dis_status dis_prediction_sets_run(dis_context *ctx, const dis_prediction_sets_input *input,
                                           const dis_prediction_sets_options *options, dis_prediction_sets **out);
DIS_VIEW_API(dis_prediction_sets);
DIS_API void dis_prediction_sets_destroy(dis_prediction_sets *sets);

#endif
