/* train_runs.h: trains several models in one call: one per seed, and one per fold.
 *
 *     const dis_examples train = {.size = sizeof(dis_examples)}; // .items and .labels, as for dis_model_train()
 *     dis_model_train_options o = dis_model_train_options_default();
 *     dis_train_runs_options several = dis_train_runs_options_default();
 *     dis_train_runs *runs;
 *     several.n_runs = 10;
 *     several.jobs = 0;     // as many at once as fit
 *     o.folder = "models"; // each model is written to models/seed-N
 *     if (dis_model_train_runs(ctx, &train, NULL, &o, &several, &runs) == DIS_OK) {
 *         const dis_train_runs_view v = dis_train_runs_get_view(runs);
 *         for (size_t r = 0; r < v.n_runs; r++)
 *             printf("seed %u: %zu epochs\n", (unsigned)v.curve[r].seed, v.curve[r].n_epochs);
 *         dis_train_runs_destroy(runs);
 *     }
 *
 * Every model has the same bytes as from dis_model_train() with its seed, for any number of threads, jobs and ranks. */
#ifndef DIS_TRAIN_RUNS_H
#define DIS_TRAIN_RUNS_H
#include "dissent/folds.h"

typedef struct {
    size_t size;   /* of this struct */
    size_t n_runs; /* 1; models of `train`, with the seeds `seed`, `seed` + 1, ...; 0: folds alone */
    /* 1; trainings at the same time, which share the context's threads and memory limit. 0: one per thread, on a GPU
     * at most 12; a training that runs out of memory starts again when others have ended. */
    size_t jobs;
    const dis_folds *folds;        /* each fold is predicted by a model trained without it; NULL: no folds */
    const dis_examples *folds_dev; /* development set of those models; NULL: none */
} dis_train_runs_options;
DIS_OPTIONS_API(dis_train_runs_options);

/* The training of one run. */
typedef struct {
    uint64_t seed;
    size_t n_epochs, best_epoch;
    const dis_epoch *epoch; /* (n_epochs) */
} dis_train_curve;

typedef struct dis_train_runs dis_train_runs;

typedef struct {
    size_t n_runs;
    const dis_train_curve *curve;  /* (n_runs) */
    const dis_model *model;        /* of the first run; the others are in their folders alone. NULL: no runs */
    const dis_labels *out_of_fold; /* a row per item, in the order of the items; NULL: no folds */
} dis_train_runs_view;
DIS_VIEW_API(dis_train_runs);

/* Trains the models of the folds, then those of the runs. Models are written to `folder` of the training options: to
 * the folder itself if there is one run, else to seed-N within it; NULL: none is written. Checkpoints of folds go to
 * fold-1, fold-2, ... within it.
 * Ranks: in a context with `whole`, each rank trains some of the models, `model` is NULL except on the first rank, and
 * all ranks get the rest of the result. In other contexts all ranks train one model after the other together.
 * Errors as those of dis_model_train(): that of the first training which fails; no further one starts.
 * DIS_EUSAGE: more than 1,024 jobs; neither runs nor folds. DIS_EIO: a folder that cannot be created or written. */
DIS_API dis_status dis_model_train_runs(dis_context *ctx, const dis_examples *train, const dis_examples *dev,
                                        const dis_model_train_options *options, const dis_train_runs_options *runs,
                                        dis_train_runs **out);
DIS_API void dis_train_runs_destroy(dis_train_runs *runs);

#endif
