/* texts_input.h: the options by which a subcommand is told what the items say, and the reading of it. */
#ifndef DIS_CLI_TEXTS_INPUT_H
#define DIS_CLI_TEXTS_INPUT_H
#include "votes_input.h"

typedef struct {
    const char *path;
    cli_list text;
} cli_texts_values;

/* clang-format off */
#define CLI_TEXTS_OPTIONS(type, field)                                                                                 \
    {.name = "texts", .kind = CLI_TEXT, .offset = offsetof(type, field.path), .argument = "FILE",                      \
     .names = CLI_NAMES_FILE,                                                                                          \
     .summary = "what the items say (task,text), to stand beside their ids: CSV, TSV or JSONL by the name"},           \
    {.name = "text", .kind = CLI_LIST, .offset = offsetof(type, field.text), .argument = "COLUMN",                     \
     .summary = "column of a text in --texts; without it, text"}
/* clang-format on */

/* Whether what is given goes together; told already. */
int texts_input_check(cli *c, const cli_texts_values *v);
/* One text per task, empty where there is none; *out stays NULL without --texts. `task` is the column of the ids, NULL:
 * task. Returns an exit code, what is wrong told already. */
int texts_input_read(cli *c, dis_context *ctx, const cli_texts_values *v, const char *task, const dis_names *tasks,
                     dis_names **out);
/* How many items have one. */
void texts_input_tell(cli *c, const dis_names *texts);

#endif
