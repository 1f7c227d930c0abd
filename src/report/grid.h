/* grid.h: the numbers behind a chart: one table, shown as HTML that sorts and filters, and offered as CSV.
 *
 * Cells are given from left to right; the row ends by itself behind the last column. As with markup, failures are kept
 * in the grid's own status until it is written. Names are cut for display, and in the CSV to DIS__GRID_NAME bytes:
 * an id of 64 kB would otherwise be there a few hundred times. */
#ifndef DIS_REPORT_GRID_H
#define DIS_REPORT_GRID_H
#include "dissent/metric.h"
#include "report/markup.h"

enum {
    DIS__GRID_COLUMNS = 80,
    DIS__GRID_NAME = 256,
    DIS__GRID_SHOWN = 40,
    DIS__GRID_WORDS = 120,
    DIS__GRID_SAID = 4000
};

typedef enum {
    DIS__TEXT,  /* hostile text */
    DIS__LONG,  /* the same, shown whole as far as it was kept */
    DIS__SAID,  /* what an item says: DIS__GRID_WORDS characters, the rest behind a click */
    DIS__COUNT, /* a whole number */
    DIS__REAL,  /* a number, with as many digits as its column needs */
    DIS__SHARE, /* shown as a percentage */
    DIS__NOTED, /* a number with a note of ours below it */
} dis__cell_kind;

typedef struct {
    const char *head; /* ours, or a user's text when head_is_name */
    dis__cell_kind kind;
    bool head_is_name;
    bool csv_only; /* not in the table on the page */
    bool keep;     /* in the table even when all its cells are alike */
} dis__column;

typedef struct {
    double x; /* NaN: nothing here */
    size_t first, n;
} dis__grid_cell;

typedef struct {
    dis__column column[DIS__GRID_COLUMNS];
    size_t n_columns;
    dis__grid_cell *cell; /* row after row */
    size_t n_cells, capacity;
    dis__markup texts;
    dis_status status;
} dis__grid;

void dis__grid_column(dis__grid *g, const char *head, dis__cell_kind kind);
/* A column named after a class or a view. */
void dis__grid_column_named(dis__grid *g, const char *name, dis__cell_kind kind);
/* Leaves the last column to the CSV. */
void dis__grid_csv_only(dis__grid *g);
/* Shows the last column even when all its cells are alike. */
void dis__grid_keep(dis__grid *g);
void dis__grid_text(dis__grid *g, const char *text, size_t n);
void dis__grid_ours(dis__grid *g, const char *text);
void dis__grid_number(dis__grid *g, double x);
/* Three cells: the value and the ends of its interval, empty where there is none. */
void dis__grid_metric(dis__grid *g, const dis_metric *m);
/* For DIS__NOTED; the CSV has the number alone. */
void dis__grid_noted(dis__grid *g, double x, const char *note);
void dis__grid_free(dis__grid *g);
size_t dis__grid_rows(const dis__grid *g);

/* The table as HTML; `caption` names it for those who cannot see it. Columns without a single value are left out, and
 * those (not the first) whose cells are all alike are said in one line above the table; the CSV has them all. */
void dis__grid_html(dis__markup *m, const dis__grid *g, const char *caption);
/* href="data:text/csv,..." content: safe within double quotes. A text cell that a spreadsheet would take for a formula
 * gets an apostrophe in front. */
void dis__grid_data_uri(dis__markup *m, const dis__grid *g);

#endif
