/* eval_job.h: the parts of `dissent eval`: cmd_eval.c reads and measures, eval_write.c writes what was found. */
#ifndef DIS_CLI_EVAL_JOB_H
#define DIS_CLI_EVAL_JOB_H
#include "groups_input.h"
#include "label_input.h"
#include "votes_input.h"

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_figures_values figures;
    cli_groups_values people;
    cli_list votes, metric;
    const char *gold, *human, *human_labels, *items, *class_table, *confusion, *bins, *groups, *group_table;
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
    dis_fit *fit; /* of the votes */
    dis_labels_view human;
    size_t *vote_item, *vote_class; /* where items of the predictions are among the votes, and classes of the votes */
    bool wanted[DIS_EVAL_METRICS];
    uint32_t *group; /* with --groups */
    size_t n_groups;
    groups_input people; /* with --group */
    dis_group_evaluation *by_group[CLI_MAX_VALUES];
    dis_evaluation *evaluation[CLI_MAX_VALUES];
    dis_evaluation_view look[CLI_MAX_VALUES];
} eval_job;

/* Whether a metric says something with what was given. */
bool eval_shows(const eval_job *job, size_t m);

void eval_text(const eval_job *job);
dis_status eval_table(const eval_job *job, const char *format);
dis_status eval_json(const eval_job *job);
dis_status eval_items(const eval_job *job);
dis_status eval_class_table(const eval_job *job);
dis_status eval_confusion(const eval_job *job);
dis_status eval_bins(const eval_job *job);

/* eval_perspectives.c: all of it, with --perspectives; an exit code. */
int eval_perspectives(cli *c, const eval_values *v, size_t n_operands);

/* eval_workers.c: the same of any votes, with --perspectives votes. */
int eval_workers(cli *c, const eval_values *v, size_t n_operands);

/* eval_groups.c; an exit code, what is wrong told already. */
int eval_check_groups(eval_job *job);
int eval_measure_groups(eval_job *job, dis_context *ctx);
dis_status eval_write_groups(const eval_job *job);
void eval_put_groups(const eval_job *job, dis_json *j);
void eval_print_groups(const eval_job *job);

#endif
