/* Rows of results as tables and as JSON, from one list of fields: see result_rows.h. */
#include "tool/json_writer.h"
#include "tool/table_writer.h"
#include "output/result_rows.h"
#include "output/json_summary.h"
#include <math.h>
#include <stdio.h>

enum { NAME = 48 };

dis_status cli_rows_open(const cli_rows *rows, const char *path, const char *format, dis__table_writer **table)
{
    static const char *const ends[] = {"", "_ci_low", "_ci_high"};
    char name[3 * CLI_MAX_FIELDS][NAME];
    const char *columns[3 * CLI_MAX_FIELDS];
    size_t n = 0;
    for (size_t f = 0; f < rows->n_fields; f++)
        for (size_t e = 0; e < (rows->field[f].kind == CLI_FIELD_METRIC ? 3u : 1u); e++) {
            snprintf(name[n], NAME, "%s%s", rows->field[f].name, ends[e]);
            columns[n] = name[n];
            n++;
        }
    return dis__table_writer_create(path, format, columns, n, table);
}

/* One field of one row. */
typedef struct {
    const cli_field *field;
    const char *at, *known;
    const char *text;
} cell;

static cell cell_of(const cli_rows *rows, size_t i, size_t f)
{
    const cli_field *field = &rows->field[f];
    const char *row = (const char *)rows->row + i * rows->row_size;
    return (cell){.field = field,
                  .at = row + field->offset,
                  .known = field->known ? row + field->known : NULL,
                  .text = field->kind == CLI_FIELD_NAME ? rows->text(rows->user, field, i) : NULL};
}

static bool is_known(const cell *c)
{
    return !c->known || *(const uint64_t *)(const void *)c->known != 0;
}

static void add_cell(dis__table_writer *t, const cell *c)
{
    const void *at = c->at;
    switch (c->field->kind) {
    case CLI_FIELD_NAME: cli_cell_write_text(t, c->text); break;
    case CLI_FIELD_COUNT: dis__table_writer_count(t, *(const uint64_t *)at); break;
    case CLI_FIELD_SMALL: dis__table_writer_count(t, *(const uint32_t *)at); break;
    case CLI_FIELD_ORDINAL: dis__table_writer_count(t, *(const uint32_t *)at + 1u); break;
    case CLI_FIELD_REAL: dis__table_writer_real(t, *(const double *)at); break;
    case CLI_FIELD_METRIC: cli_cell_write_metric(t, at); break;
    case CLI_FIELD_BOOL: cli_cell_write_text(t, !is_known(c) ? NULL : *(const bool *)at ? "true" : "false"); break;
    }
}

void cli_rows_add(const cli_rows *rows, dis__table_writer *table)
{
    for (size_t i = 0; i < rows->n_rows; i++)
        for (size_t f = 0; f < rows->n_fields; f++) {
            const cell c = cell_of(rows, i, f);
            add_cell(table, &c);
        }
}

dis_status cli_rows_write(const cli_rows *rows, const char *path, const char *format)
{
    dis__table_writer *t;
    const dis_status status = cli_rows_open(rows, path, format, &t);
    if (status != DIS_OK) return status;
    cli_rows_add(rows, t);
    return dis__table_writer_finish(t, DIS_OK);
}

static void put_value(dis__json_writer *j, const cell *c)
{
    const void *at = c->at;
    const char *key = c->field->name;
    switch (c->field->kind) {
    case CLI_FIELD_NAME: cli_json_write_text(j, key, c->text); break;
    case CLI_FIELD_COUNT: cli_json_write_count(j, key, *(const uint64_t *)at); break;
    case CLI_FIELD_SMALL: cli_json_write_count(j, key, *(const uint32_t *)at); break;
    case CLI_FIELD_ORDINAL: cli_json_write_count(j, key, *(const uint32_t *)at + 1u); break;
    case CLI_FIELD_REAL: cli_json_write_real(j, key, *(const double *)at); break;
    case CLI_FIELD_METRIC:
        dis__json_writer_key(j, key);
        dis__json_writer_metric(j, at);
        break;
    case CLI_FIELD_BOOL:
        dis__json_writer_key(j, key);
        if (is_known(c))
            dis__json_writer_bool(j, *(const bool *)at);
        else
            dis__json_writer_null(j);
        break;
    }
}

void cli_rows_write_json(const cli_rows *rows, dis__json_writer *j, const char *key)
{
    dis__json_writer_key(j, key);
    dis__json_writer_begin_array(j);
    for (size_t i = 0; i < rows->n_rows; i++) {
        dis__json_writer_begin_object(j);
        for (size_t f = 0; f < rows->n_fields; f++) {
            const cell c = cell_of(rows, i, f);
            put_value(j, &c);
        }
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

void cli_metric_print(const dis_metric *m, int width)
{
    char text[CLI_METRIC_SIZE];
    if (m->reason)
        snprintf(text, sizeof text, "-");
    else
        cli_metric_format(m, 3, text);
    printf("%-*s", width, text);
}

void cli_p_value_print(double p, const char *after)
{
    if (isnan(p))
        printf("-%s", after);
    else
        printf("%.3f%s", p, after);
}
