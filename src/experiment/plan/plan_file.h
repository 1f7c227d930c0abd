/* plan_file.h: what an experiment's file can say, as records. The rows that fill them are in plan_file.c; docs/guides/experiments.md
 * explains them to users. */
#ifndef DIS_EXPERIMENT_PLAN_FILE_H
#define DIS_EXPERIMENT_PLAN_FILE_H
#include "experiment/plan/schema.h"

/* One file of items. */
typedef struct {
    const dis__yaml_node *at;
    const char *file;
    int kind; /* dis_items_kind */
    const char *format, *task, *sentence, *tasks, *prefix;
    dis__texts text, header;
    uint64_t width;
    bool numbered;
    dis__text_pairs where;
} dis__items_part;

typedef struct {
    const dis__yaml_node *at;
    dis__texts file;
    int input; /* dis_input */
    const char *format, *task, *worker, *label, *preset;
    dis__text_pairs columns, where;
    dis__texts na;
    int duplicates; /* dis_duplicates */
    uint64_t min_votes;
} dis__votes_part;

/* One file of gold labels, or of another column of tasks. */
typedef struct {
    const dis__yaml_node *at;
    const char *file, *format, *task, *label, *prefix, *method;
    dis__texts header;
    bool numbered, skip_empty;
    dis__text_pairs where, leave_out, map;
} dis__gold_part;

typedef enum {
    DIS_SPLIT_NONE,
    DIS_SPLIT_COLUMN,
    DIS_SPLIT_FOLDS,
    DIS_SPLIT_HOLD_OUT,
    DIS_SPLIT_BLOCK,
} dis__split_kind;

typedef struct {
    const dis__yaml_node *at;
    int by; /* dis__split_kind */
    const char *column, *file, *task, *seed;
    dis__texts train, dev, test;
    uint64_t folds;
    double size;
    int from, order; /* from: 1: the first items; order: 1: of the file */
    bool stratify;
} dis__split_part;

/* Further items for evaluation, or for selecting the epoch. */
typedef struct {
    const dis__yaml_node *at;
    dis__parts items, gold; /* dis__items_part, dis__gold_part */
    dis__votes_part *votes;
} dis__set_part;

typedef struct {
    const dis__yaml_node *at;
    dis__parts items, gold;
    dis__votes_part *votes;
    dis__texts classes;
    dis__parts sets; /* dis__set_part */
    dis__split_part *split;
    const char *dev, *human;
    bool ordinal;
} dis__data_part;

typedef struct {
    const dis__yaml_node *at;
    const char *method, *combine, *file;
    dis__texts methods;
} dis__labels_part;

typedef struct {
    const dis__yaml_node *at;
    const char *name, *data, *labels, *objective, *model, *baseline, *worker_table, *worker_features;
    dis_model_train_options train; /* what train_options.h lists */
    uint64_t votes_per_item, draw;
    double random_workers;
    int judge, test_by;
    bool carry_moments, draw_per_fold;
    const dis__yaml_node *published;
} dis__cell_part;
enum { DIS_JUDGE_GOLD, DIS_JUDGE_LABELS };

typedef struct {
    const dis__yaml_node *at;
    uint64_t resamples;
    double fraction;
    bool pool_seeds;
} dis__significance_part;

typedef struct {
    const dis__yaml_node *at;
    const char *name, *about, *paper, *size, *dev, *human;
    dis__parts data;   /* dis__data_part */
    dis__parts labels; /* dis__labels_part */
    dis__split_part *split;
    const dis__yaml_node *defaults, *cells, *seeds, *measure, *published;
    dis__significance_part *significance;
    bool keep_predictions, pool_folds;
} dis__file_part;

extern const dis__schema dis__file_schema, dis__data_schema, dis__set_schema, dis__items_schema, dis__votes_schema,
    dis__gold_schema, dis__split_schema, dis__labels_schema, dis__cell_schema, dis__significance_schema;

#endif
