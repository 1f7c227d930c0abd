/* The common parts of the summaries for machines. */
#include "summary.h"
#include <sys/stat.h>

enum { SCHEMA = 1 };

void cli_put_count(dis_json *j, const char *key, uint64_t x)
{
    dis_json_key(j, key);
    dis_json_count(j, x);
}

void cli_put_real(dis_json *j, const char *key, double x)
{
    dis_json_key(j, key);
    dis_json_real(j, x);
}

void cli_put_text(dis_json *j, const char *key, const char *text)
{
    dis_json_key(j, key);
    dis_json_text(j, text);
}

void cli_put_bool(dis_json *j, const char *key, bool x)
{
    dis_json_key(j, key);
    dis_json_bool(j, x);
}

void cli_put_names(dis_json *j, const char *key, const dis_names *names)
{
    dis_json_key(j, key);
    dis_json_begin_array(j);
    for (size_t i = 0; i < dis_names_count(names); i++) {
        size_t length;
        const char *name = dis_names_get(names, i, &length);
        dis_json_text_n(j, name, length);
    }
    dis_json_end_array(j);
}

dis_status cli_summary_open(const char *path, const char *command, const uint64_t *seed, dis_json **out)
{
    const dis_status status = dis_json_open(path, out);
    if (status != DIS_OK) return status;
    dis_json_begin_object(*out);
    cli_put_count(*out, "schema_version", SCHEMA);
    cli_put_text(*out, "version", dis_version());
    cli_put_text(*out, "command", command);
    if (seed) cli_put_count(*out, "seed", *seed);
    return DIS_OK;
}

dis_status cli_summary_finish(dis_json *j, dis_status so_far)
{
    dis_json_end_object(j);
    return dis_json_finish(j, so_far);
}

void cli_inputs_begin(dis_json *j)
{
    dis_json_key(j, "inputs");
    dis_json_begin_array(j);
}

const char *cli_read_once(const char *path)
{
    struct stat st;
    if (cli_is_dash(path)) return "standard input cannot be read twice";
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) ? "a pipe or device cannot be read twice" : NULL;
}

dis_status cli_put_file_fields(dis_json *j, const char *path, const char *role)
{
    char hex[65];
    cli_put_text(j, "path", path);
    cli_put_text(j, "role", role);
    dis_status status = DIS_OK;
    const char *once = cli_read_once(path);
    if (once) {
        cli_put_text(j, "sha256", NULL);
        cli_put_text(j, "reason", once);
    } else if ((status = dis_file_sha256(path, hex)) == DIS_OK)
        cli_put_text(j, "sha256", hex);
    return status;
}

dis_status cli_put_file(dis_json *j, const char *path, const char *role)
{
    dis_json_begin_object(j);
    const dis_status status = cli_put_file_fields(j, path, role);
    dis_json_end_object(j);
    return status;
}

void cli_inputs_end(dis_json *j)
{
    dis_json_end_array(j);
}
