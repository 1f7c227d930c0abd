/* The command "tables", of the web page alone: names and titles that the page shows, as JSON. The packer (pack_page.py)
 * runs it once and puts the result into the page. */
#include "core/cli.h"
#include "tool/json_writer.h"
#include <stddef.h>

static void write_row(dis__json_writer *json, const char *name, const char *key, const char *text)
{
    dis__json_writer_begin_object(json);
    dis__json_writer_key(json, "name");
    dis__json_writer_text(json, name);
    dis__json_writer_key(json, key);
    dis__json_writer_text(json, text);
    dis__json_writer_end_object(json);
}

static void begin_table(dis__json_writer *json, const char *name)
{
    dis__json_writer_key(json, name);
    dis__json_writer_begin_array(json);
}

static int run(cli *c, const void *values, char **operands, size_t n_operands)
{
    (void)values, (void)operands, (void)n_operands;
    dis__json_writer *json;
    const dis_status status = dis__json_writer_create("-", &json);
    if (status != DIS_OK) return cli_failed(c, status);
    dis__json_writer_begin_object(json);
    dis__json_writer_key(json, "version");
    dis__json_writer_text(json, dis_version());
    begin_table(json, "presets");
    for (size_t i = 0; dis_votes_preset_get(i); i++) {
        const dis_votes_preset *p = dis_votes_preset_get(i);
        write_row(json, p->name, "tool", p->tool ? p->tool : p->name);
    }
    dis__json_writer_end_array(json);
    begin_table(json, "scales");
    for (size_t i = 0; dis_scale_get(i); i++)
        write_row(json, dis_scale_get(i)->name, "summary", dis_scale_get(i)->summary);
    dis__json_writer_end_array(json);
    begin_table(json, "measures");
    for (size_t i = 0; dis_agreement_measure_get(i); i++)
        write_row(json, dis_agreement_measure_get(i)->name, "title", dis_agreement_measure_get(i)->title);
    dis__json_writer_end_array(json);
    dis__json_writer_end_object(json);
    return cli_failed(c, dis__json_writer_finish(json, DIS_OK));
}

typedef struct {
    cli_common common;
} tables_values;
static const cli_option options[] = {CLI_HELP_OPTION(tables_values)};

extern const cli_command cli_cmd_tables;
const cli_command cli_cmd_tables = {
    .name = "tables",
    .summary = "write the tables of the web page as JSON",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(tables_values),
    .run = run,
};
