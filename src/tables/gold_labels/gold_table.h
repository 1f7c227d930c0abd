/* gold_table.h: the struct of gold labels, for code that matches them with items. */
#ifndef DIS_TABLES_GOLD_GOLD_TABLE_H
#define DIS_TABLES_GOLD_GOLD_TABLE_H
#include "dissent/align.h"
#include "dissent/votes.h"

struct dis_gold {
    char *path;
    size_t n;
    int32_t *label;
    uint64_t *row; /* (n) which row of the file, header apart, from 1 */
    dis_names *tasks, *classes;
};

/* Where gold labels, or any other column that says something of tasks, come from. */
typedef struct {
    const char *path, *format; /* format NULL: by the name */
    const char *task, *label;  /* columns; NULL: by their usual names */
    const char *const *header; /* names of the columns of a file that lacks them */
    size_t n_header;
    const char *subject, *what; /* what messages call the two columns; NULL: task, and gold label */
    bool numbered;              /* tasks are the numbers of the rows from 0 */
    bool skip_empty;            /* rows without a label are passed over */
    const char *prefix;         /* put before every task; NULL: nothing */
    const dis_drop_rule *where; /* only rows whose columns hold these values */
    size_t n_where;
    const dis_drop_rule *leave_out; /* no rows whose columns hold one of these values */
    size_t n_leave_out;
    const char *const *from, *const *to; /* other names for labels; a label that is not among them is an error */
    size_t n_map;
    bool fold_case, trim; /* of labels (votes/table/class_names.h) */
    bool options;         /* the caller may name the columns by options */
} dis__gold_source;

/* One table from all sources together. */
dis_status dis__gold_table_read(dis_context *ctx, const dis__gold_source *sources, size_t n, dis_gold **out);

#endif
