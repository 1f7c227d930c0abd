/* run_examples.h: a part of a data set as training examples: items, gold labels, soft labels and votes. */
#ifndef DIS_EXPERIMENT_RUN_EXAMPLES_H
#define DIS_EXPERIMENT_RUN_EXAMPLES_H
#include "dissent/train.h"
#include "experiment/run/dataset.h"

typedef struct {
    size_t n;               /* tasks of the part */
    size_t *task;           /* (n) which of the data set they are */
    size_t n_read;          /* items that are read: of tokens, all of the sentences that have one of the part */
    size_t *read;           /* (n_read) which of the data set */
    const dis_items *items; /* the data set's own when all of it is read, else `picked` */
    dis_items *picked;
    dis_gold *gold;
    dis_labels *labels;
    dis_votes *votes;
} dis__examples;

/* wanted: (m->n). */
dis_status dis__examples_of(dis_context *ctx, const dis__dataset *m, const bool *wanted, dis__examples *out);
/* Each adds its labels, for the tasks of the part that have them. Nothing is added if none do. */
dis_status dis__examples_add_gold(const dis__dataset *m, dis__examples *e);
dis_status dis__examples_add_labels(const dis__dataset *m, const dis__label_set *labels, dis__examples *e);
dis_status dis__examples_add_votes(dis_context *ctx, const dis__dataset *m, const bool *wanted,
                                   const dis__vote_draw *draw, dis__examples *e);
void dis__examples_free(dis__examples *e);

/* perspective_metrics.c: predictions for the annotators of the tasks of a part, by an annotator model. */
typedef struct {
    double error, distance; /* means over items; NaN: no task has a vote */
} dis__perspective;
/* p (m->n, n_classes): rows of tasks with votes become the mean over their voters, the others stay as they were. */
dis_status dis__ask_voters(dis_context *ctx, dis_model *model, const dis__dataset *m, const dis__examples *e, double *p,
                           dis__perspective *out);

/* Rows of a table of the data set's tasks as a new table of labels. */
dis_status dis__labels_of_rows(const dis__dataset *m, const double *p, const size_t *task, size_t n, dis_labels **out);

#endif
