/* eval_job.h: the parts of `dissent eval`: cmd_eval.c reads and measures, eval_write.c writes what was found. */
#ifndef DIS_CLI_EVAL_JOB_H
#define DIS_CLI_EVAL_JOB_H
#include "label_input.h"
#include "votes_input.h"

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_figures_values figures;
    cli_list votes, metric;
    const char *gold, *human, *human_labels, *items, *class_table, *confusion, *bins, *groups;
    uint64_t top_k, n_bins, n_splits;
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
    bool wanted[DIS_EVAL_METRICS];
    uint32_t *group; /* with --groups */
    size_t n_groups;
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

#endif
