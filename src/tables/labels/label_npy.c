/* Labels as three files: NAME.npy (n x K float64), NAME.tasks.txt and NAME.classes.txt, one name a line, in the order
 * of rows and columns. All three are on the disk before the first is put in place, the array last: so a new array
 * implies its names. */
#include "tables/labels/label_npy.h"
#include "tables/labels/label_table.h"
#include "core/parallel/comm.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"
#include "dissent/votes.h"
#include "io/files/folder.h"
#include "io/input/input.h"
#include "io/name_file.h"
#include "io/tensors/npy.h"
#include "io/output/output_file.h"
#include <float.h>
#include <string.h>

static const char *const suffixes[] = {".tasks.txt", ".classes.txt"};

/* What rank 0 writes of a rank: its names and rows. */
typedef struct {
    uint64_t n_items, n_bytes; /* of names */
} npy_part;

static dis_status send_part(const dis__comm *comm, const dis_labels_view *labels)
{
    const dis_names *tasks = labels->tasks;
    const npy_part part = {.n_items = labels->n_items, .n_bytes = labels->n_items ? tasks->start[labels->n_items] : 0};
    DIS_TRY(dis__comm_send(comm, &part, sizeof part, 0));
    if (!part.n_items) return DIS_OK;
    DIS_TRY(dis__comm_send(comm, tasks->start, (size_t)(part.n_items + 1) * sizeof *tasks->start, 0));
    DIS_TRY(dis__comm_send(comm, tasks->bytes, (size_t)part.n_bytes, 0));
    return dis__comm_send(comm, labels->p, labels->n_items * labels->n_classes * sizeof *labels->p, 0);
}

static dis_status receive_part(const dis__comm *comm, int from, size_t n_classes, dis__out *names, dis__out *rows)
{
    npy_part part;
    char *bytes = NULL;
    uint64_t *start = NULL;
    double *p = NULL;
    dis_names *tasks = NULL;
    DIS_TRY(dis__comm_receive(comm, &part, sizeof part, from));
    if (!part.n_items) return DIS_OK;
    const size_t n = (size_t)part.n_items, n_p = dis__saturating_size(n, n_classes * sizeof *p, 0);
    dis_status status = dis__alloc_array(&start, n + 1, sizeof *start);
    if (status == DIS_OK) status = dis__alloc_array(&bytes, (size_t)part.n_bytes, 1);
    if (status == DIS_OK) status = dis__alloc_array(&p, n_p, 1);
    if (status == DIS_OK) status = dis__comm_receive(comm, start, (n + 1) * sizeof *start, from);
    if (status == DIS_OK) status = dis__comm_receive(comm, bytes, (size_t)part.n_bytes, from);
    if (status == DIS_OK) status = dis__comm_receive(comm, p, n_p, from);
    if (status == DIS_OK) status = dis__names_from_buffers(bytes, start, n, &tasks);
    if (status == DIS_OK) {
        bytes = NULL;
        start = NULL;
        status = dis__names_write(names, tasks);
    }
    if (status == DIS_OK) status = dis__out_write(rows, p, n_p);
    dis_names_destroy(tasks);
    dis__free(bytes);
    dis__free(start);
    dis__free(p);
    return status;
}

/* The first rank writes for all. */
static dis_status write_npy(const dis__comm *comm, const dis_labels_view *labels, size_t n_all, const char *path)
{
    dis__out *outs[3] = {NULL, NULL, NULL};
    dis_status status = DIS_OK;
    for (size_t i = 0; i < 2 && status == DIS_OK; i++) {
        char *name = NULL;
        status = dis__companion_path(path, suffixes[i], &name);
        if (status == DIS_OK) status = dis__companion_check(path, name);
        if (status == DIS_OK) status = dis__out_open(name, &outs[i]);
        dis__free(name);
    }
    if (status == DIS_OK) status = dis__names_write(outs[0], labels->tasks);
    if (status == DIS_OK) status = dis__names_write(outs[1], labels->classes);
    if (status == DIS_OK) status = dis__out_open(path, &outs[2]);
    if (status == DIS_OK) status = dis__npy_write_header(outs[2], sizeof *labels->p, n_all, labels->n_classes);
    if (status == DIS_OK)
        status = dis__out_write(outs[2], labels->p, labels->n_items * labels->n_classes * sizeof *labels->p);
    for (int r = 1; r < comm->size && status == DIS_OK; r++)
        status = receive_part(comm, r, labels->n_classes, outs[0], outs[2]);
    dis__out *const array_first[] = {outs[2], outs[0], outs[1]}; /* a list never exists without its array */
    return dis__out_finish_all(array_first, 3, status);
}

dis_status dis__labels_write_npy(const dis__comm *comm, const dis_labels_view *labels, const char *path)
{
    dis_status status = DIS_OK;
    if (dis__out_is_stream(path))
        status = dis__fail(DIS_EUSAGE, "npy is written with two more files, of tasks and classes, and cannot go to "
                                       "standard output, a pipe or a device; name a file");
    if (status == DIS_OK) status = dis__names_check_line_breaks(labels->tasks, "task");
    if (status == DIS_OK) status = dis__names_check_line_breaks(labels->classes, "class");
    DIS_TRY(dis__comm_first_failure(comm, status));
    uint64_t n_all = labels->n_items;
    DIS_TRY(dis__comm_sum_counts(comm, &n_all, 1));
    return comm->rank ? send_part(comm, labels) : write_npy(comm, labels, (size_t)n_all, path);
}

/* The list beside `path`: n names, all different. */
static dis_status read_list(dis_context *ctx, const char *path, const char *suffix, size_t n, const char *what,
                            dis_names **out)
{
    char *name;
    DIS_TRY(dis__companion_path(path, suffix, &name));
    dis_status status = dis__check_regular(name);
    if (status == DIS_OK) status = dis__names_read(ctx, name, out);
    size_t twice = SIZE_MAX;
    if (status == DIS_OK && dis_names_count(*out) != n)
        status =
            dis__fail_at(DIS_EDATA, name, 0, 0, "%zu names for the %zu %s of %s", dis_names_count(*out), n, what, path);
    if (status == DIS_OK) status = dis__names_find_duplicate(*out, &twice);
    if (status == DIS_OK && twice != SIZE_MAX)
        status =
            dis__fail_at(DIS_EDATA, name, twice + 1, 0, "\"%.200s\" is repeated", dis_names_get(*out, twice, NULL));
    dis__free(name);
    return status;
}

static dis_status read_table(dis_context *ctx, const char *path, const dis_labels_read_options *options,
                             const dis__npy *a, dis_labels *labels)
{
    if (a->n_dims != 2 || a->n == 0) return dis__fail_at(DIS_EDATA, path, 0, 0, "not a table of items by classes");
    if (a->dim[1] > DIS_MAX_CLASSES)
        return dis__fail_at(DIS_ELIMIT, path, 0, 0, "%zu classes; at most %u are possible", a->dim[1], DIS_MAX_CLASSES);
    DIS_TRY(read_list(ctx, path, suffixes[0], a->dim[0], "items", &labels->tasks));
    DIS_TRY(read_list(ctx, path, suffixes[1], a->dim[1], "classes", &labels->classes));
    labels->n_items = a->dim[0];
    labels->n_classes = a->dim[1];
    DIS_TRY(dis__check_memory(ctx, dis__saturating_size(a->n, sizeof *labels->p, 0), "the table of labels"));
    DIS_TRY(dis__alloc_array(&labels->p, a->n, sizeof *labels->p));
    dis__npy_read_doubles(a, 0, a->n, labels->p);
    for (size_t i = 0; i < labels->n_items; i++) {
        double *p = labels->p + i * labels->n_classes;
        for (size_t k = 0; k < labels->n_classes; k++)
            if (!(p[k] >= 0 && p[k] <= DBL_MAX))
                return dis__fail_at(DIS_EDATA, path, 0, 0, "row %zu contains %g, which is not a probability", i, p[k]);
        dis__row_sum_error sum;
        if (!dis__labels_check_row(p, labels->n_classes, options, &labels->renormalised, &sum))
            return dis__fail_at(DIS_EDATA, path, 0, 0, "row %zu: %s", i, sum.problem);
    }
    return DIS_OK;
}

dis_status dis__labels_read_npy(dis_context *ctx, const char *path, const dis_labels_read_options *options,
                                dis_labels *labels)
{
    if (strcmp(path, "-") == 0)
        return dis__fail(DIS_EUSAGE,
                         "npy needs the lists of tasks and classes in files, so it cannot be read from standard input");
    dis__input input;
    DIS_TRY(dis__input_open(ctx, path, &input));
    dis__npy a;
    dis_status status = dis__npy_open(path, input.bytes, input.n, &a);
    if (status == DIS_OK) status = read_table(ctx, path, options, &a, labels);
    return dis__input_finish(&input, status);
}
