/* items_input.h: the options by which a subcommand reads items, and the reading itself. */
#ifndef DIS_CLI_ITEMS_INPUT_H
#define DIS_CLI_ITEMS_INPUT_H
#include "output/json_summary.h"

typedef struct {
    const char *format, *task, *sentence, *ids;
    cli_list text, where;
    uint64_t width;
} cli_items_values;

/* clang-format off */
#define CLI_ITEMS_OPTIONS(type, field)                                                                                 \
    CLI_OPTION(type, TEXT, field.format, "items-format", .argument = "FORMAT"),                                        \
    CLI_OPTION(type, TEXT, field.task, "task", .argument = "COLUMN"),                                                  \
    CLI_OPTION(type, LIST, field.text, "text", .argument = "COLUMN"),                                                  \
    CLI_OPTION(type, TEXT, field.sentence, "sentence", .argument = "COLUMN"),                                          \
    CLI_OPTION(type, LIST, field.where, "where", .argument = "COLUMN=VALUE"),                                          \
    CLI_OPTION(type, TEXT, field.ids, "ids", .argument = "FILE", .names = CLI_NAMES_FILE),                             \
    CLI_OPTION(type, COUNT, field.width, "width", .argument = "N", .fallback = "0")
/* clang-format on */

/* Reads items of that kind from `path`. `where`: rules of their own instead of the option's, or NULL. Returns an exit
 * code, errors are reported already. */
int items_input_read(cli *c, dis_context *ctx, const cli_items_values *v, const cli_list *where, dis_items_kind kind,
                     const char *path, dis_items **out);

#endif
