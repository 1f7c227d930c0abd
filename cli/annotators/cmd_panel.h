/* cmd_panel.h: the parts of `dissent panel`: cmd_panel.c reads and measures, panel_write.c writes tables and JSON,
 * panel_text_print.c writes text, voters_input.c reads which workers are people. */
#ifndef DIS_CLI_CMD_PANEL_H
#define DIS_CLI_CMD_PANEL_H
#include "output/metric_table.h"
#include "input/voters_input.h"

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_metric_table_values figures;
    cli_voters_values voters;
    double epsilon, fdr, same_errors, precision;
    uint64_t min_people, min_items, budget;
    const char *labels, *rates, *pairs, *copies, *buy, *swaps, *first;
    cli_list swapped, mirror;
} panel_values;

typedef struct {
    cli *c;
    const panel_values *v;
    votes_input in;
    voters_input voters;
    dis_panel *panel;
    dis_panel_view view;
    dis_position_bias *swap; /* (n_swaps) with --swapped */
    size_t n_swaps;
} panel_command;

dis_status panel_judges_write(const panel_command *job, const char *path, const char *format);
/* The tables of rates, pairs, copies, items to buy and swaps that options name. */
dis_status panel_tables_write(const panel_command *job);
dis_status panel_labels_write(const panel_command *job, dis_context *ctx);
dis_status panel_json_write(const panel_command *job);
void panel_text_print(const panel_command *job);
void panel_messages_print(panel_command *job);
/* The name of a judge; j == n_judges: the majority of the judges. */
const char *panel_judge_name(const panel_command *job, size_t j);
/* The person whose votes a judge copies, or the majority of people. */
const char *panel_source_name(const panel_command *job, const dis_panel_copied_votes *copy);

#endif
