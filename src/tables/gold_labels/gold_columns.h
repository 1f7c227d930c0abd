/* gold_columns.h: which columns of a gold file are the task and the label. */
#ifndef DIS_TABLES_GOLD_GOLD_COLUMNS_H
#define DIS_TABLES_GOLD_GOLD_COLUMNS_H
#include "io/table_rows.h"

typedef struct {
    char *task, *label; /* for dis__table_rows_select() */
} dis__gold_columns;

/* The caller's names, else the usual ones that the file has (dis_role_find), else the standard ones. DIS_EDATA: two
 * columns could be meant. On failure there is nothing to free. */
dis_status dis__gold_columns_find(dis__table_rows *records, const char *task, const char *label,
                                  dis__gold_columns *out);
/* DIS_EDATA at the column of the label: a second label of a task. `subject`: "task"; `what`: "gold label". If the subject is
 * a task and a column names workers, the message adds that the file may hold votes. */
dis_status dis__gold_fail_duplicate(dis__table_rows *records, size_t column, const char *subject,
                                    dis__table_row_cell task, const char *what);
void dis__gold_columns_free(dis__gold_columns *columns);

#endif
