/* experiment_job.h: what the actions of `dissent experiment` share. */
#ifndef DIS_CLI_EXPERIMENT_JOB_H
#define DIS_CLI_EXPERIMENT_JOB_H
#include "cli.h"

typedef struct {
    cli_common common;
    const char *store, *data, *output, *json, *figures;
    cli_list filter;
    uint64_t jobs;
    int format;
    bool retry_failed;
} experiment_values;

typedef struct {
    cli *c;
    const experiment_values *v;
    dis_context *ctx;
    dis_experiment *experiment;
    dis_experiment_view look;
    const char *run;              /* the key that `show` is given */
    dis_experiment_counts counts; /* of `run` */
    struct timespec drawn;
} experiment_job;

/* One an action; each returns an exit code, what went wrong told already. */
int experiment_run(experiment_job *job);
int experiment_status(experiment_job *job);
int experiment_table(experiment_job *job);
int experiment_show(experiment_job *job);
int experiment_report(experiment_job *job);

/* The summary for machines, opened with the file, its SHA-256 and the store in it. */
dis_status experiment_summary_open(const experiment_job *job, dis_json **out);
/* "1 h 02 min", "3 min 20 s", "12 s", "1.2 s". */
const char *experiment_time(double seconds, char out[CLI_NUMBER]);

#endif
