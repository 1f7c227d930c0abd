/* runner.h: executes the runs of a plan that are missing from a store, several in parallel. */
#ifndef DIS_EXPERIMENT_RUNNER_H
#define DIS_EXPERIMENT_RUNNER_H
#include "experiment/store/store.h"

typedef struct {
    const dis__plan *plan;
    dis__store *store;
    const bool *selected; /* (n_runs); NULL: all */
    /* Carries out one run. Called by several threads at once, each with a context of its own. */
    dis_status (*execute)(dis_context *ctx, void *user, size_t run, dis__result *out);
    void *user;
    dis_experiment_run_options options;
} dis__runner;

/* As dis_experiment_run. */
dis_status dis__runner_run(dis_context *ctx, const dis__runner *runner, dis_experiment_counts *counts);

#endif
