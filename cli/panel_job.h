/* panel_job.h: the parts of `dissent panel`: cmd_panel.c reads and measures, panel_write.c writes tables and JSON,
 * panel_print.c writes text, voters_input.c reads which workers are people. */
#ifndef DIS_CLI_PANEL_JOB_H
#define DIS_CLI_PANEL_JOB_H
#include "figures.h"
#include "voters_input.h"

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_figures_values figures;
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
    dis_panel_view look;
    dis_panel_swap *swap; /* (n_swaps) with --swapped */
    size_t n_swaps;
} panel_job;

dis_status panel_write_judges(const panel_job *job, const char *path, const char *format);
/* The tables of rates, pairs, copies, items to buy and swaps that options name. */
dis_status panel_write_tables(const panel_job *job);
dis_status panel_write_labels(const panel_job *job, dis_context *ctx);
dis_status panel_write_json(const panel_job *job);
void panel_print(const panel_job *job);
void panel_tell(panel_job *job);
/* The name of a judge; j == n_judges: the majority of the judges. */
const char *panel_judge_name(const panel_job *job, size_t j);
/* The person whose votes a judge copies, or the majority of people. */
const char *panel_source_name(const panel_job *job, const dis_panel_copy *copy);

#endif
