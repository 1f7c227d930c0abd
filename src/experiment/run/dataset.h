/* dataset.h: the data of an experiment in memory: items, votes, gold labels and classes, matched by task; label sets
 * made of them; and the parts that a split makes. Nothing here changes once it is made. */
#ifndef DIS_EXPERIMENT_RUN_DATASET_H
#define DIS_EXPERIMENT_RUN_DATASET_H
#include "dissent/align.h"
#include "dissent/items.h"
#include "experiment/plan/plan_internal.h"

typedef struct {
    dis_items *items;       /* NULL: none */
    dis_votes *votes;       /* NULL: none */
    const dis_names *tasks; /* of the items, else of the votes */
    size_t n;               /* how many */
    dis_names *classes;     /* of the whole data set */
    int32_t *label;         /* (n) gold, -1: none; NULL: no gold labels */
    size_t *vote_row;       /* (n) where a task is in the votes, SIZE_MAX: nowhere; NULL: no votes */
    uint32_t *group;        /* (n) the sentence of a token; NULL: items are not tokens */
    size_t n_groups;
    int32_t *value;    /* (n) of the split's column, -1: no row; NULL: the split has none */
    dis_names *values; /* distinct values of the column */
} dis__dataset;

/* `set` SIZE_MAX: the data set itself. Otherwise `own` is its data set, whose classes the set's labels must have. */
dis_status dis__dataset_read(dis_context *ctx, const dis__data *data, size_t set, const dis__dataset *own,
                             dis__dataset *out);
void dis__dataset_free(dis__dataset *m);

/* The texts of these tasks, empty where unknown; *out is NULL if the items are no texts or cannot be read any more. `set`
 * is a name of the data set's own sets, or any other for its items. The caller destroys *out. */
dis_status dis__dataset_read_texts(dis_context *ctx, const dis__data *data, const char *set, const dis_names *tasks,
                                   dis_names **out);

/* ---- labels of all tasks of a data set ---- */

typedef struct {
    double *p; /* (n, n_classes) zero for missing labels */
    bool *has; /* (n) */
} dis__label_set;

/* Made as `labels` says; `folder` and `key` name a file that is read in place of the work, or written after it (folder
 * NULL: none). */
dis_status dis__label_set_make(dis_context *ctx, const dis__dataset *m, const dis__labels_part *labels,
                               const dis__vote_draw *draw, const char *folder, const char *key, dis__label_set *out);
void dis__label_set_free(dis__label_set *set);

/* Votes on tasks for which wanted[task of m] holds, as `draw` says; wanted NULL: all tasks of the votes. Workers and
 * classes stay as they are. */
dis_status dis__votes_pick(dis_context *ctx, const dis__dataset *m, const bool *wanted, const dis__vote_draw *draw,
                           dis_votes **out);

/* ---- splits ---- */

typedef enum { DIS_PART_NONE, DIS_PART_TRAIN, DIS_PART_DEV, DIS_PART_TEST } dis__part_of_split;

/* part (n): the part of each task. Tasks with neither gold nor votes belong to none. */
dis_status dis__split_make(const dis__data *data, const dis__dataset *m, size_t fold, uint64_t seed, uint8_t *part);

#endif
