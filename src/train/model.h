/* model.h: what a model is, from the inside.
 *
 * One model a file: its settings, its table of options and its row, which models.c lists. A row knows how to learn what
 * it needs of the training items (words, ranges of features: the encoder), how to turn items into numbers once (encoded),
 * how to build the net, and how to put a batch into it. Training, prediction and files know nothing else of it.
 *
 * A batch is made of units: an item, or for tokens a sentence; a unit has one row of the heads for each of its items. */
#ifndef DIS_TRAIN_MODEL_H
#define DIS_TRAIN_MODEL_H
#include "dissent/train.h"
#include "core/memory.h"
#include "nn/net.h"
#include "text/vectors.h"
#include "text/vocabulary.h"

/* What a model learned of the training items before training; kept with the model. Models use what they need. */
typedef struct {
    dis__vocabulary words, characters;
    dis__vectors vectors; /* of words, while a net is being built from nothing; not kept */
    size_t vector_width;  /* of words, when they came from a file; 0: the model's own */
    size_t n_in_vectors;  /* words that they had */
    size_t n_texts;       /* columns of text an item */
    size_t n_features, height, width, channels;
    float *shift, *scale; /* (n_features): features become (x - shift) * scale; NULL: as they are */
} dis__encoder;
void dis__encoder_free(dis__encoder *encoder);

/* Items as numbers. */
typedef struct {
    size_t n_items, n_units;
    const uint64_t *unit; /* (n_units + 1): the items of each; NULL: a unit is an item. The items' own */
    uint32_t *length;     /* (n_units): what units of a batch should have alike; NULL: all do */
    size_t n_lists;       /* lists of ids a unit */
    uint64_t *start;      /* (n_units * n_lists + 1): list l of unit u is ids[start[u * n_lists + l]] .. */
    int32_t *ids;
    const float *x; /* (n_items, n_features): the items' own, or scaled */
    float *scaled;
    /* tokens: each distinct word is spelt once */
    size_t n_types;
    uint32_t *type;   /* (n_items) which distinct word a token is */
    uint64_t *spelt;  /* (n_types + 1): its letters are letters[spelt[t]] .. */
    int32_t *letters; /* ids */
    int32_t *mark;    /* (n_types) -1; room for putting a batch */
} dis__encoded;
void dis__encoded_free(dis__encoded *encoded);

/* How large a batch may become. */
typedef struct {
    size_t units, items;
    size_t longest; /* of the units' lengths, at least 1 */
} dis__batch_limits;

/* What building leaves for putting batches: axes, inputs, and room to lay out a batch; models use what they need. */
typedef struct {
    size_t most_units;
    int units, items, time[4]; /* axes */
    int reals[2], ints[12];    /* inputs */
    int trunk;                 /* the value that heads start from */
    int32_t *whole;
    float *numbers;
    size_t room;          /* of either */
    size_t n_features;    /* of an item */
    size_t shape[3], pad; /* of images */
    bool flip;
    /* of the batch at hand: whether it is trained on, and what randomness in laying it out is keyed by */
    bool training;
    uint64_t seed, batch;
} dis__inputs;

typedef struct {
    dis_model_kind info;
    size_t settings_size;
    dis_status (*learn)(dis_context *ctx, const void *settings, const dis_items_view *items, const char *vectors,
                        dis__encoder *encoder);
    dis_status (*encode)(dis_context *ctx, const void *settings, const dis__encoder *encoder,
                         const dis_items_view *items, dis__encoded *out);
    /* Adds inputs and layers up to in->trunk. in->most_units is limits->units already. */
    dis_status (*build)(dis__net *net, const void *settings, const dis__encoder *encoder,
                        const dis__batch_limits *limits, dis__inputs *in);
    /* The logits of one head, from layers of that name; NULL: a linear layer on the trunk. */
    int (*head)(dis__net *net, const void *settings, const dis__inputs *in, const char *name, size_t n_classes);
    /* Sets axes and inputs to these units. Cannot fail: room was made when building. */
    void (*put)(dis__net *net, const dis__inputs *in, const dis__encoded *encoded, const uint32_t *units, size_t n);
    /* Starts of parameters that are not random (word vectors), after planning; NULL: none. */
    void (*start)(dis__net *net, const dis__encoder *encoder);
} dis__model_row;

/* The row that NAME[:key=value,...] asks for; DIS_EUSAGE when there is none. */
dis_status dis__model_row_find(const char *spec, const dis__model_row **out);

/* Numbers of a net by name, apart from any net. */
typedef struct {
    size_t n;
    dis__param_info *info; /* (n) */
    float **value;         /* (n) */
} dis__weights;
dis_status dis__weights_take(const dis__net *net, dis__weights *weights); /* replaces what it has */
/* DIS_EDATA: the net has a parameter that is not among them, or one of another shape. */
dis_status dis__weights_give(const dis__weights *weights, dis__net *net);
void dis__weights_free(dis__weights *weights);

enum { DIS_MOST_HEADS = 2, DIS_HEAD_NAME = 16 };

/* The net of a model, with all it needs to be run, and the numbers of its heads; DIS_NONE: a head that it lacks. */
typedef struct {
    dis__net *net;
    dis__inputs in;
    int head[DIS_MOST_HEADS];
} dis__running;

struct dis_model {
    const dis__model_row *row;
    void *settings;
    char *spec, *objective, *keep; /* keep NULL: no development set */
    uint64_t seed;
    dis_names *classes;
    dis__encoder encoder;
    size_t n_heads;
    char head[DIS_MOST_HEADS][DIS_HEAD_NAME];
    dis_epoch *epoch;
    size_t n_epochs, epochs_room, best_epoch;
    size_t n_examples, n_left_out, n_parameters;
    dis__weights weights;
    dis__running ready; /* of the last prediction, which the next one may use; net NULL: none */
    dis__batch_limits ready_limits;
};

/* A model of that spec without encoder and weights: row, settings, spec, objective, heads. */
dis_status dis__model_create(const char *spec, const char *objective, dis_model **out);

/* All heads; for training `add_heads` adds them to the logits where it is not NULL. */
dis_status dis__running_build(const dis_model *model, const dis__batch_limits *limits, uint64_t seed,
                              dis_status (*add_heads)(void *arg, dis__running *r, const int *logits), void *arg,
                              dis__running *r);
void dis__running_free(dis__running *r);

/* model->ready predicts this head, in batches of these limits and less. */
dis_status dis__running_ready(dis_context *ctx, dis_model *model, const dis__batch_limits *limits, size_t head);

/* q of one head for all items of `encoded`, (n_items, n_classes), in batches of at most the limits. */
dis_status dis__running_predict(dis__running *r, const dis_model *model, const dis__encoded *encoded, size_t head,
                                const dis__batch_limits *limits, double *q);

/* Reads the vectors of the words that the encoder knows; `path` NULL: there are none. */
dis_status dis__learn_vectors(dis_context *ctx, const char *path, dis__encoder *encoder);
/* Word vectors into the rows of the table "words.weight": known words begin where their vectors are, words without one
 * stay at their random start. */
void dis__start_words(dis__net *net, const dis__encoder *encoder);

/* Limits for batches of about `batch` items of these. */
dis__batch_limits dis__limits_of(const dis__encoded *encoded, size_t batch);

#endif
