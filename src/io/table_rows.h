/* table_rows.h: rows of named texts from CSV, TSV or JSON Lines: for readers of a few columns of a table of moderate
 * size. (Votes have a separate, faster reader.)
 *
 *     static const char *const names[] = {"task", "label"};
 *     dis__table_rows r;
 *     bool more;
 *     DIS_TRY(dis__table_rows_open(ctx, path, NULL, &r));
 *     dis_status status = dis__table_rows_select(&r, names, 2);
 *     while (status == DIS_OK && (status = dis__table_rows_next(&r, &more)) == DIS_OK && more)
 *         if (r.cell[1].n == 0) status = dis__table_rows_fail(&r, 1, "empty label; ...");
 *     return dis__table_rows_finish(&r, status);
 *
 * A name may list alternatives, "label|gold": the first one present is used. In JSON a cell is a text, or a number or
 * boolean as written; lists, objects and null are errors. Cells are valid until the next row. */
#ifndef DIS_IO_TABLE_ROWS_H
#define DIS_IO_TABLE_ROWS_H
#include "io/csv/csv.h"
#include "io/json/json_read.h"

typedef struct {
    const char *text;
    size_t n;
} dis__table_row_cell;

typedef struct {
    dis__input in;
    const char *format;
    dis__table_row_cell *cell; /* (n_wanted) of the current row */
    uint64_t n_rows;           /* read so far */
    const char *hint;          /* "; ...": the remedy for a missing column; NULL: none */
    /* internal state of the reader */
    const char *const *selected;
    size_t n_selected;
    size_t *column; /* (n_wanted) of CSV */
    dis__csv csv;
    dis__json json;
    const dis__json_value *root, **value; /* (n_wanted) of JSON */
    const char *next;
    uint64_t line;
} dis__table_rows;

/* `format`: "csv", "tsv", "jsonl"; NULL: by the file's name, csv if its extension is unknown. `path` must outlive the
 * reader. DIS_EUSAGE, DIS_EIO, DIS_EDATA; on failure there is nothing to close. */
dis_status dis__table_rows_open(dis_context *ctx, const char *path, const char *format, dis__table_rows *r);
/* The same for a CSV or TSV file without a header: `names` of its columns, which must outlive the reader. n 0: it has
 * one. */
dis_status dis__table_rows_open_headerless(dis_context *ctx, const char *path, const char *format,
                                           const char *const *names, size_t n, dis__table_rows *r);
/* Closes; returns `so_far`, or DIS_EIO if the file changed while it was being read. */
dis_status dis__table_rows_finish(dis__table_rows *r, dis_status so_far);

/* The columns that rows return, by name and in that order; the texts must outlive the reader. CSV: DIS_EDATA if one is
 * missing, with the existing ones. May be called once, before the first row. */
dis_status dis__table_rows_select(dis__table_rows *r, const char *const *names, size_t n);
/* The names of the columns, or the keys of the first row of JSON Lines, at most `room`. They are valid until the next
 * row of JSON Lines is read. */
dis_status dis__table_rows_names(dis__table_rows *r, dis_column_name *out, size_t room, size_t *n);
/* The names of all columns of CSV and TSV; 0 for JSON Lines, in which every line has its own keys. */
size_t dis__table_rows_n_columns(const dis__table_rows *r);
dis__table_row_cell dis__table_rows_column(const dis__table_rows *r, size_t i);

dis_status dis__table_rows_next(dis__table_rows *r, bool *more);
/* The start of the current row. */
uint64_t dis__table_rows_line(dis__table_rows *r);
/* DIS_EDATA with the position of cell i of the current row. */
dis_status dis__table_rows_fail(dis__table_rows *r, size_t i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
