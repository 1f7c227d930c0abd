/* label_npy.h: label files that are not just lines of text. */
#ifndef DIS_TABLES_LABELS_LABEL_NPY_H
#define DIS_TABLES_LABELS_LABEL_NPY_H
#include "core/parallel/comm.h"
#include "dissent/labels.h"
#include "core/error.h"

/* NAME.npy, NAME.tasks.txt, NAME.classes.txt. */
dis_status dis__labels_write_npy(const dis__comm *comm, const dis_labels_view *labels, const char *path);
/* Fills a zeroed table, which the caller destroys on failure. */
dis_status dis__labels_read_npy(dis_context *ctx, const char *path, const dis_labels_read_options *options,
                                dis_labels *out);

#endif
