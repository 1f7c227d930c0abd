/* fit.h: estimates soft labels from votes.
 *
 * A method is asked for by name with options, as on the command line: "dawid-skene", "mace:method=em,restarts=5".
 *
 *     dis_fit *fit;
 *     if (dis_fit_run(ctx, votes, "dawid-skene:iterations=50", NULL, &fit) != DIS_OK) return 1;
 *     const double *p = dis_fit_p(fit);                    // (n_items, n_classes)
 *     printf("%d iterations\n", dis_fit_get_view(fit).iterations);
 *     dis_fit_destroy(fit);
 *
 * Results do not depend on the order of rows, on names, or on the number of threads (see
 * docs/development/architecture.md for the exact promise). A fit keeps no pointer into the votes but does keep their
 * counts: it may outlive them. */
#ifndef DIS_FIT_H
#define DIS_FIT_H
#include "dissent/option.h"
#include "dissent/votes.h"

/* What a method does with predictions of a model. */
typedef enum {
    DIS_PREDICTIONS_UNUSED,  /* an error */
    DIS_PREDICTIONS_PRIOR,   /* takes them as the prior of each item, when there are any */
    DIS_PREDICTIONS_REQUIRED /* does not work without them */
} dis_predictions_use;

/* A row of the table of methods; static. */
typedef struct {
    const char *name;
    const char *summary;   /* one line */
    const char *source;    /* where the formula comes from */
    const char *objective; /* what its iterations never make worse; "none" when there is no such thing */
    bool needs_workers;    /* counts and soft votes are an error */
    dis_predictions_use predictions;
    const dis_option *options;
    size_t n_options;
} dis_method;

/* Row i, NULL past the end; the row of a name, NULL if it is unknown. */
DIS_API const dis_method *dis_method_get(size_t i);
DIS_API const dis_method *dis_method_find(const char *name);

/* Checks NAME[:key=value,...] without running it: DIS_EUSAGE with a sentence that names the option. */
DIS_API dis_status dis_method_check(const char *spec);

typedef struct dis_fit dis_fit;
typedef struct dis_state dis_state;

typedef struct {
    size_t size;                    /* of this struct */
    uint64_t seed;                  /* a method's own seed= wins */
    const int32_t *gold;            /* (n_items) class of items whose truth is known, -1 elsewhere; NULL: none */
    const dis_state *initial_state; /* parameters of this method to start from (see below); NULL: from the votes */
    const double *predictions; /* (n_items, n_classes) of a model, out of fold (predictions.h makes them from a table of
                                  labels); rows of zeros: items without; NULL: none */
    double
        predictions_weight; /* power to which they are raised: 0 none, 1 as they are; below 0 (the default): estimated,
                                  between 0 and 2, so that useless ones get 0 */
} dis_fit_options;
DIS_OPTIONS_API(dis_fit_options);

/* Passes over the votes run on the context's device if the method and the votes allow it, otherwise on the CPU.
 * dis_fit_view.device has the device that was used (docs/guides/gpu.md).
 *
 * DIS_EUSAGE: an unknown method, option or device; a state without parameters of this method. Also predictions for a
 * method that does not use them, or none for one that needs them; a weight that is not a number or above 100.
 * DIS_EDATA: the method needs workers and the votes have none. DIS_EIO: the context's device is missing. DIS_ELIMIT:
 * the message has the number of bytes needed. DIS_ECANCELLED. The caller destroys the fit. */
DIS_API dis_status dis_fit_run(dis_context *ctx, const dis_votes *votes, const char *spec,
                               const dis_fit_options *options, dis_fit **out);
DIS_API void dis_fit_destroy(dis_fit *fit);

/* Posterior of the true class, (n_items, n_classes), valid as long as the fit. */
DIS_API const double *dis_fit_p(const dis_fit *fit);
/* The same array, given away: the caller frees it with dis_free(), and dis_fit_p() is NULL from now on. */
DIS_API double *dis_fit_move_p(dis_fit *fit);

typedef struct {
    const dis_method *method;
    int iterations;            /* of the restart that won */
    bool converged;            /* always true for methods without iterations */
    int restart;               /* which one won, from 0 */
    double objective;          /* at the end; NaN when the method has none */
    double predictions_weight; /* that predictions got; NaN: none were used */
    size_t n_trace;            /* the objective after each iteration */
    const double *trace;
    const char *device;    /* that made the passes: "cpu", "cuda:0" */
    double prior_strength; /* of `smoothed`: votes at the class rates that each item got; NaN for other methods */
} dis_fit_view;
DIS_VIEW_API(dis_fit);
/* Fields of the view as functions, for bindings of other languages. */
DIS_API size_t dis_fit_n_items(const dis_fit *fit);
DIS_API size_t dis_fit_n_classes(const dis_fit *fit);
DIS_API int dis_fit_iterations(const dis_fit *fit);
DIS_API bool dis_fit_converged(const dis_fit *fit);
DIS_API double dis_fit_objective(const dis_fit *fit);
/* Writes the labels of the fit to `path`, in the order of the items of `votes`, which it was fitted to. `path` and
 * `format` as in dis_labels_write(). DIS_EUSAGE: votes of another size, or the labels were moved to the caller. */
DIS_API dis_status dis_fit_write_labels(dis_context *ctx, const dis_fit *fit, const dis_votes *votes, const char *path,
                                        const char *format);

/* Warnings about the labels, one sentence each, without the method's name; NULL past the end. They report iterations
 * that stopped before convergence, a frequent class of votes without labels, and labels without a vote.
 * src/labels/fit_warnings.c has the bounds. */
DIS_API const char *dis_fit_get_warning(const dis_fit *fit, size_t i);

/* A named table of numbers that a method estimated. `axes` has one character per dimension, slowest first: w worker, i
 * item, v class voted, t true class, g kind of items within a class (ebcc). */
typedef struct {
    const char *name, *axes;
    size_t n;
    const double *values;
} dis_parameter;
DIS_API const dis_parameter *dis_fit_get_parameter(const dis_fit *fit, size_t i);
DIS_API const dis_parameter *dis_fit_find_parameter(const dis_fit *fit, const char *name);

/* quality (n_workers): the expected share of correct votes of each worker, given `p` (n_items, n_classes): the mean of
 * p at the class voted for. n_voted (n_workers) gets the number of votes; either may be NULL. DIS_EDATA without
 * workers. */
DIS_API dis_status dis_votes_worker_quality(dis_context *ctx, const dis_votes *votes, const double *p, double *quality,
                                            uint64_t *n_voted);

/* State: the parameters of fits under the names of workers, items and classes, to start a later fit from when votes or
 * workers were added. One file (safetensors, laid out as src/labels/fit_state.c says) holds any number of fits; of
 * several fits of one method the first is kept. DIS_EDATA: a damaged file, or one of another version. */
DIS_API dis_status dis_state_write(dis_context *ctx, const dis_votes *votes, const dis_fit *const *fits, size_t n_fits,
                                   const char *path);
DIS_API dis_status dis_state_read(dis_context *ctx, const char *path, dis_state **out);
/* The same from bytes that such a file would have, which are copied. They need no checksums. */
DIS_API dis_status dis_state_parse(const void *bytes, size_t n, dis_state **out);
DIS_API void dis_state_destroy(dis_state *state);

#endif
