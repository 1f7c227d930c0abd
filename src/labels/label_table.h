/* label_table.h: the inside of a table of soft labels, for those who build one. */
#ifndef DIS_LABELS_LABEL_TABLE_H
#define DIS_LABELS_LABEL_TABLE_H
#include "dissent/labels.h"
#include "core/error.h"

struct dis_labels {
    size_t n_items, n_classes;
    double *p; /* (n_items, n_classes) */
    dis_names *tasks, *classes;
    uint64_t renormalised;
};

/* How far from 1 the sum of a row may be. */
#define DIS_SUM_SLACK 1e-6

/* Where a row that failed stands: fills line (0: unknown) and puts the file's name in front of the message. */
typedef struct {
    const char *file;
    uint64_t line;
} dis__row_place;

/* Checks one row of probabilities and counts it in *renormalised if it had to be scaled to sum to 1. DIS_EDATA. */
dis_status dis__labels_check_row(double *p, size_t n_classes, bool renormalise, dis__row_place place,
                                 uint64_t *renormalised);

#endif
