/* csv.h: a strict reader of CSV and TSV, row by row.
 *
 * Fields may be quoted; within quotes separators and newlines are text and a doubled quote is one quote. A UTF-8 byte
 * order mark is skipped; lines end with LF or CRLF; the last line end may be missing. Errors, reported with
 * file:line:column, reason and remedy: a lone CR, a quote within an unquoted field, anything after a closing quote, a
 * quote that is never closed, NUL, invalid UTF-8, fields above DIS_MAX_FIELD bytes, more than DIS_MAX_COLUMNS columns,
 * rows with more or fewer fields than the header.
 *
 *     dis__csv csv;
 *     bool more;
 *     dis__csv_open(&csv, &input, ',');
 *     status = dis__csv_header(&csv);                            // if the file has one
 *     while (status == DIS_OK && (status = dis__csv_next(&csv, &more)) == DIS_OK && more)
 *         if (csv.field[0].n == 0) status = dis__csv_fail(&csv, &csv.field[0], "empty name; ...");
 *     dis__csv_close(&csv);
 *
 * Fields are valid until the next row. Lines end with LF, columns count bytes; both from 1. */
#ifndef DIS_IO_CSV_CSV_H
#define DIS_IO_CSV_CSV_H
#include "dissent/votes.h"
#include "io/input/input.h"

typedef struct {
    const char *text; /* without quotes; no NUL after it */
    size_t n;
    const char *at; /* where it begins in the input, quote included */
} dis__csv_field;

typedef struct {
    const char *path, *begin, *end;
    char separator;
    const char *row;       /* where the current row begins */
    const char *next;      /* where the next one begins */
    dis__csv_field *field; /* (n_fields) of the current row */
    size_t n_fields, capacity;
    size_t n_columns;       /* required of every row; 0: any number */
    dis__csv_field *header; /* (n_columns) after dis__csv_header(), with own copies of the texts */
    char *header_text;
    bool declared;  /* set by dis__csv_set_columns() */
    char *unquoted; /* fields that had doubled quotes */
    size_t unquoted_used, unquoted_capacity;
    const char *counted;    /* the start of the last line that was counted */
    const char *searched;   /* no line begins between `counted` and this */
    uint64_t line;          /* of `counted` */
    const char *problem_at; /* of a bad row; reading may continue at `next` */
    char problem[320];
} dis__csv;

/* Allocates nothing. The input must stay open. */
void dis__csv_open(dis__csv *csv, const dis__input *input, char separator);
void dis__csv_close(dis__csv *csv);

/* Reads the header: DIS_EDATA if the file is empty or two columns have the same name. */
dis_status dis__csv_header(dis__csv *csv);
/* Replaces a missing header: n different names, which must outlive the reader. In such files blank lines separate
 * sentences, and are skipped. */
dis_status dis__csv_set_columns(dis__csv *csv, const char *const *names, size_t n);
/* The column with this name, SIZE_MAX if there is none. */
size_t dis__csv_column(const dis__csv *csv, const char *name);
/* "a, b, c" for messages. */
void dis__csv_list_columns(const dis__csv *csv, char *out, size_t room);

/* Reads the next row into csv->field; *more is false at the end. After DIS_EDATA, reading may continue with the row
 * after the bad one. */
dis_status dis__csv_next(dis__csv *csv, bool *more);

/* DIS_EDATA with the position of a field of the current row; NULL: the row itself. */
dis_status dis__csv_fail(dis__csv *csv, const dis__csv_field *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For readers that start in the middle: parses the row at csv->next, which must not be the end. DIS_EDATA sets problem
 * and problem_at but no message, because only the caller can count lines from the start of the file. */
dis_status dis__csv_row(dis__csv *csv);
/* The position of a byte of the input, counting from where the last call ended. */
void dis__csv_position(dis__csv *csv, const char *at, uint64_t *line, uint64_t *column);

#endif
