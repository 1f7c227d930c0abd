/* metric_table.h: options shared by subcommands with a table: its destination, its format, its intervals.
 *
 *     typedef struct { cli_common common; cli_metric_table_values figures; ... } x_values;
 *     static const cli_option options[] = {CLI_METRIC_TABLE_OPTIONS(x_values, figures, "1000"),
 *         CLI_COMMON_OPTIONS(x_values)};
 *
 * A table without intervals takes CLI_TABLE_OPTIONS alone. It is text for people on a terminal, and CSV, TSV or JSONL
 * otherwise. */
#ifndef DIS_CLI_METRIC_TABLE_H
#define DIS_CLI_METRIC_TABLE_H
#include "tool/table_writer.h"
#include "core/cli.h"

enum { CLI_METRIC_SIZE = 64 };

typedef struct {
    const char *output, *json;
    int format;
    uint64_t resamples, seed;
    double fraction;
} cli_metric_table_values;

/* clang-format off */
#define CLI_TABLE_OPTIONS(type, field)                                                                                 \
    CLI_OPTION(type, TEXT, field.output, "output", .letter = 'o', .argument = "FILE", .names = CLI_NAMES_OUTPUT,       \
               .formats = CLI_TABLE_FORMATS, .standard = "the table"),                                                 \
    CLI_OPTION(type, CHOICE, field.format, "format", .argument = "FORMAT", .choices = "csv|tsv|jsonl|text",            \
               CLI_HELP(OUTPUT, "output format [text on a terminal, else by file extension]")),                        \
    CLI_OPTION(type, COUNT, field.seed, "seed", .argument = "N", .fallback = "0"),                                     \
    CLI_OUTPUT_OPTION(type, field.json, "json", "json", CLI_SHARED_HELP)
#define CLI_RESAMPLES_OPTION(type, field, usual)                                                                       \
    CLI_OPTION(type, COUNT, field.resamples, "resamples", .argument = "N", .fallback = usual, .high = 1e9)
#define CLI_OVER_OPTION(type, field)                                                                                   \
    CLI_OPTION(type, CHOICE, field, "over", .argument = "WHAT", .fallback = "annotators",                              \
               .choices = "annotators|items")
#define CLI_METRIC_TABLE_OPTIONS(type, field, usual)                                                                   \
    CLI_TABLE_OPTIONS(type, field), CLI_RESAMPLES_OPTION(type, field, usual),                                          \
    CLI_OPTION(type, REAL, field.fraction, "fraction", .argument = "X", .fallback = "1", .low = 1e-9, .high = 1)
/* clang-format on */

/* Options that do not go together; an exit code, errors are reported already. */
int cli_metric_table_check(cli *c, const cli_metric_table_values *v);
/* "csv", "tsv", "jsonl"; NULL: text. */
const char *cli_metric_table_format(const cli_metric_table_values *v);
/* Where the table goes, "-" for standard output. */
const char *cli_metric_table_path(const cli_metric_table_values *v);
/* Cells of a table: a text (NULL: an empty cell), a name of a list, a figure as value, low and high end. */
void cli_cell_write_text(dis__table_writer *t, const char *text);
void cli_cell_write_name(dis__table_writer *t, const dis_names *names, size_t i);
void cli_cell_write_metric(dis__table_writer *t, const dis_metric *m);
/* ".8112 [.7867, .8350]" with so many decimals, or why there is no value. Returns `out`. */
const char *cli_metric_format(const dis_metric *m, int decimals, char out[CLI_METRIC_SIZE]);

#endif
