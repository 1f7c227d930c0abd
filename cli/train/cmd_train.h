/* cmd_train.h: what `dissent train` carries from reading to telling; shared by the files of that subcommand. */
#ifndef DIS_CLI_TRAIN_JOB_H
#define DIS_CLI_TRAIN_JOB_H
#include "input/class_list.h"
#include "input/gold_input.h"
#include "input/groups_input.h"
#include "input/items_input.h"
#include <pthread.h>

typedef struct {
    cli_common common;
    cli_items_values reading;
    const char *model, *objective, *items, *labels, *gold, *gold_columns, *votes, *preset, *votes_label, *dev_items,
        *dev_labels, *dev_gold, *output;
    bool allow_many_classes, fold_case, trim;
    dis_model_train_options train; /* what train_options.h lists */
    const char *curves, *classes, *json;
    cli_table_values table;
    const char *worker_features;
    cli_list dev_where;
    uint64_t runs, jobs, seed;
    double dev;
    uint64_t folds;
    const char *out_of_fold;
    bool lenient, resume, renormalise;
} train_values;

/* What is told of a run when its model is written. */
typedef struct {
    uint64_t seed;
    size_t n_epochs, best_epoch;
    dis_epoch *epoch;
} train_curve;

typedef struct {
    cli *c;
    const train_values *v;
    dis_context *ctx;
    const dis_model_kind *kind;
    dis_items *all, *items, *dev_items;
    dis_labels *labels, *dev_labels;
    dis_gold *gold, *dev_gold;
    dis_votes *votes;
    dis_worker_table *table; /* NULL: nothing is known of the workers */
    class_list classes;      /* declared ones */
    dis_names *declared;     /* the same; NULL: none */
    dis_model *first;        /* of the first run; the others are gone once they are written */
    train_curve *curve;      /* (runs) */
    dis_folds *folds;        /* NULL: none are asked for */
    dis_labels **part;       /* (folds): the predictions of each */
    int lock;
    /* shared by jobs */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t next;                    /* of the folds and, behind them, the runs */
    size_t at_work, waiting, ended; /* waiting: of those at work, for memory */
    dis_status status;
    char message[1024];
} train_command;

/* train_runs.c: what to train with; `folder` is for checkpoints, NULL: none. */
dis_model_train_options train_options(const train_command *job, uint64_t seed, const char *folder);
/* What epochs are judged by, *out; NULL when there is no development set of its own. */
const dis_examples *train_dev_set(const train_command *job, dis_examples *out);
/* All runs and folds; an exit code, what is wrong told already. */
int train_all_run(train_command *job);

/* train_ranks.c: whether ranks train several models, each as a whole; whether this one trains fold n or, behind the
 * folds, run n; and what the others have trained. */
bool train_is_on_ranks(const train_values *v);
bool train_is_own(const train_command *job, size_t n);
dis_status train_results_gather(train_command *job);

/* train_output.c */
void train_result_print(const train_command *job);
dis_status train_curves_write(const train_command *job);
dis_status train_json_write(const train_command *job);

/* train_folds.c: predictions out of fold. Those that return int return an exit code, what is wrong told already. */
int train_folds_check(train_command *job);
int train_folds_draw(train_command *job);
dis_status train_fold_run(train_command *job, dis_context *ctx, size_t f);
int train_folds_write(train_command *job);
void train_folds_free(train_command *job);

#endif
