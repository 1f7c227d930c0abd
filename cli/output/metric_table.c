/* Tables of figures: where they go, and a figure with its interval as text. */
#include "tool/table_writer.h"
#include "output/metric_table.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const formats[] = {"csv", "tsv", "jsonl", NULL};
enum { TEXT = 3 };

int cli_metric_table_check(cli *c, const cli_metric_table_values *v)
{
    if (v->format == TEXT && !cli_is_dash(cli_metric_table_path(v)))
        return cli_usage(c, "--format text is for standard output; leave -o out, or name csv, tsv or jsonl");
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

const char *cli_metric_table_format(const cli_metric_table_values *v)
{
    if (v->format >= 0) return formats[v->format];
    if (cli_is_dash(cli_metric_table_path(v))) return isatty(STDOUT_FILENO) && !cli_ranks_count() ? NULL : "csv";
    return ends_with(v->output, ".tsv") ? "tsv" : ends_with(v->output, ".jsonl") ? "jsonl" : "csv";
}

const char *cli_metric_table_path(const cli_metric_table_values *v)
{
    return v->output ? v->output : "-";
}

const char *cli_metric_format(const dis_metric *m, int decimals, char out[CLI_METRIC_SIZE])
{
    if (m->reason)
        snprintf(out, CLI_METRIC_SIZE, "- (%s)", m->reason);
    else if (m->has_interval)
        snprintf(out, CLI_METRIC_SIZE, "%.*f [%.*f, %.*f]", decimals, m->value, decimals, m->ci_low, decimals,
                 m->ci_high);
    else
        snprintf(out, CLI_METRIC_SIZE, "%.*f", decimals, m->value);
    return out;
}

void cli_cell_write_text(dis__table_writer *t, const char *text)
{
    if (text)
        dis__table_writer_text(t, text, strlen(text));
    else
        dis__table_writer_null(t);
}

void cli_cell_write_name(dis__table_writer *t, const dis_names *names, size_t i)
{
    size_t n;
    const char *text = dis_names_get(names, i, &n);
    dis__table_writer_text(t, text, n);
}

void cli_cell_write_metric(dis__table_writer *t, const dis_metric *m)
{
    dis__table_writer_real(t, m->reason ? (double)NAN : m->value); /* NaN is an empty cell */
    dis__table_writer_real(t, m->has_interval ? m->ci_low : (double)NAN);
    dis__table_writer_real(t, m->has_interval ? m->ci_high : (double)NAN);
}
