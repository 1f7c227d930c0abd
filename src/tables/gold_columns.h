/* gold_columns.h: which columns of a gold file are the task and the label. */
#ifndef DIS_TABLES_GOLD_COLUMNS_H
#define DIS_TABLES_GOLD_COLUMNS_H
#include "io/records.h"

typedef struct {
    char *task, *label; /* for dis__records_want() */
} dis__gold_columns;

/* The caller's names, else the usual ones that the file has (dis_role_find), else the standard ones. DIS_EDATA: two
 * columns could be meant. On failure there is nothing to free. */
dis_status dis__gold_columns_find(dis__records *records, const char *task, const char *label, dis__gold_columns *out);
void dis__gold_columns_free(dis__gold_columns *columns);

#endif
