/* cmd_agree.h: the parts of `dissent agree`: cmd_agree.c reads and measures, agree_groups.c is about groups of
 * people. */
#ifndef DIS_CLI_CMD_AGREE_H
#define DIS_CLI_CMD_AGREE_H
#include "tool/json_writer.h"
#include "output/metric_table.h"
#include "input/groups_input.h"
#include "input/votes_input.h"

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_metric_table_values figures;
    cli_groups_values groups;
    const char *gold, *workers, *items, *by_class, *pairs;
    const char *group_table, *group_pairs, *divided;
    uint64_t max_pairs, min_common, permutations;
    int over;
    bool singles;
} agree_values;

typedef struct {
    cli *c;
    const agree_values *v;
    votes_input in;
    groups_input groups;
    dis_agreement *agreement;
    dis_agreement_view view;
    dis_group_agreement *of_groups; /* NULL without --group */
    dis_group_agreement_view between;
} agree_command;

/* agree_output.c: what was read and left out, on standard error; tables, measures and the summary, by the options. */
void agree_print(agree_command *job);
int agree_write(const agree_command *job);
/* agree_groups.c */
int agree_groups_check(agree_command *job);
int agree_groups_compute(agree_command *job, dis_context *ctx);
dis_status agree_groups_write(const agree_command *job);
void agree_groups_print(const agree_command *job);
void agree_groups_write_json(const agree_command *job, dis__json_writer *j);

#endif
