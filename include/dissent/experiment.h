/* experiment.h: runs the conditions of an experiment file, and tabulates and compares their results.
 *
 * A file (YAML) describes conditions, called cells. Every cell is trained on every fold with every seed; each of these
 * runs has a key, the SHA-256 of all that determines its result. Results are stored in a folder, the store, under these
 * keys. Nothing is computed twice, a killed process loses only its current runs, and several processes may share a
 * store. Tables look up the keys of the file as it is now: runs of cells that are gone stay in the store and are
 * ignored.
 *
 *     dis_experiment *e;
 *     dis_experiment_counts counts;
 *     if (dis_experiment_read(ctx, "labelme.yaml", NULL, &e) != DIS_OK) return 1;
 *     dis_status status = dis_experiment_run(ctx, e, NULL, &counts);
 *     dis_experiment_table *table;
 *     if (status == DIS_OK && (status = dis_experiment_table_create(ctx, e, &table)) == DIS_OK) {
 *         const dis_experiment_table_view t = dis_experiment_table_get_view(table);
 *         for (size_t r = 0; r < t.n_rows; r++)
 *             printf("%s %g\n", dis_experiment_get_view(e).cell[t.row[r].cell].name, t.row[r].values[0].mean);
 *         dis_experiment_table_destroy(table);
 *     }
 *     dis_experiment_destroy(e);
 *
 * An experiment never changes after it is read; each call reads the store again. Threads: one experiment, one call at a
 * time; a view may be read by any number of threads. */
#ifndef DIS_EXPERIMENT_H
#define DIS_EXPERIMENT_H
#include "dissent/context.h"
#include "dissent/compare.h"
#include "dissent/evaluate.h"
#include "dissent/train.h"

/* ---- what the file says ---- */

typedef struct {
    const char *key, *value;
} dis_experiment_setting;

/* One condition: a row of the table. */
typedef struct {
    const char *name;
    const char *data; /* the data set that it works on */
    size_t n_settings;
    const dis_experiment_setting *setting; /* all that tells it from the others, as texts */
    size_t baseline;                       /* the cell that it is tested against; SIZE_MAX: none */
    const double *published;               /* (n_measures) what a paper reports, NaN: nothing */
} dis_experiment_cell;

/* One number that every run gives: a column of the table. */
typedef struct {
    const char *set; /* on which items: "test", or the name of a further set */
    dis_evaluation_metric metric;
} dis_experiment_measure;

/* One training of one cell on one fold with one seed. */
typedef struct {
    size_t cell, fold;
    uint64_t seed;
    char key[65]; /* SHA-256 of everything that determines its result, inputs by their contents */
} dis_run;

typedef struct dis_experiment dis_experiment;

typedef struct {
    size_t size;             /* of this struct */
    const char *store;       /* folder of the results; NULL: NAME.results in the current folder, for NAME.yaml */
    const char *data_folder; /* where relative paths of data are looked for; NULL: as the file says */
    size_t n_filters;
    /* Which runs are meant; all that must hold, but that those of one KEY are alternatives. TEXT: part of the cell's
     * name. KEY=VALUE: a setting of the cell, or cell, data, fold or seed, or the file's paper or size; folds and seeds
     * may be FIRST..LAST. */
    const char *const *filter;
    bool allow_no_runs; /* filters that fit no run are not error */
} dis_experiment_options;
DIS_OPTIONS_API(dis_experiment_options);

/* options NULL: the defaults. Everything in the file is checked, nothing is run. DIS_EDATA with file:line:column;
 * DIS_EIO: a data file is missing; DIS_EUSAGE: a filter that fits no run, or a build without YAML or SQLite. */
DIS_API dis_status dis_experiment_read(dis_context *ctx, const char *path, const dis_experiment_options *options,
                                       dis_experiment **out);
DIS_API void dis_experiment_destroy(dis_experiment *experiment);

/* What a file may say, part by part: rows of static tables. */
typedef struct {
    const char *name; /* "cell"; "experiment" is the file itself */
    const char *summary;
} dis_experiment_part;
typedef struct {
    const char *key;
    const char *form;          /* "text", "a|b|c", or the part that stands there */
    const char *default_value; /* value if the key is missing; NULL: none */
    const char *summary;
    bool required;
    bool is_list, is_map; /* many: one or several of the form; named: a map of them by name */
} dis_experiment_key;

typedef struct {
    const char *name, *description, *path, *store;
    size_t n_cells, n_measures, n_runs;
    const dis_experiment_cell *cell;
    const dis_experiment_measure *measure;
    const dis_run *run;   /* in order of cell, fold, seed */
    const bool *selected; /* (n_runs) by the filters */
    size_t n_selected;
    const char *paper; /* that it repeats; "" when the file names none */
} dis_experiment_view;
DIS_VIEW_API(dis_experiment);

/* ---- running ---- */

/* How far it is. */
typedef struct {
    size_t total;                     /* runs selected */
    size_t done, failed;              /* in the store, also from earlier */
    size_t running, running_remotely; /* in flight here, and in other processes */
    size_t computed;                  /* done by this call */
    double seconds;                   /* since the call began */
    double seconds_left;              /* as runs like these took so far; NaN: not known yet */
    double run_seconds;               /* spent within runs by this call, all threads together */
} dis_experiment_counts;

typedef struct {
    size_t size;       /* of this struct */
    size_t jobs;       /* parallel runs; 0: as many as the context has threads */
    bool retry_failed; /* runs that failed earlier are tried again */
    /* Called from time to time, from the calling thread. NULL: no progress is reported. */
    void (*progress)(void *user, const dis_experiment_counts *counts);
    void *user;
} dis_experiment_run_options;
DIS_OPTIONS_API(dis_experiment_run_options);

/* Runs the missing ones of the selected runs, each on one thread unless there are fewer runs than threads. A failed run
 * is stored with its message and does not stop the others; the status of the first failure is returned at the end. It
 * is DIS_EDATA if all failed in an earlier call and are not retried. Runs in flight in other processes are waited for,
 * and taken over if their process dies. `counts` is filled in any case. DIS_ECANCELLED: runs in flight were given up,
 * those that were done are kept. DIS_EIO: the store cannot be written, or is locked for long. DIS_EDATA: it is damaged.
 */
DIS_API dis_status dis_experiment_run(dis_context *ctx, dis_experiment *experiment,
                                      const dis_experiment_run_options *options, dis_experiment_counts *counts);

/* ---- results ---- */

typedef enum { DIS_RUN_MISSING, DIS_RUN_RUNNING, DIS_RUN_DONE, DIS_RUN_FAILED, DIS_RUN_STATES } dis_run_state;
/* "missing", "running", "done", "failed". */
DIS_ENUM_API(dis_run_state);

/* (n_runs) each: state, and the seconds that it took (NaN unless it is done or failed). Either may be NULL. A run whose
 * process died is missing. */
DIS_API dis_status dis_experiment_get_states(dis_context *ctx, dis_experiment *experiment, dis_run_state *state,
                                             double *seconds);

/* All that the store knows of one run. Texts that are not known are NULL, numbers NaN or 0. */
typedef struct {
    char key[65];
    dis_run_state state;
    const char *experiment, *cell, *data;
    uint64_t fold, seed;
    size_t n_settings;
    const dis_experiment_setting *setting;
    const char *message;  /* why it failed */
    const char *version;  /* of dissent that ran it */
    const char *finished; /* UTC, 2024-05-31T12:00:00Z */
    double seconds;
    size_t n_measures;
    const char *const *set, *const *metric; /* (n_measures) */
    const double *value;                    /* (n_measures) NaN: undefined */
    size_t n_epochs, best_epoch;
    const dis_epoch *epoch;
    size_t n_parameters, n_examples;
    size_t n_files;
    const char *const *file; /* (n_files) predictions, relative to the store */
} dis_run_record;

/* ---- the table ---- */

/* One measure of one cell. The value of a seed is its mean over folds; mean, sd and interval are over seeds. */
typedef struct {
    size_t n;               /* seeds with a value */
    double mean, sd;        /* NaN: none; sd NaN for one seed */
    double ci_low, ci_high; /* 95 %, Student's t over seeds, cut at the metric's range; NaN for one seed */
    double published;       /* NaN: nothing */
    bool best;              /* of the cells of its data set, by its mean */
    bool has_comparison;    /* the paired bootstrap against the baseline was possible */
    double difference, p;   /* to the baseline, and its p; meaningful with `has_comparison` */
    int stars;              /* 2: p <= .01, 1: p <= .05 */
    const double *seed;     /* (n) values of single seeds, in order of seeds */
    size_t n_items;         /* that a seed is tested on, all folds together; 0: not known, predictions were not kept */
} dis_experiment_value;

typedef struct {
    size_t cell;
    size_t n_runs, n_done, n_failed, n_seeds, n_folds;
    const dis_experiment_value *values; /* (n_measures) */
} dis_experiment_row;

typedef struct {
    size_t n_rows, n_measures;
    const dis_experiment_row *row; /* cells with selected runs: data set by data set, else in their order */
} dis_experiment_table_view;

typedef struct dis_experiment_table dis_experiment_table;

/* Accuracy and macro-F1 are tested against the baseline with its predictions of the same seeds, folds put together. */
DIS_API dis_status dis_experiment_table_create(dis_context *ctx, dis_experiment *experiment,
                                               dis_experiment_table **out);
DIS_VIEW_API(dis_experiment_table);
DIS_API void dis_experiment_table_destroy(dis_experiment_table *table);
/* The table for people: "text", "markdown" or "latex" (rows cells, columns measures), or "csv", one row per cell and
 * measure with all that a figure has. "-": standard output. DIS_EUSAGE: another format. DIS_EIO, DIS_ELIMIT. */
DIS_API dis_status dis_experiment_table_write(const dis_experiment *experiment, const dis_experiment_table *table,
                                              const char *path, const char *format);

/* ---- several stores ---- */

typedef struct {
    size_t added;       /* runs that the store lacked */
    size_t present;     /* that it had, with the same measures */
    size_t conflicting; /* that it had with other measures; what it had stays */
    size_t unfinished;  /* at work in other processes, or not done */
} dis_merge_counts;
/* Copies runs of the stores `from` into the store `into`, which is created if it is missing: results, curves and
 * predictions. Failed runs are copied unless the store has the run. If the process is killed, the store has complete
 * runs only. DIS_EIO: a store is missing, or cannot be read or written; DIS_EDATA: a store is damaged; DIS_EUSAGE: a
 * store is `into` itself. */
DIS_API dis_status dis_experiment_merge(dis_context *ctx, const char *into, const char *const *from, size_t n_from,
                                        dis_merge_counts *counts);

/* ---- the report ---- */

/* One HTML page like those of dissent/report.h: the table, every measure with its intervals and single seeds, training
 * curves, who is right where, how divided people are, predictions beside people. DIS_EIO, DIS_EDATA, DIS_ELIMIT. */
DIS_API dis_status dis_experiment_write_report(dis_context *ctx, dis_experiment *experiment, const char *path);
/* The charts of that page as SVG files FOLDER/NAME-TITLE.svg, for light and dark alike; the folder is created if it
 * is missing. DIS_EIO, DIS_EDATA, DIS_ELIMIT. */
DIS_API dis_status dis_experiment_write_charts(dis_context *ctx, dis_experiment *experiment, const char *folder);

#endif
