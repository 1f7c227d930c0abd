/* cmd_experiment.h: what the actions of `dissent experiment` share. */
#ifndef DIS_CLI_CMD_EXPERIMENT_H
#define DIS_CLI_CMD_EXPERIMENT_H
#include "tool/json_writer.h"
#include "core/cli.h"

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
    dis_experiment_view view;
    const char *path;             /* the file, or the first of several */
    const char *run;              /* the key that `show` is given */
    dis_experiment_counts counts; /* of `run` */
    struct timespec drawn;
} experiment_command;

/* One an action; each returns an exit code, what went wrong told already. */
int experiment_run(experiment_command *job);
int experiment_status_print(experiment_command *job);
int experiment_table_write(experiment_command *job);
int experiment_run_print(experiment_command *job);
int experiment_report_write(experiment_command *job);

/* The summary for machines, opened with the file, its SHA-256 and the store in it. */
dis_status experiment_summary_open(const experiment_command *job, dis__json_writer **out);
/* "1 h 02 min", "3 min 20 s", "12 s", "1.2 s". */
const char *experiment_duration_format(double seconds, char out[CLI_NUMBER]);

#endif
