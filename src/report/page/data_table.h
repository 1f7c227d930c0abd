/* data_table.h: the values of a chart: one table, shown as HTML that sorts and filters, and offered as CSV.
 *
 * Cells are given from left to right; the row ends after the last column. As with markup, failures are kept in the
 * grid's own status until it is written. Names are cut for display, and in the CSV to DIS__DATA_TABLE_NAME bytes: an id
 * of 64 kB would otherwise be there a few hundred times. */
#ifndef DIS_REPORT_DATA_TABLE_H
#define DIS_REPORT_DATA_TABLE_H
#include "dissent/metric.h"
#include "report/markup.h"

enum {
    DIS__DATA_TABLE_COLUMNS = 80,
    DIS__DATA_TABLE_NAME = 256,
    DIS__DATA_TABLE_SHOWN = 40,
    DIS__DATA_TABLE_PREVIEW = 120,
    DIS__DATA_TABLE_TEXT = 4000
};

typedef enum {
    DIS__CELL_TEXT,      /* hostile text */
    DIS__CELL_LONG_TEXT, /* the same, shown in full as far as it was stored */
    DIS__CELL_ITEM_TEXT, /* an item's text: DIS__DATA_TABLE_PREVIEW characters; a click shows the rest */
    DIS__CELL_COUNT,     /* an integer */
    DIS__CELL_REAL,      /* a number, with the digits that its column needs */
    DIS__CELL_PERCENT,   /* shown as a percentage */
    DIS__CELL_NOTED,     /* a number with a note (program text) below it */
} dis__data_table_kind;

typedef struct {
    const char *head; /* program text, or user text if head_is_name */
    dis__data_table_kind kind;
    bool head_is_name;
    bool csv_only; /* not in the table on the page */
    bool keep;     /* in the table even if all its cells are equal */
} dis__data_table_column;

typedef struct {
    double x; /* NaN: no value */
    size_t first, n;
} dis__data_table_cell;

typedef struct {
    dis__data_table_column column[DIS__DATA_TABLE_COLUMNS];
    size_t n_columns;
    dis__data_table_cell *cell; /* row after row */
    size_t n_cells, capacity;
    dis__markup texts;
    dis_status status;
} dis__data_table;

void dis__data_table_add_column(dis__data_table *g, const char *head, dis__data_table_kind kind);
/* A column named after a class or a view. */
void dis__data_table_add_named_column(dis__data_table *g, const char *name, dis__data_table_kind kind);
/* Leaves the last column to the CSV. */
void dis__data_table_set_csv_only(dis__data_table *g);
/* Shows the last column even if all its cells are equal. */
void dis__data_table_set_always_shown(dis__data_table *g);
void dis__data_table_add_text(dis__data_table *g, const char *text, size_t n);
void dis__data_table_add_static_text(dis__data_table *g, const char *text);
void dis__data_table_add_number(dis__data_table *g, double x);
/* Three cells: the value and the ends of its interval, empty where there is none. */
void dis__data_table_add_metric(dis__data_table *g, const dis_metric *m);
/* For DIS__CELL_NOTED; the CSV has the number only. */
void dis__data_table_add_noted(dis__data_table *g, double x, const char *note);
void dis__data_table_free(dis__data_table *g);
size_t dis__data_table_count_rows(const dis__data_table *g);

/* The table as HTML; `caption` names it for those who cannot see it. Columns without a single value are left out, and
 * those (not the first) whose cells are all alike are said in one line above the table; the CSV has them all. */
void dis__data_table_format_html(dis__markup *m, const dis__data_table *g, const char *caption);
/* href="data:text/csv,..." content: safe within double quotes. A text cell that a spreadsheet would take for a formula
 * gets an apostrophe in front. */
void dis__data_table_format_data_uri(dis__markup *m, const dis__data_table *g);

#endif
