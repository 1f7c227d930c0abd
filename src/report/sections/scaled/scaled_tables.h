/* scaled_tables.h: what the figures of scales with own labels share (section_scaled.c). */
#ifndef DIS_REPORT_SCALED_TABLES_H
#define DIS_REPORT_SCALED_TABLES_H
#include "report/report_internal.h"

/* A column of a table by its name; NULL: missing. */
const dis_scaled_column *dis__scaled_column(const dis_scaled_table *table, const char *name);
/* Row i of a column of texts. */
const char *dis__scaled_name(const dis_scaled_column *column, size_t i);

/* The item of the votes that a task of a table stands for; SIZE_MAX: none. */
size_t dis__scaled_item_of_task(const dis_report *r, const char *task);
/* figure_scaled_labels.c: the biases of annotators who give numbers, with the table of workers */
void dis__figure_biases(dis__report_job *job, const dis_scaled_table *workers);

/* figure_wins.c: comparisons */
void dis__figure_wins(dis__report_job *job);
void dis__report_add_winner(dis__report_job *job);
/* figure_span_texts.c: spans in the texts */
dis_status dis__figure_span_texts(dis__report_job *job);

#endif
