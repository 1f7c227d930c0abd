/* cmd_convert.h: options of `dissent convert`, for the files of that subcommand. */
#ifndef DIS_CLI_CMD_CONVERT_H
#define DIS_CLI_CMD_CONVERT_H
#include "input/groups_input.h"
#include "input/texts_input.h"

typedef struct {
    cli_common common;
    cli_votes_values reading;
    cli_texts_values texts;
    cli_groups_values groups;
    const char *output, *format, *numbers, *control, *object, *model, *source;
    int to;
    bool anonymise;
    /* trl */
    const char *answers, *answers_file;
    bool conversational, margin, per_vote;
    double min_preference;
    cli_list method, covariate;
    uint64_t seed;
} convert_values;

extern const cli_command cli_cmd_convert;

/* Preferences from pairwise votes; an exit code, what is wrong told already. */
int convert_to_trl(cli *c, const convert_values *v, char **operands, size_t n_operands);

#endif
