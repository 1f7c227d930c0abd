/* golden_csv.h: small reader of reference files for tests: a header, a name in the first column, numbers in the others.
 */
#ifndef DIS_SUPPORT_GOLDEN_CSV_H
#define DIS_SUPPORT_GOLDEN_CSV_H
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t n_rows, n_columns;
    char column[16][64]; /* names of the columns after the first */
    char (*name)[64];    /* (n_rows) */
    double *value;       /* (n_rows, n_columns) */
} golden_csv;

/* Where reference data lie: $DISSENT_SHARED, else beside the source tree. */
static inline const char *golden_path(const char *file)
{
    static char path[1024];
    const char *root = getenv("DISSENT_SHARED");
    snprintf(path, sizeof path, "%s/%s", root ? root : DIS_SOURCE_DIR "/../shared", file);
    return path;
}

/* False when the file is not there. */
static inline int golden_read(const char *file, golden_csv *t)
{
    FILE *f = fopen(golden_path(file), "r");
    if (!f) return 0;
    char line[4096];
    size_t room = 0;
    *t = (golden_csv){0};
    for (int row = 0; fgets(line, sizeof line, f); row++) {
        line[strcspn(line, "\r\n")] = 0;
        char *rest = line, *cell = strsep(&rest, ",");
        if (row && t->n_rows == room) {
            room = room ? 2 * room : 1024;
            t->name = realloc(t->name, room * sizeof *t->name);
            t->value = realloc(t->value, room * sizeof *t->value * t->n_columns);
        }
        if (row) snprintf(t->name[t->n_rows], sizeof *t->name, "%s", cell);
        for (size_t k = 0; (cell = strsep(&rest, ",")); k++) {
            if (row)
                t->value[t->n_rows * t->n_columns + k] = strtod(cell, NULL);
            else
                snprintf(t->column[t->n_columns++], sizeof *t->column, "%s", cell);
        }
        t->n_rows += row > 0;
    }
    fclose(f);
    return 1;
}

static inline size_t golden_row(const golden_csv *t, const char *name)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (strcmp(t->name[i], name) == 0) return i;
    return SIZE_MAX;
}

static inline size_t golden_column(const golden_csv *t, const char *name)
{
    for (size_t k = 0; k < t->n_columns; k++)
        if (strcmp(t->column[k], name) == 0) return k;
    return SIZE_MAX;
}

static inline void golden_free(golden_csv *t)
{
    free(t->name);
    free(t->value);
}

#endif
