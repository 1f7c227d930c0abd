/* figure.h: a chart with its title, what to see in it, and its numbers.
 *
 *     dis__figure f = {.id = "votes-per-item", .title = "Votes per item"};
 *     dis__markup_appendf(&f.caption, "Most items have %s votes.", ...);         plain text: escaped when it is put
 *     dis__histogram_draw(&f.chart, &h, dis__figure_name(&f, "histogram"));
 *     dis__data_table_add_column(&f.grid, ...); ...
 *     dis__figure_end(page, &f);                                       puts it and frees what it holds */
#ifndef DIS_REPORT_FIGURE_H
#define DIS_REPORT_FIGURE_H
#include "report/charts/chart.h"
#include "report/page/data_table.h"

typedef struct {
    const char *id;       /* ours: anchor and name of the CSV file */
    const char *title;    /* ours: in the table of contents */
    const char *question; /* program text: the question answered by the figure, as its heading; NULL: the title is the
                           * heading */
    bool wide;            /* takes the whole width */
    bool open;            /* the table is shown immediately, without a click */
    const char *note;     /* below the table; ours; NULL: none */
    dis__markup caption, chart, name;
    dis__data_table table;
} dis__figure;

/* Title, kind of chart and caption as one plain text: the accessible name. Valid until the next call or the end. */
const dis__markup *dis__figure_name(dis__figure *f, const char *kind);
void dis__figure_end(dis__markup *page, dis__figure *f);
/* For a figure that is not added to a page. */
void dis__figure_free(dis__figure *f);

#endif
