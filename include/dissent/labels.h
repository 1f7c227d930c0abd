/* labels.h: tables of soft labels, one row per item, one column per class, and their files.
 *
 * Files: CSV and TSV (`task,label,entropy,p:CLASS,...`), JSONL ({"task", "label", "p": {class: x}}), npy (n x K
 * float64, with NAME.tasks.txt and NAME.classes.txt). Numbers are written in the shortest form that reads back equal.
 * Output files are complete or absent; the three files of npy are all on the disk before the first is put in place, the
 * array last. In CSV and TSV, a field with the separator, a quote, CR, LF, or a space at either end is in double
 * quotes, with inner quotes doubled. In npy, names with line breaks are an error.
 *
 *     dis_labels *labels;
 *     if (dis_labels_read(NULL, "labels.csv", NULL, &labels) == DIS_OK) {
 *         dis_labels_view v = dis_labels_get_view(labels);
 *         printf("%zu items\n", v.n_items);
 *         dis_labels_destroy(labels);
 *     } */
#ifndef DIS_LABELS_H
#define DIS_LABELS_H
#include "dissent/context.h"
#include "dissent/names.h"

typedef struct dis_labels dis_labels;

typedef struct {
    size_t size; /* of this struct */
    size_t n_items, n_classes;
    const double *p; /* (n_items, n_classes), rows sum to 1 */
    const dis_names *tasks, *classes;
} dis_labels_view;
DIS_OPTIONS_API(dis_labels_view);

typedef struct {
    size_t size;        /* of this struct */
    const char *format; /* "csv", "tsv", "jsonl", "npy"; NULL: by the file's name */
    bool renormalise;   /* rows off 1 by more than 1e-6 are scaled instead of being an error */
    uint8_t unused[7];  /* the struct ended here in version 0.1 */
    bool multi_label;   /* sets of classes: each probability is from 0 to 1, and rows need not sum to 1 */
} dis_labels_read_options;
DIS_OPTIONS_API(dis_labels_read_options);

/* Class columns are those called p:CLASS, or else all except task, label and entropy. DIS_EDATA with the position for
 * anything malformed, a task twice, a negative or non-finite number, a row off 1. */
DIS_API dis_status dis_labels_read(dis_context *ctx, const char *path, const dis_labels_read_options *options,
                                   dis_labels **out);
/* A table with copies of what `view` shows. DIS_EDATA: no items or classes, a name that is empty or repeated, a
 * negative or non-finite number, a row off 1. DIS_EUSAGE: lists of other lengths. */
DIS_API dis_status dis_labels_create(dis_context *ctx, const dis_labels_view *view, dis_labels **out);
DIS_API void dis_labels_destroy(dis_labels *labels);
DIS_VIEW_API(dis_labels);
/* Fields of the view as functions, for bindings of other languages. */
DIS_API size_t dis_labels_n_items(const dis_labels *labels);
DIS_API size_t dis_labels_n_classes(const dis_labels *labels);
DIS_API const double *dis_labels_p(const dis_labels *labels);
DIS_API const dis_names *dis_labels_tasks(const dis_labels *labels);
DIS_API const dis_names *dis_labels_classes(const dis_labels *labels);
/* Rows of a file that had to be scaled. */
DIS_API uint64_t dis_labels_n_renormalised(const dis_labels *labels);

/* The same labels with rows in the order of `tasks` and columns in the order of `classes`. DIS_EDATA: an item or class
 * of one that the other lacks. */
DIS_API dis_status dis_labels_align(dis_context *ctx, const dis_labels *labels, const dis_names *tasks,
                                    const dis_names *classes, dis_labels **out);

/* Writes to `path` ("-": standard output). `format` as above, NULL by name, csv when that says nothing. */
DIS_API dis_status dis_labels_write(dis_context *ctx, const dis_labels_view *labels, const char *path,
                                    const char *format);

#endif
