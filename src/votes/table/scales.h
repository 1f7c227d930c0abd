/* scales.h: a scale from the inside: the public row, and what a label cell may hold. */
#ifndef DIS_VOTES_TABLE_SCALES_H
#define DIS_VOTES_TABLE_SCALES_H
#include "dissent/names.h"
#include "dissent/scale.h"

/* Between the parts of a set of classes, and of a task that has several. */
#define DIS_PART_SEPARATOR '\x1f'

typedef struct {
    dis_scale_row info;
    bool (*accepts)(const char *text, size_t n); /* whether a label cell can be of the scale; NULL: any text can */
    bool is_set;     /* a label is any number of classes, joined by DIS_PART_SEPARATOR; none at all is a vote too */
    bool repeatable; /* a worker may have several rows for a task */
    /* What a task is made of beside the task itself, in the order in which they follow it; NULL: nothing. */
    const char *part[2];
    const char *part_option[2]; /* by which each is named */
    const char *task;           /* path of the task itself; NULL: there need not be one */
    const char *label_path;     /* where labels are, NULL: label */
    const char *worker;         /* where workers are, NULL: as elsewhere */
    /* Whether a row with parts is of the scale; it may put another text in place of the label. Says what is wrong in
     * `why`. NULL: every row is. */
    bool (*row)(const char *task, size_t n_task, const char **label, size_t *n_label, char *why, size_t size);
} dis__scale;

/* NULL: there is no such scale. */
const dis__scale *dis__scale_of(dis_scale scale);

/* DIS_EUSAGE: classes of an ordered scale whose order is not known. */
dis_status dis__scale_check_classes(const dis__scale *scale, const dis_names *classes, bool declared);

#endif
