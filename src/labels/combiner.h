/* combiner.h: the internal interface of a combination of views.
 *
 * One combination per file: its options struct, which begins with the field `weights`, its table of options, its run
 * function and its row, which is listed in combiners.c. run() receives checked arguments, without views of weight 0,
 * and weights that sum to 1. */
#ifndef DIS_LABELS_COMBINER_H
#define DIS_LABELS_COMBINER_H
#include "dissent/combine.h"
#include "core/error.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "votes/table/votes_table.h"

#define DIS_MIN_VIEW_WEIGHT .01 /* minimum weight of a view; below, a chosen view is left out */

/* The choice of the gold labels. */
typedef struct {
    size_t n_gold;
    double weight[DIS_MAX_VIEWS]; /* of the views, summing to 1 */
    double power, loss, base_loss;
    double *class_weight; /* (n_classes); NULL: 1 for all */
} dis__gold_weights;

typedef struct {
    dis_context *ctx;
    size_t n_items, n_classes, n_views;
    const double *const *p;    /* n_views tables of (n_items, n_classes) */
    const double *weight;      /* (n_views), positive, summing to 1 */
    const dis_votes *votes;    /* the votes of the views; NULL: unknown */
    dis__votes_part part;      /* which of all ranks' items these are */
    const void *options;       /* the combination's own struct */
    double *out;               /* (n_items, n_classes); may be one of p */
    double *temperature;       /* (n_views), to be filled by combinations with temperatures; zeros */
    bool *on_bound;            /* (n_views), likewise */
    const int32_t *gold;       /* (n_items) gold class or -1; NULL: none */
    dis__gold_weights *choice; /* n_gold > 0: to be used; otherwise to be filled by a combination with gold=choose */
    dis_combination *did;      /* objective and max_steps are to be filled; NaN and 0 */
} dis__combine_args;

typedef struct {
    dis_combiner info;
    size_t options_size;
    dis_status (*run)(const dis__combine_args *args);
} dis__combiner;

/* Checks a combination of this many views of these votes, before the views exist. */
dis_status dis__views_check(const dis_votes *votes, size_t n_views, const char *spec);
/* dis_views_combine() with the choice of the gold labels; if choice->n_gold is 0, the choice is computed. The caller
 * frees choice->class_weight. */
dis_status dis__views_combine(dis_context *ctx, const dis_views *views, const char *spec, dis__gold_weights *choice,
                              double *out, dis_combination *did);
/* Whether gold labels choose for this spec. */
bool dis__combiner_has_gold_weights(const char *spec);

/* Weights of views, the first field of every options struct. */
enum { DIS_WEIGHTS_EQUAL, DIS_WEIGHTS_AUTO, DIS_WEIGHTS_VOTES };
/* Whether the spec has this word as its weights. */
bool dis__combiner_has_weights(const char *spec, int word);
#define DIS_OPTION_WEIGHTS                                                                                           \
    {                                                                                                                \
        .key = "weights", .kind = DIS_OPTION_REALS, .offset = 0, .default_value = "equal", .low = 0, .high = 1e100,  \
        .choices = "equal|auto|votes",                                                                               \
        .summary = "one weight per label set, e.g. .2/.3/.5; auto: by how well they predict held-out votes; votes: " \
                   "less for confusion matrices of annotators with few votes"                                        \
    }

#define DIS_OPTION_CENTROID_TOLERANCE(type)                                                                         \
    {                                                                                                               \
        .key = "tolerance", .kind = DIS_OPTION_REAL, .offset = offsetof(type, tolerance), .default_value = "1e-12", \
        .low = 1e-15, .high = 1, .summary = "maximum relative error of a probability"                               \
    }
#define DIS_OPTION_CENTROID_STEPS(type)                                                                            \
    {                                                                                                              \
        .key = "steps", .kind = DIS_OPTION_INT, .offset = offsetof(type, steps), .default_value = "100", .low = 1, \
        .high = 1e6, .summary = "Newton steps before a slower method with guaranteed convergence is used"          \
    }

/* Records the maximum number of steps over n_jobs jobs. */
static inline void dis__combine_max_steps(const dis__combine_args *args, const int *n_steps, size_t n_jobs)
{
    for (size_t j = 0; j < n_jobs; j++)
        if (n_steps[j] > args->did->max_steps) args->did->max_steps = n_steps[j];
}

/* The weighted mean of n_views rows of n_classes at p[m] + at, into q. */
static inline void dis__views_compute_mean_row(const double *const *p, const double *weight, size_t n_views,
                                               size_t n_classes, size_t at, double *q)
{
    for (size_t k = 0; k < n_classes; k++) q[k] = weight[0] * p[0][at + k];
    for (size_t m = 1; m < n_views; m++)
        for (size_t k = 0; k < n_classes; k++) q[k] += weight[m] * p[m][at + k];
}

#endif
