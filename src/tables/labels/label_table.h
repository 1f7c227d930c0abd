/* label_table.h: the struct of a table of soft labels, for code that builds one. */
#ifndef DIS_TABLES_LABELS_LABEL_TABLE_H
#define DIS_TABLES_LABELS_LABEL_TABLE_H
#include "dissent/labels.h"
#include "core/error.h"

struct dis_labels {
    size_t n_items, n_classes;
    double *p; /* (n_items, n_classes) */
    dis_names *tasks, *classes;
    uint64_t renormalised;
    char *path; /* of the file it was read from, for messages; NULL: none */
};

/* How far from 1 the sum of a row may be. */
#define DIS_SUM_TOLERANCE 1e-6

/* What is wrong with a row. */
typedef struct {
    char problem[160];
} dis__row_sum_error;

/* Whether n_classes numbers, finite and not negative (-0 becomes 0), sum to 1, or with `multi_label` are at most 1; if the
 * sum is wrong and `renormalise`, they are scaled and counted in *renormalised. False: `why` says what is wrong, for the
 * caller to add the position. */
bool dis__labels_check_row(double *p, size_t n_classes, const dis_labels_read_options *options, uint64_t *renormalised,
                           dis__row_sum_error *why);

#endif
