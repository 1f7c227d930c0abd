/* cmd_report.h: one run of `dissent report`, shared by the files that do it. */
#ifndef DIS_CLI_CMD_REPORT_H
#define DIS_CLI_CMD_REPORT_H
#include "input/groups_input.h"
#include "input/texts_input.h"
#include "input/voters_input.h"

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_texts_values texts;
    cli_groups_values groups;
    cli_voters_values voters;
    cli_list votes, method, labels, pred, model;
    bool causes;
    const char *output, *combine, *gold, *human, *human_labels, *title, *json;
    uint64_t seed, resamples;
} report_values;

/* A table from a file, under its name, in the order of the report. */
typedef struct {
    char *name; /* NAME of NAME=FILE, or made from the file's name */
    const char *path;
    dis_labels *labels;
} report_table;

typedef struct {
    report_table table[CLI_MAX_VALUES];
    size_t n;
} report_tables;

typedef struct {
    cli *c;
    const report_values *v;
    report_values values; /* with the operands among the votes */
    dis_context *ctx;
    votes_input in;
    groups_input groups;
    cli_voters_values voter_values;
    voters_input voters;
    dis_panel *panel;
    dis_report *report;
    report_tables labels, pred, models; /* of models only names and folders */
    report_table human;
    dis_gold *gold;
    dis_alignment *aligned_labels, *aligned_pred;
    dis_fit *human_fit;
    dis_names *texts;
    dis_label_plan choice;
    dis_label_result *result;
} report_command;

/* report_tables.c. Of NAME=FILE what is named; names and labels go with report_tables_free(). */
int report_tables_parse(report_command *job, const cli_list *given, report_tables *out);
void report_tables_free(report_tables *t);
/* All files of labels, of predictions, of people and of gold that are named. */
int report_tables_read(report_command *job);
/* Labels into the report: beside votes in their order, else in that of the first file. */
int report_labels_add(report_command *job);
/* Predictions, and what they are judged by. */
int report_predictions_add(report_command *job);

#endif
