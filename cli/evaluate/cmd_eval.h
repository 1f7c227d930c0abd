/* cmd_eval.h: the parts of `dissent eval`: cmd_eval.c reads and measures, eval_output.c writes what was found. */
#ifndef DIS_CLI_CMD_EVAL_H
#define DIS_CLI_CMD_EVAL_H
#include "tool/json_writer.h"
#include "input/groups_input.h"
#include "input/label_input.h"
#include "input/votes_input.h"

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_metric_table_values figures;
    cli_groups_values people;
    cli_list votes, metric;
    const char *gold, *human, *human_labels, *items, *class_table, *confusion, *bins, *human_bins, *groups,
        *group_table;
    const char *perspectives, *official, *soft, *annotators, *submission, *save_votes, *save_texts, *history,
        *worker_errors;
    uint64_t top_k, n_bins, n_splits, permutations;
    int over;
} eval_values;

typedef struct {
    cli *c;
    const eval_values *v;
    size_t n; /* files of predictions: the first so many of the input */
    label_input in;
    votes_input votes; /* with --votes */
    dis_names *classes;
    dis_fit *fit;  /* of the votes */
    double *set_p; /* of votes for sets of classes */
    dis_names *set_classes;
    dis_labels_view human;
    size_t *vote_item, *vote_class; /* where items of the predictions are among the votes, and classes of the votes */
    bool wanted[DIS_EVALUATION_METRICS];
    uint32_t *group; /* with --groups */
    size_t n_groups;
    groups_input people; /* with --group */
    dis_group_evaluation *by_group[CLI_MAX_VALUES];
    dis_evaluation *evaluation[CLI_MAX_VALUES];
    dis_evaluation_view view[CLI_MAX_VALUES];
} eval_command;

/* Whether a metric says something with what was given. */
bool eval_has_metric(const eval_command *job, size_t m);

void eval_text_print(const eval_command *job);
dis_status eval_table_write(const eval_command *job, const char *format);
dis_status eval_json_write(const eval_command *job);
dis_status eval_items_write(const eval_command *job);
dis_status eval_class_table_write(const eval_command *job);
dis_status eval_confusion_write(const eval_command *job);
dis_status eval_bins_write(const eval_command *job);
dis_status eval_human_bins_write(const eval_command *job);

/* eval_sets.c: votes for sets of classes, as shares of each class; an exit code, errors are reported already. */
int eval_sets_people(eval_command *job, dis_context *ctx);
/* Whether labels are sets of classes. */
bool eval_is_of_sets(const eval_command *job);

/* eval_perspectives_run.c: all of it, with --perspectives; an exit code. */
int eval_perspectives_run(cli *c, const eval_values *v, size_t n_operands);

/* eval_workers_run.c: the same of any votes, with --perspectives votes. */
int eval_workers_run(cli *c, const eval_values *v, size_t n_operands);

/* eval_groups.c; an exit code, what is wrong told already. */
int eval_groups_check(eval_command *job);
int eval_groups_compute(eval_command *job, dis_context *ctx);
dis_status eval_groups_write(const eval_command *job);
void eval_groups_write_json(const eval_command *job, dis__json_writer *j);
void eval_groups_print(const eval_command *job);

#endif
