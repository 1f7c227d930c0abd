/* json_summary.h: the common parts of the JSON summaries (--json) of all subcommands.
 *
 *     dis__json_writer *j;
 *     dis_status status = cli_summary_open(path, "agree", &seed, &j);
 *     if (status != DIS_OK) return status;
 *     cli_inputs_begin(j);
 *     status = cli_input_write(j, gold, "gold");
 *     cli_inputs_end(j);
 *     ...
 *     return cli_summary_close(j, status);
 *
 * Nothing in a summary depends on the machine or the number of threads: no times, no thread count. Undefined values are
 * null, with a reason where the cause is not plain; infinite ones are "inf". */
#ifndef DIS_CLI_JSON_SUMMARY_H
#define DIS_CLI_JSON_SUMMARY_H
#include "tool/json_writer.h"
#include "core/cli.h"

/* Opens the file and its object, and writes schema_version, version, command and, unless NULL, the seed. */
dis_status cli_summary_open(const char *path, const char *command, const uint64_t *seed, dis__json_writer **out);
dis_status cli_summary_close(dis__json_writer *j, dis_status so_far);

/* Why a file has no SHA-256: it is standard input, a pipe or a device, which can be read once; NULL: it has one. */
const char *cli_unhashed_reason(const char *path);

/* The list "inputs": one object per file with its path, role and SHA-256. */
void cli_inputs_begin(dis__json_writer *j);
dis_status cli_input_write(dis__json_writer *j, const char *path, const char *role);
/* The same within an object of the caller's, who has more to say of the file. */
dis_status cli_input_write_fields(dis__json_writer *j, const char *path, const char *role);
void cli_inputs_end(dis__json_writer *j);

void cli_json_write_count(dis__json_writer *j, const char *key, uint64_t x);
void cli_json_write_real(dis__json_writer *j, const char *key, double x);
void cli_json_write_text(dis__json_writer *j, const char *key, const char *text);
void cli_json_write_bool(dis__json_writer *j, const char *key, bool x);
/* All names as a list. */
void cli_json_write_names(dis__json_writer *j, const char *key, const dis_names *names);

#endif
