/* train.h: trains models on soft labels, gold labels and votes.
 *
 * A model is trained on items (items.h) with gold labels, soft labels, both, or the votes of single workers. Its
 * predictions are a table of labels.
 *
 *     dis_items *items;
 *     dis_labels *soft, *predicted;
 *     dis_model *model;
 *     dis_model_train_options o = dis_model_train_options_default();
 *     o.objective = "soft-ce";
 *     if (dis_items_read(NULL, "items.csv", NULL, &items) == DIS_OK &&
 *         dis_labels_read(NULL, "labels.csv", NULL, &soft) == DIS_OK) {
 *         const dis_examples train = {.size = sizeof(dis_examples), .items = items, .labels = soft};
 *         if (dis_model_train(NULL, &train, NULL, &o, &model) == DIS_OK &&
 *             dis_model_predict(NULL, model, items, NULL, &predicted) == DIS_OK)
 *             printf("%zu predictions\n", dis_labels_get_view(predicted).n_items);
 *     }
 *
 * Everything is matched by task id. The same data, options and seed give the same bytes for any number of threads, also
 * when the work was stopped and resumed. Threads: a model serves one call at a time. */
#ifndef DIS_TRAIN_H
#define DIS_TRAIN_H
#include "dissent/align.h"
#include "dissent/train_options.h"
#include "dissent/curve.h"
#include "dissent/items.h"
#include "dissent/option.h"
#include "dissent/worker_table.h"

/* Defaults for all options of a model at once, asked for as recipe=NAME; static. */
typedef struct {
    const char *name, *summary;
    const char *options; /* key=value,...; "": the options' own defaults */
} dis_model_recipe;

/* A row of the table of models; static. */
typedef struct {
    const char *name, *summary, *source;
    dis_items_kind items_kind;
    const dis_option *options;
    size_t n_options;
    /* Defaults of training. */
    size_t epochs, batch;
    double rate;
    const char *optimizer;
    const char *schedule; /* NULL: constant */
    const dis_model_recipe *recipes;
    size_t n_recipes; /* 0: the model has none */
} dis_model_kind;
/* Row i, NULL past the end. */
DIS_API const dis_model_kind *dis_model_kind_get(size_t i);
DIS_API const dis_model_kind *dis_model_kind_find(const char *name);

/* A row of the table of objectives; static. */
typedef struct {
    const char *name, *summary;
    bool needs_gold, needs_labels, needs_votes;
    const dis_option *options;
    size_t n_options;
} dis_objective;
DIS_API const dis_objective *dis_objective_get(size_t i);
/* By NAME or NAME:key=value,...; the text after the name is ignored. */
DIS_API const dis_objective *dis_objective_find(const char *spec);

/* Data for training or evaluation. Items without any target are left out of training (and counted). */
typedef struct {
    size_t size; /* of this struct */
    const dis_items *items;
    const dis_labels *labels; /* soft labels; silver labels are their most probable classes */
    const dis_gold *gold;
    const dis_votes *votes;
} dis_examples;
DIS_OPTIONS_API(dis_examples);

typedef struct {
    size_t size;           /* of this struct */
    const char *model;     /* NAME[:key=value,...] */
    const char *objective; /* NAME[:key=value,...] */
    uint64_t seed;
    size_t epochs, batch;  /* 0: the model's own; a batch counts items */
    double rate;           /* 0: the model's own */
    const char *optimizer; /* NAME[:key=value,...]; NULL: the model's own */
    const char *schedule;  /* NAME[:key=value,...]; NULL: the model's own */
    const char *keep;      /* metric by which the best epoch on the development set is kept, as `dissent list metrics`
                              names it; NULL: macro_f1 with gold, else cross_entropy. Without a development set the last
                              epoch is kept */
    size_t patience;       /* epochs without a better one until training stops; 0: all epochs */
    double soft_weight;    /* of the soft head where there is a gold or silver one: 1 */
    double log_base;       /* base of the logarithm in the soft loss; 0: e */
    double floor;          /* of targets of inverse KL: 1e-6 */
    bool over_all;         /* crowd losses are means over items x workers, missing votes counting as 0, as in published
                              code; otherwise over votes */
    size_t accumulate;     /* batches whose gradients make one step: 1 */
    bool lenient;          /* items without a target are left out, and counted; otherwise they are an error */
    const char *vectors;   /* file of word vectors; NULL: none */
    const char *folder;    /* where checkpoints go, after epochs and on a stop; NULL: none are made */
    bool resume;           /* goes on from the checkpoint in the folder, if there is one */
    const dis_names
        *classes;        /* in their order, also ones that no example has; NULL: those of labels, else of the votes,
                                 else of gold */
    const char *encoder; /* the folder of a pretrained encoder, for models that need one; NULL: none */
    const dis_worker_table
        *worker_table;           /* what is known of the workers, for objectives that say who is asked; NULL: */
    const char *worker_features; /* nothing. Columns of it to learn from, with commas between them */
    const char *order;           /* shuffled, fixed or file; NULL: shuffled every epoch */
    bool keep_last;              /* of several best epochs, keep the last */
    bool class_weights;          /* items weigh items / (classes x items of their class) */
    const double *item_weights; /* (items to train on) weight of each item in the loss, 0 or more; items of weight 0 are
                                    left out. NULL: 1. Not for objectives that learn from votes */
} dis_model_train_options;
DIS_OPTIONS_API(dis_model_train_options);

/* A row of the table of training options (train_options.h); static. */
typedef enum {
    DIS_TRAIN_COUNT,
    DIS_TRAIN_REAL,
    DIS_TRAIN_FLAG,
    DIS_TRAIN_TEXT,
    DIS_TRAIN_FILE,
    DIS_TRAIN_FOLDER
} dis_train_option_kind;
typedef struct {
    const char *name, *field; /* on the command line; of dis_model_train_options */
    dis_train_option_kind kind;
    size_t offset;             /* of the field */
    const char *argument;      /* what stands for its value in help; NULL: it has none */
    const char *default_value; /* the default, as a user would write it; NULL: 0, or none */
    double low, high;          /* of numbers, inclusive */
    const char *summary;
} dis_train_option;

typedef struct dis_model dis_model;

/* Trains; `dev` may be NULL. DIS_EUSAGE and DIS_EDATA before work starts: options that do not exist or do not go
 * together, items of another kind, classes that differ, no example with a target. DIS_ELIMIT: too little memory.
 * DIS_ECANCELLED: stopped, with a checkpoint when there is a folder for it. */
DIS_API dis_status dis_model_train(dis_context *ctx, const dis_examples *train, const dis_examples *dev,
                                   const dis_model_train_options *options, dis_model **out);

/* A folder of model.json and model.safetensors, each whole or not at all. DIS_EUSAGE: it has a model.json that dissent
 * did not write. */
DIS_API dis_status dis_model_write(dis_context *ctx, const dis_model *model, const char *folder);
DIS_API dis_status dis_model_read(dis_context *ctx, const char *folder, dis_model **out);
/* A model of a pretrained encoder as a folder that transformers loads, its first head as the classifier. DIS_EUSAGE:
 * another model. DIS_EIO. */
DIS_API dis_status dis_model_export(const dis_model *model, const char *folder);
DIS_API void dis_model_destroy(dis_model *model);

/* One distribution per item, by the head of that name; NULL: the first. DIS_EUSAGE: no such head, or items of another
 * kind. */
DIS_API dis_status dis_model_predict(dis_context *ctx, dis_model *model, const dis_items *items, const char *head,
                                     dis_labels **out);
/* Predicted labels of single workers: row r of *out is of item tasks[r] and worker workers[r]. The model must be
 * trained with the objective annotator or annot-mix. A worker without votes in training and without metadata is treated
 * as an average one; *unknown (may be NULL) counts such rows. DIS_EUSAGE: another objective. DIS_EDATA: a task that is
 * not among the items. */
DIS_API dis_status dis_model_predict_workers(dis_context *ctx, dis_model *model, const dis_items *items,
                                             const dis_names *tasks, const dis_names *workers, dis_labels **out,
                                             size_t *unknown);
/* Metadata of further workers, for a model that was trained with features of workers. Workers that were not in
 * training are then predicted from these features. Replaces earlier metadata; the model's file does not store it.
 * DIS_EUSAGE: a model without features, or a table without their columns. */
DIS_API dis_status dis_model_set_workers(dis_model *model, const dis_worker_table *table);

typedef struct {
    const dis_model_kind *kind;
    const char *spec, *objective; /* as they were asked for */
    uint64_t seed;
    const dis_names *classes;
    size_t n_parameters;
    size_t n_heads;
    const char *const *head;     /* (n_heads) names */
    size_t n_epochs, best_epoch; /* from 0; of the epoch that was kept */
    const dis_epoch *epoch;
    const char *keep;                   /* the metric, NULL without a development set */
    size_t n_examples, n_left_out;      /* items trained on (annotator, annot-mix: votes), and items without a target */
    size_t n_words, n_words_in_vectors; /* of the vocabulary */
    const char *gradients_by;           /* what added up those of several ranks; "" where there was one */
    const dis_names *workers;           /* whom the model knows; NULL: it is not told who is asked */
} dis_model_view;
DIS_VIEW_API(dis_model);
DIS_API const dis_names *dis_model_classes(const dis_model *model);

#endif
