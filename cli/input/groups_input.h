/* groups_input.h: options of a subcommand for groups of workers, and reading them.
 *
 *     groups_input groups = {.c = c, .v = &v->groups};
 *     int code = groups_input_check(&groups);                 before the first byte is read
 *     if (code == 0) code = groups_input_read(&groups, ctx, votes);   groups.view has them; n_groups 0 without --group
 *     if (code == 0) groups_input_print(&groups);
 *     groups_input_free(&groups);
 *
 * Calls that return int return an exit code, errors are reported already. */
#ifndef DIS_CLI_GROUPS_INPUT_H
#define DIS_CLI_GROUPS_INPUT_H
#include "tool/json_writer.h"
#include "output/json_summary.h"

typedef struct {
    const char *table, *table_id, *table_prefix, *group, *cuts;
    uint64_t min_group;
    int small;
} cli_groups_values;

/* clang-format off */
#define CLI_GROUPS_OPTIONS(type, field)                                                                                \
    CLI_OPTION(type, TEXT, field.table, "worker-table", .argument = "FILE", .names = CLI_NAMES_FILE),                  \
    CLI_OPTION(type, TEXT, field.table_id, "table-id", .argument = "COLUMN"),                                          \
    CLI_OPTION(type, TEXT, field.table_prefix, "table-prefix", .argument = "TEXT"),                                    \
    CLI_OPTION(type, TEXT, field.group, "group", .argument = "COLUMN"),                                                \
    CLI_OPTION(type, TEXT, field.cuts, "cuts", .argument = "X,Y,..."),                                                 \
    CLI_OPTION(type, COUNT, field.min_group, "min-group", .argument = "N", .fallback = "5", .low = 1, .high = 1e9),    \
    CLI_OPTION(type, CHOICE, field.small, "small-groups", .argument = "RULE", .fallback = "merge",                     \
               .choices = "merge|hide")
/* clang-format on */

/* A worker table alone. */
typedef struct {
    const char *file, *id, *prefix;
} cli_table_values;

/* clang-format off */
#define CLI_WORKER_TABLE_OPTIONS(type, field)                                                                          \
    CLI_OPTION(type, TEXT, field.file, "worker-table", .argument = "FILE", .names = CLI_NAMES_FILE),                   \
    CLI_OPTION(type, TEXT, field.id, "table-id", .argument = "COLUMN"),                                                \
    CLI_OPTION(type, TEXT, field.prefix, "table-prefix", .argument = "TEXT")
/* clang-format on */
/* *out stays NULL without --worker-table. An exit code. */
int worker_table_input_read(cli *c, dis_context *ctx, const cli_table_values *v, dis_worker_table **out);

enum { GROUPS_MAX_CUTS = DIS_MAX_GROUPS };

typedef struct {
    cli *c;
    const cli_groups_values *v;
    double cut[GROUPS_MAX_CUTS];
    size_t n_cuts;
    dis_worker_groups *groups; /* NULL without --group */
    dis_worker_groups_view view;
    uint64_t votes[DIS_MAX_GROUPS + 1]; /* of all ranks, where votes are shared out */
} groups_input;

int groups_input_check(groups_input *in);
/* The same where the worker table may also be `used` for something else than groups. */
int groups_input_check_table(groups_input *in, bool used);
int groups_input_read(groups_input *in, dis_context *ctx, const dis_votes *votes);
void groups_input_free(groups_input *in);
/* How many groups there are, and what was merged, hidden or not known. */
void groups_input_print(const groups_input *in);
/* As JSON: the file (within cli_inputs_begin and _end), and the members "column", "min_group", ... of an
 * object. */
dis_status groups_input_write_json_file(const groups_input *in, dis__json_writer *j);
void groups_input_write_json(const groups_input *in, dis__json_writer *j);

#endif
