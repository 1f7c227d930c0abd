/* votes_input.h: the options by which a subcommand reads votes, and the reading itself.
 *
 *     typedef struct { cli_common common; cli_votes_values reading; ... } x_values;
 *     static const cli_option options[] = {CLI_VOTES_OPTIONS(x_values, reading), CLI_COMMON_OPTIONS(x_values)};
 *
 *     votes_input in = {.c = c, .v = &v->reading, .paths = operands, .n_paths = n_operands};
 *     int code = votes_input_check(&in);            before the first byte is read
 *     if (code == 0) code = votes_input_read(&in, ctx);
 *     if (code == 0 && v->gold) code = votes_input_read_gold(&in, ctx, v->gold);
 *     if (code == 0) votes_input_print(&in);
 *     ...
 *     votes_input_free(&in);
 *
 * Calls that return int return an exit code, what is wrong told already. */
#ifndef DIS_CLI_VOTES_INPUT_H
#define DIS_CLI_VOTES_INPUT_H
#include "tool/json_writer.h"
#include "input/class_list.h"
#include "input/gold_input.h"
#include "output/json_summary.h"

typedef struct {
    const char *input_format, *preset, *task, *worker, *label, *classes, *time, *records, *delimiter;
    int input, duplicates, several, scale;
    cli_list drop, keep, na, table;
    const char *pair_a, *pair_b, *span_start, *span_end;
    bool lenient, renormalise, no_header, fold_case, trim, allow_many_classes;
    uint64_t min_votes, skip;
    const char *gold_columns; /* of commands with CLI_GOLD_COLUMNS_OPTION */
} cli_votes_values;

/* clang-format off */
#define CLI_VOTES_OPTIONS(type, field)                                                                              \
    {.name = "input", .kind = CLI_CHOICE, .offset = offsetof(type, field.input), .argument = "KIND",                \
     .choices = "votes|counts|mace|soft|wide",                                                                      \
     .summary = "what a row is (wide: an item, a column per worker); without it, votes or what the preset says"},   \
    {.name = "input-format", .kind = CLI_TEXT, .offset = offsetof(type, field.input_format), .argument = "FORMAT",  \
     .summary = "csv, tsv, json, jsonl or npy; without it, by the name of the input, else csv"},                    \
    {.name = "delimiter", .kind = CLI_TEXT, .offset = offsetof(type, field.delimiter), .argument = "C",             \
     .summary = "the character that separates columns, or tab [, or ; | tab, by the header]"},                      \
    {.name = "no-header", .kind = CLI_FLAG, .offset = offsetof(type, field.no_header),                              \
     .summary = "csv and tsv: there is none; columns are called 0, 1, 2, ..."},                                     \
    {.name = "skip", .kind = CLI_COUNT, .offset = offsetof(type, field.skip), .argument = "N", .fallback = "0",     \
     .high = 1e6, .summary = "csv and tsv: skip N lines before the header [0]"},                                    \
    {.name = "records", .kind = CLI_TEXT, .offset = offsetof(type, field.records), .argument = "PATH",              \
     .summary = "json: keys (a.b) that lead to the list of records; . for one record; without it, the file itself"}, \
    {.name = "preset", .kind = CLI_TEXT, .offset = offsetof(type, field.preset), .argument = "NAME",                \
     .names = CLI_NAMES_PRESET, .summary = "settings for the files of a known tool: dissent list presets"},         \
    {.name = "task", .kind = CLI_TEXT, .offset = offsetof(type, field.task), .argument = "COLUMN",                  \
     .summary = "column, or path, of the items [task, or a synonym: dissent list columns]"},                                                 \
    {.name = "worker", .kind = CLI_TEXT, .offset = offsetof(type, field.worker), .argument = "COLUMN",              \
     .summary = "column, or path, of the workers [worker, or a synonym: dissent list columns]"},                                \
    {.name = "label", .kind = CLI_TEXT, .offset = offsetof(type, field.label), .argument = "COLUMN",                \
     .summary = "column, or path, of the labels; with a preset, the question [label, or a synonym: dissent list columns]"}, \
    {.name = "time", .kind = CLI_TEXT, .offset = offsetof(type, field.time), .argument = "COLUMN",                  \
     .summary = "column, or path, of the time of votes: --duplicates first and last go by it"},                     \
    {.name = "drop", .kind = CLI_LIST, .offset = offsetof(type, field.drop), .argument = "COLUMN=VALUE",            \
     .summary = "leave out rows where COLUMN holds VALUE"},                                                         \
    {.name = "keep", .kind = CLI_LIST, .offset = offsetof(type, field.keep), .argument = "COLUMN=VALUE",            \
     .summary = "leave out rows where COLUMN holds something else (* in VALUE: any text)"},                         \
    {.name = "several", .kind = CLI_CHOICE, .offset = offsetof(type, field.several), .argument = "RULE",            \
     .fallback = "error", .choices = "error|all|join",                                                              \
     .summary = "several labels in one answer: each a vote (all), or one class a+b (join)"},                        \
    {.name = "classes", .kind = CLI_TEXT, .offset = offsetof(type, field.classes), .argument = "LIST|FILE",         \
     .names = CLI_NAMES_FILE,                                                                                       \
     .summary = "the classes in their order, also ones nobody chose: a,b,c, or a file with one per line"},            \
    {.name = "na", .kind = CLI_LIST, .offset = offsetof(type, field.na), .argument = "VALUE",                       \
     .summary = "a label that means no vote; --na \"\" for empty ones"},                                            \
    {.name = "fold-case", .kind = CLI_FLAG, .offset = offsetof(type, field.fold_case),                              \
     .summary = "ignore case: labels that differ in case alone are one class, in lower case"},                      \
    {.name = "trim", .kind = CLI_FLAG, .offset = offsetof(type, field.trim),                                        \
     .summary = "remove spaces around labels"},                                                                     \
    {.name = "allow-many-classes", .kind = CLI_FLAG, .offset = offsetof(type, field.allow_many_classes),            \
     .summary = "accept a label column in which most values are different"},                                        \
    {.name = "duplicates", .kind = CLI_CHOICE, .offset = offsetof(type, field.duplicates), .argument = "RULE",      \
     .fallback = "error", .choices = "error|first|last|all", .summary = "when a worker voted on an item twice"},    \
    {.name = "lenient", .kind = CLI_FLAG, .offset = offsetof(type, field.lenient),                                  \
     .summary = "skip bad rows, count and list them"},                                                              \
    {.name = "renormalise", .kind = CLI_FLAG, .offset = offsetof(type, field.renormalise),                          \
     .summary = "scale soft rows that do not sum to 1, and count them"},                                            \
    {.name = "min-votes", .kind = CLI_COUNT, .offset = offsetof(type, field.min_votes), .argument = "N",            \
     .fallback = "0", .summary = "leave out items with fewer votes"}
/* Kinds of votes (dissent/scale.h), where they change something. */
#define CLI_SCALE_OPTIONS(type, field)                                                                              \
    {.name = "scale", .kind = CLI_CHOICE, .offset = offsetof(type, field.scale), .argument = "SCALE",               \
     .fallback = "nominal", .choices = "nominal|ordinal|multi-label|numeric|pairwise|spans",                        \
     .summary = "what labels are (docs/guides/scales.md)"},                                                                 \
    {.name = "ordinal", .kind = CLI_FLAG, .offset = offsetof(type, field.scale),                                    \
     .short_for = "scale=ordinal", .summary = "short for --scale ordinal"}
/* For scales whose votes have more columns. */
#define CLI_PARTS_OPTIONS(type, field)                                                                              \
    {.name = "a", .kind = CLI_TEXT, .offset = offsetof(type, field.pair_a), .argument = "COLUMN",                   \
     .summary = "pairwise: column, or path, of the first of two; without it, a, model_a, model_1 or left"},         \
    {.name = "b", .kind = CLI_TEXT, .offset = offsetof(type, field.pair_b), .argument = "COLUMN",                   \
     .summary = "pairwise: of the second; without it, b, model_b, model_2 or right"},                               \
    {.name = "start", .kind = CLI_TEXT, .offset = offsetof(type, field.span_start), .argument = "COLUMN",           \
     .summary = "spans: column, or path, of the first place of a span; without it, start or begin"},                \
    {.name = "end", .kind = CLI_TEXT, .offset = offsetof(type, field.span_end), .argument = "COLUMN",               \
     .summary = "spans: of the first place behind it; without it, end or stop"}
/* For those whose labels are no distribution over classes. */
#define CLI_TABLES_OPTION(type, field)                                                                              \
    {.name = "table", .kind = CLI_LIST, .offset = offsetof(type, field.table), .argument = "NAME=FILE",             \
     .names = CLI_NAMES_OUTPUT, .formats = CLI_TABLE_FORMATS,                                                       \
     .summary = "scales from multi-label on: a table of the result by its name (labels, items, workers, ...) as CSV, " \
                "TSV or JSONL"}
/* clang-format on */

/* Smallest, median and largest number of votes of an item. */
typedef struct {
    double min, median, max;
} votes_spread;

typedef struct {
    cli *c;
    const cli_votes_values *v;
    char *const *paths;
    size_t n_paths;

    dis_votes_options how;
    class_list classes;
    dis_drop_rule drop[CLI_MAX_VALUES], keep[CLI_MAX_VALUES];
    char *drop_text, *keep_text; /* where the rules' texts are */

    dis_votes *votes;
    dis_votes_view look;
    dis_votes_notes notes;
    dis_context *ctx;    /* by which votes were read */
    votes_spread spread; /* of all ranks, where each has some of the items */
    int32_t *gold;       /* (n_items), -1: not known; NULL without votes_input_read_gold */
    size_t n_gold, n_gold_unknown;
} votes_input;

/* What the options say labels are. */
dis_scale votes_input_scale(const cli_votes_values *v);
/* Whether labels are no distribution over classes: scaled_command.h. */
bool votes_input_is_scaled(const cli_votes_values *v);
/* Whether the order of the classes means something. */
bool votes_input_is_ordered(const cli_votes_values *v);

/* dis_label_plan_parse, with the method of the scale where none is named. */
dis_status votes_input_select_methods(const cli_votes_values *v, const cli_list *method, const char *combine,
                                      bool workers, dis_label_plan *out);

/* How many ranks have parts of the votes. */
int votes_input_count_ranks(const votes_input *in);

int votes_input_check(votes_input *in);
/* --delimiter: one character, or its name. */
int votes_input_delimiter(cli *c, const char *text, int *out);
/* Refuses options that say how votes are read where none are: they would change nothing. `remedy`: "give --votes
 * FILE". */
int votes_input_check_unused(cli *c, const cli_votes_values *v, const char *remedy);
int votes_input_read(votes_input *in, dis_context *ctx);
int votes_input_set(votes_input *in, dis_context *ctx); /* in->votes have come another way */
int votes_input_read_gold(votes_input *in, dis_context *ctx, const char *path);
void votes_input_free(votes_input *in);

dis_status votes_input_compute_spread(const votes_input *in, votes_spread *out);

/* For people: what was read, and what reading let pass. */
void votes_input_print(votes_input *in);
/* "gold" and how many items have it; `verb` reads "pinned to the known class". */
void votes_input_print_gold(votes_input *in, const char *verb);
/* Warns that a recipe takes other views because nobody knows who voted. */
void votes_input_warn_no_workers(const votes_input *in, const dis_label_plan *choice);
/* For machines: the files (within cli_inputs_begin and _end), the size of the table, the notes. */
dis_status votes_input_write_json_files(const votes_input *in, dis__json_writer *j);
dis_status votes_input_write_json_table(const votes_input *in, dis__json_writer *j);
void votes_input_write_json_notes(const votes_input *in, dis__json_writer *j);

#endif
