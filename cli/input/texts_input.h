/* texts_input.h: options of a subcommand for the texts of items, and reading them. */
#ifndef DIS_CLI_TEXTS_INPUT_H
#define DIS_CLI_TEXTS_INPUT_H
#include "input/votes_input.h"

typedef struct {
    const char *path;
    cli_list text;
} cli_texts_values;

/* clang-format off */
#define CLI_TEXTS_OPTIONS(type, field)                                                                                 \
    CLI_OPTION(type, TEXT, field.path, "texts", .argument = "FILE", .names = CLI_NAMES_FILE),                          \
    CLI_OPTION(type, LIST, field.text, "text", .argument = "COLUMN")
/* clang-format on */

/* Whether what is given goes together; reported already. `votes`: the command reads votes. */
int texts_input_check(cli *c, const cli_texts_values *v, bool votes);
/* One text per task, empty where there is none; *out stays NULL without --texts and --text. `votes` are where votes come
 * from: texts are read from these files without --texts, and where --texts is one of them. Without files there, a preset
 * is that of --texts. Returns an exit code, what is wrong reported already. */
int texts_input_read(cli *c, dis_context *ctx, const cli_texts_values *v, const votes_input *votes,
                     const dis_names *tasks, dis_names **out);
/* How many items have one. */
void texts_input_print(cli *c, const dis_names *texts);

#endif
