/* plan.h: an experiment as its file describes it: conditions (cells), folds and seeds, and the runs that they make.
 *
 *     dis__plan *plan;
 *     DIS_TRY(dis__plan_read(ctx, "labelme.yaml", NULL, &plan));
 *     for (size_t r = 0; r < plan->n_runs; r++) puts(plan->run[r].key);
 *     dis__plan_destroy(plan);
 *
 * A plan never changes once it is read; any number of threads may look at it. */
#ifndef DIS_EXPERIMENT_PLAN_PLAN_H
#define DIS_EXPERIMENT_PLAN_PLAN_H
#include "dissent/experiment.h"

/* The part visible to users. */
typedef dis_experiment_setting dis__setting;
typedef dis_run dis__run;

typedef struct {
    const char *name, *about, *paper, *size; /* all except name: "" if not set */
    const char *path;                        /* of the file */
    size_t n_cells, n_measures, n_runs;
    const dis_experiment_cell *cell;
    const dis_experiment_measure *measure;
    const dis__run *run;     /* in order of cell, fold, seed */
    const size_t *order;     /* (n_runs) order of execution: by seed, cell, fold */
    bool keep_predictions;   /* stored with the results, for comparisons and for users */
    uint64_t resamples;      /* of comparisons with the baseline */
    double fraction;         /* share of items in a resample */
    bool pool_seeds;         /* resample (item, seed) pairs */
    bool pool_folds;         /* measure all folds of a seed together */
    const char *data_folder; /* base folder of relative data paths */
    size_t n_files;
    const char *const *file; /* of data */
} dis__plan;

/* `data_folder` NULL: DISSENT_DATA, else ../shared/data when the file names no folder of its own. Everything is
 * checked: DIS_EDATA with file:line:column for an unknown key, a wrong type, a name that nothing has; DIS_EIO for a
 * missing file of data. Nothing is trained or fitted. */
dis_status dis__plan_read(dis_context *ctx, const char *path, const char *data_folder, dis__plan **out);
/* The same where only some of the runs are wanted: a file of data or a folder that is not there is no error of the
 * plan, but of the cells that need it. */
dis_status dis__plan_read_some(dis_context *ctx, const char *path, const char *data_folder, dis__plan **out);
/* What a cell needs but is missing, as a message; NULL: nothing. Its runs have no keys. */
const char *dis__plan_missing(const dis__plan *plan, size_t cell);
void dis__plan_destroy(dis__plan *plan);

#endif
