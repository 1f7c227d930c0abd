/* cmd_judge.h: shared by the actions of `dissent judge`. cmd_judge.c has the options and reads the votes; certify.c,
 * check.c and sample.c are the actions. */
#ifndef DIS_CLI_CMD_JUDGE_H
#define DIS_CLI_CMD_JUDGE_H
#include "input/voters_input.h"

enum { JUDGE_NAME_WIDTH = 26, JUDGE_METRIC_WIDTH = 24 };

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_voters_values voters;
    const char *judge, *prompt, *guideline, *weights, *length, *family, *score, *output, *page, *junit, *json, *first;
    cli_list swapped, mirror;
    double bound[DIS_REQUIREMENT_KINDS]; /* NaN: not required */
    bool alt_test;
    double epsilon, fdr, half_width, level;
    uint64_t min_people, min_items, n, seed;
} judge_values;

typedef struct {
    cli *c;
    const judge_values *v;
    cli_votes_values reading; /* with repeated votes, unless the user says otherwise */
    votes_input in;
    voters_input voters;
    bool *person;            /* (n_workers) */
    const char *certificate; /* of check */
    dis_context *ctx;
} judge_command;

/* One for each action; each returns an exit code, errors are reported. */
int judge_certify(judge_command *job);
int judge_check(judge_command *job);
int judge_sample(judge_command *job);

/* A number for each item from a column of the files: NaN without one. `equals` NULL: the column is numeric; else 1 where it
 * has this value, 0 where it has another. The caller frees it. */
int judge_column_read(judge_command *job, const char *option, const char *column, const char *equals, double **out);
/* Numbers of items from columns task and `column` of a file; `missing` for other items. The caller frees them. */
int judge_weights_read(judge_command *job, const char *path, const char *column, double missing, double **out);
/* The one table of swapped pairs: position bias of the judge, in *row; *found: whether it is measured. */
int judge_position_read(judge_command *job, uint32_t judge, dis_position_bias *row, bool *found);
/* SHA-256 of a file of the user, "" for one that cannot be read twice. */
int judge_file_hash(judge_command *job, const char *path, char hex[65]);

#endif
