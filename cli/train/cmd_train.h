/* cmd_train.h: what `dissent train` carries from reading to telling; shared by the files of that subcommand. */
#ifndef DIS_CLI_CMD_TRAIN_H
#define DIS_CLI_CMD_TRAIN_H
#include "input/class_list.h"
#include "input/gold_input.h"
#include "input/groups_input.h"
#include "input/items_input.h"

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

typedef struct {
    cli *c;
    const train_values *v;
    dis_context *ctx;
    const dis_model_kind *kind;
    dis_items *all, *items, *dev_items;
    dis_labels *labels, *dev_labels;
    dis_gold *gold, *dev_gold;
    dis_votes *votes;
    dis_worker_table *table;     /* NULL: nothing is known of the workers */
    class_list classes;          /* declared ones */
    dis_names *declared;         /* the same; NULL: none */
    dis_folds *folds;            /* NULL: none are asked for */
    dis_train_runs *runs;        /* what was trained */
    dis_train_runs_view trained; /* the same */
    int lock;
} train_command;

/* train_output.c */
void train_result_print(const train_command *job);
dis_status train_curves_write(const train_command *job);
dis_status train_json_write(const train_command *job);

/* train_folds.c: predictions out of fold. Those that return int return an exit code; they have printed the error. */
int train_folds_check(train_command *job);
int train_folds_draw(train_command *job);
int train_folds_write(train_command *job);

#endif
