/* table_writer.h: writes a table of texts and numbers, one row per line, as CSV, TSV or JSONL: worker tables, metrics.
 *
 *     const char *columns[] = {"worker", "votes", "quality"};
 *     dis__table_writer *table;
 *     if (dis__table_writer_create("workers.csv", NULL, columns, 3, &table) == DIS_OK) {
 *         dis__table_writer_text(table, "ann", 3);
 *         dis__table_writer_count(table, 20);
 *         dis__table_writer_real(table, .85);
 *         if (dis__table_writer_finish(table, DIS_OK) != DIS_OK) fprintf(stderr, "%s\n", dis_last_error());
 *     }
 *
 * Cells are given from left to right; the row ends after the last column. Calls in between cannot fail by
 * themselves: the first failure comes back from dis__table_writer_finish. Numbers are in the shortest form that reads back
 * equal; infinite ones are inf (in JSONL the string), NaN is an empty cell (null). The file appears whole or not at
 * all. */
#ifndef DIS_TOOL_TABLE_WRITER_H
#define DIS_TOOL_TABLE_WRITER_H
#include "dissent/status.h"

typedef struct dis__table_writer dis__table_writer;

/* `format`: "csv", "tsv", "jsonl"; NULL: by the file's name, csv when that says nothing. "-": standard output. The
 * columns are copied. DIS_EUSAGE: another format. DIS_EIO, DIS_ELIMIT. */
dis_status dis__table_writer_create(const char *path, const char *format, const char *const *columns, size_t n_columns,
                                    dis__table_writer **out);
void dis__table_writer_text(dis__table_writer *table, const char *text, size_t n);
/* A list of one message, {"role": role, "content": text}; of JSONL only. */
void dis__table_writer_message(dis__table_writer *table, const char *role, const char *text, size_t n);
void dis__table_writer_real(dis__table_writer *table, double x);
void dis__table_writer_count(dis__table_writer *table, uint64_t x);
/* An empty cell; null in JSONL. */
void dis__table_writer_null(dis__table_writer *table);
/* Flushes the rows so far, for a pipe that is read at once. A failure is returned here and at the end. */
dis_status dis__table_writer_flush(dis__table_writer *table);
/* Ends and frees the table; as dis__json_writer_finish. */
dis_status dis__table_writer_finish(dis__table_writer *table, dis_status so_far);

#endif
