/* scaled.h: labels and agreement of sets of classes, numbers, comparisons and spans.
 *
 * Scales whose row says `own` (dissent/scale.h) have labels of another shape than a distribution over classes: numbers
 * with their standard deviation, scores of what was compared, spans. One call computes labels and
 * measures. The result is a list of measures and tables with named columns, so files, pages and Python treat every scale
 * alike.
 *
 *     dis_scaled *result;
 *     if (dis_scaled_run(ctx, votes, NULL, &result) != DIS_OK) { puts(dis_last_error()); return 1; }
 *     const dis_scaled_table *labels = dis_scaled_find_table(result, "labels");
 *     printf("%zu rows\n", labels->n_rows);
 *     dis_scaled_destroy(result);
 *
 * Tables: "labels" (what dissent labels writes), "items" and "workers" (the most doubtful first: what dissent review
 * shows), and more of each scale (docs/guides/scales.md). Texts of columns are those of the votes, which must live as long as
 * the result. Results do not depend on the number of threads. */
#ifndef DIS_SCALED_H
#define DIS_SCALED_H
#include "dissent/metric.h"
#include "dissent/option.h"
#include "dissent/worker_table.h"

/* A column of texts (names[index[i]], names[i] without index) or, without names, of numbers (NaN: no value). */
typedef struct {
    const char *name;
    const dis_names *names;
    const uint32_t *index;
    const double *values;
} dis_scaled_column;

typedef struct {
    const char *name, *summary;
    size_t n_rows, n_columns;
    const dis_scaled_column *columns;
} dis_scaled_table;

typedef struct {
    const char *name, *title;
    dis_metric value;
} dis_scaled_measure;

/* How a scale is modelled; static rows. NAME[:key=value,...] asks for one, as for a label method. */
typedef struct {
    const char *name, *summary, *source;
    const dis_option *options;
    size_t n_options;
} dis_scaled_model;

/* A property of comparisons in favor of the first thing, such as the difference of two lengths. */
typedef struct {
    const char *name;
    const double *value; /* (n_items) NaN: unknown; NULL: texts are compared */
    /* 1 if `first` is the annotator's text, minus 1 if `second` is; empty: unknown */
    const dis_names *first, *second; /* (n_items) */
    const dis_names *worker;         /* (n_workers) */
} dis_scaled_covariate;

typedef struct {
    size_t size;               /* of this struct */
    const char *const *method; /* (n_methods) specs: the scale's model, or label methods; none: what the scale has */
    size_t n_methods;
    const char *combine; /* of several label methods */
    size_t resamples;    /* of items, for 95 % intervals; 0: none */
    uint64_t seed;
    bool
        measures_only; /* no label methods are fitted: tables that come from labels are not made. Scales with a model of
                           their own are modelled all the same */
    const dis_scaled_covariate *covariates; /* pairwise: (n_covariates) */
    size_t n_covariates;
    const dis_worker_groups *groups; /* pairwise: scores of each group of annotators, too; NULL: none */
    const char *append;              /* pairwise: a saved state, whose comparisons are added to the votes; NULL: none */
    const char *state_file;          /* pairwise: file for the comparisons and the fit; NULL: none */
} dis_scaled_options;
DIS_OPTIONS_API(dis_scaled_options);

typedef struct {
    dis_scale scale;
    const char *method; /* what was used; NULL: nothing */
    int iterations;
    bool converged;
    size_t n_tables;
    const dis_scaled_table *tables;
    size_t n_measures;
    const dis_scaled_measure *measures;
    size_t n_notes; /* what is odd about the votes, one sentence each */
    const char *const *notes;
} dis_scaled_view;

typedef struct dis_scaled dis_scaled;

/* `options` NULL: the defaults. DIS_EUSAGE: votes of another scale, an unknown method or option. DIS_EDATA: nothing to
 * measure. DIS_ELIMIT, DIS_ECANCELLED. */
DIS_API dis_status dis_scaled_run(dis_context *ctx, const dis_votes *votes, const dis_scaled_options *options,
                                  dis_scaled **out);
DIS_API void dis_scaled_destroy(dis_scaled *scaled);
DIS_VIEW_API(dis_scaled);
/* The table of that name, NULL if it is unknown. */
DIS_API const dis_scaled_table *dis_scaled_find_table(const dis_scaled *scaled, const char *table);
/* Writes a table as CSV, TSV or JSONL (`format` NULL: by the name; "-": standard output), at most max_rows of it. */
DIS_API dis_status dis_scaled_table_write(const dis_scaled_table *table, const char *path, const char *format,
                                          size_t max_rows);

#endif
