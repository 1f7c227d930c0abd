/* voters_input.h: which voters are people and which are models, by a column of the votes or of a worker table.
 *
 * Calls that return int return an exit code, errors are reported already. */
#ifndef DIS_CLI_VOTERS_INPUT_H
#define DIS_CLI_VOTERS_INPUT_H
#include "input/votes_input.h"

typedef struct {
    const char *type, *table, *table_id, *table_prefix;
    cli_list people;
} cli_voters_values;

/* clang-format off */
#define CLI_VOTER_TYPE_OPTIONS(type_, field)                                                                           \
    CLI_OPTION(type_, TEXT, field.type, "voter-type", .argument = "COLUMN"),                                           \
    CLI_OPTION(type_, LIST, field.people, "people", .argument = "A,B,...")
#define CLI_VOTER_TABLE_OPTIONS(type_, field)                                                                          \
    CLI_OPTION(type_, TEXT, field.table, "worker-table", .argument = "FILE", .names = CLI_NAMES_FILE),                 \
    CLI_OPTION(type_, TEXT, field.table_id, "table-id", .argument = "COLUMN"),                                         \
    CLI_OPTION(type_, TEXT, field.table_prefix, "table-prefix", .argument = "TEXT")
/* Options of the alternative-annotator test, into fields of these names. */
#define CLI_ALTERNATIVE_TEST_OPTIONS(type_)                                                                            \
    CLI_OPTION(type_, REAL, epsilon, "epsilon", .argument = "X", .fallback = ".1", .low = 0, .high = 1),               \
    CLI_OPTION(type_, REAL, fdr, "fdr", .argument = "X", .fallback = ".05", .low = 1e-9, .high = 1),                   \
    CLI_OPTION(type_, COUNT, min_people, "min-people", .argument = "N", .fallback = "2", .high = 1e6),                 \
    CLI_OPTION(type_, COUNT, min_items, "min-items", .argument = "N", .fallback = "30", .high = 1e9)
/* clang-format on */

typedef struct {
    cli *c;
    const cli_voters_values *v;
    bool *person; /* (n_workers) */
    size_t n_people, n_models;
} voters_input;

/* Whether the options define which voters are people. */
bool voters_input_is_given(const cli_voters_values *v);
int voters_input_read(voters_input *in, dis_context *ctx, const votes_input *votes);
void voters_input_free(voters_input *in);

#endif
