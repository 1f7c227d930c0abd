/* method.h: what a label method is, from the inside.
 *
 * One method per file: its options struct, its table of options, its fit function and its row
 *
 *     const dis__method dis__method_standard = {.info = {.name = "standard", ...}, .fit = fit};
 *
 * which methods.c lists. fit() finds args->votes checked, options parsed and fit->p allocated (n_items, n_classes); it
 * fills fit->p, adds its parameters, its trace and its outcome. It may fail at any point: the caller destroys the fit.
 */
#ifndef DIS_LABELS_METHOD_H
#define DIS_LABELS_METHOD_H
#include "dissent/fit.h"
#include "core/error.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "labels/fit_state.h"
#include "votes/table/votes_table.h"

typedef struct dis__fit_args {
    dis_context *ctx;
    dis_votes_view votes;
    dis__votes_part part;          /* what they are of the votes of all ranks */
    const void *options;           /* the method's own struct */
    uint64_t seed;                 /* the method's seed= if given, else the caller's */
    const int32_t *gold;           /* (n_items) or NULL */
    const dis_state *start;        /* or NULL */
    const double *predictions;     /* (n_items, n_classes), rows of zeros where there are none; NULL: none at all */
    struct dis__item_prior *items; /* the same as the prior of each item, for methods that take them so; or NULL */
} dis__fit_args;

typedef struct {
    dis_method info;
    size_t options_size;
    size_t seed_offset; /* of the dis_seed field in the options + 1; 0: the method has no seed */
    /* Checks that one row of options cannot express; NULL: none. */
    dis_status (*check)(const void *options);
    /* Bytes it needs beside the votes and the posterior (SIZE_MAX: overflow); NULL: next to nothing. */
    size_t (*memory)(const dis_votes_view *votes, const void *options);
    dis_status (*fit)(const dis__fit_args *args, dis_fit *fit);
    bool matrices; /* one matrix per annotator, without pooling */
    bool shares;   /* of the votes on the item; nothing about annotators is estimated */
    bool starts;   /* from a state of its own */
    bool ranks;    /* can be shared out over ranks */
    bool devices;  /* its passes can run on the device of the context (labels/em/em_device.h) */
} dis__method;

enum { DIS_MAX_PARAMETERS = 12, DIS_MAX_WARNINGS = 4, DIS_WARNING_SIZE = 240, DIS_FIT_COUNTED = 8 };

struct dis_fit {
    const dis__method *method;
    size_t n_items, n_workers, n_classes, n_groups /* of an axis g */;
    double *p; /* (n_items, n_classes) */
    int iterations, restart;
    bool converged;
    double objective;          /* NaN: none */
    double predictions_weight; /* NaN: none were used */
    double strength;           /* of smoothed; NaN for the others */
    char ran_on_cpu[120];      /* why passes were not made on the device of the context; "": none was asked for */
    bool strength_assumed;     /* the votes do not determine it */
    double *trace;
    size_t n_trace, trace_capacity;
    dis_parameter parameter[DIS_MAX_PARAMETERS];
    size_t n_parameters;
    char warning[DIS_MAX_WARNINGS][DIS_WARNING_SIZE];
    size_t n_warnings;
    const char *device; /* "cuda:0"; NULL: the CPU */
    bool counted;       /* by the device, of labels as they are in p: the counts of dis__em_device */
    uint64_t counts[2 * DIS_FIT_COUNTED + 2];
};

/* DIS_EUSAGE: this method does not start from a state, or the state holds nothing of it. */
dis_status dis__fit_check_start(const dis__method *method, const dis_state *start);

/* Notes what is odd about a fit that is done (fit_warnings.c). */
dis_status dis__fit_add_warnings(const dis__fit_args *args, dis_fit *fit);

/* Gives up parameters and trace; what dis_fit_get_view says stays, without the trace. */
void dis__fit_free_parameters(dis_fit *fit);

/* Adds a parameter of that shape and gives its array to be filled (zeroed). `name` and `axes` must be static. */
dis_status dis__fit_add_parameter(dis_fit *fit, const char *name, const char *axes, double **values);
/* Notes the objective after one more iteration. */
dis_status dis__fit_add_objective(dis_fit *fit, double objective);

/* Label of vote v, whatever its width. */
static inline size_t dis__vote_label(const dis_votes_view *votes, size_t v)
{
    return votes->label8 ? votes->label8[v] : votes->label16[v];
}

/* How often each class was chosen for item i, into counts (n_classes): from votes, counts or soft votes. */
void dis__item_count_votes(const dis_votes_view *votes, size_t i, double *counts);

/* The class that gold pins item i to, or -1. */
static inline int32_t dis__item_gold(const dis__fit_args *args, size_t i)
{
    return args->gold ? args->gold[i] : -1;
}

/* Option rows that iterative methods share; `type` is the method's options struct with fields of the same names. */
#define DIS_OPTION_ITERATIONS(type, fallback_)                                                                         \
    {                                                                                                                  \
        .key = "iterations", .kind = DIS_OPTION_INT, .offset = offsetof(type, iterations), .default_value = fallback_, \
        .low = 0, .high = 1e9, .summary = "maximum number of iterations"                                               \
    }
#define DIS_OPTION_TOLERANCE(type, fallback_)                                                                         \
    {                                                                                                                 \
        .key = "tolerance", .kind = DIS_OPTION_REAL, .offset = offsetof(type, tolerance), .default_value = fallback_, \
        .low = 0, .high = 1, .summary = "stop when the relative change of the objective is smaller; 0: never"         \
    }
#define DIS_OPTION_SMOOTHING(type, fallback_)                                                                         \
    {                                                                                                                 \
        .key = "smoothing", .kind = DIS_OPTION_REAL, .offset = offsetof(type, smoothing), .default_value = fallback_, \
        .low = 0, .high = 1e9, .summary = "pseudo-count added to every count"                                         \
    }
#define DIS_OPTION_FLOOR(type, fallback_)                                                                     \
    {                                                                                                         \
        .key = "floor", .kind = DIS_OPTION_REAL, .offset = offsetof(type, floor), .default_value = fallback_, \
        .low = 0, .high = .1, .summary = "minimum probability; 0: no minimum"                                 \
    }
#define DIS_OPTION_SEED_ROW(type)                                               \
    {                                                                           \
        .key = "seed", .kind = DIS_OPTION_SEED, .offset = offsetof(type, seed), \
        .summary = "random seed of this method [the general one]"               \
    }

/* Writes p (n_items, n_classes), the labels of `votes`; NULL is an error. */
dis_status dis__vote_labels_write(dis_context *ctx, const double *p, const dis_votes *votes, const char *path,
                                  const char *format);

#endif
