/* Tables of rows: cells are collected in one buffer, which is written at the end of each row. */
#include "tool/table_writer.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "io/files/file_format.h"
#include "io/output/output_file.h"
#include "io/output/format_fields.h"
#include <string.h>

struct dis__table_writer {
    dis__out *out;
    dis__first_error failed;
    char delimiter; /* '\0': JSONL */
    size_t n_columns, column;
    char *row; /* the row so far */
    size_t used, capacity;
    char **keys; /* (n_columns) JSONL: "name": formatted for use before a value */
};

/* Room for a cell of at most n bytes, after its separator. NULL after a failure. */
static char *cell(dis__table_writer *table, size_t n)
{
    const char *key = table->delimiter ? "" : table->keys[table->column];
    const size_t n_key = strlen(key);
    if (table->failed.status == DIS_OK)
        dis__first_error_record(&table->failed, dis__reserve(&table->row, &table->capacity, table->used,
                                                             dis__saturating_size(n, 1, table->used + n_key + 8), 1));
    if (table->failed.status != DIS_OK) return NULL;
    char *at = table->row + table->used;
    if (!table->delimiter)
        *at++ = table->column ? ',' : '{';
    else if (table->column)
        *at++ = table->delimiter;
    memcpy(at, key, n_key);
    return at + n_key;
}

static void end_cell(dis__table_writer *table, char *at)
{
    if (++table->column == table->n_columns) {
        if (!table->delimiter) *at++ = '}';
        *at++ = '\n';
        dis__first_error_record(&table->failed, dis__out_write(table->out, table->row, (size_t)(at - table->row)));
        table->column = 0;
        at = table->row;
    }
    table->used = (size_t)(at - table->row);
}

static void destroy(dis__table_writer *table)
{
    for (size_t c = 0; table->keys && c < table->n_columns; c++) dis__free(table->keys[c]);
    dis__free(table->keys);
    dis__free(table->row);
    dis__free(table);
}

static dis_status prepare(dis__table_writer *table, const char *path, const char *format, const char *const *columns)
{
    const char *name;
    DIS_TRY(dis__output_file_format(format, path, "csv|tsv|jsonl", &name));
    table->delimiter = strcmp(name, "csv") == 0 ? ',' : strcmp(name, "tsv") == 0 ? '\t' : '\0';
    if (!table->delimiter) {
        DIS_TRY(dis__alloc_zeroed(&table->keys, table->n_columns, sizeof *table->keys));
        for (size_t c = 0; c < table->n_columns; c++) {
            const size_t n = strlen(columns[c]);
            DIS_TRY(dis__alloc_array(&table->keys[c], dis__saturating_size(n, 6, 4), 1));
            char *end = dis__format_json_string(table->keys[c], columns[c], n);
            memcpy(end, ":", 2);
        }
    }
    DIS_TRY(dis__out_open(path, &table->out));
    for (size_t c = 0; table->delimiter && c < table->n_columns; c++)
        dis__table_writer_text(table, columns[c], strlen(columns[c]));
    return table->failed.status;
}

dis_status dis__table_writer_create(const char *path, const char *format, const char *const *columns, size_t n_columns,
                                    dis__table_writer **out)
{
    if (n_columns == 0) return dis__fail(DIS_EUSAGE, "a table without columns");
    dis__table_writer *table;
    DIS_TRY(dis__alloc_zeroed(&table, 1, sizeof *table));
    table->n_columns = n_columns;
    const dis_status status = prepare(table, path, format, columns);
    if (status != DIS_OK) {
        if (table->out) (void)dis__out_finish(table->out, status);
        destroy(table);
        return status;
    }
    *out = table;
    return DIS_OK;
}

void dis__table_writer_text(dis__table_writer *table, const char *text, size_t n)
{
    char *at = cell(table, dis__saturating_size(n, 6, 2));
    if (!at) return;
    end_cell(table, table->delimiter ? dis__format_csv_field(at, text, n, table->delimiter)
                                     : dis__format_json_string(at, text, n));
}

void dis__table_writer_message(dis__table_writer *table, const char *role, const char *text, size_t n)
{
    static const char begin[] = "[{\"role\":\"", middle[] = "\",\"content\":", end[] = "}]";
    const size_t n_role = strlen(role);
    char *at = cell(table, dis__saturating_size(n, 6, n_role + sizeof begin + sizeof middle + sizeof end));
    if (!at) return;
    memcpy(at, begin, sizeof begin - 1), at += sizeof begin - 1;
    memcpy(at, role, n_role), at += n_role;
    memcpy(at, middle, sizeof middle - 1), at += sizeof middle - 1;
    at = dis__format_json_string(at, text, n);
    memcpy(at, end, sizeof end - 1);
    end_cell(table, at + sizeof end - 1);
}

void dis__table_writer_real(dis__table_writer *table, double x)
{
    char *at = cell(table, DIS_REAL_TEXT);
    if (at) end_cell(table, table->delimiter ? dis__format_csv_real(at, x) : dis__format_json_real(at, x));
}

void dis__table_writer_count(dis__table_writer *table, uint64_t x)
{
    char *at = cell(table, 20);
    if (at) end_cell(table, dis__format_count(at, x));
}

void dis__table_writer_null(dis__table_writer *table)
{
    char *at = cell(table, 4);
    if (!at) return;
    if (!table->delimiter) memcpy(at, "null", 4);
    end_cell(table, table->delimiter ? at : at + 4);
}

dis_status dis__table_writer_flush(dis__table_writer *table)
{
    if (table->failed.status == DIS_OK) dis__first_error_record(&table->failed, dis__out_flush(table->out));
    return dis__first_error_restore(&table->failed);
}

dis_status dis__table_writer_finish(dis__table_writer *table, dis_status so_far)
{
    if (so_far == DIS_OK) {
        if (table->column)
            dis__first_error_record(&table->failed, dis__fail(DIS_EBUG, "a table ends in the middle of a row"));
        so_far = dis__first_error_restore(&table->failed);
    }
    const dis_status status = dis__out_finish(table->out, so_far);
    destroy(table);
    return status;
}
