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
    {.name = "items-format", .kind = CLI_TEXT, .offset = offsetof(type, field.format), .argument = "FORMAT",           \
     .summary = "csv, tsv, jsonl, conll, npy, f32 or cifar; without it, by the name of the file, else csv"},           \
    {.name = "task", .kind = CLI_TEXT, .offset = offsetof(type, field.task), .argument = "COLUMN",                     \
     .summary = "column of the items' ids; without it, task"},                                                         \
    {.name = "text", .kind = CLI_LIST, .offset = offsetof(type, field.text), .argument = "COLUMN",                     \
     .summary = "column of a text, of the tokens, or of a feature; without it, text, token, or all but the id"},       \
    {.name = "sentence", .kind = CLI_TEXT, .offset = offsetof(type, field.sentence), .argument = "COLUMN",             \
     .summary = "column that says which sentence a token is of; without it, sentence"},                                \
    {.name = "where", .kind = CLI_LIST, .offset = offsetof(type, field.where), .argument = "COLUMN=VALUE",             \
     .summary = "only rows of items where COLUMN holds VALUE"},                                                        \
    {.name = "ids", .kind = CLI_TEXT, .offset = offsetof(type, field.ids), .argument = "FILE",                         \
     .names = CLI_NAMES_FILE, .summary = "ids of items that a file has no column for, one per line; without it, 0, 1, ..."}, \
    {.name = "width", .kind = CLI_COUNT, .offset = offsetof(type, field.width), .argument = "N", .fallback = "0",      \
     .summary = "numbers per row of a raw float32 file"}
/* clang-format on */

/* Reads items of that kind from `path`. `where`: rules of their own instead of the option's, or NULL. Returns an exit
 * code, what is wrong told already. */
int items_input_read(cli *c, dis_context *ctx, const cli_items_values *v, const cli_list *where, dis_items_kind kind,
                     const char *path, dis_items **out);

#endif
