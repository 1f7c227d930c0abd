/* cmd_labels.h: what `dissent labels` carries from reading to telling; shared by the files of that subcommand. */
#ifndef DIS_CLI_CMD_LABELS_H
#define DIS_CLI_CMD_LABELS_H
#include "tool/json_writer.h"
#include "input/groups_input.h"
#include "input/votes_input.h"
#include <string.h>

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_groups_values groups;
    const char *save_groups;
    const char *output, *format, *combine, *gold, *save_state, *init_state, *workers, *save_views, *json;
    const char *append, *save_growing;
    const char *predictions;
    double predictions_weight; /* below 0: estimated */
    cli_list method, covariate;
    bool require_convergence, refit;
    uint64_t seed;
} labels_values;

/* One view: what is left of its fit. */
typedef struct {
    const char *spec;
    const dis_fit *fit; /* with its parameters only where they are wanted */
    dis_fit_view fit_view;
    double seconds;
} labels_result;

typedef struct {
    cli *c;
    const labels_values *v;
    dis_context *ctx;
    votes_input in;
    groups_input groups;
    dis_state *start;
    double *predictions; /* (n_items, n_classes) or NULL */
    dis_predictions_counts predicted;

    dis_label_plan choice;
    dis_label_result *result;
    int code;              /* why the run stopped early */
    struct timespec since; /* the current fit began */
    labels_result view[DIS_MAX_VIEWS];
    size_t n_views; /* fitted so far */
    dis_combination did;
    dis_chance_test chance;
    const double *class_weight; /* that known labels chose, or NULL */
    const double *p;            /* the final labels */
    double *expected_accuracy;  /* (n_workers) or NULL */
    uint64_t *n_voted;          /* (n_workers) or NULL */
} labels_command;

/* Whether a device other than the CPU is requested. */
static inline bool labels_is_on_device(const labels_values *v)
{
    return v->common.device && strcmp(v->common.device, "cpu") != 0;
}

/* labels_predictions.c; those that return int return an exit code, what is wrong told already. */
int labels_predictions_check(labels_command *job);
int labels_predictions_read(labels_command *job);
void labels_predictions_print(labels_command *job);
void labels_weight_print(labels_command *job, const labels_result *r);
void labels_predictions_write_json(const labels_command *job, dis__json_writer *j);

/* labels_append_run.c; an exit code, what is wrong told already. */
int labels_append_check(labels_command *job);
int labels_append_run(labels_command *job);
int labels_refit_read(labels_command *job); /* --refit: votes of the state and new ones, into job->in */

/* labels_groups.c; an exit code, what is wrong told already. */
int labels_groups_check(labels_command *job);
int labels_group_files_check(const labels_command *job); /* after groups are read, before labels are estimated */
int labels_groups_write(labels_command *job);
void labels_groups_write_json(const labels_command *job, dis__json_writer *j);

void labels_input_print(labels_command *job);
void labels_result_print(labels_command *job);
int labels_json_write(const labels_command *job, const char *path);
/* Columns that the table of workers has with the fits so far. */
size_t labels_worker_columns_count(const labels_command *job);
int labels_workers_write(const labels_command *job, const char *path); /* an exit code */

#endif
