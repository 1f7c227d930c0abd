/* scales.h: internals of a scale: the public row, and the type of its label cells. */
#ifndef DIS_VOTES_TABLE_SCALES_H
#define DIS_VOTES_TABLE_SCALES_H
#include "dissent/names.h"
#include "dissent/scale.h"

/* Separators of the classes of a set, and of the parts of a task. */
#define DIS_PART_SEPARATOR '\x1f'

typedef struct {
    dis_scale_row info;
    bool (*accepts)(const char *text, size_t n); /* whether a label cell is valid for the scale; NULL: any text is */
    bool is_set;     /* a label is any number of classes, joined by DIS_PART_SEPARATOR; none is a vote too */
    bool repeatable; /* a worker may have several rows for a task */
    /* Columns of a task in addition to the task itself, in the order in which they follow it; NULL: none. */
    const char *part[2];
    const char *part_option[2]; /* columns of their names */
    const char *task;           /* path of the task itself; NULL: optional */
    const char *label_path;     /* path of labels, NULL: label */
    const char *worker;         /* path of workers, NULL: as usual */
    /* Whether a row with parts is valid for the scale; it may replace the label's text. Writes the reason to `why`.
     * NULL: every row is valid. */
    bool (*row)(const char *task, size_t n_task, const char **label, size_t *n_label, char *why, size_t size);
} dis__scale;

/* NULL: unknown scale. */
const dis__scale *dis__scale_of(dis_scale scale);

/* DIS_EUSAGE: classes of an ordered scale whose order is unknown. */
dis_status dis__scale_check_classes(const dis__scale *scale, const dis_names *classes, bool declared);

#endif
