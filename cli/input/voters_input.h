/* voters_input.h: who of the voters is a person and who a model, by a column of the votes or of a worker table.
 *
 * Calls that return int return an exit code, what is wrong told already. */
#ifndef DIS_CLI_VOTERS_INPUT_H
#define DIS_CLI_VOTERS_INPUT_H
#include "input/votes_input.h"

typedef struct {
    const char *type, *table, *table_id, *table_prefix;
    cli_list people;
} cli_voters_values;

/* clang-format off */
#define CLI_VOTER_TYPE_OPTIONS(type_, field)                                                                        \
    {.name = "voter-type", .kind = CLI_TEXT, .offset = offsetof(type_, field.type), .argument = "COLUMN",           \
     .summary = "column, of the votes or of --worker-table, that says whether a voter is a person or a model"},     \
    {.name = "people", .kind = CLI_LIST, .offset = offsetof(type_, field.people), .argument = "A,B,...",            \
     .summary = "values of --voter-type that mean a person [human, person or people]; without --voter-type, the "   \
                "workers who are people"}
#define CLI_VOTER_TABLE_OPTIONS(type_, field)                                                                       \
    {.name = "worker-table", .kind = CLI_TEXT, .offset = offsetof(type_, field.table), .argument = "FILE",          \
     .names = CLI_NAMES_FILE,                                                                                       \
     .summary = "what is known of the voters, any columns: CSV, TSV, JSONL, or JSON by worker"},                    \
    {.name = "table-id", .kind = CLI_TEXT, .offset = offsetof(type_, field.table_id), .argument = "COLUMN",         \
     .summary = "column of the ids in --worker-table; without it, worker (or performer, annotator, id)"},           \
    {.name = "table-prefix", .kind = CLI_TEXT, .offset = offsetof(type_, field.table_prefix), .argument = "TEXT",   \
     .summary = "put before every id of --worker-table"}
/* clang-format on */

typedef struct {
    cli *c;
    const cli_voters_values *v;
    bool *person; /* (n_workers) */
    size_t n_people, n_models;
} voters_input;

/* Whether the options say who is a person. */
bool voters_input_is_given(const cli_voters_values *v);
int voters_input_read(voters_input *in, dis_context *ctx, const votes_input *votes);
void voters_input_free(voters_input *in);

#endif
