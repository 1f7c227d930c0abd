/* scaled_tables.h: what the figures of scales with own labels share (section_scaled.c). */
#ifndef DIS_REPORT_SCALED_TABLES_H
#define DIS_REPORT_SCALED_TABLES_H
#include "report/report_internal.h"

/* A column of a table by its name; NULL: missing. */
const dis_scaled_column *dis__scaled_column(const dis_scaled_table *table, const char *name);
/* Row i of a column of texts. */
const char *dis__scaled_name(const dis_scaled_column *column, size_t i);

/* figure_wins.c: comparisons */
void dis__figure_wins(dis__report_job *job);
void dis__report_add_winner(dis__report_job *job);
/* figure_span_texts.c: spans in the texts */
dis_status dis__figure_span_texts(dis__report_job *job);

#endif
