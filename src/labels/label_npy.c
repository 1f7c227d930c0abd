/* Labels as three files: NAME.npy (n x K float64), NAME.tasks.txt and NAME.classes.txt, one name a line, in the order
 * of rows and columns. All three are on the disk before the first is put in place, the array last: who finds a new
 * array finds its names. */
#include "labels/label_files.h"
#include "labels/label_table.h"
#include "core/memory.h"
#include "core/names_build.h"
#include "io/npy.h"
#include "io/outfile.h"
#include <string.h>
#include <strings.h>

static const char *const suffixes[] = {".tasks.txt", ".classes.txt"};

/* NAME.npy to NAME.tasks.txt and the like. */
static dis_status beside(const char *path, const char *suffix, char **out)
{
    size_t n = strlen(path);
    if (n > 4 && strcasecmp(path + n - 4, ".npy") == 0) n -= 4;
    char *name;
    DIS_TRY(dis__alloc_array(&name, n + strlen(suffix) + 1, 1));
    memcpy(name, path, n);
    strcpy(name + n, suffix);
    *out = name;
    return DIS_OK;
}

static dis_status check_names(const dis_names *names, const char *what)
{
    for (size_t i = 0; i < dis_names_count(names); i++) {
        size_t n;
        const char *name = dis_names_get(names, i, &n);
        if (memchr(name, '\n', n) || memchr(name, '\r', n))
            return dis__fail(
                DIS_EDATA,
                "the name of a %s holds a line break (\"%.100s\"), so it cannot stand in the list beside an npy file; "
                "write csv or jsonl instead",
                what, name);
    }
    return DIS_OK;
}

static dis_status write_names(dis__out *out, const dis_names *names)
{
    for (size_t i = 0; i < dis_names_count(names); i++) {
        size_t n;
        const char *name = dis_names_get(names, i, &n);
        DIS_TRY(dis__out_write(out, name, n));
        DIS_TRY(dis__out_write(out, "\n", 1));
    }
    return DIS_OK;
}

dis_status dis__labels_write_npy(const dis_labels_view *labels, const char *path)
{
    if (strcmp(path, "-") == 0)
        return dis__fail(
            DIS_EUSAGE,
            "npy comes with lists of tasks and classes beside it and cannot go to standard output; name a file");
    DIS_TRY(check_names(labels->tasks, "task"));
    DIS_TRY(check_names(labels->classes, "class"));
    const dis_names *const names[] = {labels->tasks, labels->classes};
    dis__out *outs[3] = {NULL, NULL, NULL};
    dis_status status = DIS_OK;
    for (size_t i = 0; i < 2 && status == DIS_OK; i++) {
        char *name = NULL;
        status = beside(path, suffixes[i], &name);
        if (status == DIS_OK) status = dis__out_open(name, &outs[i]);
        if (status == DIS_OK) status = write_names(outs[i], names[i]);
        dis__free(name);
    }
    if (status == DIS_OK) status = dis__out_open(path, &outs[2]);
    if (status == DIS_OK)
        status = dis__npy_write_header(outs[2], sizeof *labels->p, labels->n_items, labels->n_classes);
    if (status == DIS_OK)
        status = dis__out_write(outs[2], labels->p, labels->n_items * labels->n_classes * sizeof *labels->p);
    return dis__out_finish_all(outs, 3, status);
}
