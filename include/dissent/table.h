/* table.h: writes a table of texts and numbers, one row per line, as CSV, TSV or JSONL: worker tables, metrics.
 *
 *     const char *columns[] = {"worker", "votes", "quality"};
 *     dis_table *table;
 *     if (dis_table_open("workers.csv", NULL, columns, 3, &table) == DIS_OK) {
 *         dis_table_text(table, "ann", 3);
 *         dis_table_count(table, 20);
 *         dis_table_real(table, .85);
 *         if (dis_table_finish(table, DIS_OK) != DIS_OK) fprintf(stderr, "%s\n", dis_last_error());
 *     }
 *
 * Cells are given from left to right; the row ends by itself behind the last column. Calls in between cannot fail by
 * themselves: the first failure comes back from dis_table_finish. Numbers are in the shortest form that reads back
 * equal; infinite ones are inf (in JSONL the string), NaN is an empty cell (null). The file appears whole or not at
 * all. */
#ifndef DIS_TABLE_H
#define DIS_TABLE_H
#include "dissent/status.h"

typedef struct dis_table dis_table;

/* `format`: "csv", "tsv", "jsonl"; NULL: by the file's name, csv when that says nothing. "-": standard output. The
 * columns are copied. DIS_EUSAGE: another format. DIS_EIO, DIS_ELIMIT. */
DIS_API dis_status dis_table_open(const char *path, const char *format, const char *const *columns, size_t n_columns,
                                  dis_table **out);
DIS_API void dis_table_text(dis_table *table, const char *text, size_t n);
DIS_API void dis_table_real(dis_table *table, double x);
DIS_API void dis_table_count(dis_table *table, uint64_t x);
/* An empty cell; null in JSONL. */
DIS_API void dis_table_nothing(dis_table *table);
/* Rows so far leave the process, for a pipe that is read as they come. A failure comes back here and in the end. */
DIS_API dis_status dis_table_flush(dis_table *table);
/* Ends and frees the table; as dis_json_finish. */
DIS_API dis_status dis_table_finish(dis_table *table, dis_status so_far);

#endif
