/* method.h: the internal interface of a label method.
 *
 * One method per file: its options struct, its table of options, its fit function and its row
 *
 *     const dis__method dis__method_standard = {.info = {.name = "standard", ...}, .fit = fit};
 *
 * which is listed in methods.c. fit() receives checked votes, parsed options and an allocated fit->p (n_items,
 * n_classes). It fills fit->p and adds its parameters, its trace and its outcome. It may fail at any point: the caller
 * destroys the fit.
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
    dis__votes_part part;          /* which part of the votes of all ranks these are */
    const void *options;           /* the method's own struct */
    uint64_t seed;                 /* the method's seed= if given, else the caller's */
    const int32_t *gold;           /* (n_items) or NULL */
    const dis_state *start;        /* or NULL */
    const double *predictions;     /* (n_items, n_classes), rows of zeros for items without; NULL: none */
    struct dis__item_prior *items; /* the same as the prior of each item, for methods that support it; or NULL */
} dis__fit_args;

typedef struct {
    dis_method info;
    size_t options_size;
    size_t seed_offset; /* position of the dis_seed field in the options + 1; 0: the method has no seed */
    /* Checks beyond the ranges of single options; NULL: none. */
    dis_status (*check)(const void *options);
    /* Bytes in addition to the votes and the posterior (SIZE_MAX: overflow); NULL: negligible. */
    size_t (*memory)(const dis_votes_view *votes, const void *options);
    dis_status (*fit)(const dis__fit_args *args, dis_fit *fit);
    bool matrices; /* one matrix per annotator, without pooling */
    bool shares;   /* depends on the votes of the item only; no annotator parameters */
    bool starts;   /* supports a warm start */
    bool ranks;    /* supports several ranks */
    bool devices;  /* its passes can run on the context's device (labels/em/em_device.h) */
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
    char ran_on_cpu[120];      /* why passes did not run on the context's device; "": none was requested */
    bool strength_assumed;     /* the votes do not identify it */
    double *trace;
    size_t n_trace, trace_capacity;
    dis_parameter parameter[DIS_MAX_PARAMETERS];
    size_t n_parameters;
    char warning[DIS_MAX_WARNINGS][DIS_WARNING_SIZE];
    size_t n_warnings;
    const char *device; /* "cuda:0"; NULL: the CPU */
    bool counted;       /* from the device, of the current labels p: the counts of dis__em_device */
    uint64_t counts[2 * DIS_FIT_COUNTED + 2];
};

/* DIS_EUSAGE: this method does not support a warm start, or the state has no parameters of it. */
dis_status dis__fit_check_start(const dis__method *method, const dis_state *start);

/* Adds the warnings of a finished fit (fit_warnings.c). */
dis_status dis__fit_add_warnings(const dis__fit_args *args, dis_fit *fit);

/* Frees parameters and trace; the values of dis_fit_get_view remain, except the trace. */
void dis__fit_free_parameters(dis_fit *fit);

/* Adds a parameter of that shape and returns its zeroed array. `name` and `axes` must be static. */
dis_status dis__fit_add_parameter(dis_fit *fit, const char *name, const char *axes, double **values);
/* Records the objective after an iteration. */
dis_status dis__fit_add_objective(dis_fit *fit, double objective);

/* Label of vote v, for any width. */
static inline size_t dis__vote_label(const dis_votes_view *votes, size_t v)
{
    return votes->label8 ? votes->label8[v] : votes->label16[v];
}

/* Votes of item i by class, into counts (n_classes): from votes, counts or soft votes. */
void dis__item_count_votes(const dis_votes_view *votes, size_t i, double *counts);

/* The gold class of item i, or -1. */
static inline int32_t dis__item_gold(const dis__fit_args *args, size_t i)
{
    return args->gold ? args->gold[i] : -1;
}

/* Option rows shared by iterative methods; `type` is the method's options struct with fields of the same names. */
#define DIS_OPTION_RESTARTS(type, fallback_)                                                                       \
    {                                                                                                              \
        .key = "restarts", .kind = DIS_OPTION_INT, .offset = offsetof(type, restarts), .default_value = fallback_, \
        .low = 1, .high = 1e6, .summary = "number of random restarts"                                              \
    }
#define DIS_OPTION_SCREEN(type, fallback_)                                                                     \
    {                                                                                                          \
        .key = "screen", .kind = DIS_OPTION_INT, .offset = offsetof(type, screen), .default_value = fallback_, \
        .low = 1, .high = 1e9, .summary = "iterations of every restart; then only the best one continues"      \
    }
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
