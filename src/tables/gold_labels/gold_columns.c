/* Columns of gold files: see gold_columns.h. */
#include "tables/gold_labels/gold_columns.h"
#include "core/memory/memory.h"
#include <stdio.h>
#include <string.h>

enum { MAX_COLUMNS = 256 };

static dis_status fail_ambiguous(const dis__table_rows *r, const char *role, const dis_column_name *a,
                                 const dis_column_name *b)
{
    return dis__fail_at(DIS_EDATA, r->in.path, 1, 0,
                        "two columns could be the %s: \"%.*s\" and \"%.*s\"; name the columns of this file with "
                        "`dis_gold_options`",
                        role, a->n > 100 ? 100 : (int)a->n, a->text, b->n > 100 ? 100 : (int)b->n, b->text);
}

static dis_status find_column(dis__table_rows *r, dis_role role, const char *standard, const char *given, char **out)
{
    dis_column_name names[MAX_COLUMNS];
    size_t n, found[2];
    if (given) return dis__copy_text(out, given, strlen(given));
    dis_status status = dis__table_rows_names(r, names, MAX_COLUMNS, &n);
    if (status == DIS_EDATA) n = 0; /* the reader will report it */
    if (status != DIS_EDATA) DIS_TRY(status);
    const size_t n_found = dis_role_find(role, names, n, found);
    if (n_found == 2)
        return fail_ambiguous(r, role == DIS_ROLE_TASK ? "task" : "gold label", &names[found[0]], &names[found[1]]);
    if (n_found == 0) return dis__copy_text(out, standard, strlen(standard));
    return dis__copy_text(out, names[found[0]].text, names[found[0]].n);
}

dis_status dis__gold_columns_find(dis__table_rows *r, const char *task, const char *label, dis__gold_columns *out)
{
    *out = (dis__gold_columns){0};
    dis_status status = find_column(r, DIS_ROLE_TASK, "task", task, &out->task);
    if (status == DIS_OK) status = find_column(r, DIS_ROLE_GOLD, "label", label, &out->label);
    if (status != DIS_OK) dis__gold_columns_free(out);
    return status;
}

dis_status dis__gold_fail_duplicate(dis__table_rows *r, size_t column, const char *subject, dis__table_row_cell task,
                                    const char *what)
{
    dis_column_name names[MAX_COLUMNS];
    size_t n, found[2];
    const dis_status status = dis__table_rows_fail(r, column, "%s \"%.*s\" has two %ss; keep one", subject,
                                                   task.n > 200 ? 200 : (int)task.n, task.text, what);
    char message[DIS_MESSAGE];
    snprintf(message, sizeof message, "%s", dis_last_error());
    if (strcmp(subject, "task") == 0 && dis__table_rows_names(r, names, MAX_COLUMNS, &n) == DIS_OK &&
        dis_role_find(DIS_ROLE_WORKER, names, n, found) > 0)
        return dis__fail(DIS_EDATA, "%s; a column \"%.*s\" names workers: this may be a file of votes instead of %ss",
                         message, names[found[0]].n > 100 ? 100 : (int)names[found[0]].n, names[found[0]].text, what);
    dis__set_error(message);
    return status;
}

void dis__gold_columns_free(dis__gold_columns *c)
{
    dis__free(c->task);
    dis__free(c->label);
    *c = (dis__gold_columns){0};
}
