/* agree_job.h: the parts of `dissent agree`: cmd_agree.c reads and measures, agree_groups.c is about groups of
 * people. */
#ifndef DIS_CLI_AGREE_JOB_H
#define DIS_CLI_AGREE_JOB_H
#include "figures.h"
#include "groups_input.h"
#include "votes_input.h"

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_figures_values figures;
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
    dis_agreement_view look;
    dis_group_agreement *of_groups; /* NULL without --group */
    dis_group_agreement_view between;
} agree_job;

/* agree_write.c: what was read and left out, on standard error; tables, measures and the summary, by the options. */
void agree_tell(agree_job *job);
int agree_write(const agree_job *job);
/* agree_groups.c */
int agree_check_groups(agree_job *job);
int agree_measure_groups(agree_job *job, dis_context *ctx);
dis_status agree_write_groups(const agree_job *job);
void agree_print_groups(const agree_job *job);
void agree_put_groups(const agree_job *job, dis_json *j);

#endif
