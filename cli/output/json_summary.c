/* The common parts of JSON summaries. */
#include "tool/json_writer.h"
#include "tool/files.h"
#include "output/json_summary.h"
#include <sys/stat.h>

enum { SCHEMA = 1 };

void cli_json_write_count(dis__json_writer *j, const char *key, uint64_t x)
{
    dis__json_writer_key(j, key);
    dis__json_writer_count(j, x);
}

void cli_json_write_real(dis__json_writer *j, const char *key, double x)
{
    dis__json_writer_key(j, key);
    dis__json_writer_real(j, x);
}

void cli_json_write_text(dis__json_writer *j, const char *key, const char *text)
{
    dis__json_writer_key(j, key);
    dis__json_writer_text(j, text);
}

void cli_json_write_bool(dis__json_writer *j, const char *key, bool x)
{
    dis__json_writer_key(j, key);
    dis__json_writer_bool(j, x);
}

void cli_json_write_names(dis__json_writer *j, const char *key, const dis_names *names)
{
    dis__json_writer_key(j, key);
    dis__json_writer_begin_array(j);
    for (size_t i = 0; i < dis_names_count(names); i++) {
        size_t length;
        const char *name = dis_names_get(names, i, &length);
        dis__json_writer_text_n(j, name, length);
    }
    dis__json_writer_end_array(j);
}

dis_status cli_summary_open(const char *path, const char *command, const uint64_t *seed, dis__json_writer **out)
{
    const dis_status status = dis__json_writer_create(path, out);
    if (status != DIS_OK) return status;
    dis__json_writer_begin_object(*out);
    cli_json_write_count(*out, "schema_version", SCHEMA);
    cli_json_write_text(*out, "version", dis_version());
    cli_json_write_text(*out, "command", command);
    if (seed) cli_json_write_count(*out, "seed", *seed);
    return DIS_OK;
}

dis_status cli_summary_close(dis__json_writer *j, dis_status so_far)
{
    dis__json_writer_end_object(j);
    return dis__json_writer_finish(j, so_far);
}

void cli_inputs_begin(dis__json_writer *j)
{
    dis__json_writer_key(j, "inputs");
    dis__json_writer_begin_array(j);
}

const char *cli_unhashed_reason(const char *path)
{
    struct stat st;
    if (cli_is_dash(path)) return "standard input cannot be read twice";
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) ? "a pipe or device cannot be read twice" : NULL;
}

dis_status cli_input_write_fields(dis__json_writer *j, const char *path, const char *role)
{
    char hex[65];
    cli_json_write_text(j, "path", path);
    cli_json_write_text(j, "role", role);
    dis_status status = DIS_OK;
    const char *once = cli_unhashed_reason(path);
    if (once) {
        cli_json_write_text(j, "sha256", NULL);
        cli_json_write_text(j, "reason", once);
    } else if ((status = dis__file_sha256(path, hex)) == DIS_OK)
        cli_json_write_text(j, "sha256", hex);
    return status;
}

dis_status cli_input_write(dis__json_writer *j, const char *path, const char *role)
{
    dis__json_writer_begin_object(j);
    const dis_status status = cli_input_write_fields(j, path, role);
    dis__json_writer_end_object(j);
    return status;
}

void cli_inputs_end(dis__json_writer *j)
{
    dis__json_writer_end_array(j);
}
