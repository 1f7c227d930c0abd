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
 * Calls that return int return an exit code, errors are reported already. */
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
#define CLI_VOTES_OPTIONS(type, field)                                                                                 \
    CLI_OPTION(type, CHOICE, field.input, "input", .argument = "KIND", .choices = "votes|counts|mace|soft|wide"),      \
    CLI_OPTION(type, TEXT, field.input_format, "input-format", .argument = "FORMAT"),                                  \
    CLI_OPTION(type, TEXT, field.delimiter, "delimiter", .argument = "C"),                                             \
    CLI_OPTION(type, FLAG, field.no_header, "no-header", CLI_SHARED_HELP),                                             \
    CLI_OPTION(type, COUNT, field.skip, "skip", .argument = "N", .fallback = "0", .high = 1e6),                        \
    CLI_OPTION(type, TEXT, field.records, "records", .argument = "PATH"),                                              \
    CLI_OPTION(type, TEXT, field.preset, "preset", .argument = "NAME", .names = CLI_NAMES_PRESET),                     \
    CLI_OPTION(type, TEXT, field.task, "task", .argument = "COLUMN"),                                                  \
    CLI_OPTION(type, TEXT, field.worker, "worker", .argument = "COLUMN"),                                              \
    CLI_OPTION(type, TEXT, field.label, "label", .argument = "COLUMN"),                                                \
    CLI_OPTION(type, TEXT, field.time, "time", .argument = "COLUMN"),                                                  \
    CLI_OPTION(type, LIST, field.drop, "drop", .argument = "COLUMN=VALUE"),                                            \
    CLI_OPTION(type, LIST, field.keep, "keep", .argument = "COLUMN=VALUE"),                                            \
    CLI_OPTION(type, CHOICE, field.several, "several", .argument = "RULE", .fallback = "error", .choices = "error|all|join"), \
    CLI_OPTION(type, TEXT, field.classes, "classes", .argument = "LIST|FILE", .names = CLI_NAMES_FILE),                \
    CLI_OPTION(type, LIST, field.na, "na", .argument = "VALUE"),                                                       \
    CLI_OPTION(type, FLAG, field.fold_case, "fold-case", CLI_SHARED_HELP),                                             \
    CLI_OPTION(type, FLAG, field.trim, "trim", CLI_SHARED_HELP),                                                       \
    CLI_OPTION(type, FLAG, field.allow_many_classes, "allow-many-classes", CLI_SHARED_HELP),                           \
    CLI_OPTION(type, CHOICE, field.duplicates, "duplicates", .argument = "RULE", .fallback = "error", .choices = "error|first|last|all"), \
    CLI_OPTION(type, FLAG, field.lenient, "lenient", CLI_SHARED_HELP),                                                 \
    CLI_OPTION(type, FLAG, field.renormalise, "renormalise", CLI_SHARED_HELP),                                         \
    CLI_OPTION(type, COUNT, field.min_votes, "min-votes", .argument = "N", .fallback = "0")
/* Kinds of votes (dissent/scale.h), where they change something. */
#define CLI_SCALE_OPTIONS(type, field)                                                                                 \
    CLI_OPTION(type, CHOICE, field.scale, "scale", .argument = "SCALE", .fallback = "nominal",                         \
               .choices = "nominal|ordinal|multi-label|numeric|pairwise|spans"),                                       \
    CLI_OPTION(type, FLAG, field.scale, "ordinal", .short_for = "scale=ordinal")
/* For scales whose votes have more columns. */
#define CLI_PARTS_OPTIONS(type, field)                                                                                 \
    CLI_OPTION(type, TEXT, field.pair_a, "a", .argument = "COLUMN"),                                                   \
    CLI_OPTION(type, TEXT, field.pair_b, "b", .argument = "COLUMN"),                                                   \
    CLI_OPTION(type, TEXT, field.span_start, "start", .argument = "COLUMN"),                                           \
    CLI_OPTION(type, TEXT, field.span_end, "end", .argument = "COLUMN")
/* For those whose labels are not distribution over classes. */
#define CLI_TABLES_OPTION(type, field)                                                                                 \
    CLI_OPTION(type, LIST, field.table, "table", .argument = "NAME=FILE", .names = CLI_NAMES_OUTPUT,                   \
               .formats = CLI_TABLE_FORMATS)
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
    dis_votes_view view;
    dis_votes_notes notes;
    dis_context *ctx;    /* by which votes were read */
    votes_spread spread; /* of all ranks, where each has some of the items */
    int32_t *gold;       /* (n_items), -1: not known; NULL without votes_input_read_gold */
    size_t n_gold, n_gold_unknown;
} votes_input;

/* What the options say labels are. */
dis_scale votes_input_scale(const cli_votes_values *v);
/* Whether labels are not distribution over classes: scaled_command.h. */
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
/* Rejects options for reading votes without votes: they would have no effect. `remedy`: "give --votes
 * FILE". */
int votes_input_check_unused(cli *c, const cli_votes_values *v, const char *remedy);
int votes_input_read(votes_input *in, dis_context *ctx);
/* The same with these classes, unless the user has given some, or accepts others with --lenient. So a class without
 * votes is not missed, and a label that is not among them is an error with its position. */
int votes_input_read_with_classes(votes_input *in, dis_context *ctx, const dis_names *classes);
/* Where each of `tasks` is among the votes, and each class of the votes among `classes`; SIZE_MAX: nowhere. The caller
 * frees both with dis_free(), also after a failure. */
int votes_input_match(cli *c, const dis_votes_view *votes, const dis_names *tasks, const dis_names *classes,
                      size_t **item, size_t **class);
int votes_input_set(votes_input *in, dis_context *ctx); /* in->votes have come another way */
int votes_input_read_gold(votes_input *in, dis_context *ctx, const char *path);
void votes_input_free(votes_input *in);

dis_status votes_input_compute_spread(const votes_input *in, votes_spread *out);

/* As text: what was read, and what reading let pass. */
void votes_input_print(votes_input *in);
/* "gold" and how many items have it; `verb` reads "pinned to the known class". */
void votes_input_print_gold(votes_input *in, const char *verb);
/* Warns that a recipe uses other views because votes have no workers. */
void votes_input_warn_no_workers(const votes_input *in, const dis_label_plan *choice);
/* As JSON: the files (within cli_inputs_begin and _end), the size of the table, the notes. */
dis_status votes_input_write_json_files(const votes_input *in, dis__json_writer *j);
dis_status votes_input_write_json_table(const votes_input *in, dis__json_writer *j);
void votes_input_write_json_notes(const votes_input *in, dis__json_writer *j);

#endif
