/* training.h: a training run, shared by its loop and its checkpoints. */
#ifndef DIS_TRAIN_TRAINING_H
#define DIS_TRAIN_TRAINING_H
#include "dissent/evaluate.h"
#include "train/loop/batches.h"
#include "train/workers/worker_examples.h"
#include "train/objectives/targets.h"

/* Its progress: between two batches. */
typedef struct {
    size_t epoch, batch;
    double loss; /* summed over the batches of the epoch so far; the network has the sum while it trains */
    double rate; /* of the last step */
} dis__training_position;

typedef struct {
    const dis_model_train_options *o;
    const dis__objective_row *objective;
    dis__objective_settings settings;
    dis_model *model;
    dis__model_net model_net;
    dis__batch_limits limits;
    dis__encoded_items *encoded, *dev_encoded; /* dev_encoded NULL: there is no development set */
    dis__targets targets, dev_targets;
    dis__worker_examples pairs, dev_pairs; /* of annotator models */
    dis__batches batches;
    dis__schedule schedule;
    size_t epochs, max_votes;
    int warm_up; /* head on majority labels, DIS_NONE: there is none */
    int terms;   /* head of terms of workers' vectors, DIS_NONE: there is none */
    dis_evaluation_metric keep;
    bool higher;                  /* is better */
    const struct dis__comm *comm; /* ranks that train together: each has its part of every batch */
    dis__training_position at;
    /* one batch's targets, and the development set's predictions (NULL without one) */
    int32_t *label;
    float *weight, *target;
    int32_t *vote_row;
    int32_t *term; /* pairs of workers' vectors and their weights */
    float *term_weight;
    double *q;
    char what[96];         /* for progress reports */
    bool best_unsaved;     /* the best epoch is in memory only */
    bool best_on_device;   /* its numbers are kept by the network on the device, the model does not have them yet */
    dis__moments *moments; /* to begin with, and to leave; NULL: none */
    double saved_at, save_seconds; /* seconds: of the last checkpoint; until there is one, of the start, as estimated */
} dis__training;

/* dis_model_train on a device. */
dis_status dis__train_on_device(const dis__device *device, dis_context *ctx, const dis_examples *train,
                                const dis_examples *dev, const dis_model_train_options *options, dis_model **out);

/* training_setup.c: everything before the first step. On failure what was made is the caller's to free. */
dis_status dis__training_prepare(dis__training *t, dis_context *ctx, const dis_examples *train,
                                 const dis_examples *dev);

/* Labels of the items of these units, to a head of labels. */
dis_status dis__training_set_labels(dis__training *t, int head, const uint32_t *units, size_t n);

/* worker_losses.c: heads of annotator models, what goes into them, and what their terms are divided by. */
dis_status dis__worker_heads_build(dis__training *t, dis__model_net *r, const int *logits);
dis_status dis__worker_heads_set_targets(dis__training *t, const uint32_t *units, size_t n);
void dis__worker_losses_set_norm(dis__training *t, size_t b);

/* train_options.c: numbers within the ranges of their rows. */
dis_status dis__train_options_check(const dis_model_train_options *o);

void dis__checkpoint_start_timer(dis__training *t); /* the time until a first checkpoint counts from now on */
/* checkpoint files in o->folder: where the run is, and the best epoch's numbers. */
dis_status dis__checkpoint_write(dis__training *t);
/* Whether the last checkpoint is so old that another one costs little beside the training since. */
bool dis__checkpoint_is_due(const dis__training *t);
/* Goes on from there, if there is a checkpoint. DIS_EDATA: it is damaged, or of a run with other settings or data. */
dis_status dis__checkpoint_read(dis__training *t, dis_context *ctx);

#endif
