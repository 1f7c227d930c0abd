/* plan_internal.h: internals of a plan. */
#ifndef DIS_EXPERIMENT_PLAN_PLAN_INTERNAL_H
#define DIS_EXPERIMENT_PLAN_PLAN_INTERNAL_H
#include "experiment/plan/plan_file.h"
#include "experiment/plan/plan.h"
#include "dissent/align.h"

typedef enum {
    DIS_DEV_NONE,
    DIS_DEV_PART, /* of the split, given by its column */
    DIS_DEV_NEXT, /* the fold after the tested one */
    DIS_DEV_SHARE,
    DIS_DEV_SET,
} dis__dev_kind;

/* A data set, with the settings of the file for all of them. */
typedef struct {
    const char *name;
    const dis__data_part *part;
    const dis__split_part *split; /* never NULL */
    size_t n_folds;               /* 1 unless by folds */
    const char **fold;            /* (n_folds) values of the column, where one says it */
    bool seed_of_run;             /* the split is drawn with the seed of the run */
    uint64_t seed;                /* otherwise with this */
    dis__dev_kind dev;
    double dev_share;
    size_t dev_set;
    const dis__labels_part *human; /* NULL: none */
} dis__data;

typedef struct {
    dis__cell_part part;
    size_t data;
    const dis__labels_part *labels; /* NULL: none */
    const dis__missing *missing;    /* NULL: all inputs are available */
} dis__cell_internal;

typedef struct {
    dis__plan plan; /* first: the two are one */
    dis__yaml yaml;
    dis__plan_memory memory;
    dis__run_key key_text;
    const char *device; /* and precision, of runs; NULL: the CPU, in float32 */
    dis__form form;
    dis__file_part file;
    dis__data *data; /* (file.data.n) */
    dis__cell_internal *cell;
    uint64_t *seed;
    size_t n_seeds;
    dis_experiment_cell *cells;
    dis_experiment_measure *measures;
} dis__plan_internal;

static inline const dis__plan_internal *dis__plan_internal_of(const dis__plan *plan)
{
    return (const dis__plan_internal *)plan;
}

/* The set of a measure among those of a data set; SIZE_MAX: "test", or it has none of that name. */
size_t dis__set_find(const dis__data_part *data, const char *name);

/* plan_data.c */
dis_status dis__plan_add_labels(dis__plan_internal *p);
dis_status dis__plan_add_data(dis_context *ctx, dis__plan_internal *p);
dis_status dis__plan_add_measures(dis__plan_internal *p);
/* Labels by name, otherwise by method; `key` is the key's name in messages. */
dis_status dis__plan_find_labels(dis__plan_internal *p, const dis__yaml_node *at, const char *key, const char *text,
                                 const dis__labels_part **out);
/* A message of another part of the library, with the position in the file. */
dis_status dis__plan_refuse(dis__plan_internal *p, const dis__yaml_node *at, const char *key, dis_status status);
dis_status dis__plan_no_metric(dis__plan_internal *p, const dis__yaml_node *at, const char *key, const char *name);

/* plan_cells.c: conditions, their names, baselines and published figures. */
dis_status dis__plan_add_cells(dis__plan_internal *p);
/* plan_cell_check.c: where a key of a cell stands, in its entry or in the defaults; whether the cell makes sense, which
 * finds its data and labels. */
const dis__yaml_node *dis__plan_cell_place(const dis__plan_internal *p, const dis__cell_part *part, const char *key);
dis_status dis__plan_check_cell(dis__plan_internal *p, dis__cell_internal *c);
/* plan_runs.c: seeds, folds, keys. */
dis_status dis__plan_add_runs(dis__plan_internal *p);

/* Where the column of a split is read from (dataset.c reads it). */
dis_status dis__split_column(dis_context *ctx, const dis__data *data, dis_gold **out);

/* Subsampling of the votes of a data set. NULL pointer: none. */
typedef struct {
    uint64_t per_item;     /* votes of each item; 0: all */
    double random_workers; /* probability that all votes of a worker are replaced by random classes */
    uint64_t seed;
} dis__vote_draw;
/* The subsampling of a run of this cell; false: all votes, unchanged. */
bool dis__cell_draws(const dis__cell_part *cell, uint64_t seed, dis__vote_draw *out);

/* The digest of the inputs of a set of labels: votes of a data set, method, and subsampling. */
dis_status dis__labels_key(dis__run_key *key_text, const dis__data_part *data, const dis__votes_part *votes,
                           const dis__labels_part *labels, const dis__vote_draw *draw, char hex[65]);

#endif
