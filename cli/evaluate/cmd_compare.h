/* cmd_compare.h: one run of `dissent compare`, shared by the files that work, tell and write it down. */
#ifndef DIS_CLI_CMD_COMPARE_H
#define DIS_CLI_CMD_COMPARE_H
#include "input/hard_labels.h"
#include "input/label_input.h"
#include "input/votes_input.h"

typedef struct {
    cli_common common;
    cli_metric_table_values figures;
    cli_votes_values reading;
    cli_list a, b, votes;
    const char *gold, *gold_columns, *human;
    int alternative, over;
    bool hard, pool_seeds;
} compare_values;

typedef struct {
    cli *c;
    const compare_values *v;
    label_input in;     /* sides first, then people; hard predictions behind people */
    hard_labels *hard;  /* (n_a + n_b) with --hard */
    dis_names *classes; /* with --hard: of all files together */
    votes_input votes;  /* with --votes: what the true labels are made of */
    size_t *vote_item, *vote_class;
    int32_t *labels; /* (n_a + n_b, n_items) predicted classes */
    dis_comparison *comparison;
    dis_comparison_view view;
} compare_command;

/* compare_output.c */
void compare_text_print(const compare_command *job);
dis_status compare_table_write(const compare_command *job, const char *format);
dis_status compare_json_write(const compare_command *job);

#endif
